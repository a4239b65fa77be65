"""Find the few new names of plain rows that a warning can concern. Only these are compared one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from ..checks import new_names, plausibility
from ..checks.new_names import ComparedName, TypingErrors
from ..checks.shared_values import NewValues, title_in
from ..names.binding import NOTHING
from ..names.metadata import persistence
from ..storage.recorded import RecordedNames
from .plain_rows import PlainNames

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction


def compared(names: PlainNames, number: int) -> ComparedName:
    """Return what :meth:`.ComparedName.of` returns for the binding of a new name."""
    key, target, resource = names.keys[number], names.targets[number], names.resources[number] or None
    metadata = names.metadata(number)
    shared = NewValues(key, (resource,) if resource else (), target, title_in(metadata) if metadata else "")
    if names.rows[number].minted:
        # A minted name has no typing error.
        return ComparedName("", target, resource, metadata=metadata, shared=shared)
    return ComparedName(key, target, resource, NOTHING, True, metadata, names.spellings[number], True, shared)


def suspects(
    names: PlainNames,
    beside: Sequence[tuple[int, ComparedName]],
    transaction: Transaction,
    recorded: RecordedNames,
) -> tuple[Iterable[int], TypingErrors | None]:
    """Return the numbers of the names that can have a warning of :func:`.new_names.warnings_inside`, and the typing
    errors of all. ``beside`` are other names of the block, with their places.
    """
    if any(row.minted for row in names.rows):
        return range(len(names)), None
    found = {*plausibility.suspects(names.targets)}
    for element in persistence.TERMS:
        found.update(number for number, text in enumerate(names.elements.get(f"erc.{element}", ())) if text)
    if not transaction.actor.reads_reserved:
        return found, None
    found.update(new_names.marked(names.spellings))
    keys: Sequence[str] = names.keys
    if typed := [(place, each.key) for place, each in beside if each.is_new and each.is_typed]:
        keys = [key for _, key in sorted([*typed, *zip(names.places, names.keys, strict=True)])]
    records = transaction.prefixes()
    errors = TypingErrors.of(recorded, [*transaction.patterns(), *records.patterns], keys)
    if records.prefixes:
        found.update(number for number, key in enumerate(names.keys) if records.missing(key))
    if errors.right or errors.recorded:
        found.update(number for number, key in enumerate(names.keys) if errors.concerns(key))
    values = [each.shared for _, each in beside if each.shared is not None]
    others = {each.target or "" for each in (*values, *(each for _, each in beside))}
    found.update(_shared(recorded, "target", names.targets, others))
    numbers = {each.resource or "" for _, each in beside} | {number for each in values for number in each.numbers}
    found.update(_shared(recorded, "resource", names.resources, numbers))
    if (texts := names.elements.get("erc.what")) is not None:
        titles = [
            "" if not text or text.startswith("(:") else folded or ""
            for text, folded in zip(texts, names.titles, strict=True)
        ]
        found.update(_shared(recorded, "sort_title", titles, {each.folded_title for each in values if each.title}))
    return found, errors


def _shared(
    recorded: RecordedNames, column: Literal["target", "resource", "sort_title"], texts: Sequence[str], others: set[str]
) -> Iterable[int]:
    """Return the places of texts of a column that another name has, too."""
    distinct = {*texts}
    distinct.discard("")
    if not distinct:
        return ()
    shared = distinct & others | recorded.sharing(column, distinct, withdrawn=False).keys()
    if len(distinct) < len(texts):
        shared |= {text for text, number in Counter(texts).items() if number > 1 and text}
    return [place for place, text in enumerate(texts) if text in shared] if shared else ()
