"""The numbers of things in each store: corrected, swapped, found, undone, and the keys of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.copying import copy_store
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_rows, import_table
from ararat.bindings.imports.keyed_rows import Mint
from ararat.bindings.imports.table_rows import ImportedTable
from ararat.bindings.log.redaction import redact
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import select
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.tables.columns import Row
from ararat.bindings.tables.text_stream import ReadAs
from ararat.middleware import Bindings, open_bindings

ONE, TWO = "ark:12345/x51", "ark:12345/x52"


@pytest.fixture
def museum(bindings: Bindings) -> Bindings:
    """Two names with the inventory numbers A 1 and A 2."""
    for name, number in ((ONE, "A 1"), (TWO, "A 2")):
        bindings.bind(name, f"https://m.example/{number[-1]}", resource=number)
    return bindings


def numbers_of(bindings: Bindings, name: str) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    found = bindings.lookup(name)
    assert found
    return found.thing_numbers


def found_by(bindings: Bindings, **conditions: Any) -> list[str]:
    return [each.identifier for each in bindings.store.list_names(select(**conditions), None, 10).names]


def test_a_name_shows_its_resource_as_its_number(museum: Bindings) -> None:
    assert numbers_of(museum, ONE) == ("A 1", (), ())
    found = museum.lookup(ONE)
    assert found
    assert found.as_dict()["numbers"] == {"current": "A 1", "further": [], "former": []}


def test_a_corrected_number_is_found_and_the_resource_stays(museum: Bindings) -> None:
    assert museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10", "further": ["B 7"]}) == "updated"
    assert numbers_of(museum, ONE) == ("A 10", ("B 7",), ())
    found = museum.lookup(ONE)
    assert found
    assert found.resource == "A 1"
    assert museum.bind(ONE, "https://m.example/1", numbers={"current": "A 11"}) == "updated"
    assert numbers_of(museum, ONE) == ("A 11", ("B 7",), ("A 10",))
    for number in ("A 1", "A 10", "A 11", "B 7"):
        assert found_by(museum, resource=number) == [ONE]
    assert found_by(museum, text="a 11") == [ONE]
    assert found_by(museum, resource="A 12") == []


def test_the_first_number_can_come_back(museum: Bindings) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10"})
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 1"})
    assert numbers_of(museum, ONE) == ("A 1", (), ("A 10",))


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ({"current": "A|B"}, "number-several"),
        ({"current": "x" * 401}, "number-text"),
        ({"further": ["a\nb"]}, "number-text"),
        ({"further": [str(each) for each in range(51)]}, "number-several"),
        ({"old": "A"}, "number-kind"),
    ],
)
def test_numbers_are_checked(museum: Bindings, numbers: dict[str, object], code: str) -> None:
    with pytest.raises(BindingError) as caught:
        museum.bind(ONE, "https://m.example/1", numbers=numbers)
    assert (caught.value.code, caught.value.field) == (code, "numbers")
    assert numbers_of(museum, ONE) == ("A 1", (), ())


def _imported(bindings: Bindings, text: str, folder: Path) -> None:
    file = folder / "numbers.csv"
    file.write_text(text, "utf-8")
    assert import_table(bindings, file).written


def test_two_numbers_are_swapped_in_one_table_and_the_swap_is_undone(museum: Bindings, tmp_path: Path) -> None:
    _imported(museum, f"identifier,number,further_numbers\n{ONE},A 2,B 1 | B 2\n{TWO},A 1,\n", tmp_path)
    assert numbers_of(museum, ONE) == ("A 2", ("B 1", "B 2"), ())
    assert numbers_of(museum, TWO) == ("A 1", (), ())
    operation = museum.store.operations(None, 1)[0]
    undo_operation(museum, operation.number)
    assert numbers_of(museum, ONE) == ("A 1", (), ())
    assert found_by(museum, resource="B 1") == []


def test_an_export_has_the_numbers(museum: Bindings, tmp_path: Path) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10", "former": ["C 1", "C 2"]})
    file = tmp_path / "names.csv"
    with file.open("wb") as out:
        export_table(museum, out)
    with open_bindings(tmp_path / "copy.sqlite", create=True) as other:
        import_table(other, file)
        assert numbers_of(other, ONE) == ("A 10", (), ("C 1", "C 2"))
        assert found_by(other, resource="C 2") == [ONE]


def test_a_copy_and_a_redaction_know_the_numbers(museum: Bindings, tmp_path: Path) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10"})
    with open_bindings(tmp_path / "copy.sqlite", create=True) as other:
        copy_store(museum, other)
        assert found_by(other, resource="A 10") == [ONE]
        other.withdraw(ONE)
        redact(other, ONE)
        assert found_by(other, resource="A 10") == []


def rows_of(*rows: dict[str, str]) -> ImportedTable:
    def read(read_as: ReadAs) -> Iterator[Row]:
        return (Row(line, cells) for line, cells in enumerate(rows, 2))

    return ImportedTable("a.csv", read, Mint("ark:12345/x5"))


@pytest.mark.parametrize("number", ["A 10", "A 1", "B 7"])
def test_the_key_of_a_table_finds_a_name_by_its_numbers_and_its_resource(museum: Bindings, number: str) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10", "further": ["B 7"]})
    summary = import_rows(museum, rows_of({"resource": number, "what": "Vase"}), str)
    assert (summary.minted, summary.updated, summary.refused) == (0, 1, [])
    found = museum.lookup(ONE)
    assert found
    assert (found.resource, found.metadata["erc.what"]) == ("A 1", "Vase")


def test_the_current_number_decides_after_a_swap(museum: Bindings) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 2"})
    museum.bind(TWO, "https://m.example/2", numbers={"current": "A 1"})
    import_rows(museum, rows_of({"resource": "A 1", "what": "Vase"}), str)
    found = museum.lookup(TWO)
    assert found
    assert found.metadata["erc.what"] == "Vase"


def test_a_former_number_is_a_question(museum: Bindings) -> None:
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 10"})
    museum.bind(ONE, "https://m.example/1", numbers={"current": "A 11"})
    summary = import_rows(museum, rows_of({"resource": "A 10", "what": "Vase"}), str)
    assert [each.code for each in summary.refused] == ["key-former"]
    assert ONE in summary.refused[0].message


def test_a_withdrawn_name_is_no_candidate_beside_a_live_one(museum: Bindings) -> None:
    for name in ("ark:12345/x50", "ark:12345/x59"):
        museum.bind(name, "https://m.example/9", resource="A 1")
        museum.withdraw(name, reason="twice", successor=ONE)
    summary = import_rows(museum, rows_of({"resource": "A 1", "what": "Vase"}), str)
    assert (summary.updated, summary.refused) == (1, [])
    found = museum.lookup(ONE)
    assert found
    assert found.metadata["erc.what"] == "Vase"


def test_another_number_of_a_recorded_name_is_its_correction_only_if_a_person_says_so(museum: Bindings) -> None:
    table = rows_of({"identifier": ONE, "resource": "A 10", "what": "Vase"})
    assert [each.code for each in import_rows(museum, table, str).refused] == ["other-resource"]
    assert import_rows(museum, replace(table, renumber=True), str).updated == 1
    assert numbers_of(museum, ONE) == ("A 10", (), ())
