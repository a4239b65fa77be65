"""`ararat bind` and similar commands: their effects and their output."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from ararat.bindings.names.errors import OutcomeUnknown
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import open_bindings
from ararat.webapp.accounts.audit_listing import AuditSelection, list_audit
from ararat.webapp.accounts.store import Accounts
from tests.wrapping import unwrapped

DOC = "ark:12345/doc"


def test_a_name_is_bound_under_its_normal_form(ararat: Callable[..., Result]) -> None:
    result = ararat(
        "bind", "ark:/12345/d-oc", "https://example.org/1", "--metadata", "who=A library", "--metadata", "what=A=B"
    )
    assert (result.exit_code, result.stdout) == (0, "bound ark:12345/doc -> https://example.org/1 (located, by 302)\n")
    shown = json.loads(ararat("show", "--json", DOC).stdout)
    assert shown["metadata"] == {"erc.who": "A library", "erc.what": "A=B"}


def test_a_new_name_that_looks_personal_is_bound_with_a_warning(ararat: Callable[..., Result]) -> None:
    values = ("/jane", "--resource", "jane, born 1984-03-12", "--metadata", "who=Jane")
    done = ararat("bind", "ark:12345/0000-0002-1825-0097", *values)
    assert (done.exit_code, done.stdout.split()[0]) == (0, "bound")
    text = " ".join(done.stderr.split())
    assert "warning: the name contains an ORCID iD or ISNI; a name enters the public log and can never" in text
    assert "warning: the resource contains a date of birth" in text
    again = ararat("bind", "ark:12345/0000000218250097", *values, "--redirect", "307")
    assert (again.exit_code, "personal-data" in again.stderr) == (0, False)


VALUES = {
    "resource-shared": ["--resource", "INV 3"],
    "number-shared": ["--further-number", "INV 3"],
    "title-shared": ["--metadata", "what=a VASE"],
}


@pytest.mark.parametrize("code", [*VALUES, "target-shared"])
def test_a_value_of_another_name_is_a_warning_before_it_is_public(ararat: Callable[..., Result], code: str) -> None:
    target = "/old" if code == "target-shared" else "/new"
    ararat("bind", DOC, "/old", "--resource", "INV 3", "--metadata", "what=A vase")
    ararat("reserve", "ark:12345/new", "--embargo", "")
    steps: dict[str, list[str]] = {
        "bind": ["bind", "ark:12345/new", target, *VALUES.get(code, [])],
        "withdraw": ["withdraw", "ark:12345/new"],
        "restore": ["restore", "ark:12345/new", *(["--resource", "INV 3"] if code == "resource-shared" else [])],
        "relocate": ["relocate", "ark:12345/new", "/elsewhere"],
        "back": ["relocate", "ark:12345/new", "/old"],
    }
    found: dict[str, list[str]] = {}
    for step, arguments in steps.items():
        done = ararat(*arguments)
        assert done.exit_code == 0, done.stderr
        found[step] = re.findall(r"\(([a-z]+-shared)\)", done.stderr)
    assert found == {"bind": [code], "withdraw": [], "restore": [code], "relocate": [], "back": ["target-shared"]}


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
        pytest.param(["--passthrough", DOC, "/a"], {"passthrough": True}, id="passthrough without a value"),
        pytest.param([DOC, "/a", "--passthrough"], {"passthrough": True}, id="passthrough at the end"),
        pytest.param(["--passthrough", "no", DOC, "/a"], {"passthrough": False}, id="no passthrough"),
        pytest.param(["--passthrough", "--", DOC, "/a"], {"passthrough": True}, id="passthrough before --"),
        pytest.param([DOC, "/a", "--passthrough=given"], {"passthrough": "given"}, id="passthrough as given"),
        pytest.param([DOC, "/a", "--passthrough", "given"], {"passthrough": "given"}, id="passthrough given"),
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
    name = next(each for each in arguments if each.startswith(("ark:", "urn:")))
    shown = json.loads(ararat("show", "--json", name).stdout)
    assert {key: shown[key] for key in expected} == expected


def test_a_note_is_printed_when_a_served_name_is_bound(ararat: Callable[..., Result]) -> None:
    bound = ararat("bind", DOC, "/a", "--kind", "served")
    assert "a served name needs a site behind ResolverMiddleware" in unwrapped(bound.stderr)
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


def test_show_prints_that_a_name_is_not_listed(ararat: Callable[..., Result]) -> None:
    table = f"identifier,target,listed,passthrough\n{DOC},/1,no,given\nark:12345/other,/2,,\n"
    assert ararat("import", "-", given=table).exit_code == 0
    shown = " ".join(ararat("show", DOC).stdout.split())
    assert "Listed no: the name is in no feed, and its description has noindex" in shown
    assert "appended to the target as received" in shown
    assert "Listed" not in ararat("show", "ark:12345/other").stdout


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
        assert words in unwrapped(result.stderr)
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
        assert words in unwrapped(result.stderr)
    assert bound(*moved, "--resource", "report 7").stdout.startswith("relocated ")


def test_relocate_changes_alternates(bound: Callable[..., Result]) -> None:
    assert bound("relocate", DOC, "https://example.org/1", "--alternate", "en=/en").stdout.startswith("relocated ")
    assert bound("relocate", DOC, "https://example.org/1", "--alternate", "en=/en").stdout.startswith("unchanged ")
    assert json.loads(bound("show", "--json", DOC).stdout)["alternates"] == {"en": "/en"}


def test_relocate_changes_the_kind(ararat: Callable[..., Result]) -> None:
    def recorded() -> tuple[str, str]:
        shown = json.loads(ararat("show", "--json", DOC).stdout)
        return shown["kind"], shown["target"]

    assert ararat("bind", DOC, "/page", "--kind", "served").exit_code == 0
    refused = ararat("relocate", DOC, "https://example.org/page")
    assert (refused.exit_code, "target-not-local" in refused.stderr) == (2, True)
    assert ararat("relocate", DOC, "https://example.org/page", "--kind", "located").stdout.startswith("relocated ")
    assert recorded() == ("located", "https://example.org/page")
    assert ararat("relocate", DOC, "https://example.org/page", "--kind", "related").exit_code == 0
    assert ararat("relocate", DOC, "/page", "--kind", "served").exit_code == 0
    assert recorded() == ("served", "/page")
    assert ararat("relocate", "--from", "a.example", "--to", "b.example", "--kind", "located").exit_code == 64


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


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "arguments", [["show"], ["history"], ["withdraw"], ["restore"]], ids=lambda arguments: arguments[0]
)
def test_show_reports_an_unbound_name(arguments: list[str], bound: Callable[..., Result]) -> None:
    result = bound(*arguments, "ark:12345/other")
    assert result.exit_code == 1
    assert "bound" in result.stderr


@pytest.mark.one_setup
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
    assert words in unwrapped(result.stderr)
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
        assert "no database" in unwrapped(result.stderr)
        assert not missing.exists()


@pytest.mark.one_setup
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
    for command in (["show", DOC], ["bind", DOC, "/a"], ["reserve", DOC]):
        result = ararat(*command, "--database", url)
        assert result.exit_code == code
        assert words in unwrapped(result.stderr)
        assert "secret" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["show", DOC, "--database"], id="show"),
        pytest.param(["bind", DOC, "/a", "--database"], id="bind"),
        pytest.param(["import", "-", "--database"], id="import"),
        pytest.param(["import", "--dry-run", "-", "--database"], id="import without writing"),
        pytest.param(["init", "--database"], id="init"),
        pytest.param(["migrate", "--database"], id="migrate"),
        pytest.param(["doctor", "--database"], id="doctor"),
        pytest.param(["serve", "--database"], id="serve"),
        pytest.param(["serve", "--database", "names.csv", "--statistics"], id="statistics"),
        pytest.param(["log", "status", "--dir", "log", "--database"], id="the log"),
        pytest.param(["copy", "names.csv"], id="copy"),
    ],
)
def test_a_mistyped_url_is_refused_without_its_password(
    arguments: list[str], ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/a,/a\n")
    for url in ("postgres//user:secret@host/db", "postgresql:/user:secret@host/names.csv"):
        result = ararat(*arguments, url)
        assert result.exit_code != 0
        assert "may contain a password" in " ".join(result.output.split())
        assert "secret" not in result.output


def test_bind_suggests_import_for_a_table(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\n")
    result = ararat("bind", DOC, "/a", "--database", str(tmp_path / "names.csv"))
    assert result.exit_code == 69
    assert "ararat import" in result.stderr.replace("\n", " ")
    assert ararat("show", DOC, "--database", str(tmp_path / "names.csv")).exit_code == 1


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        pytest.param("", "name the file of the database, or restore it from a backup", id="another file"),
        pytest.param("DROP TABLE ararat", "to create them, run: ararat init", id="no tables"),
        pytest.param("UPDATE ararat SET value = 99 WHERE name = 'schema'", "update Ararat", id="newer"),
    ],
)
def test_the_remedy_of_a_damaged_database_is_its_own(
    statement: str, remedy: str, bound: Callable[..., Result], database: Path
) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)
    if not statement:
        database.write_bytes(b"not a database " * 200)
    said = " ".join(bound("show", DOC).stderr.split())
    assert remedy in said
    assert "start the database" not in said


def test_show_reads_a_table_like_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(f"identifier,target\n{DOC},/1\n")
    assert json.loads(ararat("show", "--json", DOC, "--database", str(tmp_path / "names.csv")).stdout)["target"] == "/1"
    event = json.loads(ararat("history", "--json", DOC, "--database", str(tmp_path / "names.csv")).stdout)
    assert (event["action"], event["source"]) == ("bound", "names.csv, line 2")
    assert DOC in ararat("export", "--database", str(tmp_path / "names.csv")).stdout


# import ---------------------------------------------------------------------------------------------------------------


def test_bind_warns_of_a_dash_in_a_name(ararat: Callable[..., Result], caplog) -> None:
    assert ararat("bind", "ark:/12345/inv\u20131990", "/1").exit_code == 0
    assert "U+2013 EN DASH, which is not a hyphen" in caplog.text


def test_a_declared_naan_must_be_a_naan(ararat: Callable[..., Result]) -> None:
    refused = ararat("bind", "--naans", "abc", "ark:12345/a", "/a")
    message = " ".join(refused.stderr.split())
    assert (refused.exit_code, "'abc' is not a NAAN: a NAAN cannot contain 'a'" in message) == (64, True)
    assert ararat("bind", "--naans", "b7k-29", "ark:b7k29/a", "/a").stderr == ""


def test_an_unknown_outcome_has_an_exit_code_and_a_remedy_of_its_own(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OutcomeUnknown("the connection broke")

    database = f"sqlite:///{tmp_path}/bindings.sqlite"
    ararat("init", "--database", database)
    monkeypatch.setattr(DatabaseStore, "transaction", fail)
    for command in (("mint", "12345/x5"), ("bind", "ark:12345/x", "https://example.org/")):
        result = ararat(*command, "--database", database)
        said = " ".join(result.stderr.split())
        assert result.exit_code == 75
        assert "the change may be written or not" in said
        assert "Fix read the name; repeat only a change of a named name" in said


def test_changes_by_the_command_are_in_the_audit(ararat: Callable[..., Result], database: Path) -> None:
    ararat("bind", DOC, "/a", "--actor", "jane")
    ararat("bind", DOC, "/a", "--actor", "jane")
    ararat("withdraw", DOC, "--actor", "jane")
    ararat("prefix", "set", "12345/x5", "--who", "A library", "--actor", "joe")
    ararat("bind", DOC, "/b", "--actor", "joe")
    with open_bindings(database) as bindings:
        rows = list_audit(Accounts(bindings), AuditSelection()).rows
    assert [(row.operation, row.name, row.outcome, row.account, row.address) for row in reversed(rows)] == [
        ("bind", DOC, "bound", "jane", None),
        ("withdraw", DOC, "withdrawn", "jane", None),
        ("prefix.set", "ark:12345/x5", "set", "joe", None),
    ]


def test_the_history_says_what_an_update_replaced(ararat: Callable[..., Result]) -> None:
    target = "https://example.org/1"
    assert ararat("bind", DOC, target, "--number", "A 17", "--resource", "r1").exit_code == 0
    assert ararat("bind", DOC, target, "--number", "A 71", "--listed", "no", "--resource", "r1").exit_code == 0
    told = ararat("history", DOC).stdout
    assert "current numbers: A 71 (was A 17)" in told
    assert "former numbers: A 17 (was none)" in told
    assert "listed:" in told


@pytest.mark.parametrize("command", ["inspect", "inspect --several", "equal"])
def test_the_verdict_on_a_withdrawn_name_has_its_successor(ararat: Callable[..., Result], command: str) -> None:
    for name in ("ark:12345/x5old", "ark:12345/x5new"):
        ararat("bind", name, "https://museum.example/")
    ararat("withdraw", "ark:12345/x5old", "--reason", "twice", "--successor", "ark:12345/x5new")
    match command:
        case "inspect":
            shown = ararat("inspect", "ark:12345/x5old").stdout
        case "equal":
            shown = ararat("equal", "ark:12345/x5old", "ark:12345/zz").stdout
        case _:
            shown = ararat("inspect", "-", given="ark:12345/x5old\nark:12345/x5new\n").stdout
    assert "Successor: ark:12345/x5new" in shown
