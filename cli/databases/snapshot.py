"""The command ``snapshot``: write the names to one file for nodes that only read."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...identifiers.text import display
from ..bindings.stores import open_store
from ..errors import DONE, writing
from ..options import database_option
from ..output import format_count
from ..progress import Progress

_SUFFIX = ".snapshot"


@click.command("snapshot", short_help="Write the names to a file for nodes that only read.")
@click.argument("file", metavar="FILE")
@database_option
def snapshot_command(file: str, database: str) -> int:
    """Write the names to FILE, which ends in .snapshot, for nodes that only read.

    A resolver with FILE as its database answers as with the database at this moment. FILE contains names with their
    metadata and their places in the log, also reserved names. It also contains rules, prefix records and the branding.
    It has no history and no accounts. No program changes it.

    FILE is replaced only after it is complete. A running resolver then reads the new FILE. To copy FILE to another
    node, copy it under another name and rename the complete copy.

    \b
      ararat snapshot names.snapshot --database postgresql://HOST/NAME
      ararat serve --database names.snapshot --prefix https://example.org

    Exit code: 0 done, 64 usage, 69 no database, 74 the file cannot be written.
    """
    from ...bindings.snapshots import write_snapshot

    if Path(file).suffix != _SUFFIX:
        raise click.BadParameter(f"the name must end in {_SUFFIX}", param_hint="FILE")
    with open_store(database, reading=True) as bindings:
        if bindings.kind == "snapshot":
            raise click.BadParameter(f"{database} is a snapshot already; copy the file", param_hint="--database")
        with writing(file), Progress("names") as progress:
            names = write_snapshot(bindings, Path(file).absolute(), progress=progress.count)
    sys.stderr.write(f"{format_count(names, 'name')} written to {display.escape(file)}\n")
    return DONE
