"""Check every state of the inspector with axe in both themes, and its readability in every mode."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import findings

SEVERAL = "ark:/12345/mp-39n.svg, urn:example:maps/17?+r?=q#f, ark:12345/x!y and https://n2t.net/ark:12345/a\u202eb.pdf"


def nothing(page: Page) -> None:
    page.goto("/")


def one(page: Page) -> None:
    page.goto("/?q=ark:/12345/mp-39n/1.pdf%E2%80%AE.en?info")


def wrong(page: Page) -> None:
    page.goto("/?q=ark:B5072/x!")


def several(page: Page) -> None:
    page.goto("/")
    page.locator("#q").fill(SEVERAL)
    page.locator("#q").press("Enter")
    expect(page.locator(".list tbody tr")).to_have_count(4)
    for row in page.locator("td[id] + td > a").all():
        row.click()
    expect(page.locator(".card")).to_have_count(4)


def many(page: Page) -> None:
    page.goto("/")
    page.locator("#q").fill("\n".join(f"ark:12345/x{number}-b" for number in range(22)))
    page.locator("#q").press("Enter")
    expect(page.locator(".list tbody tr")).to_have_count(22)
    page.locator(".list tbody input").first.check()


def not_found(page: Page) -> None:
    page.goto("/?q=nothing%20in%20here")


def traced(page: Page) -> None:
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".ended")).to_be_visible()
    page.wait_for_timeout(500)


def trace_page(page: Page) -> None:
    page.goto("/trace?q=ark:12345/m5137")
    page.wait_for_timeout(500)


def record(page: Page) -> None:
    page.goto("/trace?q=ark:12345/m5137")
    for summary in page.locator("summary").all():
        summary.click()
    page.wait_for_timeout(500)


def listed(page: Page) -> None:
    page.goto("/traces")
    page.locator("#q").fill("ark:12345/m5137\nark:12345/d0v3z\nnonsense")
    page.get_by_role("button", name="Run the traces").click()
    expect(page.locator(".round .ended")).to_be_visible()


def compared(page: Page) -> None:
    page.goto("/compare?a=ark:/12345/x-1&b=ark:12345/x2")


def to_compare(page: Page) -> None:
    page.goto("/compare")


def lit(page: Page) -> None:
    page.goto("/?q=ark:/12345/mp-39n/1.pdf%E2%80%AE.en?info#i1-p4")
    page.locator(".qr summary").click()
    for line in page.locator(".more > details > summary").all():
        line.click()
    page.locator(".segments .variant").first.hover()
    expect(page.locator(".steps li.lit, .parts .lit").first).to_be_visible()


def missing(page: Page) -> None:
    page.goto("/nowhere")


def problems(page: Page) -> None:
    page.goto("/problems#bad-char")


def registries(page: Page) -> None:
    page.goto("/registries")


def holders(page: Page) -> None:
    page.goto("/registries/naan")
    page.get_by_role("searchbox").fill("bibliotheque")
    expect(page.get_by_role("row", name="12148")).to_be_visible()
    expect(page).to_have_url(re.compile("q=bibliotheque"))


def no_holder(page: Page) -> None:
    page.goto("/registries/naan?q=qqqqq")


def naan(page: Page) -> None:
    page.goto("/registries/naan/99152")


def namespaces(page: Page) -> None:
    page.goto("/registries/urn")


def namespace(page: Page) -> None:
    page.goto("/registries/urn/example")


def schemes(page: Page) -> None:
    page.goto("/schemes")


def scheme(page: Page) -> None:
    page.goto("/schemes/shttp")


def api(page: Page) -> None:
    page.goto("/api")


def judged(page: Page) -> None:
    page.goto("/policy")
    page.locator("#q").fill("https://17beta.top/en/\nhttps://example.org/")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("cell", name="must not be allocated")).to_be_visible()


def handbook(page: Page) -> None:
    page.goto("/docs/files")


REFERENCE = [judged, problems, registries, holders, no_holder]
REFERENCE += [naan, namespaces, namespace, schemes, scheme, api, handbook]
STATES = [nothing, one, wrong, several, many, not_found, traced, trace_page, record, listed]
STATES += [compared, to_compare, lit, missing, *REFERENCE]


# Rows of one loop are alike: check the first six, and all of them in a long run.
FIRST_OF_MANY = """
    for (const list of document.querySelectorAll("main *")) {
        const alike = [...list.children].filter(one => one.matches("tr, li, dt, dd, div, section, article"))
        alike.slice(6).forEach(one => one.remove())
    }
"""


def each(states):
    """Return the states as parameters: one of each kind, or all of them in a long run."""
    usual = {nothing, one, wrong, several, many, traced, listed, compared, missing, holders}
    marks = {True: (), False: (pytest.mark.long,)}
    return [pytest.param(state, id=state.__name__, marks=marks[state in usual]) for state in states]


@pytest.mark.parametrize("state", each(STATES))
@pytest.mark.parametrize(
    "all_of_it", [pytest.param(False, id="first rows"), pytest.param(True, id="all of it", marks=pytest.mark.long)]
)
@pytest.mark.timeout(180)
def test_axe_finds_no_problems(page, page_watch, state, all_of_it):
    page_watch.expect("404")
    state(page)
    if not all_of_it:
        page.evaluate(FIRST_OF_MANY)
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page, "color-contrast") == []


@pytest.mark.parametrize("state", each(REFERENCE))
def test_the_reference_pages_fit_a_narrow_screen(page, state):
    page.set_viewport_size({"width": 320, "height": 640})
    state(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize(
    "media",
    [
        pytest.param({"forced_colors": "active"}, id="forced colours"),
        pytest.param({"reduced_motion": "reduce"}, id="reduced motion"),
        pytest.param({"media": "print"}, id="print"),
    ],
)
def test_segments_keep_their_borders_in_every_colour_mode(page, media):
    page.emulate_media(**media)
    one(page)
    styles = page.locator(".segments > li > bdi").evaluate_all(
        "all => all.map(one => getComputedStyle(one)).map(style => style.borderBottomStyle)"
    )
    labels = page.locator(".segments > li").evaluate_all(
        "all => all.map(one => one.querySelector('.visually-hidden')).map(one => one ? one.textContent.trim() : '')"
    )
    assert dict(zip(labels, styles, strict=True)).keys() >= {"NAAN", "Name", "component", "variant"}
    assert len(set(styles)) >= 5


def test_print_shows_the_permalink_and_no_controls(page):
    page.emulate_media(media="print")
    one(page)
    expect(page.locator("form.box")).to_be_hidden()
    expect(page.get_by_role("button", name="Run the trace")).to_be_hidden()
    content = page.locator(".permalink").evaluate("one => getComputedStyle(one, '::after').content")
    assert "attr(href)" in content or "/?q=ark:" in content
    assert page.locator(".permalink").get_attribute("data-origin") == page.evaluate("origin")
    expect(page.locator(".plan")).to_be_hidden()
    assert re.search(r", 20\d\d-\d\d-\d\d$", page.locator(".version").inner_text())


def test_all_controls_can_be_reached_by_keyboard(page):
    page.goto("/?q=ark:/12345/mp-39n.svg")
    reached = set()
    for _ in range(36):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 40)"))
    assert {"Copy the ARK", "Open the item", "Run the trace", "Permalink"} <= reached
    skip = page.get_by_role("link", name="Skip to the result")
    expect(skip).not_to_be_in_viewport()
    skip.focus()
    expect(skip).to_be_in_viewport()
