"""The changes of one account by forms: role, grants, password, sessions, tokens, and disabling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from flask import request

from ....identifiers.text.translatable import Translatable
from ...accounts.model import Account, AccountError, Caller
from ...accounts.store import LINK_HOURS, Accounts
from ...config import site, site_bindings, url
from .. import messages
from ..forms import FieldProblem
from .forms import account_problem, read_prefixes
from .tokens import revoke_of

Change = Callable[[Accounts, Account, Caller], str]
"""A change of an account by a caller with the values of the form. It returns a sentence about the change.

The sentence is empty if the change has put its own message.
"""


class WrongField(Exception):
    """A field of a form is wrong. ``field`` is its name, "" for a form without fields; ``problem`` is to be shown."""

    def __init__(self, field: str, problem: FieldProblem) -> None:
        self.field = field
        self.problem = problem
        super().__init__(field, problem)


def _role(accounts: Accounts, account: Account, by: Caller) -> str:
    changed = _check("role", lambda: accounts.set_role(account.name, request.form.get("role", ""), by=by))
    if changed.role == "administrator":
        return Translatable("The account %(name)s is an administrator now.", name=changed.name)
    if changed.role == "curator":
        return Translatable("The account %(name)s is a curator now.", name=changed.name)
    return Translatable("The account %(name)s is a reader now.", name=changed.name)


def _grant(accounts: Accounts, account: Account, by: Caller) -> str:
    prefixes, problem = read_prefixes(request.form.get("prefix", ""), site_bindings().naming)
    if problem or not prefixes:
        raise WrongField(
            "prefix",
            problem
            or FieldProblem(
                Translatable("The prefix is missing."), Translatable("a NAAN, a shoulder or the beginning of URNs")
            ),
        )
    for prefix in prefixes:
        accounts.grant(account.name, prefix, by=by)
    return Translatable.counted(
        "The account %(name)s has the prefix %(prefixes)s now.",
        "The account %(name)s has the prefixes %(prefixes)s now.",
        len(prefixes),
        name=account.name,
        prefixes=", ".join(prefixes),
    )


def _revoke(accounts: Accounts, account: Account, by: Caller) -> str:
    prefix = request.form.get("prefix", "")
    if prefix not in account.prefixes:
        raise WrongField(
            "", FieldProblem(Translatable("The account has no grant for this prefix. Load the page again."))
        )
    _check("", lambda: accounts.revoke(account.name, prefix, by=by))
    return Translatable("The account %(name)s has no grant for %(prefix)s now.", name=account.name, prefix=prefix)


def _disable(accounts: Accounts, account: Account, by: Caller) -> str:
    _check("", lambda: accounts.disable(account.name, by=by))
    return Translatable(
        "The account %(name)s is locked. Its sessions are ended, and its tokens are not valid.", name=account.name
    )


def _enable(accounts: Accounts, account: Account, by: Caller) -> str:
    accounts.enable(account.name, by=by)
    accounts.unlock(account.name, by=by)
    return Translatable("The account %(name)s is unlocked. Its tokens are valid again.", name=account.name)


def _link(accounts: Accounts, account: Account, by: Caller) -> str:
    try:
        put_link(account, accounts.make_link(account.name, by=by))
    except AccountError as error:
        raise WrongField("", account_problem(error)) from error
    return ""


def put_link(account: Account, secret: str) -> None:
    """Show a URL to set a password, made of the ``secret`` of a one-time link, on the next page of the browser."""
    root = site().origin or request.host_url.rstrip("/")
    said = Translatable.counted(
        "Send this link to the person of the account %(name)s. It is valid once, within %(number)s hour. "
        "It is not shown again.",
        "Send this link to the person of the account %(name)s. It is valid once, within %(number)s hours. "
        "It is not shown again.",
        LINK_HOURS,
        name=account.name,
    )
    link = f"{root}{url('one_time_links.choose', secret=secret)}"
    messages.put(said, "warn", secret=link)


def _no_password(accounts: Accounts, account: Account, by: Caller) -> str:
    accounts.set_password(account.name, None, by=by)
    return Translatable("The account %(name)s has no password now. Its sessions are ended.", name=account.name)


def _program(accounts: Accounts, account: Account, by: Caller) -> str:
    _check("", lambda: accounts.set_program(account.name, True, by=by))
    return Translatable("The account %(name)s is a program now. No person can sign in to it.", name=account.name)


def _person(accounts: Accounts, account: Account, by: Caller) -> str:
    accounts.set_program(account.name, False, by=by)
    return Translatable(
        "The account %(name)s is a person now. The tokens of its provider are not valid.", name=account.name
    )


def _sessions(accounts: Accounts, account: Account, by: Caller) -> str:
    accounts.sessions.end_all(account.name, by=by)
    return Translatable("All sessions of the account %(name)s are ended.", name=account.name)


def _unlock(accounts: Accounts, account: Account, by: Caller) -> str:
    accounts.unlock(account.name, by=by)
    return Translatable(
        "The account %(name)s is unlocked. Its failed attempts to sign in are forgotten.", name=account.name
    )


def _token(accounts: Accounts, account: Account, by: Caller) -> str:
    return revoke_of(by, account.name)


CHANGES: Final[Mapping[str, Change]] = MappingProxyType(
    {
        "role": _role,
        "grant": _grant,
        "revoke": _revoke,
        "disable": _disable,
        "enable": _enable,
        "one-time-link": _link,
        "remove-password": _no_password,
        "program": _program,
        "person": _person,
        "end-sessions": _sessions,
        "unlock": _unlock,
        "revoke-token": _token,
    }
)
"""The changes by the last part of their URL."""


def _check(field: str, change: Callable[[], Account]) -> Account:
    """Return the account after a change. Raises :class:`WrongField` if it is refused."""
    try:
        return change()
    except AccountError as error:
        raise WrongField(field, account_problem(error)) from error
