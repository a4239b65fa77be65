"""Overview, list of names, changes and audit of the desk in a browser."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = ("/desk", "/desk/names", "/desk/names?q=old.ex&state=live&owner=jane", "/desk/names?q=zzzz&created_since=soon")
CHANGES = ("/desk/changes", "/desk/changes/1", "/desk/changes/1/undo", "/desk/audit", "/desk/nowhere")


def test_search_shows_names_while_the_user_types(served):
    page = served.open_page("jane")
    page.goto("/desk/names")
    expect(page.locator("table.names tbody tr")).to_have_count(50)
    page.get_by_label("Search").press_sequentially("plan yer", delay=20)
    expect(page.locator("table.names tbody tr")).to_have_count(10)
    expect(page).to_have_url(re.compile(r"q=plan\+yer|q=plan%20yer"))
    expect(page.get_by_role("status")).to_contain_text("10 names found")
    page.get_by_label("State").select_option("withdrawn")
    expect(page.get_by_role("heading", name="No name found")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Search")).to_have_value("plan yer")
    expect(page.get_by_role("heading", name="No name found")).to_be_visible()


def test_search_works_without_javascript(served):
    page = served.open_page("rita", java_script_enabled=False)
    page.goto("/desk")
    page.get_by_role("searchbox").fill("old.ex")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".tabs [aria-current]")).to_contain_text("Targets")
    page.goto("/desk/names?state=live")
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("table.names tbody tr").first).to_be_visible()
    page.get_by_role("link", name="First page").click()
    expect(page.locator("table.names tbody tr")).to_have_count(50)


def test_lists_are_used_with_the_keyboard(served):
    page = served.open_page("jane")
    page.goto("/desk/names")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    reached = set()
    for _ in range(24):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert {"Overview", "Names", "Changes", "Account jane", "q", "state", "prefix", "Search", "More filters"} <= reached
    page.locator(".account summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_administrator_undoes_an_operation_without_javascript(served):
    page = served.open_page("ada", java_script_enabled=False)
    page.goto("/desk/changes")
    page.get_by_role("link", name="Operation 1: relocate").click()
    page.get_by_role("link", name="Preview the undo").click()
    assert served.bindings.lookup("ark:12345/x5n10").target == "https://new.example/10"
    page.get_by_role("button", name="Undo operation 1").click()
    expect(page.locator(".message")).to_contain_text("The operation 1 is undone for 11 names.")
    assert served.bindings.lookup("ark:12345/x5n10").target == "https://old.example/show?id=10"
    page.get_by_role("link", name="Show the undone operation").click()
    expect(page.get_by_role("heading", name="Operation 1: relocate")).to_be_visible()
    expect(page.locator(".message")).to_have_count(0)


def test_export_downloads_the_list(served):
    page = served.open_page("jane")
    page.goto("/desk/names?state=withdrawn")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "names.csv"
    assert "ark:12345/x5n03" in download.value.path().read_text("utf-8")


@pytest.mark.timeout(180)
def test_axe_finds_no_problems(served, page_watch):
    page_watch.expect("404")
    page_watch.expect("does not conform to the required format")
    page = served.open_page("ada")
    for address in (*PAGES, *CHANGES):
        page.goto(address)
        for summary in page.locator("details > summary").all():
            summary.click()
        page.evaluate("document.querySelectorAll('tbody tr:nth-child(n + 9)').forEach(row => row.remove())")
        found = Axe().run(page)
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"
        page.emulate_media(color_scheme="dark")
        found = Axe().run(page, options={"runOnly": ["color-contrast"]})
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"
        page.emulate_media(color_scheme="light")


def test_pages_fit_a_narrow_screen_and_have_one_heading(served, page_watch):
    page_watch.expect("404")
    page_watch.expect("does not conform to the required format")
    page = served.open_page("ada", viewport={"width": 320, "height": 640})
    for address in (*PAGES, *CHANGES):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, address
        expect(page.locator("h1")).to_have_count(1)


def test_forced_colours_keep_what_colours_mean(served):
    page = served.open_page("ada", forced_colors="active")
    page.goto("/desk")
    for bar in page.locator(".plot rect, .months rect").all()[:3]:
        fill, canvas = bar.evaluate(
            "one => [getComputedStyle(one).fill, getComputedStyle(document.body).backgroundColor]"
        )
        assert fill != canvas
    current = page.locator(".sections [aria-current]")
    assert "underline" in current.evaluate("one => getComputedStyle(one).textDecorationLine")


def test_right_to_left_titles_stay_in_their_cells(served):
    page = served.open_page("jane")
    page.goto("/desk/names?prefix=12345/x5n01")
    row = page.locator("table.names tbody tr")
    name, title, target = (row.locator(cell).bounding_box() for cell in ("th", "td >> nth=0", "td >> nth=1"))
    assert name
    assert title
    assert target
    assert name["x"] < title["x"] < target["x"]
    assert row.locator("bdi").first.inner_text() == "ark:12345/x5n01"
