"""The command ``account``: manage the accounts of a site."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from .. import exposed_files, streams
from ..bindings.stores import open_accounts
from ..errors import DONE, write
from ..options import database_option, json_option, test_naans_option
from ..output import Sheet, identifier, words
from . import audit, tokens
from .arguments import force_option, prefix_option, read_password

if TYPE_CHECKING:
    from ...webapp.accounts.model import Account

_NAME = click.argument("name", metavar="NAME")
_ROLES = click.Choice(["reader", "curator", "administrator"])


@click.group("account", short_help="Manage the accounts of people and programs.")
def account_command() -> None:
    """Manage the accounts of people and programs that manage names over HTTP.

    A reader sees reserved names and the history. A curator also changes the names below the granted prefixes. An
    administrator also manages accounts, prefixes and rules. Sign-in is disabled until the first account exists.
    """


@account_command.command("add", short_help="Add an account.")
@_NAME
@click.option("--role", type=_ROLES, required=True, help="The role of the account.")
@prefix_option
@click.option("--password-stdin", is_flag=True, help="Read a password from standard input.  [default: no password]")
@click.option("--program", is_flag=True, help="Mark it as the account of a program, to which no person signs in.")
@test_naans_option
@database_option
def add_command(
    name: str, role: str, prefixes: tuple[str, ...], password_stdin: bool, program: bool, database: str
) -> int:
    """Add the account NAME: letters a-z, digits and . _ - + @. A name is never used again.

    An account without a password uses tokens, or signs in elsewhere. A password has at least 12 characters.

    Exit code: 0 done, 2 refused, 66 no password, 69 no database.

    \b
      ararat account add jane --role curator --prefix ark:12345/x5 --password-stdin < password.txt
    """
    password = read_password() if password_stdin else None
    with open_accounts(database) as accounts:
        account = accounts.add(name, role, prefixes, password, is_program=program)
        exposed = list(exposed_files.exposed_database(database, accounts.bindings))
    _report("added", account)
    exposed_files.warn([*exposed, *exposed_files.exposed_secrets(exposed_files.secret_files(os.environ))])
    return DONE


@account_command.command("list", short_help="List the accounts.")
@json_option
@database_option
def list_command(as_json: bool, database: str) -> int:
    """List all accounts with their roles, prefixes and linked identities, also disabled ones."""
    with open_accounts(database, reading=True) as accounts:
        accounts_and_identities = [(account, accounts.identities.list(account)) for account in accounts.list()]
    sheet = Sheet.of(sys.stdout)
    for account, identities in accounts_and_identities:
        if as_json:
            linked = [{"issuer": issuer, "subject": subject} for issuer, subject in identities]
            streams.dump(account.as_dict() | {"identities": linked})
            continue
        notes = [*(["disabled"] if account.disabled else [])]
        notes += ["program"] if account.is_program else [] if account.has_password else ["no password"]
        write(sheet.prose(f"{_account_line(account)}{', ' if notes else ''}{', '.join(notes)}"))
        for issuer, subject in identities:
            write(sheet.prose(f"{identifier(issuer)} {words(subject)}", indent=2, style="soft"))
    return DONE


@account_command.command("grant", short_help="Let an account change names below a prefix.")
@_NAME
@click.argument("prefix", metavar="PREFIX")
@test_naans_option
@database_option
def grant_command(name: str, prefix: str, database: str) -> int:
    """Let the account NAME change the names that begin with PREFIX: a NAAN, a shoulder, or the beginning of URNs.

    Exit code: 0 done, 1 no such account, 2 PREFIX is not valid, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.grant(name, prefix)
    _report("granted", account)
    return DONE


@account_command.command("revoke", short_help="Remove a grant.")
@_NAME
@click.argument("prefix", metavar="PREFIX")
@test_naans_option
@database_option
def revoke_command(name: str, prefix: str, database: str) -> int:
    """Remove the grant of PREFIX from the account NAME. It takes effect immediately.

    Exit code: 0 done, 1 no such account or grant, 2 PREFIX is not valid, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.revoke(name, prefix)
    _report("revoked", account)
    return DONE


@account_command.command("role", short_help="Change the role of an account.")
@_NAME
@click.argument("role", metavar="ROLE", type=_ROLES)
@force_option
@database_option
def role_command(name: str, role: str, force: bool, database: str) -> int:
    """Change the role of the account NAME to ROLE: reader, curator or administrator. Its grants stay.

    Exit code: 0 done, 1 no such account, 2 it is the last administrator, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.set_role(name, role, force=force)
    _report("changed", account)
    return DONE


