"""Traces with scripted responses, without a network."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ararat.net.hop import HopFailed, HopResponse
from ararat.tracing.algorithm import End, Hop, Start, trace

Answer = tuple[int, str] | HopResponse | HopFailed


class Script:
    """A fetch that returns its responses in order, and records its requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []

    def __call__(self, method: str, url: str, deadline: float) -> HopResponse:
        self.asked.append((method, url))
        answer = self.answers.pop(0)
        if isinstance(answer, HopFailed):
            raise answer
        return answer if isinstance(answer, HopResponse) else redirect(*answer)


def redirect(status: int, location: str, **fields: str) -> HopResponse:
    return HopResponse(status, "Whatever", (("Location", location), *fields.items()))


def answer(status: int, *fields: tuple[str, str]) -> HopResponse:
    return HopResponse(status, "Whatever", fields)


def ticking(step: float = 0.1) -> Callable[[], float]:
    return itertools.count(100, step).__next__


def run(*answers: Answer, identifier: str = "ark:12345/x", **parameters: Any) -> tuple[list[Hop], End]:
    parameters.setdefault("clock", ticking())
    start, *hops, end = list(trace(identifier, fetch=Script(*answers), **parameters))
    assert isinstance(start, Start)
    assert isinstance(end, End)
    assert end.hops == len(hops)
    assert [hop.number for hop in hops if isinstance(hop, Hop)] == list(range(1, len(hops) + 1))
    return [hop for hop in hops if isinstance(hop, Hop)], end


def codes(hop: Hop) -> list[str]:
    return [note.code for note in hop.notes]
