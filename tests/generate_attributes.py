"""Write the tables of docs/attributes.md from the code:

    .venv/bin/python tests/generate_attributes.py

The texts come from the docstrings, and the values from the example of each table. A test compares the page with the
code.
"""

from __future__ import annotations

import inspect
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any

import ararat
from ararat import Ark, EmbeddedArk, Match, Report, Urn

PAGE = Path(__file__).parents[1] / "docs" / "attributes.md"
EXAMPLES: dict[type, str] = {
    Ark: 'Ark.parse("ark:/12345/x6-np1/map.pdf.en?info")',
    EmbeddedArk: 'parse("https://n2t.net/ark:/12345/x6-np1")',
    Urn: 'Urn.parse("URN:ISBN:0-451-45052-3")',
    Report: 'examine("ark:B5072/x")',
    Match: 'find("See ark:12345/x6-np1.")[0]',
}
"""The example of each class, which the page shows."""

_LONGEST = 60
_NAMED = re.compile(r"(``\w+``(?:, ``\w+``)*): ")


def page(text: str) -> str:
    """Return the text of the page with new tables."""
    for each, example in EXAMPLES.items():
        table = f"```python\n{example}\n```\n\n{_table(each, example)}"
        text = re.sub(
            rf"(?<=^## {each.__name__}\n\n)```python\n.*?(?=\n## |\Z)",
            lambda _, table=table: table,
            text,
            flags=re.MULTILINE | re.DOTALL,
        )
    return text


def _table(declared: type, example: str) -> str:
    value = eval(example, vars(ararat) | {name: getattr(ararat, name) for name in ararat.__all__})
    texts = _members(declared)
    rows = ["| attribute | value of the example | meaning |\n", "| --- | --- | --- |\n"]
    for name in sorted(_public(declared)):
        found = inspect.getattr_static(declared, name)
        stated = inspect.getdoc(found) if isinstance(found, property) else None
        rows.append(
            f"| `{name}` | {_shown(getattr(value, name))} | {_first_sentence(stated or texts.get(name, ''))} |\n"
        )
    return "".join(rows)


def _public(declared: type) -> list[str]:
    """Return the attributes that a class declares, without methods."""
    own = [each for each in declared.__mro__ if each.__module__.startswith("ararat.")]
    fields = [name for each in own for name in vars(each).get("__annotations__", {})]
    properties = [name for each in own for name, found in vars(each).items() if isinstance(found, property)]
    return [name for name in dict.fromkeys([*fields, *properties]) if not name.startswith("_")]


def _members(declared: type) -> dict[str, str]:
    """Return the texts of the attributes in the docstrings of a class and of its bases."""
    found: dict[str, str] = {}
    for each in reversed(declared.__mro__):
        stated = inspect.cleandoc(each.__doc__ or "") if each.__module__.startswith("ararat.") else ""
        listed = " ".join(line.removeprefix("- ").strip() for line in stated.splitlines() if line[:2] in ("- ", "  "))
        named = [*_NAMED.finditer(listed)]
        for one, following in zip_longest(named, named[1:]):
            text = listed[one.end() : following.start() if following else None]
            found |= dict.fromkeys(re.findall(r"``(\w+)``", one[1]), text)
    return found


def _first_sentence(text: str) -> str:
    """Return the first sentence of a docstring, as Markdown in a table."""
    plain = " ".join(text.partition(">>>")[0].split())
    plain = re.sub(r" ?\(:mod:`[^`]*`\)", "", plain)
    plain = re.sub(r":\w+:`~?[.]?(?:[\w.]*[.])?(\w+)`", r"`\1`", plain).replace("``", "`")
    sentence = re.split(r"(?<=[a-z)`\"0-9])\. (?=[A-Z\"`])", plain, maxsplit=1)[0].rstrip(".;: ")
    return (sentence[:1].upper() + sentence[1:]).replace("|", "\\|")


def _shown(value: Any) -> str:
    text = repr(value)
    if len(text) <= _LONGEST:
        return f"`{text}`".replace("|", "\\|")
    kind = type(value).__name__
    return f"{kind} of {len(value)}" if isinstance(value, tuple | dict) else f"a {kind}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
