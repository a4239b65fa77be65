"""Imports that contain reserved names: the default status is for new names only."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.sources.importing import import_dump
from ararat.bindings.imports.summary import Summary

R = "ark:12345/r1"


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, BytesIO("".join(f"{line}\n" for line in lines).encode()), **options)


def state(bindings: Bindings) -> tuple[str, str, str | None]:
    found = bindings.lookup(R)
    assert found is not None
    return found.status, found.kind, found.target


@pytest.mark.parametrize("relocate", [False, True])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(["identifier,who", f"{R},Noah"], ("reserved", "described", None), id="a field"),
        pytest.param(["identifier,target", f"{R},/1"], ("reserved", "located", "/1"), id="a target"),
        pytest.param(["identifier,target,status", f"{R},/1,"], ("reserved", "located", "/1"), id="an empty status"),
        pytest.param(["identifier,status,who", f"{R},reserved,Noah"], ("reserved", "described", None), id="reserved"),
    ],
)
def test_a_reserved_name_without_the_status_live_stays_reserved(
    bindings: Bindings, lines: list[str], expected: tuple[str, str, str | None], relocate: bool
) -> None:
    bindings.reserve(R, metadata={"what": "Estate (closed until 2040)"})
    summary = run(bindings, *lines, relocate=relocate)
    assert (summary.added, summary.published, summary.updated, summary.refused) == (0, 0, 1, [])
    assert state(bindings) == expected


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_row_with_the_status_live_publishes_a_reserved_name_and_is_counted_apart(
    bindings: Bindings, dry_run: bool
) -> None:
    bindings.reserve(R)
    rows = [f"{R},/1,live", "ark:12345/new,/2,live"]
    summary = run(bindings, "identifier,target,status", *rows, dry_run=dry_run)
    assert (summary.added, summary.published) == (1, 1)
    assert [each.outcome for each in summary.listed] == ["published", "bound"]
    assert state(bindings)[0] == ("reserved" if dry_run else "live")


def test_a_reserved_name_can_lose_its_target_in_an_import(bindings: Bindings) -> None:
    bindings.reserve(R, "/1")
    run(bindings, "identifier,kind", f"{R},described")
    assert state(bindings) == ("reserved", "described", None)


@pytest.mark.parametrize(
    ("status", "expected"),
    [pytest.param("", "reserved", id="not stated"), pytest.param("_status: public\n", "live", id="stated")],
)
def test_a_dump_publishes_a_reserved_name_only_if_it_states_the_status(
    bindings: Bindings, tmp_path: Path, status: str, expected: str
) -> None:
    bindings.reserve(R)
    dump = tmp_path / "dump.anvl"
    dump.write_text(f":: {R}\n{status}_target: https://example.org/1\n")
    migration = import_dump(bindings, dump, source="ezid")
    assert migration.summary.published == (expected == "live")
    assert state(bindings)[0] == expected
