"""Log each resolution, without address, header fields and query of the client. The line of a refusal also contains the
identifier as it was received, so that a wrong link can be found.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from .resolution.result import Resolution

MAX_RECEIVED = 1000
"""The number of characters of a refused identifier in the log. Longer ones are cut."""


def log_resolutions(logger: logging.Logger) -> Callable[[Resolution], None]:
    """Return an ``on_resolve`` function that writes one line of JSON to ``logger`` for each resolution, at the level
    INFO.

    The members in their order; unknown members are left out:

        ``time``        the time of the answer, RFC 3339 in UTC with milliseconds
        ``identifier``  the normal form without inflection; left out if the identifier could not be parsed
        ``received``    the identifier of a refusal as received, without its query; at most 1,000 characters
        ``status``      the HTTP status of the answer
        ``outcome``     "located", "related", "described", "served", "metadata", "prefix" (the record of a NAAN
                        or shoulder), "forwarded", "held" or "refused"
        ``code``        the problem code of a refusal
        ``ms``          milliseconds from the request to the answer

    >>> logger = logging.Logger("names")
    >>> log_resolutions(logger)(Resolution(given="ark:12345/x", status=302, outcome="located"))
    """

    def log(resolution: Resolution) -> None:
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", json.dumps(entry(resolution, datetime.now(UTC))))

    return log


def entry(resolution: Resolution, time: datetime) -> dict[str, Any]:
    """Return the members of the log line for one resolution, as :func:`log_resolutions` lists them. ``time`` is the
    time of the answer in UTC.

    >>> entry(Resolution(given="ark:", status=302, outcome="located"), datetime(2026, 10, 4, tzinfo=UTC))
    {'time': '2026-10-04T00:00:00.000Z', 'status': 302, 'outcome': 'located'}
    """
    members = {
        "time": f"{time.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z",
        "identifier": resolution.key,
        "received": resolution.given.partition("?")[0][:MAX_RECEIVED] if resolution.outcome == "refused" else None,
        "status": resolution.status,
        "outcome": resolution.outcome,
        "code": resolution.problem.code if resolution.problem else None,
        "ms": None if resolution.seconds is None else round(resolution.seconds * 1000, 3),
    }
    return {member: value for member, value in members.items() if value is not None}
