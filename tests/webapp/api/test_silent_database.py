"""A site whose connections to PostgreSQL go silent, while the server answers new ones."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.selection import select
from ararat.webapp.accounts.store import Accounts
from tests.silence import silent_proxy
from tests.waiting import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

THREADS = 8
SHOULDER = "ark:12345/x5"
SITE = """
import logging
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp import create_app

logging.basicConfig(level=logging.WARNING)
bindings = open_bindings({database!r})
application = ResolverMiddleware(
    create_app(bindings, trace_elsewhere=False), bindings, prefix="http://127.0.0.1", inspector="/"
)
"""


def ask(port: int, method: str, path: str, secret: str = "", body: object = None) -> tuple[int, float]:
    """Return the status of an answer and its seconds."""
    begun = time.monotonic()
    fields = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"} if secret else {}
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        answer.read()
    return answer.status, time.monotonic() - begun


def test_silent_connections_hold_no_thread_and_do_not_delay_the_end(
    cluster: Any,
    open_store: Callable[..., Bindings],
    wsgi_server: Callable[..., Any],
    record_property: Callable[[str, object], None],
) -> None:
    url = cluster.new_schema()
    bindings = open_store(url)
    bindings.bind(f"{SHOULDER}first", "https://example.org/")
    accounts = Accounts(bindings)
    accounts.add("jane", "curator", [SHOULDER])
    secret = accounts.tokens.create("jane", "t")[1]
    with silent_proxy(cluster.port) as proxy:
        site = SITE.format(database=url.replace(f":{cluster.port}/", f":{proxy.port}/"))
        server = wsgi_server(site, threads=THREADS, options=("--graceful-timeout", "30"))

        def change(number: int) -> tuple[int, float]:
            body = {"names": [{"name": f"{SHOULDER}n{number}", "target": "https://example.org/"}]}
            return ask(server.port, "POST", "/api/v1/names", secret, body)

        def repeat(number: int) -> None:
            """Send a change again while the server receives too many others."""
            until(lambda: change(number)[0] == 201)

        # The connections of the writers are open.
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(repeat, range(THREADS)))
        left = [b"INSERT"] * THREADS
        proxy.swallow = lambda data: b"INSERT" in data and bool(left) and bool(left.pop())
        slowest = 0.0
        with ThreadPoolExecutor(THREADS) as pool:
            running = [pool.submit(change, THREADS + number) for number in range(THREADS)]
            while not all(each.done() for each in running):
                for path in (f"/{SHOULDER}first", "/healthz", "/"):
                    status, seconds = ask(server.port, "GET", path)
                    assert status in (200, 302)
                    slowest = max(slowest, seconds)
                time.sleep(0.1)
            answers = [each.result() for each in running]
            record_property("seconds", f"changes {max(answers)[1]:.1f}, others {slowest:.2f}")
            # The rest of the changes was refused at once, because all slots were in use.
            assert {status for status, _ in answers} == {503}
            assert max(seconds for _, seconds in answers) < 20
            assert slowest < 3
            server.wait_for("a connection to PostgreSQL is given up: the connection is silent")
            # Each change that is repeated is done once.
            left.clear()
            list(pool.map(repeat, range(THREADS, 2 * THREADS)))
            assert len(bindings.list_names(select(prefix=SHOULDER)).names) == 2 * THREADS + 1
            # The end does not wait longer than a change.
            left += [b"INSERT"] * THREADS
            running = [pool.submit(change, 2 * THREADS + number) for number in range(THREADS)]
            time.sleep(2)
            begun = time.monotonic()
            assert server.stop(signal.SIGTERM, 30) == 0
            assert time.monotonic() - begun < 20
