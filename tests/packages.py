"""The packages of Ararat, for the tests and programs that read the code of all or some of them."""

from __future__ import annotations

import ast
import gc
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
def read(path: Path) -> str:
    """Return the text of a file. The tests that read the code run in one process, which reads it once."""
    return path.read_text("utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module, which is parsed once in a process, as its text is read once."""
    gc.disable()
    try:
        return ast.parse(read(path))
    finally:
        gc.freeze()  # Each collection of garbage would read the trees.
        gc.enable()


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a module."""
    return walk(parsed(path))


def walk(tree: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes in it in the order of ``ast.walk``, but no contexts of names. This is faster."""
    found = [tree]
    for node in found:
        for value in vars(node).values():
            if isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return found


def statements(tree: ast.AST) -> list[ast.AST]:
    """Return a node and all statements, handlers and cases in it, without their expressions."""
    found = [tree]
    for node in found:
        found += inner(node)
    return found


def inner(node: ast.AST) -> list[ast.AST]:
    """Return the statements, handlers and cases that are directly in a module or in one of them."""
    known = vars(node)
    return [each for name in _BLOCKS if name in known for each in known[name]]


_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


@cache
def tracked() -> tuple[str, ...]:
    """Return the paths of all modules that git knows or would add, also of the tests, in order."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted(name for name in set(listed.split("\0")) if name and (ROOT / name).exists()))


def product() -> list[Path]:
    """Return all modules that users get: those of the packages, and those of the root."""
    return [ROOT / name for name in tracked() if not name.startswith("tests/") and name != "setup.py"]
