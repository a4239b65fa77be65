"""Test that docs/accounts.md describes each code."""

from __future__ import annotations

import re
from pathlib import Path

from ararat.bindings.names.error_codes import ERROR_CODES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "accounts.md").read_text("utf-8")


def test_the_page_lists_each_code_with_its_fix():
    beginnings = ("account-", "identity-", "grant-", "password-", "token-")
    listed = [
        entry for code, entry in ERROR_CODES.items() if code.startswith(beginnings) and code != "account-required"
    ]
    assert len(listed) > 10
    assert [entry.code for entry in listed if f"| `{entry.code}` | {entry.remedy} |" not in PAGE] == []


def test_the_page_lists_each_answer_that_refuses_a_request():
    sources = [*(ROOT / "webapp" / "accounts").rglob("*.py"), ROOT / "webapp" / "errors.py"]
    sources += [ROOT / "webapp" / "views" / name for name in ("sign_in.py", "openid.py")]
    text = "\n".join(path.read_text("utf-8") for path in sources)
    answers = {("401", code) for code in re.findall(r'unauthorized\(\s*"([a-z-]+)"', text)}
    answers |= set(re.findall(r'HTTPRefusal\(\s*(\d{3}), "([a-z-]+)"', text))
    assert len(answers) > 10
    assert [answer for answer in answers if f"| {answer[0]} | `{answer[1]}` |" not in PAGE] == []
