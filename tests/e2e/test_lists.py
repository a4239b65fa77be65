"""Lists of traces in a real browser: one with fifty identifiers, and one that is stopped and resumed."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

STICKY_SITE = """
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
        records_and_holds=lambda: (NO_RECORDS, NO_HOLDS), is_mistyped=lambda identifier: False
    )

    def now(self):
        return datetime.now(UTC)

    @property
    def store(self):
        return self

    def fetch_traced(self, keys):
        return self.fetch(keys), {}

    def fetch(self, keys):
        values = {"kind": "located", "status": "live", "target": "/x", "metadata": {}, "successor": None}
        return {key: Binding(identifier=key, **values) for key in keys}


def site(environ, start_response):
    if "slow" in environ["PATH_INFO"]:
        LET_GO.wait(30)
    start_response("200 OK", [])
    return [b""]


inspector = create_app(Names(), prefix=HERE, local={HERE: site}, traces=2, traces_each=2)


def application(environ, start_response):
    if environ["PATH_INFO"] == "/let-go":
        LET_GO.set()
    return inspector(environ, start_response)
"""


@pytest.fixture
def server(wsgi_server, page_watch):
    """A site with a page for each name. Names with "slow" are answered late."""
    server = wsgi_server(STICKY_SITE, threads=8)
    page_watch.origins.add(server.origin)
    return server


def test_a_list_of_fifty_identifiers_can_be_saved(page, server):
    names = [f"ark:12345/x{number}" for number in range(50)]
    page.goto(f"{server.origin}/traces")
    page.locator("#q").fill("\n".join(names))
    page.get_by_role("button", name="Run the traces").click()
    expect(page.locator("#rows")).to_be_focused()
    expect(page.locator(".round .ended")).to_contain_text("50 traced: 50 resolves.")
    expect(page.get_by_role("status")).to_contain_text("50 traced")
    expect(page.locator(".round progress")).to_have_attribute("value", "50")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as CSV").click()
    with saving.value.path().open(newline="") as table:
        assert sorted(row["identifier"] for row in csv.DictReader(table)) == sorted(names)


def test_a_stopped_list_can_be_resumed(page, server):
    page.goto(f"{server.origin}/traces")
    # A site gets one request at a time, in any order of those that start together, so do not use the last of nine.
    names = [*(f"ark:12345/x{number}" for number in range(8)), "ark:12345/slow"]
    page.locator("#q").fill("\n".join(names))
    page.get_by_role("button", name="Run the traces").click(no_wait_after=True)
    expect(page.locator(".traced tbody tr").first).to_be_visible(timeout=15_000)
    page.get_by_role("button", name="Stop").click(no_wait_after=True)
    expect(page.get_by_role("status")).to_contain_text("Stopped after")
    done = page.locator(".traced tbody tr").count()
    assert 0 < done < 9
    server.get("/let-go")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator(".round .ended")).to_contain_text("9 traced: 9 resolves.")


@pytest.mark.parametrize(
    "address",
    [
        "/?q=ark:/12345/mp-39n/1.pdf%E2%80%AE.en",
        "/?q=ark:12345/x8rd4%20ark:B5072/x!%20urn:example:a",
        "/policy?q=https://17beta.top/en/",
        "/schemes",
    ],
    ids=["one", "several", "policy", "schemes"],
)
def test_tables_do_not_scroll_sideways_on_a_narrow_screen(page, address):
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(address)
    for line in page.locator(".more > details > summary").all():
        line.click()
    tables = page.locator(".scroll:has(.stacks)")
    shown = [each for each in tables.all() if each.is_visible()]
    assert shown
    for each in shown:
        assert each.evaluate("one => one.scrollWidth <= one.clientWidth")
        tree = each.aria_snapshot()
        assert "- table" in tree
        assert "- row" in tree
        assert "- cell" in tree or "- rowheader" in tree
        assert "- columnheader" in tree
