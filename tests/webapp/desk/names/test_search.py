"""The lists of names that a text means, and their pages."""

from __future__ import annotations

import pytest

from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import Selection, select
from ararat.webapp.desk.names import search
from ararat.webapp.desk.names.search import Search


def prefixes(text, naans=("12345", "67890"), **filters):
    return [each.prefix for each in Search(text=text, filter=Selection(**filters)).chain("names", naans)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ark:12345/x5", ["ark:12345/x5"]),
        ("ark:/12345/X5-a", ["ark:12345/X5a"]),
        ("https://n2t.net/ark:/12345/x5", ["ark:12345/x5"]),
        ("12345/x5", ["ark:12345/x5", "ark:67890/12345/x5"]),
        ("x5", ["ark:12345/x5", "ark:67890/x5"]),
        ("URN:ISBN:978", ["urn:isbn:978"]),
        ("urn:isbn:0-306-40615-2", ["urn:isbn:0306406152", "urn:isbn:9780306406157"]),
        ("map of Yerevan", []),
        ("קשת", []),
        ("", []),
        ("\u202e", []),
    ],
)
def test_text_is_read_as_the_beginning_of_names(text, expected):
    assert set(expected) <= set(prefixes(text))
    assert not expected or prefixes(text)[0] == expected[0]
    assert expected or not prefixes(text)


def test_prefix_of_the_filter_and_text_must_both_match():
    assert prefixes("ark:12345/x5a", prefix="ark:12345/x5") == ["ark:12345/x5a"]
    assert prefixes("ark:12345/", prefix="ark:12345/x5") == ["ark:12345/x5"]
    assert prefixes("ark:67890/", prefix="ark:12345/x5") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("old.ex", ("http://old.ex", "https://old.ex")),
        ("old.example/a b", ()),
        ("https://Old.example/A", ("https://old.example/A",)),
        ("/local/path", ("/local/path",)),
        ("two words", ()),
        ("\u05d0", ()),
    ],
)
def test_text_is_read_as_the_beginning_of_a_target(text, expected):
    found = Search(text=text).chain("targets")
    assert [each.targets for each in found] == ([expected] if expected else [])
    assert all(each.host is None for each in found)


def test_single_letter_is_not_searched_in_titles():
    assert Search(text="a").chain("texts") == []
    assert [each.words for each in Search(text="a map").chain("texts")] == [("a", "map")]
    assert Search(text="!!").chain("texts") == []


def test_page_continues_over_all_selections(desk):
    for number in range(5):
        desk.bindings.bind(f"ark:12345/x{number}", "/a")
        desk.bindings.bind(f"ark:67890/x{number}", "/a")
    chain = [select(prefix="ark:12345/"), select(prefix="ark:00000/"), select(prefix="ark:67890/")]

    def read(selection, after, limit):
        return desk.bindings.list_names(selection, cursor=after, limit=limit)

    for limit in range(1, 12):
        seen, after = [], None
        while True:
            found = search.page(read, chain, after, limit)
            assert len(found.names) <= limit
            seen += [each.identifier for each in found.names]
            after = found.next
            if after is None:
                break
        assert seen == [f"ark:{naan}/x{number}" for naan in ("12345", "67890") for number in range(5)]


@pytest.mark.one_setup
@pytest.mark.parametrize("after", ["", "x", "7.", "-1.", "1", "0.nonsense", "99999999999999999999.", "\u0661."])
def test_position_of_another_list_is_refused(desk, after):
    def read(selection, after, limit):
        return desk.bindings.list_names(selection, cursor=after, limit=limit)

    with pytest.raises(BindingError, match="list-after"):
        search.page(read, [Selection()], after, 5)
