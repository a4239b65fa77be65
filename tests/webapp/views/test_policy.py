"""The page of an IRI policy, its JSON, and sitemaps."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.iri_policy import Profile
from ararat.webapp import create_app
from ararat.webapp.sitemaps import SitemapError, addresses

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SITEMAP = f"""<?xml version="1.0" encoding="UTF-16"?>
<urlset xmlns="{NAMESPACE}"><url><loc>https://17beta.top/en/</loc><lastmod>2020</lastmod></url>
<url><loc>\n https://17beta.top/en?a&amp;b </loc></url></urlset>"""
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset>&b;</urlset>'


@pytest.fixture(scope="module")
def client() -> Any:
    return create_app(policies=["17beta"]).test_client()


def test_a_site_without_a_policy_has_no_page_and_no_link_to_it(client):
    plain = create_app().test_client()
    assert plain.get("/policy").status_code == 404
    assert "/policy" not in plain.get("/").text
    for answer in (plain.get("/api/policy?q=https://example.org/"), plain.post("/api/policy", data=b"x")):
        assert (answer.status_code, answer.get_json()["code"]) == (404, "no-policy")
    assert "/policy" in client.get("/").text


def test_the_page_shows_the_findings_of_each_address(client, read_page):
    answer = client.post("/policy", data={"q": SITEMAP, "complete": "1"})
    page = read_page(answer.text)
    rows = [[cell.text for cell in row.all("td")] for row in page.one("tbody").all("tr")]
    assert [(row[0], row[2]) for row in rows] == [
        ("https://17beta.top/en/", "language"),
        ("https://17beta.top/en?a&b", "language"),
    ]
    assert "(empty-segment)" in rows[0][3]
    assert "(parent-unallocated)" in rows[1][3]
    assert "one must not be allocated" in page.one(id="judged").text


def test_the_empty_page_shows_the_hosts_of_the_policy(client, read_page):
    page = read_page(client.get("/policy").text)
    assert "male-to-female.org" in page.one("p", id="what").text
    assert page.all("table") == []


@pytest.mark.one_setup
@pytest.mark.parametrize("text", ["<svg onload=alert(1)>", "https://17beta.top/<b>\u202e</b>", "\ud800", BOMB])
def test_pasted_text_creates_no_elements(client, read_page, text):
    answer = client.post("/policy", data={"q": text.encode("utf-8", "surrogatepass")})
    assert answer.status_code == 200
    assert "<svg onload" not in answer.text
    assert "<b>\u202e" not in answer.text
    read_page(answer.text)


def test_htmx_gets_the_table_and_the_headline_is_announced(client, read_page):
    page = read_page(client.post("/policy", data={"q": SITEMAP}, headers={"HX-Request": "true"}).text)
    assert page.all("form") == []
    assert page.one("p", id="said").text == page.one(id="judged").text
    page = read_page(client.post("/policy", data={"q": BOMB}, headers={"HX-Request": "true"}).text)
    assert page.one("p", id="said").text == "The sitemap cannot be read"


def test_json_is_returned_on_request(client):
    accept = {"Accept": "application/json"}
    below_api = client.post("/api/policy", data=SITEMAP.encode())
    assert client.post("/policy", data={"q": SITEMAP}, headers=accept).json == below_api.json
    refused = client.post("/policy", data={"q": BOMB}, headers=accept)
    assert (refused.status_code, refused.json["code"]) == (400, "no-sitemap")
    assert below_api.headers["Access-Control-Allow-Origin"] == "*"


def test_json_has_the_same_content(client):
    answer = client.get("/api/policy", query_string={"q": "https://17beta.top/en/\nhttps://example.org/"})
    (first, second) = answer.json["found"]
    assert (first["codes"], first["allocatable"]) == (["empty-segment"], False)
    assert (second["in_scope"], second["codes"]) == (False, [])
    assert client.post("/api/policy", data=SITEMAP.encode()).json["found"][0] == first | {"findings": first["findings"]}
    assert answer.text.isascii()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("ask", "code"),
    [
        pytest.param({"path": "/api/policy"}, "parameter-missing", id="no q"),
        pytest.param({"path": "/api/policy?q=x&profile=y"}, "policy-unknown", id="no such policy"),
        pytest.param({"path": "/api/policy", "method": "POST", "data": b"\xff"}, "not-utf-8", id="no text"),
        pytest.param({"path": "/api/policy", "method": "POST", "data": BOMB.encode()}, "no-sitemap", id="entities"),
    ],
)
def test_an_invalid_request_is_refused(client, ask, code):
    answer = client.open(**ask)
    assert answer.status_code == 400
    assert json.loads(answer.text)["code"] == code


def test_the_first_thousand_addresses_are_checked(client):
    found = client.post("/api/policy", data=b"https://17beta.top/en\n" * 1001).json
    assert (len(found["found"]), found["truncated"]) == (1000, True)
    assert client.post("/policy", data={"q": "x" * (2**20 + 1)}).status_code == 413


def test_a_site_can_have_policies(read_page):
    profiles = [Profile("ours", ("example.org",)), "17beta"]
    client = create_app(policies=profiles).test_client()
    answer = json.loads(client.get("/api/policy?q=https://example.org/en/").text)
    assert answer["found"][0]["codes"] == ["empty-segment"]
    page = read_page(client.get("/policy?profile=17beta").text)
    assert [option.text for option in page.all("option")] == ["ours", "17beta"]
    card = client.get("/?q=https://example.org/en/").text
    assert "Policy ours" in card


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(BOMB, "document type", id="entities"),
        pytest.param("<urlset>", "line 1", id="cut off"),
        pytest.param("<a>\ud800</a>", "half of a surrogate pair", id="surrogate"),
    ],
)
def test_a_text_that_is_not_a_sitemap_is_refused(text, said):
    with pytest.raises(SitemapError, match=said):
        addresses(text, most=10)


def test_only_locations_of_a_sitemap_are_read():
    other = f'<urlset xmlns="{NAMESPACE}"><loc>a</loc><x xmlns="y"><loc>b</loc></x><loc>c<i/>d</loc></urlset>'
    assert addresses(other, most=10) == ["a", "c"]


@given(st.text(max_size=50))
def test_every_text_is_a_list_of_addresses_or_refused(text):
    with contextlib.suppress(SitemapError):
        found = addresses(text, most=5)
        assert len(found) <= 5
        assert all(found)
