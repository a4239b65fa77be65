"""The problem documents of the API (RFC 9457): errors of requests, of the management and of bindings.
Each has a stable code. A conflict also has both rows of the name, as :class:`BindingConflict`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Any

from flask import Blueprint, Response, g, request

from ...bindings.names.errors import (
    BindingConflict,
    BindingError,
    BindingsUnavailable,
    CatalogueError,
    MintedElsewhere,
    Stale,
)
from ...bindings.operations.plan import BulkResult
from ...identifiers.text.display import format_count
from ...identifiers.text.translatable import sentence
from ..accounts import identify
from ..config import site_bindings
from ..errors import problem_document, sentence_of
from ..management.permissions import without_values
from . import representations
from .bodies import MAX_ERRORS, pointer_to


class OperationRefused(Exception):
    """Nothing was written, because the change of some names is not permitted. ``result`` lists them."""

    def __init__(self, result: BulkResult) -> None:
        super().__init__(result.refusals)
        self.result = result


def init_blueprint(blueprint: Blueprint) -> None:
    """Register the functions that answer errors of an API with problem documents (RFC 9457)."""
    blueprint.register_error_handler(CatalogueError, of_error)
    blueprint.register_error_handler(BindingsUnavailable, of_error)
    blueprint.register_error_handler(OperationRefused, of_operation)


def of_error(error: CatalogueError | BindingsUnavailable) -> Response:
    """Return the problem document (RFC 9457) for an error. Its status and ``reference`` are those of the code in the
    error table. An error about a name adds ``identifier``, ``suggestion`` and the ``pointer`` into the body.
    """
    if isinstance(error, BindingError):
        error = without_values(identify.caller(), error, site_bindings())
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
        if (pointer := _pointer(error)) is not None:
            more["pointer"] = pointer
            more["errors"] = [
                {"code": error.code, "detail": sentence_of(error), "pointer": pointer},
                *islice(_others(pointer), MAX_ERRORS - 1),
            ]
    if isinstance(error, MintedElsewhere):
        more["minter"] = error.minter
    if isinstance(error, BindingConflict | Stale):
        more["existing"] = error.existing and error.existing.as_listed()
    if isinstance(error, BindingConflict):
        more["proposed"] = error.proposed.as_listed()
    response = _problem(entry.status, error.code, sentence_of(error), **more)
    if entry.retry_after is not None:
        response.headers["Retry-After"] = str(entry.retry_after)
    return response


def _pointer(error: BindingError) -> str | None:
    """Return the JSON Pointer (RFC 6901) to the wrong value in the body of the request, or None if it is elsewhere."""
    body = request.get_json(silent=True) if request.method in ("POST", "PUT", "PATCH") else None
    item = error.item if request.endpoint == "management.create_names" else None
    place = [] if item is None else ["names", item]
    about = error.field or error.entry.about or ""
    member = {"status": "state", "identifier": "name"}.get(about, about)
    if error.field is None and not place:
        # An operation on many names has its arguments deeper in the body.
        for within in ((), ("operation",), ("operation", "fields"), ("selection",)):
            deep = reduce(lambda value, name: value.get(name) if isinstance(value, dict) else None, within, body)
            if isinstance(deep, dict) and member in deep:
                return pointer_to([*place, *within, member])
        return None
    return pointer_to([*place, *([member] if error.field else [])])


_ANY_NAME = "ark:12345/x"


def _others(first: str) -> Iterator[dict[str, str]]:
    """Yield the errors of the values in the body, except that at the pointer ``first``."""
    for item, fields in g.get("ararat_fields", ()):
        for error in fields.errors(_ANY_NAME):
            error.item = item
            if (pointer := _pointer(error)) and pointer != first:
                yield {"code": error.code, "detail": sentence_of(error), "pointer": pointer}


def of_operation(error: OperationRefused) -> Response:
    """Return the problem document 409 (``operation-refused``). Its member ``result`` lists the refused names."""
    result = error.result
    first = result.refused[0]
    refused = format_count(result.refusals, "name is", "names are")
    detail = f"{refused} refused, the first is {first.identifier}: {sentence(first.message)}"
    return _problem(409, "operation-refused", detail, result=representations.of_operation(result))


def _problem(status: int, code: str, detail: str, **more: Any) -> Response:
    document = {**problem_document(status, code, detail), **more}
    return Response(json.dumps(document) + "\n", status, content_type="application/problem+json")
