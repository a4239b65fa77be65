"""The changes that a request of an account makes, as the interfaces make them: an actor for it, and a verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ararat.bindings import changes
from ararat.bindings.changes import ChangeResult
from ararat.bindings.collection import Bindings
from ararat.bindings.creation import NewName
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.fields import Fields
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management import new_names, reading
from ararat.webapp.management.acting import change_name

NOTHING = Fields()


class Acts:
    """The names and the accounts of a site. The first argument of each method is the caller of the request."""

    def __init__(self, bindings: Bindings, accounts: Accounts | None = None) -> None:
        self.bindings, self.accounts = bindings, accounts or Accounts(bindings)

    def show(self, caller: Caller | None, name: str) -> Binding:
        return reading.show(self.bindings, caller, name)

    def save(self, caller: Caller | None, name: str, fields: Fields, **options: Any) -> ChangeResult:
        request = partial(changes.save, fields=fields, rules=self.bindings.naming, **options)
        return self._made(caller, "save", name, request)

    def change(self, caller: Caller | None, name: str, fields: Fields, **options: Any) -> ChangeResult:
        request = partial(changes.patch, fields=fields, **options)
        return self._made(caller, "change", name, request)

    def create(self, caller: Caller | None, wanted: Sequence[NewName], **options: Any) -> list[ChangeResult]:
        return new_names.create(self.accounts, caller, wanted, **options)

    def mint(self, caller: Caller | None, shoulder: str, fields: Any = NOTHING) -> ChangeResult:
        return self.create(caller, [NewName(fields, shoulder=shoulder)])[0]

    def delete(self, caller: Caller | None, name: str, **options: Any) -> ChangeResult:
        return self._made(caller, "delete", name, partial(changes.delete, **options))

    def withdraw(self, caller: Caller | None, name: str, **options: Any) -> ChangeResult:
        return self._made(caller, "withdraw", name, partial(changes.withdraw, **options))

    def restore(self, caller: Caller | None, name: str, **options: Any) -> ChangeResult:
        return self._made(caller, "restore", name, partial(changes.restore, is_same=True, **options))

    def relocate(self, caller: Caller | None, name: str, fields: Fields, **options: Any) -> ChangeResult:
        return self._made(caller, "relocate", name, partial(changes.relocate, fields=fields, **options))

    def _made(self, caller: Caller | None, operation: str, name: str, request: Callable[..., Any]) -> ChangeResult:
        return change_name(self.accounts, caller, operation, name, request)