@account_command.command("disable", short_help="Disable an account with its tokens and sessions.")
@_NAME
@force_option
@database_option
def disable_command(name: str, force: bool, database: str) -> int:
    """Disable the account NAME with its tokens, and end its sessions. It takes effect immediately.

    Exit code: 0 done, 1 no such account, 2 it is the last administrator, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.disable(name, force=force)
    _report("disabled", account)
    return DONE


@account_command.command("enable", short_help="Enable a disabled account.")
@_NAME
@database_option
def enable_command(name: str, database: str) -> int:
    """Enable the account NAME. Its tokens are valid again. To replace them, revoke them before.

    Exit code: 0 done, 1 no such account, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.enable(name)
    _report("enabled", account)
    return DONE


@account_command.command("password", short_help="Set or remove the password of an account.")
@_NAME
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--remove", is_flag=True, help="Remove the password.")
@database_option
def password_command(name: str, password_stdin: bool, remove: bool, database: str) -> int:
    """Set or remove the password of the account NAME, and end its sessions. Its tokens stay valid.

    Failed attempts to sign in to the account are forgotten.

    Exit code: 0 done, 1 no such account, 2 refused, 66 no password, 69 no database.

    \b
      ararat account password jane --password-stdin < password.txt
    """
    if password_stdin == remove:
        raise click.UsageError("give either --password-stdin or --remove")
    password = read_password() if password_stdin else None
    with open_accounts(database) as accounts:
        account = accounts.set_password(name, password)
    _report("removed the password of" if remove else "set the password of", account)
    return DONE


@account_command.command("unlock", short_help="Forget failed attempts to sign in to an account.")
@_NAME
@database_option
def unlock_command(name: str, database: str) -> int:
    """Forget the failed attempts to sign in to the account NAME, so that its user can sign in at once.

    An address with 20 failed attempts for other names stays locked for 15 minutes.

    Exit code: 0 done, 1 no such account, 69 no database.
    """
    with open_accounts(database) as accounts:
        account = accounts.unlock(name)
    _report("unlocked", account)
    return DONE


@account_command.command("program", short_help="Mark an account as that of a program.")
@_NAME
@click.option("--remove", is_flag=True, help="Remove the mark, and refuse the tokens of its provider.")
@force_option
@database_option
def program_command(name: str, remove: bool, force: bool, database: str) -> int:
    """Mark the account NAME as that of a program: no person can sign in to it, and tokens of its provider are accepted.

    It loses its password, and its sessions end. Link the issuer and the subject of its tokens with ararat account link.

    Exit code: 0 done, 1 no such account, 2 it is the last administrator, 69 no database.

    \b
      ararat account add mint-action --role curator --prefix ark:12345/x5 --program
      ararat account link mint-action --issuer https://login.example.edu --subject service-account-3f1c
    """
    with open_accounts(database) as accounts:
        account = accounts.set_program(name, not remove, force=force)
    _report("removed the mark of" if remove else "marked as a program:", account)
    return DONE


@account_command.command("link", short_help="Let an OpenID identity use an account.")
@_NAME
@click.option("--issuer", metavar="URL", required=True, help="The issuer that the sign-in page shows, or iss.")
@click.option("--subject", metavar="TEXT", required=True, help="The subject that the sign-in page shows, or sub.")
@click.option("--claim", metavar="NAME", help="The subject is the value of this claim until the first sign-in.")
@click.option("--remove", is_flag=True, help="Remove the link, and end the sessions of the account.")
@database_option
def link_command(name: str, issuer: str, subject: str, claim: str | None, remove: bool, database: str) -> int:
    """Let an identity of an OpenID provider sign in to the account NAME, or send tokens for that of a program.

    With --claim, the provider confirms the value at the first sign-in (ararat serve --openid-claim). Then the link is
    replaced by the subject.

    Exit code: 0 done, 1 no such account or link, 2 the issuer is not a URL, or the identity is
    linked to another account, 69 no database.

    \b
      ararat account link jane --issuer https://login.example.edu --claim email --subject jane@uni.example
    """
    with open_accounts(database) as accounts:
        change = accounts.identities.unlink if remove else accounts.identities.link
        account = change(issuer, subject, name, claim=claim)
    _report("unlinked" if remove else "linked", account)
    return DONE


for each in (tokens.token_command, tokens.tokens_command, tokens.revoke_token_command, audit.audit_command):
    account_command.add_command(each)


def _report(outcome: str, account: Account) -> None:
    write([f"{outcome} {_account_line(account)}"])


def _account_line(account: Account) -> str:
    return " ".join([f"{account.name}  {account.role}", *map(identifier, account.prefixes)])
