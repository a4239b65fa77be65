"""Fixtures of the benchmarks, which compare Ararat with alternatives on one machine: `make bench`.

No benchmark fails because it is slow. Each one prints its results beside a budget, and checks that the measured code
works. A folder in bench-results/ contains all results: speed.md, speed.json and a picture for each growth.

Alternatives are measured alternately, in one order and then in the reverse order. ARARAT_BENCH_MOST is the maximum
number of bindings or rows (default: 1,000,000; 10,000,000 takes an hour more and 20 GB).
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from runpy import run_path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from ararat.middleware import open_bindings
from tests.databases import Cluster, required_binaries

# Test folders are not packages, so a module is loaded by path.
_report = run_path(str(Path(__file__).with_name("report.py")))
Table, Plot = _report["Table"], _report["Plot"]

STARTS = 4
"""The number of times that each server of a comparison is started.

The speed of one process differs by up to a tenth from that of another process with the same program.
"""

_RESULTS = _report["Results"]()

Race = Callable[..., dict[str, list[float]]]
Tell = Callable[..., None]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _RESULTS.tables:
        for line in (*_RESULTS.differences(), f"all of it is in {_RESULTS.folder}"):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def most() -> int:
    """Return the maximum number of bindings or rows of this run."""
    return int(os.environ.get("ARARAT_BENCH_MOST", "1000000"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Return a PostgreSQL server with default settings: committed data is on disk."""
    binaries = required_binaries()
    made, server = (Cluster(binaries, hasty=False) for _ in range(2))
    try:
        made.make()
        server.start(made)
        yield server
    finally:
        server.remove()
        made.remove()


@pytest.fixture
def allowed() -> Iterator[set[int]]:
    """The processors of this process, which it can use again at the end."""
    processors = os.sched_getaffinity(0)
    yield processors
    os.sched_setaffinity(0, processors)


@pytest.fixture
def on_one_processor(allowed: set[int]) -> Callable[[Cluster], AbstractContextManager[None]]:
    """``with on_one_processor(cluster)`` runs the benchmark and a server on one processor.

    A question to a process on another processor takes twice as long, and each connection stays for minutes where it is.
    """

    @contextmanager
    def limit(cluster: Cluster) -> Iterator[None]:
        _limit({min(allowed)}, cluster)
        yield
        _limit(allowed, cluster)

    return limit


def _limit(processors: set[int], cluster: Cluster | None = None) -> None:
    """Run this process, the processes that it starts from now on, and a server on these processors."""
    for process in (0, *(cluster.processes() if cluster else ())):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(process, processors)


