"""`ararat policy check`: the pages of a running site, its sitemaps, robots.txt, and the URLs of an earlier check."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from defusedxml import ElementTree
from werkzeug.test import Client

from ararat.cli import main
from ararat.cli.sites.requests import RunningSite
from ararat.middleware import ResolverMiddleware
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from tests.wrapping import unwrapped

pytest_plugins = ["ararat.testing"]

OURS = """
name = "ours"
title = "Addresses of the museum"
hosts = ["museum.example"]
schemes = ["https"]
naan = "12148"
namespaces = []
temporary_paths = ["/id/"]
"""
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap(*urls: str, index: bool = False) -> bytes:
    whole, each = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{each}><loc>{url}</loc></{each}>" for url in urls)
    return f'<?xml version="1.0"?><{whole} xmlns="{NAMESPACE}">{entries}</{whole}>'.encode()


class Museum:
    """A site in process: a mapping from targets to statuses, with a Location, or bodies. ``asked`` are the requests."""

    def __init__(self, **pages: Any) -> None:
        self.pages: dict[str, Any] = {"/": 200, **pages}
        self.asked: list[str] = []

    def __call__(self, site: RunningSite, target: str, accept: str, most: int, seconds: float) -> SiteAnswer:
        self.asked.append(target)
        found = self.pages.get(target, 404)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, bytes):
            return SiteAnswer(200, (("Content-Type", "text/plain"),), found[:most])
        if isinstance(found, tuple):
            return SiteAnswer(found[0], (("Location", found[1]),))
        return SiteAnswer(found, (("Content-Type", "text/html"),))


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """check(museum, *arguments) runs `ararat policy check` for a site in process, by the policy OURS."""
    policy = tmp_path / "ours.toml"
    policy.write_text(OURS, "utf-8")
    monkeypatch.chdir(tmp_path)

    def run(museum: Any, *arguments: str, url: str = "https://museum.example", given: str | None = None) -> Result:
        monkeypatch.setattr(RunningSite, "_send", lambda *sent: museum(*sent))
        whole = ["policy", "check", url, *arguments]
        return CliRunner(env={"ARARAT_POLICY": str(policy)}).invoke(main.main, whole, input=given)

    return run


def findings(result: Result) -> dict[str, list[str]]:
    """Return the codes of the findings by the path of each URL, from the output as JSON."""
    assert not result.exception or isinstance(result.exception, SystemExit), result.output
    rows = map(json.loads, result.stdout.splitlines())
    found = {row["url"].partition("museum.example")[2]: [each["code"] for each in row["findings"]] for row in rows}
    return {target: codes for target, codes in found.items() if codes}


def test_the_pages_of_the_sitemap_are_checked(check, tmp_path):
    urls = ("/paintings/17", "/show.php?id=17", "/cgi-bin/x", "/id/17", "/id/18", "/ark:12148/x", "/gone", "/new")
    urls += ("/ark:/67890/q", "/ark:/99999/q")
    museum = Museum()
    museum.pages |= {
        "/sitemap.xml": sitemap(*(f"https://museum.example{each}" for each in urls), "https://other.example/x"),
        "/paintings/17": 200,
        "/show.php?id=17": 200,
        "/cgi-bin/x": 200,
        "/id/17": (301, "https://museum.example/paintings/17"),
        "/id/18": (303, "https://museum.example/paintings/18"),
        "/ark:12148/x": (308, "https://museum.example/paintings/17"),
        "/new": (301, "https://museum.example/newer"),
        "/ark:/67890/q": (302, "https://museum.example/q"),
        "/ark:/99999/q": (302, "https://museum.example/q"),
    }
    said = check(museum, "--sitemap", "--json", "--junit", "report.xml")
    assert said.exit_code == 1
    assert findings(said) == {
        "/show.php?id=17": ["technology", "filename-extension", "technology"],
        "/cgi-bin/x": ["technology"],
        "/id/17": ["permanent-redirect"],
        "/ark:12148/x": ["permanent-redirect"],
        "/gone": ["page-error"],
        "/ark:/67890/q": ["naan-foreign"],
        "/ark:/99999/q": ["naan-reserved-invalid"],
    }
    assert "1 line without a valid URL of this site" in unwrapped(said.stderr)
    suite = ElementTree.fromstring((tmp_path / "report.xml").read_text("utf-8")).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("14", "7")
    text = unwrapped(check(museum, "--sitemap").stdout)
    assert "(Addresses of the museum)" in text
    assert "14 URLs requested at https://museum.example:" in text
    assert "17beta" not in text


def test_sitemaps_are_found_by_robots_an_index_and_gzip(check):
    museum = Museum()
    museum.pages |= {
        "/robots.txt": b"User-agent: *\nDisallow: /private\nSitemap: https://museum.example/index.xml\n"
        b"Sitemap: https://other.example/sitemap.xml\n",
        "/index.xml": sitemap(
            "https://museum.example/a.xml.gz", "https://museum.example/index.xml", "/bad", index=True
        ),
        "/a.xml.gz": gzip.compress(sitemap("https://museum.example/a.php", "https://museum.example/private/x.php")),
        "/a.php": 200,
    }
    said = check(museum, "--sitemap", "--json")
    assert findings(said) == {"/a.php": ["technology", "filename-extension"]}
    assert "robots.txt excludes 1 URL" in unwrapped(said.stderr)
    assert "/private/x.php" not in museum.asked
    assert museum.asked.count("/index.xml") == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(404, "the site answers 404 Not Found", id="missing"),
        pytest.param(b"<urlset>&x;", "the XML is not valid", id="not well-formed"),
        pytest.param(b'<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', "document type", id="entities"),
        pytest.param(gzip.compress(b"x" * 60_000_000), "larger than 50 MB", id="a gzip bomb"),
        pytest.param(b"\x1f\x8bxxxxxxxxxxx", "cannot read the sitemap", id="damaged gzip"),
        pytest.param(b"\xff\xfe", "cannot read the sitemap", id="not UTF-8"),
        pytest.param(HopFailed("timeout"), "time limit", id="slow"),
    ],
)
def test_a_hostile_sitemap_is_refused_with_a_reason(check, content, said):
    museum = Museum()
    museum.pages["/sitemap.xml"] = content
    done = check(museum, "--sitemap")
    assert (done.exit_code, said in unwrapped(done.stderr)) == (2, True), done.output


def test_the_number_of_requests_is_limited(check):
    museum = Museum()
    museum.pages["/sitemap.xml"] = sitemap(*(f"https://museum.example/{number}" for number in range(1, 90)))
    said = check(museum, "--sitemap", "--limit", "10")
    assert len(museum.asked) == 2 + 3 + 10
    assert "only the first 10 URLs" in unwrapped(said.stderr)


def test_urls_that_changed_between_two_checks_are_reported(check):
    museum, state = Museum(), ("--state", "urls.json", "--json")
    targets = "/stays\n/gone\n/moved\n/ark:12148/x\n/id/1\n"
    museum.pages |= {"/stays": 200, "/gone": 200, "/moved": 200}
    museum.pages |= {"/ark:12148/x": (302, "/a"), "/id/1": (303, "/a")}
    assert check(museum, *state, "-", given=targets).exit_code == 0
    museum.pages |= {"/gone": 410, "/moved": (301, "https://museum.example/new")}
    museum.pages |= {"/ark:12148/x": (302, "/b"), "/id/1": (303, "/b")}
    # The new list does not have the URLs any more. A change is reported until it is corrected.
    for _ in range(2):
        changed = check(museum, *state)
        assert changed.exit_code == 1
        assert findings(changed) == {"/gone": ["url-gone"], "/moved": ["url-moved"]}
    museum.pages |= {"/gone": (301, "https://museum.example/new"), "/moved": 200}
    assert findings(check(museum, *state)) == {"/gone": ["url-moved"]}
    museum.pages |= {"/gone": 200}
    assert check(museum, *state).exit_code == 0


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"site": "https://museum.example", "pages": {"a": {}}}', b'{"site": "x", "pages": {}}']
)
def test_a_wrong_state_file_is_refused_and_kept(check, tmp_path, content):
    (tmp_path / "urls.json").write_bytes(content)
    assert check(Museum(), "--state", "urls.json").exit_code == 2
    assert (tmp_path / "urls.json").read_bytes() == content


def test_hostile_lines_are_left_out_or_checked(check):
    lines = [
        "/" + "x" * 5000,
        "http://[",
        "/\u202e\x1b[2J",
        "%",
        "https://other.example/",
        "javascript://a",
        "/caf\u00e9",
    ]
    museum = Museum()
    museum.pages["/caf%C3%A9"] = 200
    said = check(museum, "-", given="\n".join(lines))
    assert said.exit_code == 1
    assert "/caf%C3%A9" in museum.asked
    assert said.output.replace("\n", "").isprintable()
    assert "without a valid URL" in unwrapped(said.stderr)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("target", "answer", "is_reported"),
    [
        pytest.param("/ark:99999/ararat-policy-check", 200, True, id="a page for every path"),
        pytest.param("/ark:99999/ararat-policy-check", (302, "/login"), True, id="a page to sign in"),
        pytest.param("/ark:99999/ararat-policy-check", (302, "https://n2t.net/ark:99999/a"), False, id="forwarded"),
        pytest.param("/urn:example:ararat-policy-check", 200, True, id="URN"),
        pytest.param("/urn:example:ararat-policy-check", 400, False, id="refused"),
        pytest.param("/.well-known/ark", 200, True, id="another page"),
        pytest.param("/.well-known/ark", b"<p>/", True, id="a page of HTML"),
        pytest.param("/.well-known/ark", b"/\n", False, id="the path of a resolver"),
        pytest.param("/.well-known/ark", (301, "/"), True, id="redirected"),
    ],
)
def test_a_reserved_path_of_another_application_is_reported(check, target, answer, is_reported):
    museum = Museum()
    museum.pages[target] = answer
    said = check(museum, "--json")
    assert findings(said) == ({target: ["reserved-path-answered"]} if is_reported else {})
    assert said.exit_code == is_reported


def test_a_resolver_and_a_copy_at_another_host_have_no_findings(check, ararat_bindings):
    """The resolver answers all reserved paths. The copy is checked as the site that the policy is for."""
    ararat_bindings.bind("ark:12148/x", "https://museum.example/paintings/17")

    def page(environ: Any, start_response: Any) -> list[bytes]:
        is_page = environ["PATH_INFO"] != "/.well-known/ark"
        start_response("200 OK" if is_page else "404 Not Found", [("Content-Type", "text/html")])
        is_sitemap = environ["PATH_INFO"] == "/sitemap.xml"
        return [sitemap("https://museum.example/paintings/17", "https://museum.example/a.php") if is_sitemap else b""]

    client = Client(ResolverMiddleware(page, ararat_bindings, prefix="http://127.0.0.1:8000"))

    def site(running: RunningSite, target: str, *_: Any) -> SiteAnswer:
        answer = client.get(target)
        return SiteAnswer(answer.status_code, tuple(answer.headers.items()), answer.get_data())

    copy = "http://127.0.0.1:8000"
    assert check(site, "-", url=copy, given="ark:12148/x\n/paintings/17\n").exit_code == 0
    found = check(site, "--sitemap", "--json", url=copy)
    assert findings(found) == {"/a.php": ["technology", "filename-extension"]}


def test_a_ready_policy_is_applied_to_the_host_of_the_url(check):
    museum = Museum()
    museum.pages |= {"/cgi-bin/x": 200, "/a/": 200, "/ark:/67890/x": 302}
    given = "/cgi-bin/x\n/a/\n/ark:/67890/x\n"
    said = check(museum, "--policy", "museum", "--json", "-", url="https://museum.test", given=given)
    rows = {row["url"]: row["findings"] for row in map(json.loads, said.stdout.splitlines())}
    assert rows["https://museum.test/ark:/67890/x"] == []
    assert [each["severity"] for each in rows["https://museum.test/cgi-bin/x"]] == ["error"]
    assert rows["https://museum.test/a/"] == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("robots", "code", "said"),
    [
        pytest.param(HopFailed("connect"), 69, "does not answer", id="no server"),
        pytest.param(503, 69, "the request of /robots.txt gets 503", id="an error of the server"),
        pytest.param(b"User-agent: ararat\nDisallow: /\n", 0, "robots.txt excludes 1 URL", id="excluded"),
    ],
)
def test_robots_are_read_first(check, robots, code, said):
    museum = Museum()
    museum.pages["/robots.txt"] = robots
    done = check(museum)
    assert (done.exit_code, said in unwrapped(done.stderr)) == (code, True), done.output
    assert museum.asked == ["/robots.txt"]


@pytest.mark.one_setup
@pytest.mark.parametrize(("status", "found"), [(404, []), (503, ["page-error"])])
def test_a_start_page_can_be_missing_and_must_not_fail(check, status, found):
    museum = Museum()
    museum.pages["/"] = status
    done = check(museum, "--json")
    assert (done.exit_code, findings(done).get("/", [])) == (len(found), found)
