"""The history of a record of a NAAN or shoulder: the changes of its texts and of its rule, with their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ....bindings.names.prefixes.prefixes import RECORDED, PrefixEvent, PrefixRecord
from ....bindings.names.prefixes.rules import RuleEvent
from ..names.history import Difference

LABELS: Final = {
    "who": "Who",
    "what": "What",
    "contact": "Contact",
    "statement": "Statement",
    "availability": "Availability",
    "variance": "Variance",
    "may_change": "What may change",
    "at_end": "What happens at the end",
    "hosts": "Hosts",
    "pattern": "Pattern",
    "characters": "Characters",
    "state": "State",
    "resolver": "Resolver",
    "minter": "Minter",
    "about": "Page about the names",
    "lineage": "Earlier institutions",
    "rule": "Rule",
    "redirect": "Redirect status",
}
"""The fields of a record with its rule, with their labels."""

_HOLD_LABELS: Final = {"hold_until": "On hold until", "hold_reason": "Reason of the hold"}

MAX_SHOWN = 100
"""The maximum number of changes on a page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefixChange:
    """A change of a record or of its rule: who made it and when, and the values that differ."""

    title: str
    actor: str | None
    when: datetime
    differences: Sequence[Difference]


def values_of(record: PrefixRecord | None) -> dict[str, str]:
    """Return the texts of a record and its rule by field. Values that are not recorded are empty."""
    values = dict.fromkeys(LABELS, "")
    if record is not None:
        values |= _texts(record)
        if record.rule is not None:
            values |= {"rule": record.rule.template, "redirect": str(record.rule.redirect)}
    return values


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    """Return the fields of :func:`values_of` that differ.

    >>> differences({"who": "Library"}, {"who": "Archive", "what": ""})
    [Difference(field='Who', before='Library', after='Archive')]
    """
    return [
        Difference(field=label, before=before.get(field, ""), after=after.get(field, ""))
        for field, label in (LABELS | _HOLD_LABELS).items()
        if before.get(field, "") != after.get(field, "")
    ]


def changes_of(events: Sequence[PrefixEvent], rule_events: Sequence[RuleEvent]) -> list[PrefixChange]:
    """Return the changes of a record and of its rule, the newest first."""
    changes = [*_of_record(events), *_of_rule(rule_events)]
    return sorted(changes, key=lambda change: change.when, reverse=True)[:MAX_SHOWN]


def _of_record(events: Sequence[PrefixEvent]) -> Iterator[PrefixChange]:
    before: dict[str, str] = {}
    for event in events:
        after = {**dict.fromkeys(RECORDED, ""), **_texts(event.record)}
        yield PrefixChange(
            title="Record set" if event.action == "set" else "Record removed",
            actor=event.record.actor,
            when=event.record.changed,
            differences=differences(before, after),
        )
        before = after


def _texts(record: PrefixRecord) -> dict[str, str]:
    """Return the recorded texts by field, with the earlier institutions in words."""
    texts: dict[str, str] = {**record.all_texts}
    if before := record.predecessors:
        texts["lineage"] = "; ".join(f"{each.who or 'not recorded'}, until {each.until}" for each in before)
    return texts


def _of_rule(events: Sequence[RuleEvent]) -> Iterator[PrefixChange]:
    before: dict[str, str] = {}
    for event in events:
        after = {"rule": event.template, "redirect": str(event.redirect)} if event.template else {}
        yield PrefixChange(
            title="Rule set" if event.action == "set" else "Rule removed",
            actor=event.actor,
            when=event.when,
            differences=differences(before, after),
        )
        before = after
