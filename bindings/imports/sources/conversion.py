"""Convert a record of a dump to a row of a table, with the columns of :mod:`~ararat.bindings.tables.columns`.

A public name becomes live, or described without a target. A recorded reserved name becomes live only if the dump states
that it is public, and an unavailable one becomes withdrawn. The owner becomes the actor of the first event. A value
that the import would refuse is omitted and reported. A wrong name, and a wrong target of a public one, stay in the row:
the import leaves it out (X-17). A long value is divided (X-11).
"""

from __future__ import annotations

import re
from datetime import datetime

from ....identifiers.ark.grammar import RESERVED_NAAN
from ....identifiers.text.translatable import Translatable
from ...names import naming, targets, validation
from ...names.binding import rfc3339, utc_seconds
from ...names.errors import BindingError
from ...names.fields import MAX_ACTOR, MAX_REASON
from ...names.metadata import metadata
from ...names.metadata.datacite_identifier import with_identifier
from ...names.metadata.datacite_schema import check_record
from ...names.naming import NO_RULES, NamingRules
from ...names.passthrough import can_append
from ...tables.columns import Row
from .record import DumpRecord, Omission

_OTHER_SCHEME = re.compile(r"(?!ark:|urn:)[a-z][a-z0-9+.-]*:(?!//)", re.IGNORECASE)
_RESERVED = re.compile(re.escape(RESERVED_NAAN).replace("ark:", "ark:/?"), re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Line breaks and tabs are kept.
_CONTROL_IN_LINE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]+")
_SHORTEN = "shorten the value in the dump"


def not_imported(record: DumpRecord, rules: NamingRules = NO_RULES) -> Omission | None:
    """Return the reason why the name of a dump cannot be imported, or None if it can.

    >>> print(not_imported(DumpRecord(1, "doi:10.5072/FK2X")).reason)
    the name is neither an ARK nor a URN
    """
    if _OTHER_SCHEME.match(record.identifier):
        return Omission(
            "identifier", "the name is neither an ARK nor a URN", "keep it in the system that it belongs to"
        )
    if not rules.test_naans and _RESERVED.match(record.identifier):
        reason = "the NAAN 99999 is reserved for tests, so the name is not persistent"
        return Omission("identifier", reason, "mint a name under your own NAAN, or permit names for tests (test_naans)")
    return None


def row(record: DumpRecord, now: datetime, passthrough: str = "no") -> tuple[Row, list[Omission]]:
    """Convert a record of a dump to a row, and return also the values that are not imported. ``passthrough`` is "no",
    "normal" or "given", for names whose target has a path.
    """
    omitted = list(record.omitted)
    cells: dict[str, str] = {"identifier": record.identifier}
    target = record.target
    if record.state != "public":
        cells["status"] = "withdrawn" if record.state == "unavailable" else "reserved"
        target = _usable(target, omitted)
    elif record.is_stated:
        cells["status"] = "live"
    if target:
        cells["target"] = target
        if passthrough != "no" and can_append(target):
            cells["passthrough"] = passthrough
    else:
        cells["kind"] = "described"
    if record.embargo and record.state == "reserved":
        cells["embargo"] = record.embargo
    if not record.listed:
        cells["listed"] = "no"
    if record.state == "unavailable" and record.reason:
        _add(cells, "reason", one_line(record.reason), MAX_REASON, omitted)
    for element, text in record.elements.items():
        _add_element(cells, element, text, omitted)
    _add_times(cells, record, now, omitted)
    return Row(record.line, cells, _actor(record, omitted)), omitted


def _usable(target: str | None, omitted: list[Omission]) -> str | None:
    """Return the target of a name that is not public, or None if it cannot be imported. Such a name needs none."""
    try:
        return targets.check(target, "located") if target else None
    except BindingError as error:
        omitted.append(Omission("target", error.message, error.expected))
        return None


def _add(cells: dict[str, str], column: str, text: str, most: int, omitted: list[Omission]) -> None:
    cells[column] = text[:most].strip()
    if len(text) > most:
        why = f"the value has {len(text):,} characters, so the first {most:,} are imported; dump.{column} has all"
        omitted.append(Omission(column, why, _SHORTEN))
        _add_element(cells, f"dump.{column}", text, omitted)


def _add_element(cells: dict[str, str], element: str, text: str, omitted: list[Omission]) -> None:
    """Add an element of metadata. A text that is too long is divided into several elements."""
    is_cleaned = metadata.has_short_name(element) or element.startswith("dump.element-")
    clean = _CONTROL_IN_LINE.sub(" ", text).strip() if is_cleaned else text
    if len(clean.encode("utf-8", "replace")) > metadata.MAX_BYTES:
        # A part of a document is not a document.
        name = element if "." in element else f"dump.{element}"
        parts = _parts(clean)
        names = [name, *(f"{name}-{number}" for number in range(2, len(parts) + 1))]
        omitted.append(
            Omission(element, f"the value is too long for one element, so it is in {', '.join(names)}", _SHORTEN)
        )
        for each, part in zip(names, parts, strict=True):
            _add_element(cells, each, part, omitted)
        return
    try:
        metadata.check({element: clean})
    except BindingError as error:
        omitted.append(Omission(element, error.message, error.expected))
        return
    if element == "datacite" and (why := _misfit(clean, cells["identifier"])):
        omitted.append(Omission(element, f"{why}, so it is in dump.datacite", "correct the record after the import"))
        element = "dump.datacite"
    if clean != text.strip():
        reason = "control characters were replaced by spaces"
        omitted.append(Omission(element, reason, "correct the value after the import"))
    cells[element] = clean


def _misfit(document: str, identifier: str) -> str | None:
    """Return why a DataCite record cannot be that of a name, or None. A wrong name is refused later."""
    try:
        check_record(document)
        with_identifier(document, naming.key_of(identifier))
    except BindingError as error:
        return error.message if error.code == "metadata-document" else None
    return None


def _parts(text: str) -> list[str]:
    """Divide a text into parts that an element can have. A character has at most four bytes."""
    size = metadata.MAX_BYTES // 4
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    return [part for part in parts if part.strip()]


def one_line(text: str) -> str:
    """Return a text with spaces instead of line breaks and other control characters, which bindings cannot contain."""
    return _CONTROL.sub(" ", text).strip()


def _add_times(cells: dict[str, str], record: DumpRecord, now: datetime, omitted: list[Omission]) -> None:
    created, updated = record.created, record.updated
    for name, time in (("created", created), ("updated", updated)):
        if time is not None and time > now:
            omitted.append(Omission(name, f"{utc_seconds(time)} is in the future", "correct the time"))
    created = created if created and created <= now else None
    updated = updated if updated and updated <= now else None
    if created and updated and updated < created:
        reason = f"the last change ({utc_seconds(updated)}) is before the creation ({utc_seconds(created)})"
        omitted.append(Omission("updated", reason, "correct one of the two times"))
        updated = None
    if created:
        cells["created"] = rfc3339(created)
    if changed := updated or created:
        cells["changed"] = rfc3339(changed)


def _actor(record: DumpRecord, omitted: list[Omission]) -> str | None:
    if record.owner is None:
        return None
    try:
        owner = one_line(record.owner)
        if len(owner) > MAX_ACTOR:
            why = f"the value has {len(owner):,} characters, so the first {MAX_ACTOR} are imported"
            omitted.append(Omission("owner", why, _SHORTEN))
        return validation.check(owner[:MAX_ACTOR].strip(), "actor-text", Translatable("Owner"), MAX_ACTOR)
    except BindingError as error:
        omitted.append(Omission("owner", error.message, error.expected))
        return None
