"""The commands ``account token``, ``account tokens`` and ``account revoke-token``."""

from __future__ import annotations

import os
import stat
import sys
from datetime import datetime, timedelta

import click
from click.core import ParameterSource

from ...bindings.system.files import open_to_others
from ...webapp.accounts.rights import RIGHTS
from .. import streams
from ..bindings.stores import open_accounts
from ..errors import DONE, write
from ..options import WholeNumber, database_option, json_option, test_naans_option
from ..output import Sheet, identifier, words
from .arguments import prefix_option, read_expiry


@click.command("token", short_help="Create a token.")
@click.argument("name", metavar="NAME")
@click.option("--label", metavar="TEXT", default="token", show_default=True, help="The purpose of the token.")
@click.option(
    "--expires",
    metavar="PERIOD",
    default="365d",
    callback=read_expiry,
    help="The time until the token expires: 12h, 90d, 52w, a date, or never.  [default: 365d; 24h with --emergency]",
)
@prefix_option
@click.option(
    "--right",
    "rights",
    multiple=True,
    metavar="RIGHT",
    help=f"Permit only this: {', '.join(RIGHTS)}. Can be repeated.",
)
@click.option("--emergency", is_flag=True, help="Write each request to the audit. The token ends within 7 days.")
@json_option
@test_naans_option
@database_option
def token_command(
    name: str,
    label: str,
    expires: datetime | timedelta | None,
    prefixes: tuple[str, ...],
    rights: tuple[str, ...],
    emergency: bool,
    as_json: bool,
    database: str,
) -> int:
    """Create a token for the account NAME, and print it to standard output. It cannot be printed again.

    With --prefix, the token permits changes below these prefixes only. With --right, it permits only these requests,
    and none of an administrator.

    Exit code: 0 done, 1 no such account, 2 refused, 69 no database.

    \b
      ararat account token jane --label repository --expires 90d > token.txt
      ararat account token jane --label minter --right mint --right read > minter.txt
    """
    source = click.get_current_context().get_parameter_source("expires")
    if emergency and source is ParameterSource.DEFAULT:
        expires = timedelta(hours=24)
    with open_accounts(database) as accounts:
        ends = accounts.bindings.now() + expires if isinstance(expires, timedelta) else expires
        token, secret = accounts.tokens.create(
            name, label, ends, prefixes or None, rights=rights or None, emergency=emergency
        )
    if as_json:
        streams.dump({"token": secret} | token.as_dict())
        return DONE
    write([secret])
    if mode := _rights_of_output():
        warning = f"ararat: warning: other users can read the file with the token ({mode}); run: chmod o= FILE"
        write(Sheet.of(sys.stderr).prose(warning, style="warning"), to=sys.stderr)
    until = f"expires {_day(token.expires)}" if token.expires else "never expires"
    note = f"token {token.number} {until}; store it now, because it cannot be printed again"
    write(Sheet.of(sys.stderr).prose(note), to=sys.stderr)
    return DONE


@click.command("tokens", short_help="List the tokens of an account.")
@click.argument("name", metavar="NAME")
@json_option
@database_option
def tokens_command(name: str, as_json: bool, database: str) -> int:
    """List the tokens of the account NAME with their last use, also expired and revoked ones.

    Exit code: 0 done, 1 no such account, 69 no database.
    """
    with open_accounts(database, reading=True) as accounts:
        tokens = accounts.tokens.list(name)
        now = accounts.bindings.now()
    sheet = Sheet.of(sys.stdout)
    for token in tokens:
        if as_json:
            streams.dump(token.as_dict())
            continue
        parts = [f"{token.number}  {words(token.label)}"]
        if token.prefixes is not None:
            parts.append("for " + " ".join(map(identifier, token.prefixes)))
        if token.rights is not None:
            parts.append("only " + " ".join(token.rights))
        if token.emergency:
            parts.append("emergency")
        if token.revoked:
            parts.append(f"revoked {_day(token.revoked)}")
        elif token.expires:
            parts.append(f"{'expired' if token.expires <= now else 'expires'} {_day(token.expires)}")
        parts.append(f"last used {_day(token.last_used)}" if token.last_used else "not used")
        write(sheet.prose(", ".join(parts)))
    return DONE


@click.command("revoke-token", short_help="Revoke a token.")
@click.argument("number", type=WholeNumber(1, 2**53), metavar="NUMBER")
@database_option
def revoke_token_command(number: int, database: str) -> int:
    """Revoke the token NUMBER permanently. It takes effect immediately.

    Exit code: 0 done, 1 no such token, 69 no database.
    """
    with open_accounts(database) as accounts:
        accounts.tokens.revoke(number)
    write([f"revoked token {number}"])
    return DONE


def _rights_of_output() -> str | None:
    """Return the permissions of the file that standard output is written to, if other users can read it."""
    try:
        file_stat = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):
        return None
    return open_to_others(file_stat) if stat.S_ISREG(file_stat.st_mode) else None


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
