"""`ararat check --trace` with a site on loopback."""

from __future__ import annotations

import csv
import http.server
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from tests.http_servers import running
from tests.waiting import until
from tests.wrapping import unwrapped


class Site(http.server.BaseHTTPRequestHandler):
    """A site: names with a 3 lead to a related resource, names with a 4 to nothing, all others to a page."""

    def do_GET(self) -> None:
        if "/ark:" in self.path and "4" not in self.path[-1]:
            self.send_response(303 if self.path.endswith("3") else 302)
            self.send_header("Location", "/page")
        else:
            self.send_response(200 if self.path == "/page" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]


@pytest.fixture
def site() -> Iterator[http.server.ThreadingHTTPServer]:
    with running(Site) as server:
        server.asked = []  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def options(site) -> list[str]:
    resolver = f"http://127.0.0.1:{site.server_port}"
    return ["check", "--trace", "--pause", "0", "--resolver", resolver, "--allow-network", "127.0.0.0/8"]


def ararat(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(main.main, [*arguments], input=given)


FIVE = "ark:12345/x1\nark:12345/x3\n\nark:12345/x4\nnonsense\nark:12345/x1\n"


def test_every_line_has_a_verdict_and_the_last_line_a_count(options):
    result = ararat(*options, "-", given=FIVE)
    assert (result.exit_code, result.stderr) == (1, "")
    assert "related      ark:12345/x3\n" in result.stdout
    assert result.stdout.endswith("4 traced: 1 resolves, 1 related, 1 dead, 1 unreadable.\n")


def test_exit_code_is_0_if_all_identifiers_resolve(options, tmp_path):
    (tmp_path / "names").write_text("ark:12345/x1\nark:12345/x3\n")
    assert ararat(*options, str(tmp_path / "names")).exit_code == 0


def test_csv_and_json_have_the_same_rows(options):
    rows = list(csv.DictReader(ararat(*options, "-", "--csv", given=FIVE).stdout.splitlines()))
    lines = [json.loads(line) for line in ararat(*options, "-", "--json", given=FIVE).stdout.splitlines()]
    assert sorted((row["identifier"], row["verdict"], row["hops"]) for row in rows) == sorted(
        (line["identifier"], line["verdict"], str(line["hops"])) for line in lines
    )
    assert {line["url"] for line in lines if line["verdict"] == "related"} == {
        options[options.index("--resolver") + 1] + "/page"
    }


def test_without_a_file_all_live_names_are_traced(options, tmp_path):
    database = ["--database", str(tmp_path / "bindings.sqlite")]
    for name in ("x1", "x2", "x4"):
        assert ararat("bind", f"ark:12345/{name}", "/x", "--resource", name, *database).exit_code == 0
    assert ararat("withdraw", "ark:12345/x4", *database).exit_code == 0
    lines = [json.loads(line) for line in ararat(*options, "--json", *database).stdout.splitlines()]
    assert sorted(line["identifier"] for line in lines) == ["ark:12345/x1", "ark:12345/x2"]


@pytest.fixture
def bound(site, tmp_path) -> list[str]:
    """Return the options for a database whose names lead to pages of the site or to a path, or are served."""
    database = ["--database", str(tmp_path / "bindings.sqlite")]
    page = f"http://127.0.0.1:{site.server_port}/page"
    for name, target, *more in (
        ("x1", page),
        ("x2", page, "--kind", "related"),
        ("path", "/page"),
        ("site", "/page", "--kind", "served"),
        ("gone", f"{page}/4"),
        ("v", page, "--passthrough"),
    ):
        assert ararat("bind", f"ark:12345/{name}", target, *more, *database).exit_code == 0
    return [*database, "--allow-network", "127.0.0.0/8"]


TRACE = ["check", "--trace", "--pause", "0"]


def verdicts(result: Result) -> dict[str, str]:
    return {row["identifier"]: row["verdict"] for row in map(json.loads, result.stdout.splitlines())}


def test_names_of_the_database_are_resolved_by_the_database(bound, site):
    result = ararat(*TRACE, "--json", *bound)
    assert verdicts(result) == {
        "ark:12345/x1": "resolves",
        "ark:12345/x2": "related",
        "ark:12345/path": "blocked",
        "ark:12345/site": "blocked",
        "ark:12345/gone": "dead",
        "ark:12345/v": "resolves",
    }
    assert [row["sentence"] for row in map(json.loads, result.stdout.splitlines()) if "--prefix" in row["sentence"]]
    # The names themselves were not requested over HTTP.
    assert sorted(set(site.asked)) == sorted(["/page", "/page/4"])


def test_paths_and_served_names_are_requested_at_the_prefix(bound, site):
    prefix = f"http://127.0.0.1:{site.server_port}"
    result = ararat(*TRACE, "--json", "--prefix", prefix, *bound)
    assert verdicts(result) == {
        "ark:12345/x1": "resolves",
        "ark:12345/x2": "related",
        "ark:12345/path": "resolves",
        "ark:12345/site": "resolves",
        "ark:12345/gone": "dead",
        "ark:12345/v": "resolves",
    }
    assert "/ark:12345/site" in site.asked
    assert "/ark:12345/path" not in site.asked


def test_names_of_a_file_are_resolved_by_the_database_if_it_knows_them(bound, site, monkeypatch):
    official = f"http://127.0.0.1:{site.server_port}"
    monkeypatch.setattr("ararat.cli.databases.check_traces.OFFICIAL_PREFIX", official)
    given = "ark:/12345/x-1\nhttps://n2t.net/ark:12345/v/2\nark:67890/x1\nnonsense\n"
    result = ararat(*TRACE, "-", *bound, given=given)
    assert f"Resolver: {official} for 1, the database for 2.\n" in result.stdout
    assert [path for path in site.asked if "ark" in path] == ["/ark:67890/x1"]


def test_resolver_registry_selects_the_known_resolver_of_each_name(site, monkeypatch):
    def known(name: str) -> str | None:
        return f"http://127.0.0.1:{site.server_port}/known" if name == "ark:12148/x1" else None

    monkeypatch.setattr("ararat.tracing.known_resolvers.prefix_for", known)
    monkeypatch.setattr("ararat.cli.databases.check_traces.OFFICIAL_PREFIX", f"http://127.0.0.1:{site.server_port}")
    options = [*TRACE, "--resolver", "registry", "--allow-network", "127.0.0.0/8"]
    result = ararat(*options, "-", given="ark:12148/x1\nark:67890/x1\n")
    assert result.exit_code == 0, result.output
    assert {path for path in site.asked if "ark" in path} == {"/known/ark:12148/x1", "/ark:67890/x1"}


def test_resume_replaces_its_file_in_one_step(options, tmp_path, monkeypatch):
    kept = tmp_path / "traced.jsonl"
    ararat(*options, "-", "--resume", str(kept), given="ark:12345/x1\nark:12345/x3\n")
    kept.chmod(0o640)
    before = kept.read_text() + '{"identifier": "ark:12'
    kept.write_text(before)

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", fail)
        failed = ararat(*options, "-", "--resume", str(kept), given="ark:12345/x1\n")
    assert failed.exit_code == 74
    assert "No space left on device" in unwrapped(failed.stderr)
    assert kept.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]
    assert ararat(*options, "-", "--resume", str(kept), given="ark:12345/x1\nark:12345/x3\n").exit_code == 0
    assert len(kept.read_text().splitlines()) == 2
    assert kept.stat().st_mode & 0o777 == 0o640


