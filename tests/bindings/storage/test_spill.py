from __future__ import annotations

from contextlib import closing

import pytest

from ararat.bindings.storage.spill import SeenNames


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\\u0041", "a'b;--", "{}", ""])
def test_the_line_of_each_known_name_is_returned(text: str) -> None:
    with closing(SeenNames()) as seen:
        seen.add([(f"ark:12345/{text}", f"{text}.csv, line 2"), ("ark:12345/x", "names.csv, line 3")])
        seen.add([])
        assert seen.lookup([f"ark:12345/{text}", "ark:12345/y"]) == {f"ark:12345/{text}": f"{text}.csv, line 2"}
