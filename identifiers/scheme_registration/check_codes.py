"""The rules for a registration of a URI scheme: stable codes in one catalogue, each with its source. The rules are
those of a draft of 2011 (:data:`DRAFT`). RFC 7595 has the same ones, in part in other sections.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["always", "guideline", "advice"]


class RegistrationRule(NamedTuple):
    """A rule that :func:`~.checks.lint` checks. ``level`` is "always" (an error for any status), "guideline" (an error
    for a permanent registration, a warning for others: SCH-006) or "advice" (a note). ``title`` is the default message,
    and ``requirement`` an ID.
    """

    code: str
    level: Level
    title: str
    expected: str
    requirement: str
    reference: str


def _rules(*rows: tuple[str, Level, str, str, str, str]) -> dict[str, RegistrationRule]:
    return {row[0]: RegistrationRule(*row) for row in rows}


DRAFT, CURRENT = "draft-ietf-iri-4395bis-irireg-04", "RFC 7595"
"""The titles of the two documents."""

_SECTIONS = {"6.1": "7.1", "6.3": "7.3", "6.4": "7.4", "7": "8"}
"""The sections that have another number in RFC 7595."""

_003 = f"{DRAFT}, section"


def reference_in(document: str, reference: str) -> str:
    """Return where :data:`DRAFT` or :data:`CURRENT` states a rule. ``reference`` is the place in :data:`DRAFT`.

    >>> reference_in("RFC 7595", "draft-ietf-iri-4395bis-irireg-04, section 6.4")
    'RFC 7595, section 7.4'
    """
    section = reference.rpartition(" ")[2]
    return reference if document == DRAFT else f"{CURRENT}, section {_SECTIONS.get(section, section)}"


RULES = _rules(
    (
        "scheme-name-syntax",
        "always",
        "the text is not the name of a scheme",
        "an ASCII letter, then ASCII letters, digits, +, - or .",
        "SCH-030",
        f"{_003} 3.8",
    ),
    (
        "scheme-name-case",
        "always",
        "the name has upper-case letters",
        "the name in lower case",
        "SCH-031",
        f"{_003} 3.8",
    ),
    (
        "scheme-name-taken",
        "always",
        "the name is already registered",
        "a name that is not registered",
        "SCH-008",
        f"{_003} 3.1",
    ),
    (
        "scheme-name-reserved",
        "always",
        "the name is reserved for examples in documentation",
        "another name",
        "SCH-049",
        f"{_003} 7",
    ),
    (
        "scheme-name-similar",
        "advice",
        "the name is easily confused with a registered name",
        "a name that differs more",
        "SCH-008",
        f"{_003} 3.1",
    ),
    ("scheme-name-long", "advice", "the name is long", "20 characters or fewer", "SCH-032", f"{_003} 3.8"),
    (
        "scheme-name-general",
        "advice",
        "the name is too general",
        "a name that describes the purpose of the scheme",
        "SCH-034",
        f"{_003} 3.8",
    ),
    (
        "status-unknown",
        "always",
        "the text is not a status",
        "permanent, provisional or historical",
        "SCH-002",
        f"{_003} 6.1",
    ),
    (
        "status-not-allowed",
        "always",
        "the registered entry cannot change to this status",
        "an allowed change of status",
        "SCH-047",
        f"{_003} 6.3",
    ),
    ("field-missing", "guideline", "the field is empty", "a text in this field", "SCH-048", f"{_003} 6.4"),
    ("minimum-missing", "always", "a required field is empty", "a text in this field", "SCH-037", f"{_003} 4"),
    (
        "history-missing",
        "guideline",
        "there is no reference to the definition of the scheme",
        "a reference, if one exists",
        "SCH-038",
        f"{_003} 5",
    ),
    (
        "field-hidden-character",
        "guideline",
        "the field contains a hidden character, or one that reorders the text",
        "visible text",
        "SCH-023",
        f"{_003} 3.6",
    ),
    (
        "syntax-fragment",
        "guideline",
        'the syntax contains "#", which only separates a fragment',
        "strings that match absolute-IRI, without a fragment",
        "SCH-009",
        f"{_003} 3.2",
    ),
    (
        "syntax-double-slash",
        "guideline",
        'the syntax contains "//" without an authority',
        '"//" only before an authority',
        "SCH-013",
        f"{_003} 3.2",
    ),
    (
        "syntax-octets",
        "guideline",
        "the syntax contains octets above 7F",
        "characters, by their code points",
        "SCH-025",
        f"{_003} 3.6",
    ),
    (
        "syntax-wide",
        "advice",
        "the syntax allows all characters (ucschar)",
        "as few characters as possible",
        "SCH-026",
        f"{_003} 3.6",
    ),
)
"""The rules that a program can check in a record, by code."""

QUESTIONS = (
    ("SCH-007", "What does the scheme provide that registered schemes do not?"),
    ("SCH-010", "If names are hierarchical: do they use the generic components?"),
    ("SCH-011", "If not: the syntax of which registered scheme do they follow?"),
    ("SCH-012", "If there are no relative references: does the syntax exclude / and the segments . and ..?"),
    ("SCH-014", "What does each reserved character mean, and when is it percent-encoded?"),
    ("SCH-015", "Does the definition explain how the scheme works?"),
    ("SCH-016", "If the scheme is not a locator: how does a client find the resource?"),
    ("SCH-017", "If the scheme is a locator: is the access to the resource defined?"),
    ("SCH-018", "If the scheme maps another name space: is the mapping complete in both directions?"),
    ("SCH-019", "How are octets and strings encoded, and what cannot be mapped?"),
    ("SCH-020", "Which operations on the resource are defined?"),
    ("SCH-021", "If the scheme does not provide access to information: which operations are defined?"),
    ("SCH-022", "If the scheme serves one protocol or application: is it named, with a reference?"),
    ("SCH-024", "If parts are text for people: which encoding do they have?"),
    ("SCH-029", "Which of the general considerations (RFC 3986, section 7) apply?"),
    ("SCH-033", "Is the name a trademark?"),
    ("SCH-040", "If an IETF document defines the scheme: was it in Expert Review, and does its status fit?"),
)
"""Questions for a reviewer, which a program cannot answer."""

CHECKLIST = (
    "Search the registry for the name and for similar names.",
    "Fill in the template. In each field write a text, or why there is none.",
    "Optionally send it to a mailing list for review, and allow some weeks.",
    "Use the comments, and send the request to IANA with the status that you want.",
    "The Designated Expert reviews the request by the rules of that status. The IESG decides disputes.",
)
"""The steps of a registration (RFC 7595, sections 7.1 and 7.2; SCH-039 to SCH-043)."""
