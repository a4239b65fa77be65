"""The rights of tokens: what a token can do, if it can do less than its account.

A change of a name needs one or more rights (:func:`needed`), which follow from the fields that it changes. So each
interface, each import and each job asks for the same rights.

>>> RIGHTS["relocate"]
'change targets'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ...bindings.names.binding import PLACE
from ...bindings.names.fields import FIELDS
from ...identifiers.text.translatable import Translatable

if TYPE_CHECKING:
    from ...bindings.names.assignment import Change
    from ...bindings.names.binding import Binding

Right = Literal["read", "mint", "bind", "describe", "relocate", "withdraw"]

RIGHTS: Mapping[Right, str] = {
    "read": Translatable("read reserved names and the history"),
    "mint": Translatable("mint names"),
    "bind": Translatable("bind or publish names"),
    "describe": Translatable("change metadata"),
    "relocate": Translatable("change targets"),
    "withdraw": Translatable("withdraw, restore, hold or delete names"),
}
"""The rights with the requests that they permit, in the order of display."""

_OF_PLACE: Mapping[str, Right] = dict.fromkeys((*PLACE, "redirect"), "relocate")
_OF_FIELD: Mapping[str, Right] = {
    **_OF_PLACE,
    "reason": "withdraw",
    "successor": "withdraw",
    "hold_until": "withdraw",
    "hold_reason": "withdraw",
    "embargo": "bind",
}
"""The rights for changes of fields. The others need "describe"."""

# The state decides by itself, and the others follow from other changes.
_WITHOUT_RIGHT = frozenset({"status", "changed", "once_public"})
_ENDING = frozenset({"withdrawn", "restored", "redacted", "deleted", "hidden"})


def needed(before: Binding | None, change: Change, *, is_minted: bool = False) -> frozenset[Right]:
    """Return the rights that a change of a name needs.

    - ``before``: the recorded binding, or None for a new name.
    - ``change``: the action, and the binding after it.
    - ``is_minted``: whether the name was minted. It needs "mint"; a name that the user chose needs "bind".

    The first target of a name, and its publication, also need "bind". Another target needs "relocate", and other
    metadata "describe". The end of a name, its return, and its hold need "withdraw".
    """
    after = change.after
    if change.action is None:
        return frozenset()
    found: set[Right] = set()
    if change.action in _ENDING or after.is_withdrawn:
        found.add("withdraw")
    if before is None:
        found.add("mint" if is_minted else "bind")
        if after.hold_until is not None:
            found.add("withdraw")
        # A name with an embargo is published by the clock, without a further change.
        is_kept = after.is_reserved and after.target is None and after.embargo is None
        return frozenset(found if is_kept else {*found, "bind"})
    if before.is_reserved and after.is_live:
        found.add("bind")
    for field in FIELDS:
        if field.name not in _WITHOUT_RIGHT and getattr(before, field.name) != getattr(after, field.name):
            right = _OF_FIELD.get(field.name, "describe")
            found.add("bind" if right == "relocate" and before.target is None else right)
    return frozenset(found or {"describe"})
