from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any
from wsgiref.validate import validator

import pytest

from ararat.net.hop import HopFailed, HopResponse
from ararat.tracing.in_process import HOP_KEY, NamesOnly, local_fetch

PREFIX = "https://ids.example"


class Site:
    """A WSGI callable that records its requests."""

    def __init__(self, name: str = "site") -> None:
        self.name = name
        self.environs: list[dict[str, Any]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        self.environs.append(environ)
        start_response("302 Found", [("Location", "/page"), ("X-Site", self.name)])
        return [b""]

    @property
    def environ(self) -> dict[str, Any]:
        (environ,) = self.environs
        return environ


def ask(app: Any, url: str = f"{PREFIX}/ark:12345/x", method: str = "GET", prefix: str = PREFIX) -> HopResponse:
    return local_fetch({prefix: app}, None, "192.0.2.7")(method, url, time.monotonic() + 10)


def test_this_site_answers_in_process():
    response = ask(Site())
    assert (response.status, response.reason, response.where) == (302, "Found", "here")
    assert response.all("location") == ["/page"]


def test_the_site_sees_a_plain_request():
    site = Site()
    ask(site, f"{PREFIX}:443/ark:12345/a%2Fb%C3%A9/../c?info", "HEAD")
    environ = site.environ
    expected = {
        "REQUEST_METHOD": "HEAD",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/ark:12345/a/b\xc3\xa9/../c",
        "QUERY_STRING": "info",
        "REQUEST_URI": "/ark:12345/a%2Fb%C3%A9/../c?info",
        "RAW_URI": "/ark:12345/a%2Fb%C3%A9/../c?info",
        "SERVER_NAME": "ids.example",
        "SERVER_PORT": "443",
        "HTTP_HOST": "ids.example",
        "REMOTE_ADDR": "192.0.2.7",
        "wsgi.url_scheme": "https",
        HOP_KEY: True,
    }
    assert {name: environ[name] for name in expected} == expected
    assert environ["wsgi.input"].read() == b""
    assert [name for name in environ if name.startswith("HTTP_")] == ["HTTP_HOST", "HTTP_USER_AGENT", "HTTP_ACCEPT"]
    assert not {"CONTENT_LENGTH", "CONTENT_TYPE", "REMOTE_USER", "AUTH_TYPE", "HTTP_COOKIE"} & set(environ)


def test_the_environ_follows_pep_3333():
    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return []

    assert ask(validator(site)).status == 200


@pytest.mark.parametrize("target", ["/x", "/x?", "/x??", "/x?info", "/a%2fb", "//x", "/a//b"])
def test_the_raw_target_has_both_names(target):
    site = Site()
    ask(site, PREFIX + target)
    assert site.environ["REQUEST_URI"] == site.environ["RAW_URI"] == target


def test_a_prefix_with_a_path_sets_script_name():
    site = Site()
    ask(site, "https://ids.example/a%20b/ids/ark:12345/x?", prefix="https://ids.example/a%20b/ids")
    assert (site.environ["SCRIPT_NAME"], site.environ["PATH_INFO"]) == ("/a b/ids", "/ark:12345/x")
    assert site.environ["REQUEST_URI"] == "/a%20b/ids/ark:12345/x?"


def chosen(url: str, *prefixes: str) -> tuple[str, str]:
    """Sites that report which of them answered, and its mount point."""
    sites = {prefix: Site(prefix) for prefix in prefixes}
    response = local_fetch(sites, lambda *_: HopResponse(200, "", (("X-Site", "elsewhere"),)), None)(
        "GET", url, time.monotonic() + 10
    )
    (name,) = response.all("X-Site")
    return name, sites[name].environ["SCRIPT_NAME"] if name in sites else ""


A, AB, OTHER = "https://ids.example/a", "https://ids.example/a/b", "https://other.example"


@pytest.mark.parametrize(
    ("url", "site", "mount"),
    [
        pytest.param("https://ids.example/a/x", A, "/a", id="under-a-prefix"),
        pytest.param("https://ids.example/a/b/x", AB, "/a/b", id="the-longest-prefix"),
        pytest.param("https://ids.example/a/b", AB, "/a/b", id="the-prefix-itself"),
        pytest.param("https://ids.example/a/bc", A, "/a", id="whole-segments"),
        pytest.param("https://ids.example/a?b/x", A, "/a", id="not-by-the-query"),
        pytest.param("HTTPS://IDS.example:443/a/x", A, "/a", id="another-spelling-of-the-origin"),
        pytest.param("https://ids.example/c", "elsewhere", "", id="another-path-of-the-same-server"),
        pytest.param("https://ids.example/ab", "elsewhere", "", id="a-part-of-a-segment"),
        pytest.param("https://other.example/a/b", OTHER, "", id="another-prefix"),
        pytest.param("http://ids.example/a/x", "elsewhere", "", id="another-scheme"),
        pytest.param("https://ids.example:8443/a/x", "elsewhere", "", id="another-port"),
        pytest.param("https://ids.example.org/a/x", "elsewhere", "", id="another-host"),
    ],
)
def test_the_longest_prefix_selects_the_site(url, site, mount):
    assert chosen(url, A, OTHER, AB) == (site, mount)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        pytest.param("https://ids.example/a/ark:12345/x", A, id="a-name"),
        pytest.param("https://ids.example/a/Urn:example:x?info", A, id="a-name-in-capitals"),
        pytest.param("https://ids.example/a/ark%3A12345/x", "elsewhere", id="an-encoded-colon"),
        pytest.param("https://ids.example/a/maps/17", "elsewhere", id="a-page"),
        pytest.param("https://ids.example/a", "elsewhere", id="the-prefix-itself"),
        pytest.param("https://ids.example/ark:12345/x", "elsewhere", id="a-name-outside-the-prefix"),
    ],
)
def test_a_names_only_prefix_does_not_answer_other_urls(url: str, site: str) -> None:
    sites = {A: NamesOnly(Site(A), ["ark", "urn"])}
    fetch = local_fetch(sites, lambda *_: HopResponse(200, "", (("X-Site", "elsewhere"),)), None)
    assert fetch("GET", url, time.monotonic() + 10).all("X-Site") == [site]


