"""Functions in threads: their results, and processes that fork."""

from __future__ import annotations

import asyncio
import os

import pytest

from ararat.bindings.system.thread_pool import ThreadPool
from tests.asgi_client import run
from tests.forking import exit_code


def test_results_and_exceptions_are_passed_on():
    pool = ThreadPool(1)
    assert run(pool.run(int, "ff", 16)) == 255
    with pytest.raises(ValueError, match="invalid literal"):
        run(pool.run(int, "x"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_has_threads_of_its_own():
    pool = ThreadPool(1)
    run(pool.run(int, "1"))

    def use() -> None:
        assert run(asyncio.wait_for(pool.run(int, "7"), 10)) == 7

    assert exit_code(use) == 0
