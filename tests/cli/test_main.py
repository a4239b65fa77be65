"""The command `ararat`: its output for identifiers, and its exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat import __version__
from ararat.bindings.storage.versions import VERSION
from ararat.cli import main
from ararat.webapp.report import inspection
from tests.preloaded import ARARAT, ForkServer
from tests.wrapping import unwrapped

COMMANDS = [
    "inspect",
    "equal",
    "find",
    "trace",
    "bind",
    "relocate",
    "passthrough",
    "withdraw",
    "restore",
    "hold",
    "release",
    "holds",
    "change",
    "reserve",
    "delete",
    "mint",
    "rule",
    "prefix",
    "show",
    "history",
    "undo",
    "operations",
    "jobs",
    "list",
    "count",
    "stats",
    "init",
    "import",
    "export",
    "backup",
    "snapshot",
    "copy",
    "check",
    "verify",
    "recover",
    "rounds",
    "digest",
    "migrate",
    "log",
    "verify-name",
    "monitor",
    "witness",
    "redact",
    "account",
    "serve",
    "doctor",
    "policy",
    "registry",
    "schemes",
    "conformance",
]


@pytest.fixture
def ararat() -> Callable[..., Result]:
    """ararat(*arguments, given="") runs the command in this process."""

    def run(*arguments: str, given: str | bytes = "") -> Result:
        result = CliRunner(env={"ARARAT_DATABASE": None}).invoke(main.main, [*arguments], input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def process(*arguments: str | bytes, given: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a separate process."""
    return subprocess.run([ARARAT, *arguments], input=given, capture_output=True, timeout=100, check=False, **options)


VERSIONS = f"ararat {__version__} (schema {VERSION})\n"


# The whole ------------------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize("program", [[ARARAT], [sys.executable, "-m", "ararat"]], ids=["script", "module"])
def test_the_script_and_the_module_run_the_same_command(program: list[str | Path], tmp_path: Path) -> None:
    ran = subprocess.run([*program, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, VERSIONS, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [("ararat migr", "plain,migrate\n"), ("ararat check --resu", "plain,--resume\n")],
)
def test_shell_completion_lists_commands_and_options(
    run_command: Callable[..., Any], words: str, expected: str
) -> None:
    environ = {"_ARARAT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = run_command(ARARAT, **environ)
    assert (ran.returncode, ran.stdout) == (0, expected.encode())


def test_version_loads_no_large_packages(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "ararat", "--version"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    large = {"flask", "h11", "jinja2", "sqlalchemy", "waitress", "werkzeug"}
    assert loaded & {"click", "ararat.identifiers", "ararat.middleware", "ararat.webapp", *large} == {"click"}


def test_version_prints_the_version(ararat: Callable[..., Result]) -> None:
    assert ararat("--version").stdout == VERSIONS


def test_help_lists_every_command_in_sections(ararat: Callable[..., Result]) -> None:
    shown = ararat("--help")
    assert shown.exit_code == 0
    listed = shown.stdout.partition("Identifiers:")[2]
    assert re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE) == COMMANDS
    # Each command has one line: the others are titles and empty lines.
    assert len([line for line in listed.splitlines() if line.startswith("  ")]) == len(COMMANDS)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_text(name: str, ararat: Callable[..., Result]) -> None:
    shown = ararat(name, "--help")
    assert shown.exit_code == 0
    assert shown.stdout.isascii()
    assert f"Usage: ararat {name}" in unwrapped(shown.stdout)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="nothing"),
        pytest.param(["nope"], id="no such command"),
        pytest.param(["inspect"], id="no identifier"),
        pytest.param(["inspect", "--nope", "ark:12345/x"], id="no such option"),
        pytest.param(["inspect", "--input", "xml", "ark:12345/x"], id="no such form"),
        pytest.param(["equal", "ark:12345/x"], id="one operand"),
        pytest.param(["bind", "ark:12345/x", "/x"], id="no database"),
        pytest.param(["trace", "ark:12345/x", "--max-redirects", "4"], id="too few redirects"),
        pytest.param(["trace", "ark:12345/x", "--method", "POST"], id="another method"),
        pytest.param(["trace", "urn:isbn:0451450523"], id="no known resolver of a URN"),
        pytest.param(["trace", "ark:12345/x", "--resolver", "ftp://example.org"], id="no web resolver"),
        pytest.param(["trace", "ark:12345/x", "--allow-network", "everywhere"], id="no network"),
        pytest.param(["serve", "--database", "a.sqlite", "--bindings", "b.csv"], id="two stores"),
        pytest.param(["serve", "--port", "70000"], id="no port"),
        pytest.param(["import", "x.csv", "--database", "a.sqlite", "--report", "-"], id="a report without a file"),
        pytest.param(["check", "--trace", "x.txt", "--resume", "-"], id="results without a file"),
        pytest.param(["monitor", "https://log.example", "--state", "-"], id="a checkpoint without a file"),
    ],
)
def test_a_usage_error_ends_with_64_and_a_message_on_standard_error(
    arguments: list[str], ararat: Callable[..., Result]
) -> None:
    result = ararat(*arguments)
    assert result.exit_code == 64
    assert result.stdout == ""
    assert result.stderr


