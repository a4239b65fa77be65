"""Each misconfiguration is found and has the right remedy, with a stand-in for the front server in this process."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.health import Condition
from ararat.cli.doctor import edge, in_process, names, stores
from ararat.cli.doctor.deployment import checks
from ararat.cli.doctor.deployment.deployment import Deployment
from ararat.cli.doctor.finding import HealthFinding
from ararat.cli.doctor.requests import PatientClient, ProbeClient
from ararat.middleware import Bindings, ResolverASGIMiddleware, ResolverMiddleware, open_bindings
from ararat.middleware.edge.exporting import export_redirects
from ararat.middleware.resolution.settings import Settings
from ararat.net import url as weburl
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from ararat.net.url import WebURL

from .faults import FAULTS

HOST = "museum.example"
PREFIX = f"https://{HOST}"
Findings = Iterator[HealthFinding]
Before = Callable[[str, str, Mapping[str, str]], str | SiteAnswer]
After = Callable[[SiteAnswer], SiteAnswer]
LONG = f"https://example.org/{'a' * 2000}"


def bind_all(bindings: Bindings) -> None:
    for name, target, kind in (
        ("ark:12345/x6np1", "https://example.org/maps/17", "located"),
        ("ark:12345/x6nP1", "https://example.org/maps/18", "located"),
        ("ark:12345/k4", "https://example.org/about/k4", "related"),
        ("ark:12345/page", "/page", "served"),
        ("urn:example:map", "https://example.org/map", "located"),
    ):
        bindings.bind(name, target, kind=kind, metadata={"what": "Map"})  # type: ignore[arg-type]
    bindings.bind("ark:12345/d9", None, kind="described", metadata={"what": "Letter"})
    bindings.bind("ark:12345/gone", "https://example.org/gone")
    bindings.withdraw("ark:12345/gone", reason="destroyed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("databases")


@pytest.fixture(scope="module")
def right(folder: Path) -> Iterator[Bindings]:
    """The database into which names are bound."""
    with open_bindings(folder / "right.sqlite", create=True) as bindings:
        bind_all(bindings)
        yield bindings
    application.cache_clear()
    reference.cache_clear()


@pytest.fixture(scope="module")
def other(folder: Path) -> Iterator[Bindings]:
    """A database that lacks these names."""
    with open_bindings(folder / "other.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/other", "https://example.org/other")
        yield bindings


def site(environ: Any, start_response: Any) -> list[bytes]:
    status = "200 OK" if environ["PATH_INFO"] == "/page" else "404 Not Found"
    start_response(status, [("Content-Type", "text/html")])
    return [b"<title>The site</title>"]


def remembered(ask: ProbeClient) -> ProbeClient:
    """Return a client that asks once for each request: the cases send the same ones to the same resolver."""
    answers: dict[object, SiteAnswer] = {}

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        request = (url, method, target, *(fields or {}).items())
        if request not in answers:
            answers[request] = ask(url, method, target, fields)
        return answers[request]

    return client


@functools.cache
def application(bindings: Bindings, **settings: Any) -> ProbeClient:
    given: dict[str, Any] = {"prefix": PREFIX, "hsts": "max-age=60"} | settings
    return remembered(in_process.client_of(ResolverMiddleware(site, bindings, **given)))


@functools.cache
def reference(bindings: Bindings, prefix: str) -> names.ReferenceResolver:
    resolver = names.ReferenceResolver(bindings, prefix, {}, are_known=False)
    resolver._client = remembered(resolver._client)
    return resolver


def page(status: int, *fields: tuple[str, str]) -> SiteAnswer:
    return SiteAnswer(status, (("Content-Type", "text/html"), *fields), b"<title>front</title>")


def front(
    behind: ProbeClient,
    *,
    before: Before = lambda method, target, fields: target,
    after: After = lambda response: response,
    server: str = "nginx/1.22.1",
) -> ProbeClient:
    """Return a front server: it answers over https, and redirects http to https."""

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        if url.scheme == "http":
            return page(301, ("Location", f"https://{url.host}{target}"), ("Server", server))
        changed = before(method, target, fields or {})
        response = changed if isinstance(changed, SiteAnswer) else behind(url, method, changed, fields)
        if method == "HEAD":
            response = response._replace(body=b"")
        response = after(response)
        return response._replace(fields=(*response.fields, ("Server", server)))

    return client


def diagnosed(
    client: ProbeClient, bindings: Bindings, sleep: Callable[[float], object] = lambda seconds: None
) -> Findings:
    """Yield what the command finds at PREFIX, with names of the database ``bindings``."""
    chosen = names.choose(bindings)
    has_urns = any(name.startswith("urn:") for name in chosen)
    deployment = Deployment(weburl.parse(PREFIX), PatientClient(client, sleep), has_urns=has_urns)
    yield from checks.findings(deployment)
    if (reached := deployment.reached) is not None:
        yield from names.examine(reached, chosen, reference(bindings, reached.announced or PREFIX))
    yield from deployment.limits()


def refused(unless: str, status: int = 404) -> Before:
    """Return a front server that answers itself for the paths that do not match."""
    return lambda method, target, fields: target if re.match(unless, target) else page(status)


def with_field(name: str, value: str | None) -> After:
    def change(response: SiteAnswer) -> SiteAnswer:
        kept = tuple(field for field in response.fields if field[0] != name)
        return response._replace(fields=kept if value is None else (*kept, (name, value)))

    return change


def cleaned(target: str) -> str:
    """Change the path like nginx with a path in proxy_pass."""
    path, _, query = target.partition("?")
    path = re.sub("/+", "/", path.replace("%2F", "/").replace("%2E", ".").replace("%2D", "-"))
    while "/../" in path:
        path = re.sub("/[^/]+/../", "/", path, count=1)
    return f"{path}?{query}" if query else path


def cached(behind: ProbeClient, key: Callable[[str], str] = str, *, varies: bool = True) -> ProbeClient:
    """Return a cache that never deletes an answer. ``key`` shortens a target."""
    kept: dict[tuple[str, ...], SiteAnswer] = {}

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        place = (method, key(target), *(map(str, (fields or {}).items()) if varies else ()))
        if place not in kept:
            kept[place] = behind(url, method, target, fields)
        return kept[place]

    return client


def faulty(**changes: Any) -> Callable[[Bindings, Bindings, Path], Findings]:
    """Return a case: the right site behind a front server with these faults."""
    return lambda right, other, folder: diagnosed(front(application(right), **changes), right)


def database_missing(right: Bindings, other: Bindings, folder: Path) -> Findings:
    with open_bindings(folder / "missing.sqlite", missing_ok=True) as missing:
        return iter([*diagnosed(front(application(missing)), right)])


def conditions(code: str, fault: str) -> Callable[[Bindings, Bindings, Path], Findings]:
    def case(right: Bindings, other: Bindings, folder: Path) -> Findings:
        with pytest.MonkeyPatch.context() as patch:
            found = Condition("sqlite:////srv/names.sqlite", True, False, fault=fault, code=code)
            patch.setattr(stores, "conditions", lambda database: iter([found]))
            return iter([*stores.examine("names.sqlite")])

    return case


def forged(right: Bindings, other: Bindings, folder: Path) -> Findings:
    def before(method: str, target: str, fields: Mapping[str, str]) -> str | SiteAnswer:
        if not target.startswith("/healthz"):
            return target
        number = 1 if "X-Forwarded-For" in fields else 0
        health = {"status": "ok", "bindings": "readable", "forwarded": {"values": number, "position": number}}
        return SiteAnswer(200, (("Content-Type", "application/json"),), json.dumps(health).encode())

    return diagnosed(front(application(right), before=before, server="waitress"), right)


def self_signed(right: Bindings, other: Bindings, folder: Path) -> Findings:
    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        raise HopFailed("tls", "the certificate is self-signed")

    return diagnosed(client, right)


def outdated(right: Bindings, other: Bindings, folder: Path) -> Findings:
    database = folder / "exported.sqlite"
    with open_bindings(database, create=True) as bindings:
        bindings.bind("ark:12345/a", "https://example.org/a")
        file = folder / "names.conf"
        with file.open("wb") as stream:
            export_redirects(bindings, stream, "nginx", Settings(prefix=PREFIX))
        bindings.bind("ark:12345/b", "https://example.org/b")
    return edge.examine(file, str(database))


def two_databases(right: Bindings, other: Bindings, folder: Path) -> Findings:
    sites = [application(right), application(other)]

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        sites.reverse()
        return sites[0](url, method, target, fields)

    return diagnosed(front(client), right)


def cached_redirect(right: Bindings, other: Bindings, folder: Path) -> Findings:
    with open_bindings(folder / "moved.sqlite", create=True) as bindings:
        bind_all(bindings)
        cache = cached(application(bindings))
        cache(weburl.parse(PREFIX), "GET", "/ark:12345/x6np1")
        bindings.relocate("ark:12345/x6np1", "https://example.org/new")
        return iter([*diagnosed(front(cache), bindings)])


def http_loses_query(right: Bindings, other: Bindings, folder: Path) -> Findings:
    behind = front(application(right))

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        if url.scheme == "http":
            where = f"{PREFIX}{target.partition('?')[0].replace('%2F', '/')}"
            return page(301, ("Location", where), ("Server", "nginx"))
        return behind(url, method, target, fields)

    return diagnosed(client, right)


def asgi(right: Bindings, other: Bindings, folder: Path) -> Findings:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        status = 200 if scope["path"] == "/page" else 404
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    behind = in_process.client_of(ResolverASGIMiddleware(app, right, prefix=PREFIX, hsts="max-age=60"))
    return diagnosed(front(behind, server="uvicorn"), right)


def cache_key(right: Bindings, other: Bindings, folder: Path) -> Findings:
    return diagnosed(front(cached(application(right), lambda target: cleaned(target).partition("?")[0])), right)


def ignored_vary(right: Bindings, other: Bindings, folder: Path) -> Findings:
    return diagnosed(front(cached(application(right), varies=False)), right)


def www(right: Bindings, other: Bindings, folder: Path) -> Findings:
    behind = front(application(right))

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        if url.host == HOST:
            return page(301, ("Location", f"https://www.{HOST}{target}"), ("Server", "nginx"))
        return behind(url, method, target, fields)

    return diagnosed(client, right)


def rate_limit(right: Bindings, other: Bindings, folder: Path) -> Findings:
    clock = [0.0, -1.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    def before(method: str, target: str, fields: Mapping[str, str]) -> str | SiteAnswer:
        now, last = clock
        if now - last < 0.2:
            return page(503)
        clock[1] = now
        return target

    return diagnosed(front(application(right), before=before), right, sleep)


def small_buffer(right: Bindings, other: Bindings, folder: Path) -> Findings:
    def after(response: SiteAnswer) -> SiteAnswer:
        size = sum(len(name) + len(value) + 4 for name, value in response.fields)
        return page(502) if size > 2048 else response

    with open_bindings(folder / "long.sqlite", create=True) as bindings:
        bind_all(bindings)
        bindings.bind("ark:12345/long", LONG)
        return iter([*diagnosed(front(application(bindings), after=after), bindings)])


def changed_location(response: SiteAnswer) -> SiteAnswer:
    where = response.field("Location")
    if where is None or not where.startswith("https://example.org"):
        return response
    return with_field("Location", where.replace("https://example.org", PREFIX))(response)


def lost_request_fields(right: Bindings, other: Bindings, folder: Path) -> Findings:
    behind = application(right)

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        return behind(url, method, target, {"Accept": "*/*"})

    return diagnosed(front(client), right)


def intercepted(response: SiteAnswer) -> SiteAnswer:
    return page(response.status) if response.status >= 400 else response


CASES: dict[str, Callable[[Bindings, Bindings, Path], Findings]] = {
    "proxy-pass-path": faulty(before=lambda method, target, fields: cleaned(target)),
    "extension-location": faulty(before=refused(r"(?!.*\.(?:js|css|png|jpg|pdf)$)")),
    "lower-case-label": faulty(before=refused("/ark:|/[^/:]*$|/.well-known/ark$")),
    "long-cache-control": faulty(after=with_field("Cache-Control", "max-age=31536000")),
    "backend-down": faulty(before=lambda method, target, fields: page(502)),
    "database-missing": database_missing,
    "database-read-only": conditions("not-writable", "no permission to write the file"),
    "firewall": faulty(before=refused(r"(?i)(?!.*(?:%2f|\.\.|%2e%2e))", 403)),
    "forged-client-address": forged,
    "self-signed": self_signed,
    "wrong-prefix": lambda right, other, folder: diagnosed(
        front(application(right, prefix="https://other.example/ids")), right
    ),
    "outdated-export": outdated,
    "other-database": lambda right, other, folder: diagnosed(front(application(other)), right),
    "two-databases": two_databases,
    "urn-not-forwarded": faulty(before=refused("(?i)(?!/urn:)")),
    "cached-redirect": cached_redirect,
    "full-disk": conditions("disk-full", "names.sqlite: database or disk is full; free space on its disk"),
    "http-loses-query": http_loses_query,
    "asgi": asgi,
    "cache-key": cache_key,
    "arguments": faulty(before=lambda method, target, fields: cleaned(target).partition("?")[0]),
    "intercepted": faulty(after=intercepted),
    "added-slash": faulty(
        before=lambda method, target, fields: page(301, ("Location", f"{PREFIX}{target.partition('?')[0]}/"))
    ),
    "www": www,
    "password": faulty(before=lambda method, target, fields: page(401, ("WWW-Authenticate", 'Basic realm="staging"'))),
    "rate-limit": rate_limit,
    "small-buffer": small_buffer,
    "changed-location": faulty(after=changed_location),
    "lost-request-fields": lost_request_fields,
    "hidden-link": faulty(after=with_field("Link", None)),
    "bot-filter": faulty(before=lambda method, target, fields: page(403)),
    "ignored-vary": ignored_vary,
    "lower-cased": faulty(before=lambda method, target, fields: target.lower(), server="Apache/2.4.62"),
    "encoded-slash-refused": faulty(before=refused("(?i)(?!.*%2f)"), server="Apache/2.4.62"),
    "head-refused": faulty(before=lambda method, target, fields: page(405) if method == "HEAD" else target),
    "caddy-rewrite": faulty(
        before=lambda method, target, fields: cleaned(target) + "?" * (target[-1] == "?"), server="Caddy"
    ),
}


def redirected_to_other(path: str, where: str) -> Before:
    return lambda method, target, fields: page(302, ("Location", where + target)) if target.startswith(path) else target


def at(status: int, unless: Callable[[str, str, Mapping[str, str]], bool]) -> Before:
    return lambda method, target, fields: target if unless(method, target, fields) else page(status)


def named_field(name: str, value: str, status: int | None = None) -> After:
    """Add one more field, also if there is one with this name."""
    return lambda answer: (
        answer._replace(fields=(*answer.fields, (name, value))) if status in (None, answer.status) else answer
    )


def without(field: str) -> Callable[[Bindings, Bindings, Path], Findings]:
    """Return a case: a front server that does not pass on a field of the request."""

    def case(right: Bindings, other: Bindings, folder: Path) -> Findings:
        behind = front(application(right))

        def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
            return behind(url, method, target, {name: text for name, text in (fields or {}).items() if name != field})

        return diagnosed(client, right)

    return case


def over_http(answer: Callable[[str], SiteAnswer]) -> Callable[[Bindings, Bindings, Path], Findings]:
    """Return a case: port 80 answers a target in this way."""

    def case(right: Bindings, other: Bindings, folder: Path) -> Findings:
        behind = front(application(right))

        def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
            if url.port not in (80, 443):
                raise HopFailed("connect")
            return answer(target) if url.scheme == "http" else behind(url, method, target, fields)

        return diagnosed(client, right)

    return case


def tombstones(answer: SiteAnswer) -> SiteAnswer:
    return page(410) if answer.status == 410 else answer


def other_scheme(answer: SiteAnswer) -> SiteAnswer:
    where = (answer.field("Location") or "").replace("https:", "http:", 1)
    return with_field("Location", where)(answer) if where else answer


def apache(target: str) -> str:
    """Return a target as a RewriteRule of certbot for Apache sends it on."""
    path = re.sub("/+", "/", target.replace("%25", "%").replace("%2F", "/"))
    return path.removesuffix("?")


def moved(target: str) -> SiteAnswer:
    return page(301, ("Location", f"{PREFIX}{apache(target)}"), ("Server", "Apache/2.4.62"))


READERS: dict[str, tuple[Callable[[Bindings, Bindings, Path], Findings], str, str, str]] = {
    "an old resolver takes classic ARKs": (
        faulty(before=redirected_to_other("/ark:/12345/", "https://n2t.net")),
        "redirected",
        "error",
        "Exclude paths",
    ),
    "an old resolver takes all names of the NAAN": (
        faulty(before=redirected_to_other("/ark:12345/", "https://n2t.net")),
        "redirected",
        "error",
        "Exclude paths",
    ),
    "all names lead to one page": (
        faulty(
            before=lambda method, target, fields: (
                page(302, ("Location", "https://n2t.net/")) if target.startswith("/ark:12345/") else target
            )
        ),
        "redirected",
        "error",
        "Exclude paths",
    ),
    "tombstones replaced": (faulty(after=tombstones), "intercepted", "error", "proxy_intercept_errors off"),
    "no %3A": (
        faulty(before=at(403, lambda method, target, fields: "%3A" not in target)),
        "rule",
        "error",
        "Allow all paths",
    ),
    "hotlinks": (
        faulty(before=at(403, lambda method, target, fields: "Referer" not in fields)),
        "referrer",
        "error",
        "$invalid_",
    ),
    "programs": (
        faulty(before=at(403, lambda method, target, fields: "python" not in fields.get("User-Agent", ""))),
        "agent",
        "error",
        "$http_user_agent",
    ),
    "harvesters": (
        faulty(before=at(403, lambda method, target, fields: "Java" not in fields.get("User-Agent", ""))),
        "agent",
        "error",
        "$http_user_agent",
    ),
    "programs without a User-Agent": (
        faulty(before=at(403, lambda method, target, fields: fields.get("User-Agent") != "")),
        "agent",
        "error",
        "$http_user_agent",
    ),
    "one program": (
        faulty(before=at(406, lambda method, target, fields: "Zotero" not in fields.get("User-Agent", ""))),
        "agent",
        "error",
        "$http_user_agent",
    ),
    "a semicolon": (faulty(before=refused("(?!.*;)", 403)), "sub-delims", "error", "Allow all paths"),
    "a semicolon in the query": (faulty(before=refused(r"(?!.*\?.*;)", 403)), "query", "error", "Allow all paths"),
    "a language": (
        faulty(
            before=lambda method, target, fields: (
                page(302, ("Location", f"{PREFIX}/en{target}"))
                if fields.get("Accept-Language", "").startswith("en")
                else target
            )
        ),
        "by-field",
        "error",
        "move the if of this field",
    ),
    "another status of redirects": (
        faulty(after=lambda answer: answer._replace(status=301) if answer.status == 302 else answer),
        "unknown",
        "error",
        "Compare the two answers",
    ),
    "withdrawn names as missing ones": (
        faulty(after=lambda answer: page(404) if answer.status == 410 else answer),
        "intercepted",
        "error",
        "proxy_intercept_errors off",
    ),
    "a password for descriptions": (
        faulty(before=lambda method, target, fields: page(401) if "?info" in target else target),
        "info",
        "error",
        "asks for a password",
    ),
    "browsers": (
        faulty(before=at(503, lambda method, target, fields: "Mozilla" not in fields.get("User-Agent", ""))),
        "agent",
        "error",
        "$http_user_agent",
    ),
    "CORS twice": (
        faulty(after=named_field("Access-Control-Allow-Origin", "*")),
        "cors",
        "error",
        "remove add_header Access",
    ),
    "no CORS": (faulty(after=with_field("Access-Control-Allow-Origin", None)), "cors", "error", "once"),
    "no preflight": (
        faulty(before=at(405, lambda method, target, fields: method != "OPTIONS")),
        "preflight",
        "error",
        "remove if ($request_method = OPTIONS)",
    ),
    "noindex": (faulty(after=named_field("X-Robots-Tag", "noindex", 302)), "robots", "warning", "X-Robots-Tag"),
    "robots.txt": (
        faulty(
            before=lambda method, target, fields: (
                target
                if target != "/robots.txt"
                else SiteAnswer(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /ark:")
            )
        ),
        "robots",
        "warning",
        "Disallow: /ark:",
    ),
    "clock": (
        faulty(after=named_field("Date", "Fri, 24 Oct 2025 10:00:00 GMT")),
        "clock",
        "error",
        "timedatectl",
    ),
    "rules for extensions": (
        faulty(before=refused(r"(?!.*\.(?:sql|bak)$)", 403)),
        "extension-sql",
        "error",
        "Allow all paths",
    ),
    "no Accept-Language": (without("Accept-Language"), "fields", "error", "Accept-Language"),
    "no Accept": (without("Accept"), "fields", "error", "Accept"),
    "the scheme of Location": (faulty(after=other_scheme), "location", "error", "proxy_redirect off"),
    "a limit for HEAD": (
        faulty(before=at(429, lambda method, target, fields: method != "HEAD")),
        "head",
        "error",
        "limit_req",
    ),
    "certbot for Apache": (over_http(moved), "redirect-path", "error", "host of port 80"),
    "port 80 has another page": (
        over_http(lambda target: page(404, ("Server", "nginx"))),
        "http",
        "error",
        "listen 80;",
    ),
    "port 80 leads to a dead port": (
        over_http(lambda target: page(301, ("Location", f"https://{HOST}:8443{target}"))),
        "dead-redirect",
        "error",
        "port",
    ),
    "a prefix for languages": (
        faulty(
            before=lambda method, target, fields: (
                page(404) if target.startswith("/en/") else page(302, ("Location", f"{PREFIX}/en{target}"))
            )
        ),
        "answered",
        "error",
        "A rewrite in the server block runs before every location",
    ),
    "the server of CherryPy": (
        faulty(before=lambda method, target, fields: re.sub("/+", "/", target), server="Cheroot/10"),
        "double-slash",
        "error",
        "The server is Cheroot/10",
    ),
    "a middleware inside a router": (
        faulty(before=lambda method, target, fields: page(404), server="uvicorn"),
        "answered",
        "error",
        "from outside",
    ),
    "no Host": (
        faulty(before=at(400, lambda method, target, fields: target != "/.well-known/ark")),
        "well-known",
        "warning",
        "proxy_set_header Host",
    ),
}
"""Faults that readers see, with the code, the state and a part of the remedy of the finding."""


@pytest.mark.one_setup
@pytest.mark.parametrize("fault", READERS)
def test_a_loss_of_a_reader_is_found_with_the_right_remedy(
    fault: str, right: Bindings, other: Bindings, folder: Path
) -> None:
    case, code, state, part = READERS[fault]
    found = [each for each in case(right, other, folder) if each.state != "ok"]
    rows = [(each.code, each.state, each.message, each.remedy) for each in found]
    assert [each for each in found if (each.code, each.state) == (code, state) and part in (each.remedy or "")], rows
    assert len({each.remedy for each in found if each.state == "error"}) == (state == "error"), rows
    assert not {"other-database", "two-databases"} & {each.code for each in found}, rows


def test_a_name_below_the_naan_for_tests_is_no_fault(folder: Path) -> None:
    with open_bindings(folder / "tests.sqlite", create=True, test_naans=["99999"]) as bindings:
        bind_all(bindings)
        for end in ("x", "a/b", "aB", "x.pdf"):
            bindings.bind(f"ark:99999/{end}", "https://example.org/test")
        found = [*diagnosed(front(application(bindings)), bindings)]
    assert [each for each in found if each.state != "ok"] == []
    assert {"encoded-slash", "classic", "label"} <= {each.code for each in found}


def test_a_site_that_answers_each_name_of_the_naan_for_tests_is_not_called_right(right: Bindings) -> None:
    elsewhere = lambda method, target, fields: (  # noqa: E731
        page(302, ("Location", "https://x.example/")) if "99999" in target else target
    )
    found = {each.code: each for each in diagnosed(front(application(right), before=elsewhere), right)}
    assert found["arks-not-probed"].state == "warning"


def test_each_fault_has_a_case() -> None:
    assert {*CASES} == {*FAULTS}
    assert len(FAULTS) == 36


@pytest.mark.one_setup
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_with_the_right_remedy(fault: str, right: Bindings, other: Bindings, folder: Path) -> None:
    expected = FAULTS[fault]
    found = [*CASES[fault](right, other, folder)]
    rows = [(each.code, each.state, each.remedy) for each in found if each.state != "ok" or each.code == expected.code]
    [remedy] = {each.remedy for each in found if (each.code, each.state) == expected[:2]} or {repr(rows)}
    if expected.remedy is None:
        assert remedy is None
    else:
        assert expected.remedy.replace("{www}", f"https://www.{HOST}") in (remedy or "")
    errors = {each.remedy for each in found if each.state == "error"}
    assert len(errors) == expected.remedies, rows
    assert None not in errors


def test_a_right_site_has_no_findings(right: Bindings, other: Bindings, folder: Path) -> None:
    found = [*diagnosed(front(application(right)), right)]
    assert [each for each in found if each.state != "ok"] == []
    assert {each.sent for each in found if each.code == "name"} >= {
        *("ark:12345/x6nP1", "ark:12345/k4", "ark:12345/page", "ark:12345/d9", "ark:12345/gone", "urn:example:map"),
    }
