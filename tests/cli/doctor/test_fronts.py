"""Each misconfiguration with a real front server, and right sites of each documented kind."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme

from ararat.middleware import open_bindings

from ...fronts import FRONTS, blocks, everything, program_of, start_front, wait_until_it_answers
from ...ports import free_port
from .faults import FAULTS
from .test_faults import LONG, bind_all

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

ARARAT = Path(sys.executable).with_name("ararat")
SITE = """\
from ararat.middleware import Resolver{kind}Middleware, open_bindings

def site(environ, start_response):
    status = "200 OK" if environ["PATH_INFO"] == "/page" else "404 Not Found"
    start_response(status, [("Content-Type", "text/html")])
    return [b"<title>The site</title>"]

async def asgi_site(scope, receive, send):
    if scope["type"] == "http":
        status = 200 if scope["path"] == "/page" else 404
        await send({{"type": "http.response.start", "status": status, "headers": []}})
        await send({{"type": "http.response.body", "body": b""}})

application = Resolver{kind}Middleware({site}, open_bindings({database!r}, missing_ok=True), prefix={prefix!r})
"""
NAMES_ONLY = "location ~* ^/(ark|urn): {{ proxy_pass http://ararat; proxy_set_header Host $host; }}\n"


class Doctor(NamedTuple):
    """The output of a run of the command: its exit code and its findings."""

    code: int
    rows: list[dict[str, Any]]


def run_doctor(*arguments: str | Path, environ: dict[str, str] | None = None, before: Any = None) -> Doctor:
    """Run the command as a process."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARARAT_")}
    ran = subprocess.run(
        [ARARAT, "doctor", "--json", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env=clean | (environ or {}),
        preexec_fn=before,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return Doctor(ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()])


class World:
    """The databases and servers of one case."""

    def __init__(self, folder: Path, start_server: Callable[..., Any], wsgi_server: Callable[..., Any]) -> None:
        self.folder = folder
        self.start_server = start_server
        self.wsgi_server = wsgi_server
        self.port = free_port()
        self.prefix = f"http://127.0.0.1:{self.port}"
        self.database = folder / "right.sqlite"
        self.other = folder / "other.sqlite"
        with open_bindings(self.database, create=True) as bindings:
            bind_all(bindings)
            bindings.bind("ark:12345/long", LONG)
        with open_bindings(self.other, create=True) as bindings:
            bindings.bind("ark:12345/other", "https://example.org/other")

    def site(self, database: Path | None = None, prefix: str | None = None) -> int:
        """Start the site under gunicorn, and return its port."""
        source = SITE.format(
            kind="", site="site", database=str(database or self.database), prefix=prefix or self.prefix
        )
        return self.wsgi_server(source).port

    def front(
        self, name: str = "nginx", change: Callable[[str], str] = str, site: int | None = None, port: int | None = None
    ) -> str:
        """Start a front server with the changed documented configuration before a site, and return its address."""
        program_of(FRONTS[name].program, FRONTS[name].package)
        configuration = change(everything(name))
        configuration = configuration.replace("127.0.0.1:8000", f"127.0.0.1:{site or self.site()}")
        folder = self.folder / f"front-{port or self.port}"
        folder.mkdir()
        (folder / "users").write_text("jane:{PLAIN}secret\n", "ascii")
        start_front(self.start_server, name, configuration, port or self.port, folder, "/")
        return f"http://127.0.0.1:{port or self.port}"

    def doctor(self, address: str | None = None, **more: Any) -> Doctor:
        return run_doctor(address or self.prefix, "--database", self.database, **more)


@pytest.fixture
def world(public_path: Path, start_server: Callable[..., Any], wsgi_server: Callable[..., Any]) -> World:
    return World(public_path, start_server, wsgi_server)


Case = Callable[[World], Doctor]


def nginx(*, server: str = "", location: str = "", http: str = "", site: Any = None) -> Case:
    """Return a case with more lines in the server block, in its location, or before them."""

    def case(world: World) -> Doctor:
        def change(shown: str) -> str:
            shown = shown.replace("    location / {", f"    {server}\n    location / {{\n        {location}")
            return f"{http}\n{shown}"

        world.front(change=change, site=None if site is None else site(world))
        return world.doctor()

    return case


def replaced(name: str, text: str, by: str) -> Case:
    """Return a case in which a text of the documented configuration is replaced."""

    def case(world: World) -> Doctor:
        def change(shown: str) -> str:
            assert text in shown
            return shown.replace(text, by)

        world.front(name, change)
        return world.doctor()

    return case


def read_only(world: World) -> Doctor:
    """Run the command as a user who can only read the file. The process of the tests is often root's."""
    for database in (world.database, world.other):
        database.chmod(0o444)
    # A user without the folder of the packages can only run what is already loaded.
    program = """\
import os, sys
from click.testing import CliRunner
from ararat.cli.main import main
run = CliRunner().invoke
run(main, ["doctor", "--json", "--database", sys.argv[2]])
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
ran = run(main, ["doctor", "--json", "--database", sys.argv[1]])
print(ran.stdout)
raise SystemExit(ran.exit_code)
"""
    command = [sys.executable, "-c", program, str(world.database), str(world.other)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return Doctor(ran.returncode, [json.loads(line) for line in ran.stdout.splitlines() if line])


def full_disk(world: World) -> Doctor:
    """Limit the size of files, as a full disk does. SQLite then reports an error of input and output."""
    before = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))  # noqa: E731
    return run_doctor("--database", world.database, before=before)