def test_a_usage_error_contains_no_raw_text(ararat: Callable[..., Result]) -> None:
    result = ararat("no\x1b[2J\u202esuch")
    assert result.exit_code == 64
    assert re.fullmatch(r"[\n\x20-\x7e]*", result.stderr)


@pytest.mark.one_setup
@pytest.mark.parametrize("command", [["inspect"], ["policy", "lint"], ["import"]])
def test_a_missing_argument_is_reported_with_the_argument_for_standard_input(
    command: list[str], ararat: Callable[..., Result]
) -> None:
    result = ararat(*command, given="ark:12345/a\n")
    assert result.exit_code == 64
    assert "Missing argument" in unwrapped(result.stderr)
    assert "add an argument, or - to read standard input" in unwrapped(result.stderr)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["list", "--limit", "x"], "'--limit': 'x' is not a valid whole number.", id="no number"),
        pytest.param(["list", "--limit", "0"], "'--limit': 0 is not in the range 1 or more.", id="a small number"),
        pytest.param(["check", "--pause", "61"], "'--pause': 61.0 is not in the range 0 to 60.", id="a large number"),
        pytest.param(["check", "--pause", "x"], "'--pause': 'x' is not a valid number.", id="no decimal number"),
        pytest.param(
            ["mint", "12345", "--count", "x"], "'x' is not a valid whole number.", id="a number without range"
        ),
        pytest.param(
            ["account", "role", "jane", "king"],
            "'ROLE': 'king' is not one of 'reader', 'curator', 'administrator'.",
            id="a wrong choice",
        ),
        pytest.param(
            ["account", "add", "jane"],
            "Missing option '--role'. Choose from: reader, curator, administrator",
            id="no choice",
        ),
    ],
)
def test_a_usage_error_names_the_value_and_what_is_expected(
    arguments: list[str], message: str, ararat: Callable[..., Result]
) -> None:
    assert message in " ".join(ararat(*arguments).stderr.split())


def test_help_shows_numbers_and_their_ranges_in_words(ararat: Callable[..., Result]) -> None:
    shown = " ".join(ararat("serve", "--help").stdout.split())
    assert "--port N The port to listen on" in shown
    assert "0 to 65535]" in shown


def test_a_missing_database_option_is_reported_with_its_variable(ararat: Callable[..., Result]) -> None:
    said = ararat("show", "ark:12345/x").stderr
    assert "--database" in said
    assert "ARARAT_DATABASE" in said


@pytest.mark.parametrize("database", ["/no/such/names.sqlite", "postgresql://127.0.0.1:1/names"])
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["inspect", "ark:12345/x-1"], "so its record here is not known."),
        (["inspect", "ark:12345/x-1", "ark:12345/x2"], "ark:12345/x2"),
        (["inspect", "--json", "ark:12345/x-1"], '"code": "unread"'),
        (["equal", "ark:12345/x-1", "ark:12345/x1"], "Equivalent: the normal forms are equal."),
        (["equal", "--json", "ark:12345/x-1", "ark:12345/x1"], '"code": "unread"'),
    ],
    ids=["report", "list", "json", "comparison", "comparison-json"],
)
def test_a_store_that_cannot_be_read_is_reported_once_beside_what_is_known_without_it(
    ararat: Callable[..., Result], database: str, arguments: list[str], shown: str
) -> None:
    result = ararat(*arguments, "--database", database)
    assert shown in " ".join(result.stdout.split())
    assert result.stderr.count("ararat: ") == 1
    assert result.exit_code == 0


