"""Requests that an application of this process answers."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ararat.cli.doctor.in_process import client_of
from ararat.net import url as weburl


async def site(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": [(b"x-path", scope["raw_path"])]})
    await send({"type": "http.response.body", "body": b""})


def test_an_asgi_application_is_asked_while_an_event_loop_runs():
    async def check() -> tuple[int, tuple[tuple[str, str], ...]]:
        answer = client_of(site)(weburl.parse("http://a.example/"), "GET", "/ark:12345/x")
        return answer.status, answer.fields

    # A test in a browser leaves a running loop in the thread of the tests.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, check()).result() == (204, (("x-path", "/ark:12345/x"),))
