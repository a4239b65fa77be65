"""Previews and imports of uploads as jobs, in each kind of database and by a server that starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from ararat.bindings.imports import table_rows
from ararat.bindings.operations import pace
from ararat.middleware import Bindings, open_bindings
from ararat.spreadsheets import sheet
from ararat.spreadsheets.reading import Reading
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs import uploads as jobs_of_uploads
from ararat.webapp.jobs.imports import Imports
from ararat.webapp.uploads import store
from ararat.webapp.uploads.model import Upload

ROWS = 250
TABLE = b"ARK,URL\n" + b"".join(b"ark:12345/x5n%d,https://example.org/%d\n" % (row, row) for row in range(ROWS))
REFUSED = b"ark:12345/y1,https://example.org/y\n"


def previewed(imports: Imports, content: bytes) -> Upload:
    """Store a table, and add the job of its preview."""
    accounts = imports.accounts
    account = accounts.get("jane")
    assert account
    data, read, lines = sheet.convert_upload(content, "names.csv")
    reading = Reading(**{**read.as_dict(), "columns": ["identifier", "target"]})
    uploads = imports.uploads.uploads
    added = accounts.run_in_transaction(
        lambda connection: uploads.add(connection, account.number, "n.csv", data, reading, lines)
    )
    caller = Caller(account=account)
    assert added
    assert accounts.run_in_transaction(lambda connection: imports.uploads.preview(connection, caller, added, reading))
    found = uploads.get(added.number)
    assert found
    return found


def carry_out(imports: Imports) -> None:
    claim = imports.jobs.claim()
    assert claim
    imports.uploads.carry_out(claim, lambda lines: None)


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_table_is_previewed_and_imported(
    database: str, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((table_rows, "_CHUNK"), (pace, "BLOCK"), (jobs_of_uploads, "_BLOCK"), (store, "_BLOCK")):
        monkeypatch.setattr(module, name, 100)
    accounts = Accounts(open_store(database))
    accounts.add("jane", "curator", ["ark:12345/x5"])
    imports = Imports(accounts)
    uploads = imports.uploads.uploads
    upload = previewed(imports, TABLE + REFUSED)
    carry_out(imports)
    assert uploads.counts(upload.number) == {"added": {"bound": ROWS}, "refused": {"refused": 1}}
    assert not accounts.bindings.count().number
    account = accounts.get("jane")
    assert account
    caller = Caller(account=account)
    start = imports.uploads.import_rows
    assert accounts.run_in_transaction(lambda connection: start(connection, caller, upload, skip_refused=True))
    assert not accounts.run_in_transaction(lambda connection: uploads.begin(connection, upload, "new", None))
    carry_out(imports)
    assert uploads.counts(upload.number) == {"added": {"bound": ROWS}, "refused": {"left out": 1}}
    assert accounts.bindings.count().number == ROWS
    rows = uploads.rows(upload.number, "added", ROWS - 2, 10)
    assert [(number, row.line, row.changes) for number, row in rows] == [
        (n + 1, n + 2, {"target": ("", f"https://example.org/{n}")}) for n in (ROWS - 2, ROWS - 1)
    ]
    accounts.run_in_transaction(lambda connection: uploads.delete(connection, upload.number))
    assert uploads.get(upload.number) is None
    assert uploads.rows(upload.number, "added", 0, 1) == []


@pytest.mark.long
def test_a_server_carries_out_jobs_when_it_starts(tmp_path: Any, serve_ararat: Callable[..., Any]) -> None:
    """No request to the desk or the API is sent."""
    database = tmp_path / "bindings.sqlite"
    with open_bindings(database, create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("jane", "curator", ["ark:12345/x5"])
        imports = Imports(accounts)
        upload = previewed(imports, TABLE)
        serve_ararat("--database", str(database), "--no-trace-elsewhere")
        deadline = time.monotonic() + 40
        while imports.jobs.list_unfinished():
            assert time.monotonic() < deadline, "the job is not carried out"
            time.sleep(0.05)
        assert imports.uploads.uploads.counts(upload.number) == {"added": {"bound": ROWS}}
