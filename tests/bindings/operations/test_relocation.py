"""Test the relocation of many names by the beginning of their targets."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ararat.bindings.operations import pace
from ararat.bindings.operations.relocation import Rewriting, relocate_prefix, set_passthrough
from ararat.bindings.operations.undo import undo_operation
from ararat.identifiers import iri_policy
from ararat.middleware import import_table
from tests.forking import ForkedCode

OLD, NEW = "https://old.example/", "https://new.example/"
OLD_HOST, NEW_HOST = "https://old.example", "https://new.example"


def target_of(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    assert found is not None
    return found.target


@pytest.mark.parametrize(
    ("source", "destination", "before", "after"),
    [
        pytest.param(OLD, NEW, "https://old.example/a?b=c#d", "https://new.example/a?b=c#d", id="rest is kept"),
        pytest.param(OLD, NEW, OLD_HOST, OLD_HOST, id="slash is part of the prefix"),
        pytest.param(OLD_HOST, NEW, "https://old.example/a", "https://new.example/a", id="slash only in to"),
        pytest.param(OLD, NEW_HOST, "https://old.example/a", "https://new.example/a", id="slash only in from"),
        pytest.param(OLD_HOST, NEW_HOST, OLD_HOST, NEW_HOST, id="host"),
        pytest.param(
            OLD_HOST,
            NEW_HOST,
            "https://old.example.org/a",
            "https://old.example.org/a",
            id="longer host",
        ),
        pytest.param(
            OLD_HOST,
            NEW_HOST,
            "https://old.example:8443/a",
            "https://old.example:8443/a",
            id="other port of a URL",
        ),
        pytest.param("old.example", "new.example", "http://old.example:81", "http://new.example:81", id="port kept"),
        pytest.param("OLD.example", "new.example", "https://old.example?a", "https://new.example?a", id="case"),
        pytest.param("old.example", NEW_HOST, "http://old.example/a", f"{NEW}a", id="new scheme"),
        pytest.param("old.example", "/x", "http://old.example/a", "/x/a", id="host to path"),
        pytest.param(
            "old.example", NEW_HOST, "http://old.example:81/a", "http://old.example:81/a", id="port stays"
        ),
        pytest.param("/items/", "/things/", "/items/1", "/things/1", id="path"),
        pytest.param("/items/", "https://new.example/", "/items/1", "https://new.example/1", id="path to URL"),
        pytest.param(
            "https://old.example/item?id=", "https://new.example/x", "https://old.example/item?id=7", "https://new.example/x7",
            id="query",
        ),
        pytest.param(
            "https://old.example/a*", NEW_HOST, "https://old.example/ab", "https://new.example/b",
            id="rest is not joined to a host",
        ),
        pytest.param(
            "https://old.example/a*", NEW_HOST, "https://old.example/a:8", "https://new.example/:8",
            id="rest is not joined to a port",
        ),
        pytest.param(
            "https://m\u00fcseum.example/", NEW, "https://xn--mseum-kva.example/caf%C3%A9", "https://new.example/caf%C3%A9",
            id="IDN",
        ),
    ],
)  # fmt: skip
def test_the_beginning_of_a_target_is_replaced(source: str, destination: str, before: str, after: str) -> None:
    assert Rewriting.of(source, destination)(before) == after


@pytest.mark.parametrize(
    ("source", "rest", "matches"),
    [
        *[("/coll/1", rest, True) for rest in ("", "/", "/a", "?a=b", "#p")],
        *[("/coll/1", rest, False) for rest in ("2", ".pdf", "-2", "%20", ":1", ";a")],
        *[("/coll/1*", rest, True) for rest in ("", "/a", "2", ".pdf", "?a")],
        *[("/show?id=1", rest, True) for rest in ("", "&x=2", ";x=2", "#p")],
        *[("/show?id=1", rest, False) for rest in ("2", "/2", "?2")],
        *[("/show?id=", rest, True) for rest in ("", "1", "&a")],
        *[("/app#/items/1", rest, True) for rest in ("", "/a", "?a")],
        *[("/app#/items/1", rest, False) for rest in ("2", ".a")],
        *[("/coll/", rest, True) for rest in ("", "12", "1/a")],
    ],
)
@pytest.mark.parametrize("host", ["", OLD_HOST])
def test_a_beginning_matches_whole_segments_and_parameters(host: str, source: str, rest: str, matches: bool) -> None:
    before = f"{host}{source.removesuffix('*')}{rest}"
    assert (Rewriting.of(f"{host}{source}", "https://new.example/n")(before) != before) is matches


def test_whole_segments_match_in_targets_and_alternates_and_the_rest_is_stated(bindings: Bindings) -> None:
    bindings.bind("ark:12345/ms1", f"{OLD}coll/1", alternates={"de": f"{OLD}coll/1/de", "fr": f"{OLD}coll/12"})
    bindings.bind("ark:12345/ms2", f"{OLD}coll/1?p=2")
    bindings.bind("ark:12345/ms3", f"{OLD}coll/12")
    whole = relocate_prefix(bindings, f"{OLD}coll/1", f"{NEW}one", dry_run=True)
    assert (whole.names, whole.counts) == (2, {"relocated": 2})
    assert [effect.kept for effect in whole.effects] == [{"target": "", "de": "/de"}, {"target": "?p=2"}]
    assert "kept" in whole.as_dict()["effects"][0]
    most = Actor(max_names=2)
    assert relocate_prefix(bindings, f"{OLD}coll/1", f"{NEW}one", dry_run=True, actor=most).names == 2
    inside = relocate_prefix(bindings, f"{OLD}coll/1*", f"{NEW}one*")
    assert inside.effects[2].kept == {"target": "2"}
    assert target_of(bindings, "ark:12345/ms3") == f"{NEW}one2"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("source", "destination", "code"),
    [
        pytest.param("https://old.example*", NEW, "relocate-prefix", id="inside a host"),
        pytest.param("old.example*", NEW, "relocate-prefix", id="inside a bare host"),
        pytest.param("https://old.example/", "new.example", "relocate-prefix", id="host for a URL"),
        pytest.param("/items", "new.example", "relocate-prefix", id="host for a path"),
        pytest.param("", NEW, "target-host", id="empty"),
        pytest.param(OLD, OLD, "relocate-prefix", id="the same"),
        pytest.param("old.example", " old.example", "relocate-prefix", id="the same host"),
        pytest.param(OLD, "https://", "target-host", id="no host"),
        pytest.param(OLD, "ftp://new.example/", "target-scheme", id="scheme"),
        pytest.param(OLD, "//new.example/", "target-relative", id="two slashes"),
        pytest.param(OLD, "javascript://x/", "target-scheme", id="script"),
        pytest.param(f"{OLD}{'a' * 400}", NEW, "relocate-prefix", id="too long"),
    ],
)
def test_beginnings_that_do_not_fit_are_refused(bindings: Bindings, source: str, destination: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        relocate_prefix(bindings, source, destination)
    assert refused.value.code == code


def fill(bindings: Bindings) -> None:
    """Bind names of each state and kind, all with a target at the old host or another one."""
    bindings.bind("ark:12345/live", f"{OLD}live")
    bindings.bind("ark:12345/thing", f"{OLD}thing", resource="R1", metadata={"what": "T"})
    bindings.bind("ark:12345/related", f"{OLD}related", kind="related")
    bindings.bind("ark:12345/pass", f"{OLD}pass/", passthrough=True)
    bindings.bind("ark:12345/alt", "https://other.example/", alternates={"text/html;en": f"{OLD}alt", "de": "/de"})
    bindings.bind("ark:12345/other", "https://other.example/?u=https://old.example/")
    bindings.bind("ark:12345/described", kind="described")
    bindings.bind("ark:12345/gone", f"{OLD}gone")
    bindings.withdraw("ark:12345/gone", reason="lost")
    bindings.reserve("ark:12345/draft", f"{OLD}draft")
    bindings.bind("ark:12345/live/p1", f"{OLD}p1")
    bindings.bind("ark:12345/live.pdf", f"{OLD}pdf")
    bindings.bind("ark:12345/livelong", f"{OLD}livelong")
    bindings.bind("urn:nbn:de:101:1-2019", f"{OLD}urn")


def test_targets_and_alternates_of_all_names_change(bindings: Bindings) -> None:
    fill(bindings)
    seen: list[int] = []
    result = relocate_prefix(bindings, OLD, NEW, actor="me", progress=seen.append)
    assert result.counts == {"relocated": 10}
    assert (result.names, result.refusals, result.unchanged, result.written) == (11, 0, 0, True)
    assert [(noted.identifier, noted.code) for noted in result.left_alone] == [("ark:12345/gone", "withdrawn")]
    assert seen == [11]
    assert target_of(bindings, "ark:12345/live") == f"{NEW}live"
    assert target_of(bindings, "ark:12345/draft") == f"{NEW}draft"
    assert target_of(bindings, "ark:12345/gone") == f"{OLD}gone"
    assert target_of(bindings, "ark:12345/other") == "https://other.example/?u=https://old.example/"
    alternates = bindings.store.fetch(["ark:12345/alt"])["ark:12345/alt"].alternates
    assert alternates == {"de": "/de", "text/html;en": f"{NEW}alt"}
    [*_, event] = bindings.history("ark:12345/thing")
    assert (event.action, event.actor, event.operation, event.after.resource) == (
        "relocated",
        "me",
        result.operation,
        "R1",
    )
    assert [event.action for event in bindings.history("ark:12345/draft")] == ["reserved", "updated"]
    [operation] = bindings.list_operations()
    assert (operation.number, operation.action, operation.actor, operation.names) == (
        result.operation,
        "relocate",
        "me",
        10,
    )
    assert operation.parameters == {"from": OLD, "to": NEW}
    assert operation.finished is not None
    again = relocate_prefix(bindings, OLD, NEW)
    assert (again.operation, again.names, again.others, again.written) == (None, 1, 1, False)
    assert len(bindings.list_operations()) == 1


@pytest.mark.parametrize(
    ("limit", "changed"),
    [
        pytest.param({"prefix": "ark:/12345/liv-e"}, {"live", "live/p1", "live.pdf", "livelong"}, id="prefix"),
        pytest.param({"below": "ark:/12345/live"}, {"live", "live/p1", "live.pdf"}, id="below"),
        pytest.param({"below": "ark:12345/none"}, set(), id="nothing below"),
    ],
)
def test_a_relocation_can_be_limited(bindings: Bindings, limit: dict[str, Any], changed: set[str]) -> None:
    fill(bindings)
    result = relocate_prefix(bindings, OLD, NEW, **limit)
    assert {effect.after.identifier.removeprefix("ark:12345/") for effect in result.effects} == changed
    assert result.counts["relocated"] == len(changed)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("limit", "code"),
    [
        pytest.param({"prefix": "x"}, "list-prefix", id="no prefix of names"),
        pytest.param({"below": "urn:example:a"}, "nothing-below", id="below a URN"),
        pytest.param({"prefix": "ark:12345/", "below": "ark:12345/x"}, "relocate-prefix", id="both"),
    ],
)
def test_a_limit_that_is_not_valid_is_refused(bindings: Bindings, limit: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        relocate_prefix(bindings, OLD, NEW, **limit)
    assert refused.value.code == code


def test_a_dry_run_lists_the_changes_and_writes_nothing(bindings: Bindings) -> None:
    fill(bindings)
    before = {name: bindings.history(name) for name in ("ark:12345/live", "ark:12345/alt", "ark:12345/draft")}
    result = relocate_prefix(bindings, OLD, NEW, dry_run=True)
    assert (result.operation, result.written, result.counts) == (None, False, {"relocated": 10})
    assert [effect.after.target for effect in result.effects if effect.after.identifier == "ark:12345/live"] == [
        f"{NEW}live"
    ]
    assert {name: bindings.history(name) for name in before} == before
    assert bindings.list_operations() == []


def test_new_targets_that_are_almost_surely_wrong_are_warnings(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x1", f"{OLD}1", alternates={"text/html": f"{OLD}1.html"})
    bindings.bind("ark:12345/x2", f"{OLD}2?a=1&amp;b=2")
    for dry_run in (True, False):
        result = relocate_prefix(bindings, OLD_HOST, "http://localhost", dry_run=dry_run)
        found = sorted((noted.identifier, noted.code) for noted in result.warned)
        assert found == [
            ("ark:12345/x1", "target-local"),
            ("ark:12345/x2", "target-entity"),
            ("ark:12345/x2", "target-local"),
        ]
        assert (result.warnings, result.as_dict()["warnings"], result.written) == (3, 3, not dry_run)


def test_a_relocation_writes_only_what_its_dry_run_found(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x1", f"{OLD}1")
    found = relocate_prefix(bindings, OLD, NEW, dry_run=True).fingerprint
    bindings.relocate("ark:12345/x1", f"{OLD}other")
    other = relocate_prefix(bindings, OLD, NEW, expected=found)
    assert (other.is_other, other.written, target_of(bindings, "ark:12345/x1")) == (True, False, f"{OLD}other")
    assert relocate_prefix(bindings, OLD, NEW, expected=other.fingerprint).written


def test_one_refused_name_refuses_the_whole_relocation(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/items/a")
    bindings.bind("ark:12345/b", "/items/b", kind="served")
    bindings.bind("ark:12345/c", f"/items/{'c' * 2030}")
    result = relocate_prefix(bindings, "/items/", "https://new.example/")
    assert (result.operation, result.written, result.refusals) == (None, False, 2)
    assert [(noted.identifier, noted.code) for noted in result.refused] == [
        ("ark:12345/b", "target-not-local"),
        ("ark:12345/c", "target-too-long"),
    ]
    assert target_of(bindings, "ark:12345/a") == "/items/a"
    assert bindings.list_operations() == []


def test_a_relocation_into_its_own_range_ends(bindings: Bindings) -> None:
    for number in range(3):
        bindings.bind(f"ark:12345/x{number}", f"{OLD}{number}")
    assert relocate_prefix(bindings, OLD, f"{OLD}archive/").counts == {"relocated": 3}
    assert target_of(bindings, "ark:12345/x1") == f"{OLD}archive/1"


@pytest.mark.usefixtures("small_blocks")
def test_a_relocation_of_many_blocks_changes_each_name_once(bindings: Bindings) -> None:
    names = [f"ark:12345/x{number}" for number in range(250)]

    from ararat.middleware import import_table

    table = "identifier,target\n" + "".join(f"{name},{OLD}{name[-4:]}\n" for name in names)
    import_table(bindings, io.BytesIO(table.encode()))
    seen: list[int] = []
    result = relocate_prefix(bindings, "old.example", "new.example", progress=seen.append)
    assert (seen[0], seen.count(250)) == (100, 2)  # the check, and the blocks
    assert (result.counts["relocated"], len(result.effects)) == (250, 100)
    assert {binding.revision for binding in bindings.store.fetch(names).values()} == {2}


def test_the_policy_checks_each_relocated_name(database: str, open_store: Callable[..., Bindings]) -> None:
    uuid = "123e4567-e89b-12d3-a456-426614174000"
    bindings = open_store(database, policy=iri_policy.built_in("17beta"))
    bindings.bind("ark:21206/1b", f"https://data.17beta.top/urn:uuid:{uuid}", resource="R1")
    checked: list[str] = []
    check = bindings.check_change

    def refuse(before: Any, change: Any, settings: Any) -> Any:
        checked.append(change.after.identifier)
        raise BindingError("uuid-reused")

    bindings.check_change = refuse
    result = relocate_prefix(bindings, "https://data.17beta.top/", NEW)
    assert (checked, result.refusals, result.written) == (["ark:21206/1b"], 1, False)
    bindings.check_change = check
    assert relocate_prefix(bindings, "https://data.17beta.top/", NEW).written


def test_a_file_refuses_a_relocation(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    (tmp_path / "names.csv").write_text(f"identifier,target\nark:12345/x,{OLD}x\n")
    bindings = open_store(tmp_path / "names.csv", create=False)
    with pytest.raises(ReadOnlyBindings):
        relocate_prefix(bindings, OLD, NEW)
    assert bindings.list_operations() == []


def test_another_writer_waits_or_fails_and_loses_nothing(bindings: Bindings) -> None:
    for number in range(20):
        bindings.bind(f"ark:12345/x{number}", f"{OLD}{number}")
    outcomes: list[object] = []

    def edit() -> None:
        try:
            outcomes.append(bindings.bind("ark:12345/x7", f"{NEW}7", metadata={"what": "Seven"}))
        except (BindingError, BindingsUnavailable) as error:
            outcomes.append(error)

    writer = threading.Thread(target=edit)
    result = relocate_prefix(bindings, OLD, NEW, progress=lambda _: writer.start())
    writer.join(30)
    assert result.counts == {"relocated": 20}
    # The edit follows the relocation, so that its target is the recorded one.
    assert outcomes == ["updated"]
    assert [event.action for event in bindings.history("ark:12345/x7")] == ["bound", "relocated", "updated"]


KILLED = """
import os, signal, sys
from ararat.middleware import open_bindings
from ararat.bindings.operations.relocation import relocate_prefix
kill = lambda names: names == int(sys.argv[2]) and os.kill(os.getpid(), signal.SIGKILL)
with open_bindings(sys.argv[1]) as bindings:
    relocate_prefix(bindings, "old.example", "new.example", atomic=True, progress=kill)
