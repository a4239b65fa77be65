"""The content of the text columns of each table, and how long they keep it. Each table declares all its text columns in
its ``info``, and :data:`FILES` declares the files. The redaction of a name, the deletion of old copies
(:mod:`ararat.bindings.log.kept_copies`) and :mod:`ararat.bindings.copying` work from these. A test fails for undeclared
ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
"""The way to delete copies: "emptied" leaves the row without its texts, "rows" deletes the row, and "found" deletes the
rows that contain the name."""


class Old(NamedTuple):
    """The age of old copies: ``after`` the time in the column ``since``, or the end of the job of the row. ``way`` is
    how they are deleted then: "emptied" (the row stays) or "rows".
    """

    since: str | None
    after: timedelta
    way: Way


@dataclass(frozen=True, kw_only=True)
class Retention:
    """The declaration of the text columns of a table.

    - ``facts``: times, codes, states, hashes and numbers: no text about a name or a person.
    - ``names``: names, prefixes and addresses, which a redaction keeps.
    - ``of_name``: texts of a name, which its redaction removes.
    - ``of_owner``: texts of an account or an institution, which these can change. No redaction of a name concerns them.
    - ``copies``: columns with copies of such texts, with the members of JSON that stay, or None to empty all of it.
    - ``redaction``: how a redaction deletes the copies. ``old``: when they are old; None for no limit.
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
    """Return the ``info`` of a table that declares its text columns (:class:`Retention`). A text lists several
    columns.
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


class HeldFile(NamedTuple):
    """A kind of file that can hold texts of names.

    - ``module``: the module that writes it, from the root of the package. ``file``: the file, for the documentation.
    - ``way``: "redacted" if a redaction erases its texts, "open" if it has no name and ends with its process, "written"
      if a person or program asked for it and keeps it, and "names" if it has only names, targets, hashes and keys.
    """

    module: str
    file: str
    way: Literal["redacted", "open", "written", "names"]


FILES = (
    HeldFile("bindings/storage/databases/sqlite.py", "the SQLite file and its write-ahead log", "redacted"),
    HeldFile("cli/serving/serve.py", "the temporary database of `ararat serve`", "redacted"),
    HeldFile("bindings/storage/spill.py", "names and effects of an import or a change", "open"),
    HeldFile("bindings/imports/decided_blocks.py", "decisions about the rows of an import", "open"),
    HeldFile("bindings/imports/importing.py", "a table that is read twice from standard input", "open"),
    HeldFile("webapp/jobs/exports.py", "an export that runs", "open"),
    HeldFile("webapp/uploads/downloads.py", "a workbook that is sent", "open"),
    HeldFile("bindings/backups/postgresql_dump.py", "messages of pg_dump", "open"),
    HeldFile("bindings/storage/databases/resting.py", "a copy of a database that a command reads", "open"),
    HeldFile("cli/databases/verify.py", "a history that is compared", "open"),
    HeldFile("cli/databases/import_table.py", "an empty database for a dry run", "open"),
    HeldFile("bindings/backups/backup.py", "the copy of `ararat migrate`", "written"),
    HeldFile("bindings/snapshots.py", "snapshots", "written"),
    HeldFile("bindings/served_file/copy.py", "FILE.served, the copy of a file of bindings", "written"),
    HeldFile("bindings/system/files.py", "files that other modules create or replace", "written"),
    HeldFile("cli/streams.py", "exports and other output of commands", "written"),
    HeldFile("cli/databases/import_report.py", "reports of imports", "written"),
    HeldFile("cli/databases/check_traces.py", "results of traces", "names"),
    HeldFile("middleware/edge/exporting.py", "redirects for a front server", "names"),
    HeldFile("bindings/log/folder.py", "the public log", "names"),
    HeldFile("bindings/log/notes/key_file.py", "the key of the log", "names"),
    HeldFile("bindings/log/witnesses/witness.py", "the state of a witness", "names"),
    HeldFile("cli/registries/registry_folder.py", "registries", "names"),
)
"""The files that Ararat writes. The log of a server has what its level and its format select."""
