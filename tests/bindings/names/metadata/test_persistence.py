"""The vocabulary of persistence statements: terms, promises, warnings and inheritance, on all interfaces."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.checks.new_names import ComparedName, changed_value_warnings, warnings_before
from ararat.bindings.collection import Bindings
from ararat.bindings.names.metadata import persistence
from ararat.bindings.names.policy import PolicyCheck
from ararat.bindings.names.prefixes.prefixes import PrefixRecords, record
from ararat.identifiers.iri_policy import built_in
from ararat.middleware import ResolverMiddleware

NAME = "ark:12345/x5a"
SENTENCE = f"Please use the persistent identifier {NAME} to reference this page."


@pytest.mark.parametrize(
    ("record_of_naan", "metadata", "is_promised"),
    [
        pytest.param({}, {"availability": "lifetime"}, True, id="lifetime"),
        pytest.param({}, {"availability": "Subinfinite (the archive takes over)"}, True, id="subinfinite with words"),
        pytest.param({}, {"availability": "finite, until 2030"}, False, id="finite"),
        pytest.param({}, {"availability": "indefinite"}, False, id="indefinite"),
        pytest.param({}, {"availability": "none", "persistence": "persistent"}, False, id="not published"),
        pytest.param({}, {"persistence": "persistent"}, True, id="marked"),
        pytest.param({}, {"persistence": "lifetime"}, True, id="term as statement"),
        pytest.param({}, {"persistence": "Not Guaranteed: no commitment has been made"}, False, id="not guaranteed"),
        pytest.param({}, {"persistence": "We keep it."}, False, id="free text"),
        pytest.param({}, {}, False, id="nothing"),
        pytest.param({"availability": "lifetime"}, {}, True, id="record"),
        pytest.param({"statement": "We keep names."}, {}, False, id="free text of record"),
        pytest.param({"availability": "lifetime"}, {"persistence": "Not Guaranteed"}, False, id="own statement"),
        pytest.param({"availability": "lifetime"}, {"availability": "finite"}, False, id="own availability"),
        pytest.param({"availability": "indefinite", "statement": "subinfinite"}, {}, False, id="record of two values"),
    ],
)
def test_only_a_promise_asks_to_cite_the_name(
    record_of_naan: dict[str, Any], metadata: dict[str, str], is_promised: bool, bindings: Bindings
) -> None:
    bindings.bind(NAME, "https://example.org/5", metadata=metadata)
    if record_of_naan:
        bindings.prefixes.set("12345", **record_of_naan)
    client = Client(ResolverMiddleware(lambda environ, start: [], bindings))
    for query in ("?info", "??", "?info&format=json", "?info&format=erc"):
        page = client.get(f"/{NAME}{query}", headers={"Accept": "text/html"}).text
        assert (SENTENCE in page or "Please use the persistent identifier <bdi" in page) is is_promised, query
        is_known = bool(metadata or record_of_naan)
        assert ("no statement known" in page.lower()) is not is_known, query


def test_the_nearest_record_with_a_statement_decides_about_the_availability() -> None:
    records = PrefixRecords(
        [
            record("ark:12345/", {"availability": "lifetime", "variance": "fixing", "statement": "We keep names."}),
            record("ark:12345/x5", {"statement": "For tests until 2030."}),
            record("ark:12345/x6", {"availability": "finite"}),
            record("ark:12345/x7", {"what": "Maps"}),
        ]
    )
    inherited = {shoulder: records.statements(f"ark:12345/{shoulder}a", {}).texts for shoulder in ("x5", "x6", "x7")}
    assert inherited == {
        "x5": {"erc.persistence": "For tests until 2030.", "erc.variance": "fixing"},
        "x6": {"erc.persistence": "We keep names.", "erc.availability": "finite", "erc.variance": "fixing"},
        "x7": {"erc.persistence": "We keep names.", "erc.availability": "lifetime", "erc.variance": "fixing"},
    }


@pytest.mark.parametrize(
    ("statements", "codes"),
    [
        ({"erc.availability": "banana"}, ["persistence-term"]),
        ({"erc.availability": "lifetime", "erc.variance": "bananas"}, ["persistence-term"]),
        ({"erc.availability": "(:unkn)", "erc.variance": "Rising: yearly"}, []),
        ({"erc.availability": "none"}, []),
        ({"erc.availability": "lifetimes"}, ["persistence-term"]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_a_value_without_a_term_is_a_warning(statements: Mapping[str, str], codes: list[str]) -> None:
    assert [found.code for found in persistence.warnings_about(statements)] == codes


def test_the_library_warns_when_a_value_is_recorded(bindings: Bindings, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        bindings.bind(NAME, "/5", metadata={"availability": "banana"})
        bindings.bind(NAME, "/5", metadata={"availability": "banana", "what": "A map"})
        bindings.prefixes.set("12345", variance="bananas")
    assert [entry.getMessage().partition(" is not a term")[0] for entry in caplog.records] == [
        f"{NAME}: the availability banana",
        "ark:12345/: the variance bananas",
    ]


def test_new_and_changed_names_are_warned_of_in_the_same_way(bindings: Bindings) -> None:
    bindings.bind(NAME, "/5")
    before = bindings.lookup(NAME)
    assert before is not None
    bindings.bind(NAME, "/5", metadata={"availability": "banana"})
    after = bindings.lookup(NAME)
    assert after is not None
    (new,) = warnings_before(bindings, [ComparedName.of(after)])
    assert [found.code for found in new] == [found.code for found in changed_value_warnings(before, after)]
    assert changed_value_warnings(after, after) == []


def test_a_policy_adds_no_availability_to_a_statement_that_nothing_is_guaranteed(bindings: Bindings) -> None:
    bindings.check_change = PolicyCheck(built_in("17beta"))
    for name, statement in (("ark:21206/1bcd", "Not Guaranteed: no commitment"), ("ark:21206/1bcf", "We keep it.")):
        bindings.bind(name, "/q", metadata={"persistence": statement})
    denied, kept = bindings.lookup("ark:21206/1bcd"), bindings.lookup("ark:21206/1bcf")
    assert denied is not None
    assert kept is not None
    assert "erc.availability" not in denied.metadata
    assert kept.metadata["erc.availability"] == "lifetime"
