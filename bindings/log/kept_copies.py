"""Copies of names in the tables of requests: replies to repeated requests, answers to forms, checks, uploaded tables,
exported files.

They are kept for a time and then deleted (:func:`delete_old`). A redaction deletes those that contain its name
(:func:`delete_of_name`), because they contain what it removes. It deletes all answers to forms: a form can repeat a
value without the name. It deletes all exported files, too, and stops exports that run: they can be made again.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, or_, select, text, union_all, update

from ..names.binding import rfc3339
from ..storage.tables.account_tables import idempotency, jobs, sessions
from ..storage.tables.desk_tables import bulk_names, bulk_progress, export_parts, upload_rows, uploads

REPLIES_KEPT = timedelta(hours=24)
"""The time for which the reply to a request with ``Idempotency-Key`` is kept."""

UPLOADS_KEPT = timedelta(days=30)
"""The time after the last use of an uploaded table for which it is kept. The operation of its import remains."""

CHECKS_KEPT = timedelta(days=30)
"""The time after the end of a job for which the names that it checked are kept, the progress of its change, and the
file of an export. The operation of the change remains."""

_DELETED_AT_ONCE = 20_000

_STOPPED = json.dumps(
    {"problem": {"code": "name-redacted", "detail": "A name was redacted meanwhile. Start the export again."}}
)

_PART, _OVERLAP = 2**20, 2**16

_MAX_UNPACKED = 64 * 2**20
_OLD_REPLY, _OLD_UPLOAD = idempotency.c.created < bindparam("replied"), uploads.c.changed < bindparam("uploaded")
_HAS_ENDED = text("jobs.state NOT IN ('waiting', 'running')")
_OLD_JOBS = select(jobs.c.id).where(_HAS_ENDED, jobs.c.changed < bindparam("ended"))
_OLD_CHECK, _OLD_PROGRESS = bulk_names.c.job.in_(_OLD_JOBS), bulk_progress.c.job.in_(_OLD_JOBS)
_OLD_EXPORT = export_parts.c.job.in_(_OLD_JOBS)
OLD = union_all(
    select(idempotency.c.account).where(_OLD_REPLY),
    select(uploads.c.id).where(_OLD_UPLOAD),
    select(bulk_names.c.job).where(_OLD_CHECK),
    select(bulk_progress.c.job).where(_OLD_PROGRESS),
    select(export_parts.c.job).where(_OLD_EXPORT),
).limit(1)
"""A query that has a row if :func:`delete_old` would delete something."""


def limits(now: datetime) -> dict[str, str]:
    """Return the times before which old copies of names are deleted, as the parameters of the query :data:`OLD`.

    ``now`` is the current time in UTC.
    """
    return {
        "replied": rfc3339(now - REPLIES_KEPT),
        "uploaded": rfc3339(now - UPLOADS_KEPT),
        "ended": rfc3339(now - CHECKS_KEPT),
    }


def delete_old(connection: Connection, now: datetime) -> None:
    """Delete old replies, answers, uploads and exported files, and some of the names of old checks.

    ``connection`` is an open connection to the database. ``now`` is the current time in UTC.

    Call it again until :data:`OLD` has no row: a check can have a million names.
    """
    connection.execute(delete(idempotency).where(_OLD_REPLY), limits(now))
    connection.execute(delete(bulk_progress).where(_OLD_PROGRESS), limits(now))
    connection.execute(delete(export_parts).where(_OLD_EXPORT), limits(now))
    first = select(bulk_names.c.job, bulk_names.c.place).where(_OLD_CHECK).limit(_DELETED_AT_ONCE)
    some = [{"of": job, "at": place} for job, place in connection.execute(first, limits(now))]
    if some:
        of_name = bulk_names.c.job == bindparam("of"), bulk_names.c.place == bindparam("at")
        connection.execute(delete(bulk_names).where(*of_name), some)
    for number in list(connection.execute(select(uploads.c.id).where(_OLD_UPLOAD), limits(now)).scalars()):
        _delete_upload(connection, number)


def delete_of_name(connection: Connection, key: str, published: str) -> None:
    """Delete the replies, answers, uploads and exported files that contain a name, or that cannot be searched for it.

    ``connection`` is an open connection to the database.

    ``key`` is its normal form, and ``published`` the spelling under which it was first bound.
    """
    connection.execute(update(sessions).where(sessions.c.answers.is_not(None)).values(answers=None))
    connection.execute(delete(export_parts))
    running = jobs.c.kind == "export", jobs.c.state.in_(("waiting", "running"))
    connection.execute(update(jobs).where(*running).values(state="failed", result=_STOPPED))
    pattern = _pattern({key, published})
    replies = select(idempotency.c.account, idempotency.c.key, idempotency.c.response)
    for account, used, response in connection.execute(replies).all():
        if response and pattern.search(_plain(response)):
            of_reply = idempotency.c.account == account, idempotency.c.key == used
            connection.execute(delete(idempotency).where(*of_reply))
    spelled = or_(upload_rows.c.identifier == key, upload_rows.c.identifier == published)
    numbers = {*connection.execute(select(upload_rows.c.upload).where(spelled)).scalars()}
    for number in list(connection.execute(select(uploads.c.id)).scalars()):
        data = connection.execute(select(uploads.c.data).where(uploads.c.id == number)).scalar_one()
        if number in numbers or _contains(data, pattern):
            _delete_upload(connection, number)


def _delete_upload(connection: Connection, number: int) -> None:
    connection.execute(delete(upload_rows).where(upload_rows.c.upload == number))
    connection.execute(delete(uploads).where(uploads.c.id == number))


def _pattern(spellings: set[str]) -> re.Pattern[str]:
    """Return a pattern for the part after the label, because a table can have ARKs with and without it."""
    parts = {_plain(each.partition(":")[2].lstrip("/")) for each in spellings}
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, sorted(parts)))})(?![a-z0-9])")


def _plain(text: str) -> str:
    return text.lower().replace("-", "")


def _parts(stored: bytes) -> Iterator[bytes]:
    """Yield the parts of a compressed file, each with the end of the part before: a file can have 100 MB.

    Each begins at an even place, as a character of UTF-16 does. Raises zlib.error.
    """
    unpacked, kept, more = zlib.decompressobj(), b"", stored
    while True:
        part = unpacked.decompress(more, _PART)
        more = unpacked.unconsumed_tail
        if not part and not more:
            yield kept + unpacked.flush()
            if not unpacked.eof:
                raise zlib.error("the file is not complete")
            return
        kept += part
        if len(kept) >= _PART:
            yield kept
            kept = kept[max(len(kept) - _OVERLAP, 0) // 2 * 2 :]


def _contains(stored: bytes, pattern: re.Pattern[str]) -> bool:
    """Return whether an uploaded file contains a name, or cannot be searched."""
    try:
        if not zlib.decompressobj().decompress(stored, 2).startswith(b"PK"):
            # An older spreadsheet is not text. Its strings can be UTF-16.
            return any(
                pattern.search(_plain(part.decode(encoding, "replace")))
                for part in _parts(stored)
                for encoding in ("latin-1", "utf-16-le")
            )
        data = zlib.decompress(stored)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                return True
            return any(pattern.search(_plain(archive.read(each).decode("latin-1"))) for each in archive.namelist())
    except (zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError):
        return True
