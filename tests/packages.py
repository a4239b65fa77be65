"""The packages of Ararat, for the tests and programs that read the code of all or some of them."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("identifiers", "bindings", "spreadsheets", "net", "middleware", "tracing", "webapp", "cli")
"""Each may import itself and the packages before it. A test compares them with the folders."""


def modules(*, without: tuple[str, ...] = ()) -> list[Path]:
    """Return the modules of all packages but ``without``, in the order of their paths."""
    return [path for each in PACKAGES if each not in without for path in sorted((ROOT / each).rglob("*.py"))]


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module. The tests that read the code run in one process, which parses it once."""
    return ast.parse(path.read_bytes())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of a module, as ``ast.walk`` yields them."""
    return tuple(ast.walk(parsed(path)))


@cache
def tracked() -> tuple[str, ...]:
    """Return the paths of all modules that git knows or would add, also of the tests, in order."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted(name for name in set(listed.split("\0")) if name and (ROOT / name).exists()))


def product() -> list[Path]:
    """Return all modules that users get: those of the packages, and those of the root."""
    return [ROOT / name for name in tracked() if not name.startswith("tests/") and name != "setup.py"]
