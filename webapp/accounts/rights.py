"""The rights of tokens: what a token can do, if it can do less than its account.
The fields that a change sets decide which rights it needs (:func:`find_needed_rights`), so that each interface asks for
the same.

>>> RIGHTS["relocate"].action, RIGHTS["relocate"].label
('change targets', 'Change targets')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...bindings.names.binding import PLACE
from ...bindings.names.fields import FIELDS
from ...identifiers.text.translatable import Translatable

if TYPE_CHECKING:
    from ...bindings.names.assignment import Change
    from ...bindings.names.binding import Binding
    from ...bindings.names.operation import OperationKind

Right = Literal["read", "mint", "bind", "describe", "relocate", "withdraw"]


class RightText(NamedTuple):
    """The words for a right: ``action`` completes "has no right to", and ``label`` is beside a check box."""

    action: str
    label: str


RIGHTS: Mapping[Right, RightText] = {
    "read": RightText(
        Translatable("read reserved names and the history"), Translatable("Read reserved names and the history")
    ),
    "mint": RightText(Translatable("mint names"), Translatable("Mint names")),
    "bind": RightText(Translatable("bind or publish names"), Translatable("Bind or publish names")),
    "describe": RightText(Translatable("change metadata"), Translatable("Change metadata")),
    "relocate": RightText(Translatable("change targets"), Translatable("Change targets")),
    "withdraw": RightText(
        Translatable("withdraw, restore, hold or delete names"), Translatable("Withdraw, restore, hold or delete names")
    ),
}
"""The rights with the requests that they permit, in the order of display. Every other list of them is derived."""

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


def rights_of(kind: OperationKind, arguments: Mapping[str, Any]) -> list[Right]:
    """Return the rights of which a token needs at least one for an operation on many names. An undo needs none.

    >>> from ararat.bindings.names.operation import kind_of
    >>> import ararat.bindings.operations
    >>> rights_of(kind_of("edit"), {"fields": {"redirect": 307}}), rights_of(kind_of("publish"), {})
    (['relocate', 'bind'], ['bind'])
    """
    found: list[Right] = [each for each in RIGHTS if each in kind.rights]
    for field in kind.sets(arguments):
        right = _OF_FIELD.get(field, "describe")
        # The first target of a name needs "bind".
        found.extend((right, "bind") if right == "relocate" else (right,))
    return list(dict.fromkeys(found))


def find_needed_rights(before: Binding | None, change: Change, *, is_minted: bool = False) -> frozenset[Right]:
    """Return the rights that a change of a name needs, all of them; none for a change without effect. ``before`` is
    None for a new name. A minted name needs "mint"; a chosen one, the first target and the publication need "bind".
    Another target needs "relocate", other metadata "describe". The end of a name, its return, and its hold need
    "withdraw".
    """
    after = change.after
    if change.action is None:
        return frozenset()
    found: set[Right] = set()
    if change.action in _ENDING or after.status == "withdrawn":
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
