"""The requirements of the four source documents with their tests (``data/conformance.jsonl``), and answers to vectors.
A test is ``file::name`` below ``tests/``, or ``kind:K`` for the test that runs all vectors of kind K. With
:func:`answer` and :func:`agrees`, any two implementations can be compared.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Literal, NamedTuple

from ...identifiers import equivalence, extraction, iri_policy, scheme_registration, suggestions
from ...identifiers.ark import length
from ...identifiers.ark import parser as ark
from ...identifiers.parsing import equivalent
from ...identifiers.problems import IdentifierError
from ...identifiers.report import examine
from ...identifiers.text import iri
from ...identifiers.text.characters import BIDI_FORMATTING
from ...identifiers.urn import building
from ...identifiers.urn import parser as urn
from ...identifiers.urn.grammar import DRAFT, PROFILES, RFC8141

Reason = Literal["not-applicable", "prose", "later"]
REASONS: dict[str, str] = {
    "not-applicable": "nothing to test: it is permitted but not done, or cannot occur here",
    "prose": "no program can decide it: it is about wording, or about the work of people",
    "later": "not done yet",
}
_POLICY = iri_policy.built_in("17beta")

COUNTS = {"ARK": 146, "URN": 69, "POL": 60, "SCH": 55}
"""The number of requirements in each source document."""


class Requirement(NamedTuple):
    """A requirement of a source document, such as "ARK-005", and its tests.
    Without tests, ``reason`` is a key of :data:`REASONS` and ``why`` explains it.
    """

    id: str
    title: str
    tests: tuple[str, ...] = ()
    reason: str | None = None
    why: str | None = None


@functools.cache
def requirements() -> tuple[Requirement, ...]:
    """Return the requirements of all source documents in the order of the table.

    >>> requirements()[4].id
    'ARK-005'
    """
    lines = (
        (resources.files(f"{__spec__.parent.partition('.')[0]}.identifiers") / "data" / "conformance.jsonl")
        .read_text("ascii")
        .splitlines()
    )
    return tuple(Requirement(**row | {"tests": tuple(row.get("tests", ()))}) for row in map(json.loads, lines))


def counts() -> dict[str, int]:
    """Return the number of requirements with tests ("tests"), and without tests for each of :data:`REASONS`."""
    numbers = {"tests": 0} | dict.fromkeys(REASONS, 0)
    for requirement in requirements():
        numbers[requirement.reason or "tests"] += 1
    return numbers


# Answers to vectors ---------------------------------------------------------------------------------------------------


def answer(kind: str, given: Any) -> dict[str, Any]:
    """Return the answer of this package to a test vector, in the form of its ``expect``.
    Raises KeyError for a kind that is not in :data:`KINDS`, and ValueError for an input of another structure.

    >>> answer("ark-equivalent", ["ark:12345/x-1", "ark:/12345/x1"])
    {'equivalent': True}
    """
    function = KINDS[kind]
    try:
        return function(given)
    except (TypeError, AttributeError, LookupError) as error:
        raise ValueError(f"the input does not have the shape of kind {kind}: {type(error).__name__}") from None


def agrees(expect: Any, result: Any) -> bool:
    """Return whether the answer to a test vector has all expected fields and values.
    It can have further fields. Its lists ``problems`` and ``diagnostics`` can have further items.

    >>> agrees({"valid": True}, {"valid": True, "nid": "foo"}), agrees({"found": []}, {"found": ["x"]})
    (True, False)
    """
    if isinstance(expect, Mapping):
        if not isinstance(result, Mapping):
            return False
        return all(
            _among(value, result.get(key)) if key in ("problems", "diagnostics") else agrees(value, result.get(key))
            for key, value in expect.items()
        )
    # In JSON true and 1 differ. In Python they are equal.
    return type(expect) is type(result) and expect == result


def _among(expected: Any, item: Any) -> bool:
    return isinstance(expected, list) and isinstance(item, list) and all(each in item for each in expected)


def _ark_parse(given: str) -> dict[str, Any]:
    report = examine(given)
    codes = [problem.code for problem in report.problems]
    judged = {"valid": report.valid, "form": report.form, "conformance": report.conformance, "diagnostics": codes}
    return json.loads(json.dumps(report.parts)) | judged | ({} if report.valid else {"reason": codes[0]})


def _ark_normalize(given: str) -> dict[str, Any]:
    try:
        return {"normal": ark.normalize(given)}
    except IdentifierError as error:
        return {"error": error.problem.code}


def _inflection(given: str) -> dict[str, Any]:
    identifier = ark.parse(given)
    return {"inflection": identifier.inflection, "service": identifier.service}


def _embedded_split(given: str) -> dict[str, Any]:
    embedding = examine(given).embedding or {}
    return {"embedded": "ark" in embedding, **embedding}


def _length(given: Any) -> dict[str, Any]:
    text, limit = (
        (given["ark"], given["configured_limit"]) if isinstance(given, dict) else (given, length.ALWAYS_ACCEPTED)
    )
    return {
        "must_accept": not length.may_refuse(text, limit),
        "basic_length": length.code_points(text.partition("?")[0]),
        "wire_length": length.octets(text),
    }


def _urn_parse(given: str) -> dict[str, Any]:
    try:
        profiles: Any = urn.parse(given).profiles
    except IdentifierError as error:
        profiles = {name: {"valid": False, "problems": [error.problem.code]} for name in PROFILES}
    plain = json.loads(json.dumps(profiles))
    return {"draft": plain[DRAFT], "rfc8141": plain[RFC8141]}


def _urn_equivalent(given: list[str]) -> dict[str, Any]:
    one, other = map(urn.parse, given)
    return {"equivalent": equivalent(*given), "rfc8141": equivalence.equivalent(one, other, RFC8141)}


def _urn_classes(given: list[str]) -> dict[str, Any]:
    classes: dict[Any, list[int]] = {}
    for index, text in enumerate(given):
        classes.setdefault(urn.parse(text), []).append(index)
    return {"classes": list(classes.values())}


def _extract(given: str) -> dict[str, Any]:
    matches = extraction.find(given)
    return {"found": [match.literal for match in matches], "trimmed": [match.suggestion for match in matches]}


def _suggestions(given: str) -> dict[str, Any]:
    return {"suggestions": [each.identifier for each in suggestions.suggestions(given)]}


def _kunze(given: str) -> dict[str, Any]:
    form = examine(given).kunze
    if form is None:
        return {"revision": None, "normal_form": None, "differs_by": []}
    return {**form, "differs_by": [rule["rule"] for rule in form["differs_by"]]}


def _scheme_name(given: str) -> dict[str, Any]:
    reading = scheme_registration.read_name(given)
    return {"valid": reading.valid, "registrable": reading.registrable}


def _scheme_lint(given: str) -> dict[str, Any]:
    named = re.search(r"\((\w+)\)", given)
    record = scheme_registration.registration(named[1]) if named else None
    if record is None:
        raise ValueError("the input does not name a scheme with a built-in record")
    return {
        "missing": scheme_registration.missing(record),
        "missing_rfc7595": scheme_registration.missing(record, "7595"),
    }


def _bidi_char(given: str) -> dict[str, Any]:
    codes = {problem.code for problem in ark.parse(f"ark:12345/a{given}b").problems}
    return {
        "forbidden_by_rfc3987": given in BIDI_FORMATTING,
        "in_ucschar": len(given) == 1 and iri.is_ucschar(given),
        "warn": "hidden-char" in codes,
    }


def _policy_lint(given: str) -> dict[str, Any]:
    verdict = iri_policy.evaluate(given, _POLICY)
    return {"allocatable": verdict.allocatable, "codes": list(verdict.codes)}


def _policy_namespace(given: str) -> dict[str, Any]:
    by_the_letter = iri_policy.printed_grammar(_POLICY).matching(given)
    return {"namespaces": list(iri_policy.namespaces(given, _POLICY)), "literal_abnf": list(by_the_letter)}


def _reserved_iri(given: str) -> dict[str, Any]:
    by_the_letter = iri_policy.printed_grammar(_POLICY).reserved.fullmatch(given) is not None
    return {"literal": by_the_letter, "decided": iri_policy.is_reserved(given, _POLICY)}


def _shoulder(given: str) -> dict[str, Any]:
    return iri_policy.shoulder(ark.parse(given), _POLICY)._asdict()


KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "suggestions": _suggestions,
    "draft-kunze-ark": _kunze,
    "ark-parse": _ark_parse,
    "ark-normalize": _ark_normalize,
    "ark-equivalent": lambda given: {"equivalent": equivalent(*given)},
    "ark-hierarchy": lambda given: {"chain": list(ark.parse(given).hierarchy)},
    "ark-extract": _extract,
    "inflection": _inflection,
    "embedded-split": _embedded_split,
    "length": _length,
    "urn-parse": _urn_parse,
    "urn-equivalent": _urn_equivalent,
    "urn-equivalence-classes": _urn_classes,
    "urn-build": lambda given: {"urn": building.build(given["nid"], given["raw_nss"])},
    "urn-extract": _extract,
    "bidi-char": _bidi_char,
    "policy-equivalence-class": lambda given: {"members": list(iri_policy.equivalence_class(given, _POLICY))},
    "policy-hierarchy": lambda given: {"components": list(iri_policy.components(given))},
    "policy-lint": _policy_lint,
    "policy-namespace": _policy_namespace,
    "policy-parents": lambda given: {"parents": list(iri_policy.parents(given))},
    "reserved-iri": _reserved_iri,
    "shoulder": _shoulder,
    "scheme-name": _scheme_name,
    "scheme-lint": _scheme_lint,
}
"""The functions that answer the kinds without site, store and network."""
