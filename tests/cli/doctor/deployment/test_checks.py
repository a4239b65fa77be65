"""Probes of a deployment: each change is found, named and has a fix, and nothing else is reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from ararat.cli.doctor import fixes
from ararat.cli.doctor.deployment import checks, probes
from ararat.cli.doctor.deployment.deployment import NotAnswered
from ararat.cli.doctor.finding import HealthFinding
from ararat.middleware import BindingSource, BindingsUnavailable, ResolverMiddleware
from ararat.net import url as weburl
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer

PREFIX = "https://r.example"
ALL = {
    *("answered", "raw-target", "too-long", "classic", "label", "head", "cache-control", "bindings", "prefix"),
    *("hsts", "well-known", "http", "sub-delims"),
    *(probe.code for probe in probes.PROBES),
}


class Nothing(BindingSource):
    def fetch(self, keys: Any) -> dict[str, Any]:
        return {}


def site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/html"), ("Server", "Apache")])
    return [b"<title>This is the site's</title>"]


class Deployment:
    """A proxy and a resolver in one process. `before` changes a request or answers it. `path_info` changes the path,
    and
    `after` the answer."""

    def __init__(
        self,
        *,
        before: Callable[[str], str | SiteAnswer] = lambda target: target,
        path_info: Callable[[str], str] = lambda path: path,
        after: Callable[[str, SiteAnswer], SiteAnswer] = lambda method, said: said,
        raw: bool = True,
        secure: bool = True,
        **settings: Any,
    ) -> None:
        self.before, self.path_info, self.after, self.raw, self.secure = before, path_info, after, raw, secure
        self.app = ResolverMiddleware(site, Nothing(), **{"prefix": PREFIX} | settings)  # type: ignore[arg-type]

    def __call__(self, method: str, target: str) -> SiteAnswer:
        asked = self.before(target)
        if isinstance(asked, SiteAnswer):
            return asked
        path, _, query = asked.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": self.path_info(unquote_to_bytes(path).decode("latin-1")),
            "QUERY_STRING": query,
            "HTTP_ACCEPT": "application/problem+json",
            "wsgi.url_scheme": "https" if self.secure else "http",
        }
        if self.raw:
            environ["RAW_URI"] = asked
        begun: list[Any] = []
        body = b"".join(self.app(environ, lambda *header: begun.extend(header)))  # type: ignore[arg-type]
        return self.after(method, SiteAnswer(int(begun[0][:3]), tuple(begun[1]), body))


def examined(deployment: Any, url: str = PREFIX, prefix: str | None = None) -> dict[str, HealthFinding]:
    found = list(checks.examine(weburl.parse(url), prefix=prefix, asking=deployment, sleep=lambda seconds: None))
    codes = [finding.code for finding in found]
    assert len(codes) == len(set(codes))
    for finding in found:
        assert finding.message.isascii()
        assert finding.message.isprintable()
        assert finding.remedy or finding.state != "error"
    return {finding.code: finding for finding in found}


def codes(found: dict[str, HealthFinding], state: str) -> set[str]:
    return {code for code, finding in found.items() if finding.state == state}


def with_field(name: str, value: str) -> Callable[[str, SiteAnswer], SiteAnswer]:
    def change(method: str, said: SiteAnswer) -> SiteAnswer:
        kept = [field for field in said.fields if field[0] != name]
        return SiteAnswer(said.status, (*kept, (name, value)), said.body)

    return change


def answered_by_apache(unwanted: str) -> Callable[[str], str | SiteAnswer]:
    page = SiteAnswer(404, (("Content-Type", "text/html"), ("Server", "Apache/2.4.62 (Debian)")), b"Not Found")
    return lambda target: page if re.search(unwanted, target) else target


def refused_beyond(octets: int) -> Callable[[str], str | SiteAnswer]:
    return lambda target: SiteAnswer(400, (("Server", "gunicorn"),), b"") if len(target) > octets else target


def test_an_unchanged_request_is_reported_as_ok() -> None:
    found = examined(Deployment(hsts="max-age=60"))
    assert codes(found, "ok") == ALL


def test_lower_case_percent_encoding_is_accepted() -> None:
    found = examined(Deployment(before=lambda target: target.replace("%ff", "%FF"), hsts="max-age=60"))
    assert codes(found, "ok") == ALL


def test_a_resolver_for_urns_only_is_probed_with_urns() -> None:
    found = examined(Deployment(schemes=["urn"], hsts="max-age=60"))
    assert not codes(found, "error")
    assert found["encoded-slash"].sent == "urn:example:ararat-a%2Fb"
    assert found["prefix"].state == "warning"


def test_a_mounted_resolver_is_probed_below_its_path() -> None:
    deployment = Deployment(prefix=f"{PREFIX}/app", hsts="max-age=60")
    asked = []

    def mounted(method: str, target: str) -> SiteAnswer:
        asked.append(target)
        return deployment(method, target.removeprefix("/app"))

    assert codes(examined(mounted, f"{PREFIX}/app/"), "ok") == ALL
    assert {target for target in asked if not target.startswith("/app/")} == {"/.well-known/ark", "/robots.txt"}


def cleaned(target: str) -> str:
    """Change the path like nginx with a path in proxy_pass."""
    path, _, query = target.partition("?")
    path = re.sub("/+", "/", path.replace("%2F", "/").replace("%2E", ".").replace("%2D", "-"))
    while "/../" in path:
        path = re.sub("/[^/]+/../", "/", path, count=1)
    return f"{path}?{query}" if query else path


@pytest.mark.parametrize(
    ("deployment", "error", "remedy"),
    [
        pytest.param(
            {"before": cleaned, "after": with_field("Server", "nginx/1.22.1")},
            {"encoded-slash", "double-slash", "dot-segment", "encoded-dot-segment", "question-mark"},
            "nginx: .*instead of proxy_pass http://up/;",
            id="nginx, a path in proxy_pass",
        ),
        pytest.param(
            {"before": lambda target: target.removesuffix("?") if target.count("?") == 1 else target},
            {"question-mark"},
            "removes an empty query. Let it pass on a question mark",
            id="the bare ? lost, by an unknown server",
        ),
        pytest.param(
            {"before": answered_by_apache("%2F"), "after": with_field("Server", "Apache/2.4.62 (Debian)")},
            {"encoded-slash"},
            "Apache: AllowEncodedSlashes NoDecode",
            id="Apache, %2F not let through",
        ),
        pytest.param(
            {"path_info": lambda path: re.sub("/+", "/", path), "after": with_field("Server", "nginx")},
            {"double-slash"},
            "merge_slashes off;",
            id="nginx and uwsgi, slashes merged",
        ),
        pytest.param({"raw": False}, {"raw-target", "encoded-slash", "question-mark"}, "gunicorn", id="no raw target"),
        pytest.param(
            {"before": answered_by_apache("ARK"), "after": with_field("Server", "nginx")},
            {"label"},
            r"location ~\* \^/\(ark\|urn\):",
            id="labels in lower case alone",
        ),
        pytest.param(
            {
                "before": lambda target: (
                    SiteAnswer(404, (("Server", "nginx"),), b"") if target.endswith(".pdf") else target
                ),
            },
            {"extension-pdf"},
            r"nginx: move location ~\* \^/\(ark\|urn\): above .* location \^~ /ark: and location \^~ /urn:",
            id="nginx, a location for .pdf before that of the names",
        ),
        pytest.param({"before": answered_by_apache(r"\.php$")}, {"extension-php"}, "RewriteCond", id="Apache, .php"),
        pytest.param({"before": answered_by_apache("ark:/")}, {"classic"}, "ark", id="no classic form"),
        pytest.param(
            {"before": refused_beyond(1000), "after": with_field("Server", "gunicorn")},
            {"long"},
            "--limit-request-line 8190",
            id="a front server's own limit",
        ),
        pytest.param(
            {"after": with_field("Cache-Control", "public, max-age=86400")},
            {"cache-control"},
            "expires",
            id="another Cache-Control",
        ),
        pytest.param(
            {"after": lambda method, said: said._replace(body=b"{}") if method == "HEAD" else said},
            {"head"},
            "limit_except",
            id="a body after HEAD",
        ),
        pytest.param(
            {"after": lambda method, said: said._replace(status=405) if method == "HEAD" else said},
            {"head"},
            "limit_except",
            id="no HEAD",
        ),
    ],
)
def test_each_change_is_reported_with_its_fix(deployment: dict[str, Any], error: set[str], remedy: str) -> None:
    found = examined(Deployment(**deployment))
    assert codes(found, "error") == error
    for code in error:
        assert re.search(remedy, found[code].remedy or ""), found[code].remedy


def test_the_proxy_is_recognized_by_its_own_answers() -> None:
    behind = with_field("Server", "gunicorn")
    found = examined(Deployment(before=answered_by_apache("%2F"), after=behind))
    remedy = found["encoded-slash"].remedy or ""
    assert remedy.startswith("Apache: AllowEncodedSlashes NoDecode")
    assert "nginx" not in remedy


def test_a_refused_dot_segment_is_ok_even_if_the_path_was_cleaned() -> None:
    found = examined(Deployment(path_info=lambda path: re.sub("/a/../", "/", path)))
    assert {found[code].state for code in ("dot-segment", "encoded-dot-segment")} == {"ok"}


def test_an_equivalent_spelling_is_a_warning() -> None:
    found = examined(Deployment(before=lambda target: target.replace("%2D", "-")))
    assert found["encoded-hyphen"].state == "warning"
    assert not codes(found, "error")


def test_a_name_beyond_the_limit_should_be_answered_by_414() -> None:
    assert examined(Deployment(before=refused_beyond(3600)))["too-long"].state == "warning"


def test_an_older_version_does_not_report_the_exact_target() -> None:
    def forget(method: str, said: SiteAnswer) -> SiteAnswer:
        if (said.field("Content-Type") or "") != "application/problem+json":
            return said
        document = json.loads(said.body) if said.body else {}
        document.pop("target_exact", None)
        return said._replace(body=json.dumps(document).encode() if said.body else b"")

    found = examined(Deployment(after=forget))
    assert found["raw-target"].state == "warning"
    assert found["encoded-slash"].state == "ok"


@pytest.mark.parametrize(
    ("announced", "url", "expected", "state"),
    [
        (None, PREFIX, None, "warning"),
        (PREFIX, PREFIX, None, "ok"),
        (PREFIX, "https://R.example/", PREFIX, "ok"),
        ("http://r.example", PREFIX, None, "error"),
        ("https://r.example/app", PREFIX, None, "error"),
        ("https://other.example", PREFIX, None, "warning"),
        ("https://other.example", PREFIX, "https://other.example", "ok"),
        ("https://other.example", PREFIX, PREFIX, "error"),
    ],
)
def test_the_announced_prefix_is_compared(announced: str | None, url: str, expected: str | None, state: str) -> None:
    assert examined(Deployment(prefix=announced), url, expected)["prefix"].state == state


@pytest.mark.parametrize(
    ("url", "field", "state"),
    [
        ("https://r.example", "max-age=31536000", "ok"),
        ("https://r.example", None, "warning"),
        ("http://r.example", None, "ok"),
        ("http://r.example", "max-age=31536000", "warning"),
    ],
)
def test_hsts_must_be_sent_over_https_only(url: str, field: str | None, state: str) -> None:
    after = with_field("Strict-Transport-Security", field) if field else lambda method, said: said
    assert examined(Deployment(after=after), url)["hsts"].state == state


def with_health(**health: Any) -> Callable[[str], str | SiteAnswer]:
    body = json.dumps({"status": "ok", "bindings": "readable"} | health).encode()
    page = SiteAnswer(200, (("Content-Type", "application/json"),), body)
    return lambda target: page if target.partition("?")[0] == "/healthz" else target


@pytest.mark.parametrize(
    ("health", "code", "state", "message"),
    [
        pytest.param({"file": "refused"}, "file-refused", "error", "Its previous version is in use", id="refused file"),
        pytest.param(
            {"file": "unrecorded"}, "file-unrecorded", "warning", "cannot be written", id="no copy of the file"
        ),
        pytest.param({"names": 0, "names_exact": True}, "no-names", "warning", "No name is bound.", id="no names"),
        pytest.param({"names": 1, "names_exact": True}, "names", "ok", "1 name is bound.", id="one name"),
        pytest.param({"names": 1200, "names_exact": True}, "names", "ok", "1,200 names are bound.", id="names"),
        pytest.param({"names": 10**6, "names_exact": False}, "names", "ok", "About 1,000,000", id="estimate"),
    ],
)
def test_the_health_document_of_the_inspector_is_reported(
    health: dict[str, Any], code: str, state: str, message: str
) -> None:
    found = examined(Deployment(before=with_health(**health)))
    assert found[code].state == state
    assert message in found[code].message
    assert {*found} == ALL | {code}


@pytest.mark.parametrize("health", [{"bindings": "none"}, {"names": "many"}, {"bindings": 7, "file": "refused"}])
def test_a_health_document_of_the_site_itself_is_ignored(health: dict[str, Any]) -> None:
    assert {*examined(Deployment(before=with_health(**health)))} == ALL


def refusal(**other: Any) -> bytes:
    document = {"status": 404, "identifier": "ark:99999/x", "code": "not-bound", "start": 0, "target_exact": True}
    return json.dumps({name: value for name, value in (document | other).items() if value is not None}).encode()


PROBLEM = (("Content-Type", "application/problem+json"),)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(SiteAnswer(200, (("Content-Type", "text/html"),), b"<title>Ararat</title>"), id="a page"),
        pytest.param(SiteAnswer(404, (), b""), id="nothing"),
        pytest.param(
            SiteAnswer(404, PROBLEM, b'{"title": "Not Found", "status": 404}'),
            id="another problem document",
        ),
        pytest.param(SiteAnswer(404, PROBLEM, b"[" * 60_000), id="deep"),
        pytest.param(SiteAnswer(404, PROBLEM, b"\xff\x00"), id="no JSON"),
        pytest.param(SiteAnswer(404, PROBLEM, b"[1]"), id="no object"),
        pytest.param(SiteAnswer(404, PROBLEM, refusal(identifier=7)), id="a number for a name"),
        pytest.param(SiteAnswer(404, PROBLEM, refusal(code=None)), id="no code"),
        pytest.param(SiteAnswer(500, PROBLEM, refusal()), id="another status"),
        pytest.param(SiteAnswer(404, (("Content-Type", "application/json"),), refusal()), id="another media type"),
        pytest.param(SiteAnswer(200, (("Server", "evil\x1b[2J\u202e" * 50),), b""), id="a hostile server"),
    ],
)
def test_an_answer_of_another_program_is_reported(said: SiteAnswer) -> None:
    found = examined(lambda method, target: said)
    assert [*found] == ["answered"]
    assert found["answered"].state == "error"
    assert "not by Ararat" in found["answered"].message


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_a_running_server_is_reported(status: int) -> None:
    found = examined(lambda method, target: SiteAnswer(status, (("Server", "nginx/1.22.1"),), b"<h1>Bad Gateway</h1>"))
    assert [*found] == ["backend"]
    assert f"Answered by {status}" in found["backend"].message
    assert "the reverse proxy works" in found["backend"].message
    remedy = found["backend"].remedy or ""
    assert "(`ararat serve`" in remedy
    assert "systemctl start ararat" in remedy
    assert "journalctl --unit ararat" in remedy
    assert "wrap the site" not in remedy


OF_FRONTS = {
    "nginx/1.22.1": ("nginx: compare server 127.0.0.1:8000;", "nginx: location ~* ^/(ark|urn): {"),
    "Apache/2.4.62": ("Apache: compare the URL of ProxyPass", 'Apache: <LocationMatch "(?i)^/(ark|urn)(:|%3A)">'),
    "Caddy": ("Caddy: compare the address", "Caddy: @names path_regexp"),
}


@pytest.mark.parametrize("server", OF_FRONTS)
def test_the_line_to_change_is_that_of_the_front_server(server: str) -> None:
    for status, code, line in zip((502, 404), ("backend", "answered"), OF_FRONTS[server], strict=True):
        answer = SiteAnswer(status, (("Server", server),), b"")
        remedy = examined(lambda method, target, answer=answer: answer)[code].remedy or ""
        assert line in remedy
        others = {name.partition("/")[0] for name in OF_FRONTS} - {server.partition("/")[0]}
        assert not [name for name in others if f"{name}: " in remedy]


def test_each_section_of_apache_matches_an_encoded_colon() -> None:
    """Without %3A in the expression, Apache drops nocanon from a name with an encoded colon."""
    sections = [
        section
        for lines in fixes.remedies().values()
        for section in re.findall(r'<LocationMatch "([^"]*)"', lines.get("Apache", ""))
    ]
    assert len(sections) > 2
    assert all(re.search(section, path) for section in sections for path in ("/ark:12345/x", "/URN%3Aexample:a"))


@pytest.mark.parametrize("end", ["pdf", "css", "js", "png", "jpg", "php"])
def test_a_location_for_an_extension_is_found(end: str) -> None:
    found = examined(
        Deployment(
            before=lambda target: SiteAnswer(404, (("Server", "nginx"),), b"") if target.endswith(f".{end}") else target
        )
    )
    assert codes(found, "error") == {f"extension-{end}"}


@pytest.mark.parametrize(
    ("location", "code", "remedy"),
    [
        pytest.param("https://www.r.example{}/", "slash", "Exclude the names from it", id="slash"),
        pytest.param("/login?next=/ark:99999/x", "password", "run ararat doctor behind it", id="sign in"),
        pytest.param(
            "https://other.example/\x1b[2J", "answered", "Exclude paths that begin with /ark:", id="elsewhere"
        ),
        pytest.param("https://other.example/ark:99999/x", "answered", "Exclude paths", id="another site"),
        pytest.param("{}", "answered", "Exclude paths", id="loop"),
    ],
)
def test_a_redirect_that_takes_names_away_is_reported(location: str, code: str, remedy: str) -> None:
    found = examined(lambda method, target: SiteAnswer(301, (("Location", location.format(target)),), b""))
    assert [*found] == [code]
    assert remedy in (found[code].remedy or "")
    assert "ark:99999" not in (found[code].remedy or "")


def test_hosts_that_redirect_to_each_other_are_followed_a_few_times() -> None:
    hosts: list[str] = []

    def loop(method: str, target: str, fields: Any = None, /) -> SiteAnswer:
        hosts.append("www." * (len(hosts) % 2) + "r.example")
        return SiteAnswer(301, (("Location", f"https://{hosts[-1]}{target}"),), b"")

    found = [*checks.examine(weburl.parse("https://www.r.example"), asking=loop, sleep=lambda seconds: None)]
    assert found[-1].state == "error"
    assert len(hosts) < 40


def test_texts_of_a_hostile_resolver_are_escaped_and_shortened() -> None:
    hostile = "\u202e\x1b]0;" + "x" * 5000

    def lie(method: str, target: str) -> SiteAnswer:
        return SiteAnswer(404, PROBLEM, refusal(identifier=hostile, suggestion=f"http{hostile}/ark:b9999/x"))

    found = examined(lie)
    assert len(codes(found, "error")) > 8
    assert all(len(finding.message) < 500 for finding in found.values())


def test_an_unreadable_store_is_bad() -> None:
    class Gone(BindingSource):
        def fetch(self, keys: Any) -> dict[str, Any]:
            raise BindingsUnavailable("gone")

    deployment = Deployment()
    deployment.app = ResolverMiddleware(site, Gone(), prefix=PREFIX)  # type: ignore[arg-type]
    assert codes(examined(deployment), "error") == {"bindings"}


def test_no_answer_raises_not_answered() -> None:
    def dead(method: str, target: str) -> SiteAnswer:
        raise HopFailed("connect")

    with pytest.raises(NotAnswered, match="no connection"):
        examined(dead)


def test_probes_without_an_answer_are_bad() -> None:
    deployment = Deployment()

    def faint(method: str, target: str) -> SiteAnswer:
        if not re.fullmatch("/ark:99999/[0-9a-f]{8}x", target):
            raise HopFailed("timeout")
        return deployment(method, target)

    found = examined(faint)
    assert codes(found, "error") == {probe.code for probe in probes.PROBES} | {"classic", "label"}


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        pytest.param(None, "ok", id="the resolver"),
        pytest.param(SiteAnswer(200, (), b"/ids/"), "error", id="another path"),
        pytest.param(SiteAnswer(200, (), b"/"), "ok", id="the same by the site"),
        pytest.param(SiteAnswer(200, (), b"<title>Home</title>"), "warning", id="a page of the site"),
        pytest.param(SiteAnswer(404, (), b""), "warning", id="not forwarded"),
    ],
)
def test_the_host_must_announce_the_resolver(answer: SiteAnswer | None, state: str) -> None:
    def before(target: str) -> str | SiteAnswer:
        return answer if answer is not None and target == "/.well-known/ark" else target

    found = examined(Deployment(before=before, hsts="max-age=60"))["well-known"]
    assert found.state == state
    assert (found.remedy is None) is (state == "ok")


def test_a_resolver_of_urns_is_not_announced() -> None:
    assert "well-known" not in examined(Deployment(schemes=["urn"], hsts="max-age=60"))
