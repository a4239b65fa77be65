"""The page that keeps the values of a form whose session has ended."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Browser, Desk

NAME = "ark:12345/x5a"
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def form(desk: Desk) -> dict[str, Any]:
    """A form with the title of a name."""
    desk.bindings.bind(NAME, "https://example.org/a")
    return {"name": NAME, "revision": "1", "m.erc.what": 'A "<b>new</b>" title'}


def fields(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in found}


def title(desk: Desk) -> str | None:
    found = desk.bindings.lookup(NAME)
    assert found
    return found.metadata.get("erc.what")


def test_a_form_is_saved_after_the_user_signs_in_again(desk: Desk, jane: Browser, form: dict[str, Any]) -> None:
    jane.post("/sign-out")
    ended = jane.post("/desk/name/metadata", form, headers=OWN)
    assert ended.status_code == 403
    assert "Your session has ended" in ended.text
    too_early = jane.client.post("/desk/name/metadata", data=fields(ended.text), headers=OWN)
    assert "Your session has ended" in too_early.text
    again = desk.signed_in("jane").client
    outdated = again.post("/desk/name/metadata", data=fields(ended.text), headers=OWN)
    assert "Send the form again" in outdated.text
    assert title(desk) is None
    saved = again.post("/desk/name/metadata", data=fields(outdated.text), headers=OWN)
    assert saved.status_code == 303
    assert title(desk) == form["m.erc.what"]


def test_the_values_have_the_labels_of_their_fields_in_the_language_of_the_page(
    desk: Desk, jane: Browser, form: dict[str, Any], read_page: Callable[[str], Any]
) -> None:
    jane.post("/sign-out")
    sent = {**form, "once": "a1", "status": "reserved", "target": "https://example.org/b", "resource": "INV 7"}
    headers = {**OWN, "Accept-Language": "de"}
    page = read_page(jane.client.post("/desk/name/metadata", data=sent, headers=headers).text).one("dl", "facts")
    assert [each.text.strip() for each in page.all("dt")] == [
        "Identifikator",
        "Was",
        "Zustand",
        "Ziel",
        "Inventarnummer",
    ]
    assert [each.text.strip() for each in page.all("dd")][2] == "Reserviert"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("headers", "change"),
    [
        pytest.param({}, {}, id="a client that does not name the site"),
        pytest.param({"HX-Request": "true", **OWN}, {}, id="htmx"),
        pytest.param(OWN, {"password": "correct horse battery"}, id="a password"),
        pytest.param(OWN, {"image": (io.BytesIO(b"x"), "a.png")}, id="a file"),
    ],
)
def test_other_forms_lead_to_sign_in(
    jane: Browser, form: dict[str, Any], headers: dict[str, str], change: dict[str, Any]
) -> None:
    jane.post("/sign-out")
    answer = jane.post("/desk/name/metadata", {**form, **change}, headers=headers)
    assert "/sign-in" in (answer.location or answer.headers["HX-Redirect"])
    assert "csrf_token" not in answer.text


@pytest.mark.parametrize("sender", ["cross-site", "same-site"])
@pytest.mark.parametrize("is_signed_in", [True, False], ids=["signed in", "signed out"])
def test_the_form_of_another_site_is_not_kept(
    jane: Browser, form: dict[str, Any], sender: str, is_signed_in: bool
) -> None:
    if not is_signed_in:
        jane.post("/sign-out")
    answer = jane.client.post("/desk/name/metadata", data=form, headers={"Sec-Fetch-Site": sender})
    assert answer.status_code == (403 if is_signed_in else 303)
    main = answer.text.partition("<footer>")[0]  # the switch of the language has a token of its own
    assert "csrf_token" not in main


def test_an_upload_leads_to_sign_in(jane: Browser) -> None:
    jane.post("/sign-out")
    assert jane.post("/desk/tables", headers=OWN).location == "/sign-in?next=/desk"
