"""Inflections of a site: who answers them, and where they are listed (ARK-044)."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware

KNOWN = {"?cite": "A <citation>", "?form=pdf": "The thing as PDF"}


def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["QUERY_STRING"].encode()]


@pytest.fixture
def client(held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc?v=1#top"),
        binding("ark:12345/about", "https://example.org/about", kind="related"),
        binding("ark:12345/idea"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/gone", "/gone", status="withdrawn"),
    )
    return Client(ResolverMiddleware(site, store, inflections=KNOWN))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "location"),
    [
        ("ark:12345/doc?cite", "https://example.org/doc?v=1&cite#top"),
        ("ark:12345/doc?%63ite&utm_source=x", "https://example.org/doc?v=1&%63ite#top"),
        ("ark:12345/doc?form=pdf", "https://example.org/doc?v=1&form=pdf#top"),
        ("ark:12345/about?cite", "https://example.org/about?cite"),
    ],
)
def test_a_registered_inflection_is_passed_to_the_target(client, identifier, location):
    assert client.get(f"/{identifier}").location == location


def test_the_site_answers_inflections_of_served_names(client):
    assert client.get("/ark:12345/page?cite").text == "cite"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "parameter",
    [
        *("mtm_campaign=spring", "pk_campaign=x", "piwik_kwd=x", "matomo_cid=1", "at_medium=x", "ref=twitter"),
        *("ref_src=twsrc", "_hsenc=x", "_hsmi=1", "dclid=x", "utm_source=x", "mtm_source=a&ref=b&fbclid=c"),
    ],
)
def test_parameters_of_analytics_are_ignored(client, parameter):
    assert client.get(f"/ark:12345/doc?{parameter}").location == "https://example.org/doc?v=1#top"
    assert client.get(f"/ark:12345/page?{parameter}").text == ""


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["ark:12345/doc", "ark:/12345/d-oc", "ark:12345/idea"])
def test_the_page_of_an_unknown_query_leads_to_the_item_first(client, name):
    page = client.get(f"/{name}?source=newsletter", headers={"Accept": "text/html"}).text
    key = name.replace("/1", "1").replace("-", "")
    assert 0 < page.find(f'href="/{name}"') < page.find(f'href="/{key}?info"')
    found = client.get(f"/{name}?source=newsletter", headers={"Accept": "application/json"}).json
    assert (found["item"], found["description"]) == (f"/{name}", f"/{key}?info")
    text = client.get(f"/{name}?source=newsletter", headers={"Accept": "text/plain"}).text
    assert f"The item is at this address: /{name}\n" in text
    assert "item" not in client.get("/ark:12345/nope?x", headers={"Accept": "application/json"}).json


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status"),
    [
        ("ark:12345/doc?CITE", 404),
        ("ark:12345/doc?cite=", 404),
        ("ark:12345/doc?form=epub", 404),
        ("ark:12345/idea?cite", 404),
        ("ark:12345/nope?cite", 404),
        ("ark:12345/gone?cite", 410),
    ],
)
def test_other_queries_are_not_passed(client, identifier, status):
    assert client.get(f"/{identifier}").status_code == status


def test_an_unknown_inflection_is_refused_with_the_known_ones(client):
    asked = "/ark:12345/doc?what"
    assert client.get(asked, headers={"Accept": "application/json"}).json["inflections"] == {
        **dict.fromkeys(["?", "??", "?info"], "The description of the identifier"),
        **KNOWN,
    }
    page = client.get(asked).text
    assert '<dt><code dir="ltr">?cite</code></dt><dd><bdi>A &lt;citation&gt;</bdi></dd>' in page
    assert "?form=pdf: The thing as PDF\n" in client.get(asked, headers={"Accept": "text/plain"}).text
    assert "inflections" not in client.get("/ark:12345/nope", headers={"Accept": "application/json"}).text


def test_every_description_lists_the_inflections(client):
    asked = "/ark:12345/doc?info"
    assert client.get(asked, headers={"Accept": "application/json"}).json["inflections"] == KNOWN
    assert '<dt><code dir="ltr">?form=pdf</code></dt>' in client.get(asked).text
    assert "?cite: A <citation>\n" in client.get(asked, headers={"Accept": "text/plain"}).text


def test_without_inflections_the_description_lists_none(held, binding):
    client = Client(ResolverMiddleware(site, held(binding("ark:12345/doc", "/x"))))
    assert "inflections" not in client.get("/ark:12345/doc?info", headers={"Accept": "application/json"}).text
    assert "may be asked" not in client.get("/ark:12345/doc?info").text
