"""``ararat registry update``: newer tables of NAANs, URN namespaces and URI schemes than those of the package."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..identifiers.registries import files
from ..identifiers.registries import tables as registry_tables
from ..identifiers.registries.tables import AnyTable, Changes, RegistryError
from . import streams
from .errors import DONE, NO, NO_INPUT, Refused, write
from .output import Sheet, Style
from .registry_folder import VARIABLE, registry_folder, table_in, write_tables

_CANNOT_CREATE = 73
_MOST_SHOWN = 12


class _Update(NamedTuple):
    """A table that was in use, the one that is to take its place, and how they differ."""

    old: AnyTable
    new: AnyTable
    changes: Changes

    @property
    def lost(self) -> tuple[str, ...]:
        """What has vanished though it never may."""
        return self.changes.vanished if self.new.registry.permanent else ()


@click.group("registry", short_help="Bring the registries up to date.")
def registry_command() -> None:
    """The registries of NAANs, URN namespaces and URI schemes: tables that ship with Ararat, and newer ones."""


@registry_command.command("update", short_help="Make tables of an official file.")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    metavar="DIR",
    envvar=VARIABLE,
    show_envvar=True,
    help="Where the tables go.  [default: ararat/registries in your data folder, where all commands look first]",
)
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="The day the file was fetched, where it does not say its day itself: IANA's CSV does not.",
)
@click.option("--force", is_flag=True, help="Write the tables though NAANs have vanished.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each table.")
def update_command(file: str, out: str | None, date: datetime | None, force: bool, as_json: bool) -> int:
    """Make tables of FILE, which was fetched from whoever keeps a registry, and say what changed.

    FILE is the NAAN registry as JSON or text, or IANA's registry of URN namespaces or URI schemes as XML or CSV.

    A NAAN is never taken out of its registry. Where the file lacks one that the table in use has, nothing is written.

    Exit code: 0 done, 1 NAANs have vanished, 2 the file is none of these, 66 it cannot be read, 73 nothing can be
    written.
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
        raise _vanished(updates)
    return DONE


def _folder(out: str | None) -> Path:
    try:
        return Path(out) if out else registry_folder()
    except RuntimeError:
        raise Refused("there is no home folder", ("Next", "say --out DIR"), exit_code=_CANNOT_CREATE) from None


def _tables(file: str, date: datetime | None) -> list[AnyTable]:
    try:
        with Path(file).open("rb") as stream:
            octets = stream.read(files.LARGEST + 1)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror or error}", exit_code=NO_INPUT) from None
    try:
        return files.read(octets, name=file, date=date.date().isoformat() if date else None)
    except RegistryError as error:
        raise Refused(str(error), ("Done", "nothing; no table was written")) from None


def _update(new: Any, folder: Path) -> _Update:
    try:
        old = table_in(folder, new.registry)
    except OSError as error:
        raise Refused(f"{folder} cannot be read: {error.strerror or error}", exit_code=_CANNOT_CREATE) from None
    except RegistryError as error:
        raise Refused(str(error), ("Next", "remove that table; the package's will be used in its place")) from None
    new = registry_tables.completed(new, old)
    return _Update(old, new, registry_tables.compare(old, new))


def _write(folder: Path, tables: list[AnyTable]) -> None:
    try:
        write_tables(folder, tables)
    except OSError as error:
        what = f"{error.filename or folder} cannot be written: {error.strerror or error}"
        raise Refused(what, ("Next", "free the place, or say another --out DIR"), exit_code=_CANNOT_CREATE) from None


def _vanished(updates: list[_Update]) -> Refused:
    lost = [key for update in updates for key in update.lost]
    details = [
        ("Expected", "every NAAN that was ever registered (ARK draft, section 3.1)"),
        ("Done", "nothing; no table was written"),
        ("Next", "ask the ARK Maintenance Agency why; --force takes the file as it is"),
    ]
    old, new = updates[0].old.snapshot, updates[0].new.snapshot
    if new.date < old.date:
        details.insert(1, ("Perhaps", f"the file is the older one: of {new.date}, the table in use of {old.date}"))
    what = f"{len(lost):,} NAAN{'' if len(lost) == 1 else 's'} of the table in use {'is' if len(lost) == 1 else 'are'}"
    return Refused(f"{what} not in the file", *details, exit_code=NO)


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
    days = f"as of {new.snapshot.date}, in place of {update.old.snapshot.date}"
    yield from sheet.prose(f"{new.registry.title}: {len(new.records):,} {days}", style="strong")
    changed = [f"{key} ({', '.join(names)})" for key, names in changes.changed.items()]
    rows: tuple[tuple[str, Collection[str], Style], ...] = (
        ("Added", changes.added, "good"),
        ("Changed", changed, "name"),
        ("Vanished", changes.vanished, "bad" if update.lost else "doubtful"),
    )
    for label, keys, style in rows:
        if keys:
            yield from sheet.field(label, _listed(list(keys)), style=style)
    if not any(keys for _, keys, _ in rows):
        yield from sheet.field("Changed", "nothing")
    yield from sheet.field("Written", "no" if path is None else str(path))


def _listed(keys: list[str]) -> str:
    more = len(keys) - _MOST_SHOWN
    return f"{len(keys):,}: {', '.join(keys[:_MOST_SHOWN])}" + (f" and {more:,} more" if more > 0 else "")
