"""The inspector without JavaScript: forms, links, and pages that grow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

OTHER_SITE = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/html")])
    return [b"<!doctype html><link rel=icon href=data:,><a href='{trace}'>elsewhere</a>"]
"""


@pytest.fixture
def page(new_page, base_url) -> Page:
    """A browser page without JavaScript."""
    return new_page(java_script_enabled=False, base_url=base_url)


@pytest.fixture
def inspect(page):
    def ask(text):
        page.goto("/")
        page.locator("#q").fill(text)
        page.get_by_role("button", name="Inspect").click()
        return page.locator("#answer")

    return ask


def test_paste_an_ark_and_read_its_normal_form(page, inspect):
    answer = inspect("ark:/12345/mp-39n.svg")
    expect(page).to_have_url(re.compile(r"/\?q=ark:/12345/mp-39n\.svg$"))
    expect(answer.locator(".normal code")).to_have_text("ark:12345/mp39n.svg")
    expect(answer.get_by_role("heading", level=1)).to_be_focused()
    expect(answer.locator(".copy").first).to_be_hidden()


def test_paste_a_urn(inspect):
    expect(inspect("URN:ISBN:0451450523").locator(".normal code")).to_have_text("urn:isbn:0451450523")


def test_paste_a_paragraph_with_several_identifiers(inspect):
    answer = inspect("See ark:12345/x8rd4, then urn:example:ararat:guide; not ark:99999/x")
    expect(answer.get_by_role("heading", level=1)).to_have_text("Three identifiers: two fine, one to check")


def test_a_bidi_override_does_not_change_its_surroundings(inspect):
    segments = inspect("ark:12345/a\u202eb/c.en").locator(".segments > li > bdi")
    expect(segments.nth(3).locator(".cp")).to_have_text("U+202E RLO")
    boxes = [segment.bounding_box() for segment in segments.all()]
    rights = [0.0, *(box["x"] + box["width"] for box in boxes)]
    assert all(box["x"] >= right - 0.5 for box, right in zip(boxes, rights, strict=False))


def test_follow_the_hierarchy(page, inspect):
    answer = inspect("ark:12345/mp39n/1.txt")
    answer.locator("summary").filter(has_text="Hierarchy").click()
    answer.locator(".tree a").first.click()
    expect(page.locator(".normal code")).to_have_text("ark:12345/mp39n")
    page.go_back()
    expect(page.locator(".normal code")).to_have_text("ark:12345/mp39n/1.txt")


def test_a_text_without_a_permalink_is_answered(page, inspect):
    answer = inspect("ark:12345/x8rd4 " + "and so on " * 400)
    expect(answer.locator(".notice")).to_contain_text("no permalink")
    expect(answer.locator(".normal code")).to_have_text("ark:12345/x8rd4")


def test_the_page_of_a_trace_grows(page):
    page.goto("/?q=ark:12345/x8rd4")
    # The page shows its first hop while the shelf of the demo delays the second.
    page.get_by_role("button", name="Run the trace").click(no_wait_after=True)
    expect(page.locator(".hop:not(.waits) .code").first).to_contain_text("302")
    expect(page.locator(".hop:not(.waits) .code")).to_contain_text(["302", "302", "200"])
    # The result is above the requests, although it comes last.
    result, request = page.locator(".ended").bounding_box(), page.locator(".hop:not(.waits)").first.bounding_box()
    assert result["y"] < request["y"]
    expect(page.locator(".ended .sentence")).to_contain_text("The trace ended at")
    page.get_by_role("link", name="Run again").click()
    expect(page.locator(".ended .sentence")).to_be_visible()


def test_pending_elements_are_hidden_after_the_answer(page):
    page.goto("/trace?q=ark:12345/x8rd4")
    expect(page.locator(".ended")).to_be_visible()
    waiting = page.locator(".pending, .waits")
    assert waiting.count() >= 3
    assert [one.is_visible() for one in waiting.all()] == [False] * waiting.count()


def test_a_list_is_traced_row_by_row_and_can_be_resumed(page):
    page.goto("/trace")
    page.get_by_role("link", name="Trace a list of identifiers").click()
    page.locator("#q").fill("ark:12345/m5137\nark:12345/d0v3z")
    page.get_by_role("button", name="Run the traces").click()
    expect(page.locator(".round .ended")).to_contain_text("2 traced: 1 related, 1 dead.")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as CSV").click()
    assert saving.value.path().read_text("ascii").count("\n") == 3
    page.locator("#q").fill("ark:12345/m5137\nark:12345/d0v3z\nark:12345/mp39n")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator(".round .ended")).to_contain_text("3 traced: 1 resolves, 1 related, 1 dead.")


def test_a_trace_from_another_site_needs_a_click(page, base_url, wsgi_server, page_watch):
    other = wsgi_server(OTHER_SITE.format(trace=f"{base_url}/trace?q=ark:12345/m5137"))
    page_watch.origins.add(other.origin)
    page.goto(other.origin)
    page.get_by_role("link", name="elsewhere").click()
    expect(page.locator(".notice")).to_contain_text("The trace has not started")
    expect(page.locator(".hop")).to_have_count(0)
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".ended .sentence")).to_contain_text("A related resource: ")


def test_a_text_that_is_too_long_is_refused_with_a_reason(page, page_watch):
    page_watch.expect("413")
    page.goto("/")
    page.locator("#q").fill("x" * 1_200_000, timeout=20_000)
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_role("alert")).to_contain_text("longer than 1,048,576 bytes")


def test_a_long_table_is_filtered_sorted_and_compared(page, inspect):
    answer = inspect("ark:12345/c ark:/12345/a- ark:99999/x ark:12345/a urn:foo:a ark:12345/b" + " and so on" * 300)
    page.get_by_label("Show").select_option("same")
    page.get_by_role("button", name="Apply").click()
    expect(answer.locator(".list tbody tr:visible")).to_have_count(2)
    expect(page.get_by_label("Show")).to_have_value("same")
    for tick in answer.locator(".list tbody tr:visible input").all():
        tick.check()
    page.get_by_role("button", name="Compare the two selected").click()
    expect(page.locator(".verdict")).to_contain_text("Equivalent")


def test_a_part_and_its_row_are_linked(page, inspect):
    inspect("ark:/12345/mp-39n").locator(".parts .name dt a").click()
    expect(page.locator(".segments li:target")).to_contain_text("mp-39n")


# tests/webapp/views/test_inspect.py sends as many without a browser.
@pytest.mark.long
def test_a_million_bytes_are_answered(page, inspect):
    text = ("ark:12345/x8rd4 and so on " * 40_330)[: 2**20 - 8]
    page.goto("/")
    page.locator("#q").fill(text, timeout=20_000)
    page.get_by_role("button", name="Inspect").click(timeout=40_000)
    expect(page.locator(".list tbody tr")).to_have_count(1_000, timeout=20_000)
    expect(page.locator("#found")).to_contain_text("The first 1,000 identifiers")
