"""Imports, each test on SQLite and on PostgreSQL."""

from __future__ import annotations

import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from ararat.middleware.bindings.collection import Bindings
from ararat.middleware.bindings.minting import mint
from ararat.middleware.bindings.model import Binding, rfc3339
from ararat.middleware.errors import BindingError, BindingsUnavailable, TableError
from ararat.middleware.tabular.columns import COLUMNS
from ararat.middleware.tabular.importing import MOST_LISTED, Imported, SeenNames, Summary, import_table


def table(*lines: str) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


def bound_row(line: Imported) -> Binding:
    """Return the binding after a listed line. The line is not a rule or another row."""
    assert isinstance(line.after, Binding)
    return line.after


def test_every_column_is_imported(bindings: Bindings) -> None:
    header = ",".join([*COLUMNS, "target[text/html;en]", "target[de]"])
    header += ",dc.title"
    elements = "Noah,The Ark,2020,Ararat,(:unkn),lifetime,subinfinite,fixed,2020-10-04,https://example.org/policy"
    origin = "ark:/12345/do-c,2001-02-03,2002-02-03T04:05:06+01:00"
    start = f"ark:/12345/d-oc,https://example.org/1,related,R1,live,yes,name,{elements}"
    summary = run(bindings, header, f"{start},307,,,{origin},/en,/de,An Ark")
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
    assert ",".join(found.metadata.values()) == f"{elements},An Ark"
    assert found.spelling == "ark:/12345/do-c"
    assert (rfc3339(found.created), rfc3339(found.changed)) == (
        "2001-02-03T00:00:00.000000Z",
        "2002-02-03T03:05:06.000000Z",
    )
    assert [event.when for event in bindings.history("ark:12345/doc")] == [found.changed]


def test_columns_can_have_any_order_and_most_are_optional(bindings: Bindings) -> None:
    assert run(bindings, "what, target ,identifier", "A title,/1,ark:12345/a").added == 1
    found = bindings.lookup("ark:12345/a")
    assert found is not None
    assert (found.target, found.metadata["erc.what"], found.kind) == ("/1", "A title", "located")


def test_the_history_contains_the_source_of_a_name(bindings: Bindings, tmp_path: Path) -> None:
    file = tmp_path / "catalogue.csv"
    file.write_text("identifier,target\n\nark:12345/a,/1\n")
    import_table(bindings, file, actor="ann")
    (event,) = bindings.history("ark:12345/a")
    assert (event.action, event.actor, event.source) == ("bound", "ann", "catalogue.csv, line 3")


def test_lines_are_counted_by_outcome(bindings: Bindings) -> None:
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
        (each.line, each.outcome, each.before and each.before.target, bound_row(each).target) for each in summary.listed
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
    assert (tombstone.status, tombstone.kind, tombstone.metadata["erc.what"]) == (
        "withdrawn",
        "described",
        "A tombstone",
    )


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry", "written"])
def test_an_import_lists_every_changed_target(bindings: Bindings, dry_run: bool) -> None:
    for name in "ab":
        bindings.bind(f"ark:12345/{name}", "/1", resource=name)
    table = (
        "identifier,target,resource,target[en],passthrough\n"
        "ark:12345/a,/1,a,https://evil.example/,\nark:12345/b,/1,b,,true\n"
    )
    summary = import_table(bindings, BytesIO(table.encode()), dry_run=dry_run)
    assert (summary.relocated, summary.unchanged, summary.refusals) == (2, 0, 0)
    assert [each.outcome for each in summary.listed] == ["relocated", "relocated"]
    assert bound_row(summary.listed[0]).alternates == {"en": "https://evil.example/"}


def test_a_new_target_without_the_resource_is_refused(bindings: Bindings) -> None:
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


def test_a_withdrawn_line_can_have_a_reason(bindings: Bindings) -> None:
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


