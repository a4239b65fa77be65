"""The page of the own account: preferences, password and sessions."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from ararat.webapp.accounts import passwords

PASSWORD = "correct horse battery staple"
NEW = "seven blue kettles whistle"


def save(browser, **form):
    return browser.post("/desk/account/preferences", form)


def test_preferences_are_saved_and_used(desk, jane, read_page):
    desk.bindings.bind("ark:12345/x51", "https://example.org/1")
    assert save(jane, display_name="Jane Doe", language="de", time_zone="Asia/Kolkata").status_code == 303
    page = read_page(jane.get("/desk/account").text)
    assert "Jane Doe" in page.one("details", "account").one("summary").text
    assert page.one("input", id="time_zone").attributes["value"] == "Asia/Kolkata"
    assert " IST" in jane.get("/desk/name?name=ark:12345/x51").text
    csv = jane.get("/desk/names.csv").text
    assert csv.splitlines()[0].startswith("\ufeffidentifier;")
    assert jane.get("/desk/names.csv?separator=comma").text.startswith("\ufeffidentifier,")
    names = read_page(jane.get("/desk/names").text)
    assert names.one("html").attributes["lang"] == "de"
    assert any("separator=comma" in each.attributes["href"] for each in names.all("a"))
    save(jane, separator="tab")
    assert jane.get("/desk/names.csv").text.startswith("\ufeffidentifier\t")
    # The other accounts keep their own.
    assert desk.signed_in("ada").get("/desk/names.csv").text.startswith("\ufeffidentifier,")


def test_a_day_of_a_filter_is_in_the_time_zone_of_the_caller(desk, jane, monkeypatch):
    desk.bindings.bind("ark:12345/x51", "https://example.org/1")
    created = desk.bindings.store.fetch(["ark:12345/x51"])["ark:12345/x51"].created
    save(jane, time_zone="Pacific/Kiritimati")
    day = created.astimezone(ZoneInfo("Pacific/Kiritimati")).date().isoformat()
    assert "x51" in jane.get(f"/desk/changes?since={day}&before={day}").text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time_zone", "Europe/Ararat"),
        ("time_zone", "../../etc/passwd"),
        ("language", "xx"),
        ("separator", "pipe"),
        ("display_name", "x" * 61),
        ("display_name", "a\x07b"),
    ],
)
def test_a_wrong_preference_is_explained(desk, jane, field, value):
    refused = save(jane, **{field: value})
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text
    assert desk.accounts.get("jane").preferences.as_json() == "{}"


def test_the_own_password_is_changed_and_other_sessions_end(desk, jane):
    desk.accounts.set_password("jane", PASSWORD)
    browser, other = desk.signed_in("jane"), desk.signed_in("jane")
    form = {"current": PASSWORD, "password": NEW, "again": NEW}
    wrong = {"current": {"current": NEW}, "again": {"again": "x"}, "password": {"password": "x", "again": "x"}}
    for field, values in wrong.items():
        refused = browser.post("/desk/account/password", form | values)
        assert refused.status_code == 422
        assert f'id="{field}-error"' in refused.text
        assert PASSWORD not in refused.text
    changed = browser.post("/desk/account/password", form)
    assert changed.status_code == 303
    assert "Your password is changed." in browser.get(changed.location).text
    assert other.get("/desk").status_code == 303
    account, _ = desk.accounts.password_of("jane")
    assert passwords.verify(account.hash, NEW)


def test_an_account_without_a_password_is_told_how_to_get_one(desk, ada, jane):
    assert "ask an administrator for a one-time link" in jane.get("/desk/account").text
    assert "ask an administrator" not in ada.get("/desk/account").text
    refused = jane.post("/desk/account/password", {"current": "", "password": NEW, "again": NEW})
    assert refused.status_code == 422
    assert desk.accounts.get("jane").has_password is False


def test_own_sessions_are_listed_and_ended(desk, ada, jane):
    other, third = desk.signed_in("jane"), desk.signed_in("jane")
    shown = jane.get("/desk/account").text
    assert shown.count("this browser") == 1
    sessions = desk.accounts.sessions.list(desk.accounts.get("jane"))
    assert len(sessions) == 3
    # A session of another account is not ended.
    foreign = desk.accounts.sessions.list(desk.accounts.get("ada"))[0][0]
    jane.post("/desk/account/sessions", {"session": foreign})
    assert ada.get("/desk").status_code == 200
    jane.post("/desk/account/sessions")
    assert [each.get("/desk").status_code for each in (jane, other, third)] == [200, 303, 303]


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["preferences", "password", "sessions"])
def test_a_program_with_a_token_cannot_change_the_account(desk, path):
    _, secret = desk.accounts.tokens.create("jane", "repository")
    refused = desk.app.test_client().post(f"/desk/account/{path}", headers={"Authorization": f"Bearer {secret}"})
    assert refused.status_code == 403
