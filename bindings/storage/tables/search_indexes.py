"""The indexes for lists and search: targets, resources, titles, times, states, and parts of words.

- Targets and resources: their first :data:`TARGET_CHARACTERS` characters in byte order. A host or prefix is a range.
- Parts of words: the trigrams of the column ``search_text`` (:mod:`~ararat.bindings.names.metadata.folding`). SQLite
  has them in the full-text table ``search_trigrams``, whose rows are those of ``search_names``; triggers keep both
  equal to the column. PostgreSQL has the index ``bindings_trigrams`` of the extension pg_trgm.

A query compares the names that have all trigrams of a part with the part itself. Without FTS5 or pg_trgm, a search
reads all names (:mod:`..listing`). If they come later, ``ararat migrate`` adds the trigrams.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite3 import Connection as SQLiteConnection

    from sqlalchemy import Connection

TARGET_CHARACTERS = 400
"""The number of characters of a target in the index. PostgreSQL allows about 2,700 bytes per index entry."""

_PAGES_AT_ONCE = 1_000

HAS_FULL_TEXT = "SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'"
"""The query for the number of modules of SQLite for the full-text search: 1, or 0 in a library without FTS5."""

HAS_TRIGRAMS = {
    "sqlite": f"""
SELECT ({HAS_FULL_TEXT}) AND EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'search_trigrams')
""",
    "postgresql": "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('bindings_trigrams') AND indisvalid",
}
"""The query whether a database has the trigrams, and can read them."""

_TRIGRAMS_SCHEMA = """
SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'"""

TARGET = f"substr(target, 1, {TARGET_CHARACTERS})"
"""The indexed expression of a target. A query must repeat it. The key follows, so that a page is a range."""

RESOURCE = f"substr(resource, 1, {TARGET_CHARACTERS})"
"""The indexed expression of a resource."""

IS_URN = "key >= 'urn:' AND key < 'urn;'"
"""The condition of the index of URNs without case. A query must repeat it, and compare ``lower(key)``."""

_INDEXES = (
    "CREATE INDEX bindings_recorded ON bindings (recorded, key)",
    "CREATE INDEX bindings_created ON bindings (created, key)",
    # Few rows: those that are or were on hold.
    "CREATE INDEX bindings_hold ON bindings (hold_until, key) WHERE hold_until IS NOT NULL",
    "CREATE INDEX bindings_not_live ON bindings (status, key) WHERE status <> 'live'",
    "CREATE INDEX bindings_served ON bindings (key) WHERE kind = 'served'",
    # The names whose publication is due. Few rows, so that each list can ask for them.
    "CREATE INDEX bindings_embargo ON bindings (embargo, key) WHERE embargo IS NOT NULL",
    # The URNs without the case of their letters, for warnings.
    f"CREATE INDEX bindings_case ON bindings (lower(key)) WHERE {IS_URN}",
)
_EVENT_INDEXES = (
    # The second column makes a page of the events of an operation a range.
    "CREATE INDEX events_operation ON events (operation, id) WHERE operation IS NOT NULL",
    # The changes of one name, without those of imports, which can be millions.
    "CREATE INDEX events_single ON events (id) WHERE operation IS NULL",
    # The names that an account bound first, in their order.
    "CREATE INDEX events_first ON events (actor, key) WHERE revision = 1 AND actor IS NOT NULL",
    # The changes of targets, by which a former target finds its name. A query needs no row of them.
    "CREATE INDEX events_relocated ON events (id, key, revision, operation) WHERE action = 'relocated'",
    # The names that were deleted. Few rows, so that a lookup of a new name costs almost nothing.
    "CREATE INDEX events_deleted ON events (key) WHERE action = 'deleted'",
)
_POSTGRESQL = (
    *_INDEXES,
    f'CREATE INDEX bindings_resource ON bindings ({RESOURCE} COLLATE "C", key) WHERE resource IS NOT NULL',
    f'CREATE INDEX bindings_target ON bindings ({TARGET} COLLATE "C", key) WHERE target IS NOT NULL',
    'CREATE INDEX bindings_title ON bindings (sort_title COLLATE "C", key) WHERE sort_title IS NOT NULL',
)
_TRIGRAMS = "CREATE INDEX bindings_trigrams ON bindings USING gin (search_text {schema}.gin_trgm_ops)"
_FORGET = """INSERT INTO search_trigrams (search_trigrams, rowid, text)
SELECT 'delete', id, OLD.search_text FROM search_names WHERE key = OLD.key AND OLD.search_text IS NOT NULL;"""
_REMEMBER = """INSERT INTO search_trigrams (rowid, text)
SELECT id, NEW.search_text FROM search_names WHERE key = NEW.key AND NEW.search_text IS NOT NULL;"""
_FTS5 = "text, content='', detail=none, columnsize=0, tokenize='trigram case_sensitive 1'"
ADDED_TRIGGER = "bindings_search_added"
"""The trigger of SQLite that adds the trigrams of a new name. A transaction with many new names adds them at once."""

