"""Shared fixtures: a table file, and bindings that are served from it without a delay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.served_file import store as filestore

HEADER = "identifier,target,resource,status,reason\n"
A, B = "ark:12345/a", "ark:12345/b"


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filestore, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(filestore, "SETTLE_SECONDS", 0.01)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bindings.csv"
    put(path, f"{A},/1,R1,,", f"{B},/2,,,")
    return path


@pytest.fixture
def bindings(file: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(file)


def put(path: Path, *lines: str) -> None:
    """Replace the file by a new version, as Git does."""
    beside = path.with_suffix(".new")
    beside.write_text(HEADER + "".join(f"{line}\n" for line in lines))
    beside.replace(path)


def target(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    return found and found.target
