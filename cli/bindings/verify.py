"""The command ``verify``: compare bindings with their history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, write
from ..options import database_option, json_option
from ..output import Sheet, identifier
from .stores import open_store

if TYPE_CHECKING:
    from ...middleware.bindings.verification import Finding

_WIDTH = 18


@click.command("verify", short_help="Compare bindings with their history.")
@json_option
@database_option
def verify_command(as_json: bool, database: str) -> int:
    """Compare all bindings with their history, and check the rules, counters and triggers of a database.

    Reported are: bindings that differ from their last event, revisions with gaps, events that give a name to another
    resource, rows that cannot be read, events of unknown operations, counters below minted names, rules and prefix
    records that differ from their history, and triggers that are missing or disabled.

    Exit code: 0 everything is right, 1 there are findings, 2 not a database of Ararat, 69 no database.
    """
    from ...middleware.bindings.verification import verify

    sheet = Sheet.of(sys.stdout)
    with open_store(database) as bindings:
        count = sum(_print(found, sheet, as_json=as_json) for found in verify(bindings))
    if not as_json:
        write(sheet.prose(f"{count:,} found." if count else "Everything is right."))
    return NO if count else DONE


def _print(found: Finding, sheet: Sheet, *, as_json: bool) -> int:
    if as_json:
        streams.dump(found._asdict())
    else:
        word = sheet.paint(found.code.ljust(_WIDTH), "error")
        sys.stdout.write(f"{word} {identifier(found.identifier)}".rstrip() + "\n")
        write(sheet.prose(f"{found.message}\nFix: {found.remedy}", indent=_WIDTH + 1))
    return 1
