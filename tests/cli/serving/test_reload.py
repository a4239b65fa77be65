"""The reload of docs/go-live.md: gunicorn gets new workers, and no request fails."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from ararat.middleware import open_bindings

from ...fronts import DOCS
from ...ports import free_port

REQUESTS = 1000
CLIENTS = 4


@pytest.mark.long
@pytest.mark.timeout(120)
def test_no_request_fails_while_the_service_is_reloaded(tmp_path: Path, start_server: Callable[..., Any]) -> None:
    lines = (DOCS / "go-live.md").read_text("utf-8").splitlines()
    [command] = [
        line for line in lines if line.startswith("ExecStart=/opt/ararat/bin/gunicorn") and "ararat.wsgi" in line
    ]
    assert "ExecReload=/bin/kill -HUP $MAINPID" in lines
    with open_bindings(tmp_path / "b.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17")
    port = free_port()
    arguments = shlex.split(command.partition("bin/gunicorn ")[2].replace(":8000", f":{port}"))
    environ = {"ARARAT_DATABASE": str(tmp_path / "b.sqlite"), "ARARAT_PREFIX": f"http://127.0.0.1:{port}"}
    options = ["--no-control-socket", *arguments]
    server = start_server([sys.executable, "-m", "gunicorn", *options], environ, tmp_path)
    server.wait_for("Booting worker")
    wrong: list[object] = []

    def ask() -> None:
        for number in range(REQUESTS // CLIENTS):
            if number in (50, 150) and threading.current_thread().name == "0":
                server.process.send_signal(signal.SIGHUP)
            try:
                connection = HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", "/ark:12345/x6np1")
                if (status := connection.getresponse().status) != 302:
                    wrong.append(status)
                connection.close()
            except (OSError, HTTPException) as error:
                wrong.append(error)

    clients = [threading.Thread(target=ask, name=str(number)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert wrong == []
    assert server.log().count("Hang up: Master") == 2 or server.log().count("Handling signal: hup") == 2
