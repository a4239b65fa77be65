"""The indexes for lists and search: targets, times, states, and the words of metadata.

- Targets: an index of the first :data:`TARGET_CHARACTERS` characters of each target, in byte order. A host or a prefix
  is a range of it. Resources: the same of each resource.
- Words: in SQLite the full-text table ``search_words``, whose row numbers are those of ``search_names``. Triggers
  keep both equal to the metadata in ``bindings``. In PostgreSQL an index of :data:`WORDS`. An SQLite library without
  FTS5 has no such table: then a search reads all names (:mod:`..listing`), and ``ararat migrate`` with another library
  adds the table.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

TARGET_CHARACTERS = 400
"""The number of characters of a target in the index. PostgreSQL allows about 2,700 bytes per index entry."""

WORDS = r"to_tsvector('simple', regexp_replace(metadata, '\\[nrt]', ' ', 'g'))"
"""The indexed expression of PostgreSQL. A query must repeat it. A JSON text has ``\n`` for a line feed."""


HAS_FULL_TEXT = "SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'"
"""The query for the number of modules of SQLite for the full-text search: 1, or 0 in a library without FTS5."""

HAS_WORDS = f"""
SELECT ({HAS_FULL_TEXT}) AND EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'search_words')
"""
"""The query whether an SQLite file has the table of words, and the library can read it."""


def words_of(row: str) -> str:
    """Return the expression of SQLite for the words of a row."""
    metadata = f"CASE WHEN json_valid({row}.metadata) THEN {row}.metadata END"
    return f"(SELECT group_concat(value, ' ') FROM json_each({metadata}))"


TARGET = f"substr(target, 1, {TARGET_CHARACTERS})"
"""The indexed expression of a target. A query must repeat it. The key follows, so that a page is a range."""

RESOURCE = f"substr(resource, 1, {TARGET_CHARACTERS})"
"""The indexed expression of a resource."""

_INDEXES = (
    "CREATE INDEX bindings_recorded ON bindings (recorded, key)",
    "CREATE INDEX bindings_created ON bindings (created, key)",
    "CREATE INDEX bindings_not_live ON bindings (status, key) WHERE status <> 'live'",
)
_EVENT_INDEXES = (
    # The second column makes a page of the events of an operation a range.
    "CREATE INDEX events_operation ON events (operation, id) WHERE operation IS NOT NULL",
    # The changes of one name, without those of imports, which can be millions.
    "CREATE INDEX events_single ON events (id) WHERE operation IS NULL",
    # The names that were deleted. Few rows, so that a lookup of a new name costs almost nothing.
    "CREATE INDEX events_deleted ON events (key) WHERE action = 'deleted'",
)
_POSTGRESQL = (
    *_INDEXES,
    f'CREATE INDEX bindings_resource ON bindings ({RESOURCE} COLLATE "C", key) WHERE resource IS NOT NULL',
    f'CREATE INDEX bindings_target ON bindings ({TARGET} COLLATE "C", key) WHERE target IS NOT NULL',
    f"CREATE INDEX bindings_words ON bindings USING gin ({WORDS}) WHERE metadata IS NOT NULL",
)
_FORGET = "INSERT INTO search_words (search_words, rowid, words) SELECT 'delete', id, {words} FROM search_names"
_REMEMBER = "INSERT INTO search_words (rowid, words) SELECT id, {words} FROM search_names"
_SQLITE = (
    *_INDEXES,
    f"CREATE INDEX bindings_resource ON bindings ({RESOURCE}, key) WHERE resource IS NOT NULL",
    f"CREATE INDEX bindings_target ON bindings ({TARGET}, key) WHERE target IS NOT NULL",
    # The row number of a binding can change, so that the words have their own.
    "CREATE TABLE search_names (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE search_words USING fts5 (words, content='')",
    f"""
CREATE TRIGGER bindings_search_added AFTER INSERT ON bindings WHEN NEW.metadata IS NOT NULL BEGIN
INSERT INTO search_names (key) VALUES (NEW.key);
{_REMEMBER.format(words=words_of("NEW"))} WHERE key = NEW.key;
END""",
    f"""
CREATE TRIGGER bindings_search_changed AFTER UPDATE ON bindings WHEN OLD.metadata IS NOT NEW.metadata BEGIN
{_FORGET.format(words=words_of("OLD"))} WHERE key = OLD.key AND OLD.metadata IS NOT NULL;
INSERT INTO search_names (key) SELECT NEW.key WHERE NOT EXISTS (SELECT 1 FROM search_names WHERE key = NEW.key);
{_REMEMBER.format(words=words_of("NEW"))} WHERE key = NEW.key AND NEW.metadata IS NOT NULL;
END""",
    f"""
CREATE TRIGGER bindings_search_deleted AFTER DELETE ON bindings WHEN OLD.metadata IS NOT NULL BEGIN
{_FORGET.format(words=words_of("OLD"))} WHERE key = OLD.key;
DELETE FROM search_names WHERE key = OLD.key;
END""",
)
_FILL = (
    "INSERT INTO search_names (key) SELECT key FROM bindings WHERE metadata IS NOT NULL ORDER BY key",
    f"""
INSERT INTO search_words (rowid, words) SELECT search_names.id, {words_of("bindings")}
FROM search_names JOIN bindings USING (key)""",
)


# A statement CREATE INDEX CONCURRENTLY that failed leaves an index that is not valid.
_KNOWN = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": """
SELECT relname FROM pg_class JOIN pg_index ON pg_class.oid = indexrelid
WHERE indisvalid AND relnamespace = current_schema()::regnamespace""",
}
_CREATE = re.compile(r"\s*CREATE (?:VIRTUAL )?(INDEX|TABLE|TRIGGER) (\w+)")


def existing(connection: Connection) -> set[str]:
    """Return the names of the indexes in the database; in SQLite also those of the tables and triggers."""
    return set(connection.exec_driver_sql(_KNOWN[connection.dialect.name]).scalars())


def create(connection: Connection) -> int:
    """Create the search indexes that the tables lack, and return their number.

    The parts of the full-text search of SQLite count as one. Names that are in the tables already are added to it.
    """
    dialect = connection.dialect.name
    found = existing(connection)
    indexes: list[str] = []
    search: dict[str, str] = {}
    for statement in (*(_SQLITE if dialect == "sqlite" else _POSTGRESQL), *_EVENT_INDEXES):
        kind, name = _CREATE.findall(statement)[0]
        if kind != "INDEX":
            search[f"{kind} {name}"] = statement
        elif name not in found:
            indexes.append(statement)
    if search and not connection.exec_driver_sql(HAS_FULL_TEXT).scalar():
        search = {}  # a trigger that cannot write the words would refuse each change
    present = [each for each in search if each.partition(" ")[2] in found]
    is_incomplete = len(present) < len(search)
    if is_incomplete:
        # Names can have changed without the missing part, so all parts are created again.
        for each in reversed(present):
            connection.exec_driver_sql(f"DROP {each}")
    for statement in (*indexes, *((*search.values(), *_FILL) if is_incomplete else ())):
        connection.exec_driver_sql(statement)
    return len(indexes) + is_incomplete
