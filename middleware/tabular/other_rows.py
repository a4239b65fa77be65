"""The rows of a table that state no binding: what a copy of a store needs so that no name is made twice.

- A minted name that is not bound has the status ``reserved``, and no target.
- A rule has the kind ``rule``: its prefix is the identifier, its template the target.
- The counter of ``ararat mint --sequential`` has the kind ``counter``: the beginning of its names is the identifier,
  ``next 17 of 10^4+check`` the target.
- The owner of a UUID has the kind ``uuid``: the UUID is the identifier, its owner the resource.

An export writes rules, counters and UUIDs before the bindings, and reserved names after them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..bindings import assignment, names, validation
from ..errors import BindingError
from ..resolution import rules
from . import columns

# What ararat.middleware.bindings.minting remembers: "next ark:12345/x5 10^4+check", and as value the next number.
_COUNTER = re.compile(r"next (ark:[0-9a-z]+/[0-9a-z]*) ((?:10|29)\^[1-9][0-9]{0,2}(?:\+check)?)")
_NEXT = re.compile(r"next ([0-9]{1,400}) of (.+)")
_UUID = re.compile(r"urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


class Reserved(NamedTuple):
    """A minted name that is not bound."""

    key: str

    def cells(self) -> dict[str, str]:
        """The row."""
        return {"identifier": self.key, "status": "reserved"}


class RuleRow(NamedTuple):
    """A rule, without who made it and when."""

    prefix: str
    template: str
    redirect: int

    def cells(self) -> dict[str, str]:
        """The row."""
        return {
            "identifier": self.prefix,
            "target": self.template,
            "kind": "rule",
            "redirect": str(self.redirect),
        }


class Setting(NamedTuple):
    """What a database remembers under a name: a counter, or the owner of a UUID."""

    name: str
    value: str

    def cells(self) -> dict[str, str]:
        """The row."""
        if counter := _COUNTER.fullmatch(self.name):
            return {"identifier": counter[1], "target": f"next {self.value} of {counter[2]}", "kind": "counter"}
        return {"identifier": f"urn:uuid:{self.name[5:]}", "kind": "uuid", "resource": self.value}


OtherRow = Reserved | RuleRow | Setting


def setting(name: str, value: str) -> Setting | None:
    """The row of a setting; None for one that is not exported."""
    known = _COUNTER.fullmatch(name) or _UUID.fullmatch(f"urn:uuid:{name.removeprefix('uuid ')}")
    return Setting(name, value) if known else None


def read(cells: Mapping[str, str]) -> OtherRow | None:
    """What a row states, if it is no binding; None for a binding. Raises :class:`BindingError`.

    >>> read({"identifier": "ark:/12345/x-5", "target": "/show/${value}", "kind": "rule"})
    RuleRow(prefix='ark:12345/x5', template='/show/${value}', redirect=302)
    >>> read({"identifier": "ark:/12345/x5-01", "status": "reserved"}), read({"identifier": "ark:12345/a"})
    (Reserved(key='ark:12345/x501'), None)
    """
    kind = cells.get("kind", "")
    if kind in _KINDS:
        allowed, of = _KINDS[kind]
    elif cells.get("status") == "reserved":
        kind, allowed, of = "reserved", {"status"}, _reserved
    else:
        return None
    for column, cell in cells.items():
        if column not in (*allowed, "identifier", "kind") and cell and not cell.isspace():
            said = f"a row for a {kind}{' name' if kind == 'reserved' else ''} has no {validation.shown(column)}"
            raise BindingError("row-columns", said)
    return of(cells.get("identifier", ""), cells)


def _reserved(identifier: str, cells: Mapping[str, str]) -> Reserved:
    from ..storage import schema  # it loads SQLAlchemy

    key = names.assignable(identifier)
    if schema.index_key(key) != key:
        raise BindingError("name-too-long", f"the name is {len(key):,} octets long in its normal form", identifier=key)
    return Reserved(key)


def _rule(prefix: str, cells: Mapping[str, str]) -> RuleRow:
    redirect = assignment.redirect_status(columns.redirect(cells.get("redirect", "") or "302"))
    return RuleRow(rules.check_prefix(prefix), rules.check_template(cells.get("target", "")), redirect)


def _counter(beginning: str, cells: Mapping[str, str]) -> Setting:
    told = _NEXT.fullmatch(cells.get("target", ""))
    name = f"next {beginning} {told[2]}" if told else ""
    if told is None or not _COUNTER.fullmatch(name):
        raise BindingError("counter-text", f"{validation.shown(cells.get('target', ''))} is no counter")
    return Setting(name, str(int(told[1])))


def _uuid(urn: str, cells: Mapping[str, str]) -> Setting:
    found = _UUID.fullmatch(urn)
    if found is None:
        raise BindingError("counter-text", f"{validation.shown(urn)} is no URN of a UUID")
    owner = validation.check(cells.get("resource", ""), "resource-text", "resource", assignment.MAX_RESOURCE)
    return Setting(f"uuid {found[1].lower()}", owner)


_KINDS = {"rule": ({"target", "redirect"}, _rule), "counter": ({"target"}, _counter), "uuid": ({"resource"}, _uuid)}
