"""What the text columns of each table hold, and how long they keep it.

Each table declares all its text columns once, in its ``info`` (:func:`retention`). The redaction of a name, the
deletion of old copies (:mod:`ararat.bindings.log.kept_copies`) and the copy of a database
(:mod:`ararat.bindings.copying`) work from these declarations. A table with an undeclared text column fails a test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import Table

REPLIES_KEPT = timedelta(hours=24)
"""The time for which the reply to a request with ``Idempotency-Key`` is kept."""

COPIES_KEPT = timedelta(days=30)
"""The time for which other copies are kept: an uploaded table after its last use, and the texts, names and files of a
job after its end. The changed names keep their history."""

Way = Literal["emptied", "rows", "found"]
"""How copies are deleted: "emptied" leaves the row without its texts, "rows" deletes the row, and "found" deletes the
rows that contain the name."""


class Old(NamedTuple):
    """When copies are old: ``after`` the time in the column ``since``. ``way`` is how they are deleted then.

    Without ``since``, it is the end of the job to which the row belongs.
    """

    since: str | None
    after: timedelta
    way: Way


@dataclass(frozen=True, kw_only=True)
class Retention:
    """The declaration of a table.

    - ``facts``: columns with times, codes, states, hashes and numbers, which have no text about a name or a person.
    - ``names``: columns with names, prefixes and addresses. A redaction keeps them.
    - ``of_name``: columns with texts of a name. The redaction of the name removes them.
    - ``of_owner``: columns with texts of an account or an institution, which can change them. No redaction of a name
      concerns them.
    - ``copies``: columns with copies of such texts. For a column with JSON, the members that are facts and stay when it
      is emptied; None for a column that is emptied as a whole.
    - ``redaction``: how a redaction deletes the copies.
    - ``old``: when they are old; None if they have no limit.
    - ``part_of``: the column with the row of another table, whose deletion deletes this row, and that table.
    - ``is_copied``: whether ``ararat copy`` copies the table.
    """

    facts: frozenset[str]
    names: frozenset[str]
    of_name: frozenset[str]
    of_owner: frozenset[str]
    copies: Mapping[str, frozenset[str] | None]
    redaction: Way | None
    old: Old | None
    part_of: tuple[str, Table] | None
    is_copied: bool


def retention(
    *,
    facts: str | Collection[str] = (),
    names: str | Collection[str] = (),
    of_name: str | Collection[str] = (),
    of_owner: str | Collection[str] = (),
    copies: Mapping[str, Collection[str] | None] | None = None,
    redaction: Way | None = None,
    old: Old | None = None,
    part_of: tuple[str, Table] | None = None,
    is_copied: bool = False,
) -> dict[str, Any]:
    """Return the ``info`` of a table that declares its text columns (:class:`Retention`). A text lists several columns.

    >>> retention(facts="created expires", is_copied=True)["retention"].facts == {"created", "expires"}
    True
    """
    return {
        "retention": Retention(
            facts=_several(facts),
            names=_several(names),
            of_name=_several(of_name),
            of_owner=_several(of_owner),
            copies={name: None if kept is None else frozenset(kept) for name, kept in (copies or {}).items()},
            redaction=redaction,
            old=old,
            part_of=part_of,
            is_copied=is_copied,
        )
    }


def _several(columns: str | Collection[str]) -> frozenset[str]:
    return frozenset(columns.split() if isinstance(columns, str) else columns)


def of_table(table: Table) -> Retention:
    """Return the declaration of a table. Raises KeyError for a table without one."""
    return table.info["retention"]


def with_copies(tables: Sequence[Table]) -> list[Table]:
    """Return those of ``tables`` that hold copies."""
    return [table for table in tables if of_table(table).copies]
