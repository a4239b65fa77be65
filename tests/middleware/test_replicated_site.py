"""A site with bindings in a primary and its standby, over HTTP: the effect on clients when these are killed."""

from __future__ import annotations

import collections
import signal
import threading
import time

import pytest

from ararat.middleware import BindingError, BindingsUnavailable, open_bindings

SITE = """\
import os
from ararat.middleware import ResolverMiddleware, open_bindings


def site(environ, start_response):
    start_response("200 OK", [("Content-Length", "4")])
    return [b"page"]


application = ResolverMiddleware(site, open_bindings(os.environ["DATABASE"], create=True))
"""

NAME, PAGE = "/ark:12345/doc", "/some/page"
# The maximum time that a client may wait, and an allowance for a busy machine.
LONGEST = 2 + 10


class Visitors:
    """Threads that request a name and a page of the site again and again. They record answers and durations.

    ``statuses`` counts the answers for each target. ``answers`` contains those for the name in order.
    """

    def __init__(self, server) -> None:
        self.statuses = {NAME: collections.Counter(), PAGE: collections.Counter()}
        self.answers = []
        self.longest = 0.0
        self.lost = []
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._visit) for _ in range(4)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exc) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(20)

    def _visit(self) -> None:
        while not self._stop.is_set():
            for target in (NAME, PAGE):
                start = time.monotonic()
                try:
                    answer = self._server.get(target)
                except OSError as error:
                    self.lost.append(error)
                    continue
                finally:
                    self.longest = max(self.longest, time.monotonic() - start)
                self.statuses[target][answer.status] += 1
                if target == NAME:
                    self.answers.append(answer)
            time.sleep(0.002)

    def wait_for(self, status: int, times: int = 100) -> None:
        """Wait until the name was answered like this a number of times in a row."""
        begun, deadline = len(self.answers), time.monotonic() + 30
        while [answer.status for answer in self.answers[begun:][-times:]] != [status] * times:
            assert time.monotonic() < deadline, self.statuses
            time.sleep(0.02)


@pytest.fixture
def database(replicated) -> str:
    """Return the URL of both servers, with one bound name."""
    both, standby = (
        f"postgresql://ararat@{','.join(f'127.0.0.1:{server.port}' for server in servers)}/postgres"
        for servers in (replicated, replicated[1:])
    )
    with open_bindings(both, create=True) as bindings:
        bindings.bind("ark:12345/doc", "https://example.org/doc")
    deadline = time.monotonic() + 20
    while not is_bound(standby):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return both


def is_bound(url: str) -> bool:
    try:
        with open_bindings(url, create=True) as bindings:
            return bindings.lookup("ark:12345/doc") is not None
    except (BindingError, BindingsUnavailable):
        return False  # The tables do not exist yet.


def test_killed_servers_cause_answers_503_for_names_and_no_errors_of_pages(replicated, database, wsgi_server) -> None:
    primary, standby = replicated
    server = wsgi_server(SITE, threads=8, environ={"DATABASE": database})
    with Visitors(server) as visitors:
        visitors.wait_for(302)

        primary.signal_all(signal.SIGKILL)
        visitors.wait_for(302, times=300)
        found, unknown = visitors.statuses[NAME][302], visitors.statuses[NAME][503]
        # A busy machine can delay a new connection beyond its limit.
        assert unknown <= found / 10, "reads go on from the standby"

        standby.signal_all(signal.SIGKILL)
        visitors.wait_for(503)

        primary.resume()
        visitors.wait_for(302)

    assert set(visitors.statuses[NAME]) == {302, 503}
    assert set(visitors.statuses[PAGE]) == {200}
    assert visitors.lost == []
    assert visitors.longest < LONGEST
    assert all(int(answer.header("Retry-After")) > 0 for answer in visitors.answers if answer.status == 503)
    assert "Traceback" not in server.log()
