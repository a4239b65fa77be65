"""Lists and counts of names, on SQLite, on PostgreSQL, and in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.holding import hold
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import Group, Selection, cursor, select
from ararat.bindings.open import bindings_at, open_bindings
from ararat.bindings.storage import listing, store
from ararat.bindings.storage.databases.connections import Readers
from ararat.bindings.storage.store import DatabaseStore

START = datetime(2026, 1, 31, 12, tzinfo=UTC)

NAMES: list[tuple[str, str | None, dict[str, Any]]] = [
    ("ark:12345/a1", "https://old.example/1", {"metadata": {"what": "Map of the Ararat"}, "actor": "Maria"}),
    ("ark:12345/a2", "http://old.example:8080/2", {"metadata": {"what": "A second MAP", "who": "Noah"}}),
    ("ark:12345/a2/p1", "https://old.example.org/2/1", {}),
    ("ark:12345/b1", "https://old.example/collection/3?x=1", {"resource": "3"}),
    ("ark:12345/b2", None, {"kind": "described", "metadata": {"what": "Described only"}}),
    ("ark:23456/c1", "/pages/1", {"actor": "Maria"}),
    ("urn:isbn:9780451450524", "https://old.example", {"metadata": {"what": "Un livre \u00e0 lire"}}),
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "file"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """Bindings with NAMES, of which one is withdrawn and one reserved. Each change is a day later.

    All tests of this module share them, so no test changes them.
    """
    days = count()
    folder = tmp_path_factory.mktemp("filled")
    is_postgresql = request.param == "postgresql"
    database = request.getfixturevalue("cluster").new_schema() if is_postgresql else f"sqlite:///{folder}/names.sqlite"
    with bindings_at(database, create=True, clock=lambda: START + timedelta(days=next(days))) as bindings:
        bindings.open()
        for name, target, arguments in NAMES:
            bindings.bind(name, target, **arguments)
        bindings.withdraw("ark:12345/b1", reason="lost", actor="Ada")
        bindings.reserve("ark:12345/r1")
        if request.param != "file":
            yield bindings
            return
        path = folder / "names.jsonl"
        with path.open("wb") as file:
            export_table(bindings, file, format="jsonl")
    with bindings_at(path) as bindings:
        bindings.open()
        yield bindings


def statements(
    store: DatabaseStore, selection: Selection, after: str | None, limit: int
) -> list[tuple[str, Sequence[Any]]]:
    """Return the statements that read a page of many names, with their parameters."""
    made: list[tuple[str, Sequence[Any]]] = []

    def read(statement: str, parameters: Sequence[Any]) -> Sequence[Any]:
        if statement.startswith("SELECT count(*)"):
            return [(10**9,)]
        if " OFFSET " in statement:
            return []  # the page ends before the next part of its list
        made.append((statement, parameters))
        return []

    store.lists.page(read, selection, after, limit)
    return made


def rows_of(bindings: Bindings, statement: str, parameters: Sequence[Any] = ()) -> str:
    """Run a statement with the driver's marks, and return its rows as text."""
    with bindings.store.transaction() as transaction:
        result = transaction.connection.exec_driver_sql(statement, tuple(parameters))
        return str(result.all()) if result.returns_rows else ""


def listed(bindings: Bindings, limit: int = 100, **conditions: Any) -> list[str]:
    """Return the names of all pages."""
    found: list[str] = []
    after = None
    while True:
        page = bindings.list_names(select(**conditions), cursor=after, limit=limit)
        found += [name.identifier for name in page.names]
        if (after := page.next) is None:
            return found


