"""Fill a database with many names by SQL statements, which takes a fraction of the time of an import.

The rows are equal to those of an import. Each tenth name has a title. The target of name ``n`` is on the host
``h<n modulo 100>.example.org``, in the collection ``n // 1,000,000``, so that 10,000 targets have a common beginning.
Of a million names, jane has bound 100 and tom 10,000; the others have no actor.
"""

# ruff: noqa: S608 - the statements contain names of the schema and numbers only

from __future__ import annotations

import sys

from sqlalchemy import Connection, create_engine, make_url

from ararat.bindings.storage.tables import name_counts, search_indexes, triggers

TIME = "2026-10-04T12:00:00.000000Z"
AT_ONCE = 1_000_000


def key(number: int) -> str:
    return f"ark:12345/x{number:09d}"


def target(number: int) -> str:
    return f"https://h{number % 100}.example.org/c{number // 1_000_000}/{number}"


# The numbers from {start} to below {stop}, and the key of a number. psycopg reads a percent sign as a parameter.
_NUMBERS = {
    "sqlite": (
        "WITH RECURSIVE n(n) AS (VALUES({start}) UNION ALL SELECT n + 1 FROM n WHERE n + 1 < {stop}) SELECT n FROM n",
        "printf('ark:12345/x%09d', n)",
    ),
    "postgresql": (
        "SELECT n FROM generate_series({start}::bigint, {stop}::bigint - 1) AS n",
        "'ark:12345/x' || lpad(n::text, 9, '0')",
    ),
}
_COLUMNS = (
    "key, kind, target, status, redirect, listed, passthrough, scope, metadata, changed, revision, created, recorded"
)
# The folded texts of the title and the target, as in bindings/names/metadata/folding.py.
_BINDINGS = f"""
INSERT INTO bindings ({_COLUMNS}, search_text, sort_title) SELECT {{key}}, 'located',
'https://h' || (n - n / 100 * 100) || '.example.org/c' || (n / 1000000) || '/' || n, 'live', 302, 'yes', 'no', 'name',
CASE WHEN n / 10 * 10 = n THEN '{{{{"erc.what":"Map ' || n || ' of quarter ' || (n - n / 977 * 977) || '"}}}}' END,
'{TIME}', 1, '{TIME}', '{TIME}',
CASE WHEN n / 10 * 10 = n THEN ' map ' || n || ' of quarter ' || (n - n / 977 * 977) ELSE '' END || ' https h'
|| (n - n / 100 * 100) || ' example org c' || (n / 1000000) || ' ' || n || ' ',
CASE WHEN n / 10 * 10 = n THEN 'map ' || n || ' of quarter ' || (n - n / 977 * 977) END FROM ({{numbers}}) AS numbers"""
_EVENTS = f"""
INSERT INTO events ({_COLUMNS}, action, source, operation, actor)
SELECT {_COLUMNS}, 'bound', 'names.csv, line ' || substr(key, 12), {{operation}},
CASE WHEN substr(key, 17) = '0000' THEN 'jane' WHEN substr(key, 19) = '11' THEN 'tom' END
FROM bindings WHERE key >= '{{first}}' AND key <= '{{last}}' ORDER BY key"""
_OPERATION = f"""
INSERT INTO operations (action, started, finished, parameters, names)
VALUES ('import', '{TIME}', '{TIME}', '{{{{"file": "names.csv"}}}}', {{names}})"""
_INDEXES = {
    "sqlite": "SELECT 'INDEX', name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL"
    " AND tbl_name IN ('bindings', 'events') UNION ALL SELECT 'TRIGGER', name FROM sqlite_master WHERE type = 'trigger'"
    " UNION ALL SELECT 'TABLE', name FROM sqlite_master WHERE name IN ('search_names', 'search_trigrams')",
    "postgresql": "SELECT 'INDEX', indexname FROM pg_indexes WHERE schemaname = current_schema()"
    " AND tablename IN ('bindings', 'events') AND indexname NOT LIKE '%%key'",
}


def fill(url: str, start: int, stop: int) -> None:
    """Add the names from number ``start`` to below ``stop`` to a database with the tables of Ararat.

    The triggers and the search indexes are removed before, and created again afterwards.
    """
    engine = create_engine(make_url(url).set(drivername="sqlite" if url.startswith("sqlite") else "postgresql+psycopg"))
    numbers, name = _NUMBERS[engine.dialect.name]
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA cache_size = -500000")
            # Without a journal, each page is written once. The new indexes would double the size of the file.
            connection.exec_driver_sql("PRAGMA journal_mode = OFF")
        _remove(connection)
        connection.exec_driver_sql(_OPERATION.format(names=stop - start))
        operation = connection.exec_driver_sql("SELECT max(id) FROM operations").scalar_one()
        for first in range(start, stop, AT_ONCE):
            after = min(first + AT_ONCE, stop)
            added = numbers.format(start=first, stop=after)
            connection.exec_driver_sql(_BINDINGS.format(key=name, numbers=added))
            connection.exec_driver_sql(_EVENTS.format(operation=operation, first=key(first), last=key(after - 1)))
            connection.commit()
        search_indexes.create(connection)
        triggers.create(connection, triggers.triggers(engine.dialect.name))
        name_counts.count_again(connection)
        connection.commit()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        tidy = (
            ["PRAGMA journal_mode = WAL"]
            if engine.dialect.name == "sqlite"
            else ["VACUUM ANALYZE bindings, events", "CHECKPOINT"]
        )
        for statement in tidy:
            connection.exec_driver_sql(statement)
    engine.dispose()


def _remove(connection: Connection) -> None:
    is_sqlite = connection.dialect.name == "sqlite"
    if not is_sqlite:
        for trigger in triggers.triggers("postgresql"):
            connection.exec_driver_sql(f"DROP TRIGGER {trigger.name} ON {trigger.table}")
    for kind, name in connection.exec_driver_sql(_INDEXES[connection.dialect.name]).fetchall():
        connection.exec_driver_sql(f"DROP {kind} {name}")
    connection.commit()


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
