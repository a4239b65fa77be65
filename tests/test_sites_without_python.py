"""The server blocks for WordPress, Omeka, static, PHP and Java sites, in real front servers before small sites.

Each block runs as documented; only addresses and paths are replaced. The same block without the lines for the names
runs beside it, to compare the answers of the site.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts

from .fronts import DOCS, FRONTS, blocks, program_of, start_front
from .ports import free_port

ECHO = """<?php
header('Content-Type: application/json');
header('X-Script: ' . $_SERVER['SCRIPT_NAME']);
echo json_encode([$_SERVER['REQUEST_METHOD'], $_SERVER['REQUEST_URI'], $_SERVER['HTTP_HOST'],
    $_SERVER['HTTP_X_FORWARDED_PROTO'] ?? null, file_get_contents('php://input')]);
"""
# The same rules as in the files that the systems write or contain.
HTACCESS_WORDPRESS = """\
RewriteEngine On
RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
"""
HTACCESS_OMEKA = """\
RewriteEngine On
RewriteCond %{REQUEST_FILENAME} -s [OR]
RewriteCond %{REQUEST_FILENAME} -d
RewriteRule ^.*$ - [L]
RewriteRule ^install/.*$ install/install.php [L]
RewriteRule ^admin/.*$ admin/index.php [L]
RewriteRule ^(.*)$ index.php [L]
<FilesMatch "\\.ini$">
    Require all denied
