"""Selecting the format of a description: by Accept or its own URL (I-06). Other queries keep their answers (I-02)."""

from __future__ import annotations

import json

import pytest
from werkzeug.test import Client

from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.description_formats import BY_INFLECTION, FORMATS
from ararat.middleware.resolution.settings import Settings

REFERENCE = {"who": "Noah", "what": "The Ark", "when": "2026"}


@pytest.fixture
def client(held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc", metadata=REFERENCE),
        binding("ark:12345/bare", "https://example.org/bare"),
        binding("ark:12345/page", "/page", kind="served", metadata=REFERENCE),
        binding("ark:12345/tree", "/tree", kind="served", scope="subtree", metadata=REFERENCE),
        binding("urn:example:a", "https://example.org/urn", metadata=REFERENCE),
    )
    records = PrefixRecords([record(prefix, {"who": "Library"}) for prefix in ("ark:12345/", "ark:12345/x5")])
    store.prefix_records = lambda: records

    def site(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["QUERY_STRING"].encode()]

    def make(**settings):
        return Client(ResolverMiddleware(site, store, **settings))

    return make


SCRIPT = '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>'
DOCUMENT = (
    f'<?xml-stylesheet href="//evil.test/"?><resource xmlns="http://datacite.org/schema/kernel-4">{SCRIPT}</resource>'
)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", [form.name for form in FORMATS if form.name != "html"])
def test_a_browser_runs_no_script_in_a_format(held, binding, name):
    store = held(binding("ark:12345/doc", "https://example.org/doc", metadata={**REFERENCE, "datacite": DOCUMENT}))
    answer = Client(ResolverMiddleware(None, store)).get(f"/ark:12345/doc?info&format={name}")  # type: ignore[arg-type]
    assert (SCRIPT in answer.text) is (name == "datacite-xml")
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox"} <= {*policy}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accept", "name"),
    [
        pytest.param("application/ld+json", "jsonld", id="exact"),
        pytest.param('application/ld+json;profile="https://schema.org"', "jsonld", id="with a profile"),
        pytest.param("application/json; charset=utf-8", "json", id="with a charset"),
        pytest.param("text/x-bibtex", "bibtex", id="another name"),
        pytest.param("application/citeproc+json, text/html;q=0.9", "csl", id="another name, preferred"),
        pytest.param("application/x-bibtex;q=0.4, application/vnd.datacite.datacite+xml;q=0.5", "datacite-xml", id="q"),
        pytest.param("application/ld+json;q=0, application/*;q=0.1", "json", id="not JSON-LD"),
        pytest.param("text/*", "html", id="any text"),
        pytest.param("text/turtle, application/rdf+xml", "html", id="unknown"),
        pytest.param("text/html;q=0", "html", id="nothing that exists"),
        pytest.param("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", "html", id="a browser"),
        pytest.param("application/linkset+json", "linkset", id="a link set"),
    ],
)
def test_accept_selects_the_format(client, accept, name):
    for path in ("/ark:12345/doc?info", "/ark:12345/page??", "/urn:example:a?"):
        answer = client().get(path, headers={"Accept": accept})
        vary = "Accept, Accept-Language" if name == "html" else "Accept"
        assert (answer.status_code, answer.headers["Vary"]) == (200, vary)
        assert answer.headers["Content-Type"] == next(form.content_type for form in FORMATS if form.name == name)


@pytest.mark.one_setup
@pytest.mark.parametrize("form", FORMATS, ids=[form.name for form in FORMATS])
def test_each_format_has_a_url_that_accept_does_not_change(client, form):
    for name in ("ark:12345/doc", "ark:/12345/d-oc", "ark:12345/page", "urn:example:a"):
        for query in (f"?info&format={form.name}", f"?%69nfo&format={form.name}&utm_source=x"):
            answer = client().get(f"/{name}{query}", headers={"Accept": "image/png"})
            assert (answer.status_code, answer.headers["Content-Type"]) == (200, form.content_type)


@pytest.mark.one_setup
@pytest.mark.parametrize("prefix", ["/ark:12345/", "/ark:12345/x5"])
def test_prefix_records_have_the_formats(client, prefix):
    known = [form for form in FORMATS if "datacite" not in form.name]
    for form in known:
        by_url = client().get(f"{prefix}?info&format={form.name}")
        by_accept = client().get(f"{prefix}?info", headers={"Accept": form.media_type})
        assert (by_url.status_code, by_url.headers["Content-Type"]) == (200, form.content_type)
        assert by_accept.data == by_url.data
        assert b"ark:12345/" in by_url.data
    assert client().get(f"{prefix}?info&format=datacite-xml").status_code == 404


# I-02: a served page receives every query but these; a redirect answers 404.
OTHERS = [
    *("info=json", "format=json", "info&format=unknown", "info&format=", "info&format", "info&Format=json"),
    *("format=json&info", "info&format=json&x=1", "info&format=html&format=json", "info&format=JSON"),
]


