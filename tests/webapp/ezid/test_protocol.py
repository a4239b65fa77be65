"""Paths, methods, parameters, content types and pages, in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.system import thread_slots
from ararat.bindings.system.concurrency import ConcurrencyLimit
from ararat.middleware import BindingsUnavailable, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.ezid import configuration

PREFIX = "https://names.example"
NAME = "ark:12345/x5a"


class Api:
    """The EZID API in this process, with the token of a curator for ark:12345/x5."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self.accounts = Accounts(bindings)
        self.app = create_app(bindings, prefix=PREFIX, ezid="/ezid", trace_elsewhere=False)
        self.client = self.app.test_client()
        self.fields: dict[str, str] = {}

    def add_account(self) -> None:
        self.accounts.add("jane", "curator", ["ark:12345/x5"])
        _, secret = self.accounts.tokens.create("jane", "test")
        self.fields = {"Authorization": f"Bearer {secret}"}

    def send(self, method: str, path: str, body: bytes | None = None, **fields: str) -> Any:
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        return self.client.open(f"/ezid{path}", method=method, data=body, headers={**self.fields, **headers})

    def line(self, method: str, path: str, body: bytes | None = None, **fields: str) -> tuple[int, str]:
        """Return the status and the first line of an answer in text."""
        response = self.send(method, path, body, **fields)
        assert response.content_type == "text/plain; charset=UTF-8"
        assert response.headers["Cache-Control"] == "no-store"
        return response.status_code, response.text.splitlines()[0]


@pytest.fixture
def bindings(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(tmp_path / "bindings.sqlite")


@pytest.fixture
def api(bindings: Bindings) -> Api:
    made = Api(bindings)
    made.add_account()
    return made


def test_the_api_is_disabled_until_an_account_exists(bindings: Bindings) -> None:
    api = Api(bindings)
    for method, path in (("GET", f"/id/{NAME}"), ("POST", "/shoulder/ark:/12345/x5"), ("GET", "/login")):
        status, line = api.line(method, path)
        assert (status, line[:60]) == (404, "error: bad request - this API is disabled until an account e")
    assert api.line("GET", "/status") == (200, "success: EZID is up")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/status", "GET, HEAD"),
        ("/login", "GET, HEAD"),
        ("/logout", "GET, HEAD"),
        ("/download_request", "POST"),
        ("/download/1-x.zip", "GET, HEAD"),
        (f"/id/{NAME}", "DELETE, GET, HEAD, POST, PUT"),
        ("/shoulder/ark:/12345/x5", "POST"),
    ],
)
def test_every_other_method_is_refused(api: Api, path: str, allowed: str) -> None:
    for method in ("GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"):
        if method not in allowed:
            response = api.send(method, path)
            assert (response.status_code, response.text) == (405, "error: method not allowed")
            assert response.headers["Allow"] == allowed


def test_head_has_the_fields_of_get_without_a_body(api: Api) -> None:
    got, head = api.send("GET", "/status"), api.send("HEAD", "/status")
    assert head.status_code == 200
    assert head.data == b""
    assert head.headers["Content-Length"] == got.headers["Content-Length"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["", "/", "/id", "/id/", "/shoulder/", "/Status", "/status/", "/idx/a", "/download", "//"]
)
def test_an_unknown_path_is_refused(api: Api, path: str) -> None:
    assert api.line("GET", path) == (
        400,
        (
            "error: bad request - "
            "unrecognized path; expected id, shoulder, login, logout, status, version or download_request"
        ),
    )


@pytest.mark.one_setup
@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
@pytest.mark.parametrize(
    ("given", "suggestion"),
    [
        ("ark:/12345//x5a", "ark:/12345/x5a"),
        ("ark:%2F12345%252Fx5a", "ark:/12345/x5a"),
        # A status line is ANVL, in which a percent sign is encoded.
        ("ark:12345/x5:a", "ark:12345/x5%253Aa"),
    ],
)
def test_an_invalid_identifier_has_a_suggestion(api: Api, method: str, given: str, suggestion: str) -> None:
    status, line = api.line(method, f"/id/{given}", b"" if method in ("PUT", "POST") else None)
    assert status == 400
    assert line.endswith(f"). Did you mean {suggestion}?")


