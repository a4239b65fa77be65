"""The rules for bindings, without a store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ararat.bindings.names import assignment
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingConflict, BindingError
from ararat.bindings.names.fields import Fields

NAME = "ark:12345/doc"
PLACE = "https://example.org/1"
EARLY = datetime(2020, 10, 4, tzinfo=UTC)
LATE = datetime(2021, 1, 1, tzinfo=UTC)


def propose(identifier: str, target: str | None = None, **said: Any) -> Fields:
    return Fields(**{"target": target, "kind": "located", **said}).for_name(identifier)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        pytest.param({"kind": "non-information"}, "kind-unknown", id="an unknown kind"),
        pytest.param({"kind": "Located"}, "kind-unknown", id="a kind in capitals"),
        pytest.param({"redirect": 301}, "permanent-redirect-forbidden", id="301"),
        pytest.param({"redirect": 308}, "permanent-redirect-forbidden", id="308"),
        pytest.param({"redirect": 303}, "redirect-status", id="303 is a kind, not a choice"),
        pytest.param({"redirect": "302"}, "redirect-status", id="a text"),
        pytest.param({"scope": "subtree"}, "scope-not-served", id="everything below a place elsewhere"),
        pytest.param({"scope": "all"}, "scope-unknown", id="an unknown scope"),
        pytest.param({"passthrough": "yes"}, "passthrough-unknown", id="an unknown text"),
        pytest.param(
            {"kind": "described", "target": None, "passthrough": True},
            "passthrough-without-target",
            id="passthrough to nowhere",
        ),
        pytest.param(
            {"target": "https://example.org?a", "passthrough": True},
            "passthrough-without-path",
            id="passthrough to a host",
        ),
        pytest.param(
            {"target": "/ark:12345/d-oc/1", "passthrough": True}, "target-itself", id="passthrough to what is below"
        ),
        pytest.param({"resource": ""}, "resource-text", id="an empty resource"),
        pytest.param({"resource": "a\nb"}, "resource-text", id="a resource of two lines"),
        pytest.param({"metadata": {"title": "x"}}, "metadata-key", id="an unknown element"),
        pytest.param({"metadata": {"what": " "}}, "metadata-text", id="a blank element"),
        pytest.param({"alternates": {"": "/x"}}, "alternate-selector", id="an alternate for nothing"),
        pytest.param({"target": "ftp://example.org/"}, "target-scheme", id="a scheme"),
        pytest.param({"target": "/ark:12345/d-oc"}, "target-itself", id="itself"),
        pytest.param({"target": "/ARK:/12345/doc/"}, "target-itself", id="itself, with a final slash"),
        pytest.param({"target": "/ark:12345/doc#p1"}, "target-itself", id="itself, at a fragment"),
    ],
)
def test_an_invalid_assignment_is_refused(said: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        propose(NAME, **{"target": PLACE, **said})
    assert refused.value.code == code
    assert refused.value.identifier == NAME


@pytest.mark.parametrize("target", ["/ark:12345/doc?info", "/ark:12345/doc/1", "/ark:12345", "/urn:foo:a"])
def test_a_target_can_be_another_name_or_a_description(target: str) -> None:
    assert propose(NAME, target).target == target


@pytest.mark.parametrize("said", [{"passthrough": True}, {"kind": "served", "scope": "subtree"}])
def test_a_urn_cannot_have_names_below_it(said: dict[str, Any]) -> None:
    with pytest.raises(BindingError) as refused:
        propose("urn:foo:a", "/place", **said)
    assert refused.value.code == "nothing-below"


def test_a_given_scope_is_recorded_and_kept() -> None:
    served = existing("/page", kind="served")
    wider = assignment.relocate(served, Fields(target="/page", scope="subtree"), LATE)
    assert (wider.outcome, wider.action, wider.after.scope) == ("relocated", "relocated", "subtree")
    assert bind(wider.after, "/page", kind="served").after.scope == "subtree"
    with pytest.raises(BindingError) as refused:
        assignment.relocate(wider.after, Fields(target="https://example.org/x", kind="located"), LATE)
    assert refused.value.code == "scope-not-served"


def test_passthrough_requires_a_target_with_a_path() -> None:
    with pytest.raises(BindingError) as refused:
        assignment.relocate(existing(passthrough=True), Fields(target="https://example.org"), LATE)
    assert refused.value.code == "passthrough-without-path"


# What becomes of a name -----------------------------------------------------------------------------------------------


def existing(target: str | None = PLACE, **said: Any) -> Binding:
    return propose(NAME, target, **said).create_binding(EARLY)


def bind(binding: Binding | None, target: str | None = PLACE, **said: Any) -> assignment.Change:
    return assignment.bind(binding, propose(NAME, target, **said), LATE)


def withdrawn(**said: Any) -> Binding:
    return assignment.withdraw(existing(**said), "a reason", EARLY).after


def test_a_new_name_gets_the_defaults() -> None:
    outcome, after, action = bind(None)
    assert (outcome, action) == ("bound", "bound")
    assert after == Binding(
        identifier=NAME,
        kind="located",
        target=PLACE,
        status="live",
        redirect=302,
        listed=True,
        resource=None,
        passthrough=False,
        scope="name",
        alternates={},
        metadata={},
        reason=None,
        successor=None,
        spelling=NAME,
        created=LATE,
        changed=LATE,
        revision=1,
    )


def test_the_same_assignment_changes_nothing() -> None:
    assert bind(existing()) == ("unchanged", existing(), None)


def test_the_same_target_in_another_spelling_changes_nothing() -> None:
    assert bind(existing(), "HTTPS://EXAMPLE.org:443/1").action is None


@pytest.mark.parametrize(
    ("before", "said"),
    [
        pytest.param({}, {"metadata": {"erc.what": "T"}}, id="metadata"),
        pytest.param({}, {"redirect": 307}, id="redirect"),
        pytest.param({"resource": "R1"}, {"resource": "R1", "redirect": 307}, id="redirect, with the resource"),
    ],
)
def test_metadata_of_the_same_target_are_updated(before: dict[str, Any], said: dict[str, Any]) -> None:
    outcome, after, action = bind(existing(**before), **said)
    assert (outcome, action) == ("updated", "updated")
    assert {name: getattr(after, name) for name in said} == said
    assert (after.changed, after.revision, after.target) == (LATE, 2, PLACE)


@pytest.mark.parametrize("said", [{}, {"metadata": {"erc.what": "T"}}, {"redirect": 307}])
def test_a_resource_can_be_claimed_if_none_is_recorded(said: dict[str, Any]) -> None:
    outcome, after, action = bind(existing(), resource="R1", **said)
    assert (outcome, action, after.resource, after.target, after.revision) == ("claimed", "updated", "R1", PLACE, 2)
    assert {name: getattr(after, name) for name in said} == said
    assert bind(after, resource="R1", **said).outcome == "unchanged"


PLACES = [
    pytest.param({}, {"alternates": {"text/html": "https://evil.example/"}}, id="a new alternate"),
    pytest.param({"alternates": {"en": "/en"}}, {"alternates": {"en": "/x"}}, id="an alternate elsewhere"),
    pytest.param({"alternates": {"en": "/en"}}, {"alternates": {"EN": ""}}, id="no alternate"),
    pytest.param({}, {"passthrough": True}, id="passthrough on"),
    pytest.param({"passthrough": True}, {"passthrough": False}, id="passthrough off"),
    pytest.param({"kind": "served", "target": "/p"}, {"scope": "subtree"}, id="subtree"),
    pytest.param({"kind": "served", "target": "/p", "scope": "subtree"}, {"scope": "name"}, id="no subtree"),
    pytest.param({}, {"kind": "related"}, id="kind"),
]


def same_place(before: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Return the assignment with the recorded target and kind."""
    return {"target": before.get("target", PLACE), "kind": before.get("kind", "located"), **said}


