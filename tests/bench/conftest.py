"""How fast it is, side by side with what it is compared with, in one run on one machine: `make bench`.

Nothing here fails for being slow. Each benchmark prints what was measured beside the budget, and checks that what it
measured did what it should.
"""

from __future__ import annotations

import functools
import sqlite3
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from runpy import run_path

import pytest

from ararat.middleware import open_bindings

# The PostgreSQL server of a test run is the middleware's tests'; test folders are no packages that could import it.
_middleware = run_path(str(Path(__file__).parents[1] / "middleware" / "conftest.py"))
cluster = _middleware["cluster"]

Race = Callable[..., dict[str, float]]


def _seconds(work: Callable[[], object], times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times


@pytest.fixture
def race(capsys: pytest.CaptureFixture[str]) -> Race:
    """race(title, runners, budget, per=1, rounds=15) times callables in turns and prints the median time of each.

    `per` is how many things one call does. The answer is the seconds for one thing, by name.
    """

    def run(
        title: str, runners: Mapping[str, Callable[[], object]], budget: str, per: int = 1, rounds: int = 15
    ) -> dict[str, float]:
        # As often as makes a turn of some 20 ms, long against the clock and short against what else the machine does.
        times = {name: max(1, int(0.02 / max(_seconds(work, 1), 1e-7))) for name, work in runners.items()}
        turns: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, work in runners.items():
                turns[name].append(_seconds(work, times[name]) / per)
        medians = {name: statistics.median(measured) for name, measured in turns.items()}
        with capsys.disabled():
            print(f"\n{title}    (budget: {budget})")
            for name, seconds in medians.items():
                print(f"  {seconds * 1e6:12.3f} us  {name}")
        return medians

    return run


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """say(text) prints a line of results, whatever pytest captures."""

    def out(text: str) -> None:
        with capsys.disabled():
            print(text)

    return out


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
