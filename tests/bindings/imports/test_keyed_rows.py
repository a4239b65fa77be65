"""Import rows without a name: new names, and names that are found again by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ararat.bindings.imports.importing import import_rows
from ararat.bindings.imports.keyed_rows import Mint, State
from ararat.bindings.imports.summary import Summary
from ararat.bindings.imports.table_rows import ImportedTable, Listeners
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.tables.columns import Row
from ararat.middleware import Bindings

BELL = {"resource": "INV 1901/0001", "what": "Gro\u00dfe Glocke", "target": "https://museum.example/1"}
VASE = {"resource": "Slg. Wei\u00df 2", "what": "Vase", "target": "https://museum.example/2"}


def imported(
    bindings: Bindings, *rows: dict[str, str], state: State = "reserved", first: int = 2, **options: Any
) -> tuple[Summary, dict[int, str]]:
    """Import rows below ark:12345/k1. Return the summary, and the names by line."""
    names: dict[int, str] = {}
    read = [Row(line, cells) for line, cells in enumerate(rows, first)]
    table = ImportedTable("objekte.csv", lambda read_as: iter(read), Mint("ark:12345/k1", state))
    listeners = Listeners(
        effect=lambda each: names.update({each.line: each.after.identifier})  # type: ignore[union-attr]
    )
    summary = import_rows(bindings, table, str, listeners=listeners, **options)
    return summary, names


def refusals(summary: Summary) -> Sequence[tuple[int, str, str]]:
    return [(noted.line, noted.code, noted.message) for noted in summary.refused]


def test_a_second_import_finds_the_names_again(bindings: Bindings) -> None:
    first, names = imported(bindings, BELL, VASE)
    assert (first.minted, first.reserved, first.operation) == (2, 2, 1)
    assert all(name.startswith("ark:12345/k1") for name in names.values())
    found = bindings.lookup(names[2])
    assert found is not None
    assert (found.resource, found.target, found.metadata) == (
        BELL["resource"],
        BELL["target"],
        {"erc.what": BELL["what"]},
    )
    again, same = imported(bindings, VASE, BELL)
    assert (again.minted, again.unchanged, again.operation) == (0, 2, None)
    assert {*same.values()} == {*names.values()}
    changed, _ = imported(bindings, {**BELL, "what": "Bell"}, VASE)
    assert (changed.updated, changed.unchanged, bindings.count().number) == (1, 1, 2)


def test_a_key_is_found_in_each_composition_of_its_letters(bindings: Bindings) -> None:
    _, names = imported(bindings, {"resource": "M\u00fc 1", "what": "A"}, state="live")
    again, same = imported(bindings, {"resource": "Mu\u0308 1", "what": "B"})
    assert (again.minted, again.updated, same) == (0, 1, names)


def test_two_rows_with_one_key_name_each_other(bindings: Bindings) -> None:
    summary, _ = imported(bindings, BELL, VASE, {**BELL, "what": "Copy"})
    assert refusals(summary) == [
        (2, "key-twice", "row 4 has the key INV 1901/0001 too"),
        (4, "key-twice", "row 2 has the key INV 1901/0001 too"),
    ]
    assert (summary.written, bindings.count().number) == (False, 0)
    many, _ = imported(bindings, *[BELL] * 7)
    assert refusals(many)[1][2] == "the rows 2, 4, 5 and 3 more have the key INV 1901/0001 too"
    named = {**BELL, "identifier": "ark:12345/k1a"}
    assert len(refusals(imported(bindings, named, BELL)[0])) == 2
    assert not refusals(imported(bindings, named, {**BELL, "identifier": "ark:12345/k1b"}, dry_run=True)[0])


ROWS = {
    "no key": ({"resource": " ", "what": "A"}, "key-missing"),
    "a long key": ({"resource": "x" * 401}, "resource-text"),
    "a wrong target": ({"resource": "A", "target": "http://[/"}, "target-host"),
}


@pytest.mark.one_setup
@pytest.mark.parametrize(("row", "code"), ROWS.values(), ids=ROWS.keys())
def test_one_refused_row_leaves_nothing(bindings: Bindings, row: dict[str, str], code: str) -> None:
    summary, _ = imported(bindings, BELL, row)
    (noted,) = summary.refused
    assert (noted.line, noted.code) == (3, code)
    assert "ark:" not in noted.identifier
    assert bindings.count().number == 0


def test_a_key_of_two_names_is_refused(bindings: Bindings) -> None:
    bindings.bind("ark:12345/k1a", "/a", resource="R")
    bindings.bind("ark:12345/k1b", "/b", resource="R")
    bindings.bind("ark:12345/z9", "/b", resource="Q")
    assert refusals(imported(bindings, {"resource": "R"})[0]) == [
        (2, "key-ambiguous", "ark:12345/k1a and ark:12345/k1b have the key R")
    ]
    summary, _ = imported(bindings, {"resource": "Q"})
    assert [noted.code for noted in summary.warned] == ["resource-shared"]


def test_the_state_is_that_of_new_names_only(bindings: Bindings) -> None:
    imported(bindings, BELL)
    rows = [BELL, VASE, {"resource": "3", "target": ""}, {"resource": "4", "target": "/4", "status": "reserved"}]
    summary, names = imported(bindings, *rows, state="live")
    found = bindings.store.fetch([*names.values()])
    assert [found[name].status for _, name in sorted(names.items())] == ["reserved", "live", "reserved", "reserved"]
    assert [(noted.line, noted.code) for noted in summary.warned] == [(4, "target-empty")]
    _, names = imported(bindings, {"resource": "5", "what": "No web site"}, state="live")
    found = bindings.store.fetch([*names.values()])
    assert [(each.kind, each.status) for each in found.values()] == [("described", "live")]


def test_an_undo_deletes_or_hides_and_a_second_import_publishes_again(bindings: Bindings) -> None:
    first, names = imported(bindings, BELL, {**VASE, "status": "reserved"}, state="live")
    assert undo_operation(bindings, first.operation or 0).counts == {"hidden": 1, "deleted": 1}
    hidden = bindings.store.fetch([names[2]])[names[2]]
    assert (hidden.is_hidden, hidden.resource, hidden.target, hidden.metadata) == (True, BELL["resource"], None, {})
    again, same = imported(bindings, BELL, VASE, state="live")
    assert (same[2], again.published, again.added, again.minted) == (names[2], 1, 1, 1)
    assert undo_operation(bindings, again.operation or 0).counts == {"hidden": 2}


def test_a_shoulder_that_cannot_have_names_stops_the_import(bindings: Bindings) -> None:
    with pytest.raises(BindingError, match="not a NAAN"):
        import_rows(bindings, ImportedTable("a.csv", lambda read_as: iter([Row(2, BELL)]), Mint("k\u00fc")), str)


def test_an_interrupted_import_leaves_nothing_and_mints_once(bindings: Bindings) -> None:
    def stop(lines: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imported(bindings, BELL, VASE, progress=stop)
    assert bindings.count().number == 0
    assert (imported(bindings, BELL, VASE)[0].minted, imported(bindings, BELL, VASE)[0].minted) == (2, 0)
    # PostgreSQL does not give the number of an interrupted operation again.
    assert [(each.action, each.names) for each in bindings.list_operations()] == [("import", 2)]


def test_a_dry_run_keeps_no_name(bindings: Bindings) -> None:
    summary, names = imported(bindings, BELL, VASE, dry_run=True)
    assert (summary.minted, len(names), bindings.count().number) == (2, 2, 0)
    batches, _ = imported(bindings, BELL, VASE, batch=1)
    assert (batches.minted, batches.kept, bindings.count().number) == (2, 2, 2)


def _codes(bindings: Bindings, mint: Mint, *keys: str) -> list[str]:
    rows = [Row(line, {"resource": key, "what": "Vase"}) for line, key in enumerate(keys, 2)]
    summary = import_rows(bindings, ImportedTable("a.csv", lambda read_as: iter(rows), mint), str)
    return [each.code for each in summary.refused]


@pytest.mark.parametrize(
    "key", ["03. Dez", "03-Dec", "4,00676E+12", "1E3", "########", "#BEZUG!", "#N/A", "2024-02-01", "1.2.2024"]
)
def test_a_key_that_a_spreadsheet_program_changed_is_a_question(bindings: Bindings, key: str) -> None:
    mint = Mint("ark:12345/k1")
    assert _codes(bindings, mint, key, "INV 2") == ["key-damaged"]
    assert _codes(bindings, mint._replace(trusts=("key-damaged",)), key, "INV 2") == []


@pytest.mark.parametrize(("recorded", "key", "expected"), [("00042", "42", 1), ("A 7", "7", 0), ("42", "43", 0)])
def test_a_key_that_lacks_the_zeros_of_a_recorded_one_is_a_question(
    bindings: Bindings, recorded: str, key: str, expected: int
) -> None:
    mint = Mint("ark:12345/k1")
    assert _codes(bindings, mint, recorded, "INV 2") == []
    assert _codes(bindings, mint, key, "INV 2") == ["key-damaged"] * expected
    assert _codes(bindings, mint._replace(trusts=("key-damaged",)), key, "INV 2") == []


@pytest.mark.parametrize("other", ["zw 1", "ZW  1", "ZW1", "Zw 1"])
def test_keys_that_a_reader_takes_for_one_are_a_question(bindings: Bindings, other: str) -> None:
    mint = Mint("ark:12345/k1")
    assert _codes(bindings, mint, "ZW 1", other) == ["key-similar"]
    assert _codes(bindings, mint._replace(trusts=("key-similar",)), "ZW 1", other) == []


@pytest.mark.parametrize("other", ["zw-1", "ZW\u20131", "ZW\u20111", "ZW- 1"])
def test_a_key_that_differs_from_a_recorded_one_in_case_or_hyphens_is_a_question(
    bindings: Bindings, other: str
) -> None:
    bindings.bind("ark:12345/k1x", "https://m.example/1", resource="ZW-1")
    assert _codes(bindings, Mint("ark:12345/k1"), other) == ["key-similar"]


@pytest.mark.parametrize("other", ["STRASSE 6", "strasse 6", "STRAßE 6", "STRAẞE6"])
def test_a_key_with_another_spelling_of_a_sharp_s_is_a_question(bindings: Bindings, other: str) -> None:
    bindings.bind("ark:12345/k1x", "https://m.example/1", resource="Straße 6")
    assert _codes(bindings, Mint("ark:12345/k1"), other) == ["key-similar"]


def test_a_table_that_only_corrects_mints_no_name(bindings: Bindings) -> None:
    bindings.bind("ark:12345/k1x", "https://m.example/1", resource="INV 1")
    mint = Mint("ark:12345/k1", finds=True)
    assert _codes(bindings, mint, "INV 1", "INV 11") == ["key-unknown"]
    assert _codes(bindings, mint, "INV 1") == []
    found = bindings.lookup("ark:12345/k1x")
    assert found
    assert found.metadata["erc.what"] == "Vase"


@pytest.mark.parametrize(
    ("key", "code", "trusts", "minted"),
    [
        pytest.param("A 1", "key-former", "key-former", 0, id="a former number finds the name"),
        pytest.param("A 1", "key-former", "key-reused", 1, id="a former number is used again"),
        pytest.param("a-2", "key-similar", "key-same", 0, id="other case finds the name"),
        pytest.param("a-2", "key-similar", "key-similar", 1, id="other case is another thing"),
        pytest.param("1E3", "key-damaged", "key-damaged", 1, id="a damaged number is right"),
    ],
)
def test_a_question_about_a_key_has_an_answer(
    bindings: Bindings, key: str, code: str, trusts: str, minted: int
) -> None:
    bindings.bind("ark:12345/k1x", "https://m.example/1", resource="R 7", numbers={"current": "A-2", "former": ["A 1"]})
    mint = Mint("ark:12345/k1")
    assert _codes(bindings, mint, key) == [code]
    assert _codes(bindings, mint._replace(trusts=(trusts,)), key) == []
    assert bindings.count().number == 1 + minted
    found = bindings.lookup("ark:12345/k1x")
    assert found
    assert found.metadata.get("erc.what") == (None if minted else "Vase")
    assert (found.resource, found.numbers["current"]) == ("R 7", "A-2")


def test_a_former_number_finds_a_name_in_a_table_that_only_corrects(bindings: Bindings) -> None:
    bindings.bind("ark:12345/k1x", "https://m.example/1", resource="R 7", numbers={"former": ["A 1"]})
    mint = Mint("ark:12345/k1", finds=True)
    assert _codes(bindings, mint, "A 1") == ["key-former"]
    assert _codes(bindings, mint._replace(trusts=("key-former",)), "A 1") == []
    assert _codes(bindings, mint._replace(trusts=("key-reused",)), "A 1") == ["key-unknown"]
