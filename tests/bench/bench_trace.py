"""What traces cost: those who want something else of the site meanwhile, and by the length of the way."""

from __future__ import annotations

import time
from pathlib import Path
from runpy import run_path

_stuck = run_path(str(Path(__file__).parents[1] / "webapp" / "test_stuck_traces.py"))
dead_hosts, stuck = _stuck["dead_hosts"], _stuck["stuck"]

STREAMS = (0, 10, 25, 50)
ASKED = {"a page of the site": ("/demo/", "200"), "a redirect": ("/ark:12345/mp39n", "302")}


def bench_stuck_traces(tell, plot, stuck, serve_ararat, asked):
    """As many traces as may run wait for hosts that never answer, while one client asks for something else."""
    seen = {}
    for number in STREAMS:
        server, watching = stuck(number) if number else (serve_ararat("--no-trace-elsewhere"), [])
        for name, (path, status) in ASKED.items():
            turns = [asked(server.port, 1, status, path) for _ in range(5)]
            seen[name, number] = min(turn.p50 for turn in turns), min(turn.p99 for turn in turns)
        for client in watching:
            client.close()
        server.stop()
    for name in ASKED:
        rows = {f"{number} stuck traces": [seconds * 1e3 for seconds in seen[name, number]] for number in STREAMS}
        tell(f"{name[0].upper()}{name[1:]} beside stuck traces", ["p50 ms", "p99 ms"], rows, "0 stuck traces")
    plot(
        "growth-streams",
        "Median answer beside stuck traces",
        "traces that wait",
        "ms",
        {name: [(number, seen[name, number][0] * 1e3) for number in STREAMS] for name in ASKED},
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


def bench_hops(tell, plot, wsgi_server, serve_ararat):
    way, server = wsgi_server(CHAIN, threads=4), serve_ararat("--allow-network", "127.0.0.0/8")
    taken = {}
    for number in (0, *HOPS):
        # Each once: what was traced just now is not asked again.
        begun = time.perf_counter()
        traced = server.get(f"/api/trace?q=ark:12345/x{number}&resolver={way.origin}", accept="application/json")
        taken[number] = time.perf_counter() - begun
        assert traced.status == 200, traced.text
        assert not number or f"127.0.0.1:{way.port}/way/0" in traced.text, traced.text
    # The first one was for all that is done once.
    del taken[0]
    tell(
        "A trace by the number of its redirects, with the pause between two requests to a host",
        ["s"],
        {f"{number} redirects": [seconds] for number, seconds in taken.items()},
        "1 redirects",
    )
    plot("growth-hops", "A trace by its redirects", "redirects", "s", {"a trace": list(taken.items())})
    server.stop()
