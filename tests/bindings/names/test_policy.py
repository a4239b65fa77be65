"""The rules of an IRI policy for bindings, in databases and files."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.names.policy import RegisteredNaans
from ararat.bindings.open import open_file
from ararat.identifiers import iri_policy
from ararat.middleware import BindingConflict, open_bindings

P = iri_policy.built_in("17beta")
UUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"


@pytest.fixture
def governed(database: str) -> Iterator[Bindings]:
    """Bindings with the policy 17beta."""
    with open_bindings(database, policy=P, create=True) as bindings:
        yield bindings


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "metadata", "code"),
    [
        pytest.param("ark:21206/bcd", None, "name-reserved", id="no shoulder (POL-031)"),
        pytest.param("ark:21206/2345", None, "name-reserved", id="an endless shoulder"),
        pytest.param("ark:21206/0-bc", None, "name-reserved", id="shoulder 0 (POL-030)"),
        pytest.param("urn:example:a", {"persistence": "kept"}, "persistent-not-ark", id="POL-017"),
        pytest.param(
            "ark:21206/1b", {"persistence": "kept", "availability": "month"}, "availability-statement", id="POL-018"
        ),
    ],
)
def test_a_name_that_breaks_the_policy_is_refused(governed, identifier, metadata, code):
    with pytest.raises(BindingError) as refused:
        governed.bind(identifier, "/x", metadata=metadata)
    assert refused.value.code == code
    assert refused.value.identifier is not None
    assert governed.lookup(identifier) is None


def test_without_a_policy_the_same_name_is_bound(database):
    with open_bindings(database, create=True) as bindings:
        assert bindings.bind("ark:21206/bcd", "/x", metadata={"persistence": "kept"}) == "bound"
        binding = bindings.lookup("ark:21206/bcd")
    assert binding is not None
    assert "erc.availability" not in binding.metadata


# POL-018
@pytest.mark.parametrize(
    ("stated", "kept"), [(None, "lifetime"), ("subinfinite", "subinfinite"), ("lifetime", "lifetime"), ("none", "none")]
)
def test_a_persistent_name_needs_an_allowed_availability(governed, stated, kept):
    metadata = {"persistence": "kept", **({"availability": stated} if stated else {})}
    for outcome in ("bound", "unchanged"):
        assert governed.bind("ark:21206/1b", "/x", metadata=metadata) == outcome
    assert governed.lookup("ark:21206/1b").metadata["erc.availability"] == kept
    assert len(governed.history("ark:21206/1b")) == 1


# POL-018
def test_a_persistent_name_with_another_availability_is_refused(governed):
    with pytest.raises(BindingError, match="the availability month is not allowed") as caught:
        governed.bind("ark:21206/1b", "/x", metadata={"persistence": "kept", "availability": "month"})
    assert caught.value.code == "availability-statement"


# POL-016, POL-020
def test_a_name_can_become_persistent_later(governed):
    governed.bind("ark:21206/1b", "/x")
    governed.bind("urn:example:a", "/x")
    assert governed.promise_persistence("ark:21206/1b", published=False) == "updated"
    assert governed.lookup("ark:21206/1b").metadata == {"erc.persistence": "persistent", "erc.availability": "none"}
    governed.promise_persistence("ark:21206/1b", availability="subinfinite")
    governed.promise_persistence("ark:21206/1b", availability="subinfinite")
    assert [event.action for event in governed.history("ark:21206/1b")] == ["bound", "updated", "updated"]
    with pytest.raises(BindingError, match="persistent-not-ark"):
        governed.promise_persistence("urn:example:a")
    governed.withdraw("ark:21206/1b")
    with pytest.raises(BindingConflict, match="withdrawn"):
        governed.promise_persistence("ark:21206/1b")


# POL-048
def test_a_uuid_identifies_one_resource_in_all_forms_and_slugs(governed):
    governed.bind(f"urn:uuid:{UUID}", "/about", resource="the thing")
    governed.bind("ark:21206/1b", f"/{UUID}_notes", resource="the thing")
    for target in (f"/{UUID}", f"https://17beta.top/{UUID.upper()}_other#x"):
        with pytest.raises(BindingError, match="uuid-reused"):
            governed.bind("ark:21206/1c", target, resource="another thing")
    assert governed.bind("ark:21206/1c", f"https://example.org/{UUID}", resource="another thing") == "bound"
    with pytest.raises(BindingError, match="uuid-reused"):
        governed.relocate("ark:21206/1c", f"/{UUID}")
    governed.withdraw(f"urn:uuid:{UUID}")
    governed.withdraw("ark:21206/1b")
    with pytest.raises(BindingError, match="uuid-reused"):
        governed.bind("ark:21206/1d", f"/{UUID}")


@pytest.mark.parametrize("redirect", [pytest.param("", id="like the others"), pytest.param("307", id="unlike them")])
def test_an_import_applies_the_policy_in_the_order_of_the_lines(governed, redirect):
    table = (
        "identifier,target,resource,persistence,availability,redirect\n"
        f"ark:21206/1b,/{UUID}_a,one,kept,,{redirect}\n"
        f"ark:21206/1c,/{UUID}_b,two,,,\n"
        "ark:21206/bcd,/x,,,,\n"
        "ark:21206/1d,/x,,kept,week,\n"
    ).encode()
    refused = import_table(governed, io.BytesIO(table)).refused
    assert [(line.line, line.code) for line in refused] == [
        (3, "uuid-reused"),
        (4, "name-reserved"),
        (5, "availability-statement"),
    ]
    # Nothing was written, and nothing is cached.
    assert governed.bind("ark:21206/1c", f"/{UUID}_b", resource="two") == "bound"


def test_a_file_store_applies_the_policy(tmp_path):
    file = tmp_path / "bindings.csv"
    file.write_text("identifier,target,persistence\nark:21206/1b,/x,kept\n", "utf-8")
    with open_bindings(file, policy=P) as bindings:
        binding = bindings.lookup("ark:21206/1b")
    assert binding is not None
    assert binding.metadata == {"erc.persistence": "kept", "erc.availability": "lifetime"}
    file.write_text("identifier,target\nark:21206/1b,/x\nark:21206/bcd,/x\n", "utf-8")
    with pytest.raises(TableError) as refused:
        open_file(file, policy=P, served=False)
    assert (refused.value.code, refused.value.line) == ("name-reserved", 3)
    with open_bindings(file, policy=P) as bindings:
        assert "name-reserved" in str(bindings.source.refusal)


# POL-018
def test_a_name_that_a_date_publishes_has_its_availability(governed):
    assert governed.bind("ark:21206/1b", "/x", metadata={"persistence": "kept"}, embargo="2999-01-01") == "reserved"
    assert governed.get("ark:21206/1b").metadata == {"erc.persistence": "kept", "erc.availability": "lifetime"}


# POL-018
@pytest.mark.parametrize(("availability", "code"), [("", ""), ("month", "availability-statement")])
def test_a_name_of_a_file_that_a_date_publishes_follows_the_policy(tmp_path, availability, code):
    file = tmp_path / "bindings.csv"
    table = f"identifier,target,persistence,availability,embargo\nark:21206/1b,/x,kept,{availability},2999-01-01\n"
    file.write_text(table, "utf-8")
    with open_bindings(file, policy=P) as bindings:
        assert code in str(bindings.source.refusal or "")
        if not code:
            assert bindings.get("ark:21206/1b").metadata["erc.availability"] == "lifetime"


# POL-030
def test_mint_uses_the_shoulders_of_the_policy(database):
    ours = iri_policy.Profile("ours", ("example.org",), naan="99152", shoulders="decimal", reserved_shoulders=("30",))
    with open_bindings(database, policy=ours, create=True) as bindings:
        assert len(mint(bindings, "99152/31")) == 1
        for namespace in ("99152/30", "99152/x5", "21206/0"):
            with pytest.raises(BindingError, match="shoulder-reserved"):
                mint(bindings, namespace)


# Registered NAANs ----------------------------------------------------------------------------------------------------

NAANS_TABLE = b"identifier,target\nark:12148/a,/1\nark:/54-321/b,/1\nark:98765/c,/1\nark:98765/d,/1\nurn:example:e,/1\n"


def test_each_unregistered_naan_is_noted_once(bindings) -> None:
    bindings.check_change = naans = RegisteredNaans(bindings.check_change, own=["98765"])
    assert import_table(bindings, io.BytesIO(NAANS_TABLE)).written
    assert naans.unregistered == ["54321"]
    assert bindings.bind("ark:54321/x", "/x") == "bound"
    assert naans.unregistered == ["54321"]
    assert bindings.lookup("ark:54321/b") is not None


def test_strict_writes_nothing_of_a_table_with_an_unregistered_naan(bindings) -> None:
    bindings.check_change = RegisteredNaans(bindings.check_change, own=["98765"], strict=True)
    summary = import_table(bindings, io.BytesIO(NAANS_TABLE))
    assert not summary.written
    assert [(noted.line, noted.code) for noted in summary.refused] == [(3, "naan-unregistered")]
    assert bindings.lookup("ark:12148/a") is None
    with pytest.raises(BindingError, match="NAAN 54321 is not registered"):
        bindings.bind("ark:54321/x", "/x")
    assert bindings.lookup("ark:54321/x") is None
    assert bindings.bind("ark:98765/x", "/x") == "bound"
