"""Check a store: each of its servers, and whether exactly one of them can be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...bindings.health import Condition, conditions
from ...bindings.storage.databases.sqlite import library_fault
from ...identifiers.text import display
from ...middleware import BindingError
from .finding import HealthFinding

_REMEDIES = {
    "schema-version": "Make a backup, then run ararat migrate --database URL. If the database is newer than "
    "this Ararat, update Ararat instead.",
    "no-tables": "Name the database that contains the bindings, or create the tables: ararat init --database URL.",
    "disk-full": "Free space on the disk of the database. Names are answered, but no name can be bound.",
    "not-written": "Names are answered, but no name can be bound. Check the server or the disk of the database.",
    "not-writable": "This is right for the user of a site that only reads. To bind names with this user, give write "
    "access. SQLite: to the file and its folder (chown, or chmod u+w). PostgreSQL: INSERT and UPDATE on the tables.",
    **dict.fromkeys(
        ("snapshot-foreign", "snapshot-damaged", "snapshot-version"),
        "Write the file again: ararat snapshot FILE. Copy it under another name, and rename the complete copy.",
    ),
    "unavailable": "Start the database server. For SQLite, check that the file exists and its folder can be "
    "written (chown, or chmod u+w on the folder). To create a new database, run: ararat init --database URL.",
}


LEAST_FREE = 67_108_864
"""The free bytes on the disk of an SQLite file below which a warning is given."""

# Errors for which a running site keeps the previous version of the file, from its copy.
_BREAKS = {"name-missing", "other-resource", "bound-otherwise", "withdrawn", "claim-withdrawn"}


def examine(url_or_path: str, only: Literal["names", "desk"] | None = None) -> Iterator[HealthFinding]:
    """Check whether each server of a store can be read and written, and yield the findings with remedies. ``only`` is
    the role of ``ararat serve --only``: the names role must not be able to write, and the desk role must be.

    >>> [finding.code for finding in examine("/nowhere/bindings.sqlite")]
    ['unavailable']
    """
    try:
        servers = list(conditions(url_or_path))
    except BindingError as error:
        message = f"{sentence(error.message)} Expected {error.expected}."
        yield HealthFinding("database", error.code, "error", "database", message, f"Use {error.expected}.")
        return
    for number, condition in enumerate(servers, 1):
        shown = "database" if len(servers) == 1 else f"server {number}"
        yield _of_role(_finding(condition, shown, alone=len(servers) == 1), only)
        if condition.location.startswith("sqlite:") and (lacks := library_fault()):
            fault, change = lacks
            yield HealthFinding(
                "database", "sqlite-library", "warning", "SQLite", sentence(f"SQLite {fault}"), sentence(change)
            )
    primaries = sum(condition.writable for condition in servers)
    if len(servers) > 1 and not primaries:
        message = "No server can be written. Names resolve, but no name can be bound or withdrawn."
        yield HealthFinding(
            "database", "no-primary", "error", "servers", message, "Promote a standby, or start the primary."
        )
    elif primaries > 1:
        message = f"{primaries} servers can be written, so their contents can differ."
        change = "Make all servers but one a standby of the primary, or remove them from the URL."
        yield HealthFinding("database", "several-primaries", "error", "servers", message, change)


def _of_role(finding: HealthFinding, only: Literal["names", "desk"] | None) -> HealthFinding:
    """Return a finding as it is right or wrong for a role."""
    if only == "names" and finding.code in ("not-writable", "standby"):
        return finding._replace(state="ok", remedy=None)
    if only == "names" and finding.code == "readable-writable":
        message = "The names role can write this database, and needs only to read it."
        change = "Use a role of PostgreSQL with SELECT only, as in docs/high-availability.md."
        return finding._replace(code="names-can-write", state="warning", message=message, remedy=change)
    if only == "desk" and finding.code in ("not-writable", "standby"):
        return finding._replace(state="error")
    return finding


def _finding(condition: Condition, shown: str, *, alone: bool) -> HealthFinding:
    where = display.escape(condition.location)
    if condition.code == "not-writable":
        message = f"{where} can be read, as documented for a site that only reads, but this user cannot write it."
        return HealthFinding("database", "not-writable", "warning", shown, message, _REMEDIES["not-writable"])
    if condition.code == "locked":
        message = f"{sentence(display.escape(condition.fault or ''))} An import can take this long."
        return HealthFinding("database", "locked", "warning", shown, message, "Run ararat doctor again later.")
    if condition.fault is not None:
        can = "It can be read but not written: " if condition.readable else ""
        code = condition.code or "unavailable"
        change = _REMEDIES.get(code, _REMEDIES["unavailable"])
        if condition.table:
            change = f"Correct the file: {where}."
            if code in _BREAKS:
                change += f" If the file is correct, delete {where}.served."
        fault = display.escape(condition.fault)
        # The fault of a file begins with the file name, so its first letter must not change.
        explained = f"{fault.removesuffix('.')}." if condition.table else sentence(fault)
        return HealthFinding("database", code, "error", shown, f"{can}{explained}", change)
    if condition.names is not None and condition.names.number == 0:
        change = "Check that this is the right database. Bind names with ararat bind or ararat import."
        return HealthFinding(
            "database", "no-names", "warning", shown, f"{where} can be read but contains no names.", change
        )
    names = "" if condition.names is None else f" Names: {condition.names}."
    if condition.table:
        return HealthFinding("database", "table", "ok", shown, f"{where} can be read. A file is edited by hand.{names}")
    if condition.snapshot:
        return HealthFinding("database", "snapshot", "ok", shown, f"{where} can be read. It is a snapshot.{names}")
    if condition.standby:
        role = "a standby: it can be read, and its primary can be written"
        state = "warning" if alone else "ok"
        change = "Add the primary to the URL if names are to be bound." if alone else None
        return HealthFinding("database", "standby", state, shown, f"{where} is {role}.{names}", change)
    if condition.free is not None and condition.free < LEAST_FREE:
        message = f"{where} can be read and written, but its disk has only {condition.free / 1e6:,.1f} MB free.{names}"
        return HealthFinding("database", "disk-space", "warning", shown, message, _REMEDIES["disk-full"])
    return HealthFinding("database", "readable-writable", "ok", shown, f"{where} can be read and written.{names}")


def sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter, unless it begins with a URL, and a full stop.

    >>> sentence("the file is empty"), sentence("sqlite:///a.db is empty")
    ('The file is empty.', 'sqlite:///a.db is empty.')
    """
    first = text[:1] if "://" in text.partition(" ")[0] else text[:1].upper()
    return f"{first}{text[1:]}{'' if text.endswith('.') else '.'}"