# inspect --------------------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("texts", "code"),
    [
        pytest.param(["ark:12345/x"], 0, id="strict"),
        pytest.param(["ark:/12-345/x"], 1, id="liberal"),
        pytest.param(["ark:12345"], 2, id="invalid"),
        pytest.param(["foo"], 2, id="not an identifier"),
        pytest.param(["urn:isbn:0451450523"], 0, id="a URN"),
        pytest.param(["urn:example:a/b"], 1, id="a URN by one profile"),
        pytest.param(["https://n2t.net/ark:12345/x"], 0, id="embedded"),
        pytest.param(["ark:12345/x", "ark:/12-345/x"], 1, id="the worse of two"),
        pytest.param(["ark:12345", "ark:12345/x", "ark:/12-345/x"], 2, id="the worst of three"),
        pytest.param([""], 2, id="the empty text"),
    ],
)
def test_the_exit_code_of_inspect_is_the_worst_verdict(
    texts: list[str], code: int, ararat: Callable[..., Result]
) -> None:
    assert ararat("inspect", "--", *texts).exit_code == code
    assert ararat("inspect", "--json", "--", *texts).exit_code == code


def test_inspect_prints_the_normal_form_and_the_steps(ararat: Callable[..., Result]) -> None:
    shown = ararat("inspect", "ark:/12345/x6-np1.pdf.en").stdout
    assert "ark:12345/x6np1.en.pdf" in shown
    assert "Remove hyphens" in shown


def test_inspect_asks_with_one_mark(ararat: Callable[..., Result]) -> None:
    assert "Did you mean urn:isbn:0451450523?\n" in ararat("inspect", "ISBN 0-451-45052-3").stdout


def test_inspect_shows_a_bidi_override_percent_encoded(ararat: Callable[..., Result]) -> None:
    shown = ararat("inspect", "ark:12345/a\u202eb").stdout
    assert "ark:12345/a%E2%80%AEb" in shown
    assert "\u202e" not in shown


def test_inspect_json_prints_the_report_as_one_ascii_line(ararat: Callable[..., Result]) -> None:
    (line,) = ararat("inspect", "--json", "ark:12345/a\u202eb").stdout.splitlines()
    assert line.isascii()
    assert json.loads(line)["input"] == "ark:12345/a\u202eb"
    assert json.loads(line)["normal_form"] == "ark:12345/a%E2%80%AEb"


def test_inspect_reads_one_identifier_per_line(ararat: Callable[..., Result]) -> None:
    result = ararat("inspect", "-", given="ark:12345/x\r\n\nark:/12345/y-z\nfoo")
    assert [line.split() for line in result.stdout.splitlines()][:3] == [
        ["strict", "ark:12345/x"],
        ["strict", "ark:12345/yz"],
        ["invalid", "foo"],
    ]
    assert result.exit_code == 2


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ark:12345/a\nark:12345/b", id="list"),
        pytest.param(" ark:12345/a \r\n\r\n\turn:foo:b\r\n", id="white space and CRLF"),
        pytest.param("ark:/12345/INV 1940 0041\nark:12345/b 7\n", id="rest on each line"),
        pytest.param("ark:12345/a\nark:B5072/x\nark:12345", id="invalid lines"),
        pytest.param("  ark:12345/a ", id="white space around one identifier"),
        pytest.param("ark:/12345/INV 1940 0041", id="one identifier with a rest"),
    ],
)
def test_inspect_and_the_page_report_the_same_identifiers_of_a_list(text: str, ararat: Callable[..., Result]) -> None:
    page = [finding.report.as_dict() for finding in inspection.inspect(text).findings]
    for result in (ararat("inspect", "--json", text), ararat("inspect", "--json", "-", given=text)):
        command = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(each["input"], each["valid"]) for each in command] == [(each["input"], each["valid"]) for each in page]
        assert [each["problems"] for each in command] == [each["problems"] for each in json.loads(json.dumps(page))]


def test_inspect_counts_white_space_around_a_json_string(ararat: Callable[..., Result]) -> None:
    (line,) = ararat("inspect", "--json", "--input", "json", '" ark:12345/a"').stdout.splitlines()
    assert json.loads(line)["problems"][0]["code"] == "surrounding-space"


