"""Write the tables of docs/settings.md from the code:

    .venv/bin/python tests/generate_settings.py

The settings of the resolver and of the inspector come from their declarations, those of the command from its options. A
test compares the page with the code.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from ararat.cli.serving.serve import serve_command
from ararat.middleware.resolution.declared_settings import describe_settings
from ararat.middleware.resolution.settings import Settings
from ararat.webapp.settings import InspectorSettings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
SAME = "As that of the resolver."
"""The text of the parameters that the page lists in a sentence."""

_TABLE = re.compile(r"^(?:\|.*\n)+", re.MULTILINE)


def settings(declared: type) -> str:
    """Return the table of the declared settings, with their options and variables."""
    shared = _shared(declared)
    rows = []
    for each in describe_settings(declared):
        if each.text == SAME:
            continue
        option = shared.get(each.name)
        names = "" if option is None else f" {_names(option)}"
        rows.append(
            (f"`{each.name}`{names}", each.default.replace("``", "`"), _sentence(f"{each.text} {each.details}"))
        )
    return _table(("setting", "default", "what it does"), rows)


def options() -> str:
    """Return the table of the other options of ``ararat serve``."""
    rows, shared = [], [*_shared(Settings).values(), *_shared(InspectorSettings).values()]
    for option in serve_command.params:
        assert isinstance(option, click.Option)
        assert isinstance(option.envvar, str), option.name
        if option in shared:
            continue
        stated = re.sub(r"\s*\[default: .*", "", option.help or "")
        shown = re.findall(r"\[default: \(?(.*?)\)?\]", option.help or "")
        default = shown[0] if shown else _plain(option)
        rows.append((_names(option), default, _sentence(stated)))
    return _table(("option", "default", "what it does"), rows)


def page(text: str) -> str:
    """Return the text of the page with new tables."""
    tables = iter((settings(Settings), options(), settings(InspectorSettings)))
    return _TABLE.sub(lambda _: next(tables), text, count=3)


def _shared(declared: type) -> dict[str, click.Option]:
    """Return the options that are declared settings, with the same text, by their names."""
    texts = {each.name: each.text.removesuffix(".") for each in describe_settings(declared) if each.has_option}
    return {
        option.name: option
        for option in serve_command.params
        if isinstance(option, click.Option) and option.name in texts
    }


def _names(option: click.Option) -> str:
    # The page states this rule instead of the variables.
    assert option.envvar == f"ARARAT_{option.opts[0][2:].upper().replace('-', '_')}"
    return " ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))


def _plain(option: click.Option) -> str:
    if isinstance(option.show_default, str):
        return option.show_default
    if isinstance(option.default, str | int | float) and not isinstance(option.default, bool):
        return str(option.default)
    return "none"


def _sentence(text: str) -> str:
    plain = re.sub(
        ":(?:class|mod):`~?((?:[.a-z_]*[.])?)([A-Za-z_]+)`", r"`\2`", " ".join(text.replace("``", "`").split())
    )
    words = plain.removesuffix(".").replace("|", "\\|")
    return words[:1].upper() + words[1:]


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ("---",) * len(head), *rows])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
