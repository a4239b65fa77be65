"""Compare the time of the processor for a text with that for one of twice the length."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import Any

_ROUNDS = range(30)
_LEAST = 3
"""The minimum number of rounds. Other programs make single rounds slower, and never faster."""


def growth(call: Callable[[Any], object], once: Any, twice: Any, slowest: float) -> str | None:
    """Return the times of two texts in seconds if the second one takes at least three times as long as the first, in
    all rounds. None if it does not, or takes less than ``slowest`` seconds.
    """
    first, second = inf, _seconds(call, twice)
    if second <= slowest:
        return None
    for number in _ROUNDS:
        first, second = min(first, _seconds(call, once)), min(second, _seconds(call, twice))
        if number + 1 >= _LEAST and (second < slowest or second < 3 * first):
            return None
    return f"{first:.3f} s, {second:.3f} s"


def _seconds(call: Callable[[Any], object], text: Any) -> float:
    begin = time.process_time()
    call(text)
    return time.process_time() - begin
