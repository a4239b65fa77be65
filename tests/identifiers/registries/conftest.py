"""Fixtures for the tests of registries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ararat.identifiers import registries
from ararat.identifiers.registries.files import read


@pytest.fixture
def folder(tmp_path: Path, data: Path) -> Iterator[Path]:
    """A folder with the tables of the sample NAAN registry, used during one test."""
    name = "naan-v2.json"
    for table in read((data / "registries" / name).read_bytes(), name=name):
        (tmp_path / table.registry.file).write_text(table.text(), "utf-8")
    registries.use(tmp_path)
    yield tmp_path
    registries.use()
