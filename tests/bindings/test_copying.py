"""Copy a store into an empty database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select, text

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import TABLES, copy_store
from ararat.bindings.names.errors import BindingError, ReadOnlyBindings
from ararat.bindings.open import open_bindings, open_file
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.tables import account_tables, log_tables, schema
from ararat.cli import main
from ararat.middleware import mint

TIME = "2026-10-04T12:00:00.000000Z"
HOSTILE = 'A \\ "b"\n\r\tc \\N \\. \x1f \u1e24 \U0001f600'


def engine(bindings: Bindings):
    return cast(DatabaseStore, bindings.store)._database.engine


def fill(bindings: Bindings) -> Bindings:
    """Write a row to each table that is copied, and to others."""
    bindings.bind("ark:/12345/x-5", "/x", resource="R1", metadata={"what": 'A \\ "b" \\N \u1e24'}, actor="me")
    bindings.relocate("ark:12345/x5", "/y", actor="you")
    bindings.bind("ark:12345/" + 200 * "%E2%82%AC", "/long")
    bindings.withdraw("ark:12345/x5", reason="gone", successor="https://example.org/new")
    mint(bindings, "12345/k5", length=3, sequential=True, count=3)
    bindings.delete("ark:12345/k5000")
    bindings.rules.set("ark:12345/r5", "https://example.org/${value}")
    operation = {"action": "import", "started": TIME, "names": 0, "parameters": HOSTILE}
    prefix = {"prefix": "ark:12345/", "who": "A library", "changed": TIME, "revision": 1}
    account = {"name": "maria", "role": "curator", "created": TIME, "preferences": HOSTILE}
    account |= {"link": "def", "link_expires": TIME}
    token = {"account": 7, "label": "t", "hash": "abc", "created": TIME}
    salt = {"salt": b"\x00\xff\\"}
    rows = (
        (schema.operations, {"id": 41, **operation}),
        (schema.prefixes, prefix),
        (schema.prefix_events, {**prefix, "action": "set"}),
        (account_tables.accounts, {"id": 7, **account}),
        (account_tables.identities, {"issuer": "https://idp.example", "subject": "1", "account": 7}),
        (account_tables.grants, {"account": 7, "prefix": "ark:12345/"}),
        (account_tables.tokens, token),
        (account_tables.sessions, {"id": "s", "account": 7, "created": TIME, "expires": TIME, "answers": "[]"}),
        (account_tables.audit, {"time": TIME, "operation": "bind", "outcome": "bound"}),
        (log_tables.log_salts, {"key": "ark:12345/x5", **salt}),
        (log_tables.log_entries, {"entry": 0, "event": 1, "hash": b"\n", **salt}),
        (log_tables.log_state, {"name": "origin", "value": "example.org"}),
    )
    with engine(bindings).begin() as connection:
        for table, row in rows:
            connection.execute(insert(table).values(row))
    return bindings


# What a server writes again by itself, what ends soon, and the uploads, exports and jobs of accounts.
NOT_COPIED = {
    *("bulk_names", "bulk_progress", "column_mappings", "export_parts", "idempotency", "jobs", "links", "name_counts"),
    *("name_numbers", "pauses", "sessions", "sign_ins", "upload_rows", "uploads"),
}


def test_each_table_is_copied_unless_it_is_listed_here() -> None:
    assert {table.name for table in schema.TABLES} - {table.name for table in TABLES} == NOT_COPIED


def rows_of(bindings: Bindings) -> dict[str, list[tuple[object, ...]]]:
    with engine(bindings).connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr) for table in TABLES
        }


from_sqlite = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a second empty database, once for each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'other.sqlite'}"
    return request.getfixturevalue("cluster").new_schema()


def test_a_copy_has_the_same_rows_and_can_be_changed(
    bindings: Bindings, other: str, open_store: Callable[..., Bindings]
) -> None:
    fill(bindings)
    new = open_store(other)
    progress: list[tuple[str, int]] = []
    copied = copy_store(bindings, new, progress=lambda table, rows: progress.append((table, rows)))
    assert rows_of(new) == rows_of(bindings)
    assert {each.table for each in copied} == {table.name for table in TABLES}
    assert [each[:2] for each in copied] == progress
    assert copy_store(bindings, None) == copied == copy_store(new, None)
    assert list(verify(new)) == []
    with engine(new).connect() as connection:
        assert connection.execute(select(account_tables.sessions)).all() == []
    # Both can be changed.
    for store in (bindings, new):
        assert store.bind("ark:12345/new", "/new") == "bound"
        assert mint(store, "12345/k5", length=3, sequential=True) == ["ark:12345/k5003"]
        assert store.restore("ark:12345/x5", resource="R1") == "restored"
        store.rules.set("ark:12345/r6", "https://example.org/${value}")
    with engine(new).begin() as connection:
        operation = insert(schema.operations).values(action="import", started=TIME)
        assert connection.execute(operation.returning(schema.operations.c.id)).scalar() == 42
    assert list(verify(new)) == []


@from_sqlite
def test_a_copy_needs_an_empty_database(bindings: Bindings, other: str, open_store: Callable[..., Bindings]) -> None:
    fill(bindings)
    new = open_store(other)
    new.reserve("ark:12345/z5")
    before = rows_of(new)
    with pytest.raises(BindingError, match="the table bindings has rows") as refused:
        copy_store(bindings, new)
    assert refused.value.code == "store-not-empty"
    assert rows_of(new) == before


@from_sqlite
def test_a_copy_with_other_content_is_not_written(
    bindings: Bindings, other: str, open_store: Callable[..., Bindings]
) -> None:
    fill(bindings)
    new = open_store(other)
    postgresql = other.startswith("postgresql")
    with engine(new).begin() as connection:
        if postgresql:
            connection.execute(
                text(
                    "CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN NEW.target = '/evil'; RETURN NEW; END $$"
                )
            )
            connection.execute(text("CREATE TRIGGER evil BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION evil()"))
        else:
            done = "BEGIN DELETE FROM rules WHERE prefix = NEW.prefix; END"
            connection.exec_driver_sql(f"CREATE TRIGGER evil AFTER INSERT ON rules {done}")
    with pytest.raises(BindingError) as refused:
        copy_store(bindings, new)
    assert refused.value.code == "copy-differs"
    assert rows_of(new)["bindings"] == []
    assert "trigger-missing" not in {finding.code for finding in verify(new)}


TABLE = """\
identifier,target,kind,status,resource,who
ark:12345/r5,https://example.org/${value},rule,,,
ark:12345/x,,prefix,,,A library
ark:12345/k5,next 2 of 10^3,counter,,,
ark:12345/k5000,,,reserved,,
ark:12345/x6,/6,,,R6,
ark:12345/x5,/5,,withdrawn,,
"""


def test_a_file_is_copied_with_one_event_for_each_name(
    tmp_path: Path, other: str, open_store: Callable[..., Bindings]
) -> None:
    file = tmp_path / "names.csv"
    file.write_text(TABLE)
    new = open_store(other)
    with open_file(file, served=False) as old:
        copied = copy_store(old, new)
        assert [(each.table, each.rows) for each in copied][1:] == [
            *(("bindings", 3), ("events", 3), ("rules", 1), ("rule_events", 1)),
            *(("prefixes", 1), ("prefix_events", 1)),
        ]
        for name in ("ark:12345/x5", "ark:12345/x6", "ark:12345/k5000"):
            assert new.lookup(name) == old.lookup(name)
        assert new.history("ark:12345/x6") == old.history("ark:12345/x6")
        with pytest.raises(ReadOnlyBindings):
            copy_store(new, old)
    assert [event.action for event in new.history("ark:12345/k5000")] == ["reserved"]
    assert mint(new, "12345/k5", length=3, digits=True, sequential=True) == ["ark:12345/k5002"]
    assert [rule.prefix for rule in new.rules.list()] == ["ark:12345/r5"]
    assert [(record.prefix, record.who) for record in new.prefixes.list()] == [("ark:12345/x", "A library")]
    assert list(verify(new)) == []


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(main.main, ["copy", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_copies_and_prints_counts_and_checksums(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    with open_bindings(old, create=True) as bindings:
        bindings.bind("ark:12345/x5", "/x")
    code, printed, errors = run("--dry-run", old, new)
    assert (code, errors, new.exists()) == (0, "", False)
    assert "Nothing was written." in printed
    code, copied, errors = run(old, new)
    assert (code, errors) == (0, "")
    assert copied.splitlines()[:3] == printed.splitlines()[:3]
    assert copied.splitlines()[1].startswith("bindings                   1 row   checksum ")
    for arguments in (["--dry-run", old, new], [old, new]):
        code, _, errors = run(*arguments)
        assert (code, "store-not-empty" in errors) == (2, True)


def test_the_command_refuses_a_file_as_the_new_store(tmp_path: Path) -> None:
    code, _, errors = run(tmp_path / "none.sqlite", tmp_path / "new.csv")
    assert code == 2
    assert "a file of text has no history" in " ".join(errors.split())
    assert run(tmp_path / "none.sqlite", tmp_path / "new.sqlite")[0] == 69
