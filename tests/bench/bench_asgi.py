"""Measure the ASGI middleware: other requests, and lookups in the event loop compared with lookups in threads."""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
from typing import Any

from ararat.middleware import ResolverASGIMiddleware, import_table, open_bindings

NAMES = 1000
AT_ONCE = 50


async def site(scope: Any, receive: Any, send: Any) -> None: ...


async def receive() -> Any: ...


async def send(message: Any) -> None: ...


def scope_of(path: str) -> dict[str, Any]:
    fields = [(b"host", b"example.org"), (b"accept", b"*/*"), (b"user-agent", b"bench")]
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": path, "raw_path": path.encode()}
    return scope | {"query_string": b"", "root_path": "", "headers": fields}


def bench_asgi_pass_through(tell, race, filled):
    bindings = open_bindings(filled(10_000), create=True)
    scope = scope_of("/some/page")

    def request(app):
        # Without an event loop, because nothing waits.
        def once():
            with contextlib.suppress(StopIteration):
                app(scope, receive, send).send(None)

        return once

    through = {"bare": site, "Ararat": ResolverASGIMiddleware(site, bindings)}
    turns = race(
        "A request that is not for the resolver, ASGI",
        {name: request(app) for name, app in through.items()},
        beside="bare",
        rounds=200,
    )
    tell(
        "Additional time of an ASGI request that is not for the resolver",
        ["ns"],
        {"Ararat": [[taken - alone for taken, alone in zip(turns["Ararat"], turns["bare"], strict=True)]]},
        "Ararat",
        budget="under 1 us",
    )
    bindings.close()


def bench_asgi_threads(tell, in_turns, tmp_path, cluster):
    rows = "".join(f"ark:12345/x{n},https://example.org/{n}\n" for n in range(NAMES))
    for kind, url in {"SQLite": str(tmp_path / "names.sqlite"), "PostgreSQL": cluster.new_database()}.items():
        with open_bindings(url, create=True) as bindings:
            import_table(bindings, io.BytesIO(f"identifier,target\n{rows}".encode()))
            app = ResolverASGIMiddleware(site, bindings, prefix="https://example.org")
            # The time of all threads counts here, and not only that of the event loop.
            taken: dict[str, list[float]] = {"in the event loop": [], "in threads": []}
            for _, where in in_turns(taken, 100):
                bindings.source.is_local = where == "in the event loop"
                begun = time.perf_counter()
                asyncio.run(redirects(app))
                taken[where].append(1e6 * (time.perf_counter() - begun) / NAMES)
        tell(
            f"A redirect from {kind} by ASGI, {AT_ONCE} requests at once",
            ["us"],
            {where: [times] for where, times in taken.items()},
            "in the event loop",
        )


async def redirects(app):
    for first in range(0, NAMES, AT_ONCE):
        names = range(first, first + AT_ONCE)
        await asyncio.gather(*(app(scope_of(f"/ark:12345/x{n}"), receive, send) for n in names))
