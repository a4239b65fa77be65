"""The servers and proxies in the tests, each with the requests that it changes: one table for tests and documentation.

The tests check every entry, and that nothing else changes. As a program it prints the page docs/request-targets.md:

    .venv/bin/python tests/middleware/servers/conftest.py > docs/request-targets.md
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from ararat.bindings.system.thread_slots import WORK, ThreadSlots, Work

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "data"


# Requests -------------------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """The status of an answer, and its Location or the raw path that reached the site."""

    status: int
    where: str | None = None


class Question(NamedTuple):
    """A request target (a character per byte), the correct result, and other known results by keyword."""

    target: str
    says: str
    right: Outcome
    otherwise: Mapping[str, Outcome]


DOC = Outcome(302, "https://example.org/doc")
DESCRIBED = Outcome(200)
REFUSED = Outcome(400)

QUESTIONS = {
    "?info": Question("/ark:12345/doc?info", "returns the description", DESCRIBED, {}),
    "??": Question("/ark:12345/doc??", "returns the description", DESCRIBED, {}),
    "a bare ?": Question("/ark:12345/doc?", "returns the description", DESCRIBED, {"lost": DOC}),
    "%2F": Question(
        "/ark:12345/s%2Ft",
        "is not a slash",
        Outcome(302, "https://target.test/encoded-slash"),
        {"becomes /": Outcome(302, "https://target.test/slash")},
    ),
    "%2E": Question(
        "/ark:12345/s%2Et",
        "is not a dot",
        Outcome(302, "https://target.test/encoded-dot"),
        {"becomes .": Outcome(302, "https://target.test/dot")},
    ),
    "%2C": Question(
        "/URN:FOO:a%2c1",
        "is not a comma, in a URN",
        Outcome(302, "https://example.org/urn-a"),
        {"becomes ,": Outcome(404)},
    ),
    "%3A": Question("/ark%3A12345/doc", "is the colon of the label", DOC, {}),
    "%ff": Question(
        "/ark:12345/img/%ff%c3%a9",
        "reaches a served site unchanged",
        Outcome(200, "/i/7/%ff%c3%a9"),
        {"becomes %FF": Outcome(200, "/i/7/%FF%C3%A9")},
    ),
    "%00": Question("/ark:12345/doc%00", "is a byte like others", Outcome(404), {"refused": REFUSED}),
    "//": Question(
        "/ark:12345/img/a//b",
        "reaches a served site as two slashes",
        Outcome(200, "/i/7/a//b"),
        {"becomes /": Outcome(200, "/i/7/a/b")},
    ),
    "// in front": Question(
        "//ark:12345/doc",
        "is a path of the site",
        Outcome(200, "//ark:12345/doc"),
        {"becomes /": DOC, "refused": REFUSED},
    ),
    "..": Question("/ark:12345/x/../doc", "is refused", REFUSED, {"resolved": DOC}),
    "%2e%2e": Question("/ark:12345/%2E%2E", "is refused", REFUSED, {"resolved": Outcome(200, "/")}),
    "a byte that is not ASCII": Question(
        "/ark:12345/img/\xc3\xa9",
        "is read as if it were percent-encoded",
        Outcome(200, "/i/7/%C3%A9"),
        {"refused": REFUSED, "encoded twice": Outcome(200, "/i/7/%C3%83%C2%A9")},
    ),
    "#": Question("/ark:12345/doc#f", "is cut off", DOC, {"refused": REFUSED, "in the name": Outcome(404)}),
    "http://": Question("http://site.test/ark:12345/doc", "uses the path", DOC, {"refused": REFUSED}),
    "a long path": Question(f"/ark:12345/{'y/' * 1700}y", "is looked up (3,400 bytes)", Outcome(404), {}),
}


# Servers --------------------------------------------------------------------------------------------------------------


class ServerRow(NamedTuple):
    """A server: its command, and the requests that it changes. All other results are correct.

    The command can contain ``{folder}``, ``{port}`` and ``{program}``. A server that selects its own port prints it,
    and the pattern ``port`` finds it. ``tested`` is the name of the distribution, or of the program of a proxy in front
    of gunicorn, which has a ``configuration``. A server with ``ranges`` can answer Range requests. A server with
    ``capitals`` changes the request method to capital letters. One with ``underscores`` passes on a header field with
    an underscore, under the key of the field with a hyphen. ``speed`` is its number of redirects per second, as a
    ratio to that of the fastest server, in runs of tests/bench/bench_servers.py.
    """

    command: tuple[str, ...]
    tested: str
    otherwise: Mapping[str, str]
    run: str
    quick: bool = False
    port: str | None = None
    configuration: str | None = None
    ranges: bool = False
    capitals: bool = False
    underscores: bool = False
    speed: str = ""


PYTHON = sys.executable
BESIDE = Path(sys.executable).parent
GUNICORN = (PYTHON, "-m", "gunicorn", "--bind", "127.0.0.1:0", "--no-control-socket", "--limit-request-line", "8190")
GUNICORN_PORT = r"Listening at: http://127\.0\.0\.1:(\d+)"
PORT = r"http://127\.0\.0\.1:(\d+)"

NGINX = """\
daemon off;
{user}
worker_processes 1;
pid nginx.pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  upstream up {{ server 127.0.0.1:{behind}; }}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass PROXIED; }} }}
}}
"""
RUN_NGINX = ("{program}", "-p", "{folder}", "-c", "front.conf")
# The settings that Apache needs to run in its own folder. The modules are where Debian installs them.
APACHE_PROCESS = """\
PidFile apache.pid
ErrorLog /dev/stderr
User daemon
Group daemon
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ServerName localhost
"""
APACHE = (
    APACHE_PROCESS
    + """\
