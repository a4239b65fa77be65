"""The columns of bindings that the columns of an uploaded table can have: choices, guesses and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...bindings.names import validation
from ...bindings.names.metadata.metadata import ELEMENTS
from ...bindings.tables.columns import Columns

OTHER = "other"
"""The choice of an element that is not listed."""

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Name": {
        "identifier": "Name (identifier)",
        "target": "Target",
        "status": "State (status)",
        "resource": "Resource",
        "kind": "Kind",
        "reason": "Reason of a withdrawal",
        "successor": "Successor",
        "passthrough": "Passthrough",
        "scope": "Scope",
        "redirect": "Redirect status",
        "listed": "Listed in feeds",
        "spelling": "Spelling",
        "created": "Time of creation",
        "changed": "Time of the last change",
    },
    "ERC": {each: f"erc.{each}" for each in ELEMENTS},
    "Dublin Core": {
        f"dc.{each}": f"dc.{each}"
        for each in (
            *("title", "creator", "date", "publisher", "type", "subject", "description", "contributor", "format"),
            *("identifier", "source", "language", "relation", "coverage", "rights"),
        )
    },
}
"""The choices by group, with their labels."""

CHOICES = {column for group in GROUPS.values() for column in group}

_SYNONYMS = {
    "identifier": ("ark", "arks", "ark id", "ark identifier", "pid", "urn", "persistent id", "persistent identifier"),
    "target": ("url", "link", "location", "address", "uri", "href", "target url", "new target", "web address"),
    "status": ("state",),
    "what": ("title", "what"),
    "who": ("creator", "author", "who"),
    "when": ("date", "year", "when"),
    "resource": ("accession number", "inventory number", "call number", "shelf mark", "shelfmark"),
    "reason": ("withdrawal reason",),
}
_BY_SYNONYM = {word: column for column, words in _SYNONYMS.items() for word in words}
_NAME = re.compile(r"(?:https?://[^/\s]+/)?(?:ark:|urn:)", re.IGNORECASE)


def guess(headings: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str]:
    """Return a column for each heading, or "" for one that is not known. No column is guessed twice.

    ``samples`` are the cells of some rows. If no heading means the identifier, the first column of ARKs or URNs does.

    >>> guess(["ARK", "Titel", "URL", "dc.title"], [])
    ['identifier', '', 'target', 'dc.title']
    >>> guess(["Signatur", "x"], [["ark:12345/x1", ""]])
    ['identifier', '']
    """
    found: list[str] = []
    for heading in headings:
        words = re.sub(r"[\s_-]+", " ", heading).strip().casefold()
        column = Columns().find(heading) or _BY_SYNONYM.get(words, "")
        found.append("" if column in found else column)
    if "identifier" not in found:
        for place in range(len(headings)):
            values = [row[place] for row in samples if row[place]]
            if not found[place] and values and all(map(_NAME.match, values)):
                found[place] = "identifier"
                break
    return found


def check(columns: Sequence[str], headings: Sequence[str]) -> dict[int, str]:
    """Return the errors of a mapping by the place of the column, from 0. The place -1 is the mapping as a whole.

    >>> check(["identifier", "target"], ["ARK", "URL"])
    {}
    >>> check(["target", "target"], ["A", "B"])[1]
    'The column "A" has target too. Select another column, or ignore one of the two.'
    """
    errors: dict[int, str] = {}
    for place, column in enumerate(columns):
        if column and column in columns[:place]:
            first = validation.shown(headings[columns.index(column)] or f"{columns.index(column) + 1}")
            errors[place] = (
                f'The column "{first}" has {validation.shown(column)} too. '
                "Select another column, or ignore one of the two."
            )
        elif column and Columns().find(column) != column:
            errors[place] = f"There is no element {validation.shown(column)}. Write two parts with a dot: dc.title."
    if "identifier" not in columns:
        errors[-1] = 'No column has the names. Select "Name (identifier)" for the column with ARKs or URNs.'
    elif not any(column and column != "identifier" for column in columns):
        errors[-1] = "All columns but the names are ignored. Select at least one more column, such as the target."
    return errors
