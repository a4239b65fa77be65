"""The command ``digest``: report what a person must act on."""

from __future__ import annotations

import sys

import click

from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, write
from ..options import database_option
from ..output import Sheet

_WIDTH = 9


@click.command("digest", short_help="Report what a person must act on, such as broken links.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@database_option
def digest_command(as_json: bool, database: str) -> int:
    """Report the last backup, the free space, dead links, an unpublished log, expiring tokens and waiting imports.

    A line that begins with ! is a problem, with the way to correct it. A timer can send the output by mail or to a
    webhook: docs/go-live.md.

    Exit code: 0 nothing to do, 1 something to do, 69 no database.
    """
    from ...bindings.digest import facts

    with open_store(database, reading=True) as bindings:
        all_facts, where, now = facts(bindings), bindings.location, bindings.now()
    problems = sum(fact.problem for fact in all_facts)
    if as_json:
        streams.dump(
            {
                "database": where,
                "time": now.isoformat(timespec="seconds"),
                "problems": problems,
                "facts": [fact._asdict() for fact in all_facts],
            }
        )
        return NO if problems else DONE
    sheet = Sheet.of(sys.stdout)
    for fact in all_facts:
        sign = "!" if fact.problem else " "
        text = f"{fact.message}\nFix: {fact.fix}" if fact.fix else fact.message
        first, *rest = sheet.prose(text, indent=_WIDTH + 2)
        label = sheet.paint(f"{sign} {fact.code.ljust(_WIDTH - 1)}", "error" if fact.problem else "")
        write([f"{label} {first.lstrip()}", *rest])
    return NO if problems else DONE