def test_results_of_an_earlier_run_are_not_traced_again(options, site, tmp_path):
    kept = tmp_path / "traced.jsonl"
    first = ararat(*options, "-", "--resume", str(kept), "--json", given="ark:12345/x1\nark:12345/x3\n")
    assert kept.read_text() == first.stdout
    # As if the power failed while the second was written.
    kept.write_text(kept.read_text()[:-9])
    site.asked.clear()
    second = ararat(*options, "-", "--resume", str(kept), "--json", given=FIVE)
    done = json.loads(first.stdout.splitlines()[0])["identifier"]
    assert not [path for path in site.asked if path.endswith(done)]
    assert sorted(json.loads(line)["identifier"] for line in second.stdout.splitlines()) == sorted(set(FIVE.split()))
    assert kept.read_text() == second.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["check", "-"], 64, id="a file and no trace"),
        pytest.param(["check", "--trace"], 64, id="nothing to trace"),
        pytest.param(["check", "--resolver", "https://n2t.net", "--database", "x.db"], 64, id="no trace"),
        pytest.param(["check", "--trace", "-", "--prefix", "ftp://example.org"], 64, id="no prefix"),
        pytest.param(["check", "--trace", "-", "--resolver", "ftp://example.org"], 64, id="no resolver"),
        pytest.param(["check", "--trace", "-", "--allow-network", "all"], 64, id="no network"),
        pytest.param(["check", "--trace", "nowhere.txt"], 66, id="no file"),
        pytest.param(["check", "--trace", "-", "--resume", "/nowhere/x"], 74, id="no place for the result"),
        pytest.param(["check", "--trace", "--database", "nowhere.sqlite"], 69, id="no database"),
    ],
)
def test_check_trace_reports_errors(arguments, code):
    result = ararat(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr


def test_resume_does_not_change_a_file_without_results(options, tmp_path):
    kept = tmp_path / "names.csv"
    kept.write_text("identifier,target\n")
    result = ararat(*options, "-", "--resume", str(kept), given=FIVE)
    assert (result.exit_code, kept.read_text()) == (2, "identifier,target\n")
    assert "line 1: not JSON" in unwrapped(result.stderr)


def test_results_are_kept_after_an_interrupt(options, tmp_path, start_server):
    (tmp_path / "names").write_text("".join(f"ark:12345/x{number}\n" for number in range(50)))
    kept = tmp_path / "traced.jsonl"
    program = [Path(sys.executable).with_name("ararat"), *options, "names", "--resume", kept.name]
    program[program.index("0")] = "0.3"
    command = start_server(program, folder=tmp_path)
    until(lambda: kept.exists() and kept.read_text())
    command.process.send_signal(signal.SIGINT)
    assert command.process.wait(30) == -signal.SIGINT
    printed = command.log()
    assert "interrupted; run the same command to continue from traced.jsonl" in printed
    assert "Traceback" not in printed
    done = [json.loads(line)["identifier"] for line in kept.read_text().splitlines()]
    assert 0 < len(done) < 50
    # The signal can come between the line of a result in the file and its count.
    assert any(f"{number} traced" in printed for number in (len(done), len(done) - 1))
