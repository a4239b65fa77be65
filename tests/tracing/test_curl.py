"""The curl command of a hop sends the same bytes as the trace."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import threading
import time

import pytest

from ararat.net.http_client import GuardedClient
from ararat.tracing.curl import curl

TARGETS = [
    pytest.param("/ark:12345/x?info", id="plain"),
    pytest.param("/a/../b/./c", id="dot-segments"),
    pytest.param("/it's%20$(id);&*!?", id="what a shell reads"),
]


def received(ask) -> list[bytes]:
    """Return the request that a loopback server receives from ask(origin): its lines, with sorted fields."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        caught: list[bytes] = []

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(10)
                while b"\r\n\r\n" not in b"".join(caught):
                    caught.append(connection.recv(65536))
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

        server = threading.Thread(target=answer, daemon=True)
        server.start()
        ask(f"http://127.0.0.1:{listener.getsockname()[1]}")
        server.join(10)
    line, *fields = b"".join(caught).split(b"\r\n")
    # The port differs, and so does Host.
    return [line, *sorted(field.lower() for field in fields if not field.lower().startswith(b"host:"))]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_curl_sends_the_request_of_the_trace(method, target):
    fetch = GuardedClient(networks=("127.0.0.0/8",))
    sent = received(lambda origin: fetch(method, origin + target, time.monotonic() + 10))
    asked = received(
        lambda origin: subprocess.run(
            ["/bin/sh", "-c", curl(method, origin + target)], check=True, capture_output=True, timeout=20
        )
    )
    assert asked == sent


@pytest.mark.parametrize("target", TARGETS)
def test_the_url_is_one_shell_word(target):
    line = curl("GET", "https://example.org" + target)
    assert line.isascii()
    assert line.isprintable()
    assert shlex.split(line)[-1] == "https://example.org" + target


def test_an_in_process_request_has_fewer_fields():
    assert "--header" not in curl("GET", "https://example.org/x", "here")
