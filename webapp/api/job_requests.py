"""Start a job by a request: a check or change of many names, an import or an export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response
from sqlalchemy import Connection

from ..accounts.identify import accounts
from ..accounts.model import Caller
from ..config import url
from ..errors import HTTPRefusal
from ..jobs.imports import current_imports
from ..jobs.model import Job
from ..jobs.queue import MAX_UNFINISHED, RETRY_SECONDS
from ..management.permissions import require_curator
from ..responses import as_json
from . import bodies, idempotency, parameters
from .blueprint import caller
from .idempotency import OneRequest, StoredReply


def start_job(
    add: Callable[[Connection], Job],
    represent: Callable[[Job], Any],
    endpoint: str,
    require: Callable[[Caller | None], Caller] = require_curator,
) -> Response:
    """Add a job in a transaction, and return the response 202 with the JSON of ``represent``. A repeated request with
    its key starts one job. ``endpoint`` is the view that shows the job by its number. ``require`` returns the caller
    or raises :class:`.Forbidden`. Raises :class:`HTTPRefusal` (429) for too many unfinished jobs.
    """
    who, known = require(caller()), current_imports()

    def act(one: OneRequest | None) -> StoredReply:
        def write(connection: Connection) -> StoredReply:
            if known.jobs.is_full(connection, who.account.number):
                sentence = f"{MAX_UNFINISHED} jobs of this account wait or run, the maximum. Wait for one of them."
                raise HTTPRefusal(429, "too-many-imports", sentence, retry_after=RETRY_SECONDS)
            job = add(connection)
            reply = StoredReply(represent(job), 202, location=url(endpoint, number=job.number))
            if one is not None:
                one.store(connection, reply)
            return reply

        return accounts().run_in_transaction(write)

    response = idempotency.answer(accounts(), who, act)
    known.worker.wake()
    return response


def shown_job(job: Job, represent: Callable[[Job], Any]) -> Response:
    """Return the state of a job as JSON. Until its end, Retry-After has the seconds after which to ask again."""
    response = as_json(represent(job))
    if not job.is_finished:
        response.headers["Retry-After"] = str(idempotency.JOB_SECONDS)
    return response


def resumed(job: Job, represent: Callable[[Job], Any]) -> Response:
    """Continue a job that its server ended, and return its state as JSON. Another job is returned as it is."""
    parameters.read()
    bodies.require_empty()
    current_imports().resume(job)
    return shown_job(current_imports().get(job.number) or job, represent)


def conditions(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the member ``selection`` of a body as conditions for :func:`~.jobs.bulk.selection_of`: ``q`` becomes
    ``text``, and times ISO 8601. Raises :class:`HTTPRefusal` for a time that is not valid, with the pointer to it.
    """
    found: dict[str, Any] = {"text" if name == "q" else name: text for name, text in given.items()}
    for name in found.keys() & {"created_since", "created_before", "changed_since", "changed_before"}:
        try:
            time = parameters.time(name, found[name])
        except HTTPRefusal as error:
            error.more = {"pointer": f"/selection/{name}"}
            raise
        found[name] = time and time.isoformat()
    return found
