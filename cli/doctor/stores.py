"""How a store is, in findings: each server of several, and whether there is one among them that can be written."""

from __future__ import annotations

from collections.abc import Iterator

from ...identifiers.text import display
from ...middleware import BindingError
from ...middleware.storage.health import Condition, conditions
from .finding import Finding

_REMEDIES = {
    "schema-version": "Make a backup, and bring it up to date: ararat migrate --database URL. If it is newer than this "
    "Ararat, update Ararat instead.",
    "no-tables": "Say the database that holds the bindings; ararat import and ararat bind make the tables of one.",
    "not-writable": "Give the user that runs the site, and whoever binds names, the right to write: the file and its "
    "folder of SQLite (chown, or chmod u+w), INSERT and UPDATE on the tables of PostgreSQL.",
    "unavailable": "Start the server, or see that the file is there and that its folder can be written: SQLite keeps "
    "its log beside the file, and even a reader writes there (chown, or chmod u+w on the folder).",
}


# What a running site refuses, and goes on with the version before, of which it keeps a copy.
_BREAKS = {"name-missing", "other-resource", "bound-otherwise", "withdrawn", "claim-withdrawn"}


def examine(url_or_path: str) -> Iterator[Finding]:
    """How the store is that ``url_or_path`` names: see :func:`~ararat.middleware.storage.health.conditions`.

    >>> [finding.code for finding in examine("/nowhere/bindings.sqlite")]
    ['unavailable']
    """
    try:
        found = list(conditions(url_or_path))
    except BindingError as error:
        message = f"{_sentence(error.message)} Expected {error.expected}."
        yield Finding("database", error.code, "bad", "database", message, f"Say {error.expected}.")
        return
    for number, condition in enumerate(found, 1):
        shown = "database" if len(found) == 1 else f"server {number}"
        yield _finding(condition, shown, alone=len(found) == 1)
    primaries = sum(condition.writable for condition in found)
    if len(found) > 1 and not primaries:
        message = "None of them can be written: names resolve, and none can be bound or withdrawn."
        yield Finding("database", "no-primary", "bad", "servers", message, "Promote a standby, or start the primary.")
    elif primaries > 1:
        message = f"{primaries} of them can be written: they are not copies of one another."
        change = "Let all but one follow the primary, or take them out of the URL."
        yield Finding("database", "several-primaries", "bad", "servers", message, change)


def _finding(condition: Condition, shown: str, *, alone: bool) -> Finding:
    where = display.escape(condition.where)
    if condition.fault is not None:
        can = "It can be read, not written: " if condition.readable else ""
        code = condition.code or "unavailable"
        change = _REMEDIES.get(code, _REMEDIES["unavailable"])
        if condition.table:
            change = f"Correct the file: {where}."
            if code in _BREAKS:
                change += f" If it is right as it is, delete {where}.served."
        fault = display.escape(condition.fault)
        # The fault of a file begins with its name, which keeps its letters.
        sentence = f"{fault.removesuffix('.')}." if condition.table else _sentence(fault)
        return Finding("database", code, "bad", shown, f"{can}{sentence}", change)
    if condition.names is not None and condition.names.number == 0:
        change = "Check that this is the right database; bind names with ararat bind or ararat import."
        return Finding("database", "no-names", "doubtful", shown, f"{where} can be read, and has no names.", change)
    names = "" if condition.names is None else f" Names: {condition.names}."
    if condition.table:
        return Finding("database", "table", "well", shown, f"{where} can be read; a file is changed by hand.{names}")
    if condition.standby:
        said = "a standby: it can be read, and is written by its primary"
        state = "doubtful" if alone else "well"
        change = "Name the primary in the URL too, where names are to be bound." if alone else None
        return Finding("database", "standby", state, shown, f"{where} is {said}.{names}", change)
    return Finding("database", "readable-writable", "well", shown, f"{where} can be read and written.{names}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
