"""`ararat conformance URL`: the answers of any resolver are compared with the requirements for readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.cli.conformance.resolver import RequirementResult
from ararat.cli.doctor import in_process
from ararat.cli.sites import requests
from ararat.middleware import Bindings, ResolverMiddleware
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from ararat.net.url import parse
from tests.wrapping import unwrapped

URL, NAME, TARGET = "https://r.example", "ark:12345/x6np1", "https://example.org/maps/17"
Answer = Callable[[str, str, Mapping[str, str]], SiteAnswer]
Check = Callable[..., Result]


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [])
    return [b""]


@pytest.fixture
def ararat_itself(bindings: Bindings) -> Answer:
    bindings.bind(NAME, TARGET, metadata={"what": "Map"})
    client = in_process.client_of(ResolverMiddleware(site, bindings, prefix=URL))

    def ask(method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        answer = client(parse(URL), method, target, fields)
        return answer._replace(body=b"") if method == "HEAD" else answer

    return ask


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """check(answer, *arguments) checks the resolver with these answers."""

    def run(answer: Answer, *arguments: str | Path) -> Result:
        def send(
            url: str, method: str, *, target: str, fields: Iterable[tuple[str, str]], **others: object
        ) -> SiteAnswer:
            sent = dict(fields)
            assert sent["User-Agent"].startswith("ararat/")
            return answer(method, target, sent)

        monkeypatch.setattr(requests, "send", send)
        given = arguments or ("--name", NAME, "--target", TARGET)
        ran = CliRunner().invoke(main.main, ["conformance", URL, "--pause", "0", "--json", *map(str, given)])
        assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
        return ran

    return run


def outcomes(ran: Result) -> dict[str, str]:
    return {row["code"]: row["outcome"] for row in map(json.loads, ran.stdout.splitlines())}


def test_ararat_conforms(check: Check, ararat_itself: Answer) -> None:
    ran = check(ararat_itself)
    assert (ran.exit_code, {*outcomes(ran).values()}) == (0, {"pass"}), ran.output
    assert len(outcomes(ran)) == 18


def redirect(status: int, where: str) -> SiteAnswer:
    return SiteAnswer(status, (("Location", where),))


PAGE = SiteAnswer(200, (("Content-Type", "text/html"),), b"<title>page</title>")


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        pytest.param(lambda method, target, answer: redirect(301, TARGET) if answer.status == 302 else answer,
                     {"plain", "head", "label", "classic", "encoded-colon", "encoded-hyphen", "browser"},
                     id="permanent redirects"),
        pytest.param(lambda method, target, answer: SiteAnswer(404, ()) if target.startswith("/ark:/") else answer,
                     {"classic"}, id="no classic form"),
        pytest.param(lambda method, target, answer: SiteAnswer(404, ()) if target.startswith("/ARK") else answer,
                     {"label"}, id="no capitals"),
        pytest.param(lambda method, target, answer: SiteAnswer(403, ()) if "%3A" in target else answer,
                     {"encoded-colon"}, id="no %3A"),
        pytest.param(lambda method, target, answer: SiteAnswer(404, ()) if "-" in target and "?" not in target
                     and "doctor" not in target else answer, {"encoded-hyphen"}, id="hyphens count"),
        pytest.param(lambda method, target, answer: redirect(302, TARGET) if "?" in target else answer,
                     {"info", "question-mark", "question-marks", "page"}, id="no inflections"),
        pytest.param(lambda method, target, answer: PAGE if answer.status == 404 else answer,
                     {"encoded-slash", "missing", "part"}, id="soft 404"),
        pytest.param(lambda method, target, answer: SiteAnswer(500, ()) if answer.status == 404 else answer,
                     {"encoded-slash", "missing", "part"}, id="errors of the server"),
        pytest.param(lambda method, target, answer: redirect(302, TARGET) if answer.status == 404 else answer,
                     {"encoded-slash", "missing", "part"}, id="parts lead to the whole"),
        pytest.param(lambda method, target, answer: answer._replace(body=b"x") if method == "HEAD" else answer,
                     {"head"}, id="a body after HEAD"),
        pytest.param(lambda method, target, answer: redirect(302, "https://elsewhere.example/")
                     if answer.status == 302 else answer,
                     {"plain", "head", "label", "classic", "encoded-colon", "encoded-hyphen", "browser"},
                     id="another target"),
        pytest.param(lambda method, target, answer: PAGE if "?" in target else answer, set(), id="pages"),
    ],
)  # fmt: skip
def test_a_broken_requirement_is_reported(
    check: Check, ararat_itself: Answer, change: Callable[[str, str, SiteAnswer], SiteAnswer], failed: set[str]
) -> None:
    ran = check(lambda method, target, fields: change(method, target, ararat_itself(method, target, fields)))
    found = outcomes(ran)
    assert {code for code, outcome in found.items() if outcome == "fail"} == failed, ran.output
    assert ran.exit_code == bool(failed)


def test_an_answer_that_no_standard_requires_is_advice(check: Check, ararat_itself: Answer) -> None:
    def no_cors(method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        answer = ararat_itself(method, target, fields)
        return answer._replace(fields=tuple(each for each in answer.fields if "Access-Control" not in each[0]))

    ran = check(no_cors)
    assert (ran.exit_code, outcomes(ran)["cors"], outcomes(ran)["preflight"]) == (0, "advice", "advice")


def test_a_permission_for_one_other_site_only_is_shown(check: Check, ararat_itself: Answer) -> None:
    def for_one(method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        answer = ararat_itself(method, target, fields)
        kept = tuple(each for each in answer.fields if each[0] != "Access-Control-Allow-Origin")
        return answer._replace(fields=(*kept, ("Access-Control-Allow-Origin", "https://a.example")))

    ran = check(for_one)
    assert outcomes(ran)["cors"] == "advice"
    assert "Access-Control-Allow-Origin is https://a.example, which excludes other sites" in ran.output


def test_a_redirect_to_another_resolver_is_followed(check: Check, ararat_itself: Answer) -> None:
    def two(method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        if target.startswith("/ids/"):
            return ararat_itself(method, target.removeprefix("/ids"), fields)
        return redirect(302, f"{URL}/ids{target}")

    assert check(two).exit_code == 0
    ran = check(lambda method, target, fields: redirect(302, f"{URL}/a{target}"))
    assert (ran.exit_code, outcomes(ran)["plain"]) == (1, "fail")


def test_a_table_and_the_reports(check: Check, ararat_itself: Answer, tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text(f"identifier,target\n{NAME},{TARGET}\n", "utf-8")
    ran = check(ararat_itself, "--table", table, "--html", tmp_path / "r.html", "--junit", tmp_path / "r.xml")
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "r.html").read_bytes().count(b"<td>pass") == 18
    assert (tmp_path / "r.xml").read_bytes().count(b"<testcase ") == 18


def test_private_hosts_need_permission() -> None:
    given = ["conformance", "http://127.0.0.1:9", "--name", NAME, "--target", TARGET]
    ran = CliRunner().invoke(main.main, given)
    assert (ran.exit_code, "--allow-network 127.0.0.0/8" in unwrapped(ran.stderr)) != (0, False)
    assert ran.exit_code != 0


def test_no_answer_ends_the_check(check: Check) -> None:
    def dead(method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        raise HopFailed("connect")

    assert check(dead).exit_code == 69


def test_texts_of_a_hostile_resolver_are_escaped(check: Check, tmp_path: Path) -> None:
    hostile = SiteAnswer(302, (("Location", "https://\x1b[2J<script>"), ("Content-Type", "<b>")), b"<script>")
    ran = check(
        lambda method, target, fields: hostile, "--name", NAME, "--target", TARGET, "--html", tmp_path / "h.html"
    )
    assert ran.exit_code == 1
    assert b"<script>" not in (tmp_path / "h.html").read_bytes()
    assert "\x1b" not in ran.output


def test_the_arguments_are_checked() -> None:
    for given in ([], ["--name", NAME], ["--target", TARGET], ["--table", "x.csv", "--name", NAME, "--target", TARGET]):
        assert CliRunner().invoke(main.main, ["conformance", URL, *given]).exit_code == 64
    assert RequirementResult._fields[0] == "name"
