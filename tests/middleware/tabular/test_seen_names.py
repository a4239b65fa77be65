"""What a table has said of which name so far comes back as it was noted."""

from __future__ import annotations

from contextlib import closing

import pytest

from ararat.middleware.tabular.seen_names import Noted


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\\u0041", "a'b;--", "{}", ""])
def test_whatever_a_file_or_a_name_is_called_comes_back(text: str) -> None:
    with closing(Noted()) as noted:
        noted.note({f"ark:12345/{text}": f"{text}.csv, line 2", "ark:12345/x": "names.csv, line 3"})
        noted.note({})
        assert noted.among([f"ark:12345/{text}", "ark:12345/y"]) == {f"ark:12345/{text}": f"{text}.csv, line 2"}