def test_an_invalid_identifier_without_a_suggestion_has_none(api: Api) -> None:
    status, line = api.line("GET", "/id/nonsense")
    assert status == 400
    assert "Did you mean" not in line


def test_other_paths_are_those_of_the_site(api: Api) -> None:
    assert api.client.get("/ezidx/status").status_code == 404
    assert api.client.get("/healthz").status_code == 200
    assert b"<html" in api.client.get("/").data


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("method", "path", "detail"),
    [
        ("GET", "/status?detail=yes", "unrecognized URL query parameter 'detail'"),
        ("GET", f"/id/{NAME}?update_if_exists=yes", "unrecognized URL query parameter 'update_if_exists'"),
        ("PUT", f"/id/{NAME}?prefix_match=yes", "unrecognized URL query parameter 'prefix_match'"),
        ("POST", f"/id/{NAME}?update_if_exists=yes", "unrecognized URL query parameter 'update_if_exists'"),
        ("DELETE", f"/id/{NAME}?force", "unrecognized URL query parameter 'force'"),
        ("POST", "/shoulder/ark:/12345/x5?a%0Ab=c", r"unrecognized URL query parameter 'a\u{a}b'"),
        ("GET", f"/id/{NAME}?prefix_match=1", "the URL query parameter prefix_match must be yes or no"),
        ("GET", f"/id/{NAME}?prefix_match", "the URL query parameter prefix_match must be yes or no"),
        ("GET", f"/id/{NAME}?prefix_match=yes&prefix_match=no", "a URL query parameter is given twice"),
        ("GET", f"/id/{NAME}?{'a=b&' * 200}", "the URL has too many query parameters"),
    ],
)
def test_a_wrong_query_parameter_is_refused(api: Api, method: str, path: str, detail: str) -> None:
    assert api.line(method, path) == (400, f"error: bad request - {detail}")
    assert api.bindings.lookup(NAME) is None


def test_the_value_no_is_the_default(api: Api) -> None:
    assert api.line("PUT", f"/id/{NAME}?update_if_exists=no")[0] == 201
    assert api.line("PUT", f"/id/{NAME}?update_if_exists=no")[0] == 400
    assert api.line("GET", f"/id/{NAME}/b?prefix_match=no")[0] == 400


@pytest.mark.parametrize("given", ["text/plain", "text/plain; charset=UTF-8", 'TEXT/PLAIN;charset="utf-8"', ""])
def test_a_body_is_plain_text(api: Api, given: str) -> None:
    assert api.line("PUT", f"/id/{NAME}", b"a: b", Content_Type=given)[0] == 201


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "given",
    [
        "application/x-www-form-urlencoded",
        "text/html",
        "text/plain; charset=ISO-8859-1",
        "multipart/form-data; boundary=a",
        "x",
    ],
)
def test_another_content_type_is_refused(api: Api, given: str) -> None:
    for method, path in (("PUT", f"/id/{NAME}"), ("POST", f"/id/{NAME}"), ("POST", "/shoulder/ark:/12345/x5")):
        line = "error: bad request - the content type must be text/plain; charset=UTF-8"
        assert api.line(method, path, b"a: b", Content_Type=given) == (400, line)
    assert api.bindings.lookup(NAME) is None


def test_a_download_request_is_a_form(api: Api) -> None:
    assert api.line("POST", "/download_request", b"format=anvl", Content_Type="text/plain")[0] == 400
    status, line = api.line("POST", "/download_request", b"format=anvl")
    assert status == 200
    assert line.startswith(f"success: {PREFIX}/ezid/download/")


def test_a_download_is_not_an_import_of_the_json_api(api: Api) -> None:
    _, line = api.line("POST", "/download_request", b"format=anvl")
    number = line.rpartition("/")[2].partition("-")[0]
    response = api.client.get(f"/api/v1/imports/{number}", headers=api.fields)
    assert (response.status_code, response.mimetype) == (404, "application/problem+json")


