"""The pages of tokens, accounts and prefixes in a browser."""

from __future__ import annotations

from playwright.sync_api import expect


def test_administrator_grants_a_shoulder_and_records_it_without_javascript(served):
    page = served.open_page("ada", java_script_enabled=False)
    page.goto("/desk/accounts")
    page.get_by_role("link", name="jane").click()
    page.get_by_label("Grant a prefix").fill("12345/x7")
    page.get_by_role("button", name="Grant").click()
    expect(page.get_by_role("status")).to_contain_text("The account jane has the prefix ark:12345/x7 now.")
    page.get_by_text("Manage", exact=True).click()
    page.get_by_role("link", name="Prefixes").click()
    page.get_by_role("link", name="Add a record").click()
    page.get_by_label("Prefix", exact=True).fill("12345/x7")
    page.get_by_text("What you promise").first.click()
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
    expect(page.get_by_role("status")).to_be_focused()
    page.reload()
    expect(page.locator(".secret code")).to_have_count(0)
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name="Revoke the token Repository", exact=True)).to_be_hidden()
    page.locator("summary", has_text="Revoke the token Repository").press("Enter")
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The token Repository is revoked.")
