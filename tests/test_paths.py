"""Count the functions, files, frames and SQL statements of each frequent act, and hold them below ceilings.

The counted functions are those of our own that have a name, also those of templates. Comprehensions, generator
expressions and lambdas have none that a reader could look up. The second act is counted, because the first one imports
modules and compiles templates.
"""

from __future__ import annotations

import contextlib
import operator
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from werkzeug.test import Client

import ararat
from ararat.bindings import rule_cache
from ararat.identifiers import parse
from ararat.middleware import Bindings, ResolverMiddleware, import_table, open_bindings
from ararat.middleware.http import redirect_cache
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from tests.packages import PACKAGES

_ROOT = Path(ararat.__file__).parent
# The ceilings have no functions of readers of files and networks.
_OWN = tuple(f"{_ROOT / each}/" for each in {*PACKAGES, "templates"} - {"spreadsheets", "net", "cli"})
_CHANGES_AND_QUERIES = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_ONCE_A_SECOND = ("Readers._tidy", "SQLite._check_log")
NAME = "ark:12345/x5"
TARGET = "https://example.org/"


class Ceiling(NamedTuple):
    """The most functions, files, frames and SQL statements of an act."""

    functions: int
    files: int
    frames: int
    statements: int


CEILINGS = {
    "redirect": Ceiling(25, 17, 7, 1),
    "put": Ceiling(187, 60, 13, 9),
    # With the lookup of other names with the new target, about which the form asks before it changes a public name,
    # and with the question who learns of a name.
    "edit": Ceiling(207, 68, 14, 9),
    # With the labels of elements and the words of coded values in the language of the page.
    "page": Ceiling(192, 73, 14, 7),
    # With the title of the name without its code, and the name of the holder in the language of the page.
    "paste": Ceiling(337, 87, 20, 2),
    "table": Ceiling(162, 42, 13, 11),
}
"""Lower a ceiling with each step that makes an act shorter. The table has two rows. Each page keeps the language of its
URL in its links and forms, which takes two functions."""
MOST_CALLS = 18
"""The most calls of own functions for each further row of a table."""