def test_the_url_of_a_download_does_not_depend_on_the_host(api: Api) -> None:
    _, line = api.line(
        "POST", "/download_request", b"format=anvl", Host="evil.example", X_Forwarded_Host="evil.example"
    )
    assert line.startswith(f"success: {PREFIX}/ezid/download/")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "mounted", "base"),
    [
        ("https://names.example", "", "https://names.example/ezid"),
        ("https://example.org/ids", "", "https://example.org/ids/ezid"),
        ("https://example.org/ids", "/ids", "https://example.org/ids/ezid"),
        ("https://example.org", "/tools", "https://example.org/tools/ezid"),
    ],
)
def test_urls_and_cookies_have_the_path_of_the_prefix_or_of_the_mount(
    api: Api, bindings: Bindings, prefix: str, mounted: str, base: str
) -> None:
    # A front server can answer with the host of the prefix, or forward to another one.
    app = create_app(bindings, prefix=prefix, inspector="http://127.0.0.1:8000", ezid="/ezid")
    client = app.test_client()
    asked = {"environ_overrides": {"SCRIPT_NAME": mounted}, "headers": api.fields}
    reply = client.post("/ezid/download_request", data=b"format=anvl", **asked)
    assert reply.text.startswith(f"success: {base}/download/")
    cookie = client.get("/ezid/login", **asked).headers["Set-Cookie"]
    assert f"Path={base.split('/', 3)[3].join(['/', ''])};" in f"{cookie};"


@pytest.mark.naughty
def test_no_identifier_makes_the_api_fail(naughty: Any, api: Api) -> None:
    text = naughty.input.encode("utf-8", "surrogatepass")[:1000]
    for query in ("", "?prefix_match=yes"):
        status, line = api.line("GET", f"/id/{quote(text, safe=':/')}{query}")
        assert (status, line.isascii()) == (400, True), line
        assert line.startswith("error: bad request - ")


@pytest.fixture
def described(api: Api) -> Api:
    assert api.line("PUT", f"/id/{NAME}", "erc.who: No\u202eah <b>".encode())[0] == 201
    return api


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accept", "is_page"),
    [
        ("text/plain", False),
        ("*/*", False),
        ("text/*", False),
        ("application/json", False),
        ("text/plain, text/html;q=0.5", False),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", True),
        ("application/xhtml+xml", True),
    ],
)
def test_a_client_that_prefers_html_gets_a_page(
    described: Api, read_page: Callable[[str], Any], accept: str, is_page: bool
) -> None:
    api = described
    response = api.send("GET", f"/id/{NAME}", Accept=accept)
    assert (response.status_code, response.mimetype) == (200, "text/html" if is_page else "text/plain")
    assert {"Accept", "Authorization", "Cookie"} <= {*response.headers["Vary"].split(", ")}
    if is_page:
        page = read_page(response.text)
        assert "\u202e" not in response.text
        assert "U+202E" in page.one("dl").text
        assert f"success: ark:/{NAME[4:]}" in page.one("article").text
        missing = api.send("GET", f"/id/{NAME}z", Accept=accept)
        assert (missing.status_code, missing.mimetype) == (400, "text/html")
        assert "no such identifier" in read_page(missing.text).one("h1").text + missing.text
    # Libraries that send the Accept field of browsers read the first line of the answer to a change.
    assert api.line("POST", f"/id/{NAME}", b"a: b", Accept=accept)[0] == 200
    assert api.line("POST", f"/id/{NAME}z", b"a: b", Accept=accept)[0] == 400


def test_a_request_without_accept_gets_text(api: Api) -> None:
    assert api.line("GET", "/status") == (200, "success: EZID is up")


def test_a_database_that_cannot_be_reached_is_a_temporary_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BindingsUnavailable("postgresql://db.example: the password is secret")

    monkeypatch.setattr(DatabaseStore, "fetch", fail)
    response = api.send("GET", "/status")
    line = "error: concurrency limit exceeded - the database is busy or cannot be reached; try again in some seconds"
    assert (response.status_code, response.text, response.headers["Retry-After"]) == (503, line, "5")


