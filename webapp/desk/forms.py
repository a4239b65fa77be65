"""The errors of form fields."""

from __future__ import annotations

from typing import NamedTuple

from ...middleware.errors import Refused


class Problem(NamedTuple):
    """An error of a form field: a sentence that states what is wrong and why, and what is accepted instead."""

    message: str
    expected: str | None = None

    @classmethod
    def of(cls, error: Refused) -> Problem:
        """Return the problem for an error of the bindings.

        >>> Problem.of(Refused("redirect-status"))
        Problem(message='This status cannot be used for a redirect.', expected='302 or 307')
        """
        return cls(sentence(error.message), error.expected)


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop.

    >>> sentence("the name is not bound")
    'The name is not bound.'
    """
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
