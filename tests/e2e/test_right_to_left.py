"""A page that is written from right to left: it turns around, and identifiers in it do not."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

MIRRORED = "lang=ar-XB"
HEBREW = "ark:12345/\u05e9\u05dc\u05d5\u05dd/ab\u0645\u0631\u062d\u0628\u0627.\u05d0\u05d1.en"
SAMPLES = [
    pytest.param("ark:/12345/mp-39n/1.pdf.en?info", id="an ARK"),
    pytest.param(HEBREW, id="an ARK with letters from right to left"),
    pytest.param("urn:example:maps/17?+r?=q#f", id="a URN"),
    pytest.param("ark:12345/a\u202eb\u2067c.pdf", id="bidirectional controls"),
]


def pasted(page, text):
    page.goto(f"/?{MIRRORED}")
    page.locator("#q").fill(text)
    page.locator("#q").press("Enter")
    expect(page.locator(".card")).to_be_visible()
    return page


@pytest.mark.parametrize("text", SAMPLES)
def test_the_segments_stand_in_logical_order(page, text):
    boxes = (
        pasted(page, text)
        .locator(".segments > li > bdi")
        .evaluate_all("all => all.map(one => one.getClientRects()[0]).map(box => [Math.round(box.top), box.left])")
    )
    assert len(boxes) > 3
    # Row by row, and in a row from left to right.
    assert boxes == sorted(boxes)


def test_what_is_around_them_begins_on_the_right(page):
    pasted(page, HEBREW)
    assert page.evaluate("getComputedStyle(document.documentElement).direction") == "rtl"
    card, verdict = (page.locator(each).bounding_box() for each in (".card", ".card .sign >> nth=0"))
    assert verdict["x"] > card["x"] + card["width"] / 2
    assert MIRRORED in page.url
    expect(page.locator("#q")).to_have_css("direction", "ltr")


ADDRESSES = ("/?", "/?q=ark:/12345/mp-39n/1.pdf%E2%80%AE.en&", "/compare?a=ark:12345/x-1&b=ark:12345/x2&", "/policy?")
ADDRESSES += ("/traces?", "/trace?q=ark:12345/m5137&", "/problems?", "/registries/naan?q=biblio&", "/nowhere?")


@pytest.mark.parametrize(
    "address",
    [pytest.param(each, id=each, marks=pytest.mark.long if place > 1 else ()) for place, each in enumerate(ADDRESSES)],
)
def test_axe_finds_nothing_and_a_narrow_screen_is_wide_enough(page, page_watch, address):
    page_watch.expect("404")
    page.goto(address + MIRRORED)
    page.wait_for_timeout(300)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_trace_is_told_in_the_language_of_the_page(page):
    page.goto(f"/?q=ark:12345/m5137&{MIRRORED}")
    page.locator(".leads .trace a").click()
    expect(page.locator(".ended")).to_be_visible()
    assert page.locator(".ended .finished").inner_text()[0] >= "\u05d0"
    expect(page.locator(".leads [lang=en]")).to_have_count(0)
    # Nothing but the address, who is trusted and how long it took is in Latin letters.
    assert set(page.locator(".ended .sentence bdi").all_inner_texts()) >= {page.url.split("/?")[0] + "/demo/mountain"}
