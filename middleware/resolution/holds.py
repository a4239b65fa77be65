"""Stop the redirects of names on hold: they lead to their descriptions, with 303, until the hold ends. It also stops
what a container, a rule, the site or another resolver would answer (X-12). Other answers stay: 410 for a withdrawn
name, and 404 for an unknown one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ...bindings.names import naming
from ...bindings.names.binding import Hold
from ...bindings.names.prefixes.holds import MAX_SECONDS, Holds, narrowest
from ...identifiers import Ark
from ...identifiers.ark import parser as ark
from ...identifiers.ark.normalization import Parts, normal
from .lookup import withdrawing_keys
from .result import Resolution

_STOPPED = ("located", "related", "described", "served", "forwarded")
_DESCRIBED = ("metadata", "prefix")


def with_hold(resolution: Resolution, holds: Holds, now: datetime) -> Resolution:
    """Return the resolution of a name, changed to a redirect (303) to its description if a hold applies now. A
    description gets the hold. ``fresh_for`` is the time until a hold ends or begins.
    """
    if resolution.outcome not in (*_STOPPED, *_DESCRIBED):
        return resolution
    binding = resolution.binding
    recorded = binding is not None and binding.hold_until is not None
    if not (holds or recorded):
        return resolution
    hold = _find(resolution, holds, now)
    if hold is None:
        begins = _begins(resolution, holds, now)
        return resolution if begins is None else replace(resolution, fresh_for=int((begins - now).total_seconds()))
    fresh_for = min(int((hold.until - now).total_seconds()), MAX_SECONDS)
    if resolution.outcome in _DESCRIBED:
        return replace(resolution, hold=hold, fresh_for=fresh_for)
    identifier, container = resolution.identifier, resolution.container
    if resolution.below is not None and resolution.key is not None and len(hold.of) > len(resolution.key):
        # The description of the container would not show the hold of a name below it.
        identifier, container = resolution.below, resolution.key
    # 303, because the description is not the resource itself.
    return replace(
        resolution,
        identifier=identifier,
        container=container,
        below=None,
        status=303,
        outcome="held",
        hold=hold,
        fresh_for=fresh_for,
        target=None,
        query=None,
        vary=(),
        inherited=None,
    )


def _find(resolution: Resolution, holds: Holds, now: datetime) -> Hold | None:
    identifier, binding, record = resolution.below or resolution.identifier, resolution.binding, resolution.record
    if resolution.outcome == "prefix" and record is not None:
        return narrowest([record.hold, holds.hold_for(record.prefix, now)], now)
    # The hold of a container is that of its binding, which can be newer than those in memory.
    of = resolution.container if binding is not None and resolution.container else binding and binding.identifier
    own = None if binding is None or binding.hold is None else binding.hold._replace(of=of or binding.identifier)
    if identifier is not None:
        above = withdrawing_keys(identifier) if isinstance(identifier, Ark) else ()
        read = of if resolution.rule is None else None
        return narrowest([own, holds.hold_for(naming.key(identifier), now, above, read=read)], now)
    return narrowest([own, holds.hold_for(_beginning(resolution.given), now)], now)


def _begins(resolution: Resolution, holds: Holds, now: datetime) -> datetime | None:
    identifier = resolution.below or resolution.identifier
    if identifier is None:
        return None
    above = withdrawing_keys(identifier) if isinstance(identifier, Ark) else ()
    return holds.begins(naming.key(identifier), now, above)


def _beginning(given: str) -> str:
    """Return the normal form of a text that begins like an ARK, as far as it has one.

    >>> _beginning("ARK:/6-1903/1%3A1:M-W98?info")
    'ark:61903/1%3A1:MW98'
    """
    core = given.partition("?")[0]
    naan = ark.naan_at_start(core)
    if naan is None:
        return core
    rest = core[4:].removeprefix("/").partition("/")[2].encode(errors="ignore").decode()
    return "".join(normal(Parts("ark:", f"{naan}/{rest}", "")))
