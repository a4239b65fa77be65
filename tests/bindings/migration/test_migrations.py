"""Test the migration of a database of an older Ararat."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.redaction import redact
from ararat.bindings.migration import migrations
from ararat.bindings.migration.migrations import IndexPhase, migrate
from ararat.bindings.names.binding import ACTIONS
from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.bindings.names.selection import select
from ararat.bindings.open import open_bindings
from ararat.bindings.storage import versions
from ararat.bindings.storage.tables import triggers
from ararat.bindings.storage.versions import VERSION
from ararat.middleware import import_table, mint
from tests.forking import ForkedCode

NAME = "ark:12345/doc"
ROW = "'ark:12345/doc', 'located', '/x', 'live', 302, 'yes', 'R1', 'no', 'name', '2026-10-04T12:00:00.000000Z', 1"
COLUMNS = "key, kind, target, status, redirect, listed, resource, passthrough, scope, changed, revision"


def engine(database: str):
    return create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)


@pytest.fixture
def old(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with one binding, of the version before the current one."""
    with open_bindings(database, create=True) as bindings:
        bindings.bind(NAME, "/x", resource="R1")
        with bindings.store.transaction() as transaction:
            transaction.set_setting("schema", str(VERSION - 1))
    monkeypatch.setattr(versions, "OLDEST", VERSION - 1)
    monkeypatch.setitem(migrations._STEPS, VERSION - 1, lambda connection, progress: progress("bindings", 1, 1))
    return database


SHAPE = """
SELECT relname::text, attname::text, format_type(atttypid, atttypmod) || attnotnull::text
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT relname, tgname, tgenabled::text || pg_get_triggerdef(pg_trigger.oid)
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal
ORDER BY 1, 2
"""


def shape(database: str) -> object:
    """Return the definition of all tables."""
    with engine(database).connect() as connection:
        if connection.dialect.name == "sqlite":
            found = connection.execute(text("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"))
            return [tuple(row) for row in found]
        return [tuple(row) for row in connection.execute(text(SHAPE))]


def test_an_old_database_is_not_served(old: str) -> None:
    before = shape(old)
    with pytest.raises(BindingError, match="run: ararat migrate --database") as refused:
        open_bindings(old, create=True).open()
    assert refused.value.code == "schema-version"
    assert shape(old) == before


def test_migration_keeps_bindings(old: str, open_store: Callable[..., Bindings]) -> None:
    progress: list[tuple[str, int, int]] = []
    assert migrate(old, lambda *done: progress.append(done)) == (VERSION - 1, VERSION, 0, 0, 0)
    assert progress == [("bindings", 1, 1)]
    bindings = open_store(old)
    found = bindings.lookup(NAME)
    assert found is not None
    assert (found.target, found.resource) == ("/x", "R1")
    assert [event.action for event in bindings.history(NAME)] == ["bound"]
    assert bindings.bind(NAME, "/y", resource="R1") == "relocated"
    assert len(mint(bindings, "12345/x5", count=5)) == 5
    with pytest.raises(DBAPIError, match="never"), engine(old).begin() as connection:
        connection.execute(text("DELETE FROM events"))


def test_a_current_database_is_not_changed(database: str) -> None:
    open_bindings(database, create=True).close()
    before = shape(database)
    assert migrate(database) == (VERSION, VERSION, 0, 0, 0)
    assert shape(database) == before


def test_missing_triggers_are_added(database: str, open_store: Callable[..., Bindings]) -> None:
    """A current schema without the newer triggers is served, and migrated."""
    open_store(database).bind(NAME, "/x")
    before = shape(database)
    newer = ("_skipped", "_replaced", "_emptied")
    added = [each for each in triggers.triggers(engine(database).dialect.name) if each.name.endswith(newer)]
    with engine(database).begin() as connection:
        for trigger in added:
            on = "" if connection.dialect.name == "sqlite" else f" ON {trigger.table}"
            connection.execute(text(f"DROP TRIGGER {trigger.name}{on}"))
        if connection.dialect.name == "postgresql":
            connection.execute(text("ALTER TABLE bindings DISABLE TRIGGER bindings_never_deleted"))
    bindings = open_store(database)
    assert bindings.relocate(NAME, "/y") == "relocated"
    disabled = database.startswith("postgresql")
    assert migrate(database) == (VERSION, VERSION, len(added) + disabled, 0, 0)
    assert shape(database) == before
    assert bindings.relocate(NAME, "/z") == "relocated"


