"""Turn operations (changes of many names) and their results into lines for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..output import Sheet, Style, format_count, identifier, words
from .bindings import difference_lines, moment, name_and_target

if TYPE_CHECKING:
    from ...bindings.names.operation import Operation
    from ...bindings.operations.plan import BulkResult, Effect, NotedName

_STYLES: dict[str, Style] = {"withdrawn": "warning", "deleted": "warning", "published": "warning", "relocated": "name"}
_DRY = {
    "relocated": "to move",
    "withdrawn": "to withdraw",
    "restored": "to restore",
    "updated": "to update",
    "deleted": "to delete",
    "reserved": "to reserve",
    "hidden": "to hide",
    "published": "to publish",
}
_DONE = {"relocated": "moved"}
_WORD = 12


def result_lines(result: BulkResult, sheet: Sheet, *, dry_run: bool) -> Iterator[str]:
    """Yield the lines of the result of an operation on many names: its counts, and how to undo it.
    After a dry run, the first changes are shown before the counts.
    """
    if dry_run:
        for effect in result.effects:
            yield from _effect(effect, sheet)
        if more := result.changed - len(result.effects):
            yield f"... and {more:,} more"
    yield from _rest_lines("left alone", result.left_alone, result.others, sheet)
    yield from sheet.prose(_counts(result))
    yield from undo_line(result.operation, sheet)


def undo_line(operation: int | None, sheet: Sheet) -> Iterator[str]:
    """Yield the line that states how to undo an operation on many names, or nothing for None.

    >>> from ..output import Sheet
    >>> list(undo_line(7, Sheet(80)))
    ['Operation 7. To undo it, run: ararat undo 7']
    """
    if operation is not None:
        yield from sheet.prose(f"Operation {operation}. To undo it, run: ararat undo {operation}")


def refused_lines(result: BulkResult, sheet: Sheet, advice: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the lines about the names whose change is refused, each with its reason.
    ``advice`` has the remedies of the command by error code.
    """
    yield from _rest_lines("refused", result.refused, result.refusals, sheet, advice)


def warned_lines(result: BulkResult, sheet: Sheet) -> Iterator[str]:
    """Yield the lines about new targets that are almost surely wrong."""
    yield from _rest_lines("warning", result.warned, result.warnings, sheet)


def operation_lines(operation: Operation, sheet: Sheet) -> Iterator[str]:
    """Yield the lines of a recorded operation: number, time, action, number of names, actor, and its parameters."""
    by = f" by {words(operation.actor)}" if operation.actor else ""
    number = sheet.paint(f"{operation.number:>6}", "strong")
    when = sheet.paint(moment(operation.started), "soft")
    names = format_count(operation.names, "name")
    yield f"{number}  {when}  {sheet.paint(operation.action, 'good')} {sheet.paint(f'{names}{by}')}"
    parameters = [f"{name} {_value(value)}" for name, value in operation.parameters.items() if value is not None]
    if operation.finished is None:
        parameters.append("not finished")
    if operation.undone_by is not None:
        parameters.append(f"undone by {operation.undone_by}")
    if parameters:
        yield from sheet.prose("; ".join(parameters), indent=8)


def _value(value: object) -> str:
    return words(value if isinstance(value, str) else json.dumps(value), most=200)


def _effect(effect: Effect, sheet: Sheet) -> Iterator[str]:
    before, after = effect.before, effect.after
    word = sheet.paint(effect.outcome.ljust(_WORD), _STYLES.get(effect.outcome, "good"))
    yield f"{word}{sheet.paint(name_and_target(before, after))}"
    if before is not None:
        yield from difference_lines(before, after, sheet, indent=_WORD)
        for place, rest in effect.kept.items():
            whole = (before.target if place == "target" else before.alternates[place]) or ""
            of = "" if place == "target" else f" of {words(place)}"
            ends = words(whole.removesuffix(rest), most=200)
            kept = words(rest or "nothing", most=200)
            yield from sheet.prose(f"the match{of} ends after {ends}; kept: {kept}", indent=_WORD)


def _rest_lines(
    word: str, names: list[NotedName], number: int, sheet: Sheet, advice: Mapping[str, str] | None = None
) -> Iterator[str]:
    style: Style = "error" if word == "refused" else "warning"
    for noted in names:
        yield f"{sheet.paint(word.ljust(_WORD), style)}{sheet.paint(identifier(noted.identifier))}"
        remedy = f"; {advice[noted.code]}" if advice and noted.code in advice else ""
        yield from sheet.prose(f"{noted.message}{remedy} ({noted.code})", indent=_WORD)
    if more := number - len(names):
        yield f"... and {more:,} more {word}"


def _counts(result: BulkResult) -> str:
    done = _DONE if result.written else _DRY
    changes = [f"{number:,} {done.get(outcome, outcome)}" for outcome, number in sorted(result.counts.items())]
    for number, what in (
        (result.unchanged, "unchanged"),
        (result.others, "left alone"),
        (result.refusals, "refused"),
    ):
        if number:
            changes.append(f"{number:,} {what}")
    if result.warnings:
        changes.append(format_count(result.warnings, "warning"))
    names = format_count(result.names, "name")
    opening = "Written." if result.written else "Nothing was written."
    return f"{opening} {': '.join(filter(None, [names, ', '.join(changes)]))}."
