"""The tables of people and programs that manage names: accounts, tokens, sessions and jobs. Tokens and sessions are
stored as hashes only. No name depends on these tables.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Column, Index, PrimaryKeyConstraint, SmallInteger, Table, Text

from ...names.operation import EMPTIED
from .column_types import BYTES, NUMBER, metadata, one_of, row_number
from .retention import COPIES_KEPT, REPLIES_KEPT, Old, retention

IN_USE = ("waiting", "running")
"""The states of jobs that need their parameters and their data. All others have ended."""

# The members of the JSON of a job that stay when its texts are deleted. Its caller has an address.
_OF_PARAMETERS = ("action", "check", "claims", "dry_run", "encoding", "file", "format", "has_preview", "relocate")
_OF_PARAMETERS += ("skip_refused", "upload", EMPTIED)
_OF_RESULT = ("operation", "written", "names", "counts", "unchanged", "refusals", "others", "warnings", "bytes")

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
    Column("program", SmallInteger),  # 1 if no person signs in to it
    info=retention(
        facts="role password created disabled link link_expires", of_owner="name preferences", is_copied=True
    ),
)

identities = Table(
    "identities",  # the accounts of identity providers
    metadata,
    Column("issuer", BYTES),
    Column("subject", BYTES),
    Column("account", NUMBER, nullable=False),
    Column("token", NUMBER),  # that of a program, which represents the identity
    PrimaryKeyConstraint("issuer", "subject"),
    info=retention(of_owner="issuer subject", is_copied=True),
)

grants = Table(
    "grants",  # the NAANs and shoulders that an account can change
    metadata,
    Column("account", NUMBER),
    Column("prefix", BYTES),
    PrimaryKeyConstraint("account", "prefix"),
    info=retention(names="prefix", is_copied=True),
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
    info=retention(
        facts="hash created expires last_used revoked rights", names="prefixes", of_owner="label", is_copied=True
    ),
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
    info=retention(
        facts="id created expires ended",
        copies={"answers": None},
        redaction="emptied",
        old=Old("expires", timedelta(), "rows"),
    ),
)

sign_ins = Table(
    "sign_ins",  # failed attempts to sign in
    metadata,
    Column("name", BYTES),
    Column("address", BYTES),
    Column("failures", NUMBER, nullable=False),
    Column("since", Text, nullable=False),
    PrimaryKeyConstraint("name", "address"),
    info=retention(facts="name since", of_owner="address"),
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
    info=retention(facts="time operation outcome", names="name", of_name="actor", of_owner="address", is_copied=True),
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
    info=retention(
        facts="key request created",
        copies={"response": None},
        redaction="emptied",
        old=Old("created", REPLIES_KEPT, "rows"),
    ),
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
    info=retention(
        facts="kind state created changed",
        copies={"parameters": _OF_PARAMETERS, "result": _OF_RESULT},
        redaction="emptied",
        old=Old("changed", COPIES_KEPT, "emptied"),
    ),
)

TABLES = (accounts, identities, grants, tokens, sessions, sign_ins, audit, idempotency, jobs)