CONDITIONS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "all": ({}, {name for name, _, _ in NAMES} | {"ark:12345/r1"}),
    "prefix": ({"prefix": "ark:/12345/a2"}, {"ark:12345/a2", "ark:12345/a2/p1"}),
    "prefix-of-segment": ({"prefix": "ark:12345/a2/"}, {"ark:12345/a2/p1"}),
    "naan": ({"prefix": "ark:23456/"}, {"ark:23456/c1"}),
    "urn-prefix": ({"prefix": "URN:ISBN:978"}, {"urn:isbn:9780451450524"}),
    "reserved": ({"state": "reserved"}, {"ark:12345/r1"}),
    "withdrawn": ({"state": "withdrawn"}, {"ark:12345/b1"}),
    "host": (
        {"target": "Old.example"},
        {"ark:12345/a1", "ark:12345/a2", "ark:12345/b1", "urn:isbn:9780451450524"},
    ),
    "host-without-scheme-and-path": ({"target": "old.example/col"}, {"ark:12345/b1"}),
    "url": ({"target": "https://old.example/"}, {"ark:12345/a1", "ark:12345/b1"}),
    "url-host": (
        {"target": "https://old.example"},
        {"ark:12345/a1", "ark:12345/a2/p1", "ark:12345/b1", "urn:isbn:9780451450524"},
    ),
    "path": ({"target": "/pages"}, {"ark:23456/c1"}),
    "word": ({"text": "map"}, {"ark:12345/a1", "ark:12345/a2"}),
    "beginning-of-word": ({"text": "ara"}, {"ark:12345/a1"}),
    "words": ({"text": "second noah"}, {"ark:12345/a2"}),
    "words-of-two-names": ({"text": "ararat noah"}, set()),
    "word-outside-ascii": ({"text": "livre \u00e0 l"}, {"urn:isbn:9780451450524"}),
    "identifier": ({"text": "ARK:/12345/a-2"}, {"ark:12345/a2"}),
    "identifier-without-label": ({"text": "12345/a-2"}, {"ark:12345/a2"}),
    "identifier-in-an-address": ({"text": "https://r.example/ark:/12345/a2?info"}, {"ark:12345/a2"}),
    "identifier-of-a-book": ({"text": "URN:ISBN:0-451-45052-3"}, {"urn:isbn:9780451450524"}),
    "identifier-at-the-end-of-a-sentence": ({"text": "ark:12345/a-2."}, {"ark:12345/a2"}),
    "identifier-with-a-slash": ({"text": "ARK:12345/a2/"}, {"ark:12345/a2"}),
    "identifier-in-brackets": ({"text": "<URN:ISBN:0-451-45052-3>,"}, {"urn:isbn:9780451450524"}),
    "identifier-with-an-encoded-colon": ({"text": "ark%3A12345/a2"}, {"ark:12345/a2"}),
    "identifier-in-a-query": ({"text": "https://r.example/?q=ark:12345/a2"}, {"ark:12345/a2"}),
    "number-of-a-book": ({"text": "ISBN 0-451-45052-3"}, {"urn:isbn:9780451450524"}),
    "words-and-an-identifier": ({"text": "noah ark:12345/a2"}, set()),
    "identifier-and-prefix": ({"text": "ark:12345/a2", "prefix": "ark:12345/b"}, set()),
    "identifier-and-state": ({"text": "ark:12345/b1", "state": "withdrawn"}, {"ark:12345/b1"}),
    "identifier-that-is-not-recorded": ({"text": "ark:12345/zz"}, set()),
    "prefix-without-label": ({"prefix": "12345/a2"}, {"ark:12345/a2", "ark:12345/a2/p1"}),
    "key-is-no-word": ({"text": "what"}, set()),
    "created": (
        {"created_since": START + timedelta(days=4), "created_before": START + timedelta(days=6)},
        {"ark:12345/b2", "ark:23456/c1"},
    ),
    "two": ({"target": "old.example", "state": "withdrawn"}, {"ark:12345/b1"}),
    "three": ({"target": "old.example", "text": "map", "prefix": "ark:12345/a1"}, {"ark:12345/a1"}),
}  # fmt: skip


