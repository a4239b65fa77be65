"""Print the test files of the modules that changed, and of those that import them: `make quick`.

The changes are those that are not committed; without any, those of the last commit; with an argument, those since that
commit. The nearest files come first: the tests of a module, then those of its folder, then those of its importers.
Files are left out that would take longer than :data:`SECONDS`. Tests in a browser are left out.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 20
"""The time of all files with one process for each processor, by the times of the last `make test`."""

_TIMES = ROOT / ".pytest_cache" / "v" / "scheduling" / "seconds"
_BROWSER = "tests/e2e/"
_OF_TEXTS = ("tests/test_readme.py", "tests/test_references.py")


def changed(since: str | None = None, root: Path = ROOT) -> list[str]:
    """Return the paths of the changed files, sorted. Raises CalledProcessError if git does not know the commit."""

    def git(*arguments: str) -> list[str]:
        run = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
        return run.stdout.splitlines()

    found = {*git("diff", "--name-only", since or "HEAD"), *git("ls-files", "--others", "--exclude-standard")}
    return sorted(found or git("diff", "--name-only", "HEAD~1"))


def importers(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the paths of the modules that import a module, by its path."""
    modules = {
        path
        for path in subprocess.check_output(["git", "ls-files", "*.py"], cwd=root, text=True).splitlines()
        if not path.startswith("tests/") and (root / path).exists()
    }
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in modules:
        package = path.split("/")[:-1]
        for node in ast.walk(ast.parse((root / path).read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
                for name in ["", *(alias.name for alias in node.names)]:
                    parts = "/".join(part for part in [*base, name] if part)
                    for module in (f"{parts}.py", f"{parts}/__init__.py"):
                        if module in modules and module != path:
                            found[module].add(path)
    return found


def files_of(paths: list[str], importing: dict[str, set[str]], root: Path = ROOT) -> list[str]:
    """Return the test files of changed files, the nearest first, without those in a browser."""
    nearest: list[list[str]] = [[], [], []]
    imported = [each for each in paths if each.endswith((".py", ".md"))]
    for path in [*imported, *(by for each in paths if each not in imported for by in naming(each, root))]:
        if path.startswith("tests/"):
            if Path(path).name.startswith("test_") and path.endswith(".py"):
                nearest[0].append(path)
            continue
        nearest[0] += [_test_of(path), *(_OF_TEXTS if path.endswith(".md") else ())]
        if "/" in path:
            folder = root / "tests" / Path(path).parent
            nearest[1] += sorted(str(each.relative_to(root)) for each in folder.glob("test_*.py"))
        nearest[2] += sorted(_test_of(each) for each in importing.get(path, ()))
    found = dict.fromkeys(each for group in nearest for each in group)
    return [each for each in found if (root / each).is_file() and not each.startswith(_BROWSER)]


def naming(path: str, root: Path = ROOT) -> list[str]:
    """Return the modules and tests that name a file that Python does not import: a template, style sheet, catalogue.

    A template can be named by another template, which a module names.
    """
    tracked = subprocess.check_output(["git", "ls-files", "*.py", "*.html", "*.xml"], cwd=root, text=True).splitlines()
    texts = {each: (root / each).read_text("utf-8") for each in tracked if (root / each).is_file()}
    left, found = [path], {path}
    while left:
        folder, _, name = left.pop().partition("/")
        wanted = name if folder == "templates" else "*.po" if name.endswith(".po") else Path(name or folder).name
        by = {each for each, text in texts.items() if f'"{wanted}"' in text or f"/{wanted}" in text}
        left += [each for each in by - found if each.startswith("templates/")]
        found |= by
    return sorted(each for each in found if each.endswith(".py"))


def within(files: list[str], times: dict[str, float], seconds: float) -> list[str]:
    """Return the files that take at most ``seconds``, the nearest first. The first file is always one of them."""
    chosen: list[str] = []
    for file in files:
        took = times.get(file, 1.0)
        if not chosen or took <= seconds:
            chosen.append(file)
            seconds -= took
    return chosen


def _test_of(path: str) -> str:
    module = Path(path)
    return str(
        Path("tests", module.parent, f"test_{module.parent.name if module.stem == '__init__' else module.stem}.py")
    )


def main() -> int:
    """Print the test files on one line, and the number of the others to standard error."""
    try:
        paths = changed(sys.argv[1] if len(sys.argv) > 1 else None)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"make quick: git does not know what changed: {error.stderr}")
        return 64
    times = json.loads(_TIMES.read_text()) if _TIMES.is_file() else {}
    files = files_of(paths, importers())
    chosen = within(files, times, SECONDS * (os.cpu_count() or 1))
    if not chosen:
        sys.stderr.write("make quick: no test belongs to the changed files. Run make test.\n")
        return 1
    left = f"; {len(files) - len(chosen)} more are left to make test" if len(files) > len(chosen) else ""
    sys.stderr.write(f"{len(chosen)} test files for {len(paths)} changed files{left}\n")
    sys.stdout.write(" ".join(chosen) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
