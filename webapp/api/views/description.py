"""The description of the API."""

from __future__ import annotations

from flask import Response

from ...responses import as_json
from .. import openapi, parameters
from ..blueprint import blueprint


@blueprint.get("/openapi.json")
def describe() -> Response:
    """Show the OpenAPI document."""
    parameters.read()
    return as_json(openapi.description())
