"""The pages of accounts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ararat.bindings.storage.tables.account_tables import audit
from ararat.webapp.accounts.sign_in import WrongPassword, sign_in
from ararat.webapp.accounts.store import LINK_HOURS
from ararat.webapp.desk.administration.account_changes import CHANGES

from ..conftest import Browser, Desk

PASSWORD = "correct horse battery"


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def change(browser: Browser, name: str, action: str, **form: str) -> Any:
    return browser.post(f"/desk/accounts/{name}/{action}", form)


def audited(desk: Desk) -> list[tuple[Any, ...]]:
    query = select(audit.c.account, audit.c.operation, audit.c.name, audit.c.outcome).order_by(audit.c.id)
    return desk.accounts.run_in_transaction(lambda connection: [tuple(row) for row in connection.execute(query)])


def test_accounts_are_listed(desk: Desk, ada: Browser) -> None:
    desk.accounts.disable("rita")
    page = text_of(ada.get("/desk/accounts").text)
    assert "ada administrator all no password" in page
    assert "jane curator ark:12345/x5 no password" in page
    assert "locked" in page


def test_an_account_is_added(desk: Desk, ada: Browser) -> None:
    form = {"name": " Joan ", "role": "curator", "prefixes": "12345/x7\r\nurn:nbn:de:", "link": "yes"}
    assert ada.post("/desk/accounts", form).location == "/desk/accounts/joan"
    joan = desk.accounts.get("joan")
    assert joan is not None
    assert (joan.role, joan.prefixes, joan.has_password) == ("curator", ("ark:12345/x7", "urn:nbn:de:"), False)
    number = desk.accounts.list()[0].number
    assert audited(desk)[-1] == (number, "account.one-time-link", "joan", "made")
    assert audited(desk)[-2] == (number, "account.add", "joan", "curator ark:12345/x7 urn:nbn:de:")
    assert "Send this link to the person of the account joan." in text_of(ada.get("/desk/accounts/joan").text)
    # Without a password, the account uses tokens.
    assert ada.post("/desk/accounts", {"name": "robot", "role": "reader"}).status_code == 303


def test_an_account_is_marked_as_a_program(desk: Desk, ada: Browser) -> None:
    desk.accounts.set_password("jane", PASSWORD)
    desk.accounts.identities.link("https://idp.example", "robot 17", "jane")
    assert change(ada, "jane", "program").status_code == 303
    page = text_of(ada.get("/desk/accounts/jane").text)
    assert "The account jane is a program now." in page
    assert "https://idp.example robot 17" in page
    assert "one-time link, the person" not in page
    assert "jane curator ark:12345/x5 program" in text_of(ada.get("/desk/accounts").text)
    with pytest.raises(WrongPassword):
        sign_in(desk.accounts, "jane", PASSWORD, None)
    assert change(ada, "jane", "one-time-link").status_code == 422
    assert desk.accounts.tokens.list("jane")[-1].label == "robot 17 https://idp.example"
    assert change(ada, "jane", "person").status_code == 303
    assert desk.accounts.tokens.list("jane")[-1].revoked is not None
    assert change(ada, "jane", "one-time-link").status_code == 303
    # The last person who is an administrator stays one.
    assert change(ada, "ada", "program").status_code == 422


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "jane", "account jane already"),
        ("name", "", "not a name"),
        ("name", "\u212aate", "not a name"),
        ("name", "../x", "not a name"),
        ("role", "root", "no role"),
        ("prefixes", "nonsense", "nonsense"),
    ],
)
def test_a_wrong_field_is_explained(desk: Desk, ada: Browser, field: str, value: str, said: str) -> None:
    form = {"name": "joan", "role": "curator", "prefixes": "", field: value}
    refused = ada.post("/desk/accounts", form)
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text
    assert said in text_of(refused.text)
    assert "ararat account" not in refused.text
    assert len(desk.accounts.list()) == 3


def test_a_shoulder_is_granted_and_revoked(desk: Desk, ada: Browser) -> None:
    assert change(ada, "jane", "grant", prefix="12345/x-7").location == "/desk/accounts/jane"
    jane = desk.accounts.get("jane")
    assert jane is not None
    assert jane.prefixes == ("ark:12345/x5", "ark:12345/x7")
    assert "ark:12345/x7" in text_of(ada.get("/desk/accounts/jane").text)
    assert change(ada, "jane", "revoke", prefix="ark:12345/x5").status_code == 303
    changed = desk.accounts.get("jane")
    assert changed is not None
    assert changed.prefixes == ("ark:12345/x7",)
    # The second time there is no grant.
    assert change(ada, "jane", "revoke", prefix="ark:12345/x5").status_code == 422
    for wrong in ("", "nonsense", "\0"):
        refused = change(ada, "jane", "grant", prefix=wrong)
        assert refused.status_code == 422
        assert 'id="prefix-error"' in refused.text


def test_the_role_changes_at_once(desk: Desk, ada: Browser, jane: Browser) -> None:
    assert jane.get("/desk/accounts").status_code == 403
    change(ada, "jane", "role", role="administrator")
    assert jane.get("/desk/accounts").status_code == 200
    refused = change(ada, "jane", "role", role="root")
    assert refused.status_code == 422
    assert 'id="role-error"' in refused.text


def test_the_last_administrator_stays(desk: Desk, ada: Browser) -> None:
    for action, form in (("role", {"role": "curator"}), ("disable", {})):
        refused = change(ada, "ada", action, **form)
        assert refused.status_code == 422
        assert "ada is the last administrator. Make another account an administrator first." in text_of(refused.text)
    found = desk.accounts.get("ada")
    assert found is not None
    assert (found.role, found.disabled) == ("administrator", None)


def test_an_administrator_can_resign_if_there_is_another(desk: Desk, ada: Browser) -> None:
    change(ada, "jane", "role", role="administrator")
    assert change(ada, "ada", "role", role="administrator").location == "/desk/accounts/ada"
    assert change(ada, "ada", "role", role="reader").location == "/desk"
    assert ada.get("/desk/accounts").status_code == 403


def test_a_disabled_account_is_signed_out_and_can_be_enabled(desk: Desk, ada: Browser, jane: Browser) -> None:
    _, secret = desk.accounts.tokens.create("jane", "repository")
    change(ada, "jane", "disable")
    assert jane.get("/desk").status_code == 303
    assert desk.accounts.tokens.caller(secret) is None
    assert "locked" in text_of(ada.get("/desk/accounts/jane").text)
    change(ada, "jane", "enable")
    assert desk.accounts.tokens.caller(secret) is not None


def test_a_one_time_link_sets_a_password_that_no_administrator_knows(desk: Desk, ada: Browser, jane: Browser) -> None:
    assert change(ada, "jane", "one-time-link").location == "/desk/accounts/jane"
    shown = ada.get("/desk/accounts/jane").text
    link = re.search(r"http://localhost(/set-password/[\w-]{43})<", shown)
    assert link
    assert link[1] not in ada.get("/desk/accounts/jane").text
    person = desk.app.test_client()
    page = person.get(link[1])
    token = re.search('name="csrf_token" value="([0-9a-f]{64})"', page.text)
    assert token
    assert "For the account <strong>jane</strong>" in page.text
    form = {"csrf_token": token[1], "password": "short", "again": "short"}
    assert "has 5 characters" in person.post(link[1], data=form).text
    assert jane.get("/desk").status_code == 200
    form |= {"password": PASSWORD, "again": PASSWORD}
    assert person.post(link[1], data=form).location == "/desk"
    assert person.get("/desk").status_code == 200
    assert jane.get("/desk").status_code == 303
    assert desk.app.test_client().get(link[1]).status_code == 404
    change(ada, "jane", "remove-password")
    found = desk.accounts.get("jane")
    assert found is not None
    assert found.has_password is False


@pytest.mark.parametrize("event", ["newer", "disabled", "password", "expired"])
def test_a_one_time_link_is_not_valid_any_more(desk: Desk, event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = desk.accounts.make_link("jane")
    assert desk.accounts.of_link(secret) is not None
    if event == "newer":
        desk.accounts.make_link("jane")
    elif event == "disabled":
        desk.accounts.disable("jane")
    elif event == "password":
        desk.accounts.set_password("jane", PASSWORD)
    else:
        later = desk.bindings.now() + timedelta(hours=LINK_HOURS)
        monkeypatch.setattr(desk.bindings, "now", lambda: later)
    assert desk.accounts.of_link(secret) is None
    assert desk.accounts.use_link(secret, PASSWORD) is None
    assert desk.app.test_client().get(f"/set-password/{secret}").status_code == 404


def test_sessions_are_ended(desk: Desk, ada: Browser, jane: Browser) -> None:
    desk.signed_in("jane")
    assert "Open sessions2" in text_of(ada.get("/desk/accounts/jane").text)
    change(ada, "jane", "end-sessions")
    assert jane.get("/desk").status_code == 303
    assert "Open sessions0" in text_of(ada.get("/desk/accounts/jane").text)
    assert ada.get("/desk").status_code == 200


def test_failed_attempts_are_shown_and_forgotten(desk: Desk, ada: Browser) -> None:
    shown = "Failed attempts to sign in2 in the last 15 minutes"
    for _ in range(2):
        with pytest.raises(WrongPassword):
            sign_in(desk.accounts, "jane", "wrong horse battery", "192.0.2.7")
    assert shown in text_of(ada.get("/desk/accounts/jane").text)
    assert change(ada, "jane", "unlock").status_code == 303
    page = ada.get("/desk/accounts/jane").text
    assert "The account jane is unlocked. Its failed attempts to sign in are forgotten." in text_of(page)
    assert shown not in text_of(page)


def test_tokens_of_an_account_are_revoked(desk: Desk, ada: Browser) -> None:
    token, secret = desk.accounts.tokens.create("jane", "repository")
    other, _ = desk.accounts.tokens.create("rita", "other")
    assert change(ada, "jane", "revoke-token", number=str(other.number)).status_code == 404
    assert change(ada, "jane", "revoke-token", number=str(token.number)).status_code == 303
    assert desk.accounts.tokens.caller(secret) is None


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["nobody", "\u202e", "x" * 100, "a b"])
def test_an_unknown_account_is_not_found(ada: Browser, name: str) -> None:
    assert ada.get(f"/desk/accounts/{name}").status_code == 404
    for action in CHANGES:
        assert change(ada, name, action).status_code == 404
    assert change(ada, "jane", name).status_code == 404


def test_a_refused_change_is_in_the_audit(desk: Desk, jane: Browser) -> None:
    assert change(jane, "jane", "grant", prefix="12345").status_code == 403
    assert jane.post("/desk/accounts", {"name": "joan", "role": "administrator"}).status_code == 403
    number = next(each.number for each in desk.accounts.list() if each.name == "jane")
    refused = [(number, f"account.{operation}", None, "role-missing") for operation in ("grant", "add")]
    assert audited(desk)[-2:] == refused
    assert len(desk.accounts.list()) == 3


def test_a_token_cannot_change_accounts(desk: Desk) -> None:
    _, secret = desk.accounts.tokens.create("ada", "stolen")
    _, other = desk.accounts.tokens.create("ada", "other")
    client, headers = desk.app.test_client(), {"Authorization": f"Bearer {secret}"}
    before = desk.accounts.list()
    form = {"name": "mallory", "role": "administrator", "password": PASSWORD, "prefix": "12345", "number": "2"}
    actions = ["/desk/accounts", *(f"/desk/accounts/{name}/{change}" for name in ("ada", "jane") for change in CHANGES)]
    for action in actions:
        refused = client.post(action, data=form, headers=headers)
        assert refused.status_code == 403, action
        assert "Sign in with the account instead" in refused.text
        assert audited(desk)[-1][3] == "token-used"
    assert desk.accounts.list() == before
    assert desk.accounts.tokens.caller(other) is not None
    assert client.get("/desk/accounts", headers=headers).status_code == 200
