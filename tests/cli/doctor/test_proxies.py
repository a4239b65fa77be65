"""Test the front servers of docs/go-live.md before gunicorn: they are right, and usual mistakes are reported."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from ararat.middleware import open_bindings

from ...fronts import DOCS, FRONTS, everything, names_alone, program_of, start_front
from ...ports import free_port

SITE = """\
from ararat.middleware import ResolverMiddleware, open_bindings

def site(environ, start_response):
    start_response("404 Not Found", [])
    return []

application = ResolverMiddleware(site, open_bindings("bindings.sqlite", create=True), prefix="{prefix}")
"""


def shown(language: str) -> list[str]:
    """Return the documented configurations of a proxy: for all paths, and for names only."""
    return [everything(language), names_alone(language)]


@pytest.fixture
def behind(
    start_server: Callable[..., Any], wsgi_server: Callable[..., Any], tmp_path: Path
) -> Iterator[Callable[..., str]]:
    """behind(name, change) returns the URL of a site behind that proxy with the changed documented configuration.

    run(prefix) starts the server behind it. The default is gunicorn."""
    started: list[Any] = []

    def start(name: str, change: Callable[[str], str] = str, run: Callable[[str], Any] | None = None) -> str:
        port = free_port()
        prefix = f"http://127.0.0.1:{port}"
        program_of(FRONTS[name].program, FRONTS[name].package)
        site = wsgi_server(SITE.format(prefix=prefix)) if run is None else run(prefix)
        configuration = shown(name)[0]
        assert "127.0.0.1:8000" in configuration
        configuration = change(configuration).replace("127.0.0.1:8000", f"127.0.0.1:{site.port}")
        started.append(start_front(start_server, name, configuration, port, tmp_path))
        return prefix

    yield start
    for server in started:
        server.stop()


def examined(address: str, *options: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Return the exit code and the findings by their codes, without the random beginning of the probes."""
    ararat = Path(sys.executable).with_name("ararat")
    ran = subprocess.run(
        [ararat, "doctor", "--url", address, "--json", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    rows = re.sub("ark:99999/[0-9a-f]{8}", "ark:99999/", ran.stdout).splitlines()
    return ran.returncode, {row["code"]: row for row in map(json.loads, rows)}


def bad(found: dict[str, dict[str, str]]) -> set[str]:
    return {code for code, row in found.items() if row["state"] == "error"}


def without(line: str) -> Callable[[str], str]:
    """Return a change that removes a part of a configuration."""

    def change(configuration: str) -> str:
        assert line in configuration
        return configuration.replace(line, "")

    return change


PASSES_ALL = {
    "nginx": r"location / \{.*?\}",
    "apache": r"ProxyPass / [^\n]*",
    "caddy": r"reverse_proxy [^\n]*",
}


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_a_proxy_that_forwards_only_names_has_no_errors(behind: Callable[..., str], name: str) -> None:
    names_alone = shown(name)[-1]

    def change(configuration: str) -> str:
        changed, times = re.subn(PASSES_ALL[name], lambda _: names_alone, configuration, flags=re.DOTALL)
        assert times == 1
        return changed

    address = behind(name, change)
    code, found = examined(address)
    assert (code, {row["code"] for row in found.values() if row["state"] != "ok"}) == (0, set())
    # The server behind does not answer, which would be a 500. The answers of a proxy itself do not matter.
    with contextlib.closing(HTTPConnection(address.removeprefix("http://"), timeout=10)) as connection:
        connection.request("GET", "/other")
        assert connection.getresponse().status in (200, 403, 404)


def first_event(answer: HTTPResponse) -> str:
    """Return the first event of a trace. On a busy machine, beats can precede it."""
    return next(event for line in answer if (event := json.loads(line)["event"]) != "waiting")


@contextlib.contextmanager
def asking(front: str, visitor: str, path: str, **fields: str) -> Iterator[HTTPResponse]:
    """Return the answer of the proxy to a client at another loopback address."""
    with contextlib.closing(HTTPConnection(front, timeout=20, source_address=(visitor, 0))) as connection:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        yield connection.getresponse()


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_ararat_serve_distinguishes_clients_behind_a_proxy(
    behind: Callable[..., str], serve_ararat: Callable[..., Any], name: str
) -> None:
    options = ("--trusted-proxies", "1", "--hsts", "max-age=1000", "--allow-network", "127.0.0.0/8")
    address = behind(name, run=lambda prefix: serve_ararat("--prefix", prefix, *options))
    front = address.removeprefix("http://")
    with socket.create_server(("127.0.0.1", 0)) as silent, contextlib.ExitStack() as running:
        host, port = silent.getsockname()
        trace = f"/api/trace?q=ark:12345/x&resolver=http://{host}:{port}"
        for number in range(3):
            forged = {"X_Forwarded_For": f"203.0.113.{number}", "X_Forwarded_Proto": "https"}
            answer = running.enter_context(asking(front, "127.0.2.1", trace, **forged))
            # The first hop is sent when it happens: the stream is not buffered.
            assert first_event(answer) == "start"
        with asking(front, "127.0.2.1", trace, X_Forwarded_For="203.0.113.99") as answer:
            assert (answer.status, json.loads(answer.read())["code"]) == (503, "busy-client")
        with asking(front, "127.0.2.2", trace) as answer:
            assert first_event(answer) == "start"
    with asking(front, "127.0.2.1", "/ark:12345/mp39n", X_Forwarded_Proto="https") as answer:
        assert (answer.status, answer.getheader("Strict-Transport-Security")) == (302, None)


STATIC = r"""location ~* \.(js|css|png|jpg|gif|ico|pdf)$ { expires 30d; }
"""


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        pytest.param(
            STATIC,
            "",
            {f"extension-{end}" for end in ("pdf", "jpg", "css", "js", "png")},
            id="static files before the names",
        ),
        pytest.param("", STATIC, set(), id="static files after the names"),
        pytest.param(
            STATIC + "location ^~ /ark: { proxy_pass http://ararat; proxy_set_header Host $host; }",
            "",
            set(),
            id="static files before the names, and a location that comes before all",
        ),
    ],
)
def test_nginx_with_a_location_for_extensions(
    behind: Callable[..., str], before: str, after: str, lost: set[str]
) -> None:
    names_alone = shown("nginx")[-1]

    def change(configuration: str) -> str:
        lines = before + names_alone + after
        return re.sub(PASSES_ALL["nginx"], lambda _: lines, configuration, flags=re.DOTALL)

    code, found = examined(behind("nginx", change))
    assert (code, bad(found)) == (int(bool(lost)), lost)
    for each in lost:
        assert found[each]["remedy"].startswith("nginx: move location ~* ^/(ark|urn): above every other location")


