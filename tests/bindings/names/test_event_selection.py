"""Lists of the changes of all names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.event_selection import select_events
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.middleware import open_bindings


def shown(bindings, **conditions):
    return [
        (each.event.after.identifier[-2:], each.event.action)
        for each in bindings.list_events(select_events(**conditions)).events
    ]


@pytest.fixture
def changed(bindings):
    """Two names with changes of one name and of an operation, and a deleted name."""
    bindings.bind("ark:12345/x1", "https://old.example/1", resource="R1", actor="jane")
    bindings.bind("ark:12345/x2", "https://old.example/2", resource="R2", actor="ada")
    relocate_prefix(bindings, "old.example", "new.example", actor="ada")
    bindings.reserve("ark:67890/y1", actor="jane")
    bindings.delete("ark:67890/y1", actor="jane")
    bindings.reserve("ark:67890/y1", actor="jane")
    bindings.withdraw("ark:12345/x1", actor="ada")
    return bindings


def test_changes_of_one_name_are_listed_without_operations(changed):
    assert shown(changed) == [
        *(("x1", "withdrawn"), ("y1", "reserved"), ("y1", "deleted"), ("y1", "reserved")),
        *(("x2", "bound"), ("x1", "bound")),
    ]
    assert shown(changed, operation=1) == [("x2", "relocated"), ("x1", "relocated")]
    assert shown(changed, operation=2) == []


def test_each_page_of_changes_continues_the_one_before(changed):
    every, cursor = [], None
    while True:
        page = changed.list_events(cursor=cursor, limit=4)
        every += page.events
        if (cursor := page.next) is None:
            break
    assert every == changed.list_events().events


def test_each_event_has_the_binding_before_it(changed):
    events = [each.event for each in changed.list_events().events]
    assert [event.before and event.before.target for event in events] == [
        *("https://new.example/1", None, None, None, None, None),
    ]
    assert events[2].before is not None  # the deleted reservation
    assert events[1].before is None  # the reservation after it
    before = [each.event.before for each in changed.list_events(select_events(operation=1)).events]
    assert [each and each.target for each in before] == ["https://old.example/2", "https://old.example/1"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"actor": "ada"}, [("x1", "withdrawn"), ("x2", "bound")]),
        ({"prefix": "ark:/67890/Y-"}, []),
        ({"prefix": "ark:/67890/y-1", "action": "deleted"}, [("y1", "deleted")]),
        ({"action": "bound", "actor": "jane"}, [("x1", "bound")]),
        ({"since": datetime(2999, 1, 1, tzinfo=UTC)}, []),
        ({"before": datetime(2000, 1, 1, tzinfo=UTC)}, []),
    ],
)
def test_conditions_must_all_hold(changed, conditions, expected):
    assert shown(changed, **conditions) == expected


def test_times_are_compared_with_those_of_the_events(changed):
    last = changed.list_events(limit=1).events[0].event.when
    assert shown(changed, since=last) == [("x1", "withdrawn")]
    assert len(shown(changed, before=last)) == 5
    assert len(shown(changed, before=last + timedelta(seconds=1))) == 6


@pytest.mark.one_setup
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 7])
def test_pages_together_are_the_list(changed, limit):
    seen, below = [], None
    while True:
        page = changed.list_events(cursor=below, limit=limit)
        seen += page.events
        assert len(page.events) <= limit
        below = page.next
        if below is None:
            break
    assert seen == changed.list_events().events


@pytest.mark.parametrize(
    ("conditions", "code"), [({"action": "eaten"}, "list-action"), ({"prefix": "nonsense"}, "list-prefix")]
)
def test_wrong_condition_is_refused(conditions, code):
    with pytest.raises(BindingError, match=code):
        select_events(**conditions)


@pytest.mark.one_setup
@pytest.mark.parametrize("limit", [0, 1001, -1])
def test_wrong_limit_is_refused(bindings, limit):
    with pytest.raises(BindingError, match="list-limit"):
        bindings.list_events(limit=limit)


def test_file_has_no_events(tmp_path):
    (tmp_path / "b.csv").write_text("identifier,target\nark:12345/x,/x\n")
    with open_bindings(tmp_path / "b.csv") as bindings:
        assert bindings.list_events().events == []
