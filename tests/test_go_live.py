"""The choices of docs/go-live.md: each front server before each kind of site, up to the last command of the page.

Each block runs as documented; only addresses and paths are replaced. Before a site without Python, the same block
without the lines for the names runs beside it, to compare the answers of the site.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from werkzeug.test import Client

from ararat.cli.main import main
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.webapp.accounts.store import Accounts

from .fronts import (
    DOCS,
    FRONTS,
    HEADINGS,
    blocks,
    composed,
    everything,
    names_alone,
    program_of,
    section,
    start_front,
    wait_until_it_answers,
)
from .http_servers import Quiet, running
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

    - ``heading``: its section of docs/go-live.md.
    - ``files``: its files. ``targets``: requests, besides those for every site.
    - ``classic``: whether the second blocks, of Omeka Classic, are used.
    """

    heading: str
    files: Mapping[str, str]
    targets: tuple[str, ...] = ()
    classic: bool = False


PHP = "PHP, WordPress or Omeka"
PROCESS = "WSGI or ASGI"
SITES = {
    "wordpress": Site(
        PHP,
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
        PHP,
        {"index.php": ECHO, "config/database.ini": "secret", ".htaccess": HTACCESS_OMEKA},
        ("/s/museum/item/17", "/admin/item/17", "/config/database.ini", "/api/items?id=1"),
    ),
    "omeka-classic": Site(
        PHP,
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
    "static": Site("Static files", {"index.html": "<p>home"}, ("/sub",)),
    "php": Site(PHP, {"index.php": ECHO, "tool.php": ECHO}, ("/tool.php?x=1",)),
    "java": Site("DSpace or other Java", {}, ("/server/api/core", "/handle/123456789/17")),
}
PAGE = (DOCS / "go-live.md").read_text("utf-8")
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
FINAL = re.findall(r"^runuser -u ararat -- ararat (doctor .*)$", PAGE, re.MULTILINE)


def block(site: Site, front: str) -> str:
    """Return the documented configuration for a site."""
    classic = blocks_of_section(site.heading, front)[1:] if site.classic else []
    return composed(front, site.heading, before="".join(classic))


def blocks_of_section(heading: str, front: str) -> list[str]:
    return re.findall(rf"^```{front}\n(.*?)^```$", section("go-live.md", heading), re.MULTILINE | re.DOTALL)


def checked(prefix: str, database: Path) -> list[dict[str, Any]]:
    """Run the last command of the page, which must find no error, and return its findings about the site."""
    [command] = FINAL
    command = command.replace("https://example.org", prefix).replace("/var/lib/ararat/bindings.sqlite", str(database))
    ran = CliRunner().invoke(main, [*shlex.split(command), "--json"])
    found = [row for row in map(json.loads, ran.stdout.splitlines()) if row["part"] == "url"]
    assert [row for row in found if row["state"] == "error"] == []
    assert ran.exit_code == 0, ran.stdout
    return found


# The documentation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("heading", sorted({PROCESS, *(site.heading for site in SITES.values())}))
def test_each_front_server_has_the_file_of_each_site(front: str, heading: str) -> None:
    text, whole = section("go-live.md", heading), composed(front, heading)
    server = section("go-live.md", HEADINGS[front])
    [included] = re.findall(r"^ +(?:include|Include|import) (/etc/[\w./-]+\w)", server, re.MULTILINE)
    assert f"`{included}`" in text
    # A reader copies the folder of the site, and addresses that this page explains.
    assert not re.findall(r"/var/www/(?!site\b)", whole)
    assert "127.0.0.1:8000" in whole


@pytest.mark.parametrize("front", FRONTS)
def test_the_names_come_before_the_lines_of_the_site(front: str) -> None:
    for site in SITES.values():
        whole = block(site, front)
        lines = blocks_of_section(site.heading, front)[0].splitlines()
        assert whole.index(names_alone(front).strip()) < whole.index(lines[0])
    # nginx uses the first location with a regular expression that matches.
    assert front != "nginx" or re.findall(r"^ *(location ~[^{]*)", block(SITES["php"], front), re.MULTILINE)[0] == (
        r"location ~* ^/((ark|urn):|\.well-known/ark$) "
    )


def test_each_choice_of_the_page_leads_to_its_sections_and_to_the_final_command() -> None:
    table = PAGE.partition("\n## ")[0]
    chosen = set(re.findall(r"\]\(#([a-z-]+)\)", table))
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", text.lower()).replace(" ", "-") for text in headings}
    assert chosen <= anchors
    assert {"nginx", "apache", "caddy", "no-front-server", "a-wsgi-site", "an-asgi-site", "beside-the-site"} <= chosen
    assert len(FINAL) == 1


def test_the_page_installs_what_its_commands_need() -> None:
    """Debian has these programs without another package."""
    base = {
        *("apt-get", "useradd", "install", "ln", "rm", "runuser", "systemctl", "python3", "ls", "/opt/ararat/bin/pip"),
        *("ararat", "certbot", "a2enmod", "a2dissite", "podman"),
    }
    consoles = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for console in consoles for line in console.replace("\\\n", "").splitlines()]
    programs = {line.split()[0] for line in lines if not re.match(r"[A-Z_]+=", line)}
    assert programs <= base
    for package in ("python3-venv", "nginx", "apache2", "caddy", "php-fpm", "certbot", "podman", "logrotate"):
        assert re.search(rf"apt-get install [^`\n]*\b{package}\b", PAGE), package