@pytest.mark.parametrize(("before", "said"), PLACES)
def test_a_new_target_requires_the_recorded_resource(before: dict[str, Any], said: dict[str, Any]) -> None:
    binding = existing(**{"target": PLACE, **before, "resource": "R1"})
    with pytest.raises(BindingConflict) as conflict:
        bind(binding, **same_place(before, said))
    assert conflict.value.code == "bound-otherwise"
    assert (conflict.value.existing, conflict.value.proposed.revision) == (binding, 2)
    assert assignment.leads_elsewhere(binding, conflict.value.proposed)
    outcome, after, action = bind(binding, **same_place(before, said), resource="R1")
    assert (outcome, action, after) == ("relocated", "relocated", conflict.value.proposed)


@pytest.mark.parametrize("resource", [None, "R1"])
@pytest.mark.parametrize(("before", "said"), PLACES)
def test_without_a_recorded_resource_only_relocate_changes_the_target(
    before: dict[str, Any], said: dict[str, Any], resource: str | None
) -> None:
    binding = existing(**{"target": PLACE, **before})
    with pytest.raises(BindingConflict) as conflict:
        bind(binding, **same_place(before, said), resource=resource)
    assert conflict.value.code == "bound-otherwise"
    assert "a relocation" in conflict.value.expected
    assert assignment.relocate(binding, Fields(**same_place(before, said)), LATE).outcome == "relocated"


