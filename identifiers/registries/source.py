"""Shared parts of the readers of registry files: error places, and checked texts and dates. The files are untrusted."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..text import characters
from .tables import Record, RegistryError, TableOrigin

MAX_TEXT = 2000
"""The maximum number of characters of a text. The longest one in use has 217."""

# The only hidden characters that names need, in Arabic and Indic scripts.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class RegistryFile:
    """The text of a registry file, which creates errors with its ``name``, line and column. ``date`` (YYYY-MM-DD) is
    the day of the facts, for a file that does not contain it.
    """

    name: str
    text: str
    date: str | None = None

    def error(self, message: str, line: int | None = None, column: int | None = None) -> RegistryError:
        """Create an error about the file, at a line and column from 1, or None for the whole file."""
        return RegistryError(message, self.name, line, column)

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of the character at ``offset``, both from 1."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def snapshot(self, date: str | None, source: str) -> TableOrigin:
        """Return the origin of the tables: the field ``date``, else the parameter, which is the date in the file, and a
        URL. Raises RegistryError if both dates are None.
        """
        day = self.date or date
        if day is None:
            raise self.error("the file does not contain its date; set it with --date")
        return TableOrigin(day, source)


def collect(
    file: RegistryFile,
    records: Iterable[tuple[int, Record]],
    place: Callable[[int], tuple[int, int | None]],
) -> list[Record]:
    """Return the numbered records of a registry file as a list. Raises RegistryError if a key is repeated: "gives at
    most one NAA" (ARK-013). ``place`` converts the number to the line and column of the error.
    """
    first_places: dict[str, int] = {}
    result: list[Record] = []
    for number, record in records:
        first = first_places.setdefault(record.key, number)
        if first != number:
            raise file.error(
                f"the key {record.key} is repeated; it is first in line {place(first)[0]:,}", *place(number)
            )
        result.append(record)
    return result


def visible(value: str) -> str:
    """Return a text on one line, without hidden characters except the joiners that Arabic and Indic scripts need."""
    return " ".join(characters.HIDDEN.sub(_keep_joiner, " ".join(value.split())).split())


def text_of(value: object) -> str | None:
    """Return a text of a registry file on one line, without hidden characters. None, an empty text, and codes of ANVL
    such as "(:unkn)" give None. Raises ValueError for any other type and above :data:`MAX_TEXT` characters.

    >>> text_of(" The  Museum\\n"), text_of("(:unkn)")
    ('The Museum', None)
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("expected a text or null")
    if len(value) > MAX_TEXT:
        raise ValueError(f"the text has {len(value):,} characters; at most {MAX_TEXT:,} are allowed")
    text = visible(value)
    return None if not text or text.startswith("(:un") else text


def day_of(value: object) -> str | None:
    """Return the date at the beginning of a text as YYYY-MM-DD: an ISO date or date-time, or a TEMPER date with dots.
    None, and a text without a value (:func:`text_of`), give None. Raises ValueError for any other value.

    >>> day_of("2005.07.17"), day_of("2020-06-04T00:00:00+00:00"), day_of(None)
    ('2005-07-17', '2020-06-04', None)
    """
    text = text_of(value)
    return None if text is None else day(text[:10].replace(".", "-"))


def day(text: str) -> str:
    """Check that ``text`` is a date of the form YYYY-MM-DD, and return it. Raises ValueError for any other text."""
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError("expected a date: YYYY-MM-DD")
    return datetime.date.fromisoformat(text).isoformat()


def _keep_joiner(match: re.Match[str]) -> str:
    return match[0] if match[1] in _JOINERS else ""
