"""Put names and prefixes on hold, release and list them: by the library and the commands, in each kind of store."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ararat.bindings import holding
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import copy_store
from ararat.bindings.holding import Of
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.binding import Hold
from ararat.bindings.names.errors import BindingError, Stale, TableError
from ararat.bindings.names.prefixes.holds import Holds, read_end
from ararat.bindings.names.prefixes.prefixes import record
from ararat.bindings.names.selection import select
from ararat.bindings.operations.undo import undo_change
from ararat.bindings.served_file.copy import read
from ararat.bindings.served_file.table import read_table
from ararat.cli import main
from ararat.middleware import resolve

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
END = NOW + timedelta(days=30)
NAME = "ark:12345/x1"


@pytest.fixture
def store(database: str, open_store: Callable[..., Bindings]) -> Bindings:
    bindings = open_store(database, clock=lambda: NOW)
    bindings.bind(NAME, "https://example.org/1")
    return bindings


PREFIX = "ark:12345/x"
CONDITIONAL: dict[str, Callable[[Bindings, str, Of, int], object]] = {
    "hold": lambda store, of, kind, revision: holding.hold(store, of, END, "new", kind=kind, revision=revision),
    "release": lambda store, of, kind, revision: holding.release(store, of, kind=kind, revision=revision),
    "set": lambda store, of, kind, revision: (
        store.prefixes.set(of, what="new", revision=revision)
        if kind == "prefix"
        else store.relocate(of, "https://example.org/2", revision=revision)
    ),
}


@pytest.mark.parametrize(("verb", "kind"), [*product(CONDITIONAL, ["name", "prefix"])])
def test_a_name_and_a_prefix_change_only_at_the_expected_revision(store: Bindings, verb: str, kind: Of) -> None:
    of = NAME if kind == "name" else PREFIX
    holding.hold(store, of, END, "why", kind=kind)
    [held] = holding.current(store)
    for wrong in (0, held.revision - 1, held.revision + 1):
        with pytest.raises(Stale) as caught:
            CONDITIONAL[verb](store, of, kind, wrong)
        assert (caught.value.code, caught.value.identifier) == ("revision-stale", of)
        assert holding.current(store) == [held]
    CONDITIONAL[verb](store, of, kind, held.revision)
    assert holding.current(store) != [held]


def test_a_prefix_without_a_record_has_the_revision_0(store: Bindings) -> None:
    for change in (
        lambda: holding.hold(store, PREFIX, END, "why", revision=1),
        lambda: store.prefixes.set(PREFIX, what="Maps", revision=1),
        lambda: store.prefixes.remove(PREFIX, revision=1),
    ):
        with pytest.raises(Stale, match="has no record"):
            change()
    holding.hold(store, PREFIX, END, "why", revision=0)
    with pytest.raises(Stale, match="was changed after it was read"):
        store.prefixes.set(PREFIX, what="Maps", revision=0)
    holding.release(store, PREFIX, revision=1)
    store.prefixes.set(PREFIX, what="Maps", revision=0)
    with pytest.raises(Stale):
        store.prefixes.remove(PREFIX, revision=1)
    assert store.prefixes.remove(PREFIX, revision=3) == "removed"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("until", "code"),
    [
        ("2027-11-26", None),
        ("2027-11-27", "hold-until"),
        ("2027-11-26T23:59:59Z", None),
        ("2027-11-27T00:00:01Z", "hold-until"),
        ("2026-11-26", None),
        ("2026-11-25", "hold-until"),
        ("2026-11-26T11:59:59Z", "hold-until"),
        ("2026-11-26T12:00:01", "hold-until"),
        ("9999-12-31", "hold-until"),
        ("tomorrow", "hold-until"),
    ],
)
def test_a_hold_ends_in_the_future_and_within_a_year(
    until: str, code: str | None, open_store: Callable[..., Bindings], tmp_path: Path
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    store.bind(NAME, "https://example.org/1")
    for of in (NAME, "ark:12345/"):
        if code is None:
            assert holding.hold(store, of, read_end(until), "why").outcome == "held"
        else:
            with pytest.raises(BindingError) as refused:
                holding.hold(store, of, read_end(until), "why")
            assert refused.value.code == code


@pytest.mark.one_setup
@pytest.mark.parametrize("reason", ["", " ", "a\nb", "a\0", "x" * 2001, "\ud800"])
def test_a_reason_is_one_line_of_text(reason: str, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    store.bind(NAME, "https://example.org/1")
    for of in (NAME, "ark:12345/x"):
        with pytest.raises(BindingError) as refused:
            holding.hold(store, of, END, reason)
        assert refused.value.code == "hold-reason"


def test_a_hold_is_in_the_history_and_an_undo_ends_it(store: Bindings) -> None:
    assert holding.hold(store, NAME, END, "why", actor="ada").outcome == "held"
    assert holding.hold(store, NAME, END, "why", actor="ada").outcome == "unchanged"
    assert [(event.action, event.after.hold_reason) for event in store.history(NAME)] == [
        ("bound", None),
        ("updated", "why"),
    ]
    assert store.relocate(NAME, "https://example.org/2") == "relocated"
    held = store.lookup(NAME)
    assert held is not None
    assert held.hold_until == END
    undo_change(store, NAME, actor="ada")
    undo_change(store, NAME, actor="ada")
    assert [each.action for each in store.history(NAME)].count("updated") >= 1
    assert holding.release(store, NAME).outcome == "released" if held_now(store) else True
    with pytest.raises(BindingError) as refused:
        holding.release(store, NAME)
    assert refused.value.code == "hold-missing"
    assert holding.holds_at(store, NOW) == store.store.holds() == []


def held_now(store: Bindings) -> bool:
    found = store.lookup(NAME)
    return found is not None and found.hold_until is not None


def test_the_states_of_a_name_that_can_be_held(store: Bindings) -> None:
    store.reserve("ark:12345/later")
    assert holding.hold(store, "ark:12345/later", END, "why").outcome == "held"
    assert store.bind("ark:12345/later", "https://example.org/2") == "bound"
    later = store.lookup("ark:12345/later")
    assert later is not None
    assert later.hold_reason == "why"
    holding.hold(store, NAME, END, "why")
    store.withdraw(NAME)
    with pytest.raises(BindingError) as refused:
        holding.hold(store, NAME, END, "another")
    assert refused.value.code == "hold-withdrawn"
    store.restore(NAME)
    assert holding.release(store, NAME).outcome == "released"
    refusals: tuple[tuple[str, holding.Of | None, str], ...] = (
        ("ark:12345/none", None, "hold-unknown"),
        ("ark:12345/none", "name", "not-bound"),
        ("ark:99999/", None, "naan-reserved-invalid"),
        ("nonsense", None, "rule-prefix"),
    )
    for of, kind, code in refusals:
        with pytest.raises(BindingError) as refused:
            holding.hold(store, of, END, "why", kind=kind)
        assert refused.value.code == code, of


def test_a_prefix_keeps_its_record_and_its_hold(store: Bindings) -> None:
    holding.hold(store, "ark:12345/x", END, "why", actor="ada")
    assert [(each.of, each.is_prefix) for each in holding.holds_at(store, NOW)] == [("ark:12345/x", True)]
    # A record that has only a hold ends with it.
    holding.release(store, "ark:12345/x")
    assert store.prefixes.list() == []
    store.prefixes.set("ark:12345/x", what="Maps")
    holding.hold(store, "ark:12345/x", END, "why")
    assert store.prefixes.set("ark:12345/x", what="Old maps") == "changed"
    with pytest.raises(BindingError) as refused:
        store.prefixes.remove("ark:12345/x")
    assert refused.value.code == "prefix-held"
    holding.release(store, "ark:12345/x")
    record = store.prefixes.get("ark:12345/x")
    assert record is not None
    assert (record.texts, record.hold) == ({"what": "Old maps"}, None)
    assert len(store.prefixes.history("ark:12345/x")) == 6
    # A name of the same text is held as a name.
    store.bind("ark:12345/x", "https://example.org/x")
    assert holding.hold(store, "ark:12345/x", END, "why").kind == "name"
    assert holding.hold(store, "ark:12345/x", END, "why", kind="prefix").kind == "prefix"
    assert [holding.release(store, "ark:12345/x").kind for _ in range(2)] == ["name", "prefix"]


def test_lists_and_counts_have_a_condition_on_holds(
    store: Bindings, database: str, open_store: Callable[..., Bindings]
) -> None:
    store.bind("ark:12345/x2", "https://example.org/2")
    store.bind("ark:12345/x3", "https://example.org/3")
    holding.hold(store, NAME, END, "why")
    holding.hold(store, "ark:12345/x2", NOW + timedelta(days=1), "why")
    later = open_store(database, clock=lambda: NOW + timedelta(days=2))
    for condition, names in {"yes": ["x1"], "no": ["x2", "x3"], "any": ["x1", "x2"]}.items():
        found = later.list_names(select(hold=condition)).names
        assert [each.identifier for each in found] == [f"ark:12345/{name}" for name in names]
        assert later.count_names(select(hold=condition)) == {"": len(names)}
        of_file = replace(select(hold=condition), now=later.now())
        stored = later.store.fetch([f"ark:12345/x{number}" for number in (1, 2, 3)]).values()
        assert sorted(each.identifier for each in stored if of_file.includes(each)) == [
            f"ark:12345/{name}" for name in names
        ]
    assert [each.hold.of for each in holding.current(later)] == [NAME]
    assert [(each.hold.of, each.is_current) for each in holding.current(later, with_ended=True)] == [
        ("ark:12345/x2", False),
        (NAME, True),
    ]
    with pytest.raises(BindingError) as refused:
        select(hold="maybe")
    assert refused.value.code == "list-hold"


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_table_and_a_copy_have_the_holds(form: Any, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    store.bind(NAME, "https://example.org/1")
    holding.hold(store, NAME, END, 'why, "so"')
    holding.hold(store, "ark:12345/", END, "all")
    written = io.BytesIO()
    export_table(store, written, format=form)
    written.seek(0)
    other = open_store(tmp_path / "other.sqlite", clock=lambda: NOW + timedelta(minutes=1))
    import_table(other, written, format=form)
    again = open_store(tmp_path / "copy.sqlite", clock=lambda: NOW)
    copy_store(store, again)
    for each in (other, again):
        assert sorted(holding.holds_at(each, NOW)) == sorted(holding.holds_at(store, NOW))
        assert sorted(each.source.holds()._names) == [NAME]


def test_a_table_states_a_day_and_cannot_hold_for_more_than_a_year(
    open_store: Callable[..., Bindings], tmp_path: Path
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    table = "identifier,target,hold_until,hold_reason\nark:12345/x1,https://example.org/1,{},{}\n"
    import_table(store, io.BytesIO(table.format("2027-03-01", "why").encode()), format="csv")
    found = store.lookup(NAME)
    assert found is not None
    assert found.hold_until == datetime(2027, 3, 2, tzinfo=UTC)
    file = tmp_path / "names.csv"
    prefix = "identifier,kind,hold_until,hold_reason\nark:12345/x,prefix,{},{}\n"
    wrong_ends = (("2036-03-01", "why"), ("", "why"), ("soon", ""))
    for form, (until, reason) in product((table, prefix), wrong_ends):
        text = form.format(until, reason)
        refused = import_table(store, io.BytesIO(text.encode()), format="csv", dry_run=True).refused
        assert [each.code for each in refused] == ["hold-until"], until
        file.write_text(text, "utf-8")
        with pytest.raises(TableError) as wrong:
            read_table(read(file))
        assert wrong.value.code == "hold-until"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("ark:12345/gone,withdrawn,2027-03-01,a claim", "hold-withdrawn"),
        (f"{NAME},,2027-03-01,", "hold-reason"),
        (f"{NAME},,2027-03-01,a claim", None),
        (f"{NAME},,2020-03-01,", None),
        ("ark:12345/new,withdrawn,2027-03-01,", None),
    ],
)
def test_a_table_holds_a_recorded_name_as_the_other_interfaces_do(store: Bindings, row: str, code: str | None) -> None:
    store.bind("ark:12345/gone", "/gone")
    store.withdraw("ark:12345/gone")
    table = io.BytesIO(f"identifier,status,hold_until,hold_reason\n{row}\n".encode())
    summary = import_table(store, table)
    assert ([each.code for each in summary.refused], summary.written) == ([code] if code else [], not code)


def test_commands(tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        runner = CliRunner(env={"ARARAT_DATABASE": str(tmp_path / "b.sqlite"), "ARARAT_ACTOR": "ada", "COLUMNS": "120"})
        result = runner.invoke(main.main, [*arguments])
        assert result.exit_code == code, result.output
        return result.output

    until = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
    end = f"{datetime.now(UTC) + timedelta(days=31):%Y-%m-%d} 00:00:00Z"
    run("bind", NAME, "https://example.org/1")
    hold = ("--until", until, "--reason", "A court\u202e decides.")
    assert run("hold", "ark:/12345/x-1", *hold) == f"held {NAME} until {end}\n"
    assert run("hold", "12345/x", *hold) == f"held all names below the prefix ark:12345/x until {end}\n"
    listed = run("holds")
    assert f"until {end}  {NAME}" in listed
    assert f"until {end}  prefix ark:12345/x" in listed
    assert "by ada" in listed
    assert "\u202e" not in listed
    assert {json.loads(line)["actor"] for line in run("holds", "--json").splitlines()} == {"ada"}
    assert "on hold until" in run("list", "--hold", "yes")
    assert f"on hold until {end}" in run("history", NAME)
    shown = run("show", NAME)
    assert f"  On hold       until {end}\n                A court" in shown
    assert shown.count("A court") == 1
    run("hold", NAME, "--until", "soon", "--reason", "why", code=2)
    run("hold", "ark:12345/none", *hold, code=1)
    assert run("release", NAME) == f"released {NAME}\n"
    assert run("release", "12345/x", "--prefix") == "released all names below the prefix ark:12345/x\n"
    assert "the hold was released" in run("history", NAME)
    run("release", NAME, code=1)
    assert run("holds", "--all") == "No name or prefix has a hold.\n"


def test_an_end_that_another_program_wrote_stops_no_other_name(
    tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    store.bind(NAME, "https://example.org/1")
    store.bind("ark:12345/x2", "https://example.org/2")
    holding.hold(store, "ark:12345/x2", END, "why")
    with closing(sqlite3.connect(tmp_path / "bindings.sqlite")) as connection, connection:
        connection.execute("UPDATE bindings SET hold_until = 'never', revision = 2 WHERE key = ?", (NAME,))
        connection.execute("UPDATE ararat SET value = '99' WHERE name = 'rules'")
    other = open_store(tmp_path / "bindings.sqlite", clock=lambda: NOW)
    assert [each.of for each in holding.holds_at(other, NOW)] == ["ark:12345/x2"]
    assert [each.of for each in other.source.holds().current(NOW)] == ["ark:12345/x2"]
    broken = record("ark:12345/x", {"hold_until": "never", "hold_reason": "why"})
    assert broken.hold is None


def test_a_long_name_is_compared_with_the_length_of_the_held_names() -> None:
    found = Holds([Hold("ark:12345/x", END, "why"), Hold("urn:nbn:de:x", END, "why")])
    long = f"ark:12345/x{'/a' * 100_000}"
    assert found.hold_for(long, NOW) == Hold("ark:12345/x", END, "why")
    assert (
        found.hold_for("ark:12345/x.pdf", NOW)
        == found.hold_for("ark:12345/x/p", NOW)
        == found.hold_for("ark:12345/x", NOW)
    )
    # A URN contains no other names.
    assert found.hold_for("urn:nbn:de:x/1", NOW) is None
    assert found.hold_for("ark:12345/x1", NOW) is found.hold_for("ark:12345/x", END) is None


@pytest.mark.one_setup
@pytest.mark.parametrize("days", [365, -365], ids=["ahead", "behind"])
def test_a_clock_that_was_wrong_at_the_start_hides_no_hold(
    open_store: Callable[..., Bindings], tmp_path: Path, days: int
) -> None:
    time = [NOW]
    file = tmp_path / "bindings.sqlite"
    store = open_store(file, clock=lambda: time[0])
    parts = {NAME: "given", f"{NAME}/p1": None, "ark:12345/q9a": None}
    for name, passthrough in parts.items():
        store.bind(name, "https://example.org/1", passthrough=passthrough)
    holding.hold(store, NAME, NOW + timedelta(days=30), "a court order")
    holding.hold(store, "12345/q9", NOW + timedelta(days=30), "a court order", kind="prefix")
    time[0] = NOW + timedelta(days=days)
    started = open_store(file, clock=lambda: time[0])
    names = [*parts, f"{NAME}/other"]
    statuses = [resolve(started, name).status for name in names]
    assert statuses == ([302] * 4 if days > 0 else [303] * 4)
    time[0] = NOW + timedelta(minutes=10)
    assert [resolve(started, name).outcome for name in names] == ["held"] * 4
