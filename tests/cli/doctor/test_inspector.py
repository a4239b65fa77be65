"""Checks of the inspector of a deployment: its link, and the addresses of its clients behind reverse proxies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.cli.doctor import inspector
from ararat.cli.doctor.deployment import checks
from ararat.cli.doctor.finding import HealthFinding
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.middleware.http.trusted_proxy import ForwardedFields
from ararat.net import url as weburl
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from ararat.webapp import create_app

PREFIX = "https://r.example"
VISITOR = "203.0.113.5"


@pytest.fixture(scope="module")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_bindings(tmp_path_factory.mktemp("names") / "names.sqlite", create=True) as opened:
        opened.bind("ark:12345/x", "https://target.test/")
        yield opened


class Chain:
    """Reverse proxies before an application: each adds its client to X-Forwarded-For, or sets the field."""

    def __init__(self, app: Any, *modes: str, server: str | None = None, scheme: str | None = "https") -> None:
        self.client, self.modes, self.server, self.scheme = Client(app), modes, server, scheme

    def __call__(self, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        sent, address = dict(fields or {}), VISITOR
        for number, mode in enumerate(self.modes):
            for name, value in (("X-Forwarded-For", address), ("X-Forwarded-Proto", self.scheme)):
                if mode != "nothing" and value:
                    before = f"{sent[name]}, " if name in sent and mode == "append" else ""
                    sent[name] = f"{before}{value}"
            address = f"10.0.0.{number}"
        environ = {"REMOTE_ADDR": address}
        answer = self.client.open(
            target, method=method, headers=sent | {"Accept": "application/problem+json"}, environ_base=environ
        )
        own = [("Server", self.server)] if self.server else []
        return SiteAnswer(answer.status_code, (*answer.headers.items(), *own), answer.data)


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/html")])
    return [b"<h1>The front page of a museum</h1>"]


def examined(asked: Any, url: str = PREFIX) -> dict[str, HealthFinding]:
    return {finding.code: finding for finding in checks.examine(weburl.parse(url), asking=asked)}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("modes", "trusted", "state", "message"),
    [
        pytest.param((), 0, "ok", "No reverse proxy sets", id="no proxy"),
        pytest.param(("append",), 1, "ok", "The value of the last", id="one proxy"),
        pytest.param(("set",), 1, "ok", "The value of the last", id="a proxy that sets the field"),
        pytest.param(("set", "append"), 2, "ok", "The value of the last", id="two proxies"),
        pytest.param(("append",), 0, "warning", "has 1 value, of which 0 are trusted", id="not trusted"),
        pytest.param(("append", "append"), 1, "warning", "has 2 values, of which 1 are trusted", id="one of two"),
        pytest.param(("nothing",), 0, "warning", "nginx does not set X-Forwarded-For", id="a proxy without the field"),
        pytest.param(("nothing",), 1, "error", "A client can set its own address", id="trusted, but not set"),
        pytest.param(("append",), 2, "error", "A client can set its own address", id="more trusted than there are"),
        pytest.param((), 1, "error", "A client can set its own address", id="trusted without a proxy"),
    ],
)
def test_the_number_of_trusted_proxies_is_compared(
    bindings: Any, modes: tuple[str, ...], trusted: int, state: str, message: str
) -> None:
    app: Any = ResolverMiddleware(create_app(bindings), bindings, prefix=PREFIX, inspector="/")
    if trusted:
        app = ForwardedFields(app, trusted)
    asked = Chain(app, *modes, server="nginx/1.22.1" if modes else None)
    url = PREFIX if modes and trusted else "http://r.example"
    found = examined(asked, url)["client-address"]
    assert (found.state, message in found.message) == (state, True), found
    if state != "ok":
        assert "--trusted-proxies" in (found.remedy or "")
        assert "nothing" not in modes or "proxy_set_header X-Forwarded-For" in (found.remedy or "")


def test_a_proxy_that_hides_https_is_found(bindings: Any) -> None:
    app = ForwardedFields(ResolverMiddleware(create_app(bindings), bindings, prefix=PREFIX), 1)
    found = examined(Chain(app, "append", server="Caddy", scheme=None))["client-address"]
    assert (found.state, found.message) == ("warning", "The inspector takes requests over https as requests over http.")
    assert "Caddy: remove header_up -X-Forwarded-For" in (found.remedy or "")


@pytest.mark.one_setup
@pytest.mark.parametrize("keeps", [False, True], ids=["dropped", "kept"])
@pytest.mark.parametrize("trusted", [0, 1])
def test_a_server_that_reads_fields_with_underscores_is_found(bindings: Any, keeps: bool, trusted: int) -> None:
    app: Any = ResolverMiddleware(create_app(bindings), bindings, prefix=PREFIX, inspector="/")
    app = ForwardedFields(app, trusted) if trusted else app

    def asked(method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        # Client of werkzeug sends both spellings under one key; the last field wins, as under granian.
        kept = {name: value for name, value in (fields or {}).items() if keeps or "_" not in name}
        sent = {"X-Forwarded-For": VISITOR, "X-Forwarded-Proto": "https", "Accept": "application/problem+json"}
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (sent | kept).items()}
        answer = Client(app).open(target, method=method, environ_overrides=environ)
        return SiteAnswer(answer.status_code, (*answer.headers.items(), ("Server", "Apache")), answer.data)

    found = examined(asked).get("underscores")
    assert bool(found) is (keeps and trusted == 1)
    if found:
        assert found.state == "warning"
        assert "RequestHeader unset X_Forwarded_For" in (found.remedy or "")


@pytest.mark.one_setup
@pytest.mark.parametrize("server", [None, "scheme", "address"])
@pytest.mark.parametrize("overwrites", [False, True], ids=["direct", "behind a proxy"])
def test_a_server_that_trusts_fields_itself_is_found(bindings: Any, server: str | None, overwrites: bool) -> None:
    app: Any = ResolverMiddleware(create_app(bindings), bindings, prefix=PREFIX, inspector="/")

    def asked(method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        own = {"X-Forwarded-For": "192.0.2.99", "X-Forwarded-Proto": "https"} if overwrites else {}
        sent = {**(fields or {}), **own, "Accept": "application/problem+json"}
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in sent.items()}
        if server == "scheme" and "X-Forwarded-Proto" in sent:
            environ["wsgi.url_scheme"] = sent["X-Forwarded-Proto"]
        if server == "address" and "X-Forwarded-For" in sent:
            environ["REMOTE_ADDR"] = sent["X-Forwarded-For"]
        answer = Client(app).open(target, method=method, environ_overrides=environ)
        return SiteAnswer(answer.status_code, tuple(answer.headers.items()), answer.data)

    url = PREFIX if overwrites else "http://r.example"
    found = examined(asked, url).get("server-trusts")
    assert bool(found) is (server is not None and not overwrites)
    if found:
        assert found.state == ("warning" if server == "scheme" else "error")
        named = (
            "gunicorn: set --forwarded-allow-ips ''",
            "uvicorn: set --no-proxy-headers",
            "waitress: omit",
            "uWSGI: ",
        )
        assert [each for each in named if each not in (found.remedy or "")] == []


@pytest.mark.parametrize("document", [{"forwarded": 7}, {"forwarded": {"values": "2", "position": None}}])
def test_a_hostile_health_document_is_read_as_zero(document: dict[str, Any]) -> None:
    body = json.dumps({"bindings": "readable", "names": 1} | document).encode()
    answer = SiteAnswer(200, (), body)
    found = list(inspector.examine(weburl.parse(PREFIX), None, None, lambda method, target, fields=None: answer))
    assert {finding.state for finding in found} == {"ok"}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("link", "behind", "state", "message"),
    [
        pytest.param(None, "site", None, "", id="no link"),
        pytest.param("/", "inspector", "ok", "link to the inspector at https://r.example/.", id="the inspector"),
        pytest.param(PREFIX, "site", "error", "but another page answers there", id="the front page of the site"),
        pytest.param("/inspect", "site", "error", "but another page answers there", id="a path of the site"),
        pytest.param("https://names.example", "site", "ok", "was not requested", id="another host"),
    ],
)
def test_the_link_of_error_pages_must_lead_to_the_inspector(
    bindings: Any, link: str | None, behind: str, state: str | None, message: str
) -> None:
    app = ResolverMiddleware(site, bindings, prefix=PREFIX, inspector=link)
    names_alone = Client(app)
    pages = Client(ResolverMiddleware(create_app(bindings), bindings, prefix=PREFIX)) if behind == "inspector" else None

    def asked(method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        client = pages if pages and not target.startswith("/ark:") else names_alone
        answer = client.open(target, method=method, headers={"Accept": "application/problem+json"})
        return SiteAnswer(answer.status_code, (*answer.headers.items(), ("Server", "nginx")), answer.data)

    found = examined(asked).get("inspector")
    assert (found and found.state) == state
    if found is not None:
        assert message in found.message
        if state == "error":
            assert "--inspector none" in (found.remedy or "")
            assert "nginx: a server block with server_name names.example.org;" in (found.remedy or "")


@pytest.mark.parametrize(
    "link", ["https://r.example:99999/?q=x", "https://[::1/?q=x", "https://evil\u202e.example/?q=x"]
)
def test_a_hostile_link_gets_no_request(link: str) -> None:
    asked: list[str] = []

    def ask(method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        asked.append(target)
        raise HopFailed("connect")

    found = list(inspector.examine(weburl.parse(PREFIX), link, None, ask))
    assert asked == ["/healthz?forwarded"]
    assert all(finding.message.isascii() and finding.state == "ok" for finding in found)
