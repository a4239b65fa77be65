"""`ararat check --url`: the names of a table, asked at a running site."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from defusedxml import ElementTree

from ararat.bindings.collection import Bindings
from ararat.cli import main
from ararat.cli.sites.requests import RunningSite
from ararat.net.response import SiteAnswer
from ararat.testing import LiveSite
from tests.wrapping import unwrapped

pytest_plugins = ["ararat.testing"]

TABLE = """identifier,target,kind,status,reason
ark:12345/x,https://museum.example/paintings/17,,,
ark:12345/here,/paintings/17,,,
ark:12345/page,/paintings/17,served,,
ark:12345/doc,https://museum.example/doc,related,,
ark:12345/gone,https://museum.example/gone,,withdrawn,lost
"""


def museum(environ, start_response):
    """A site with one page, which redirects one name permanently by a rule of its own."""
    path = environ["PATH_INFO"]
    if path == "/mirror/ark:12345/x":
        start_response("301 Moved Permanently", [("Location", "https://museum.example/paintings/17")])
        return [b""]
    start_response("200 OK" if path == "/paintings/17" else "404 Not Found", [("Content-Type", "text/html")])
    return [b"<h1>Night</h1>"]


@pytest.fixture
def site(ararat_bindings: Bindings, ararat_live_site: Callable[..., LiveSite]) -> str:
    bind = ararat_bindings.bind
    bind("ark:12345/x", "https://museum.example/paintings/17")
    bind("ark:12345/here", "/paintings/17")
    bind("ark:12345/page", "/paintings/17", kind="served")
    bind("ark:12345/doc", "https://museum.example/doc", kind="related")
    bind("ark:12345/gone", "https://museum.example/gone")
    ararat_bindings.withdraw("ark:12345/gone", reason="lost")
    return ararat_live_site(museum).url


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Result]:
    """check(*arguments, table=TABLE, given=None) runs `ararat check` with the table names.csv, in this process."""

    def run(*arguments: str, table: str = TABLE, given: str | None = None) -> Result:
        (tmp_path / "names.csv").write_text(table, "utf-8")
        whole = [each.replace("names.csv", str(tmp_path / "names.csv")) for each in arguments]
        return CliRunner(env={"ARARAT_DATABASE": ""}).invoke(main.main, ["check", *whole], input=given)

    return run


def test_a_right_table_has_no_findings(site, check):
    said = check("--url", site, "names.csv")
    assert (said.exit_code, unwrapped(said.stdout).strip()) == (0, f"5 names asked at {site}: all work.")


def test_each_wrong_name_is_reported_with_what_to_do(site, check, tmp_path):
    wrong = (
        TABLE.replace("/paintings/17,served", "/paintings/17,")
        .replace("paintings/17,,,\nark:12345/here", "paintings/18,,,\nark:12345/here")
        .replace("doc,related", "doc,")
        .replace(",withdrawn,lost", ",,")
    ) + "ark:12345/none,https://museum.example/none,,,\n"
    report = tmp_path / "report.xml"
    said = check("--url", f"{site}/", "--json", "--junit", str(report), "names.csv", table=wrong)
    rows = {row["identifier"]: row for row in map(json.loads, said.stdout.splitlines())}
    assert said.exit_code == 1
    assert {name: row["status"] for name, row in rows.items() if not row["ok"]} == {
        "ark:12345/x": 302,
        "ark:12345/page": 200,
        "ark:12345/gone": 410,
        "ark:12345/none": 404,
    }
    assert "ararat restore NAME" in rows["ark:12345/gone"]["fault"]["fix"]
    assert (
        rows["ark:12345/none"]["fault"]["came"] == "404 Not Found: This resolver has no location for this identifier."
    )
    suite = ElementTree.fromstring(report.read_text("utf-8")).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("6", "4")
    assert "Bind it" in (suite.findtext("testcase[@name='ark:12345/none']/failure") or "")
    text = check("--url", site, "names.csv", table=wrong).stdout
    assert "wrong   ark:12345/none" in text
    assert "6 names asked" in unwrapped(text)


def test_a_permanent_redirect_is_wrong(site, check):
    said = check("--url", f"{site}/mirror", "-", given="ark:12345/x\n\n")
    assert (said.exit_code, "Clients keep a permanent redirect" in unwrapped(said.stdout)) == (1, True)


def test_names_can_be_a_list_or_those_of_a_database(site, check, tmp_path, ararat_bindings):
    assert check("--url", site, "-", given="ark:12345/x\nark:/12345/doc?info\n").exit_code == 0
    assert check("--url", site, "-", given="ark:12345/none\n").exit_code == 1
    database = str(tmp_path / "bindings.sqlite")
    run = CliRunner().invoke
    assert run(main.main, ["init", "--database", database]).exit_code == 0
    assert run(main.main, ["bind", "--database", database, "ark:12345/doc", "/a"]).exit_code == 0
    assert check("--url", site, "--database", database).exit_code == 1


def test_a_hostile_line_is_wrong_and_the_others_are_asked(site, check):
    lines = ["ark:12345/" + "x" * 5000, "[", "\u202e", "%", "\x1b[2J", "//museum.example/x", "ark:12345/x"]
    said = check("--url", site, "--json", "-", given="\n".join(lines))
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert (said.exit_code, [row["ok"] for row in rows]) == (1, [False] * 6 + [True]), said.output
    assert check("--url", site, "-", given="\n".join(lines)).stdout.replace("\n", "").isprintable()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(("--url", "http://127.0.0.1:1", "names.csv"), 69, "does not answer", id="no server"),
        pytest.param(("--url", "ftp://museum.example", "names.csv"), 64, "URL", id="no web address"),
        pytest.param(("--url", "https://museum.example/?a", "names.csv"), 64, "no query", id="a query"),
        pytest.param(("--url", "https://museum.example", "none.csv"), 66, "none.csv", id="no table"),
        pytest.param(("--url", "https://museum.example", "none.txt"), 66, "none.txt", id="no list"),
        pytest.param(("--url", "https://museum.example"), 64, "no names are given", id="no names"),
        pytest.param(("--url", "https://museum.example", "--trace", "-"), 64, "excludes --trace", id="a trace"),
        pytest.param(("--junit", "report.xml", "names.csv"), 64, "--junit needs --url", id="a report of nothing"),
    ],
)
def test_other_arguments_are_refused(check, arguments, code, said):
    done = check(*arguments)
    assert (done.exit_code, said in unwrapped(done.output)) == (code, True), done.output


def test_a_site_that_limits_the_rate_is_asked_again(monkeypatch):
    waits: list[float] = []
    answers = [SiteAnswer(429, (("Retry-After", "7"),)), SiteAnswer(429, ()), SiteAnswer(200, ())]
    site = RunningSite("https://museum.example", sleep=waits.append)
    monkeypatch.setattr(site, "_send", lambda *_: answers.pop(0))
    assert site.get("/").status == 200
    assert waits == [7.0, 4.0]


def test_a_pause_is_between_the_requests(monkeypatch):
    waits: list[float] = []
    site = RunningSite("https://museum.example", pause=0.5, sleep=waits.append)
    monkeypatch.setattr(site, "_send", lambda *_: SiteAnswer(200, ()))
    assert [answer.status for answer in site.each(["/a", "/b"], site.get)] == [200, 200]
    assert waits == [0.5, 0.5]
