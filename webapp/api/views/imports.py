"""Imports of tables: start one as a job, read its progress and result, and undo it."""

from __future__ import annotations

from flask import Response, request
from sqlalchemy import Connection
from werkzeug.exceptions import NotFound

from ....identifiers.text import display
from ...config import url
from ...errors import HTTPRefusal
from ...jobs.imports import KIND, Format, current_imports
from ...jobs.model import Job
from ...jobs.queue import MAX_UNFINISHED
from ...management.permissions import require_curator
from ...responses import as_json
from .. import bodies, idempotency, parameters, representations
from ..blueprint import blueprint, caller, management
from ..idempotency import OneRequest, StoredReply
from . import bulk

MAX_BYTES = 15 * 2**20
"""The maximum size of a table in bytes. `ararat serve` reads no larger body; `ararat import` has no limit."""

MAX_NUMBER = 2**31 - 1
"""The largest number of an import."""

_RETRY_SECONDS = 30
_FORMATS: dict[str, Format] = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
}

_ENCODINGS = ("utf-8", "utf-16", "windows-1252", "iso-8859-1")


@blueprint.post("/imports")
def start_import() -> Response:
    """Start an import."""
    given = parameters.read("dry_run", "relocate")
    options = {name: parameters.flag(name, given.get(name)) for name in ("dry_run", "relocate")}
    format = _FORMATS[bodies.require_media_type(_FORMATS)]
    encoding = _encoding(format)
    content = bodies.read_bytes(MAX_BYTES)
    who, known = require_curator(caller()), current_imports()

    def act(one: OneRequest | None) -> StoredReply:
        def write(connection: Connection) -> StoredReply:
            if known.jobs.is_full(connection, who.account.number):
                sentence = f"{MAX_UNFINISHED} imports of this account wait or run, the maximum. Wait for one of them."
                raise HTTPRefusal(429, "too-many-imports", sentence, retry_after=_RETRY_SECONDS)
            job = known.add(connection, who, content, format=format, encoding=encoding, **options)
            location = url("management.show_import", number=job.number)
            reply = StoredReply(representations.of_import(job), 202, location=location)
            if one is not None:
                one.store(connection, reply)
            return reply

        return management().accounts.write(write)

    response = idempotency.answer(management().accounts, who, act)
    known.worker.wake()
    return response


@blueprint.get("/imports/<int:number>")
def show_import(number: int) -> Response:
    """Show an import."""
    parameters.read()
    return as_json(representations.of_import(_known(number)))


@blueprint.post("/imports/<int:number>/undo")
def undo_import(number: int) -> Response:
    """Undo an import."""
    dry_run = bulk.read_dry_run()
    bodies.require_empty()
    job = _known(number)
    operation = (job.result or {}).get("operation")
    if operation is None:
        raise HTTPRefusal(409, "nothing-to-undo", "The import has changed no names, so that it cannot be undone.")
    return bulk.operate(lambda by: management().bulk.undo(by, operation, dry_run=dry_run), dry_run=dry_run)


def _encoding(format: Format) -> str:
    """Return the encoding of the table: the charset of Content-Type, by default UTF-8. Raises :class:`HTTPRefusal`.

    The encoding is never guessed: a wrong guess would record other names, and names are permanent.
    """
    encoding = request.mimetype_params.get("charset", "utf-8").lower()
    accepted = _ENCODINGS[:1] if format == "jsonl" else _ENCODINGS
    if encoding not in accepted:
        shown = display.escape(encoding[:100])
        raise HTTPRefusal(415, "media-type", f"The charset is {shown}. Send {' or '.join(accepted)}.")
    return encoding


def _known(number: int) -> Job:
    """Return an import of the caller; an administrator sees all imports. Raises NotFound."""
    job = current_imports().get(number) if number <= MAX_NUMBER else None
    who = caller()
    if job is None or job.kind != KIND or not (who.is_administrator or job.account == who.account.number):
        raise NotFound
    return job
