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
    """The reason why a value of an ``element`` in a dump is not imported, or is changed, and a ``remedy``."""

    element: str
    reason: str
    remedy: str


class DumpRecord(NamedTuple):
    """One name in a dump of another system, with its target, metadata, state and times in UTC.

    - ``line``: the line of the file where the record begins, from 1.
    - ``identifier``, ``target``: as written. A public name without a target leads to its description.
    - ``state``: "public", "reserved" or "unavailable" (withdrawn). ``is_stated``: whether the dump states this state.
      If not, no recorded reserved name is published.
    - ``reason``: why the name is unavailable. ``embargo``: the date from which it is public, as written.
    - ``owner``: the account and group that own the name.
    - ``elements``: metadata by the full names of its elements, such as ``erc.who``.
    - ``listed``: whether harvesters and search engines can have the name.
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
    """A part of a dump that is not imported at all, such as a name that another system keeps. ``identifier`` can
    be "".
    """

    line: int
    identifier: str
    omitted: Omission


class MintedName(NamedTuple):
    """A name that the other system has minted. The import reserves it, unless it is bound here or in the dump."""

    line: int
    identifier: str


class Counter(NamedTuple):
    """The next number in a series of minted names of the other system, so that ``ararat mint`` continues it.
    ``identifier`` and ``target`` are the cells of a row with the kind "counter" (:mod:`..other_rows`).
    """

    line: int
    identifier: str
    target: str


def read_time(text: str) -> datetime | None:
    """Parse the time of a name in a dump, Unix seconds or RFC 3339, by default in UTC. Return None for another text,
    and for a time before 1990 or after 2100.

    >>> read_time("1435680779").isoformat(), read_time("2015-06-30 16:12:59.25+02").isoformat(), read_time("yesterday")
    ('2015-06-30T16:12:59+00:00', '2015-06-30T14:12:59.250000+00:00', None)
    """
    time = read_instant(text)
    return time if time and _FIRST_YEAR <= time.year < _LAST_YEAR else None


def read_instant(text: str) -> datetime | None:
    """Parse a time of any year in the forms of :func:`read_time`, or return None."""
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
    """Return the note that a value of a dump is not imported, because it is not a time."""
    return Omission(element, f"{validation.quote(text)} is not a time", "correct the time, or set it to Unix seconds")


def join_values(values: Iterable[str]) -> str:
    """Return one value for an element that occurs several times. No value is lost, and none occurs twice.

    >>> join_values(["Smith, A", "Jones, B", "Smith, A"])
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
