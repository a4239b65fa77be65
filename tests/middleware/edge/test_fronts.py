"""Test the configurations of docs/edge.md with real front servers: their answers are equal to those of Ararat."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from ararat.middleware import Bindings, open_bindings
from ararat.middleware.edge.exporting import export_redirects
from ararat.middleware.edge.front_servers import EdgeName
from ararat.middleware.edge.marker import read_marker
from ararat.middleware.resolution.settings import Settings
from tests.fronts import FRONTS, blocks, program_of, start_front
from tests.ports import free_port

pytestmark = pytest.mark.long

# The wrapper marks the answers of Ararat, so that a test can see who answered.
SITE = """\
from ararat.middleware import ResolverMiddleware, open_bindings

def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]

resolver = ResolverMiddleware(site, open_bindings({database!r}), prefix={prefix!r})

def application(environ, start_response):
    def start(status, headers, *error):
        return start_response(status, [*headers, ("X-From", "ararat")], *error)
    return resolver(environ, start)
"""

# Names with a plain redirect. The characters are those that have a meaning in a configuration.
PLAIN: dict[str, dict[str, Any]] = {
    "ark:12345/x": {"target": "https://example.org/small"},
    "ark:12345/X": {"target": "https://example.org/capital?$1", "redirect": 307},
    "ark:12345/aB": {"target": "https://example.org/aB"},
    "ark:12345/Ab": {"target": "https://example.org/Ab"},
    "ark:12345/$host/$1/$": {"target": "https://example.org/$host/$uri/%7B/$"},
    "ark:12345/=~*+@_$.a.b": {"target": "https://example.org/;,'()?$args;&a=b'c#d?e"},
    "ark:12345/a%2Fb": {"target": "https://example.org/a%2Fb"},
    "ark:12345/a/b": {"target": "/a/b?c=d"},
    "ark:12345/%7Bname%7D%22%5C%7C": {"target": "https://example.org/%7Bx%7D/%22%5C%7C%0A%0D"},
    "ark:12345/%3Fq": {"target": "https://example.org/q%3F?a=%3F?&b"},
    "ark:12345/%3F": {"target": "https://example.org/q%3F#a?b", "kind": "related"},
    "ark:12345/%20": {"target": "https://example.org/%20#%20"},
    "ark:12345/%E2%80%AE%C3%A9": {"target": "https://xn--bcher-kva.example/%C3%A9"},
    "ark:12345/%250A": {"target": "https://example.org/%2525"},
    "ark:12345/default": {"target": "https://example.org/default"},
    "ark:12345/hostnames": {"target": "https://example.org/%25%7BENV:HOME%7D"},
    "ark:12345/see": {"target": "https://example.org/see", "kind": "related"},
    "ark:12345/container": {"target": "https://example.org/c/", "passthrough": True},
    "ark:12345/data": {
        "target": "https://example.org/data",
        "metadata": {
            "dc.type": "Dataset",
            "dc.rights": "https://creativecommons.org/licenses/by/4.0/?a=%20b,c",
            "dc.creator": "https://orcid.org/0000-0002-1825-0097",
        },
    },
    "urn:isbn:9780451450524": {"target": "https://example.org/isbn"},
    "urn:example:a'(b)*+,;=:@!$&~-._/c:urn:/ark:/d": {"target": "https://example.org/urn"},
}
OTHERS: dict[str, dict[str, Any]] = {
    "ark:12345/alternates": {"target": "https://example.org/a", "alternates": {"text/html": "https://example.org/b"}},
    "ark:12345/served": {"target": "/page", "kind": "served"},
    "ark:12345/described": {"kind": "described", "target": None},
    "ark:12345/withdrawn": {"target": "https://example.org/w"},
}
FILES = {"nginx": "ararat-names.conf", "apache": "names.txt", "caddy": "ararat-names.caddy"}
FIELDS = (
    *("Location", "Link", "Cache-Control", "Vary", "X-Content-Type-Options", "Referrer-Policy"),
    *("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Retry-After", "Allow"),
)


class Behind(NamedTuple):
    """A front server, the site behind it, their bindings, and a function that exports again and restarts the front."""

    front: Any
    site: Any
    bindings: Bindings
    export: Callable[[], None]
    file: Path

    def both(self, target: str, method: str = "GET", **fields: str) -> tuple[bool, Any, Any]:
        """Return whether the front server answered itself, and what the two servers answered."""
        found = self.front.get(target, method, **fields)
        expected = self.site.get(target, method, **fields)
        return found.header("X-From") is None, compared(found), compared(expected)


def compared(answer: Any) -> tuple[int, list[list[str]]]:
    # Apache writes the list in Vary without spaces.
    return answer.status, [[value.replace(", ", ",") for value in answer.all(field)] for field in FIELDS]


def bind(bindings: Bindings) -> None:
    for name, given in {**PLAIN, **OTHERS}.items():
        target = given.get("target")
        bindings.bind(name, target, **{key: value for key, value in given.items() if key != "target"})
    bindings.withdraw("ark:12345/withdrawn", reason="Lost")
    bindings.reserve("ark:12345/reserved", "https://example.org/r")


@pytest.fixture(params=[("nginx", ""), ("apache", ""), ("apache", "dbm"), ("caddy", "")], ids="".join)
def behind(
    request: pytest.FixtureRequest,
    start_server: Callable[..., Any],
    wsgi_server: Callable[..., Any],
    tmp_path: Path,
) -> Iterator[Behind]:
    """The documented front server with the redirects of the names above, in front of gunicorn."""
    name: EdgeName
    name, dbm = request.param
    program_of(FRONTS[name].program, FRONTS[name].package)
    httxt2dbm = program_of("httxt2dbm", "apache2-utils") if dbm else None
    port = free_port()
    prefix = f"http://127.0.0.1:{port}"
    database = tmp_path / "bindings.sqlite"
    started: list[Any] = []
    with TemporaryDirectory() as readable, open_bindings(database, create=True) as bindings:
        # Apache reads its map as another user, who cannot enter the folders of pytest.
        Path(readable).chmod(0o755)
        file = Path(readable) / FILES[name]
        bind(bindings)
        site = wsgi_server(SITE.format(database=str(database), prefix=prefix))
        (configuration,) = blocks("edge.md", name)
        assert "127.0.0.1:8000" in configuration
        configuration = configuration.replace("127.0.0.1:8000", f"127.0.0.1:{site.port}")
        configuration = configuration.replace("https://example.org/", f"{prefix}/")
        documented = '"dbm=db:/etc/apache2/names.dbm"'
        configuration = configuration.replace(documented, f'"dbm=db:{readable}/names.dbm"' if dbm else f'"txt:{file}"')
        configuration = re.sub(r"(ararat-names\.(?:conf|caddy))", rf"{readable}/\1", configuration)

        def export() -> None:
            with file.open("wb") as stream:
                export_redirects(bindings, stream, name, Settings(prefix=prefix))
            if httxt2dbm is not None:
                new = file.with_name("names.new")
                subprocess.run([httxt2dbm, "-f", "DB", "-i", file, "-o", new], check=True, timeout=60)
                new.replace(file.with_name("names.dbm"))
            if started:
                started[-1].stop()
            started.append(start_front(start_server, name, configuration, port, tmp_path))

        export()
        yield Behind(started[0], site, bindings, export, file)
    for each in started:
        each.stop()


def spellings(name: str) -> list[str]:
    return [f"/{name}", f"/ark:/{name[4:]}"] if name.startswith("ark:") else [f"/{name}"]


def test_the_answers_of_the_front_server_are_equal_to_those_of_ararat(behind: Behind) -> None:
    marker = read_marker(behind.file)
    assert marker is not None
    assert (marker.redirects, marker.omitted, marker.state.names) == (len(PLAIN), 0, len(PLAIN) + len(OTHERS))
    differ = []
    for name in PLAIN:
        for path in spellings(name):
            at_front, found, expected = behind.both(path)
            assert expected[0] in (302, 303, 307), path
            if not at_front or found != expected:
                differ.append((path, at_front, found, expected))
    assert differ == []


def test_ararat_answers_all_other_requests(behind: Behind) -> None:
    paths = [path for name in PLAIN for path in spellings(name)]
    requests = [
        (f"{path}{query}", "GET", {}) for path in paths[:6] for query in ("?info", "??", "?utm_source=a", "?x=1")
    ]
    requests += [(path, "HEAD", {}) for path in paths]
    requests += [(path, "POST", {}) for path in paths[:2]]
    requests += [(path, "GET", {"no_redirect": "true"}) for path in paths]
    requests += [
        (target, "GET", {})
        for target in (
            *(path for name in OTHERS if "alternates" not in name for path in spellings(name)),
            *("/ark:12345/reserved", "/ark:12345/unknown", "/ark:12345/container/below", "/ark:12345/DATA"),
            *("/ARK:12345/x", "/Ark:/12345/X", "/ark:12345/-x", "/ark:12345/%78", "/ark:12345/a%2fb", "/ark:12345/AB"),
            *("/ark:12345/x/", "/ark://12345/x", "/urn:isbn:0451450523"),
            "/ark:12345/x%09302%20https:%2F%2Fevil.example%09",
        )
    ]
    differ = []
    for target, method, fields in requests:
        at_front, found, expected = behind.both(target, method, **fields)
        if at_front or found != expected:
            differ.append((target, method, fields, at_front, found, expected))
    assert differ == []
    # The answer depends on the field Accept.
    assert behind.front.get("/ark:12345/alternates", accept="text/html").header("Location") == "https://example.org/b"


def test_a_change_is_visible_after_the_next_export(behind: Behind) -> None:
    behind.bindings.withdraw("ark:12345/x", reason="Lost")
    assert (behind.front.get("/ark:12345/x").status, behind.site.get("/ark:12345/x").status) == (302, 410)
    behind.export()
    for path in spellings("ark:12345/x"):
        at_front, found, expected = behind.both(path)
        assert (at_front, found[0], found) == (False, 410, expected)
    at_front, found, expected = behind.both("/ark:12345/X")
    assert (at_front, found[0], found) == (True, 307, expected)


# Hostile fields -------------------------------------------------------------------------------------------------------

PATH = "/ark:12345/x"
ENTRY = f"x\t{PATH} 302 https://evil.example/ ;\tGET"
HOSTILE = {
    "entry": [("no-redirect", ENTRY)],
    "entry-and-space": [("no-redirect", f"{ENTRY} ")],
    "entry-and-path": [("no-redirect", f"{ENTRY} {PATH}")],
    "two-fields": [("no-redirect", f"{ENTRY} "), ("no-redirect", "true")],
    "empty-then-entry": [("no-redirect", ""), ("no-redirect", f"{ENTRY} ")],
    "tab": [("no-redirect", "\t")],
    "true": [("no-redirect", "true")],
    "empty": [("no-redirect", "")],
    "none": [],
}
# With these fields nginx can redirect. In 1.22 only the first of two fields counts.
REDIRECTED = {"empty-then-entry", "tab", "empty", "none"}


@pytest.fixture
def nginx(start_server: Callable[..., Any], tmp_path: Path) -> Iterator[int]:
    """The port for HTTP/2 of nginx with the redirects, which answers 418 to all other requests."""
    program_of(FRONTS["nginx"].program, FRONTS["nginx"].package)
    port, second = free_port(), free_port()
    prefix = f"http://127.0.0.1:{port}"
    (configuration,) = blocks("edge.md", "nginx")
    configuration = configuration.replace("listen 80;", f"listen 80;\n    listen 127.0.0.1:{second} http2;")
    configuration = configuration.replace("ararat-names.conf", str(tmp_path / "ararat-names.conf"))
    configuration = re.sub(r"proxy_pass [^;]+;", "return 418;", configuration)
    with open_bindings(tmp_path / "b.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/small")
        with (tmp_path / "ararat-names.conf").open("wb") as stream:
            export_redirects(bindings, stream, "nginx", Settings(prefix=prefix))
    front = start_front(start_server, "nginx", configuration, port, tmp_path)
    yield second
    front.stop()


def over_http_2(port: int, fields: list[tuple[str, str]]) -> dict[str, str]:
    import h2.config
    import h2.connection
    import h2.events

    settings = h2.config.H2Configuration(
        header_encoding="latin-1", normalize_outbound_headers=False, validate_outbound_headers=False
    )
    connection = h2.connection.H2Connection(settings)
    with socket.create_connection(("127.0.0.1", port), 10) as stream:
        connection.initiate_connection()
        asked = [(":method", "GET"), (":authority", "example.org"), (":scheme", "http"), (":path", PATH), *fields]
        connection.send_headers(1, asked, end_stream=True)
        stream.sendall(connection.data_to_send())
        while received := stream.recv(65536):
            for event in connection.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived):
                    return {str(name): str(value) for name, value in event.headers}
            stream.sendall(connection.data_to_send())
    return {}


def test_a_field_of_a_request_never_chooses_the_target(nginx: int) -> None:
    assert over_http_2(nginx, [])["location"] == "https://example.org/small"
    for case, fields in HOSTILE.items():
        answer = over_http_2(nginx, fields)
        assert answer.get("location") in (None, "https://example.org/small"), case
        assert "evil" not in str(answer), case
        if answer.get("location"):
            assert case in REDIRECTED
            assert answer["vary"] == "No-Redirect"


def test_a_field_over_http_1_never_chooses_the_target(behind: Behind) -> None:
    for case, fields in HOSTILE.items():
        lines = [f"GET {PATH} HTTP/1.1", f"Host: 127.0.0.1:{behind.front.port}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in fields]
        with socket.create_connection(("127.0.0.1", behind.front.port), 10) as stream:
            stream.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = stream.makefile("rb").read().decode("latin-1")
        head = answer.partition("\r\n\r\n")[0].lower()
        found = re.findall("^location: (.*)\r$", head, re.MULTILINE)
        assert found in ([], ["https://example.org/small"]), case
        assert "\r\nvary:" in head, case