def test_inspect_reads_json_strings(ararat: Callable[..., Result]) -> None:
    given = '"ark:12345/a\\nb"\n"ark:12345/\\ud800"\n"ark:12345/x"\n'
    result = ararat("inspect", "--json", "--input", "json", "-", given=given)
    assert [json.loads(line)["input"] for line in result.stdout.splitlines()] == [
        "ark:12345/a\nb",
        "ark:12345/\ud800",
        "ark:12345/x",
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "bad", ["12", "{", "[" * 100_000, '["ark:12345/x"]', "ark:12345/x", '"\\'], ids=lambda bad: bad[:12]
)
def test_an_invalid_json_line_is_reported_and_the_others_are_read(bad: str, ararat: Callable[..., Result]) -> None:
    result = ararat("inspect", "--json", "--input", "json", "-", given=f'"ark:12345/x"\n{bad}\n"ark:12345/y"\n')
    said = " ".join(result.stderr.split())
    assert said.startswith("ararat: line 2 of standard input: not ")
    assert 'expected one JSON string a line, like "ark:12345/x"' in said
    assert len(result.stdout.splitlines()) == 2
    assert result.exit_code == 2


def test_inspect_accepts_bytes_that_are_not_utf8(run_command: Callable[..., Any]) -> None:
    result = run_command(ARARAT, "inspect", "--json", b"ark:12345/a\xff", "-", given=b"ark:12345/\xfe\xff\n")
    assert result.returncode == 2
    assert [json.loads(line)["input"] for line in result.stdout.splitlines()] == [
        "ark:12345/a\udcff",
        "ark:12345/\udcfe\udcff",
    ]
    assert result.stderr == b""


def test_inspect_reports_a_missing_input() -> None:
    result = process("inspect", "-", preexec_fn=lambda: os.close(0))
    assert result.returncode == 66
    assert b"standard input is closed" in b" ".join(result.stderr.split())


def naughty_rows(data: Path) -> list[dict[str, Any]]:
    rows = [
        json.loads(line) for line in (data / "hostile" / "naughty-identifiers.jsonl").read_text("ascii").splitlines()
    ]
    for row in rows:
        if row["input"] is None:
            row["input"] = eval(row["rule"], {"__builtins__": {}})
    return rows


@pytest.mark.parametrize(
    ("options", "longest"),
    [
        pytest.param(["--json"], 200_000, id="json"),
        pytest.param(["--json"], 2_000_000, id="json of a megabyte", marks=pytest.mark.long),
        pytest.param([], 20_000, id="for people"),
    ],
)
def test_hostile_identifiers_get_a_verdict_and_are_not_printed_raw(
    run_command: Callable[..., Any], options: list[str], longest: int, data: Path
) -> None:
    # Very long identifiers take seconds, and show little that other tests do not check.
    rows = [row for row in naughty_rows(data) if len(row["input"]) < longest]
    lines = "".join(json.dumps(row["input"]) + "\n" for row in rows).encode()
    result = run_command(ARARAT, "inspect", "--input", "json", *options, "-", given=lines)
    assert result.stderr == b""
    assert re.fullmatch(rb"[\n\x20-\x7e]*", result.stdout)
    assert result.returncode == 2
    if options:
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        assert [report["input"] for report in reports] == [row["input"] for row in rows]
        for row, report in zip(rows, reports, strict=True):
            if row["verdict"] == "accept":
                assert report["valid"], row["id"]
                assert report["normal_form"].lower() == row.get("normal", report["normal_form"]).lower(), row["id"]
            elif row["verdict"] == "reject":
                # One URN specification can accept what the other refuses (U-01).
                assert report["conformance"] != "strict", row["id"]


# equal ----------------------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("a", "b", "code", "words"),
    [
        pytest.param("ark:/12345/x-1", "https://n2t.net/ark:12345/x1", 0, "Equivalent", id="equivalent"),
        pytest.param("ark:12345/x6", "ark:12345/x7", 1, "differ in the Name", id="not equivalent"),
        pytest.param("ark:12345/x", "ark:12345", 2, "second text is not a valid ARK or URN", id="one cannot be read"),
        pytest.param("foo", "foo", 2, "Neither", id="neither can be read"),
        pytest.param("urn:isan:A-O", "urn:isan:a-o", 0, "rule of the namespace", id="by the rule of a registration"),
        pytest.param(
            "urn:meta:A", "urn:meta:a", 3, "Different by the general procedure", id="a rule that is not known"
        ),
    ],
)
def test_equal_prints_the_difference_and_sets_the_exit_code(
    a: str, b: str, code: int, words: str, ararat: Callable[..., Result]
) -> None:
    result = ararat("equal", a, b)
    assert result.exit_code == code
    assert words in result.stdout


# find -----------------------------------------------------------------------------------------------------------------


