"""The public pages in a browser: axe, narrow windows, direction, and the policy for the logo and the style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize
from ararat.bindings.names.branding.logos import data_url
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import ResolverMiddleware, open_bindings
from tests.e2e.conftest import findings
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


@pytest.fixture
def open_page(new_page: Callable[..., Page], site: Client, page_watch: Any) -> Callable[[str, str], Page]:
    """open_page(language, scheme) returns a page whose requests the resolver answers without a server."""
    page_watch.origins.add(ORIGIN)
    page_watch.expect("the server responded with a status of 4")

    def open_one(language: str, scheme: str) -> Page:
        def answer(route: Route) -> None:
            path = route.request.url.removeprefix(ORIGIN)
            response = site.get(path, headers={**route.request.headers, "Accept-Language": language})
            route.fulfill(status=response.status_code, headers=dict(response.headers), body=response.data)

        page = new_page(base_url=ORIGIN, color_scheme=scheme)
        page.route("**/*", answer)
        return page

    return open_one


@pytest.mark.parametrize(("language", "scheme", "paths"), [("de", "light", PATHS[:3]), ("ar", "dark", PATHS[3:])])
def test_each_page_has_no_findings_of_axe_and_fits_a_narrow_window(open_page, language, scheme, paths):
    page = open_page(language, scheme)
    for path in paths:
        page.set_viewport_size({"width": 1000, "height": 800})
        page.goto(path)
        for summary in page.locator("summary").all():
            summary.click()
        assert findings(page) == [], path
        assert page.locator("header img").evaluate("image => image.naturalWidth") == 1
        assert page.locator("body").evaluate("body => getComputedStyle(body).borderTopColor") == "rgb(224, 176, 0)"
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path


def test_a_page_in_arabic_is_mirrored(open_page):
    places = {}
    for language in ("en", "ar"):
        page = open_page(language, "light")
        page.set_viewport_size({"width": 1000, "height": 800})
        page.goto("/ark:12345/x5gone")
        places[language] = [page.locator(part).first.bounding_box() for part in ("header img", "dt")]
        assert page.locator(".identifier bdi").evaluate("each => getComputedStyle(each).direction") == "ltr"
    for english, arabic in zip(places["en"], places["ar"], strict=True):
        assert english["x"] + english["width"] / 2 < arabic["x"] + arabic["width"] / 2
        assert arabic["x"] + arabic["width"] > 700 > english["x"]


def test_a_marked_character_is_visible_in_forced_colours(open_page: Callable[[str, str], Page]) -> None:
    page = open_page("en", "light")
    page.emulate_media(forced_colors="active")
    page.goto(f"{ORIGIN}/ark:12345/x5!")
    border, text = page.locator("mark").evaluate(
        "one => [getComputedStyle(one).borderBottomColor, getComputedStyle(one).color]"
    )
    assert border == text
