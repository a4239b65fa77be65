"""A server that is killed while clients bind and mint loses no change that it acknowledged."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.webapp.accounts.store import Accounts
from tests.preloaded import ARARAT
from tests.webapp.management.acts import Acts
from tests.webapp.management.conftest import audit_of

CLIENTS = 8
SHOULDER = "ark:12345/x5"
SITE = """
from ararat.middleware import open_bindings
from ararat.webapp import create_app

application = create_app(open_bindings({database!r}), trace_elsewhere=False)
"""


class Client:
    """A client with one connection and a token, which binds and mints until the server is killed.

    ``acknowledged`` has the target of each name in a successful response. ``unanswered`` is the request without one.
    """

    def __init__(self, number: int, secret: str) -> None:
        self._number = number
        self._secret = secret
        self._requests = 0
        self.acknowledged: dict[str, str] = {}
        self.unanswered: tuple[str, str, str] | None = None

    def run(self, port: int) -> None:
        """Send requests. The first one repeats the request without a response, with the same key."""
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            while True:
                self.unanswered = method, path, target = self.unanswered or self._next()
                name, located = self._send(connection, method, path, target)
                assert (located, name in self.acknowledged) == (target, False)
                self.acknowledged[name] = target
                self.unanswered = None
        except (ConnectionError, HTTPException):
            return
        finally:
            connection.close()

    def _next(self) -> tuple[str, str, str]:
        self._requests += 1
        own = f"{self._number}n{self._requests}"
        method, path = ("PUT", f"/names/{SHOULDER}own{own}") if self._requests % 2 else ("POST", "/names")
        return method, path, f"https://example.org/{own}"

    def _send(self, connection: HTTPConnection, method: str, path: str, target: str) -> tuple[str, str]:
        fields = {"Authorization": f"Bearer {self._secret}", "Content-Type": "application/json"}
        body: dict[str, Any] = {"target": target}
        if method == "POST":
            fields["Idempotency-Key"] = target
            body = {"names": [body | {"shoulder": SHOULDER}]}
        connection.request(method, f"/api/v1{path}", json.dumps(body), fields)
        response = connection.getresponse()
        answer = json.loads(response.read())
        assert response.status in (200, 201), answer
        name = answer["names"][0]["name"] if method == "POST" else answer
        return name["identifier"], name["target"]


# tests/webapp/management/test_crash.py kills a process that makes the same changes in each run of the tests.
@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_killed_server_loses_no_acknowledged_change_and_mints_no_name_twice(
    database: str,
    open_store: Callable[..., Bindings],
    wsgi_server: Callable[..., Any],
    run_command: Callable[..., Any],
) -> None:
    bindings = open_store(database)
    accounts = Accounts(bindings)
    accounts.add("jane", "curator", [SHOULDER])
    bindings.prefixes.set(SHOULDER, pattern="10^4")
    clients = [Client(number, accounts.tokens.create("jane", f"client {number}")[1]) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(30):
            server = wsgi_server(SITE.format(database=database), workers=2, threads=4)
            before = sum(len(client.acknowledged) for client in clients)
            running = [pool.submit(client.run, server.port) for client in clients]
            while sum(len(client.acknowledged) for client in clients) < before + 4 * CLIENTS:
                assert server.process.poll() is None, server.log()
                assert not any(each.done() for each in running), [each.exception() for each in running if each.done()]
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.3))  # noqa: S311 - any time will do
            os.killpg(server.process.pid, signal.SIGKILL)
            for each in running:
                each.result(60)
    acknowledged = [item for client in clients for item in client.acknowledged.items()]
    # A name that two clients got would be there twice.
    assert len(dict(acknowledged)) == len(acknowledged)
    rows = {row[1] for row in audit_of(Acts(bindings, accounts))}
    for name, target in acknowledged:
        found = bindings.lookup(name)
        assert found is not None
        assert (found.target, found.revision) == (target, 1)
        assert name in rows
    with bindings.store.snapshot() as snapshot:
        names = {binding.identifier: binding.target for binding in snapshot.bindings()}
    # A request that was repeated with its key made no second name.
    assert len({*names.values()}) == len(names)
    assert {*names} == rows
    checked = run_command(ARARAT, "verify", "--database", database)
    assert checked.returncode == 0, checked
