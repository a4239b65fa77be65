"""Test accidents with the SQLite file of a running site, permissions, and concurrent writers."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy.exc

from ararat.bindings.collection import Bindings
from ararat.bindings.names import assignment
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ararat.bindings.names.fields import Fields
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.databases.engines import Patience
from ararat.bindings.storage.databases.sqlite import FRESH_SECONDS, SQLite
from ararat.bindings.storage.store import DatabaseStore
from tests.forking import ForkedCode

pytestmark = pytest.mark.usefixtures("durable_sqlite")

NAME, OTHER = "ark:12345/doc", "ark:12345/other"


@pytest.fixture
def file(public_path: Path) -> Path:
    folder = public_path / "a folder with % and ? and #"
    folder.mkdir()
    return folder / "bindings.sqlite"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with 500 names. The log is written to the file."""
    file = tmp_path_factory.mktemp("filled") / "bindings.sqlite"
    with open_bindings(file, create=True) as bindings, bindings.store.transaction() as transaction:
        names = [NAME, *(f"ark:12345/x{number}" for number in range(500))]
        stated = [Fields(target=f"/page/{name}", metadata={"what": name * 9}).for_name(name) for name in names]
        transaction.put([assignment.bind(None, each, bindings.now()) for each in stated], None, [None] * len(names))
    return file


@pytest.fixture
def served(filled: Path, file: Path, open_store: Callable[..., Bindings]) -> Bindings:
    """Bindings of this database that are already served."""
    bindings = open_store(shutil.copy(filled, file), is_read=False)
    assert bindings.lookup(NAME)
    time.sleep(FRESH_SECONDS)  # so that the next lookup checks the file system again
    return bindings