def test_importing_the_same_table_again_changes_nothing(bindings: Bindings) -> None:
    lines = "identifier,target,what,passthrough", "ark:12345/a,/1,T,true", "ark:12345/b,/2,,no"
    assert run(bindings, *lines).added == 2
    again = run(bindings, *lines)
    assert (again.unchanged, again.updated, again.written) == (2, 0, True)
    assert len(bindings.history("ark:12345/a")) == 1


def test_an_empty_cell_changes_nothing(bindings: Bindings) -> None:
    bindings.bind(
        "ark:12345/a", "/1", resource="R1", metadata={"who": "N", "what": "T"}, passthrough=True, redirect=307
    )
    before = bindings.lookup("ark:12345/a")
    assert run(bindings, "identifier,target,resource,passthrough,what,who", "ark:12345/a,/1,,,,").unchanged == 1
    assert bindings.lookup("ark:12345/a") == before
    run(bindings, "identifier,target,what", "ark:12345/a,/1,U")
    after = bindings.lookup("ark:12345/a")
    assert after is not None
    assert dict(after.metadata) == {"erc.who": "N", "erc.what": "U"}


def test_a_dry_run_returns_the_same_summary_and_writes_nothing(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", resource="R1")
    lines = "identifier,target,resource", "ark:12345/a,/2,R1", "ark:12345/b,/1,"
    tried = run(bindings, *lines, dry_run=True)
    assert (tried.added, tried.relocated, tried.written) == (1, 1, False)
    assert bindings.lookup("ark:12345/b") is None
    assert len(bindings.history("ark:12345/a")) == 1
    done = run(bindings, *lines)
    assert done.written
    assert [(each.line, each.outcome, bound_row(each).identifier) for each in tried.listed] == [
        (each.line, each.outcome, bound_row(each).identifier) for each in done.listed
    ]


def test_every_refused_line_is_listed_and_nothing_is_written(bindings: Bindings) -> None:
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


@pytest.mark.parametrize(
    ("column", "cells", "code"),
    [
        ("created", "live,yesterday", "time-text"),
        ("created", "live,2020-10-04T12:00:00", "time-text"),
        ("created", "live,2999-01-01", "time-future"),
        ("created,changed", "live,2020-10-05,2020-10-04", "time-order"),
        ("successor", "live,ark:12345/y", "successor-unwanted"),
        ("successor", "withdrawn,/a/path", "successor-text"),
        ("successor", "withdrawn,ark:/12345/x-1", "successor-itself"),
        ("spelling", "live,ark:12345/x2", "spelling-other-name"),
    ],
)
def test_a_line_with_a_wrong_time_successor_or_spelling_is_refused(
    bindings: Bindings, column: str, cells: str, code: str
) -> None:
    summary = run(bindings, f"identifier,target,status,{column}", f"ark:12345/x1,/1,{cells}")
    assert codes(summary) == [(2, code)]
    assert bindings.lookup("ark:12345/x1") is None


def test_two_equal_lines_for_one_name_are_accepted(bindings: Bindings) -> None:
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
def test_two_different_lines_for_one_name_are_refused_with_both_numbers(
    bindings: Bindings, bound: str | None, first: str, second: str, apart: int
) -> None:
    if bound:
        bindings.bind("ark:12345/x.a.b", bound, resource="R1")
    between = [f"ark:12345/y{number},/1,," for number in range(apart)]
    summary = run(
        bindings, "identifier,target,resource,what", f"ark:12345/x.b.a,{first}", *between, f"ark:/12345/x.a.b,{second}"
    )
    assert codes(summary) == [(apart + 3, "duplicate-line")]
    assert "line 2 (ark:12345/x.b.a) has other values for ark:12345/x.a.b" in summary.refused[0].message
    assert "sorted" in summary.refused[0].message
    assert summary.refused[0].identifier == "ark:/12345/x.a.b"
    assert not summary.written


def test_a_conflict_shows_both_spellings(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x.a.b", "/1")
    (line,) = run(bindings, "identifier,target", "ark:12345/x.b.a,/2").refused
    assert line.identifier == "ark:12345/x.b.a"
    assert "(its normal form is ark:12345/x.a.b: the variants of an ARK" in line.message


def test_names_that_are_easily_confused_are_listed(bindings: Bindings) -> None:
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


def test_names_with_hidden_characters_are_listed(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target", "ark:12345/a\u2066b,/2", "ark:12345/\u00e9,/3")
    assert (summary.added, summary.written) == (2, True)
    assert [(line.line, line.identifier, line.code) for line in summary.warned] == [
        (2, r"ark:12345/a\u{2066}b", "hidden-char"),
        (3, r"ark:12345/\u{e9}", "non-ascii"),
    ]


def test_refusals_are_counted_and_some_are_listed(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target", *(f"ark:99999/x{number},/1" for number in range(1500)))
    assert summary.refusals == 1500
    assert len(summary.refused) == MOST_LISTED
    summary = run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(1500)))
    assert (summary.added, len(summary.listed)) == (1500, MOST_LISTED)


@pytest.mark.parametrize(
    ("octets", "code", "line", "column"),
    [
        pytest.param(b"", "table-empty", 1, None, id="an empty file"),
        pytest.param(b"identifier,target,title\n", "table-column", 1, "title", id="an unknown column"),
        pytest.param(b"identifier,target,\na,/1,x\n", "table-column", 2, 3, id="a value in a column without a name"),
        pytest.param(b"identifier,target,target\n", "table-column-twice", 1, "target", id="a column twice"),
        pytest.param(b"target,what\n", "table-column-missing", 1, "identifier", id="no identifiers"),
        pytest.param(b"ark:12345/a,/1\n", "table-column", 1, "ark:12345/a", id="no header"),
        pytest.param(b"identifier,target,what\nark:12345/a,/1\n", "table-fields", 2, "what", id="a field too few"),
        pytest.param(b"identifier,target\nark:12345/a,/1,x\n", "table-fields", 2, "3", id="a field too many"),
        pytest.param(
            b"identifier,target\nark:12345/a,/1\nark:12345/b,/\x81\n",
            "table-encoding",
            3,
            14,
            id="a byte that is neither UTF-8 nor Windows-1252",
        ),
        pytest.param(
            b'identifier,target\nark:12345/a,/1\nark:12345/b,"/1\n', "table-syntax", 3, 13, id="an open quote"
        ),
    ],
)
def test_an_unreadable_table_is_reported_with_its_position_and_nothing_is_written(
    bindings: Bindings, octets: bytes, code: str, line: int, column: int | str | None
) -> None:
    with pytest.raises(TableError) as fault:
        import_table(bindings, BytesIO(octets))
    assert (fault.value.code, fault.value.line, fault.value.column) == (code, line, column)
    assert bindings.lookup("ark:12345/a") is None
    assert run(bindings, "identifier,target", "ark:12345/a,/1").added == 1


def test_an_error_after_thousands_of_lines_writes_nothing(bindings: Bindings) -> None:
    lines = [f"ark:12345/x{number},/1" for number in range(2100)]
    with pytest.raises(TableError) as fault:
        run(bindings, "identifier,target", *lines, "ark:12345/y")
    assert fault.value.line == 2102
    assert bindings.fetch([f"ark:12345/x{number}" for number in range(2100)]) == {}


@pytest.mark.parametrize("selector", ["", "text/html;", "\u202e"])
def test_an_alternate_without_a_selector_is_refused(bindings: Bindings, selector: str) -> None:
    summary = run(bindings, f"identifier,target,target[{selector}]", "ark:12345/a,/1,/2")
    assert codes(summary) == [(2, "alternate-selector")]


def test_progress_is_reported(bindings: Bindings) -> None:
    told: list[int] = []
    run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(2300)), progress=told.append)
    assert told == [1000, 2000, 2300]