</FilesMatch>
"""
FILES = {"style.css": "body {}", "scan.pdf": "%PDF-1.4", "a b.png": "PNG", "sub/index.html": "<p>sub"}


class Site(NamedTuple):
    """A kind of site.

    - ``page``: its page of docs/. ``root``: the documented path of its files.
    - ``files``: its files. ``targets``: requests, besides those for every site.
    - ``classic``: whether the second block, of Omeka Classic, is inserted.
    """

    page: str
    root: str | None
    files: Mapping[str, str]
    targets: tuple[str, ...] = ()
    classic: bool = False


SITES = {
    "wordpress": Site(
        "wordpress.md",
        "/var/www/wordpress",
        {
            "index.php": ECHO,
            "wp-login.php": ECHO,
            "wp-admin/index.php": ECHO,
            "wp-content/uploads/evil.php": ECHO,
            ".htaccess": HTACCESS_WORDPRESS,
        },
        ("/wp-login.php?action=x", "/wp-admin/", "/wp-content/uploads/evil.php", "/wp-json/wp/v2/posts", "/?p=17"),
    ),
    "omeka-s": Site(
        "omeka.md",
        "/var/www/omeka",
        {"index.php": ECHO, "config/database.ini": "secret", ".htaccess": HTACCESS_OMEKA},
        ("/s/museum/item/17", "/admin/item/17", "/config/database.ini", "/api/items?id=1"),
    ),
    "omeka-classic": Site(
        "omeka.md",
        "/var/www/omeka",
        {
            "index.php": ECHO,
            "admin/index.php": ECHO,
            "install/install.php": ECHO,
            "db.ini": "secret",
            ".htaccess": HTACCESS_OMEKA,
        },
        ("/items/show/17", "/admin/items/show/17", "/admin/", "/install/", "/db.ini"),
        classic=True,
    ),
    "static": Site("static-sites.md", "/var/www/html", {"index.html": "<p>home"}, ("/sub",)),
    "php": Site("php-sites.md", "/var/www/site/public", {"index.php": ECHO, "tool.php": ECHO}, ("/tool.php?x=1",)),
    "java": Site("java.md", None, {}, ("/server/api/core", "/handle/123456789/17")),
}
PAGES = sorted({site.page for site in SITES.values()})
# Requests that must reach each site as before. The last ones look like names.
TARGETS = (
    *("/", "/about/?a=1&b=%2F", "/style.css", "/scan.pdf", "/a%20b.png", "/sub/", "/missing.css", "/missing.pdf"),
    *("/.hidden", "/a//b", "/%C3%A9t%C3%A9/", "/arks", "/ark", "/ark/12345/x", "/x/ark:12345/y.pdf", "/?q=ark:12345/x"),
)
NAMES = {
    "ark:12345/x": "https://target.test/x",
    "ark:12345/x.pdf": "https://target.test/pdf",
    "ark:12345/x.css": "https://target.test/css",
    "ark:12345/x.php": "https://target.test/php",
    "ark:12345/a%2Fb": "https://target.test/encoded",
    "ark:12345/a/b": "https://target.test/slash",
    "urn:nbn:de:1-2": "https://target.test/urn",
}
OWN_LINES = {
    "nginx": r"^    # The names\..*?^    \}\n",
    "apache": r"^    # The names\..*?^    </LocationMatch>\n",
    "caddy": r"^    # The names\..*?^    \}\n",
}


def block(site: Site, front: str) -> str:
    """Return the documented block of a site."""
    whole, *classic = blocks(site.page, front)
    if site.classic and classic:
        before = {"nginx": "    location / {", "caddy": "    handle {"}[front]
        head, found, rest = whole.rpartition(before)
        assert found
        whole = head + classic[0] + found + rest
    return whole


# The documentation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("front", FRONTS)
def test_all_pages_send_the_names_to_ararat_by_the_same_lines(front: str) -> None:
    lines = {re.findall(OWN_LINES[front], blocks(page, front)[0], re.MULTILINE | re.DOTALL)[0] for page in PAGES}
    assert len(lines) == 1
    words = lines.pop().split()
    # The last block on the page of the proxies is for the names alone, with the same directives.
    for directive in blocks("proxies.md", front)[-1].split():
        assert directive in words
    assert {"nginx": "http://ararat;", "apache": "nocanon", "caddy": "127.0.0.1:8000"}[front] in words


def test_the_names_come_before_all_other_locations() -> None:
    for page in PAGES:
        # nginx uses the first location with a regular expression that matches.
        assert re.findall(r"^ *(location [^{]*)", blocks(page, "nginx")[0], re.MULTILINE)[0] == (
            "location ~* ^/(ark|urn): "
        )
        assert re.findall(r"handle [^{]*", blocks(page, "caddy")[0])[0] == "handle @names "
        apache = blocks(page, "apache")[0]
        assert "AllowEncodedSlashes NoDecode" in apache
        assert apache.index("<LocationMatch") < (apache + "<Directory").index("<Directory")


def test_the_page_of_all_sites_links_each_of_them() -> None:
    page = (DOCS / "sites.md").read_text("utf-8")
    assert sorted(re.findall(r"^- \[[^]]+\]\(([a-z-]+\.md)\)", page, re.MULTILINE)) == PAGES


# The front servers ----------------------------------------------------------------------------------------------------


class _Java(BaseHTTPRequestHandler):
    """Answer with the request, as an application behind a proxy sees it."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        fields = [self.headers.get(name) for name in ("Host", "X-Forwarded-For", "X-Forwarded-Proto")]
        port = self.server.server_port  # type: ignore[attr-defined]
        known = {self.server.second: "second"}.get(port, "first")  # type: ignore[attr-defined]
        answer = json.dumps([known, self.command, self.path, fields, body]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = answer  # noqa: N815 - the names of the library

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def java() -> Iterator[tuple[int, int]]:
    """Return the ports of two servers that imitate Node.js and Tomcat."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _Java) for _ in range(2)]
    for server in servers:
        server.second = servers[1].server_port  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield servers[0].server_port, servers[1].server_port
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def folder(public_path: Path) -> Path:
    """The folder of the front server, whose user must read it."""
    return public_path


@pytest.fixture
def php(start_server: Callable[..., Any], folder: Path) -> Callable[[], str]:
    """php() starts PHP, and returns the path of its socket."""

    def start() -> str:
        program = program_of("php-cgi", "php-cgi")
        socket = folder / "php.sock"
        server = start_server([program, "-b", str(socket)], {"PHP_FCGI_CHILDREN": "4"}, folder)
        deadline = time.monotonic() + 20
        while not socket.exists():
            assert server.process.poll() is None, server.log()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        socket.chmod(0o777)
        return str(socket)

    return start


Run = Callable[[str, Path], Any]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "names.sqlite"
    with open_bindings(path, create=True) as bindings:
        for name, target in NAMES.items():
            bindings.bind(name, target)
        Accounts(bindings).add("jane", "curator", ["12345"])
    return path


def settings_of(prefix: str, database: Path) -> dict[str, str]:
    return {
        "ARARAT_DATABASE": str(database),
        "ARARAT_PREFIX": prefix,
        "ARARAT_INSPECTOR": "http://names.example.org",
        "ARARAT_TRUSTED_PROXIES": "1",
        "ARARAT_TRACE_ELSEWHERE": "0",
    }


@pytest.fixture
def by_serve(serve_ararat: Callable[..., Any]) -> Run:
    return lambda prefix, database: serve_ararat(environ=settings_of(prefix, database))


@pytest.fixture
def by_gunicorn(start_server: Callable[..., Any]) -> Run:
    def run(prefix: str, database: Path) -> Any:
        options = ["--bind", "127.0.0.1:0", "--workers", "2", "--threads", "8", "--limit-request-line", "8190"]
        command = [sys.executable, "-m", "gunicorn", *options, "--no-control-socket", "ararat.wsgi"]
        server = start_server(command, settings_of(prefix, database), database.parent)
        server.port = int(server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)"))
        # The workers load the application after that.
        assert server.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 60).status == 200
        return server

    return run


CASES = [(site, front, "by_serve") for site in SITES for front in FRONTS] + [("wordpress", "nginx", "by_gunicorn")]


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize(("kind", "front", "run"), CASES)
def test_a_block_sends_the_names_to_ararat_and_leaves_the_site_unchanged(
    kind: str,
    front: str,
    run: str,
    request: pytest.FixtureRequest,
    start_server: Callable[..., Any],
    php: Callable[[], str],
    java: tuple[int, int],
    folder: Path,
    database: Path,
) -> None:
    site = SITES[kind]
    program_of(FRONTS[front].program, FRONTS[front].package)
    for name, content in (FILES | dict(site.files)).items():
        path = folder / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    documented = block(site, front)
    port = free_port()
    prefix = f"http://127.0.0.1:{port}"
    ararat = request.getfixturevalue(run)(prefix, database)
    replaced = {"127.0.0.1:8000": f"127.0.0.1:{ararat.port}"}
    if site.root is None:
        replaced |= {"127.0.0.1:4000": f"127.0.0.1:{java[0]}", "127.0.0.1:8080": f"127.0.0.1:{java[1]}"}
    else:
        replaced[site.root] = str(folder / "root")
    if "index.php" in site.files:
        replaced["/run/php/php-fpm.sock"] = php()
        if front == "apache":
            # Apache sends the paths of scripts as php-fpm expects them, unlike php-cgi.
            replaced["    <FilesMatch"] = "    ProxyFCGIBackendType GENERIC\n    <FilesMatch"
    assert all(text in documented for text in replaced)
    inspector = blocks("proxies.md", front)[0].replace("example.org", "names.example.org")
    inspector = re.sub(r"upstream ararat \{.*?\}\n", "", inspector, flags=re.DOTALL)
    without = re.sub(OWN_LINES[front], "", documented, flags=re.MULTILINE | re.DOTALL)
    assert len(without) < len(documented) - 100
    home = {"static": "<p>home", "java": "first"}.get(kind, '["GET"')
    sites = []
    for configuration, where in ((f"{documented}\n{inspector}", port), (without, free_port())):
        for text, here in replaced.items():
            configuration = configuration.replace(text, here)
        place = folder / str(where)
        place.mkdir()
        sites.append(start_front(start_server, front, configuration, where, place))
    try:
        _assert_site_is_unchanged(sites[0], sites[1], front, home)
        _assert_names_arrive(sites[0], kind)
        _assert_desk_has_its_own_host(sites[0])
        ran = CliRunner().invoke(main, ["doctor", prefix, "--database", str(database), "--json"])
        found = [row for row in map(json.loads, ran.stdout.splitlines()) if row["part"] == "url"]
        # Only the names are sent to Ararat, so the site decides about /.well-known/ark.
        assert {row["code"] for row in found if row["state"] != "ok"} <= {"well-known"}, found
        assert ran.exit_code == 0, ran.stdout
        assert {row["sent"] for row in found if row["code"] == "name"} >= {"ark:12345/a%2Fb", "urn:nbn:de:1-2"}
    finally:
        for server in (*sites, ararat):
            server.stop()


PROBLEM = "application/problem+json"


def _assert_site_is_unchanged(with_names: Any, without: Any, front: str, home: str) -> None:
    def answers(server: Any) -> Iterator[tuple[Any, ...]]:
        for target in (*TARGETS, *SITES_TARGETS, *(("/a%2Fb", "/a%2Fb.css") if front != "apache" else ())):
            for method in ("GET", "HEAD"):
                answer = server.get(target, method, host="127.0.0.1")
                yield target, method, *seen(server, answer)
        head = "POST /form?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
        yield "POST", *seen(server, server.ask(f"{head}Connection: close\r\n\r\nhello".encode()))

    def seen(server: Any, answer: Any) -> tuple[Any, ...]:
        # The ports of the two servers differ.
        fields = sorted((name, value.replace(f":{server.port}/", "/")) for name, value in answer.headers)
        body = answer.body.replace(b":%d/" % server.port, b"/")
        fields = [(name, value) for name, value in fields if name not in ("Date", "Expires")]
        return answer.status, fields if len(body) == len(answer.body) else None, body

    for here, there in zip(answers(with_names), answers(without), strict=True):
        assert here == there
    for target, part in (("/", home), ("/style.css", "style.css" if home == "first" else "body {}")):
        answer = with_names.get(target, host="127.0.0.1")
        assert (answer.status, part in answer.text) == (200, True), (target, answer)


SITES_TARGETS = tuple(dict.fromkeys(target for site in SITES.values() for target in site.targets))


def _assert_names_arrive(server: Any, kind: str) -> None:
    def location(target: str) -> str | None:
        answer = server.get(target, host="127.0.0.1")
        assert answer.status == 302, (target, answer)
        return answer.header("Location")

    for name, target in NAMES.items():
        assert location(f"/{name}") == target
        assert location(f"/{name.replace('ark:', 'ARK:/').replace('urn:', 'URN:')}") == target
    assert location("/ark:/12345/-x") == NAMES["ark:12345/x"]
    for request in ("/ark:12345/x?", "/ark:12345/x??", "/ark:12345/x?info", "/ark:12345/x.pdf?"):
        answer = server.get(request, host="127.0.0.1")
        assert (answer.status, "https://target.test" in answer.text) == (200, True), request
    assert "names.example.org/?q=" in server.get("/ark:12345/unbound.css", host="127.0.0.1", accept="text/html").text
    for request in ("/ark:12345/a//b", "/ark:12345/x/../y", "/ark:12345/", "/URN:x"):
        answer = server.get(request, host="127.0.0.1", accept=PROBLEM)
        assert (answer.status, answer.header("Content-Type")) == (400, PROBLEM), (kind, request)


def _assert_desk_has_its_own_host(server: Any) -> None:
    desk = server.get("/desk/", host="names.example.org")
    assert desk.status in (302, 303), desk
    assert "/sign-in" in str(desk.header("Location"))
    assert server.get("/healthz", host="names.example.org").json()["names"] == len(NAMES)
    assert "sign-in" not in str(server.get("/desk/", host="127.0.0.1").headers)
    assert server.get("/ark:12345/x", host="names.example.org").status == 302
