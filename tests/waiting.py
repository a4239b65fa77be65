"""Wait in a test until a condition is true."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 40, problem: Callable[[], str] = str) -> None:
    """Wait until a condition is true. Fail after a number of seconds with the text that ``problem`` returns."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, problem()
        time.sleep(0.02)
