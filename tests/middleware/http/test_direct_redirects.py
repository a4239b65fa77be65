"""Direct redirects and redirects in memory have the same answers as the complete resolution."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.binding import Binding, StoredRedirect
from ararat.middleware import (
    BindingSource,
    BindingsUnavailable,
    ResolverASGIMiddleware,
    ResolverMiddleware,
    open_bindings,
)
from ararat.middleware.http import redirect_cache
from ararat.middleware.http.direct_redirects import direct_redirect
from ararat.middleware.resolution.settings import Settings, SettingsArguments
from tests import asgi_client

PREFIX = "https://r.example"
# Each row has another answer. `stored` are columns that another program wrote.
ROWS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("ark:12345/located", {"target": "https://example.org/1"}, {}),
    ("ark:12345/temporary", {"target": "https://example.org/2?a=b#c", "redirect": 307}, {}),
    ("ark:12345/path", {"target": "/maps/17"}, {}),
    ("ark:12345/here", {"target": f"{PREFIX}/maps/17"}, {}),
    ("ark:12345/itself", {"target": f"{PREFIX}/ark:/12345/it-self"}, {}),
    ("ark:12345/other", {"target": f"{PREFIX}/ark:12345/located"}, {}),
    ("ark:12345/also", {"target": "http://also.example/URN:x:y"}, {}),
    ("ark:12345/related", {"target": "https://example.org/3", "kind": "related"}, {}),
    ("ark:12345/described", {"kind": "described"}, {}),
    ("ark:12345/served", {"target": "/page", "kind": "served"}, {}),
    ("ark:12345/passing", {"target": "https://example.org/4", "passthrough": True}, {}),
    ("ark:12345/alternate", {"target": "https://example.org/5", "alternates": {"de": "https://example.org/6"}}, {}),
    (
        "ark:12345/licensed",
        {"target": "https://example.org/7", "metadata": {"dc.rights": "https://creativecommons.org/licenses/by/4.0/"}},
        {},
    ),
    ("ark:12345/withdrawn", {"target": "https://example.org/8"}, {}),
    ("ark:12345/reserved", {"target": "https://example.org/9"}, {}),
    ("ark:12345/script", {"target": "https://example.org/10"}, {"target": "javascript:alert(1)"}),
    ("ark:12345/split", {"target": "https://example.org/11"}, {"target": "https://example.org/\r\nSet-Cookie: a=b"}),
    ("ark:12345/upper", {"target": "https://example.org/12"}, {"target": "HTTPS://EXAMPLE.org/a\u00e9"}),
    ("ark:12345/damaged", {"target": "https://example.org/13"}, {"metadata": "[1"}),
    ("ark:12345/x.b.c", {"target": "https://example.org/14"}, {}),
    ("urn:example:a", {"target": "https://example.org/15"}, {}),
)
SPELLINGS = (
    "{0}",
    "{0}/",
    "{0}/below",
    "{0}.pdf",
    "{0}?",
    "{0}?info",
    "{0}?a=b",
    "{0}#f",
    "{0}%41",
    "{0}/../x",
    "x{0}",
)


class Completely(BindingSource):
    """The same bindings without direct redirects."""

    def __init__(self, bindings: Bindings) -> None:
        self.fetch = bindings.store.fetch
        self.binding_by_rule = bindings.source.binding_by_rule

    @property
    def is_local(self) -> bool:
        return True


@pytest.fixture(scope="module", params=["database", "file"])
def bindings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bindings]:
    """The bindings of ROWS in a database, or in a file that was exported before other programs wrote columns."""
    path: Path = tmp_path_factory.mktemp("redirects") / "bindings.sqlite"
    file = path.with_suffix(".csv")
    with open_bindings(path, create=True) as bindings:
        for name, values, _ in ROWS:
            (bindings.reserve if name.endswith("reserved") else bindings.bind)(name, **values)
        bindings.withdraw("ark:12345/withdrawn", reason="lost")
        bindings.rules.set("ark:12345/r5", "https://example.org/things/${value}")
        with file.open("wb") as out:
            export_table(bindings, out, format="csv")
    if request.param == "file":
        with open_bindings(file) as bindings:
            yield bindings
        return
    connection = sqlite3.connect(path)
    for name, _, stored in ROWS:
        for column, value in stored.items():
            changed = f"UPDATE bindings SET {column} = ?, revision = revision + 1 WHERE key = ?"  # noqa: S608
            connection.execute(changed, (value, name))
    connection.commit()
    connection.close()
    with open_bindings(path) as bindings:
        yield bindings


def site(environ: Any, start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [repr((environ["PATH_INFO"], environ["QUERY_STRING"])).encode()]


def answers(app: Any, path: str, more: dict[str, Any]) -> tuple[object, object, bytes]:
    written, _, query = path.partition("?")
    got: list[Any] = []

    def start_response(*answer: Any) -> Any:
        got.extend(answer)

    raw = more.get("RAW_URI", "{0}")
    environ = {"PATH_INFO": written, "QUERY_STRING": query, "wsgi.input": BytesIO(), **more}
    environ["RAW_URI"] = raw and raw.format(path)
    body = b"".join(app(environ, start_response))
    status, headers = got
    copied = [*headers]
    # A server can change the list.
    headers.append(("Server", "test"))
    return status, copied, body


NAMES = (
    *(name for name, _, _ in ROWS),
    "ark:12345/unknown",
    "ark:/12-345/lo-cated",
    "ARK:12345/x.c.b",
    "ark:99999/x",
    "ark:12148/btv1b8449691v",
    "ark:12345/r5abc",
)
HERE = "https://a.b"
# A redirect does not depend on Accept, and an answer in JSON takes a fraction of the time of a page.
JSON = {"HTTP_ACCEPT": "application/json"}
REQUESTS: tuple[dict[str, Any], ...] = (
    {"REQUEST_METHOD": "GET"},
    {"REQUEST_METHOD": "GET", "RAW_URI": None},
    {"REQUEST_METHOD": "GET", "RAW_URI": None, "QUERY_STRING": "info", **JSON},
    {"REQUEST_METHOD": "HEAD", "SCRIPT_NAME": "/mount", "wsgi.url_scheme": "https", "HTTP_ORIGIN": HERE, **JSON},
    {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/other", "RAW_URI": None, "wsgi.url_scheme": "https", **JSON},
    {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/a b", "RAW_URI": "/a%20b{0}", **JSON},
    {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "//c", "RAW_URI": "//c{0}", **JSON},
    {"REQUEST_METHOD": "GET", "HTTP_ORIGIN": HERE, "HTTP_IF_NONE_MATCH": "*", "HTTP_ACCEPT_LANGUAGE": "de", **JSON},
    {"REQUEST_METHOD": "GET", "HTTP_NO_REDIRECT": "true", "HTTP_ACCEPT_LANGUAGE": "de", **JSON},
    {"REQUEST_METHOD": "POST", **JSON},
    {"REQUEST_METHOD": "HEAD", "wsgi.url_scheme": "https", **JSON},
    {"REQUEST_METHOD": "GET", "wsgi.url_scheme": "http", **JSON},
)
SETTINGS = pytest.mark.parametrize(
    "settings",
    [
        {"inflections": {"?cite": "the citation"}, "forward_query": True},
        {"prefix": PREFIX, "also": ["http://also.example"], "naans": ["12345"], "forward": True},
        {"naans": ["12345"], "hsts": "max-age=1", "cors": [HERE], "on_resolve": str},
    ],
    ids=["plain", "prefixes", "others"],
)


@SETTINGS
@pytest.mark.parametrize("all_pairs", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.usefixtures("_never_forgotten")
def test_direct_and_kept_redirects_change_no_answer(
    bindings: Bindings, settings: dict[str, Any], all_pairs: bool
) -> None:
    app = ResolverMiddleware(site, bindings, **settings)
    complete = ResolverMiddleware(site, Completely(bindings), **settings)
    for name, spelling in product(NAMES, SPELLINGS if all_pairs else SPELLINGS[:6]):
        path = "/" + spelling.format(name)
        # The second request finds the redirect of the first one in memory.
        for more in REQUESTS if all_pairs or spelling == "{0}" else REQUESTS[:1]:
            assert answers(app, path, more) == answers(complete, path, more), (path, more)


async def asgi_site(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


@pytest.mark.usefixtures("_never_forgotten")
def test_the_same_by_asgi(bindings: Bindings) -> None:
    settings: SettingsArguments = {"naans": ["12345"], "hsts": "max-age=1", "cors": [HERE]}

    async def exchange_all() -> None:
        app = ResolverASGIMiddleware(asgi_site, bindings, **settings)
        complete = ResolverASGIMiddleware(asgi_site, Completely(bindings), **settings)
        for name, spelling in product(NAMES[:12], ("{0}", "{0}?info")):
            path, _, query = spelling.format(f"/{name}").partition("?")
            for method, scheme, root, raw, fields in ASGI_REQUESTS:
                scope = {**asgi_client.scope_of(path), "method": method, "scheme": scheme, "root_path": root}
                scope |= {"raw_path": path.encode() if raw else None, "query_string": query.encode(), "headers": fields}
                found = [await asgi_client.exchange(each, dict(scope)) for each in (app, complete)]
                assert found[0] == found[1], scope

    asgi_client.run(exchange_all())


ASGI_REQUESTS = (
    ("GET", "http", "", True, []),
    ("HEAD", "https", "", False, []),
    ("GET", "https", "/mount", True, [(b"origin", HERE.encode())]),
    ("GET", "https", "/mount", True, []),
    ("GET", "http", "", True, [(b"accept", b"*/*"), (b"no-redirect", b"true")]),
    ("POST", "http", "", True, []),
    ("GET", "http", "", True, [(b"origin", HERE.encode())]),
)


@pytest.fixture
def _never_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redirect_cache, "LOCAL_SECONDS", 3600.0)


@pytest.mark.parametrize("mounted", [{}, {"SCRIPT_NAME": "/a b", "RAW_URI": "/a%20b{0}"}], ids=["root", "mounted"])
def test_most_requests_read_no_complete_binding(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, mounted: dict[str, str]
) -> None:
    def refuse(keys: Iterable[str]) -> dict[str, Binding]:
        raise AssertionError(keys)

    monkeypatch.setattr(bindings.source, "fetch", refuse)
    for name in (
        "ark:12345/related",
        "ark:12345/described",
        "ark:12345/located",
        "ark:/12345/temporary",
        "ark:12345/here",
        "ark:12345/licensed",
    ):
        status, _, body = answers(ResolverMiddleware(site, bindings), f"/{name}", {"REQUEST_METHOD": "GET", **mounted})
        assert (str(status)[0], body) == ("3", b"")


@pytest.mark.parametrize(
    "given", ["ark:12345/" + "x" * 246, "ark:12345/x?", "ark:99999/x", "ark:12345/%41", "urn:a:b", ""]
)
def test_other_texts_are_not_looked_up(given: str) -> None:
    def stored(key: str) -> StoredRedirect | None:
        raise AssertionError(key)

    assert direct_redirect(given, stored, Settings()) is None


@pytest.mark.parametrize("local", [True, False], ids=["local", "remote"])
@pytest.mark.parametrize("by", ["WSGI", "ASGI"])
def test_a_failed_read_is_not_repeated_for_the_same_request(by: str, local: bool) -> None:
    reads: list[object] = []

    def fail(read: object) -> Any:
        reads.append(read)
        raise BindingsUnavailable("gone")

    class Failing(BindingSource):
        is_local = local  # type: ignore[assignment]
        stored_redirect = fetch = staticmethod(fail)  # type: ignore[assignment]

    if by == "WSGI":
        status, _, _ = answers(ResolverMiddleware(site, Failing()), "/ark:12345/x", {"REQUEST_METHOD": "GET"})
        assert str(status).startswith("503")
    else:
        app = ResolverASGIMiddleware(asgi_site, Failing())
        assert asgi_client.Client(app).request("/ark:12345/x").status == 503
    assert reads == ["ark:12345/x"]