Listen 127.0.0.1:{port}
AllowEncodedSlashes NoDecode
ProxyPass / http://127.0.0.1:{behind}/ nocanon
"""
)
CADDY = """\
{{
	admin off
}}
http://:{port} {{
	bind 127.0.0.1
	reverse_proxy 127.0.0.1:{behind}
}}
"""

# Servers that pass the decoded path only. The original encoding is lost.
_NO_RAW_TARGET = {
    "a bare ?": "lost",
    "%2F": "becomes /",
    "%2E": "becomes .",
    "%2C": "becomes ,",
    "%ff": "becomes %FF",
}

# ASGI cannot distinguish a bare question mark from no query.
_ASGI = {"a bare ?": "lost"}
# These servers parse with h11, which refuses the byte.
_ASGI_BY_H11 = {**_ASGI, "a byte that is not ASCII": "refused", "#": "in the name"}

SERVERS = {
    "gunicorn, sync": ServerRow(
        (*GUNICORN, "site_under_test:application"),
        "gunicorn",
        {"a byte that is not ASCII": "refused"},
        "`gunicorn --limit-request-line 8190 site:application`",
        quick=True,
        port=GUNICORN_PORT,
        speed="0.30",
    ),
    "gunicorn, gthread": ServerRow(
        (*GUNICORN, "--threads", "4", "site_under_test:application"),
        "gunicorn",
        {"a byte that is not ASCII": "refused"},
        "`gunicorn --threads 4 --limit-request-line 8190 site:application`",
        quick=True,
        port=GUNICORN_PORT,
        speed="0.23",
    ),
    "waitress": ServerRow(
        (PYTHON, "-m", "waitress", "--listen=127.0.0.1:0", "site_under_test:application"),
        "waitress",
        {"a byte that is not ASCII": "refused"},
        "`waitress-serve site:application`",
        quick=True,
        port=PORT,
        speed="0.17",
    ),
    "cheroot": ServerRow(
        (PYTHON, "site_under_test.py", "cheroot"),
        "cheroot",
        {"// in front": "refused", "a byte that is not ASCII": "refused", "#": "refused", "http://": "refused"},
        "`cheroot site:application`",
        port=PORT,
        underscores=True,
        speed="0.13",
    ),
    "uWSGI": ServerRow(
        (
            *(str(BESIDE / "uwsgi"), "--http-socket", "127.0.0.1:0", "--module", "site_under_test"),
            *("--need-app", "--die-on-term", "--buffer-size", "16384"),
        ),
        "pyuwsgi",
        {},
        "`uwsgi --http-socket :8000 --buffer-size 16384 --module site`",
        port=r"bound to TCP address 127\.0\.0\.1:(\d+)",
        underscores=True,
        speed="0.66",
    ),
    "granian": ServerRow(
        (
            *(str(BESIDE / "granian"), "--interface", "wsgi", "--blocking-threads", "1"),
            *("--host", "127.0.0.1", "--port", "{port}", "site_under_test:application"),
        ),
        "granian",
        _NO_RAW_TARGET,
        "`granian --interface wsgi --blocking-threads 1 site:application`",
        underscores=True,
        speed="1.00",
    ),
    "uvicorn, ASGI": ServerRow(
        # `make bench` installs httptools. uvicorn would use it, and it reads "#" differently.
        (PYTHON, "-m", "uvicorn", "--http", "h11", "--port", "0", "site_under_test:asgi_application"),
        "uvicorn",
        _ASGI_BY_H11,
        "`uvicorn site:application`",
        quick=True,
        port=PORT,
        speed="0.90 (0.38 without uvloop and httptools)",
    ),
    "hypercorn, ASGI": ServerRow(
        (PYTHON, "-m", "hypercorn", "--bind", "127.0.0.1:{port}", "site_under_test:asgi_application"),
        "hypercorn",
        _ASGI_BY_H11,
        "`hypercorn site:application`",
        capitals=True,
        speed="0.22",
    ),
    "granian, ASGI": ServerRow(
        (
            *(str(BESIDE / "granian"), "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"),
            "site_under_test:asgi_application",
        ),
        "granian",
        _ASGI,
        "`granian --interface asgi site:application`",
        speed="0.72",
    ),
    "werkzeug, for development": ServerRow(
        (PYTHON, "site_under_test.py", "werkzeug"),
        "werkzeug",
        {"// in front": "becomes /", "a byte that is not ASCII": "encoded twice"},
        "`flask run`",
        quick=True,
        port=PORT,
    ),
    "wsgiref, for development": ServerRow(
        (PYTHON, "site_under_test.py", "wsgiref"),
        "wsgiref",
        {**_NO_RAW_TARGET, "// in front": "becomes /", "#": "in the name"},
        "Django's `runserver`",
        port=PORT,
        underscores=True,
    ),
    "nginx before gunicorn": ServerRow(
        RUN_NGINX,
        "nginx",
        {"a byte that is not ASCII": "refused", "%00": "refused"},
        "`proxy_pass http://up;`",
        configuration=NGINX.replace("PROXIED", "http://up"),
    ),
    "nginx with a path": ServerRow(
        RUN_NGINX,
        "nginx",
        {
            **_NO_RAW_TARGET,
            "//": "becomes /",
            "// in front": "becomes /",
            "..": "resolved",
            "%2e%2e": "resolved",
            "a byte that is not ASCII": "refused",
            "%00": "refused",
        },
        "`proxy_pass http://up/;`",
        configuration=NGINX.replace("PROXIED", "http://up/"),
    ),
    "Apache before gunicorn": ServerRow(
        ("{program}", "-D", "FOREGROUND", "-d", "{folder}", "-f", "front.conf"),
        "apache2",
        {"// in front": "becomes /", "a byte that is not ASCII": "refused", "#": "refused"},
        "`ProxyPass / http://127.0.0.1:8000/ nocanon`",
        configuration=APACHE,
        ranges=True,
    ),
    "Caddy before gunicorn": ServerRow(
        ("{program}", "run", "--config", "{folder}front.conf", "--adapter", "caddyfile"),
        "caddy",
        {"#": "in the name"},
        "`reverse_proxy 127.0.0.1:8000`",
        configuration=CADDY,
    ),
}


def known(name: str, target: str) -> Outcome | None:
    """Return the known result of a target behind a server if it is not the correct one."""
    for question, word in SERVERS[name].otherwise.items():
        if QUESTIONS[question].target == target:
            return QUESTIONS[question].otherwise[word]
    return None


def program(row: ServerRow) -> str | None:
    """Return the version of the program, or None if it is not installed."""
    if row.tested == "wsgiref":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    if row.configuration:
        # It can be in a folder that is on the path of root only.
        return shutil.which(row.tested, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    try:
        return metadata.version(row.tested)
    except metadata.PackageNotFoundError:
        return None


# The tests ------------------------------------------------------------------------------------------------------------

_asked: dict[str, dict[str, str]] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server" in metafunc.fixturenames:
        slow = (pytest.mark.long, pytest.mark.timeout(120))
        rows = [pytest.param(name, id=name, marks=() if row.quick else slow) for name, row in SERVERS.items()]
        metafunc.parametrize("server", rows, indirect=True, scope="session")
    if "question" in metafunc.fixturenames:
        metafunc.parametrize("question", list(QUESTIONS), indirect=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of the results if all servers were tested."""
    if not _asked.keys() - {name for name, row in SERVERS.items() if row.quick}:
        return
    terminalreporter.section("differences behind each server in this run")
    for name in [name for name in SERVERS if name in _asked]:
        found = _asked[name]
        said = "; ".join(f"{key} {found[key]}" for key in QUESTIONS if found.get(key, "right") != "right")
        told = f"{name:26}{SERVERS[name].tested} {version(SERVERS[name])}"
        terminalreporter.write_line(f"{told:48}{said or 'nothing'} ({len(found)} of {len(QUESTIONS)} asked)")


