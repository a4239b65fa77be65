"""The live trace in a real browser: hops appear one after another, and a finished trace does not run again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request, expect

# Record when each hop appeared, in milliseconds.
ARRIVALS = """() => {
  window.arrivals = [];
  new MutationObserver((changes) => {
    for (const change of changes)
      for (const node of change.addedNodes)
        if (node.nodeType === 1)
          for (const hop of [node, ...node.querySelectorAll("*")])
            if (hop.matches(".hop:not(.waits)")) window.arrivals.push(Math.round(performance.now()));
  }).observe(document.documentElement, {childList: true, subtree: true});
}"""

SLOW_SITE = """
import threading
from datetime import UTC, datetime
from types import SimpleNamespace

from ararat.bindings.names.binding import Binding
from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.naming import NO_RULES
from ararat.bindings.names.prefixes.holds import NO_HOLDS
from ararat.bindings.names.prefixes.prefixes import NO_RECORDS
from ararat.webapp import create_app

HERE = "http://ids.example.org"
LET_GO = threading.Event()


class Names:
    kind = "database"
    naming = NO_RULES
    branding = SimpleNamespace(current=Branding)
    source = SimpleNamespace(
        records_and_holds=lambda: (NO_RECORDS, NO_HOLDS),
        is_mistyped=lambda identifier: False,
        prefix_records=lambda: NO_RECORDS,
        branding=Branding,
    )

    def now(self):
        return datetime.now(UTC)

    @property
    def store(self):
        return self

    def fetch_traced(self, keys):
        return self.fetch(keys), {}

    def fetch(self, keys):
        slow = {"kind": "located", "status": "live", "target": "/slow", "metadata": {}, "successor": None}
        return {key: Binding(identifier=key, **slow) for key in keys}


def site(environ, start_response):
    if environ["PATH_INFO"].startswith("/ark:"):
        start_response("302 Found", [("Location", "/slow")])
        return [b""]
    LET_GO.wait(30)
    start_response("200 OK", [])
    return [b""]


inspector = create_app(Names(), prefix=HERE, local={HERE: site}, traces=1)


def application(environ, start_response):
    if environ["PATH_INFO"] == "/let-go":
        LET_GO.set()
    return inspector(environ, start_response)
