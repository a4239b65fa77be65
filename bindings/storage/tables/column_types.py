"""The column types and constraints that the modules of tables share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Integer, MetaData, Text

metadata = MetaData()
"""The tables of a database."""

BYTES = Text().with_variant(Text(collation="C"), "postgresql")
"""Texts compared by their bytes: ark:12345/X differs from ark:12345/x. SQLite compares bytes by default (BINARY)."""

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""Row numbers. In SQLite only INTEGER can be the row ID of a table."""


def row_number() -> Column[Any]:
    """Create the column ``id`` of a table: a number that the database assigns in the order of the rows."""
    return Column("id", NUMBER, primary_key=True, autoincrement=True)


def one_of(column: str, allowed: Iterable[object]) -> CheckConstraint:
    """Create the CHECK constraint by which a column can only have one of the ``allowed`` values."""
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, allowed))})", name=f"{column}_known")