def over_https(world: World, trusted: bool, line: str) -> Doctor:
    """Start a front server with TLS, and one for http with a redirect."""
    authority, secure = trustme.CA(), free_port()
    certificate, trust = world.folder / "site.pem", world.folder / "ca.pem"
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(str(certificate))
    authority.cert_pem.write_to_path(str(trust))
    prefix = f"https://127.0.0.1:{secure}"
    port = world.site(prefix=prefix)

    def change(shown: str) -> str:
        tls = f"listen 80;\n    listen 127.0.0.1:{secure} ssl;\n    ssl_certificate {certificate};"
        tls += f"\n    ssl_certificate_key {certificate};"
        plain = f"server {{ listen 127.0.0.1:{world.port}; {line.replace('PREFIX', prefix)} }}\n"
        return shown.replace("listen 80;", tls) + plain

    world.front(change=change, site=port, port=free_port())
    environ = {"SSL_CERT_FILE": str(trust)} if trusted else {}
    return world.doctor(world.prefix if trusted else prefix, environ=environ)


def asgi(world: World) -> Doctor:
    folder = world.folder / "asgi"
    folder.mkdir()
    source = SITE.format(kind="ASGI", site="asgi_site", database=str(world.database), prefix=world.prefix)
    (folder / "site_under_test.py").write_text(source, "utf-8")
    command = [sys.executable, "-m", "uvicorn", "--port", str(world.port), "--app-dir", folder]
    world.start_server([*command, "site_under_test:application"], folder=folder).wait_for("Uvicorn running")
    return world.doctor()


def forged(world: World) -> Doctor:
    options = ["--port", str(world.port), "--prefix", world.prefix, "--inspector", world.prefix]
    options += ["--trusted-proxies", "1", "--database", str(world.database)]
    world.start_server([ARARAT, "serve", "--host", "127.0.0.1", *options]).wait_for("http://127")
    return world.doctor()


def outdated(world: World) -> Doctor:
    file = world.folder / "names.conf"
    command = [ARARAT, "export", "--edge", "nginx", "--prefix", world.prefix, "--database", world.database, file]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    with open_bindings(world.database) as bindings:
        bindings.relocate("ark:12345/x6np1", "https://example.org/new")
    return run_doctor("--database", world.database, "--edge", file)