# The front servers ----------------------------------------------------------------------------------------------------


class _Java(Quiet, BaseHTTPRequestHandler):
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


@pytest.fixture
def java() -> Iterator[tuple[int, int]]:
    """Return the ports of two servers that imitate Node.js and Tomcat."""
    with running(_Java) as first, running(_Java) as second:
        first.second = second.second = second.server_port  # type: ignore[attr-defined]
        yield first.server_port, second.server_port


@pytest.fixture
def folder(public_path: Path) -> Path:
    """The folder of the front server, whose user must read it."""
    return public_path


POOL = """\
[global]
daemonize = no
error_log = /dev/stderr
[www]
listen = {socket}
listen.mode = 0666
user = www-data
pm = static
pm.max_children = 4
catch_workers_output = yes
"""


class Php(NamedTuple):
    """A running PHP: its socket, and whether Apache must send paths as ``php-cgi`` expects them, not ``php-fpm``."""

    socket: str
    generic: bool


@pytest.fixture
def php(start_server: Callable[..., Any], folder: Path) -> Callable[[], Php]:
    """php() starts PHP: php-fpm if it is installed, otherwise php-cgi."""

    def start() -> Php:
        manager = shutil.which("php-fpm8.2", path="/usr/sbin")
        socket = folder / "php.sock"
        if manager:
            (folder / "pool.conf").write_text(POOL.format(socket=socket), "ascii")
            command = [manager, "--nodaemonize", "--fpm-config", str(folder / "pool.conf")]
        else:
            command = [program_of("php-cgi", "php-cgi"), "-b", str(socket)]
        server = start_server(command, {"PHP_FCGI_CHILDREN": "4"}, folder)
        deadline = time.monotonic() + 20
        while not socket.exists():
            assert server.process.poll() is None, server.log()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        socket.chmod(0o777)
        return Php(str(socket), generic=manager is None)

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


def php_lines(front: str, running: Php) -> dict[str, str]:
    """Return the texts of a documented configuration to replace, with what replaces them."""
    replaced = {"/run/php/php-fpm.sock": running.socket}
    if front == "apache" and running.generic:
        replaced["    <FilesMatch"] = "    ProxyFCGIBackendType GENERIC\n    <FilesMatch"
    return replaced


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
    php: Callable[[], Php],
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
    if site.files:
        replaced["/var/www/site"] = str(folder / "root")
    else:
        replaced |= {"127.0.0.1:4000": f"127.0.0.1:{java[0]}", "127.0.0.1:8080": f"127.0.0.1:{java[1]}"}
    if "index.php" in site.files:
        replaced |= php_lines(front, php())
    assert all(text in documented for text in replaced)
    inspector = everything(front).replace("example.org", "names.example.org")
    inspector = re.sub(r"upstream ararat \{.*?\}\n", "", inspector, flags=re.DOTALL)
    without = documented.replace(names_alone(front), "")
    assert len(without) < len(documented)
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
        found = checked(prefix, database)
        # Only the names are sent to Ararat, so the site decides about /.well-known/ark.
        assert {row["code"] for row in found if row["state"] != "ok"} <= {"well-known"}, found
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


