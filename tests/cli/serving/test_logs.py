"""Logs: one format at a time, without raw text."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable

import pytest

from ararat.cli.serving.logs import log_plainly


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[], io.StringIO]:
    """begin() returns the following output on standard error, as if logging was not set up."""

    def begin() -> io.StringIO:
        # In the test itself, because pytest adds its own handlers while it runs.
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr("sys.stderr", io.StringIO())
        return sys.stderr  # type: ignore[return-value]

    return begin


def test_a_log_line_cannot_be_forged(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(levelname)s %(message)s")
    logging.getLogger("ararat.test").warning("for %s", "x\nERROR all is lost\x1b[2J\u202e")
    assert written.getvalue() == "WARNING for x\\u{a}ERROR all is lost\\u{1b}[2J\\u{202e}\n"


def test_a_traceback_is_escaped_line_by_line(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("%(message)s")
    try:
        raise ValueError("\x1b[31m")
    except ValueError:
        logging.getLogger("ararat.test").exception("it failed")
    lines = written.getvalue().splitlines()
    assert lines[0] == "it failed"
    assert lines[-1] == "ValueError: \\u{1b}[31m"


def test_serve_sets_the_log_format_once(begin: Callable[[], io.StringIO]) -> None:
    written = begin()
    log_plainly("ararat: %(message)s")
    log_plainly("server: %(message)s")
    logging.getLogger("ararat.test").warning("one")
    assert written.getvalue() == "server: one\n"
