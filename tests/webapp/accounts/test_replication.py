"""Test that a revocation takes effect immediately, also where a standby answers the queries."""

from __future__ import annotations

import functools
import time

import psycopg
import pytest

from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.storage.databases.sqlite import SQLite
from ararat.webapp.accounts.store import Accounts


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_revocation_is_read_where_changes_are_written(accounts, monkeypatch):
    accounts.add("jane", "curator")
    token, secret = accounts.tokens.create("jane", "repository")
    store = accounts.bindings.store
    # Connections that cannot write are those to a standby, which is behind: a query returns what it returned first.
    monkeypatch.setattr(SQLite, "is_standby_sql", "(SELECT query_only FROM pragma_query_only)")
    monkeypatch.setattr(store, "_rows", functools.cache(store._rows))
    assert accounts.tokens.caller(secret)
    accounts.tokens.revoke(token.number)
    assert accounts.tokens.caller(secret) is None

    with monkeypatch.context() as patch:
        patch.setattr(SQLite, "is_standby_sql", "TRUE")  # no server is the primary one
        with pytest.raises(BindingsUnavailable, match="is a standby"):
            accounts.tokens.caller(secret)

    def halted():
        raise BindingsUnavailable("the primary server does not answer")

    monkeypatch.setattr(store, "transaction", halted)
    with pytest.raises(BindingsUnavailable):
        accounts.tokens.caller(secret)


def wait_for_table(port):
    with psycopg.connect(f"postgresql://ararat@127.0.0.1:{port}/postgres", autocommit=True) as connection:
        deadline = time.monotonic() + 20
        while connection.execute("SELECT to_regclass('accounts.tokens')").fetchone() == (None,):
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.long
def test_a_standby_that_is_behind_does_not_revive_a_revoked_token(replicated, open_store):
    primary, standby = replicated
    url = f"postgresql://ararat@127.0.0.1:{primary.port}/postgres"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA accounts")
    options = "options=-c%20search_path%3Daccounts"
    accounts = Accounts(open_store(f"{url}?{options}"))
    accounts.add("jane", "curator")
    token, secret = accounts.tokens.create("jane", "repository")
    wait_for_table(standby.port)
    both = f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}"
    # A reader connects to the first server that answers, which is the standby.
    other = Accounts(open_store(f"postgresql://ararat@{both}/postgres?{options}", create=False))
    assert other.tokens.caller(secret)
    with psycopg.connect(f"postgresql://ararat@127.0.0.1:{standby.port}/postgres", autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
    accounts.tokens.revoke(token.number)
    assert other.tokens.caller(secret) is None
    primary.halt()
    with pytest.raises(BindingsUnavailable):
        other.tokens.caller(secret)
