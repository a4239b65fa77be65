"""The packages of Ararat, for the tests and programs that read the code of all or some of them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("identifiers", "bindings", "spreadsheets", "net", "middleware", "tracing", "webapp", "cli")
"""Each may import itself and the packages before it. A test compares them with the folders."""


def modules(*, without: tuple[str, ...] = ()) -> list[Path]:
    """Return the modules of all packages but ``without``, in the order of their paths."""
    return [path for each in PACKAGES if each not in without for path in sorted((ROOT / each).rglob("*.py"))]
