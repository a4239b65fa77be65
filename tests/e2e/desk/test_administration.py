"""The pages of tokens, accounts and prefixes in a browser."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = (
    "/desk/tokens",
    "/desk/accounts",
    "/desk/accounts/jane",
    "/desk/prefixes",
    "/desk/prefixes/record?prefix=ark:12345/x5",
    "/desk/prefixes/edit?prefix=ark:12345/x5",
)


def test_administrator_grants_a_shoulder_and_records_it_without_javascript(served):
    page = served.open_page("ada", java_script_enabled=False)
    page.goto("/desk/accounts")
    page.get_by_role("link", name="jane").click()
    page.get_by_label("Grant a prefix").fill("12345/x7")
    page.get_by_role("button", name="Grant").click()
    expect(page.get_by_role("status")).to_contain_text("The account jane has the prefix ark:12345/x7 now.")
    page.get_by_role("link", name="Prefixes").click()
    page.get_by_role("link", name="Add a record").click()
    page.get_by_label("Prefix", exact=True).fill("12345/x7")
    page.get_by_label("Who is responsible").fill("The Map Library")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ark:12345/x7")


def test_curator_creates_and_revokes_a_token_with_the_keyboard(served):
    page = served.open_page("jane")
    page.goto("/desk/tokens")
    page.get_by_label("Label").focus()
    page.keyboard.type("Repository")
    page.keyboard.press("Enter")
    expect(page.locator(".secret code")).to_contain_text("ararat_")
    page.get_by_role("link", name="Back to your tokens").press("Enter")
    page.get_by_role("button", name="Revoke the token Repository").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The token Repository is revoked.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_findings_of_axe_and_fit_a_narrow_window(served, page_watch, scheme):
    served.bindings.set_prefix("12345/x5", what="\u0645\u062e\u0637\u0648\u0637\u0629", statement="We keep names.")
    page = served.open_page("ada", color_scheme=scheme)
    page.goto("/desk/tokens")
    page.get_by_label("Label").fill("x" * 100)
    page.get_by_role("button", name="Create").click()
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    for path in PAGES:
        page.goto(path)
        page.set_viewport_size({"width": 1100, "height": 800})
        assert [each["id"] for each in Axe().run(page).response["violations"]] == [], path
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path
    # The last page has a form. Another program changes its record now.
    page_watch.expect("409")
    served.bindings.set_prefix("12345/x5", what="Maps and plans of the valley")
    page.get_by_label("Contact").fill("x" * 200)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The record was changed in the meantime")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
