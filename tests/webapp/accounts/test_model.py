"""Test names, roles and prefixes of accounts, and what a caller can change."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ararat.bindings.names.errors import BindingError
from ararat.identifiers.text import characters
from ararat.webapp.accounts.model import Account, AccountError, Caller, Token, read_name, read_prefix, read_role

NOW = datetime(2026, 11, 23, tzinfo=UTC)


def caller(role, granted=(), limited=None, *, has_token=False):
    account = Account(
        number=1, name="jane", role=role, prefixes=granted, created=NOW, disabled=None, has_password=False
    )
    token = Token(
        number=1, account=1, label="l", prefixes=limited, created=NOW, expires=None, last_used=None, revoked=None
    )
    return Caller(account=account, token=token if has_token or limited is not None else None)


@pytest.mark.parametrize(
    ("role", "granted", "limited", "key", "expected"),
    [
        pytest.param("curator", ("ark:12345/x5",), None, "ark:12345/x5", True, id="the prefix itself"),
        pytest.param("curator", ("ark:12345/x5",), None, "ark:12345/x5np1/2", True, id="below it"),
        pytest.param("curator", ("ark:12345/x5",), None, "ark:12345/x4", False, id="another shoulder"),
        pytest.param("curator", ("ark:12345/",), None, "ark:12345/y", True, id="whole NAAN"),
        pytest.param("curator", ("ark:12345/",), None, "ark:123456/y", False, id="longer NAAN"),
        pytest.param("curator", (), None, "ark:12345/y", False, id="without grants"),
        pytest.param("curator", ("urn:nbn:de:",), None, "urn:nbn:de:101", True, id="URN"),
        pytest.param("curator", ("ark:12345/",), ("ark:12345/x5",), "ark:12345/x5a", True, id="token for a part"),
        pytest.param("curator", ("ark:12345/",), ("ark:12345/x5",), "ark:12345/y", False, id="outside of the token"),
        pytest.param("curator", ("ark:12345/x5",), ("ark:12345/",), "ark:12345/y", False, id="token for more"),
        pytest.param("curator", ("ark:12345/x5",), (), "ark:12345/x5", False, id="token for nothing"),
        pytest.param("reader", ("ark:12345/x5",), None, "ark:12345/x5", False, id="reader"),
        pytest.param("administrator", (), None, "ark:9/y", True, id="administrator"),
        pytest.param("administrator", (), ("ark:12345/x5",), "ark:9/y", False, id="administrator with such a token"),
    ],
)
def test_a_change_needs_the_grant_of_the_account_and_of_the_token(role, granted, limited, key, expected):
    assert caller(role, granted, limited).may_change(key) is expected


def test_a_token_for_some_prefixes_does_not_permit_administration():
    assert caller("administrator").is_administrator
    assert caller("administrator", has_token=True).is_administrator
    limited = caller("administrator", limited=("ark:12345/",))
    assert (limited.is_administrator, limited.role) == (False, "curator")
    assert not caller("curator").is_administrator


@pytest.mark.parametrize("text", ["jane", "j", "0", "jane.doe@example.org", "a" * 64, "repo-1_x+y"])
def test_names_are_lower_case_ascii(text):
    assert read_name(text) == read_name(text.upper()) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "a" * 65, "jane\n", "jane doe", "ja:ne", ".jane", "-jane", "@jane", "j\u0430ne", "\u212aane"),
        *("jane\0", "jane\u202e", "ja/ne", "jané", "\ud800", "ｊane", "jane\u200b"),
    ],
)
def test_other_names_are_refused_without_hidden_characters(text):
    with pytest.raises(AccountError, match="account-name") as caught:
        read_name(text)
    assert str(caught.value).isprintable()
    assert not list(characters.hidden_runs(str(caught.value)))


@pytest.mark.parametrize("text", ["", "root", "Curator", "reader\n"])
def test_other_roles_are_refused(text):
    with pytest.raises(AccountError, match="account-role"):
        read_role(text)


@pytest.mark.parametrize("text", ["", "ark:", "urn:", "urn:x", "https://a.example/", "ark:12345/x5\n", "1" * 500])
def test_other_prefixes_are_refused(text):
    with pytest.raises(BindingError):
        read_prefix(text)


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "account-codes.md").read_text("utf-8")


def test_the_page_lists_each_answer_that_refuses_a_request():
    sources = [*(ROOT / "webapp" / "accounts").rglob("*.py"), ROOT / "webapp" / "errors.py"]
    sources += [ROOT / "webapp" / "views" / name for name in ("sign_in.py", "openid.py")]
    text = "\n".join(path.read_text("utf-8") for path in sources)
    answers = {("401", code) for code in re.findall(r'unauthorized\(\s*"([a-z-]+)"', text)}
    answers |= set(re.findall(r'HTTPRefusal\(\s*(\d{3}), "([a-z-]+)"', text))
    assert len(answers) > 10
    assert [answer for answer in answers if f"| {answer[0]} | `{answer[1]}` |" not in PAGE] == []
