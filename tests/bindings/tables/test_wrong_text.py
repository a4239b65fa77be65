"""Test cells that a spreadsheet program damaged: line breaks, and UTF-8 that was read in another encoding."""

from __future__ import annotations

from io import BytesIO

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.tables.wrong_text import misread

NAME = "ark:12345/k1"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Gro\u00c3\u0178e Glocke", ("\u00c3\u0178", "\u00df"), id="Windows-1252"),
        pytest.param("F\u00c3\u00bcr", ("\u00c3\u00bc", "\u00fc"), id="both encodings"),
        pytest.param("\u00e2\u20ac\u201c", ("\u00e2\u20ac\u201c", "\u2013"), id="a dash"),
        pytest.param("Gro\u00dfe Glocke von St. \u00c4nne", None, id="German"),
        pytest.param("N\u00c3O \u00c2GE d\u00e9j\u00e0 vu", None, id="Portuguese and French"),
    ],
)
def test_utf_8_in_another_encoding_is_found(text: str, found: tuple[str, str] | None) -> None:
    assert misread(text) == found


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        pytest.param(None, "F\u00c3\u00bcr", ["text-misread"], id="a new name"),
        pytest.param("F\u00fcr", "F\u00c3\u00bcr", ["text-misread"], id="a good value"),
        pytest.param("F\u00c3\u00bcr", "F\u00c3\u00bcr!", [], id="a recorded value"),
        pytest.param("F\u00c3\u00bcr", "F\u00fcr", [], id="a correction"),
        pytest.param(None, '"The Ark\nof Noah"', ["cell-line-break"], id="a line break"),
    ],
)
def test_damaged_cells_have_a_warning(bindings: Bindings, before: str | None, after: str, codes: list[str]) -> None:
    if before:
        bindings.bind(NAME, "/1", metadata={"what": before})
    summary = import_table(bindings, BytesIO(f"identifier,target,what\n{NAME},/1,{after}\n".encode()))
    assert ([noted.code for noted in summary.warned], summary.refused) == (codes, [])
    found = bindings.lookup(NAME)
    assert found is not None
    assert "\n" not in found.metadata["erc.what"]