def two_databases(world: World) -> Doctor:
    second = world.site(world.other)
    world.front(change=lambda shown: shown.replace("8000;", f"8000;\n    server 127.0.0.1:{second};"))
    return world.doctor()


def cached(world: World, lines: str) -> None:
    cache = f"proxy_cache_path {world.folder}/cache keys_zone=names:1m;\n"
    world.front(
        change=lambda shown: (
            cache + shown.replace("    location / {", f"    location / {{\n proxy_cache names; {lines}")
        )
    )


def cached_redirect(world: World) -> Doctor:
    cached(
        world,
        "proxy_cache_key $request_uri; proxy_cache_valid 302 30d; proxy_ignore_headers Cache-Control Expires;",
    )
    assert world.doctor().code == 0
    with open_bindings(world.database) as bindings:
        bindings.relocate("ark:12345/x6nP1", "https://example.org/new")
    return world.doctor()


def with_cache(lines: str) -> Case:
    def case(world: World) -> Doctor:
        cached(world, lines)
        return world.doctor()

    return case


def www(world: World) -> Doctor:
    second = free_port()
    lines = f"return 301 http://localhost:{second}$request_uri;"
    site = world.site(prefix=f"http://localhost:{second}")
    world.front(change=lambda shown: shown.replace("proxy_pass http://ararat;", lines), site=site)
    world.front(port=second, site=site)
    return world.doctor()


LOWER = """\
RewriteEngine On
    RewriteMap lower int:tolower
    RewriteRule ^(.*)$ http://127.0.0.1:8000${lower:$1} [P,NE]
    ProxyPass /nothing http://127.0.0.1:8000/ nocanon"""
