from __future__ import annotations

import io
import sys

import pytest

from ararat.cli.progress import Progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_replaces_the_line_before_and_is_cleared_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with Progress("names") as progress:
        progress.count(1000)
        progress.show("events: 1 row")
    assert screen.getvalue() == "\r1,000 names\x1b[K\revents: 1 row\x1b[K\r\x1b[K"


@pytest.mark.parametrize(
    ("stream", "shown"),
    [pytest.param(io.StringIO, True, id="in a pipe"), pytest.param(Screen, False, id="with other output")],
)
def test_the_progress_is_not_shown(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], shown: bool) -> None:
    monkeypatch.setattr(sys, "stderr", written := stream())
    with Progress(shown=shown) as progress:
        progress.count(1)
    assert written.getvalue() == ""
