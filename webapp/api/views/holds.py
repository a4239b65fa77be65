"""Holds of names and prefixes: list, set and release them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response

from ....bindings import holding
from ....bindings.holding import HoldChange, Of
from ....bindings.names.binding import rfc3339
from ....bindings.names.prefixes.holds import read_end
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...config import site_bindings
from ...management import holds
from ...responses import as_json
from .. import bodies, idempotency, parameters
from ..blueprint import blueprint, caller, read_bindings
from ..idempotency import StoredReply
from .names import expected_revision
from .prefixes import expected_revision as expected_revision_of_prefix


@blueprint.get("/holds")
def list_holds() -> Response:
    """Return the holds of names and prefixes that apply now as JSON. ``all=1`` adds the holds that have ended."""
    with_ended = parameters.flag("all", parameters.read("all").get("all"))
    return as_json({"holds": [each.as_dict() for each in holding.current(read_bindings(), with_ended=with_ended)]})


@blueprint.post("/holds")
def hold() -> Response:
    """Put the name or prefix in the JSON body on hold, or change its hold. The JSON of the response has ``outcome``,
    ``name`` or ``prefix``, ``until`` and ``reason``.
    """
    parameters.read()
    body: dict[str, Any] = bodies.read_json("Hold")
    of, kind = _of(body)
    until = read_end(body["until"])
    return _manage(
        lambda by: holds.hold(accounts(), by, of, until, body["reason"], kind=kind, revision=_expected(of, kind)),
        until=rfc3339(until),
        reason=body["reason"],
    )


@blueprint.post("/holds/release")
def release() -> Response:
    """End the hold of the name or prefix in the JSON body before its time. Return the outcome as JSON."""
    parameters.read()
    of, kind = _of(bodies.read_json("Release"))
    return _manage(lambda by: holds.release(accounts(), by, of, kind=kind, revision=_expected(of, kind)))


def _manage(act: Callable[[Caller], HoldChange], **more: str) -> Response:
    represent: Callable[[HoldChange], StoredReply] = lambda made: StoredReply(  # noqa: E731
        {"outcome": made.outcome, made.kind: made.of, **more}
    )
    return idempotency.manage(accounts(), caller(), act, represent)


def _of(body: dict[str, Any]) -> tuple[str, Of]:
    return (body["name"], "name") if "name" in body else (body["prefix"], "prefix")


def _expected(of: str, kind: Of) -> int | None:
    """Return the revision that the preconditions permit of the name or the record of the prefix (:mod:`.names`)."""
    if kind == "name":
        return expected_revision(of)
    return expected_revision_of_prefix(of, site_bindings().prefixes.get(of))
