"""Test the withdrawal of a name with all names below it, and the restoration of many names."""

from __future__ import annotations

import io
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import Selection
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.selected import change_selected
from ararat.bindings.operations.withdrawal import restore_below, restore_withdrawn, withdraw_below
from ararat.middleware import import_table
from ararat.middleware.resolution.resolver import resolve
from ararat.middleware.resolution.settings import Settings

BELOW = ("x", "x/1", "x/1/2", "x.pdf", "x/1.de.pdf")


def name(short: str) -> str:
    return f"ark:12345/{short}"


def states(bindings: Bindings, *shorts: str) -> dict[str, str]:
    found = bindings.store.fetch(map(name, shorts))
    return {each.identifier.removeprefix("ark:12345/"): each.status for each in found.values()}


@pytest.fixture
def tree(bindings: Bindings) -> Bindings:
    """Names below ark:12345/x and beside it."""
    for short in ("x", "x/1", "x/1/2", "x.pdf", "x/1.de.pdf", "x1", "y", "xa/b", "x%2Ea"):
        bindings.bind(name(short), f"https://e.example/{short}", resource=f"R {short}")
    return bindings


def test_a_name_is_withdrawn_with_all_names_below_it(tree: Bindings) -> None:
    result = withdraw_below(tree, "ark:/12345/x-", reason="lost", successor="ark:/12345/y", actor="me")
    assert (result.counts, result.names, result.others) == ({"withdrawn": 5}, 5, 0)
    assert set(states(tree, *BELOW).values()) == {"withdrawn"}
    assert states(tree, "x1", "y", "xa/b", "x%2Ea") == {"x1": "live", "y": "live", "xa/b": "live", "x%2Ea": "live"}
    page = tree.lookup(name("x/1/2"))
    assert page is not None
    assert (page.reason, page.successor) == ("lost", "ark:12345/y")
    [operation] = tree.list_operations()
    assert operation.parameters == {"below": "ark:12345/x", "reason": "lost", "successor": "ark:12345/y"}
    assert [(event.actor, event.operation) for event in tree.history(name("x.pdf"))][1:] == [("me", result.operation)]


def test_each_name_warns_of_a_successor_that_is_not_recorded_or_leads_back(tree: Bindings) -> None:
    tree.withdraw(name("y"), successor=name("x.pdf"))
    result = withdraw_below(tree, name("x"), successor=name("y"), dry_run=True)
    assert [(each.identifier, each.code) for each in result.warned] == [(name("x.pdf"), "successor-circle")]
    result = change_selected(tree, "withdraw", {"successor": name("z")}, Selection(prefix=name("x/")))
    assert {(each.identifier, each.code) for each in result.warned} == {
        (name(short), "successor-unknown") for short in ("x/1", "x/1/2", "x/1.de.pdf")
    }


def test_withdrawn_and_reserved_names_are_left_alone(tree: Bindings) -> None:
    tree.withdraw(name("x/1"), reason="court order")
    tree.reserve(name("x/draft"))
    result = withdraw_below(tree, name("x"), reason="lost")
    assert [(noted.identifier, noted.code) for noted in result.left_alone] == [
        (name("x/1"), "withdrawn"),
        (name("x/draft"), "reserved"),
    ]
    page = tree.lookup(name("x/1"))
    assert page is not None
    assert page.reason == "court order"


def test_a_container_without_binding_can_be_withdrawn(tree: Bindings) -> None:
    assert withdraw_below(tree, name("xa")).counts == {"withdrawn": 1}
    nothing = withdraw_below(tree, name("none"))
    assert (nothing.names, nothing.operation, nothing.written) == (0, None, False)


