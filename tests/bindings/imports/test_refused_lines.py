"""Lines that an import refuses, and files that cannot be read."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.summary import MAX_LISTED, Summary
from ararat.bindings.names.errors import TableError


def table(*lines: str) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


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
        '"ark:12345/i",/1,,,,,,"two\n\x07lines"',
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


@pytest.mark.one_setup
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
        ("once_public", "reserved,maybe", "once-public"),
    ],
)
def test_a_line_with_a_wrong_time_successor_or_spelling_is_refused(
    bindings: Bindings, column: str, cells: str, code: str
) -> None:
    summary = run(bindings, f"identifier,target,status,{column}", f"ark:12345/x1,/1,{cells}")
    assert codes(summary) == [(2, code)]
    assert bindings.lookup("ark:12345/x1") is None


@pytest.mark.one_setup
@pytest.mark.parametrize("apart", [0, 1200])
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


def test_refusals_are_counted_and_some_are_listed(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target", *(f"ark:99999/x{number},/1" for number in range(150)))
    assert summary.refusals == 150
    assert len(summary.refused) == MAX_LISTED
    summary = run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(150)))
    assert (summary.added, len(summary.listed)) == (150, MAX_LISTED)


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


@pytest.mark.usefixtures("small_blocks")
def test_an_error_after_several_blocks_writes_nothing(bindings: Bindings) -> None:
    lines = [f"ark:12345/x{number},/1" for number in range(210)]
    with pytest.raises(TableError) as fault:
        run(bindings, "identifier,target", *lines, "ark:12345/y")
    assert fault.value.line == 212
    assert bindings.store.fetch([f"ark:12345/x{number}" for number in range(210)]) == {}


@pytest.mark.one_setup
@pytest.mark.parametrize("selector", ["", "text/html;", "\u202e"])
def test_an_alternate_without_a_selector_is_refused(bindings: Bindings, selector: str) -> None:
    summary = run(bindings, f"identifier,target,target[{selector}]", "ark:12345/a,/1,/2")
    assert codes(summary) == [(2, "alternate-selector")]


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


def test_every_refused_line_is_reported_with_its_cells(bindings: Bindings) -> None:
    told: list[tuple[str, int, str, str]] = []
    names = [f"ark:99999/x{number},/{number}" for number in range(MAX_LISTED + 50)]
    run(
        bindings,
        "identifier,target",
        *names,
        "ark:12345/\u00e9,/1",
        report=lambda result, line, cells: told.append((result, line.line, line.code, cells["target"])),
    )
    assert len(told) == MAX_LISTED + 51
    assert told[MAX_LISTED + 49] == ("refused", MAX_LISTED + 51, "naan-reserved-invalid", "/149")
    assert ("warning", MAX_LISTED + 52, "non-ascii", "/1") in told


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(
            f"/1,{'x' * 65_537}",
            "what: the text has 65,537 characters; at most 65,536 are allowed",
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
