"""The numbers of names that a database keeps are those of a full count, after each kind of change."""

from __future__ import annotations

import io
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import copy_store
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import Selection, group_of, select
from ararat.bindings.operations.undo import undo_change, undo_operation
from ararat.bindings.snapshots import write_snapshot
from ararat.bindings.storage.kept_counts import KeptCounts
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.tables import name_counts, triggers
from ararat.bindings.storage.writing import transaction
from ararat.middleware import import_table, open_bindings

GROUPS = ("state", "month", "shoulder", None)
NOW = datetime(2026, 11, 29, tzinfo=UTC)


def store_of(bindings: Bindings) -> DatabaseStore:
    return cast(DatabaseStore, bindings.store)


def execute(bindings: Bindings, statement: str) -> None:
    with store_of(bindings)._database.engine.begin() as connection:
        connection.execute(text(statement))


def require_right(bindings: Bindings) -> None:
    """Compare each kept number with a count of all names."""
    with bindings.store.snapshot() as snapshot:
        names = list(snapshot.bindings())
        served = sorted(each.identifier for each in names if each.kind == "served" and each.is_live)
        assert snapshot.count_served() == (len(served), served[0] if served else None)
        assert set(snapshot.selectors()) == {selector for each in names for selector in each.alternates}
        elements = {element for each in names for element in each.metadata}
        assert set(snapshot.elements()) == {each for each in elements if each.startswith("custom.")}
    for by in GROUPS:
        expected = Counter(group_of(each, by) for each in names)  # type: ignore[arg-type]  the groups
        assert bindings.count_names(by=by) == dict(sorted(expected.items()))  # type: ignore[arg-type]
    assert [each for each in verify(bindings) if each.code == "count-wrong"] == []


NAMES = st.sampled_from(["ark:12345/x5{}", "ark:12345/{}report", "ark:12345/np{}", "urn:foo:{}", "ark:12345/y9{}.v"])
METADATA = st.none() | st.dictionaries(
    st.sampled_from(["who", "custom.a", "custom.b"]), st.sampled_from(["x", 'a, "b": c', ""]), max_size=3
)
ALTERNATES = st.none() | st.dictionaries(st.sampled_from(["text/html;en", "text/html;de"]), st.just("/e"), max_size=2)
ACTS: dict[str, Callable[..., Any]] = {
    "bind": lambda b, name, metadata, alternates: b.bind(name, "/1", metadata=metadata, alternates=alternates),
    "serve": lambda b, name, metadata, alternates: b.bind(name, "/2", kind="served", metadata=metadata),
    "reserve": lambda b, name, metadata, alternates: b.reserve(name, metadata=metadata),
    "delete": lambda b, name, metadata, alternates: b.delete(name),
    "relocate": lambda b, name, metadata, alternates: b.relocate(name, "/3", kind="located", alternates=alternates),
    "withdraw": lambda b, name, metadata, alternates: b.withdraw(name),
    "restore": lambda b, name, metadata, alternates: b.restore(name),
    "undo": lambda b, name, metadata, alternates: undo_change(b, name),
    "import": lambda b, name, metadata, alternates: import_table(
        b,
        io.BytesIO(f"identifier,target,custom.a,target[text/html;fr]\n{name},/1,text,\n{name}2,/1,,/f\n".encode()),
    ),
    "undo of an import": lambda b, name, metadata, alternates: undo_operation(b, b.list_operations()[0].number),
}
examples = count()


