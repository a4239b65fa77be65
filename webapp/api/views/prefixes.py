"""Records of NAANs and shoulders: list, show and set them."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from ....bindings.names.errors import Stale
from ....bindings.names.prefixes import prefixes
from ....bindings.names.prefixes.prefixes import PrefixRecord
from ....bindings.names.prefixes.texts import DELEGATION, EDITED
from ....bindings.operations.plan import BulkResult
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...config import site_bindings
from ...management import NO_RECORD, prefix_etag
from ...management import prefixes as prefix_records
from ...management.succession import Succession
from ...responses import as_json
from ...security import MANAGED
from .. import bodies, idempotency, name_paths, parameters, preconditions, representations
from ..blueprint import blueprint, caller
from ..idempotency import StoredReply
from ..preconditions import Preconditions
from ..problems import OperationRefused
from .bulk import read_dry_run, read_options


@blueprint.get("/prefixes")
def list_prefixes() -> Response:
    """Return the records that describe NAANs and shoulders, as JSON."""
    parameters.read()
    return as_json({"prefixes": [record.as_dict() for record in site_bindings().prefixes.list()]})


@blueprint.get("/prefixes/<path:_>")
def show_prefix(_: str) -> Response:
    """Return the record of the prefix in the path as JSON with its entity tag, or 404 without a record."""
    record = prefix_records.get(site_bindings(), _prefix())
    return preconditions.with_tag(as_json(record.as_dict()), prefix_etag(record))


@blueprint.put("/prefixes/<path:_>")
def set_prefix(_: str) -> Response:
    """Set the record of the prefix in the path, and return it as JSON: 201 for a new one. A text that the body does
    not have is deleted, except those of a delegation.
    """
    prefix = _prefix()
    body: dict[str, Any] = bodies.read_json("PrefixFields")
    # Without the member, the rule stays; an empty template removes it.
    rule: dict[str, Any] = body.get("rule", {"template": None}) or {"template": ""}
    found = site_bindings().prefixes.get(prefix)
    expected = expected_revision(prefix, found)
    etag = None if expected is None else NO_RECORD if found is None else prefix_etag(found)
    # A client that knows no delegation leaves it as it is.
    texts: dict[str, str | None] = {field: body.get(field, None if field in DELEGATION else "") for field in EDITED}
    record = prefix_records.set_record(
        accounts(), caller(), prefix, texts, rule=rule["template"], redirect=rule.get("redirect", 302), etag=etag
    )
    status = 200 if found else 201
    warnings = [each._asdict() for each in prefixes.warnings_about(record.texts)]
    answer = record.as_dict() | ({"warnings": warnings} if warnings else {})
    return preconditions.with_tag(as_json(answer, status), prefix_etag(record))


@blueprint.post("/departures")
def depart() -> Response:
    """Retire the prefix in the JSON body, move the targets of its names to another resolver, and return the result."""
    dry_run, atomic = read_options()
    body = bodies.read_json("Departure")

    def act(by: Caller) -> BulkResult:
        result = prefix_records.depart(accounts(), by, body["prefix"], body["resolver"], atomic=atomic, dry_run=dry_run)
        if result.refusals and not dry_run:
            raise OperationRefused(result)
        return result

    return idempotency.manage(accounts(), caller(), act, lambda done: StoredReply(representations.of_operation(done)))


@blueprint.post("/successions")
def succeed() -> Response:
    """Make the institution in the JSON body responsible for a prefix, and move the grants to its accounts. Return the
    succession as JSON.
    """
    dry_run = read_dry_run()
    body = bodies.read_json("SuccessionFields")

    def act(by: Caller) -> Succession:
        return prefix_records.succeed(
            accounts(),
            by,
            body["prefix"],
            body["to"],
            contact=body.get("contact"),
            heirs=body.get("accounts", ()),
            dry_run=dry_run,
        )

    return idempotency.manage(accounts(), caller(), act, lambda done: StoredReply(done.as_dict()))


def _prefix() -> str:
    return name_paths.read_prefix(request.environ, f"{MANAGED}/prefixes/", site_bindings().naming)


def expected_revision(prefix: str, found: PrefixRecord | None) -> int | None:
    """Return the revision of the record ``found`` if the preconditions permit it, 0 for no record, or None without
    preconditions. Raises :class:`Stale` if they do not hold. The change checks the revision again in its transaction.
    """
    if (wanted := Preconditions.of_request()) is None:
        return None
    if not wanted.hold(found and prefix_etag(found)):
        raise Stale(prefix, "the record has another entity tag than the request expects")
    return found.revision if found else 0
