"""All texts of the inspector, of traces and of the sign-in are in the language of the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ararat.middleware import open_bindings
from ararat.net.hop import HopFailed
from ararat.webapp import create_app
from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.store import Accounts
from tests.pseudo import BEGIN, pseudo_language, untranslated

HERE = "https://here.example.org"
GERMAN = {"Accept-Language": "de"}
STREAM = {"Accept": "text/event-stream", **GERMAN}
PASSWORD = "correct horse battery staple"
SECRET = "s" * 43

_NAMES = re.compile(
    r"(data-label=)?(Ararat|API|ARK|URN|NAAN|NID|NSS|IRI|UTF|RFC|ISBN|JSON|CSV|GET|HEAD|[rqf]-component|[\W\d])*"
    r"|\([a-z0-9-]+\)\.?|(\d+ )?(OK|Found|Service Unavailable)(, text/html)?\."
)
"""Names that no language translates."""

TEXTS = {
    "home": "",
    "a valid ARK": "ark:/12148/btv1b8449691v",
    "steps, parts and spellings": "https://n2t.net/ark:/12345/x6-np1/p-1.b.a.a?info",
    "components": "ark:12345/x/a/b/c/d/e/f/g/h/i/j/k.v1.v2",
    "many segments": "ark:12345/" + "/".join("abcdefghijklmnopqrstuvwxyz0123456789") + ".v",
    "one segment left out": "ark:12345/" + "/".join(["a"] * 12),
    "query and fragment": "ark:12345/x?a=b#c",
    "recorded": "ark:12345/x",
    "described": "ark:12345/described",
    "served": "ark:12345/served",
    "related": "ark:12345/related",
    "withdrawn": "ark:12345/gone",
    "outside the specification": "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ",
    "outside, unknown holder": "ark:/00000/1:1",
    "not valid": "ark:12345",
    "not valid, empty": "ark:12345/",
    "suggestion": "ark:12345/x.",
    "pseudo-ARK": "arc:/12345/x",
    "hidden": "ark:12345/a\u200b\u200cb\u202ec\u00add\ufeff",
    "one hidden": "ark:12345/a\u200bb",
    "not ASCII": "ark:12345/caf\u00e9",
    "mistyped": "urn:isbn:9783161484101",
    "wrong check character": "ark:/13030/tf5p30086q",
    "an ISBN": "urn:isbn:9783161484100",
    "an ISSN": "urn:issn:0317-8471",
    "a UUID": "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "an NBN": "urn:nbn:de:101:1-201102033592",
    "URN with components": "urn:example:a?+r?=q#f",
    "URN, only the draft": "urn:example:a?b",
    "URN, unknown namespace": "urn:nowhere-at-all:a",
    "URN, NSS not valid": "urn:oid:1.2.x",
    "URN, not valid": "urn:x:",
    "long": "ark:12345/" + "x" * 1500,
    "nothing": "no identifier is here",
    "space": "   ",
    "list": "ark:12345/x ark:/12345/x ark:12345/x ark:12345/gone ark:12345 urn:isbn:9783161484101 ark:12345/y?",
    "two": "ark:12345/x ark:12345",
    "a long list": " ".join(f"ark:12345/{number}" for number in range(30)),
    "followed": "see (ark:12345/x) and ark:12345/y\u2013z",
    "IRI of a policy": "https://17beta.top/en/ https://17beta.top/en//x https://17beta.top/",
    "a URL": "https://17beta.top/en",
    "a hyphen and a dot": "ark:12-345/x-/y..",
}

PAIRS = {
    "equal": ("ark:12345/x-1", "https://n2t.net/ark:/12345/x1"),
    "the same": ("ark:12345/x", "ark:12345/x"),
    "different": ("ark:12345/x", "ark:12345/y"),
    "only in RFC 8141": ("urn:example:a?=b", "urn:example:a"),
    "suggested": ("ark:12345/a/", "ark:12345/a"),
    "kunze": ("ark:12345/X.b.a", "ark:12345/X.a.b"),
    "first not valid": ("ark:12345", "ark:12345/a"),
    "second not valid": ("ark:12345/a", "nothing"),
    "neither valid": ("x", "y"),
    "composed": ("ark:12345/caf\u00e9", "ark:12345/cafe\u0301"),
    "namespace rule": ("urn:isbn:0-451-45052-3", "urn:isbn:9780451450524"),
    "URN": ("urn:isbn:9783161484100", "urn:issn:0317-8471"),
    "schemes": ("ark:12345/a", "urn:isbn:9783161484100"),
}


@pytest.fixture(autouse=True)
def _pseudo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(passwords, "_state", passwords._State())
    with pseudo_language():
        yield


class Leftovers(dict[str, list[str]]):
    """The texts of pages that are not translated, by the name of the page."""

    def look(self, name: str, html: str) -> None:
        assert BEGIN in html, name
        if found := [text for text in untranslated(html) if not _NAMES.fullmatch(text)]:
            self[name] = found


def test_reports_and_their_fragments(bound: Any) -> None:
    kinds = {"x": "located", "described": "described", "served": "served", "related": "related", "gone": "withdrawn"}
    names = bound({f"ark:12345/{name}": kind for name, kind in kinds.items()})
    client = create_app(names, prefix=HERE, policies=["17beta"], trace_elsewhere=True).test_client()
    left = Leftovers()
    for name, text in TEXTS.items():
        left.look(name, client.post("/", data={"q": text}, headers=GERMAN, follow_redirects=True).text)
    fragments = {
        "start": "/",
        "card": "/?q=ark:12345/x",
        "row": "/?q=ark:12345/x&row=2",
        "table": "/?q=ark:12345/x+ark:12345/y&show=bad",
    }
    for name, address in fragments.items():
        left.look(f"fragment, {name}", client.get(address, headers={**GERMAN, "HX-Request": "true"}).text)
    unread = bound({}, reachable=False)
    for options, app in (
        ("no traces", create_app(unread, prefix=HERE, trace_elsewhere=False)),
        ("institution", create_app(unread, prefix=HERE, institution="Louvre", language="fr")),
    ):
        other = app.test_client()
        for text in ("ark:12345/x", "urn:isbn:9783161484100", "urn:nbn:de:101:1-201102033592"):
            left.look(f"{text} {options}", other.get("/", query_string={"q": text}, headers=GERMAN).text)
    large = client.post("/", data={"q": "ark:12345/x " + "z" * 9000}, headers=GERMAN)
    left.look("no permalink", large.text)
    left.look("too long", client.post("/", data={"q": "x" * 1_100_000}, headers=GERMAN).text)
    assert not left, "\n".join(f"{name}: {found}" for name, found in left.items())


def test_comparisons_policies_documentation_and_errors() -> None:
    client = create_app(policies=["17beta"], prefix=HERE).test_client()
    left = Leftovers()
    for name, (a, b) in PAIRS.items():
        left.look(name, client.get("/compare", query_string={"a": a, "b": b}, headers=GERMAN).text)
    left.look("one line", client.post("/compare", data={"q": "x"}, headers=GERMAN).text)
    sitemap = "https://17beta.top/en/\nhttps://17beta.top/en//x\nhttps://example.org/\nno iri\nhttps://17beta.top/r/x"
    for name, text in {"sitemap": sitemap, "broken": "<urlset", "entity": "<!DOCTYPE x><x/>", "empty": ""}.items():
        form = {"q": text, "complete": "1"}
        left.look(f"policy, {name}", client.post("/policy", data=form, headers=GERMAN).text)
        left.look(f"policy, {name}", client.post("/policy", data=form, headers={**GERMAN, "HX-Request": "true"}).text)
    addresses = (
        *("/docs", "/docs/accounts", "/docs?q=shoulder", "/docs?q=zzzzzz", "/docs/nowhere", "/nowhere", "/compare"),
        *("/policy?profile=x", "/registries/naan/99990", "/registries/urn/nowhere", "/schemes/nowhere"),
        *(
            "/registries/naan?page=x",
            "/qr.svg?q=x",
            "/traces/result",
            "/trace?q=x&fresh=2",
            "/trace?q=x&max_redirects=x",
        ),
        *("/trace?q=x&resolver=a&resolver=b", "/trace", "/traces", "/trace?q=ark:12345/x"),
    )
    for address in addresses:
        headers = GERMAN if "=ark" not in address else {**GERMAN, "Sec-Fetch-Site": "cross-site"}
        left.look(address, client.get(address, headers=headers).text)
        left.look(address, client.get(address, headers={**headers, "HX-Request": "true"}).text)
    left.look("other site", client.post("/traces", headers={**GERMAN, "Origin": "https://evil.test"}).text)
    assert not left, "\n".join(f"{name}: {found}" for name, found in left.items())


def _moves(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    path = environ["PATH_INFO"].removeprefix("/ark:12345/")
    if path == "failed":
        raise HopFailed("dropped", where="here")
    if path == "error":
        raise ValueError(path)
    moves: dict[str, tuple[str, list[tuple[str, str]]]] = {
        "x": ("302 Found", [("Location", "/page#part"), ("Vary", "Accept")]),
        "/page": ("301 Moved Permanently", [("Location", f"{HERE}/end")]),
        "moved": ("301 Moved Permanently", [("Location", "/end")]),
        "related": ("303 See Other", [("Location", "/end")]),
        "loop": ("302 Found", [("Location", "/ark:12345/loop"), ("Set-Cookie", "a=b")]),
        "missing": ("302 Found", []),
        "twice": ("302 Found", [("Location", "/a"), ("Location", "/b")]),
        "long": ("302 Found", [("Location", "/" + "a" * 5000)]),
        "bad": ("302 Found", [("Location", "/caf\u00c3\u00a9 a\\b")]),
        "unsafe": ("302 Found", [("Location", "javascript:alert(1)")]),
        "mail": ("302 Found", [("Location", "mailto:a@example.org")]),
        "elsewhere": ("302 Found", [("Location", "http://example.org/")]),
        "forbidden": ("403 Forbidden", []),
        "method": ("405 Method Not Allowed", []),
        "down": ("503 Service Unavailable", []),
        "odd": ("799 Odd", []),
        "/end": ("200 OK", [("Content-Type", "text/html"), ("Link", '</about>; rel="describedby"')]),
    }
    status, fields = moves.get(path, ("404 Not Found", []))
    start_response(status, fields)
    return [b""]


_TRACED = (
    *("x", "x?info", "x#part", "moved", "related", "loop", "missing", "twice", "long", "bad", "unsafe", "mail"),
    *("elsewhere", "forbidden", "method", "down", "odd", "failed", "error", "gone", "a-b:c"),
)


def _data(response: Any) -> str:
    """Return the HTML of a stream."""
    lines = (line.removeprefix("data: ") for line in response.text.split("\n") if line.startswith("data: "))
    return "\n".join(line for line in lines if line != "end")


def test_traces_and_their_streams(bound: Any) -> None:
    names = bound({f"ark:12345/{name}": "located" for name in _TRACED})
    client = create_app(names, prefix=HERE, local={HERE: _moves}, trace_elsewhere=False).test_client()
    left = Leftovers()
    for name in _TRACED:
        text = f"ark:12345/{name}"
        query = {"q": text, "resolver": HERE}
        left.look(f"stream of {name}", _data(client.get("/trace", query_string=query, headers=STREAM)))
        left.look(f"page of {name}", client.get("/trace", query_string=query, headers=GERMAN).text)
    for name in ("ark:12345", "urn:isbn:9783161484100", "ark:99999/x", "nothing", "ark:12148/x", ""):
        left.look(f"refused, {name}", _data(client.get("/trace", query_string={"q": name}, headers=STREAM)))
    left.look("lost", _data(client.get("/trace?q=ark:12345/x", headers={**STREAM, "Last-Event-ID": "1"})))
    fragment = client.get("/trace?q=ark:12345/x", headers={"X-Language": "de", "HX-Request": "true"}).text
    left.look("fragment", fragment)
    assert "lang=de" in fragment, "an EventSource sends no field X-Language"
    listed = "\n".join([*(f"ark:12345/{name}" for name in _TRACED), "nonsense", "urn:isbn:9783161484100"])
    left.look("list", client.post("/traces", data={"q": listed}, headers=GERMAN).text)
    for name, form in {
        "empty": {"q": ""},
        "many": {"q": "\n".join(map(str, range(60)))},
        "URL": {"q": "x" * 9000},
    }.items():
        left.look(f"list, {name}", client.post("/traces", data=form, headers=GERMAN).text)
    left.look("resolver", client.post("/traces", data={"q": "x", "resolver": "ftp://x"}, headers=GERMAN).text)
    left.look("result", client.post("/traces/result", data={"run": "x"}, headers=GERMAN).text)
    assert not left, "\n".join(f"{name}: {found}" for name, found in left.items())
    events = [
        line
        for line in client.get("/trace?q=ark:12345/x", headers=GERMAN).text.split("\n")
        if "&#34;event&#34;" in line
    ]
    assert events
    assert not any(BEGIN in re.sub("<[^>]*>", "", line) for line in events), "the JSON of a trace is in English"


def _token(page: Any) -> str:
    found = re.search('name="csrf_token" value="([0-9a-f]{64})"', page.text)
    assert found, page.text
    return found[1]


def test_sign_in_and_one_time_links(tmp_path: Any) -> None:
    left = Leftovers()
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        accounts = Accounts(bindings)
        client = create_app(bindings, prefix="http://localhost", first_secret=SECRET).test_client()
        first = f"/first-account/{SECRET}"
        left.look("no account", client.get("/sign-in", headers=GERMAN).text)
        page = client.get(first, headers=GERMAN)
        left.look("first account", page.text)
        wrong = {
            "different": {"name": "ada", "password": PASSWORD, "again": "x"},
            "short": {"name": "ada", "password": "x", "again": "x"},
            "same": {"name": "ada", "password": "x" * 20, "again": "x" * 20},
            "common": {"name": "ada", "password": "password1234", "again": "password1234"},
            "token": {"name": "ada", "password": "ararat_abcdefghijk", "again": "ararat_abcdefghijk"},
            "name": {"name": "A da", "password": PASSWORD, "again": PASSWORD},
        }
        for name, form in wrong.items():
            answer = client.post(first, data={"csrf_token": _token(page), **form}, headers=GERMAN)
            assert answer.status_code == 422, name
            left.look(f"first account, {name}", answer.text)
        left.look("old form", client.post(first, data={"name": "ada"}, headers=GERMAN).text)
        left.look("wrong link", client.get("/first-account/x", headers=GERMAN).text)
        accounts.add("jane", "curator", ["12345/x5"], PASSWORD)
        left.look("wrong link of an account", client.get("/set-password/x", headers=GERMAN).text)
        client = create_app(bindings, prefix="http://localhost").test_client()
        page = client.get("/sign-in?next=/desk", headers=GERMAN)
        left.look("sign in", page.text)
        form = {"csrf_token": _token(page), "name": "jane", "password": "wrong"}
        left.look("wrong password", client.post("/sign-in", data=form, headers=GERMAN).text)
        left.look("sign out", client.get("/sign-out", headers=GERMAN).text)
        signed = client.post("/sign-in", data={**form, "password": PASSWORD}, headers=GERMAN)
        assert signed.status_code == 303
        left.look("signed in", client.get("/sign-in", headers=GERMAN).text)
        left.look("home with an account", client.get("/", headers=GERMAN).text)
    assert not left, "\n".join(f"{name}: {found}" for name, found in left.items())
