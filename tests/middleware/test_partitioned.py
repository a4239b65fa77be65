"""The tests of the bindings on a PostgreSQL table that is partitioned by the hash of the key.

docs/scale.md explains the purpose. This module loads the tests of test_bindings.py with another database.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import psycopg
import pytest
from psycopg import sql

from ararat.middleware import open_bindings
from ararat.middleware.tabular.importing import import_table

PARTITIONS = 8

pytestmark = pytest.mark.long

_suite = run_path(str(Path(__file__).with_name("bindings") / "test_collection.py"))
globals().update({name: value for name, value in _suite.items() if name.startswith("test_")})


def partition(url: str) -> None:
    """Replace ``bindings`` by a partitioned table with the same columns, constraints and triggers."""
    with psycopg.connect(url) as connection:
        triggers = connection.execute(
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'bindings'::regclass AND NOT tgisinternal"
        ).fetchall()
        connection.execute("ALTER TABLE bindings RENAME TO one_table")
        connection.execute("CREATE TABLE bindings (LIKE one_table INCLUDING ALL) PARTITION BY HASH (key)")
        for number in range(PARTITIONS):
            part = sql.Identifier(f"bindings_{number}")
            connection.execute(
                sql.SQL("CREATE TABLE {} PARTITION OF bindings FOR VALUES WITH (MODULUS {}, REMAINDER {})").format(
                    part, PARTITIONS, number
                )
            )
        connection.execute("DROP TABLE one_table")
        for (definition,) in triggers:
            connection.execute(sql.SQL(definition))


@pytest.fixture
def database(cluster) -> str:
    url = cluster.new_schema()
    open_bindings(url, create=True).close()
    partition(url)
    return url


def test_names_are_in_all_parts_of_a_partitioned_table(database, open_store, tmp_path):
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n" + "".join(f"ark:12345/x{n},https://example.org/{n}\n" for n in range(400)))
    bindings = open_store(database)
    import_table(bindings, table)
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT tableoid::regclass::text, count(*) FROM bindings GROUP BY 1").fetchall()
        plan = connection.execute("EXPLAIN SELECT * FROM bindings WHERE key = 'ark:12345/x7'").fetchall()
    assert len(rows) == PARTITIONS
    assert sum(number for _, number in rows) == 400
    # A lookup of one key uses the index of one partition.
    assert "Append" not in str(plan)
    assert sum("_pkey" in line for (line,) in plan) == 1, plan
    assert bindings.lookup("ark:12345/x7").target == "https://example.org/7"