@pytest.mark.one_setup
@pytest.mark.parametrize("query", OTHERS)
def test_other_queries_are_passed_to_the_site_or_refused(client, query):
    served = client().get(f"/ark:12345/page?{query}")
    assert (served.status_code, served.text) == (200, query)
    assert client().get(f"/ark:12345/tree/a,b?{query}").text == query
    for name in ("ark:12345/doc", "urn:example:a"):
        refused = client().get(f"/{name}?{query}", headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json["code"]) == (404, "unknown-inflection")
    forwarded = client(forward_query=True).get(f"/ark:12345/doc?{query}")
    assert forwarded.location == f"https://example.org/doc?{query}"


def test_a_description_is_never_passed_on(client):
    for inflection in BY_INFLECTION:
        answer = client(forward_query=True).get(f"/ark:12345/doc{inflection}")
        assert (answer.status_code, answer.location) == (200, None)


def test_a_site_cannot_register_the_url_of_a_format():
    with pytest.raises(ValueError, match="reserved for the description"):
        Settings(inflections={"?info&format=%6Ason": "Mine"})


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["info&format=unknown", "info&format", "info&Format=JSON"])
def test_an_unknown_format_is_refused_with_the_known_formats(client, query):
    refused = client().get(f"/ark:12345/bare?{query}", headers={"Accept": "application/json"}).json
    assert list(refused["inflections"]) == [form.inflection for form in FORMATS]
    assert refused["inflections"]["?info&format=csl"] == "The description as CSL-JSON"
    other = client().get("/ark:12345/bare?cite", headers={"Accept": "application/json"}).json
    assert list(other["inflections"]) == ["?", "??", "?info"]


def test_a_format_without_enough_metadata_is_refused_with_the_other_formats(client):
    refused = client().get("/ark:12345/bare?info&format=datacite-json", headers={"Accept": "application/json"}).json
    others = [form.inflection for form in FORMATS if not form.name.startswith("datacite")]
    assert list(refused["inflections"]) == others


def test_a_format_without_enough_metadata_is_not_found(client):
    answer = client().get("/ark:12345/bare?info&format=datacite-json", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json["code"]) == (404, "unknown-inflection")
    assert "metadata is not enough" in answer.json["detail"]
    by_accept = client().get("/ark:12345/bare?info", headers={"Accept": "application/vnd.datacite.datacite+json"})
    assert (by_accept.status_code, by_accept.mimetype) == (200, "text/html")


def test_an_unbound_name_has_no_format(client):
    assert client().get("/ark:12345/nope?info&format=json").status_code == 404


NUMBERS = {"current": "M 17/3", "further": "B 0815|4711", "former": "OLD 9"}


def numbers_site(binding, held, **settings):
    store = held(
        binding("ark:12345/vase", "https://example.org/v", resource="M 17", numbers=NUMBERS, metadata=REFERENCE),
        binding("ark:12345/old", "https://example.org/o", resource="INV <4>", metadata=REFERENCE),
        binding("ark:12345/box", "https://example.org/b", passthrough=True, resource="BOX 1", metadata=REFERENCE),
        binding("ark:12345/gone", None, status="withdrawn", resource="GONE 1", metadata=REFERENCE),
    )
    return Client(ResolverMiddleware(None, store, **settings))  # type: ignore[arg-type]


def test_numbers_are_public_only_if_wished(held, binding):
    site = numbers_site(binding, held)
    for form in FORMATS:
        text = site.get(f"/ark:12345/vase?info&format={form.name}").text
        assert not any(number in text for number in ("M 17", "B 0815", "4711", "OLD 9"))


def test_public_numbers_are_the_current_and_further_ones(held, binding):
    site = numbers_site(binding, held, public_numbers=True)
    described = json.loads(site.get("/ark:12345/vase?info&format=json").text)
    assert described["numbers"] == {"current": "M 17/3", "further": ["B 0815", "4711"]}
    name, *numbers = json.loads(site.get("/ark:12345/vase?info&format=jsonld").text)["identifier"]
    assert name["value"] == "ark:12345/vase"
    assert [(each["@type"], each["value"]) for each in numbers] == [
        ("PropertyValue", number) for number in ("M 17/3", "B 0815", "4711")
    ]
    page = site.get("/ark:12345/vase?info&format=html").text
    assert "<dt>Item number</dt>" in page
    assert "<dt>Further numbers</dt>" in page
    assert "M 17/3" in page
    for form in FORMATS:
        assert "OLD 9" not in site.get(f"/ark:12345/vase?info&format={form.name}").text


def test_the_resource_is_the_public_number_of_a_name_without_numbers(held, binding):
    site = numbers_site(binding, held, public_numbers=True)
    described = json.loads(site.get("/ark:12345/old?info&format=json").text)
    assert described["numbers"] == {"current": "INV <4>", "further": []}
    page = site.get("/ark:12345/old?info&format=html").text
    assert "INV &lt;4&gt;" in page
    assert "INV <4>" not in page


@pytest.mark.parametrize("path", ["box/1", "gone"])
def test_a_part_and_a_withdrawn_name_have_no_public_numbers(held, binding, path):
    site = numbers_site(binding, held, public_numbers=True)
    for form in FORMATS:
        text = site.get(f"/ark:12345/{path}?info&format={form.name}").text
        assert "BOX 1" not in text
        assert "GONE 1" not in text
