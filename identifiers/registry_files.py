"""The official forms of registries: which one a file has, and the tables that are in it.

Files come from elsewhere and are believed in nothing: their size is bounded, an XML file with a document type is
refused, texts are stripped of what cannot be seen, and persons are left out. Every error names the file and, where
there is one, line and column.

Pure: octets in, :class:`~ararat.identifiers.registry_tables.Table` values out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import characters
from .registry_tables import AnyTable, Record, RegistryError, Snapshot

LARGEST = 32 * 1024 * 1024
"""Octets of the largest file that is read: twenty times the largest registry there is."""

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


def read(octets: bytes, *, name: str, date: str | None = None) -> list[AnyTable]:
    """Read a registry file in any of its official forms: the tables in it, each of another registry.

    The forms: NAAN registry as JSON (version 1 or 2: NAANs and shoulders) and as text (ANVL: NAANs); IANA's registries
    of URN namespaces and of URI schemes as XML and as CSV. ``name`` is the file's, for errors; ``date`` the day of the
    snapshot as YYYY-MM-DD, which a CSV file cannot say.

    Raises :class:`~ararat.identifiers.registry_tables.RegistryError`, and nothing else, where no table can be made; a
    ValueError for a ``date`` that is none.

    >>> [table] = read(b"URN Namespace,Template,Reference\\nisbn,,[RFC8254]\\n", name="formal.csv", date="2026-08-13")
    >>> table.registry.name, table.records["isbn"].references
    ('urn-namespaces', ('RFC8254',))
    """
    # Each form is loaded when there is a file of it: a lookup needs none of them.
    from . import iana_files, naan_files

    if len(octets) > LARGEST:
        raise RegistryError(f"the file is larger than {LARGEST:,} octets", name)
    try:
        text = octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = octets[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise RegistryError("this octet is not UTF-8", name, line, column) from None
    file = RegistryFile(name, text, _day(date) if date else None)
    start = text.lstrip()[:1]
    if start == "{":
        return [*naan_files.read_json(file)]
    if start == "<":
        return [iana_files.read_xml(file)]
    if iana_files.HEADER.match(text):
        return [iana_files.read_csv(file)]
    if re.search(r"^(?:erc|naa):", text, re.MULTILINE):
        return [naan_files.read_anvl(file)]
    expected = "the NAAN registry as JSON or text, or a registry of IANA's as XML or CSV"
    raise file.error(f"this is no official form of a registry; expected {expected}", 1, 1)


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
    return None if text is None else _day(text[:10].replace(".", "-"))


def _day(text: str) -> str:
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError("expected a date: YYYY-MM-DD")
    return datetime.date.fromisoformat(text).isoformat()


def _seen(found: re.Match[str]) -> str:
    return found[0] if found[1] in _JOINERS else ""
