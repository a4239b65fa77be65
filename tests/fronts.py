"""Real front servers for tests: nginx, Apache and Caddy with a documented configuration, in a folder of a test."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NAME = "/ark:99999/x"
DOCS = Path(__file__).parents[1] / "docs"

_APACHE_MODULES = (
    *("mpm_event", "authz_core", "dir", "mime", "headers", "rewrite", "env", "proxy", "proxy_http", "proxy_fcgi"),
)


class Front(NamedTuple):
    """A front server.

    - ``package``: its Debian package. ``command``: its arguments in a folder with the file ``front.conf``.
    - ``addresses``: patterns of the documented addresses, and what replaces them.
    - ``around``: the rest of the configuration.
    """

    program: str
    package: str
    command: tuple[str, ...]
    addresses: tuple[tuple[str, str], ...]
    around: str


FRONTS = {
    "nginx": Front(
        "nginx",
        "nginx-light",
        ("-e", "stderr", "-p", ".", "-c", "front.conf", "-g", "error_log stderr;"),
        ((r"listen 80;", "listen 127.0.0.1:{port};"), (r"^ +listen \[::\]:80;\n", "")),
        """\
daemon off;
pid nginx.pid;
{user}
events {{}}
http {{
access_log off;
client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
{shown}}}
""",
    ),
    "apache": Front(
        "apache2",
        "apache2-bin",
        ("-D", "FOREGROUND", "-d", ".", "-f", "front.conf"),
        ((r"<VirtualHost \*:80>", "<VirtualHost 127.0.0.1:{port}>"),),
        "PidFile apache.pid\nErrorLog /dev/stderr\nUser daemon\nGroup daemon\nServerName localhost\n"
        "TypesConfig /dev/null\n"
        + "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in _APACHE_MODULES)
        + "Listen 127.0.0.1:{port}\n{shown}",
    ),
    "caddy": Front(
        "caddy",
        "caddy",
        ("run", "--config", "front.conf", "--adapter", "caddyfile"),
        (
            (r"^example\.org \{", "http://127.0.0.1:{port} {{"),
            (r"^names\.example\.org \{", "http://names.example.org:{port} {{"),
        ),
        "{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}}\n{shown}",
    ),
}


HEADINGS = {"nginx": "nginx", "apache": "Apache", "caddy": "Caddy"}
# The lines for the names in each front server.
NAMES = {
    "nginx": r"^    location ~\* \^/\(\(ark\|urn\):.*?^    \}\n\n?",
    "apache": r"^    <LocationMatch .*?^    </LocationMatch>\n\n?",
    "caddy": r"^    @names .*?^    \}\n\n?",
}


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page of docs/ in a language, in order."""
    return _fenced((DOCS / page).read_text("utf-8"), language)


def section(page: str, heading: str) -> str:
    """Return the text of a section of a page of docs/, up to the next heading of any level."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def composed(front: str, site: str, before: str = "") -> str:
    """Return the configuration of docs/go-live.md for a front server and a site, named by their headings.

    The lines ``before`` and the file of the site replace the line that includes it.
    """
    [server] = _fenced(section("go-live.md", HEADINGS[front]), front)
    lines = before + _fenced(section("go-live.md", site), front)[0]
    [included] = re.findall(r"^    (?:include|Include|import) /etc/\S+\n", server, re.MULTILINE)
    return server.replace(included, textwrap.indent(lines, "    "))


def everything(front: str) -> str:
    """Return the documented configuration that sends all requests to Ararat, by one location."""
    return re.sub(NAMES[front], "", composed(front, "WSGI or ASGI"), flags=re.MULTILINE | re.DOTALL)


def names_alone(front: str) -> str:
    """Return the documented lines that send the names to Ararat."""
    [server] = _fenced(section("go-live.md", HEADINGS[front]), front)
    [lines] = re.findall(NAMES[front], server, re.MULTILINE | re.DOTALL)
    return lines


def _fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def program_of(name: str, package: str) -> str:
    """Return the path of a program, which can be in a folder that is on the path of root only. Skip without it."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        absent = f"{name} IS NOT TESTED: it is not installed (apt-get install {package})"
        if os.environ.get("CI"):
            pytest.fail(absent)
        pytest.skip(absent)
    return found


def start_front(
    start_server: Callable[..., Any], name: str, configuration: str, port: int, folder: Path, target: str = NAME
) -> Any:
    """Start a front server with a documented configuration at a port of 127.0.0.1.

    Wait until it answers a request for ``target``.
    """
    front = FRONTS[name]
    program = program_of(front.program, front.package)
    assert re.search(front.addresses[0][0], configuration, re.MULTILINE)
    for documented, here in front.addresses:
        configuration = re.sub(documented, here.format(port=port), configuration, flags=re.MULTILINE)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "front.conf").write_text(front.around.format(shown=configuration, port=port, user=user), "utf-8")
    parameters = Path("/etc/nginx/fastcgi.conf")
    if "include fastcgi.conf;" in configuration:
        shutil.copy(parameters, folder)
    environ = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    server = start_server([program, *front.command], environ, folder)
    server.port = port
    wait_until_it_answers(server, target)
    return server


def wait_until_it_answers(server: Any, target: str = NAME) -> None:
    """Wait at most 20 seconds until a server answers, with any status."""
    deadline = time.monotonic() + 20
    while True:
        try:
            server.get(target)
        except ConnectionError:
            assert server.process.poll() is None, server.log()
            assert time.monotonic() < deadline, server.log()
            time.sleep(0.02)
        else:
            return
