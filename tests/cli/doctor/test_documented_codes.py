"""Each code of a finding is on the page of faults, and each code on the page is one of the program."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from pathlib import Path

from ararat.cli.doctor.deployment import checks, probes
from ararat.cli.doctor.fixes import Cause
from tests.packages import ROOT, nodes

PAGE = (ROOT / "docs" / "doctor-findings.md").read_text("utf-8")
# Functions that make a finding, and the position of its code.
MAKERS = {"HealthFinding": 1, "found": 0, "bad": 0, "_finding": 0}


def codes_of(path: Path) -> Iterator[str]:
    """Yield the texts that are codes of findings in a module."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            place = MAKERS.get(name)
            if place is not None and len(node.args) > place:
                yield from texts(node.args[place])
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == "code":
                    yield from texts(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for name_node, value in zip(target.elts, node.value.elts, strict=False):
                        if isinstance(name_node, ast.Name) and name_node.id == "code":
                            yield from texts(value)


def texts(node: ast.expr) -> Iterator[str]:
    """Yield the text of a constant, or both of a conditional expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def all_codes() -> set[str]:
    found = {probe.code for probe in (*probes.PROBES, *checks.SPELLINGS) if not probe.code.startswith("extension-")}
    for path in sorted((ROOT / "cli" / "doctor").rglob("*.py")):
        found.update(codes_of(path))
    found.update(re.findall(r'code="([a-z-]+)"', (ROOT / "bindings" / "health.py").read_text("utf-8")))
    # The faults of names have their causes as codes.
    source = (ROOT / "cli" / "doctor" / "names.py").read_text("utf-8")
    found.update(cause for cause in typing.get_args(Cause) if f'"{cause}"' in source)
    return {code for code in found if re.fullmatch("[a-z-]+", code) and code not in ("ok", "warning", "error")}


def test_each_code_of_a_finding_is_on_the_page() -> None:
    listed = set(re.findall(r"`([a-z][a-z-]*)`", PAGE))
    assert all_codes() - listed == set()


def test_the_page_lists_no_code_that_does_not_exist() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "cli" / "doctor").rglob("*.py"))
    source += (ROOT / "bindings" / "health.py").read_text("utf-8")
    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| (?!what |---)", line)]
    listed = {code for row in rows for code in re.findall("`([a-z]+(?:-[a-z]+)*)`", row[1])}
    unknown = {code for code in listed - all_codes() if not re.search(f"[\"']{code}[\"']", source)}
    assert unknown <= {"extension-pdf"}
    assert len(listed) > 90
