"""The errors of form fields."""

from __future__ import annotations

from typing import NamedTuple

from ...bindings.names.errors import BindingsUnavailable, CatalogueError
from ..errors import sentence


class FieldProblem(NamedTuple):
    """An error of a form field: a sentence that states what is wrong and why, and what is accepted instead."""

    message: str
    expected: str | None = None

    @classmethod
    def of(cls, error: CatalogueError) -> FieldProblem:
        """Return the problem for an error of the bindings. Raise the error if no other value of the field corrects it:
        the database cannot be used.

        >>> FieldProblem.of(CatalogueError("redirect-status"))
        FieldProblem(message='This status cannot be used for a redirect.', expected='302 or 307')
        """
        if isinstance(error, BindingsUnavailable):
            raise error
        return cls(sentence(error.message), error.expected)


def number_of(text: str, most: int) -> int | None:
    """Return the number that a text of a request has in decimal digits, at most ``most``. None for another text.

    >>> number_of("12", 100), number_of("1" * 5000, 100), number_of("-1", 100), number_of("\u0661", 100)
    (12, 100, None, None)
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    return most if len(text) > len(str(most)) else min(int(text), most)


def comparable(text: str) -> str:
    r"""Return a text of a request that each database can compare. PostgreSQL refuses a NUL, which no recorded text has.

    >>> comparable("jane\0") == "jane\ufffd"
    True
    """
    return text.replace("\0", "\ufffd")
