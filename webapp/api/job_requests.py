"""Start a job by a request: a check or change of many names, or an import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Response
from sqlalchemy import Connection

from ..config import url
from ..errors import HTTPRefusal
from ..jobs.imports import current_imports
from ..jobs.model import Job
from ..jobs.queue import MAX_UNFINISHED
from ..management.permissions import require_curator
from . import idempotency
from .blueprint import caller, management
from .idempotency import OneRequest, StoredReply

RETRY_SECONDS: Final = 30
"""The seconds after which a client asks again for a job that is not finished."""


def start_job(add: Callable[[Connection], Job], represent: Callable[[Job], Any], endpoint: str) -> Response:
    """Add a job in a transaction, and return the response 202 about it. A repeated request starts one job.

    ``add`` adds the job. ``represent`` returns its JSON. ``endpoint`` is the view that shows the job by its number.

    Raises :class:`HTTPRefusal` with status 429 if too many jobs of the account are not finished, and
    :class:`.Forbidden` for an account that is not a curator.
    """
    who, known = require_curator(caller()), current_imports()

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

        return management().accounts.write(write)

    response = idempotency.answer(management().accounts, who, act)
    known.worker.wake()
    return response