CASES: dict[str, Case] = {
    "proxy-pass-path": replaced("nginx", "proxy_pass http://ararat;", "proxy_pass http://ararat/;"),
    "extension-location": nginx(
        server=r"location ~* \.(js|css|png|jpg|pdf)$ { expires 30d; }" + "\n" + NAMES_ONLY.format()
    ),
    "lower-case-label": replaced("nginx", "location / {", "location / { return 404; }\n    location /ark: {"),
    "long-cache-control": nginx(
        location='proxy_hide_header Cache-Control; add_header Cache-Control "max-age=31536000" always;'
    ),
    "backend-down": nginx(site=lambda world: free_port()),
    "database-missing": nginx(site=lambda world: world.site(world.folder / "missing.sqlite")),
    "database-read-only": read_only,
    "firewall": nginx(server=r'if ($request_uri ~* "%2f|\.\.|%2e%2e") { return 403; }'),
    "forged-client-address": forged,
    "self-signed": lambda world: over_https(world, False, "return 301 PREFIX$request_uri;"),
    "wrong-prefix": nginx(site=lambda world: world.site(prefix="https://other.example/ids")),
    "outdated-export": outdated,
    "other-database": nginx(site=lambda world: world.site(world.other)),
    "two-databases": two_databases,
    "urn-not-forwarded": replaced("nginx", "location / {", "location / { return 404; }\n    location ~* ^/ark: {"),
    "cached-redirect": cached_redirect,
    "full-disk": full_disk,
    "http-loses-query": lambda world: over_https(world, True, "return 301 PREFIX$uri;"),
    "asgi": asgi,
    "cache-key": with_cache("proxy_cache_key $uri; proxy_cache_valid any 1m;"),
    "arguments": nginx(location='set $args "";'),
    "intercepted": nginx(
        location="proxy_intercept_errors on; error_page 404 410 /404.html;",
        server='location = /404.html { internal; default_type text/html; return 404 "not here"; }',
    ),
    "added-slash": nginx(server="rewrite ^(.*[^/])$ $1/ permanent;"),
    "www": www,
    "password": nginx(location='auth_basic "staging"; auth_basic_user_file users;'),
    "rate-limit": nginx(
        http="limit_req_zone $binary_remote_addr zone=slow:1m rate=5r/s;", location="limit_req zone=slow;"
    ),
    "small-buffer": nginx(
        location="proxy_buffer_size 2k; proxy_buffers 8 2k; proxy_busy_buffers_size 4k;",
    ),
    "changed-location": nginx(location="proxy_redirect https://example.org/ /;"),
    "lost-request-fields": nginx(location="proxy_pass_request_headers off;"),
    "hidden-link": nginx(location="proxy_hide_header Link;"),
    "bot-filter": nginx(server="if ($http_user_agent !~ Mozilla) { return 403; }"),
    "ignored-vary": with_cache("proxy_ignore_headers Vary; proxy_cache_key $request_uri;"),
    "lower-cased": replaced("apache", "ProxyPass / http://127.0.0.1:8000/ nocanon", LOWER),
    "encoded-slash-refused": replaced("apache", "AllowEncodedSlashes NoDecode", ""),
    "head-refused": nginx(server="if ($request_method = HEAD) { return 405; }"),
    "caddy-rewrite": replaced("caddy", "reverse_proxy", "uri strip_prefix /nothing\n    reverse_proxy"),
}
# The remedies of these name the line of the configuration.
WITH_LINE = {
    *("proxy-pass-path", "extension-location", "lower-case-label", "long-cache-control", "backend-down", "firewall"),
    *("two-databases", "urn-not-forwarded", "cached-redirect", "http-loses-query", "cache-key", "arguments"),
    *("intercepted", "added-slash", "password", "rate-limit", "small-buffer", "changed-location", "hidden-link"),
    *("lost-request-fields", "bot-filter", "ignored-vary", "lower-cased", "head-refused", "caddy-rewrite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_real_server_is_found_with_the_right_remedy(fault: str, world: World) -> None:
    expected = FAULTS[fault]
    ran = CASES[fault](world)
    found = [row for row in ran.rows if (row["code"], row["state"]) == expected[:2]]
    bad = [(row["code"], row["state"], row.get("remedy")) for row in ran.rows if row["state"] != "ok"]
    assert found, bad
    assert ran.code == int(any(state == "error" for _, state, _ in bad)), bad
    if expected.state != "error":
        assert ran.code == 0, bad
    if expected.remedy is None:
        assert not bad
        return
    remedy = found[0]["remedy"]
    assert re.sub(r"localhost:\d+", "{www}", remedy).find(expected.remedy.replace("{www}", "http://{www}")) >= 0, remedy
    assert re.search(r"front\.conf, line \d+: ", remedy) or fault not in WITH_LINE, remedy


# Right sites ----------------------------------------------------------------------------------------------------------


def assert_right(*arguments: str | Path) -> None:
    ran = run_doctor(*arguments)
    bad = [row for row in ran.rows if row["state"] == "error"]
    assert (ran.code, bad) == (0, [])
    assert [row for row in ran.rows if row["code"] == "name"]


@pytest.mark.parametrize("front", FRONTS)
def test_a_documented_front_server_is_right(front: str, world: World) -> None:
    world.front(front)
    ran = world.doctor()
    assert (ran.code, [row for row in ran.rows if row["state"] != "ok"]) == (0, [])


@pytest.mark.parametrize("server", ["", "gunicorn", "uvicorn"])
def test_ararat_itself_is_right(server: str, world: World) -> None:
    port = str(world.port)
    environ = {"ARARAT_DATABASE": str(world.database), "ARARAT_PREFIX": world.prefix}
    commands: dict[str, list[Any]] = {
        "": [ARARAT, "serve", "--host", "127.0.0.1", "--port", port],
        "gunicorn": [sys.executable, "-m", "gunicorn", "--no-control-socket", "--bind", f"127.0.0.1:{port}"],
        "uvicorn": [sys.executable, "-m", "uvicorn", "--port", port, "ararat.asgi:application"],
    }
    commands["gunicorn"].append("ararat.wsgi")
    started = world.start_server(commands[server], environ, world.folder)
    started.wait_for(r"http://127\.0\.0\.1|Booting worker")
    started.port = world.port
    if server == "gunicorn":
        # It listens before it has loaded the application.
        assert started.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 60).status == 200
    wait_until_it_answers(started)
    with open_bindings(world.database) as bindings:
        bindings.relocate("ark:12345/page", "https://example.org/page", kind="located")
    assert_right(world.prefix, "--database", world.database)


WSGI = {"Flask": ("app", 0), "Django": ("", 1), "Pyramid": ("main({})", 2), "function": ("application", 3)}
# The page names these for its example of any other application.
OTHERS = {"Bottle": "from bottle import Bottle\nsite = Bottle()", "Falcon": "import falcon\nsite = falcon.App()"}
OTHER = """\
from ararat.middleware import ResolverMiddleware, open_bindings

application = ResolverMiddleware(site, open_bindings("bindings.sqlite"), prefix="https://example.org")
"""
ASGI = {"FastAPI": 4, "Starlette": 5, "Django": 6, "Quart": 7, "Datasette": 8}


@pytest.mark.parametrize(
    "framework", [*(f"WSGI {name}" for name in (*WSGI, *OTHERS)), *(f"ASGI {name}" for name in ASGI)]
)
def test_a_documented_site_is_right(framework: str, world: World) -> None:
    interface, _, name = framework.partition(" ")
    folder = world.folder / "site"
    folder.mkdir()
    number = ASGI[name] if interface == "ASGI" else WSGI.get(name, ("", 3))[1]
    source = blocks("frameworks.md", "python")[number]
    place = "site_under_test:application"
    if name == "Django":
        subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", folder], check=True, timeout=60)
        place = f"mysite.{interface.lower()}:application"
        (folder / "mysite" / f"{interface.lower()}.py").write_text(source, "utf-8")
    elif name in OTHERS:
        pytest.importorskip(name.lower(), reason=f"{name} IS NOT TESTED: run make long")
        (folder / "site_under_test.py").write_text(f"{OTHERS[name]}\n{OTHER}", "utf-8")
    elif interface == "WSGI":
        (folder / "site_under_test.py").write_text(f"{source}\napplication = {WSGI[name][0]}\n", "utf-8")
    elif name == "Datasette":
        (folder / "plugins").mkdir()
        (folder / "plugins" / "resolver.py").write_text(source, "utf-8")
        datasette = (
            'from datasette.app import Datasette\napplication = Datasette(memory=True, plugins_dir="plugins").app()\n'
        )
        (folder / "site_under_test.py").write_text(datasette, "utf-8")
    else:
        (folder / "site_under_test.py").write_text(f"{source}\napplication = app\n", "utf-8")
    with open_bindings(folder / "bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x6np1", "https://example.org/maps/17", metadata={"what": "Map"})
        bindings.bind("urn:example:map", "https://example.org/map")
    port = str(world.port)
    commands = {
        "WSGI": ["gunicorn", "--no-control-socket", "--bind", f"127.0.0.1:{port}", place],
        "ASGI": ["uvicorn", "--port", port, place],
    }
    started = world.start_server([sys.executable, "-m", *commands[interface]], {"PYTHONPATH": str(folder)}, folder)
    started.port = world.port
    wait_until_it_answers(started)
    assert_right(world.prefix, "--prefix", "https://example.org", "--database", folder / "bindings.sqlite")


@pytest.mark.parametrize(
    ("role", "code", "state"), [("names", "names-can-write", "warning"), ("desk", "readable-writable", "ok")]
)
def test_the_database_is_checked_for_the_role_of_a_server(role: str, code: str, state: str, world: World) -> None:
    world.front()
    ran = run_doctor(world.prefix, "--database", world.database, "--only", role)
    assert (ran.code, [row["state"] for row in ran.rows if row["code"] == code]) == (0, [state])
    assert [row["code"] for row in ran.rows if row["state"] != "ok"] == [code] * (state != "ok")
