"""The public pages in a browser: axe, narrow windows, direction, and the policy for the logo and the style."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize
from ararat.bindings.names.branding.logos import data_url
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import ResolverMiddleware, open_bindings
from tests.e2e.desk.conftest import LOGO

ORIGIN = "http://site.test"
LONG = "ark:12345/x5" + "longname" * 15
PATHS = (
    "/ark:12345/x5m1?info",
    f"/{LONG}?info",
    "/ark:12345/x5",
    "/ark:12345/x5gone",
    "/ark:12345/x5m1/2",
    "/ark:12345/x5!",
    "/log/",
)


@pytest.fixture
def site(tmp_path: Any) -> Client:
    """A resolver with names of each kind, in process."""
    bindings = open_bindings(tmp_path / "names.sqlite", create=True)
    metadata = {"what": "Map of the valley", "who": "\u0645\u0643\u062a\u0628\u0629", "persistence": "We keep names."}
    bindings.bind("ark:12345/x5m1", "https://example.org/" + "folder/" * 30, metadata=metadata)
    bindings.bind(LONG, "https://example.org/", metadata={"what": "x" * 300, "schema": '{"@type": "Map"}'})
    bindings.bind("ark:12345/x5gone", "/gone", metadata={"what": "Bird counts"})
    bindings.withdraw("ark:12345/x5gone", reason="Part of a new edition.", successor="ark:12345/x5m1")
    folder = LogFolder(tmp_path / "log")
    assert isinstance(bindings.store, DatabaseStore)
    initialize(bindings.store, folder, tmp_path / "log.key", "identifiers." + "x" * 60 + ".example.org/log")
    bindings.prefixes.set("12345/x5", what="Maps", who="The Map Library", contact="a@example.org", pattern="29^8+check")
    settings = {
        "institution": "The Map Library",
        "logo": data_url(LOGO),
        "colour": "#e0b000",
        "contact": "a@example.org",
        "log": "/log",
        "log_folder": str(folder),
    }
    return Client(ResolverMiddleware(None, bindings, inspector="/", **settings))  # type: ignore[arg-type]


def open_page(browser: Browser, site: Client, page_watch: Any, language: str, scheme: str) -> Page:
    """Return a page of a browser whose requests the resolver answers without a server."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        response = site.get(path, headers={**route.request.headers, "Accept-Language": language})
        route.fulfill(status=response.status_code, headers=dict(response.headers), body=response.data)

    context = browser.new_context(color_scheme=scheme, base_url=ORIGIN)  # type: ignore[arg-type]
    page_watch.origins.add(ORIGIN)
    page_watch.expect("the server responded with a status of 4")
    page_watch.watch(context)
    context.route("**/*", answer)
    return context.new_page()


@pytest.mark.parametrize(("language", "scheme", "paths"), [("de", "light", PATHS[:3]), ("ar", "dark", PATHS[3:])])
def test_each_page_has_no_findings_of_axe_and_fits_a_narrow_window(browser, site, page_watch, language, scheme, paths):
    page = open_page(browser, site, page_watch, language, scheme)
    for path in paths:
        page.set_viewport_size({"width": 1000, "height": 800})
        page.goto(path)
        for summary in page.locator("summary").all():
            summary.click()
        assert [each["id"] for each in Axe().run(page).response["violations"]] == [], path
        assert page.locator("header img").evaluate("image => image.naturalWidth") == 1
        assert page.locator("body").evaluate("body => getComputedStyle(body).borderTopColor") == "rgb(224, 176, 0)"
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path
    page.context.close()


def test_a_page_in_arabic_is_mirrored(browser, site, page_watch):
    places = {}
    for language in ("en", "ar"):
        page = open_page(browser, site, page_watch, language, "light")
        page.set_viewport_size({"width": 1000, "height": 800})
        page.goto("/ark:12345/x5gone")
        places[language] = [page.locator(part).first.bounding_box() for part in ("header img", "dt")]
        assert page.locator(".identifier bdi").evaluate("each => getComputedStyle(each).direction") == "ltr"
        page.context.close()
    for english, arabic in zip(places["en"], places["ar"], strict=True):
        assert english["x"] + english["width"] / 2 < arabic["x"] + arabic["width"] / 2
        assert arabic["x"] + arabic["width"] > 700 > english["x"]


def test_a_marked_character_is_visible_in_forced_colours(browser: Browser, site: Client, page_watch: Any) -> None:
    page_watch.expect("400")
    page = open_page(browser, site, page_watch, "en", "light")
    page.emulate_media(forced_colors="active")
    page.goto(f"{ORIGIN}/ark:12345/x5!")
    border, text = page.locator("mark").evaluate(
        "one => [getComputedStyle(one).borderBottomColor, getComputedStyle(one).color]"
    )
    assert border == text
