"""Refuse a request: the problem with its place in the identifier, and the HTTP status of the answer.

The codes are in :data:`~ararat.middleware.error_codes.REFUSALS` and :data:`ararat.identifiers.PROBLEMS`.
"""

from __future__ import annotations

from ...identifiers import PROBLEMS, Problem
from ..bindings.model import Binding
from ..error_codes import HTTP_STATUS, REFUSALS
from .result import Identifier, Resolution


def refuse(
    given: str,
    reason: str | Problem,
    *,
    start: int = 0,
    end: int | None = None,
    message: str | None = None,
    identifier: Identifier | None = None,
    inflection: str = "",
    binding: Binding | None = None,
    container: str | None = None,
) -> Resolution:
    """Return the resolution that refuses an identifier.

    ``given`` is the identifier as received. ``reason`` is a problem, or the code of one; then ``start`` and ``end``
    (default: the end of ``given``) are its place and ``message`` its text (default: the title of the code). The other
    parameters are fields of the resolution.

    >>> refused = refuse("ark:12345/x", "not-bound")
    >>> refused.status, refused.problem.message, refused.problem.end
    (404, 'this resolver has no location for this identifier', 11)
    """
    if isinstance(reason, str):
        reason = problem(reason, start, len(given) if end is None else end, message)
    return Resolution(
        given=given,
        status=HTTP_STATUS.get(reason.code, 400),
        outcome="refused",
        identifier=identifier,
        inflection=inflection,
        binding=binding,
        problem=reason,
        container=container,
    )


def problem(code: str, start: int, end: int, message: str | None = None) -> Problem:
    """Return the problem ``code`` of either catalogue at the characters ``start`` to ``end``."""
    entry = REFUSALS.get(code) or PROBLEMS[code]
    return Problem(code, "error", message or entry.title, start, end, entry.expected, entry.reference)
