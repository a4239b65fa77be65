"""The pauses and the sizes of the transactions of a change of many names, by a clock."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ararat.bindings.operations import pace
from ararat.bindings.operations.pace import BLOCK, LEAST, BlockPace

PAUSE = 0.15


class Clock:
    """A clock that moves only by work and pauses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep))

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def work(self, tempo: BlockPace, seconds: float) -> None:
        tempo.begin()
        self.now += seconds
        tempo.rest()


@pytest.mark.parametrize(
    ("where", "worked", "pauses"),
    [
        pytest.param("sqlite:///x", [0.2, 0.2], 0, id="short work"),
        pytest.param("sqlite:///x", [0.2, 0.2, 0.2], 1, id="several transactions together"),
        pytest.param("sqlite:///x", [0.6, 0.2, 0.2], 1, id="no second pause right after the first"),
        pytest.param("sqlite:///x", [0.6, 0.6], 2, id="long transactions"),
        pytest.param("postgresql://x", [0.6, 0.6], 0, id="writers of PostgreSQL do not wait"),
    ],
)
def test_other_writers_of_sqlite_have_their_turn(
    monkeypatch: pytest.MonkeyPatch, where: str, worked: list[float], pauses: int
) -> None:
    clock = Clock(monkeypatch)
    tempo = BlockPace(where)
    for seconds in worked:
        clock.work(tempo, seconds)
    assert clock.slept == pauses * [PAUSE]


@pytest.mark.parametrize(
    ("fixed", "worked", "sizes"),
    [
        pytest.param(None, [0.1, 0.1], [BLOCK, BLOCK], id="never above the maximum"),
        pytest.param(None, [0.6, 0.3, 0.1], [BLOCK // 2, BLOCK // 2, BLOCK], id="smaller, unchanged, larger"),
        pytest.param(None, [0.6] * 8, [500, 250, 125, 62, 31, LEAST, LEAST, LEAST], id="never below the minimum"),
        pytest.param(7, [0.6, 0.1], [7, 7], id="a fixed size"),
    ],
)
def test_a_slow_transaction_is_followed_by_a_smaller_one(
    monkeypatch: pytest.MonkeyPatch, fixed: int | None, worked: list[float], sizes: list[int]
) -> None:
    clock = Clock(monkeypatch)
    tempo = BlockPace("sqlite:///x", fixed)
    found: list[int] = []
    for seconds in worked:
        clock.work(tempo, seconds)
        found.append(tempo.size)
    assert found == sizes
