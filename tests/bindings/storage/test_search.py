"""The search and the order of lists: on SQLite and PostgreSQL, with and without trigrams, and in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.errors import BindingError, TooBroad
from ararat.bindings.names.selection import SORTS, Selection, select
from ararat.bindings.open import bindings_at, open_bindings
from ararat.bindings.storage import listing
from ararat.bindings.storage.tables import search_indexes

NAMES: dict[str, dict[str, Any]] = {
    "b1": {"metadata": {"what": "Große Straße in Łódź"}, "resource": "INV 1901/0001"},
    "b2": {"metadata": {"what": "Œuvres complètes", "who": "Müllerin, Käthe"}, "resource": "INV 1901/0002"},
    "a1": {"metadata": {"what": "Αγγείο", "who": "Noah"}, "resource": "Slg. Weiß 202"},
    "a2": {"metadata": {"dc.title": "Smørrebrød på Ærø", "what": "map of Đakovo"}, "target": "/objekt/17?x=a_b"},
    "a3": {"metadata": {"what": "Muellerin"}, "target": "https://www.museum.example/objekt/1701"},
    "a4": {"metadata": {"what": "\u65e7\u6771\u4eac\u99c5", "who": 'Says "Noah"'}, "resource": "inv 1901/0001"},
    "a5": {
        "metadata": {"what": "\u0627\u0644\u0642\u0627\u0647\u0650\u0631\u0629"},
        "target": None,
        "kind": "described",
    },
    "a6": {"metadata": {"who": "I%stanbul"}, "target": "https://old.example/\u0031"},
    "a7": {},
}
CASES: dict[str, tuple[str, set[str]]] = {
    "ss for sharp s": ("strasse", {"b1"}),
    "sharp s": ("GROSSE straße", {"b1"}),
    "stroke": ("lodz", {"b1"}),
    "o with stroke": ("smorrebrod", {"a2"}),
    "o with stroke as oe": ("smoerre", {"a2"}),
    "ae": ("aero", {"a2"}),
    "d with stroke": ("dakovo", {"a2"}),
    "oe": ("oeuvre", {"b2"}),
    "greek accent": ("\u03b1\u03b3\u03b3\u03b5\u03b9\u03bf", {"a1"}),
    "umlaut without marks": ("mullerin kathe", {"b2"}),
    "umlaut as two letters": ("Muellerin", {"b2", "a3"}),
    "two letters by an umlaut": ("Müllerin", {"b2", "a3"}),
    "decomposed": ("Mu\u0308llerin", {"b2", "a3"}),
    "part of a word": ("ulleri", {"b2"}),
    "three letters": ("ell", {"b2", "a3"}),
    "two letters begin a word": ("ll", set()),
    "two letters": ("ma", {"a2"}),
    "one letter is a word": ("x", {"a2"}),
    "one letter at the end": ("map o", {"a2"}),
    "part of an address": ("objekt/17", {"a2", "a3"}),
    "more of an address": ("museum.example/objekt/17", {"a3"}),
    "a whole address": ("https://www.museum.example/objekt/1701", {"a3"}),
    "the rest of an address": ("museum.example/of/objekt/1701", set()),
    "a number of an address": ("www.museum.example/objekt/170", {"a3"}),
    "key": ("INV 1901/0001", {"b1", "a4"}),
    "key without punctuation": ("1901-0002", {"b2"}),
    "key with sharp s": ("slg weiss 202", {"a1"}),
    "ideographs": ("\u6771\u4eac", {"a4"}),
    "one ideograph": ("\u4eac", {"a4"}),
    "arabic without a vowel sign": ("\u0627\u0644\u0642\u0627\u0647\u0631\u0629", {"a5"}),
    "wildcard": ("i%stan", {"a6"}),
    "other wildcard": ("a_b", {"a2"}),
    "quotation mark": ('"noah', {"a1", "a4"}),
    "operators": ("map OR lodz", set()),
    "nothing": ("nowhere", set()),
    "many letters": ("x" * 400, set()),
}
START = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture(scope="module", params=["sqlite", "sqlite without FTS5", "postgresql", "without pg_trgm", "file"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """Bindings with NAMES. Each change is a day later. No test of this module changes them."""
    folder = tmp_path_factory.mktemp("filled")
    days = count()
    kind = "postgresql" if request.param in ("postgresql", "without pg_trgm") else "sqlite"
    database = f"sqlite:///{folder}/names.sqlite"
    if kind == "postgresql":
        database = request.getfixturevalue("cluster").new_schema()
    with pytest.MonkeyPatch.context() as patch:
        if " " in request.param:
            patch.setitem(search_indexes.HAS_TRIGRAMS, kind, "SELECT 0")
        with bindings_at(database, create=True, clock=lambda: START + timedelta(days=next(days))) as bindings:
            bindings.open()
            for name, arguments in NAMES.items():
                given = dict(arguments)
                bindings.bind(f"ark:12345/{name}", given.pop("target", "https://old.example/"), **given)
            if request.param != "file":
                yield bindings
                return
            path = folder / "names.jsonl"
            with path.open("wb") as file:
                export_table(bindings, file, format="jsonl")
        with bindings_at(path) as bindings:
            bindings.open()
            yield bindings


def names(bindings: Bindings, selection: Selection, limit: int = 100) -> list[str]:
    """Return the names of all pages."""
    found: list[str] = []
    page = bindings.list_names(selection, limit=limit)
    while True:
        found += [each.identifier.removeprefix("ark:12345/") for each in page.names]
        if page.next is None:
            return found
        page = bindings.list_names(selection, cursor=page.next, limit=limit)


@pytest.mark.one_setup
@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_a_search_folds_letters_and_finds_parts(filled: Bindings, text: str, expected: set[str]) -> None:
    selection = select(text=text)
    found = names(filled, selection)
    assert (set(found), len(found)) == (expected, len(expected))
    assert filled.count_names(selection, most=100).get("", 0) == len(expected)
    assert names(filled, replace(selection, sort="title"), 1) == names(filled, replace(selection, sort="title"))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"resource": "INV 1901/0001"}, ["b1"]),
        ({"resource": "INV 1901"}, []),
        ({"resource_prefix": "INV 1901/"}, ["b1", "b2"]),
        ({"resource_prefix": "Slg. Wei\u00df"}, ["a1"]),
        ({"metadata": "who=Noah"}, ["a1"]),
        ({"metadata": "erc.who=noah"}, []),
        ({"metadata": 'who=Says "Noah"'}, ["a4"]),
        ({"metadata": "what=Noah"}, []),
        ({"text": "noah", "resource": "inv 1901/0001"}, ["a4"]),
        ({"text": "objekt", "target": "www.museum.example"}, ["a3"]),
        ({"target": "old.example", "resource_prefix": "INV"}, ["b1", "b2"]),
        ({"resource_prefix": "INV", "prefix": "ark:12345/a"}, []),
        ({"resource_prefix": "inv", "changed_since": START}, ["a4"]),
    ],
)
def test_names_are_found_by_resource_and_element(
    filled: Bindings, conditions: dict[str, Any], expected: list[str]
) -> None:
    if filled.kind == "file":
        conditions.pop("changed_since", None)
    assert names(filled, select(**conditions)) == expected
    assert names(filled, select(**conditions), 1) == expected


ORDERS = {
    "name": ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "b1", "b2"],
    "title": ["b1", "a6", "a2", "a3", "b2", "a1", "a5", "a4", "a7"],
    "-title": ["a4", "a5", "a1", "b2", "a3", "a2", "a6", "b1", "a7"],
    "resource": ["b1", "b2", "a1", "a4", "a2", "a3", "a5", "a6", "a7"],
    "-resource": ["a4", "a1", "b2", "b1", "a7", "a6", "a5", "a3", "a2"],
    "changed": list(NAMES),
    "-created": [*reversed(NAMES)],
}


@pytest.mark.one_setup
@pytest.mark.parametrize(("sort", "expected"), ORDERS.items(), ids=ORDERS)
@pytest.mark.parametrize("limit", [1, 4, 100])
def test_a_list_is_sorted(filled: Bindings, sort: str, expected: list[str], limit: int) -> None:
    if filled.kind == "file" and sort in ("changed", "-created"):
        pytest.skip("a file has one time of change")
    assert names(filled, select(sort=sort), limit) == expected


@given(
    compared=st.sampled_from([(0, 20_000), (0, 1), (5000, 20_000), (3, 2)]),
    selection=st.builds(
        Selection,
        prefix=st.sampled_from([None, "ark:12345/a", "ark:12345/b1"]),
        status=st.sampled_from([None, "live", "withdrawn"]),
        words=st.sampled_from([(), ("noah",), ("objekt/17", "x"), ("lodz",)]),
        resource=st.sampled_from([None, None, "INV 1901/0001"]),
        resource_prefix=st.sampled_from([None, "INV", "x"]),
        element=st.sampled_from([None, ("erc.who", "Noah"), ("erc.what", "&")]),
        targets=st.sampled_from([(), ("https://old.example", "https://www.museum"), ("/",)]),
        changed_since=st.sampled_from([None, START]),
        created_before=st.sampled_from([None, START + timedelta(days=1)]),
        hold=st.sampled_from([None, "any", "no"]),
        owner=st.sampled_from([None, "ada"]),
        sort=st.sampled_from([None, *SORTS]),
        descending=st.booleans(),
    ),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_conditions_and_orders_work_together(
    filled: Bindings, compared: tuple[int, int], selection: Selection
) -> None:
    """Also if a page ends after the comparison of few names, its cursor leads to the others."""
    few, walked = compared
    if selection.sort is None:
        selection = replace(selection, descending=False)
    if filled.kind == "file":
        selection = replace(selection, owner=None)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_FEW_MATCHES", few), ("_FEW_NAMES", few), ("_MOST_WALKED", walked)):
            patch.setattr(listing, name, value)
        if walked < 10:
            patch.setattr(listing, "SEARCH_SECONDS", -1)
        every = filled.list_names(limit=100).names
        owned = {each.identifier for each in filled.list_names(Selection(owner="ada")).names} if selection.owner else ()
        expected = {
            each.identifier.removeprefix("ark:12345/")
            for each in every
            if selection.includes(each, "ada" if each.identifier in owned else None)
        }
        found = names(filled, selection, 2)
        assert (set(found), len(found)) == (expected, len(expected))
        assert filled.count_names(selection).get("", 0) == len(expected)
        with suppress(TooBroad) if walked < 10 else nullcontext():
            assert filled.count_names(selection, most=1).get("", 0) == min(len(expected), 1)
        if selection.sort:
            ordered = names(filled, Selection(sort=selection.sort, descending=selection.descending))
            assert found == [each for each in ordered if each in expected]


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        ({"sort": "target"}, "list-sort"),
        ({"sort": "--name"}, "list-sort"),
        ({"resource": ""}, "list-resource"),
        ({"resource_prefix": "a" * 401}, "list-resource"),
        ({"resource": "a\0"}, "list-resource"),
        ({"metadata": "who"}, "list-metadata"),
        ({"metadata": "=x"}, "list-metadata"),
        ({"metadata": "who="}, "list-metadata"),
        ({"text": "&"}, "list-text"),
    ],
)
def test_a_wrong_condition_is_refused(conditions: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        select(**conditions)
    assert refused.value.code == code


@pytest.mark.parametrize(("limits", "is_cut"), [({}, False), ({"search_seconds": 0, "search_names": 3}, True)])
def test_the_limits_of_a_page_are_settings(tmp_path: Path, limits: dict[str, Any], is_cut: bool) -> None:
    with open_bindings(tmp_path / "bindings.sqlite", create=True, **limits) as limited:
        for number in range(9):
            limited.bind(f"ark:12345/x{number}", "/x")
        selection = select(hold="no", sort="created")
        page = limited.list_names(selection)
        assert ((page.searched is not None), len(page.names)) == (is_cut, 4 if is_cut else 9)
        assert len(names(limited, selection)) == 9


def test_a_changed_name_is_found_by_its_new_text_only(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x", "/old-place", metadata={"what": "Old title"}, resource="R 1")
    bindings.relocate("ark:12345/x", "/new-place")
    assert names(bindings, select(text="old-place")) == []
    assert names(bindings, select(text="new-place")) == ["x"]
    bindings.reserve("ark:12345/r", metadata={"what": "Old title"})
    assert names(bindings, select(text="title", sort="name")) == ["r", "x"]
    bindings.delete("ark:12345/r")
    assert names(bindings, select(text="title")) == ["x"]
