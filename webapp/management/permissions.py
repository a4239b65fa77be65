"""The permissions of callers, by role and granted prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ...bindings.holding import public_answer
from ...bindings.imports.sources.ezid.element_names import OWNER
from ...bindings.names import validation
from ...bindings.names.errors import BindingConflict, BindingError, Stale
from ...identifiers.text.translatable import Translatable
from ..accounts.model import ROLE_LABELS
from ..accounts.rights import RIGHTS

if TYPE_CHECKING:
    from ...bindings.collection import Bindings
    from ...bindings.names.binding import Binding
    from ..accounts.model import Caller
    from ..accounts.rights import Right


class Forbidden(BindingError):
    """Raised for a request that the caller has no permission for.
    The codes are ``account-required``, ``role-missing``, ``right-missing`` and ``not-granted``.
    """


def require_account(caller: Caller | None) -> Caller:
    """Return the account that makes a request. Raises :class:`Forbidden` (``account-required``) for None."""
    if caller is None:
        raise Forbidden("account-required")
    return caller


def require_curator(caller: Caller | None) -> Caller:
    """Return the caller if its role permits changes of names. Raises :class:`Forbidden` for None
    (``account-required``), for a reader (``role-missing``), and for a token that can only read (``right-missing``).
    """
    known = require_account(caller)
    if known.role == "reader" and known.account.role != "reader":
        _refuse_right(known, Translatable("has only the right to read"))
    if known.role == "reader":
        raise Forbidden("role-missing", Translatable("a reader cannot change names"))
    return known


def require_administrator(caller: Caller | None) -> Caller:
    """Return the caller if it is an administrator. Raises :class:`Forbidden` for another caller (``role-missing``),
    and for a token with only some rights (``right-missing``).
    """
    known = require_account(caller)
    if known.account.role == "administrator" and known.token is not None and known.token.rights is not None:
        _refuse_right(known, Translatable("has only some rights of the account, and this needs all of them"))
    if not known.is_administrator:
        raise Forbidden(
            "role-missing",
            Translatable(
                "only an administrator can do this, and the caller is a %(role)s", role=ROLE_LABELS[known.role]
            ),
        )
    return known


def require_right(caller: Caller, right: Right, key: str | None = None) -> None:
    """Raise :class:`Forbidden` (``right-missing``) if the token of the caller does not have a right. A request without
    a token has all rights of its account. ``key`` is the name for the message.
    """
    if not caller.may(right):
        _refuse_right(
            caller,
            Translatable("has no right to %(action)s (%(right)s)", action=RIGHTS[right].action, right=right),
            key,
        )


def known_to(caller: Caller | None, binding: Binding) -> bool:
    """Return whether a caller learns that a name is recorded. A reserved one is known to callers that can read."""
    return not binding.is_reserved or (caller is not None and caller.may("read"))


def shown_to(caller: Caller | None, binding: Binding, bindings: Bindings) -> bool:
    """Return whether a caller sees the values of a recorded name, such as its target. Each answer about a name asks it.
    Without the right to read, only live names that are not on hold are shown, as the resolver shows them. An answer to
    a change also shows a name that is new.
    """
    if caller is not None and caller.may("read"):
        return True
    return binding.is_live and public_answer(binding, bindings.source.holds(), bindings.now()).hold is None


def without_values(caller: Caller | None, error: BindingError, bindings: Bindings) -> BindingError:
    """Return the title of an error instead of its sentence, if that has values of a recorded name which the caller does
    not see. Each list of refused names, and each answer to an error, asks it.
    """
    existing = error.existing if isinstance(error, BindingConflict | Stale) else None
    if existing is None or shown_to(caller, existing, bindings):
        return error
    title = BindingError(error.code, identifier=error.identifier)
    title.field, title.item = error.field, error.item
    return title


def require_reader(caller: Caller | None) -> Caller:
    """Return the caller if its token has the right to read, which all callers without a token have. Raises
    :class:`Forbidden` for another caller, and for None.
    """
    known = require_account(caller)
    require_right(known, "read")
    return known


def _refuse_right(caller: Caller, why: Translatable, key: str | None = None) -> NoReturn:
    label = validation.quote(caller.token.label if caller.token else "", 100)
    message = Translatable(
        "the token %(label)s %(reason)s; the account %(account)s can create one with more rights",
        label=label,
        reason=why,
        account=caller.actor,
    )
    raise Forbidden("right-missing", message, identifier=key)


def require_granted(caller: Caller | None, key: str) -> Caller:
    """Return the caller if it can change the name with a key. Raises :class:`Forbidden` (``not-granted``) if the
    account or its token has no grant for it, and the errors of :func:`require_curator`.
    """
    known = require_curator(caller)
    if not known.may_change(key):
        raise not_granted(known, key)
    return known


def not_granted(caller: Caller, key: str) -> Forbidden:
    """Return the error ``not-granted`` for a change of the name with this key by ``caller``."""
    message = Translatable(
        "the account %(account)s or its token has no grant for %(name)s; an administrator can add one",
        account=caller.actor,
        name=validation.quote(key, 100),
    )
    return Forbidden("not-granted", message, identifier=key)


def require_same_owner(caller: Caller, before: Binding | None, after: Binding) -> None:
    """Raise :class:`Forbidden` if a change sets another owner for EZID clients. Only an administrator can do this."""
    recorded = before.metadata.get(OWNER) if before else None
    if after.metadata.get(OWNER) != recorded and not caller.is_administrator:
        message = Translatable("only an administrator can change the owner (the metadata %(element)s)", element=OWNER)
        raise Forbidden("role-missing", message, identifier=after.identifier)
