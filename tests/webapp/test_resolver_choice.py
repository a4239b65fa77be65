"""The resolvers that a user can select for an identifier."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from ararat.bindings.system.thread_slots import slots
from ararat.net.hop import HopResponse
from ararat.webapp import create_app, resolver_choice, trace_requests
from ararat.webapp.settings import Resolver

HERE = "https://here.example.org"
OTHER = "https://other.example"
NAME = "ark:12148/x"
HTMX = {"HX-Request": "true"}


def site(environ, start_response):
    leads = {"/ark:12148/x": f"{OTHER}/page", "/ark:12345/x": "/mine"}
    if environ["PATH_INFO"] in leads:
        start_response("302 Found", [("Location", leads[environ["PATH_INFO"]])])
    else:
        start_response("200 OK", [])
    return [b""]


@pytest.fixture
def others(monkeypatch) -> list[str]:
    """Other hosts without a network: each redirects names to one page and records its requests."""
    asked: list[str] = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        asked.append(url)
        if "/ark:" in url:
            return HopResponse(302, "Found", (("Location", f"{OTHER}/page"),))
        return HopResponse(200, "OK", (("Cache-Control", "no-store"),))

    monkeypatch.setattr(trace_requests, "GuardedClient", SimpleNamespace(to=lambda destinations, **settings: fetch))
    return asked


@pytest.fixture
def client(bound):
    listed = ("https://listed.example", Resolver("A mirror", "https://mirror.example"), "https://n2t.net")
    names = bound({"ark:12345/x": "located"})
    return create_app(names, prefix=HERE, local={HERE: site}, resolvers=listed).test_client()


def offered(client: Any, text: str) -> list[tuple[str, str]]:
    with client.application.test_request_context("/"):
        return [(offer.prefix, offer.title) for offer in resolver_choice.resolver_options(text)]


def events_of(response: Any) -> list[dict[str, Any]]:
    # On a busy machine, beats can be between the events.
    return [event for event in map(json.loads, response.text.splitlines()) if event["event"] != "waiting"]


# Whom to choose from --------------------------------------------------------------------------------------------------


def test_the_offers_are_this_site_the_official_the_known_and_the_configured_resolvers(client):
    assert offered(client, NAME) == [
        (HERE, "this site"),
        ("https://n2t.net", "the official resolver"),
        ("https://ark.bnf.fr", "the known resolver of NAAN 12148"),
        ("https://listed.example", "listed.example"),
        ("https://mirror.example", "A mirror"),
    ]


def test_the_known_resolver_of_a_urn_namespace_is_offered(client):
    assert ("https://urn.fi", "the known resolver of urn:nbn:fi") in offered(client, "urn:nbn:fi-fe1")
    assert len(offered(client, "urn:isbn:0451450523")) == 4


# URN-066
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "is_bound", "resolver", "why"),
    [
        ("urn:nbn:de:hbz:5:1-10000", False, "https://nbn-resolving.org", "starts at the known resolver of urn:nbn:de"),
        ("URN:NBN:fi-fe1", None, "https://urn.fi", "cannot be read, so the trace starts at the known resolver"),
        ("urn:nbn:se:uu:diva-3475", False, "https://nbn-resolving.org", "of urn:nbn:se"),
        ("urn:isbn:0451450523", False, "", "No resolver of urn:isbn is known. Choose a resolver."),
        ("urn:nbn:zz:1-2", False, "", "No resolver of urn:nbn:zz is known"),
        ("urn:isbn:0451450523", True, HERE, "is recorded here"),
        ("ark:12345/y", False, "https://n2t.net", "starts at the official resolver"),
        ("https://gallica.bnf.fr/ark:/12148/x/f1", False, "https://gallica.bnf.fr", "that you pasted"),
        ("https://old.example/id/ark:12345/x", True, "https://old.example/id", "that you pasted"),
        ("https://nbn-resolving.org/urn:nbn:fi-fe1", False, "https://nbn-resolving.org", "that you pasted"),
        ("https://www.familysearch.org/ark:/61903/1:1:M", None, "https://www.familysearch.org", "that you pasted"),
    ],
)
def test_a_trace_of_a_urn_starts_at_the_known_resolver_of_its_namespace(client, text, is_bound, resolver, why):
    with client.application.test_request_context("/"):
        choice = resolver_choice.choose_resolver(text, None, bound=is_bound)
    assert (choice.resolver, choice.possible) == (resolver, bool(resolver))
    assert why in choice.why


def test_page_and_api_ask_for_the_resolver_of_a_urn_if_none_is_known(client, others, read_page):
    page = read_page(client.get("/?q=urn:isbn:0451450523").text).one("section", "leads")
    assert "No resolver of urn:isbn is known" in page.text
    assert all(option.attributes["value"] for option in page.one("form", "plan").all("option"))
    answer = client.get("/api/trace?q=urn:isbn:0451450523")
    assert (answer.status_code, answer.json["code"], others) == (400, "no-resolver", [])
    assert "Choose a resolver" in answer.json["detail"]
    assert client.get("/trace?q=urn:isbn:0451450523", headers=HTMX).status_code == 200


def test_only_this_site_is_offered_if_other_hosts_are_not_allowed(bound):
    alone = create_app(bound({}), prefix=HERE, local={HERE: site}, trace_elsewhere=False, resolvers=[OTHER])
    assert offered(alone.test_client(), NAME) == [(HERE, "this site")]
    assert alone.test_client().get("/?q=" + NAME).text.count("<option") == 1


@pytest.mark.parametrize("resolver", ["ftp://a.example", "//a.example", "https://a.example/?q", Resolver("x", "x")])
def test_an_invalid_resolver_raises_an_error_at_start(resolver):
    with pytest.raises(ValueError, match="prefix"):
        create_app(resolvers=[resolver])


def test_a_card_offers_resolvers_without_javascript(client, read_page):
    form = read_page(client.get("/?q=" + NAME).text).one("section", "leads").one("form")
    assert (form.attributes["action"], form.attributes["method"]) == ("/trace", "get")
    assert form.one("input", type="hidden").attributes["value"] == NAME
    # The usual resolver has no value, so that the permalink of the trace stays short.
    usual = "https://n2t.net"
    assert [(option.attributes["value"], "selected" in option.attributes) for option in form.all("option")] == [
        ("" if prefix == usual else prefix, prefix == usual) for prefix, _ in offered(client, NAME)
    ]


def test_the_address_that_was_pasted_is_opened_and_traced_first(client, read_page):
    page = read_page(client.get("/?q=https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ").text)
    opened = page.one("div", "do").one("a", "button", href="https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ")
    assert opened.text == "Open at www.familysearch.org"
    form = page.one("form", "plan")
    first = form.all("option")[0]
    assert first.text == "the address that you pasted: https://www.familysearch.org"
    assert first.attributes["value"] == "https://www.familysearch.org"
    assert "selected" in first.attributes
    assert form.one("input", type="hidden").attributes["value"] == "ark:/61903/1:1:MW98-MNJ"


def test_the_trace_page_suggests_resolvers(client, read_page):
    page = read_page(
        client.get(f"/trace?q={NAME}", headers={"Sec-Fetch-Site": "cross-site", "Accept": "text/html"}).text
    )
    assert len(page.one("datalist", id="offers").all("option")) == 5
    assert [field.attributes["list"] for field in page.all("input", name="resolver")] == ["offers"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "query", ["resolver=&resolver=", f"resolver={HERE}&resolver={HERE}", f"resolver={HERE}&resolver="]
)
def test_a_selected_resolver_starts_one_trace(client, others, query):
    assert sum(event["event"] == "end" for event in events_of(client.get(f"/api/trace?q=ark:12345/x&{query}"))) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("named", "status", "code"),
    [
        pytest.param([HERE, OTHER], 400, "parameter", id="two"),
        pytest.param(["javascript:alert(1)"], 400, "parameter", id="no resolver"),
        pytest.param(["registry"], 400, "no-resolver", id="no resolver is known"),
    ],
)
def test_an_invalid_resolver_is_refused(client, others, named, status, code):
    answer = client.get("/api/trace", query_string={"q": "ark:bbbbb/x", "resolver": named})
    assert (answer.status_code, answer.json["code"], others) == (status, code, [])
    assert slots.in_use() == 0


def test_a_resolver_name_creates_no_elements(client, read_page):
    hostile = "https://a.example/<b>\u202e"
    answer = client.get("/trace", query_string={"q": NAME, "resolver": hostile}, headers=HTMX)
    assert answer.status_code == 200
    assert read_page(answer.text).all("b") == []
    assert "\u202e" not in answer.text


def test_selecting_another_resolver_replaces_the_trace(client, read_page):
    answer = client.get("/trace", query_string={"q": NAME, "resolver": [HERE, OTHER]}, headers=HTMX)
    assert answer.status_code == 400
    assert "2 resolvers are named; expected one." in read_page(answer.text).one("div", "trace").text