def test_without_an_outer_fetch_other_hosts_fail():
    with pytest.raises(HopFailed) as failed:
        ask(Site(), "https://elsewhere.example/")
    assert failed.value.code == "not-asked"


@pytest.mark.parametrize(
    "url", ["https://user@ids.example/", "https://ids.example\\@evil.example/", "ftp://ids.example/", "/x", ""]
)
def test_an_invalid_url_is_not_requested(url):
    def never(*_: object) -> HopResponse:
        raise AssertionError

    with pytest.raises(HopFailed) as failed:
        local_fetch({PREFIX: Site()}, never, None)("GET", url, time.monotonic() + 10)
    assert failed.value.code == "bad-url"


@pytest.mark.parametrize("prefix", ["ids.example", "ftp://ids.example", "https://ids.example/?x"])
def test_an_invalid_prefix_raises_an_error_at_start(prefix):
    with pytest.raises(ValueError, match=r".") as error:
        local_fetch({prefix: Site()}, None, None)
    assert str(error.value).isascii()


class Body:
    """A body that records whether it was closed."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks = chunks
        self.read = 0
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            self.read += 1
            yield chunk

    def close(self) -> None:
        self.closed = True


def endless() -> Iterator[bytes]:
    while True:
        yield b"x" * 1000


def test_the_body_is_closed_unread_after_the_header():
    body = Body(endless())

    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Body:
        start_response("200 OK", [])
        return body

    assert ask(site).status == 200
    assert (body.read, body.closed) == (0, True)


def test_a_generator_is_read_up_to_its_header():
    closed = []

    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        try:
            yield b""
            start_response("303 See Other", [("Location", "/about")])
            yield b"body"
            raise AssertionError("read too far")
        finally:
            closed.append(True)

    assert ask(site).status == 303
    assert closed == [True]


def test_a_second_start_response_needs_exc_info():
    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [])
        start_response("500 Oh", [("X", " y\t")], (ValueError, ValueError(), None))
        return []

    response = ask(site)
    assert (response.status, response.headers) == (500, (("X", "y"),))


def raising(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    raise LookupError("secret detail")


def silent(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    return []


def twice(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    start_response("200 OK", [])
    start_response("200 OK", [])
    return []


def wrong_status(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    start_response("fine", [])
    return []


@pytest.mark.parametrize("site", [raising, silent, twice, wrong_status])
def test_an_exception_of_the_site_fails_the_hop_and_is_logged(site, caplog):
    with caplog.at_level(logging.ERROR), pytest.raises(HopFailed) as failed:
        ask(site)
    assert failed.value.code == "site-error"
    assert "secret" not in failed.value.sentence
    assert "Traceback" in caplog.text


def test_a_site_without_an_answer_ends_at_the_deadline():
    def site(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        while True:
            time.sleep(0.005)
            yield b""

    with pytest.raises(HopFailed) as failed:
        local_fetch({PREFIX: site}, None, None)("GET", f"{PREFIX}/", time.monotonic() + 0.05)
    assert failed.value.code == "timeout"


def test_a_prefix_added_later_is_used_by_the_next_trace():
    local: dict[str, Any] = {}
    with pytest.raises(HopFailed):
        local_fetch(local, None, None)("GET", f"{PREFIX}/", time.monotonic() + 10)
    local[PREFIX] = Site()
    assert local_fetch(local, None, None)("GET", f"{PREFIX}/", time.monotonic() + 10).status == 302
