"""The command ``copy``: copy a store with its history into an empty database."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from ..bindings.stores import has_no_tables, open_store
from ..errors import DONE, CommandError, write
from ..output import Sheet, format_count
from ..progress import Progress

if TYPE_CHECKING:
    from ...bindings.copying import TableCopy


@click.command("copy", short_help="Copy a database or file with its history.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--dry-run", is_flag=True, help="Count the rows of OLD, and check that NEW is empty. Write nothing.")
def copy_command(old: str, new: str, dry_run: bool) -> int:
    """Copy all records of the store OLD into the empty database NEW, which is created if it is missing.

    OLD and NEW are URLs as for --database. The copy contains names, rules and prefix records with their history,
    reserved names, operations and counters. It also contains accounts with their tokens, and the verifiable log.
    Sessions are not copied. A file of text has no history: each of its names gets one event with the time of the file.

    First stop every program that changes OLD: later changes are not copied. The copy is one transaction. At the end,
    the number of rows of each table and their checksum are printed. If the checksums of OLD and NEW differ, nothing is
    written.

    Exit code: 0 done, 2 NEW is not empty or cannot be used, 69 a store cannot be reached.
    """
    from ...bindings.copying import copy_store, require_empty
    from ...bindings.open import table_file

    if table_file(new) is not None:
        raise CommandError(
            f"cannot copy to {new}: a file of text has no history",
            ("Expected", "postgresql://HOST/NAME, sqlite:///FILE, or a file that ends in .sqlite or .db"),
        )
    with ExitStack() as stack:
        source = stack.enter_context(open_store(old, reading=True))
        target = None if dry_run and has_no_tables(new) else stack.enter_context(open_store(new, create=not dry_run))
        if dry_run and target is not None:
            require_empty(target)
        progress = stack.enter_context(Progress())
        copied = copy_store(
            source,
            None if dry_run else target,
            progress=lambda table, rows: progress.show(f"{table}: {format_count(rows, 'row')}"),
        )
    sheet = Sheet.of(sys.stdout)
    write(map(_line, copied))
    done = "Nothing was written." if dry_run else "Both checksums are equal."
    number = sum(each.rows for each in copied)
    write(sheet.prose(f"{format_count(number, 'row')} {'to copy' if dry_run else 'copied'}. {done}"))
    return DONE


def _line(copied: TableCopy) -> str:
    return f"{copied.table:<16}{copied.rows:>12,} row{'s' if copied.rows != 1 else ' '}  checksum {copied.checksum}"
