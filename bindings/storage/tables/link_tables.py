"""The database table of link health: the last trace of the target of each name. No name depends on it."""

from __future__ import annotations

from sqlalchemy import Column, Index, SmallInteger, Table, Text

from .column_types import BYTES, metadata, one_of

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
)
Index("links_state", links.c.state, links.c.key)

TABLES = (links,)
