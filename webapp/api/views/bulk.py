"""Changes of many names in one operation: relocations, and undo."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response

from ....bindings.names.errors import BindingError
from ....bindings.operations.plan import BulkResult
from ....identifiers.text import display
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...config import url
from ...management import bulk
from .. import bodies, idempotency, parameters, representations
from ..blueprint import blueprint, caller
from ..idempotency import StoredReply
from ..problems import OperationRefused


@blueprint.post("/relocations")
def relocate() -> Response:
    """Answer a request of the JSON API to replace the beginning of the targets of many names."""
    dry_run, atomic = read_options()
    body = bodies.read_json("Relocations")
    return operate(
        lambda by: bulk.relocate_prefix(accounts(), by, body["from"], body["to"], atomic=atomic, dry_run=dry_run),
        dry_run=dry_run,
        instead={"operation": {"action": "move", "from": body["from"], "to": body["to"]}, "selection": {}},
    )


def read_dry_run() -> bool:
    """Return the value of the query parameter ``dry_run``. The request must have no other parameter."""
    return parameters.flag("dry_run", parameters.read("dry_run").get("dry_run"))


def read_options() -> tuple[bool, bool]:
    """Return the query parameters ``dry_run`` and ``atomic``, by default False. Others raise :class:`HTTPRefusal`."""
    given = parameters.read("dry_run", "atomic")
    return parameters.flag("dry_run", given.get("dry_run")), parameters.flag("atomic", given.get("atomic"))


def operate(act: Callable[[Caller], BulkResult], *, dry_run: bool, instead: Mapping[str, Any]) -> Response:
    """Return the JSON response to an operation that ``act`` carries out as the caller. A dry run succeeds, and lists
    refused names. ``instead`` is the body of the request that starts a job, for the error about too many names. Raises
    :class:`OperationRefused` if a name is refused; then nothing was written.
    """

    def permitted(by: Caller) -> BulkResult:
        try:
            result = act(by)
        except BindingError as error:
            if error.code != "operation-large":
                raise
            sentence = (
                f"{error.message}; to start a job, send POST {url('management.check_change')} with {_json(instead)}"
            )
            raise BindingError(error.code, sentence) from None
        if result.refusals and not dry_run:
            raise OperationRefused(result)
        return result

    represent: Callable[[BulkResult], StoredReply] = lambda result: StoredReply(representations.of_operation(result))  # noqa: E731
    return idempotency.manage(accounts(), caller(), permitted, represent)


def _json(value: Mapping[str, Any]) -> str:
    return display.escape(json.dumps(value))
