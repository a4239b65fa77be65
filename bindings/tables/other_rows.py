"""Rows of a table that are not bindings, by their kind. A copy of a store needs them, so that it mints no name twice.

- ``rule``: the identifier is its prefix, the target is its template.
- ``prefix``: the identifier is its prefix, ``persistence`` is its statement. The columns :data:`~.texts.COLUMNS` have
  its other texts.
- ``counter`` of ``ararat mint --sequential``: the identifier is the beginning of its names, the target is a text such
  as ``next 17 of 10^4+check``.
- ``uuid``: the identifier is the UUID, the resource is its owner.

An export writes prefix records after the bindings, because names can be older than a character set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...identifiers.text.translatable import Translatable
from ...identifiers.urn.namespaces.technical import UUID_PATTERN
from ..names import validation
from ..names.binding import rfc3339
from ..names.errors import BindingError
from ..names.fields import MAX_REASON, MAX_RESOURCE, redirect_status
from ..names.naming import NO_RULES, NamingRules
from ..names.prefixes import holds, prefixes
from ..names.prefixes.patterns import COUNTER
from ..names.prefixes.rule_templates import check_template
from ..names.prefixes.texts import COLUMNS, FIELDS, HOLD_FIELDS
from . import columns

_NEXT = re.compile(r"next ([0-9]{1,400}) of (.+)")
_UUID = re.compile(f"(?i:urn:uuid:)({UUID_PATTERN})")


class RuleRow(NamedTuple):
    """A redirect rule in a table, without its author and time."""

    prefix: str
    template: str
    redirect: int

    def cells(self) -> dict[str, str]:
        return {
            "identifier": self.prefix,
            "target": self.template,
            "kind": "rule",
            "redirect": str(self.redirect),
        }


class PrefixRow(NamedTuple):
    """The record of a NAAN or shoulder in a table, without its author and time."""

    prefix: str
    texts: Mapping[str, str]

    def cells(self) -> dict[str, str]:
        texts = {COLUMNS[field]: text for field, text in self.texts.items()}
        return {"identifier": self.prefix, "kind": "prefix", **texts}


class Setting(NamedTuple):
    """A counter of minted names, or the owner of a UUID, in a table, as a setting of the store."""

    name: str
    value: str

    def cells(self) -> dict[str, str]:
        if COUNTER.fullmatch(self.name):
            _, beginning, form = self.name.split(" ")
            return {"identifier": beginning, "target": f"next {self.value} of {form}", "kind": "counter"}
        return {"identifier": f"urn:uuid:{self.name[5:]}", "kind": "uuid", "resource": self.value}


OtherRow = RuleRow | PrefixRow | Setting


def setting(name: str, value: str) -> Setting | None:
    """Return the table row for a setting of a store: a counter, or the owner of a UUID. None for another setting."""
    match = COUNTER.fullmatch(name) or _UUID.fullmatch(f"urn:uuid:{name.removeprefix('uuid ')}")
    return Setting(name, value) if match else None


def read(cells: Mapping[str, str], rules: NamingRules = NO_RULES) -> OtherRow | None:
    """Parse a table row that is a rule, prefix record, counter or UUID by its column "kind", or return None for a
    binding. Raises :class:`BindingError` if a value is not valid.

    >>> read({"identifier": "ark:/12345/x-5", "target": "/show/${value}", "kind": "rule"})
    RuleRow(prefix='ark:12345/x5', template='/show/${value}', redirect=302)
    """
    kind = cells.get("kind", "")
    if kind not in _KINDS:
        return None
    allowed, parse = _KINDS[kind]
    for column, cell in cells.items():
        if column not in (*allowed, "identifier", "kind") and cell and not cell.isspace():
            message = Translatable(
                "a row for a %(kind)s cannot have a value in the column %(column)s",
                kind=kind,
                column=validation.quote(column),
            )
            raise BindingError("row-columns", message)
    return parse(cells.get("identifier", ""), cells, rules)


def _rule(prefix: str, cells: Mapping[str, str], rules: NamingRules) -> RuleRow:
    redirect = redirect_status(columns.redirect(cells.get("redirect", "") or "302"))
    return RuleRow(prefixes.check_prefix(prefix, rules), check_template(cells.get("target", "")), redirect)


def _prefix(prefix: str, cells: Mapping[str, str], rules: NamingRules) -> PrefixRow:
    key = prefixes.check_prefix(prefix, rules)
    texts = prefixes.check(key, {field: cells.get(COLUMNS[field], "") for field in FIELDS})
    until, reason = (cells.get(column, "").strip() for column in HOLD_FIELDS)
    if until or reason:
        end = holds.read_end(until)
        reason = reason and validation.check(reason, "hold-reason", Translatable("Reason of the hold"), MAX_REASON)
        texts |= {"hold_until": rfc3339(end), "hold_reason": reason}
        return PrefixRow(key, _without_empty(texts))
    if not any(texts.values()):
        raise BindingError("prefix-empty", Translatable("the record of %(key)s has no text", key=key))
    return PrefixRow(key, _without_empty(texts))


def _without_empty(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _counter(beginning: str, cells: Mapping[str, str], rules: NamingRules) -> Setting:
    counter = _NEXT.fullmatch(cells.get("target", ""))
    name = f"next {beginning} {counter[2]}" if counter else ""
    if counter is None or not COUNTER.fullmatch(name):
        raise BindingError(
            "counter-text",
            Translatable("the target %(get)s is not a counter", get=validation.quote(cells.get("target", ""))),
        )
    return Setting(name, str(int(counter[1])))


def _uuid(urn: str, cells: Mapping[str, str], rules: NamingRules) -> Setting:
    match = _UUID.fullmatch(urn)
    if match is None:
        raise BindingError("counter-text", Translatable("%(urn)s is not the URN of a UUID", urn=validation.quote(urn)))
    owner = validation.check(cells.get("resource", ""), "resource-text", Translatable("Resource"), MAX_RESOURCE)
    return Setting(f"uuid {match[1].lower()}", owner)


_KINDS = {
    "rule": ({"target", "redirect"}, _rule),
    "prefix": (set(COLUMNS.values()), _prefix),
    "counter": ({"target"}, _counter),
    "uuid": ({"resource"}, _uuid),
}
