"""Measure traces: the delay of other requests during traces, and the time by number of redirects."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path
from runpy import run_path
from statistics import median

Watchers = run_path(str(Path(__file__).parents[1] / "cli" / "serving" / "test_soak.py"))["Watchers"]

STREAMS = (0, 10, 25, 50)
ASKED = {"a page of the site": ("/demo/", "200"), "a redirect": ("/ark:12345/mp39n", "302")}
TURNS = 15


def bench_stuck_traces(tell, plot, serve_ararat, asked, in_turns):
    """Measure other requests while the maximum number of traces waits for hosts that never answer.

    All four servers run all the time. One of them is measured.
    """
    seen = {(name, number): [] for name in ASKED for number in STREAMS}
    with contextlib.ExitStack() as stack:
        servers = {number: serve_ararat("--allow-network", "127.0.0.0/8") for number in STREAMS}
        watching = [stack.enter_context(Watchers(server.port, number)) for number, server in servers.items()]
        # Take samples before the traces start.
        for server in servers.values():
            stack.callback(server.stop)
        deadline = time.monotonic() + 20
        while any(each.begun < number for each, number in zip(watching, STREAMS, strict=True)):
            assert time.monotonic() < deadline, [each.begun for each in watching]
            time.sleep(0.1)
        for _, (name, number) in in_turns(seen, TURNS):
            path, status = ASKED[name]
            seen[name, number].append(asked(servers[number].port, status, path, seconds=0.5))
        for each in watching:
            each.stop_after_this()
    for name in ASKED:
        rows = {
            f"{number} stuck traces": [[turn.p50 * 1e3 for turn in turns], [turn.p99 * 1e3 for turn in turns]]
            for number in STREAMS
            for turns in [seen[name, number]]
        }
        tell(f"{name[0].upper()}{name[1:]} beside stuck traces", ["p50 ms", "p99 ms"], rows, "0 stuck traces")
    plot(
        "growth-streams",
        "Median answer beside stuck traces",
        "traces that wait",
        "ms",
        {
            name: [(number, median(turn.p50 for turn in seen[name, number]) * 1e3) for number in STREAMS]
            for name in ASKED
        },
    )


HOPS = (1, 2, 4, 8)
CHAIN = """
def application(environ, start_response):
    left = int(environ["PATH_INFO"].rpartition("/")[2].lstrip("x"))
    if not left:
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return []
    start_response("302 Found", [("Location", f"/way/{left - 1}"), ("Content-Length", "0")])
    return []
"""


def bench_hops(tell, plot, wsgi_server, serve_ararat, in_turns):
    # Use another host in each turn, because of the rate limit per host.
    binds = [option for turn in range(TURNS + 1) for option in ("--bind", f"127.0.4.{turn + 1}:0")]
    way, server = wsgi_server(CHAIN, threads=4, options=binds), serve_ararat("--allow-network", "127.0.0.0/8")
    hosts = re.findall(r"http://127\.0\.4\.\d+:\d+", way.log())
    assert len(hosts) == TURNS + 1
    taken = {number: [] for number in HOPS}
    for turn, number in in_turns(HOPS, TURNS + 1):
        begun = time.perf_counter()
        traced = server.get(
            f"/api/trace?q=ark:12345/x{number}&fresh=1&resolver={hosts[turn]}", accept="application/json"
        )
        seconds = time.perf_counter() - begun
        assert traced.status == 200, traced.text
        assert f"{hosts[turn]}/way/0" in traced.text, traced.text
        # The first turn includes the work that is done once.
        if turn:
            taken[number].append(seconds * 1e3)
    tell(
        "A trace by the number of its redirects",
        ["ms"],
        {f"{number} redirects": [measured] for number, measured in taken.items()},
        "1 redirects",
    )
    plot(
        "growth-hops",
        "A trace by its redirects",
        "redirects",
        "ms",
        {"a trace": [(number, median(measured)) for number, measured in taken.items()]},
    )
    server.stop()
