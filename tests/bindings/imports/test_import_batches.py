"""Imports in batches, imports that end early, and the memory of large imports."""

from __future__ import annotations

import signal
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.summary import Summary
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.operations import pace
from ararat.bindings.operations.runner import stop_operation
from ararat.bindings.operations.undo import undo_operation
from tests.forking import ForkedCode


def table(*lines: str) -> BytesIO:
    return BytesIO("".join(f"{line}\n" for line in lines).encode())


def run(bindings: Bindings, *lines: str, **options) -> Summary:
    return import_table(bindings, table(*lines), **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in summary.refused]


def names(number: int) -> list[str]:
    return [f"ark:12345/x{each},/1" for each in range(number)]


@pytest.mark.usefixtures("small_blocks")
def test_progress_is_reported(bindings: Bindings) -> None:
    told: list[int] = []
    run(bindings, "identifier,target", *(f"ark:12345/x{number},/1" for number in range(230)), progress=told.append)
    assert (told[0], told.count(230)) == (100, 2)  # the check, and the blocks
    told.clear()
    run(
        bindings,
        "identifier,target",
        *(f"ark:12345/x{number},/1" for number in range(230)),
        atomic=True,
        progress=told.append,
    )
    assert told == [100, 200, 230]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("atomic", [True, False])
def test_an_import_that_is_interrupted_during_its_check_writes_nothing(bindings: Bindings, atomic: bool) -> None:
    def interrupt(lines: int) -> None:
        if lines == 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bindings, "identifier,target", *names(300), atomic=atomic, progress=interrupt)
    assert bindings.lookup("ark:12345/x1") is None
    assert bindings.history("ark:12345/x1") == []
    assert bindings.bind("ark:12345/x1", "/2") == "bound"


def test_batches_are_kept_and_a_second_run_continues(bindings: Bindings) -> None:
    def interrupt(lines: int) -> None:
        if lines == 120:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bindings, "identifier,target", *names(300), batch=40, progress=interrupt)
    assert len(bindings.store.fetch([f"ark:12345/x{each}" for each in range(300)])) == 120
    again = run(bindings, "identifier,target", *names(300), batch=40)
    assert (again.continued, again.added, again.kept, again.written) == (True, 300, 300, True)
    assert [(each.names, each.finished is not None) for each in bindings.list_operations()] == [(300, True)]
    assert [event.source for event in bindings.history("ark:12345/x0")] == ["-, line 2"]


def test_an_import_ends_at_the_first_batch_with_a_refused_line(bindings: Bindings) -> None:
    lines = ["identifier,target", *names(25), "ark:99999/x,/1", *names(50)]
    summary = run(bindings, *lines, batch=10)
    assert codes(summary) == [(27, "naan-reserved-invalid")]
    assert (summary.kept, summary.added, summary.written) == (20, 20, False)
    assert len(bindings.store.fetch([f"ark:12345/x{each}" for each in range(50)])) == 20
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
    table.write_text("identifier,target\n" + "".join(f"{line}\n" for line in names(500)))
    program = (
        "import os, signal, sys; from ararat.middleware import import_table, open_bindings\n"
        "kill = lambda lines: lines == 310 and os.kill(os.getpid(), signal.SIGKILL)\n"
        "import_table(open_bindings(sys.argv[1], create=True), sys.argv[2], batch=10, progress=kill)"
    )
    with ForkedCode(program, str(tmp_path / "bindings.sqlite"), str(table)) as process:
        assert process.wait(60) == -signal.SIGKILL
    bindings = open_store(tmp_path / "bindings.sqlite")
    summary = import_table(bindings, table, batch=100)
    assert (summary.continued, summary.added, summary.kept) == (True, 500, 500)
    assert len(bindings.history("ark:12345/x1")) == 1


@pytest.mark.usefixtures("small_blocks")
def test_readers_see_an_atomic_import_at_once(bindings: Bindings) -> None:
    seen: list[int] = []
    names = [f"ark:12345/x{number}" for number in range(150)]
    run(
        bindings,
        "identifier,target",
        *(f"{name},/1" for name in names),
        atomic=True,
        progress=lambda _: seen.append(len(bindings.store.fetch(names))),
    )
    assert seen == [0, 0]
    assert len(bindings.store.fetch(names)) == 150


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


@pytest.mark.usefixtures("small_blocks")
def test_memory_does_not_grow_with_the_number_of_lines(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    import_table(bindings, cast(BinaryIO, Endless(10)))
    peaks = []
    for lines in (150, 650):
        tracemalloc.start()
        assert import_table(bindings, cast(BinaryIO, Endless(lines)), dry_run=True).lines == lines
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 500 stored lines would need more than half a million bytes.
    assert peaks[1] - peaks[0] < 200_000


def test_a_rolled_back_batch_has_no_lines_in_the_summary(bindings: Bindings) -> None:
    summary = run(
        bindings,
        "identifier,target",
        "ark:12345/a\u2013,/1",
        "ark:12345/b,/2",
        "ark:12345/c\u2013,/3",
        "ark:99999/d,/1",
        batch=2,
    )
    assert (summary.added, summary.kept, summary.warnings) == (2, 2, 1)
    assert [each.line for each in summary.listed] == [2, 3]
    assert [each.line for each in summary.warned] == [2]
    assert codes(summary) == [(5, "naan-reserved-invalid")]


def test_an_import_ends_if_its_operation_is_undone_between_two_batches(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def undo() -> None:
        stop_operation(bindings, 1)
        undo_operation(bindings, 1)

    pauses = iter([undo])
    monkeypatch.setattr(pace.BlockPace, "rest", lambda self: next(pauses, lambda: None)())
    with pytest.raises(BindingError) as caught:
        run(bindings, "identifier,target", *names(6), batch=2)
    assert caught.value.code == "operation-undone"
    found = {
        key[-2:]: binding.status for key, binding in bindings.store.fetch(f"ark:12345/x{n}" for n in range(6)).items()
    }
    assert found == {"x0": "withdrawn", "x1": "withdrawn"}
