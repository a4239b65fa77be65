"""The problem documents of the API (RFC 9457): errors of requests, of the management and of bindings.

Each has a status, a stable code and a sentence. A conflict also has both rows of the name, as :class:`BindingConflict`.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from flask import Blueprint, Response

from ...bindings.bulk.plan import BulkResult
from ...bindings.names.errors import (
    BindingConflict,
    BindingError,
    BindingsUnavailable,
    ReadOnlyBindings,
    Refused,
    Stale,
)
from ..errors import problem_document, sentence
from ..management import Forbidden, Missing
from . import representations

RETRY_SECONDS = 5
_NOT_FOUND = ("not-bound", "operation-unknown", "prefix-unknown", "rule-unknown", "shoulder-unknown")
_IN_CONFLICT = ("operation-large", "operation-undone")

_log = logging.getLogger(__name__)


class OperationRefused(Exception):
    """Nothing was written, because the change of some names is not permitted. ``result`` lists them."""

    def __init__(self, result: BulkResult) -> None:
        super().__init__(result.refusals)
        self.result = result


def init_blueprint(blueprint: Blueprint) -> None:
    """Register the error handlers of ``blueprint``."""
    blueprint.register_error_handler(Refused, of_error)
    blueprint.register_error_handler(BindingsUnavailable, of_unavailable)
    blueprint.register_error_handler(OperationRefused, of_operation)


def of_error(error: Refused) -> Response:
    """Return the problem document of an error of the management or of bindings."""
    if isinstance(error, BindingsUnavailable):
        return of_unavailable(error)
    more: dict[str, Any] = {"expected": error.expected, "reference": error.reference}
    if isinstance(error, BindingError):
        more["identifier"] = error.identifier
    if isinstance(error, BindingConflict):
        more |= {
            "existing": representations.of_name(error.existing),
            "proposed": representations.of_name(error.proposed),
        }
    if isinstance(error, Stale):
        more["existing"] = error.existing and representations.of_name(error.existing)
    return _problem(_status(error), error.code, sentence(error.message), **more)


def of_unavailable(error: BindingsUnavailable) -> Response:
    """Return the problem document for a database that is locked or cannot be reached, or whose row cannot be read."""
    _log.error("a request of the API failed: %s", error)
    response = _problem(503, "unavailable", "The database is busy or cannot be reached. Try again in some seconds.")
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def of_operation(error: OperationRefused) -> Response:
    """Return the problem document of an operation that was refused."""
    result = error.result
    first = result.refused[0]
    detail = f"{result.refusals:,} names are refused, the first is {first.identifier}: {sentence(first.message)}"
    return _problem(409, "operation-refused", detail, result=representations.of_operation(result))


def _status(error: Refused) -> int:
    if isinstance(error, (Forbidden, ReadOnlyBindings)):
        return 403
    if isinstance(error, Missing) or error.code in _NOT_FOUND:
        return 404
    if isinstance(error, Stale):
        return 412
    return 409 if isinstance(error, BindingConflict) or error.code in _IN_CONFLICT else 422


def _problem(status: int, code: str, detail: str, **more: Any) -> Response:
    document = {**problem_document(status, code, detail), **more}
    return Response(json.dumps(document) + "\n", status, content_type="application/problem+json")