@pytest.fixture(scope="session")
def bindings_file() -> str:
    """Return the bindings of the fixture FX1 and those of the requests, as JSON Lines."""
    fixture = json.loads((DATA / "fixture_FX1.json").read_text("ascii"))
    rows = [{"identifier": name, **row} for part in ("bindings", "urn_bindings") for name, row in fixture[part].items()]
    places = {"x": "t", "s%2Ft": "encoded-slash", "s/t": "slash", "s%2Et": "encoded-dot", "s.t": "dot"}
    rows += [{"identifier": f"ark:12345/{name}", "target": f"https://target.test/{at}"} for name, at in places.items()]
    rows.append({"identifier": "ark:12345/img", "target": "/i/7", "kind": "served", "scope": "subtree"})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest,
    start_server: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
    bindings_file: str,
) -> Iterator[Any]:
    """Yield each server with the site behind it. Fail if a server is not installed, because it is then not tested."""
    row = SERVERS[request.param]
    found = program(row)
    if found is None:
        pytest.fail(f"{request.param} IS NOT TESTED: {row.tested} is not installed. `make long` installs it.")
    folder = tmp_path_factory.mktemp("site")
    (folder / "bindings.jsonl").write_text(bindings_file, "ascii")
    # A change in the last two seconds is sent without Last-Modified, so two answers could differ.
    an_hour_ago = time.time() - 3600
    os.utime(folder / "bindings.jsonl", (an_hour_ago, an_hour_ago))
    shutil.copy(HERE / "site.py", folder / "site_under_test.py")
    processes = []
    # Imported here, because the module is also a program.
    from tests.ports import free_port

    port = free_port() if row.port is None else None
    if row.configuration:
        behind = start_server([*GUNICORN, "--threads", "4", "site_under_test:application"], {}, folder)
        processes.append(behind)
        user = "user root;" if os.geteuid() == 0 else ""
        settings = {"behind": behind.wait_for(GUNICORN_PORT), "port": port, "user": user}
        folder = tmp_path_factory.mktemp("front")
        (folder / "front.conf").write_text(row.configuration.format(**settings), "ascii")
    command = [part.format(folder=f"{folder}/", port=port, program=found) for part in row.command]
    environ = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")} if row.configuration else {}
    started = start_server(command, environ, folder)
    processes.append(started)
    started.port = port if row.port is None else int(started.wait_for(row.port))
    wait_until_it_answers(started)
    yield started
    for process in reversed(processes):
        process.stop(seconds=3)


