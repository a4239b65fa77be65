"""Test that equivalent URNs are one name."""

from __future__ import annotations

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names import naming
from ararat.bindings.names.errors import BindingConflict
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
    pytest.param("urn:isan:0000-0000-9E59-O", "urn:isan:0000-0000-9e59-o", id="ISAN, by RFC 4246"),
    pytest.param("urn:mpeg:MPEG7:Schema", "urn:mpeg:mpeg7:Schema", id="MPEG, the first part"),
    pytest.param("urn:lex:it:stato:legge:2003-09-21;456", "urn:lex:it:Stato:legge:2003-09-21;456", id="LEX"),
]


@pytest.mark.parametrize(("a", "b"), EQUIVALENT)
def test_equivalent_urns_have_one_key(a: str, b: str, bindings: Bindings) -> None:
    assert bindings.bind(a, "https://example.org/1") == "bound"
    with pytest.raises(BindingConflict):
        bindings.bind(b, "https://example.org/2")
    assert bindings.bind(b, "https://example.org/1") == "unchanged"
    for spelling in (a, b):
        assert resolve(spelling, bindings.store.fetch, no_rules, Settings()).target == "https://example.org/1"
        assert bindings.lookup(spelling) is not None
        assert len(bindings.history(spelling)) == 1
    assert bindings.withdraw(b) == "withdrawn"
    assert resolve(a, bindings.store.fetch, no_rules, Settings()).status == 410
    assert equivalent(a, b)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["urn:isbn:0451450524", "urn:isbn:no-isbn", "urn:nbn:1", "urn:uuid:x", "urn:foo:A-b"])
def test_a_name_that_breaks_a_namespace_rule_can_be_bound(name: str, bindings: Bindings) -> None:
    assert bindings.bind(name, "https://example.org/1") == "bound"
    assert resolve(name, bindings.store.fetch, no_rules, Settings()).target == "https://example.org/1"


@pytest.mark.parametrize("namespace", namespaces.list_namespaces(), ids=lambda each: each.nid)
def test_a_key_is_idempotent(namespace: Namespace) -> None:
    for nss in (namespace.example, namespace.example.upper(), "A-b", "x"):
        key = naming.key(naming.read(f"urn:{namespace.nid}:{nss}"))
        assert naming.key(naming.read(key)) == key