NO_PROCESS = {
    "nginx": "nginx: compare server 127.0.0.1:8000;",
    "apache": "Apache: compare the",
    "caddy": "Caddy: compare",
}


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_a_proxy_before_a_server_that_does_not_run_is_reported(behind: Callable[..., str], name: str) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    code, found = examined(behind(name, lambda shown: shown.replace("127.0.0.1:8000", nowhere)))
    assert (code, bad(found)) == (1, {"backend"})
    assert re.search(r"by 50[23]", found["backend"]["message"])
    assert "systemctl start ararat" in found["backend"]["remedy"]
    assert NO_PROCESS[name] in found["backend"]["remedy"]


def names_only(name: str) -> Callable[[str], str]:
    """Return a change that forwards only the names."""
    return lambda configuration: re.sub(PASSES_ALL[name], lambda _: names_alone(name), configuration, flags=re.DOTALL)


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_names_alone_with_the_prefix_as_inspector_and_with_served_names(
    behind: Callable[..., str], serve_ararat: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    database = tmp_path / "names.sqlite"
    with open_bindings(database, create=True) as bindings:
        bindings.bind("ark:12345/page", "/page", kind="served")
    options = ("--database", str(database), "--trusted-proxies", "1")
    address = behind(
        name,
        names_only(name),
        lambda prefix: serve_ararat("--prefix", prefix, "--inspector", prefix, *options),
    )
    code, found = examined(address, "--database", str(database))
    assert (code, bad(found)) == (1, {"inspector", "served"})
    assert "ararat:" not in found["inspector"]["remedy"]
    assert "--inspector none" in found["inspector"]["remedy"]
    assert "is answered by 404" in found["served"]["message"]


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
def test_feeds_can_be_forwarded_with_the_names(
    behind: Callable[..., str], serve_ararat: Callable[..., Any], name: str
) -> None:
    [feeds] = re.findall(
        r"`\^/\(\(ark\|urn\):\|\\\.well-known/ark\$(\|[^`]+)\)`", (DOCS / "go-live.md").read_text("utf-8")
    )

    def change(configuration: str) -> str:
        alone, last = names_only(name)(configuration), r"|\.well-known/ark$"
        assert alone.count(f"{last})") == 1
        return alone.replace(last, f"{last}{feeds}")

    address = behind(name, change, lambda prefix: serve_ararat("--prefix", prefix, "--atom", "/changes.atom"))
    for path, kind in (("/changes.atom", "application/atom+xml"), ("/ark:12345/mp39n?info", "text/html")):
        with asking(address.removeprefix("http://"), "127.0.2.1", path) as answer:
            assert (answer.status, str(answer.getheader("Content-Type")).startswith(kind)) == (200, True)
    with asking(address.removeprefix("http://"), "127.0.2.1", "/changes.atoms") as answer:
        assert answer.getheader("Content-Type") != "application/atom+xml"
    assert bad(examined(address)[1]) == set()


@pytest.mark.long
@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("trusted", ["0", "1", "2"])
def test_the_number_of_trusted_proxies_is_compared_with_the_fields(
    behind: Callable[..., str], serve_ararat: Callable[..., Any], name: str, trusted: str
) -> None:
    address = behind(name, run=lambda prefix: serve_ararat("--prefix", prefix, "--trusted-proxies", trusted))
    found = examined(address)[1]["client-address"]
    # Caddy drops the value that a client sends. On one machine, the addresses of client and proxy are equal.
    states = {"0": "warning", "1": "ok", "2": "ok" if name == "caddy" else "error"}
    state = states[trusted]
    assert (found["state"], found.get("remedy", "").count("--trusted-proxies 1")) == (state, int(state != "ok"))


@pytest.mark.long
def test_nginx_with_a_path_in_proxy_pass_is_bad_and_the_line_is_named(behind: Callable[..., str]) -> None:
    code, found = examined(behind("nginx", lambda shown: shown.replace("proxy_pass http://ararat;", SLASH)))
    assert code == 1
    assert bad(found) == {"encoded-slash", "double-slash", "dot-segment", "encoded-dot-segment", "question-mark"}
    assert found["question-mark"]["seen"] == "ark:99999/x"
    assert found["question-mark"]["remedy"].startswith("nginx: remove the path from the URL of proxy_pass: proxy_")


SLASH = "proxy_pass http://ararat/;"


@pytest.mark.long
def test_nginx_with_lower_case_labels_loses_capital_labels(behind: Callable[..., str]) -> None:
    only_lower = "location / { return 404; }\n    location ~ ^/(ark|urn): {"
    code, found = examined(behind("nginx", lambda shown: shown.replace("location / {", only_lower)))
    assert (code, found["label"]["state"], found["classic"]["state"]) == (1, "error", "ok")
    assert "location ~* ^/(ark|urn):" in found["label"]["remedy"]
    assert "location ~* ^/((ark|urn):|" in shown("nginx")[-1]


@pytest.mark.long
def test_apache_without_nodecode_answers_an_encoded_slash_itself(behind: Callable[..., str]) -> None:
    code, found = examined(behind("apache", without("AllowEncodedSlashes NoDecode")))
    assert (code, bad(found)) == (1, {"encoded-slash"})
    assert found["encoded-slash"]["message"].startswith("Answered by 404, not by Ararat")
    # The proxy names itself only in its own answers. Other answers have the Server field of the server behind.
    assert found["encoded-slash"]["remedy"].startswith("Apache: AllowEncodedSlashes NoDecode in the virtual host")


@pytest.mark.long
def test_apache_without_nocanon_changes_the_path(behind: Callable[..., str]) -> None:
    code, found = examined(behind("apache", without(" nocanon")))
    assert (code, bad(found)) == (1, {"double-slash", "dot-segment", "encoded-dot-segment", "encoded-reserved"})
    assert (found["encoded-hyphen"]["state"], found["encoded-hyphen"]["seen"]) == ("warning", "ark:99999/a-b")
    assert "Apache: ProxyPass / http://127.0.0.1:8000/ nocanon" in found["dot-segment"]["remedy"]


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize(
    "line", ["uri strip_prefix /nothing", "@all path_regexp all ^/(.*)$\n    rewrite @all /{re.all.1}"]
)
def test_caddy_with_a_rewrite_cleans_the_path(behind: Callable[..., str], line: str) -> None:
    code, found = examined(behind("caddy", lambda shown: shown.replace("reverse_proxy", f"{line}\n    reverse_proxy")))
    assert code == 1
    assert bad(found) >= {"double-slash", "dot-segment"}
    assert found["double-slash"]["seen"] == "ark:99999/a/b"
    assert found["double-slash"]["remedy"].startswith("Caddy: use reverse_proxy only")


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.parametrize(("matcher", "state"), [('"(?i)^/(ark|urn):"', "ok"), ('"^/(ark|urn):"', "error")])
def test_caddy_with_lower_case_labels_loses_capital_labels(
    behind: Callable[..., str], matcher: str, state: str
) -> None:
    def change(configuration: str) -> str:
        line = "reverse_proxy 127.0.0.1:8000"
        assert line in configuration
        return configuration.replace(
            line, f"@name path_regexp {matcher}\nhandle @name {{\n{line}\n}}\nhandle {{\nrespond 404\n}}"
        )

    code, found = examined(behind("caddy", change))
    assert (code, found["label"]["state"], found["classic"]["state"]) == (int(state == "error"), state, "ok")
    assert state == "ok" or 'path_regexp "(?i)^/(ark|urn):"' in found["label"]["remedy"]


def test_every_line_of_a_fix_is_in_the_documentation() -> None:
    plain = " ".join((DOCS / "go-live.md").read_text("utf-8").split())
    for line in ("large_client_header_buffers 4 16k;", "merge_slashes off;", "AllowEncodedSlashes NoDecode", "nocanon"):
        assert line in plain
    assert "--limit-request-line 8190" in plain
