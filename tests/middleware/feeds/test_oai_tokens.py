"""A changed resumption token is refused, and a token that a client makes itself selects only what arguments can."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.selection import cursor
from ararat.middleware.feeds import oai_tokens
from ararat.middleware.feeds.oai_arguments import OaiError
from ararat.middleware.feeds.oai_tokens import decode, encode

AFTER = cursor("2026-01-31T12:00:00.000000Z", "ark:12345/x")
ARGUMENTS = {"metadataPrefix": "oai_dc", "from": "2026-01-31", "set": "12345:x5"}
TOKEN = encode("ListRecords", ARGUMENTS, AFTER)


def refused(token: str, verb: str = "ListRecords") -> None:
    with pytest.raises(OaiError) as error:
        decode(verb, token)  # type: ignore[arg-type]
    assert error.value.code == "badResumptionToken"


def forged(content: object) -> str:
    """Return a token whose check sum is correct."""
    octets = json.dumps(content).encode()
    return urlsafe_b64encode(oai_tokens._digest(octets) + octets).decode().rstrip("=")


def test_a_token_contains_arguments_and_position():
    assert decode("ListRecords", TOKEN) == (ARGUMENTS, AFTER)
    assert forged(["ListRecords", ARGUMENTS, AFTER]) != TOKEN
    assert decode("ListRecords", forged(["ListRecords", ARGUMENTS, AFTER])) == (ARGUMENTS, AFTER)


def test_a_token_is_for_one_verb():
    refused(TOKEN, "ListIdentifiers")


@given(st.integers(0, len(TOKEN) - 1), st.characters(codec="ascii"))
def test_a_token_with_one_other_character_is_refused(place, char):
    if TOKEN[place] != char:
        refused(TOKEN[:place] + char + TOKEN[place + 1 :])


@given(st.integers(0, len(TOKEN) - 1))
def test_a_cut_token_is_refused(length):
    refused(TOKEN[:length])


@given(st.binary(max_size=60))
def test_any_octets_are_refused(octets):
    refused(urlsafe_b64encode(octets).decode())


@pytest.mark.parametrize("content", [
    None, 1, [], {}, ["ListRecords", ARGUMENTS], ["ListRecords", ARGUMENTS, None], ["ListRecords", ARGUMENTS, ""],
    ["ListRecords", None, AFTER], ["ListRecords", {}, AFTER], ["ListRecords", {**ARGUMENTS, "x": "1"}, AFTER],
    ["ListRecords", {**ARGUMENTS, "from": "x"}, AFTER], ["ListRecords", {**ARGUMENTS, "from": 1}, AFTER],
    ["ListRecords", {"resumptionToken": "x", **ARGUMENTS}, AFTER], ["ListRecords", ARGUMENTS, cursor("a\0")],
    ["ListRecords", ARGUMENTS, cursor("a\0", "b")], ["ListRecords", ARGUMENTS, cursor("a", "\u00e9")],
    ["ListRecords", ARGUMENTS, cursor("a", 1)], ["ListSets", ARGUMENTS, AFTER],
])  # fmt: skip
def test_a_forged_token_is_checked_like_arguments(content):
    refused(forged(content))


def test_padding_and_other_alphabets_are_refused():
    assert urlsafe_b64decode(TOKEN + "=" * (-len(TOKEN) % 4))
    for other in (f"{TOKEN}=", f"{TOKEN}\n", f" {TOKEN}", TOKEN.replace("_", "/").replace("-", "+") + "="):
        refused(other)
