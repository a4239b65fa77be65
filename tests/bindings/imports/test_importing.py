"""Imports, each test on SQLite and on PostgreSQL."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.summary import ImportEffect, Summary
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.binding import Binding, rfc3339
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, TableError
from ararat.bindings.tables.columns import COLUMNS


def table(*lines: str) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


def bound_row(line: ImportEffect) -> Binding:
    """Return the binding after a listed line. The line is not a rule or another row."""
    assert isinstance(line.after, Binding)
    return line.after


def test_every_column_is_imported(bindings: Bindings) -> None:
    header = ",".join([*COLUMNS, "target[text/html;en]", "target[de]"])
    header += ",dc.title"
    elements = "Noah,The Ark,2020,Ararat,(:unkn),lifetime,subinfinite,fixed,2020-10-04,https://example.org/policy"
    origin = "ark:/12345/do-c,2001-02-03,2002-02-03T04:05:06+01:00"
    start = f"ark:/12345/d-oc,https://example.org/1,related,R1,live,yes,name,R2,B1|B2,,{elements}"
    summary = run(bindings, header, f"{start},307,no,,,{origin},,,,,/en,/de,An Ark")
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
    assert (found.redirect, found.listed) == (307, False)
    assert dict(found.numbers) == {"current": "R2", "further": "B1|B2"}
    assert dict(found.alternates) == {"de": "/de", "text/html;en": "/en"}
    assert ",".join(found.metadata.values()) == f"{elements},An Ark"
    assert found.spelling == "ark:/12345/do-c"
    assert (rfc3339(found.created), rfc3339(found.changed)) == (
        "2001-02-03T00:00:00.000000Z",
        "2002-02-03T03:05:06.000000Z",
    )
    assert [event.when for event in bindings.history("ark:12345/doc")] == [found.changed]
    assert run(bindings, "identifier,status,once_public", "ark:12345/hidden,reserved,yes").reserved == 1
    hidden = bindings.lookup("ark:12345/hidden")
    assert hidden is not None
    assert hidden.is_hidden


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
    found = bindings.store.fetch(["ark:12345/a", "ark:12345/b"])
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


@pytest.fixture(params=[True, False], ids=["on", "off"])
def is_collecting(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the garbage collector is on before an import."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_the_garbage_collector_is_off_only_while_lines_are_written(bindings: Bindings, is_collecting: bool) -> None:
    seen: list[bool] = []

    def look(before: Binding | None, change: Change, transaction: object) -> Change:
        seen.append(gc.isenabled())
        return change

    bindings.check_change = look
    import_table(bindings, BytesIO(b"identifier,target\nark:12345/x1,/x\n"))
    assert (seen, gc.isenabled()) == ([False], is_collecting)


def test_the_garbage_collector_is_on_after_a_failure(bindings: Bindings, is_collecting: bool) -> None:
    def fail(before: Binding | None, change: Change, transaction: object) -> Change:
        raise RuntimeError

    bindings.check_change = fail
    with pytest.raises(RuntimeError):
        import_table(bindings, BytesIO(b"identifier,target\nark:12345/x1,/x\n"))
    assert gc.isenabled() is is_collecting


def test_two_equal_lines_for_one_name_are_accepted(bindings: Bindings) -> None:
    summary = run(bindings, "identifier,target,what", "ark:12345/a,/1,T", "ark:/12345/-a,/1,T", "ark:12345/a,/1,")
    assert (summary.added, summary.unchanged, summary.refusals) == (1, 2, 0)


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
    summary = run(bindings, "identifier,target", "ark:12345/a%E2%81%A6b,/2", "ark:12345/\u00e9,/3")
    assert (summary.added, summary.written) == (2, True)
    assert [(line.line, line.identifier, line.code) for line in summary.warned] == [
        (2, "ark:12345/a%E2%81%A6b", "hidden-char"),
        (3, "ark:12345/\u00e9", "non-ascii"),
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("cells", "code"),
    [
        pytest.param("ark:12345/a\u200bb,/1,live,", "hidden-char", id="name"),
        pytest.param("ark:12345/a,https://example.org/\u00adb,live,", "target-character", id="target"),
        pytest.param("ark:12345/a,/1,withdrawn,ark:12345/b\u200b", "hidden-char", id="successor"),
    ],
)
def test_a_hidden_character_that_is_not_encoded_is_refused(bindings: Bindings, cells: str, code: str) -> None:
    summary = run(bindings, "identifier,target,status,successor", cells)
    assert [(line.line, line.code) for line in summary.refused] == [(2, code)]


def test_an_actor_must_be_plain_text(bindings: Bindings) -> None:
    with pytest.raises(BindingError) as refused:
        run(bindings, "identifier,target", actor="a\nb")
    assert refused.value.code == "actor-text"


def test_a_closed_store_cannot_import(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        run(bindings, "identifier,target", "ark:12345/x,/1")


def test_a_table_without_targets_updates_titles(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "/1", kind="related", metadata={"what": "Old", "who": "Me"})
    bindings.bind("ark:12345/b", kind="described")
    bindings.bind("ark:12345/c", "/c", kind="served", scope="subtree")
    lines = "identifier,what", "ark:12345/a,New", "ark:12345/b,B", "ark:12345/c,C"
    summary = run(bindings, *lines)
    assert (summary.updated, summary.refused) == (3, [])
    found = bindings.store.fetch(["ark:12345/a", "ark:12345/b", "ark:12345/c"])
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


@pytest.mark.one_setup
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