@dataclass
class Walk:
    """The calls of an act: our own functions by file and name, its deepest stack of them, and its SQL statements."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    frames: int = 0
    statements: list[str] = field(default_factory=list)
    _connections: set[sqlite3.Connection] = field(default_factory=set)

    def __and__(self, other: Walk) -> Walk:
        """Return what two walks have in common."""
        shorter = min(self.statements, other.statements, key=len)
        return Walk(self.calls & other.calls, min(self.frames, other.frames), shorter)

    @property
    def ceiling(self) -> Ceiling:
        return Ceiling(len(self.calls), len({file for file, _ in self.calls}), self.frames, len(self.statements))

    @classmethod
    def of(cls, act: Callable[[], object]) -> Walk:
        """Carry out an act, and return its functions and statements."""
        walk = cls()
        sys.setprofile(walk._note)
        try:
            act()
        finally:
            sys.setprofile(None)
            for connection in walk._connections:
                with contextlib.suppress(sqlite3.ProgrammingError):  # closed meanwhile
                    connection.set_trace_callback(None)
        return walk

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and _is_own(frame.f_code):
            self.calls[frame.f_code.co_filename, frame.f_code.co_qualname] += 1
            self.frames = max(self.frames, sum(_is_own(each.f_code) for each in _stack(frame)))
        elif event == "c_call" and argument.__name__ in ("execute", "executemany"):
            # This is before the call, so that its statement is noted.
            used = argument.__self__
            connection = used.connection if isinstance(used, sqlite3.Cursor) else used
            if isinstance(connection, sqlite3.Connection) and connection not in self._connections:
                self._connections.add(connection)
                connection.set_trace_callback(self._note_statement)

    def _note_statement(self, text: str) -> None:
        # SQLite repeats a statement for each of its triggers.
        if _CHANGES_AND_QUERIES.match(text) and text not in self.statements[-1:]:
            self.statements.append(text)


def _is_own(code: CodeType) -> bool:
    return code.co_filename.startswith(_OWN) and not (
        code.co_name.startswith("<") or code.co_qualname in _ONCE_A_SECOND
    )


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


class Site:
    """A site with an account of a curator, and the acts of a reader and of the curator."""

    def __init__(self, folder: Path, bindings: Bindings) -> None:
        self._folder, self._bindings, self._numbers = folder, bindings, count(1)
        accounts = Accounts(bindings)
        jane = accounts.add("jane", "curator", [NAME])
        # Each name is that of a usual museum: a target, an inventory number and a citation.
        for number in range(5):
            bindings.bind(f"{NAME}{number}", target=f"{TARGET}{number}", metadata={"who": "Jane", "what": "A vase"})
        app = create_app(bindings, trace_elsewhere=False)
        self._resolver = Client(ResolverMiddleware(app, bindings))
        self._browser = app.test_client()
        self._browser.set_cookie("ararat", accounts.sessions.start(jane))
        self._program, self._token = app.test_client(), accounts.tokens.create("jane", "test")[1]
        found = re.search(r'name="csrf_token" value="(\w+)"', self._browser.get("/sign-out").text)
        assert found
        self._form = {"csrf_token": found[1]}

    def redirect(self) -> None:
        answer = self._resolver.get(f"/{NAME}{next(self._numbers)}")
        assert answer.status_code == 302, answer.text

    def put(self) -> None:
        number = next(self._numbers)
        answer = self._program.put(
            f"/api/v1/names/{NAME}/{number}",
            json={"target": f"{TARGET}{number}"},
            headers={"Authorization": f"Bearer {self._token}"},
        )
        assert answer.status_code == 201, answer.text

    def edit(self) -> None:
        number = next(self._numbers)
        form = {"name": f"{NAME}0", "revision": str(number), "target": f"{TARGET}moved/{number}", "same": "on"}
        answer = self._browser.post("/desk/name/target", data={**self._form, **form})
        assert answer.status_code == 303, answer.text

    def page(self) -> None:
        assert "A vase" in self._browser.get(f"/desk/name?name={NAME}0").text

    def paste(self) -> None:
        assert "The name is recorded here" in self._browser.get(f"/?q={NAME}0").text

    def table(self, rows: int = 2) -> None:
        file = self._folder / "table.csv"
        numbers = [next(self._numbers) for _ in range(rows)]
        file.write_text("".join(["identifier,target\n", *(f"{NAME}/t{each},{TARGET}{each}\n" for each in numbers)]))
        assert import_table(self._bindings, file).added == rows


@pytest.fixture
def site(tmp_path: Path, monkeypatch) -> Iterator[Site]:
    # A walk of a busy machine takes longer than these caches last, and then each would look for changes.
    monkeypatch.setattr(redirect_cache, "LOCAL_SECONDS", 3600.0)
    monkeypatch.setattr(rule_cache, "SECONDS_HELD", 3600.0)
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        yield Site(tmp_path, bindings)


@pytest.mark.parametrize("act", CEILINGS)
def test_an_act_stays_below_its_ceiling(site, act, monkeypatch):
    carry_out = getattr(site, act)
    carry_out()
    # Work is done after some seconds, too. On a busy machine, each walk takes seconds.
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    walk = Walk.of(carry_out) & Walk.of(carry_out) & Walk.of(carry_out)
    listed = "\n".join(sorted(f"{Path(file).relative_to(_ROOT)} {name}" for file, name in walk.calls))
    ceiling = CEILINGS[act]
    assert all(map(operator.le, walk.ceiling, ceiling)), f"{walk.ceiling} is more than {ceiling}:\n{listed}"


def test_a_further_row_of_a_table_has_few_calls(site):
    site.table()
    short, long = (Walk.of(lambda rows=rows: site.table(rows)).calls.total() for rows in (2, 12))
    assert long - short <= 10 * MOST_CALLS


def test_functions_with_names_are_counted():
    def act() -> None:
        assert parse("ark:12345/x5").normal_form == f"{NAME}"

    names = {name for _, name in Walk.of(act).calls}
    assert "Normalized.__init__" in names
    assert not any("<" in name for name in names)