@pytest.mark.parametrize("many", [500, 1], ids=["triggers", "many at once"])
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(acts=st.lists(st.tuples(st.sampled_from([*ACTS]), NAMES, METADATA, ALTERNATES), min_size=4, max_size=12))
def test_kept_numbers_are_those_of_a_full_count_after_random_changes(
    acts: list[tuple[str, str, Any, Any]], many: int, bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From this number of rows, SQLite counts them without the triggers.
    monkeypatch.setattr(transaction, "_MANY_ROWS", many)
    own = "bcdfgh"[next(examples) % 6]
    for act, name, metadata, alternates in acts:
        with suppress(BindingError, IndexError):
            ACTS[act](bindings, name.format(own), metadata, alternates)
    require_right(bindings)


def test_a_name_whose_embargo_has_ended_is_counted_as_live(database: str, open_store: Callable[..., Bindings]) -> None:
    clock = [NOW]
    bindings = open_store(database, clock=lambda: clock[0])
    bindings.reserve("ark:12345/x5a")
    bindings.bind("ark:12345/x5b", "/b", kind="served", embargo=NOW + timedelta(days=1))
    assert bindings.count_names(by="state") == {"reserved": 2}
    clock[0] += timedelta(days=2)
    assert bindings.count_names(by="state") == {"live": 1, "reserved": 1}
    assert bindings.count_names(select(state="live"), by="shoulder") == {"ark:12345/x5": 1}
    require_right(bindings)
    bindings.bind("ark:12345/x5c", "/c")
    require_right(bindings)


@pytest.fixture
def grouped(bindings: Bindings) -> Bindings:
    """Bindings with names of all states, with and without shoulders."""
    for name in ("x51", "x52.a", "x6a", "xreport", "report", "np"):
        bindings.bind(f"ark:12345/{name}", "/1")
    bindings.bind("urn:foo:a", "/1")
    bindings.withdraw("ark:12345/x6a")
    bindings.reserve("ark:12345/x53")
    bindings.reserve("ark:12345/x54")
    bindings.bind("ark:12345/x54", "/1")
    undo_change(bindings, "ark:12345/x54")
    return bindings


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "selection",
    [
        pytest.param(Selection(prefix="ark:12345/"), id="NAAN"),
        pytest.param(Selection(prefix="ark:12345/x5"), id="shoulder"),
        pytest.param(Selection(prefix="ark:12345/x"), id="letters"),
        pytest.param(Selection(prefix="ark:12345/x51"), id="below the shoulder"),
        pytest.param(Selection(prefix="urn:"), id="URNs"),
        pytest.param(Selection(prefix="ark:9"), id="nothing"),
        pytest.param(Selection(status="withdrawn"), id="state"),
        pytest.param(Selection(status="reserved", public=True), id="hidden"),
        pytest.param(Selection(public=True), id="public"),
        pytest.param(Selection(beginnings=("ark:12345/x5", "urn:foo:")), id="grants"),
        pytest.param(Selection(beginnings=("ark:12345/xre",), status="live"), id="a grant below the NAAN"),
        pytest.param(Selection(beginnings=()), id="no grant"),
        pytest.param(Selection(prefix="ark:12345/x", beginnings=("ark:12345/x5",)), id="prefix and grant"),
    ],
)
def test_conditions_for_states_and_beginnings_are_counted_from_the_groups(
    selection: Selection, grouped: Bindings
) -> None:
    with grouped.store.snapshot() as snapshot:
        names = [each for each in snapshot.bindings() if selection.includes(each)]
    for by in GROUPS:
        expected = Counter(group_of(each, by) for each in names)  # type: ignore[arg-type]  the groups
        assert grouped.count_names(selection, by=by) == dict(sorted(expected.items()))  # type: ignore[arg-type]
    assert grouped.count_names(selection, most=2).get("", 0) == min(2, len(names))


