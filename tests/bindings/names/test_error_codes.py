"""The table of codes: each code that the program uses is in it, and each place that reads the table knows each code."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ararat.bindings.checks import verification
from ararat.bindings.imports.summary import NotedLine, Summary
from ararat.bindings.names.error_codes import ERROR_CODES, REFUSALS, error_code
from ararat.bindings.tables.formulas import remove_marks
from ararat.cli.databases.import_report import dump_report, table_report
from ararat.cli.output import Sheet
from ararat.cli.render import imports
from ararat.identifiers import PROBLEMS
from ararat.net.hop import FAILURES
from ararat.webapp import create_app
from ararat.webapp.desk.tables import refused
from tests.packages import ROOT, modules, nodes, read

ALL = {*ERROR_CODES, *PROBLEMS}
CODE = re.compile("[a-z]+(-[a-z0-9]+)*")

TABLES = {
    **dict.fromkeys(["BindingError", "AccountError", "PrefixError", "BindingConflict"], (0, ALL)),
    **dict.fromkeys(["TableError", "UnusableSnapshot", "NameWarning"], (0, ALL)),
    **dict.fromkeys(["NotedName", "_note_warning"], (1, ALL)),
    "HopFailed": (0, FAILURES.keys()),
    "Contradiction": (0, verification.CODES.keys()),
    "_fault": (2, ALL),
    "_refuse": (1, {*ALL, *REFUSALS}),
}
"""The calls that have a code, with the position of the code and the table that explains it."""

CALL = re.compile(rf"\b(?:{'|'.join(TABLES)})\(")


def used() -> Iterator[tuple[str, str, str]]:
    """Yield each code that is written in a call, with the function and its place."""
    for file in modules(without=("identifiers",)):
        for node in nodes(file) if CALL.search(read(file)) else ():
            if not isinstance(node, ast.Call):
                continue
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if function not in TABLES or len(node.args) <= TABLES[function][0]:
                continue
            for code in filter(CODE.fullmatch, constants(node.args[TABLES[function][0]])):
                yield function, code, f"{file.relative_to(ROOT)}:{node.lineno}"


def constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def test_each_code_in_the_program_is_in_its_table() -> None:
    found = list(used())
    assert len(found) > 400
    assert {function for function, _, _ in found} == TABLES.keys()
    assert [(code, place) for function, code, place in found if code not in TABLES[function][1]] == []


@pytest.mark.parametrize("code", ["cell-shown", "cell-merged", "cell-divided", "row-struck", "target-empty"])
def test_the_notes_of_rows_are_in_the_table(code: str) -> None:
    folders = ("spreadsheets", "bindings/imports", "bindings/tables")
    files = [file for each in folders for file in (ROOT / each).glob("*.py")]
    assert f'"{code}"' in "".join(file.read_text("utf-8") for file in files)
    assert error_code(code).severity == "warning"


@pytest.fixture(scope="module")
def context() -> Iterator[None]:
    """The context of an application, whose settings have the label of numbers."""
    with create_app().app_context():
        yield


@pytest.mark.one_setup
@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("code", sorted(ALL))
def test_the_reports_of_imports_explain_each_code(code: str, tmp_path: Path) -> None:
    noted = NotedLine(2, "ark:12345/x", code, "something is wrong")
    expected = error_code(code).expected
    table, dump = tmp_path / "table.csv", tmp_path / "dump.csv"
    with table_report(str(table)) as report:
        assert report
        for result in ("refused", "warning"):
            report(result, noted, {"identifier": "ark:12345/x"})
    with dump_report(str(dump), "dump.txt") as options:
        for result in ("left out", "warning"):
            options["report"](result, noted, {})
    with table.open(encoding="utf-8-sig", newline="") as file:
        assert [(row["result"], row["code"], remove_marks(row["expected"])) for row in csv.DictReader(file)] == [
            ("refused", code, expected),
            ("warning", code, expected),
        ]
    with dump.open(encoding="utf-8-sig", newline="") as file:
        assert [remove_marks(row["remedy"]) for row in csv.DictReader(file)] == [expected] * 2
    summary = Summary(refusals=1, refused=[noted], warnings=1, warned=[noted])
    lines = [*imports.refused_lines(summary, Sheet()), *imports.warned_lines(summary, Sheet())]
    assert sum(f"({code})" in line for line in lines) == 2
    assert refused.fix(code)
    assert "2" in refused._title(code, 2)


def test_an_option_in_the_text_of_an_error_follows_its_command() -> None:
    """The desk and the APIs show these texts, too."""
    texts = [text for each in ERROR_CODES.values() for text in (each.title, each.expected, each.fix)]
    commands = re.compile(r"ararat [a-z]+[^;,]*")
    assert [text for text in texts if "--" in commands.sub("", text)] == []
