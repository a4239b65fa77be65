"""The errors of form fields, and the values of fields that several forms have."""

from __future__ import annotations

from typing import NamedTuple

from werkzeug.datastructures import MultiDict

from ...bindings.names.errors import BindingsUnavailable, CatalogueError
from ...bindings.names.metadata import persistence
from ...identifiers.text.translatable import sentence


class FieldProblem(NamedTuple):
    """An error of a form field: a sentence about it and its reason, and a description of the accepted values."""

    message: str
    expected: str | None = None

    @classmethod
    def of(cls, error: CatalogueError) -> FieldProblem:
        """Return the problem to show for an error of the bindings.
        An error that no other value corrects is raised again.

        >>> FieldProblem.of(CatalogueError("redirect-status"))
        FieldProblem(message='This status cannot be used for a redirect.', expected='302 or 307')
        """
        if isinstance(error, BindingsUnavailable):
            raise error
        return cls(sentence(error.message), error.expected)


def number_of(text: str, most: int) -> int | None:
    """Return the number that a text has in decimal digits, at most ``most``, or None for another text.

    >>> number_of("12", 100), number_of("1" * 5000, 100), number_of("-1", 100), number_of("١", 100)
    (12, 100, None, None)
    """  # noqa: RUF002
    if not (text.isascii() and text.isdecimal()):
        return None
    return most if len(text) > len(str(most)) else min(int(text), most)


def statement_of(field: str, form: MultiDict[str, str]) -> str:
    """Return the value of a form field. The term and the words of a persistence statement are joined.

    >>> statement_of("availability", MultiDict([("availability", "finite"), ("availability", "until 2030")]))
    'finite, until 2030'
    """
    values = form.getlist(field)
    for element in persistence.TERMS:
        if len(values) == 2 and field.rpartition(".")[2] == element:
            return persistence.joined(element, *values)
    return values[0] if values else ""


def comparable(text: str) -> str:
    """Return a text of a request without NUL, which PostgreSQL refuses and no recorded text has."""
    return text.replace("\0", "\ufffd")
