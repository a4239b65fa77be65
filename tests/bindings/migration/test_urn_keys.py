"""Test that equivalent URNs are one name, also in a database of an older Ararat."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ararat.bindings.checks.audit import check
from ararat.bindings.collection import Bindings
from ararat.bindings.migration import urn_keys
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names import naming as names
from ararat.bindings.names.errors import BindingConflict, BindingError
from ararat.bindings.open import open_bindings
from ararat.identifiers import equivalent
from ararat.identifiers.urn import namespaces
from ararat.identifiers.urn.namespaces import Namespace
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings

EQUIVALENT = [
    pytest.param("urn:nbn:de:101:1-2019", "URN:NBN:DE:101:1-2019", id="NBN"),
    pytest.param("urn:isbn:0451450523", "urn:isbn:0-451-45052-3", id="ISBN with hyphens"),
    pytest.param("urn:isbn:0451450523", "urn:isbn:978-0-451-45052-4", id="ISBN of 13 digits"),
    pytest.param("urn:issn:0167-6423", "urn:ISSN:01676423", id="ISSN"),
    pytest.param(
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", id="UUID"
    ),
    pytest.param("urn:ietf:rfc:2648", "urn:ietf:RFC:2648", id="IETF"),
    pytest.param("urn:lex:it:stato:legge:2003-09-21;456", "urn:lex:it:Stato:legge:2003-09-21;456", id="LEX"),
]


@pytest.mark.parametrize(("a", "b"), EQUIVALENT)
def test_equivalent_urns_have_one_key(a: str, b: str, bindings: Bindings) -> None:
    assert bindings.bind(a, "https://example.org/1") == "bound"
    with pytest.raises(BindingConflict):
        bindings.bind(b, "https://example.org/2")
    assert bindings.bind(b, "https://example.org/1") == "unchanged"
    for spelling in (a, b):
        assert resolve(spelling, bindings.fetch, no_rules, Settings()).target == "https://example.org/1"
        assert bindings.lookup(spelling) is not None
        assert len(bindings.history(spelling)) == 1
    assert bindings.withdraw(b) == "withdrawn"
    assert resolve(a, bindings.fetch, no_rules, Settings()).status == 410
    assert equivalent(a, b)


@pytest.mark.parametrize("name", ["urn:isbn:0451450524", "urn:isbn:no-isbn", "urn:nbn:1", "urn:uuid:x", "urn:foo:A-b"])
def test_a_name_that_breaks_a_namespace_rule_can_be_bound(name: str, bindings: Bindings) -> None:
    assert bindings.bind(name, "https://example.org/1") == "bound"
    assert resolve(name, bindings.fetch, no_rules, Settings()).target == "https://example.org/1"


@pytest.mark.parametrize("namespace", namespaces.registered(), ids=lambda each: each.nid)
def test_a_key_is_idempotent(namespace: Namespace) -> None:
    for nss in (namespace.example, namespace.example.upper(), "A-b", "x"):
        key = names.key(names.read(f"urn:{namespace.nid}:{nss}"))
        assert names.key(names.read(key)) == key == urn_keys.wanted(key)


# A database of an older Ararat -------------------------------------------------------------------------------------

OLD = "urn:isbn:0451450523"
NEW = "urn:isbn:9780451450524"
HYPHENS = "urn:isbn:0-451-45052-3"


def engine(database: str):
    return create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)


@pytest.fixture
def older(database: str) -> Callable[..., str]:
    """older(*keys) creates a database in which an older Ararat bound these keys to /0, /1 and so on."""

    def make(*bound: str) -> str:
        bindings = open_bindings(database, create=True)
        for number, _ in enumerate(bound):
            bindings.bind(f"ark:12345/x{number}", f"https://example.org/{number}")
        bindings.close()
        with engine(database).begin() as connection:
            connection.execute(text("DELETE FROM ararat WHERE name = 'keys'"))
            with urn_keys._renaming(connection):
                for number, key in enumerate(bound):
                    for table in ("bindings", "events"):
                        values = {"new": key, "old": f"ark:12345/x{number}"}
                        connection.execute(text(f"UPDATE {table} SET key = :new WHERE key = :old"), values)  # noqa: S608
        return database

    return make


def keys_of(database: str, table: str = "bindings") -> list[str]:
    with engine(database).connect() as connection:
        return sorted(connection.execute(text(f"SELECT DISTINCT key FROM {table}")).scalars())  # noqa: S608


def test_a_database_with_older_keys_is_served(older: Callable[..., str], open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(older(OLD, "urn:foo:A"))
    for name, target in ((OLD, "https://example.org/0"), ("urn:foo:A", "https://example.org/1")):
        assert resolve(name, bindings.fetch, no_rules, Settings()).target == target
    assert [finding.identifier for finding in check(bindings) if finding.code == "urn-key"] == [OLD]
    assert bindings.relocate(OLD, "https://example.org/moved") == "relocated"
    assert len(bindings.history(OLD)) == 2
    assert bindings.bind("ark:12345/new", "https://example.org/") == "bound"
    with pytest.raises(BindingError, match="ararat migrate") as refused:
        bindings.bind(HYPHENS, "https://example.org/other")
    assert refused.value.code == "keys-older"


def test_a_database_without_such_urns_needs_no_migration(
    older: Callable[..., str], open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(older("urn:foo:A"))
    assert bindings.bind(OLD, "https://example.org/") == "bound"
    assert bindings.bind("urn:isbn:0198526636", "https://example.org/b") == "bound"


def test_migrate_rewrites_keys_and_history(older: Callable[..., str], open_store: Callable[..., Bindings]) -> None:
    database = older(OLD, "urn:nbn:DE:x-1", "urn:foo:A", "urn:isbn:0451450524")
    assert migrate(database).keys == 2
    assert migrate(database).keys == 0
    expected = ["urn:foo:A", "urn:isbn:0451450524", NEW, "urn:nbn:de:x-1"]
    assert keys_of(database) == keys_of(database, "events") == expected
    bindings = open_store(database)
    assert resolve(HYPHENS, bindings.fetch, no_rules, Settings()).target == "https://example.org/0"
    bound = bindings.lookup(HYPHENS)
    assert bound is not None
    assert bound.spelling == OLD
    assert bindings.bind("urn:isbn:0-19-852663-6", "https://example.org/b") == "bound"
    assert not [finding for finding in check(bindings) if finding.code == "urn-key"]
    with pytest.raises(DBAPIError, match="never"), engine(database).begin() as connection:
        connection.execute(text("UPDATE bindings SET key = 'ark:12345/y', revision = revision + 1"))
    with pytest.raises(DBAPIError, match="never"), engine(database).begin() as connection:
        connection.execute(text("DELETE FROM events"))


def test_migrate_lists_equivalent_urns_that_are_both_in_use(
    older: Callable[..., str], open_store: Callable[..., Bindings]
) -> None:
    database = older(OLD, NEW, "urn:nbn:DE:x-1")
    before = keys_of(database)
    with pytest.raises(BindingError, match="ararat withdraw") as refused:
        migrate(database)
    assert refused.value.code == "equivalent-urns"
    assert f"{OLD} and {NEW}" in str(refused.value)
    assert keys_of(database) == before
    bindings = open_store(database)
    assert f"{NEW} is bound too" in "".join(f.message for f in check(bindings) if f.code == "urn-key")


@pytest.mark.parametrize("wrong", [OLD, NEW, HYPHENS])
def test_migrate_keeps_the_name_that_is_in_use(
    wrong: str, older: Callable[..., str], open_store: Callable[..., Bindings]
) -> None:
    others = [name for name in (OLD, NEW, HYPHENS) if name != wrong]
    database = older(*others, wrong)
    bindings = open_store(database)
    for name in others:
        assert bindings.withdraw(name) == "withdrawn"
    migrate(database)
    assert len(keys_of(database)) == 3
    for spelling in (OLD, NEW, HYPHENS):
        assert resolve(spelling, bindings.fetch, no_rules, Settings()).target == "https://example.org/2"
    assert bindings.relocate(OLD, "https://example.org/3") == "relocated"
    assert [event.action for event in bindings.history(OLD)] == ["bound", "relocated"]
