"""How fast it is, side by side with what it is compared with, in one run on one machine: `make bench`.

Nothing here fails for being slow. Each benchmark tells what was measured beside the budget, and checks that what it
measured did what it should. All of it goes to bench-results/: speed.md, speed.json and a picture for each growth.

ARARAT_BENCH_MOST is the most bindings or rows (1,000,000 unless it is set; 10,000,000 takes hours and gigabytes).
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from runpy import run_path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from ararat.middleware import open_bindings

# The PostgreSQL server of a test run is the middleware's tests'; test folders are no packages that could import it.
_middleware = run_path(str(Path(__file__).parents[1] / "middleware" / "conftest.py"))
made_cluster, cluster = _middleware["made_cluster"], _middleware["cluster"]

_report = run_path(str(Path(__file__).with_name("report.py")))
Table, Plot = _report["Table"], _report["Plot"]

_RESULTS = _report["Results"]()

Race = Callable[..., dict[str, float]]
Tell = Callable[..., None]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _RESULTS.tables:
        return
    for line in _RESULTS.write(_report["FOLDER"]):
        terminalreporter.write_line(line)


def _seconds(work: Callable[[], object], times: int) -> float:
    # Of this thread alone: what else the machine does then takes its time, and not ours.
    begun = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - begun) / times


@pytest.fixture
def race(tell: Tell) -> Race:
    """race(title, runners, beside, budget="", per=1, rounds=40) times callables in turns and tells the nanoseconds of
    the processor that each takes for one of ``per`` things.

    ``beside`` names the one that the others are compared with. The answer is the nanoseconds of each turn, by name.
    """

    def run(
        title: str,
        runners: Mapping[str, Callable[[], object]],
        beside: str,
        budget: str = "",
        per: int = 1,
        rounds: int = 40,
    ) -> dict[str, list[float]]:
        # As often as makes a turn of some 10 ms, long against the clock and short against what else the machine does.
        times = {name: max(1, int(0.01 / max(_seconds(work, 1), 1e-7))) for name, work in runners.items()}
        turns: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, work in runners.items():
                turns[name].append(_seconds(work, times[name]) / per * 1e9)
        tell(title, ["ns"], {name: [measured] for name, measured in turns.items()}, beside, budget=budget)
        return turns

    return run


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """tell(title, columns, rows, beside, more=False, budget="") puts a table on record and prints it, whatever pytest
    captures (`report.Table`).
    """

    def out(*args: Any, **kwargs: Any) -> None:
        table = Table(*args, **kwargs)
        _RESULTS.tables.append(table)
        with capsys.disabled():
            print(table.as_text())

    return out


@pytest.fixture
def plot() -> Callable[..., None]:
    """plot(name, title, across, up, series, tenfold=False) draws how something grows (`report.Plot`)."""

    def draw(name: str, *args: Any, **kwargs: Any) -> None:
        _RESULTS.plots[name] = Plot(*args, **kwargs)

    return draw


def _memory(pid: int) -> float:
    """The megabytes of a process; of what several share, its part."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) / 1000 for line in rollup.splitlines() if line.startswith("Pss:"))


