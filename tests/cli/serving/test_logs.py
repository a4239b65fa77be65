"""Logs: one form at a time, and nothing raw in it."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable

import pytest

from ararat.cli.serving.logs import log_plainly


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[], io.StringIO]:
    """begin() gives what is written to standard error from now on, as if nobody had set up logging."""

    def begin() -> io.StringIO:
        # In the test itself, since pytest adds handlers of its own for as long as it runs.
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr("sys.stderr", io.StringIO())
        return sys.stderr  # type: ignore[return-value]

    return begin


def test_a_line_of_a_log_cannot_be_forged(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(levelname)s %(message)s")
    logging.getLogger("ararat.test").warning("for %s", "x\nERROR all is lost\x1b[2J\u202e")
    assert written.getvalue() == "WARNING for x\\u{a}ERROR all is lost\\u{1b}[2J\\u{202e}\n"


def test_a_traceback_is_kept_line_by_line_and_escaped(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(message)s")
    try:
        raise ValueError("\x1b[31m")
    except ValueError:
        logging.getLogger("ararat.test").exception("it failed")
    lines = written.getvalue().splitlines()
    assert lines[0] == "it failed"
    assert lines[-1] == "ValueError: \\u{1b}[31m"


def test_a_server_changes_the_form_and_adds_no_second_line(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("ararat: %(message)s")
    log_plainly("server: %(message)s")
    logging.getLogger("ararat.test").warning("one")
    assert written.getvalue() == "server: one\n"
