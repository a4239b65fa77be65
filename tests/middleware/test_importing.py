"""Imports, each test on SQLite and on PostgreSQL."""

from __future__ import annotations

import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from ararat.middleware.bindings import Bindings
from ararat.middleware.errors import BindingError, BindingsUnavailable, TableError
from ararat.middleware.importing import MOST_LISTED, Summary, import_table
from ararat.middleware.rows import COLUMNS


def table(*lines: str) -> BytesIO:
    return BytesIO("\n".join(lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


def test_every_column_is_understood(bindings: Bindings) -> None:
    header = ",".join([*COLUMNS, "target[text/html;en]", "target[de]"])
    elements = "Noah,The Ark,2020,Ararat,lifetime,subinfinite,fixed,2020-10-04,https://example.org/policy"
    summary = run(
        bindings, header, f"ark:/12345/d-oc,https://example.org/1,related,R1,live,yes,name,{elements},307,,/en,/de"
    )
    assert (summary.lines, summary.added, summary.written, summary.refused) == (1, 1, True, [])
    found = bindings.lookup("ark:12345/doc")
    assert found is not None
    assert (found.target, found.kind, found.resource, found.status, found.passthrough) == (
        "https://example.org/1",
        "related",
        "R1",
        "live",
        True,
    )
    assert found.redirect == 307
    assert dict(found.alternates) == {"de": "/de", "text/html;en": "/en"}
    assert ",".join(found.metadata.values()) == elements


def test_the_columns_may_stand_in_any_order_and_most_may_miss(bindings: Bindings) -> None:
    assert run(bindings, "what, target ,identifier", "A title,/1,ark:12345/a").added == 1
    found = bindings.lookup("ark:12345/a")
    assert found is not None
    assert (found.target, found.metadata["what"], found.kind) == ("/1", "A title", "located")


def test_the_history_says_where_a_name_came_from(bindings: Bindings, tmp_path: Path) -> None:
    file = tmp_path / "catalogue.csv"
    file.write_text("identifier,target\n\nark:12345/a,/1\n")
    import_table(bindings, file, actor="ann")
    (event,) = bindings.history("ark:12345/a")
    assert (event.action, event.actor, event.source) == ("bound", "ann", "catalogue.csv, line 3")


def test_lines_are_counted_by_what_they_did(bindings: Bindings) -> None:
    for name in "abcd":
        bindings.bind(f"ark:12345/{name}", "/1", resource=name)
    bindings.bind("ark:12345/g", "/1")
    summary = run(
        bindings,
        "identifier,target,resource,status,what",
        "ark:12345/a,/1,,,",
        "ark:12345/b,/1,,,A title",
        "ark:12345/c,/2,c,,",
        "ark:12345/d,,,withdrawn,",
        "ark:12345/e,/1,,,",
        "ark:12345/f,,,withdrawn,A tombstone",
        "ark:12345/g,/1,g,,",
    )
    counts = (
        summary.lines,
        summary.added,
        summary.unchanged,
        summary.updated,
        summary.claimed,
        summary.relocated,
        summary.withdrawn,
        summary.refusals,
    )
    assert counts == (7, 1, 1, 1, 1, 1, 2, 0)
    listed = [
        (each.line, each.outcome, each.before and each.before.target, each.after.target) for each in summary.listed
    ]
    assert listed == [
        (3, "updated", "/1", "/1"),
        (4, "relocated", "/1", "/2"),
        (5, "withdrawn", "/1", "/1"),
        (6, "bound", None, "/1"),
        (7, "withdrawn", None, None),
        (8, "claimed", "/1", "/1"),
    ]
    assert [event.action for event in bindings.history("ark:12345/d")] == ["bound", "withdrawn"]
    tombstone = bindings.lookup("ark:12345/f")
    assert tombstone is not None
    assert (tombstone.status, tombstone.kind, tombstone.metadata["what"]) == ("withdrawn", "described", "A tombstone")


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry", "written"])
def test_an_import_lists_every_change_of_place(bindings: Bindings, dry_run: bool) -> None:
    for name in "ab":
        bindings.bind(f"ark:12345/{name}", "/1", resource=name)
    table = (
        "identifier,target,resource,target[en],passthrough\n"
        "ark:12345/a,/1,a,https://evil.example/,\nark:12345/b,/1,b,,true\n"
    )
    summary = import_table(bindings, BytesIO(table.encode()), dry_run=dry_run)
    assert (summary.relocated, summary.unchanged, summary.refusals) == (2, 0, 0)
    assert [each.outcome for each in summary.listed] == ["relocated", "relocated"]
    assert summary.listed[0].after.alternates == {"en": "https://evil.example/"}


def test_an_import_refuses_a_new_place_without_the_resource(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", resource="a")
    bindings.bind("ark:12345/b", "/1")
    bindings.bind("ark:12345/c", "/1")
    bindings.withdraw("ark:12345/c")
    summary = run(
        bindings,
        "identifier,target,resource,status,target[en]",
        "ark:12345/a,/1,,,/evil",
        "ark:12345/b,/1,b,,/evil",
        "ark:12345/c,,mine,withdrawn,",
    )
    assert codes(summary) == [(2, "bound-otherwise"), (3, "bound-otherwise"), (4, "claim-withdrawn")]


def test_a_tombstone_says_why(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1")
    summary = run(
        bindings,
        "identifier,target,status,reason,redirect",
        "ark:12345/a,,withdrawn,Lost,",
        "ark:12345/b,/2,withdrawn,Burnt,307",
        "ark:12345/c,/3,,Burnt,",
        "ark:12345/d,/3,,,200",
    )
    assert codes(summary) == [(4, "reason-unwanted"), (5, "redirect-status")]
    run(bindings, "identifier,target,status,reason", "ark:12345/a,,withdrawn,Lost", "ark:12345/b,/2,withdrawn,Burnt")
    found = bindings.fetch(["ark:12345/a", "ark:12345/b"])
    assert [(found[key].target, found[key].reason) for key in sorted(found)] == [("/1", "Lost"), ("/2", "Burnt")]


def test_the_same_table_again_changes_nothing(bindings: Bindings) -> None:
    lines = "identifier,target,what,passthrough", "ark:12345/a,/1,T,true", "ark:12345/b,/2,,no"
    assert run(bindings, *lines).added == 2
    again = run(bindings, *lines)
    assert (again.unchanged, again.updated, again.written) == (2, 0, True)
    assert len(bindings.history("ark:12345/a")) == 1


def test_an_empty_field_says_nothing(bindings: Bindings) -> None:
    bindings.bind(
        "ark:12345/a", "/1", resource="R1", metadata={"who": "N", "what": "T"}, passthrough=True, redirect=307
    )
    before = bindings.lookup("ark:12345/a")
    assert run(bindings, "identifier,target,resource,passthrough,what,who", "ark:12345/a,/1,,,,").unchanged == 1
    assert bindings.lookup("ark:12345/a") == before
    run(bindings, "identifier,target,what", "ark:12345/a,/1,U")
    after = bindings.lookup("ark:12345/a")
    assert after is not None
    assert dict(after.metadata) == {"who": "N", "what": "U"}


def test_a_dry_run_says_the_same_and_writes_nothing(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", resource="R1")
    lines = "identifier,target,resource", "ark:12345/a,/2,R1", "ark:12345/b,/1,"
    tried = run(bindings, *lines, dry_run=True)
    assert (tried.added, tried.relocated, tried.written) == (1, 1, False)
    assert bindings.lookup("ark:12345/b") is None
    assert len(bindings.history("ark:12345/a")) == 1
    done = run(bindings, *lines)
    assert done.written
    assert [(each.line, each.outcome, each.after.identifier) for each in tried.listed] == [
        (each.line, each.outcome, each.after.identifier) for each in done.listed
    ]


def test_every_refused_line_is_named_and_none_is_written(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", resource="R1")
    summary = run(
        bindings,
        "identifier,target,kind,resource,status,passthrough,scope,what",
        "ark:12345/new,/1,,,,,,",
        "ark:12345,/1,,,,,,",
        ",/1,,,,,,",
        "ark:99999/x,/1,,,,,,",
        "ark:12345/a,/2,,,,,,",
        "ark:12345/a,/2,,R2,,,,",
        "ark:12345/c,javascript:x,,,,,,",
        "ark:12345/d,,,,,,,",
        "ark:12345/e,/1,lost,,,,,",
        "ark:12345/f,/1,,,gone,,,",
        "ark:12345/g,/1,,,,maybe,,",
        "ark:12345/h,/1,,,,,subtree,",
        '"ark:12345/i",/1,,,,,,"two\nlines"',
        "ark:12345/a\u202eb,/1,,,,,,",
        "foo\u202e\x1b[2J,/1,,,,,,",
    )
    assert codes(summary) == [
        (3, "no-name"),
        (4, "empty"),
        (5, "naan-reserved-invalid"),
        (6, "bound-otherwise"),
        (7, "other-resource"),
        (8, "target-scheme"),
        (9, "target-missing"),
        (10, "kind-unknown"),
        (11, "status-unknown"),
        (12, "passthrough-unknown"),
        (13, "scope-not-served"),
        (14, "metadata-text"),
        (16, "bidi-formatting"),
        (17, "no-scheme"),
    ]
    assert (summary.refusals, summary.written) == (14, False)
    assert all(f"{line.identifier} {line.message}".isprintable() and f"{line}".isascii() for line in summary.refused)
    assert bindings.lookup("ark:12345/new") is None


def test_two_lines_may_say_the_same_of_one_name(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target,what", "ark:12345/a,/1,T", "ark:/12345/-a,/1,T", "ark:12345/a,/1,")
    assert (summary.added, summary.unchanged, summary.refusals) == (1, 2, 0)


@pytest.mark.parametrize("apart", [0, 2500])
@pytest.mark.parametrize(
    ("bound", "first", "second"),
    [
        pytest.param(None, "/1,,", "/2,,", id="two targets"),
        pytest.param(None, "/1,,T", "/1,,U", id="two titles"),
        pytest.param(None, "/1,R1,", "/2,R1,", id="a move within the table"),
        pytest.param("/1", "/1,,", "/2,R1,", id="as it is on record, and elsewhere"),
        pytest.param("/1", "/2,R1,", "/3,R1,", id="two moves"),
        pytest.param("/1", "/2,R1,", "/1,R1,", id="a move and back"),
    ],
)
def test_two_lines_that_say_different_things_of_one_name_are_refused_with_both_numbers(
    bindings: Bindings, bound: str | None, first: str, second: str, apart: int
) -> None:
    if bound:
        bindings.bind("ark:12345/x.a.b", bound, resource="R1")
    between = [f"ark:12345/y{number},/1,," for number in range(apart)]
    summary = run(
        bindings, "identifier,target,resource,what", f"ark:12345/x.b.a,{first}", *between, f"ark:/12345/x.a.b,{second}"
    )
    assert codes(summary) == [(apart + 3, "duplicate-line")]
    assert "line 2 says something else of ark:12345/x.a.b" in summary.refused[0].message
    assert summary.refused[0].identifier == "ark:/12345/x.a.b"
    assert not summary.written


def test_a_conflict_shows_both_spellings(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x.a.b", "/1")
    (line,) = run(bindings, "identifier,target", "ark:12345/x.b.a,/2").refused
    assert line.identifier == "ark:12345/x.b.a"
    assert "(its normal form is ark:12345/x.a.b)" in line.message


def test_names_that_may_be_taken_for_each_other_are_named(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a.b", "/1")
    summary = run(
        bindings,
        "identifier,target",
        "ark:12345/a%2Eb,/2",
        "ark:12345/c.d,/3",
        "ark:12345/c%2Ed,/4",
        "ark:12345/e.f,/5",
    )
    assert summary.written
    assert sorted((line.line, line.code) for line in summary.warned) == [
        (2, "encoded-dot"),
        (3, "encoded-dot"),
        (4, "encoded-dot"),
    ]
    assert summary.warnings == 3


def test_names_with_characters_that_nobody_sees_are_named(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target", "ark:12345/a\u2066b,/2", "ark:12345/\u00e9,/3")
    assert (summary.added, summary.written) == (2, True)
    assert [(line.line, line.identifier, line.code) for line in summary.warned] == [
        (2, r"ark:12345/a\u{2066}b", "hidden-char")
    ]


def test_many_refusals_are_counted_and_some_listed(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target", *(f"ark:99999/x{number},/1" for number in range(1500)))
    assert summary.refusals == 1500
    assert len(summary.refused) == MOST_LISTED
    summary = run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(1500)))
    assert (summary.added, len(summary.listed)) == (1500, MOST_LISTED)


@pytest.mark.parametrize(
    ("octets", "code", "line", "column"),
    [
        pytest.param(b"", "table-empty", 1, None, id="an empty file"),
        pytest.param(b"identifier,target,title\n", "table-column", 1, "title", id="a column that nobody knows"),
        pytest.param(b"identifier,target,\n", "table-column", 1, "3 (without a name)", id="a column without a name"),
        pytest.param(b"identifier,target,Kind\n", "table-column", 1, "Kind", id="a column in capitals"),
        pytest.param(b"identifier,target,target\n", "table-column-twice", 1, "target", id="a column twice"),
        pytest.param(b"identifier\n", "table-column-missing", 1, "target", id="no targets"),
        pytest.param(b"target,what\n", "table-column-missing", 1, "identifier", id="no identifiers"),
        pytest.param(b"ark:12345/a,/1\n", "table-column", 1, "ark:12345/a", id="no header"),
        pytest.param(b"identifier,target,what\nark:12345/a,/1\n", "table-fields", 2, "what", id="a field too few"),
        pytest.param(b"identifier,target\nark:12345/a,/1,x\n", "table-fields", 2, "3", id="a field too many"),
        pytest.param(
            b"identifier,target\nark:12345/a,/1\nark:12345/b,/\xff\n",
            "table-encoding",
            3,
            14,
            id="an octet that is no UTF-8",
        ),
        pytest.param(
            b'identifier,target\nark:12345/a,/1\nark:12345/b,"/1\n', "table-syntax", 3, 13, id="an open quote"
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_said_with_its_place_and_nothing_is_written(
    bindings: Bindings, octets: bytes, code: str, line: int, column: int | str | None
) -> None:
    with pytest.raises(TableError) as fault:
        import_table(bindings, BytesIO(octets))
    assert (fault.value.code, fault.value.line, fault.value.column) == (code, line, column)
    assert bindings.lookup("ark:12345/a") is None
    assert run(bindings, "identifier,target", "ark:12345/a,/1").added == 1


def test_a_fault_after_thousands_of_lines_leaves_nothing_behind(bindings: Bindings) -> None:
    lines = [f"ark:12345/x{number},/1" for number in range(2100)]
    with pytest.raises(TableError) as fault:
        run(bindings, "identifier,target", *lines, "ark:12345/y")
    assert fault.value.line == 2102
    assert bindings.fetch([f"ark:12345/x{number}" for number in range(2100)]) == {}


@pytest.mark.parametrize("selector", ["", "text/html;", "\u202e"])
def test_an_alternate_for_nothing_is_refused(bindings: Bindings, selector: str) -> None:
    summary = run(bindings, f"identifier,target,target[{selector}]", "ark:12345/a,/1,/2")
    assert codes(summary) == [(2, "alternate-selector")]


def test_progress_is_told(bindings: Bindings) -> None:
    told: list[int] = []
    run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(2300)), progress=told.append)
    assert told == [1000, 2000, 2300]


def test_an_interrupted_import_leaves_nothing_behind(bindings: Bindings) -> None:
    def interrupt(lines: int) -> None:
        if lines == 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(3000)), progress=interrupt)
    assert bindings.lookup("ark:12345/x1") is None
    assert bindings.history("ark:12345/x1") == []
    assert bindings.bind("ark:12345/x1", "/2") == "bound"


def names(number: int) -> list[str]:
    return [f"ark:12345/x{each},/1" for each in range(number)]


def test_batches_stay_and_a_second_run_goes_on(bindings: Bindings) -> None:
    def interrupt(lines: int) -> None:
        if lines == 1200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bindings, "identifier,target", *names(3000), batch=400, progress=interrupt)
    assert len(bindings.fetch([f"ark:12345/x{each}" for each in range(3000)])) == 800
    again = run(bindings, "identifier,target", *names(3000), batch=400)
    assert (again.unchanged, again.added, again.kept, again.written) == (800, 2200, 3000, True)
    assert [event.source for event in bindings.history("ark:12345/x0")] == ["-, line 2"]


def test_the_first_batch_with_a_refused_line_ends_it(bindings: Bindings) -> None:
    lines = ["identifier,target", *names(25), "ark:99999/x,/1", *names(50)]
    summary = run(bindings, *lines, batch=10)
    assert codes(summary) == [(27, "naan-reserved-invalid")]
    assert (summary.kept, summary.added, summary.written) == (20, 20, False)
    assert len(bindings.fetch([f"ark:12345/x{each}" for each in range(50)])) == 20
    with pytest.raises(TableError) as fault:
        run(bindings, *lines[:26], "ark:12345/y", batch=10)
    assert (fault.value.line, fault.value.kept) == (27, 20)


def test_two_batches_may_not_say_different_things_of_one_name(bindings: Bindings) -> None:
    lines = "identifier,target,resource", "ark:12345/a,/1,R1", "ark:12345/b,/1,", "ark:12345/a,/2,R1"
    for _ in range(2):
        summary = run(bindings, *lines, batch=1)
        assert codes(summary) == [(4, "duplicate-line")]
        assert "line 2 says something else" in summary.refused[0].message
        assert summary.kept == 2


def test_a_batch_is_not_empty(bindings: Bindings) -> None:
    with pytest.raises(ValueError, match="1 line or more"):
        run(bindings, "identifier,target", batch=0)


def test_an_import_that_is_killed_goes_on(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    table = tmp_path / "names.csv"
    table.write_text("identifier,target\n" + "".join(f"{line}\n" for line in names(5000)))
    program = (
        "import os, signal, sys; from ararat.middleware import import_table, open_bindings\n"
        "kill = lambda lines: lines == 3100 and os.kill(os.getpid(), signal.SIGKILL)\n"
        "import_table(open_bindings(sys.argv[1], create=True), sys.argv[2], batch=100, progress=kill)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "bindings.sqlite"), str(table)]
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGKILL
    bindings = open_store(tmp_path / "bindings.sqlite")
    summary = import_table(bindings, table, batch=1000)
    assert (summary.unchanged, summary.added, summary.kept) == (3000, 2000, 5000)
    assert len(bindings.history("ark:12345/x1")) == 1


def test_an_actor_is_a_plain_text(bindings: Bindings) -> None:
    with pytest.raises(BindingError) as refused:
        run(bindings, "identifier,target", actor="a\nb")
    assert refused.value.code == "actor-text"


def test_readers_see_all_of_it_at_once(bindings: Bindings) -> None:
    seen: list[int] = []
    names = [f"ark:12345/x{number}" for number in range(1500)]
    run(
        bindings,
        "identifier,target",
        *(f"{name},/1" for name in names),
        progress=lambda _: seen.append(len(bindings.fetch(names))),
    )
    assert seen == [0, 0]
    assert len(bindings.fetch(names)) == 1500


def test_a_closed_store_takes_nothing(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        run(bindings, "identifier,target", "ark:12345/x,/1")


class Endless(RawIOBase):
    """A table of so many lines that are made when they are read."""

    def __init__(self, lines: int) -> None:
        self._lines = iter(range(lines))
        self._first: Iterator[bytes] = iter([b"identifier,target,what\n"])

    def readline(self, size: int | None = -1, /) -> bytes:
        for line in self._first:
            return line
        number = next(self._lines, None)
        return b"" if number is None else b"ark:12345/x%d,/%d,%s\n" % (number, number, b"A title " * 20)


def test_memory_is_flat_in_the_number_of_lines(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    import_table(bindings, cast(BinaryIO, Endless(10)))
    peaks = []
    for lines in (1500, 4500):
        tracemalloc.start()
        assert import_table(bindings, cast(BinaryIO, Endless(lines)), dry_run=True).lines == lines
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 3,000 lines that were kept would be several million octets.
    assert peaks[1] - peaks[0] < 1_000_000
