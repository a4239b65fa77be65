"""The person or program that makes a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from ...identifiers.text.translatable import Translatable
from . import validation
from .errors import BindingError
from .fields import MAX_ACTOR

if TYPE_CHECKING:
    from .assignment import Change
    from .binding import Binding


_LABEL = Translatable("Actor")


@dataclass(frozen=True, kw_only=True)
class Actor:
    """The person or program that makes a change of names, with its permissions. A text is an actor with only this name.

    - ``grants``: the prefixes of the names that it can change, with the records and rules of longer prefixes; None
      means all names. Another one raises :class:`BindingError` with the code ``not-granted``.
    - ``operation``: the word for the audit, such as "bind". None writes no row to the audit.
    - ``account``, ``token``, ``address``: the numbers of both, and the IP address of the client, for the audit.
    - ``max_names``: the maximum number of names of an operation on many names; None means any.
    - ``at_end``: functions that write further rows at the end of each transaction. If one raises, nothing is written.

    >>> jane = Actor(name="jane", grants=("ark:12345/x5",))
    >>> jane.may_change("ark:12345/x5np1"), jane.may_change("ark:12345/y1"), Actor.of("joe").name
    (True, False, 'joe')
    """

    name: str | None = None
    address: str | None = None
    grants: tuple[str, ...] | None = None
    operation: str | None = None
    account: int | None = None
    token: int | None = None
    max_names: int | None = None
    at_end: tuple[Callable[[Any], object], ...] = ()

    @classmethod
    def of(cls, actor: Actor | str | None) -> Actor:
        """Return an actor for an argument ``actor``: itself, one with this name only, or for None one without a name.
        Raises :class:`BindingError` (``actor-text``) for a name that is empty, too long or has control characters.
        """
        result = actor if isinstance(actor, Actor) else Actor(name=actor)
        if result.name is not None:
            validation.check(result.name, "actor-text", _LABEL, MAX_ACTOR)
        return result

    def with_end(self, record: Callable[[Any], object]) -> Self:
        """Return a copy of this actor whose changes also call ``record`` at the end of their transaction."""
        return replace(self, at_end=(*self.at_end, record))

    def may_change(self, key: str) -> bool:
        """Return whether the grants of the actor permit changes of the name with this key."""
        return self.grants is None or key.startswith(self.grants)

    @property
    def reads_reserved(self) -> bool:
        """Whether the actor can read all reserved names, and be warned of them. True here; a subclass can deny it."""
        return True

    def may_read(self, binding: Binding) -> bool:
        """Return whether the actor can read a recorded name. True here; a subclass can deny reserved ones."""
        return True

    def sees(self, binding: Binding) -> bool:
        """Return whether a result can have the values of a recorded name. True here; a subclass can deny it."""
        return True

    def require_granted(self, key: str) -> None:
        """Raise :class:`BindingError` (``not-granted``) if the actor cannot change the name with this key."""
        if not self.may_change(key):
            raise BindingError("not-granted", identifier=key)

    def refusal(self, key: str, error: BindingError) -> BindingError:
        """Return the error to show for a refused change. Without a grant it is ``not-granted`` instead of ``error``,
        which could tell about names of others. A subclass can return an error without values.
        """
        return error if self.may_change(key) else BindingError("not-granted", identifier=key)

    def check(self, before: Binding | None, change: Change) -> None:
        """Raise :class:`BindingError` (``not-granted``) if the actor may not make a change. ``before`` is None for a
        new name.
        """
        if change.action is not None:
            self.require_granted(change.after.identifier)

    def note_minted(self, keys: Iterable[str]) -> None:
        """Note that the names with these ``keys`` are newly minted, before the changes that record them are checked."""

    def confirm(self, transaction: Any) -> None:
        """Raise :class:`BindingError` if the actor has lost its permission since the transaction began. Call it at the
        end.
        """


NOBODY = Actor()
"""An unknown actor, whose changes are not in the audit."""
