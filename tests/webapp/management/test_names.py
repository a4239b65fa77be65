"""Operations on names: states, revisions, permissions of minting, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ararat.bindings.checks import new_names
from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.middleware import BindingConflict
from ararat.webapp.accounts.model import Caller
from ararat.webapp.api.preconditions import etag
from ararat.webapp.management import ChangeResult, Fields, Forbidden, Missing, NewName, Stale, reading
from tests.webapp.management.acts import Acts

from .conftest import audit_of

NAME = "ark:12345/x5np1"
TARGET, OTHER = "https://example.org/1", "https://example.org/2"


def states(management: Acts, name: str = NAME) -> list[tuple[str, str]]:
    return [(event.action, event.after.status) for event in management.bindings.history(name)]


def test_a_name_is_created_and_replaced(management: Acts, curator: Caller) -> None:
    given = Fields(target=TARGET, resource="r", metadata={"who": "A", "what": "B"}, redirect=307, passthrough=True)
    first = management.save(curator, "ark:/12345/x5-np1", given)
    assert (first.outcome, first.is_new, first.after) == ("bound", True, management.show(None, NAME))
    assert (first.after.spelling, first.after.redirect) == ("ark:/12345/x5-np1", 307)
    # What the second request does not give gets its default; the resource and the state stay.
    second = management.save(curator, NAME, Fields(target=TARGET, resource="r", metadata={"who": "C"}))
    assert (second.outcome, second.is_new) == ("relocated", False)
    assert dict(second.after.metadata) == {"erc.who": "C"}
    assert (second.after.redirect, second.after.passthrough, second.after.resource) == (302, False, "r")
    assert management.save(curator, NAME, Fields(target=TARGET, metadata={"who": "C"})).outcome == "unchanged"
    assert len(management.bindings.history(NAME)) == 2
    assert management.bindings.history(NAME)[1].actor == "jane"


def test_warnings_are_found_before_the_change_is_durable(
    management: Acts, curator: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared,) = [management.save(curator, f"{NAME}{end}", Fields(target=TARGET)).warnings for end in "ab"][1:]
    assert [each.code for each in shared] == ["name-similar", "target-shared"]

    def unanswered(*_: Any) -> None:
        raise BindingsUnavailable("the database does not answer")

    monkeypatch.setattr(new_names, "warnings_about", unanswered)
    with pytest.raises(BindingsUnavailable):
        management.save(curator, NAME, Fields(target=OTHER))
    assert management.bindings.lookup(NAME) is None


def test_a_withdrawal_warns_of_its_successor_in_the_same_transaction(management: Acts, curator: Caller) -> None:
    for end in "ab":
        management.save(curator, f"{NAME}{end}", Fields(target=TARGET))
    first = management.withdraw(curator, f"{NAME}a", successor=f"{NAME}b")
    second = management.withdraw(curator, f"{NAME}b", successor=f"{NAME}a")
    third = management.withdraw(curator, f"{NAME}b", successor=f"{NAME}c")
    codes = [[each.code for each in made.warnings] for made in (first, second, third)]
    assert codes == [[], ["successor-circle"], ["successor-unknown"]]


def test_a_new_target_needs_the_resource_or_a_decision(management: Acts, curator: Caller) -> None:
    management.save(curator, NAME, Fields(target=TARGET, resource="r"))
    for change in (management.save, management.change):
        with pytest.raises(BindingConflict) as caught:
            change(curator, NAME, Fields(target=OTHER))
        assert (caught.value.code, caught.value.existing.target) == ("bound-otherwise", TARGET)
        with pytest.raises(BindingConflict, match="other-resource"):
            change(curator, NAME, Fields(target=TARGET, resource="another"), relocate=True)
    assert management.change(curator, NAME, Fields(target=OTHER, resource="r")).outcome == "relocated"
    assert management.change(curator, NAME, Fields(target=TARGET), relocate=True).outcome == "relocated"
    assert management.relocate(curator, NAME, Fields(target=OTHER)).after.target == OTHER


def test_a_patch_changes_only_the_given_fields(management: Acts, curator: Caller) -> None:
    alternates = {"en": "https://example.org/en"}
    management.save(curator, NAME, Fields(target=TARGET, metadata={"who": "A", "what": "B"}, alternates=alternates))
    changed = management.change(curator, NAME, Fields(metadata={"who": "", "dc.title": "T"}))
    assert dict(changed.after.metadata) == {"erc.what": "B", "dc.title": "T"}
    assert (changed.outcome, changed.after.target, dict(changed.after.alternates)) == (
        "updated",
        TARGET,
        alternates,
    )
    assert management.change(curator, NAME, Fields(redirect=307)).after.redirect == 307
    with pytest.raises(Missing) as caught:
        management.change(curator, "ark:12345/x5other", Fields(redirect=307))
    assert caught.value.code == "not-bound"
    created = management.save(curator, "ark:12345/x5other", Fields(metadata={"who": "A"}))
    assert (created.outcome, created.is_new, created.after.kind) == ("bound", True, "described")
    assert management.change(curator, "ark:12345/x5other", Fields(target=TARGET), relocate=True).after.kind == "located"


def test_all_alternates_can_be_replaced(management: Acts, curator: Caller) -> None:
    first, second = ({f"text/x{kind}{number}": TARGET for number in range(50)} for kind in "ab")
    management.save(curator, NAME, Fields(target=TARGET, alternates=first))
    saved = management.save(curator, NAME, Fields(target=TARGET, alternates=second), relocate=True)
    assert saved.after.alternates == second
    with pytest.raises(BindingError, match="51 alternates"):
        management.change(curator, NAME, Fields(alternates={**second, "en": TARGET}), relocate=True)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([{"status": "reserved"}], [("reserved", "reserved")], id="reserved"),
        pytest.param(
            [{"status": "reserved"}, {"target": TARGET}, {"status": "live"}],
            [("reserved", "reserved"), ("updated", "reserved"), ("bound", "live")],
            id="reserved, then live",
        ),
        pytest.param(
            [{"status": "reserved", "target": TARGET}, {"kind": "described"}],
            [("reserved", "reserved"), ("updated", "reserved")],
            id="reserved without its target",
        ),
        pytest.param(
            [{"status": "withdrawn", "reason": "gone"}, {"reason": "lost"}],
            [("withdrawn", "withdrawn"), ("updated", "withdrawn")],
            id="withdrawn at first",
        ),
        pytest.param(
            [{"target": TARGET}, {"target": OTHER, "status": "withdrawn", "reason": "gone"}],
            [("bound", "live"), ("relocated", "live"), ("withdrawn", "withdrawn")],
            id="moved and withdrawn",
        ),
        pytest.param(
            [
                {"target": TARGET},
                {"status": "withdrawn"},
                {"status": "live", "target": OTHER, "metadata": {"who": "A"}},
            ],
            [("bound", "live"), ("withdrawn", "withdrawn"), ("restored", "live"), ("relocated", "live")],
            id="restored and moved",
        ),
        pytest.param(
            [{"target": TARGET}, {"status": "withdrawn"}, {"metadata": {"who": "A"}}],
            [("bound", "live"), ("withdrawn", "withdrawn"), ("updated", "withdrawn")],
            id="described after its withdrawal",
        ),
    ],
)
def test_states_change_with_the_fields(
    management: Acts, curator: Caller, steps: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    saved = [management.save(curator, NAME, Fields(**steps[0]))]
    saved += [management.change(curator, NAME, Fields(**step), relocate=True) for step in steps[1:]]
    assert saved[-1].after == management.bindings.lookup(NAME)
    assert states(management) == expected
    if "kind" in steps[-1]:
        assert saved[-1].after.target is None


@pytest.mark.parametrize(
    ("first", "then", "code"),
    [
        pytest.param({"target": TARGET}, {"status": "reserved"}, "reserve-public", id="a public name"),
        pytest.param({"status": "withdrawn"}, {"status": "reserved"}, "reserve-public", id="a withdrawn name"),
        pytest.param({"status": "reserved"}, {"status": "withdrawn"}, "withdraw-reserved", id="a reserved name"),
        pytest.param({"target": TARGET}, {"reason": "gone"}, "reason-unwanted", id="a reason of a live name"),
        pytest.param({"status": "withdrawn"}, {"target": TARGET}, "withdrawn", id="a target of a withdrawn name"),
        pytest.param(
            {"target": TARGET, "resource": "r"},
            {"status": "live", "resource": "s"},
            "other-resource",
            id="another resource",
        ),
        pytest.param({"target": TARGET}, {"status": "gone"}, "list-state", id="an unknown state"),
        pytest.param({"target": TARGET}, {"target": "javascript:1"}, "target-scheme", id="a dangerous target"),
    ],
)
def test_forbidden_changes_write_nothing(
    management: Acts, curator: Caller, first: dict[str, Any], then: dict[str, Any], code: str
) -> None:
    before = management.save(curator, NAME, Fields(**first)).after
    for change in (management.change, management.save):
        with pytest.raises(BindingError) as caught:
            change(curator, NAME, Fields(**then), relocate=True)
        assert caught.value.code == code
    assert management.show(curator, NAME) == before
    assert audit_of(management) == [
        ("save", NAME, {"reserved": "reserved", "withdrawn": "withdrawn"}.get(first.get("status", ""), "bound")),
        ("change", NAME, code),
        ("save", NAME, code),
    ]


OPERATIONS: dict[str, Callable[[Acts, Caller, int | None], ChangeResult]] = {
    "save": lambda m, c, revision: m.save(c, NAME, Fields(target=OTHER), revision=revision, relocate=True),
    "change": lambda m, c, revision: m.change(c, NAME, Fields(metadata={"who": "A"}), revision=revision),
    "withdraw": lambda m, c, revision: m.withdraw(c, NAME, revision=revision),
    "relocate": lambda m, c, revision: m.relocate(c, NAME, Fields(target=OTHER), revision=revision),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_expect_a_revision(management: Acts, curator: Caller, operation: str) -> None:
    first = management.save(curator, NAME, Fields(target=TARGET), revision=0)
    for wrong in (0, 2):
        with pytest.raises(Stale):
            OPERATIONS[operation](management, curator, wrong)
    assert management.show(None, NAME) == first.after
    saved = OPERATIONS[operation](management, curator, 1)
    assert saved.after.revision == 2
    assert etag(saved.after) != etag(first.after)


def test_deleted_and_restored_names_expect_a_revision(management: Acts, curator: Caller) -> None:
    management.save(curator, NAME, Fields(status="reserved"))
    with pytest.raises(Stale):
        management.delete(curator, NAME, revision=2)
    deleted = management.delete(curator, NAME, revision=1)
    with pytest.raises(Missing):
        management.show(curator, NAME)
    again = management.save(curator, NAME, Fields(target=TARGET), revision=0)
    # The history goes on, so the entity tag is a new one.
    assert (again.after.revision, again.after) == (3, management.show(None, NAME))
    assert len({etag(deleted.after), etag(again.after)}) == 2
    management.withdraw(curator, NAME, reason="gone", successor="ark:12345/x5new")
    with pytest.raises(Stale):
        management.restore(curator, NAME, revision=3)
    assert management.restore(curator, NAME, revision=4).outcome == "restored"


def test_reserved_names_are_hidden_without_an_account(management: Acts, curator: Caller) -> None:
    management.save(curator, NAME, Fields(status="reserved"))
    assert management.show(curator, NAME).is_reserved
    with pytest.raises(Missing) as hidden:
        management.show(None, NAME)
    with pytest.raises(Missing) as unknown:
        management.show(None, f"{NAME}q")
    assert str(hidden.value).replace(NAME, "") == str(unknown.value).replace(f"{NAME}q", "")


def test_the_longest_recorded_beginning_of_a_name_is_shown(management: Acts, curator: Caller) -> None:
    management.save(curator, "ark:12345/x5", Fields(target="/short"))
    management.save(curator, "ark:12345/x5/a-b", Fields(target="/long"))
    management.save(curator, "ark:12345/x5/abc", Fields(status="reserved"))

    def shown(caller: Caller | None, name: str) -> str:
        return reading.show_longest(management.bindings, caller, name).identifier

    assert shown(None, "ark:/12345/x5/ab") == shown(None, "ark:12345/x5/abc/d") == "ark:12345/x5/ab"
    assert shown(curator, "ark:12345/x5/abc/d") == "ark:12345/x5/abc"
    assert shown(None, f"ark:12345/x5.{'x' * 5000}") == "ark:12345/x5"
    for name in ("ark:12345/x", "urn:isbn:0451450523"):
        with pytest.raises(Missing):
            reading.show_longest(management.bindings, None, name)


def test_the_owner_of_a_name_is_the_actor_of_its_first_change(management: Acts, curator: Caller) -> None:
    administrator = Caller(account=management.accounts.add("root", "administrator"))
    management.save(curator, "ark:12345/x5a", Fields(target="/1"))
    management.change(administrator, "ark:12345/x5a", Fields(redirect=307))
    management.bindings.bind("ark:12345/x5b", "/2")
    keys = ["ark:12345/x5a", "ark:12345/x5b", "ark:12345/x5c", "\u00e9"]
    assert management.bindings.store.first_actors(keys) == {"ark:12345/x5a": "jane"}


# Minting and creating -------------------------------------------------------------------------------------------------


def test_a_granted_prefix_is_a_shoulder(management: Acts, curator: Caller) -> None:
    administrator = Caller(account=management.accounts.add("root", "administrator"))
    for caller in (curator, administrator):
        saved = management.mint(caller, "12345/x5", Fields(target=TARGET))
        assert (saved.outcome, saved.is_new, len(saved.after.identifier)) == ("bound", True, 20)
        assert saved.after.identifier.startswith("ark:12345/x5")
    for unknown in ("ark:12345/x51", "ark:12345/x5/a"):
        with pytest.raises(Missing) as caught:
            management.mint(curator, unknown)
        assert (caught.value.code, caught.value.identifier) == ("shoulder-unknown", unknown)
    with pytest.raises(Missing):
        management.mint(administrator, "ark:12345/y7")
    management.bindings.prefixes.set("12345/x51", pattern="10^3+check")
    minted = management.mint(curator, "ark:/12345/x5-1", Fields(status="reserved")).after
    assert (minted.status, len(minted.identifier)) == ("reserved", len("ark:12345/x51") + 4)


def test_fields_can_depend_on_the_minted_name(management: Acts, curator: Caller) -> None:
    saved = management.mint(curator, "ark:12345/x5", lambda key: Fields(target=f"https://example.org/{key}"))
    assert saved.after.target == f"https://example.org/{saved.after.identifier}"


def test_names_are_created_all_or_none(management: Acts, curator: Caller) -> None:
    wanted = [NewName(Fields(target=TARGET), shoulder="ark:12345/x5")] * 3
    wanted += [NewName(Fields(target=TARGET), NAME), NewName(Fields(status="reserved"), "ark:12345/x5r")]
    made = management.create(curator, wanted)
    assert [each.outcome for each in made] == ["bound"] * 4 + ["reserved"]
    assert [each.is_new for each in made] == [True] * 5
    # The same request again: a name with the same values is unchanged.
    again = management.create(curator, wanted[3:])
    assert [(each.outcome, each.is_new) for each in again] == [("unchanged", False)] * 2
    count = management.bindings.count().number
    for refused, code in (
        (NewName(Fields(target=OTHER), NAME), "name-taken"),
        (NewName(Fields(target=TARGET), "ark:12345/y7a"), "not-granted"),
        (NewName(Fields(target=TARGET), shoulder="ark:12345/y7"), "not-granted"),
        (NewName(Fields(), "nonsense"), "no-scheme"),
        (NewName(), "empty"),
    ):
        with pytest.raises(BindingError) as caught:
            management.create(curator, [*wanted[:3], refused])
        assert caught.value.code == code, refused
    assert management.bindings.count().number == count


def test_the_audit_has_a_row_for_each_name_in_the_transaction_of_the_change(management: Acts, curator: Caller) -> None:
    made = management.create(curator, [NewName(Fields(target=TARGET), shoulder="ark:12345/x5")] * 2)
    management.save(curator, NAME, Fields(target=TARGET))
    management.save(curator, NAME, Fields(target=TARGET))
    management.withdraw(curator, "ark:/12345/x5-np1")
    with pytest.raises(Forbidden):
        management.delete(curator, "ark:12345/y7\N{RIGHT-TO-LEFT OVERRIDE}a")
    with pytest.raises(BindingError):
        management.withdraw(curator, "not a name\N{NULL}")
    keys = sorted(each.after.identifier for each in made)
    assert audit_of(management) == [
        *(("create", key, "bound") for key in keys),
        ("save", NAME, "bound"),
        ("withdraw", NAME, "withdrawn"),
        ("delete", "ark:12345/y7%E2%80%AEa", "not-granted"),
        ("withdraw", audit_of(management)[-1][1], "no-scheme"),
    ]
    assert "\0" not in str(audit_of(management))


def test_a_restoration_by_an_account_is_of_the_recorded_thing(management: Acts, curator: Caller) -> None:
    management.save(curator, NAME, Fields(target=TARGET, resource="r"))
    management.withdraw(curator, NAME)
    with pytest.raises(BindingConflict, match="other-resource"):
        management.restore(curator, NAME, resource="s")
    with pytest.raises(BindingConflict):
        management.bindings.restore(NAME)  # a program states the resource
    assert management.restore(curator, NAME).after.resource == "r"
