"""All pages of the desk: axe, narrow windows, dark theme, forced colours, and one heading.

axe scans each page once. The other themes have the same structure, so only their contrast is scanned.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ararat.webapp.accounts.store import Accounts
from tests.e2e.conftest import findings

from .conftest import LONG, Server

NAME = "ark:12345/x5n01"
PAGES = (
    "/desk",
    "/desk/names?q=old.ex&state=live&owner=jane",
    "/desk/changes/1/undo",
    "/desk/links?state=moved",
    f"/desk/name?name={LONG}",
    f"/desk/name/metadata?name={NAME}",
    "/desk/new?text=ark:/12345/x5-n01",
    "/desk/accounts/jane",
    "/desk/branding",
)
"""One page of each kind. Each part of the other pages is on one of them."""
OTHERS = (
    "/desk/prefixes/record?prefix=ark:12345/x5",
    "/desk/moves",
    f"/desk/name/target?name={NAME}",
    "/desk/names",
    "/desk/names?q=zzzz&created_since=soon",
    "/desk/changes",
    "/desk/changes/1",
    "/desk/audit",
    "/desk/nowhere",
    "/desk/links?state=dead",
    "/desk/links/promises",
    "/desk/requests",
    "/desk/name?name=ark:12345/x5n03",
    f"/desk/name/withdraw?name={NAME}",
    f"/desk/name/texts?name={NAME}",
    "/desk/new?text=https://old.example/new",
    "/desk/new?many=1",
    "/desk/tokens",
    "/desk/accounts",
    "/desk/prefixes",
    "/desk/prefixes/edit?prefix=ark:12345/x5",
)


def scan(page: Page, *rules: str) -> None:
    """Assert that axe has no findings on the current page. Most rows of a long table are alike, so a few remain."""
    page.evaluate("document.querySelectorAll('tbody tr:nth-child(n + 4)').forEach(row => row.remove())")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = !one.closest('.account'))")
    assert findings(page, *rules) == [], page.url


def fits(page: Page) -> bool:
    """Return whether a page has one heading, and no more than the width of a narrow window."""
    page.set_viewport_size({"width": 320, "height": 640})
    expect(page.locator("h1")).to_have_count(1)
    return page.evaluate("document.documentElement.scrollWidth") == 320


ALL = (*PAGES, *OTHERS)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("pages", "dark"),
    [pytest.param(PAGES, PAGES[3:5], id="some"), pytest.param(ALL, ALL, id="all", marks=pytest.mark.long)],
)
def test_pages_have_no_findings_and_are_narrow(
    served: Server, page_watch: Any, pages: tuple[str, ...], dark: tuple[str, ...]
) -> None:
    page_watch.expect("404")
    page_watch.expect("does not conform to the required format")
    page = served.open_page("ada")
    for address in pages:
        page.goto(address)
        assert fits(page), address
        page.set_viewport_size({"width": 1100, "height": 800})
        scan(page)
        if address in dark:
            page.emulate_media(color_scheme="dark")
            scan(page, "color-contrast")
            page.emulate_media(color_scheme="light")


@pytest.mark.long
def test_results_of_forms_have_no_findings(served: Server, page_watch: Any) -> None:
    page_watch.expect("422")
    page_watch.expect("409")
    page = served.open_page("ada")
    page.goto("/desk/tokens")
    page.get_by_label("Label").fill("x" * 100)
    page.get_by_role("button", name="Create").click()
    scan(page)
    page.goto("/desk/new")
    page.get_by_role("button", name="Record").click()
    expect(page.get_by_text("Correct this field")).to_be_visible()
    scan(page)
    page.goto("/desk/prefixes/edit?prefix=ark:12345/x5")
    served.bindings.prefixes.set("12345/x5", what="Maps and plans of the valley")
    page.get_by_text("What you promise").first.click()
    page.get_by_label("Contact").fill("x" * 200)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The record was changed in the meantime")
    scan(page)
    assert fits(page)


def test_forced_colours_keep_what_colours_mean(served: Server) -> None:
    page = served.open_page("ada", forced_colors="active")
    page.goto("/desk")
    for bar in page.locator(".plot rect, .months rect").all()[:3]:
        fill, canvas = bar.evaluate(
            "one => [getComputedStyle(one).fill, getComputedStyle(document.body).backgroundColor]"
        )
        assert fill != canvas
    current = page.locator(".places [aria-current]")
    assert "underline" in current.evaluate("one => getComputedStyle(one).textDecorationLine")
    page.goto("/desk/links?state=moved")
    tab = page.locator(".tabs [aria-current]")
    assert "underline" in tab.evaluate("one => getComputedStyle(one).textDecorationLine")
    page.goto("/desk/name?name=ark:12345/x5n10")
    removed = page.locator("del").first
    assert "line-through" in removed.evaluate("one => getComputedStyle(one).textDecorationLine")
    # Transparent borders get a colour, so the arrow of the menu must not consist of borders.
    menu = page.locator(".account > summary")
    assert menu.evaluate("one => getComputedStyle(one, '::after').borderTopWidth") == "0px"


# The contrast of two colours (WCAG 2.2, success criterion 1.4.11 requires 3 for the edge of a field).
CONTRAST = """one => {
    const light = (colour) => {
        const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3)
            .map((part) => part / 255).map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * red + .7152 * green + .0722 * blue;
    };
    const edge = light(getComputedStyle(one).borderTopColor);
    const page = light(getComputedStyle(document.documentElement).backgroundColor);
    return (Math.max(edge, page) + .05) / (Math.min(edge, page) + .05);
}"""

# The number of lines of the text of an element.
LINES = """one => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return new Set([...range.getClientRects()].map((rectangle) => Math.round(rectangle.bottom))).size;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_edges_of_fields_are_visible(served: Server, scheme: str) -> None:
    page = served.open_page("ada", color_scheme=scheme)
    page.goto("/desk/branding")
    for kind in ("input[type=text]", "select", "textarea"):
        assert page.locator(f"main {kind}").first.evaluate(CONTRAST) >= 3, kind


