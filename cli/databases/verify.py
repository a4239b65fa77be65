"""The command ``verify``: compare bindings with their history."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store, require_database
from ..errors import DONE, NO, store_errors, write
from ..options import database_option, json_option
from ..output import Sheet, identifier

if TYPE_CHECKING:
    from ...bindings.checks.verification import StoreFinding
    from ...middleware import Bindings

_WIDTH = 18


@click.command("verify", short_help="Compare bindings with their history.")
@click.option(
    "--against",
    metavar="STORE|FILE",
    help="Also compare the database with a newer store, a history of `ararat export --history`, or a table.",
)
@json_option
@database_option
def verify_command(against: str | None, as_json: bool, database: str) -> int:
    """Compare all bindings with their history, and check the rules, counters and triggers of a database.

    The command reports bindings that differ from their last event, revisions with gaps, and rows that cannot be read.
    It reports events that give a name to another resource. It also reports events of unknown operations, counters below
    minted names, and missing or disabled triggers. Rules and prefix records that differ from their history are
    reported, too.

    --against finds an old backup: names, rules and counters that have later changes in STORE or FILE, that are missing
    here, or whose history differs. Names and changes that only this database has are not reported. A table has no
    history: missing names, other resources and later times are reported.

    Exit code: 0 everything is right, 1 there are findings, 2 not a database of Ararat, 69 no database.
    """
    from ...bindings.checks.comparison import compare
    from ...bindings.checks.verification import verify

    sheet = Sheet.of(sys.stdout)
    with open_store(database, reading=True) as bindings:
        count = sum(_print(finding, sheet, as_json=as_json) for finding in verify(bindings))
        if against is not None:
            with opened(against) as other:
                count += sum(_print(finding, sheet, as_json=as_json) for finding in compare(bindings, other))
    if not as_json:
        write(sheet.prose(f"{count:,} found." if count else "Everything is right."))
    return NO if count else DONE


@contextmanager
def opened(against: str, *, older: bool = False) -> Iterator[Bindings]:
    """Open the store with which a database is compared.

    ``against`` is a store, a table, the copy of a served file, or a history. With ``older``, a database can have the
    schema before.
    """
    from ...bindings.imports.history import import_history, is_history
    from ...bindings.open import open_bindings, open_file

    if against.endswith(".served"):
        require_database(against)
        with store_errors(), open_file(Path(against), served=False) as bindings:
            yield bindings
    elif is_history(against):
        with (
            store_errors(),
            TemporaryDirectory(prefix="ararat-") as folder,
            open_bindings(f"{folder}/history.sqlite", create=True) as bindings,
        ):
            import_history(bindings, against)
            yield bindings
    else:
        with open_store(against, older=older, reading=True) as bindings:
            yield bindings


def _print(finding: StoreFinding, sheet: Sheet, *, as_json: bool) -> int:
    if as_json:
        streams.dump(finding._asdict())
    else:
        word = sheet.paint(finding.code.ljust(_WIDTH), "error")
        sys.stdout.write(f"{word} {identifier(finding.identifier)}".rstrip() + "\n")
        write(sheet.prose(f"{finding.message}\nFix: {finding.remedy}", indent=_WIDTH + 1))
    return 1
