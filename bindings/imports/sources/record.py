"""The contents of a dump in terms that all systems share: records, and parts that are not imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from ...names import validation
from ...names.binding import NOTHING

_SEPARATOR = "; "
"""The text between several values of one element, such as several creators. All formats of a description read it."""

State = Literal["public", "reserved", "unavailable"]


class Omission(NamedTuple):
    """The reason why a value in a dump of another system is not imported, or is imported with a change. ``element`` is
    the name of the value, ``reason`` the reason, and ``remedy`` what the user can do.
    """

    element: str
    reason: str
    remedy: str


class DumpRecord(NamedTuple):
    """One name in a dump of another system, with its target, metadata, state and times.

    - ``line``: the line of the file where the record begins, from 1.
    - ``identifier``: the name as it is written in the dump, with the label ``ark:`` or another scheme.
    - ``target``: the target as it is written, or None. A public name without a target has its description as target.
    - ``is_stated``: whether the dump states this state. If False, the import does not publish a name that is recorded
      as reserved.
    - ``reason``: why the name is unavailable, or None.
    - ``created``, ``updated``: times in UTC, or None.
    - ``owner``: the account and group that own the name, or None.
    - ``elements``: metadata by the full names of its elements, such as ``erc.who``.
    - ``omitted``: the values that are not imported.
    - ``listed``: whether harvesters and search engines can have the name.
    - ``embargo``: the date from which a reserved name is public, as it is written, or None.
    """

    line: int
    identifier: str
    target: str | None = None
    state: State = "public"
    reason: str | None = None
    created: datetime | None = None
    updated: datetime | None = None
    owner: str | None = None
    elements: Mapping[str, str] = NOTHING
    omitted: tuple[Omission, ...] = ()
    is_stated: bool = False
    listed: bool = True
    embargo: str | None = None


class SkippedPart(NamedTuple):
    """A part of a dump that is not imported at all, such as a name that another system keeps. ``line`` is its line in
    the file, ``identifier`` its name or "", and ``omitted`` the note with the reason.
    """

    line: int
    identifier: str
    omitted: Omission


class MintedName(NamedTuple):
    """A name that the other system has minted. ``line`` is its line in the dump, from 1, and ``identifier`` the name as
    written. The import reserves it, unless it is bound here or in the dump.
    """

    line: int
    identifier: str


class Counter(NamedTuple):
    """The next number in a series of minted names of the other system, so that ``ararat mint`` continues it.
    ``identifier`` and ``target`` are the cells of a row with the kind "counter" (:mod:`..other_rows`). ``line`` is its
    line in the dump, from 1.
    """

    line: int
    identifier: str
    target: str


def read_time(text: str) -> datetime | None:
    """Parse the time of a name in a dump: Unix seconds, or RFC 3339 with or without a time zone. Return None for
    another text. The result is in UTC, which is also the default time zone. A time before 1990 or after 2100 counts as
    another text.

    >>> read_time("1435680779").isoformat(), read_time("2015-06-30T16:12:59Z").isoformat()
    ('2015-06-30T16:12:59+00:00', '2015-06-30T16:12:59+00:00')
    >>> read_time("2015-06-30 16:12:59.25+02").isoformat(), read_time("yesterday"), read_time("99999999999999")
    ('2015-06-30T14:12:59.250000+00:00', None, None)
    """
    time = read_instant(text)
    return time if time and _FIRST_YEAR <= time.year < _LAST_YEAR else None


def read_instant(text: str) -> datetime | None:
    """Parse the time ``text`` of any year in a dump, in the forms of :func:`read_time`. Return None for another text.

    >>> read_instant("0").year, read_instant("99999999999999")
    (1970, None)
    """
    text = text.strip()
    try:
        if text.isascii() and text.isdecimal() and len(text) <= 12:
            time = datetime.fromtimestamp(int(text), UTC)
        else:
            time = datetime.fromisoformat(text)
            time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return time


_FIRST_YEAR, _LAST_YEAR = 1990, 2100


def no_time(element: str, text: str) -> Omission:
    """Return the note that a value of a dump is not imported, because it is not a time. ``element`` is the name of the
    value, and ``text`` the value.
    """
    return Omission(element, f"{validation.shown(text)} is not a time", "correct the time, or set it to Unix seconds")


def joined(values: Iterable[str]) -> str:
    """Return one value for an element that occurs several times. No value is lost, and none occurs twice.

    >>> joined(["Smith, A", "Jones, B", "Smith, A"])
    'Smith, A; Jones, B'
    """
    return _SEPARATOR.join(dict.fromkeys(value for each in values if (value := each.strip())))


KERNEL = frozenset({"who", "what", "when", "where", "how"})
"""The labels of the ERC kernel that dumps have without a prefix."""


def kernel_element(label: str) -> str | None:
    """Return the element of a label of the ERC kernel, written in any case, or None for another label.

    >>> kernel_element("WHO"), kernel_element("erc.When"), kernel_element("title")
    ('erc.who', 'erc.when', None)
    """
    name = label.lower().removeprefix("erc.")
    return f"erc.{name}" if name in KERNEL else None
