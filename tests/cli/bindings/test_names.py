"""`ararat bind` and similar commands, and `ararat import`: their effects and their output."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.cli.databases import import_table
from ararat.cli.output import Sheet
from ararat.identifiers.text import display
from ararat.middleware import open_bindings
from ararat.middleware.tabular.importing import NotedLine, Summary

DOC = "ark:12345/doc"
UNDO = "Operation 1. To undo it, run: ararat undo 1\n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "bindings.sqlite"


@pytest.fixture
def ararat(database: Path) -> Callable[..., Result]:
    """ararat(*arguments, given="") runs the command in this process on its own database."""

    def run(*arguments: str, given: str | bytes = "") -> Result:
        result = CliRunner(env={"ARARAT_DATABASE": str(database)}).invoke(main.main, [*arguments], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        # The streams are UTF-8: letters are printed, and nothing that a terminal could act on.
        printed = result.output.replace("\t", "").replace("\n", "")
        assert display.visible(printed) == printed
        return result

    return run


@pytest.fixture
def bound(ararat: Callable[..., Result]) -> Callable[..., Result]:
    """The same command with ark:12345/doc already bound."""
    assert ararat("bind", DOC, "https://example.org/1", "--resource", "report 7", "--actor", "first").exit_code == 0
    return ararat


def test_a_name_is_bound_under_its_normal_form(ararat: Callable[..., Result]) -> None:
    result = ararat(
        "bind", "ark:/12345/d-oc", "https://example.org/1", "--metadata", "who=A library", "--metadata", "what=A=B"
    )
    assert (result.exit_code, result.stdout) == (0, "bound ark:12345/doc -> https://example.org/1 (located, by 302)\n")
    shown = json.loads(ararat("show", "--json", DOC).stdout)
    assert shown["metadata"] == {"erc.who": "A library", "erc.what": "A=B"}


def test_a_url_that_contains_an_ark_is_read_as_the_ark(ararat: Callable[..., Result]) -> None:
    assert ararat("bind", "https://n2t.net/ark:/12345/doc", "/doc").exit_code == 0
    assert ararat("show", DOC).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([DOC, "/a", "--kind", "related"], {"kind": "related", "target": "/a"}, id="related"),
        pytest.param([DOC, "/a", "--kind", "served"], {"kind": "served", "target": "/a"}, id="served"),
        pytest.param([DOC, "--kind", "described"], {"kind": "described", "target": None}, id="described"),
        pytest.param([DOC, "/a", "--redirect", "307"], {"redirect": 307}, id="307"),
        pytest.param(
            [DOC, "/a", "--alternate", "text/html;en=/en"], {"alternates": {"text/html;en": "/en"}}, id="alternates"
        ),
        pytest.param(["urn:example:a", "/a"], {"identifier": "urn:example:a"}, id="a URN"),
    ],
)
def test_bind_accepts_all_fields_of_a_binding(
    arguments: list[str], expected: dict[str, object], ararat: Callable[..., Result]
) -> None:
    assert ararat("bind", *arguments).exit_code == 0
    shown = json.loads(ararat("show", "--json", arguments[0]).stdout)
    assert {key: shown[key] for key in expected} == expected


def test_a_note_is_printed_when_a_served_name_is_bound(ararat: Callable[..., Result]) -> None:
    bound = ararat("bind", DOC, "/a", "--kind", "served")
    assert "a served name needs a site behind ResolverMiddleware" in " ".join(bound.stderr.split())
    assert ararat("bind", DOC, "/a", "--kind", "served").stderr == ""


def test_show_escapes_the_texts_of_a_binding(ararat: Callable[..., Result]) -> None:
    assert (
        ararat(
            "bind", DOC, "/a", "--metadata", "what=a\u202eb", "--resource", "\u2066r", "--actor", "\u200bme"
        ).exit_code
        == 0
    )
    assert "a\\u{202e}b" in ararat("show", DOC).stdout
    assert "\\u{200b}me" in ararat("history", DOC).stdout
    assert json.loads(ararat("show", "--json", DOC).stdout)["metadata"] == {"erc.what": "a\u202eb"}


def test_show_prints_the_creation_and_the_published_spelling(ararat: Callable[..., Result]) -> None:
    assert ararat("bind", "ark:/12345/d-o-c", "/a").exit_code == 0
    shown = ararat("show", DOC).stdout
    assert re.search(r"^  Spelling +ark:/12345/d-o-c$", shown, re.MULTILINE)
    assert re.search(r"^  Created +20\d\d-\d\d-\d\d \d\d:\d\d:\d\dZ$", shown, re.MULTILINE)


def test_binding_the_same_again_changes_nothing(bound: Callable[..., Result]) -> None:
    assert bound("bind", DOC, "https://example.org/1").stdout.startswith("unchanged ")


def test_a_conflict_shows_the_recorded_and_the_requested_binding(bound: Callable[..., Result]) -> None:
    result = bound("bind", DOC, "https://example.org/2")
    assert result.exit_code == 1
    for words in ("bound-otherwise", "https://example.org/1", "https://example.org/2", "report 7", "relocate"):
        assert words in result.stderr
    assert "https://example.org/1" in bound("show", DOC).stdout


def test_the_recorded_resource_permits_a_new_target(bound: Callable[..., Result]) -> None:
    assert bound("bind", DOC, "https://example.org/2", "--resource", "report 7").stdout.startswith("relocated ")


def test_bind_changes_or_deletes_one_metadata_element(bound: Callable[..., Result]) -> None:
    assert bound("bind", DOC, "https://example.org/1", "--metadata", "who=Me", "--metadata", "when=1").exit_code == 0
    assert bound("bind", DOC, "https://example.org/1", "--metadata", "who=").stdout.startswith("updated ")
    shown = json.loads(bound("show", "--json", DOC).stdout)["metadata"]
    assert (shown["erc.when"], "erc.who" in shown) == ("1", False)


def test_changing_an_alternate_requires_the_recorded_resource(bound: Callable[..., Result]) -> None:
    moved = "bind", DOC, "https://example.org/1", "--alternate", "en=/en"
    result = bound(*moved)
    assert result.exit_code == 1
    for words in ("alternate en: none", "alternate en: /en", "resource: report 7", "resource: none given"):
        assert words in " ".join(result.stderr.split())
    assert bound(*moved, "--resource", "report 7").stdout.startswith("relocated ")


def test_relocate_changes_alternates(bound: Callable[..., Result]) -> None:
    assert bound("relocate", DOC, "https://example.org/1", "--alternate", "en=/en").stdout.startswith("relocated ")
    assert bound("relocate", DOC, "https://example.org/1", "--alternate", "en=/en").stdout.startswith("unchanged ")
    assert json.loads(bound("show", "--json", DOC).stdout)["alternates"] == {"en": "/en"}


def test_commands_print_their_outcome(bound: Callable[..., Result]) -> None:
    words = [
        bound(*arguments).stdout.partition(" ")[0]
        for arguments in (
            ("withdraw", DOC, "--reason", "a"),
            ("withdraw", DOC, "--reason", "a"),
            ("withdraw", DOC, "--reason", "b"),
            ("restore", DOC, "--resource", "report 7"),
            ("restore", DOC, "--resource", "report 7"),
        )
    ]
    assert words == ["withdrawn", "unchanged", "updated", "restored", "unchanged"]


def test_a_name_can_be_bound_relocated_withdrawn_and_restored(bound: Callable[..., Result]) -> None:
    assert bound("relocate", DOC, "/elsewhere", "--actor", "second").exit_code == 0
    assert bound("withdraw", DOC, "--reason", "Replaced").exit_code == 0
    assert "Replaced" in bound("show", DOC).stdout
    assert bound("restore", DOC, "--resource", "another").exit_code == 1
    assert bound("restore", DOC, "--resource", "report 7").exit_code == 0
    events = [json.loads(line) for line in bound("history", "--json", DOC).stdout.splitlines()]
    assert [event["action"] for event in events] == ["bound", "relocated", "withdrawn", "restored"]
    assert [event["actor"] for event in events][:2] == ["first", "second"]
    told = bound("history", DOC).stdout
    for words in ("bound by first", "relocated by second", "Replaced"):
        assert words in told


def test_the_default_actor_is_the_user_of_the_process(
    ararat: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "somebody")
    ararat("bind", DOC, "/a")
    assert json.loads(ararat("history", "--json", DOC).stdout)["actor"] == "somebody"


def test_show_states_that_no_persistence_statement_is_known(bound: Callable[..., Result]) -> None:
    assert "no persistence statement known" in bound("show", DOC).stdout
    bound("bind", DOC, "https://example.org/1", "--metadata", "persistence=lifetime")
    assert "no persistence statement known" not in bound("show", DOC).stdout


@pytest.mark.parametrize(
    "arguments", [["show"], ["history"], ["withdraw"], ["restore"]], ids=lambda arguments: arguments[0]
)
def test_show_reports_an_unbound_name(arguments: list[str], bound: Callable[..., Result]) -> None:
    result = bound(*arguments, "ark:12345/other")
    assert result.exit_code == 1
    assert "bound" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["ark:12345", "/a"], "no-name", id="no identifier"),
        pytest.param(["ark:99999/x", "/a"], "naan-reserved-invalid", id="NAAN 99999"),
        pytest.param(["ark:12345/x", "javascript:alert(1)"], "target-scheme", id="a script as target"),
        pytest.param(["ark:12345/x", "//evil.example"], "target-relative", id="a target that depends on the reader"),
        pytest.param(["ark:12345/x", "/ark:12345/y"], "reserved-target", id="a reserved path"),
        pytest.param(["ark:12345/x"], "target-missing", id="no target"),
        pytest.param(
            ["ark:12345/x", "/a", "--redirect", "301"], "permanent-redirect-forbidden", id="a permanent redirect"
        ),
        pytest.param(["ark:12345/x", "/a", "--metadata", "colour=red"], "metadata-key", id="unknown metadata"),
        pytest.param(["ark:12345/x", "/a", "--resource", "a\x1b[2J"], "resource-text", id="a control character"),
    ],
)
def test_a_refused_binding_is_reported_with_code_and_rule(
    arguments: list[str], words: str, ararat: Callable[..., Result]
) -> None:
    result = ararat("bind", *arguments, *(["--kind", "served"] if words == "reserved-target" else []))
    assert result.exit_code == 2
    assert words in result.stderr
    assert "expected" in result.stderr.lower()


def test_an_invalid_identifier_is_reported_with_a_caret(ararat: Callable[..., Result]) -> None:
    lines = ararat("show", "ark:12345/x!y").stderr.splitlines()
    shown = next(number for number, line in enumerate(lines) if line.strip() == "ark:12345/x!y")
    assert lines[shown][lines[shown + 1].index("^")] == "!"


def test_an_invalid_command_creates_no_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    missing = tmp_path / "typo.sqlite"
    for url in (str(missing), f"sqlite:///{missing}"):
        result = ararat("show", DOC, "--database", url)
        assert result.exit_code == 69
        assert "no database" in result.stderr
        assert not missing.exists()


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        pytest.param("postgresql://user:secret@127.0.0.1:1/x?connect_timeout=2", 69, "127.0.0.1", id="no server"),
        pytest.param("mysql://localhost/x", 2, "database-url", id="another kind"),
        pytest.param("names.csv", 69, "there is no file names.csv", id="a table that is not there"),
    ],
)
def test_an_unusable_database_is_reported(url: str, code: int, words: str, ararat: Callable[..., Result]) -> None:
    if url.startswith("postgresql"):
        pytest.importorskip("psycopg")
    result = ararat("show", DOC, "--database", url)
    assert result.exit_code == code
    assert words in result.stderr
    assert "secret" not in result.output


def test_bind_suggests_import_for_a_table(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\n")
    result = ararat("bind", DOC, "/a", "--database", str(tmp_path / "names.csv"))
    assert result.exit_code == 2
    assert "ararat import" in result.stderr.replace("\n", " ")
    assert ararat("show", DOC, "--database", str(tmp_path / "names.csv")).exit_code == 1


def test_show_reads_a_table_like_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(f"identifier,target\n{DOC},/1\n")
    assert json.loads(ararat("show", "--json", DOC, "--database", str(tmp_path / "names.csv")).stdout)["target"] == "/1"
    event = json.loads(ararat("history", "--json", DOC, "--database", str(tmp_path / "names.csv")).stdout)
    assert (event["action"], event["source"]) == ("bound", "names.csv, line 2")
    assert DOC in ararat("export", "--database", str(tmp_path / "names.csv")).stdout


# import ---------------------------------------------------------------------------------------------------------------

TABLE = (
    "identifier,target,kind,what\nark:/12345/d-oc,https://example.org/1,,A report\nark:12345/cat,/about-cat,related,\n"
)


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


def test_one_refused_line_prevents_the_import_of_all_lines(ararat: Callable[..., Result]) -> None:
    result = ararat("import", "-", given="identifier,target\nark:12345/a,/a\nark:12345,/b\n")
    assert result.exit_code == 1
    assert "line 3" in result.stderr
    assert ararat("show", "ark:12345/a").exit_code == 1


def test_batches_are_kept_and_reported(ararat: Callable[..., Result]) -> None:
    lines = "".join(f"ark:12345/x{number},/1\n" for number in range(5))
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}ark:99999/x,/1\n")
    assert result.exit_code == 1
    assert result.stdout == (
        "Written: the first 4 lines. Correct the refused lines and run the command again.\n"
        f"6 lines: 4 added, 1 refused.\n{UNDO}"
    )
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}ark:12345/y\n")
    assert result.exit_code == 2
    assert "Written the first 4 lines; correct the table" in " ".join(result.stderr.split())
    result = ararat("import", "--batch", "2", "-", given=f"identifier,target\n{lines}")
    assert result.stdout.startswith("Written. 5 lines: 1 added, 4 unchanged.\nOperation 2. ")


def test_an_unreadable_line_is_reported_with_file_line_and_column(
    ararat: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "names.csv").write_text('identifier,target\nark:12345/a,/a\nark:12345/b,"/b\n')
    result = ararat("import", str(tmp_path / "names.csv"))
    assert result.exit_code == 2
    assert re.search(r"names\.csv,\s+line\s+3,\s+column\s+13", result.stderr)
    assert ararat("show", "ark:12345/a").exit_code == 1


def test_import_reports_a_missing_file(ararat: Callable[..., Result], tmp_path: Path) -> None:
    result = ararat("import", str(tmp_path / "nothing.csv"))
    assert result.exit_code == 66
    assert "No such file" in result.stderr


EXCEL = "ARK;URL;Titre;Notes\r\nark:12345/a;www.museum.example/x;Été;n\r\nark:/12345/inv–1;/2;b;\r\n".encode("cp1252")
MAPPED = ("--map", "ARK=identifier", "--map", "url=target", "--map", "Titre=what", "--ignore-unknown")


def test_a_dry_run_needs_no_database(ararat: Callable[..., Result], database: Path) -> None:
    result = ararat("import", "--dry-run", "-", given=TABLE)
    assert result.exit_code == 0
    assert f"There is no database at {database}." in " ".join(result.stdout.split())
    assert "Nothing was written. 2 lines: 2 to add." in result.stdout
    assert list(database.parent.iterdir()) == []


def test_the_encoding_and_the_separator_are_reported(ararat: Callable[..., Result]) -> None:
    result = ararat("import", "--dry-run", *MAPPED, "-", given=EXCEL)
    assert result.exit_code == 1
    assert "Read as Windows-1252, separator ;.\nThe file is not UTF-8, so its encoding is a guess." in result.stdout
    assert "--encoding" in result.stdout
    assert "Ignored columns: Notes." in result.stdout
    assert "did you mean https://www.museum.example/x?" in " ".join(result.stderr.split())
    assert result.stdout.endswith("Nothing was written. 2 lines: 1 to add, 1 refused, 1 warning.\n")
    assert ararat("import", *MAPPED, "--encoding", "utf-8", "-", given=EXCEL).exit_code == 2
    tabs = EXCEL.replace(b";", b"\t").replace(b"www.museum.example", b"")
    result = ararat("import", *MAPPED, "--delimiter", "tab", "--encoding", "cp1252", "-", given=tabs)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "Read as cp1252, separator tab.")


def test_the_usual_encoding_and_separator_are_not_reported(ararat: Callable[..., Result]) -> None:
    assert ararat("import", "-", given=TABLE).stdout == f"Written. 2 lines: 2 added.\n{UNDO}"


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
    many = "".join(f"ark:12345/x{number},/1\n" for number in range(150))
    table = f"identifier,target\n{many}ark:12345/inv\u20131,/1\n"
    result = ararat("import", "--dry-run", "-", given=table)
    assert "ark:12345/inv\u20131" in result.stderr
    assert "U+2013 EN DASH" in result.stderr
    assert "152 lines" not in result.stdout
    assert "... and 51 more" in result.stdout
    assert result.stdout.endswith("151 to add, 1 warning.\n")


def test_bind_warns_of_a_dash_in_a_name(ararat: Callable[..., Result], caplog) -> None:
    assert ararat("bind", "ark:/12345/inv\u20131990", "/1").exit_code == 0
    assert "U+2013 EN DASH, which is not a hyphen" in caplog.text


def test_the_report_contains_every_refused_line(ararat: Callable[..., Result], tmp_path: Path) -> None:
    many = "".join(f"ark:99999/x{number},/{number},\u00c9\n" for number in range(150))
    report = tmp_path / "report.csv"
    table = tmp_path / "names.csv"
    table.write_text(f"identifier,target,what\n{many}", "utf-8")
    result = ararat("import", str(table))
    assert "... and 50 more lines; use --report FILE to list them all" in result.stderr
    result = ararat("import", "--report", str(report), str(table))
    assert "... and 50 more lines; see" in result.stderr
    lines = list(csv.DictReader(report.read_text("utf-8-sig").splitlines()))
    assert len(lines) == 150
    assert (lines[149]["line"], lines[149]["result"], lines[149]["code"]) == ("151", "refused", "naan-reserved-invalid")
    assert (lines[149]["identifier"], lines[149]["target"], lines[149]["what"]) == ("ark:99999/x149", "/149", "\u00c9")
    report.write_text(report.read_text("utf-8").replace("ark:99999", "ark:12345"), "utf-8")
    assert "150 added" in ararat("import", "--ignore-unknown", str(report)).stdout


def test_a_report_does_not_replace_its_table(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(TABLE)
    result = ararat("import", "--report", str(tmp_path / "names.csv"), str(tmp_path / "names.csv"))
    assert result.exit_code == 2
    assert (tmp_path / "names.csv").read_text() == TABLE
    assert ararat("import", "--report", str(tmp_path / "no" / "r.csv"), str(tmp_path / "names.csv")).exit_code == 66


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
        "ark:12345/new1,/1,,\nark:12345/new2,/1,,\nark:12345/a,,,New\nark:12345/b,,R1,\n"
        "ark:12345/doc,/2,report 7,\nark:12345/c,,,Old\n"
    )
    result = bound("import", "--dry-run", "-", given=table)
    assert result.stdout.splitlines() == [
        "bound     line 2    ark:12345/new1 -> /1",
        "bound     line 3    ark:12345/new2 -> /1",
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
    first = next(iter(import_table.refused_lines(summary, Sheet(80))))
    assert first.startswith("refused   line 14863 ark:/12345/x")
    lines = list(import_table.refused_lines(summary, Sheet(60, cut=True)))
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


# export ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_an_export_can_be_imported(bound: Callable[..., Result], format: str, tmp_path: Path, database: Path) -> None:
    assert bound("withdraw", DOC, "--reason", "Lost").exit_code == 0
    file = tmp_path / f"all.{format}"
    result = bound("export", str(file))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"1 binding written to {file}\n"
    assert bound("export", "--format", format).stdout == file.read_text()
    assert bound("import", str(file)).stdout == "Written. 1 line: 1 unchanged.\n"
    result = bound(
        "import", "--database", str(tmp_path / "other.sqlite"), "--format", format, "-", given=file.read_bytes()
    )
    assert result.stdout == f"Written. 1 line: 1 withdrawn.\n{UNDO}"
    with open_bindings(tmp_path / "other.sqlite", create=True) as bindings:
        found = bindings.lookup(DOC)
        assert found is not None
        assert (found.status, found.reason, found.target) == ("withdrawn", "Lost", "https://example.org/1")


def test_export_replaces_a_file_completely_or_not_at_all(bound: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("before")
    result = bound("export", "--database", str(tmp_path / "none.sqlite"), str(tmp_path / "all.csv"))
    assert (result.exit_code, (tmp_path / "all.csv").read_text()) == (69, "before")
    assert bound("export", str(tmp_path / "all.csv")).exit_code == 0
    assert DOC in (tmp_path / "all.csv").read_text()
    assert bound("export", str(tmp_path / "nowhere" / "all.csv")).exit_code == 66
    assert list(tmp_path.glob(".*")) == []


def test_an_unregistered_naan_causes_a_warning_unless_declared(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:54321/a,/1\nark:54321/b,/1\nark:12148/c,/1\n")
    for arguments in (["bind", "ark:54321/x", "/x"], ["import", str(tmp_path / "names.csv")]):
        result = ararat(*arguments)
        assert result.exit_code == 0
        assert result.stderr.count("NAAN 54321 is not registered: register it with the ARK") == 1
        assert "12148" not in result.stderr
        assert ararat(*arguments, "--naans", "54321").stderr == ""


def test_strict_refuses_an_unregistered_naan(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12148/c,/1\nark:54321/a,/1\n")
    bound = ararat("bind", "ark:54321/x", "/x", "--strict")
    assert (bound.exit_code, bound.stdout) == (2, "")
    assert "NAAN 54321 is not registered (naan-unregistered)" in bound.stderr
    imported = ararat("import", str(tmp_path / "names.csv"), "--strict")
    assert imported.exit_code == 1
    assert "line 3    ark:54321/a" in imported.stderr + imported.stdout
    for name in ("ark:54321/x", "ark:12148/c"):
        assert ararat("show", name).exit_code == 1
    assert ararat("bind", "ark:54321/x", "/x", "--strict", "--naans", "54321").exit_code == 0
