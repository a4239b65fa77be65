"""Changes that the desk cannot undo: each needs two steps, with the keyboard and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from ararat.webapp.accounts.store import Accounts

from .conftest import Server


def upload(page: Page) -> None:
    """Open the page of an uploaded table."""
    page.goto("/desk/tables")
    file = {"name": "maps.csv", "mimeType": "text/csv", "buffer": b"Identifier;Title\n"}
    page.get_by_label("File").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload").click()


@pytest.mark.parametrize(
    ("address", "label", "done"),
    [
        ("/desk/name?name=ark:12345/q7draft", "Delete", "The reserved name is deleted."),
        ("/desk/prefixes/record?prefix=ark:12345/x5", "Remove", "The record and its rule are removed."),
        ("/desk/accounts/jane", "Remove the password", "The account jane has no password now."),
        ("/desk/accounts/jane", "Revoke the token Repository", "The token Repository is revoked."),
        (None, "Delete the uploaded table", "The uploaded table was deleted."),
    ],
    ids=["name", "prefix", "password", "token", "table"],
)
def test_a_change_that_cannot_be_undone_is_confirmed(
    served: Server, address: str | None, label: str, done: str
) -> None:
    accounts = Accounts(served.bindings)
    accounts.set_password("jane", "correct horse battery staple")
    accounts.tokens.create("jane", "Repository")
    page = served.open_page("ada", java_script_enabled=False)
    if address:
        page.goto(address)
    else:
        upload(page)
    button = page.get_by_role("button", name=label, exact=True)
    expect(button).to_be_hidden()
    page.locator("summary", has_text=label).press("Enter")
    expect(button).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text(done)
