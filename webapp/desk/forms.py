"""The errors of form fields, and the values of fields that several forms have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from werkzeug.datastructures import MultiDict

from ...bindings.names.errors import BindingsUnavailable, CatalogueError
from ...bindings.names.fields import FIELDS
from ...bindings.names.metadata import persistence
from ...bindings.names.prefixes.texts import TEXTS
from ...identifiers.text.translatable import Translatable, sentence
from ...middleware.views.messages import label_of
from ..config import site

_LABELS: Final[Mapping[str, str]] = {
    **{text.name: text.label for text in TEXTS},
    **{field.name: field.title for field in FIELDS},
    "name": Translatable("Identifier"),
    "text": Translatable("Identifier or address"),
    "count": Translatable("Number of names"),
    "template": Translatable("Target"),
    "shoulder": Translatable("Mint the new name below"),
    "below": Translatable("Mint the new name below"),
    "rule": Translatable("Rule"),
    "prefix": Translatable("Prefix"),
    "prefixes": Translatable("Prefixes"),
    "role": Translatable("Role"),
    "label": Translatable("Label"),
    "until": Translatable("Last day of the hold"),
    "source": Translatable("Old beginning"),
    "destination": Translatable("New beginning"),
    "further_numbers": Translatable("Further numbers"),
    "former_numbers": Translatable("Former numbers"),
    "new-element": Translatable("Name of the element"),
    "new-text": Translatable("Value"),
    "alternate-type": Translatable("Media type"),
    "alternate-language": Translatable("Language"),
    "alternate-target": Translatable("Other target"),
    "display_name": Translatable("Display name"),
    "language": Translatable("Language"),
    "time_zone": Translatable("Time zone"),
}
_OF_METADATA = ("m.", "erc.")


def field_label(field: str) -> str:
    """Return the words for a form field on a page, or its own name if it has none.

    >>> field_label("m.erc.who"), field_label("target"), field_label("once")
    ('Who', 'Target', 'once')
    """
    if field.startswith(_OF_METADATA):
        return label_of(field.removeprefix("m.").removeprefix("erc."))
    if field in ("resource", "number"):
        return site().settings.resource_label
    return _LABELS.get(field) or field


class FieldProblem(NamedTuple):
    """An error of a form field to show: a sentence with its reason, and the accepted values, such as "302 or 307"."""

    message: str
    expected: str | None = None

    @classmethod
    def of(cls, error: CatalogueError) -> FieldProblem:
        """Return the problem to show for an error of the bindings. :class:`BindingsUnavailable`, which no other value
        corrects, is raised again.

        >>> FieldProblem.of(CatalogueError("redirect-status"))
        FieldProblem(message='This status cannot be used for a redirect.', expected='302 or 307')
        """
        if isinstance(error, BindingsUnavailable):
            raise error
        return cls(sentence(error.message), error.expected)


def number_of(text: str, most: int) -> int | None:
    r"""Return the number in a text of ASCII digits, or ``most`` if it is greater. None for another text.

    >>> number_of("12", 100), number_of("1" * 5000, 100), number_of("-1", 100), number_of("\u0661", 100)
    (12, 100, None, None)
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    return most if len(text) > len(str(most)) else min(int(text), most)


def statement_of(field: str, form: MultiDict[str, str]) -> str:
    """Return the value of a form field, or "". The term and the words of a persistence statement, two fields of this
    name, are joined.

    >>> statement_of("availability", MultiDict([("availability", "finite"), ("availability", "until 2030")]))
    'finite, until 2030'
    """
    values = form.getlist(field)
    for element in persistence.TERMS:
        if len(values) == 2 and field.rpartition(".")[2] == element:
            return persistence.join_statement(element, *values)
    return values[0] if values else ""


def comparable(text: str) -> str:
    """Return a text of a request without NUL, which PostgreSQL refuses and no recorded text has."""
    return text.replace("\0", "\ufffd")
