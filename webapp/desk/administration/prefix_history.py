"""The history of a record of a NAAN or shoulder: the changes of its texts and of its rule, with their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ....bindings.names.prefixes.prefixes import PrefixEvent, PrefixRecord
from ....bindings.names.prefixes.rules import RuleEvent
from ....bindings.names.prefixes.texts import BY_NAME as TEXTS
from ....bindings.names.prefixes.texts import FIELDS, HOLD_FIELDS, RECORDED
from ....identifiers.text.translatable import Translatable
from ...language.translation import translate
from ..names.history import Difference

LABELS: Final = {
    **{name: TEXTS[name].label for name in FIELDS},
    "rule": Translatable("Rule"),
    "redirect": Translatable("Redirect status"),
}
"""The fields of a record with its rule, with their labels."""

_HOLD_LABELS: Final = {name: TEXTS[name].label for name in HOLD_FIELDS}

STATES: Final[Mapping[str, str]] = {
    "active": Translatable("active"),
    "delegated": Translatable("delegated"),
    "retired": Translatable("retired"),
}
"""The states of a prefix."""

MAX_SHOWN = 100
"""The maximum number of changes on a page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefixChange:
    """A change of a prefix record or of its rule. ``title`` is the kind of the change, as text."""

    title: str
    actor: str | None
    when: datetime
    differences: Sequence[Difference]


def values_of(record: PrefixRecord | None) -> dict[str, str]:
    """Return the texts of a prefix record by the names of their fields, with ``rule`` and ``redirect`` of its rule. A
    missing value is "". None has only missing values.
    """
    values = dict.fromkeys(LABELS, "")
    if record is not None:
        values |= _texts(record)
        if record.rule is not None:
            values |= {"rule": record.rule.template, "redirect": str(record.rule.redirect)}
    return values


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    """Return the fields that differ between two results of :func:`values_of`.

    >>> differences({"who": "Library"}, {"who": "Archive", "what": ""})
    [Difference(field='Who', before='Library', after='Archive')]
    """
    return [
        Difference(field=label, before=_show_value(field, before), after=_show_value(field, after))
        for field, label in (LABELS | _HOLD_LABELS).items()
        if before.get(field, "") != after.get(field, "")
    ]


def _show_value(field: str, values: Mapping[str, str]) -> str:
    value = values.get(field, "")
    return STATES.get(value, value) if field == "state" else value


def changes_of(events: Sequence[PrefixEvent], rule_events: Sequence[RuleEvent]) -> list[PrefixChange]:
    """Return at most :data:`MAX_SHOWN` changes of a prefix record and of its redirect rule, the newest first."""
    changes = [*_of_record(events), *_of_rule(rule_events)]
    return sorted(changes, key=lambda change: change.when, reverse=True)[:MAX_SHOWN]


def _of_record(events: Sequence[PrefixEvent]) -> Iterator[PrefixChange]:
    before: dict[str, str] = {}
    for event in events:
        after = {**dict.fromkeys(RECORDED, ""), **_texts(event.record)}
        yield PrefixChange(
            title=Translatable("Record set") if event.action == "set" else Translatable("Record removed"),
            actor=event.record.actor,
            when=event.record.changed,
            differences=differences(before, after),
        )
        before = after


def _texts(record: PrefixRecord) -> dict[str, str]:
    """Return the recorded texts by field, with the earlier institutions in words."""
    texts: dict[str, str] = {**record.all_texts}
    if before := record.predecessors:
        texts["lineage"] = "; ".join(
            translate(
                Translatable("%(who)s, until %(day)s", who=each.who or Translatable("not recorded"), day=each.until)
            )
            for each in before
        )
    return texts


def _of_rule(events: Sequence[RuleEvent]) -> Iterator[PrefixChange]:
    before: dict[str, str] = {}
    for event in events:
        after = {"rule": event.template, "redirect": str(event.redirect)} if event.template else {}
        yield PrefixChange(
            title=Translatable("Rule set") if event.action == "set" else Translatable("Rule removed"),
            actor=event.actor,
            when=event.when,
            differences=differences(before, after),
        )
        before = after
