"""Write the first two tables of docs/settings.md from the code:

    .venv/bin/python tests/generate_settings.py

The settings of the resolver come from their declarations, those of the command from its options. A test compares the
page with the code.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from ararat.cli.serving.serve import serve_command
from ararat.middleware.resolution.settings import described

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
_TABLE = re.compile(r"^(?:\|.*\n)+", re.MULTILINE)


def settings() -> str:
    """Return the table of the settings of ResolverMiddleware, with their options and variables."""
    shared = _shared()
    rows = []
    for each in described():
        option = shared.get(each.name)
        names = "" if option is None else f" {' '.join(f'`{name}`' for name in option.opts)} `{option.envvar}`"
        rows.append((f"`{each.name}`{names}", each.default, _sentence(f"{each.text} {each.details}")))
    return _table(("setting", "default", "what it does"), rows)


def options() -> str:
    """Return the table of the other options of ``ararat serve``."""
    rows, shared = [], _shared().values()
    for option in serve_command.params:
        assert isinstance(option, click.Option)
        assert isinstance(option.envvar, str), option.name
        if option in shared:
            continue
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


def _shared() -> dict[str, click.Option]:
    """Return the options that are settings of the resolver, with the same text, by their names."""
    texts = {each.name: each.text.removesuffix(".") for each in described()}
    return {
        option.name: option
        for option in serve_command.params
        if isinstance(option, click.Option) and option.name in texts and option.name not in ("prefix", "inspector")
    }


def _plain(option: click.Option) -> str:
    if isinstance(option.show_default, str):
        return option.show_default
    if isinstance(option.default, str | int) and not isinstance(option.default, bool):
        return str(option.default)
    return next((each.default for each in described() if each.name == option.name), "none")


def _sentence(text: str) -> str:
    plain = re.sub(":class:`~?[.a-z]*([A-Za-z]+)`", r"`\1`", " ".join(text.replace("``", "`").split()))
    words = plain.removesuffix(".").replace("|", "\\|")
    return words[:1].upper() + words[1:]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ("---",) * len(head), *rows])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