def test_find_prints_identifiers_with_line_and_column(ararat: Callable[..., Result]) -> None:
    text = "See ark:/12345/x-1, and\n(https://n2t.net/ark:12345/y?info).\n  urn:isbn:0451450523."
    assert ararat("find", given=text).stdout.splitlines() == [
        "1:5      ark:/12345/x-1 = ark:12345/x1",
        (
            "2:2      https://n2t.net/ark:12345/y?info). -> https://n2t.net/ark:12345/y?info (closing-punctuation)"
            " = ark:12345/y?info"
        ),
        "3:3      urn:isbn:0451450523. -> urn:isbn:0451450523 (closing-punctuation)",
    ]


def test_a_word_outside_the_specification_is_listed_and_inspected_as_a_whole(ararat: Callable[..., Result]) -> None:
    name = "https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ"
    encoded = "https://www.familysearch.org/ark:/61903/1%3A1%3AMW98-MNJ"
    found = ararat("find", given=f"Mother {name}, born\nark:12345/x,Title\n")
    assert (found.exit_code, found.stdout.splitlines()) == (
        0,
        [f"1:8      {name} -> {encoded} (outside)", "2:1      ark:12345/x (followed by ,Title)"],
    )
    (as_json, row) = map(json.loads, ararat("find", "--json", given=f"a {name}\nark:12345/x,Title").stdout.splitlines())
    assert (as_json["literal"], as_json["suggestion"], as_json["why"], as_json["normal_form"]) == (
        *(name, encoded, ["outside"], None),
    )
    assert (row["literal"], row["why"], row["normal_form"]) == ("ark:12345/x", ["followed-by: ,Title"], "ark:12345/x")
    inspected = ararat("inspect", name)
    assert inspected.exit_code == 2
    assert inspected.stdout.splitlines()[1].startswith("An ARK of Family Search, with colons")
    assert "Family Search" in inspected.stdout
    assert encoded in inspected.stdout
    assert ararat("inspect", name, "ark:12345/x").exit_code == 2


def test_find_json_counts_code_points(ararat: Callable[..., Result]) -> None:
    text = "\U0001f3d4 ark:12345/x and more"
    (line,) = ararat("find", "--json", given=text).stdout.splitlines()
    found = json.loads(line)
    assert text[found["start"] : found["end"]] == found["literal"] == "ark:12345/x"


def test_find_reads_every_text_as_running_text(ararat: Callable[..., Result]) -> None:
    assert ararat("find", given="ark:12345/INV 1940\n").stdout == "1:1      ark:12345/INV\n"
    assert ararat("find", given="ark:12345/x!\n").stdout == "1:1      ark:12345/x\n"


def test_find_reads_a_file(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_bytes(b"\xff ark:12345/x \xfe")
    assert ararat("find", str(tmp_path / "letter.txt")).stdout == "1:3      ark:12345/x\n"


def test_find_reports_that_nothing_was_found(ararat: Callable[..., Result]) -> None:
    assert ararat("find", given="nothing here").exit_code == 1
    assert ararat("find", given="nothing").exit_code == 1
    assert ararat("find", given="").exit_code == 1


def test_find_reports_an_unreadable_file(ararat: Callable[..., Result], tmp_path: Path) -> None:
    result = ararat("find", str(tmp_path / "none\x1b.txt"))
    assert result.exit_code == 66
    assert re.fullmatch(r"[\n\x20-\x7e]*", result.stderr)
    assert "No such file" in unwrapped(result.stderr)


def test_a_line_break_in_the_name_of_a_file_begins_no_message(ararat: Callable[..., Result], tmp_path: Path) -> None:
    result = ararat("find", str(tmp_path / "none\nararat: done"))
    assert result.stderr.count("ararat:") == 2
    assert "\nararat:" not in result.stderr


def test_find_splits_a_long_text_at_white_space_with_correct_positions(ararat: Callable[..., Result]) -> None:
    text = "".join(f"{'filler ' * 1000} ark:12345/\u0431{number}\n" for number in range(500))
    lines = ararat("find", "--json", given=text).stdout.splitlines()
    assert len(lines) == 500
    for number, line in enumerate(lines):
        found = json.loads(line)
        assert text[found["start"] : found["end"]] == found["literal"] == f"ark:12345/\u0431{number}"
        assert (found["line"], found["column"]) == (number + 1, 7002)


# In a terminal -------------------------------------------------------------------------------------------------------


@pytest.fixture
def in_a_terminal(fork_server: ForkServer, tmp_path: Path) -> Callable[..., str]:
    """in_a_terminal(columns, *arguments, **environ) returns the output of the command on a terminal."""

    def run(columns: int, *arguments: str, **environ: str) -> str:
        leader, follower = pty.openpty()
        termios.tcsetwinsize(follower, (24, columns))
        clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        environment = clean | {"TERM": "xterm"} | environ
        running = fork_server.start([str(ARARAT), *arguments], (follower, follower, follower), tmp_path, environment)
        os.close(follower)
        octets = bytearray()
        # Linux reports an error at the end of a terminal without a writer.
        with contextlib.suppress(OSError):
            while read := os.read(leader, 65536):
                octets += read
        running.wait(30)
        os.close(leader)
        return octets.decode("ascii").replace("\r\n", "\n")

    return run


@pytest.mark.parametrize("columns", [40, 80])
def test_terminal_output_has_colours_and_fits_the_width(in_a_terminal: Callable[..., str], columns: int) -> None:
    shown = in_a_terminal(columns, "inspect", "https://n2t.net/ark:/12345/x6-np1/a-component/another.pdf.en?info")
    assert "\x1b[" in shown
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert max(map(len, lines)) <= columns
    assert "\x1b" not in in_a_terminal(columns, "inspect", "ark:12345/x", NO_COLOR="1")


def test_a_long_import_prints_its_progress(in_a_terminal: Callable[..., str], tmp_path: Path) -> None:
    lines = "".join(f"ark:12345/x{number},/x\n" for number in range(1500))
    (tmp_path / "names.csv").write_text(f"identifier,target\n{lines}")
    shown = in_a_terminal(80, "import", str(tmp_path / "names.csv"), ARARAT_DATABASE=str(tmp_path / "names.sqlite"))
    assert "\r1,000 lines" in shown
    assert "\r1,500 lines" in shown
    assert "1,500 added" in shown


# How it ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "closed"),
    [
        pytest.param(("ark:12345/x", "--json"), 0, 1, id="done"),
        pytest.param(("no identifier",), 2, 1, id="refused"),
        pytest.param(("--wrong",), 64, 2, id="usage"),
    ],
)
def test_a_command_with_closed_output_ends_as_usual(arguments: tuple[str, ...], code: int, closed: int) -> None:
    result = process("inspect", *arguments, preexec_fn=lambda: os.close(closed))
    assert result.returncode == code
    assert b"Traceback" not in result.stderr


