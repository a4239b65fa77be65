"""The command ``registry update``: replace the built-in registries of NAANs, URN namespaces and URI schemes."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from ...identifiers.registries import files
from ...identifiers.registries import tables as registry_tables
from ...identifiers.registries.tables import AnyTable, Changes, RegistryError
from .. import streams
from ..errors import CANNOT_WRITE, DONE, NO, NO_INPUT, CommandError, cannot_write, write
from ..output import Sheet, Style, format_count
from .registry_folder import VARIABLE, registry_folder, table_in, write_tables

_MAX_SHOWN = 12


class _Update(NamedTuple):
    """The table in use, its replacement and their differences."""

    old: AnyTable
    new: AnyTable
    changes: Changes

    @property
    def lost(self) -> tuple[str, ...]:
        """The records that are missing in the new table, if the registry must keep all records."""
        return self.changes.vanished if self.new.registry.permanent else ()


@click.group("registry", short_help="Update the registries.")
def registry_command() -> None:
    """Update the registries of NAANs, URN namespaces and URI schemes. The package contains one version of each."""


@registry_command.command("update", short_help="Install an official file.")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    metavar="DIR",
    envvar=VARIABLE,
    show_envvar=True,
    help="The folder for the tables.  [default: ararat/registries in your data folder, which all commands read]",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="The day of the download, for a file that contains no date.",
)
@click.option("--force", is_flag=True, help="Write the tables even if NAANs are missing.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each table.")
def update_command(file: str, out: str | None, date: datetime | None, force: bool, as_json: bool) -> int:
    """Install FILE, a download of an official registry, and show the changes.

    FILE is the NAAN registry as JSON or text, or IANA's registry of URN namespaces or URI schemes as XML.

    Registered NAANs are never deleted. If the file lacks a NAAN of the table in use, nothing is written.

    Exit code: 0 done, 1 NAANs are missing, 2 not a file of a registry, 66 it cannot be read, 74 nothing can be written.
    """
    folder = _folder(out)
    updates = [_update(table, folder) for table in _tables(file, date)]
    written = force or not any(update.lost for update in updates)
    if written:
        _write(folder, [update.new for update in updates])
    for update in updates:
        path = folder / update.new.registry.file if written else None
        if as_json:
            streams.dump(_as_dict(update, path))
        else:
            write(_lines(update, path, Sheet.of(sys.stdout)))
    if not written:
        raise _vanished_error(updates)
    return DONE


def _folder(out: str | None) -> Path:
    try:
        return Path(out) if out else registry_folder()
    except RuntimeError:
        raise CommandError(
            "there is no home folder for the tables", ("Fix", "set --out DIR"), exit_code=CANNOT_WRITE
        ) from None


def _tables(file: str, date: datetime | None) -> list[AnyTable]:
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(files.LARGEST + 1)
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror or error}", exit_code=NO_INPUT) from None
    try:
        return files.read(content, name=file, date=date.date().isoformat() if date else None)
    except RegistryError as error:
        raise CommandError(str(error), ("Written", "nothing")) from None


def _update(new: Any, folder: Path) -> _Update:
    try:
        old = table_in(folder, new.registry)
    except OSError as error:
        raise cannot_write(folder, error) from None
    except RegistryError as error:
        raise CommandError(str(error), ("Fix", "delete this file; then the table of the package is used")) from None
    return _Update(old, new, registry_tables.compare(old, new))


def _write(folder: Path, tables: list[AnyTable]) -> None:
    try:
        write_tables(folder, tables)
    except OSError as error:
        raise cannot_write(error.filename or folder, error) from None


def _vanished_error(updates: list[_Update]) -> CommandError:
    lost = [key for update in updates for key in update.lost]
    details = [
        ("Expected", "all NAANs of the table in use (ARK draft, section 3.1)"),
        ("Written", "nothing"),
        ("Fix", "ask the ARK Maintenance Agency for the reason, or use --force"),
    ]
    old, new = updates[0].old.snapshot, updates[0].new.snapshot
    if new.date < old.date:
        details.insert(1, ("Cause", f"the file is older ({new.date}) than the table in use ({old.date})"))
    what = f"{format_count(len(lost), 'NAAN')} of the table in use {'is' if len(lost) == 1 else 'are'} not in the file"
    return CommandError(what, *details, exit_code=NO)


def _as_dict(update: _Update, path: Path | None) -> dict[str, Any]:
    changes = update.changes
    return {
        "registry": update.new.registry.name,
        "snapshot": update.new.snapshot.as_dict(),
        "replaces": update.old.snapshot.as_dict(),
        "records": len(update.new.records),
        "added": list(changes.added),
        "changed": {key: list(names) for key, names in changes.changed.items()},
        "vanished": list(changes.vanished),
        "written": None if path is None else str(path),
    }


def _lines(update: _Update, path: Path | None, sheet: Sheet) -> Iterator[str]:
    new, changes = update.new, update.changes
    days = f"as of {new.snapshot.date}, replaces {update.old.snapshot.date}"
    yield from sheet.prose(f"{new.registry.title}: {len(new.records):,} {days}", style="strong")
    changed = [f"{key} ({', '.join(names)})" for key, names in changes.changed.items()]
    rows: tuple[tuple[str, Collection[str], Style], ...] = (
        ("Added", changes.added, "good"),
        ("Changed", changed, "name"),
        ("Missing", changes.vanished, "error" if update.lost else "warning"),
    )
    for label, keys, style in rows:
        if keys:
            yield from sheet.field(label, _list_keys(list(keys)), style=style)
    if not any(keys for _, keys, _ in rows):
        yield from sheet.field("Changed", "nothing")
    yield from sheet.field("Written", "no" if path is None else str(path))


def _list_keys(keys: list[str]) -> str:
    more = len(keys) - _MAX_SHOWN
    return f"{len(keys):,}: {', '.join(keys[:_MAX_SHOWN])}" + (f" and {more:,} more" if more > 0 else "")