def _in_turns(names: Iterable[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Yield each name in each round. The order is reversed in every second round.

    Before the first one, data that is not yet on disk is written, because this would slow the first rounds.
    """
    os.sync()
    order = [*names]
    for number in range(rounds):
        yield from ((number, name) for name in order)
        order.reverse()


@pytest.fixture(scope="session")
def in_turns() -> Callable[[Iterable[str], int], Iterator[tuple[int, str]]]:
    """in_turns(names, rounds) yields the number of the round and the name."""
    return _in_turns


def _seconds(work: Callable[[], object], times: int) -> float:
    # Measure the CPU time of this thread, so that other processes do not count.
    begun = time.thread_time()
    for _ in range(times):
        work()
    return time.thread_time() - begun


def _times(work: Callable[[], object]) -> int:
    """Return how many repetitions take 10 ms: long compared with the clock, short compared with other processes."""
    times = 1
    while (seconds := _seconds(work, times)) < 0.01:
        times = max(times + 1, min(2 * times, int(times * 0.011 / max(seconds, 1e-6))))
    return times


_UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3}


@pytest.fixture
def race(tell: Tell) -> Race:
    """race(title, runners, beside, budget="", per=1, unit="ns", rounds=40) measures callables alternately, and prints
    the
    CPU time of each, divided by ``per``.

    The others are compared with ``beside``. Returns the times of all turns by name.
    """

    def run(
        title: str,
        runners: Mapping[str, Callable[[], object]],
        beside: str,
        budget: str = "",
        per: int = 1,
        unit: str = "ns",
        rounds: int = 40,
    ) -> dict[str, list[float]]:
        times = {name: _times(work) for name, work in runners.items()}
        turns: dict[str, list[float]] = {name: [] for name in runners}
        for _, name in _in_turns(runners, rounds):
            turns[name].append(_seconds(runners[name], times[name]) / times[name] / per * _UNITS[unit])
        tell(title, [unit], {name: [measured] for name, measured in turns.items()}, beside, budget=budget)
        return turns

    return run


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """tell(title, columns, rows, beside="", more=False, budget="") records and prints a table (`report.Table`), even if
    pytest captures the output.
    """

    def out(*args: Any, **kwargs: Any) -> None:
        table = Table(*args, **kwargs)
        _RESULTS.tables.append(table)
        _RESULTS.write()
        with capsys.disabled():
            print(table.as_text())

    return out


@pytest.fixture
def plot() -> Callable[..., None]:
    """plot(name, title, across, up, series, tenfold=False) draws a growth curve (`report.Plot`)."""

    def draw(name: str, *args: Any, **kwargs: Any) -> None:
        _RESULTS.plots[name] = Plot(*args, **kwargs)
        _RESULTS.write()

    return draw


def _memory(pid: int) -> float:
    """Return the memory of a process in megabytes, including shared memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmRSS:"))


def _processor(pid: int) -> float:
    """Return the CPU seconds of a process, with its threads and the system time."""
    return sum(int(stat.read_text().split()[0]) for stat in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def _workers(pid: int) -> list[int]:
    """Return the running child processes of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Asked(NamedTuple):
    """The measurements of a client: answers per second, and latencies in seconds."""

    rate: float
    p50: float
    p99: float


# Random numbers, different in each turn, like those of load.py.
_SCRIPT = """
function init(arguments) math.randomseed(arguments[1]) end
function request() return wrk.format("GET", string.format("{path}", math.random(0, {most} - 1))) end
"""
_LATENCY = re.compile(r"^ +(50|99)% +([0-9.]+)(us|ms|s|m)$", re.MULTILINE)
_IN_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


def _by_wrk(script: Path, port: int, turn: int) -> Asked:
    """Measure a second with four connections. Each sends its next request after an answer."""
    command = ["wrk", "--threads", "1", "--connections", "4", "--latency", "--duration", "1s"]
    command += ["--script", str(script), f"http://127.0.0.1:{port}", "--", str(turn)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    # wrk counts all statuses except 2xx and 3xx.
    assert "Non-2xx" not in said, said
    assert "Socket errors" not in said, said
    latency = {share: float(number) * _IN_SECONDS[unit] for share, number, unit in _LATENCY.findall(said)}
    rate = re.search(r"Requests/sec: *([0-9.]+)", said)
    assert rate is not None, said
    return Asked(float(rate[1]), latency["50"], latency["99"])


def _by_ours(port: int, status: str, path: str, most: int = 1, turn: int = 0, seconds: float = 1) -> Asked:
    """Measure with one connection."""
    command = [sys.executable, str(Path(__file__).with_name("load.py"))]
    command += [str(port), str(seconds), status, path, str(most), str(turn)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60 + seconds, check=True).stdout
    found = json.loads(said)
    return Asked(found["asked"] / seconds, found["p50"], found["p99"])


@pytest.fixture
def asked() -> Callable[..., Asked]:
    """asked(port, status, path, seconds=1) measures a server with one connection."""
    return _by_ours


@pytest.fixture
def load(allowed: set[int], tell: Tell, wsgi_server: Any, tmp_path: Path) -> Callable[..., None]:
    """load(title, sources, beside, status="200", path="/", most={}, budget="", environ={}, threads=4, database=None)
    runs each source of a WSGI application in its own gunicorn with one worker, and measures them alternately with
    random names. ``most`` is the number of names for each source. ``database`` is the PostgreSQL server that they use.

    The client is wrk if it is installed (apt-get install wrk), else load.py. The load is the maximum of the worker, so
    latencies include waiting. A second table has the CPU time of the worker per request, without that of a database
    server. Each server is started :data:`STARTS` times, and measured in ``rounds`` turns each time.
    """

    def run(
        title: str,
        sources: Mapping[str, str],
        beside: str,
        *,
        status: str = "200",
        path: str = "/",
        most: Mapping[str, int] = MappingProxyType({}),
        budget: str = "",
        environ: dict[str, str] | None = None,
        threads: int = 4,
        rounds: int = 4,
        database: Cluster | None = None,
    ) -> None:
        scripts = {name: tmp_path / f"{number}.lua" for number, name in enumerate(sources)}
        wrk = shutil.which("wrk") is not None
        for name, script in scripts.items():
            script.write_text(_SCRIPT.format(path=path, most=most.get(name, 1)))
        servers: dict[str, Any] = {}
        seen: dict[str, list[Asked]] = {name: [] for name in sources}
        used: dict[str, list[float]] = {name: [] for name in sources}

        def ask(name: str, turn: int) -> None:
            server = servers[name]
            (worker,) = _workers(server.process.pid)
            before = _processor(worker)
            if wrk:
                found = _by_wrk(scripts[name], server.port, turn)
            else:
                found = _by_ours(server.port, status, path, most.get(name, 1), turn)
            seen[name].append(found)
            used[name].append((_processor(worker) - before) / found.rate * 1e6)

        # Measure each alternative directly before or after the one that it is compared with.
        pairs: dict[str, list[int]] = {name: [] for name in sources if name != beside}
        memory: dict[str, list[float]] = {name: [] for name in sources}
        for start in range(STARTS):
            # The servers and the client have a processor each. Otherwise they exchange them, each time for minutes, and
            # the processor time of a request changes by a fifth.
            _limit({min(allowed)}, database)
            servers |= {name: wsgi_server(source, threads=threads, environ=environ) for name, source in sources.items()}
            _limit({max(allowed)})
            for name, server in servers.items():
                # Work that a server does once. Also check that it answers correctly.
                assert _by_ours(server.port, status, path, most.get(name, 1)).rate, name
            for turn, name in _in_turns(pairs, rounds):
                pairs[name].append(len(seen[beside]))
                for each in (beside, name) if turn % 2 else (name, beside):
                    ask(each, start * rounds + turn)
            for name, server in servers.items():
                memory[name].append(_memory(_workers(server.process.pid)[0]))
                server.stop()
        _limit(allowed, database)
        rows = {
            name: [
                [found.rate for found in turns],
                [found.p50 * 1e3 for found in turns],
                [found.p99 * 1e3 for found in turns],
                memory[name],
            ]
            for name, turns in seen.items()
        }
        by = "wrk, 4 connections" if wrk else "load.py, 1 connection, including the time of the client"
        columns = ["requests/s", "p50 ms", "p99 ms", "MB per worker"]
        paired = {name: [seen[beside][place].rate for place in places] for name, places in pairs.items()}
        tell(f"{title} ({by})", columns, rows, beside, True, budget, paired)
        taken = {name: [turns] for name, turns in used.items()}
        paired = {name: [used[beside][place] for place in places] for name, places in pairs.items()}
        tell(f"{title}: the worker's processor time", ["us a request"], taken, beside, paired=paired)

    return run


NAME = "ark:12345/x%08d"


@pytest.fixture(scope="session")
def name() -> str:
    """Return the format of the names. Only the number differs."""
    return NAME


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], str]:
    """filled(rows) returns the URL of an SQLite database with this number of bindings. Each one is created once.

    All bindings are copies of one, with other names and targets. The history contains only the first.
    """

    @functools.cache
    def fill(rows: int) -> str:
        path = tmp_path_factory.mktemp("filled") / "bindings.sqlite"
        with open_bindings(path, create=True) as bindings:
            bindings.bind("ark:12345/x", "https://example.org/x")
        connection = sqlite3.connect(path, isolation_level=None)
        # No other process uses the file. An incomplete file is created again.
        for pragma in ("journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(bindings)")]
        made = {"key": f"printf('{NAME}', number)", "target": "'https://example.org/' || number"}
        connection.execute(
            "INSERT INTO bindings WITH RECURSIVE numbers(number) AS"  # noqa: S608 - of the schema's own names
            " (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < ?)"
            f" SELECT {', '.join(made.get(column, column) for column in columns)}"
            " FROM numbers, bindings WHERE key = 'ark:12345/x'",
            (rows,),
        )
        connection.close()
        with open_bindings(path, create=True) as bindings:
            assert bindings.lookup(NAME % (rows - 1)) is not None
        return f"sqlite:///{path}"

    return fill
