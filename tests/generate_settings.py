"""Write the first two tables of docs/settings.md from the code:

    .venv/bin/python tests/generate_settings.py

The settings of the resolver come from the docstring of ResolverMiddleware and the defaults of Settings, those of the
command from its options. A test compares the page with the code.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import click

from ararat.cli.serving.serve import serve_command
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
_TABLE = re.compile(r"^(?:\|.*\n)+", re.MULTILINE)
# Defaults that are wrong or too long as Python values.
_DEFAULTS = {
    "naans": "all",
    "schemes": "ark and urn",
    "ignored_parameters": "parameters of large platforms",
    "prefix": "none",
    "languages": "all",
}


def settings() -> str:
    """Return the table of the settings of ResolverMiddleware."""
    # ":param NAME: TYPE. TEXT", in which a type contains no full stop.
    described = r"^    :param (\w+): (?:[^.]|\.(?!\s))+\.\s+((?:.+\n?)(?: {8,}.+\n?)*)"
    texts = dict(re.findall(described, ResolverMiddleware.__doc__ or "", re.MULTILINE))
    fields = [field for field in dataclasses.fields(Settings) if field.init]
    rows = [(f"`{field.name}`", _default(field), _sentence(texts[field.name])) for field in fields]
    return _table(("setting", "default", "what it does"), rows)


def options() -> str:
    """Return the table of the options of ``ararat serve``."""
    rows = []
    for option in serve_command.params:
        assert isinstance(option, click.Option)
        assert isinstance(option.envvar, str), option.name
        described = re.sub(r"\s*\[default: .*", "", option.help or "")
        shown = re.findall(r"\[default: \(?(.*?)\)?\]", option.help or "")
        default = shown[0] if shown else _plain(option)
        names = " ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        rows.append((names, f"`{option.envvar}`", default, _sentence(described)))
    return _table(("option", "variable", "default", "what it does"), rows)


def page(text: str) -> str:
    """Return the text of the page with new tables."""
    tables = iter((settings(), options()))
    return _TABLE.sub(lambda _: next(tables), text, count=2)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.name in _DEFAULTS:
        return _DEFAULTS[field.name]
    if field.default is dataclasses.MISSING or field.default in (None, ()):
        return "none"
    return {True: "yes", False: "no"}[field.default] if isinstance(field.default, bool) else str(field.default)


def _plain(option: click.Option) -> str:
    if isinstance(option.show_default, str):
        return option.show_default
    if isinstance(option.default, str | int) and not isinstance(option.default, bool):
        return str(option.default)
    setting = {field.name: field for field in dataclasses.fields(Settings)}.get(str(option.name))
    return _default(setting) if setting is not None else "none"


def _sentence(text: str) -> str:
    words = " ".join(text.replace("``", "`").split()).removesuffix(".").replace("|", "\\|")
    return words[:1].upper() + words[1:]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ("---",) * len(head), *rows])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
