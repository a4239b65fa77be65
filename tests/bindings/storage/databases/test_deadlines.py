"""Pings of a server that has not answered for some time."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ararat.bindings.storage.databases import deadlines
from ararat.bindings.storage.databases.deadlines import responds
from tests.databases import Cluster


@contextlib.contextmanager
def listening(family: int, address: tuple[str, int] | str, answer: bytes | None) -> Iterator[socket.socket]:
    """Accept one connection, and send an answer to the first request. Send nothing for None."""
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()

        def accept() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as connection:
                connection.settimeout(20)
                connection.recv(100)
                connection.sendall(answer or b"")

        thread = threading.Thread(target=accept) if answer is not None else None
        if thread:
            thread.start()
        yield server
        if thread:
            thread.join(20)


def test_a_running_server_responds(cluster) -> None:
    assert responds("127.0.0.1", cluster.port)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(b"N", True, id="answer"),
        pytest.param(b"", False, id="closed connection"),
        pytest.param(None, False, id="silence"),
    ],
)
def test_only_a_server_with_an_answer_responds(
    answer: bytes | None, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "SILENCE_SECONDS", 0.2 if answer is None else 20)
    with listening(socket.AF_INET, ("127.0.0.1", 0), answer) as server:
        assert responds("127.0.0.1", server.getsockname()[1]) is expected
    # libpq has the folder of a Unix socket as its host.
    with listening(socket.AF_UNIX, str(tmp_path / ".s.PGSQL.5432"), answer):
        assert responds(str(tmp_path), 5432) is expected


def test_a_host_without_a_server_does_not_respond(tmp_path: Path, unused_port: int) -> None:
    assert not responds("127.0.0.1", unused_port)
    assert not responds(str(tmp_path), 5432)


def test_the_time_to_wait_for_an_answer_is_that_of_the_reader(cluster: Cluster) -> None:
    patient = deadlines.reader_class(None, most_seconds=20)
    hasty = deadlines.reader_class(None, most_seconds=0.2)
    url = cluster.new_database()
    with patient.connect(url) as connection:
        assert connection.execute("SELECT pg_sleep(0.5)").rowcount == 1
    with (
        contextlib.closing(hasty.connect(url)) as connection,
        pytest.raises(psycopg.OperationalError, match="does not answer"),
    ):
        connection.execute("SELECT pg_sleep(20)")