def test_a_path_need_not_be_utf8(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9 \xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("the names of this file system are UTF-8")
    bindings = open_store(folder / "bindings.sqlite")
    bindings.bind(NAME, "/x")
    assert bindings.lookup(NAME) is not None


def chmod_000(file: Path) -> Callable[[], object]:
    file.chmod(0)
    return lambda: file.chmod(0o644)


def moved_away(file: Path) -> Callable[[], object]:
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    return lambda: elsewhere.rename(file)


def folder_moved_away(file: Path) -> Callable[[], object]:
    elsewhere = file.parent.with_name("elsewhere")
    file.parent.rename(elsewhere)
    return lambda: elsewhere.rename(file.parent)


def folder_removed(file: Path) -> Callable[[], object]:
    kept = shutil.copytree(file.parent, file.parent.with_name("backup"))
    shutil.rmtree(file.parent)
    return lambda: kept.rename(file.parent)


def replaced_by_garbage(file: Path) -> Callable[[], object]:
    kept = file.with_name("kept")
    file.rename(kept)
    file.write_bytes(b"garbage " * 50_000)
    return lambda: kept.rename(file)


def overwritten_with_garbage(file: Path) -> Callable[[], object]:
    content = file.read_bytes()
    file.write_bytes(b"garbage " * (len(content) // 8))
    return lambda: file.write_bytes(content)


def emptied(file: Path) -> Callable[[], object]:
    content = file.read_bytes()
    os.truncate(file, 0)
    return lambda: file.write_bytes(content)


def cut_in_half(file: Path) -> Callable[[], object]:
    content = file.read_bytes()
    os.truncate(file, len(content) // 2)
    return lambda: file.write_bytes(content)


def replaced_by_a_folder(file: Path) -> Callable[[], object]:
    kept = file.with_name("kept")
    file.rename(kept)
    file.mkdir()
    return lambda: (file.rmdir(), kept.rename(file))


def replaced_by_a_database_of_another_program(file: Path) -> Callable[[], object]:
    kept = file.with_name("kept")
    file.rename(kept)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE other (x)")
    return lambda: kept.rename(file)


ACCIDENTS = [
    chmod_000,
    moved_away,
    folder_moved_away,
    folder_removed,
    replaced_by_garbage,
    overwritten_with_garbage,
    emptied,
    cut_in_half,
    replaced_by_a_folder,
    replaced_by_a_database_of_another_program,
]


@pytest.mark.parametrize("happens", ACCIDENTS, ids=lambda accident: accident.__name__.replace("_", " "))
def test_lookups_fail_while_the_file_is_missing_or_broken_and_then_recover(
    served: Bindings, file: Path, happens: Callable[[Path], Callable[[], object]]
) -> None:
    repair = happens(file)
    for _ in range(2):
        with pytest.raises(BindingsUnavailable):
            served.lookup(NAME)
        with pytest.raises(BindingsUnavailable):
            served.store.fetch([NAME, OTHER])
        with pytest.raises((BindingsUnavailable, BindingError)):
            served.bind(OTHER, "/x")
    repair()
    assert served.lookup("ark:12345/x499") is not None
    assert served.lookup(OTHER) is None
    assert served.bind(OTHER, "/x") == "bound"


def test_consecutive_lookups_check_the_file_once(served: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.FRESH_SECONDS", 60.0)
    database = SQLite(file)
    before = database.fingerprint()
    os.utime(file, (1, 1))
    assert database.fingerprint() == before
    assert SQLite(file).fingerprint() != database.fingerprint()


def test_lookups_between_changes_do_not_write_the_log_into_the_file(
    served: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.FRESH_SECONDS", 0.0)
    served.bind(OTHER, "/x")
    os.utime(file)
    log = file.with_name(f"{file.name}-wal")
    times, logs = set(), set()
    for number in range(10):
        served.bind(f"ark:12345/log{number}", "/x")
        assert served.lookup(f"ark:12345/log{number}") is not None
        times.add(file.stat().st_mtime_ns)
        logs.add(log.stat().st_ino)
    assert (len(times), len(logs)) == (1, 1)


def test_each_lookup_checks_a_missing_file(file: Path) -> None:
    database = SQLite(file)
    for _ in range(2):
        with pytest.raises(BindingsUnavailable):
            database.fingerprint()
    file.touch()
    assert database.fingerprint()


def test_a_reader_is_unavailable_if_the_permission_to_write_is_removed_while_it_opens(
    served: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = SQLite(file)
    access = os.access
    monkeypatch.setattr(database, "_can_write", lambda: True)
    monkeypatch.setattr("os.access", lambda path, mode: not mode & os.W_OK and access(path, mode))
    with pytest.raises(BindingsUnavailable, match="no permission to write the file"):
        database.connect_to_read()
    monkeypatch.undo()
    database.connect_to_read().close()


def test_a_deleted_file_is_not_created_again(served: Bindings, file: Path) -> None:
    file.unlink()
    with pytest.raises(BindingsUnavailable):
        served.lookup(NAME)
    with pytest.raises(BindingsUnavailable):
        served.bind(NAME, "/x")
    assert not file.exists()


def test_a_replaced_database_is_served(served: Bindings, file: Path, open_store: Callable[..., Bindings]) -> None:
    replacement = open_store(file.with_name("next.sqlite"))
    replacement.bind(NAME, "/replaced")
    replacement.close()
    file.with_name("next.sqlite").rename(file)
    # The empty log and its index belong to the previous file. Other processes can use them.
    with pytest.raises(BindingsUnavailable, match="the file was replaced"):
        served.lookup(NAME)
    for ending in ("-wal", "-shm"):
        file.with_name(f"{file.name}{ending}").unlink()
    found = served.lookup(NAME)
    assert found is not None
    assert found.target == "/replaced"
    assert served.lookup("ark:12345/x1") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything; another test does this as another user")
def test_a_folder_without_write_access_is_reported_with_its_fix(served: Bindings, file: Path) -> None:
    file.parent.chmod(0o555)
    with pytest.raises(BindingsUnavailable, match="chown, or chmod"):
        served.lookup(NAME)
    file.parent.chmod(0o755)


# Import everything first, because another user may not read the files of this Python.
AS_NOBODY = """
import os, sys
import ararat.bindings.storage.databases.sqlite
import ararat.bindings.storage.writing.transaction
from ararat.bindings.open import open_bindings
from ararat.bindings.names.errors import BindingsUnavailable
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    print(open_bindings(sys.argv[1], create=True).lookup("ark:12345/doc").target)
except BindingsUnavailable as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process as another user")
@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "said"),
    [
        pytest.param(0o777, 0o666, "/page/ark:12345/doc", id="all users can write"),
        pytest.param(0o755, 0o666, "/page/ark:12345/doc", id="not the folder"),
        pytest.param(0o777, 0o644, "/page/ark:12345/doc", id="not the file"),
        pytest.param(0o755, 0o644, "/page/ark:12345/doc", id="neither"),
        pytest.param(0o777, 0o600, "no permission to read the file", id="nor read the file"),
        pytest.param(0o700, 0o666, "Permission denied", id="nor enter the folder"),
    ],
)
def test_missing_permissions_are_reported_with_their_fix(
    served: Bindings, file: Path, folder_mode: int, file_mode: int, said: str
) -> None:
    served.close()
    file.chmod(file_mode)
    file.parent.chmod(folder_mode)
    with ForkedCode(AS_NOBODY, str(file), cwd="/") as process:
        printed, _ = process.communicate(timeout=60)
    file.parent.chmod(0o755)
    assert said in printed
    assert ("chown, or chmod" in printed) == (said != "/page/ark:12345/doc")


READING_ONLY = """
import os, sys, time
import ararat.bindings.storage.databases.sqlite
import ararat.bindings.storage.writing.transaction
from ararat.middleware import ReadOnlyBindings
from ararat.bindings.open import open_bindings
from ararat.bindings.health import conditions
from ararat.bindings.names.errors import BindingsUnavailable
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
bindings = open_bindings(sys.argv[1])
for line in sys.stdin:
    time.sleep(0.02)          # so that the lookup asks the file system
    try:
        if line.strip() == "write":
            print(bindings.bind("ark:12345/unbound", "/x"), flush=True)
        elif line.strip() == "condition":
            [found] = conditions(sys.argv[1])
            print(found.readable, found.writable, found.code, flush=True)
        else:
            found = bindings.lookup(line.strip())
            print(found and found.target, flush=True)
    except (ReadOnlyBindings, BindingsUnavailable) as error:
        print(type(error).__name__, str(error).splitlines()[0], flush=True)
"""


@pytest.fixture(params=["file", "link"])
def reader(served: Bindings, file: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Ask a process of the user nobody, who can only read the file, also by a link: a name, "write", or "condition"."""
    opened = file
    if request.param == "link":
        opened = file.parent.with_name("current.sqlite")
        opened.symlink_to(file)
    if os.geteuid() != 0:
        pytest.skip("only root can start a process as another user")
    served.close()
    file.chmod(0o644)
    process = ForkedCode(READING_ONLY, str(opened), cwd="/")
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def ask(line: str) -> str:
        asked.write(f"{line}\n")
        asked.flush()
        return answers.readline().strip()

    yield ask
    asked.close()
    process.wait(20)
    answers.close()


def test_a_read_only_process_sees_changes_of_another_process(
    reader: Callable[[str], str], file: Path, open_store: Callable[..., Bindings]
) -> None:
    assert reader(NAME) == "/page/ark:12345/doc"
    assert {each.name for each in file.parent.iterdir()} == {file.name}, "nothing was made"
    with open_store(file) as owner:
        assert owner.relocate(NAME, "/moved") == "relocated"
        # The change is only in the log.
        assert reader(NAME) == "/moved"
        assert owner.bind(OTHER, "/other") == "bound"
        assert reader(OTHER) == "/other"
    assert reader(NAME) == "/moved"
    assert reader("ark:12345/x499") == "/page/ark:12345/x499"


def test_a_read_only_process_refuses_changes(reader: Callable[[str], str]) -> None:
    assert reader("write").startswith("ReadOnlyBindings")
    assert "no permission to write the file" in reader("write")
    assert reader("condition") == "True False not-writable"


def test_an_unreadable_log_is_reported(
    reader: Callable[[str], str], file: Path, open_store: Callable[..., Bindings]
) -> None:
    assert reader(NAME) == "/page/ark:12345/doc"
    with open_store(file) as owner:
        assert owner.lookup(OTHER) is None  # so that a reader keeps the log
        owner.bind(OTHER, "/other")
        for ending in ("-wal", "-shm"):
            file.with_name(f"{file.name}{ending}").chmod(0o600)
        answer = reader(NAME)
        assert answer.startswith("BindingsUnavailable")
        assert "cannot be read by this user" in answer
    assert reader(OTHER) == "/other"


# Writers --------------------------------------------------------------------------------------------------------------


def test_a_writer_waits_for_another_writer(served: Bindings) -> None:
    done: list[str] = []
    with served.store.transaction():
        waiting = threading.Thread(target=lambda: done.append(served.bind(OTHER, "/x")))
        waiting.start()
        waiting.join(0.2)
        assert done == []
    waiting.join(10)
    assert done == ["bound"]


def test_a_writer_has_a_time_limit(served: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.BUSY_SECONDS", 0.1)
    with (
        served.store.transaction(),
        pytest.raises(BindingsUnavailable, match=r"another writer has locked the database for 0\.1 s; try again later"),
    ):
        served.bind(OTHER, "/x")
    assert served.bind(OTHER, "/x") == "bound"


def test_an_unwritable_database_is_read_only(served: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    database = cast(DatabaseStore, served.store)._database
    monkeypatch.setattr(database, "connect_to_write", database.connect_to_read)
    with pytest.raises(ReadOnlyBindings):
        served.bind(OTHER, "/x")


def test_writes_are_durable(served: Bindings, file: Path) -> None:
    with served.store.transaction() as transaction:
        assert transaction.connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
        assert transaction.connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"


def test_the_write_ahead_log_is_enabled_again_after_a_backup(
    served: Bindings, file: Path, open_store: Callable[..., Bindings]
) -> None:
    backup = file.with_name("backup.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert open_store(backup).lookup(NAME) == served.lookup(NAME)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_one_connection_is_opened_for_the_start_and_the_first_lookup(
    served: Bindings, file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    connect = SQLite._open
    monkeypatch.setattr(SQLite, "_open", lambda *arguments: opened.append(connect(*arguments)) or opened[-1])
    bindings = open_store(file, is_read=False)
    assert bindings.lookup(NAME) == served.lookup(NAME)
    assert len(opened) == 1
    bindings.close()
    with pytest.raises(sqlite3.ProgrammingError):
        opened[0].execute("SELECT 1")


def test_a_process_that_opens_a_file_and_only_writes_leaves_no_log(
    file: Path, open_store: Callable[..., Bindings]
) -> None:
    open_store(file).close()
    bindings = open_store(file, is_read=False)
    assert bindings.bind(NAME, "/x") == "bound"
    assert [*file.parent.glob(f"{file.name}-*")] == []
    assert bindings.lookup(NAME)


def test_a_file_of_another_program_is_not_changed(file: Path, open_store: Callable[..., Bindings]) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE other (x)")
    before = file.read_bytes()
    with pytest.raises(BindingError):
        open_store(file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


UNTIL_KILLED = """
import itertools, sys
from ararat.bindings.open import open_bindings
bindings = open_bindings(sys.argv[1], create=True)
for number in itertools.count():
    bindings.bind(f"ark:12345/k{number}", f"/{number}")
    print(number, flush=True)
"""


def test_a_committed_change_survives_a_kill(file: Path, open_store: Callable[..., Bindings]) -> None:
    with ForkedCode(UNTIL_KILLED, str(file)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 20:
                process.send_signal(signal.SIGKILL)
                break
        acknowledged = max([20, *(int(line) for line in process.stdout if line.endswith("\n"))])
    bindings = open_store(file)
    names = [f"ark:12345/k{number}" for number in range(acknowledged + 1)]
    assert set(bindings.store.fetch(names)) == set(names)
    for name in names:
        assert [event.action for event in bindings.history(name)] == ["bound"]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# Forks ----------------------------------------------------------------------------------------------------------------

FORKING = """
import os, sys, traceback
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.databases import wal
bindings = open_bindings(sys.argv[1], create=True)
assert bindings.lookup("ark:12345/doc")
def open_files():
    # The file that was read beside a log stays open (`wal.header_of`). It is not a connection, and holds no lock.
    numbers = {*map(int, os.listdir("/proc/self/fd"))} - {*wal._opened.values()}
    found = [f"/proc/self/fd/{number}" for number in numbers]
    return [os.readlink(name) for name in found if os.path.exists(name)]
assert any("bindings.sqlite" in name for name in open_files())
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert not any("bindings.sqlite" in name for name in open_files()), open_files()
            for turn in range(6):
                assert bindings.lookup("ark:12345/doc").target == "/page/ark:12345/doc"
                assert bindings.bind(f"ark:12345/c{number}x{turn}", "/x") == "bound"
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    children.append(child)
    assert bindings.lookup("ark:12345/doc")
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
names = [f"ark:12345/c{number}x{turn}" for number in range(3) for turn in range(6)]
print(codes, len(bindings.store.fetch(names)))
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_no_connection_is_shared_across_a_fork(served: Bindings, file: Path, run_command: Callable[..., Any]) -> None:
    served.close()
    ran = run_command(sys.executable, "-W", "error", "-c", FORKING, file)
    assert (ran.stdout, ran.stderr) == (b"[0, 0, 0] 18\n", b"")


SITE = """
from ararat.bindings.open import open_bindings
bindings = open_bindings("bindings.sqlite", create=True)
assert bindings.bind("ark:12345/doc", "/x") in ("bound", "unchanged")
assert bindings.lookup("ark:12345/doc")          # the parent has used it before it forks
def application(environ, start_response):
    number = environ["PATH_INFO"][1:]
    outcome = bindings.bind(f"ark:12345/w{number}", "/x")
    found = bindings.lookup("ark:12345/doc")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{outcome} {found.target}".encode()]
"""


def test_preloaded_workers_share_a_file(wsgi_server) -> None:
    server = wsgi_server(SITE, workers=2, threads=4, preload=True)
    answers = [server.get(f"/{number}").text for number in range(30)]
    assert answers == ["bound /x"] * 30


def test_many_threads_read_while_one_writes(served: Bindings) -> None:
    stop, faults = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                assert served.store.fetch(["ark:12345/x7"])["ark:12345/x7"].target == "/page/ark:12345/x7"
            except Exception as fault:  # noqa: BLE001  any is what the test looks for
                faults.append(fault)
                return

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for number in range(30):
        served.bind(f"ark:12345/w{number}", "/x")
    stop.set()
    for reader in readers:
        reader.join(10)
    assert faults == []


# What names a database ------------------------------------------------------------------------------------------------


def test_a_relative_path_is_resolved_once(
    tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bindings = open_store("sqlite:///here.sqlite")
    monkeypatch.chdir("/")
    assert bindings.bind(NAME, "/x") == "bound"
    assert (tmp_path / "here.sqlite").exists()
    assert repr(bindings) == f"<Bindings sqlite:///{tmp_path}/here.sqlite>"


@pytest.mark.parametrize("name", ["a.sqlite", "a.sqlite3", "a.DB"])
@pytest.mark.parametrize("as_path", [True, False])
def test_the_extension_selects_the_kind_of_store(
    tmp_path: Path, open_store: Callable[..., Bindings], name: str, as_path: bool
) -> None:
    path = tmp_path / name
    assert open_store(path if as_path else str(path)).bind(NAME, "/x") == "bound"


def test_a_missing_folder_is_reported(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    with pytest.raises(BindingsUnavailable, match="the folder does not exist; create it"):
        open_store(tmp_path / "no" / "bindings.sqlite")


def test_a_writer_waits_once_for_threads_and_other_processes(
    served: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.BUSY_SECONDS", 20.0)
    database = SQLite(file)
    inside, asked, ended = threading.Event(), threading.Event(), list[float]()

    def write() -> None:
        with database.turn_to_write():
            inside.set()
            asked.wait(10)
            ended.append(time.monotonic())

    acquire = database._turn.acquire

    def wait_for_turn(*, timeout: float) -> bool:
        asked.set()
        return acquire(timeout=timeout)

    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=write)
        thread.start()
        assert inside.wait(10)
        monkeypatch.setattr(database._turn, "acquire", wait_for_turn)
        with database.turn_to_write():
            assert database._patience is not None
            # The wait for the other thread counts.
            assert database._patience.until is not None
            assert database._patience.until < ended[0] + 20.0
            database._patience.until = began = time.monotonic()
            with pytest.raises(sqlalchemy.exc.OperationalError, match="locked"), database.engine.begin():
                pass
            assert time.monotonic() < began + 10
        thread.join(10)
        assert database._patience == Patience(20.0)
