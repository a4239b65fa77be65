"""The store of the tests of exports. An export reads a snapshot, which the tests of stores check for each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ararat.middleware import Bindings, open_bindings


@pytest.fixture
def bindings(tmp_path: Path) -> Iterator[Bindings]:
    """An empty SQLite database."""
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as opened:
        yield opened
