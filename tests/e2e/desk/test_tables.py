"""The import of a spreadsheet in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import findings

TABLE = (
    "ARK;Titel;Link;\u05d4\u05e2\u05e8\u05d4\r\n"
    "ark:/12345/x5-n00;Plan of the city of Yerevan, revised;https://old.example/show?id=0;x\r\n"
    "ark:/12345/x5-new;\u05de\u05e4\u05d4;https://new.example/1;y\r\n"
    "ark:12345/q7;Outside;https://new.example/2;z\r\n"
)
FILE = {"name": "Plans.csv", "mimeType": "text/csv", "buffer": TABLE.encode("windows-1255")}


def check(page, name):
    """Check the accessibility of a page, and that it is not wider than the window."""
    assert findings(page) == [], name
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
    assert page.locator("h1").count() == 1


def test_a_spreadsheet_is_imported_with_the_keyboard_without_javascript(served, page_watch):
    page_watch.expect("422")
    page = served.open_page("jane", java_script_enabled=False)
    page.goto("/desk")
    page.get_by_text("Manage", exact=True).press("Enter")
    page.get_by_role("link", name="Import a table").press("Enter")
    page.get_by_label("File").set_input_files(FILE)
    page.get_by_role("button", name="Upload").press("Enter")
    page.get_by_label("Encoding").select_option("windows-1255")
    page.get_by_role("button", name="Read the file again").press("Enter")
    expect(page.get_by_role("combobox", name="\u05d4\u05e2\u05e8\u05d4")).to_have_value("")
    expect(page.get_by_role("combobox", name="ARK")).to_have_value("identifier")
    expect(page.get_by_role("combobox", name="Titel")).to_have_value("what")
    page.get_by_role("button", name="Preview").press("Enter")
    # The page loads itself again while the job runs.
    expect(page.get_by_role("link", name="Refused 1")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Ask an administrator for a grant")).to_be_visible()
    page.get_by_role("link", name="Changed 1").press("Enter")
    expect(page.locator("tbody tr")).to_contain_text("Plan of the city of Yerevan, revised")
    assert served.bindings.lookup("ark:12345/x5new") is None
    page.get_by_role("button", name="Import 2 rows").press("Enter")
    # Two rows or names have one value. The page asks once.
    expect(page.get_by_role("alert")).to_contain_text("Check this first")
    assert served.bindings.lookup("ark:12345/x5new") is None
    page.get_by_role("button", name="Import anyway").press("Enter")
    expect(page.get_by_role("heading", name="2 rows imported")).to_be_visible(timeout=20_000)
    page.reload()
    expect(page.get_by_role("heading", name="2 rows imported")).to_be_visible()
    assert served.bindings.lookup("ark:12345/x5new").metadata["erc.what"] == "\u05de\u05e4\u05d4"


def test_another_file_is_sent_at_once(served):
    page = served.open_page("jane")
    sent = []

    def stay(route):
        """Keep the page, as if the user stopped its loading."""
        sent.append(route.request.url)
        route.fulfill(status=204)

    page.route("**/desk/tables", lambda route: stay(route) if route.request.method == "POST" else route.continue_())
    page.goto("/desk/tables")
    upload = page.get_by_role("button", name="Upload")
    for number, file in enumerate((FILE, FILE | {"name": "Maps.csv"}), 1):
        page.get_by_label("File").set_input_files(file)
        upload.click()
        upload.click()
        assert len(sent) == number


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"viewport": {"width": 320, "height": 800}, "color_scheme": "dark"}, id="320 px, dark"),
        pytest.param({"color_scheme": "light"}, id="light", marks=pytest.mark.long),
        pytest.param({"forced_colors": "active"}, id="forced colours", marks=pytest.mark.long),
    ],
)
def test_the_pages_of_a_table_are_accessible(served, page_watch, options):
    page_watch.expect("422")
    page = served.open_page("ada", **options)
    page.goto("/desk/tables")
    page.get_by_label("File").set_input_files(FILE)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("combobox", name="Titel").select_option("identifier")
    page.get_by_role("button", name="Preview").click()
    check(page, "wrong columns")
    page.get_by_role("combobox", name="Titel").select_option("what")
    page.get_by_role("combobox", name="Link").select_option("target")
    page.get_by_role("button", name="Preview").click()
    # htmx replaces the progress by the preview.
    expect(page.get_by_role("navigation", name="Rows by outcome")).to_be_visible(timeout=20_000)
    check(page, "preview")
    page.get_by_role("button", name=re.compile("Import")).click()
    expect(page.get_by_role("alert")).to_contain_text("Check this first")
    check(page, "question")
    page.get_by_role("button", name="Import anyway").click()
    expect(page.get_by_role("link", name="Undo", exact=True)).to_be_visible(timeout=20_000)
    check(page, "result")
    page.get_by_role("link", name="Undo", exact=True).click()
    page.get_by_role("button", name="Undo operation").click()
    expect(page.locator(".message")).to_contain_text("is undone")
    page.goto("/desk/tables")
    check(page, "list")
