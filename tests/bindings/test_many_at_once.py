"""Several processes on one database: each name has one binding, and writers do not block readers."""

from __future__ import annotations

import io
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names import assignment
from ararat.bindings.names.fields import Fields
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.versions import VERSION
from ararat.middleware import import_table, mint
from tests.forking import ForkedCode
from tests.waiting import until

NAMES = 100

BINDING = """
import json, random, sys
from ararat.middleware import BindingConflict, open_bindings
import ararat.bindings.storage.writing.transaction
bindings, who, names = open_bindings(sys.argv[1], create=True), sys.argv[2], list(range(int(sys.argv[3])))
random.Random(1).shuffle(names)        # both in the same order: they are after the same name all the time
print("ready", flush=True)
sys.stdin.readline()
won = []
for number in names:
    try:
        assert bindings.bind(f"ark:12345/x{number}", f"/{who}", actor=who) == "bound"
        won.append(number)
    except BindingConflict as error:
        assert error.existing.target != f"/{who}"
print(json.dumps(won))
"""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_two_processes_that_bind_the_same_names_never_both_succeed(
    database: str, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(database)
    processes = [ForkedCode(BINDING, database, who, str(NAMES)) for who in ("one", "two")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=100)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    won = {who: set(json.loads(text)) for who, text in zip(("one", "two"), said, strict=True)}
    assert not won["one"] & won["two"]
    assert won["one"] | won["two"] == set(range(NAMES))
    found = bindings.store.fetch([f"ark:12345/x{number}" for number in range(NAMES)])
    assert Counter(binding.target for binding in found.values()) == Counter(
        {f"/{who}": len(numbers) for who, numbers in won.items() if numbers}
    )
    for number in range(0, NAMES, 20):
        name = f"ark:12345/x{number}"
        [event] = bindings.history(name)
        assert f"/{event.actor}" == found[name].target


# Long transactions beside short ones ----------------------------------------------------------------------------------

MOVED = "ark:12345/moved"


def table(lines: int = 250) -> io.BytesIO:
    """A table of new names that ends with a line for a name that another writer changes."""
    rows = ["identifier,target", *(f"ark:12345/i{number},/{number}" for number in range(lines)), f"{MOVED},/x"]
    return io.BytesIO("\n".join(rows).encode())


class InThread:
    """A call in a thread, and its result or exception."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.result: object = None
        self._call = call
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._call()
        except Exception as error:  # noqa: BLE001  the test compares it with what was expected
            self.result = error

    def waits(self, seconds: float = 0.3) -> bool:
        """Return whether the call still runs after this number of seconds."""
        self._thread.join(seconds)
        return self._thread.is_alive()

    def end(self) -> object:
        """Return the result after the call has returned."""
        self._thread.join(20)
        return self.result


@pytest.mark.usefixtures("small_blocks")
def test_a_name_can_be_relocated_during_an_import(database: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(database)
    bindings.bind(MOVED, "/x")
    curators: list[InThread] = []

    def relocate_after_the_first_chunk(lines: int) -> None:
        if not curators:
            curators.append(InThread(lambda: open_store(database).relocate(MOVED, "/moved")))
            # PostgreSQL searches for a deadlock one second after a wait starts.
            assert curators[0].waits(1.3)

    summary = import_table(bindings, table(), atomic=True, progress=relocate_after_the_first_chunk)
    assert (summary.written, summary.added, summary.unchanged) == (True, 250, 1)
    assert curators[0].end() == "relocated"
    assert [event.action for event in bindings.history(MOVED)] == ["bound", "relocated"]


def import_names(database: str) -> object:
    with open_bindings(database) as bindings:
        return import_table(bindings, table(), dry_run=True).added


def mint_names(database: str) -> object:
    with open_bindings(database) as bindings:
        return len(mint(bindings, "12345/x5", count=3))


def migrate_tables(database: str) -> object:
    return migrate(database).after


@pytest.mark.parametrize(("begin", "expected"), [(import_names, 250), (mint_names, 3), (migrate_tables, VERSION)])
def test_a_long_transaction_waits_for_a_running_change(
    database: str, open_store: Callable[..., Bindings], begin: Callable[[str], object], expected: object
) -> None:
    bindings = open_store(database)
    bindings.bind(MOVED, "/x")
    with bindings.store.transaction() as transaction:
        before = transaction.get([MOVED])[MOVED]
        long = InThread(lambda: begin(database))
        assert long.waits()
        transaction.put([assignment.relocate(before, Fields(target="/moved"), bindings.now())], None)
    assert [event.action for event in bindings.history(MOVED)] == ["bound", "relocated"]
    assert long.end() == expected


def test_names_can_be_minted_and_bound_concurrently(database: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(database)
    minting = InThread(lambda: [name for _ in range(10) for name in mint(open_store(database), "12345/x5", count=5)])
    bound = [bindings.bind(f"ark:12345/b{number}", "/x") for number in range(30)]
    minted = minting.end()
    assert isinstance(minted, list), minted
    assert (len(set(minted)), bound) == (50, ["bound"] * 30)


def test_a_name_can_be_bound_while_a_similar_one_is_locked(cluster, open_store: Callable[..., Bindings]) -> None:
    """The row of a.b is locked by another writer. It is read for the warning about a%2Eb."""
    database = cluster.new_schema()
    bindings = open_store(database)
    bindings.bind("ark:12345/a%2Eb", "/x")
    with bindings.store.transaction() as transaction:
        transaction.get(["ark:12345/a%2Eb"])
        similar = InThread(lambda: open_store(database).bind("ark:12345/a.b", "/y"))
        assert similar.end() == "bound"


# Workers of one server ------------------------------------------------------------------------------------------------

SITE = """
import os
from ararat.middleware import ResolverMiddleware, open_bindings
bindings = open_bindings(os.environ["BINDINGS"], create=True)
bindings.lookup("ark:12345/doc")          # the parent has used it before it forks
def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
application = ResolverMiddleware(site, bindings)
"""


def test_preloaded_workers_answer_during_writes(wsgi_server, tmp_path: Path) -> None:
    file = tmp_path / "bindings.sqlite"
    bindings = open_bindings(file, create=True)
    bindings.bind("ark:12345/doc", "/there")
    server = wsgi_server(SITE, workers=4, threads=2, preload=True, environ={"BINDINGS": str(file)})
    stop = threading.Event()
    bound: list[str] = []
    wrong: list[object] = []

    def write() -> None:
        # The pause lets the readers, which are threads of this process, run.
        while not stop.wait(0.002):
            name = f"ark:12345/w{len(bound)}"
            assert bindings.bind(name, f"/w{len(bound)}") == "bound"
            bound.append(name)

    def read() -> None:
        for _ in range(20):
            answer = server.get("/ark:12345/doc")
            if (answer.status, answer.header("Location")) != (302, "/there"):
                wrong.append(answer)
            # Every worker finds a name that was bound before the request.
            if bound and server.get(f"/{bound[-1]}").status != 302:
                wrong.append(bound[-1])

    writer = threading.Thread(target=write)
    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in (writer, *readers):
        thread.start()
    for reader in readers:
        reader.join(40)
    until(lambda: len(bound) > 10)
    stop.set()
    writer.join(10)
    assert wrong == []
    workers = server.workers()
    assert len(workers) == 4
    for worker in workers:
        with server.only(worker):
            assert int(server.get("/").text) == worker
            assert server.get("/ark:12345/doc").header("Location") == "/there"
            assert server.get(f"/{bound[-1]}").status == 302
    assert "Traceback" not in server.log()
    bindings.close()
