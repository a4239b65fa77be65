"""The access log: one line of JSON for a resolution, without data of the client."""

from __future__ import annotations

import json
import logging

import pytest
from werkzeug.test import Client

from ararat.middleware import BindingSource, BindingsUnavailable, ResolverMiddleware, log_resolutions

SECRET = "s3cret@example.org"


def refused(code, received, identifier=None):
    status = {"not-bound": 404, "withdrawn": 410}.get(code, 400)
    named = {} if identifier is None else {"identifier": identifier}
    return {**named, "received": received, "status": status, "outcome": "refused", "code": code}


def site(environ, start_response):
    start_response("404 Not Found", [])
    return [b"the site"]


@pytest.fixture
def lines(caplog):
    """lines(client, path, …) returns the lines of the log as text."""
    caplog.set_level(logging.INFO, logger="names")

    def made(client: Client, *paths: str, method: str = "GET") -> list[str]:
        caplog.clear()
        for path in paths:
            headers = {
                "User-Agent": SECRET,
                "Referer": f"https://{SECRET}/",
                "Cookie": SECRET,
                "X-Forwarded-For": SECRET,
            }
            client.open(path, method=method, headers=headers, environ_overrides={"REMOTE_ADDR": "192.0.2.17"})
        return [record.getMessage() for record in caplog.records if record.name == "names"]

    return made


@pytest.fixture
def client(held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/gone", "/gone", status="withdrawn"),
    )
    return Client(ResolverMiddleware(site, store, on_resolve=log_resolutions(logging.getLogger("names"))))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/ARK:/12345/d-o-c", {"identifier": "ark:12345/doc", "status": 302, "outcome": "located"}),
        ("/ark:12345/doc?info", {"identifier": "ark:12345/doc", "status": 200, "outcome": "metadata"}),
        ("/ark:12345/page", {"identifier": "ark:12345/page", "status": 200, "outcome": "served"}),
        ("/ark:1/%D0%B1", refused("not-bound", "ark:1/%D0%B1", "ark:1/%D0%B1")),
        ("/ark:12345/gone", refused("withdrawn", "ark:12345/gone", "ark:12345/gone")),
        ("/ARK:/12345/N-o?lang=en", refused("not-bound", "ARK:/12345/N-o", "ark:12345/No")),
        ("/ark:B2345/x", refused("naan-uppercase", "ark:B2345/x")),
        (f"/ark:12345/{'x' * 1500}!", refused("bad-char", f"ark:12345/{'x' * 990}")),
    ],
)  # fmt: skip
def test_a_line_contains_identifier_and_status(client, lines, path, said):
    (line,) = lines(client, path)
    entry = json.loads(line)
    assert {name: value for name, value in entry.items() if name not in ("time", "ms")} == said
    assert entry["ms"] >= 0
    assert entry["time"].endswith("Z")
    assert line.isascii()
    assert line.isprintable()


def test_a_line_contains_no_data_of_the_client(client, lines):
    paths = (f"/ark:12345/doc?user={SECRET}", f"/ark:B2345/x?user={SECRET}", f"/urn:x?{SECRET}", "/ark:12345/doc")
    logged = lines(client, *paths)
    assert len(logged) == 4
    assert not [line for line in logged if SECRET in line or "192.0.2" in line or "s3cret" in line]


def test_each_request_for_an_identifier_has_one_line(client, lines):
    assert lines(client, "/", "/page", "/wiki/Talk:x") == []
    assert lines(client, "/ark:12345/doc", method="OPTIONS") == []
    assert [json.loads(line)["status"] for line in lines(client, "/ark:12345/doc", method="POST")] == [405]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        pytest.param(BindingsUnavailable("gone"), 503, "bindings-unavailable", id="no bindings"),
        pytest.param(RuntimeError("unforeseen"), 500, "internal-error", id="an error"),
    ],
)
def test_a_failed_request_has_a_line(lines, error, status, code):
    class Broken(BindingSource):
        def fetch(self, keys):
            raise error

    resolver = ResolverMiddleware(site, Broken(), on_resolve=log_resolutions(logging.getLogger("names")))  # type: ignore[arg-type]
    (line,) = lines(Client(resolver), "/ark:12345/doc")
    assert (json.loads(line)["status"], json.loads(line)["code"]) == (status, code)


def test_a_304_answer_is_logged(client, lines, caplog):
    tag = client.get("/ark:12345/doc?info").headers["ETag"]
    caplog.clear()
    client.get("/ark:12345/doc?info", headers={"If-None-Match": tag})
    assert json.loads(caplog.records[-1].getMessage())["status"] == 304
