"""Moves of many targets, and link health, in a browser: with the keyboard, and without JavaScript."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import LONG, Server


def test_curator_moves_a_host_with_the_keyboard(served: Server) -> None:
    page = served.open_page("jane")
    page.goto("/desk/moves")
    page.get_by_label("Old beginning").focus()
    page.keyboard.type("old.example")
    page.keyboard.press("Tab")
    page.keyboard.type("https://new.example")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Preview")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Move 49 targets")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".message")).to_contain_text("49 targets moved")
    found = served.bindings.lookup(LONG)
    assert found
    assert str(found.target).startswith("https://new.example/folder/")


def test_curator_corrects_dead_and_moved_targets_without_javascript(served: Server) -> None:
    page = served.open_page("jane", java_script_enabled=False, viewport={"width": 320, "height": 640})
    page.goto("/desk/links")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("link", name="Edit target").last.click()
    page.get_by_label("Target", exact=True).fill("https://new.example/corrected")
    page.get_by_label("The target leads to the same resource").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("https://new.example/corrected").first).to_be_visible()
    page.goto("/desk/links?state=moved")
    page.get_by_role("button", name="Use the new URL").first.click()
    expect(page.locator(".message")).to_contain_text("https://moved.example/")
