"""Names near a search without a result."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from ararat.bindings.checks import near_names
from ararat.bindings.checks.near_names import NUMBER, TARGET, WORD
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.selection import Page, Selection, select
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.undo import undo_operation

ONE, TWO, THREE = "ark:12345/x51", "ark:12345/x52", "ark:12345/x53"


@pytest.fixture
def museum(bindings: Bindings) -> Bindings:
    bindings.bind(ONE, "https://m.example/1", resource="OB 2026/0017", metadata={"what": "View of the harbour"})
    bindings.bind(TWO, "https://m.example/2", resource="INV1901-170", metadata={"what": "View of the mill"})
    bindings.bind(THREE, "https://m.example/3", resource="A 3", numbers={"former": ["K 007"]})
    return bindings


def found(page: Page) -> list[str]:
    return [each.identifier for each in page.names]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("OB 2026/17", [ONE], id="without zeros"),
        pytest.param("ob2026-00017", [ONE], id="with zeros and a hyphen, without a space"),
        pytest.param("INV 1901 170", [TWO], id="with spaces"),
        pytest.param("inv 1901/0170", [TWO], id="with a zero"),
        pytest.param("k7", [THREE], id="a former number"),
        pytest.param("OB 2026/18", [], id="another number"),
        pytest.param("OB 2026/170", [], id="a longer number"),
    ],
)
def test_a_number_in_another_spelling_finds_its_name(museum: Bindings, text: str, names: list[str]) -> None:
    page = near_names.page(museum, select(text=text))
    assert found(page) == names
    assert page.note in ((NUMBER, None) if names else (None,))
    assert found(near_names.page(museum, select(resource=text))) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("habour", [ONE], id="a missing letter"),
        pytest.param("harbbour", [ONE], id="a letter too many"),
        pytest.param("harbuor", [ONE], id="two letters exchanged"),
        pytest.param("view hambour", [ONE], id="another letter beside another word"),
        pytest.param("castle", [], id="another word"),
        pytest.param("hbr", [], id="a short word"),
    ],
)
def test_a_word_that_differs_in_one_letter_finds_its_name(museum: Bindings, text: str, names: list[str]) -> None:
    page = near_names.page(museum, select(text=text))
    assert (found(page), page.note) == (names, WORD if names else None)


def test_many_numbers_make_no_more_queries_than_are_read(museum: Bindings) -> None:
    tracemalloc.start()
    try:
        assert found(near_names.page(museum, select(text="1 2 3 4 5 6 7 8 9 1 2 3"))) == []
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_exact_names_are_not_mixed_with_near_ones(museum: Bindings) -> None:
    page = near_names.page(museum, select(text="view"))
    assert (found(page), page.note) == ([ONE, TWO], None)
    assert found(near_names.page(museum, select(text="habour", state="withdrawn"))) == []
    assert found(near_names.page(museum, select(text="habour", prefix="ark:12345/q"))) == []


@pytest.mark.parametrize(
    "search",
    [
        pytest.param(lambda address: select(text=address), id="text"),
        pytest.param(lambda address: select(target=address), id="target"),
    ],
)
def test_an_old_address_finds_its_name(museum: Bindings, search: Callable[[str], Selection]) -> None:
    moved = relocate_prefix(museum, "https://m.example/", "https://new.example/objects/")
    museum.bind(TWO, "https://other.example/b", resource="INV1901-170")
    assert moved.operation
    page = near_names.page(museum, search("https://m.example/1"))
    assert (found(page), page.note) == ([ONE], TARGET)
    page = near_names.page(museum, search("https://new.example/objects/2"))
    assert found(page) == [TWO]
    assert found(near_names.page(museum, search("https://m.example/9"))) == []


@pytest.mark.parametrize("search", [{"text": "https://m.example/"}, {"target": "https://m.example/"}])
def test_an_old_address_with_a_slash_at_its_end_is_that_of_its_host(museum: Bindings, search: dict[str, Any]) -> None:
    museum.bind("ark:12345/x54", "https://m.example.org/4", resource="A 4")
    museum.bind("ark:12345/x54", "https://third.example/4", resource="A 4")
    relocate_prefix(museum, "https://m.example/", "https://new.example/objects/")
    assert found(near_names.page(museum, select(**search))) == [ONE, TWO, THREE]


@pytest.mark.parametrize("search", [{"text": "/old/4"}, {"target": "/old/4"}])
def test_an_old_path_of_this_site_finds_its_name(bindings: Bindings, search: dict[str, Any]) -> None:
    bindings.bind("ark:12345/x54", "/old/4")
    relocate_prefix(bindings, "/old/", "/new/")
    page = near_names.page(bindings, select(**search))
    assert (found(page), page.note) == (["ark:12345/x54"], TARGET)


@pytest.mark.parametrize(
    "address",
    ["https://m.example/1", "http://M.example/1", "m.example/1", "https://b.example/Obj/1", "b.example/Obj/1"],
)
def test_an_old_address_of_a_table_finds_its_name(museum: Bindings, address: str) -> None:
    for host in ("https://b.example/Obj", "https://c.example/o"):
        rows = "".join(f"ark:12345/x5{number},{host}/{number}\n" for number in (1, 2))
        table = f"identifier,target\n{rows}".encode()
        assert import_table(museum, io.BytesIO(table), relocate=True).written
    for selection in (select(text=address), select(target=address)):
        page = near_names.page(museum, selection)
        assert (found(page), page.note) == ([ONE], TARGET)
    assert found(near_names.page(museum, select(text=address, state="withdrawn"))) == []
    assert found(near_names.page(museum, select(text="https://m.example/3x"))) == []
    number = museum.list_operations(limit=1)[0].number
    undo_operation(museum, number)
    assert near_names.page(museum, select(text="https://c.example/o/1")).note is None


def test_an_old_address_after_many_single_changes_finds_its_name(museum: Bindings) -> None:
    museum.relocate(ONE, "https://new.example/1")
    for number in range(600):
        museum.relocate(TWO, f"https://new.example/{2 + number}")
    assert found(near_names.page(museum, select(text="https://m.example/1"))) == [ONE]


def test_a_move_that_was_undone_is_no_old_address(museum: Bindings) -> None:
    moved = relocate_prefix(museum, "https://m.example/", "https://new.example/objects/")
    undo_operation(museum, moved.operation or 0)
    assert near_names.page(museum, select(text="https://m.example/1")).note is None
    assert found(near_names.page(museum, select(text="https://new.example/objects/1"))) == []


def test_a_list_of_near_names_that_is_cut_says_so(bindings: Bindings) -> None:
    for number in range(4):
        bindings.bind(f"ark:12345/x5{number}", f"https://m.example/{number}", metadata={"what": f"Harbour {number}"})
    whole = near_names.page(bindings, select(text="habour"), limit=4)
    assert (len(whole.names), whole.note) == (4, near_names.WORD)
    cut = near_names.page(bindings, select(text="habour"), limit=3)
    assert len(cut.names) == 3
    assert cut.note == f"{near_names.WORD} Only the first 3 are shown. To find the others, search for one more word."