@pytest.fixture(scope="session")
def servers() -> SimpleNamespace:
    """Return the table: its `rows`, its `questions`, `known(name, target)` and `page()`."""
    return SimpleNamespace(rows=SERVERS, questions=QUESTIONS, known=known, page=page)


@pytest.fixture
def question(request: pytest.FixtureRequest) -> str:
    """Return the name of each request."""
    return request.param


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Return the name of the tested server."""
    return request.node.callspec.params["server"]


@pytest.fixture
def expected(name: str, question: str) -> Outcome:
    """Return the expected result of this server and this request."""
    return known(name, QUESTIONS[question].target) or QUESTIONS[question].right


@pytest.fixture
def note(name: str, question: str) -> Callable[[Outcome], None]:
    """note(outcome) records a result for the table that `make long` prints."""
    asked = QUESTIONS[question]
    words = {asked.right: "right"} | {outcome: word for word, outcome in asked.otherwise.items()}

    def note_(outcome: tuple[int, str | None]) -> None:
        found = _asked.setdefault(name, {})
        found[question] = words.get(Outcome(*outcome), f"gives {outcome}")

    return note_


def wait_until_it_answers(server: Any) -> None:
    """Wait until the resolver answers. After twenty seconds fail with the log of the server."""
    deadline = time.monotonic() + 20
    while True:
        try:
            if server.get("/ark:12345/doc").status == 302:
                return
        except (OSError, HTTPException):
            pass
        if server.process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"the server does not answer:\n{server.log()}")
        time.sleep(0.02)


# The page -------------------------------------------------------------------------------------------------------------

INTRODUCTION = """\
# What each server changes