# Sites with Python ----------------------------------------------------------------------------------------------------

INTERFACES = {"WSGI": ("wsgi.conf", 0), "ASGI": ("asgi.conf", 4)}


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize("front", [*FRONTS, "none"])
@pytest.mark.parametrize("interface", INTERFACES)
def test_a_site_that_answers_names_itself_is_right(
    interface: str, front: str, start_server: Callable[..., Any], folder: Path, database: Path
) -> None:
    """Run the command of the unit for an example of docs/frameworks.md, behind a front server or without one."""
    unit, number = INTERFACES[interface]
    inner, outer = free_port(), free_port()
    prefix = f"http://127.0.0.1:{inner if front == 'none' else outer}"
    source = blocks("frameworks.md", "python")[number].replace("https://example.org", prefix)
    source = re.sub(r"open_bindings\([^\n]*?\"bindings.sqlite\"\)", f"open_bindings({str(database)!r})", source)
    (folder / "app.py").write_text(source, "utf-8")
    [command] = re.findall(rf"/{re.escape(unit)}`:\n\n```ini\n.*?^ExecStart=(/.*?)$", PAGE, re.MULTILINE | re.DOTALL)
    command = command.replace("/opt/ararat/bin", str(Path(sys.executable).parent)).replace("8000", str(inner))
    server = start_server(shlex.split(command), folder=folder)
    server.port = inner
    wait_until_it_answers(server)
    if front != "none":
        configuration = composed(front, PROCESS).replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
        server = start_front(start_server, front, configuration, outer, folder)
    assert server.get("/hello", host="127.0.0.1").text.strip('"') == "hello"
    for name, target in NAMES.items():
        answer = server.get(f"/{name}", host="127.0.0.1")
        assert (answer.status, answer.header("Location")) == (302, target)
    assert {row["code"] for row in checked(prefix, database) if row["state"] != "ok"} == set()


# A real WordPress -----------------------------------------------------------------------------------------------------