def make_action_unknown(database: str, action: str) -> None:
    """Make the tables those of an Ararat that did not know an action yet."""
    with engine(database).begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("PRAGMA writable_schema = ON"))
            changed = "UPDATE sqlite_master SET sql = replace(sql, :new, '') WHERE name = 'events'"
            connection.execute(text(changed), {"new": f", '{action}'"})
            return
        actions = ", ".join(repr(each) for each in ACTIONS if each != action)
        connection.execute(text("ALTER TABLE events DROP CONSTRAINT action_known"))
        connection.execute(text(f"ALTER TABLE events ADD CONSTRAINT action_known CHECK (action IN ({actions}))"))


def test_migrate_adds_the_actions_that_an_older_table_does_not_permit(
    database: str, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(database)
    bindings.bind(NAME, "/x", metadata={"who": "Lovelace"})
    bindings.close()
    before = shape(database)
    make_action_unknown(database, "redacted")
    bindings = open_store(database)
    with pytest.raises(BindingsUnavailable, match="run: ararat migrate"):
        redact(bindings, NAME)
    assert [event.action for event in bindings.history(NAME)] == ["bound"]
    # The servers keep their connections, and accept the action at once.
    assert migrate(database) == (VERSION, VERSION, 0, 0, 1)
    assert redact(bindings, NAME).revision == 2
    assert [event.action for event in bindings.history(NAME)] == ["bound", "redacted"]
    assert (shape(database), migrate(database).constraints) == (before, 0)
    with pytest.raises(DBAPIError), engine(database).begin() as connection:
        connection.execute(text(f"INSERT INTO events ({COLUMNS}, action) VALUES ({ROW}, 'stolen')"))  # noqa: S608
    assert list(verify(bindings)) == []


@pytest.mark.one_setup
@pytest.mark.parametrize("refused", [False, True])
def test_an_import_keeps_the_triggers(tmp_path: Path, open_store: Callable[..., Bindings], refused: bool) -> None:
    database = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    bindings = open_store(database)
    before = shape(database)
    rows = "".join(f"ark:12345/i{number},/x\n" for number in range(600)) + "nonsense,/x\n" * refused
    summary = import_table(bindings, BytesIO(f"identifier,target\n{rows}".encode()))
    assert summary.written is not refused
    assert shape(database) == before


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("version", "said"),
    [
        *[("99", "update Ararat"), ("1", "export its names with the Ararat that wrote it")],
        *[(version, "restore a backup") for version in ("0", "x", "-1", "", "\u0663", "9" * 5000)],
    ],
)
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_database_of_an_unknown_version_is_not_changed(database: str, version: str, said: str) -> None:
    open_bindings(database, create=True).close()
    with engine(database).begin() as connection:
        connection.execute(text("UPDATE ararat SET value = :version WHERE name = 'schema'"), {"version": version})
    before = shape(database)
    with pytest.raises(BindingError, match=said) as refused:
        migrate(database)
    assert refused.value.code == "schema-version"
    assert shape(database) == before