"""


@pytest.mark.parametrize(
    ("names", "at"),
    [
        pytest.param(250, 200, id="250 names"),
        pytest.param(100_000, 99_000, id="100,000 names", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
        pytest.param(100_000, 100_000, id="before the commit", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_a_killed_relocation_in_one_transaction_changes_nothing(
    database: str,
    open_store: Callable[..., Bindings],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    names: int,
    at: int,
) -> None:
    monkeypatch.setattr(pace, "BLOCK", min(pace.BLOCK, names // 5))
    bindings = open_store(database)
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n" + "".join(f"ark:12345/x{n},{OLD}{n}\n" for n in range(names)))
    import_table(bindings, table)
    with ForkedCode(KILLED, database, str(at)) as process:
        assert process.wait(1200) == -9
    assert relocate_prefix(bindings, "new.example", "old.example", dry_run=True).names == 0
    assert relocate_prefix(bindings, "old.example", "new.example").counts == {"relocated": names}


# Passthrough ----------------------------------------------------------------------------------------------------------


def test_the_passthrough_of_many_names_is_an_update_and_can_be_undone(bindings: Bindings) -> None:
    for name, path in {"x1": "/1", "x2": "", "y1": "/2"}.items():
        bindings.bind(f"ark:12345/{name}", f"https://example.org{path}")
    bindings.bind("ark:12345/x3", kind="described")
    bindings.bind("ark:12345/x4", "https://example.org/4", passthrough="given")
    bindings.bind("ark:12345/x5", "https://example.org/5")
    bindings.withdraw("ark:12345/x5")
    assert set_passthrough(bindings, "ark:12345/x", "given", dry_run=True).counts["updated"] == 1
    result = set_passthrough(bindings, "ark:12345/x", "given", actor="me")
    assert (result.counts["updated"], result.unchanged, result.others, result.refusals) == (1, 1, 3, 0)
    event = bindings.history("ark:12345/x1")[-1]
    assert (event.action, event.actor, event.after.passthrough) == ("updated", "me", "given")
    assert event.after.target == "https://example.org/1"
    assert bindings.store.fetch(["ark:12345/y1"])["ark:12345/y1"].passthrough is False
    assert result.operation is not None
    undo_operation(bindings, result.operation)
    event = bindings.history("ark:12345/x1")[-1]
    assert (event.action, event.after.passthrough) == ("updated", False)
