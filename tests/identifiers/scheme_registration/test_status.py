"""Changes of the status of a registration, and who can request them."""

from __future__ import annotations

from itertools import product

import pytest

from ararat.identifiers.scheme_registration import ACTORS, STATUSES, TRANSITIONS, Registration, transition, with_status

ALL = set(ACTORS)
UPDATERS = {"registrant", "designee", "iesg"}
MAY = {
    (None, "permanent"): ALL,
    (None, "provisional"): ALL,
    (None, "historical"): ALL,
    ("provisional", "provisional"): UPDATERS,
    ("provisional", "permanent"): ALL,
    ("provisional", "historical"): UPDATERS,
    ("permanent", "permanent"): UPDATERS,
    ("permanent", "historical"): {"iesg"},
    ("historical", "historical"): UPDATERS,
}


@pytest.mark.parametrize(("before", "after"), list(product([None, *STATUSES], STATUSES)))
def test_only_permitted_requesters_can_change_a_status(before, after):
    # SCH-045, SCH-046, SCH-047
    allowed = {actor for actor in ACTORS if transition(before, after, actor).allowed}
    assert allowed == MAY.get((before, after), set())


def test_every_change_is_listed_once():
    assert sorted(map(str, MAY)) == sorted(str((each.before, each.after)) for each in TRANSITIONS)


def test_a_refusal_names_the_permitted_requesters():
    assert transition("permanent", "historical", "registrant").reason == (
        "a change from permanent to historical can be requested by the IESG, not by the original registrant"
    )
    assert (
        transition("historical", "provisional", "iesg").reason
        == "a change from historical to provisional is not allowed"
    )


@pytest.mark.parametrize(
    ("before", "after", "actor", "message"),
    [
        ("eternal", "permanent", "iesg", "'eternal' is not a status"),
        ("permanent", "gone", "iesg", "'gone' is not a status"),
        ("permanent", "historical", "me", "'me' is not a requester"),
    ],
)
def test_an_unknown_status_or_requester_is_refused(before, after, actor, message):
    with pytest.raises(ValueError, match=message):
        transition(before, after, actor)


def test_a_note_keeps_the_old_status():
    # SCH-044
    record = Registration(name="atlas", status="Provisional", notes=("First.",))
    upgraded = with_status(record, "permanent", "expert")
    assert upgraded.status == "permanent"
    assert upgraded.notes == ("First.", "Moved from provisional to permanent, at the request of the Designated Expert.")
    assert with_status(upgraded, "permanent", "iesg") == upgraded


def test_a_change_that_is_not_allowed_changes_nothing():
    with pytest.raises(ValueError, match="can be requested by the IESG"):
        with_status(Registration(name="atlas", status="permanent"), "historical", "registrant")