@pytest.mark.parametrize(
    ("before", "said", "words"),
    [
        pytest.param({}, {"alternates": {"en": "/x"}}, "alternate en is recorded, and the new one is /x", id="en"),
        pytest.param({}, {"passthrough": True}, "passthrough is false, and the new one is true", id="passthrough"),
        pytest.param({}, {"kind": "related"}, "kind is located, and the new one is related", id="kind"),
    ],
)
def test_a_conflict_names_the_field_that_differs(before: dict[str, Any], said: dict[str, Any], words: str) -> None:
    with pytest.raises(BindingConflict, match=words):
        bind(existing(**before), **said)


def test_an_empty_element_is_deleted_and_the_others_remain() -> None:
    known = existing(metadata={"who": "N", "what": "T"})
    outcome, after, _ = bind(known, metadata={"who": ""})
    assert (outcome, dict(after.metadata)) == ("updated", {"erc.what": "T"})
    assert bind(after, metadata={"who": ""}).outcome == "unchanged"
    assert bind(known, metadata={}).outcome == "unchanged"
    assert dict(bind(None, metadata={"who": "", "what": "T"}).after.metadata) == {"erc.what": "T"}


@pytest.mark.parametrize("now", [EARLY, EARLY - timedelta(hours=1)], ids=["the same time", "a clock set back"])
def test_a_change_is_always_later_than_the_previous_one(now: datetime) -> None:
    known = existing(resource="R1")
    changes = [
        assignment.bind(known, propose(NAME, PLACE, metadata={"what": "T"}), now),
        assignment.bind(known, propose(NAME, "/2", resource="R1"), now),
        assignment.bind(known, propose(NAME, PLACE, status="withdrawn"), now),
        assignment.relocate(known, Fields(target="/2"), now),
        assignment.withdraw(known, None, now),
    ]
    changes.append(assignment.restore(changes[-1].after, "R1", now))
    assert [change.after.changed > known.changed for change in changes] == [True] * len(changes)
    assert changes[-1].after.changed > changes[-2].after.changed
    # Last-Modified has whole seconds.
    assert changes[0].after.changed.replace(microsecond=0) > EARLY


def test_omitted_fields_are_kept() -> None:
    known = existing(metadata={"what": "T"}, alternates={"en": "/x"}, passthrough=True, redirect=307, resource="R1")
    assert bind(known).action is None


def test_the_recorded_resource_permits_a_new_target() -> None:
    outcome, after, action = bind(existing(resource="R1"), "/2", resource="R1")
    assert (outcome, action, after.target, after.revision) == ("relocated", "relocated", "/2", 2)


def test_a_relocated_name_can_change_its_kind() -> None:
    after = bind(existing(resource="R1"), None, kind="described", resource="R1").after
    assert (after.kind, after.target) == ("described", None)


def test_a_relocated_name_is_consistent() -> None:
    with pytest.raises(BindingError) as refused:
        bind(existing(resource="R1", passthrough=True), None, kind="described", resource="R1")
    assert refused.value.code == "passthrough-without-target"
    with pytest.raises(BindingError) as refused:
        bind(existing(resource="R1", alternates={"en": "https://example.org/en"}), "/x", kind="served", resource="R1")
    assert refused.value.code == "target-not-local"


