"""Schemes of a site: a record, a function, and a reserved path."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest
from werkzeug.test import Client

from ararat.identifiers.problems import IdentifierError, problem
from ararat.identifiers.scheme_registration import read
from ararat.middleware import BindingSource, OwnScheme, Resolution, ResolverASGIMiddleware, ResolverMiddleware
from tests.asgi_client import run

RECORD = read("Scheme name: atlas\nStatus: provisional\nContact: maps@example.org\n")


class Nothing(BindingSource):
    """Empty bindings."""

    def fetch(self, keys):
        return {}


def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]


def located(identifier: str, target: str | None = "/sheets/17", status: int = 302) -> Resolution:
    return Resolution(given=identifier, status=status, outcome="located", target=target)


def client(resolve=located, *, name: str = "atlas", **settings) -> Client:
    own = OwnScheme(record=replace(RECORD, name=name), resolve=resolve)
    return Client(ResolverMiddleware(site, Nothing(), schemes=["ark", own], **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["atlas", "map", "x", "org-example-maps"])
def test_the_path_of_an_own_scheme_is_reserved_and_its_identifier_is_passed_raw(name):
    asked = []
    answers = client(lambda identifier: asked.append(identifier) or located(identifier), name=name)
    for label in (name, name.upper()):
        answer = answers.get(f"/{label}:a%2Fb?c=%20d")
        assert (answer.status_code, answer.location) == (302, "/sheets/17")
    assert asked == [f"{name}:a%2Fb?c=%20d", f"{name.upper()}:a%2Fb?c=%20d"]


@pytest.mark.parametrize(
    "path",
    ["/", "/atlas", "/atlas/17", "/maps:17", "/atlas%3A17", "/x/atlas:17", "/\u0430tlas:17", "/urn:foo:bar", "/atla:1"],
)
def test_other_paths_reach_the_site(path):
    assert client().get(path).text == "the site"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param(b"/atlas%3A17", 200, id="encoded colon"),
        pytest.param(b"/atlas:17", 302, id="plain colon"),
        pytest.param(None, 302, id="only the decoded path is known"),
        pytest.param(b"/ark%3A12345/x", 404, id="encoded colon of an ARK"),
    ],
)
def test_asgi_and_wsgi_read_an_encoded_colon_alike(raw, status):
    async def asgi_site(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the site"})

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    sent = []
    own = OwnScheme(record=RECORD, resolve=located)
    resolver = ResolverASGIMiddleware(asgi_site, Nothing(), schemes=["ark", own])  # type: ignore[arg-type]
    scope = {"type": "http", "method": "GET", "path": unquote((raw or b"/atlas:17").decode()), "query_string": b""}
    scope |= {"headers": [], "scheme": "http", "server": ("h", 80), "client": None, "root_path": ""}
    scope |= {"http_version": "1.1", "asgi": {"version": "3.0"}} | ({} if raw is None else {"raw_path": raw})
    run(resolver(scope, receive, send))
    assert sent[0]["status"] == status
    environ = {"PATH_INFO": scope["path"]} | {"REQUEST_URI": raw.decode() if raw else ""}
    assert client().get("/", environ_overrides=environ).status_code == status


def test_ark_and_urn_are_resolved_beside_an_own_scheme():
    assert client().get("/ark:12345").status_code == 400


@pytest.mark.parametrize(
    ("resolve", "status"),
    [
        pytest.param(lambda identifier: None, 404, id="nothing known"),
        pytest.param(lambda identifier: located(identifier, "javascript:alert(1)"), 404, id="a target that runs"),
        pytest.param(lambda identifier: located(identifier, "//evil.example"), 404, id="another authority"),
        pytest.param(lambda identifier: located(identifier, "/a\r\nSet-Cookie: x"), 404, id="a second field"),
        pytest.param(lambda identifier: located(identifier, None), 404, id="no target"),
        pytest.param(lambda identifier: located(identifier, status=301), 500, id="for good"),
        pytest.param(lambda identifier: "https://example.org/", 500, id="no resolution"),
        pytest.param(lambda identifier: 1 / 0, 500, id="a defect"),
    ],
)
def test_an_invalid_result_of_an_own_resolver_is_refused(resolve, status):
    answer = client(resolve).get("/atlas:17")
    assert (answer.status_code, answer.location) == (status, None)
    assert "Set-Cookie" not in answer.headers
    assert "Retry-After" not in answer.headers


def test_an_invalid_identifier_is_reported_with_the_text_of_its_resolver():
    def resolve(identifier: str) -> Resolution:
        raise IdentifierError(identifier, problem("bad-char", 6, 7, "a sheet has a number"))

    answer = client(resolve).get("/atlas:x", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.get_json(force=True)["detail"]) == (400, "A sheet has a number.")


def test_a_refused_identifier_does_not_reach_the_own_resolver():
    def never(identifier: str) -> Resolution:
        raise AssertionError(identifier)

    answers = client(never)
    assert answers.post("/atlas:17").status_code == 405
    assert answers.get("/atlas:a/../17").status_code == 400
    assert answers.get(f"/atlas:{'7' * 4000}").status_code == 414
    assert answers.options("/atlas:17").status_code == 204


@pytest.mark.naughty
def test_hostile_identifiers_get_an_answer(naughty):
    text = naughty.input[:300].encode("utf-8", "surrogatepass").decode("latin-1")
    for resolve in (located, lambda identifier: None):
        answer = client(resolve).get("/", environ_overrides={"PATH_INFO": f"/atlas:{text}"})
        assert answer.status_code in (302, 400, 404)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        pytest.param(replace(RECORD, name=""), "has missing or wrong fields: name", id="no name"),
        pytest.param(replace(RECORD, name="At_las"), "has missing or wrong fields: name", id="no scheme name"),
        pytest.param(replace(RECORD, name="ATLAS"), "has missing or wrong fields: name", id="upper case"),
        pytest.param(replace(RECORD, name="urn"), "Ararat itself resolves 'urn'", id="known here"),
        pytest.param(replace(RECORD, name="example"), "has missing or wrong fields: name", id="kept for examples"),
        pytest.param(replace(RECORD, contact=""), "has missing or wrong fields: contact", id="no contact"),
        pytest.param(replace(RECORD, status="permanent"), "applications, controller, references", id="a lot"),
    ],
)
def test_an_invalid_record_raises_an_error_at_start(record, message):
    with pytest.raises(ValueError, match=message):
        OwnScheme(record=record, resolve=located)


def test_schemes_must_be_unique_and_have_records():
    own = OwnScheme(record=RECORD, resolve=located)
    with pytest.raises(ValueError, match="'atlas' occurs twice"):
        ResolverMiddleware(site, Nothing(), schemes=[own, own])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'atlas' is not one of ark, urn; for a scheme of your own"):
        ResolverMiddleware(site, Nothing(), schemes=["atlas"])  # type: ignore[arg-type]


@pytest.mark.one_setup
@pytest.mark.parametrize("scope", ["name", "subtree"])
@pytest.mark.parametrize("target", ["/atlas:17", "/ATLAS%3A17", "/uri-res/N2L", "/uri%2Dres/N2Ls"])
def test_a_served_name_cannot_lead_to_a_reserved_path(held, binding, target, scope):
    own = OwnScheme(record=RECORD, resolve=located)
    store = held(binding("ark:12345/x", target, kind="served", scope=scope), binding("ark:12345/y", target))
    resolver = ResolverMiddleware(site, store, prefix="https://r.example", schemes=["ark", own], services="/uri-res")
    for path in ("/ark:12345/x", "/ark:12345/x/1") if scope == "subtree" else ("/ark:12345/x",):
        assert Client(resolver).get(path).status_code == 404
    assert Client(resolver).get("/ark:12345/y").location == f"https://r.example{target}"
    assert Client(ResolverMiddleware(site, store)).get("/ark:12345/x").text == "the site"
