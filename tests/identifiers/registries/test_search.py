"""The search for holders of NAANs by beginnings of words, without case and accents. Any text is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from ararat.identifiers import registries
from ararat.identifiers.registries.search import holders
from ararat.identifiers.registries.tables import NAANS, Authority, Table, TableOrigin


@pytest.fixture
def table(tmp_path: Path):
    records = [
        Authority("12025", "National Library of Medicine", "NLM"),
        Authority("12148", "National Library of France", "BNF", native_name="Biblioth\u00e8que nationale de France"),
        Authority("b5060", "\u0130stanbul \u039c\u039f\u03a5\u03a3\u0395\u0399\u039f"),
    ]
    (tmp_path / NAANS.file).write_text(Table.of(NAANS, TableOrigin("2020-01-29", "here"), records).text(), "utf-8")
    registries.use(tmp_path)
    yield
    registries.use()


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("", ["12025", "12148", "b5060"], id="nothing is everything"),
        pytest.param("!? ", ["12025", "12148", "b5060"], id="no word"),
        pytest.param("12148", ["12148"], id="a NAAN"),
        pytest.param("12", ["12025", "12148"], id="the beginning of NAANs"),
        pytest.param("148", [], id="not the end"),
        pytest.param("bnf", ["12148"], id="an acronym"),
        pytest.param("FRANCE biblio", ["12148"], id="words in any order"),
        pytest.param("bibliothe\u0300que", ["12148"], id="decomposed"),
        pytest.param("\uff22\uff2e\uff26", ["12148"], id="fullwidth"),
        pytest.param("istanbul", ["b5060"], id="a dotted capital"),
        pytest.param("\u03bc\u03bf\u03c5\u03c3\u03b5\u03b9\u03bf", ["b5060"], id="Greek in lower case"),
        pytest.param("library atlantis", [], id="every word has to be there"),
        pytest.param("x" * 1_000_000, [], id="very long"),
        pytest.param("\ud800\u202e\0", ["12025", "12148", "b5060"], id="no text at all"),
    ],
)
def test_holders_are_found_by_parts_of_their_names(query, found):
    assert [holder.key for holder in holders(query)] == found
