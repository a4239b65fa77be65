"""Select the HTTP status and the problem of a refused request, without rendering a page
(:mod:`ararat.middleware.views.error_page`). The codes are in :data:`~ararat.bindings.names.error_codes.REFUSALS` and
:data:`ararat.identifiers.PROBLEMS`.
"""

from __future__ import annotations

from ...bindings.names.error_codes import HTTP_STATUS, REFUSALS
from ...identifiers import PROBLEMS, Problem
from .result import Resolution

# The problem is in the identifier without its query.
_WITHOUT_QUERY = (
    "withdrawn",
    "container-withdrawn",
    "hidden",
    "target-unusable",
    "naan-reserved-invalid",
    "dot-segment",
)
# The problem is in the query.
_QUERY = ("unknown-inflection",)


def refuse(given: str, reason: str | Problem, message: str | None = None) -> Resolution:
    """Return the resolution of a refused request. ``given`` is the identifier as received. ``reason`` is a problem or a
    code, whose title is the default of ``message``.

    >>> refused = refuse("ark:12345/x", "not-bound")
    >>> refused.status, refused.problem.message, refused.problem.end
    (404, 'this resolver has no location for this identifier', 11)
    """
    refusal = problem(reason, given, message) if isinstance(reason, str) else reason
    return Resolution(given=given, status=HTTP_STATUS.get(refusal.code, 400), outcome="refused", problem=refusal)


def problem(code: str, given: str, message: str | None = None) -> Problem:
    """Return the problem of a refused identifier, with the place that it is about. The default message is the title of
    the code.

    >>> unknown = problem("unknown-inflection", "ark:12345/x?cite")
    >>> unknown.start, unknown.end
    (11, 16)
    """
    entry = REFUSALS.get(code) or PROBLEMS[code]
    query = len(given.partition("?")[0])
    start = query if code in _QUERY else 0
    end = query if code in _WITHOUT_QUERY else len(given)
    return Problem(code, "error", message or entry.title, start, end, entry.expected, entry.reference)
