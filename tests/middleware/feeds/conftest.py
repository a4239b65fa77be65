"""Clients of feeds, for names in a database or in a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.imports.exporting import export_table
from ararat.middleware import Bindings, ResolverMiddleware

PREFIX = "https://r.example"
START = datetime(2026, 1, 31, 12, 30, 15, 500, tzinfo=UTC)


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]


@pytest.fixture
def feed_of() -> Callable[..., Client]:
    """feed_of(bindings, **settings) returns a client of a site with a resolver."""
    return lambda bindings, **settings: Client(ResolverMiddleware(site, bindings, prefix=PREFIX, **settings))


@pytest.fixture
def ticking(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    """Empty bindings in SQLite. Each change is an hour after the change before."""
    hours = count()
    return open_store(f"sqlite:///{tmp_path / 'ticking.sqlite'}", clock=lambda: START + timedelta(hours=next(hours)))


@pytest.fixture
def as_file(tmp_path: Path, open_store: Callable[..., Bindings]) -> Callable[[Bindings], Bindings]:
    """as_file(bindings) opens the same names in a file of text."""

    def write(bindings: Bindings) -> Bindings:
        path = tmp_path / "names.jsonl"
        with path.open("wb") as file:
            export_table(bindings, file, format="jsonl")
        return open_store(path)

    return write
