"""The parts of which a store composes SQL statements, and what SQLite and PostgreSQL spell in two ways. They need no
SQLAlchemy, which takes longer to load than a command that reads one name. Texts have the placeholder "?".
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class SqlCondition(NamedTuple):
    """A condition of a statement, with the values of its placeholders in their order."""

    text: str
    values: tuple[object, ...] = ()

    def replace(self, old: str, new: str) -> SqlCondition:
        """Return the condition with ``new`` in the place of the expression ``old``, and the same values."""
        return SqlCondition(self.text.replace(old, new), self.values)


def where(conditions: Sequence[SqlCondition]) -> str:
    """Return the clause with all of ``conditions``, which is empty without them.

    >>> where([SqlCondition("key = ?", ("a",)), SqlCondition("status <> 'live'")])
    " WHERE key = ? AND status <> 'live'"
    """
    return f" WHERE {' AND '.join(each.text for each in conditions)}" if conditions else ""


def values_of(conditions: Iterable[SqlCondition]) -> list[object]:
    """Return the values of all of ``conditions``, in the order of their placeholders."""
    return [value for each in conditions for value in each.values]


class Dialect:
    """The SQL of the kind of database ``name``, "sqlite" or "postgresql", where the two differ."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_sqlite = name == "sqlite"
        self.mark = "?" if self.is_sqlite else "%s"
        """The placeholder of the driver."""
        self.find = "instr" if self.is_sqlite else "strpos"
        """The function that returns the place of a text in another one, or 0."""
        self.wanted = "json_each(?) AS wanted" if self.is_sqlite else "unnest(?::text[]) AS wanted(value)"
        """A table with the column ``wanted.value``: the texts of one parameter (:meth:`.Database.array_parameter`)."""

    def set_placeholders(self, text: str) -> str:
        """Return an SQL statement with the placeholders of the driver instead of "?"."""
        return text if self.is_sqlite else text.replace("?", "%s")

    def is_wanted(self, column: str) -> str:
        """Return the condition that ``column`` is one of the texts of one parameter, so that one statement fits any
        number. With "= any", PostgreSQL can compare each row with each text.
        """
        return f"{column} IN (SELECT wanted.value FROM {self.wanted})"

    def is_one_of(self, column: str) -> str:
        """Return the condition of :meth:`is_wanted` in a form that is faster for a table with rows."""
        return self.is_wanted(column) if self.is_sqlite else f"{column} = ANY(?)"

    def is_among(self, column: str, query: str) -> str:
        """Return the condition that ``column`` is a result of ``query``, which PostgreSQL runs first and once."""
        return f"{column} IN ({query})" if self.is_sqlite else f"{column} = ANY(ARRAY({query}))"

    def contains(self, column: str) -> str:
        """Return the condition that the text ``column`` contains a text, its one parameter."""
        return f"{self.find}({column}, ?) > 0"

    def in_bytes(self, text: str) -> str:
        """Return the expression ``text`` in the form that is compared and sorted by its bytes."""
        return text if self.is_sqlite else f'{text} COLLATE "C"'
