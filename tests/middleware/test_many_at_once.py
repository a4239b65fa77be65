"""Several processes on one database: of one name there is one binding, and readers never notice a writer."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.middleware.bindings import Bindings, open_bindings

NAMES = 1000

BINDING = """
import json, random, sys
from ararat.middleware import BindingConflict, open_bindings
import ararat.middleware.store
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
def test_two_processes_bind_the_same_names_and_each_name_is_won_once(
    database: str, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(database)
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", BINDING, database, who, str(NAMES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in ("one", "two")
    ]
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
    found = bindings.fetch([f"ark:12345/x{number}" for number in range(NAMES)])
    assert Counter(binding.target for binding in found.values()) == Counter(
        {f"/{who}": len(numbers) for who, numbers in won.items() if numbers}
    )
    for number in range(0, NAMES, 50):
        name = f"ark:12345/x{number}"
        [event] = bindings.history(name)
        assert f"/{event.actor}" == found[name].target


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


def test_preloaded_workers_answer_while_somebody_writes(wsgi_server, tmp_path: Path) -> None:
    file = tmp_path / "bindings.sqlite"
    bindings = open_bindings(file, create=True)
    bindings.bind("ark:12345/doc", "/there")
    server = wsgi_server(SITE, workers=4, threads=2, preload=True, environ={"BINDINGS": str(file)})
    stop = threading.Event()
    bound: list[str] = []
    wrong: list[object] = []

    def write() -> None:
        while not stop.is_set():
            name = f"ark:12345/w{len(bound)}"
            assert bindings.bind(name, f"/w{len(bound)}") == "bound"
            bound.append(name)

    def read() -> None:
        for _ in range(75):
            answer = server.get("/ark:12345/doc")
            if (answer.status, answer.header("Location")) != (302, "/there"):
                wrong.append(answer)
            # What was bound before the question is found by every worker.
            if bound and server.get(f"/{bound[-1]}").status != 302:
                wrong.append(bound[-1])

    writer = threading.Thread(target=write)
    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in (writer, *readers):
        thread.start()
    for reader in readers:
        reader.join(40)
    stop.set()
    writer.join(10)
    assert wrong == []
    assert len(bound) > 10
    assert len({server.get("/").text for _ in range(40)}) > 1, "only one worker ever answered"
    assert "Traceback" not in server.log()
    bindings.close()
