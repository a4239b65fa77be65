"""The columns of bindings that the columns of an uploaded table can have: choices and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...bindings.names import validation
from ...bindings.names.metadata.metadata import ELEMENTS
from ...bindings.tables.columns import Columns

OTHER = "other"
"""The choice of an element that is not listed."""

OF_FORMS = {
    "identifier": "ARK or URN",
    "resource": "Inventory number",
    "target": "Web address",
    "what": "Title",
    "who": "Creator",
    "when": "Date",
    "where": "Place",
    "how": "Form",
    "status": "State",
}
"""The names of the most frequent columns in the forms."""

_DUBLIN_CORE = (
    *("title", "creator", "date", "publisher", "type", "subject", "description", "contributor", "format"),
    *("identifier", "source", "language", "relation", "coverage", "rights"),
)

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Thing": {column: f"{label} ({column})" for column, label in OF_FORMS.items()},
    "Name": {
        "kind": "Kind (kind)",
        "reason": "Reason of a withdrawal (reason)",
        "successor": "Successor (successor)",
        "passthrough": "Longer names (passthrough)",
        "scope": "Names below (scope)",
        "redirect": "Redirect status (redirect)",
        "listed": "Listed in feeds (listed)",
        "spelling": "Spelling (spelling)",
        "created": "Time of creation (created)",
        "changed": "Time of the last change (changed)",
    },
    "Commitment": {each: f"{each.capitalize()} ({each})" for each in ELEMENTS if each not in OF_FORMS},
    "Dublin Core": {f"dc.{each}": f"{each.capitalize()} (dc.{each})" for each in _DUBLIN_CORE},
}
"""The choices by group, with their labels: the name in the forms, and the technical name."""

LABELS = {column: label for group in GROUPS.values() for column, label in group.items()}

CHOICES = {column for group in GROUPS.values() for column in group}


def check(columns: Sequence[str], headings: Sequence[str], *, mints: bool = False) -> dict[int, str]:
    """Return the errors of a mapping by the place of the column, from 0. The place -1 is the mapping as a whole.

    ``mints``: whether rows without a name get one, so that the table needs a key instead of names.

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
    if mints and "resource" not in columns:
        errors[-1] = f'No column has the key. Select "{LABELS["resource"]}" for the column that tells the rows apart.'
    elif not mints and "identifier" not in columns:
        errors[-1] = (
            f'No column has the names. Select "{LABELS["identifier"]}" for the column with ARKs or URNs, '
            "or mint a new name for each row."
        )
    elif not mints and not any(column and column != "identifier" for column in columns):
        errors[-1] = "All columns but the names are ignored. Select at least one more column, such as the target."
    return errors