def test_an_interrupted_import_writes_nothing(bindings: Bindings) -> None:
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


def test_batches_are_kept_and_a_second_run_continues(bindings: Bindings) -> None:
    def interrupt(lines: int) -> None:
        if lines == 1200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bindings, "identifier,target", *names(3000), batch=400, progress=interrupt)
    assert len(bindings.fetch([f"ark:12345/x{each}" for each in range(3000)])) == 800
    again = run(bindings, "identifier,target", *names(3000), batch=400)
    assert (again.unchanged, again.added, again.kept, again.written) == (800, 2200, 3000, True)
    assert [event.source for event in bindings.history("ark:12345/x0")] == ["-, line 2"]


def test_an_import_ends_at_the_first_batch_with_a_refused_line(bindings: Bindings) -> None:
    lines = ["identifier,target", *names(25), "ark:99999/x,/1", *names(50)]
    summary = run(bindings, *lines, batch=10)
    assert codes(summary) == [(27, "naan-reserved-invalid")]
    assert (summary.kept, summary.added, summary.written) == (20, 20, False)
    assert len(bindings.fetch([f"ark:12345/x{each}" for each in range(50)])) == 20
    with pytest.raises(TableError) as fault:
        run(bindings, *lines[:26], "ark:12345/y", batch=10)
    assert (fault.value.line, fault.value.kept) == (27, 20)