ADDED_STATEMENT = f"""
CREATE TRIGGER {ADDED_TRIGGER} AFTER INSERT ON bindings WHEN NEW.search_text IS NOT NULL BEGIN
INSERT INTO search_names (key) VALUES (NEW.key);
{_REMEMBER}
END"""
"""The statement that creates :data:`ADDED_TRIGGER`."""

_SQLITE = (
    *_INDEXES,
    f"CREATE INDEX bindings_resource ON bindings ({RESOURCE}, key) WHERE resource IS NOT NULL",
    f"CREATE INDEX bindings_target ON bindings ({TARGET}, key) WHERE target IS NOT NULL",
    "CREATE INDEX bindings_title ON bindings (sort_title, key) WHERE sort_title IS NOT NULL",
    # The row number of a binding can change, so that the trigrams have their own.
    "CREATE TABLE search_names (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    # The trigrams without their places: with them, an import takes twice as long.
    f"CREATE VIRTUAL TABLE search_trigrams USING fts5 ({_FTS5})",
    ADDED_STATEMENT,
    f"""
CREATE TRIGGER bindings_search_changed AFTER UPDATE ON bindings WHEN OLD.search_text IS NOT NEW.search_text BEGIN
{_FORGET}
INSERT INTO search_names (key) SELECT NEW.key WHERE NOT EXISTS (SELECT 1 FROM search_names WHERE key = NEW.key);
{_REMEMBER}
END""",
    f"""
CREATE TRIGGER bindings_search_deleted AFTER DELETE ON bindings WHEN OLD.search_text IS NOT NULL BEGIN
{_FORGET}
DELETE FROM search_names WHERE key = OLD.key;
END""",
)
_FOUND = "SELECT id, search_text FROM search_names JOIN bindings USING (key)"
_FILL = (
    "INSERT INTO search_names (key) SELECT key FROM bindings WHERE search_text IS NOT NULL ORDER BY key",
    f"INSERT INTO search_trigrams (rowid, text) {_FOUND}",
)


