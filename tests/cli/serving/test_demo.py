"""The demo site: an ordinary site, and names for all that a binding can say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client

from ararat.cli.serving import demo
from ararat.identifiers import Ark, parse
from ararat.middleware import open_bindings


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Client:
    """The demo at its mount, behind a site that has nothing."""
    monkeypatch.setattr(demo, "SHELF_SECONDS", 0)

    def nothing(environ: dict[str, object], start_response: object) -> list[bytes]:
        assert callable(start_response)
        start_response("404 Not Found", [])
        return [b""]

    return Client(DispatcherMiddleware(nothing, {demo.MOUNT: demo.create_demo()}))


PAGES = [sample for sample in demo.SAMPLES if sample.target is not None]


@pytest.mark.parametrize("sample", PAGES, ids=lambda sample: sample.identifier)
def test_every_name_leads_to_a_page_that_is_there(sample: demo.Sample, site: Client) -> None:
    assert sample.target is not None
    assert site.get(sample.target, follow_redirects=True, buffered=True).status_code == 200


@pytest.mark.parametrize("path", ["/", "/ascent", "/map", "/map/1", "/map/2", "/mountain", "/heights", "/guide"])
def test_a_page_stands_alone_and_links_only_to_what_is_there(path: str, site: Client) -> None:
    page = site.get(demo.MOUNT + path, buffered=True).text
    assert "<script" not in page
    assert "style=" not in page
    for link in re.findall(r'(?:href|src)="([^"#]+)', page):
        assert link.startswith("/"), link
        if link.startswith(demo.MOUNT):
            assert site.get(link, buffered=True).status_code == 200, link
        else:
            # The inspector and the resolver stand above the mount.
            assert re.match(r"/(?:$|\?q=|ark:|urn:)", link), link


def test_a_page_tells_its_own_name(site: Client) -> None:
    assert 'href="/ark:12345/m5137"' in site.get("/demo/mountain", buffered=True).text


def test_a_page_that_is_not_there_is_the_sites_own_404(site: Client) -> None:
    answer = site.get("/demo/nothing", buffered=True)
    assert answer.status_code == 404
    assert "not from the resolver" in answer.text


def test_every_answer_forbids_what_the_page_does_not_need(site: Client) -> None:
    for path in ("/demo/", "/demo/nothing", "/demo/map.svg"):
        headers = site.get(path, buffered=True).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_variants_of_the_map_are_what_they_say(site: Client) -> None:
    assert site.get("/demo/map.svg", buffered=True).mimetype == "image/svg+xml"
    assert site.get("/demo/map.txt", buffered=True).mimetype == "text/plain"


def test_the_old_shelf_redirects_for_now_and_only_to_pages_of_the_site(site: Client) -> None:
    answer = site.get("/demo/shelf/ascent", buffered=True)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/demo/ascent")
    assert site.get("/demo/shelf/evil.example", buffered=True).status_code == 404


def test_the_samples_show_everything_a_binding_can_say() -> None:
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
            assert (bound.target, bound.kind, dict(bound.metadata)) == (
                sample.target,
                sample.kind,
                dict(sample.metadata),
            )
            assert bound.is_live == (sample.withdrawn is None)
    finally:
        bindings.close()
