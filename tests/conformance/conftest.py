"""List the tests without running or importing them. As a program (`make conformance`), print the whole table.

The tests are read with ast, because collecting them takes longer.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ararat.cli.conformance.answers import COUNTS, Requirement, counts, requirements

TESTS = Path(__file__).parents[1]
VECTORS = TESTS / "data" / "vectors.jsonl"
_WIDTH = 96
TEST = re.compile(r"((?:^[@ )\]].*\n)*)^def (test_\w+)\(", re.MULTILINE)
OF_VECTORS = re.compile(r"^@pytest\.mark\.vectors\(([^)]*)\)", re.MULTILINE)


@functools.cache
def tests_there_are() -> tuple[frozenset[str], Mapping[str, tuple[str, ...]]]:
    """Return every test as `file::name`, and the tests that run the vectors of each kind."""
    names: set[str] = set()
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for marks, test in TEST.findall(path.read_text("utf-8")):
            name = f"{path.relative_to(TESTS).as_posix()}::{test}"
            names.add(name)
            for kinds in OF_VECTORS.findall(marks):
                for kind in re.findall(r'"([^"]+)"', kinds):
                    by_kind[kind].append(name)
    return frozenset(names), {kind: tuple(found) for kind, found in by_kind.items()}


@functools.cache
def functions(file: str) -> tuple[list[str], dict[str, ast.FunctionDef]]:
    """Return the lines of a file of tests, and its functions by their names."""
    source = (TESTS / file).read_text("utf-8")
    return source.splitlines(), {
        each.name: each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)
    }


@functools.cache
def text_of_test(name: str) -> str:
    """Return the source of a test, ``file::name``, with its marks and the comments directly above it."""
    file, _, function = name.partition("::")
    lines, tests = functions(file)
    test = tests[function]
    first = min(node.lineno for node in (test, *test.decorator_list)) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : test.end_lineno])


@functools.cache
def requirements_of_vectors() -> frozenset[tuple[str, str]]:
    """Return each kind of vectors with each requirement that one of them names."""
    vectors = map(json.loads, VECTORS.read_text("ascii").splitlines())
    return frozenset((vector["kind"], number) for vector in vectors for number in vector["req"])


def silent(requirement: Requirement) -> list[str]:
    """Return the tests of a requirement that do not name it: neither their source, nor a vector of their kind."""
    named = requirements_of_vectors()
    return [
        name
        for name in requirement.tests
        if (
            (name.removeprefix("kind:"), requirement.id) not in named
            if name.startswith("kind:")
            else requirement.id not in text_of_test(name)
        )
    ]


def lacking(requirement: Requirement) -> list[str]:
    """Return the tests of a requirement that do not exist."""
    if requirement.reason is not None:
        return []
    names, by_kind = tests_there_are()
    named = requirement.tests or ("a test or a reason",)
    return [name for name in named if name not in names and name.removeprefix("kind:") not in by_kind]


@pytest.fixture
def there_are() -> tuple[frozenset[str], Mapping[str, tuple[str, ...]]]:
    return tests_there_are()


@pytest.fixture
def unnamed_by() -> Callable[[Requirement], list[str]]:
    """``unnamed_by(requirement)`` returns the tests of a requirement that do not name it."""
    return silent


def main() -> int:
    """Print the table. Return 1 if a requirement has neither a test that names it nor a reason."""
    gaps = 0
    for requirement in requirements():
        missing = lacking(requirement)
        unnamed = [] if missing else silent(requirement)
        gaps += bool(missing or unnamed)
        shown = requirement.reason or f"{len(requirement.tests)} test{'' if len(requirement.tests) == 1 else 's'}"
        title = requirement.title if len(requirement.title) <= _WIDTH else f"{requirement.title[: _WIDTH - 3]}..."
        print(f"{requirement.id}  {title.ljust(_WIDTH)}  {'GAP' if missing or unnamed else shown}")
        for name in missing:
            print(f"         {name} does not exist")
        for name in unnamed:
            print(f"         {name} does not name {requirement.id}")
        if requirement.why:
            print(f"         {requirement.why}")
    said = ", ".join(f"{count} {word}" for word, count in counts().items())
    print(f"{sum(COUNTS.values())} requirements: {said}; {gaps} gap{'' if gaps == 1 else 's'}")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
