"""What all official forms of registries share: a file that can point at a place in it, and the texts of a record.

Files come from elsewhere and are believed in nothing: texts are bounded and stripped of what cannot be seen, and no key
may stand twice.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..text import characters
from .tables import Record, RegistryError, Snapshot

LONGEST_TEXT = 2000
"""Characters of the longest text of a record; the longest there is has 217."""

# Of what cannot be seen only these are part of how a name is written, in Arabic and Indic scripts.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class RegistryFile:
    """A file as text, which knows how to say where in it something is wrong.

    ``date`` is the day of the snapshot (YYYY-MM-DD) where somebody said so, for a form that does not say it itself.
    """

    name: str
    text: str
    date: str | None = None

    def error(self, message: str, line: int | None = None, column: int | None = None) -> RegistryError:
        """An error at a place counted from 1."""
        return RegistryError(message, self.name, line, column)

    def error_at(self, message: str, offset: int) -> RegistryError:
        """An error at a place counted in characters from 0."""
        return self.error(message, *self.place(offset))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a place counted in characters from 0."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def snapshot(self, date: str | None, source: str) -> Snapshot:
        """The snapshot of the file: of the day that was said from outside, else of that in the file."""
        day = self.date or date
        if day is None:
            raise self.error("the file does not say of which day it is; the date has to be given with it")
        return Snapshot(day, source)


def collect(
    file: RegistryFile,
    records: Iterable[tuple[int, Record]],
    place: Callable[[int], tuple[int, int | None]],
) -> list[Record]:
    """The records of a file, none of which may stand twice: "gives at most one NAA" (ARK-013).

    Each comes with a number from which ``place`` makes line and column, where that is asked for.
    """
    known: dict[str, int] = {}
    found: list[Record] = []
    for number, record in records:
        first = known.setdefault(record.key, number)
        if first != number:
            raise file.error(f"{record.key} stands twice; first in line {place(first)[0]:,}", *place(number))
        found.append(record)
    return found


def visible(value: str) -> str:
    """A text of a record on one line, without what cannot be seen.

    >>> visible(" Mus\\u00e9e\\n \\u202ed'Art ")
    "Mus\\xe9e d'Art"
    """
    return " ".join(characters.HIDDEN.sub(_seen, " ".join(value.split())).split())


def text_of(value: object) -> str | None:
    """A text of a record made visible, or None for nothing, an empty text or ANVL's "(:unkn)".

    Raises ValueError, whose text says what is wrong, for what is no text or too long.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("expected a text or nothing")
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"a text of {len(value):,} characters; at most {LONGEST_TEXT:,} are read")
    text = visible(value)
    return None if not text or text.startswith("(:un") else text


def day_of(value: object) -> str | None:
    """The day of a record as YYYY-MM-DD: from an ISO date or date-time, or a TEMPER date with dots.

    Raises ValueError where there is something else.

    >>> day_of("2005.07.17"), day_of("2020-06-04T00:00:00+00:00"), day_of(None)
    ('2005-07-17', '2020-06-04', None)
    """
    text = text_of(value)
    return None if text is None else day(text[:10].replace(".", "-"))


def day(text: str) -> str:
    """A date as YYYY-MM-DD. Raises ValueError for anything else."""
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError("expected a date: YYYY-MM-DD")
    return datetime.date.fromisoformat(text).isoformat()


def _seen(found: re.Match[str]) -> str:
    return found[0] if found[1] in _JOINERS else ""
