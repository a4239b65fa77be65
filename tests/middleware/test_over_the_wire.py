"""The middleware behind a real gunicorn with raw sockets: requests are preserved byte by byte.

All tests share one server per configuration. Tests that harm its database share another.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from ararat.bindings.storage.databases.sqlite import FRESH_SECONDS
from ararat.middleware import open_bindings

SITE = """\
import json, os
from ararat.middleware import ResolverMiddleware, open_bindings


def site(environ, start_response):
    seen = {key: environ.get(key) for key in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "RAW_URI", "ararat.ark")}
    if environ["PATH_INFO"].endswith("/moved"):
        start_response("301 Moved Permanently", [("Location", "/i/8")])
        return []
    body = json.dumps({"site": seen, "body": environ["wsgi.input"].read().decode("latin-1")}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


bindings = open_bindings(os.environ["DATABASE"], create=True)
bindings.lookup("ark:12345/doc")  # under --preload this connection is made before the fork
application = ResolverMiddleware(site, bindings, prefix="https://r.example", inspector="/")
"""

# With the usual limit of the request line, 8,190 bytes, as in `ararat serve`.
COMMAND = [
    sys.executable,
    "-m",
    "gunicorn",
    "--bind",
    "127.0.0.1:0",
    "--no-control-socket",
    "--limit-request-line",
    "8190",
    "--log-level",
    "info",
]
VARIANTS = {"one worker": ["--threads", "2"], "preloaded, two workers": ["--preload", "--workers", "2"]}


@pytest.fixture(scope="module")
def start(start_server, tmp_path_factory, data):
    """start(*options) runs a site with gunicorn and the bindings of the fixture FX1 and ark:12345/x."""

    def run(*options: str):
        folder = tmp_path_factory.mktemp("site")
        database = folder / "bindings.sqlite"
        fill(database, json.loads((data / "fixture_FX1.json").read_text("ascii")))
        (folder / "site_under_test.py").write_text(SITE)
        server = start_server([*COMMAND, *options, "site_under_test:application"], {"DATABASE": str(database)}, folder)
        server.port = int(server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)"))
        server.wait_for("Booting worker")
        return server, database

    return run


def fill(database: Path, fixture: dict) -> None:
    # A change in the last two seconds is sent without Last-Modified, so two answers could differ.
    with open_bindings(database, create=True, clock=lambda: datetime.now(UTC) - timedelta(hours=1)) as bindings:
        for group in ("bindings", "urn_bindings"):
            for name, row in fixture[group].items():
                metadata = {element: value for element, value in row.items() if element not in ("kind", "target")}
                bindings.bind(name, row["target"], kind=row["kind"], metadata=metadata)
        bindings.bind("ark:12345/x", "https://target.test/t")
        bindings.bind("ark:12345/gone", "https://target.test/gone")
        bindings.withdraw("ark:12345/gone", reason="a hoax")
        bindings.bind("ark:12345/book", "https://target.test/book?v=1#top", passthrough=True)
        bindings.bind("ark:12345/img", "/i/7", kind="served", scope="subtree")


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=list(VARIANTS))
def server(request, start):
    return start(*request.param)[0]


@pytest.mark.naughty
def test_hostile_identifiers_get_well_formed_answers(server, naughty):
    encoded = naughty.input.encode("utf-8", "surrogatepass")[:9000]
    answer = server.get("/" + quote(encoded, safe="/:"))
    if re.match("(ark|urn):", naughty.input, re.IGNORECASE | re.ASCII):
        # A longer identifier on the wire can be refused for its length. A final slash is ignored.
        allowed = {*naughty.http} | (
            {414} if len(quote(encoded)) > 3500 else {302} if naughty.input.endswith("x/") else set()
        )
        assert answer.status in allowed
        assert len(answer.body) < 16_000
    # As a careless client sends it: another request, but nothing worse.
    careless = server.get("/" + quote(encoded, safe="/:?#[]@!$&'()*+,;=%~"))
    assert careless.status in (200, 302, 303, 400, 404, 410, 414)
    for told in (answer, careless):
        text = told.body.decode("utf-8")
        # A page contains line feeds. Forged header lines are checked below.
        assert not set(text) & set(naughty.must_not_appear_raw) - set("\r\n")
        assert not any(piece in text for piece in naughty.never_in_html)
        assert all(re.fullmatch("[ -~]+", f"{name}: {value}") for name, value in told.headers)


def test_all_workers_use_the_same_bindings(server):
    for _ in range(8):
        assert server.get("/ark:12345/doc").header("Location") == "https://example.org/doc"
        assert server.get("/ark:12345/gone").status == 410


def test_passthrough_appends_the_rest_to_the_target(server):
    answer = server.get("/ark:/12345/bo-ok/a%2Fb/c.en")
    assert (answer.status, answer.header("Location")) == (302, "https://target.test/book/a%2Fb/c.en?v=1#top")
    assert '<https://r.example/ark:12345/book/a%2Fb/c.en?info>; rel="describedby"' in answer.all("Link")
    description = server.get("/ark:12345/book/a%2Fb/c.en?info", accept="application/json").json()
    assert (description["through"], description["metadata"]) == (
        "ark:12345/book",
        {"persistence": "no statement known"},
    )
    assert "It is part of" in server.get("/ark:12345/book/x?").body.decode()
    assert server.get("/ark:12345/bookend").status == 404


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "rest", ["/full/!200,200/0/default.jpg", "/full/^max/0/a%2Fb-c.jpg?download=1", "/0,0,10,10/max", "/info.json", "/"]
)
@pytest.mark.parametrize("name", ["ark:12345/img", "ark:/123-45/i-mg", "ARK:12345/%69mg"])
def test_names_below_a_served_subtree_reach_the_site_byte_by_byte(server, name, rest):
    answer = server.get(f"/{name}{rest}")
    seen = answer.json()["site"]
    assert (answer.status, seen["RAW_URI"], seen["ararat.ark"]) == (200, f"/i/7{rest}", "ark:12345/img")
    assert '<https://r.example/ark:12345/img?info>; rel="describedby"' in answer.all("Link")


def test_a_permanent_redirect_of_the_site_below_an_ark_becomes_temporary(server):
    answer = server.get("/ark:12345/img/,/moved")
    assert (answer.status, answer.header("Location")) == (302, "/i/8")


@pytest.mark.one_setup
@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/plain"])
@pytest.mark.parametrize(
    "target", ["/ark:12345/doc", "/ark:12345/doc?", "/ark:12345/nope", "/ark:12345/gone", "/ark:", "/ark:12345/page"]
)
def test_head_returns_no_body(server, target, accept):
    get, head = server.get(target, accept=accept), server.get(target, "HEAD", accept=accept)
    varying = {"date", "content-length"} if target.endswith("page") else {"date"}
    assert [field for field in get.headers if field[0].lower() not in varying] == [
        field for field in head.headers if field[0].lower() not in varying
    ]
    assert (get.status, head.body) == (head.status, b"")


def test_a_request_body_reaches_only_the_site(server):
    fields = "Host: site.test\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"
    assert server.ask(f"POST /form HTTP/1.1\r\n{fields}".encode()).json()["body"] == "body"
    assert server.ask(f"POST /ark:12345/doc HTTP/1.1\r\n{fields}".encode()).status == 405


# The store fails under a running server -------------------------------------------------------------------------------


def without_permissions(database: Path):
    database.chmod(0)
    return lambda: database.chmod(0o600)


def moved_away(database: Path):
    aside = database.with_name("aside")
    database.rename(aside)
    return lambda: aside.rename(database)


def overwritten(database: Path):
    aside = database.with_name("aside")
    shutil.copy(database, aside)
    database.write_bytes(b"not a database " * 500)
    # A new file with the same name, like a restored backup.
    return lambda: aside.rename(database)


@pytest.fixture(scope="module")
def harmed(start):
    """A server and its database, which tests harm and repair."""
    server, database = start(*VARIANTS["one worker"])
    yield server, database
    server.stop()


@pytest.mark.one_setup
@pytest.mark.parametrize("harm", [without_permissions, moved_away, overwritten])
def test_names_answer_503_while_the_database_is_unreadable(harmed, harm):
    server, database = harmed
    assert server.get("/ark:12345/doc").status == 302
    repair = harm(database)
    time.sleep(FRESH_SECONDS)
    answer = server.get("/ark:12345/doc", accept="application/json")
    assert (answer.status, answer.json()["code"]) == (503, "bindings-unavailable")
    assert int(answer.header("Retry-After")) > 0
    assert server.get("/ark:12345/doc?info").status == 503
    assert server.get("/index.html").status == 200
    assert server.get("/ark:12345").status == 400
    repair()
    time.sleep(FRESH_SECONDS)
    assert server.get("/ark:12345/doc").status == 302
    assert "Traceback" not in server.log()
