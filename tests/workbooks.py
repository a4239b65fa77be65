"""Read the workbooks of a test in its own process, because starting another one takes longer than most tests."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from ararat.spreadsheets import workbook, workbook_process


def run_here(content: bytes, file: str) -> list[bytes]:
    """Return the lines of the program that reads a workbook, without a process and its limits."""
    out = io.BytesIO()
    streams = {"stdin": SimpleNamespace(buffer=io.BytesIO(content)), "stdout": SimpleNamespace(buffer=out)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbook, "sys", SimpleNamespace(argv=["", "4"], **streams))
        patch.setattr(workbook, "_end_with_parent", lambda: None)
        patch.setattr(workbook, "_limit_memory", lambda *limits: lambda seconds: None)
        workbook.main()
    return out.getvalue().split(b"\n")[:-1]


@pytest.fixture
def workbooks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read workbooks without another process, which has tests of its own."""
    monkeypatch.setattr(workbook_process, "_run", run_here)
