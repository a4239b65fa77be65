"""The numbers of a thing: its inventory number, further numbers such as a barcode, and former ones. The resource never
changes, but a number on the object can. A binding records only what differs: by default the resource is the current
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ....identifiers.text.translatable import Translatable
from .. import validation
from ..binding import NOTHING, NUMBER_KINDS, Binding, numbers_in
from ..errors import BindingError

COLUMNS: Mapping[str, str] = MappingProxyType(
    {"number": "current", "further_numbers": "further", "former_numbers": "former"}
)
"""The columns of tables, with the kinds of numbers."""

MAX_NUMBER = 400
"""The maximum number of characters of a number, which is that of the index."""

MAX_NUMBERS = 50
"""The maximum number of further numbers, and of former ones."""


def check(numbers: Any) -> Mapping[str, str]:
    """Return the numbers of a request in stored form, one text per kind
    (:data:`~ararat.bindings.names.binding.NUMBER_KINDS`). Values are lists, or texts with "|" between numbers; an empty
    one deletes. Raises :class:`BindingError` with the code ``number-kind``, ``number-several`` or ``number-text``.

    >>> dict(check({"current": " 2024.17 ", "further": ["B 1", "B 2"], "former": None}))
    {'current': '2024.17', 'further': 'B 1|B 2', 'former': ''}
    """
    checked: dict[str, str] = {}
    for kind, value in numbers.items():
        if kind not in NUMBER_KINDS:
            raise BindingError(
                "number-kind", Translatable("the kind of numbers %(kind)s does not exist", kind=validation.quote(kind))
            )
        given = value or ""
        parts = numbers_in(given) if isinstance(given, str) else [part for each in given for part in numbers_in(each)]
        if len(parts) > (1 if kind == "current" else MAX_NUMBERS):
            raise BindingError(
                "number-several", Translatable("%(kind)s has %(number)s numbers", kind=kind, number=len(parts))
            )
        checked[kind] = "|".join(
            validation.check(each, "number-text", Translatable("Item number"), MAX_NUMBER) for each in parts
        )
    return MappingProxyType(checked)


def merge_numbers(existing: Binding | None, changes: Mapping[str, str], resource: str | None) -> Mapping[str, str]:
    """Return the numbers to record after a change: one text per kind, without empty ones. Kinds that the request does
    not state stay. A current number is not recorded if it is the resource after the change. A replaced one becomes a
    former number, unless the request states these.
    """
    recorded = existing.numbers if existing is not None else NOTHING
    texts = {**recorded, **changes}
    if texts.get("current") == resource:
        texts["current"] = ""
    before, current = recorded.get("current"), texts.get("current") or resource
    if "former" not in changes:
        former = numbers_in(texts.get("former", ""))
        former += [before] if before and before != current else []
        former = [each for each in dict.fromkeys(former) if each not in (current, resource)]
        texts["former"] = "|".join(former[-MAX_NUMBERS:])
    return MappingProxyType({kind: text for kind in NUMBER_KINDS if (text := texts.get(kind))})
