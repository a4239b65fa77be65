"""Links of names for programs, read by independent parsers of RFC 8288 and of RFC 9264."""

from __future__ import annotations

import json

import pytest
from signposting.linkheader import find_signposting_http_link
from signposting.linkset import LinksetJSON, _parse_linkset_json
from signposting.signpost import AbsoluteURI
from werkzeug.test import Client

from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record
from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.description_formats import FORMATS

PREFIX = "https://r.example"
TYPED = {
    "who": "https://orcid.org/0000-0001-5109-3700; Noah",
    "what": "Maps",
    "when": "2026",
    "dc.type": "Dataset",
    "dc.rights": "https://creativecommons.org/licenses/by/4.0/",
}


@pytest.fixture
def client(held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc", metadata=TYPED),
        binding("ark:12345/bare", "https://example.org/bare"),
        binding("ark:12345/about", "https://example.org/about", kind="related"),
        binding("ark:12345/page", "/page", kind="served", metadata=TYPED),
        binding("ark:12345/box", "https://example.org/box", passthrough=True),
        binding(
            "ark:12345/gone", "/gone", status="withdrawn", successor="ark:12345/doc", reason="twice", metadata=TYPED
        ),
        binding(f"ark:12345/{'x' * 900}", "https://example.org/long", metadata=TYPED),
        binding("urn:example:a", "https://example.org/urn"),
    )
    store.prefix_records = lambda: PrefixRecords([record("ark:12345/", {"who": "Library", "statement": "Kept."})])

    def site(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/html"), ("Link", "</css>; rel=preload")])
        return [b"page"]

    return Client(ResolverMiddleware(site, store, prefix=PREFIX, services="/uri-res"))


def signposts(client, path, **headers):
    """Return the status and the links of an answer, as the library for FAIR Signposting reads them."""
    answer = client.get(path, headers=headers)
    return answer.status_code, find_signposting_http_link(answer.headers.getlist("Link"), f"{PREFIX}{path}")


def targets(links):
    return {str(link.target) for link in links or ()}


def target(link):
    """Return the target of a link that must exist."""
    assert link is not None
    return str(link.target)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ark:12345/doc", 302),
        ("/ark:12345/doc?info", 200),
        ("/ark:12345/page", 200),
        ("/ark:12345/page?info", 200),
        ("/ark:12345/gone", 410),
        ("/ark:12345/gone?info", 200),
    ],
)
def test_every_answer_for_a_name_has_level_1(client, path, status):
    found, links = signposts(client, path)
    name = path.partition("?")[0]
    assert found == status
    assert target(links.citeAs) == f"{PREFIX}{name}"
    described = {str(link.type): str(link.target) for link in links.describedBy if link.type}
    assert described["application/ld+json"] == f"{PREFIX}{name}?info&format=jsonld"
    assert targets(links.describedBy) >= {f"{PREFIX}{name}?info"}
    assert "https://schema.org/Dataset" in targets(links.types)
    assert target(links.license) == TYPED["dc.rights"]
    assert targets(links.authors) == {"https://orcid.org/0000-0001-5109-3700"}
    assert [(str(link.target), str(link.type)) for link in links.linksets] == [
        (f"{PREFIX}{name}?info&format=linkset", "application/linkset+json")
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "described"),
    [
        ("/ark:12345/doc?info", "/ark:12345/doc"),
        ("/ark:12345/doc?info&format=jsonld", "/ark:12345/doc"),
        ("/ark:12345/box/1?info", "/ark:12345/box/1"),
        ("/ark:12345/?info", "/ark:12345/"),
        ("/urn:example:a?info", "/urn:example:a"),
        ("/ark:12345/gone?info", "/ark:12345/gone"),
        ("/ark:12345/doc", None),
        ("/ark:12345/page", None),
        ("/ark:12345/gone", None),
    ],
)
def test_a_description_links_to_the_name_that_it_describes(client, path, described):
    fields = ", ".join(client.get(path).headers.getlist("Link"))
    links = [link for link in fields.split(", ") if 'rel="describes"' in link]
    assert links == ([] if described is None else [f'<{PREFIX}{described}>; rel="describes"'])


def test_each_announced_format_exists_and_has_the_announced_type(client):
    _, links = signposts(client, "/ark:12345/doc?info")
    # The link without a type is that of the page.
    announced = {form.media_type for form in FORMATS if form.name not in ("html", "linkset")} | {"None"}
    assert {str(link.type) for link in links.describedBy} == announced
    assert len(links.describedBy) == len(announced)
    for link in (*links.describedBy, *links.linksets):
        if link.type is None:
            continue
        answer = client.get(str(link.target).removeprefix(PREFIX), headers={"Accept": "image/png"})
        assert (answer.status_code, answer.mimetype) == (200, str(link.type))
        assert "Vary" not in answer.headers


def test_a_description_links_to_the_resource_itself(client):
    _, links = signposts(client, "/ark:12345/doc?info")
    assert targets(links.items) == {"https://example.org/doc"}
    assert "https://schema.org/AboutPage" in targets(links.types)
    # The target of a related name is not the resource, and a withdrawn name has no target.
    for path in ("/ark:12345/about?info", "/ark:12345/gone?info"):
        assert not signposts(client, path)[1].items


def test_a_part_links_to_its_collection(client):
    for path in ("/ark:12345/box/1", "/ark:12345/box/1?info"):
        assert target(signposts(client, path)[1].collection) == f"{PREFIX}/ark:12345/box"