def test_a_closed_pipe_ends_the_command_by_sigpipe() -> None:
    lines = b"ark:12345/x\n" * 200_000
    with subprocess.Popen(
        [ARARAT, "inspect", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        try:
            running.stdin.write(lines)
            running.stdin.close()
        except BrokenPipeError:
            pass
        assert running.wait(30) == -signal.SIGPIPE
        assert running.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_command_without_a_traceback(number: signal.Signals) -> None:
    with subprocess.Popen(
        [ARARAT, "inspect", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        # The output is larger than the buffer, so the first part shows that the command runs.
        running.stdin.write(b"ark:12345/x\n" * 2_000)
        running.stdout.read(1)
        running.send_signal(number)
        running.stdin.close()
        running.stdout.read()
        assert running.wait(30) == -number
        assert b"Traceback" not in running.stderr.read()


def test_a_full_disk_is_reported_in_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [ARARAT, "inspect", "ark:12345/x"], stdout=full, stderr=subprocess.PIPE, timeout=30, check=False
        )
    assert result.returncode == 74
    assert b"No space left" in b" ".join(result.stderr.split())
    assert b"Traceback" not in result.stderr


# A name of 300 letters is too long for a file system, so os.stat() raises an error that is not FileNotFoundError.
LONG = "a" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("list", "--database", f"{LONG}.sqlite"), id="list"),
        pytest.param(("bind", "ark:12345/x", "/x", "--database", f"sqlite:///{LONG}.sqlite"), id="bind"),
        pytest.param(("import", "table.csv", "--database", f"{LONG}.sqlite"), id="import"),
        pytest.param(("import", "table.csv", "--database", "new.sqlite", "--report", LONG), id="report"),
        pytest.param(("export", "--database", f"{LONG}.csv"), id="export"),
        pytest.param(("monitor", "log", "--state", LONG, "--json"), id="monitor"),
        pytest.param(("log", "status", "--database", "table.csv", "--dir", LONG), id="log"),
        pytest.param(("schemes", "lint", LONG), id="schemes"),
    ],
)
def test_a_path_that_cannot_be_looked_at_is_reported(ararat, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("identifier,target\nark:12345/x,https://example.org/\n", "utf-8")
    answer = ararat(*arguments)
    assert answer.exit_code not in (0, 70)
    assert "File name too long" in answer.output
    assert "cannot read table.csv" not in answer.output
