"""One name and new names in a browser: with the keyboard, and without JavaScript."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Route, expect

from ararat.webapp.accounts.store import Accounts

from .conftest import Server

NAME = "ark:12345/x5n01"


def test_curator_edits_a_title_with_the_keyboard(served: Server) -> None:
    page = served.open_page("jane")
    page.goto(f"/desk/name?name={NAME}")
    page.get_by_role("link", name="Edit metadata").press("Enter")
    title = page.get_by_label("What: title")
    title.focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Plan of Gyumri")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_be_focused()
    expect(page.locator(".timeline ins").first).to_have_text("Plan of Gyumri")
    found = served.bindings.lookup(NAME)
    assert found
    assert found.metadata["erc.what"] == "Plan of Gyumri"


def test_all_profiles_are_saved_together(served: Server) -> None:
    page = served.open_page("jane")
    page.goto(f"/desk/name/metadata?name={NAME}")
    page.get_by_label("What: title").fill("Plan of Gyumri")
    page.get_by_text("Dublin Core").click()
    page.get_by_label("dc.creator").fill("A. Petrosyan")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("The name is updated.")
    found = served.bindings.lookup(NAME)
    assert found
    assert {"erc.what": "Plan of Gyumri", "dc.creator": "A. Petrosyan"}.items() <= found.metadata.items()


def test_curator_withdraws_and_restores_without_javascript(served: Server, page_watch: Any) -> None:
    page_watch.expect("422")
    page = served.open_page("jane", java_script_enabled=False, viewport={"width": 320, "height": 640})
    page.goto(f"/desk/name?name={NAME}")
    page.get_by_role("link", name="Withdraw").click()
    page.get_by_label("Reason").fill("Merged")
    page.get_by_label("Successor").fill("ark:12345/x5n02")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("link", name="ark:12345/x5n02")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    # Other names have the same title.
    expect(page.get_by_role("alert")).to_contain_text("has the same title as")
    page.get_by_role("button", name="Restore anyway").click()
    expect(page.locator(".lead .badge")).to_contain_text("live")


def test_parts_of_a_name_are_loaded_when_they_are_opened(served: Server) -> None:
    page = served.open_page("jane")
    page.goto(f"/desk/name?name={NAME}")
    page.get_by_text("Parts, normal form and spellings").click()
    expect(page.locator(".parts-of-name .segments")).to_contain_text("x5n01")
    expect(page).to_have_url(re.compile("/desk/name[?]name="))


def test_parts_of_a_name_are_a_page_without_javascript(served: Server) -> None:
    page = served.open_page("jane", java_script_enabled=False)
    page.goto(f"/desk/name?name={NAME}")
    page.locator(".parts-of-name summary").click()
    page.get_by_role("link", name="Details").click()
    expect(page.locator(".segments")).to_contain_text("x5n01")


def test_conflict_shows_both_versions(served: Server, page_watch: Any) -> None:
    page_watch.expect("409")
    page = served.open_page("jane")
    page.goto(f"/desk/name/metadata?name={NAME}")
    served.bindings.bind(NAME, "https://old.example/show?id=1", metadata={"who": "B. Other"}, resource="R1")
    page.get_by_label("What: title").fill("Mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Recorded at")).to_contain_text("B. Other")
    expect(page.get_by_role("region", name="Your version")).to_contain_text("Mine")
    page.get_by_role("button", name="Save my version").click()
    found = served.bindings.lookup(NAME)
    assert found
    assert (found.metadata["erc.what"], found.metadata["erc.who"]) == ("Mine", "B. Other")


def test_typed_names_are_checked_at_once(served: Server) -> None:
    page = served.open_page("jane")
    page.goto("/desk/new")
    text = page.get_by_label("Identifier or address")
    text.press_sequentially("ark:/12345/x5-n01", delay=5)
    expect(page.locator("#check")).to_contain_text("Both spellings have the same normal form")
    text.fill("ark:12345/y1")
    expect(page.locator("#check")).to_contain_text("Your account cannot change names with this beginning")
    text.fill("https://old.example/new?id=7")
    shoulder = page.get_by_label("Mint the new name below")
    expect(shoulder).to_have_value("ark:12345/x5")
    shoulder.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Target").last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The name is reserved.")
    expect(page.get_by_text("https://old.example/new?id=7").first).to_be_visible()


def test_curator_mints_names_without_javascript(served: Server) -> None:
    page = served.open_page("jane", java_script_enabled=False)
    page.goto("/desk/new?many=1")
    page.get_by_label("Number of names").fill("10")
    page.get_by_role("button", name="Mint").click()
    expect(page.get_by_role("heading", name="10 new names")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert len(download.value.path().read_text("utf-8").splitlines()) == 11


def test_a_second_click_does_not_mint_twice(served: Server) -> None:
    page = served.open_page("jane")
    held: list[Route] = []
    page.route("**/desk/new/mint", lambda route: held.append(route))
    page.goto("/desk/new?many=1")
    page.get_by_label("Number of names").fill("3")
    page.get_by_role("button", name="Mint").scroll_into_view_if_needed()
    box = page.get_by_role("button", name="Mint").bounding_box()
    assert box
    with page.expect_request("**/desk/new/mint"):
        page.mouse.click(box["x"] + 9, box["y"] + 9)
    page.mouse.click(box["x"] + 9, box["y"] + 9)
    held[0].continue_()
    expect(page.get_by_role("heading", name="3 new names")).to_be_visible()
    assert len(held) == 1


def test_a_corrected_form_and_one_of_a_restored_page_are_sent_at_once(served: Server) -> None:
    page = served.open_page("jane")
    sent: list[str | None] = []

    def stay(route: Route) -> None:
        """Keep the page, as if the user stopped its loading."""
        sent.append(route.request.post_data)
        route.fulfill(status=204)

    page.route("**/desk/new/mint", stay)
    page.goto("/desk/new?many=1")
    button = page.get_by_role("button", name="Mint")
    button.click()
    button.click()
    page.get_by_label("Number of names").fill("3")
    button.click()
    # The browser can restore a page from its memory after Back.
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    with page.expect_request("**/desk/new/mint"):
        button.click()
    assert [str(each).partition("count=")[2][:2] for each in sent] == ["10", "3&", "3&"]


def test_a_form_is_kept_when_the_session_ends(served: Server, page_watch: Any) -> None:
    page_watch.expect("403")
    page = served.open_page("jane")
    page.goto(f"/desk/name/metadata?name={NAME}")
    page.get_by_label("What: title").fill("Plan of Meghri")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your session has ended")
    expect(page.get_by_role("link", name="Open the sign-in page in a new tab")).to_have_attribute("target", "_blank")
    accounts = Accounts(served.bindings)
    account = accounts.get("jane")
    assert account
    session = {"name": "ararat", "value": accounts.sessions.start(account), "url": served.origin}
    page.context.add_cookies([session])  # type: ignore[list-item]
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Plan of Meghri")).to_be_visible()
    page.get_by_role("button", name="Send the form").click()
    expect(page.get_by_role("status")).to_contain_text("The name is updated.")
    expect(page.get_by_text("Plan of Meghri").first).to_be_visible()
