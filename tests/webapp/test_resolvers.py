"""The resolvers that a reader is offered for an identifier, and two of them compared."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from ararat.webapp import create_app, resolvers, runs
from ararat.webapp.site import Resolver
from ararat.webapp.tracing.hop import HopResponse

HERE = "https://here.example.org"
OTHER = "https://other.example"
NAME = "ark:12148/x"
STREAM = {"Accept": "text/event-stream"}
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
    """Other hosts, without a network: they send every name to one page; what is asked of them, in order."""
    asked: list[str] = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        asked.append(url)
        if "/ark:" in url:
            return HopResponse(302, "Found", (("Location", f"{OTHER}/page"),))
        return HopResponse(200, "OK", (("Cache-Control", "no-store"),))

    monkeypatch.setattr(runs, "guarded_fetch", lambda **settings: fetch)
    return asked


@pytest.fixture
def client(bound):
    listed = ("https://listed.example", Resolver("A mirror", "https://mirror.example"), "https://n2t.net")
    names = bound({"ark:12345/x": "located"})
    return create_app(names, prefix=HERE, local={HERE: site}, resolvers=listed).test_client()


def offered(client: Any, text: str) -> list[tuple[str, str]]:
    with client.application.test_request_context("/"):
        return [(offer.prefix, offer.title) for offer in resolvers.offers(text)]


def events_of(response: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in response.text.splitlines()]


# Whom to choose from --------------------------------------------------------------------------------------------------


def test_offered_are_this_site_the_official_resolver_the_expected_one_and_those_listed(client):
    assert offered(client, NAME) == [
        (HERE, "this site"),
        ("https://n2t.net", "the official resolver"),
        ("https://ark.bnf.fr", "expected to know it: the resolver of NAAN 12148"),
        ("https://listed.example", "listed.example"),
        ("https://mirror.example", "A mirror"),
    ]


def test_for_a_urn_the_known_resolver_of_its_namespace_is_offered(client):
    assert ("https://urn.fi", "expected to know it: the resolver of urn:nbn:fi") in offered(client, "urn:nbn:fi-fe1")
    assert len(offered(client, "urn:isbn:0451450523")) == 4


def test_where_no_other_host_is_asked_nobody_else_is_offered(bound):
    alone = create_app(bound({}), prefix=HERE, local={HERE: site}, trace_elsewhere=False, resolvers=[OTHER])
    assert offered(alone.test_client(), NAME) == [(HERE, "this site")]
    assert 'class="offers"' not in alone.test_client().get("/?q=" + NAME).text


@pytest.mark.parametrize("resolver", ["ftp://a.example", "//a.example", "https://a.example/?q", Resolver("x", "x")])
def test_a_resolver_that_is_none_is_refused_when_the_inspector_is_made(resolver):
    with pytest.raises(ValueError, match="prefix"):
        create_app(resolvers=[resolver])


def test_a_card_offers_them_in_a_form_that_needs_no_script(client, read_page):
    form = read_page(client.get("/?q=" + NAME).text).one("section", "leads").one("form")
    assert (form.attributes["action"], form.attributes["method"]) == ("/trace", "get")
    assert form.one("input", type="hidden").attributes["value"] == NAME
    boxes = form.all("input", type="checkbox")
    assert [(box.attributes["name"], box.attributes["value"]) for box in boxes] == [
        ("resolver", prefix) for prefix, _ in offered(client, NAME)
    ]


def test_the_page_of_a_trace_suggests_them_at_both_fields(client, read_page):
    page = read_page(
        client.get(f"/trace?q={NAME}", headers={"Sec-Fetch-Site": "cross-site", "Accept": "text/html"}).text
    )
    assert len(page.one("datalist", id="offers").all("option")) == 5
    assert [field.attributes["list"] for field in page.all("input", name="resolver")] == ["offers"] * 2


# Two of them ----------------------------------------------------------------------------------------------------------


def test_two_resolvers_are_asked_one_after_the_other_and_compared(client, others):
    told = events_of(client.get("/api/trace", query_string={"q": NAME, "resolver": [HERE, OTHER]}))
    assert [event["event"] for event in told] == [
        "start",
        "hop",
        "hop",
        "end",
        "start",
        "hop",
        "hop",
        "end",
        "compared",
    ]
    last = told[-1]
    assert (last["same"], last["met"], last["parted"], last["differ"]) == (True, f"{OTHER}/page", None, [])
    assert [end["url"] for end in last["ends"]] == [f"{OTHER}/page"] * 2
    assert others == [f"{OTHER}/page", f"{OTHER}/{NAME}", f"{OTHER}/page"]


def test_where_they_part_is_said(client, others):
    query = {"q": "ark:12345/x", "resolver": [HERE, OTHER]}
    last = events_of(client.get("/api/trace", query_string=query))[-1]
    assert (last["same"], last["met"], last["parted"], last["differ"]) == (False, None, None, ["url"])
    assert last["sentence"].startswith(f"They end at different places: {HERE}/mine and {OTHER}/page.")


def test_an_empty_first_resolver_is_the_one_that_is_asked_anyway(client, others):
    told = events_of(client.get(f"/api/trace?q=ark:12345/x&resolver=&resolver={OTHER}"))
    assert [event["resolver"] for event in told if event["event"] == "start"] == [HERE, OTHER]


@pytest.mark.parametrize(
    "query", ["resolver=&resolver=", f"resolver={HERE}&resolver={HERE}", f"resolver={HERE}&resolver="]
)
def test_one_resolver_is_one_trace(client, others, query):
    assert sum(event["event"] == "end" for event in events_of(client.get(f"/api/trace?q=ark:12345/x&{query}"))) == 1


@pytest.mark.parametrize(
    ("named", "status", "code"),
    [
        pytest.param([HERE, OTHER, "https://third.example"], 400, "parameter", id="three"),
        pytest.param([HERE, "javascript:alert(1)"], 400, "parameter", id="no resolver"),
        pytest.param([HERE, "registry"], 400, "no-resolver", id="nobody known"),
    ],
)
def test_what_cannot_be_compared_says_why_and_nobody_is_asked(client, others, named, status, code):
    answer = client.get("/api/trace", query_string={"q": "ark:bbbbb/x", "resolver": named})
    assert (answer.status_code, answer.json["code"], others) == (status, code, [])
    assert client.application.extensions["ararat"].places.taken == 0


def test_no_other_host_is_compared_with_where_none_is_asked(bound):
    alone = create_app(bound({}), prefix=HERE, local={HERE: site}, trace_elsewhere=False).test_client()
    answer = alone.get("/api/trace", query_string={"q": NAME, "resolver": [HERE, OTHER]})
    assert (answer.status_code, (answer.json or {})["code"]) == (403, "not-asked")


def test_a_comparison_takes_one_place_until_its_end(bound, others, monkeypatch):
    asked, go_on = threading.Event(), threading.Event()

    def slow(environ, start_response):
        asked.set()
        go_on.wait(20)
        return site(environ, start_response)

    app = create_app(bound({}), prefix=HERE, local={HERE: slow}, traces=1)
    running = app.test_client().get("/api/trace", query_string={"q": NAME, "resolver": [OTHER, HERE]}, buffered=False)
    parts = running.iter_encoded()
    next(parts)
    assert asked.wait(20)
    assert app.extensions["ararat"].places.taken == 1
    go_on.set()
    assert b'"compared"' in b"".join(parts)
    running.close()


def test_the_page_grows_by_both_traces_and_ends_with_the_comparison(client, others, read_page):
    query = {"q": "ark:12345/x", "resolver": [HERE, OTHER]}
    answer = client.get("/trace", query_string=query, headers={"Accept": "text/html"})
    page = read_page(answer.text)
    assert [len(each.all("li", "hop")) for each in page.all("ol", "hops")] == [2, 2]
    (end,) = page.all("div", "compared")
    assert "They end at different places" in end.one("p", "sentence").text
    assert [row.one("th").text for row in end.all("tr", "differs")] == ["Ends at differs"]
    again = [link for link in page.all("a") if link.text == "Run again"]
    assert [link.attributes["href"] for link in again] == [
        f"/trace?q=ark:12345/x&resolver={HERE}&resolver={OTHER}&fresh=1"
    ]


def test_the_stream_has_places_for_the_second_trace(client, others, read_page):
    query = {"q": "ark:12345/x", "resolver": [HERE, OTHER]}
    fragment = read_page(client.get("/trace", query_string=query, headers=HTMX).text)
    swaps = [each.attributes["sse-swap"] for each in fragment.walk() if "sse-swap" in each.attributes]
    stream = client.get(fragment.one("div", "trace").attributes["sse-connect"], headers=STREAM).text
    named = list(dict.fromkeys(line[7:] for line in stream.split("\n") if line.startswith("event: ")))
    assert set(named) == {*swaps, "end"}
    assert named[-2:] == ["compared", "end"]
    ids = [line for line in stream.split("\n") if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(1, 10)]


def test_nothing_that_is_named_as_a_resolver_becomes_an_element(client, read_page):
    hostile = "https://a.example/<b>\u202e"
    answer = client.get("/trace", query_string={"q": NAME, "resolver": [hostile, hostile + "x"]}, headers=HTMX)
    assert answer.status_code == 200
    assert read_page(answer.text).all("b") == []
    assert "\u202e" not in answer.text


def test_three_that_are_ticked_leave_a_place_for_the_next_trace(client, read_page):
    answer = client.get(
        "/trace", query_string={"q": NAME, "resolver": [HERE, OTHER, "https://third.example"]}, headers=HTMX
    )
    assert answer.status_code == 400
    assert "3 resolvers are named; expected one, or two" in read_page(answer.text).one("div", "trace").text
