"""What can be wrong with a registration: stable codes in one catalogue, each with the rule that says so."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["always", "guideline", "advice"]


class Rule(NamedTuple):
    """One entry of the catalogue.

    ``level`` is "always" (an error whatever the status), "guideline" (an error for a permanent registration, a warning
    for others: SCH-006) or "advice" (a note). ``requirement`` is its number among the requirements, ``reference`` the
    document and section.
    """

    code: str
    level: Level
    title: str
    expected: str
    requirement: str
    reference: str


def _rules(*rows: tuple[str, Level, str, str, str, str]) -> dict[str, Rule]:
    return {row[0]: Rule(*row) for row in rows}


_003, _7595 = "document 003, section", "RFC 7595, section"

RULES = _rules(
    (
        "scheme-name-syntax",
        "always",
        "this is not the name of a scheme",
        "a letter, then letters, digits, +, - or . in ASCII",
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
    ("scheme-name-taken", "always", "the name is registered", "a name that is free", "SCH-008", f"{_003} 3.1"),
    (
        "scheme-name-reserved",
        "always",
        "the name is kept for examples in documentation",
        "a name of its own",
        "SCH-049",
        f"{_003} 7",
    ),
    (
        "scheme-name-similar",
        "advice",
        "a registered name is easily taken for it",
        "a name that nobody mistakes",
        "SCH-008",
        f"{_003} 3.1",
    ),
    ("scheme-name-long", "advice", "the name is long", "20 characters or fewer", "SCH-032", f"{_003} 3.8"),
    (
        "scheme-name-general",
        "advice",
        "the name is a word for anything",
        "a name that says what the scheme is for",
        "SCH-034",
        f"{_003} 3.8",
    ),
    (
        "status-unknown",
        "always",
        "this is not a status",
        "permanent, provisional or historical",
        "SCH-002",
        f"{_003} 6.1",
    ),
    (
        "status-not-allowed",
        "always",
        "the entry cannot have this status any more",
        "a change of status that there is",
        "SCH-047",
        f"{_003} 6.3",
    ),
    ("field-missing", "guideline", "nothing is said", "a text in this field", "SCH-048", f"{_003} 6.4"),
    ("minimum-missing", "always", "nothing is said", "what every registration needs", "SCH-037", f"{_003} 4"),
    (
        "history-missing",
        "guideline",
        "nothing says where the scheme was defined",
        "a reference, as far as there is one",
        "SCH-038",
        f"{_003} 5",
    ),
    (
        "field-hidden-character",
        "guideline",
        "a character in it cannot be seen, or changes how the rest is read",
        "text that is what it looks like",
        "SCH-023",
        f"{_003} 3.6",
    ),
    (
        "syntax-fragment",
        "guideline",
        'the syntax has a "#" in it, which is never the scheme\'s',
        "strings that match absolute-IRI, without a fragment",
        "SCH-009",
        f"{_003} 3.2",
    ),
    (
        "syntax-double-slash",
        "guideline",
        'the syntax has "//" in it, and no authority',
        '"//" before an authority alone',
        "SCH-013",
        f"{_003} 3.2",
    ),
    (
        "syntax-octets",
        "guideline",
        "the syntax has octets above 7F",
        "characters, by their code points",
        "SCH-025",
        f"{_003} 3.6",
    ),
    (
        "syntax-wide",
        "advice",
        "the syntax takes every character there is (ucschar)",
        "as few characters as will do",
        "SCH-026",
        f"{_003} 3.6",
    ),
)
"""Every rule that a record alone can show to be broken, by code."""

QUESTIONS = (
    ("SCH-007", "What can it do that registered schemes cannot?"),
    ("SCH-010", "If its names are hierarchical: are they made of the generic components?"),
    ("SCH-011", "If they are not: which registered scheme's syntax does it follow?"),
    ("SCH-012", "If it has no relative references: does it avoid / and the segments . and ..?"),
    ("SCH-014", "What does each reserved character stand for, and when is it percent-encoded?"),
    ("SCH-015", "Does its definition say how it functions?"),
    ("SCH-016", "If it is no locator: how does whoever holds one find the resource?"),
    ("SCH-017", "If it is a locator: is the way to the resource defined?"),
    ("SCH-018", "If it maps another name space: is the mapping complete in both directions?"),
    ("SCH-019", "How are octets and strings encoded, and what cannot be mapped?"),
    ("SCH-020", "Which operations are there on the resource?"),
    ("SCH-021", "If it is not for access to information: which operations are there all the same?"),
    ("SCH-022", "If it is for one protocol or application: is that named, with a reference?"),
    ("SCH-024", "If parts of it are text for people: which encoding do they have?"),
    ("SCH-029", "Which of the general considerations (RFC 3986, section 7) apply to it?"),
    ("SCH-033", "Is the name anybody's trademark?"),
    ("SCH-040", "If an IETF document defines it: has that gone to Expert Review, and does its status fit?"),
)
"""What no program can tell of a record: who reviews one asks these."""

CHECKLIST = (
    "Look for the name, and names like it, in the registry.",
    "Fill in the template; in every field something, or why there is nothing.",
    "Send it to a mailing list for review, if you like; allow some weeks.",
    "Take in what was said, and send the request to IANA, with the status you ask for.",
    "The Designated Expert judges it by the rules of that status; what stays contested goes to the IESG.",
)
"""The way of a registration (document 003, sections 6.1 and 6.2, as in RFC 4395; SCH-039 to SCH-043)."""
