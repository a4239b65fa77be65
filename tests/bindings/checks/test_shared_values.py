"""Test which names share a number, a target or a title with a name that would be public."""

from __future__ import annotations

import pytest

from ararat.bindings.checks.shared_values import NewValues, shared_values
from ararat.bindings.collection import Bindings

OTHER = "ark:12345/x5old"
LONG = "Letter about the flood " * 20


def shared(bindings: Bindings, **values: object) -> list[tuple[str, str]]:
    found = shared_values(bindings, [NewValues(**values)])  # type: ignore[arg-type]
    return [(each.field, each.other.key) for each in found[0]]


@pytest.fixture(autouse=True)
def _recorded(bindings: Bindings) -> None:
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", metadata={"what": "Vase with birds"})


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"numbers": ("INV 3",)}, ["number"]),
        ({"numbers": ("INV 4",)}, []),
        ({"target": "https://museum.example/1"}, ["target"]),
        ({"target": "https://museum.example/10"}, []),
        ({"title": "  VASE with  Birds"}, ["title"]),
        ({"title": "Vase with bird"}, []),
        ({"title": ""}, []),
        (
            {"numbers": ("INV 3",), "target": "https://museum.example/1", "title": "Vase with birds"},
            ["number", "target", "title"],
        ),
        ({"key": OTHER, "numbers": ("INV 3",)}, []),
    ],
)
def test_a_value_of_another_name_is_shared(bindings: Bindings, values: dict[str, object], fields: list[str]) -> None:
    assert shared(bindings, **values) == [(field, OTHER) for field in fields]


def test_a_withdrawn_name_shares_nothing(bindings: Bindings) -> None:
    bindings.withdraw(OTHER, reason="twice")
    assert shared(bindings, numbers=("INV 3",), target="https://museum.example/1", title="Vase with birds") == []


def test_a_corrected_number_is_shared_and_the_number_before_is_not(bindings: Bindings) -> None:
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", numbers={"current": "INV 30", "further": "B7"})
    assert [shared(bindings, numbers=(each,)) for each in ("INV 30", "B7", "INV 3")] == [
        [("number", OTHER)],
        [("number", OTHER)],
        [],
    ]


def test_a_creator_and_a_code_are_not_titles(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5by", "https://museum.example/2", metadata={"who": "Noah"})
    bindings.bind("ark:12345/x5unknown", "https://museum.example/3", metadata={"what": "(:unkn)"})
    assert shared(bindings, title="Noah") == []
    after = bindings.lookup("ark:12345/x5unknown")
    assert after is not None
    values = NewValues.of(None, after)
    assert values is not None
    assert values.title == ""


def test_long_titles_are_compared_by_their_beginning(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5long", "https://museum.example/4", metadata={"what": LONG})
    assert shared(bindings, title=LONG.upper()) == [("title", "ark:12345/x5long")]


@pytest.mark.both_stores
@pytest.mark.parametrize(
    "text", ["A\0", "\ud800", "\u202e", "x" * 10**6], ids=["NUL", "a surrogate", "a bidirectional control", "long"]
)
def test_a_text_that_no_database_has_is_not_shared(bindings: Bindings, text: str) -> None:
    assert shared(bindings, numbers=(text, "INV 3"), target=text, title=text) == [("number", OTHER)]


def test_names_of_one_list_are_compared_with_each_other(bindings: Bindings) -> None:
    new = [NewValues(target="https://museum.example/new", label=f"row {number}") for number in (1, 2)]
    found = shared_values(bindings, new)
    assert [[(each.field, each.other.label) for each in several] for several in found] == [
        [("target", "row 2")],
        [("target", "row 1")],
    ]


def test_only_new_values_of_a_public_name_are_compared(bindings: Bindings) -> None:
    before = bindings.lookup(OTHER)
    bindings.bind(OTHER, "https://museum.example/1", resource="INV 3", metadata={"what": "Vase"})
    after = bindings.lookup(OTHER)
    assert before is not None
    assert after is not None
    assert NewValues.of(before, after) == NewValues(OTHER, title="Vase")
    bindings.reserve("ark:12345/x5r", "https://museum.example/5")
    reserved = bindings.lookup("ark:12345/x5r")
    assert reserved is not None
    assert NewValues.of(None, reserved) is None
    bindings.reserve("ark:12345/x5e", "https://museum.example/6", embargo="2099-01-01")
    due = bindings.lookup("ark:12345/x5e")
    assert due is not None
    assert NewValues.of(None, due) == NewValues("ark:12345/x5e", target="https://museum.example/6")
