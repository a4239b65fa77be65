"""The tables of the verifiable log. Only its own commands write them, so that a change of a name costs no more."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, Table, Text

from .column_types import BYTES, NUMBER, metadata
from .retention import retention

log_salts = Table(
    "log_salts",  # a random value for each name, which hides the name in its hash
    metadata,
    Column("key", BYTES, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    info=retention(facts="salt", names="key", is_copied=True),
)

log_entries = Table(
    "log_entries",  # an entry for each event, in the order of the log
    metadata,
    Column("entry", NUMBER, primary_key=True, autoincrement=False),
    Column("event", NUMBER, nullable=False, unique=True),
    Column("salt", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    info=retention(facts="salt hash", is_copied=True),
)

log_state = Table(
    "log_state",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    info=retention(facts="name value", is_copied=True),
)

TABLES = (log_salts, log_entries, log_state)
