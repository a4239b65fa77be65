"""The columns of bindings that the columns of an uploaded table can have: choices and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..bindings.names import validation
from ..bindings.names.metadata.metadata import ELEMENTS
from ..bindings.tables.columns import Columns
from ..identifiers.text.translatable import Translatable

OTHER = "other"
"""The choice of an element that is not listed."""

OF_FORMS = {
    "identifier": Translatable("ARK or URN"),
    "resource": Translatable("Inventory number"),
    "number": Translatable("Corrected number"),
    "further_numbers": Translatable("Further numbers"),
    "former_numbers": Translatable("Former numbers"),
    "target": Translatable("Web address"),
    "what": Translatable("Title"),
    "who": Translatable("Creator"),
    "when": Translatable("Date"),
    "where": Translatable("Place"),
    "how": Translatable("Form"),
    "status": Translatable("State"),
}
"""The names of the most frequent columns in the forms."""

_DUBLIN_CORE: Mapping[str, str] = {
    "title": Translatable("Title"),
    "creator": Translatable("Creator"),
    "date": Translatable("Date"),
    "publisher": Translatable("Publisher"),
    "type": Translatable("Type"),
    "subject": Translatable("Subject"),
    "description": Translatable("Description"),
    "contributor": Translatable("Contributor"),
    "format": Translatable("Format"),
    "identifier": Translatable("Identifier"),
    "source": Translatable("Source"),
    "language": Translatable("Language"),
    "relation": Translatable("Relation"),
    "coverage": Translatable("Coverage"),
    "rights": Translatable("Rights"),
}


_COMMITMENT: Mapping[str, str] = {
    "persistence": Translatable("Persistence"),
    "availability": Translatable("Availability"),
    "variance": Translatable("Variance"),
    "allocated": Translatable("Allocated"),
    "policy": Translatable("Policy"),
}


def _of(label: str, column: str) -> Translatable:
    """Return the label of a column with its technical name."""
    return Translatable("%(label)s (%(column)s)", label=label, column=column)


GROUPS: Mapping[str, Mapping[str, str]] = {
    Translatable("Thing"): {column: _of(label, column) for column, label in OF_FORMS.items()},
    Translatable("Name"): {
        "kind": _of(Translatable("Kind"), "kind"),
        "reason": _of(Translatable("Reason of a withdrawal"), "reason"),
        "successor": _of(Translatable("Successor"), "successor"),
        "passthrough": _of(Translatable("Longer names"), "passthrough"),
        "scope": _of(Translatable("Names below"), "scope"),
        "redirect": _of(Translatable("Redirect status"), "redirect"),
        "listed": _of(Translatable("Listed in feeds"), "listed"),
        "spelling": _of(Translatable("Spelling"), "spelling"),
        "created": _of(Translatable("Time of creation"), "created"),
        "changed": _of(Translatable("Time of the last change"), "changed"),
    },
    Translatable("Commitment"): {
        each: _of(_COMMITMENT.get(each, each.capitalize()), each) for each in ELEMENTS if each not in OF_FORMS
    },
    "Dublin Core": {f"dc.{each}": _of(label, f"dc.{each}") for each, label in _DUBLIN_CORE.items()},
}
"""The choices by group, with their labels: the name in the forms, and the technical name."""

LABELS = {column: label for group in GROUPS.values() for column, label in group.items()}

CHOICES = {column for group in GROUPS.values() for column in group}


def groups(number_label: str) -> Mapping[str, Mapping[str, str]]:
    """Return the choices for a column by group: label by column of bindings, as in :data:`GROUPS`. "resource" has the
    label ``number_label``, the site's word for inventory numbers.
    """
    named = {"resource": _of(number_label, "resource")}
    return {group: {**choices, **(named if "resource" in choices else {})} for group, choices in GROUPS.items()}


def check(
    columns: Sequence[str],
    headings: Sequence[str],
    *,
    mints: bool = False,
    number_label: str = OF_FORMS["resource"],
) -> dict[int, str]:
    """Return the errors of the selected columns by the place of the column, from 0, or -1 for the table as a whole.
    ``columns`` has the column of bindings for each heading, "" for an ignored one. ``mints``: rows without a name get
    one, so that the table needs a key instead of names. ``number_label`` is that of inventory numbers.

    >>> check(["identifier", "target"], ["ARK", "URL"])
    {}
    >>> check(["target", "target"], ["A", "B"])[1]
    'The column "A" has target too. Select another column, or ignore one of the two.'
    """
    errors: dict[int, str] = {}
    for place, column in enumerate(columns):
        if column and column in columns[:place]:
            first = validation.quote(headings[columns.index(column)] or f"{columns.index(column) + 1}")
            errors[place] = Translatable(
                'The column "%(heading)s" has %(column)s too. Select another column, or ignore one of the two.',
                heading=first,
                column=validation.quote(column),
            )
        elif column and Columns().find(column) != column:
            errors[place] = Translatable(
                "There is no element %(element)s. Write two parts with a dot: dc.title.",
                element=validation.quote(column),
            )
    if mints and "resource" not in columns:
        errors[-1] = Translatable(
            'No column has the key. Select "%(label)s" for the column that tells the rows apart.',
            label=_of(number_label, "resource"),
        )
    elif not mints and "identifier" not in columns:
        errors[-1] = Translatable(
            'No column has the names. Select "%(label)s" for the column with ARKs or URNs, '
            "or mint a new name for each row.",
            label=LABELS["identifier"],
        )
    elif not mints and not any(column and column != "identifier" for column in columns):
        errors[-1] = Translatable(
            "All columns but the names are ignored. Select at least one more column, such as the target."
        )
    return errors
