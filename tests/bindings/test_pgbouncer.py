"""PostgreSQL through PgBouncer in transaction mode, where two transactions of a connection have two sessions."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import cast

import psycopg
import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.storage.protocols import READ_SECONDS
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import import_table, mint
from tests.ports import free_port

pytestmark = pytest.mark.long

NAME = "ark:12345/doc"
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

SETTINGS = """
[databases]
{database} = host=127.0.0.1 port={server} user=ararat
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
logfile = {folder}/log
{more}
"""


@pytest.fixture(params=["", "ignore_startup_parameters = options"], ids=["refuses options", "ignores options"])
def url(request: pytest.FixtureRequest, cluster, public_path: Path) -> Iterator[str]:
    """The URL of an empty database behind a PgBouncer."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed (apt-get install pgbouncer)")
    database = cluster.new_database().rpartition("/")[2]
    port = free_port()
    folder = public_path
    settings = folder / "settings.ini"
    settings.write_text(
        SETTINGS.format(database=database, server=cluster.port, port=port, folder=folder, more=request.param)
    )
    command = [PROGRAM, str(settings)]
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        command[1:1] = ["-u", "nobody"]
    bouncer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"postgresql://ararat@127.0.0.1:{port}/{database}"
    try:
        deadline = time.monotonic() + 20
        while True:
            try:
                psycopg.connect(url, connect_timeout=2).close()
                break
            except psycopg.OperationalError:
                assert bouncer.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield url
    finally:
        bouncer.terminate()
        bouncer.wait(10)


def test_readers_and_writers_share_sessions(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(url)
    faults: list[object] = []

    def look_up() -> None:
        for _ in range(50):
            try:
                bindings.lookup(NAME)
                bindings.store.fetch([NAME, "ark:12345/other"])
            except Exception as error:  # noqa: BLE001  any is what the test looks for
                faults.append(error)

    readers = [threading.Thread(target=look_up) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(30):
        assert bindings.bind(f"ark:12345/w{number}", "/x") == "bound"
        assert bindings.relocate(f"ark:12345/w{number}", "/y") == "relocated"
    for reader in readers:
        reader.join(30)
    assert faults == []
    with cast(DatabaseStore, bindings.store).transaction() as transaction:
        # Another client of the same session could not use them.
        prepared = transaction.connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements")
        assert prepared.scalar_one() == 0


def test_settings_of_readers_do_not_leak(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(url, read_seconds=READ_SECONDS)
    for _ in range(3):
        with pytest.raises(BindingsUnavailable, match="read-only"):
            cast(DatabaseStore, bindings.store)._readers.rows("DELETE FROM ararat", ())
        with pytest.raises(BindingsUnavailable, match="timeout"):
            cast(DatabaseStore, bindings.store)._readers.rows("SELECT pg_sleep(3)", ())
    with psycopg.connect(url, autocommit=True) as other:
        for name, expected in (("default_transaction_read_only", "off"), ("statement_timeout", "0")):
            assert other.execute("SELECT current_setting(%s)", (name,)).fetchone() == (expected,)
    assert bindings.bind(NAME, "/x") == "bound"


def test_import_export_and_mint_work(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(url)
    rows = "".join(f"ark:12345/i{number},/x\n" for number in range(3000))
    for expected in (3000, 0):
        assert import_table(bindings, BytesIO(f"identifier,target\n{rows}".encode())).added == expected
    with BytesIO() as out:
        assert export_table(bindings, out).bindings == 3000
    for _ in range(8):
        assert len(mint(bindings, "12345/x5", count=3)) == 3
