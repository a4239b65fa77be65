"""Names in paths behind real servers: no server makes the API change another name than the client named."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from ararat.bindings.open import open_bindings
from ararat.webapp.accounts.store import Accounts

SITE = """
import sys
from ararat.bindings.open import open_bindings
from ararat.webapp import create_app

application = create_app(open_bindings({database!r}), trace_elsewhere=False)
if __name__ == "__main__":
    from wsgiref.simple_server import make_server
    server = make_server("127.0.0.1", 0, application)
    print(f"Serving on http://127.0.0.1:{{server.server_port}}", flush=True)
    server.serve_forever()
"""
DECODING = "wsgiref"


# `ararat serve` runs waitress.
@pytest.fixture(
    params=[
        pytest.param("gunicorn", marks=pytest.mark.long),
        "ararat serve",
        pytest.param("waitress", marks=pytest.mark.long),
        DECODING,
    ],
    scope="module",
)
def server(request, tmp_path_factory, serve_ararat, start_server) -> Any:
    """A server process with the API. ``server(method, name, body)`` sends a request with a token.

    Each test writes other names.
    """
    folder = tmp_path_factory.mktemp("api")
    database = f"sqlite:///{folder}/bindings.sqlite"
    with open_bindings(database, create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("jane", "administrator")
        _, secret = accounts.tokens.create("jane", "test")
    (folder / "managed_site.py").write_text(SITE.format(database=database), "utf-8")
    options: list[str] = {
        "gunicorn": ["-m", "gunicorn", "--bind=127.0.0.1:0", "--no-control-socket", "managed_site:application"],
        "waitress": ["-m", "waitress", "--listen=127.0.0.1:0", "managed_site:application"],
        DECODING: ["managed_site.py"],
    }.get(request.param, [])
    if options:
        started = start_server([sys.executable, *options], {"PYTHONPATH": str(folder)}, folder)
        started.port = int(started.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    else:
        started = serve_ararat("--database", database)
    yield Sender(started, secret)
    started.stop()


class Sender:
    def __init__(self, server: Any, secret: str) -> None:
        self.server = server
        self.secret = secret

    def __call__(self, method: str, name: str, body: object = None) -> tuple[int, Any]:
        """Send a request for a name, written byte for byte into the request line."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api/v1/names/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        head += f"Authorization: Bearer {self.secret}\r\nContent-Type: application/json\r\n"
        raw = f"{head}Content-Length: {len(content)}\r\n\r\n".encode("latin-1") + content
        answer = self.server.ask(raw)
        kind = answer.header("Content-Type") or ""
        return answer.status, json.loads(answer.body) if "json" in kind and answer.body else None


@pytest.fixture
def decodes(request: pytest.FixtureRequest) -> bool:
    """Whether the server of the test decodes the path."""
    return request.node.callspec.params["server"] == DECODING


NAMES = {
    "ark:12345/x6np1": "ark:12345/x6np1",
    "ark:/12345/x6-np2": "ark:12345/x6np2",
    "ark%3A12345%2Fx6np3": "ark:12345/x6np3",
    "urn:isbn:0451450523": "urn:isbn:9780451450524",
}
"""Paths with the name that every server reads."""

EXACT = {
    "ark:12345/x6/b": "ark:12345/x6/b",
    "ark:12345/x6%2Fb": "ark:12345/x6%2Fb",
    "ark%3A12345%2Fx6%2Fc": "ark:12345/x6/c",
    "ark%3A12345%2Fx6%252Fc": "ark:12345/x6%2Fc",
    "ark:12345/x6d.pdf": "ark:12345/x6d.pdf",
    "ark:12345/x6d%2Epdf": "ark:12345/x6d%2Epdf",
    "ark:12345/x6%3Fe": "ark:12345/x6%3Fe",
    "ark:12345/%C3%A9": "ark:12345/%C3%A9",
    "ark:12345/%FF": "ark:12345/%FF",
    "urn:example:a%2Cb": "urn:example:a%2Cb",
    "urn:example:a,b": "urn:example:a,b",
    "ark%3A12345%2Fx6%2Fhistory": "ark:12345/x6/history",
}
"""Paths with a name that a server must not have decoded."""

REFUSED = (
    "ark:12345/x6?",
    "ark:12345/x6?info",
    "ark:12345/x6/../y",
    "ark:12345/%2E%2E/y",
    "../imports",
    "ark:12345//x6",
    "/ark:12345/x6",
    "ark:12345/x6#f",
    "ark:12345/\xe9",
)


def test_each_name_is_the_one_that_the_client_named(server, decodes):
    for path, name in {**NAMES, **EXACT}.items():
        status, body = server("PUT", path, {"target": "https://example.org/1"})
        if decodes and path in EXACT:
            assert (status, body["code"]) in ((400, "path-inexact"), (405, "method-not-allowed")), path
        else:
            assert (status, body["identifier"]) == (201, name), path
            assert server("GET", path)[1]["identifier"] == name


def test_other_paths_change_nothing(server, decodes):
    # Some servers refuse a request line themselves, remove a fragment, or lose a bare question mark.
    accepted = {"ark:12345/x6#f": "ark:12345/x6", "ark:12345/\xe9": "ark:12345/%E9", "ark:12345//x6": "ark:12345//x6"}
    accepted |= {"ark:12345/x6?": "ark:12345/x6"} if decodes else {}
    for path in REFUSED:
        status, body = server("PUT", path, {"target": "https://example.org/1"})
        assert status in (400, 404) or (status in (200, 201) and body["identifier"] == accepted.get(path)), (path, body)


def test_operations_and_names_are_told_apart(server):
    assert server("PUT", "ark:12345/x6op1", {"target": "https://example.org/1"})[0] == 201
    assert len(server("GET", "ark:12345/x6op1/history")[1]["events"]) == 1
    assert len(server("GET", "ark%3A12345%2Fx6op1/history")[1]["events"]) == 1
    assert server("POST", "ark:12345/x6op1/withdraw")[1]["state"] == "withdrawn"
    assert server("PUT", "ark:12345/x6op1/history", {"target": "https://example.org/1"})[0] == 405
    assert server("POST", "ark:12345/x6op1")[0] == 405


def test_a_long_body_is_refused_and_the_server_goes_on(server):
    status, body = server("PUT", "ark:12345/x6long", {"target": "https://example.org/" + "x" * 5 * 2**20})
    assert (status, body["code"]) == (413, "body-too-long")
    assert server("PUT", "ark:12345/x6long", {"target": "https://example.org/1"})[0] == 201
