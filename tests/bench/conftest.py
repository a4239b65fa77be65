"""How fast it is, side by side with what it is compared with, in one run on one machine: `make bench`.

Nothing here fails for being slow. Each benchmark prints what was measured beside the budget, and checks that what it
measured did what it should.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from runpy import run_path

import pytest

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
