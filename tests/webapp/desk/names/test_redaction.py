"""The page that removes the texts of a name for good, such as after a court order."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ararat.bindings import holding

from ..conftest import Browser, Desk

NAME = "ark:12345/x5court"
SECRET = "The diary of Hedwig"


@pytest.fixture
def filled(desk: Desk) -> Desk:
    numbers = {"current": "inv-8", "further": ["box of Hedwig"]}
    desk.bindings.bind(
        NAME, "https://example.org/1", metadata={"what": SECRET}, resource="inv-7", numbers=numbers, actor="jane"
    )
    holding.hold(desk.bindings, NAME, desk.bindings.now() + timedelta(days=9), f"{SECRET} is disputed")
    return desk


def audit_of(desk: Desk, browser: Browser) -> str:
    return browser.get("/desk/audit").get_data(as_text=True)


def test_an_administrator_removes_the_texts_with_a_reason(filled: Desk, ada: Browser) -> None:
    page = ada.get(f"/desk/name/texts?name={NAME}").get_data(as_text=True)
    assert SECRET in page
    assert "These texts are removed: the metadata, corrected, further and former numbers" in page
    # The field has the label that the desk shows.
    assert "These stay: the name, its target, its “Inventory number” as first recorded" in page
    assert "Also remove the “Inventory number”" in page
    answer = ada.post("/desk/name/texts", {"name": NAME, "reason": "Order 12/26\nof the court"})
    assert (answer.status_code, answer.location) == (303, f"/desk/name?name={NAME}")
    shown = ada.get(f"/desk/name?name={NAME}").get_data(as_text=True)
    assert SECRET not in shown
    assert "box of Hedwig" not in shown
    assert "https://example.org/1" in shown
    assert "The texts are removed." in shown
    assert "inv-7" in shown
    # Nothing restores the texts.
    assert "Undo this change" not in shown
    assert "redacted: Order 12/26 of the court" in audit_of(filled, ada)
    kept = filled.bindings.get(NAME)
    assert (kept.target, kept.resource, kept.hold_reason) == ("https://example.org/1", "inv-7", None)
    assert kept.hold_until is not None


def test_the_resource_is_removed_only_on_request(filled: Desk, ada: Browser) -> None:
    ada.post("/desk/name/texts", {"name": NAME, "reason": "A person asked.", "resource": "1"})
    assert filled.bindings.get(NAME).resource == "(:unal)"


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 2001])
def test_without_a_reason_nothing_is_removed(filled: Desk, ada: Browser, reason: str) -> None:
    answer = ada.post("/desk/name/texts", {"name": NAME, "reason": reason})
    assert answer.status_code == 422
    assert "Only administrators read it" in answer.get_data(as_text=True)
    assert filled.bindings.get(NAME).metadata["erc.what"] == SECRET


def test_only_administrators_find_and_use_the_page(filled: Desk, ada: Browser, jane: Browser, rita: Browser) -> None:
    link = f"/desk/name/texts?name={NAME}"
    for page in (f"/desk/name?name={NAME}", f"/desk/holds/set?name={NAME}"):
        assert link in ada.get(page).get_data(as_text=True)
        assert link not in jane.get(page).get_data(as_text=True)
    for browser in (jane, rita):
        assert browser.get(link).status_code == 403
        assert browser.post("/desk/name/texts", {"name": NAME, "reason": "No."}).status_code == 403
    assert filled.bindings.get(NAME).metadata["erc.what"] == SECRET


def test_a_name_that_is_not_recorded_has_no_page(filled: Desk, ada: Browser) -> None:
    assert ada.get(f"/desk/name/texts?name={NAME}9").status_code == 404
    assert ada.post("/desk/name/texts", {"name": f"{NAME}9", "reason": "No."}).status_code == 404


@pytest.mark.parametrize(
    ("language", "label", "expected"),
    [("en", "Reason", "Reason: the text is empty."), ("fr", "Motif", "Motif\u00a0: le texte est vide.")],
)
def test_the_summary_of_errors_has_the_label_of_a_field_once(
    filled: Desk, ada: Browser, read_page: Any, language: str, label: str, expected: str
) -> None:
    answer = ada.post(f"/desk/name/texts?lang={language}", {"name": NAME, "reason": ""})
    problems = read_page(answer.get_data(as_text=True)).one("section", "problems").all("li")
    assert [" ".join(each.text.split(" ")) for each in problems] == [expected]
    assert problems[0].one("a").text == label
