"""Why the resolver answers an identifier with something else than its resource: codes, statuses, words.

A refusal is a :class:`~ararat.identifiers.Problem`, as an identifier's own faults are, so that page, JSON and text say
all of them in one way. What is wrong with the *identifier* has its code in :data:`ararat.identifiers.PROBLEMS`; the
codes here are about the *answer*. No title blames the identifier or the thing it names for what this resolver does not
know (ARK-115).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...identifiers import PROBLEMS, Problem


@dataclass(frozen=True, slots=True)
class Refusal:
    """One entry of the catalogue: the status that goes with a code, and what the code means wherever it occurs."""

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
        "this resolver knows no location for it",
        "an identifier that is bound here; it may be bound later, or be known elsewhere",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "unknown-inflection",
        404,
        "the identifier is bound here, but not this inflection of it",
        "no query, or one of ?, ?? and ?info, which ask for a description",
        f"{_ARK}, section 3.4",
    ),
    (
        "withdrawn",
        410,
        "what this identifier names was withdrawn",
        "its description, which stays; the name is never given to anything else",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "container-withdrawn",
        410,
        "a name that contains it was withdrawn",
        "the description of the withdrawn name; withdrawal includes everything below a name",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "target-unusable",
        404,
        "the location that is stored for it cannot be used",
        "a target that this resolver may send people to; whoever runs it has to relocate the name",
        f"{_ARK}, section 7.1.2",
    ),
    (
        "method-not-allowed",
        405,
        "identifiers are only read here",
        "GET, HEAD or OPTIONS",
        f"{_ARK}, section 7.1.3",
    ),
    (
        "bindings-unavailable",
        503,
        "the bindings cannot be read at the moment",
        "the same request again in a little while",
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
"""The codes that resolution adds to those of identifiers."""

# 400 is for what is no Basic ARK. X-06: NAAN 99999 is well-formed, so it is not found; nor is it ever bound.
_STATUS = {"naan-reserved-invalid": 404, "too-long": 414}


def refusal(code: str, start: int, end: int, message: str | None = None) -> Problem:
    """The problem ``code`` of either catalogue at ``text[start:end]``; without a message its title is the message.

    >>> refusal("not-bound", 0, 11).message
    'this resolver knows no location for it'
    """
    known = REFUSALS.get(code) or PROBLEMS[code]
    return Problem(code, "error", message or known.title, start, end, known.expected, known.reference)


def status_of(code: str) -> int:
    """The HTTP status that goes with a code: for a fault of the identifier 400, if nothing else is said.

    "The resolver SHOULD reply with HTTP status code 400 if the request-part is not a Basic ARK and the server is
    unwilling to process it." (ARK draft, section 7.1.2)

    >>> status_of("withdrawn"), status_of("bad-char"), status_of("too-long")
    (410, 400, 414)
    """
    known = REFUSALS.get(code)
    return known.status if known else _STATUS.get(code, 400)