def test_redirect_and_description_have_the_same_links(held, binding):
    metadata = {
        "dcterms.license": "https://example.org/licence",
        "dc.rights": "https://example.org/rights",
        "dcterms.type": "Dataset",
        "dcterms.creator": "https://orcid.org/0000-0001-5109-3700",
    }
    store = held(binding("ark:12345/doc", "https://example.org/doc", metadata=metadata))
    client = Client(ResolverMiddleware(None, store, prefix=PREFIX))  # type: ignore[arg-type]
    for path in ("/ark:12345/doc", "/ark:12345/doc?info"):
        _, links = signposts(client, path)
        assert target(links.license) == "https://example.org/licence"
        assert targets(links.authors) == {"https://orcid.org/0000-0001-5109-3700"}
        assert "https://schema.org/Dataset" in targets(links.types)


def test_unknown_links_are_omitted(client):
    _, links = signposts(client, "/ark:12345/bare")
    assert (links.license, links.collection, links.authors, links.types, links.items) == (
        None,
        None,
        set(),
        set(),
        set(),
    )


@pytest.mark.one_setup
@pytest.mark.parametrize("service", ["N2L", "N2Ls", "N2C"])
def test_links_of_a_service_lead_to_the_name(client, service):
    _, links = signposts(client, f"/uri-res/{service}?ark:12345/gone")
    name = f"{PREFIX}/ark:12345/gone"
    assert target(links.citeAs) == name
    assert targets(links.describedBy) == {f"{name}?info", f"{name}?info&format=jsonld"}
    assert targets(links.linksets) == {f"{name}?info&format=linkset"}


def test_a_tombstone_links_to_its_successor(client):
    for path in ("/ark:12345/gone", "/ark:12345/gone?info", "/ark:12345/gone?info&format=json"):
        answer = client.get(path, headers={"Accept": "application/json"})
        assert f'<{PREFIX}/ark:12345/doc>; rel="successor-version"' in answer.headers.getlist("Link")
        assert answer.headers["X-Robots-Tag"] == "noindex"
        found = answer.json.get("tombstone", answer.json)
        assert (found["successor"], found["reason"], found["status"]) == (
            f"{PREFIX}/ark:12345/doc",
            "twice",
            "withdrawn",
        )
        assert found["changed"] == "2026-10-04T12:00:00.000000Z"
    assert "X-Robots-Tag" not in client.get("/ark:12345/doc?info").headers


def linkset(client, path):
    answer, url = client.get(path), f"{PREFIX}{path}"
    assert (answer.status_code, answer.mimetype) == (200, "application/linkset+json")
    return answer.json["linkset"], _parse_linkset_json(
        LinksetJSON(answer.text, "application/linkset+json", AbsoluteURI(url), AbsoluteURI(url))
    )


def test_a_link_set_has_the_links_of_the_name_of_its_page_and_of_its_resource(client):
    contexts, links = linkset(client, "/ark:12345/doc?info&format=linkset")
    name, page, item = f"{PREFIX}/ark:12345/doc", f"{PREFIX}/ark:12345/doc?info", "https://example.org/doc"
    assert {context["anchor"] for context in contexts} > {name, page, item}
    for anchor in (name, page):
        found = links.for_context(anchor)
        assert target(found.citeAs) == name
        assert targets(found.items) == {item}
        assert "application/vnd.datacite.datacite+xml" in {str(link.type) for link in found.describedBy}
        assert target(found.license) == TYPED["dc.rights"]
    assert target(links.for_context(item).collection) == page
    jsonld = next(context for context in contexts if context["anchor"].endswith("format=jsonld"))
    assert jsonld["describes"] == [{"href": name}]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["/ark:12345/gone", "/ark:12345/bare", "/ark:12345/box/1", "/ark:12345/", "/urn:example:a"]
)
def test_everything_with_a_description_has_a_link_set(client, path):
    contexts, links = linkset(client, f"{path}?info&format=linkset")
    assert target(links.for_context(f"{PREFIX}{path}").citeAs) == f"{PREFIX}{path}"
    assert len({context["anchor"] for context in contexts}) == len(contexts)


@pytest.mark.one_setup
@pytest.mark.parametrize("accept", ["text/html", "application/json", "application/linkset+json"])
@pytest.mark.parametrize("inflection", ["", "?info"])
def test_the_fields_of_a_long_name_are_bounded(client, inflection, accept):
    path = f"/ark:12345/box/{'x' * 900}{inflection}"
    answer = client.get(path, headers={"Accept": accept})
    fields = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.to_wsgi_list())
    assert len(fields) < 4096
    assert 'rel="linkset"' in fields


def test_hostile_metadata_makes_no_link(held, binding):
    hostile = (
        "https://example.org/>; rel=evil",
        "https://a\x0bX: y",
        "https://a\x00",
        "javascript:alert(1)",
        f"https://e.org/{'x' * 2000}",
    )
    for text in hostile:
        store = held(binding("ark:12345/x", "/1", metadata={"who": text, "dc.rights": text, "dc.type": text}))
        client = Client(ResolverMiddleware(None, store, prefix=PREFIX))  # type: ignore[arg-type]
        for path in ("/ark:12345/x", "/ark:12345/x?info"):
            _, links = signposts(client, path)
            assert (links.license, links.authors) == (None, set())
            assert "evil" not in str(client.get(path).headers.getlist("Link"))
        assert json.loads(client.get("/ark:12345/x?info&format=linkset").data)


def test_a_line_break_separates_creators_and_adds_no_field(held, binding):
    metadata = dict.fromkeys(("who", "dc.rights", "dc.type"), "https://a.example\r\nX: y")
    client = Client(ResolverMiddleware(None, held(binding("ark:12345/x", "/1", metadata=metadata)), prefix=PREFIX))  # type: ignore[arg-type]
    for path in ("/ark:12345/x", "/ark:12345/x?info"):
        _, links = signposts(client, path)
        assert (links.license, targets(links.authors)) == (None, {"https://a.example"})
        assert "X" not in client.get(path).headers
