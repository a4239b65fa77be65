"""Check that each reference in a docstring, such as :func:`find`, names something that exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .test_layout import FILES, ROOT, module_name

REFERENCE = re.compile(r":(?:mod|class|func|meth|data|attr|exc):`~?\.*([^`]+?)(?:\(\))?`")
OTHERS = {"threading", "werkzeug", "click", "logging"}
"""Libraries whose names docstrings contain."""


def names_of(body: list[ast.stmt], owner: str) -> Iterator[str]:
    """Yield the qualified names that statements define, including imported names and attributes of ``self``."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"{owner}.{node.name}"
            yield from names_of(node.body, f"{owner}.{node.name}")
        elif isinstance(node, ast.FunctionDef):
            yield f"{owner}.{node.name}"
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Attribute))
            yield from (f"{owner}.{part.attr}" for part in stored if isinstance(part.ctx, ast.Store))
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{owner}.{alias.asname or alias.name}" for alias in node.names)
        elif isinstance(node, ast.If):
            yield from names_of([*node.body, *node.orelse], owner)
        else:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            yield from (f"{owner}.{part.id}" for part in stored if isinstance(part.ctx, ast.Store))


def test_references_in_docstrings_exist():
    names: set[str] = set()
    for path in FILES:
        names |= {module_name(path), *names_of(ast.parse(path.read_bytes()).body, module_name(path))}
    # A reference can contain any end of a qualified name.
    known = {name.split(".", start)[-1] for name in names for start in range(name.count(".") + 1)}
    unknown = [
        f"{path.relative_to(ROOT)}: {reference}"
        for path in FILES
        for reference in REFERENCE.findall(path.read_text("utf-8"))
        if reference not in known and reference.partition(".")[0] not in OTHERS
    ]
    assert unknown == []
