"""The tables of people and programs that manage names: accounts, tokens, sessions and jobs.

Times are RFC 3339 in UTC. A token or session is stored as a hash only. No name depends on these tables.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, SmallInteger, Table, Text

from .column_types import BYTES, NUMBER, metadata, one_of, row_number

accounts = Table(
    "accounts",
    metadata,
    row_number(),
    Column("name", BYTES, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text),  # a hash, or null if the account signs in elsewhere
    Column("created", Text, nullable=False),
    Column("disabled", Text),
    Column("preferences", Text),  # JSON, or null for the defaults
    Column("link", BYTES),  # a hash of the secret of its one-time link, or null
    Column("link_expires", Text),
)

identities = Table(
    "identities",  # the accounts of identity providers
    metadata,
    Column("issuer", BYTES),
    Column("subject", BYTES),
    Column("account", NUMBER, nullable=False),
    PrimaryKeyConstraint("issuer", "subject"),
)

grants = Table(
    "grants",  # the NAANs and shoulders that an account can change
    metadata,
    Column("account", NUMBER),
    Column("prefix", BYTES),
    PrimaryKeyConstraint("account", "prefix"),
)

tokens = Table(
    "tokens",
    metadata,
    row_number(),
    Column("account", NUMBER, nullable=False),
    Column("label", Text, nullable=False),
    Column("hash", BYTES, nullable=False, unique=True),
    Column("prefixes", Text),  # JSON, or null for all prefixes of the account
    Column("created", Text, nullable=False),
    Column("expires", Text),
    Column("last_used", Text),
    Column("revoked", Text),
    Column("rights", Text),  # JSON, or null for all rights of the account
    Column("emergency", SmallInteger),  # 1 if each request is in the audit
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", BYTES, primary_key=True),  # a hash
    Column("account", NUMBER, nullable=False),
    Column("created", Text, nullable=False),
    Column("expires", Text, nullable=False),
    Column("ended", Text),
    Column("answers", Text),  # JSON: the last answers to forms of the desk
)

sign_ins = Table(
    "sign_ins",  # failed attempts to sign in
    metadata,
    Column("name", BYTES),
    Column("address", BYTES),
    Column("failures", NUMBER, nullable=False),
    Column("since", Text, nullable=False),
    PrimaryKeyConstraint("name", "address"),
)

audit = Table(
    "audit",  # the requests of accounts, with their results
    metadata,
    row_number(),
    Column("time", Text, nullable=False),
    Column("account", NUMBER),
    Column("token", NUMBER),
    Column("operation", Text, nullable=False),
    Column("name", Text),
    Column("outcome", Text, nullable=False),
    Column("address", Text),
    Column("actor", Text),  # of a change without an account, such as by the command
)
Index("audit_time", audit.c.time)

idempotency = Table(
    "idempotency",  # the responses to requests with an Idempotency-Key
    metadata,
    Column("account", NUMBER),
    Column("key", BYTES),
    Column("request", Text, nullable=False),  # a hash
    Column("status", SmallInteger),
    Column("response", Text),
    Column("created", Text, nullable=False),
    PrimaryKeyConstraint("account", "key"),
)

jobs = Table(
    "jobs",
    metadata,
    row_number(),
    Column("account", NUMBER),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("parameters", Text, nullable=False),  # JSON, as is result
    Column("progress", NUMBER, nullable=False),
    Column("total", NUMBER),
    Column("result", Text),
    Column("created", Text, nullable=False),
    Column("changed", Text, nullable=False),
    one_of("state", ("waiting", "running", "done", "failed", "cancelled")),
)

TABLES = (accounts, identities, grants, tokens, sessions, sign_ins, audit, idempotency, jobs)
