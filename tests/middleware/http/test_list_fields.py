"""Only the first 64 elements of a list in a header field are read."""

from __future__ import annotations

import pytest

from ararat.middleware.http.list_fields import MAX_RANGES, shorten_lists


@pytest.mark.parametrize("name", ["HTTP_ACCEPT", "HTTP_ACCEPT_LANGUAGE", "HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"])
def test_a_list_has_at_most_64_elements(name: str) -> None:
    element = "a/b;q=0.1,"
    longest = (element * MAX_RANGES)[:-1]
    assert shorten_lists({name: longest}) == {}
    assert shorten_lists({name: f"{longest},a"}) == {name: longest}
    assert shorten_lists({name: element * 60_000}) == {name: longest}
    assert shorten_lists({name: "," * 60_000}) == {name: "," * (MAX_RANGES - 1)}


def test_other_fields_stay() -> None:
    assert shorten_lists({"HTTP_COOKIE": "a," * 100, "HTTP_ACCEPT": None, "wsgi.input": object()}) == {}
