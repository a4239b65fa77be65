"""Stop the redirects of names on hold: they lead to their descriptions, with 303, until the hold ends.

A hold is compared with the answer that the name would have without it. So it also stops what a container, a rule, the
site or another resolver would answer (X-12). Descriptions show the hold. Other answers stay: 410 for a withdrawn name,
and 404 for an unknown one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ...bindings.names.binding import Hold
from ...bindings.names.prefixes.holds import MAX_SECONDS, Holds, narrowest
from ...identifiers import Ark
from .lookup import withdrawing_keys
from .result import Resolution

_STOPPED = ("located", "related", "described", "served", "forwarded")
_DESCRIBED = ("metadata", "prefix")


def with_hold(resolution: Resolution, holds: Holds, now: datetime) -> Resolution:
    """Return the resolution of a name at a time under these holds."""
    if resolution.outcome not in (*_STOPPED, *_DESCRIBED):
        return resolution
    binding = resolution.binding
    recorded = binding is not None and binding.hold_until is not None
    if not (holds or recorded):
        return resolution
    hold = _found(resolution, holds, now)
    if hold is None:
        return resolution
    fresh_for = min(int((hold.until - now).total_seconds()), MAX_SECONDS)
    if resolution.outcome in _DESCRIBED:
        return replace(resolution, hold=hold, fresh_for=fresh_for)
    # 303, because the description is not the resource itself.
    return replace(
        resolution,
        status=303,
        outcome="held",
        hold=hold,
        fresh_for=fresh_for,
        target=None,
        query=None,
        vary=(),
        inherited=None,
    )


def _found(resolution: Resolution, holds: Holds, now: datetime) -> Hold | None:
    identifier, binding, record = resolution.identifier, resolution.binding, resolution.record
    if resolution.outcome == "prefix" and record is not None:
        return narrowest([record.hold, holds.over(record.prefix, now)], now)
    # The hold of a container is that of its binding, which can be newer than those in memory.
    of = resolution.container if binding is not None and resolution.container else binding and binding.identifier
    own = None if binding is None or binding.hold is None else binding.hold._replace(of=of or binding.identifier)
    if resolution.key is not None:
        above = withdrawing_keys(identifier) if isinstance(identifier, Ark) else ()
        is_read = binding is not None and resolution.container is None and resolution.rule is None
        return narrowest([own, holds.over(resolution.key, now, above, is_read=is_read)], now)
    # A text that is not an ARK has no normal form. Its beginning can have one.
    given = resolution.given.partition("?")[0]
    return narrowest([own, holds.over(f"ark:{given[4:].removeprefix('/')}", now)], now)
