"""The departure of an institution: its prefix is retired, and its names lead to another resolver."""

from __future__ import annotations

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations.departure import depart
from ararat.bindings.operations.undo import undo_operation

NEW = "https://new.example"


@pytest.fixture
def collection(bindings: Bindings) -> Bindings:
    bindings.prefixes.set(
        "12345/x5", who="Library", state="delegated", resolver="https://old.example", minter="https://m"
    )
    bindings.bind("ark:12345/x5-a", "https://old.example/a", alternates={"text/html": "https://old.example/a.html"})
    bindings.bind("ark:12345/x5s", "/show/s", kind="served", scope="subtree")
    bindings.bind("ark:12345/x5d", kind="described")
    bindings.bind("ark:12345/x5w", "https://old.example/w")
    bindings.withdraw("ark:12345/x5w")
    bindings.reserve("ark:12345/x5r", "https://old.example/r")
    bindings.bind("ark:12345/y1", "https://old.example/y")
    return bindings


def test_all_targets_move_and_the_prefix_is_retired(collection: Bindings) -> None:
    before = {name: collection.lookup(f"ark:12345/{name}") for name in ("x5d", "x5w", "y1")}
    dry = depart(collection, "12345/x5", NEW, dry_run=True)
    assert (dry.counts["relocated"], dry.others, dry.written) == (3, 2, False)
    assert collection.prefixes.list()[0].state == "delegated"
    done = depart(collection, "12345/x5", NEW, actor="ada", expected=dry.fingerprint)
    assert (done.counts["relocated"], done.written) == (3, True)
    moved = collection.lookup("ark:12345/x5a")
    assert moved is not None
    assert (moved.target, dict(moved.alternates), moved.identifier) == (f"{NEW}/ark:12345/x5-a", {}, "ark:12345/x5a")
    served = collection.lookup("ark:12345/x5s")
    assert served is not None
    assert (served.kind, served.target, served.scope) == ("located", f"{NEW}/ark:12345/x5s", "name")
    assert {name: collection.lookup(f"ark:12345/{name}") for name in before} == before
    record = collection.prefixes.get("12345/x5")
    assert record is not None
    assert record.texts == {"who": "Library", "state": "retired"}
    assert record.rule is not None
    assert record.rule.template == f"{NEW}/${{pid:given}}"
    with pytest.raises(BindingError, match="retired"):
        mint(collection, "12345/x5")


def test_an_undo_moves_the_targets_back(collection: Bindings) -> None:
    before = {name: collection.lookup(f"ark:12345/{name}") for name in ("x5a", "x5s", "x5r")}
    done = depart(collection, "12345/x5", f"{NEW}/?id=${{suffix}}")
    assert done.operation is not None
    undo_operation(collection, done.operation)
    for name, known in before.items():
        after = collection.lookup(f"ark:12345/{name}")
        assert known is not None
        assert after is not None
        assert (after.target, after.kind, after.scope, after.alternates, after.status) == (
            known.target, known.kind, known.scope, known.alternates, known.status,
        )  # fmt: skip
    assert collection.prefixes.list()[0].state == "retired"


def test_a_prefix_without_names_departs(bindings: Bindings) -> None:
    done = depart(bindings, "urn:nbn:se:uu:", NEW)
    assert (done.written, done.operation, done.names) == (True, None, 0)
    assert (bindings.prefixes.list()[0].state, len(bindings.rules.list())) == ("retired", 1)
    assert depart(bindings, "urn:nbn:se:uu:", NEW).written is False


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "resolver", ["/here", "mailto:a@example.org", f"{NEW}/?id=", "https://${value}/", "/ark:/${value}"]
)
def test_a_resolver_that_leads_nowhere_is_refused(collection: Bindings, resolver: str) -> None:
    with pytest.raises(BindingError):
        depart(collection, "12345/x5", resolver)
    assert collection.rules.list() == []