# URN-002
@pytest.mark.parametrize(
    ("before", "target", "said", "code"),
    [
        pytest.param({}, "/2", {}, "bound-otherwise", id="another place"),
        pytest.param({}, PLACE, {"kind": "related"}, "bound-otherwise", id="another kind"),
        pytest.param({}, "/2", {"resource": "R1"}, "bound-otherwise", id="a resource where none is on record"),
        pytest.param({"resource": "R1"}, "/2", {}, "bound-otherwise", id="no resource where one is on record"),
        pytest.param({"resource": "R1"}, "/2", {"resource": "R2"}, "other-resource", id="another resource elsewhere"),
        pytest.param(
            {"resource": "R1"}, PLACE, {"resource": "R2"}, "other-resource", id="another resource at the same place"
        ),
        pytest.param({"resource": "R1"}, PLACE, {"resource": "r1"}, "other-resource", id="resources differ by case"),
    ],
)
def test_a_name_is_never_reassigned(before: dict[str, Any], target: str, said: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingConflict) as conflict:
        bind(existing(**before), target, **said)
    assert conflict.value.code == code
    assert conflict.value.existing == existing(**before)
    assert conflict.value.proposed == replace(
        existing(**before), target=target, changed=LATE, revision=2, **{"resource": before.get("resource"), **said}
    )


def test_a_conflict_describes_the_difference() -> None:
    with pytest.raises(BindingConflict, match=r"https://example\.org/1, and the new one is /2"):
        bind(existing(), "/2")


@pytest.mark.parametrize("said", [{}, {"resource": "R1"}])
def test_a_withdrawn_name_cannot_be_bound_again(said: dict[str, Any]) -> None:
    with pytest.raises(BindingConflict) as conflict:
        bind(withdrawn(resource="R1"), **said)
    assert conflict.value.code == "withdrawn"


def test_relocate_works_without_a_recorded_resource() -> None:
    outcome, after, action = assignment.relocate(existing(), Fields(target="HTTPS://Example.org/2"), LATE)
    assert (outcome, action, after.target, after.kind) == ("relocated", "relocated", "https://example.org/2", "located")


def test_relocating_to_the_same_target_changes_nothing() -> None:
    assert assignment.relocate(existing(), Fields(target="https://EXAMPLE.org/1"), LATE) == (
        "unchanged",
        existing(),
        None,
    )


