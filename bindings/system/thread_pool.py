"""Run functions in a limited number of threads, while an asyncio event loop goes on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class ThreadPool:
    """A pool of at most ``size`` threads for the functions of an asyncio program. Further calls wait. A forked process
    gets its own threads. The site can fill the pool of the event loop, so that is not used.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._renew()

    async def run(
        self, function: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Result:
        """Run ``function`` in a thread of the pool with the context variables of the caller, and return its result. If
        the caller is cancelled, it still runs to its end.
        """
        if self._pid != os.getpid():
            # A fork copies no threads.
            self._renew()
        call = copy_context().run
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, lambda: call(function, *arguments, **named)
        )

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._executor = ThreadPoolExecutor(self._size, thread_name_prefix="ararat")
