"""Test reserved names: they can be changed, bound and deleted, and no public answer shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from ararat.bindings import changes
from ararat.bindings.checks.name_findings import check
from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingConflict, BindingError
from ararat.bindings.names.fields import Fields
from ararat.bindings.operations.undo import undo_change
from ararat.middleware import ResolverMiddleware, mint
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings

NAME = "ark:12345/x51"


def test_everything_about_a_reserved_name_can_change(bindings: Bindings) -> None:
    assert bindings.reserve(NAME, "/1", resource="R1", metadata={"what": "T"}) == "reserved"
    assert bindings.reserve(NAME, "/1", resource="R1") == "unchanged"
    assert bindings.reserve(NAME, "/2", resource="R2") == "updated"
    reserved = bindings.lookup(NAME)
    assert bindings.bind("ark:/12345/x5-1", "/3", resource="R3") == "bound"
    bound = bindings.lookup(NAME)
    assert bound is not None
    assert reserved is not None
    assert (bound.status, bound.target, bound.resource, bound.spelling) == ("live", "/3", "R3", "ark:/12345/x5-1")
    assert (bound.created, dict(bound.metadata)) == (reserved.created, {"erc.what": "T"})
    assert [event.action for event in bindings.history(NAME)] == ["reserved", "updated", "bound"]
    assert list(check(bindings, naans=["12345"])) == []


@pytest.mark.parametrize("kept", [pytest.param("2099-01-01", id="reserved"), pytest.param("", id="published")])
@pytest.mark.parametrize(
    ("recorded", "stated", "code"),
    [
        pytest.param(
            Fields(target="/a", kind="served", scope="subtree"),
            Fields(target="https://example.org/1", kind="located"),
            "scope-not-served",
            id="another kind for a subtree",
        ),
        pytest.param(
            Fields(target="https://example.org/a/", passthrough=True),
            Fields(target="https://example.org?a"),
            "passthrough-without-path",
            id="a target without a path for passthrough",
        ),
        pytest.param(
            Fields(target="https://example.org?a"),
            Fields(passthrough=True),
            "passthrough-without-path",
            id="passthrough for a target without a path",
        ),
        pytest.param(
            Fields(target="/a", alternates={"en": "/en"}),
            Fields(kind="described"),
            "target-unwanted",
            id="no target beside alternates",
        ),
    ],
)
def test_a_part_of_the_place_of_a_reserved_name_must_fit_the_other_parts(
    bindings: Bindings, recorded: Fields, stated: Fields, code: str, kept: str
) -> None:
    bindings.bind(NAME, recorded._replace(embargo="2099-01-01"))
    before = bindings.lookup(NAME)
    with pytest.raises(BindingError) as refused:
        bindings.change([changes.patch(NAME, stated._replace(embargo=kept))])
    assert (refused.value.code, refused.value.identifier) == (code, NAME)
    assert bindings.lookup(NAME) == before


def test_a_request_that_removes_the_target_of_a_reserved_name_is_one_change(bindings: Bindings) -> None:
    bindings.reserve(NAME, "/1", metadata={"what": "Map"}, listed=False)
    before = bindings.get(NAME)
    bindings.change([changes.save(NAME, Fields(metadata={"who": "Noah"}), bindings.naming)])
    after = bindings.get(NAME)
    assert (after.target, after.kind, after.listed, after.metadata) == (None, "described", True, {"erc.who": "Noah"})
    assert [event.revision for event in bindings.history(NAME)] == [1, 2]
    undo_change(bindings, NAME)
    assert bindings.get(NAME) == replace(before, revision=3, changed=bindings.get(NAME).changed)


def test_a_deleted_name_keeps_its_history_and_is_not_minted_again(bindings: Bindings) -> None:
    names = mint(bindings, "12345/x5", length=1, digits=True, count=9)
    for name in names:
        assert bindings.delete(name, actor="me") == "deleted"
        assert bindings.lookup(name) is None
    assert [(event.action, event.actor) for event in bindings.history(names[0])] == [
        ("reserved", None),
        ("deleted", "me"),
    ]
    assert list(check(bindings)) == []
    [last] = mint(bindings, "12345/x5", length=1, digits=True)
    assert last not in names
    assert bindings.bind(names[0], "/1") == "bound"
    assert [(event.action, event.revision) for event in bindings.history(names[0])] == [
        ("reserved", 1),
        ("deleted", 2),
        ("bound", 3),
    ]
    assert list(check(bindings, naans=["12345"])) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda b: b.withdraw(NAME), "withdraw-reserved", id="withdraw"),
        pytest.param(lambda b: b.relocate(NAME, "/1"), "reserved", id="relocate"),
        pytest.param(lambda b: b.restore(NAME), "reserved", id="restore"),
        pytest.param(lambda b: b.promise_persistence(NAME), "reserved", id="promise_persistence"),
        pytest.param(lambda b: b.reserve("ark:12345/live"), "reserve-public", id="reserve a live name"),
        pytest.param(lambda b: b.delete("ark:12345/live"), "delete-public", id="delete a live name"),
        pytest.param(lambda b: b.delete("ark:12345/gone"), "delete-public", id="delete a withdrawn name"),
        pytest.param(lambda b: b.delete("ark:12345/none"), "not-bound", id="delete an unknown name"),
    ],
)
def test_a_change_that_does_not_fit_the_state_is_refused(bindings: Bindings, change, code: str) -> None:
    bindings.reserve(NAME)
    bindings.bind("ark:12345/live", "/1")
    bindings.bind("ark:12345/gone", "/1")
    bindings.withdraw("ark:12345/gone")
    with pytest.raises(BindingError) as refused:
        change(bindings)
    assert refused.value.code == code


def test_no_public_answer_shows_a_reserved_name(bindings: Bindings) -> None:
    bindings.bind("ark:12345/c", "https://e.example/c/", passthrough=True)
    bindings.reserve("ark:12345/c/x", "https://e.example/secret", metadata={"what": "T"})
    bindings.rules.set("ark:12345/r", "https://e.example/${value}")
    bindings.reserve("ark:12345/r1", "https://e.example/secret", passthrough=True)
    settings = Settings(prefix="https://r.example", naans=("12345",), forward=True)

    def answer(identifier: str):
        return resolve(identifier, bindings.store.fetch, bindings.source.binding_by_rule, settings)

    for name in ("ark:12345/c/x", "ark:12345/r1"):
        for inflection in ("", "?", "??", "?info", "?x"):
            found = answer(f"{name}{inflection}")
            assert (found.status, found.problem and found.problem.code, found.binding) == (404, "not-bound", None)
    assert answer("ark:12345/c/y").target == "https://e.example/c/y"
    # Below a reserved name, its target does not apply and its name is not shown.
    assert answer("ark:12345/r1/y").target == "https://e.example/r1/y"
    unknown = resolve("ark:12345/z/z", bindings.store.fetch, no_rules, settings)
    bindings.reserve("ark:12345/z")
    assert resolve("ark:12345/z/z", bindings.store.fetch, no_rules, settings) == unknown


def test_a_withdrawn_name_has_a_successor_until_it_is_restored(bindings: Bindings) -> None:
    bindings.bind(NAME, "/1")
    with pytest.raises(BindingError) as refused:
        bindings.withdraw(NAME, successor=NAME)
    assert refused.value.code == "successor-itself"
    assert bindings.withdraw(NAME, reason="merged", successor="ark:/12345/x5-2") == "withdrawn"
    assert bindings.withdraw(NAME, successor="ark:12345/x52") == "unchanged"
    assert bindings.withdraw(NAME, successor="https://Example.org/2") == "updated"
    found = bindings.lookup(NAME)
    assert found is not None
    assert (found.successor, found.reason) == ("https://example.org/2", "merged")
    assert bindings.restore(NAME) == "restored"
    restored = bindings.lookup(NAME)
    assert restored is not None
    assert (restored.successor, restored.reason) == (None, None)


def test_a_conflict_has_both_bindings(bindings: Bindings) -> None:
    bindings.bind(NAME, "/1")
    with pytest.raises(BindingConflict) as refused:
        bindings.delete(NAME)
    assert refused.value.existing == bindings.lookup(NAME)


@pytest.mark.parametrize(
    ("successor", "address"),
    [
        pytest.param("ark:/12345/x5-2", "https://r.example/ark:12345/x52", id="name"),
        pytest.param("https://e.example/2", "https://e.example/2", id="URL"),
    ],
)
def test_a_tombstone_links_the_successor(bindings: Bindings, successor: str, address: str) -> None:
    bindings.bind("ark:/12345/x5-1", "/1", metadata={"what": "T", "dc.title": "U"})
    client = Client(ResolverMiddleware(NotFound(), bindings, prefix="https://r.example"))
    described = client.get(f"/{NAME}?info", headers={"Accept": "application/json"}).get_json()
    assert described["spelling"] == "ark:/12345/x5-1"
    assert b"Cite as" in client.get(f"/{NAME}?info", headers={"Accept": "text/html"}).data
    bindings.withdraw(NAME, successor=successor)
    for path, status in ((NAME, 410), (f"{NAME}/below", 410), (f"{NAME}?info", 200)):
        answer = client.get(f"/{path}", headers={"Accept": "text/html"})
        assert answer.status_code == status
        assert f'<{address}>; rel="successor-version"' in answer.headers.getlist("Link")
        assert f'href="{address}"'.encode() in answer.data
        document = client.get(f"/{path}", headers={"Accept": "application/json"}).get_json()
        assert document["successor"] == address
