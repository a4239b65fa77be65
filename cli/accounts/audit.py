"""The command ``account audit``: list the requests of accounts."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_accounts
from ..errors import DONE, write
from ..options import WholeNumber, database_option, json_option
from ..output import Sheet, identifier, words

if TYPE_CHECKING:
    from ...webapp.accounts.audit_listing import AuditRow


@click.command("audit", short_help="List the requests of accounts.")
@click.option("--account", metavar="NAME", help="Only requests of this account.")
@click.option("--token", type=WholeNumber(1, 2**53), metavar="NUMBER", help="Only requests with this token.")
@click.option("--operation", metavar="TEXT", help="Only this request, such as sign-in or emergency-request.")
@click.option(
    "--limit",
    type=WholeNumber(1, 1_000_000),
    metavar="N",
    default=100,
    show_default=True,
    help="The number of requests.",
)
@json_option
@database_option
def audit_command(
    account: str | None, token: int | None, operation: str | None, limit: int, as_json: bool, database: str
) -> int:
    """List the requests of accounts that change something, refused ones, and sign-ins, the newest first.

    With an emergency token, each request is listed, also those that only read.

    Exit code: 0 done, 69 no database.
    """
    from ...bindings.names.binding import rfc3339
    from ...webapp.accounts.audit_listing import AuditSelection, all_audit

    with open_accounts(database, reading=True) as accounts:
        selection = AuditSelection(account=account, token=token, operation=operation)
        requests = [*islice(all_audit(accounts, selection), limit)]
    sheet = Sheet.of(sys.stdout)
    for row in requests:
        if as_json:
            streams.dump(row._asdict() | {"time": rfc3339(row.time)})
        else:
            write(sheet.prose(_line(row)))
    return DONE


def _line(row: AuditRow) -> str:
    who = words(row.account) if row.account else "not known"
    by = f"{who}, token {words(row.token)}" if row.token else who
    about = f" {identifier(row.name)}" if row.name else ""
    return f"{row.time:%Y-%m-%d %H:%M:%S}  {by}: {words(row.operation)}{about}, {words(row.outcome)}"