"""


@pytest.fixture
def streams(page: Page) -> Iterator[list[Request]]:
    """Record the event streams that the page opens."""
    opened: list[Request] = []

    def record(request: Request) -> None:
        if request.resource_type == "eventsource":
            opened.append(request)

    page.on("request", record)
    yield opened
    page.remove_listener("request", record)


@pytest.fixture
def slow_server(wsgi_server, page_watch):
    """A site with one slot for traces, where every name leads to a slow page."""
    server = wsgi_server(SLOW_SITE, threads=8)
    page_watch.origins.add(server.origin)
    return server


def test_hops_appear_one_after_another(page, streams):
    first_gaps: list[int] = []
    # The shelf of the demo answers after 0.4 s: the first hop appears before, the last one after. A busy machine can
    # delay the first hop in the browser, so one of three traces suffices.
    while len(first_gaps) < 3 and max(first_gaps, default=0) <= 100:
        page.goto("/?q=ark:12345/x8rd4")
        page.evaluate(ARRIVALS)
        page.get_by_role("button", name="Run the trace").click()
        expect(page.locator(".ended .sentence")).to_contain_text(re.compile("/demo/ascent$"))
        expect(page.locator(".hop:not(.waits) .code")).to_contain_text(["302", "302", "200"])
        first, second, _ = page.evaluate("window.arrivals")
        first_gaps.append(second - first)
        assert len(streams) == len(first_gaps)
    assert max(first_gaps) > 100, first_gaps


def test_each_hop_shows_request_and_response(page):
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").click()
    hop = page.locator(".hop:not(.waits)").first
    expect(hop.locator(".url")).to_contain_text(re.compile(r"http://127\.0\.0\.1:\d+/ark:12345/m5137"))
    expect(hop.locator(".code")).to_contain_text("303")
    hop.locator("summary").click()
    expect(hop.locator(".fields")).to_contain_text(re.compile(r"GET http://127\.0\.0\.1:\d+/ark:12345/m5137"))
    expect(hop.locator(".fields")).to_contain_text("/demo/mountain")
    expect(page.locator(".ended .sentence")).to_contain_text("A related resource: ")


def test_a_finished_trace_does_not_run_again(page, streams):
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".ended")).to_contain_text(re.compile(r"1 redirect, \d+\.\d\d s"))
    expect(page.locator(".trace")).not_to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(3_500)
    assert len(streams) == 1
    with page.expect_request(lambda request: request.resource_type == "eventsource"):
        page.get_by_role("link", name="Run again").click()
    expect(page.locator(".ended")).to_have_count(1)
    expect(page.locator(".hop:not(.waits)")).to_have_count(2)
    assert len(streams) == 2


def test_the_trace_ends_at_the_bound_page(page):
    page.goto("/?q=ark:12345/x8rd4")
    page.get_by_role("button", name="Run the trace").click()
    page.get_by_role("link", name="Open target").click()
    expect(page).to_have_url(re.compile("/demo/ascent$"))
    page.go_back()
    expect(page.locator(".normal code")).to_have_text("ark:12345/x8rd4")


def test_a_withdrawn_name_is_reported_without_blame(page):
    page.goto("/?q=ark:12345/d0v3z")
    expect(page.locator(".tag")).to_contain_text("withdrawn")
    expect(page.locator(".verdict")).to_contain_text("Withdrawn: A guide to the mountain")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".hop:not(.waits) .code")).to_contain_text("410")
    expect(page.locator(".ended")).to_contain_text("unspecified whether")


def test_an_unbound_name_shows_the_command(page):
    page.goto("/?q=ark:12345/unbound")
    expect(page.locator(".command code")).to_have_text("ararat trace ark:12345/unbound")
    page.get_by_role("button", name="Trace with this resolver").click()
    expect(page.locator(".hop:not(.waits) .code")).to_contain_text("404")


def test_a_pending_hop_is_shown(page, slow_server):
    page.goto(f"{slow_server.origin}/?q=ark:12345/x")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".hop:not(.waits)")).to_have_count(1)
    expect(page.locator(".trace")).to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(1_500)
    expect(page.locator(".ended")).to_have_count(0)
    expect(page.locator(".pending b")).to_have_text("Waiting for this site to answer")
    expect(page.locator(".pending")).to_contain_text("1 redirect so far")
    # In one call: each beat of the stream replaces the box, and an element that was removed has no place.
    place = "found => { const box = document.querySelector(found).getBoundingClientRect(); return [box.x, box.y] }"
    waited = page.evaluate(place, ".pending")
    slow_server.get("/let-go")
    expect(page.locator(".hop:not(.waits)")).to_have_count(2)
    expect(page.locator(".pending")).to_be_hidden()
    expect(page.locator(".hop.waits")).to_be_hidden()
    # The result has the place of the box that waited.
    assert page.evaluate(place, ".ended") == waited


def test_a_trace_can_be_stopped(page, slow_server, streams):
    page.goto(f"{slow_server.origin}/?q=ark:12345/x")
    page.get_by_role("button", name="Run the trace").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".ended")).to_have_text("You stopped the trace.")
    slow_server.get("/let-go")
    page.wait_for_timeout(500)
    expect(page.locator(".ended")).to_have_text("You stopped the trace.")
    assert len(streams) == 1


def test_the_end_is_announced_and_the_hops_are_not(page):
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".trace").get_by_role("status")).to_contain_text("A related resource: ")
    live = page.locator(".hop").first.evaluate("hop => !!hop.closest('[aria-live], [role=log], [role=status]')")
    assert live is False


def test_the_record_can_be_printed_and_saved(page):
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").click()
    page.locator(".record > summary").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as JSON Lines").click()
    saved = saving.value.path().read_text("ascii")
    assert [json.loads(line)["event"] for line in saved.splitlines()] == ["start", "hop", "hop", "end"]
    page.locator(".record > summary").click()
    page.emulate_media(media="print")
    expect(page.locator(".record tbody tr")).to_have_count(2)
    expect(page.locator(".record table")).to_be_visible()
    expect(page.locator(".hops").first).to_be_hidden()


def test_a_busy_server_is_requested_once(page, context, slow_server, streams):
    other = context.new_page()
    other.goto(f"{slow_server.origin}/?q=ark:12345/x")
    other.get_by_role("button", name="Run the trace").click()
    expect(other.locator(".hop:not(.waits)")).to_have_count(1)
    page.goto(f"{slow_server.origin}/?q=ark:12345/y")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".ended")).to_contain_text("slots for traces are in use")
    page.wait_for_timeout(3_500)
    assert len(streams) == 1
    slow_server.get("/let-go")
    expect(other.locator(".ended")).to_be_visible()
    page.get_by_role("link", name="Run again").click()
    expect(page.locator(".ended .sentence")).to_contain_text("The trace ended at")


def test_a_broken_connection_does_not_run_the_trace_again(page, slow_server, streams, page_watch):
    page_watch.expect("ERR_")
    page_watch.expect("[object Event]")
    page.goto(f"{slow_server.origin}/?q=ark:12345/x")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".hop:not(.waits)")).to_have_count(1)
    slow_server.process.kill()
    slow_server.stop()
    expect(page.locator(".ended")).to_contain_text("The connection was lost")
    page.wait_for_timeout(1_500)
    expect(page.locator(".hop:not(.waits)")).to_have_count(1)
    assert len(streams) == 1


def test_the_focus_stays_in_the_trace(page):
    page.goto("/?q=ark:12345/m5137")
    page.get_by_role("button", name="Run the trace").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".trace .ended")).to_be_visible()
    expect(page.locator(".trace")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.trace') !== null")
    page.get_by_role("link", name="Run again").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".trace .ended")).to_have_count(1)
    expect(page.locator(".trace")).to_be_focused()


def test_the_heading_of_a_trace_gets_the_focus(page):
    page.goto("/trace")
    page.locator("#q").fill("ark:12345/m5137")
    page.keyboard.press("Enter")
    expect(page.locator("#hops")).to_be_focused()


def test_another_resolver_replaces_the_trace(page, serve_ararat, page_watch, streams):
    # No server listens at the port of the second one.
    server = serve_ararat("--allow-network", "127.0.0.0/8", "--resolver", "http://127.0.0.1:9/mirror")
    page_watch.origins.add(server.origin)
    page.goto(f"{server.origin}/?q=ark:12345/m5137")
    page.get_by_label("Ask").select_option("http://127.0.0.1:9/mirror")
    page.get_by_role("button", name="Run the trace").click()
    expect(page.locator(".ended .sentence")).to_contain_text("no connection could be made")
    expect(page.locator(".trace")).to_have_count(1)
    expect(page.locator(".pending:visible")).to_have_count(0)
    assert len(streams) == 1
