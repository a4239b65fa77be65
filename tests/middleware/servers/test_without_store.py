"""With real servers: PostgreSQL is down while workers start, are recycled, and serve."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ararat.middleware import open_bindings
from tests.databases import Cluster
from tests.middleware.servers.conftest import BESIDE, GUNICORN, GUNICORN_PORT, PORT

pytestmark = pytest.mark.long

SITE = """
import os
from ararat.middleware import ResolverMiddleware, open_bindings
def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "8")])
    return [b"the site"]
application = ResolverMiddleware(site, open_bindings(os.environ["DATABASE"]))
"""
RECYCLED = ("--workers", "2", "--max-requests", "4")
UWSGI = (
    str(BESIDE / "uwsgi"),
    "--http-socket",
    "127.0.0.1:0",
    "--module",
    "unavailable_site",
    "--master",
    "--need-app",
)
SERVERS = {
    "gunicorn sync": ((*GUNICORN, *RECYCLED), GUNICORN_PORT),
    "gunicorn gthread": ((*GUNICORN, *RECYCLED, "--threads", "4"), GUNICORN_PORT),
    "gunicorn preload": ((*GUNICORN, *RECYCLED, "--preload"), GUNICORN_PORT),
    "uwsgi": (UWSGI, r"bound to TCP address 127\.0\.0\.1:(\d+)"),
    "waitress": ((str(BESIDE / "waitress-serve"), "--listen", "127.0.0.1:0", "unavailable_site:application"), PORT),
}


@pytest.fixture
def stopped(made_cluster: Cluster) -> Iterator[Cluster]:
    """A PostgreSQL server for this test only, which has a host name and is stopped."""
    server = Cluster(made_cluster.binaries)
    try:
        server.start(made_cluster)
        with open_bindings(f"{server._url()}/postgres", create=True) as bindings:
            bindings.bind("ark:12345/doc", "https://example.org/doc")
        server.halt()
        yield server
    finally:
        server.remove()


@pytest.mark.parametrize("name", SERVERS)
def test_the_site_answers_while_the_database_is_down(
    name: str, stopped: Cluster, start_server: Callable[..., Any], tmp_path: Path
) -> None:
    command, port = SERVERS[name]
    if name.startswith("gunicorn"):
        command = (*command, "unavailable_site:application")
    if not Path(command[0]).exists():
        pytest.skip(f"{command[0]} is not installed (make .venv/servers.stamp)")
    (tmp_path / "unavailable_site.py").write_text(SITE, "utf-8")
    environ = {"DATABASE": f"{stopped._url()}/postgres", "PYTHONPATH": str(tmp_path)}
    server = start_server(command, environ, tmp_path)
    server.port = int(server.wait_for(port))

    def until_name_has(status: int) -> None:
        deadline = time.monotonic() + 40
        while (found := server.get("/ark:12345/doc").status) != status:
            assert time.monotonic() < deadline, (found, server.log())
            time.sleep(0.1)

    def site_answers(times: int) -> None:
        for _ in range(times):
            assert server.get("/page").body == b"the site", server.log()
        assert server.process.poll() is None

    server.wait_for("the bindings cannot be opened, and will be tried again")
    until_name_has(503)
    assert server.get("/ark:12345/doc").header("Retry-After") == "10"
    site_answers(12)
    stopped.resume()
    until_name_has(302)
    stopped.halt(signal.SIGINT)
    until_name_has(503)
    site_answers(24)
    stopped.resume()
    until_name_has(302)
    assert server.log().count("Traceback") == 0, server.log()
    server.stop()
