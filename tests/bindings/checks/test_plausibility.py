"""Test the warnings about targets that are almost surely wrong."""

from __future__ import annotations

import pytest

from ararat.bindings.checks.plausibility import target_warnings
from ararat.bindings.names import targets

HOST = "https://example.org"


@pytest.mark.parametrize(
    ("target", "codes"),
    [
        *((f"{HOST}/?a=1{each}b=2", ["target-entity"]) for each in ("&amp;", "&#38;", "&#x26;", "&lt;", "&eacute;")),
        *((f"{HOST}/?a=1{each}", []) for each in ("&copy=2", "&amp=1", "&unknown;", "&b=1;c", "")),
        *(
            (f"http://{host}/x", ["target-local"])
            for host in (
                *("localhost", "localhost:8080", "a.localhost", "printer.local", "db.internal", "intranet"),
                *("127.0.0.1", "10.1.2.3", "192.168.0.5:81", "172.16.0.1", "169.254.1.1", "[::1]"),
                *("[fe80::1]", "[fd00::1]"),
            )
        ),
        *((f"http://{host}/x", []) for host in ("8.8.8.8", "[2606:4700::1]", "local.example", "internal.example.org")),
        (f"{HOST}/item;jsessionid=ABC123DEF456", ["target-session"]),
        (f"{HOST}/x?PHPSESSID=1a2b", ["target-session"]),
        (f"{HOST}/x?sid=0123456789abcdef0123", ["target-session"]),
        (f"{HOST}/(S(lit3py55t21z5v55vlm25s55))/x.aspx", ["target-session"]),
        (f"{HOST}/x?sid=12", []),
        (f"{HOST}/x?X-Amz-Signature=abc&X-Amz-Expires=3600", ["target-expires"]),
        (f"{HOST}/x?X-Goog-Signature=abc", ["target-expires"]),
        (f"{HOST}/x?AWSAccessKeyId=a&Signature=b&Expires=1", ["target-expires"]),
        (f"{HOST}/x?sv=1&se=2026-01-01&sig=abc", ["target-expires"]),
        (f"{HOST}/x?signature=oak-1", []),
        ("http://localhost/x;jsessionid=A1?a&amp;b", ["target-entity", "target-local", "target-session"]),
        ("/items/1", []),
        (f"{HOST}/objects/museum/1?lang=de#a", []),
    ],
)
def test_targets_that_are_almost_surely_wrong_are_found(target: str, codes: list[str]) -> None:
    stored = targets.check(target, "located")
    assert [found.code for found in target_warnings(stored)] == codes
    assert all(found.message.isascii() for found in target_warnings(stored))


def test_no_target_has_no_warning() -> None:
    assert target_warnings(None) == target_warnings("https://[") == []