WORDPRESS = Path("/usr/share/wordpress")
CONFIGURATION = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', '{prefix}');
define('WP_SITEURL', '{prefix}');
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
INSTALLATION = """<?php
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
require 'wp-load.php';
require 'wp-admin/includes/upgrade.php';
function wp_new_blog_notification() {}
wp_install('Museum', 'jane', 'jane@example.org', true, '', 'correct horse battery');
update_option('permalink_structure', '/%postname%/');
echo 'installed';
"""


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("front", FRONTS)
def test_wordpress_of_debian_works_behind_each_front_server(
    front: str,
    php: Callable[[], Php],
    by_serve: Run,
    start_server: Callable[..., Any],
    folder: Path,
    database: Path,
) -> None:
    """Install the package wordpress with MariaDB, and open its pages and names."""
    if not (WORDPRESS / "wp-content" / "themes").is_dir() or not shutil.which("mariadbd", path="/usr/sbin"):
        pytest.skip("WordPress IS NOT TESTED: apt-get install wordpress mariadb-server php-fpm php-mysql")
    root, port = folder / "root", free_port()
    prefix = f"http://127.0.0.1:{port}"
    shutil.copytree(WORDPRESS, root, symlinks=False, ignore_dangling_symlinks=True)
    mysql = start_mariadb(start_server, folder)
    (root / "wp-config.php").write_text(CONFIGURATION.format(socket=mysql, prefix=prefix), "ascii")
    (root / "install.php").write_text(INSTALLATION, "ascii")
    done = subprocess.run(["php", "install.php"], cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.endswith("installed"), (done.stdout, done.stderr)
    (root / "install.php").unlink()
    with open_bindings(database) as bindings:
        bindings.bind("ark:12345/post", f"{prefix}/?p=1")
    ararat = by_serve(prefix, database)
    configuration = composed(front, PHP)
    replaced = {"127.0.0.1:8000": f"127.0.0.1:{ararat.port}", "/var/www/site": str(root)} | php_lines(front, php())
    for text, here in replaced.items():
        configuration = configuration.replace(text, here)
    server = start_front(start_server, front, configuration, port, folder, "/wp-login.php")
    login = server.get("/wp-login.php", host=f"127.0.0.1:{port}")
    assert (login.status, "wp-submit" in login.text) == (200, True)
    name = server.get("/ark:12345/post", host=f"127.0.0.1:{port}")
    assert (name.status, name.header("Location")) == (302, f"{prefix}/?p=1")
    post = server.get("/?p=1", host=f"127.0.0.1:{port}")
    assert (post.status, post.header("Location")) == (301, f"{prefix}/hello-world/")
    page = server.get("/hello-world/", host=f"127.0.0.1:{port}")
    assert (page.status, "Hello world!" in page.text) == (200, True), page.text
    missing = server.get("/nothing-here/", host=f"127.0.0.1:{port}")
    assert (missing.status, "Museum" in missing.text) == (404, True)
    assert server.get("/wp-includes/css/buttons.css", host=f"127.0.0.1:{port}").status == 200
    assert {row["code"] for row in checked(prefix, database) if row["state"] != "ok"} <= {"well-known"}


def start_mariadb(start_server: Callable[..., Any], folder: Path) -> Path:
    """Start MariaDB in a folder, create the database ``wordpress``, and return the path of the socket."""
    data, socket = folder / "mysql", folder / "mysql.sock"
    user = ["--user=root"] if os.geteuid() == 0 else []
    installing = [
        "mariadb-install-db",
        "--no-defaults",
        f"--datadir={data}",
        "--auth-root-authentication-method=normal",
    ]
    subprocess.run([*installing, *user], check=True, capture_output=True, timeout=120)
    options = [f"--datadir={data}", f"--socket={socket}", "--skip-networking", f"--pid-file={folder}/mysql.pid"]
    server = start_server(["/usr/sbin/mariadbd", "--no-defaults", *options, *user], folder=folder)
    creating = ["mariadb", "--no-defaults", f"--socket={socket}", "-u", "root", "-e", "CREATE DATABASE wordpress"]
    deadline = time.monotonic() + 60
    while subprocess.run(creating, check=False, capture_output=True, timeout=60).returncode:
        assert server.process.poll() is None, server.log()
        assert time.monotonic() < deadline, server.log()
        time.sleep(0.1)
    socket.chmod(0o777)
    return socket


# Limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("front", ["nginx", "apache"])
def test_the_lines_for_limits_refuse_a_client_with_many_requests(
    front: str, by_serve: Run, start_server: Callable[..., Any], folder: Path, database: Path
) -> None:
    port = free_port()
    prefix = f"http://127.0.0.1:{port}"
    ararat = by_serve(prefix, database)
    configuration = composed(front, PROCESS)
    lines = blocks_of_section("Limit requests", front)
    if front == "nginx":
        configuration = lines[0] + re.sub(r"(location ~\* \^/.*\{\n)", rf"\1{lines[1]}", configuration, count=1)
    else:
        module = Path("/usr/lib/apache2/modules/mod_evasive20.so")
        if not module.exists():
            pytest.skip("mod_evasive IS NOT TESTED: apt-get install libapache2-mod-evasive")
        configuration = configuration.replace("# The names.", lines[0])
        configuration = f"LoadModule evasive20_module {module}\n{configuration}"
    configuration = configuration.replace("127.0.0.1:8000", f"127.0.0.1:{ararat.port}")
    server = start_front(start_server, front, configuration, port, folder)
    statuses = []
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        for _ in range(200):
            connection.request("GET", "/ark:12345/x")
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    assert statuses[0] == 302
    assert set(statuses) == {302, {"nginx": 429, "apache": 403}[front]}
    assert statuses.count(302) >= 40
    server.stop()


# A new domain ---------------------------------------------------------------------------------------------------------


def test_names_of_the_old_domain_work_after_a_change_of_the_domain(database: Path) -> None:
    [lines] = [block for block in blocks_of_section("Change the domain", "sh") if "ARARAT_ALSO" in block]
    settings = dict(line.split("=", 1) for line in lines.splitlines())
    with open_bindings(database) as bindings:
        site = ResolverMiddleware(
            lambda *request: [], bindings, prefix=settings["ARARAT_PREFIX"], also=settings["ARARAT_ALSO"].split()
        )
        for address in settings.values():
            answer = Client(site).get("/ark:12345/x", base_url=address)
            assert (answer.status_code, answer.headers["Location"]) == (302, NAMES["ark:12345/x"])
            assert f'<{settings["ARARAT_PREFIX"]}/ark:12345/x>; rel="cite-as"' in ", ".join(
                answer.headers.getlist("Link")
            )
