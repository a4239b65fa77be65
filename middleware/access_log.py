"""An access log of resolutions: what was asked for and what was answered, and nothing of who asked.

Which names are used, and which are asked for in vain, is worth knowing; who reads what is nobody's business (security
design, threat 19). So a line holds no address, no header field and no query, and of what could not be read nothing but
why: people paste all sorts of things behind ``ark:``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from .resolution.result import Resolution


def log_resolutions(logger: logging.Logger) -> Callable[[Resolution], None]:
    """An ``on_resolve`` that logs each resolution as one line of JSON in ASCII, at the level INFO.

    The members, in this order; one that is not known is not there:

    ``time``        when the answer was made, RFC 3339 in UTC with milliseconds
    ``identifier``  the normal form, without inflection; not there where none could be read
    ``status``      the HTTP status of the answer
    ``outcome``     "located", "related", "described", "served", "metadata", "forwarded" or "refused"
    ``code``        why it was refused
    ``ms``          milliseconds from the request to the answer

    >>> logger = logging.Logger("names")
    >>> log_resolutions(logger)(Resolution(given="ark:12345/x", status=302, outcome="located"))
    """

    def log(resolution: Resolution) -> None:
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s", json.dumps(entry(resolution, datetime.now(UTC))))

    return log


def entry(resolution: Resolution, time: datetime) -> dict[str, Any]:
    """What a line says of a resolution at a time in UTC.

    >>> entry(Resolution(given="ark:", status=302, outcome="located"), datetime(2026, 10, 4, tzinfo=UTC))
    {'time': '2026-10-04T00:00:00.000Z', 'status': 302, 'outcome': 'located'}
    """
    said = {
        "time": f"{time.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z",
        "identifier": resolution.key,
        "status": resolution.status,
        "outcome": resolution.outcome,
        "code": resolution.problem.code if resolution.problem else None,
        "ms": None if resolution.seconds is None else round(resolution.seconds * 1000, 3),
    }
    return {member: value for member, value in said.items() if value is not None}
