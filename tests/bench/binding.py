"""Bind names over HTTP, or insert the same rows with a driver of the database, for a number of seconds.

    python binding.py http PORT SECRET CLIENT
    python binding.py plain URL ROWS CLIENT

CLIENT is different for each process. ROWS is JSON: a row of each table that a bind writes, by table and column. The
process prints an empty line when it is connected. For each line "SECONDS NAMES" of standard input, it binds NAMES names
in each request or transaction until the time is over, and prints the number of names.

The HTTP client keeps its connection and sends bytes that are prepared as far as possible, so that it needs little of
the processor. The plain INSERTs have one connection, too, and commit each transaction: into a file with a write-ahead
log and synchronous=FULL, as Ararat does, or to a server.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import psycopg

Bind = Callable[[Sequence[str]], None]

TARGET = "https://example.org/1"
NAMED = {"bindings": "key", "events": "key", "audit": "name"}
"""The tables that a bind writes, each with the column of the name."""


def over_http(port: str, secret: str) -> Bind:
    """Return a function that binds names with one request. One name is in the path, several are in the body."""
    connection = socket.create_connection(("127.0.0.1", int(port)), 30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = connection.makefile("rb")
    fields = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {secret}\r\nContent-Type: application/json\r\n"

    def bind(names: Sequence[str]) -> None:
        if len(names) == 1:
            line = f"PUT /api/v1/names/{names[0]} HTTP/1.1"
            body = json.dumps({"target": TARGET}).encode()
        else:
            line = "POST /api/v1/names HTTP/1.1"
            body = json.dumps({"names": [{"name": name, "target": TARGET} for name in names]}).encode()
        connection.sendall(f"{line}\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status, length = answers.readline(), 0
        while (field := answers.readline().lower()) not in (b"\r\n", b""):
            if field.startswith(b"content-length:"):
                length = int(field[15:])
        content = answers.read(length)
        if not status.startswith(b"HTTP/1.1 201"):
            sys.exit(f"{line}: {status!r} {content!r}")

    return bind


def by_driver(url: str, rows: dict[str, dict[str, Any]]) -> Bind:
    """Return a function that inserts the rows of names with one transaction."""
    is_sqlite = url.startswith("sqlite:///")
    if is_sqlite:
        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=30)
        connection.execute("PRAGMA synchronous = FULL")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    else:
        connection = psycopg.connect(url)
    mark = "?" if is_sqlite else "%s"
    statements = {
        table: f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(mark for _ in row)})"  # noqa: S608
        for table, row in rows.items()
    }

    def bind(names: Sequence[str]) -> None:
        if is_sqlite:
            connection.execute("BEGIN IMMEDIATE")
        for table, row in rows.items():
            written = [tuple((row | {NAMED[table]: name}).values()) for name in names]
            connection.cursor().executemany(statements[table], written)
        connection.commit()

    return bind


def main(bind: Bind, client: str) -> None:
    """Bind names whenever a line is received."""
    numbers = count()
    print(flush=True)
    for line in sys.stdin:
        seconds, names = float(line.split()[0]), int(line.split()[1])
        end = time.monotonic() + seconds
        bound = 0
        while time.monotonic() < end:
            bind([f"ark:12345/x5{client}n{next(numbers)}" for _ in range(names)])
            bound += names
        print(bound, flush=True)


if __name__ == "__main__":
    what, place, more, client = sys.argv[1:]
    main(over_http(place, more) if what == "http" else by_driver(place, json.loads(more)), client)
