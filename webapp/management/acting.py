"""The actor of a request: :func:`acting` gives a request its :class:`AccountActor`, and the audit has its refusals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ...bindings.checks.new_names import note_warnings
from ...bindings.names import validation
from ...bindings.names.actor import Actor
from ...bindings.names.errors import BindingError, BindingsUnavailable
from ...bindings.system.concurrency import Busy
from ...bindings.system.thread_slots import slots
from ...identifiers.text.translatable import Translatable
from ..accounts import audit
from ..accounts.rights import find_needed_rights
from .permissions import (
    Forbidden,
    known_to,
    not_granted,
    require_curator,
    require_right,
    require_same_owner,
    shown_to,
    without_values,
)

if TYPE_CHECKING:
    from ...bindings.changes import ChangeResult, NameChange
    from ...bindings.names.assignment import Change
    from ...bindings.names.binding import Binding
    from ...bindings.names.naming import Name
    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

BRIEF_SECONDS = 2.0
"""The time in which most changes end. A change waits for a slot only behind such a change."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AccountActor(Actor):
    """An account as the actor of a change of names, which the bindings ask for its permissions. ``minted`` are the
    keys that the change minted, ``granted`` those whose grant was checked before.
    """

    accounts: Accounts
    caller: Caller
    minted: set[str] = field(default_factory=set, compare=False)
    granted: set[str] = field(default_factory=set, compare=False)

    def note_minted(self, keys: Iterable[str]) -> None:
        """Record names that this change minted. Such a name needs only the right to mint."""
        self.minted.update(keys)

    @property
    def reads_reserved(self) -> bool:
        """Whether the account can read reserved names."""
        return self.caller.may("read")

    def may_read(self, binding: Binding) -> bool:
        """Return whether the account learns that a name is recorded: a reserved one only with the right to read."""
        return known_to(self.caller, binding)

    def may_change(self, key: str) -> bool:
        """Return whether the account has a grant for the name with this key."""
        return self.caller.may_change(key)

    def sees(self, binding: Binding) -> bool:
        """Return whether the account sees the values of a recorded name (:func:`~.permissions.shown_to`)."""
        return shown_to(self.caller, binding, self.accounts.bindings)

    def require_granted(self, key: str) -> None:
        """Raise :class:`Forbidden` if the account has no grant for a name. Call it before the name is read."""
        if not self.caller.may_change(key):
            raise not_granted(self.caller, key)
        self.granted.add(key)

    def refusal(self, key: str, error: BindingError) -> BindingError:
        """Return ``error`` without values that the account does not see. Without a grant, it is ``not-granted``."""
        if not self.may_change(key):
            return not_granted(self.caller, key)
        return without_values(self.caller, error, self.accounts.bindings)

    def check(self, before: Binding | None, change: Change) -> None:
        """Raise :class:`Forbidden` if the account must not make a change. ``before`` is None for a new name.
        It needs a grant for the name and the rights for the action. Only an administrator can change the owner.
        """
        if change.action is not None:
            key = change.after.identifier
            # An operation on many names can have too many to remember them.
            if key not in self.granted and not self.caller.may_change(key):
                raise not_granted(self.caller, key)
            token = self.caller.token
            if token is not None and token.rights is not None:
                for right in sorted(find_needed_rights(before, change, is_minted=key in self.minted)):
                    require_right(self.caller, right, key)
            require_same_owner(self.caller, before, change.after)

    def confirm(self, transaction: Transaction) -> None:
        """Raise :class:`Forbidden` if a permission was revoked since the change began, as its transaction reads."""
        if not self.accounts.is_current(self.caller, transaction.connection):
            message = Translatable("the account, its token, role or a prefix was revoked before the change ended")
            raise Forbidden("role-missing", message)


@contextmanager
def acting(
    accounts: Accounts,
    caller: Caller | None,
    operation: str,
    name: Name | None = None,
    *,
    require: Callable[[Caller | None], Caller] = require_curator,
    max_names: int | None = None,
    warns: bool = False,
    asked: bool = False,
) -> Iterator[AccountActor]:
    """Begin a change by an account. Yield the actor to pass to the methods of the bindings.

    - ``operation``: the name of the operation for the audit, such as "import". ``name``: None for several names.
    - ``require``: a function that returns the caller, or raises Forbidden.
    - ``warns``: whether the results of the change have warnings about probable mistakes.
    - ``asked``: whether a person was asked about values that another name has, so that no warning repeats it.

    A :class:`BindingError` in the block is written to the audit. Changes that wait for the database never hold all
    threads of a server: without a free slot (:mod:`~ararat.bindings.system.thread_slots`),
    :class:`BindingsUnavailable` is raised.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from ararat.webapp.accounts.model import Caller
    >>> from ararat.webapp.accounts.store import Accounts
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> accounts = Accounts(b)
    >>> jane = Caller(account=accounts.add("jane", "curator", ["ark:12345/x5"]))
    >>> with acting(accounts, jane, "bind", "ark:12345/x5a") as actor:
    ...     b.bind("ark:12345/x5a", "https://example.org/1", actor=actor)
    'bound'
    >>> try:
    ...     with acting(accounts, jane, "delete", "ark:12345/y1") as actor:
    ...         b.delete("ark:12345/y1", actor=actor)
    ... except Forbidden as error:
    ...     print(error.code)
    not-granted
    >>> b.close(); folder.cleanup()
    """
    try:
        known = require(caller)
        actor = AccountActor(
            name=known.account.name,
            address=known.address,
            operation=operation,
            account=known.account.number,
            token=known.token and known.token.number,
            max_names=max_names,
            at_end=(partial(note_warnings, shared=not asked), *known.at_end) if warns else known.at_end,
            accounts=accounts,
            caller=known,
        )
        try:
            slot = slots.acquire("changes", brief=BRIEF_SECONDS)
        except Busy:
            raise BindingsUnavailable(
                Translatable.counted(
                    "%(number)s change waits for the database; try again in some seconds",
                    "%(number)s changes wait for the database; try again in some seconds",
                    slots.limit("changes"),
                )
            ) from None
        with slot:
            yield actor
    except BindingsUnavailable:
        raise
    except BindingError as error:
        record_refusal(accounts, caller, operation, error.identifier or name, error.code)
        raise


def change_name(
    accounts: Accounts,
    caller: Caller | None,
    operation: str,
    name: Name,
    request: Callable[[Name], NameChange],
    *,
    asked: bool = False,
) -> ChangeResult:
    """Change one name for an account. ``request`` returns the change, such as
    :func:`~ararat.bindings.changes.withdraw`. The other arguments are those of :func:`acting`.
    """
    with acting(accounts, caller, operation, name, warns=True, asked=asked) as actor:
        return accounts.bindings.change([request(name)], actor=actor)[0]


def record_refusal(accounts: Accounts, caller: Caller | None, operation: str, name: Name | None, code: str) -> None:
    """Write a refused change of an account to the audit, or to the server log if the database cannot be written.
    ``code`` is that of the error, such as ``role-missing``. ``name`` is None for several names.
    """
    if caller is None:
        return
    when = accounts.bindings.now()
    try:
        accounts.run_in_transaction(
            lambda connection: audit.record(connection, caller, operation, text_of(name), code, when=when)
        )
    except (BindingsUnavailable, BindingError) as error:
        _log.warning("The audit does not have the refused %s of %s (%s): %s", operation, caller.actor, code, error)


def text_of(name: Name | None) -> str | None:
    """Return the text of a name in printable ASCII for the audit, at most 400 characters."""
    if name is None:
        return None
    return validation.quote(name if isinstance(name, str) else name.text, 400)
