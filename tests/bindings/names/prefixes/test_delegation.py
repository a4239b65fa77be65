"""Prefixes that are delegated or retired: their records, and what can be minted below them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ararat.bindings import holding
from ararat.bindings.collection import Bindings
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError, MintedElsewhere
from ararat.bindings.names.prefixes import delegation
from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record

LOWER, MINTER = "https://lower.example", "https://lower.example/mint"


def code_of(act: object, *arguments: object, **named: object) -> str:
    assert callable(act)
    with pytest.raises(BindingError) as caught:
        act(*arguments, **named)
    return caught.value.code


def test_a_delegated_prefix_mints_nothing_and_names_its_minter(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/x5", what="Maps", state="delegated", resolver=f"{LOWER}/", minter=MINTER)
    assert bindings.prefixes.list()[0].texts == {
        "what": "Maps",
        "state": "delegated",
        "resolver": LOWER,
        "minter": MINTER,
    }
    with pytest.raises(MintedElsewhere) as caught:
        mint(bindings, "12345/x5")
    assert (caught.value.minter, caught.value.entry.status) == (MINTER, 409)
    assert MINTER in caught.value.message
    assert code_of(mint, bindings, "12345/x57") == "prefix-delegated"
    # The other minter can have letters that form words.
    bindings.prefixes.set("12345/abc", state="delegated", resolver=LOWER)
    assert code_of(mint, bindings, "12345/abc") == "prefix-delegated"
    bindings.prefixes.set("12345/x5", state="active")
    assert bindings.prefixes.list()[1].texts == {"what": "Maps"}
    assert len(mint(bindings, "12345/x5")) == 1


def test_a_hold_of_a_longer_prefix_changes_no_delegation(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/x5", who="Library", state="delegated", resolver=LOWER, minter=MINTER)
    bindings.bind("ark:12345/x5b1", "https://example.org/1")
    holding.hold(bindings, "ark:12345/x5b", bindings.now() + timedelta(days=1), "why")
    assert code_of(mint, bindings, "12345/x5b") == "prefix-delegated"
    records = PrefixRecords(bindings.prefixes.list())
    found = records.delegation("ark:12345/x5b2")
    assert found is not None
    assert found.prefix == "ark:12345/x5"
    # Nor is it a record of a shoulder: names beside it need no record of their own.
    held = record("ark:12345/x5", {"hold_until": "2027-03-01T00:00:00Z", "hold_reason": "why"})
    for others, key in ((["ark:12345/"], "ark:12345/q9a"), (["ark:12345/q9"], "ark:12345/q9a")):
        assert PrefixRecords([held, *map(record, others)]).missing(key) is None
    assert next(PrefixRecords([held, record("ark:12345/")]).records_of("ark:12345/x5a")).prefix == "ark:12345/"


def test_no_name_is_minted_below_a_delegated_prefix_by_chance(bindings: Bindings) -> None:
    for digit in "012345678":
        bindings.prefixes.set(f"12345/x{digit}", state="delegated", about="https://example.org/closed")
    assert mint(bindings, "12345/x", length=1, digits=True) == ["ark:12345/x9"]
    assert code_of(mint, bindings, "12345/x", length=1, digits=True) == "names-exhausted"


def test_a_retired_prefix_stays_retired(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5a", "https://example.org/a")
    bindings.prefixes.set("12345/x5", who="Library", state="retired")
    bindings.prefixes.set("12345/x57", who="Archive", state="active")
    for namespace in ("12345/x5", "12345/x57"):
        assert code_of(mint, bindings, namespace) == "prefix-retired"
    for change in ({"state": "active"}, {"state": "delegated", "resolver": LOWER}):
        assert code_of(bindings.prefixes.set, "12345/x5", **change) == "prefix-retired"
    assert code_of(bindings.prefixes.remove, "12345/x5") == "prefix-retired"
    assert bindings.prefixes.set("12345/x5", who="Old library") == "changed"
    assert bindings.prefixes.list()[0].state == "retired"
    # A name that others have assigned can still be recorded, and a bound name can change.
    assert bindings.relocate("ark:12345/x5a", "https://example.org/b") == "relocated"
    assert bindings.bind("ark:12345/x5b", "https://example.org/c") == "bound"


def test_the_history_has_all_fields(bindings: Bindings) -> None:
    texts: dict[str, Any] = {
        "who": "Library",
        "state": "delegated",
        "resolver": LOWER,
        "minter": MINTER,
        "about": f"{LOWER}/about",
    }
    bindings.prefixes.set("12345/x5", **texts)
    row = bindings.prefixes.list()[0]
    assert row.texts == texts
    assert [event.record.texts for event in bindings.prefixes.history("12345/x5")] == [texts]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("texts", "code"),
    [
        pytest.param({"state": "gone"}, "prefix-state", id="unknown state"),
        pytest.param({"state": "delegated"}, "prefix-delegation", id="nowhere"),
        pytest.param({"state": "delegated", "minter": MINTER}, "prefix-delegation", id="only a minter"),
        pytest.param({"resolver": LOWER}, "prefix-delegation", id="active with a resolver"),
        pytest.param({"state": "delegated", "resolver": "/here"}, "prefix-address", id="path"),
        pytest.param({"state": "delegated", "resolver": "/x/${value}"}, "prefix-address", id="path of a template"),
        pytest.param({"state": "delegated", "resolver": "javascript:alert(1)"}, "prefix-address", id="script"),
        pytest.param({"state": "delegated", "resolver": f"{LOWER}/?id="}, "prefix-address", id="query"),
        pytest.param({"state": "delegated", "resolver": "https://${value}.example/"}, "rule-template", id="host"),
        pytest.param({"state": "delegated", "about": "mailto:a@example.org"}, "prefix-address", id="mail"),
    ],
)
def test_a_record_that_leads_nowhere_is_refused(bindings: Bindings, texts: dict[str, str], code: str) -> None:
    assert code_of(bindings.prefixes.set, "12345/x5", **texts) == code
    assert bindings.prefixes.list() == []


@pytest.mark.parametrize(
    ("key", "prefix"),
    [
        ("ark:12345/y1", "ark:12345/"),
        ("ark:12345/x5a", None),
        ("ark:12345/x57a", "ark:12345/x57"),
        ("ark:12345/x6a", None),
        ("ark:67890/a", None),
    ],
)
def test_the_longest_prefix_decides(key: str, prefix: str | None) -> None:
    records = PrefixRecords([
        record("ark:12345/", {"state": "delegated", "resolver": LOWER}),
        record("ark:12345/x5", {"who": "Library"}),
        record("ark:12345/x57", {"state": "delegated", "about": LOWER}),
        record("ark:12345/x6", {"state": "retired"}),
    ])  # fmt: skip
    found = records.delegation(key)
    assert (found and found.prefix) == prefix


_OTHERS = '[{"who": 1, "contact": null, "until": "2026-11-26"}]'


@pytest.mark.parametrize("text", ["", "x", "[]", "[1]", '[{"who": "A"}]', _OTHERS, "{}", "[" * 50_000])
def test_a_lineage_that_is_no_list_of_institutions_is_refused(text: str) -> None:
    with pytest.raises(BindingError) as caught:
        delegation.check_lineage(text)
    assert caught.value.code == "prefix-lineage"