def test_two_batches_cannot_have_different_lines_for_one_name(bindings: Bindings) -> None:
    lines = "identifier,target,resource", "ark:12345/a,/1,R1", "ark:12345/b,/1,", "ark:12345/a,/2,R1"
    for _ in range(2):
        summary = run(bindings, *lines, batch=1)
        assert codes(summary) == [(4, "duplicate-line")]
        assert "line 2 has other values" in summary.refused[0].message
        assert summary.kept == 2


def test_the_batch_size_must_be_positive(bindings: Bindings) -> None:
    with pytest.raises(ValueError, match="it must be 1 line or more"):
        run(bindings, "identifier,target", batch=0)


def test_a_killed_import_can_be_continued(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
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


def test_an_actor_must_be_plain_text(bindings: Bindings) -> None:
    with pytest.raises(BindingError) as refused:
        run(bindings, "identifier,target", actor="a\nb")
    assert refused.value.code == "actor-text"


def test_readers_see_an_import_at_once(bindings: Bindings) -> None:
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


def test_a_closed_store_cannot_import(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        run(bindings, "identifier,target", "ark:12345/x,/1")


class Endless(RawIOBase):
    """A table that creates its lines when they are read."""

    def __init__(self, lines: int) -> None:
        self._lines = iter(range(lines))
        self._first: Iterator[bytes] = iter([b"identifier,target,what\n"])

    def readline(self, size: int | None = -1, /) -> bytes:
        for line in self._first:
            return line
        number = next(self._lines, None)
        return b"" if number is None else b"ark:12345/x%d,/%d,%s\n" % (number, number, b"A title " * 20)


def test_memory_does_not_grow_with_the_number_of_lines(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    import_table(bindings, cast(BinaryIO, Endless(10)))
    peaks = []
    for lines in (1500, 4500):
        tracemalloc.start()
        assert import_table(bindings, cast(BinaryIO, Endless(lines)), dry_run=True).lines == lines
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 3,000 stored lines would need several million bytes.
    assert peaks[1] - peaks[0] < 1_000_000


def test_a_table_without_targets_updates_titles(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", kind="related", metadata={"what": "Old", "who": "Me"})
    bindings.bind("ark:12345/b", kind="described")
    bindings.bind("ark:12345/c", "/c", kind="served", scope="subtree")
    lines = "identifier,what", "ark:12345/a,New", "ark:12345/b,B", "ark:12345/c,C"
    summary = run(bindings, *lines)
    assert (summary.updated, summary.refused) == (3, [])
    found = bindings.fetch(["ark:12345/a", "ark:12345/b", "ark:12345/c"])
    assert [(each.kind, each.target, each.metadata["erc.what"]) for _, each in sorted(found.items())] == [
        ("related", "/1", "New"),
        ("described", None, "B"),
        ("served", "/c", "C"),
    ]
    assert found["ark:12345/a"].metadata["erc.who"] == "Me"
    assert codes(run(bindings, "identifier,what", "ark:12345/new,Title")) == [(2, "target-missing")]


def test_an_empty_kind_keeps_the_recorded_kind(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", kind="related")
    assert run(bindings, "identifier,target,what", "ark:12345/a,/1,T").updated == 1
    assert codes(run(bindings, "identifier,target", "ark:12345/a,/2")) == [(2, "bound-otherwise")]


def test_white_space_around_cells_is_ignored(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", resource=" R1", metadata={"what": "T "})
    lines = "Identifier,TARGET,resource,what,who", " ark:12345/a ,/1\u00a0,R1 ,T, ", "ark:12345/b,/2, ,\u00a0,"
    summary = run(bindings, *lines)
    assert (summary.unchanged, summary.added, summary.refused) == (1, 1, [])
    found = bindings.lookup("ark:12345/b")
    assert found is not None
    assert (found.resource, dict(found.metadata)) == (None, {})


def test_empty_rows_are_skipped(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target,", "ark:12345/a,/1,", ",,", " , ,", "ark:12345/b,/2,,,")
    assert (summary.lines, summary.added, [each.line for each in summary.listed]) == (2, 2, [2, 5])


def test_files_of_excel_are_imported_and_their_encoding_is_reported(bindings: Bindings) -> None:
    octets = "ARK;URL;Titre;Notes\r\nark:12345/a;/1;Été;x\r\n".encode("cp1252")
    columns = {"ARK": "identifier", "URL": "target", "Titre": "what"}
    summary = import_table(bindings, BytesIO(octets), columns=columns, ignore_unknown=True)
    assert summary.added == 1
    read_as = summary.read_as
    assert (read_as.encoding, read_as.guessed, read_as.delimiter, read_as.ignored) == (
        "Windows-1252",
        True,
        ";",
        ["Notes"],
    )
    found = bindings.lookup("ark:12345/a")
    assert found is not None
    assert found.metadata["erc.what"] == "Été"
    with pytest.raises(TableError) as fault:
        import_table(bindings, BytesIO(octets), encoding="utf-8", columns=columns, ignore_unknown=True)
    assert fault.value.code == "table-encoding"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param({"format": "xml"}, "format-unknown", id="format"),
        pytest.param({"encoding": "nonsense"}, "encoding-unknown", id="encoding"),
        pytest.param({"delimiter": "ab"}, "delimiter-unknown", id="delimiter"),
    ],
)
def test_an_unknown_option_is_refused_as_documented(options: dict[str, str], code: str, bindings: Bindings) -> None:
    with pytest.raises(BindingError) as refused:
        run(bindings, "identifier,target", **options)
    assert refused.value.code == code
    assert f"``{code}``" in (import_table.__doc__ or "")


def test_an_unreadable_file_raises_the_documented_error(bindings: Bindings, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        import_table(bindings, tmp_path / "nothing.csv")
    assert "OSError" in (import_table.__doc__ or "")


def test_accession_numbers_with_the_same_name_are_refused_with_a_reason(bindings: Bindings) -> None:
    summary = run(
        bindings,
        "identifier,target",
        "ark:/12345/1987-12-3,/1",
        "ark:/12345/1987-1-23,/2",
        "ark:/12345/1988.12.3,/3",
        "ark:/12345/1988.3.12,/4",
        "ark:/12345/1989.1,/5",
        "ark:/12345/1989.1.1,/6",
    )
    assert codes(summary) == [(3, "duplicate-line"), (5, "duplicate-line"), (7, "duplicate-line")]
    hyphens, sorted_parts, equal_parts = (line.message for line in summary.refused)
    assert "line 2 (ark:/12345/1987-12-3) has other values for ark:12345/1987123" in hyphens
    assert "hyphens in an ARK are ignored" in hyphens
    assert "sorted" in sorted_parts
    assert "duplicates are removed" in equal_parts
    run(bindings, "identifier,target", "ark:/12345/1987-12-3,/1")
    (refused,) = run(bindings, "identifier,target", "ark:/12345/1987-1-23,/2").refused
    assert refused.code == "bound-otherwise"
    assert "(its normal form is ark:12345/1987123: hyphens in an ARK are ignored)" in refused.message


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_typographic_dash_causes_a_warning(bindings: Bindings, dry_run: bool) -> None:
    summary = run(
        bindings,
        "identifier,target",
        "ark:/12345/inv\u20131990,/1",
        "ark:12345/a%E2%80%90b,/2",
        "ark:12345/a-b,/3",
        dry_run=dry_run,
    )
    assert [(line.line, line.code) for line in summary.warned] == [(2, "non-ascii"), (3, "non-ascii")]
    assert "U+2013 EN DASH, which is not a hyphen" in summary.warned[0].message


def test_a_last_line_without_a_line_end_causes_a_warning(bindings: Bindings) -> None:
    summary = import_table(bindings, BytesIO(b"identifier,target\nark:12345/a,/1\nark:12345/b,https://good.exampl"))
    assert [(line.line, line.identifier, line.code) for line in summary.warned] == [(3, "ark:12345/b", "table-cut")]
    assert summary.written


def test_every_refused_line_is_reported_with_its_cells(bindings: Bindings) -> None:
    told: list[tuple[str, int, str, str]] = []
    names = [f"ark:99999/x{number},/{number}" for number in range(MOST_LISTED + 50)]
    run(
        bindings,
        "identifier,target",
        *names,
        "ark:12345/\u00e9,/1",
        report=lambda result, line, cells: told.append((result, line.line, line.code, cells["target"])),
    )
    assert len(told) == MOST_LISTED + 51
    assert told[MOST_LISTED + 49] == ("refused", MOST_LISTED + 51, "naan-reserved-invalid", "/149")
    assert ("warning", MOST_LISTED + 52, "non-ascii", "/1") in told


def test_a_rolled_back_batch_has_no_lines_in_the_summary(bindings: Bindings) -> None:
    summary = run(
        bindings,
        "identifier,target",
        "ark:12345/a\u2013,/1",
        "ark:12345/b,/1",
        "ark:12345/c\u2013,/1",
        "ark:99999/d,/1",
        batch=2,
    )
    assert (summary.added, summary.kept, summary.warnings) == (2, 2, 1)
    assert [each.line for each in summary.listed] == [2, 3]
    assert [each.line for each in summary.warned] == [2]
    assert codes(summary) == [(5, "naan-reserved-invalid")]


def test_rules_counters_and_minted_names_are_imported(bindings: Bindings) -> None:
    lines = (
        "identifier,target,kind,status,redirect,resource",
        "ark:/12345/x-5,https://example.org/${value},rule,,307,",
        "ark:12345/x5,next 17 of 10^4,counter,,,",
        "urn:uuid:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6,,uuid,,,R1",
        "ark:/12345/x5-0003,,,reserved,,",
        "ark:12345/x50003,,,reserved,,",
    )
    summary = run(bindings, *lines)
    assert (summary.rules, summary.settings, summary.reserved, summary.unchanged) == (1, 2, 1, 1)
    assert [(each.outcome, each.line) for each in summary.listed] == [
        ("set", 2),
        ("set", 3),
        ("set", 4),
        ("reserved", 5),
    ]
    (rule,) = bindings.rules()
    assert (rule.prefix, rule.template, rule.redirect) == ("ark:12345/x5", "https://example.org/${value}", 307)
    reserved = bindings.lookup("ark:12345/x50003")
    assert reserved is not None
    assert (reserved.status, reserved.spelling) == ("reserved", "ark:/12345/x5-0003")
    assert run(bindings, *lines).unchanged == 5
    bindings.remove_rule("ark:12345/x5")
    assert mint(bindings, "12345/x5", length=4, digits=True, sequential=True) == ["ark:12345/x50017"]
    again = run(bindings, lines[0], lines[2])
    assert again.unchanged == 1
    assert mint(bindings, "12345/x5", length=4, digits=True, sequential=True) == ["ark:12345/x50018"]
    assert bindings.bind("ark:12345/x50003", "/3") == "bound"
    assert run(bindings, lines[0], lines[4]).unchanged == 1


@pytest.mark.parametrize(
    ("row", "code"),
    [
        pytest.param("ark:12345/x5,/other/${value},rule,,", "rule-otherwise", id="another template"),
        pytest.param("ark:12345/x5,/things/${value},rule,,307", "rule-otherwise", id="another redirect"),
        pytest.param("ark:12345/x6,/no-variable,rule,,", "rule-template", id="no template"),
        pytest.param("urn:isbn:1,/things/${value},rule,,", "rule-prefix", id="no prefix"),
        pytest.param("ark:12345/x5,/things/${value},rule,withdrawn,", "row-columns", id="a rule with a status"),
        pytest.param("ark:12345/old,/2,,reserved,", "reserve-public", id="a public name with another target"),
        pytest.param("ark:12345/kept,,,withdrawn,", "withdraw-reserved", id="a tombstone for a reserved name"),
        pytest.param("ark:12345,,,reserved,", "no-name", id="no name"),
        pytest.param("ark:12345/x5,17,counter,,", "counter-text", id="no counter"),
        pytest.param("ark:12345/x.5,next 17 of 10^4,counter,,", "counter-text", id="a counter of no shoulder"),
        pytest.param("urn:isbn:0451450523,,uuid,,", "counter-text", id="no UUID"),
    ],
)
def test_each_kind_of_row_has_its_own_rules(bindings: Bindings, row: str, code: str) -> None:
    bindings.set_rule("ark:12345/x5", "/things/${value}")
    bindings.bind("ark:12345/old", "/1")
    bindings.reserve("ark:12345/kept")
    summary = run(bindings, "identifier,target,kind,status,redirect", row, "ark:12345/new,/1,,,")
    assert codes(summary) == [(2, code)]
    assert bindings.lookup("ark:12345/new") is None
    assert [rule.template for rule in bindings.rules()] == ["/things/${value}"]


def test_the_owner_of_a_uuid_is_never_replaced(bindings: Bindings) -> None:
    row = "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6,uuid,"
    assert run(bindings, "identifier,kind,resource", f"{row}R1").settings == 1
    assert codes(run(bindings, "identifier,kind,resource", f"{row}R2")) == [(2, "uuid-reused")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(
            f"/1,{'x' * 4001}",
            "the metadata element what has 4,001 characters; at most 4,000 are allowed",
            id="a title",
        ),
        pytest.param(
            f"/{'x' * 2048},", "the target has 2,049 characters; at most 2,048 bytes are allowed", id="a long target"
        ),
        pytest.param(
            "/" + "\u00e9" * 400 + ",",
            "the target has 2,401 bytes after percent-encoding; at most 2,048 are allowed",
            id="a target that is long when percent-encoded",
        ),
        pytest.param("www.museum.example/x,", "did you mean https://www.museum.example/x?", id="no scheme"),
    ],
)
def test_a_refusal_states_what_is_allowed(bindings: Bindings, row: str, message: str) -> None:
    (refused,) = run(bindings, "identifier,target,what", f"ark:12345/a,{row}").refused
    assert message in refused.message


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\\u0041", "a'b;--", "{}", ""])
def test_seen_names_are_returned_in_the_order_of_their_addition(text: str) -> None:
    with closing(SeenNames()) as seen:
        seen.add({f"ark:12345/{text}": f"{text}.csv, line 2", "ark:12345/x": "names.csv, line 3"})
        seen.add({})
        assert seen.lookup([f"ark:12345/{text}", "ark:12345/y"]) == {f"ark:12345/{text}": f"{text}.csv, line 2"}