def test_short_names_and_headings_are_not_divided_on_a_tablet(served: Server) -> None:
    page = served.open_page("ada", viewport={"width": 768, "height": 800})
    page.goto("/desk/names")
    assert page.get_by_role("link", name="ark:12345/x5n10").evaluate(LINES) == 1
    assert page.locator(".names").evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")
    assert page.locator(".names td.what").first.evaluate("one => one.clientWidth") > 150
    page.goto("/desk/tables")
    file = {"name": f"{'maps' * 20}.csv", "mimeType": "text/csv", "buffer": b"Identifier;Title\n"}
    page.get_by_label("File").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload").click()
    page.goto("/desk/tables")
    assert {heading.evaluate(LINES) for heading in page.locator("thead th").all()} == {1}


def test_long_names_and_values_leave_room_for_others(served: Server) -> None:
    served.bindings.bind("ark:12345/x5title", "https://old.example/title", metadata={"what": "long" * 100})
    page = served.open_page("ada", viewport={"width": 1280, "height": 800})
    page.goto("/desk/changes?prefix=ark:12345/x5title")
    assert page.get_by_role("link", name="ark:12345/x5title").evaluate(LINES) == 1
    page.goto("/desk/links?state=dead")
    target = page.get_by_role("row").filter(has_text="verylongname").locator(".target")
    assert target.evaluate("one => one.clientWidth") > 300
    assert page.get_by_role("link", name="Edit target").first.evaluate(LINES) == 1
    Accounts(served.bindings).add("w" * 64, "reader")
    page.goto("/desk/accounts")
    assert page.locator(".administration").evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")


def test_print_shows_no_menu_and_no_exports(served: Server) -> None:
    page = served.open_page("ada")
    page.goto("/desk/changes/1")
    expect(page.locator(".account")).to_be_visible()
    expect(page.get_by_text("Export these changes")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".account")).to_be_hidden()
    expect(page.get_by_text("Export these changes")).to_be_hidden()