A server or proxy in front of the resolver can change a request. The tests send the same requests, byte by byte, through
each of these servers. A request that is not in a row arrives unchanged. `make long` runs these tests.

The speed is the number of redirects per second compared with the fastest server. It is the mean of two runs on a
machine without other load ([speed](speed.md#redirects-under-each-server)), without development servers and proxies.
granian is the fastest, but loses a bare `?`. Of the servers that change nothing, uWSGI is the fastest.
"""
ADVICE = """\
- If the bare `?` is lost, use links with `?info` or `??`. ASGI has the same empty query with and without it.
- If `%2F` becomes `/`, do not bind names with an encoded slash, dot or comma. They cannot be found.
- UNDERSCORES read `X_Forwarded_For` as `X-Forwarded-For`. If a request has
  both, the last one counts, or wsgiref joins them. So a proxy must remove fields with underscores
  ([below](#fields-with-underscores)). The other servers drop them. ASGI tells both names apart.
- With SQLite, several threads in one process wait for one another. granian starts several without
  `--blocking-threads 1`, and then has 0.82. Use more threads if the pages of the site are slow.
- With `--workers`, uvicorn 0.54.0 sends the body of an answer 40 ms late on connections that stay open
  ([issue 3149](https://github.com/Kludex/uvicorn/issues/3149)). A redirect has no body. For pages and errors, start
  several processes without `--workers`, each with its own port.

`ararat serve` runs waitress. An inspector that you [mount](inspector.md#threads) needs a server with threads.
`waitress-serve --threads 96 --connection-limit 2000` is another one.
"""
THREADS = """\
## Fields with underscores

nginx drops fields with underscores. Before cheroot, uWSGI, granian or wsgiref, remove them in Apache or Caddy:

```apache
RequestHeader unset X-Forwarded_For
RequestHeader unset X_Forwarded-For
RequestHeader unset X_Forwarded_For
RequestHeader unset X-Forwarded_Proto
RequestHeader unset X_Forwarded-Proto
RequestHeader unset X_Forwarded_Proto
```

```caddy
example.org {
    reverse_proxy 127.0.0.1:8000 {
        header_up -X_*
        header_up -X-Forwarded_*
    }
}
```

## Forwarded fields

Some servers read `X-Forwarded-For` and `X-Forwarded-Proto` before the application does, also without the
[secret of the proxy](accounts.md#user-of-a-web-server). Without the secret, Ararat corrects the scheme. It
cannot know the true address of the client.

| server | trusts by default | setting |
| --- | --- | --- |
| gunicorn | `X-Forwarded-Proto` of 127.0.0.1 and ::1 | `--forwarded-allow-ips ''` |
| uvicorn | both fields of 127.0.0.1 and ::1 | `--no-proxy-headers` |
| waitress-serve | none; it removes both | omit `--trusted-proxy`, and set `--no-clear-untrusted-proxy-headers` |
| uWSGI | `X-Forwarded-Proto` of all clients | none; let only the proxy reach it, such as by `--socket PATH` |
| hypercorn | none | omit `ProxyFixMiddleware` |
| granian | none | omit `wrap_wsgi_with_proxy_headers` |
| `ararat serve` | none | |

## Threads

A trace or a download can wait long, and holds a thread of the server. So each kind of work that waits has a limit in
each process, and all kinds but changes together never hold the last two threads. A request over the limit gets 503 with
`Retry-After`. A change first waits up to two seconds for the changes before it.

The pages of the inspector, the desk and the APIs have a limit, too, and two for each client, because the threads of a
process share one interpreter. One page can always run. `ararat serve` lets a page wait without a thread. Under other
servers a few pages wait up to five seconds in their threads, and others get 503.

TABLE

Each limit is at least one. Use at least four threads.

`ararat serve` has 96 threads, or the number of `--threads`. gunicorn, uWSGI, mod_wsgi and waitress are asked for their
number. Under other servers the number is 8. Set `ARARAT_THREADS` for `ararat.wsgi`, or `create_app(threads=…)`, to the
number of the server.
"""
# Each kind of work: its name on the page, what it waits for, and its limit of N threads.
WAITING: Mapping[Work, tuple[str, str, str]] = {
    "traces": ("traces", "other hosts", "N/4"),
    "lists of traces": ("lists of traces", "other hosts", "N/8"),
    "sign-ins": ("sign-ins", "a check of a password", "N/4, at most 8"),
    "uploads": ("uploads", "the body of a request", "N/2"),
    "previews": ("previews of moves", "the new targets", "N/8"),
    "downloads": ("downloads", "a client that reads", "N/4"),
    "feeds": ("feeds", "a client that reads", "N/4, at most 4"),
    "changes": ("changes", "the database", "N/2"),
}


def version(row: ServerRow) -> str:
    """Return the version of the tested program."""
    found = program(row) or "not installed"
    if row.configuration is None or not Path(found).is_absolute():
        return found
    asking = "version" if row.tested == "caddy" else "-v"
    told = subprocess.run([found, asking], capture_output=True, text=True, check=True, timeout=10)
    return re.findall(r"\d+(?:\.\d+)+", told.stdout + told.stderr)[0]


def page() -> str:
    """docs/request-targets.md."""
    lines = [
        INTRODUCTION,
        "| Server | Command or line | Speed | Changed or lost | Refused by the server |",
        "|---|---|---|---|---|",
    ]
    for name, row in SERVERS.items():
        lost = ", ".join(f"{key} {word}" for key, word in row.otherwise.items() if word != "refused")
        refused = ", ".join(key for key, word in row.otherwise.items() if word == "refused")
        lines.append(
            f"| {name} | {row.run} | {row.speed} | {coded(lost or 'nothing')} | {coded(refused or 'nothing')} |"
        )
    lines += [
        "",
        "The tests send these requests:",
        "",
        "| In the request | Correct result |",
        "|---|---|",
        *(f"| {coded(key)} | {question.says} |" for key, question in QUESTIONS.items()),
    ]
    *first, last = (name.partition(",")[0] for name, row in SERVERS.items() if row.underscores)
    advice = ADVICE.replace("UNDERSCORES", f"{', '.join(first)} and {last}")
    return "\n".join([*lines, "", advice, THREADS.replace("TABLE", "\n".join(thread_limits()))])


def thread_limits() -> Iterator[str]:
    """Yield the lines of the table of limits, with those that the product has for 8 and for 96 threads."""
    few, many = ThreadSlots(), ThreadSlots()
    few.use(8)
    many.use(96)
    yield "| work | waits for | limit of N threads | with 8 | with 96 |"
    yield "| --- | --- | --- | --- | --- |"

    def line(work: Work) -> str:
        return f"| {' | '.join(WAITING[work])} | {few.limit(work)} | {many.limit(work)} |"

    # Changes have only their own limit.
    yield from (line(work) for work in WORK if work != "changes")
    yield f"| all of these together | | N-2 | {few.together} | {many.together} |"
    yield line("changes")
    yield f"| pages | | N/2, at most 8 | {few.pages.limit} | {many.pages.limit} |"


def coded(words: str) -> str:
    """Return words unchanged, and parts of a request as code."""
    return re.sub(r"[^\s,]*[?%/.#:][^\s,]*", r"`\g<0>`", words)


if __name__ == "__main__":
    sys.stdout.write(page())
