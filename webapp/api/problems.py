"""The problem documents of the API (RFC 9457): errors of requests, of the management and of bindings.

Each has a status, a stable code and a sentence. A conflict also has both rows of the name, as :class:`BindingConflict`.
"""

from __future__ import annotations

import json
from typing import Any

from flask import Blueprint, Response, request

from ...bindings.names.errors import (
    BindingConflict,
    BindingError,
    BindingsUnavailable,
    CatalogueError,
    MintedElsewhere,
    Stale,
)
from ...bindings.operations.plan import BulkResult
from ...identifiers.text.display import counted
from ...identifiers.text.translatable import sentence
from ..errors import problem_document, sentence_of
from . import representations


class OperationRefused(Exception):
    """Nothing was written, because the change of some names is not permitted. ``result`` lists them."""

    def __init__(self, result: BulkResult) -> None:
        super().__init__(result.refusals)
        self.result = result


def init_blueprint(blueprint: Blueprint) -> None:
    """Register the functions that answer errors of an API with problem documents (RFC 9457).

    ``blueprint`` is the Flask blueprint of the API.
    """
    blueprint.register_error_handler(CatalogueError, of_error)
    blueprint.register_error_handler(BindingsUnavailable, of_error)
    blueprint.register_error_handler(OperationRefused, of_operation)


def of_error(error: CatalogueError | BindingsUnavailable) -> Response:
    """Return the problem document (RFC 9457) for an error of the management or of the bindings.

    ``error`` is the error. The error table has its status, its expected input and its reference.
    """
    entry = error.entry
    more: dict[str, Any] = {"expected": entry.expected, "reference": entry.reference}
    if entry.about is not None:
        more["argument"] = entry.about
    if isinstance(error, CatalogueError):
        more["expected"] = error.expected
    if isinstance(error, BindingError):
        more["identifier"] = error.identifier
        if error.suggestion is not None:
            more["suggestion"] = error.suggestion
        if error.item is not None or error.field is not None:
            more["pointer"] = _pointer(error)
    if isinstance(error, MintedElsewhere):
        more["minter"] = error.minter
    if isinstance(error, BindingConflict):
        more |= {
            "existing": representations.of_name(error.existing),
            "proposed": representations.of_name(error.proposed),
        }
    if isinstance(error, Stale):
        more["existing"] = error.existing and representations.of_name(error.existing)
    response = _problem(entry.status, error.code, sentence_of(error), **more)
    if entry.retry_after is not None:
        response.headers["Retry-After"] = str(entry.retry_after)
    return response


def _pointer(error: BindingError) -> str:
    """Return the JSON Pointer (RFC 6901) to the wrong value in the body of the request."""
    item = "" if error.item is None or request.endpoint != "management.create_names" else f"/names/{error.item}"
    field = {"status": "state"}.get(error.field or "", error.field)
    return f"{item}/{field}" if field else item


def of_operation(error: OperationRefused) -> Response:
    """Return the problem document (RFC 9457) for an operation on many names that was refused.

    ``error`` has the result of the operation, with the refused names.
    """
    result = error.result
    first = result.refused[0]
    refused = counted(result.refusals, "name is", "names are")
    detail = f"{refused} refused, the first is {first.identifier}: {sentence(first.message)}"
    return _problem(409, "operation-refused", detail, result=representations.of_operation(result))


def _problem(status: int, code: str, detail: str, **more: Any) -> Response:
    document = {**problem_document(status, code, detail), **more}
    return Response(json.dumps(document) + "\n", status, content_type="application/problem+json")
