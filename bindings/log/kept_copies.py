"""Copies of names in the tables of requests: replies to repeated requests, answers to forms, and uploaded tables.

They are kept for a time and then deleted (:func:`delete_old`). A redaction deletes those that contain its name
(:func:`delete_of_name`), because they contain what it removes. It deletes all answers to forms: a form can repeat a
value without the name.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, or_, select, update

from ..names.binding import rfc3339
from ..storage.tables.account_tables import idempotency, sessions
from ..storage.tables.desk_tables import upload_rows, uploads

REPLIES_KEPT = timedelta(hours=24)
"""The time for which the reply to a request with ``Idempotency-Key`` is kept."""

UPLOADS_KEPT = timedelta(days=30)
"""The time after the last use of an uploaded table for which it is kept. The operation of its import remains."""

_MAX_UNPACKED = 64 * 2**20
_OLD_REPLY, _OLD_UPLOAD = idempotency.c.created < bindparam("replied"), uploads.c.changed < bindparam("uploaded")
OLD = select(idempotency.c.account).where(_OLD_REPLY).union_all(select(uploads.c.id).where(_OLD_UPLOAD)).limit(1)
"""A query that has a row if :func:`delete_old` would delete something."""


def limits(now: datetime) -> dict[str, str]:
    """Return the parameters of :data:`OLD`."""
    return {"replied": rfc3339(now - REPLIES_KEPT), "uploaded": rfc3339(now - UPLOADS_KEPT)}


def delete_old(connection: Connection, now: datetime) -> None:
    """Delete the copies that are older than the time for which they are kept."""
    connection.execute(delete(idempotency).where(_OLD_REPLY), limits(now))
    for number in list(connection.execute(select(uploads.c.id).where(_OLD_UPLOAD), limits(now)).scalars()):
        _delete_upload(connection, number)


def delete_of_name(connection: Connection, key: str, published: str) -> None:
    """Delete the copies that contain a name in one of its usual spellings, and those that cannot be searched.

    ``key`` is its normal form, and ``published`` the spelling under which it was first bound.
    """
    connection.execute(update(sessions).where(sessions.c.answers.is_not(None)).values(answers=None))
    pattern = _pattern({key, published})
    replies = select(idempotency.c.account, idempotency.c.key, idempotency.c.response)
    for account, used, response in connection.execute(replies).all():
        if response and pattern.search(_plain(response)):
            of_reply = idempotency.c.account == account, idempotency.c.key == used
            connection.execute(delete(idempotency).where(*of_reply))
    spelled = or_(upload_rows.c.identifier == key, upload_rows.c.identifier == published)
    found = {*connection.execute(select(upload_rows.c.upload).where(spelled)).scalars()}
    for number in list(connection.execute(select(uploads.c.id)).scalars()):
        data = connection.execute(select(uploads.c.data).where(uploads.c.id == number)).scalar_one()
        if number in found or _contains(data, pattern):
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


def _contains(stored: bytes, pattern: re.Pattern[str]) -> bool:
    """Return whether an uploaded file contains a name, or cannot be searched."""
    try:
        data = zlib.decompress(stored)
        if not data.startswith(b"PK"):
            # An older spreadsheet is not text. Its strings can be UTF-16.
            texts = [data.decode("latin-1"), data.decode("utf-16-le", "replace")]
            return any(pattern.search(_plain(text)) for text in texts)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED:
                return True
            return any(pattern.search(_plain(archive.read(each).decode("latin-1"))) for each in archive.namelist())
    except (zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError):
        return True
