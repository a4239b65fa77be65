"""Markers of exports in files of any content."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ararat.bindings.storage.name_ranges import RangeState
from ararat.middleware.edge.marker import Marker, read_marker

NOW = datetime(2026, 11, 23, 9, 0, 0, 5, UTC)
MARKER = Marker(
    format="nginx", prefix="https://a.example/r", exported=NOW, state=RangeState(3, 7, NOW), redirects=2, omitted=1
)


@pytest.mark.one_setup
@pytest.mark.parametrize("text", ["# {}\n", '{{"comment": "{}"}}', '\u202e\0"{}"'])
def test_a_marker_is_found_in_any_comment(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text.format(MARKER), "utf-8")
    assert read_marker(tmp_path / "file") == MARKER


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0" * 9000 + str(MARKER),
        str(MARKER).replace("2026-11", "2026-99"),
        str(MARKER).replace("names=3", "names=x"),
        str(MARKER).replace("09:00:00.000005Z", "09:00"),
        str(MARKER).replace("exported=2026-11-23T09:00:00.000005Z", "exported=9999-12-31T23:59:59-05:00"),
        str(MARKER).replace("changed=2026-11-23T09:00:00.000005Z", "changed=9999-12-31T23:59:59.999999Z"),
        str(MARKER).replace("ararat-edge 1", "ararat-edge 2"),
    ],
)
def test_other_texts_have_no_marker(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text, "utf-8")
    assert read_marker(tmp_path / "file") is None
