"""A reserved name with an embargo is live from that time on, by the clock, in each store and for each reader."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingConflict, BindingError
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.selection import select
from ararat.bindings.open import open_bindings
from ararat.bindings.publication import publish_due

NAME, OTHER = "ark:12345/x1", "ark:12345/x2"
DATE = datetime(2999, 3, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = DATE - timedelta(days=90)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reserved(database: str, clock: Clock) -> Iterator[Bindings]:
    """Return bindings with one name that is live from :data:`DATE`, and one that is reserved without a date."""
    with open_bindings(database, create=True, clock=clock) as bindings:
        bindings.bind(NAME, "https://example.org/1", embargo="2999-03-01", metadata={"what": "Map"}, resource="map 1")
        bindings.reserve(OTHER, "https://example.org/2")
        yield bindings


def states(bindings: Bindings) -> tuple[object, ...]:
    """Return what each kind of reader sees."""
    with bindings.store.snapshot() as snapshot:
        of_snapshot = {each.identifier: each.status for each in snapshot.bindings()}
        bound = snapshot.bound([NAME, OTHER])
    found = bindings.lookup(NAME)
    assert found
    ranges = bindings.store.ranges()
    return (
        found.status,
        of_snapshot[NAME],
        NAME in bound,
        bindings.count_names(by="state"),
        [each.identifier for each in bindings.list_names(select(state="live")).names],
        [each.identifier for each in bindings.list_names(select(state="reserved")).names],
        [each.identifier for each in bindings.list_names(select(state="live", text="map")).names],
        [each.identifier for each in ranges.live("ark:", "ark;", 10)],
    )


BEFORE = ("reserved", "reserved", False, {"reserved": 2}, [], [NAME, OTHER], [], [])
AFTER = ("live", "live", True, {"live": 1, "reserved": 1}, [NAME], [OTHER], [NAME], [NAME])


def test_each_reader_of_a_database_goes_by_the_clock(reserved: Bindings, clock: Clock) -> None:
    assert states(reserved) == BEFORE
    clock.now = DATE - timedelta(microseconds=1)
    assert states(reserved) == BEFORE
    clock.now = DATE
    assert states(reserved) == AFTER
    assert len(reserved.history(NAME)) == 1


def test_the_event_is_written_once_also_late(reserved: Bindings, clock: Clock) -> None:
    clock.now = DATE + timedelta(days=40)
    seen = reserved.lookup(NAME)
    assert publish_due(reserved.store) == [NAME]
    assert publish_due(reserved.store) == []
    assert reserved.lookup(NAME) == seen
    *_, event = reserved.history(NAME)
    assert (event.action, event.when, event.after.recorded, event.after.embargo) == ("bound", DATE, clock.now, None)
    assert states(reserved) == AFTER


def test_a_change_after_the_date_writes_the_publication_first(reserved: Bindings, clock: Clock) -> None:
    clock.now = DATE + timedelta(hours=1)
    seen = reserved.lookup(NAME)
    assert seen
    assert reserved.withdraw(NAME, reason="sold", revision=seen.revision) == "withdrawn"
    assert [(each.action, each.revision) for each in reserved.history(NAME)] == [
        ("reserved", 1),
        ("bound", 2),
        ("withdrawn", 3),
    ]
    assert publish_due(reserved.store) == []


def test_the_date_moves_and_goes_before_it_is_reached(reserved: Bindings, clock: Clock) -> None:
    assert reserved.reserve(NAME, embargo="2999-04-01T00:00:00+02:00") == "updated"
    found = reserved.lookup(NAME)
    assert found
    assert found.embargo == datetime(2999, 3, 31, 22, tzinfo=UTC)
    assert reserved.reserve(NAME, embargo="2999-04-01T00:00:00+02:00") == "unchanged"
    assert reserved.reserve(NAME, embargo="") == "updated"
    clock.now = DATE + timedelta(days=900)
    assert states(reserved)[0] == "reserved"
    assert reserved.delete(NAME) == "deleted"


def test_a_reached_date_stays(reserved: Bindings, clock: Clock) -> None:
    clock.now = DATE
    for embargo in ("", "2999-09-01"):
        with pytest.raises(BindingConflict) as refused:
            reserved.bind(NAME, "https://example.org/1", embargo=embargo)
        assert refused.value.code == "embargo-reached"
    with pytest.raises(BindingConflict, match="public"):
        reserved.delete(NAME)
    with pytest.raises(BindingConflict):
        reserved.reserve(NAME)


def test_a_person_publishes_earlier(reserved: Bindings, clock: Clock) -> None:
    assert reserved.bind(NAME, "https://example.org/1", resource="map 1") == "bound"
    found = reserved.lookup(NAME)
    assert found
    assert (found.status, found.embargo) == ("live", None)
    clock.now = DATE
    assert publish_due(reserved.store) == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (Fields(target="/x", embargo="2020-01-01"), "embargo-past"),
        (Fields(target="/x", embargo="tomorrow"), "time-text"),
        (Fields(target="/x", embargo="2999-13-01"), "time-text"),
        (Fields(target="/x", embargo="2999-03-01T00:00:00"), "time-text"),
        (Fields(target="/x", embargo="2999-03-01", status="live"), "embargo-state"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.embargo),
)
def test_a_wrong_date_is_refused(reserved: Bindings, fields: Fields, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        reserved.bind("ark:12345/x3", fields)
    assert refused.value.code == code
    assert ".000000Z" not in str(refused.value)


def test_a_served_file_goes_by_the_clock(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "names.csv"
    path.write_text(
        "identifier,target,status,embargo,what\n"
        f"{NAME},https://example.org/1,reserved,2999-03-01,Map\n{OTHER},https://example.org/2,reserved,,\n"
    )
    with open_bindings(path, clock=clock) as bindings:
        assert states(bindings)[:6] == BEFORE[:6]
        clock.now = DATE
        assert states(bindings)[3:] == AFTER[3:]
        assert states(bindings)[:2] == ("live", "live")
