"""`ararat import` of tables: its effects and its output."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import Result
from openpyxl import Workbook, load_workbook

from ararat.bindings.imports.summary import NotedLine, Summary
from ararat.bindings.operations import pace
from ararat.bindings.tables.columns import COLUMNS
from ararat.cli.output import Sheet
from ararat.cli.progress import Progress
from ararat.cli.render import imports
from ararat.middleware import open_bindings
from tests.databases import Cluster
from tests.wrapping import unwrapped

TABLE = (
    "identifier,target,kind,what\nark:/12345/d-oc,https://example.org/1,,A report\nark:12345/cat,/about-cat,related,\n"
)
MAPPED = ("--map", "ARK=identifier", "--map", "url=target", "--map", "Titre=what", "--ignore-unknown")
EXCEL = "ARK;URL;Titre;Notes\r\nark:12345/a;www.museum.example/x;Été;n\r\nark:/12345/inv–1;/2;b;\r\n".encode("cp1252")

DOC = "ark:12345/doc"

UNDO = "Operation 1. To undo it, run: ararat undo 1\n"


def test_import_binds_all_lines_of_a_table(ararat: Callable[..., Result], tmp_path: Path, database: Path) -> None:
    (tmp_path / "names.csv").write_text(TABLE)
    result = ararat("import", str(tmp_path / "names.csv"))
    assert (result.exit_code, result.stdout) == (0, "Written. 2 lines: 2 added.\n" + UNDO)
    with open_bindings(database, create=True) as bindings:
        found = bindings.lookup("ark:12345/cat")
        assert found is not None
        assert (found.kind, found.target) == ("related", "/about-cat")


def test_a_table_is_imported_from_standard_input(ararat: Callable[..., Result]) -> None:
    assert ararat("import", "-", given=TABLE).exit_code == 0
    assert ararat("import", "-", given=TABLE).stdout == "Written. 2 lines: 2 unchanged.\n"


def test_dry_run_prints_the_changes_and_writes_nothing(bound: Callable[..., Result], tmp_path: Path) -> None:
    lines = "ark:12345/new,/new,\nark:12345/doc,/moved,report 7\nark:12345/doc2,//bad,\nark:12345,/x,\n"
    (tmp_path / "names.csv").write_text(f"identifier,target,resource\n{lines}")
    result = bound("import", "--dry-run", str(tmp_path / "names.csv"))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "bound     line 2    ark:12345/new -> /new",
        "relocated line 3    ark:12345/doc -> /moved (was https://example.org/1)",
        "Nothing was written. 4 lines: 1 to add, 1 to move, 2 refused.",
    ]
    assert re.findall(r"refused +line (\d)", result.stderr) == ["4", "5"]
    assert "no-name" in result.stderr
    assert bound("show", "ark:12345/new").exit_code == 1


def test_import_warns_of_names_that_are_easily_confused(ararat: Callable[..., Result]) -> None:
    result = ararat("import", "-", given="identifier,target\nark:12345/a.b,/1\nark:12345/a%2Eb,/2\n")
    assert result.exit_code == 0
    assert re.search(r"^warning +line 3 ", result.stderr, re.MULTILINE)


def test_one_refused_line_prevents_the_import_of_all_lines(bound: Callable[..., Result]) -> None:
    result = bound("import", "-", given="identifier,target\nark:12345/a,/a\nark:12345,/b\n")
    assert result.exit_code == 1
    assert "line 3" in unwrapped(result.stderr)
    assert bound("show", "ark:12345/a").exit_code == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "given", "exit_code"),
    [
        pytest.param(["import", "missing.csv"], "", 66, id="a missing table"),
        pytest.param(["import", "-"], "name\nark:12345/a\n", 2, id="a table without identifiers"),
        pytest.param(["import", "-"], "identifier,target\nark:12345/a,/a\nark:12345,/b\n", 1, id="a refused line"),
        pytest.param(["import", "--batch", "1", "-"], "identifier,target\nark:12345,/b\n", 1, id="a refused batch"),
        pytest.param(["import", "--dry-run", "-"], "identifier,target\nark:12345/a,/a\n", 0, id="a dry run"),
        pytest.param(["import", "--from", "ezid", "-"], ":: x\n_target: /x\n", 1, id="a refused dump"),
        pytest.param(["bind", "ark:12345/a", "no target"], "", 2, id="a refused target"),
        pytest.param(["reserve", "ark:12345/a", "--target", "no target"], "", 2, id="a refused reservation"),
    ],
)
def test_a_command_that_writes_nothing_creates_no_database(
    arguments: list[str], given: str, exit_code: int, ararat: Callable[..., Result], tmp_path: Path
) -> None:
    assert ararat(*arguments, given=given).exit_code == exit_code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "given", "exit_code"),
    [
        pytest.param(["import", "-"], "identifier,target\nark:12345,/b\n", 1, id="a refused import"),
        pytest.param(["import", "-"], "identifier,goal\nark:12345/a,/a\n", 2, id="an import of another table"),
        pytest.param(["import", "--dry-run", "-"], "identifier,target\nark:12345/a,/a\n", 0, id="a dry run"),
        pytest.param(["bind", "ark:12345/a", "no target"], "", 2, id="a refused target"),
    ],
)
def test_a_command_that_writes_nothing_creates_no_tables_in_postgresql(
    arguments: list[str], given: str, exit_code: int, ararat: Callable[..., Result], cluster: Cluster
) -> None:
    url = cluster.new_schema()
    assert ararat(*arguments, "--database", url, given=given).exit_code == exit_code
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
            "UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        ).fetchall()
    assert found == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "before",
    [
        pytest.param([["init"]], id="empty"),
        pytest.param([["init"], ["prefix", "set", "12345", "--who", "A library"]], id="with a record"),
    ],
)
def test_a_refused_import_keeps_a_database_that_existed(
    before: list[list[str]], ararat: Callable[..., Result], database: Path
) -> None:
    for arguments in before:
        assert ararat(*arguments).exit_code == 0
    assert ararat("import", "-", given="identifier,target\nark:12345,/b\n").exit_code == 1
    assert database.exists()


def test_the_batches_before_a_refused_one_are_kept_in_a_new_database(ararat: Callable[..., Result]) -> None:
    lines = "identifier,target\nark:12345/a,/a\nark:12345,/b\n"
    assert ararat("import", "--batch", "1", "-", given=lines).exit_code == 1
    assert ararat("show", "ark:12345/a").exit_code == 0


def test_batches_are_kept_and_reported(ararat: Callable[..., Result]) -> None:
    lines = "".join(f"ark:12345/x{number},/{number}\n" for number in range(5))
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}ark:99999/x,/1\n")
    assert result.exit_code == 1
    assert result.stdout == (
        "Written: the first 4 lines. Correct the refused lines and run the command again.\n"
        f"6 lines: 4 added, 1 refused.\n{UNDO}"
    )
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}ark:12345/y\n")
    assert result.exit_code == 2
    assert "Written the first 4 lines; correct the table" in unwrapped(result.stderr)
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}")
    assert result.stdout.startswith("Written. 5 lines: 1 added, 4 unchanged.\nOperation 2. ")


def test_an_unreadable_line_is_reported_with_file_line_and_column(bound: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text('identifier,target\nark:12345/a,/a\nark:12345/b,"/b\n')
    result = bound("import", str(tmp_path / "names.csv"))
    assert result.exit_code == 2
    assert re.search(r"names\.csv,\s+line\s+3,\s+column\s+13", result.stderr)
    assert bound("show", "ark:12345/a").exit_code == 1


def test_import_reports_a_missing_file(ararat: Callable[..., Result], tmp_path: Path) -> None:
    result = ararat("import", str(tmp_path / "nothing.csv"))
    assert result.exit_code == 66
    assert "No such file" in unwrapped(result.stderr)


def test_a_dry_run_needs_no_database(ararat: Callable[..., Result], database: Path) -> None:
    result = ararat("import", "--dry-run", "-", given=TABLE)
    assert result.exit_code == 0
    assert f"There is no database at sqlite:///{database}." in unwrapped(result.stdout)
    assert "Nothing was written. 2 lines: 2 to add." in unwrapped(result.stdout)
    assert list(database.parent.iterdir()) == []


@pytest.mark.parametrize("command", [("import", "--dry-run", "-"), ("copy", "--dry-run", "other.sqlite")])
def test_a_dry_run_refuses_the_database_of_another_program(
    bound: Callable[..., Result],
    database: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.sqlite").write_bytes(database.read_bytes())
    cats = tmp_path / "cats.sqlite"
    with closing(sqlite3.connect(cats)) as connection:
        connection.execute("CREATE TABLE cats (name)")
    given = [str(cats)] if command[0] == "copy" else ["--database", str(cats)]
    result = bound(*command, *given, given=TABLE)
    assert result.exit_code == 2
    assert "foreign-database" in result.stderr


@pytest.mark.parametrize("command", ["import", "copy"])
@pytest.mark.parametrize("store", ["names.csv", "names.ndjson", "names.snapshot", "none.csv", "none/names.sqlite"])
def test_a_dry_run_refuses_a_store_that_the_run_refuses(
    bound: Callable[..., Result], database: Path, tmp_path: Path, store: str, command: str
) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/x\n")
    (tmp_path / "names.ndjson").write_text('{"identifier": "ark:12345/x", "target": "/x"}\n')
    assert bound("snapshot", str(tmp_path / "names.snapshot")).exit_code == 0
    place = str(tmp_path / store)
    given = ["copy", str(database), place] if command == "copy" else ["import", "-", "--database", place]
    run, dry = (bound(*given, *option, given=TABLE) for option in ([], ["--dry-run"]))
    assert run.exit_code == dry.exit_code != 0
    assert unwrapped(run.stderr) == unwrapped(dry.stderr)
    assert not (tmp_path / "none").exists()


def test_the_encoding_and_the_separator_are_reported(ararat: Callable[..., Result]) -> None:
    result = ararat("import", "--dry-run", *MAPPED, "-", given=EXCEL)
    assert result.exit_code == 1
    assert "Read as Windows-1252, separator ;.\nThe file is not UTF-8, so its encoding is a guess." in result.stdout
    assert "--encoding" in result.stdout
    assert "Ignored columns: Notes." in unwrapped(result.stdout)
    assert "did you mean https://www.museum.example/x?" in unwrapped(result.stderr)
    assert result.stdout.endswith("Nothing was written. 2 lines: 1 to add, 1 refused, 1 warning.\n")
    assert ararat("import", *MAPPED, "--encoding", "utf-8", "-", given=EXCEL).exit_code == 2
    tabs = EXCEL.replace(b";", b"\t").replace(b"www.museum.example", b"")
    result = ararat("import", *MAPPED, "--delimiter", "tab", "--encoding", "cp1252", "-", given=tabs)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "Read as cp1252, separator tab.")


def test_the_usual_encoding_and_separator_are_not_reported(ararat: Callable[..., Result]) -> None:
    assert ararat("import", "-", given=TABLE).stdout == f"Written. 2 lines: 2 added.\n{UNDO}"


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["ARK", "=identifier", "ARK=identifer"])
def test_map_requires_a_name_and_a_known_column(value: str, ararat: Callable[..., Result]) -> None:
    result = ararat("import", "--map", value, "-", given=TABLE)
    assert result.exit_code == 64
    said = " ".join(result.stderr.split())
    assert "did you mean identifier?" in said or "is not NAME=COLUMN" in said


def test_import_lists_all_unknown_and_all_known_columns(ararat: Callable[..., Result]) -> None:
    result = ararat("import", "-", given="Identifer,URL,what\n")
    said = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "unknown columns Identifer (did you mean identifier?), URL;" in said
    assert "identifier, target, kind, resource, status" in said


def test_warnings_are_printed_in_a_dry_run_too(ararat: Callable[..., Result]) -> None:
    many = "".join(f"ark:12345/x{number},/{number}\n" for number in range(150))
    table = f"identifier,target\n{many}ark:12345/inv\u20131,/inv\n"
    result = ararat("import", "--dry-run", "-", given=table)
    assert "ark:12345/inv\u20131" in result.stderr
    assert "U+2013 EN DASH" in unwrapped(result.stderr)
    assert "152 lines" not in result.stdout
    assert "... and 51 more" in unwrapped(result.stdout)
    assert result.stdout.endswith("151 to add, 1 warning.\n")


def test_the_report_contains_every_refused_line(ararat: Callable[..., Result], tmp_path: Path) -> None:
    many = "".join(f"ark:99999/x{number},/{number},\u00c9\n" for number in range(150))
    report = tmp_path / "report.csv"
    table = tmp_path / "names.csv"
    table.write_text(f"identifier,target,what\n{many}", "utf-8")
    result = ararat("import", str(table))
    assert "... and 50 more lines; use --report FILE to list them all" in unwrapped(result.stderr)
    result = ararat("import", "--report", str(report), str(table))
    assert "... and 50 more lines; see" in unwrapped(result.stderr)
    lines = list(csv.DictReader(report.read_text("utf-8-sig").splitlines()))
    assert len(lines) == 150
    assert (lines[149]["line"], lines[149]["result"], lines[149]["code"]) == ("151", "refused", "naan-reserved-invalid")
    assert (lines[149]["identifier"], lines[149]["target"], lines[149]["what"]) == ("ark:99999/x149", "/149", "\u00c9")
    report.write_text(report.read_text("utf-8").replace("ark:99999", "ark:12345"), "utf-8")
    assert "150 added" in ararat("import", "--ignore-unknown", str(report)).stdout


WARNED = """identifier,target,resource,status,successor,availability,created,what
ark:12345/w1,https://example.org/same,INV 1,,,,,
ark:12345/w2,https://example.org/same,INV 1,,,,,
ark:12345/w3,http://localhost/x;jsessionid=A1?a&amp;b,,,,,,
ark:12345/w4,https://b.example.s3/?X-Amz-Signature=1&Signature=2&Expires=3&X-Amz-Expires=9,,,,,,
"ark:12345/w5","https://example.org/5,https://example.org/6",,,,banana,,jane.doe@mail.example
ark:12345/w6\u20137,https://example.org/7,,,,,1900-01-01,caf\u00c3\u00a9
ark:12345/w8,,,withdrawn,ark:12345/none,,,
ark:12345/w9.,https://example.org/9,,,,,,"a
b"
ark:12345/x5gt3f,https://example.org/10,,,,,,
ark:12345/x5tg3f,https://example.org/11,,,,,,
ark:99999/w,https://example.org/12,,,,,,
"""


@pytest.mark.parametrize("options", [("--dry-run",), ("--batch", "2"), ("--batch", "2", "--dry-run"), ()], ids=" ".join)
def test_a_report_has_a_row_for_each_warning(
    options: tuple[str, ...], ararat: Callable[..., Result], tmp_path: Path
) -> None:
    table, report = tmp_path / "names.csv", tmp_path / "report.csv"
    table.write_text(WARNED.replace("ark:99999/w", "ark:12345/w" if "--batch" in options else "ark:99999/w"), "utf-8")
    result = ararat("import", "--report", str(report), *options, str(table))
    assert result.exit_code == ("--batch" not in options)
    with report.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    warned = [row for row in rows if row["result"] == "warning"]
    assert all(row["expected"] for row in rows)
    assert {row["code"] for row in warned} >= {
        *("target-shared", "resource-shared", "target-local", "target-session", "target-entity", "target-several"),
        *("persistence-term", "personal-data", "non-ascii", "text-misread", "time-old", "successor-unknown"),
        *("dot-in-name", "cell-line-break", "name-similar"),
    }
    assert result.stdout.endswith(f"{len(warned)} warnings.\n") or f", {len(warned)} warnings.\n" in result.stdout


def test_a_report_of_an_own_table_has_each_row_with_a_warning(ararat: Callable[..., Result], tmp_path: Path) -> None:
    table, report = tmp_path / "objects.csv", tmp_path / "report.csv"
    table.write_text(
        'Inv;Titel;Link\n1;Vase;"http://localhost/1?a&amp;b"\n2;Bowl;https://m.example/2\n3;Map;no address\n', "utf-8"
    )
    mint = ("import", "--mint", "ark:12345/x5", "--key", "Inv", "--report", str(report))
    result = ararat(*mint, str(table))
    assert result.exit_code == 1
    with report.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["Inv"]: row for row in csv.DictReader(file, delimiter=";")}
    assert rows.keys() == {"1", "3"}
    assert re.search("localhost.*; .*&amp;|&amp;.*; .*localhost", rows["1"]["problem"])
    assert rows["1"]["suggestion"].count("; ") == 1
    corrected = report.read_text("utf-8-sig").replace("no address", "https://m.example/3")
    report.write_text(corrected, "utf-8")
    again = ararat("import", "--mint", "ark:12345/x5", "--key", "Inv", str(report))
    assert (again.exit_code, "refused" in again.stdout) == (0, False)


@pytest.mark.one_setup
@pytest.mark.parametrize("options", [(), ("--batch", "2"), ("--dry-run",)], ids=" ".join)
def test_a_report_that_cannot_be_written_is_named(
    options: tuple[str, ...], ararat: Callable[..., Result], tmp_path: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    (tmp_path / "names.csv").write_text(WARNED.replace("ark:99999/w", "ark:12345/w"), "utf-8")
    result = ararat("import", "--report", "/dev/full", *options, str(tmp_path / "names.csv"))
    assert result.exit_code == 74
    assert "cannot write /dev/full: No space left on device" in unwrapped(result.stderr)


def test_a_refused_line_states_once_what_is_expected(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(
        "identifier,target,passthrough\nark:12345/a,/a,WAHR\nark:12345/b,/b,VRAI\nark:12345/c,c,\n"
    )
    report = tmp_path / "report.csv"
    result = ararat("import", "--report", str(report), str(tmp_path / "names.csv"))
    assert re.findall(
        r"(WAHR|VRAI|target-\w+|expected no, normal or given|expected an http)", unwrapped(result.stderr)
    ) == [
        "WAHR",
        "expected no, normal or given",
        "VRAI",
        "target-relative",
        "expected an http",
    ]
    rows = csv.DictReader(report.read_text("utf-8-sig").splitlines())
    assert [row["expected"].split()[0] for row in rows] == ["no,", "no,", "an"]


def test_a_report_does_not_replace_its_table(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(TABLE)
    result = ararat("import", "--report", str(tmp_path / "names.csv"), str(tmp_path / "names.csv"))
    assert result.exit_code == 2
    assert (tmp_path / "names.csv").read_text() == TABLE
    assert ararat("import", "--report", str(tmp_path / "no" / "r.csv"), str(tmp_path / "names.csv")).exit_code == 74


def test_a_report_does_not_replace_a_database(bound: Callable[..., Result], tmp_path: Path, database: Path) -> None:
    (tmp_path / "names.csv").write_text(TABLE)
    before = database.read_bytes()
    result = bound("import", "--report", str(database), str(tmp_path / "names.csv"))
    assert (result.exit_code, database.read_bytes()) == (74, before)
    assert "it is an SQLite database, which would be lost" in unwrapped(result.stderr)


def test_import_prints_json(bound: Callable[..., Result]) -> None:
    table = f"identifier,target,what,kind\n{DOC},https://example.org/1,New,\nark:99999/x,/1,,\nark:12345/,/${{value}},,rule\n"
    result = bound("import", "--dry-run", "--json", "-", given=table)
    assert result.exit_code == 1
    summary = json.loads(result.stdout)
    assert (summary["lines"], summary["updated"], summary["rules"], summary["refusals"]) == (3, 1, 1, 1)
    assert [each["outcome"] for each in summary["listed"]] == ["updated", "set"]
    assert summary["listed"][0]["after"]["metadata"] == {"erc.what": "New"}
    assert summary["refused"][0]["code"] == "naan-reserved-invalid"
    assert summary["read_as"]["encoding"] == "UTF-8"


def test_import_counts_and_lists_every_change(bound: Callable[..., Result]) -> None:
    for name in "abc":
        bound("bind", f"ark:12345/{name}", "/1", "--metadata", "what=Old")
    table = (
        "identifier,target,resource,what\n"
        "ark:12345/new1,/11,,\nark:12345/new2,/12,,\nark:12345/a,,,New\nark:12345/b,,R1,\n"
        "ark:12345/doc,/2,report 7,\nark:12345/c,,,Old\n"
    )
    result = bound("import", "--dry-run", "-", given=table)
    assert result.stdout.splitlines() == [
        "bound     line 2    ark:12345/new1 -> /11",
        "bound     line 3    ark:12345/new2 -> /12",
        "updated   line 4    ark:12345/a -> /1",
        "                    what: New (was Old)",
        "claimed   line 5    ark:12345/b -> /1",
        "                    resource: R1 (was none)",
        "relocated line 6    ark:12345/doc -> /2 (was https://example.org/1)",
        "Nothing was written. 6 lines: 2 to add, 1 to update, 1 to claim, 1 to move, 1",
        "unchanged.",
    ]
    result = bound("import", "-", given=table)
    assert " ".join(result.stdout.split()).startswith(
        "Written. 6 lines: 2 added, 1 updated, 1 claimed, 1 moved, 1 unchanged. Operation 1."
    )


def test_long_line_numbers_are_separated_from_the_text() -> None:
    noted = NotedLine(14863, "ark:/12345/" + "x" * 90, "empty", "why")
    summary = Summary(refusals=1, refused=[noted])
    first = next(iter(imports.refused_lines(summary, Sheet(80))))
    assert first.startswith("refused   line 14863 ark:/12345/x")
    lines = list(imports.refused_lines(summary, Sheet(60, cut=True)))
    assert lines[0] == "refused   line 14863"
    assert max(map(len, lines)) <= 60


def test_a_copied_database_mints_no_name_twice(ararat: Callable[..., Result], tmp_path: Path) -> None:
    mint = ["mint", "12345/x5", "--digits", "--length", "4", "--sequential", "--count", "2"]
    assert ararat("init").exit_code == 0
    assert ararat(*mint).stdout == "ark:12345/x50000\nark:12345/x50001\n"
    assert ararat("bind", "ark:12345/x50000", "https://a.example/").exit_code == 0
    assert ararat("rule", "set", "ark:12345/t1", "https://a.example/${value}").exit_code == 0
    file, other = str(tmp_path / "m.csv"), ["--database", str(tmp_path / "m2.sqlite")]
    assert ararat("export", file).stderr == f"1 binding, 1 reserved name, 1 rule, 1 counter written to {file}\n"
    tried = ararat("import", "--dry-run", *other, file).stdout
    assert "set       line 2    ark:12345/t1 -> https://a.example/${value}" in tried
    assert "reserved  line 5    ark:12345/x50001" in tried
    assert "1 to add, 1 to reserve, 1 rule to set, 1 counter to set." in " ".join(tried.split())
    assert ararat("import", *other, file).exit_code == 0
    assert ararat(*mint, *other).stdout == "ark:12345/x50002\nark:12345/x50003\n"
    assert "https://a.example/${value}" in ararat("rule", "list", *other).stdout
    ararat("rule", "set", *other, "ark:12345/t1", "https://b.example/${value}")
    result = ararat("import", *other, file)
    assert result.exit_code == 1
    assert "https://b.example/${value} (302), not to https://a.example/${value} (302)" in " ".join(
        result.stderr.split()
    )


def test_an_unregistered_naan_causes_a_warning_unless_declared(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:54321/a,/1\nark:54321/b,/2\nark:12148/c,/3\n")
    for arguments in (["bind", "ark:54321/x", "/x"], ["import", str(tmp_path / "names.csv")]):
        result = ararat(*arguments)
        assert result.exit_code == 0
        assert result.stderr.count("NAAN 54321 is not registered: register it with the ARK") == 1
        assert "12148" not in result.stderr
        assert ararat(*arguments, "--naans", "54321").stderr == ""


def test_strict_refuses_an_unregistered_naan(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12148/c,/1\nark:54321/a,/1\n")
    assert ararat("init").exit_code == 0
    bound = ararat("bind", "ark:54321/x", "/x", "--strict")
    assert (bound.exit_code, bound.stdout) == (2, "")
    assert "NAAN 54321 is not registered (naan-unregistered)" in unwrapped(bound.stderr)
    imported = ararat("import", str(tmp_path / "names.csv"), "--strict")
    assert imported.exit_code == 1
    assert "line 3    ark:54321/a" in imported.stderr + imported.stdout
    for name in ("ark:54321/x", "ark:12148/c"):
        assert ararat("show", name).exit_code == 1
    assert ararat("bind", "ark:54321/x", "/x", "--strict", "--naans", "54321").exit_code == 0


MUSEUM = (
    'Objektliste 2026;;;\r\n\r\nInventarnummer;Titel;Weblink;Wert\r\nINV 1;"Gro\u00dfe; ""alte"" Glocke";https://m.example/1;5\r\n'
    "INV 2;Vase\r\n;https://m.example/2;6\r\nSumme;;;11\r\n".replace("Vase\r\n", '"Vase\nrot"')
).encode("cp1252")
MINT = ("--mint", "ark:12345/k1", "--key", "Inventarnummer")


def test_a_table_comes_back_with_the_names_of_its_rows(ararat: Callable[..., Result], tmp_path: Path) -> None:
    table, output, again = tmp_path / "objekte.csv", tmp_path / "arks.csv", tmp_path / "again.csv"
    table.write_bytes(MUSEUM)
    result = ararat("import", *MINT, "--output", str(output), str(table))
    assert result.exit_code == 0, result.stderr
    assert "headings in row 3, data up to row 5" in unwrapped(result.stdout)
    assert "Ignored columns: Wert." in result.stdout
    lines = output.read_bytes().split(b"\r\n")
    names = [re.search(rb";(ark:12345/k1\w+)$", line) for line in lines]
    assert [bool(name) for name in names] == [False, False, False, True, True, False, False]
    assert b"\r\n".join(re.sub(rb";(ARK|ark:12345/k1\w+)$", b"", line) for line in lines) == MUSEUM
    assert ararat("import", *MINT, "--output", str(again), str(table)).exit_code == 0
    assert again.read_bytes() == output.read_bytes()
    assert "2 unchanged" in ararat("import", *MINT, str(output)).stdout
    undone = ararat("undo", "1")
    assert "2 deleted" in undone.stdout


def test_refused_rows_come_back_and_can_be_imported_again(ararat: Callable[..., Result], tmp_path: Path) -> None:
    table, refused, output = tmp_path / "objekte.csv", tmp_path / "refused.csv", tmp_path / "arks.csv"
    table.write_text("Cote;Titre;Lien\nA 1;Vase;https://m.example/1\nA 2;Pot;htp://m.example/2\nA 2;Pot;\n")
    options = ("--mint", "ark:12345/k1", "--output", str(output), "--report", str(refused))
    result = ararat("import", *options, str(table))
    assert (result.exit_code, output.exists()) == (1, False)
    rows = list(csv.DictReader(refused.read_text("utf-8-sig").splitlines(), delimiter=";"))
    assert [(row["Cote"], row["Lien"], row["problem"][:5], bool(row["suggestion"])) for row in rows] == [
        ("A 2", "htp://m.example/2", "row 4", True),
        ("A 2", "", "row 3", True),
    ]
    refused.write_text(refused.read_text("utf-8").replace("htp:", "https:").replace("A 2;Pot;;", "A 3;Pot;;"))
    corrected = ararat("import", "--mint", "ark:12345/k1", "--output", str(output), str(refused))
    assert corrected.exit_code == 0, corrected.stderr
    assert "Ignored columns: problem, suggestion." in corrected.stdout


def test_a_question_about_a_key_is_answered_by_an_option(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Cote;Titre\nA-1;Vase\n")
    (tmp_path / "b.csv").write_text("Cote;Titre\na-1;Vase bleu\n")
    mint = ("--mint", "ark:12345/k1", "--key", "Cote")
    assert ararat("import", *mint, str(tmp_path / "a.csv")).exit_code == 0
    asked = ararat("import", *mint, str(tmp_path / "b.csv"))
    assert asked.exit_code == 1
    assert "or --confirm key-same:" in unwrapped(asked.stderr)
    answered = ararat("import", *mint, "--confirm", "key-same", str(tmp_path / "b.csv"))
    assert (answered.exit_code, "1 updated" in answered.stdout) == (0, True), answered.stderr


def test_find_mints_no_name(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Cote;Titre\nA 1;Vase\n")
    (tmp_path / "b.csv").write_text("Cote;Titre\nA 1;Vase bleu\nA 11;Pot\n")
    ararat("import", "--mint", "ark:12345/k1", "--key", "Cote", str(tmp_path / "a.csv"))
    find = ("import", "--find", "ark:12345/k1", "--key", "Cote")
    result = ararat(*find, str(tmp_path / "b.csv"))
    assert result.exit_code == 1
    assert "key-unknown" in result.stderr
    assert ararat(*find, "--mint", "ark:12345/k1", str(tmp_path / "b.csv")).exit_code == 64
    (tmp_path / "b.csv").write_text("Cote;Titre\nA 1;Vase bleu\n")
    assert "1 updated" in ararat(*find, str(tmp_path / "b.csv")).stdout


def test_renumber_records_a_corrected_number(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("identifier,target,resource\nark:12345/k1a,https://m.example/1,A 1\n")
    (tmp_path / "b.csv").write_text("identifier,resource\nark:12345/k1a,A 10\n")
    assert ararat("import", str(tmp_path / "a.csv")).exit_code == 0
    assert ararat("import", str(tmp_path / "b.csv")).exit_code == 1
    assert "1 updated" in ararat("import", "--renumber", str(tmp_path / "b.csv")).stdout
    assert "A 10" in ararat("show", "ark:12345/k1a").stdout


OPTIONS = {
    "an unknown column": (("--key", "Nummer"), "there is no column Nummer; the headings are: Cote, Titre"),
    "no key": (("--map", "Cote=what"), "no column has the key"),
    "no sheets": (("--sheet", "Objekte"), "no visible sheet Objekte"),
    "an empty row": (("--heading-row", "9"), "is empty"),
}


@pytest.mark.one_setup
@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS.keys())
def test_wrong_options_of_a_table_are_refused(
    ararat: Callable[..., Result], tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "objekte.csv").write_text("Cote;Titre\nA 1;Vase\n")
    result = ararat("import", "--mint", "ark:12345/k1", *options, str(tmp_path / "objekte.csv"))
    assert result.exit_code == 2
    assert message in unwrapped(result.stderr)


def test_a_killed_import_of_a_table_continues_as_one_operation(
    ararat: Callable[..., Result], tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    monkeypatch.setattr(pace, "_PAUSE", 0)
    table, output = tmp_path / "objekte.csv", tmp_path / "with-arks.csv"
    table.write_text("Inventarnummer;Titel\n" + "".join(f"INV {n};Vase {n}\n" for n in range(7)))
    command = ("import", *MINT, "--output", str(output), str(table))
    count, counted = Progress.count, list[int]()

    def kill(self: Progress, number: int) -> None:
        counted.append(number)
        if counted[-2:] == [7, 2]:
            count(self, number)
        elif 7 in counted and number == 4:
            raise SystemExit(9)

    monkeypatch.setattr(Progress, "count", kill)
    assert ararat(*command).exit_code != 0
    monkeypatch.setattr(Progress, "count", count)
    result = ararat(*command)
    assert result.exit_code == 0, result.stderr
    assert "Written. 7 lines: 7 reserved" in result.stdout
    rows = [line.split(";") for line in output.read_text().splitlines()]
    assert rows[0] == ["Inventarnummer", "Titel", "ARK"]
    with open_bindings(database) as bindings:
        assert {ark: f"INV {n}" for n, (_, _, ark) in enumerate(rows[1:])} == {
            each.identifier: each.resource for each in bindings.list_names().names
        }
        (operation,) = bindings.list_operations()
        assert (operation.names, operation.finished is not None) == (7, True)
    assert "7 unchanged" in ararat(*command).stdout
    assert ararat("undo", str(operation.number)).exit_code == 0
    assert "7 reserved" in ararat(*command).stdout


def test_the_help_lists_each_column(ararat: Callable[..., Result]) -> None:
    words = set(re.findall(r"\w+", ararat("import", "--help").stdout))
    assert {*COLUMNS} - words == set()


def test_a_row_without_a_name_is_told_how_to_get_one(ararat: Callable[..., Result]) -> None:
    table = "ARK;Titel;Inventarnummer;URL\nark:12345/x9;Vase;A 1;https://m.example/1\n;Teller;A 2;https://m.example/2\n"
    ran = ararat("import", "--dry-run", "--key", "Inventarnummer", "-", given=table)
    told = unwrapped(ran.stdout + ran.stderr)
    assert "the row has no name (empty)" in told
    assert "to mint names for such rows, add --mint SHOULDER" in told


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--key", "Inventarnummer", "--output"], id="output"),
        pytest.param(["--key", "Inventarnummer", "--report"], id="report of a table of a user"),
        pytest.param(["--ignore-unknown", "--report"], id="report"),
    ],
)
def test_an_output_file_keeps_pipes_links_and_databases(
    options: list[str], ararat: Callable[..., Result], tmp_path: Path
) -> None:
    heading = "ARK" if "--key" in options else "identifier"
    table = f"{heading},Inventarnummer,target\nark:12345/x9,A 1,https://m.example/1\n"
    pipe, other, link = tmp_path / "pipe", tmp_path / "other.sqlite", tmp_path / "link.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        assert ararat("import", *options, str(pipe), "-", given=table).exit_code == 0
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert ararat("init", "--database", str(other)).exit_code == 0
    before = other.read_bytes()
    refused = ararat("import", *options, str(other), "-", given=table)
    assert "it is an SQLite database" in unwrapped(refused.stderr)
    assert other.read_bytes() == before
    (tmp_path / "target.csv").write_text("old")
    link.symlink_to(tmp_path / "target.csv")
    ararat("import", *options, str(link), "-", given=table)
    assert link.is_symlink()


def test_a_row_with_the_ark_of_another_thing_gets_one_of_its_own(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("identifier,target,resource\nark:12345/k1a,https://m.example/1,AUTO 6\n")
    things = ("INV 1,Sketch", "INV 1,Sketch again", "INV 2,Bowl", "AUTO 6,Letter")
    rows = "".join(f"ark:12345/k1a,{thing}\n" for thing in things)
    (tmp_path / "b.csv").write_text(f"ARK,Accession number,Title\n{rows}")
    assert ararat("import", str(tmp_path / "a.csv")).exit_code == 0
    mint = ("import", "--mint", "ark:12345/k1", str(tmp_path / "b.csv"))
    refused = ararat(*mint)
    assert "or --confirm other-thing: a row with the ARK of another thing" in " ".join(refused.stderr.split())
    output = tmp_path / "c.csv"
    result = ararat(*mint, "--confirm", "other-thing", "--batch", "10", "--output", str(output))
    assert "row 2 has the key INV 1 too (key-twice)" in result.stderr
    (tmp_path / "b.csv").write_text(f"ARK,Accession number,Title\n{rows.replace('INV 1,Sketch again', 'INV 3,Vase')}")
    assert "1 updated, 3 reserved" in ararat(*mint, "--confirm", "other-thing", "--output", str(output)).stdout
    names = [line.partition(",")[0] for line in output.read_text().splitlines()[1:]]
    assert len(set(names)) == 4
    assert names.index("ark:12345/k1a") == 3
    # The same table again mints nothing.
    assert "4 unchanged" in ararat(*mint, "--confirm", "other-thing").stdout


def test_the_recorded_number_is_kept(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("identifier,target,resource\nark:12345/k1a,https://m.example/1,000030\n")
    assert ararat("import", str(tmp_path / "a.csv")).exit_code == 0
    for name, table in (
        ("b.csv", "identifier,resource,what\nark:12345/k1a,30,Vase\n"),
        ("c.csv", "ARK;Inv.-Nr.;Titel\nark:12345/k1a;30;Bowl\n"),
    ):
        (tmp_path / name).write_text(table)
        options = ("--key", "Inv.-Nr.") if name == "c.csv" else ()
        refused = ararat("import", *options, str(tmp_path / name))
        assert "number-damaged" in refused.stderr
        assert "--keep-numbers" in refused.stderr
        assert "1 updated" in ararat("import", "--keep-numbers", *options, str(tmp_path / name)).stdout
    shown = ararat("show", "ark:12345/k1a").stdout
    assert "000030" in shown
    assert "Bowl" in shown


def test_a_workbook_comes_back_with_its_sheets_and_formats(ararat: Callable[..., Result], tmp_path: Path) -> None:
    book, file, output = Workbook(), tmp_path / "objekte.xlsx", tmp_path / "arks.xlsx"
    for row in (("Inventarnummer", "Titel", "Wert"), ("INV 1", "Vase", 5)):
        book.worksheets[0].append(row)
    book.create_sheet("Notizen").append(["bleibt"])
    book.save(file)
    result = ararat("import", *MINT, "--output", str(output), str(file))
    assert result.exit_code == 0, result.stderr
    returned = load_workbook(output)
    assert returned.sheetnames[1:] == ["Notizen"]
    [_, row] = returned.worksheets[0].iter_rows(values_only=True)
    assert row[:3] == ("INV 1", "Vase", 5)
    assert str(row[3]).startswith("ark:12345/k1")
