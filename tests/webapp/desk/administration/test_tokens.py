"""The page of the tokens of the caller."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from ararat.webapp.accounts.rights import RIGHTS

from ..conftest import Browser, Desk

FORM = {"label": "repository", "expires": "2099-12-31", "prefixes": "12345/x5ab"}


def create(browser: Browser, **form: str) -> str:
    """Create a token and return its secret."""
    created = browser.post("/desk/tokens", {**FORM, **form})
    # A reload of the page after a redirect creates no other token.
    assert (created.status_code, created.location) == (303, "/desk/tokens")
    secret = re.search(r"<code>(ararat_[\w-]+)</code>", browser.get(created.location).text)
    assert secret
    return secret[1]


def test_a_token_is_shown_once_and_works(desk: Desk, jane: Browser) -> None:
    secret = create(jane)
    found = desk.accounts.tokens.caller(secret)
    assert found is not None
    assert found.token is not None
    assert (found.actor, found.token.label, found.token.prefixes) == ("jane", "repository", ("ark:12345/x5ab",))
    # The token is valid until the end of the day.
    assert found.token.expires == datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC)
    page = jane.get("/desk/tokens").text
    assert "repository" in page
    assert secret not in page


def test_the_cookie_with_a_secret_is_for_the_list_of_tokens_only(jane: Browser) -> None:
    created = jane.post("/desk/tokens", FORM)
    cookie = next(each for each in created.headers.getlist("Set-Cookie") if each.startswith("ararat-once="))
    assert "Path=/desk/tokens" in cookie
    assert "HttpOnly" in cookie
    assert "Max-Age" not in cookie
    assert "ararat_" not in jane.get("/desk").text
    assert "<code>ararat_" in jane.get("/desk/tokens").text
    assert "<code>ararat_" not in jane.get("/desk/tokens").text


def test_a_token_without_last_day_and_prefixes_is_unrestricted(desk: Desk, jane: Browser) -> None:
    found = desk.accounts.tokens.caller(create(jane, expires="", prefixes=""))
    assert found is not None
    assert found.token is not None
    assert (found.token.expires, found.token.prefixes) == (None, None)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("label", "", "label is empty"),
        ("label", "a\u202eb", "control character"),
        ("expires", "tomorrow", "not a day"),
        ("expires", "2020-01-01", "expired already"),
        ("expires", "99999-12-31", "not a day"),
        ("prefixes", "nonsense", "nonsense"),
        ("prefixes", "ark:12345/y1", "no grant for ark:12345/y1"),
        ("prefixes", "ark:12345/", "no grant for ark:12345/"),
        ("prefixes", "12345/x5\n" * 101, "101 prefixes"),
    ],
)
def test_a_wrong_field_is_explained(desk: Desk, jane: Browser, field: str, value: str, said: str) -> None:
    refused = jane.post("/desk/tokens", {**FORM, field: value})
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text
    assert said in re.sub(r"<[^>]*>", "", refused.text)
    assert desk.accounts.tokens.list("jane") == []


def test_a_token_is_revoked(desk: Desk, jane: Browser) -> None:
    secret = create(jane)
    number = str(desk.accounts.tokens.list("jane")[0].number)
    assert jane.post("/desk/tokens/revoke", {"number": number}).location == "/desk/tokens"
    assert desk.accounts.tokens.caller(secret) is None
    page = jane.get("/desk/tokens").text
    assert "The token repository is revoked." in re.sub(r"<[^>]*>", "", page)
    assert "Revoked and expired tokens (1)" in page


@pytest.mark.one_setup
@pytest.mark.parametrize("number", ["", "0", "-1", "9" * 5000, "\u0661", "1.0"])
def test_a_token_of_another_account_is_not_found(desk: Desk, jane: Browser, number: str) -> None:
    token, _ = desk.accounts.tokens.create("ada", "hers")
    for each in (str(token.number), number):
        assert jane.post("/desk/tokens/revoke", {"number": each}).status_code == 404
    assert desk.accounts.tokens.list("ada")[0].revoked is None


def test_a_token_cannot_create_or_revoke_tokens(desk: Desk) -> None:
    token, secret = desk.accounts.tokens.create("jane", "some", None, ["ark:12345/x5ab"])
    client, headers = desk.app.test_client(), {"Authorization": f"Bearer {secret}"}
    assert client.post("/desk/tokens", data={**FORM, "prefixes": ""}, headers=headers).status_code == 403
    revoked = client.post("/desk/tokens/revoke", data={"number": str(token.number)}, headers=headers)
    assert revoked.status_code == 403
    assert [each.revoked for each in desk.accounts.tokens.list("jane")] == [None]
    assert "Sign in with your account" in client.get("/desk/tokens", headers=headers).text


def test_a_reader_restricts_no_prefixes(desk: Desk, rita: Browser) -> None:
    assert 'name="prefixes"' not in rita.get("/desk/tokens").text
    found = desk.accounts.tokens.caller(create(rita, prefixes=""))
    assert found is not None
    assert found.role == "reader"


def test_hostile_labels_are_isolated(desk: Desk, jane: Browser) -> None:
    create(jane, label="<b>&quot;\u0627\u0644")
    assert "<b>&" not in jane.get("/desk/tokens").text


def test_a_token_gets_the_checked_rights_and_an_emergency_token_an_early_end(desk: Desk, jane: Browser) -> None:
    def ask(**form: Any) -> Any:
        return jane.post("/desk/tokens", {"label": "robot", "expires": "", "rights": [""], **form})

    assert ask(rights=["", "read", "mint"]).status_code == 303
    assert ask(rights=["", *RIGHTS]).status_code == 303
    assert [token.rights for token in desk.accounts.tokens.list("jane")] == [("read", "mint"), None]
    page = jane.get("/desk/tokens").text
    assert "read, mint" in page
    refused = ask()
    assert (refused.status_code, "The token would have no right." in refused.text) == (422, True)
    refused = ask(rights=["", *RIGHTS], emergency="1")
    assert (refused.status_code, "at most 7 days" in refused.text) == (422, True)
