"""The description of the API, and what the caller can do."""

from __future__ import annotations

from flask import Response

from ...responses import as_json
from .. import openapi, parameters
from ..blueprint import blueprint, caller


@blueprint.get("/openapi.json")
def describe() -> Response:
    """Return the OpenAPI document of the JSON API."""
    parameters.read()
    return as_json(openapi.description())


@blueprint.get("/account")
def show_account() -> Response:
    """Return the account that sent the request as JSON: ``name``, ``role``, ``prefixes``, and ``token`` or null."""
    parameters.read()
    known = caller()
    document = {"name": known.account.name, "role": known.role, "prefixes": list(known.account.prefixes)}
    return as_json(document | {"token": known.token and known.token.as_dict()})
