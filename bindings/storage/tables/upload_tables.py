"""The tables of uploaded spreadsheets and of the outcome of each of their rows. No name depends on them.

They are deleted after a time and are not copied with a database, as jobs are not.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, Table, Text

from .column_types import BYTES, NUMBER, metadata, one_of, row_number

UPLOAD_STAGES = ("new", "preview", "import")
ROW_PARTS = ("added", "changed", "moved", "refused", "warning", "unchanged")

uploads = Table(
    "uploads",
    metadata,
    row_number(),
    Column("account", NUMBER, nullable=False),
    Column("name", Text, nullable=False),  # of the file
    Column("data", LargeBinary, nullable=False),  # compressed
    Column("lines", NUMBER, nullable=False),
    Column("reading", Text, nullable=False),  # JSON: how the file is read
    Column("stage", Text, nullable=False),
    Column("job", NUMBER),  # the last job of the upload; its results are in upload_rows
    Column("created", Text, nullable=False),
    Column("changed", Text, nullable=False),
    one_of("stage", UPLOAD_STAGES),
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
)

TABLES = (uploads, upload_rows)