def test_names_of_the_greatest_length_are_found(bindings: Bindings) -> None:
    for number, end in ((74, "a" * 12), (80, ""), (230, "")):
        long = f"ark:12345/{number * '%F0%9F%98%80'}{end}"
        bindings.bind(long, "/old/1")
        bindings.bind(f"{long}/p1", "/old/2")
        bindings.bind(f"{long}%F0%9F%98%80", "/old/3")
        assert withdraw_below(bindings, long).counts == {"withdrawn": 2}
        assert restore_below(bindings, long).counts == {"restored": 2}
        assert relocate_prefix(bindings, "/old/", "/new/", below=long).counts == {"relocated": 2}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param({"identifier": "urn:example:a"}, "nothing-below", id="URN"),
        pytest.param({"successor": "ark:12345/x"}, "successor-itself", id="itself"),
        pytest.param({"successor": "ark:12345/x/2"}, "successor-itself", id="below itself"),
        pytest.param({"successor": "INV 3"}, "successor-text", id="no successor"),
        pytest.param({"reason": "a\nb"}, "reason-text", id="reason"),
        pytest.param({"actor": "a\nb"}, "actor-text", id="actor"),
    ],
)
def test_arguments_that_are_not_valid_are_refused(bindings: Bindings, options: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        withdraw_below(bindings, **{"identifier": "ark:12345/x", **options})
    assert refused.value.code == code


def test_dry_runs_write_nothing(tree: Bindings) -> None:
    assert withdraw_below(tree, name("x"), dry_run=True).counts == {"withdrawn": 5}
    assert set(states(tree, *BELOW).values()) == {"live"}
    done = withdraw_below(tree, name("x"))
    assert done.operation is not None
    assert restore_below(tree, name("x"), dry_run=True).counts == {"restored": 5}
    assert restore_withdrawn(tree, done.operation, dry_run=True).counts == {"restored": 5}
    assert set(states(tree, *BELOW).values()) == {"withdrawn"}


def test_a_tree_is_restored_for_the_recorded_resources(tree: Bindings) -> None:
    withdraw_below(tree, name("x"), reason="lost", successor=name("y"))
    tree.reserve(name("x/draft"))
    result = restore_below(tree, name("x"))
    assert (result.counts, [noted.code for noted in result.left_alone]) == ({"restored": 5}, ["reserved"])
    page = tree.lookup(name("x/1"))
    assert page is not None
    assert (page.status, page.reason, page.successor, page.resource) == ("live", None, None, "R x/1")
    assert restore_below(tree, name("x")).unchanged == 5


def test_only_the_names_that_an_operation_withdrew_are_restored(tree: Bindings) -> None:
    tree.withdraw(name("x/1"), reason="court order")
    number = withdraw_below(tree, name("x")).operation
    assert number is not None
    tree.restore(name("x.pdf"), resource="R x.pdf")
    tree.restore(name("x/1/2"), resource="R x/1/2")
    tree.withdraw(name("x/1/2"), reason="another court order")
    assert restore_withdrawn(tree, number).counts == {"restored": 2}
    assert states(tree, *BELOW) == {
        "x": "live",
        "x/1": "withdrawn",
        "x/1/2": "withdrawn",
        "x.pdf": "live",
        "x/1.de.pdf": "live",
    }


def test_the_names_that_an_import_withdrew_are_restored(tree: Bindings) -> None:
    table = b"identifier,target,status\nark:12345/x1,,withdrawn\nark:12345/new,/new,\nark:12345/xa/b,,withdrawn\n"
    number = import_table(tree, io.BytesIO(table)).operation
    assert number is not None
    assert restore_withdrawn(tree, number).counts == {"restored": 2}
    assert states(tree, "x1", "xa/b", "new") == {"x1": "live", "xa/b": "live", "new": "live"}


def test_an_unknown_operation_restores_nothing(bindings: Bindings) -> None:
    for number in (0, 1, -1, 2**70):
        with pytest.raises(BindingError) as refused:
            restore_withdrawn(bindings, number)
        assert refused.value.code == "operation-unknown"


def test_a_refused_restoration_restores_nothing(tree: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    withdraw_below(tree, name("x"))

    def check(before: object, change: Any, settings: object) -> Any:
        if change.after.identifier == name("x.pdf"):
            raise BindingError("persistent-not-ark")
        return change

    monkeypatch.setattr(tree, "check_change", check)
    result = restore_below(tree, name("x"))
    assert ([noted.identifier for noted in result.refused], result.written) == ([name("x.pdf")], False)
    assert set(states(tree, *BELOW).values()) == {"withdrawn"}


def test_no_rule_or_passthrough_answers_below_a_withdrawn_tree(bindings: Bindings) -> None:
    bindings.bind(name("c"), "https://e.example/c/", passthrough=True)
    bindings.bind(name("c/1"), "https://e.example/1", passthrough=True)
    bindings.rules.set("ark:12345/c", "https://e.example/${value}")
    withdraw_below(bindings, name("c"))
    for below in ("c", "c/1", "c/1/2", "c/other"):
        assert resolve(name(below), bindings.store.fetch, bindings.source.binding_by_rule, Settings()).status == 410
