"""The site behind each server, as WSGI and as ASGI: the resolver and a function that reports its requests.

As a program for servers that are libraries: `python site.py werkzeug` serves it at a free port.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from contextvars import ContextVar

from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware, open_bindings

_SHOWN = (
    *("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_URI", "RAW_URI"),
    *("ararat.ark", "HTTP_X_PROBE"),
)
_came = threading.local()


def site(environ, start_response):
    """Answer with the request in JSON, and whether the environ is that of the server, unchanged."""
    told = {key: environ.get(key) for key in _SHOWN}
    told["as it came"] = environ is _came.environ and environ == _came.copy
    length = environ.get("CONTENT_LENGTH") or "0"
    told["body"] = environ["wsgi.input"].read(int(length)).decode("latin-1")
    body = json.dumps(told).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


bindings = open_bindings("bindings.jsonl")
resolver = ResolverMiddleware(site, bindings, prefix="https://r.example", inspector="/")


def application(environ, start_response):
    """The resolver, which records its environ."""
    _came.environ, _came.copy = environ, dict(environ)
    return resolver(environ, start_response)


_scope: ContextVar = ContextVar("_scope")


async def asgi_site(scope, receive, send):
    """Answer like ``site``. Accept the events of lifespan."""
    while scope["type"] == "lifespan":
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return
    query = scope["query_string"].decode("latin-1")
    raw = (scope.get("raw_path") or b"").decode("latin-1")
    came, copy = _scope.get()
    told = {"REQUEST_METHOD": scope["method"], "SCRIPT_NAME": scope.get("root_path"), "PATH_INFO": scope["path"]}
    told |= {"QUERY_STRING": query, "REQUEST_URI": f"{raw}?{query}" if query else raw, "RAW_URI": raw}
    told["HTTP_X_PROBE"] = dict(scope["headers"]).get(b"x-probe")
    told |= {"ararat.ark": scope.get("ararat.ark"), "as it came": scope is came and scope == copy, "body": ""}
    more = True
    while more:
        message = await receive()
        told["body"] += message.get("body", b"").decode("latin-1")
        more = message.get("more_body", False)
    body = json.dumps(told).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


asgi_resolver = ResolverASGIMiddleware(asgi_site, bindings, prefix="https://r.example", inspector="/")


async def asgi_application(scope, receive, send):
    """The resolver, which records its scope."""
    _scope.set((scope, dict(scope)))
    await asgi_resolver(scope, receive, send)


def werkzeug() -> None:
    """The development server of Flask."""
    from werkzeug.serving import run_simple

    run_simple("127.0.0.1", 0, application, threaded=True)


def cheroot() -> None:
    """The server of CherryPy."""
    from cheroot.wsgi import Server  # pyright: ignore[reportMissingImports] - it comes with `make long`

    server = Server(("127.0.0.1", 0), application)
    server.prepare()
    print(f"listening at http://127.0.0.1:{server.bind_addr[1]}", flush=True)
    server.serve()


def wsgiref() -> None:
    """The server of the standard library, which runserver of Django uses."""
    from wsgiref.simple_server import make_server

    server = make_server("127.0.0.1", 0, application)
    print(f"listening at http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if "ARARAT_DATABASE" in os.environ:
    # The ready applications instead, with the inspector and the desk.
    from ararat.asgi import application as asgi_application  # noqa: F401 - uvicorn and others read it
    from ararat.wsgi import application  # type: ignore[assignment]

if __name__ == "__main__":
    {"werkzeug": werkzeug, "cheroot": cheroot, "wsgiref": wsgiref}[sys.argv[1]]()
