"""Check an export for a front server (``ararat export --edge``): whether names have changed since it was written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from ...bindings.holding import holds_at
from ...bindings.names.binding import rfc3339
from ...bindings.names.selection import LAST, Selection
from ...bindings.open import bindings_at
from ...identifiers.text import display
from ...middleware import BindingError, Bindings, BindingsUnavailable
from ...middleware.edge.marker import Marker, digest_of, read_marker
from ..output import format_count
from .finding import HealthFinding

_SHOWN = "export"
_NAMED = 3


def examine(file: Path, database: str) -> Iterator[HealthFinding]:
    """Check whether an exported file of redirects is as new as its database. Each public name is read once for this.

    >>> [finding.code for finding in examine(Path("/nowhere/names.conf"), "bindings.sqlite")]
    ['export-unreadable']
    """
    where = display.escape(str(file))
    try:
        marker = read_marker(file)
    except OSError as error:
        message = f"{where} cannot be read: {error.strerror or error}."
        change = "Name the file that the front server reads, and give the user of this command permission to read it."
        yield HealthFinding("edge", "export-unreadable", "error", _SHOWN, message, change)
        return
    if marker is None:
        message = f"{where} has no line that begins with ararat-edge, so its time is unknown."
        change = "Name a file of ararat export --edge, or write it again. An export without redirects has no such line."
        yield HealthFinding("edge", "export-foreign", "error", _SHOWN, message, change)
        return
    try:
        with bindings_at(database, read_seconds=None) as bindings:
            yield _compare(bindings, marker, where)
    except (BindingError, BindingsUnavailable) as error:
        text = error.message if isinstance(error, BindingError) else str(error)
        message = f"{where} cannot be compared: {display.escape(text)}."
        yield HealthFinding("edge", "export-unknown", "error", _SHOWN, message, "Name the database of the export.")


def _compare(bindings: Bindings, marker: Marker, where: str) -> HealthFinding:
    state, exported = bindings.store.ranges().state("", LAST), rfc3339(marker.exported)
    before = marker.state
    counts = f"It has the redirects of {format_count(marker.redirects, 'name')} of {marker.state.names:,}."
    held = digest_of(holds_at(bindings, bindings.now()))
    if state == before and held != marker.holds:
        message = f"{where} is outdated: since {exported}, a hold began or ended. {counts}"
        change = f"Write it again: ararat export --edge {marker.format} FILE. Then let the front server read it."
        return HealthFinding("edge", "export-outdated", "error", _SHOWN, message, change)
    if state == before:
        message = f"{where} is current: no public name has changed since {exported}. {counts}"
        return HealthFinding("edge", "export-current", "ok", _SHOWN, message)
    change = f"Write it again: ararat export --edge {marker.format} FILE. Then let the front server read it."
    if state.revisions < before.revisions or state.names < before.names:
        message = f"{where} is of another database, or the database was restored: it has fewer changes than the export."
        return HealthFinding("edge", "export-other-database", "error", _SHOWN, message, change)
    # The names that were changed at this time are in the export, because one transaction changed them.
    since = None if before.changed is None else before.changed + timedelta(microseconds=1)
    selection = Selection(changed_since=since, public=True)
    by_state = bindings.count_names(selection, by="state")
    first = [binding.identifier for binding in bindings.list_names(selection, limit=_NAMED).names]
    changed = ", ".join(f"{number:,} {status}" for status, number in by_state.items() if number)
    message = (
        f"{where} is outdated: {format_count(state.revisions - before.revisions, 'change')} since {exported}. "
        f"Changed names: {changed or 'unknown'}{': ' if first else ''}{', '.join(map(display.escape, first))}"
        f"{' …' if sum(by_state.values()) > len(first) else ''}."
    )
    return HealthFinding("edge", "export-outdated", "error", _SHOWN, message, change)