# A statement CREATE INDEX CONCURRENTLY that failed leaves an index that is not valid.
KNOWN = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": """
SELECT relname FROM pg_class JOIN pg_index ON pg_class.oid = indexrelid
WHERE indisvalid AND relnamespace = current_schema()::regnamespace""",
}
"""The query for the names of all indexes, in SQLite also of tables and triggers."""

_CREATE = re.compile(r"CREATE (?:VIRTUAL )?(INDEX|TABLE|TRIGGER) (\w+)")

PARTS = {
    f"{kind} {name}": statement
    for statement in _SQLITE
    for kind, name in _CREATE.findall(statement)[:1]
    if kind != "INDEX"
}
"""The statements that create the tables and triggers of the search in SQLite, by such as "TABLE search_names"."""

DIFFERENCES = """
SELECT key, 0 FROM bindings WHERE search_text IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM search_names WHERE search_names.key = bindings.key)
UNION ALL SELECT key, 1 FROM search_names
WHERE NOT EXISTS (SELECT 1 FROM bindings WHERE bindings.key = search_names.key)"""
"""The query of SQLite for the keys that the search lacks (0), and for those that are not recorded (1)."""


def missing_parts(existing: Collection[str]) -> list[str]:
    """Return those of :data:`PARTS` whose names are not in ``existing``."""
    return [part for part in PARTS if part.partition(" ")[2] not in existing]


def add_many(connection: Connection, last: int) -> None:
    """Add the trigrams of the names with row numbers above ``last`` in an SQLite file, which :data:`ADDED_TRIGGER` did
    not add.
    """
    first = connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM search_names").scalar_one()
    # Both tables are in the order of the names, so that none is looked up by its key.
    added = "FROM bindings WHERE rowid > ? AND search_text IS NOT NULL"
    for columns, column in (("search_names (id, key)", "key"), ("search_trigrams (rowid, text)", "search_text")):
        statement = f"INSERT INTO {columns} SELECT rowid + ?, {column} {added}"
        connection.exec_driver_sql(statement, (first - last, last))


def existing(connection: Connection) -> set[str]:
    """Return the names of all indexes in a database; in SQLite also those of tables and triggers."""
    return set(connection.exec_driver_sql(KNOWN[connection.dialect.name]).scalars())


class MissingIndex(NamedTuple):
    """An index that the tables of a database lack: its ``name``, and the ``statements`` that create and fill it."""

    name: str
    statements: tuple[str, ...]


def create(connection: Connection) -> int:
    """Create the indexes for lists and search that a database lacks. Return their number."""
    lacking = missing(connection)
    for index in lacking:
        for statement in index.statements:
            connection.exec_driver_sql(statement)
    return len(lacking)


def missing(connection: Connection) -> list[MissingIndex]:
    """Return the indexes for lists and search that a database lacks. The trigrams of SQLite are one: if a part is
    missing, all parts are created and filled again.
    """
    dialect = connection.dialect.name
    names = existing(connection)
    indexes: list[MissingIndex] = []
    for statement in (*(_SQLITE if dialect == "sqlite" else _POSTGRESQL), *_EVENT_INDEXES):
        kind, name = _CREATE.findall(statement)[0]
        if kind == "INDEX" and name not in names:
            indexes.append(MissingIndex(name, (statement,)))
    # A trigger that cannot write the trigrams would refuse each change.
    has_search = dialect == "sqlite" and connection.exec_driver_sql(HAS_FULL_TEXT).scalar()
    lacking = missing_parts(names) if has_search else []
    if dialect == "postgresql" and "bindings_trigrams" not in names and (schema := _schema_of_trigrams(connection)):
        indexes.append(MissingIndex("bindings_trigrams", (_TRIGRAMS.format(schema=schema),)))
    if lacking:
        # Names can have changed without the missing part, so all parts are created again.
        dropped = (f"DROP {each}" for each in reversed(PARTS) if each not in lacking)
        indexes.append(MissingIndex("search_trigrams", (*dropped, *PARTS.values(), *_FILL)))
    return indexes


def erase_deleted(connection: SQLiteConnection) -> None:
    """Erase the trigrams of deleted texts, which SQLite keeps until it merges the parts of the index. This is done in
    steps, so that other writers have their turn.
    """
    if not connection.execute(HAS_TRIGRAMS["sqlite"]).fetchone()[0]:
        return
    # A negative number begins to merge all parts, and a positive one continues: https://www.sqlite.org/fts5.html, 6.8.
    pages = -_PAGES_AT_ONCE
    while True:
        before = connection.total_changes
        connection.execute("INSERT INTO search_trigrams (search_trigrams, rank) VALUES ('merge', ?)", (pages,))
        if connection.total_changes - before < 2:
            return
        pages = _PAGES_AT_ONCE


def _schema_of_trigrams(connection: Connection) -> str | None:
    """Return the quoted schema of the extension pg_trgm, and create it if possible, as the owner of a database can. The
    schema is "public" if possible, because others can be deleted without a thought of the whole database.
    """
    from sqlalchemy.exc import DBAPIError

    quote = connection.dialect.identifier_preparer.quote
    if name := connection.exec_driver_sql(_TRIGRAMS_SCHEMA).scalar():
        return quote(name)
    for within in ("SCHEMA public", ""):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"CREATE EXTENSION IF NOT EXISTS pg_trgm {within}")
                return quote(connection.exec_driver_sql(_TRIGRAMS_SCHEMA).scalar_one())
        except DBAPIError:
            continue
    return None
