"""The tables of the desk: uploaded spreadsheets, the outcomes of their rows, and link health (the last trace of each
target). No name depends on them, and they are not copied with a database.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, SmallInteger, Table, Text

from .column_types import BYTES, NUMBER, metadata, one_of, row_number
from .retention import COPIES_KEPT, Old, retention

UPLOAD_STAGES = ("new", "preview", "import")
_OF_JOB = Old(None, COPIES_KEPT, "rows")
ROW_PARTS = ("added", "published", "changed", "moved", "refused", "warning", "unchanged")

uploads = Table(
    "uploads",
    metadata,
    row_number(),
    Column("account", NUMBER, nullable=False),
    Column("name", Text, nullable=False),  # of the file
    Column("data", LargeBinary, nullable=False),  # compressed
    Column("original", LargeBinary),  # compressed: the .xlsx from which "data" was converted
    Column("lines", NUMBER, nullable=False),
    Column("reading", Text, nullable=False),  # JSON: how the file is read
    Column("stage", Text, nullable=False),
    Column("job", NUMBER),  # the last job of the upload; its results are in upload_rows
    Column("created", Text, nullable=False),
    Column("changed", Text, nullable=False),
    one_of("stage", UPLOAD_STAGES),
    info=retention(
        facts="stage created changed",
        copies={"name": None, "data": None, "original": None, "reading": None},
        redaction="found",
        old=Old("changed", COPIES_KEPT, "rows"),
    ),
)
Index("uploads_account", uploads.c.account, uploads.c.id)

upload_rows = Table(
    "upload_rows",  # the effect of each row of the file
    metadata,
    Column("upload", NUMBER),
    Column("part", BYTES),
    Column("number", NUMBER),
    Column("line", NUMBER, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("identifier", Text, nullable=False),
    Column("code", Text),
    Column("message", Text),
    Column("changes", Text, nullable=False),  # JSON: fields with the values before and after
    PrimaryKeyConstraint("upload", "part", "number"),
    one_of("part", ROW_PARTS),
    info=retention(
        facts="part outcome code",
        copies={"identifier": None, "message": None, "changes": None},
        redaction="found",
        part_of=("upload", uploads),
    ),
)

column_mappings = Table(
    "column_mappings",  # what an account selected for the same headings, so that it need not do so again
    metadata,
    Column("account", NUMBER),
    Column("prefix", BYTES),  # the shoulder below which the table mints, or ""
    Column("headings", BYTES),  # a hash of the headings
    Column("reading", Text, nullable=False),  # JSON: the columns by heading, and the choices
    Column("changed", Text, nullable=False),
    PrimaryKeyConstraint("account", "prefix", "headings"),
    info=retention(facts="headings changed", names="prefix", copies={"reading": None}, redaction="found"),
)

bulk_names = Table(
    "bulk_names",  # the names that a change of many names still concerns
    metadata,
    Column("job", NUMBER),
    Column("place", NUMBER),
    Column("key", BYTES, nullable=False),
    Column("revision", NUMBER),  # of the name when it was checked; 0 for a deleted name, null before the check
    PrimaryKeyConstraint("job", "place"),
    info=retention(copies={"key": None}, redaction="rows", old=_OF_JOB),
)

bulk_progress = Table(
    "bulk_progress",  # what a change of many names has written so far
    metadata,
    Column("job", NUMBER, primary_key=True, autoincrement=False),
    Column("operation", NUMBER, nullable=False),
    Column("result", Text, nullable=False),  # JSON
    info=retention(copies={"result": None}, redaction="rows", old=_OF_JOB),
)

export_parts = Table(
    "export_parts",  # the file of an export of many names, compressed and divided
    metadata,
    Column("job", NUMBER),
    Column("place", NUMBER),  # from 0
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("job", "place"),
    info=retention(copies={"data": None}, redaction="rows", old=_OF_JOB),
)

LINK_STATES = ("works", "moved", "refused", "dead", "unclear")

links = Table(
    "links",
    metadata,
    Column("key", BYTES, primary_key=True),
    Column("target", Text, nullable=False),  # the traced target; a result for another target is out of date
    Column("state", Text, nullable=False),
    Column("status", SmallInteger),
    Column("url", Text),  # the URL at which the trace ended
    Column("code", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("since", Text, nullable=False),  # the time of the first trace with this state and target
    Column("traced", Text, nullable=False),
    one_of("state", LINK_STATES),
    info=retention(facts="state code since traced", names="key target url sentence"),
)
Index("links_state", links.c.state, links.c.key)

pauses = Table(
    "pauses",
    metadata,
    Column("host", Text, primary_key=True),
    Column("until", Text, nullable=False),  # the host asked for no request before this time (Retry-After)
    info=retention(facts="until", names="host"),
)

TABLES = (uploads, upload_rows, column_mappings, bulk_names, bulk_progress, export_parts, links, pauses)
