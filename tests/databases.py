"""Fixtures of all tests: databases (SQLite, PostgreSQL), created for each test, and their bindings."""

from __future__ import annotations

import contextlib
import copy
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from psycopg.pq import PGconn, Ping

from ararat.bindings.collection import Bindings
from ararat.bindings.open import bindings_at, open_bindings
from ararat.bindings.operations import pace
from ararat.bindings.storage.databases.sqlite import SQLite

from .ports import free_port
from .ready_tables import recycle

_SCHEMA = "?options=-c%20search_path%3D"
NO_SERVER = "NOTHING IS TESTED ON POSTGRESQL: no server is installed (apt-get install postgresql, or set PG_BINDIR)"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if any(NO_SERVER in str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(NO_SERVER, red=True, bold=True)


class Cluster:
    """A PostgreSQL server of this test run on loopback. Its files are deleted afterwards.

    A hasty server does not wait for the disk. Others have the default settings of PostgreSQL.
    """

    def __init__(self, binaries: Path, *, hasty: bool = True) -> None:
        self.binaries = binaries
        self.port = 0
        self._hasty = hasty
        self.folder = Path(tempfile.mkdtemp(prefix="ararat-postgresql-"))
        self.database = "postgres"
        self._names = count()
        self._process: subprocess.Popen[Any] | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._as_user = server_user()
        if self._as_user:
            os.chown(self.folder, self._as_user["user"], self._as_user["group"])

    def make(self) -> None:
        """Create the files of a server without starting it."""
        options = ["-U", "ararat", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        if self._hasty:
            # Segments of a megabyte: this amount is written and copied for an empty database.
            options.append("--wal-segsize=1")
        self.run("initdb", "-D", str(self.folder / "data"), *options)

    def start(self, made: Cluster) -> None:
        """Start with a copy of the files of another server."""
        self._copy(made)
        self.resume()

    def _copy(self, made: Cluster) -> None:
        self.run("cp", "-R", str(made.folder / "data"), str(self.folder / "data"))
        self.port = free_port()

    def resume(self) -> None:
        """Start the server with the same port and data, and wait until it answers."""
        hasty = "synchronous_commit=off full_page_writes=off shared_buffers=16MB wal_keep_size=16MB"
        # The tests create thousands of tables, which no test needs to be vacuumed or written to the disk early.
        hasty += " autovacuum=off max_wal_size=2GB checkpoint_timeout=1h max_connections=300"
        command = [
            self.binaries / "postgres",
            "-D",
            "data",
            "-p",
            str(self.port),
            "-h",
            "127.0.0.1",
            "-k",
            self.folder,
            *(["-F", *(f"--{setting}" for setting in hasty.split())] if self._hasty else []),
        ]
        with (self.folder / "log").open("ab") as log:
            process = self._process = subprocess.Popen(command, stdout=log, stderr=log, **self._common())
        deadline = time.monotonic() + 20
        while PGconn.ping(f"host=127.0.0.1 port={self.port}".encode()) != Ping.OK:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL does not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.01)

    def halt(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server and keep its data."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(15)

    def follow(self, primary: Cluster, made: Cluster) -> None:
        """Start as a streaming standby of another server with the same initial files."""
        self._copy(made)
        of = f"host=127.0.0.1 port={primary.port} user=ararat"
        with (self.folder / "data" / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = '{of}'\n")
        self.run("touch", str(self.folder / "data" / "standby.signal"))
        self.resume()

    def promote(self) -> None:
        """Make a standby the primary."""
        self.run("pg_ctl", "promote", "-w", "-D", str(self.folder / "data"))

    def processes(self) -> list[int]:
        """Return the IDs of the processes of the running server, the first one first."""
        assert self._process is not None
        parent = self._process.pid
        children = [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _parent_of(stat) == parent]
        return [parent, *children]

    def signal_all(self, number: signal.Signals) -> None:
        """Send a signal to the server and all its processes, as if the machine failed."""
        assert self._process is not None
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        if number == signal.SIGKILL:
            self._process.wait(30)

    def own_database(self) -> Cluster:
        """Return this server for a worker, which has a database of its own."""
        own = copy.copy(self)
        own._names = count()
        own.database = f"worker{os.getpid()}"
        with psycopg.connect(f"{self._url()}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {own.database}".encode())
        return own

    def new_database(self, encoding: str = "UTF8") -> str:
        """The URL of an empty database."""
        name = self._new_name()
        locale = "" if encoding == "UTF8" else f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        self._execute(f"CREATE DATABASE {name} {locale}")
        return f"{self._url()}/{name}"

    def new_schema(self) -> str:
        """The URL of an empty schema in the database that all tests share, which is created quickly."""
        name = self._new_name()
        self._execute(f"CREATE SCHEMA {name}")
        return f"{self._url()}/{self.database}{_SCHEMA}{name}"

    def _new_name(self) -> str:
        """Return a name for a database or schema, and for a role of it, because all databases have the same roles."""
        return f"test{os.getpid()}_{next(self._names)}"

    def recycle(self, url: str) -> None:
        """Give the schema of a finished test to another test."""
        with contextlib.suppress(psycopg.OperationalError):  # if the test has locked a table
            recycle(self._connected(), url.rpartition(_SCHEMA)[2])

    def disconnect(self) -> None:
        """Close the connection of the fixtures."""
        if self._connection is not None:
            self._connection.close()

    def remove(self) -> None:
        self.disconnect()
        if self._process and self._process.poll() is None:
            self.signal_all(signal.SIGCONT)
        try:
            self.halt(signal.SIGQUIT)
        except subprocess.TimeoutExpired:
            # PostgreSQL waits up to a minute for the first message of a client that connected during the stop.
            self.signal_all(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def _url(self) -> str:
        return f"postgresql://ararat@127.0.0.1:{self.port}"

    def _execute(self, statement: str) -> None:
        self._connected().execute(statement.encode())

    def _connected(self) -> psycopg.Connection[Any]:
        """Return the connection of the fixtures. A restart of the server has closed it."""
        try:
            if self._connection is not None:
                self._connection.execute("SELECT 1")
                return self._connection
        except psycopg.OperationalError:
            pass
        options = "-c lock_timeout=1s"
        self._connection = psycopg.connect(
            f"{self._url()}/{self.database}", autocommit=True, prepare_threshold=None, options=options
        )
        return self._connection

    def run(self, program: str, *arguments: str) -> None:
        """Run a program as the user of the server, which reaches the server without options."""
        subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60, **self._common())

    def _common(self) -> dict[str, Any]:
        environ = {"PATH": f"{self.binaries}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self.folder)}
        if self.port:
            environ |= {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "ararat", "PGDATABASE": "postgres"}
        return {"cwd": self.folder, "env": environ, **self._as_user}


def _parent_of(stat: Path) -> int | None:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def server_user() -> dict[str, Any]:
    """Return the parameters of ``Popen`` for an unprivileged user, because PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    user = next(found for name in ("postgres", "nobody") if (found := _user(name)))
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _binaries() -> Path | None:
    """Return the folder of the PostgreSQL programs: $PG_BINDIR, the newest of Debian, or that on the path."""
    on_path = shutil.which("initdb")
    folders = [
        os.environ.get("PG_BINDIR"),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        on_path and Path(on_path).parent,
    ]
    return next((Path(folder) for folder in folders if folder and (Path(folder) / "initdb").exists()), None)


def required_binaries() -> Path:
    """Return the folder of the PostgreSQL programs. Without them, fail if CI is set, or skip the test."""
    binaries = _binaries()
    if binaries is None:
        if os.environ.get("CI"):
            pytest.fail(NO_SERVER)
        pytest.skip(NO_SERVER)
    return binaries


_SHARED = pytest.StashKey[tuple[Cluster, Cluster]]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[object]:
    """Start a server that all workers share, if a test uses one."""
    config = session.config
    if config.option.processes < 2 or not any(map(_uses_postgresql, session.items)) or not (binaries := _binaries()):
        return (yield)
    made, started = Cluster(binaries), Cluster(binaries)
    try:
        made.make()
        started.start(made)
        config.stash[_SHARED] = made, started
        return (yield)
    finally:
        started.remove()
        made.remove()


def _uses_postgresql(item: Any) -> bool:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "cluster" in item.fixturenames or "postgresql" in {value for value in values if isinstance(value, str)}


@pytest.fixture(scope="session")
def made_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The files of a PostgreSQL server, which all other servers copy.

    If PostgreSQL is not installed, its tests are skipped, or fail if CI is set.
    """
    if shared := request.config.stash.get(_SHARED, None):
        yield shared[0]
        return
    server = Cluster(required_binaries())
    try:
        server.make()
        yield server
    finally:
        server.remove()


@contextlib.contextmanager
def replication(made: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """Run a PostgreSQL server and its streaming standby."""
    primary, standby = Cluster(made.binaries), Cluster(made.binaries)
    try:
        primary.start(made)
        standby.follow(primary, made)
        yield primary, standby
    finally:
        for server in (standby, primary):
            server.remove()


@pytest.fixture
def replicated(made_cluster: Cluster) -> Iterator[tuple[Cluster, Cluster]]:
    """A PostgreSQL server and its streaming standby for one test, which can change them."""
    with replication(made_cluster) as servers:
        yield servers


@pytest.fixture
def own_cluster(made_cluster: Cluster) -> Iterator[Cluster]:
    """A PostgreSQL server for one test, which can stop it."""
    server = Cluster(made_cluster.binaries)
    try:
        server.start(made_cluster)
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, made_cluster: Cluster) -> Iterator[Cluster]:
    """A PostgreSQL server that all tests share. Each worker has a database of its own."""
    if shared := request.config.stash.get(_SHARED, None):
        own = shared[1].own_database()
        yield own
        own.disconnect()
        return
    server = Cluster(made_cluster.binaries)
    try:
        server.start(made_cluster)
        yield server
    finally:
        server.remove()


# The modules whose tests use PostgreSQL in `make long` only, except those with the mark `both_stores`. They test code
# without SQL. The tests of the modules that it calls, in bindings and webapp/accounts, use both databases.
SQLITE_FIRST = (
    "bindings/operations/",
    "bindings/checks/",
    "bindings/imports/test_exporting.py",
    "bindings/imports/test_importing.py",
    "bindings/imports/test_keyed_rows.py",
    "bindings/imports/test_plain_rows.py",
    "bindings/imports/test_reserved_names.py",
    "bindings/imports/test_table_rows.py",
    "bindings/log/",
    "bindings/names/branding/",
    "bindings/names/prefixes/",
    "bindings/test_digest.py",
    "bindings/test_embargo.py",
    "bindings/test_holding.py",
    "bindings/test_minting.py",
    "bindings/test_numbers.py",
    "bindings/test_reserved_names.py",
    "bindings/names/test_policy.py",
    "middleware/feeds/",
    "middleware/http/",
    "bindings/names/test_corrections.py",
    "bindings/names/metadata/",
    "bindings/test_equivalent_urns.py",
    "bindings/tables/test_wrong_text.py",
    "bindings/imports/sources/",
    "bindings/tables/test_text_tables.py",
    "bindings/imports/test_history.py",
    "bindings/tables/test_other_rows.py",
    "bindings/imports/test_refused_lines.py",
    "middleware/test_feature_pairs.py",
    "middleware/test_suggestions.py",
    "middleware/test_withdrawal.py",
    "webapp/accounts/test_identify.py",
    "webapp/accounts/test_sign_in.py",
    "webapp/accounts/test_store.py",
    "webapp/api/",
    "webapp/desk/",
    "webapp/jobs/",
    "tracing/links/",
    "webapp/ezid/",
    "webapp/management/",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and hasattr(item, "callspec")
            and item.callspec.params.get("database") == "postgresql"
            and item.path.relative_to(folder).as_posix().startswith(SQLITE_FIRST)
            and not item.get_closest_marker("both_stores")
        ):
            item.add_marker(pytest.mark.long)


_connect_to_write = SQLite.connect_to_write


@pytest.fixture(scope="session", autouse=True)
def _hasty_sqlite() -> Iterator[None]:
    """Write SQLite files without waiting for the disk, like the servers. A killed process loses nothing by this."""

    def connect(database: SQLite) -> sqlite3.Connection:
        connection = _connect_to_write(database)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLite, "connect_to_write", connect)
        yield


@pytest.fixture
def durable_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite wait for the disk, as it does without tests."""
    monkeypatch.setattr(SQLite, "connect_to_write", _connect_to_write)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write blocks of at most 100 names, so that few names need several."""
    monkeypatch.setattr(pace, "BLOCK", 100)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database, once for each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        url = cluster.new_schema()
        yield url
        cluster.recycle(url)


@pytest.fixture
def open_store() -> Iterator[Callable[..., Bindings]]:
    """open_store(url_or_path, **options) opens bindings, creates a missing database, and reads it, like a site.

    ``is_read=False`` reads nothing. On a busy machine, PostgreSQL can take seconds for a statement, so the default of
    ``read_seconds`` is 20. All bindings are closed at the end of the test."""
    opened: list[Bindings] = []

    def open_(url_or_path: str | Path, **options: Any) -> Bindings:
        create, is_read = options.pop("create", True), options.pop("is_read", True)
        options.setdefault("read_seconds", 20.0)
        opened.append(bindings_at(url_or_path, create=create, **options))
        opened[-1].open()
        if is_read and opened[-1].location.startswith("sqlite"):
            opened[-1].lookup("ark:12345/x")  # A reader keeps the log, so that not each change begins and ends one.
        return opened[-1]

    yield open_
    for bindings in opened:
        bindings.close()


@pytest.fixture(scope="module")
def _filled_files() -> dict[Callable[[Bindings], object], Path]:
    """The SQLite files that the functions of a module have filled."""
    return {}


@pytest.fixture
def open_filled(
    database: str,
    open_store: Callable[..., Bindings],
    tmp_path_factory: pytest.TempPathFactory,
    _filled_files: dict[Callable[[Bindings], object], Path],
) -> Callable[[Callable[[Bindings], object]], Bindings]:
    """open_filled(fill) opens the database of the test with the names of ``fill(bindings)``.

    An SQLite file is filled once for the module, and copied."""

    def open_(fill: Callable[[Bindings], object]) -> Bindings:
        if not database.startswith("sqlite"):
            fill(bindings := open_store(database))
            return bindings
        if fill not in _filled_files:
            file = _filled_files[fill] = tmp_path_factory.mktemp("filled") / "bindings.sqlite"
            with open_bindings(file, create=True) as bindings:
                fill(bindings)
        shutil.copy(_filled_files[fill], database.removeprefix("sqlite:///"))
        return open_store(database)

    return open_


@pytest.fixture
def bindings(database: str, open_store: Callable[..., Bindings]) -> Bindings:
    """Empty bindings, once for each kind of database."""
    return open_store(database)


def note_statements(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each statement of a change is added from now on."""
    from sqlalchemy import event

    from ararat.bindings.storage.writing.transaction import Transaction

    sent: list[str] = []
    engine, begin = cast(Any, bindings.store)._database.engine, Transaction.__init__
    event.listen(engine, "before_cursor_execute", lambda *arguments: sent.append(arguments[2]))

    def note(transaction: Transaction, *arguments: Any) -> None:
        begin(transaction, *arguments)
        driver = transaction.driver
        run = lambda text, values=(): (sent.append(text), driver.execute(text, values))[1]  # noqa: E731
        transaction.driver = SimpleNamespace(execute=run)

    monkeypatch.setattr(Transaction, "__init__", note)
    return sent
