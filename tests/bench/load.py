"""Request random names from a server over one connection, one after another, and print the duration of each answer.

    python load.py PORT SECONDS STATUS PATH MOST TURN

``%08d`` in PATH is replaced by a random number below MOST, different in each turn. If the server closes the connection,
the time of the next answer includes a new connection. Prints one line of JSON. This is a separate process, so that it
does not wait for the interpreter of the benchmark.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import time


def main(port: int, seconds: float, status: str, path: str, most: int, turn: int) -> None:
    """Send requests for a number of seconds."""
    connection: socket.socket | None = None
    taken: list[float] = []
    draw = random.Random(turn)  # noqa: S311 - the same names in the same turn
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = path % draw.randrange(most) if "%" in path else path
        begun = time.perf_counter()
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", port), 10)
            answers = connection.makefile("rb")
        connection.sendall(f"GET {asked} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode("ascii"))
        line = answers.readline()
        length, closing = 0, False
        while (field := answers.readline().lower()) not in (b"\r\n", b""):
            if field.startswith(b"content-length:"):
                length = int(field[15:])
            closing = closing or field.startswith(b"connection: close")
        answers.read(length)
        taken.append(time.perf_counter() - begun)
        if not line.startswith(f"HTTP/1.1 {status}".encode()):
            sys.exit(f"{asked}: {line!r}, expected {status}")
        if closing:
            connection.close()
            connection = None
    taken.sort()
    print(json.dumps({"asked": len(taken), "p50": taken[len(taken) // 2], "p99": taken[len(taken) * 99 // 100]}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4], *map(int, sys.argv[5:7]))
