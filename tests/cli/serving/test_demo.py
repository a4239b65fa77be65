"""The demo site: a usual site with a name for each feature of a binding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client

from ararat.bindings.names.metadata.metadata import shorten_names
from ararat.cli.serving import demo
from ararat.identifiers import Ark, parse
from ararat.middleware import open_bindings


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Client:
    """The demo at its mount point, above an empty site."""
    monkeypatch.setattr(demo, "SHELF_SECONDS", 0)

    def nothing(environ: dict[str, object], start_response: object) -> list[bytes]:
        assert callable(start_response)
        start_response("404 Not Found", [])
        return [b""]

    return Client(DispatcherMiddleware(nothing, {demo.MOUNT: demo.create_demo()}))


PAGES = [sample for sample in demo.SAMPLES if sample.target is not None]


@pytest.mark.one_setup
@pytest.mark.parametrize("sample", PAGES, ids=lambda sample: sample.identifier)
def test_every_sample_leads_to_an_existing_page(sample: demo.Sample, site: Client) -> None:
    assert sample.target is not None
    assert site.get(sample.target, follow_redirects=True, buffered=True).status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/", "/ascent", "/map", "/map/1", "/map/2", "/mountain", "/heights", "/guide"])
def test_a_page_needs_no_other_files_and_its_links_exist(path: str, site: Client) -> None:
    page = site.get(demo.MOUNT + path, buffered=True).text
    assert "<script" not in page
    assert "style=" not in page
    for link in re.findall(r'(?:href|src)="([^"#]+)', page):
        assert link.startswith("/"), link
        if link.startswith(demo.MOUNT):
            assert site.get(link, buffered=True).status_code == 200, link
        else:
            # The inspector and the resolver are above the mount point.
            assert re.match(r"/(?:$|\?q=|ark:|urn:)", link), link


def test_a_page_shows_its_name(site: Client) -> None:
    assert 'href="/ark:12345/m5137"' in site.get("/demo/mountain", buffered=True).text


def test_a_missing_page_gets_the_404_of_the_demo_site(site: Client) -> None:
    answer = site.get("/demo/nothing", buffered=True)
    assert answer.status_code == 404
    assert "not from the resolver" in answer.text


def test_every_answer_has_a_strict_content_security_policy(site: Client) -> None:
    for path in ("/demo/", "/demo/nothing", "/demo/map.svg"):
        headers = site.get(path, buffered=True).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_variants_of_the_map_have_their_media_types(site: Client) -> None:
    assert site.get("/demo/map.svg", buffered=True).mimetype == "image/svg+xml"
    assert site.get("/demo/map.txt", buffered=True).mimetype == "text/plain"


def test_the_shelf_redirects_temporarily_to_pages_of_the_demo_site(site: Client) -> None:
    answer = site.get("/demo/shelf/ascent", buffered=True)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/demo/ascent")
    assert site.get("/demo/shelf/evil.example", buffered=True).status_code == 404


def test_the_samples_use_all_features_of_a_binding() -> None:
    assert {sample.kind for sample in demo.SAMPLES} == {"located", "related", "described", "served"}
    assert any(sample.withdrawn for sample in demo.SAMPLES)
    names = [parse(sample.identifier) for sample in demo.SAMPLES]
    assert any(not isinstance(name, Ark) for name in names)
    assert any(isinstance(name, Ark) and name.components for name in names)
    assert any(isinstance(name, Ark) and name.variants for name in names)
    assert all(name.naan == "12345" and name.strict for name in names if isinstance(name, Ark))


def test_the_samples_can_be_bound(tmp_path: Path) -> None:
    bindings = open_bindings(f"sqlite:///{tmp_path / 'demo.sqlite'}", create=True)
    try:
        demo.load(bindings)
        for sample in demo.SAMPLES:
            bound = bindings.lookup(sample.identifier)
            assert bound is not None
            assert (bound.target, bound.kind, shorten_names(bound.metadata)) == (
                sample.target,
                sample.kind,
                dict(sample.metadata),
            )
            assert bound.is_live == (sample.withdrawn is None)
    finally:
        bindings.close()
