"""The person or program that makes a change."""

from __future__ import annotations

from . import validation
from .fields import MAX_ACTOR


def check_actor(actor: str | None) -> None:
    """Check the person or program that makes a change. None is permitted.

    Raises :class:`BindingError` with the code ``actor-text`` for a text that the history cannot record.
    """
    if actor is not None:
        validation.check(actor, "actor-text", "actor", MAX_ACTOR)
