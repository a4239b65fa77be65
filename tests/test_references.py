"""Check that each reference in a docstring, such as :func:`find`, names exactly one thing that exists."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import pytest

from .packages import parsed, read, statements, walk
from .test_layout import FILES, ROOT, module_name

REFERENCE = re.compile(r":(mod|class|func|meth|data|attr|exc):`~?(\.*)([^`]+?)(?:\(\))?`")
OTHERS = {"threading", "werkzeug", "click", "logging"}
"""Libraries whose names docstrings contain."""


def imported_names(body: list[ast.stmt], owner: str) -> Iterator[str]:
    """Yield the qualified names that statements import from modules, also for a type checker only."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{owner}.{alias.asname or alias.name}" for alias in node.names)
        elif isinstance(node, ast.If | ast.ClassDef):
            inner = f"{owner}.{node.name}" if isinstance(node, ast.ClassDef) else owner
            yield from imported_names([*node.body, *getattr(node, "orelse", ())], inner)


def defined_names(body: list[ast.stmt], owner: str) -> Iterator[str]:
    """Yield the qualified names that statements define, including attributes of ``self``."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"{owner}.{node.name}"
            yield from defined_names(node.body, f"{owner}.{node.name}")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{owner}.{node.name}"
            targets = [target for each in statements(node) for target in targets_of(each)]
            stored = (part for target in targets for part in walk(target) if isinstance(part, ast.Attribute))
            yield from (f"{owner}.{part.attr}" for part in stored if isinstance(part.ctx, ast.Store))
        elif isinstance(node, ast.If):
            yield from defined_names([*node.body, *node.orelse], owner)
        elif not isinstance(node, ast.ImportFrom | ast.Import):
            stored = (part for part in walk(node) if isinstance(part, ast.Name))
            yield from (f"{owner}.{part.id}" for part in stored if isinstance(part.ctx, ast.Store))


def ends(name: str) -> Iterator[str]:
    """Yield a qualified name, and it without its first parts."""
    yield name
    while "." in name:
        name = name.partition(".")[2]
        yield name


def targets_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions to which a statement assigns."""
    known = vars(node)
    contexts = [each.optional_vars for each in known.get("items", ()) if each.optional_vars]
    return [*known.get("targets", ()), *contexts, *([known["target"]] if "target" in known else ())]


class Names:
    """The modules of the package, and the names in them."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.named: set[str] = set()
        self.ends: dict[str, set[str]] = {}
        self.named_ends: dict[str, list[str]] = {}
        for path in FILES:
            module, body = module_name(path), parsed(path).body
            defined = {*defined_names(body, module)}
            self.modules.add(module)
            named = defined | {*imported_names(body, module)}
            self.named |= named
            for name in named:
                for end in ends(name):
                    self.named_ends.setdefault(end, []).append(name)
            if path.parent == ROOT and path.name == "client.py":
                continue  # A program of users: it has names of the JSON API, such as Stale, that Ararat has, too.
            for name in {module, *defined}:
                for end in ends(name):
                    self.ends.setdefault(end, set()).add(name)

    def problem(self, module: str, package: str, kind: str, dots: str, name: str) -> str | None:
        """Return what is wrong with a reference in ``module``, or None if it names one thing."""
        wanted = self.modules if kind == "mod" else self.named
        if name.startswith("ararat"):
            return None if name in self.modules | self.named else "does not exist"
        above = package.rsplit(".", len(dots) - 1)[0] if len(dots) > 1 else package
        if f"{above}.{name}" in wanted or (not dots and f"{module}.{name}" in self.named):
            return None
        if not dots and any(each.startswith(f"{module}.") for each in self.named_ends.get(name, ())):
            return None
        found = {each for each in self.ends.get(name, ()) if (each in self.modules) == (kind == "mod")}
        return None if len(found) == 1 else f"can mean {len(found)} things"


package_names = functools.cache(Names)


def test_references_in_docstrings_name_one_thing():
    names, wrong = package_names(), []
    for path in FILES:
        module = module_name(path)
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for kind, dots, name in REFERENCE.findall(read(path)):
            if name.partition(".")[0] not in OTHERS and (problem := names.problem(module, package, kind, dots, name)):
                wrong.append(f"{path.relative_to(ROOT)}: {kind} {dots}{name} {problem}")
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "dots", "name", "problem"),
    [
        pytest.param("class", "", "Bindings", None, id="a class with its only name"),
        pytest.param("mod", "", "alternates", "can mean 0 things", id="no module"),
        pytest.param("mod", ".", "parser", "can mean 2 things", id="two modules"),
        pytest.param("mod", "..", "minting", None, id="a module of the folder above"),
        pytest.param("func", "", "ararat.parse_all", "does not exist", id="no public name"),
    ],
)
def test_wrong_references_are_found(kind, dots, name, problem):
    module = "ararat.bindings.names.naming"
    assert package_names().problem(module, "ararat.bindings.names", kind, dots, name) == problem
