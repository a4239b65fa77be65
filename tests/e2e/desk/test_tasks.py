"""Each of the twelve tasks of docs/desk.md takes less than a minute. Print the seconds and the number of actions."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts

from .tasks import TASKS, Hand, fill

PAGE = Path(__file__).parents[3] / "docs" / "desk.md"
SECONDS_PER_ACTION = 3
"""The time of a practised person for one action: to find a field or button, and to use it."""
ACTIONS: dict[str, int] = {
    "mint": 5,
    "bind": 6,
    "title": 6,
    "move": 6,
    "withdraw": 7,
    "table": 6,
    "links": 5,
    "changes": 4,
    "undo": 4,
    "grant": 5,
    "token": 4,
    "export": 2,
}
"""The clicks, selections and filled fields of each task."""


def test_the_page_describes_each_task_with_its_picture() -> None:
    text = PAGE.read_text("utf-8")
    assert re.findall(r"\(desk-([a-z]+)\.webp\)", text) == list(TASKS) == list(ACTIONS)
    # Each task has its own section.
    assert len(re.findall(r"(?ms)^## (?:(?!^## ).)*?\(desk-[a-z]+\.webp\)", text)) == len(TASKS)
    for name in TASKS:
        picture = PAGE.with_name(f"desk-{name}.webp")
        assert 2_000 < picture.stat().st_size < 60_000


@pytest.mark.long
@pytest.mark.parametrize("name", TASKS)
def test_a_task_takes_less_than_a_minute(
    serve_ararat: Callable[..., Any], tmp_path: Path, browser: Browser, page_watch: Any, name: str
) -> None:
    database, task = tmp_path / "desk.sqlite", TASKS[name]
    with open_bindings(database, create=True) as bindings:
        fill(bindings)
        server = serve_ararat("--no-trace-elsewhere", "--database", str(database))
        page_watch.origins.add(server.origin)
        accounts = Accounts(bindings)
        account = accounts.get(task.account)
        assert account
        with browser.new_context(base_url=server.origin) as context:
            page_watch.watch(context)
            context.add_cookies([{"name": "ararat", "value": accounts.sessions.start(account), "url": server.origin}])
            page = context.new_page()
            page.goto("/desk")
            hand, started = Hand(page), time.perf_counter()
            task.steps(hand)
            seconds = time.perf_counter() - started
        server.stop()
        assert task.is_done(bindings)
    print(f"{name}: {hand.actions} actions, {seconds:.1f} s of the desk")
    assert hand.actions == ACTIONS[name]
    assert seconds + hand.actions * SECONDS_PER_ACTION < 60
