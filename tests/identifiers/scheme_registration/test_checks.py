"""Checks of a record by the rules of a profile."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import registries
from ararat.identifiers.registries.tables import SCHEMES
from ararat.identifiers.scheme_registration import (
    CHECKLIST,
    FIELDS,
    PROFILES,
    QUESTIONS,
    RULES,
    Registration,
    lint,
    missing,
    read,
    registration,
)

WHOLE = replace(read("\n".join(f"{field.label}: A text." for field in FIELDS)), name="atlas", status="permanent")
NOTED = re.compile(r"section (\S+) \((\w+)\)")


def codes(record: Registration, profile: str = "4395bis", **keywords: bool) -> list[tuple[str, str, str]]:
    return [(found.code, found.severity, found.field) for found in lint(record, profile, **keywords)]


@pytest.mark.vectors("scheme-lint")
def test_the_built_in_records_lack_the_listed_fields(vector):
    section = NOTED.search(vector.input)
    assert section
    record = registration(section[2])
    assert record is not None
    assert missing(record) == vector.expect["missing"]
    assert missing(record, "7595") == vector.expect.get("missing_rfc7595", [])


def test_the_record_of_ark_has_exactly_the_known_findings():
    record = registration("ark")
    assert record is not None
    omitted = ["syntax", "semantics", "encoding", "interoperability", "security"]
    # A permanent registration always needs security considerations (SCH-028, SCH-037, SCH-052).
    assert [(found.field, found.severity) for found in lint(record, update=True)] == [
        (name, "error") for name in omitted
    ]
    assert lint(record, "7595", update=True) == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_record_of_urn_has_no_findings(profile):
    record = registration("urn")
    assert record is not None
    assert lint(record, profile, update=True) == []


def test_a_complete_record_has_no_findings():
    assert lint(WHOLE) == lint(WHOLE, "7595") == []


def test_guidelines_are_errors_for_a_permanent_record_and_warnings_for_a_provisional_one():
    # SCH-006
    bare = replace(WHOLE, semantics="", encoding="")
    assert codes(bare) == [("field-missing", "error", "semantics"), ("field-missing", "error", "encoding")]
    provisional = replace(bare, status="provisional")
    assert {severity for _, severity, _ in codes(provisional)} == {"warning"}


@pytest.mark.parametrize("name", ["name", "status", "security", "contact", "references"])
def test_a_missing_minimum_of_a_provisional_record_is_an_error(name):
    # SCH-037, SCH-039
    record = replace(WHOLE, **({"status": "provisional"} | {name: ""}))
    assert codes(record) == [("minimum-missing", "error", name)]


def test_a_historical_record_needs_only_a_reference():
    # SCH-038
    record = Registration(name="atlas", status="historical")
    assert codes(record) == [("history-missing", "warning", "references")]
    assert codes(replace(record, references="RFC 1")) == []


# For each code a record with the problem.
SHOWN = {
    "scheme-name-syntax": replace(WHOLE, name="at_las"),
    "scheme-name-case": replace(WHOLE, name="Atlas"),
    "scheme-name-taken": replace(WHOLE, name="urn"),
    "scheme-name-reserved": replace(WHOLE, name="example"),
    "scheme-name-similar": replace(WHOLE, name="mail-to"),
    "scheme-name-long": replace(WHOLE, name="atlas-of-all-the-mountains"),
    "scheme-name-general": replace(WHOLE, name="universal"),
    "status-unknown": replace(WHOLE, status="eternal"),
    "status-not-allowed": replace(WHOLE, name="urn", status="provisional"),
    "field-missing": replace(WHOLE, encoding="TBD"),
    "minimum-missing": replace(WHOLE, contact=""),
    "history-missing": replace(WHOLE, status="historical", references=""),
    "field-hidden-character": replace(WHOLE, contact="\u202egro.elpmaxe@em"),
    # S-02
    "syntax-fragment": replace(WHOLE, syntax='atlas = "atlas:" name [ "#" sheet ]'),
    "syntax-double-slash": replace(WHOLE, syntax='atlas = "atlas://" name'),
    "syntax-octets": replace(WHOLE, syntax="name = 1*%x80-FF"),
    "syntax-wide": replace(WHOLE, syntax='atlas = "atlas:" 1*ucschar'),
}


def test_each_rule_has_a_record_that_breaks_it():
    assert SHOWN.keys() == RULES.keys()


# SCH-004, SCH-008, SCH-009, SCH-013, SCH-023, SCH-025, SCH-026, SCH-031, SCH-032, SCH-034
@pytest.mark.parametrize("code", SHOWN)
def test_a_rule_reports_only_the_record_that_breaks_it(code):
    found = [finding.code for finding in lint(SHOWN[code], update=code == "status-not-allowed")]
    assert found == [code]


# SCH-013
@pytest.mark.parametrize(
    "syntax",
    [
        pytest.param('atlas = "atlas://" authority path-abempty', id="an authority"),
        pytest.param("See section 3 of https://example.org/atlas, without any fragment.", id="an address"),
        pytest.param("name = %x80-10FFFF", id="code points"),
        pytest.param("name = %x61-7A", id="ASCII"),
    ],
)
def test_a_correct_syntax_has_no_finding(syntax):
    assert codes(replace(WHOLE, syntax=syntax)) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *(
            pytest.param(text, False, id=text)
            for text in ("TBD", "tbd.", "[TBD]", "???", "XXX", "TODO!", "-", "<syntax>")
        ),
        *(pytest.param(text, True, id=text) for text in ("None known", "[RFC3986]", "<https://example.org/>", "n/a")),
    ],
)
def test_a_placeholder_counts_as_missing(text, says):
    assert ("references" not in missing(replace(WHOLE, references=text))) is says


def test_update_permits_a_registered_name():
    record = replace(WHOLE, name="ark")
    assert codes(record) == [("scheme-name-taken", "error", "name")]
    assert codes(record, update=True) == []


def test_a_syntax_can_use_iri_characters():
    # SCH-003
    record = read('Scheme name: atlas\nStatus: provisional\nScheme syntax: atlas = "atlas:" 1*( "\u00e9" / "\u5c71" )')
    assert not [found for found in lint(record) if found.field == "syntax"]


@given(st.dictionaries(st.sampled_from([field.name for field in FIELDS]), st.text(max_size=40)), st.booleans())
def test_every_record_is_checked_and_never_repeated_raw(texts, update):
    fields: dict[str, Any] = texts
    record = Registration(**fields)
    for profile in PROFILES:
        for finding in lint(record, profile, update=update):
            assert finding.code in RULES
            assert finding.message.isascii()
            assert finding.message.isprintable()


def test_hostile_texts_are_checked_like_others(every_naughty):
    for naughty in every_naughty:
        # The reader limits the length of a record.
        text = naughty.input[:10_000]
        record = replace(WHOLE, syntax=text, contact=text, name=text, status=text)
        assert all(finding.message.isprintable() for finding in lint(record)), naughty.id


def test_an_unknown_profile_is_refused():
    with pytest.raises(ValueError, match="'2717' is not a profile; expected one of 4395bis, 7595"):
        lint(WHOLE, "2717")


def test_there_are_questions_for_reviewers_and_steps_for_registrants():
    assert {number for number, _ in QUESTIONS} & {rule.requirement for rule in RULES.values()} == set()
    assert all(text.endswith("?") for _, text in QUESTIONS)


# SCH-007, SCH-010, SCH-011, SCH-014 to SCH-022, SCH-024, SCH-029, SCH-033, SCH-040
@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("SCH-007", ["scheme provide", "registered schemes do not"]),
        ("SCH-010", ["hierarchical", "generic components"]),
        ("SCH-011", ["syntax", "registered scheme", "follow"]),
        ("SCH-014", ["reserved character", "percent-encoded"]),
        ("SCH-015", ["how the scheme works"]),
        ("SCH-016", ["not a locator", "find the resource"]),
        ("SCH-017", ["is a locator", "access", "defined"]),
        ("SCH-018", ["maps another name space", "both directions"]),
        ("SCH-019", ["octets", "strings", "encoded", "cannot be mapped"]),
        ("SCH-020", ["operations on the resource", "defined"]),
        ("SCH-021", ["not provide access", "operations"]),
        ("SCH-022", ["protocol or application", "reference"]),
        ("SCH-024", ["text for people", "encoding"]),
        ("SCH-029", ["general considerations"]),
        ("SCH-033", ["trademark"]),
        ("SCH-040", ["IETF document", "Expert Review", "status"]),
    ],
)
def test_each_question_asks_what_its_requirement_says(number, words):
    text = dict(QUESTIONS)[number]
    assert [word for word in words if word not in text] == []


# SCH-041, SCH-042
def test_the_steps_of_a_registrant_are_complete_and_in_order():
    words = ["Search the registry", "template", "mailing list", "request to IANA", "IESG decides disputes"]
    assert len(CHECKLIST) == len(words)
    assert all(word in step for word, step in zip(words, CHECKLIST, strict=True))


def test_every_registered_scheme_has_a_known_status():
    # SCH-002, SCH-050
    entries = registries.current().table(SCHEMES).records.values()
    assert {entry.status for entry in entries} == {"permanent", "provisional", "historical"}
