"""Several workers that gunicorn forked from one process: all of them answer, and soon with the same bindings."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from ararat.bindings.snapshots import write_snapshot
from ararat.middleware import import_table, open_bindings

NAMES = 1000

SITE = f"""\
import json, os, time
from ararat.middleware import ResolverMiddleware, open_bindings

bindings = open_bindings(os.environ["DATABASE"], create=True)
bindings.lookup("ark:12345/x0")  # what is opened before the fork must not be used behind it


def site(environ, start_response):
    # All names of one moment, which a table that is half there would not have, or not of one version.
    found = bindings.store.fetch(f"ark:12345/x{{number}}" for number in range({NAMES}))
    seen = {{
        "worker": os.getpid(),
        "when": time.monotonic(),
        "names": len(found),
        "targets": sorted({{binding.target for binding in found.values()}}),
    }}
    body = json.dumps(seen).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


application = ResolverMiddleware(site, bindings)
"""


class Seen(NamedTuple):
    """The targets of all names in one worker, at a time of a clock that the workers share."""

    worker: int
    when: float
    names: int
    targets: list[str]


def version(number: int) -> str:
    rows = "".join(f"ark:12345/x{name},/{number},the thing {name}\n" for name in range(NAMES))
    return f"identifier,target,resource\n{rows}"


class Table:
    """A store in which all names lead to the number of their version. The served store is changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.put(0)

    def put(self, number: int) -> None:
        beside = self.path.with_name("beside.csv")
        beside.write_text(version(number))
        if self.path.suffix == ".csv":
            beside.replace(self.path)
        elif self.path.suffix == ".snapshot":
            with open_bindings(beside) as bindings:
                write_snapshot(bindings, self.path)
        else:
            with open_bindings(self.path, create=True) as bindings:
                assert import_table(bindings, beside).written


class Load:
    """Threads that request all names again and again."""

    def __init__(self, server, threads: int = 4) -> None:
        self.seen: list[Seen] = []
        self.redirects: Counter[tuple[int, str | None]] = Counter()
        self.lost: list[Exception] = []
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(20)

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                self.seen.append(Seen(**self._server.get("/").json()))
                answer = self._server.get("/ark:/12345/x-7")
                self.redirects[answer.status, answer.header("Location")] += 1
            except Exception as error:  # noqa: BLE001 - the test reports any exception
                self.lost.append(error)

    def wait_until_all_agree(self, workers: int, target: str) -> float:
        """Wait until the last answer of each worker had this target, and a redirect led to it. Return the seconds."""
        begun = time.monotonic()
        while not self._all_agree(workers, target):
            assert time.monotonic() < begun + 20, (workers, Counter((seen.worker, *seen.targets) for seen in self.seen))
            time.sleep(0.01)
        return time.monotonic() - begun

    def _all_agree(self, workers: int, target: str) -> bool:
        last = {seen.worker: seen.targets for seen in list(self.seen)}
        redirected = (302, target) in self.redirects
        return redirected and len(last) == workers and all(targets == [target] for targets in last.values())

    @property
    def workers(self) -> set[int]:
        return {seen.worker for seen in list(self.seen)}


def change_under_load(table: Table, serve, workers: int, versions: int) -> list[float]:
    """Return the seconds until all workers agreed on each version after the first."""
    server = serve(SITE, workers=workers, preload=True, environ={"DATABASE": str(table.path)})
    seconds = []
    with Load(server) as load:
        load.wait_until_all_agree(workers, "/0")
        for number in range(1, versions + 1):
            table.put(number)
            seconds.append(load.wait_until_all_agree(workers, f"/{number}"))
    assert load.lost == []
    assert {seen.names for seen in load.seen} == {NAMES}
    assert all(len(seen.targets) == 1 for seen in load.seen), "a request saw two versions at once"
    for worker in load.workers:
        told = [seen.targets for seen in sorted(load.seen, key=lambda seen: seen.when) if seen.worker == worker]
        assert told == sorted(told), "a worker went back to an older version"
    assert {status for status, _ in load.redirects} == {302}
    assert {location for _, location in load.redirects} == {f"/{number}" for number in range(versions + 1)}
    assert "Traceback" not in server.log()
    return seconds


@pytest.mark.one_setup
@pytest.mark.parametrize("file", ["bindings.csv", "bindings.sqlite"])
def test_all_workers_see_a_change_completely(file, tmp_path, wsgi_server) -> None:
    change_under_load(Table(tmp_path / file), wsgi_server, workers=2, versions=1)


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("file", ["bindings.csv", "bindings.sqlite", "names.snapshot"])
def test_four_workers_see_a_change_within_about_two_seconds(file, tmp_path, wsgi_server) -> None:
    seconds = change_under_load(Table(tmp_path / file), wsgi_server, workers=4, versions=5)
    assert max(seconds) < 4, "two, and what a busy machine may add to it"