def test_a_database_of_another_program_is_not_migrated(database: str) -> None:
    with engine(database).begin() as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
    with pytest.raises(BindingError) as refused:
        migrate(database)
    assert refused.value.code == "foreign-database"


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(BindingsUnavailable):
        migrate(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_text_file_needs_no_migration(tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n")
    with pytest.raises(BindingError, match="is a file of text and needs no migration") as fault:
        migrate(table)
    assert fault.value.code == "read-only"


def test_a_failed_migration_changes_nothing(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(connection, progress) -> None:
        connection.execute(text("CREATE TABLE half (id INTEGER)"))
        connection.execute(text("INSERT INTO no_such_table VALUES (1)"))

    before = shape(old)
    monkeypatch.setitem(migrations._STEPS, VERSION - 1, half)
    with pytest.raises(BindingsUnavailable):
        migrate(old)
    assert shape(old) == before


MIGRATING = """
import sys
from ararat.bindings.migration import migrations
from ararat.bindings.storage.versions import VERSION
import ararat.bindings.storage.writing.transaction
migrations._STEPS[VERSION - 1] = lambda connection, progress: None
print("ready", flush=True)
sys.stdin.readline()
print(*migrations.migrate(sys.argv[1])[:2])
"""


def test_the_second_of_two_concurrent_migrations_waits(old: str) -> None:
    processes = [ForkedCode(MIGRATING, old) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = sorted(process.communicate(timeout=100)[0].strip() for process in processes)
    assert said == [f"{VERSION - 1} {VERSION}", f"{VERSION} {VERSION}"]


def test_each_version_from_the_oldest_on_has_a_step() -> None:
    assert list(migrations._STEPS) == list(range(versions.OLDEST, VERSION))


def test_missing_indexes_are_added(database: str, open_store: Callable[..., Bindings]) -> None:
    open_store(database).close()
    complete = shape_of_indexes(database)
    dropped = ("bindings_target", "bindings_not_live", "events_single", "events_first", "links_state")
    drop_indexes(database, *dropped)
    assert len(complete - shape_of_indexes(database)) == len(dropped)
    assert migrate(database).indexes == len(dropped)
    assert shape_of_indexes(database) == complete
    assert migrate(database).indexes == 0


@pytest.mark.parametrize("dropped", ["TRIGGER bindings_search_added", "TABLE search_trigrams"])
def test_a_missing_part_of_the_full_text_search_is_added(
    tmp_path: Path, open_store: Callable[..., Bindings], dropped: str
) -> None:
    database = f"sqlite:///{tmp_path / 'a.sqlite'}"
    bindings = open_store(database)
    bindings.bind("ark:12345/x1", "/1", metadata={"what": "Old map"})
    with engine(database).begin() as connection:
        connection.execute(text(f"DROP {dropped}"))
        if dropped.startswith("TABLE"):
            for trigger in ("added", "changed", "deleted"):
                connection.execute(text(f"DROP TRIGGER bindings_search_{trigger}"))
    bindings.bind("ark:12345/x2", "/2", metadata={"what": "New map"})
    assert migrate(database).indexes == 1
    found = bindings.list_names(select(text="map")).names
    assert [each.identifier for each in found] == ["ark:12345/x1", "ark:12345/x2"]
    bindings.bind("ark:12345/x3", "/3", metadata={"what": "Third map"})
    assert len(bindings.list_names(select(text="map")).names) == 3


def shape_of_indexes(database: str) -> set[str]:
    with engine(database).connect() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        known = "SELECT sql FROM sqlite_master WHERE type = 'index'" if is_sqlite else "SELECT indexdef FROM pg_indexes"
        return {str(each) for each in connection.execute(text(known)).scalars()}


def drop_indexes(database: str, *names: str) -> None:
    with engine(database).begin() as connection:
        for name in names:
            connection.execute(text(f"DROP INDEX {name}"))


def test_names_are_read_and_written_while_indexes_are_created(old: str, open_store: Callable[..., Bindings]) -> None:
    before = shape(old)
    drop_indexes(old, "bindings_created", "bindings_title", "links_state")
    phases: list[IndexPhase] = []

    def begun(phase: IndexPhase) -> None:
        phases.append(phase)
        bindings = open_store(old)
        assert bindings.lookup(NAME) is not None
        assert bindings.bind(f"ark:12345/x{phase.number}", "/x") == "bound"
        assert len(bindings.list_names(select(sort="title")).names) == phase.number + 1

    assert migrate(old, phase=begun) == (VERSION - 1, VERSION, 0, 3, 0)
    assert [each[:3] for each in phases] == [
        ("bindings_created", 1, 3),
        ("bindings_title", 2, 3),
        ("links_state", 3, 3),
    ]
    assert [each.names for each in phases] == [1, 1, 1]
    assert [each.seconds is None for each in phases] == [True, False, False]
    assert shape(old) == before
    with open_store(old).store.snapshot() as snapshot:
        assert list(snapshot.faults()) == []


def test_a_second_call_adds_the_indexes_that_an_interruption_left_out(
    old: str, open_store: Callable[..., Bindings]
) -> None:
    before = shape(old)
    drop_indexes(old, "bindings_created", "bindings_recorded")

    def interrupt(phase: IndexPhase) -> None:
        if phase.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(old, phase=interrupt)
    assert open_store(old).bind("ark:12345/new", "/x") == "bound"
    assert migrate(old) == (VERSION, VERSION, 0, 1, 0)
    assert shape(old) == before
