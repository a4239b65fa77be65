"""Refusals: the codes and HTTP statuses of requests that the resolver does not answer with a target or description.

The codes of errors in the *identifier* are in :data:`ararat.identifiers.PROBLEMS`. The codes here describe the
*answer*. No title blames the identifier, or the resource, for what this resolver does not know (ARK-115).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...identifiers import PROBLEMS, Problem
from ..bindings.model import Binding
from .result import Identifier, Resolution


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry of the catalogue: the HTTP status of a code, what is wrong, what is accepted, and the rule."""

    code: str
    status: int
    title: str
    expected: str
    reference: str


def _catalogue(*rows: tuple[str, int, str, str, str]) -> dict[str, Refusal]:
    return {row[0]: Refusal(*row) for row in rows}


_ARK = "ARK draft"

REFUSALS: dict[str, Refusal] = _catalogue(
    (
        "not-bound",
        404,
        "this resolver has no location for this identifier",
        "an identifier that is bound here; it can be bound later, or another resolver can know it",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "unknown-inflection",
        404,
        "the identifier is bound here, but this inflection is unknown",
        "the identifier without a query, or with ?, ?? or ?info for its description",
        f"{_ARK}, section 3.4",
    ),
    (
        "withdrawn",
        410,
        "the resource of this identifier was withdrawn",
        "a request for its description, which remains; the name is never given to another resource",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "container-withdrawn",
        410,
        "a name that contains this identifier was withdrawn",
        "a request for the description of the withdrawn name; its withdrawal includes all names below it",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "target-unusable",
        404,
        "the stored location of this identifier cannot be used",
        "a target that this resolver accepts; the operator must relocate the name",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "method-not-allowed",
        405,
        "this method cannot be used on identifiers",
        "GET, HEAD or OPTIONS",
        f"{_ARK}, section 7.1.3",
    ),
    (
        "bindings-unavailable",
        503,
        "the bindings cannot be read at the moment",
        "the same request after some seconds",
        f"{_ARK}, section 3.1",
    ),
    (
        "internal-error",
        500,
        "the resolver failed because of an error in its program",
        "the same request after the operator of this site has corrected the error; the log of the site describes it",
        "RFC 9110, section 15.6.1",
    ),
)
"""The codes that resolution adds to :data:`ararat.identifiers.PROBLEMS`."""

# 400 is for texts that are not a Basic ARK. X-06: NAAN 99999 is well-formed and never bound, so it is not found.
_STATUS = {"naan-reserved-invalid": 404, "too-long": 414}


def refuse(
    given: str,
    reason: str | Problem,
    *,
    start: int = 0,
    end: int | None = None,
    message: str | None = None,
    identifier: Identifier | None = None,
    inflection: str = "",
    binding: Binding | None = None,
    container: str | None = None,
) -> Resolution:
    """Return the resolution that refuses an identifier.

    ``given`` is the identifier as received. ``reason`` is a problem, or the code of one; then ``start`` and ``end``
    (default: the end of ``given``) are its place and ``message`` its text (default: the title of the code). The other
    parameters are fields of the resolution.

    >>> refused = refuse("ark:12345/x", "not-bound")
    >>> refused.status, refused.problem.message, refused.problem.end
    (404, 'this resolver has no location for this identifier', 11)
    """
    if isinstance(reason, str):
        reason = problem(reason, start, len(given) if end is None else end, message)
    return Resolution(
        given=given,
        status=status_of(reason.code),
        outcome="refused",
        identifier=identifier,
        inflection=inflection,
        binding=binding,
        problem=reason,
        container=container,
    )


def problem(code: str, start: int, end: int, message: str | None = None) -> Problem:
    """Return the problem ``code`` of either catalogue at the characters ``start`` to ``end``."""
    entry = REFUSALS.get(code) or PROBLEMS[code]
    return Problem(code, "error", message or entry.title, start, end, entry.expected, entry.reference)


def status_of(code: str) -> int:
    """Return the HTTP status of a code; 400 for errors in the identifier that have no status of their own.

    "The resolver SHOULD reply with HTTP status code 400 if the request-part is not a Basic ARK and the server is
    unwilling to process it." (ARK draft, section 7.1.2)

    >>> status_of("withdrawn"), status_of("bad-char"), status_of("too-long")
    (410, 400, 414)
    """
    entry = REFUSALS.get(code)
    return entry.status if entry else _STATUS.get(code, 400)
