"""Measure the pages of the inspector: server time, size in the browser, and the delay of a trace."""

from __future__ import annotations

import gzip
import re
import socket
import time
from statistics import median

from ararat.webapp import create_app

PASTED = (1, 10, 50, 100, 200)


def bench_page(race, tell, plot):
    client = create_app().test_client()
    texts = {number: "\n".join(f"ark:/12345/x-{each}/a.b.pdf" for each in range(number)) for number in (0, *PASTED)}
    pages = {number: client.get("/", query_string={"q": text}) for number, text in texts.items()}
    assert all(page.status_code == 200 for page in pages.values())
    names = {number: f"Ararat, {number} in the text" if number else "an empty page" for number in texts}
    turns = race(
        "The page for a number of identifiers, with werkzeug's test client",
        {
            names[number]: (lambda text=text: client.get("/", query_string={"q": text}))
            for number, text in texts.items()
        },
        beside=names[1],
        budget="one identifier under 5 ms",
        unit="ms",
        rounds=20,
    )
    plot(
        "growth-pasted",
        "Server time by number of identifiers",
        "identifiers",
        "ms",
        {"a page": [(number, median(turns[names[number]])) for number in PASTED]},
    )
    addresses = set(re.findall(r"""(?:src|href)="([^"]*/static/[^"]+)""", pages[1].text))
    loaded = {
        "page of 1": [pages[1].data],
        "page of 200": [pages[200].data],
        "scripts, styles, icons": [client.get(address, buffered=True).data for address in addresses],
    }
    weights = {
        name: [[sum(map(len, parts)) / 1e3], [sum(len(gzip.compress(part)) for part in parts) / 1e3]]
        for name, parts in loaded.items()
    }
    budget = "100 kB for all assets, if the server or a proxy compresses"
    tell("What a browser loads", ["kB", "kB compressed"], weights, budget=budget)


def bench_time_to_first_hop(tell, ararat_server):
    taken = {"the first event": [], "the first hop": [], "the verdict": []}
    for _ in range(100):
        begun = time.perf_counter()
        with socket.create_connection(("127.0.0.1", ararat_server.port), 10) as connection:
            connection.sendall(
                b"GET /trace?q=ark:12345/mp39n HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                b"Connection: close\r\n\r\n"
            )
            events = [
                (line[7:].strip(), time.perf_counter() - begun)
                for line in connection.makefile("rb")
                if line.startswith(b"event: ")
            ]
        seen = {"the first event": events[0][1]}
        seen |= {"the first hop": next(at for name, at in events if name == b"hop"), "the verdict": events[-1][1]}
        for name, seconds in seen.items():
            taken[name].append(seconds * 1e3)
    tell(
        "A trace of a name that is bound here, without network: time since the request",
        ["ms"],
        {name: [measured] for name, measured in taken.items()},
        "the verdict",
    )