@pytest.mark.parametrize(
    ("before", "target", "kind", "code"),
    [
        pytest.param(existing(), "javascript:x", None, "target-scheme", id="to an unsafe scheme"),
        pytest.param(existing(), "/ark:12345/doc", None, "target-itself", id="to itself"),
        pytest.param(existing(), None, None, "target-missing", id="to nowhere"),
        pytest.param(
            existing(None, kind="described"), "/x", None, "target-unwanted", id="a described one to somewhere"
        ),
        pytest.param(existing(), "/x", "lost", "kind-unknown", id="to an unknown kind"),
        pytest.param(
            existing(passthrough=True), None, "described", "passthrough-without-target", id="passthrough to nowhere"
        ),
        pytest.param(withdrawn(), "/x", None, "withdrawn", id="a withdrawn one"),
    ],
)
def test_an_invalid_relocation_is_refused(before: Binding, target: str | None, kind: Any, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        assignment.relocate(before, Fields(target=target, kind=kind), LATE)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("said", "code"),
    [
        pytest.param({"passthrough": "yes"}, "passthrough-unknown", id="an unknown text for passthrough"),
        pytest.param({"scope": "all"}, "scope-unknown", id="an unknown scope"),
        pytest.param({"scope": "subtree"}, "scope-not-served", id="a subtree elsewhere"),
        pytest.param({"alternates": {"": "/x"}}, "alternate-selector", id="an alternate for nothing"),
    ],
)
def test_an_invalid_assignment_does_not_relocate_a_name(said: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        assignment.relocate(existing(), Fields(target=PLACE, **said), LATE)
    assert refused.value.code == code


def test_changing_the_kind_of_a_described_name_adds_a_target() -> None:
    assert (
        assignment.relocate(existing(None, kind="described"), Fields(target="/x", kind="related"), LATE).after.target
        == "/x"
    )


def test_a_withdrawn_name_keeps_all_fields() -> None:
    outcome, after, action = assignment.withdraw(existing(resource="R1"), "sold", LATE)
    assert (outcome, action, after.status, after.reason) == ("withdrawn", "withdrawn", "withdrawn", "sold")
    assert (after.target, after.resource, after.revision, after.is_live) == (PLACE, "R1", 2, False)
    for reason in (None, "sold"):
        assert assignment.withdraw(after, reason, LATE) == ("unchanged", after, None)
    outcome, corrected, action = assignment.withdraw(after, "a court order", LATE)
    assert (outcome, action, corrected.reason, corrected.revision) == ("updated", "updated", "a court order", 3)
    assert (corrected.status, corrected.resource) == ("withdrawn", "R1")


def test_a_reason_must_be_plain_text() -> None:
    with pytest.raises(BindingError) as refused:
        assignment.withdraw(existing(), "\x1b[2J", LATE)
    assert refused.value.code == "reason-text"


@pytest.mark.parametrize("resource", [None, "R1"])
def test_a_withdrawn_name_can_be_restored_for_the_same_resource(resource: str | None) -> None:
    outcome, after, action = assignment.restore(withdrawn(resource=resource), resource, LATE)
    assert (outcome, action, after.status, after.reason, after.revision) == ("restored", "restored", "live", None, 3)
    assert assignment.restore(after, resource, LATE) == ("unchanged", after, None)


@pytest.mark.parametrize(("on_record", "given"), [("R1", "R2"), ("R1", None), (None, "R1")])
def test_a_withdrawn_name_cannot_be_restored_for_another_resource(on_record: str | None, given: str | None) -> None:
    with pytest.raises(BindingConflict) as conflict:
        assignment.restore(withdrawn(resource=on_record), given, LATE)
    assert conflict.value.code == "other-resource"


# What only a table can say --------------------------------------------------------------------------------------------


def state(target: str | None, **said: Any) -> Fields:
    return propose(NAME, target, kind="located" if target else "described", status="withdrawn", **said)


def test_an_unbound_name_can_be_recorded_as_withdrawn() -> None:
    outcome, after, action = assignment.bind(None, state(None), LATE)
    assert (outcome, action, after.status, after.revision) == ("withdrawn", "withdrawn", "withdrawn", 1)


@pytest.mark.parametrize("target", [None, PLACE])
def test_an_assignment_can_withdraw_a_name(target: str | None) -> None:
    outcome, after, action = assignment.bind(existing(resource="R1"), state(target), LATE)
    assert (outcome, action, after.kind, after.target) == ("withdrawn", "withdrawn", "located", PLACE)
    assert assignment.bind(after, state(target), LATE) == ("unchanged", after, None)


def test_a_tombstone_can_be_updated() -> None:
    change = assignment.bind(withdrawn(), state(None, metadata={"what": "T"}), LATE)
    assert (change.outcome, change.action, change.after.status) == ("updated", "updated", "withdrawn")


@pytest.mark.parametrize("before", [existing(), withdrawn()], ids=["live", "withdrawn"])
def test_a_withdrawn_name_cannot_get_a_resource(before: Binding) -> None:
    with pytest.raises(BindingConflict) as conflict:
        assignment.bind(before, state(None, resource="mine"), LATE)
    assert conflict.value.code == "claim-withdrawn"
    assert (conflict.value.existing, conflict.value.proposed.resource) == (before, "mine")


@pytest.mark.parametrize("resource", [None, "R1"])
@pytest.mark.parametrize("said", [{"target": "/2"}, {"target": PLACE, "alternates": {"en": "/x"}}])
@pytest.mark.parametrize("before", [existing(resource="R1"), withdrawn(resource="R1")], ids=["live", "withdrawn"])
def test_withdrawing_a_name_does_not_relocate_it(before: Binding, said: dict[str, Any], resource: str | None) -> None:
    with pytest.raises(BindingConflict) as conflict:
        assignment.bind(before, state(**said, resource=resource), LATE)
    assert conflict.value.code == ("bound-otherwise" if before.is_live else "withdrawn")


@pytest.mark.parametrize(
    ("target", "resource", "code"), [("/2", None, "bound-otherwise"), (None, "R2", "other-resource")]
)
def test_a_withdrawal_must_agree_with_the_recorded_binding(target: str | None, resource: str | None, code: str) -> None:
    with pytest.raises(BindingConflict) as conflict:
        assignment.bind(existing(resource="R1"), state(target, resource=resource), LATE)
    assert conflict.value.code == code


def test_an_assignment_keeps_other_metadata_elements() -> None:
    known = existing(metadata={"what": "T", "when": "2020"}, alternates={"en": "/en"}, resource="R1")
    said = propose(NAME, PLACE, resource="R1", metadata={"who": "N", "what": "U"}, alternates={"de": "/de"})
    after = assignment.bind(known, said, LATE).after
    assert list(after.metadata.items()) == [("erc.who", "N"), ("erc.what", "U"), ("erc.when", "2020")]
    assert dict(after.alternates) == {"de": "/de", "en": "/en"}
