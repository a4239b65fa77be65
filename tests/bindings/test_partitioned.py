"""The tests of the bindings on a PostgreSQL table that is partitioned by the hash of the key.

docs/scale.md explains the purpose. This module loads the tests of test_bindings.py with another database.
"""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import psycopg
import pytest

from ararat.bindings.imports.importing import import_table
from ararat.bindings.open import database_at
from ararat.bindings.storage.statements import Statements
from ararat.bindings.storage.store import create_database
from ararat.bindings.storage.tables import search_indexes

PARTITIONS = 8

pytestmark = pytest.mark.long

_suite = run_path(str(Path(__file__).with_name("test_collection.py")))
globals().update({name: value for name, value in _suite.items() if name.startswith("test_")})


@pytest.fixture
def database(cluster) -> str:
    url = cluster.new_schema()
    create_database(database_at(url), partitions=PARTITIONS)
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


def test_a_partitioned_table_has_all_indexes_and_is_not_divided_again(database):
    place = database_at(database)
    assert not create_database(place, partitions=2)
    with place.engine.begin() as connection:
        assert search_indexes.create(connection) == 0
        partitions = "SELECT count(*) FROM pg_partition_tree('bindings') WHERE isleaf"
        assert connection.exec_driver_sql(partitions).scalar_one() == PARTITIONS


def test_a_kept_plan_for_many_names_does_not_compare_each_row_with_each_name(database):
    """psycopg prepares a repeated statement. The plan of an import is made while the partitions are empty."""
    statement = Statements("postgresql").select_for_update.replace("%s", "$1")
    with psycopg.connect(database) as connection:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute(f"PREPARE wanted(text[]) AS {statement}".encode())
        plan = connection.execute("EXPLAIN EXECUTE wanted(ARRAY['ark:12345/x7'])").fetchall()
    assert "= ANY" not in str(plan)
