"""The rows "where to put what" of the architecture name files and symbols that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_, _, REST = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("\n## Where to put what\n")
ROWS = [line.split(" | ", 1) for line in REST.partition("\n## ")[0].splitlines() if line.startswith("| ")][2:]
CODE = re.compile("`([^`]+)`")
PATH = re.compile(r"[\w./-]+(?:/|\.(?:py|md|jsonl|txt))")
SYMBOL = re.compile("[A-Za-z_][A-Za-z0-9_]*")
COMMANDS = {"make"}


@pytest.mark.parametrize(("added", "places"), ROWS, ids=[added.removeprefix("| ") for added, _ in ROWS])
def test_each_row_names_existing_files_and_symbols(added: str, places: str) -> None:
    found = [each for each in CODE.findall(f"{added} | {places}") if each not in COMMANDS]
    paths = [each for each in found if PATH.fullmatch(each)]
    assert paths, "the row names no place"
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "docs" / path).exists(), path
    texts = [(ROOT / path).read_text("utf-8") for path in paths if (ROOT / path).is_file()]
    for symbol in found:
        if SYMBOL.fullmatch(symbol):
            assert any(re.search(rf"\b{symbol}\b", text) for text in texts), f"{symbol} is in none of {paths}"


def test_each_row_has_a_place() -> None:
    assert len(ROWS) > 25