@pytest.fixture
def added_up_often(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let PostgreSQL add up the rows of a group at random with one of 4 changes, not of 64: a test would often end long
    after the last time.
    """
    normal = name_counts._ADDED_UP
    add_up(bindings, 4, monkeypatch)
    yield
    add_up(bindings, normal, monkeypatch)


def add_up(bindings: Bindings, changes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PostgreSQL add up the rows of a group after a mean number of changes."""
    monkeypatch.setattr(name_counts, "_ADDED_UP", changes)
    with store_of(bindings)._database.engine.begin() as connection:
        triggers.create(connection, ())


@pytest.mark.usefixtures("added_up_often")
def test_writers_at_the_same_time_keep_the_numbers_right(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(own: str) -> None:
        for number in range(20):
            bindings.bind(f"ark:12345/{own}{number}a", "/1", metadata={"who": "x"})
            bindings.withdraw(f"ark:12345/{own}{number}a")

    threads = [threading.Thread(target=write, args=(own,)) for own in ("b5", "c5", "d5")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert bindings.count_names(by="state") == {"withdrawn": 60}
    require_right(bindings)
    # The rows of a group were added up meanwhile.
    assert counted_rows(bindings) < 120
    add_up(bindings, 1, monkeypatch)
    bindings.bind("ark:12345/b5z", "/1", metadata={"who": "x"})
    require_right(bindings)
    # One row is left of each group: the withdrawn names of three shoulders, the live one, and the element.
    assert counted_rows(bindings) == 3 + 1 + 1


def counted_rows(bindings: Bindings) -> int:
    with store_of(bindings).snapshot() as snapshot:
        rows: int = snapshot.read("SELECT count(*) FROM name_counts WHERE kind <> 'sample'", ())[0][0]
    return rows


def test_a_change_that_fails_changes_no_number(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5b", "/1")
    with pytest.raises(BindingError):
        bindings.bind("ark:12345/x5b", "/2")
    require_right(bindings)


def test_the_elements_and_selectors_of_a_deleted_name_are_not_counted(bindings: Bindings) -> None:
    for name in ("x5a", "x5b"):
        bindings.reserve(f"ark:12345/{name}", "/1", metadata={"custom.a": "x"}, alternates={"text/html;en": "/e"})
    bindings.delete("ark:12345/x5a")
    require_right(bindings)
    bindings.delete("ark:12345/x5b")
    require_right(bindings)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        pytest.param("UPDATE name_counts SET number = 7 WHERE kind = 'names'", "has 7 names, but 1", id="number"),
        pytest.param("DELETE FROM name_counts WHERE kind = 'elements'", "has 0 names, but 1", id="missing"),
        pytest.param("INSERT INTO name_counts VALUES ('selectors', '[]', 0, 2)", "has 2 names, but 0", id="added"),
        pytest.param(
            "INSERT INTO name_counts VALUES ('sample', 'ark:12345/z', 0, 1)", "which is not recorded", id="sample"
        ),
    ],
)
def test_verify_finds_a_wrong_number_and_its_remedy_mends_it(
    statement: str, found: str, database: str, bindings: Bindings
) -> None:
    bindings.bind("ark:12345/x5a", "/1", metadata={"who": "x"})
    execute(bindings, statement)
    [finding] = verify(bindings)
    assert (finding.code, found in finding.message) == ("count-wrong", True)
    execute(bindings, "DELETE FROM name_counts")
    migrate(database)
    assert list(verify(bindings)) == []


def test_a_migration_counts_the_names_that_were_written_without_the_triggers(database: str, bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5a", "/1")
    of_table = " ON bindings" if database.startswith("postgresql") else ""
    execute(bindings, f"DROP TRIGGER bindings_counts_insert{of_table}")
    bindings.bind("ark:12345/x5b", "/1")
    assert {each.code for each in verify(bindings)} == {"trigger-missing", "count-wrong"}
    migrate(database)
    assert list(verify(bindings)) == []
    require_right(bindings)


def test_copies_and_snapshots_have_the_same_numbers(
    bindings: Bindings, open_store: Callable[..., Bindings], tmp_path: Path
) -> None:
    for name in ("x5a", "x6b", "report"):
        bindings.bind(f"ark:12345/{name}", "/1", metadata={"custom.a": "x"}, alternates={"text/html;en": "/e"})
    bindings.withdraw("ark:12345/x6b")
    new = open_store(f"sqlite:///{tmp_path}/new.sqlite")
    copy_store(bindings, new)
    require_right(new)
    write_snapshot(bindings, tmp_path / "names.snapshot")
    with open_bindings(tmp_path / "names.snapshot") as snapshot:
        assert [snapshot.count_names(by=each) for each in GROUPS] == [bindings.count_names(by=each) for each in GROUPS]  # type: ignore[arg-type]


def test_a_count_reads_no_names(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    bindings.bind("ark:12345/x5a", "/1")
    read: list[str] = []
    rows = DatabaseStore._rows

    def recorded(self: DatabaseStore, query: str, parameters: Any) -> Any:
        read.append(query)
        return rows(self, query, parameters)

    monkeypatch.setattr(DatabaseStore, "_rows", recorded)
    assert bindings.count_names(by="shoulder") == {"ark:12345/x5": 1}
    assert [query for query in read if "FROM bindings" in query and "LIMIT" not in query and "min(" not in query] == []


def test_a_group_has_the_shoulder_of_its_names(bindings: Bindings) -> None:
    names = ("ark:12345/x5np1", "ark:12345/np1/3", "ark:12345/report", "ark:12345/X5a", "ark:12345/5a", "ark:12345/a_5")
    for name in (*names, "urn:isbn:9780451450524", "ark:b5060/%C3%A9t5", f"ark:12345/{'a' * 240}5"):
        bindings.bind(name, "/1")
    with store_of(bindings).snapshot() as snapshot:
        groups = KeptCounts(snapshot.read, store_of(bindings).lists.marked, bindings.now).groups()
    expected = Counter(group_of(bindings.get(each.identifier), "shoulder") for each in bindings.list_names().names)
    assert Counter({group.shoulder: number for group, number in groups.items()}) == expected
