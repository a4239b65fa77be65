"""Overview, list of names, changes and audit of the desk in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_search_shows_names_while_the_user_types(served):
    page = served.open_page("jane")
    page.goto("/desk/names")
    expect(page.locator("table.names tbody tr")).to_have_count(50)
    page.get_by_label("Search").press_sequentially("plan yer", delay=20)
    expect(page.locator("table.names tbody tr")).to_have_count(10)
    expect(page).to_have_url(re.compile(r"q=plan\+yer|q=plan%20yer"))
    expect(page.get_by_role("status")).to_contain_text("10 names found")
    # A check box is selected after the user leaves the search field, which must not read the list again.
    sent: list[str] = []

    def record(request):
        sent.append(request.url)

    page.on("request", record)
    page.locator("table.names input[name=pick]").nth(3).click()
    with page.expect_response(re.compile("prefix=ark")):
        page.get_by_label("Begins with").fill("ark:12345/x5")
        page.get_by_label("Begins with").blur()
    page.remove_listener("request", record)
    assert ["prefix=ark" in each for each in sent] == [True]
    page.get_by_role("navigation", name="State").get_by_role("link", name="Withdrawn").click()
    expect(page.get_by_role("heading", name="No name found")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Search")).to_have_value("plan yer")
    expect(page.get_by_role("heading", name="No name found")).to_be_visible()


def test_search_works_without_javascript(served):
    page = served.open_page("rita", java_script_enabled=False)
    page.goto("/desk")
    page.get_by_role("searchbox").fill("old.ex")
    page.get_by_role("button", name="Search").click()
    # A part of an address is in the texts of names and at the beginning of targets.
    found_in = page.get_by_role("navigation", name="Found in")
    expect(found_in.locator("[aria-current]")).to_contain_text("Texts 50")
    found_in.get_by_role("link", name="Targets").click()
    expect(found_in.locator("[aria-current]")).to_contain_text("Targets 50")
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
    assert {"Overview", "Names", "Changes", "Account jane", "q", "prefix", "Search", "More filters"} <= reached
    assert [each for each in reached if each.startswith("Withdrawn")]
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
        page.get_by_role("link", name="CSV", exact=True).click()
    assert download.value.suggested_filename == "names.csv"
    assert "ark:12345/x5n03" in download.value.path().read_text("utf-8")


def test_right_to_left_titles_stay_in_their_cells(served):
    page = served.open_page("jane")
    page.goto("/desk/names?prefix=12345/x5n01")
    row = page.locator("table.names tbody tr")
    name, title, target = (row.locator(cell).bounding_box() for cell in ("th", "td.what", "td.target"))
    assert name
    assert title
    assert target
    assert title["x"] < name["x"] < target["x"]
    assert row.locator("bdi").first.inner_text() == "ark:12345/x5n01"
