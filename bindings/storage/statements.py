"""The SQL statements of a store as text for the driver, for SQLite and PostgreSQL, without SQLAlchemy."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Collection

from .expressions import Dialect
from .rows import PREFIX, RULE, SEARCH, STATE, TRACE

EVENT = (*STATE, "action", "actor", "source", "operation")
"""The columns of an event that are read and written."""

MOST_FEW = 16
"""The number of keys up to which each key is a parameter. Almost all requests look up fewer names."""

MOST_DUE = 1000
"""The maximum number of names whose publication one transaction writes, so that other writers wait for a short time."""

TIMELINE = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
"""The expression for the timeline of a primary server. A standby that becomes a primary begins a new one."""


class Statements:
    """The SQL statements of a store for one kind of database. A statement takes its parameters in the order of its
    text. ``lacking`` are the columns of :data:`.STATE` that the tables lack (:data:`.LACKING`): they are read as NULL.
    """

    def __init__(self, dialect_name: str, lacking: Collection[str] = ()) -> None:
        dialect = Dialect(dialect_name)
        one = dialect.mark
        is_wanted = dialect.set_placeholders(dialect.is_wanted("key"))
        is_one_of = dialect.set_placeholders(dialect.is_one_of("key"))
        state = ", ".join("NULL" if name in lacking else name for name in STATE)
        binding = f"SELECT {state} FROM bindings"
        # The statement for n keys is few[n - 1]. A kept plan of PostgreSQL finds the partition of a parameter, but not
        # those of an array.
        marks = [", ".join([one] * number) for number in range(1, MOST_FEW + 1)]
        self.few = tuple(f"{binding} WHERE key IN ({keys})" for keys in marks)
        self.many = f"{binding} WHERE {is_one_of}"
        traced = ", ".join((*(f"bindings.{each}" for each in STATE), *(f"links.{each}" for each in TRACE)))
        joined = "LEFT JOIN links ON links.key = bindings.key AND links.target = bindings.target"
        traced = f"SELECT {traced} FROM bindings {joined} WHERE bindings."
        self.few_traced = tuple(f"{traced}key IN ({keys})" for keys in marks)
        self.many_traced = f"{traced}{is_one_of}"
        redirects = "kind <> 'served' AND status = 'live' AND alternates IS NULL AND hold_until IS NULL"
        answer = "CASE kind WHEN 'located' THEN redirect ELSE 303 END"
        self.stored_redirect = f"SELECT target, {answer}, metadata FROM bindings WHERE key = {one} AND {redirects}"
        self.lookups = (*self.few, self.stored_redirect)
        # SQLite locks out other writers when a transaction begins.
        self.select_for_update = self.many if dialect.is_sqlite else f"{binding} WHERE {is_wanted} FOR UPDATE"
        is_public = "(status <> 'reserved' OR embargo IS NOT NULL)"
        self.bound = f"SELECT key, embargo FROM bindings WHERE {is_wanted} AND {is_public}"
        self.due = (
            "SELECT coalesce(long_identifier, key) FROM bindings "
            f"WHERE embargo <= {one} ORDER BY embargo, key LIMIT {MOST_DUE}"
        )
        self.begins = f"SELECT 1 FROM bindings WHERE key >= {one} AND key < {one} LIMIT 1"
        self.first_embargo = "SELECT min(embargo) FROM bindings WHERE embargo IS NOT NULL"
        self.all = f"{binding} ORDER BY key"
        self.delete = f"DELETE FROM bindings WHERE key = {one}"
        assigned = ", ".join(f"{column} = {one}" for column in (*STATE[1:], *SEARCH) if column not in lacking)
        self.update = f"UPDATE bindings SET {assigned} WHERE key = {one}"
        # Both conditions are ranges of the index of served names.
        self.first_served = (
            f"SELECT key FROM bindings WHERE kind = 'served' AND (status = 'live' OR embargo <= {one}) "
            "ORDER BY key LIMIT 1"
        )
        # In byte order "." and "/" are adjacent, and "0" follows.
        self.below = f"{binding} WHERE key >= {one} AND key < {one} ORDER BY key LIMIT coalesce({one}, 0)"
        self.above = (
            f"SELECT wanted.value FROM {dialect.set_placeholders(dialect.wanted)} WHERE EXISTS (SELECT 1 FROM bindings "
            "WHERE bindings.key >= wanted.value || '.' AND bindings.key < wanted.value || '0')"
        )

        # The index events_deleted makes this fast: it contains deleted names only.
        self.deleted = f"SELECT key, max(revision) FROM events WHERE {is_wanted} AND action = 'deleted' GROUP BY key"
        first = "revision = 1 AND actor IS NOT NULL"
        self.first_actors = f"SELECT key, actor FROM events WHERE {is_wanted} AND {first}"
        newest_of = "JOIN events USING (key, revision)"
        self.last_actions = f"SELECT key, action FROM bindings {newest_of} WHERE {is_wanted}"
        self.last_actors = f"SELECT key, actor FROM bindings {newest_of} WHERE {is_wanted} AND actor IS NOT NULL"
        self.history = f"SELECT {', '.join(EVENT)} FROM events WHERE key = {one} ORDER BY revision"
        self.log_entries = (
            "SELECT log_entries.entry FROM events JOIN log_entries ON log_entries.event = events.id "
            f"WHERE events.key = {one} ORDER BY log_entries.entry"
        )
        self.log_key = "SELECT value FROM log_state WHERE name = 'key'"
        self.first_log_entry = (
            "SELECT log_entries.entry, events.changed FROM events JOIN log_entries ON log_entries.event = events.id "
            f"WHERE events.key = {one} ORDER BY log_entries.entry LIMIT 1"
        )
        compared = f"SELECT {state}, action, actor FROM events"
        newest = "SELECT max(other.revision) FROM events AS other WHERE other.key = events.key"
        self.last_events = f"{compared} WHERE revision = ({newest}) ORDER BY key"
        self.one_event = f"{compared} WHERE key = {one} AND revision = {one}"

        held = "SELECT key, long_identifier, hold_until, hold_reason, status, embargo FROM bindings"
        self.holds = f"{held} WHERE hold_until IS NOT NULL"

        rule, record = ", ".join(RULE), ", ".join(PREFIX)
        self.rules = f"SELECT {rule} FROM rules"
        self.rule_history = f"SELECT action, {rule} FROM rule_events WHERE prefix = {one} ORDER BY id"
        self.prefixes = f"SELECT {record} FROM prefixes"
        self.prefix_history = f"SELECT action, {record} FROM prefix_events WHERE prefix = {one} ORDER BY revision"
        exported = "substr(name, 1, 5) IN ('next ', 'uuid ')"
        self.settings = f"SELECT name, value FROM ararat WHERE {exported} ORDER BY {dialect.in_bytes('name')}"
