"""Test the table of a file: reading it, and what a new version may change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.errors import TableError
from ararat.bindings.open import open_file
from ararat.bindings.served_file import copy as served_copy
from ararat.bindings.served_file.table import read_table
from tests.waiting import until

from .conftest import A, B, put, target


def test_two_rules_with_one_prefix_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("identifier,target,kind\nark:12345/x5,/a/${value},rule\nark:/12345/x-5,/b/${value},rule\n")
    with pytest.raises(TableError, match="lines 2 and 3 both have a rule for ark:12345/x5") as fault:
        read_table(served_copy.read(path))
    assert (fault.value.code, fault.value.line) == ("duplicate-line", 3)


@pytest.mark.parametrize(
    "line", ["ark:12345/a,/a,,2040-06-01T00:00:00Z,a claim", "ark:12345/x5,,prefix,2040-06-01T00:00:00Z,a claim"]
)
def test_a_hold_is_limited_by_the_clock_of_the_bindings(tmp_path: Path, line: str) -> None:
    path = tmp_path / "all.csv"
    path.write_text(f"identifier,target,kind,hold_until,hold_reason\n{line}\n")
    read_table(served_copy.read(path), clock=lambda: datetime(2040, 1, 1, tzinfo=UTC))
    with pytest.raises(TableError, match="hold-until"):
        read_table(served_copy.read(path), clock=lambda: datetime(2039, 1, 1, tzinfo=UTC))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "octets",
    [
        pytest.param("identifier,target\nark:12345/a,/é\n".encode("cp1252"), id="Windows-1252"),
        pytest.param("identifier,target\nark:12345/a,/é\n".encode("utf-16"), id="UTF-16"),
    ],
)
def test_the_encoding_of_a_served_file_is_not_guessed(octets: bytes, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_bytes(octets)
    with pytest.raises(TableError) as fault:
        read_table(served_copy.read(path))
    assert fault.value.code == "table-encoding"


def test_a_binding_is_made_from_its_line_at_the_first_use(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("identifier,target,who\nark:12345/y,/y,Noah\nark:/12345/x,/x,\nark:12345/y,/y,Noah\n")
    table = read_table(served_copy.read(path))
    found = table.bindings["ark:12345/y"]
    assert (found.target, dict(found.metadata), found.changed) == ("/y", {"erc.who": "Noah"}, table.changed)
    assert table.bindings["ark:12345/y"] is found
    assert list(table.bindings) == ["ark:12345/y", "ark:12345/x"]
    assert [each.spelling for each in table.bindings.values()] == ["ark:12345/y", "ark:/12345/x"]
    assert "ark:12345/z" not in table.bindings
    assert table.bindings.get("ark:12345/z") is None


def test_an_equal_second_line_is_accepted(file: Path, open_store: Callable[..., Bindings]) -> None:
    put(file, f"{A},/1,R1,,", f"{B},/2,,,", f"{A},/1,R1,,", "ark:/12345/-a,/1,,,")
    bindings = open_store(file)
    assert (bindings.source.refusal, target(bindings, A)) == (None, "/1")
    assert bindings.history(B)[0].source == "bindings.csv, line 3"


# What a new version may change, also after a restart ------------------------------------------------------------------

WIDE = "identifier,target,resource,status,kind,passthrough,scope,target[en]\n"


def row(target: str = "/1", resource: str = "", status: str = "", kind: str = "", **other: str) -> str:
    """Return the line for A in a wide table."""
    cells = (A, target, resource, status, kind, *(other.get(key, "") for key in ("passthrough", "scope", "en")))
    return WIDE + ",".join(cells) + "\n"


CHANGES = [
    pytest.param(row(), row(resource="R1"), None, id="a claim"),
    pytest.param(row(resource="R1"), row("/2", "R1"), None, id="a move with the resource"),
    pytest.param(row(resource="R1"), row("/1", "R1", en="/en"), None, id="an alternate with the resource"),
    pytest.param(row(resource="R1"), row("/1", "R1", passthrough="true"), None, id="passthrough with the resource"),
    pytest.param(row(), row(status="withdrawn"), None, id="a withdrawal"),
    pytest.param(row(), row("", status="withdrawn"), None, id="a withdrawal without the target"),
    pytest.param(row(status="withdrawn"), row(status="live"), None, id="a restoration"),
    pytest.param(row("", "R1", "withdrawn"), row("/2", "R1", "live"), None, id="a restoration with the resource"),
    pytest.param(row(), row("/2"), "bound-otherwise", id="a move without a resource"),
    pytest.param(row(), row("/2", "R1"), "bound-otherwise", id="a claim and a move at once"),
    pytest.param(row(), row(en="https://evil.example/"), "bound-otherwise", id="an alternate"),
    pytest.param(row(), row(passthrough="true"), "bound-otherwise", id="passthrough"),
    pytest.param(row(), row(kind="related"), "bound-otherwise", id="another kind"),
    pytest.param(row(kind="served"), row(kind="served", scope="subtree"), "bound-otherwise", id="a scope"),
    pytest.param(row(resource="R1"), row(resource="R2"), "other-resource", id="another resource"),
    pytest.param(row(resource="R1"), row(), "other-resource", id="no resource"),
    pytest.param(row(), row("/2", status="withdrawn"), "bound-otherwise", id="a move by a withdrawal"),
    pytest.param(row(), row(resource="mine", status="withdrawn"), "claim-withdrawn", id="a claim by a withdrawal"),
    pytest.param(row(status="withdrawn"), row("/2", status="live"), "withdrawn", id="live again elsewhere"),
    pytest.param(row(status="withdrawn"), row("/2", status="withdrawn"), "withdrawn", id="withdrawn elsewhere"),
    pytest.param(row(status="withdrawn"), row(), "withdrawn", id="live again without a word"),
    pytest.param(row("", status="withdrawn"), row("/2", status="live"), "withdrawn", id="live again somewhere"),
    pytest.param(
        row(status="withdrawn"), row("", "mine", "withdrawn"), "claim-withdrawn", id="a withdrawn one claimed"
    ),
    pytest.param(row(), row()[:-1], "table-cut", id="a last line that is cut"),
    pytest.param(row() + "ark:12345/z,/1,,,,,,\n", row(), "name-missing", id="a name missing"),
]


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize(("before", "after", "code"), CHANGES)
def test_a_new_version_must_follow_the_rules_of_an_import(
    before: str, after: str, code: str | None, restarted: bool, file: Path, open_store: Callable[..., Bindings]
) -> None:
    file.write_text(before)
    bindings = open_store(file)
    served = bindings.lookup(A)
    file.write_text(after)
    if restarted:
        bindings = open_store(file)
    else:
        accepted = open_file(file, served=False).lookup(A) if code is None else None
        until(lambda: bindings.lookup(A) == accepted or bindings.source.refusal)
    if code is None:
        assert bindings.source.refusal is None
        assert file.with_name("bindings.csv.served").read_text() == after
    else:
        assert f"({code})" in str(bindings.source.refusal)
        assert bindings.lookup(A) == served
        assert file.with_name("bindings.csv.served").read_text() == before


# An import differs: a blank cell changes nothing, restoring is a command, and missing lines are allowed.
FILE_ONLY = {
    "a restoration",
    "a restoration with the resource",
    "no resource",
    "live again elsewhere",
    "live again without a word",
    "live again somewhere",
    "a last line that is cut",
    "a name missing",
}


@pytest.mark.parametrize(("before", "after", "code"), [case for case in CHANGES if case.id not in FILE_ONLY])
def test_an_import_accepts_and_refuses_the_same_changes(
    before: str, after: str, code: str | None, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(tmp_path / "b.sqlite")
    assert import_table(bindings, BytesIO(before.encode())).written
    summary = import_table(bindings, BytesIO(after.encode()))
    assert [line.code for line in summary.refused] == ([] if code is None else [code])
    assert summary.unchanged == 0
    assert len(summary.listed) == (code is None)