def _processor(pid: int) -> float:
    """The seconds of a processor that a process has used, with its threads and the system's part."""
    return sum(int(stat.read_text().split()[0]) for stat in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def _workers(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# wrk asks for other names each time, as load.py does.
_SCRIPT = """
function init(arguments) math.randomseed(48271) end
function request() return wrk.format("GET", string.format("{path}", math.random(0, {most} - 1))) end
"""
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


class Asked(NamedTuple):
    """What a client saw of a server."""

    rate: float
    p50: float
    p99: float


def _by_wrk(wrk: str, script: Path, port: int, seconds: float) -> Asked:
    command = [wrk, "--threads", "1", "--connections", "4", "--latency", "--duration", f"{seconds:.0f}s"]
    command += ["--script", str(script), f"http://127.0.0.1:{port}"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    # wrk counts what is neither 2xx nor 3xx.
    assert "Non-2xx" not in said, said
    latency = {share: float(number) * _UNITS[unit] for share, number, unit in _LATENCY.findall(said)}
    rate = re.search(r"Requests/sec: *([0-9.]+)", said)
    assert rate is not None, said
    return Asked(float(rate[1]), latency["50"], latency["99"])


_LATENCY = re.compile(r"^ +(50|99)% +([0-9.]+)(us|ms|s|m)$", re.MULTILINE)


def _by_ours(port: int, seconds: float, status: str, path: str, most: int) -> Asked:
    command = [sys.executable, str(Path(__file__).with_name("load.py"))]
    command += [str(port), str(seconds), status, path, str(most)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60 + seconds, check=True).stdout
    found = json.loads(said)
    return Asked(found["asked"] / seconds, found["p50"], found["p99"])


@pytest.fixture
def asked() -> Callable[..., Asked]:
    """asked(port, seconds, status, path, most=1) is what one connection sees of a server."""

    def ask(port: int, seconds: float, status: str, path: str, most: int = 1) -> Asked:
        return _by_ours(port, seconds, status, path, most)

    return ask


@pytest.fixture
def load(tell: Tell, wsgi_server: Any, tmp_path: Path) -> Callable[..., None]:
    """load(title, sources, beside, status="200", path="/", most={}, budget="", environ={}) serves each source of a WSGI
    application by a gunicorn of its own, all alike, and asks them in turns, each for names at random: ``most`` says of
    how many, for each source.

    The load is wrk's, where that is installed (apt-get install wrk), else that of load.py. A second table has the time
    of the processor that the worker took for each request; a database server's time is not in it.
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
        rounds: int = 15,
        seconds: float = 1,
    ) -> None:
        servers = {name: wsgi_server(source, threads=threads, environ=environ) for name, source in sources.items()}
        wrk = shutil.which("wrk")
        scripts = {name: tmp_path / f"{number}.lua" for number, name in enumerate(servers)}
        for name, server in servers.items():
            scripts[name].write_text(_SCRIPT.format(path=path, most=most.get(name, 1)))
            # Everything that a server does once, and whether it answers as it should.
            assert _by_ours(server.port, 0.3, status, path, most.get(name, 1)).rate, name
        seen: dict[str, list[Asked]] = {name: [] for name in servers}
        used: dict[str, list[float]] = {name: [] for name in servers}
        for _ in range(rounds):
            for name, server in servers.items():
                (worker,) = _workers(server.process.pid)
                before = _processor(worker)
                if wrk:
                    found = _by_wrk(wrk, scripts[name], server.port, seconds)
                else:
                    found = _by_ours(server.port, seconds, status, path, most.get(name, 1))
                seen[name].append(found)
                used[name].append((_processor(worker) - before) / (found.rate * seconds) * 1e6)
        rows = {
            name: [
                [found.rate for found in turns],
                [found.p50 * 1e3 for found in turns],
                [found.p99 * 1e3 for found in turns],
                [_memory(_workers(servers[name].process.pid)[0])],
            ]
            for name, turns in seen.items()
        }
        by = "wrk, 4 connections" if wrk else "a client of ours, 1 connection"
        tell(f"{title} ({by})", ["requests/s", "p50 ms", "p99 ms", "MB a worker"], rows, beside, True, budget)
        taken = {name: [turns] for name, turns in used.items()}
        tell(f"{title}: the worker's processor time", ["us a request"], taken, beside, budget=budget)

    return run


@pytest.fixture(scope="session")
def name_of() -> Callable[[int], str]:
    """name_of(number) is the name that has this number in the databases of ``filled``."""
    return "ark:12345/x{:08d}".format


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], str]:
    """filled(rows) is the URL of an SQLite database with so many bindings, made once.

    Each is a copy of one that was bound, but for its name and target; the history has that one alone.
    """

    @functools.cache
    def fill(rows: int) -> str:
        path = tmp_path_factory.mktemp("filled") / "bindings.sqlite"
        with open_bindings(path) as bindings:
            bindings.bind("ark:12345/x", "https://example.org/x")
        connection = sqlite3.connect(path, isolation_level=None)
        # Nobody else is there, and what is half made is made anew.
        for pragma in ("journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(bindings)")]
        made = {"key": "printf('ark:12345/x%08d', number)", "target": "'https://example.org/' || number"}
        connection.execute(
            "INSERT INTO bindings WITH RECURSIVE numbers(number) AS"  # noqa: S608 - of the schema's own names
            " (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < ?)"
            f" SELECT {', '.join(made.get(column, column) for column in columns)}"
            " FROM numbers, bindings WHERE key = 'ark:12345/x'",
            (rows,),
        )
        connection.close()
        with open_bindings(path) as bindings:
            assert bindings.lookup(f"ark:12345/x{rows - 1:08d}") is not None
        return f"sqlite:///{path}"

    return fill
