"""Bindings in a database, each test on SQLite and on PostgreSQL."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.names import assignment, naming
from ararat.bindings.names.errors import BindingConflict, BindingError, BindingsUnavailable
from ararat.bindings.names.fields import Fields
from ararat.bindings.open import open_bindings
from ararat.identifiers import parse

NAME = "ark:12345/doc"
PLACE = "https://example.org/1"


def test_bind_returns_the_outcomes_that_its_docstring_lists(bindings: Bindings) -> None:
    found = [
        bindings.bind(NAME, PLACE),
        bindings.bind(NAME, PLACE),
        bindings.bind(NAME, PLACE, resource="INV 1"),
        bindings.bind(NAME, f"{PLACE}2", resource="INV 1"),
        bindings.bind(NAME, f"{PLACE}2", listed=False),
        bindings.bind(NAME, f"{PLACE}2", numbers={"former": "2"}),
        bindings.bind(f"{NAME}3", PLACE, embargo=datetime.now(UTC) + timedelta(days=9)),
        bindings.bind(f"{NAME}3", PLACE, embargo=""),
    ]
    assert found == ["bound", "unchanged", "claimed", "relocated", "updated", "updated", "reserved", "bound"]
    with pytest.raises(BindingError) as refused:
        bindings.bind(NAME, listed=False)
    assert refused.value.code == "target-missing"
    assert {*re.findall(r'- "(\w+)":', Bindings.bind.__doc__ or "")} == {*found}


@pytest.mark.vectors("bind")
def test_names_are_bound_as_the_requirements_state(vector, bindings: Bindings) -> None:
    if isinstance(vector.input, dict):
        with pytest.raises(BindingError) as refused:
            bindings.bind(vector.input["ark"], vector.input["target"], redirect=vector.input["status"])
        assert refused.value.code == vector.expect["error"]
        return
    (first, *arguments), (second, target, resource) = (
        (ark, target, resource) for ark, target, resource in vector.input
    )
    assert bindings.bind(first, arguments[0], resource=arguments[1]) == "bound"
    if vector.expect["second"] == "conflict":
        with pytest.raises(BindingConflict):
            bindings.bind(second, target, resource=resource)
    else:
        assert bindings.bind(second, target, resource=resource) == "relocated"
        found = bindings.lookup(second)
        assert found is not None
        assert found.target == target


# ARK-030
def test_a_policy_element_requires_an_authority_name(bindings: Bindings) -> None:
    with pytest.raises(BindingError, match="no-name"):
        bindings.bind("ark:12345", PLACE)
    assert bindings.bind("ark:12345/0", PLACE, resource="the holder of the NAAN") == "bound"


# URN-056
def test_two_urns_can_be_bound_to_one_resource(bindings: Bindings) -> None:
    names = ("urn:isbn:9780451450524", "urn:nbn:de:gbv:089-3321752945")
    assert [bindings.bind(name, PLACE, resource="R1") for name in names] == ["bound", "bound"]
    assert {binding.resource for binding in bindings.store.fetch(names).values()} == {"R1"}


# ARK-036
def test_a_variant_can_be_withdrawn_without_its_name(bindings: Bindings) -> None:
    for name in (NAME, f"{NAME}.pdf"):
        bindings.bind(name, PLACE)
    bindings.withdraw(f"{NAME}.pdf", reason="it is out of date")
    found = bindings.store.fetch([NAME, f"{NAME}.pdf"])
    assert [(found[name].status, found[name].revision) for name in (NAME, f"{NAME}.pdf")] == [
        ("live", 1),
        ("withdrawn", 2),
    ]


def test_a_new_store_is_empty(bindings: Bindings) -> None:
    assert bindings.lookup(NAME) is None
    assert bindings.history(NAME) == []
    assert bindings.store.fetch([NAME, "ark:12345/other"]) == {}


def test_all_fields_of_a_binding_are_recorded(bindings: Bindings) -> None:
    said: dict[str, Any] = {
        "kind": "served",
        "redirect": 307,
        "resource": "the thing \u05d0 itself",
        "passthrough": True,
        "alternates": {"text/html;en": "/en?a=1#b"},
        "metadata": {"erc.who": "No\u00eb \U0001f600", "erc.what": 'A "title" \\ with \u202e and {braces}'},
    }
    assert bindings.bind(NAME, "/page", **said, actor="me") == "bound"
    found = bindings.lookup(NAME)
    assert found is not None
    assert {name: getattr(found, name) for name in said} == said
    assert (found.identifier, found.target, found.status, found.scope, found.revision) == (
        NAME,
        "/page",
        "live",
        "name",
        1,
    )
    assert datetime.now(UTC) - found.changed < timedelta(minutes=1)
    assert found.changed.utcoffset() == timedelta(0)
    assert found.as_dict()["changed"].endswith("Z")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "spelling", ["ark:/12345/d-oc", "ARK:12345/doc", "https://n2t.net/ark:/12345/doc?info", "ark:12345/%64oc#f"]
)
def test_a_name_is_found_in_every_spelling(bindings: Bindings, spelling: str) -> None:
    bindings.bind(NAME, PLACE)
    assert bindings.lookup(spelling) == bindings.lookup(parse(spelling)) == bindings.lookup(NAME)
    assert len(bindings.history(spelling)) == 1


def test_keys_are_compared_byte_by_byte(bindings: Bindings) -> None:
    for number, name in enumerate(
        ["ark:12345/x", "ark:12345/X", "ark:12345/x.a", "ark:12345/x%2Ea", "ark:12345/%C3%A9", "ark:12345/e%CC%81"]
    ):
        assert bindings.bind(name, f"/{number}") == "bound"
    assert bindings.store.fetch(["ark:12345/X"])["ark:12345/X"].target == "/1"
    assert bindings.store.fetch(["ARK:12345/X", "ark:12345/x "]) == {}


LONGEST = "ark:12345/" + "".join(f"%F0%9F%{0x98 + n % 8:02X}%{0x80 + (n * n) % 64:02X}" for n in range(245))


def test_the_longest_names_can_be_bound(bindings: Bindings) -> None:
    other = LONGEST[:-2] + ("81" if LONGEST[-2:] != "81" else "82")
    assert len(LONGEST) == 2950
    assert bindings.bind(LONGEST, "/1", resource="R1") == "bound"
    assert bindings.bind(other, "/2") == "bound"
    assert bindings.bind(LONGEST, "/3", resource="R1") == "relocated"
    assert {name: found.target for name, found in bindings.store.fetch([LONGEST, other, NAME]).items()} == {
        LONGEST: "/3",
        other: "/2",
    }
    assert [event.after.identifier for event in bindings.history(LONGEST)] == [LONGEST, LONGEST]


def test_many_names_are_fetched_at_once(bindings: Bindings) -> None:
    names = [f"ark:12345/x{number}" for number in range(50)]
    for name in names:
        bindings.bind(name, f"/{name[10:]}")
    assert {name: found.target for name, found in bindings.store.fetch([*names, "ark:12345/no"]).items()} == {
        name: f"/{name[10:]}" for name in names
    }


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "key", ["", "\0", "ark:12345/\0", "\ud800", "ark:12345/\u00e9", "'; DROP TABLE bindings; --", "%", "x" * 100_000]
)
def test_a_text_that_is_not_a_key_is_not_found(bindings: Bindings, key: str) -> None:
    bindings.bind(NAME, PLACE)
    assert bindings.store.fetch([key]) == {}
    assert set(bindings.store.fetch([key, NAME])) == {NAME}


def test_the_history_contains_all_changes_of_a_name(bindings: Bindings) -> None:
    steps = [
        bindings.bind(NAME, "/1", resource="R1", actor="ann"),
        bindings.bind(NAME, "/1", actor="not visible"),
        bindings.bind(NAME, "/1", metadata={"what": "T"}),
        bindings.bind(NAME, "/2", resource="R1", actor="ben"),
        bindings.relocate(NAME, "/3"),
        bindings.withdraw(NAME, reason="sold", actor="cy"),
        bindings.withdraw(NAME),
        bindings.restore(NAME, resource="R1"),
        bindings.restore(NAME, resource="R1"),
    ]
    assert steps == [
        "bound",
        "unchanged",
        "updated",
        "relocated",
        "relocated",
        "withdrawn",
        "unchanged",
        "restored",
        "unchanged",
    ]
    history = bindings.history(NAME)
    assert [(event.action, event.actor, event.revision, event.source) for event in history] == [
        ("bound", "ann", 1, None),
        ("updated", None, 2, None),
        ("relocated", "ben", 3, None),
        ("relocated", None, 4, None),
        ("withdrawn", "cy", 5, None),
        ("restored", None, 6, None),
    ]
    assert [event.after.target for event in history] == ["/1", "/1", "/2", "/3", "/3", "/3"]
    assert [event.after.reason for event in history] == [None, None, None, None, "sold", None]
    assert [event.before for event in history] == [None, *(event.after for event in history[:-1])]
    assert history[-1].after == bindings.lookup(NAME)
    assert history[4].as_dict()["before"]["target"] == "/3"


def test_a_resource_is_claimed_before_a_relocation(bindings: Bindings) -> None:
    bindings.bind(NAME, PLACE)
    with pytest.raises(BindingConflict):
        bindings.bind(NAME, "/2", resource="R1")
    assert bindings.bind(NAME, PLACE, resource="R1") == "claimed"
    assert bindings.bind(NAME, "/2", resource="R1", alternates={"en": "/2.en"}) == "relocated"
    assert [event.action for event in bindings.history(NAME)] == ["bound", "updated", "relocated"]


def test_relocate_adds_alternates_without_a_resource(bindings: Bindings) -> None:
    bindings.bind(NAME, "/p")
    assert bindings.relocate(NAME, "/p", alternates={"en": "/en"}, passthrough=True) == "relocated"
    binding = bindings.lookup(NAME)
    assert binding is not None
    assert (binding.passthrough, dict(binding.alternates)) == (True, {"en": "/en"})
    assert bindings.relocate(NAME, "/p", alternates={"en": ""}) == "relocated"
    assert bindings.relocate(NAME, "/p") == "unchanged"


def test_a_new_reason_of_a_withdrawal_is_recorded(bindings: Bindings) -> None:
    bindings.bind(NAME, PLACE)
    outcomes = [bindings.withdraw(NAME, reason=reason) for reason in ("a", None, "a", "b")]
    assert outcomes == ["withdrawn", "unchanged", "unchanged", "updated"]
    assert [(event.action, event.after.reason) for event in bindings.history(NAME)][1:] == [
        ("withdrawn", "a"),
        ("updated", "b"),
    ]


def test_the_history_is_ordered_even_if_the_clock_is_set_back(
    database: str, open_store: Callable[..., Bindings]
) -> None:
    times = iter([datetime(2020, 10, 4, 12, tzinfo=UTC), *[datetime(2020, 10, 4, 11, tzinfo=UTC)] * 3])
    bindings = open_store(database, clock=lambda: next(times))
    bindings.bind(NAME, PLACE)
    for what in "abc":
        bindings.bind(NAME, PLACE, metadata={"what": what})
    moments = [event.when for event in bindings.history(NAME)]
    assert moments == sorted(set(moments))


def test_a_refused_change_writes_nothing(bindings: Bindings) -> None:
    bindings.bind(NAME, PLACE, resource="R1")
    with pytest.raises(BindingConflict):
        bindings.bind(NAME, PLACE, resource="R2", metadata={"what": "T"})
    with pytest.raises(BindingError):
        bindings.bind(NAME, PLACE, metadata={"what": " "})
    with pytest.raises(BindingError):
        bindings.bind(NAME, "/2", resource="R1", actor="a\nb")
    assert len(bindings.history(NAME)) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("change", ["relocate", "withdraw", "restore"])
def test_an_unbound_name_cannot_be_changed(bindings: Bindings, change: str) -> None:
    arguments = ["/x"] if change == "relocate" else []
    with pytest.raises(BindingError) as refused:
        getattr(bindings, change)(NAME, *arguments)
    assert refused.value.code == "not-bound"
    assert bindings.lookup(NAME) is None


def test_an_invalid_identifier_raises_an_error_in_every_method(bindings: Bindings) -> None:
    for ask in (bindings.lookup, bindings.history, bindings.withdraw):
        with pytest.raises(BindingError) as refused:
            ask("foo")
        assert refused.value.code == "no-scheme"


def test_a_name_that_cannot_be_bound_can_be_fetched(bindings: Bindings) -> None:
    for name in ("ark:99999/x", "ark:12345/x?info", "ark:12345/" + "x" * 3000):
        assert bindings.lookup(name) is None


def test_binding_a_name_that_is_easily_confused_logs_a_warning(
    bindings: Bindings, caplog: pytest.LogCaptureFixture
) -> None:
    bindings.bind("ark:12345/a.b", "/1")
    assert caplog.messages == []
    assert bindings.bind("ark:12345/a%2Eb", "/2") == "bound"
    assert caplog.messages == [
        "ark:12345/a%2Eb differs from the bound name ark:12345/a.b only in %2E: software can confuse the two"
    ]
    bindings.bind("ark:12345/a%2Eb", "/2")
    assert len(caplog.messages) == 1


def test_binding_a_name_with_a_hidden_character_logs_a_warning(
    bindings: Bindings, caplog: pytest.LogCaptureFixture
) -> None:
    assert bindings.bind("ark:12345/a%E2%80%8Bb", "/1") == "bound"
    (said,) = caplog.messages
    assert said.startswith("ark:12345/a%E2%80%8Bb is bound: the name has U+200B")
    bindings.bind("ark:12345/a%E2%80%8Bb", "/1")
    assert len(caplog.messages) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("char", ["\u200b", "\u00ad", "\ufeff", "\u00a0", "\u2066", "\u202e"])
def test_hidden_characters_are_refused_in_names_targets_and_successors(bindings: Bindings, char: str) -> None:
    def refused(change: Callable[[], object]) -> str:
        with pytest.raises(BindingError) as error:
            change()
        return error.value.code

    bindings.bind("ark:12345/x", "/x")
    hidden = "bidi-formatting" if char == "\u202e" else "hidden-char"
    # No URN has a character outside ASCII.
    for name, code in ((f"ark:12345/a{char}", hidden), (f"urn:example:a{char}", "non-ascii")):
        assert refused(lambda name=name: bindings.bind(name, "/1")) == code
        assert refused(lambda name=name: bindings.reserve(name)) == code
        assert refused(lambda name=name: bindings.withdraw("ark:12345/x", successor=name)) == code
    for target in (f"https://example.org/{char}", f"https://exam{char}ple.org/", f"https://example.org/?a={char}"):
        assert refused(lambda target=target: bindings.bind("ark:12345/y", target)) == "target-character"
        assert refused(lambda target=target: bindings.withdraw("ark:12345/x", successor=target)) == "target-character"
    assert refused(lambda: bindings.bind("ark:12345/y", f"/{char}")) == "target-character"
    assert bindings.lookup(f"ark:12345/a{char}") is None


# Many at once ---------------------------------------------------------------------------------------------------------


def test_only_one_of_two_concurrent_binds_succeeds(bindings: Bindings) -> None:
    racers, rounds = 8, 6
    barrier = threading.Barrier(racers, timeout=20)

    def race(racer: int) -> list[str]:
        outcomes = []
        for number in range(rounds):
            barrier.wait()
            try:
                outcomes.append(bindings.bind(f"ark:12345/x{number}", f"/{racer}"))
            except BindingConflict as conflict:
                outcomes.append(conflict.code)
        return outcomes

    with ThreadPoolExecutor(racers) as pool:
        rows = list(pool.map(race, range(racers)))
    for outcomes in zip(*rows, strict=True):
        assert sorted(outcomes) == ["bound", *["bound-otherwise"] * (racers - 1)]
    assert all(len(bindings.history(f"ark:12345/x{number}")) == 1 for number in range(rounds))


def test_equal_concurrent_binds_both_succeed(bindings: Bindings) -> None:
    barrier = threading.Barrier(6, timeout=20)

    def bind(_: int) -> str:
        barrier.wait()
        return bindings.bind(NAME, PLACE)

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(bind, range(6))) == ["bound", *["unchanged"] * 5]


def test_changes_of_one_name_are_serialized(bindings: Bindings) -> None:
    bindings.bind(NAME, "/0")
    places = count(1)

    def move(_: int) -> None:
        for _ in range(5):
            assert bindings.relocate(NAME, f"/{next(places)}") == "relocated"

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(move, range(6)))
    history = bindings.history(NAME)
    assert [event.revision for event in history] == list(range(1, 32))
    assert history[-1].after == bindings.lookup(NAME)


def test_writers_do_not_block_readers(bindings: Bindings) -> None:
    bindings.bind(NAME, PLACE)
    with bindings.store.transaction(exclusive=True) as transaction:
        assert transaction.get([NAME])
        assert bindings.lookup(NAME) is not None


def test_uncommitted_changes_are_not_visible(bindings: Bindings) -> None:
    other = "ark:12345/other"

    def begin_and_fail() -> None:
        with bindings.store.transaction() as transaction:
            transaction.put([assignment.bind(None, Fields(target="/x").for_name(other), bindings.now())], None)
            assert transaction.get([other])
            assert bindings.lookup(other) is None
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        begin_and_fail()
    assert bindings.lookup(other) is None
    assert bindings.history(other) == []


def test_work_ends_once_before_the_store_is_closed(bindings: Bindings) -> None:
    counted: list[int] = []
    bindings.source.before_close.append(lambda: counted.append(bindings.count().number))
    bindings.close()
    bindings.close()
    assert counted == [0]


def test_closed_bindings_raise_an_error(bindings: Bindings) -> None:
    bindings.bind(NAME, PLACE)
    bindings.lookup(NAME)
    with bindings as same:
        assert same is bindings
    with pytest.raises(BindingsUnavailable, match="closed"):
        bindings.lookup(NAME)


# Laws -----------------------------------------------------------------------------------------------------------------

SPELLINGS = st.sampled_from(
    ["ark:12345/{}a", "ark:/12345/-{}-a", "ark:12345/{}.x.y", "ark:12345/{}.y.x", "urn:foo:{}", "URN:FOO:{}"]
)
RESOURCES = st.none() | st.sampled_from(["R1", "R2"])
TARGETS = st.none() | st.sampled_from(["/1", "/2", "https://example.org/3", "javascript:x"])
KINDS = st.sampled_from(["located", "related", "described", "served"])
METADATA = st.none() | st.dictionaries(
    st.sampled_from(["what", "who", "title"]), st.sampled_from(["x", "y", ""]), max_size=2
)
OPERATIONS = st.one_of(
    st.fixed_dictionaries(
        {"act": st.just("bind"), "target": TARGETS, "kind": KINDS, "resource": RESOURCES, "metadata": METADATA}
    ),
    st.fixed_dictionaries({"act": st.just("relocate"), "target": TARGETS, "kind": st.none() | KINDS}),
    st.fixed_dictionaries({"act": st.just("withdraw"), "reason": st.none() | st.just("sold")}),
    st.fixed_dictionaries({"act": st.just("restore"), "resource": RESOURCES}),
)
examples = count()


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(operations=st.lists(st.tuples(SPELLINGS, OPERATIONS), min_size=5, max_size=15))
def test_no_change_reassigns_a_name_and_the_history_can_be_replayed(
    operations: list[tuple[str, dict[str, Any]]], bindings: Bindings
) -> None:
    own = f"n{next(examples)}"  # all examples share one database
    resources: dict[str, str] = {}
    for spelling, said in operations:
        identifier = spelling.format(own)
        with suppress(BindingError):
            getattr(bindings, said["act"])(identifier, **{name: value for name, value in said.items() if name != "act"})
        if found := bindings.lookup(identifier):
            if found.resource is not None:
                resources.setdefault(found.identifier, found.resource)
            assert found.resource == resources.get(found.identifier)
    for key in {naming.assignable(spelling.format(own)) for spelling, _ in operations}:
        history = bindings.history(key)
        assert [event.revision for event in history] == list(range(1, len(history) + 1))
        assert [event.before for event in history] == [None, *(event.after for event in history)][: len(history)]
        assert (history[-1].after if history else None) == bindings.lookup(key)
        assert not history or history[0].action == "bound"


def test_the_clock_of_the_history_can_be_replaced(database: str, open_store: Callable[..., Bindings]) -> None:
    then = datetime(2020, 10, 4, 12, 30, 15, 42, tzinfo=UTC)
    bindings = open_store(database, clock=lambda: then)
    bindings.bind(NAME, PLACE)
    assert bindings.history(NAME)[0].when == then


def test_a_snapshot_counts_the_live_names_that_the_site_serves(bindings: Bindings, tmp_path: Path) -> None:
    with bindings.store.snapshot() as snapshot:
        assert snapshot.count_served() == (0, None)
    for name in ("b", "a", "gone"):
        bindings.bind(f"ark:12345/{name}", "/about", kind="served")
    bindings.withdraw("ark:12345/gone")
    bindings.bind("ark:12345/0", PLACE)
    table = tmp_path / "names.csv"
    table.write_text(
        "identifier,target,kind,status\n"
        "ark:12345/b,/about,served,\nark:12345/a,/about,served,\nark:12345/gone,/about,served,withdrawn\n"
        f"ark:12345/0,{PLACE},,\n"
    )
    with open_bindings(table) as of_file:
        for each in (bindings, of_file):
            with each.store.snapshot() as snapshot:
                assert snapshot.count_served() == (2, "ark:12345/a")


def test_bindings_have_few_public_names(bindings: Bindings) -> None:
    assert len([name for name in dir(bindings) if not name.startswith("_")]) <= 30
