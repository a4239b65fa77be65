"""Test which names share a number, a target or a title with a name that would be public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ararat.bindings import changes
from ararat.bindings.checks.new_names import note_warnings
from ararat.bindings.checks.shared_values import NewValues, shared_values
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_rows
from ararat.bindings.imports.keyed_rows import Mint
from ararat.bindings.imports.table_rows import ImportedTable
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.selection import select
from ararat.bindings.operations import pace
from ararat.bindings.operations.selected import change_selected
from ararat.bindings.tables.columns import Row

OTHER = "ark:12345/x5old"
LONG = "Letter about the flood " * 20


def shared(bindings: Bindings, **values: object) -> list[tuple[str, str]]:
    found = shared_values(bindings, [NewValues(**values)])  # type: ignore[arg-type]
    return [(each.field, each.other.key) for each in found[0]]


@pytest.fixture(autouse=True)
def _recorded(bindings: Bindings) -> None:
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", metadata={"what": "Vase with birds"})


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"numbers": ("INV 3",)}, ["number"]),
        ({"numbers": ("INV 4",)}, []),
        ({"target": "https://museum.example/1"}, ["target"]),
        ({"target": "https://museum.example/10"}, []),
        ({"title": "  VASE with  Birds"}, ["title"]),
        ({"title": "Vase with bird"}, []),
        ({"title": ""}, []),
        (
            {"numbers": ("INV 3",), "target": "https://museum.example/1", "title": "Vase with birds"},
            ["number", "target", "title"],
        ),
        ({"key": OTHER, "numbers": ("INV 3",)}, []),
    ],
)
def test_a_value_of_another_name_is_shared(bindings: Bindings, values: dict[str, object], fields: list[str]) -> None:
    assert shared(bindings, **values) == [(field, OTHER) for field in fields]


def test_a_withdrawn_name_shares_nothing(bindings: Bindings) -> None:
    bindings.withdraw(OTHER, reason="twice")
    assert shared(bindings, numbers=("INV 3",), target="https://museum.example/1", title="Vase with birds") == []


def test_a_corrected_number_is_shared_and_the_number_before_is_not(bindings: Bindings) -> None:
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", numbers={"current": "INV 30", "further": "B7"})
    assert [shared(bindings, numbers=(each,)) for each in ("INV 30", "B7", "INV 3")] == [
        [("number", OTHER)],
        [("number", OTHER)],
        [],
    ]


def test_a_creator_and_a_code_are_not_titles(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5by", "https://museum.example/2", metadata={"who": "Noah"})
    bindings.bind("ark:12345/x5unknown", "https://museum.example/3", metadata={"what": "(:unkn)"})
    assert shared(bindings, title="Noah") == []
    after = bindings.lookup("ark:12345/x5unknown")
    assert after is not None
    values = NewValues.of(None, after)
    assert values is not None
    assert values.title == ""


def test_long_titles_are_compared_by_their_beginning(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5long", "https://museum.example/4", metadata={"what": LONG})
    assert shared(bindings, title=LONG.upper()) == [("title", "ark:12345/x5long")]


def test_targets_that_two_names_of_one_list_exchange_are_not_shared(bindings: Bindings) -> None:
    one, two = "https://museum.example/1", "https://museum.example/2"
    bindings.bind("ark:12345/x5two", two)
    exchanged = [NewValues(OTHER, target=two), NewValues("ark:12345/x5two", target=one)]
    assert shared_values(bindings, exchanged) == [[], []]
    assert shared(bindings, key=OTHER, target=two) == [("target", "ark:12345/x5two")]


@pytest.mark.both_stores
def test_a_number_of_many_names_is_compared_with_few(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"ark:12345/x5{number:03}box" for number in range(60)]
    for name in names:
        bindings.bind(name, f"https://museum.example/{name}", numbers={"current": name[-6:], "further": "Box 1"})
    fetched: list[str] = []
    fetch = type(bindings.store).fetch
    monkeypatch.setattr(type(bindings.store), "fetch", lambda store, keys: fetch(store, fetched.extend(keys) or keys))
    assert [field for field, _ in shared(bindings, numbers=("Box 1",))] == ["number"]
    assert [field for field, _ in shared(bindings, key=names[0], numbers=("Box 1",))] == ["number"]
    assert len(fetched) <= 4


@pytest.mark.both_stores
@pytest.mark.parametrize(
    "text", ["A\0", "\ud800", "\u202e", "x" * 10**6], ids=["NUL", "a surrogate", "a bidirectional control", "long"]
)
def test_a_text_that_no_database_has_is_not_shared(bindings: Bindings, text: str) -> None:
    assert shared(bindings, numbers=(text, "INV 3"), target=text, title=text) == [("number", OTHER)]


def test_names_of_one_list_are_compared_with_each_other(bindings: Bindings) -> None:
    new = [NewValues(target="https://museum.example/new", label=f"row {number}") for number in (1, 2)]
    found = shared_values(bindings, new)
    assert [[(each.field, each.other.label) for each in several] for several in found] == [
        [("target", "row 2")],
        [("target", "row 1")],
    ]


def test_only_new_values_of_a_public_name_are_compared(bindings: Bindings) -> None:
    before = bindings.lookup(OTHER)
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", metadata={"what": "Vase"})
    after = bindings.lookup(OTHER)
    assert before is not None
    assert after is not None
    assert NewValues.of(before, after) == NewValues(OTHER, title="Vase")
    bindings.reserve("ark:12345/x5r", "https://museum.example/5")
    reserved = bindings.lookup("ark:12345/x5r")
    assert reserved is not None
    assert NewValues.of(None, reserved) is None
    bindings.reserve("ark:12345/x5e", "https://museum.example/6", embargo="2099-01-01")
    due = bindings.lookup("ark:12345/x5e")
    assert due is not None
    assert NewValues.of(None, due) == NewValues("ark:12345/x5e", target="https://museum.example/6")


# All interfaces of the library report the shared values as warnings.

NEW = "ark:12345/x5new"
VALUES = {
    "number": ("number-shared", {"further_numbers": "INV 3"}),
    "resource": ("resource-shared", {"resource": "INV 3"}),
    "target": ("target-shared", {"target": "https://museum.example/1"}),
    "title": ("title-shared", {"what": "  VASE with  Birds"}),
}
Door = Callable[[Bindings, dict[str, str]], list[str]]


def table(
    bindings: Bindings, *rows: dict[str, str], mint: Mint | None = None, relocate: bool = False, **options: Any
) -> list[str]:
    """Import rows, and return the codes of the warnings."""
    read = [Row(line, cells) for line, cells in enumerate(rows, 2)]
    imported = ImportedTable("t.csv", lambda _: iter(read), mint=mint, relocate=relocate)
    summary = import_rows(bindings, imported, str, **options)
    assert not summary.refused, summary.refused
    return [each.code for each in summary.warned]


def imported(**options: Any) -> Door:
    first = {"identifier": NEW, "target": "https://museum.example/new"}
    return lambda bindings, row: table(bindings, {**first, **row}, **options)


def minted_by_table(bindings: Bindings, row: dict[str, str]) -> list[str]:
    first = {"target": "https://museum.example/new", "resource": "INV 99", "status": "live"}
    return table(bindings, {**first, **row}, mint=Mint("ark:12345/q5"))


def changed_by_table(bindings: Bindings, row: dict[str, str]) -> list[str]:
    number = row.get("resource", "INV 99")
    bindings.bind(NEW, "https://museum.example/new", resource=number if number == "INV 99" else None)
    first = {"identifier": NEW, "target": "https://museum.example/new", "resource": number}
    return table(bindings, {**first, **row}, relocate=True)


def published_by_table(bindings: Bindings, row: dict[str, str]) -> list[str]:
    reserved(bindings, row)
    return table(bindings, {"identifier": NEW, "status": "live", **row})


def reserved(bindings: Bindings, row: dict[str, str]) -> None:
    bindings.reserve(NEW, fields(row, kind="described" if "target" not in row else None))


def fields(row: dict[str, str], **others: Any) -> Fields:
    numbers = {"further": row["further_numbers"]} if "further_numbers" in row else None
    metadata = {"what": row["what"]} if "what" in row else None
    values = {name: row[name] for name in ("target", "resource") if name in row}
    return Fields(**{"numbers": numbers, "metadata": metadata, **values, **others})


def published(dry_run: bool) -> Door:
    def door(bindings: Bindings, row: dict[str, str]) -> list[str]:
        reserved(bindings, row)
        result = change_selected(bindings, "publish", {}, select(prefix=NEW), dry_run=dry_run)
        assert result.counts == {"bound": 1}
        return [each.code for each in result.warned]

    return door


def restored(bindings: Bindings, row: dict[str, str]) -> list[str]:
    bindings.bind(NEW, fields(row, kind="described" if "target" not in row else None))
    bindings.withdraw(NEW)
    return [each.code for each in change_selected(bindings, "restore", {}, select(prefix=NEW)).warned]


def one_change(request: changes.NameChange) -> Door:
    def door(bindings: Bindings, row: dict[str, str]) -> list[str]:
        reserved(bindings, row)
        (result,) = bindings.change([request], actor=Actor(at_end=(note_warnings,)))
        return [each.code for each in result.warnings]

    return door


DOORS: dict[str, Door] = {
    "the check of a table": imported(dry_run=True),
    "a table": imported(),
    "a table at once": imported(atomic=True),
    "a minting table": minted_by_table,
    "a table that changes a name": changed_by_table,
    "a table that publishes a name": published_by_table,
    "the check of a publication": published(dry_run=True),
    "a publication": published(dry_run=False),
    "a restoration": restored,
    "one change": one_change(changes.patch(NEW, Fields(status="live"))),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("door", DOORS)
def test_each_door_warns_of_a_shared_value_once(bindings: Bindings, door: str, value: str) -> None:
    code, row = VALUES[value]
    assert DOORS[door](bindings, dict(row)) == [code]


@pytest.mark.both_stores
def test_a_database_of_each_kind_finds_the_values(bindings: Bindings) -> None:
    row = {name: text for _, values in VALUES.values() for name, text in values.items() if name != "further_numbers"}
    assert imported(dry_run=True)(bindings, row) == ["resource-shared", "target-shared", "title-shared"]


def test_the_same_table_again_has_no_warning(bindings: Bindings) -> None:
    rows = [
        {"identifier": f"ark:12345/x5t{n}", "target": f"https://museum.example/t{n}", "what": "Bowl"} for n in (1, 2)
    ]
    assert table(bindings, *rows) == ["title-shared"] * 2
    assert table(bindings, *rows, dry_run=True) == table(bindings, *rows) == []


def test_reserved_rows_have_no_warning_of_titles(bindings: Bindings) -> None:
    rows = [{"identifier": f"ark:12345/x5t{n}", "what": "Bowl", "status": "reserved"} for n in (1, 2)]
    assert table(bindings, *rows) == []


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("field", ["further_numbers", "target", "what"])
def test_rows_of_several_blocks_are_compared(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, field: str, dry_run: bool
) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    rows = [
        {"identifier": f"ark:12345/x5t{n}", "target": f"https://museum.example/t{n}", field: f"Value {n % 4}"}
        for n in range(5)
    ]
    if field == "target":
        for n, row in enumerate(rows):
            row["target"] = f"https://museum.example/{n % 4}0"
    code = {"further_numbers": "number-shared", "target": "target-shared", "what": "title-shared"}[field]
    assert table(bindings, *rows, dry_run=dry_run) == [code]


def test_minted_rows_with_one_title_name_each_other(bindings: Bindings) -> None:
    rows = [{"resource": f"N {n}", "target": f"https://museum.example/t{n}", "what": "Bowl"} for n in (1, 2)]
    for dry_run in (True, False):
        again = [{**row, "resource": f"{row['resource']} {dry_run}"} for row in rows]
        codes = table(bindings, *again, mint=Mint("ark:12345/q5", state="live"), dry_run=dry_run)
        assert [code for code in codes if code == "title-shared"] == ["title-shared"] * 2


def test_a_deleted_and_an_undone_name_have_no_warning(bindings: Bindings) -> None:
    bindings.reserve(NEW, "https://museum.example/1", embargo="2099-01-01")
    assert change_selected(bindings, "delete", {}, select(prefix=NEW)).warned == []
