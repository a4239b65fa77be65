"""The connections of SQLAlchemy for changes in PostgreSQL."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest

from ararat.bindings.storage.databases import engines
from ararat.bindings.storage.databases.postgresql import PostgreSQL
from tests.databases import Cluster


def test_a_process_that_was_forked_without_python_opens_its_own_connection(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parent still uses the other one, so it is neither used nor closed."""
    database = PostgreSQL(cluster.new_database())
    engine = database.engine
    with engine.connect() as connection:
        of_parent = connection.connection.dbapi_connection
    assert of_parent is not None
    monkeypatch.setattr(engines, "os", SimpleNamespace(getpid=lambda: -1))
    with closing(of_parent), engine.connect() as connection:
        assert connection.connection.dbapi_connection is not of_parent
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1
        cursor = of_parent.cursor()
        cursor.execute("SELECT 2")
        assert cursor.fetchone() == (2,)
    database.close_writers()