def test_an_unforeseen_error_has_a_first_line(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bindings, "lookup", lambda *_: 1 / 0)
    line = "error: internal server error - the error was logged"
    assert api.line("GET", f"/id/{NAME}") == (500, line)


def test_a_database_that_can_only_be_read_refuses_changes(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from ararat.middleware import ReadOnlyBindings

    def fail(*_: object, **__: object) -> None:
        raise ReadOnlyBindings

    monkeypatch.setattr("ararat.bindings.collection.Bindings.change", fail)
    response = api.send("PUT", f"/id/{NAME}")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert response.text.startswith("error: concurrency limit exceeded - the database can only be read; ")


def test_more_concurrent_requests_than_the_limit_are_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    known = api.app.extensions[configuration.KEY]
    object.__setattr__(known, "slots", ConcurrencyLimit(3, 2))
    # Otherwise the third request of a client waits for a slot of a page.
    monkeypatch.setattr(thread_slots, "PAGES_EACH", 3)
    begun, go_on = threading.Barrier(3), threading.Event()
    lookup = Bindings.lookup

    def slow(self: Bindings, name: str) -> object:
        begun.wait(20)
        go_on.wait(20)
        return lookup(self, name)

    monkeypatch.setattr(Bindings, "lookup", slow)
    running = [threading.Thread(target=api.app.test_client().get, args=(f"/ezid/id/{NAME}",)) for _ in range(2)]
    for thread in running:
        thread.start()
    begun.wait(20)
    response = api.send("GET", f"/id/{NAME}")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.text.startswith("error: concurrency limit exceeded - ")
    go_on.set()
    for thread in running:
        thread.join()
    assert known.slots.in_use == 0
    monkeypatch.setattr(Bindings, "lookup", lookup)
    assert api.line("GET", f"/id/{NAME}")[0] == 400


def test_a_request_without_a_thread_for_pages_is_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_slots, "PAGE_SECONDS", 0.01)
    held = [thread_slots.slots.pages.take(str(number)) for number in range(thread_slots.slots.pages.limit)]
    response = api.send("GET", f"/id/{NAME}")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.text.startswith("error: concurrency limit exceeded - ")
    assert all(held)


def test_a_download_holds_its_place_until_it_is_read(api: Api) -> None:
    known = api.app.extensions[configuration.KEY]
    _, line = api.line("POST", "/download_request", b"format=anvl")
    with api.client.get(line.partition(PREFIX)[2], buffered=False) as response:
        assert known.slots.in_use == 1
        assert response.data
    assert known.slots.in_use == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["ezid", "/", "", "/a b", "/é", "/ark:12345", "/a/../b", "/docs", "/api/ezid", "/a%20"]
)
def test_a_wrong_path_for_the_api_is_refused(bindings: Bindings, path: str) -> None:
    with pytest.raises(ValueError, match="EZID API"):
        create_app(bindings, prefix=PREFIX, ezid=path)


def test_the_api_needs_a_prefix_and_a_database(bindings: Bindings, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs a prefix"):
        create_app(bindings, ezid="/ezid")
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n")
    with open_bindings(table) as file, pytest.raises(ValueError, match="bindings in a database"):
        create_app(file, prefix=PREFIX, ezid="/ezid")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/status", "success: EZID is up"),
        ("/status?subsystems=", "success: EZID is up"),
        ("/status?detailed=yes", "success: EZID is up"),
        ("/status?subsystems=*", "success: EZID is up\nnames: up\n"),
        ("/status?subsystems=datacite,names", "success: EZID is up\ndatacite: unrecognized\nnames: up\n"),
    ],
)
def test_a_status_can_name_subsystems(api: Api, path: str, text: str) -> None:
    # The gem ezid-client always sends subsystems. An answer of one line has no line end, as at EZID.
    answer = api.client.get(f"/ezid{path}")
    assert (answer.status_code, answer.text) == (200, text)


def test_the_version_is_a_line(api: Api) -> None:
    assert api.client.get("/ezid/version").text.startswith("success: Ararat ")