@pytest.mark.one_setup
@pytest.mark.parametrize(("conditions", "expected"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_list_has_the_names_that_meet_all_conditions(
    filled: Bindings, conditions: dict[str, Any], expected: set[str]
) -> None:
    if filled.kind == "file" and "created_since" in conditions:
        pytest.skip("a file has one time of change")
    found = listed(filled, **conditions)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert listed(filled, limit=1, **conditions) == found
    assert filled.count_names(select(**conditions)).get("", 0) == len(expected)


@pytest.mark.one_setup
@pytest.mark.parametrize("sort", [None, "name", "-changed"])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_the_name_that_the_words_are_is_the_first(filled_with_mentions: Bindings, limit: int, sort: str | None) -> None:
    conditions = {"text": "ark:/12345/m5", "sort": sort}
    found = listed(filled_with_mentions, limit=limit, **conditions)
    assert found[0] == "ark:12345/m5"
    assert sorted(found) == ["ark:12345/m1", "ark:12345/m3", "ark:12345/m5", "ark:12345/m9"]
    assert filled_with_mentions.count_names(select(**conditions)) == {"": 4}
    assert filled_with_mentions.count_names(select(**conditions), most=2) == {"": 2}
    assert filled_with_mentions.count_names(select(**conditions), by="shoulder") == {
        f"ark:12345/m{number}": 1 for number in (1, 3, 5, 9)
    }


@pytest.fixture(params=[False, True], ids=["only mentioned by others", "also mentioned by itself"])
def filled_with_mentions(bindings: Bindings, request: pytest.FixtureRequest) -> Bindings:
    for number in (1, 3, 5, 7, 9):
        mention = {"what": "See ark:12345/m5"} if number in (1, 3, 9) or (number == 5 and request.param) else {}
        bindings.bind(f"ark:12345/m{number}", f"/{number}", metadata=mention)
    return bindings


def test_a_list_has_the_names_of_an_owner(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x1", "/1", actor="Maria")
    bindings.bind("ark:12345/x2", "/2", actor="Ada")
    bindings.relocate("ark:12345/x2", "/3", actor="Maria")
    assert listed(bindings, owner="Maria") == ["ark:12345/x1"]


@pytest.mark.one_setup
@pytest.mark.parametrize("few", [0, 20_000])
def test_each_list_of_an_owner_has_the_same_names(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    assert isinstance(bindings.store, DatabaseStore)
    monkeypatch.setattr(listing, "_FEW_MATCHES", few)
    monkeypatch.setattr(listing, "_FEW_NAMES", few)
    for number in range(6):
        metadata, owner = {"what": f"Map {number}"}, ("Maria", "Ada")[number % 2]
        bindings.bind(f"ark:12345/x{number}", "https://a.example/1", metadata=metadata, actor=owner)
    bindings.reserve("ark:12345/r1", metadata={"what": "Map 9"}, actor="Maria")
    bindings.reserve("ark:12345/r2", metadata={"what": "Map 9"}, actor="Maria")
    bindings.delete("ark:12345/r2", actor="Maria")
    own = ["ark:12345/r1", "ark:12345/x0", "ark:12345/x2", "ark:12345/x4"]
    assert listed(bindings, limit=1, owner="Maria") == own
    assert listed(bindings, limit=1, owner="Maria", sort="-name") == own[::-1]
    conditions: dict[str, Any]
    for conditions in (
        *({"sort": sort} for sort in ("name", "title", "resource", "changed", "-created")),
        *({"text": "map"}, {"text": "map", "sort": "name"}, {"text": "map", "sort": "title"}, {"prefix": "ark:12345/"}),
        {"changed_since": bindings.now() - timedelta(days=1)},
    ):
        assert sorted(listed(bindings, limit=1, owner="Maria", **conditions)) == own, conditions
        assert bindings.count_names(select(owner="Maria", **conditions)) == {"": 4}
    for conditions in ({"prefix": "ark:12345/x"}, {"target": "a.example"}, {"state": "live"}):
        assert sorted(listed(bindings, limit=1, owner="Maria", **conditions)) == own[1:], conditions
    assert bindings.count_names(select(owner="Maria"), by="state") == {"live": 3, "reserved": 1}
    assert bindings.count_names(select(owner="Maria"), by="shoulder") == dict.fromkeys(own, 1)
    assert listed(bindings, owner="Eve") == []


def test_a_list_of_changes_begins_with_the_oldest(filled: Bindings) -> None:
    if filled.kind == "file":
        pytest.skip("a file has one time of change")
    since = START + timedelta(days=5)
    assert listed(filled, limit=2, changed_since=since) == [
        "ark:23456/c1",
        "urn:isbn:9780451450524",
        "ark:12345/b1",
        "ark:12345/r1",
    ]


def test_many_names_are_counted_without_the_time_limit_of_a_lookup(
    filled: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[Group | None] = [None, "state", "shoulder", "month"]
    expected = [filled.count_names(by=group) for group in groups]
    monkeypatch.setattr(store, "MAX_COUNTED", 7)
    read = Readers.rows

    def rows(readers: Readers, query: str, parameters: Sequence[Any]) -> Any:
        # The kept numbers are few rows.
        assert "GROUP BY" not in query or "FROM name_counts" in query
        return read(readers, query, parameters)

    monkeypatch.setattr(Readers, "rows", rows)
    assert [filled.count_names(by=group) for group in groups] == expected


def test_names_are_counted_by_group(filled: Bindings) -> None:
    assert filled.count_names() == {"": 8}
    assert filled.count_names(by="state") == {"live": 6, "reserved": 1, "withdrawn": 1}
    if filled.kind != "file":
        assert filled.count_names(by="month") == {"2026-01": 1, "2026-02": 7}
    assert filled.count_names(select(target="old.example"), by="shoulder") == {
        "ark:12345/a1": 1,
        "ark:12345/a2": 1,
        "ark:12345/b1": 1,
        "urn:isbn:": 1,
    }


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "prefix-without-naan": ({"prefix": "ark:"}, "list-prefix"),
    "prefix-of-another-kind": ({"prefix": "https://example.org/"}, "list-prefix"),
    "state": ({"state": "dead"}, "list-state"),
    "target-outside-ascii": ({"target": "\u05d0.example"}, "list-target"),
    "target-with-control": ({"target": "old.\nexample"}, "list-target"),
    "text-without-words": ({"text": "--"}, "list-text"),
    "text-with-nul": ({"text": "a\0b"}, "list-text"),
    "text-with-surrogate": ({"text": "a\udcff"}, "list-text"),
    "empty-text": ({"text": ""}, "list-text"),
}


@pytest.mark.parametrize(("conditions", "code"), REFUSED.values(), ids=REFUSED)
def test_conditions_that_cannot_match_are_refused(conditions: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        select(**conditions)
    assert refused.value.code == code


@pytest.mark.one_setup
@pytest.mark.parametrize("after", ["", "x", "WzFd" * 2, "\u05d0", "W1tbW1tb", "e30"])
@pytest.mark.parametrize("conditions", [{}, {"target": "a.example"}, {"changed_since": START}, {"text": "map"}])
def test_a_cursor_of_another_list_is_refused(filled: Bindings, after: str, conditions: dict[str, Any]) -> None:
    with pytest.raises(BindingError) as refused:
        filled.list_names(select(**conditions), cursor=after)
    assert refused.value.code == "list-after"


@pytest.mark.one_setup
@pytest.mark.parametrize("limit", [0, 1001, -1])
def test_a_page_has_1_to_1000_names(filled: Bindings, limit: int) -> None:
    with pytest.raises(BindingError) as refused:
        filled.list_names(limit=limit)
    assert refused.value.code == "list-limit"


def test_an_unreadable_row_is_reported_and_skipped(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x1", "/1")
    bindings.bind("ark:12345/x2", "/2", metadata={"what": "map"})
    broken = "UPDATE bindings SET metadata = 'broken map', revision = revision + 1 WHERE key = 'ark:12345/x2'"
    rows_of(bindings, broken)
    page = bindings.list_names()
    assert [name.identifier for name in page.names] == ["ark:12345/x1"]
    assert page.unreadable == ["ark:12345/x2"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=st.text(min_size=1, max_size=30))
def test_any_text_can_be_searched(bindings: Bindings, text: str) -> None:
    try:
        selection = select(text=text)
    except BindingError:
        return
    assert bindings.list_names(selection).names == []


PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({}, "bindings"),
    "prefix": ({"prefix": "ark:12345/a"}, "bindings"),
    "reserved": ({"state": "reserved"}, "bindings_not_live"),
    "target": ({"target": "https://old.example/"}, "bindings_target"),
    "host": ({"target": "old.example"}, "bindings_target"),
    "changed": ({"changed_since": START}, "bindings_recorded"),
    "created": ({"created_since": START}, "bindings_created"),
    "owner": ({"owner": "Maria"}, "events_first"),
    "owner-prefix": ({"owner": "Maria", "prefix": "ark:12345/0"}, "events_first"),
}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """Bindings with 3,000 names of two changes, whose statistics the database knows, and one with a resource."""
    database = f"sqlite:///{tmp_path_factory.mktemp('many')}/names.sqlite"
    if request.param == "postgresql":
        database = request.getfixturevalue("cluster").new_schema()
    with bindings_at(database, create=True) as bindings:
        bindings.open()
        fill(bindings)
        bindings.bind("ark:12345/inv", "https://new.example/", resource="INV 1")
        yield bindings


def fill(bindings: Bindings) -> None:
    is_sqlite = bindings.location.startswith("sqlite")
    with bindings.store.transaction() as transaction:
        rows = [(f"ark:12345/{number:05}",) * 5 for number in range(3000)]
        insert = (
            "INSERT INTO bindings "
            "(key, kind, target, status, redirect, listed, passthrough, scope, changed, created, recorded, revision) "
            "SELECT {0}, 'located', 'https://old.example/' || {0}, 'live', 302, 'yes', 'no', 'name', {0}, {0}, {0}, 1"
        ).format("?" if is_sqlite else "%s::text")
        transaction.connection.exec_driver_sql(insert, rows)
        columns = "key, kind, target, status, redirect, listed, passthrough, scope, changed, created, recorded"
        for revision, actor in ((1, "Maria"), (2, "Ada")):
            transaction.connection.exec_driver_sql(
                f"INSERT INTO events ({columns}, revision, actor, action) "  # noqa: S608 - constants only
                f"SELECT {columns}, {revision}, '{actor}', 'bound' FROM bindings"
            )
    for table in ("bindings", "events"):
        rows_of(bindings, f"ANALYZE {table}")


@pytest.mark.one_setup
@pytest.mark.parametrize(("conditions", "index"), PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("is_next_page", [False, True], ids=["first", "next"])
def test_a_page_is_read_from_an_index_without_sorting(
    many: Bindings, conditions: dict[str, Any], index: str, is_next_page: bool
) -> None:
    store = many.store
    assert isinstance(store, DatabaseStore)
    selection = select(**conditions)
    after = None
    if is_next_page:
        values = ("ark:12345/00010",) if selection.order == "name" else ("https://old.example/1", "ark:12345/00010")
        after = cursor(*values)
    explain = "EXPLAIN QUERY PLAN" if many.location.startswith("sqlite") else "EXPLAIN"
    for statement, parameters in statements(store, selection, after, 100):
        plan = rows_of(many, f"{explain} {statement}", parameters)
        assert index in plan
        assert "INDEX" in plan.upper()
        assert "TEMP B-TREE" not in plan
        assert "Sort" not in plan
        assert "Seq Scan" not in plan


@pytest.mark.one_setup
@pytest.mark.parametrize("conditions", [{}, {"state": "withdrawn"}, {"sort": "title"}], ids=["alone", "state", "title"])
def test_an_exact_resource_is_compared_in_its_index_and_not_with_each_name(
    many: Bindings, conditions: dict[str, Any]
) -> None:
    store, plans = many.store, list[str]()
    assert isinstance(store, DatabaseStore)
    is_sqlite = many.location.startswith("sqlite")

    def read(statement: str, parameters: Sequence[Any]) -> Sequence[Any]:
        plans.append(rows_of(many, f"{'EXPLAIN QUERY PLAN' if is_sqlite else 'EXPLAIN'} {statement}", parameters))
        return store._rows(statement, parameters)

    page = store.lists.page(read, select(resource="INV 1", **conditions), None, 100)
    assert [each.identifier for each in page.names] == ([] if "state" in conditions else ["ark:12345/inv"])
    assert plans
    for plan in plans:
        assert "CORRELATED" not in plan
        assert "Seq Scan on bindings " not in plan.replace("Seq Scan on bindings same", "")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("conditions", "values", "column"),
    [
        ({"prefix": "ark:12345/"}, ("ark:12345/00010",), "bindings.key"),
        ({"target": "https://old.example/"}, ("https://old.example/5", "ark:12345/00010"), "target"),
        ({"changed_since": START}, ("2027-01-01T00:00:00.000000Z", "ark:12345/00010"), "bindings.recorded"),
        ({"created_since": START}, ("2027-01-01T00:00:00.000000Z", "ark:12345/00010"), "bindings.created"),
    ],
)
def test_next_page_does_not_read_the_pages_before_it(
    bindings: Bindings, conditions: dict[str, Any], values: tuple[str, ...], column: str
) -> None:
    store = bindings.store
    assert isinstance(store, DatabaseStore)
    [(statement, parameters)] = statements(store, select(**conditions), cursor(*values), 10)
    bounds = [each for each in statement.partition(" WHERE ")[2].split(" AND ") if column in each and ">" in each]
    assert len(bounds) == (2 if column == "target" else 1)
    assert parameters[0] == values[0]


PUBLIC = Selection(public=True, sort="changed")


def all_pages(bindings: Bindings, selection: Selection, limit: int = 2) -> list[str]:
    names: list[str] = []
    page = bindings.list_names(selection, limit=limit)
    while True:
        names += [each.identifier for each in page.names]
        if page.next is None:
            return names
        page = bindings.list_names(selection, cursor=page.next, limit=limit)


def test_public_names_are_listed_by_their_changes(filled: Bindings) -> None:
    public = [name for name, _, _ in NAMES if name != "ark:12345/b1"]
    assert all_pages(filled, PUBLIC) == [*public, "ark:12345/b1"]
    assert all_pages(filled, replace(PUBLIC, descending=True)) == ["ark:12345/b1", *reversed(public)]


def test_beginnings_limit_a_list(filled: Bindings) -> None:
    selection = replace(PUBLIC, beginnings=("ark:23456/", "urn:"), descending=True)
    assert all_pages(filled, selection) == ["urn:isbn:9780451450524", "ark:23456/c1"]
    assert all_pages(filled, replace(PUBLIC, beginnings=())) == []
    assert len(all_pages(filled, replace(PUBLIC, beginnings=("",)))) == len(NAMES)


def test_pages_by_changes_keep_the_limits_of_the_times(filled: Bindings) -> None:
    since, before = START + timedelta(days=1), START + timedelta(days=5)
    selection = replace(PUBLIC, changed_since=since, changed_before=before)
    expected = ["ark:12345/a2", "ark:12345/a2/p1", "ark:12345/b2"]
    assert all_pages(filled, selection, 1) == expected
    assert all_pages(filled, replace(selection, descending=True), 1) == expected[::-1]
    for descends, time in ((False, START), (True, START + timedelta(days=9))):
        # A position outside of the limits begins at the limit.
        after = cursor(rfc3339(time), "ark:12345/a1")
        page = filled.list_names(replace(selection, descending=descends), cursor=after)
        assert [each.identifier for each in page.names] == (expected[::-1] if descends else expected)


@pytest.fixture
def imported(bindings: Bindings) -> Bindings:
    """Bindings with many names of one time, as after an import."""
    time, is_sqlite = rfc3339(START), bindings.location.startswith("sqlite")
    with bindings.store.transaction() as transaction:
        insert = (
            "INSERT INTO bindings "
            "(key, kind, status, redirect, listed, passthrough, scope, changed, created, recorded, revision) "
            f"SELECT {'?' if is_sqlite else '%s::text'}, 'described', 'live', 302, 'yes', 'no', 'name', "
            f"'{time}', '{time}', '{time}', 1"
        )
        transaction.connection.exec_driver_sql(insert, [(f"ark:12345/{number:05}",) for number in range(3000)])
        transaction.connection.exec_driver_sql("ANALYZE bindings")
    return bindings


@pytest.mark.one_setup
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limited", [False, True])
def test_a_page_by_changes_is_a_range_of_the_index(imported: Bindings, descending: bool, limited: bool) -> None:
    store, time = imported.store, rfc3339(START)
    assert isinstance(store, DatabaseStore)
    is_sqlite = imported.location.startswith("sqlite")
    selection = replace(PUBLIC, descending=descending)
    if limited:
        day = timedelta(days=1)
        selection = replace(selection, changed_since=START - day, changed_before=START + day)
        selection = replace(selection, prefix="ark:12345/", beginnings=("ark:12345/", "urn:"))
    after = cursor(time, "ark:12345/01500")
    [(statement, parameters)] = statements(store, selection, after, 100)
    plan = rows_of(imported, f"{'EXPLAIN QUERY PLAN' if is_sqlite else 'EXPLAIN'} {statement}", parameters)
    assert "bindings_recorded" in plan
    assert "TEMP B-TREE" not in plan
    assert "Sort" not in plan
    bound = f"{'<' if descending else '>'}(?,?)" if is_sqlite else f"{'<' if descending else '>'} ROW("
    assert bound in plan.partition("Filter" if is_sqlite else "Index Cond")[0 if is_sqlite else 2]


@pytest.mark.parametrize("sort", [None, "resource", "-resource"])
def test_sqlite_begins_each_part_at_its_bound_in_the_order_of_an_expression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: str | None
) -> None:
    """A comparison of two columns is not a range of an index whose first one is an expression."""
    for name, value in (("_FEW_MATCHES", 0), ("_FEW_NAMES", 0), ("_MOST_WALKED", 2), ("SEARCH_SECONDS", 60)):
        monkeypatch.setattr(listing, name, value)
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        for number in range(12):
            bindings.bind(f"ark:12345/x{number:02}", f"https://a.example/{number}", resource=f"INV {number:02}")
        store = bindings.store
        assert isinstance(store, DatabaseStore)
        selection = select(hold="no", sort=sort, target="a.example" if sort is None else None)
        plans: list[str] = []

        def read(statement: str, parameters: Sequence[Any]) -> Sequence[Any]:
            if "ORDER BY substr" in statement:
                plans.append(rows_of(bindings, f"EXPLAIN QUERY PLAN {statement}", parameters))
            return store._rows(statement, parameters)

        page = store.lists.page(read, selection, None, 7)
        assert (len(page.names), len(store.lists.page(read, selection, page.next, 7).names)) == (7, 5)
    # The first statement reads the order from its beginning, and finds the end of the first part.
    assert len(plans) > 5
    assert not [plan for plan in plans[1:] if "<expr>" not in plan]


def test_changes_below_a_prefix_are_not_sorted(tmp_path: Path) -> None:
    # Without statistics, SQLite would read the index of the keys and sort all names of the prefix for each page.
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        store = bindings.store
        assert isinstance(store, DatabaseStore)
        [(statement, parameters)] = statements(store, replace(PUBLIC, prefix="ark:12345/"), None, 100)
        plan = rows_of(bindings, f"EXPLAIN QUERY PLAN {statement}", parameters)
    assert "bindings_recorded" in plan
    assert "TEMP B-TREE" not in plan


def test_cursor_before_the_prefix_begins_at_the_prefix(bindings: Bindings) -> None:
    for name in ("ark:12345/a1", "ark:12345/b1", "ark:12345/b2"):
        bindings.bind(name, "/x")
    page = bindings.list_names(select(prefix="ark:12345/b"), cursor=cursor("ark:12345/a0"))
    assert [each.identifier for each in page.names] == ["ark:12345/b1", "ark:12345/b2"]
    assert bindings.count_names(select(prefix="ark:12345/b"), by="shoulder") == {"ark:12345/b1": 1, "ark:12345/b2": 1}


def test_a_search_within_few_names_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(selection: Selection, few: int, matches: int = 5_000) -> list[str]:
        monkeypatch.setattr(listing, "_FEW_NAMES", few)
        monkeypatch.setattr(listing, "_FEW_MATCHES", matches)
        names, after = list[str](), None
        while True:
            page = bindings.list_names(selection, cursor=after, limit=2)
            names += [each.identifier for each in page.names]
            if (after := page.next) is None:
                return names

    searches: list[dict[str, Any]] = [{"text": "map"}, {"text": "map ol"}, {"target": "old.example"}]
    searches += [{**search, "owner": "Maria"} for search in searches]
    searches += [{"text": "map", **each} for each in ({"hold": "yes"}, {"changed_since": START}, {"resource": "INV 1"})]
    searches += [{"metadata": "what=Old map"}, {"metadata": "what=Old map", "hold": "any"}]
    with open_bindings(tmp_path / "a.sqlite", create=True) as bindings:
        for number in range(12):
            name, title = f"ark:12345/{'ab'[number % 2]}{number}", ("Old map", "Map of old", "Letter")[number % 3]
            target, resource = f"https://old.example/{number % 5}", f"INV {number % 2}"
            bindings.bind(name, target, metadata={"what": title}, resource=resource, actor="Maria")
            if number % 4 == 3:
                bindings.withdraw(name)
            elif number % 3 == 0:
                hold(bindings, name, bindings.now() + timedelta(days=30), "court")
        found = 0
        for search, state, prefix in product(searches, (None, "live", "withdrawn"), (None, "ark:12345/a", "ark:9/")):
            selection = select(state=state, prefix=prefix, **search)
            names = listed(selection, few=20_000)
            assert names == listed(selection, few=0) == listed(selection, few=20_000, matches=0)
            assert len(names) == sum(bindings.count_names(selection, by="state").values())
            found += len(names)
    assert found > 50


@pytest.mark.parametrize("few", [0, 20_000])
def test_a_search_for_few_or_many_matches_has_the_same_pages(
    filled: Bindings, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(listing, "_FEW_MATCHES", few)
    selection, found, after = select(text="map", prefix="ark:12345/"), [], None
    while True:
        page = filled.list_names(selection, cursor=after, limit=1)
        found += [binding.identifier for binding in page.names]
        after = page.next
        if after is None:
            break
    assert sorted(found) == ["ark:12345/a1", "ark:12345/a2"]


@pytest.mark.parametrize(("matches", "by_key"), [(5_000, True), (5_001, False)])
def test_postgresql_reads_the_words_of_few_names_before_it_sorts_them(matches: int, by_key: bool) -> None:
    """It expects many matches of the beginning of a word, and would read all names in their order."""
    statements: list[str] = []

    def read(statement: str, parameters: Sequence[Any]) -> Sequence[Any]:
        assert statement.count("%s") == len(parameters)
        if "LIMIT %s OFFSET " in statement:
            return []
        statements.append(statement)
        if statement.startswith("SELECT count"):
            return [(1_000_000,)]
        return [("ark:12345/x",)] * matches if statement.startswith("SELECT bindings.key FROM") else []

    listing.Lists("postgresql").page(read, select(text="rare", prefix="ark:12345/"), None, 100)
    assert " = ANY(" in statements[-1] if by_key else not any(" = ANY(" in each for each in statements)
