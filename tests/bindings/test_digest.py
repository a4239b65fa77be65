"""The facts that a person must act on, from one store at set times."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert

from ararat.bindings import digest
from ararat.bindings.backups.backup import back_up, record
from ararat.bindings.collection import Bindings
from ararat.bindings.digest import DigestFact, Recent, facts
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.names.errors import BindingsUnavailable, StatementStopped
from ararat.bindings.storage.tables.account_tables import accounts, tokens
from ararat.bindings.storage.tables.desk_tables import links, uploads
from ararat.bindings.storage.tables.log_tables import log_state

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def store(database: str, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(database, clock=lambda: NOW)


def fact(store: Bindings, code: str) -> DigestFact:
    [found] = [each for each in facts(store) if each.code == code]
    return found


def add(store: Bindings, table: Any, **values: Any) -> None:
    store.run_in_transaction(lambda transaction: transaction.connection.execute(insert(table).values(**values)))


def test_a_new_store_has_only_a_missing_backup(store: Bindings) -> None:
    found = facts(store)
    assert [each.code for each in found if each.problem and each.code != "disk"] == ["backup"]
    assert [each.code for each in found if each.code != "disk"] == ["backup", "links", "tokens", "imports"]


def test_a_backup_is_right_then_old_then_failed_then_right_again(
    database: str, store: Bindings, tmp_path: Path
) -> None:
    made = back_up(database, tmp_path / "backup", clock=lambda: NOW - timedelta(hours=35))
    record(database, made)
    assert fact(store, "backup") == DigestFact("backup", False, 35.0, "The last backup is 35 hours old.")
    record(database, made._replace(began=NOW - timedelta(hours=37)))
    assert (fact(store, "backup").problem, fact(store, "backup").number) == (True, 37)
    record(database, None, "the disk is full", clock=lambda: NOW - timedelta(hours=1))
    assert fact(store, "backup").message == "The last backup failed: the disk is full."
    record(database, made._replace(began=NOW - timedelta(minutes=1)))
    assert not fact(store, "backup").problem
    assert fact(store, "backup").message == "The last backup is 1 minute old."


def test_a_backup_that_another_program_recorded_is_a_problem(store: Bindings) -> None:
    store.run_in_transaction(lambda transaction: transaction.set_setting("backup", "[1]"))
    assert "Another program" in fact(store, "backup").message


@pytest.mark.parametrize(("free", "problem"), [(10**11, False), (10**8, True), (4 * 10**9, True)])
def test_a_disk_that_is_almost_full(
    free: int, problem: bool, tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "bindings.sqlite")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=10**11, free=free))
    assert fact(store, "disk").problem is problem


ROUND = {"time": "2026-11-26T10:00:00Z", "days": 30.0, "due": 9, "overdue": 0, "host": "a.test", "at_host": 9}


@pytest.mark.parametrize(
    ("recorded", "problem", "message", "fix"),
    [
        ({"overdue": 0, "seconds": 9}, False, "0 targets were not traced in the last round.", ""),
        (
            {"overdue": 1, "seconds": 9},
            True,
            "1 target was not traced in the last round.",
            "run ararat rounds more often",
        ),
        (
            {"overdue": 10_001, "seconds": 10**7},
            True,
            "More than 10,000 targets were not traced in the last round.",
            "a round takes 116 days and begins each 30 days: set a shorter --pause, or more --days",
        ),
    ],
)
def test_targets_that_missed_a_round(
    store: Bindings, recorded: dict[str, int], problem: bool, message: str, fix: str
) -> None:
    store.run_in_transaction(
        lambda transaction: transaction.set_setting(digest.LAST_ROUND, json.dumps(ROUND | recorded))
    )
    assert fact(store, "overdue") == DigestFact("overdue", problem, recorded["overdue"], message, fix)


def test_a_round_that_another_program_recorded_is_a_problem(store: Bindings) -> None:
    store.run_in_transaction(lambda transaction: transaction.set_setting(digest.LAST_ROUND, '{"days": null}'))
    assert "Another program" in fact(store, "overdue").message


def test_dead_links_of_live_names_count(store: Bindings) -> None:
    now = rfc3339(NOW)
    for name, target in (
        ("x1", "https://example.org/1"),
        ("x2", "https://example.org/2"),
        ("x3", "https://example.org/3"),
    ):
        store.bind(f"ark:12345/{name}", target)
        traced = target if name != "x3" else "https://example.org/before"
        add(
            store,
            links,
            key=f"ark:12345/{name}",
            target=traced,
            state="dead",
            code="c",
            sentence="s",
            since=now,
            traced=now,
        )
    store.withdraw("ark:12345/x2")
    assert fact(store, "links")[:4] == ("links", True, 1, "1 dead link.")


def test_a_log_without_the_changes_of_a_day_is_a_problem(database: str, open_store: Callable[..., Bindings]) -> None:
    early = open_store(database, clock=lambda: NOW - 2 * DAY)
    for name, value in (("key", "k"), ("head", "h"), ("searched", "0")):
        add(early, log_state, name=name, value=value)
    store = open_store(database, clock=lambda: NOW)
    store.bind("ark:12345/x1", "https://example.org/1")
    assert fact(store, "log")[1:3] == (False, 1)
    early.bind("ark:12345/x2", "https://example.org/1")
    early.reserve("ark:12345/x3")
    assert fact(store, "log")[1:3] == (True, 2)


def test_tokens_that_expire_soon_count(store: Bindings) -> None:
    add(store, accounts, id=1, name="jane", role="curator", created=rfc3339(NOW))
    add(store, accounts, id=2, name="joe", role="curator", created=rfc3339(NOW), disabled=rfc3339(NOW))
    for number, (account, days, revoked) in enumerate(
        [(1, 3, None), (1, 13, None), (1, 15, None), (1, -1, None), (1, 3, rfc3339(NOW)), (2, 3, None)]
    ):
        expires = rfc3339(NOW + days * DAY)
        row = {"account": account, "label": "t", "hash": str(number), "created": rfc3339(NOW), "revoked": revoked}
        add(store, tokens, **row, expires=expires)
    assert fact(store, "tokens")[1:4] == (True, 2, "2 tokens expire within 14 days.")


def test_uploaded_tables_wait_after_a_day(store: Bindings) -> None:
    for stage, age in (("preview", 2), ("new", 2), ("import", 2), ("preview", 0)):
        row = {"account": 1, "name": "n.csv", "data": b"", "lines": 1, "reading": "{}", "created": rfc3339(NOW)}
        add(store, uploads, **row, stage=stage, changed=rfc3339(NOW - age * DAY))
    assert fact(store, "imports")[1:3] == (True, 2)


def test_many_dead_links_and_unpublished_changes_are_counted_up_to_a_limit(
    store: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("key", "k"), ("head", "h"), ("searched", "0")):
        add(store, log_state, name=name, value=value)
    now = rfc3339(NOW)
    for number in range(4):
        name, target = f"ark:12345/x{number}", f"https://example.org/{number}"
        store.bind(name, target)
        row = {"key": name, "target": target, "state": "dead", "code": "c", "sentence": "s"}
        add(store, links, **row, since=now, traced=now)
    monkeypatch.setattr(digest, "MAX_COUNTED", 2)
    for name in ("_DEAD", "_UNPUBLISHED_EVENTS"):
        compiled = getattr(digest, name).compile(compile_kwargs={"literal_binds": False})
        assert 10_001 in compiled.params.values()
    assert (fact(store, "links").number, fact(store, "log").number) == (4, 4)
    assert fact(store, "links").message == "More than 2 dead links."
    assert fact(store, "log").message.startswith("The log lacks more than 2 changes, the first of 2026-")


@pytest.mark.parametrize(
    "error",
    [StatementStopped("the limit"), BindingsUnavailable("away"), ValueError("no time")],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("code", ["links", "tokens", "imports"])
def test_a_fact_that_cannot_be_found_out_is_a_problem_and_leaves_the_others(
    store: Bindings, code: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(store: Any, now: datetime) -> Any:
        raise error

    before = {each.code: each for each in facts(store)}
    monkeypatch.setitem(digest._SUBJECTS, code, fail)
    after = {each.code: each for each in facts(store)}
    assert (after[code].problem, after[code].number, bool(after[code].fix)) == (True, None, True)
    others = {*before} - {code, "disk"}
    assert [after[each] for each in others] == [before[each] for each in others]
    assert {each.code for each in Recent(store).facts()} == {*before}


def test_recent_facts_are_kept_for_a_minute_and_problems_without_a_store(
    store: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 59.0, 61.0])
    recent = Recent(store, clock=lambda: next(times))
    first = recent.facts()
    assert recent.facts() is first

    def fail(bindings: Bindings) -> list[DigestFact]:
        raise BindingsUnavailable("away")

    monkeypatch.setattr(digest, "facts", fail)
    now = {each.code: each.problem for each in recent.facts() if each.code != "disk"}
    assert now == dict.fromkeys(("backup", "links", "tokens", "imports"), True)
