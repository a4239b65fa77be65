"""The lines of a configuration: included files, comments, and the files of another port."""

from __future__ import annotations

from pathlib import Path

import pytest

from ararat.cli.doctor.configuration import FrontConfiguration
from ararat.cli.doctor.fixes import Cause, ReverseProxy

NGINX = """\
http {
    # proxy_pass http://old/;
    include sites/*;
}
"""
SITE = """\
server {
    listen 8080;
    location / { proxy_pass http://up/; }
}
"""
APACHE = """\
IncludeOptional sites/*.conf
proxypass / http://127.0.0.1:8000/
ProxyPass /other http://127.0.0.1:8000/ nocanon
"""
CADDY = """\
museum.example {
    uri strip_prefix /x
    reverse_proxy 127.0.0.1:8000
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "museum").write_text(SITE, "ascii")
    for name, text in (("nginx.conf", NGINX), ("apache2.conf", APACHE), ("Caddyfile", CADDY)):
        (tmp_path / name).write_text(text, "ascii")
    return tmp_path


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("file", "proxy", "cause", "found"),
    [
        ("nginx.conf", "nginx", "rewritten", "sites/museum, line 3: location / { proxy_pass http://up/; }"),
        ("apache2.conf", "Apache", "rewritten", "apache2.conf, line 2: proxypass / http://127.0.0.1:8000/"),
        ("Caddyfile", "Caddy", "rewritten", "Caddyfile, line 2: uri strip_prefix /x"),
        ("nginx.conf", "nginx", "cache-key", None),
        ("nginx.conf", None, "rewritten", None),
        ("missing.conf", "nginx", "rewritten", None),
    ],
)
def test_the_lines_are_found_in_all_included_files(
    files: Path, file: str, proxy: ReverseProxy | None, cause: Cause, found: str | None
) -> None:
    lines = [str(line) for line in FrontConfiguration([files / file]).lines(cause, proxy)]
    assert lines == ([] if found is None else [f"{files}/{found}"])


def test_a_file_that_includes_itself_and_hostile_lines_are_harmless(tmp_path: Path) -> None:
    file = tmp_path / "nginx.conf"
    file.write_text("include *.conf;\ninclude /\x00;\nproxy_pass http://a/\x1b[2J;\n", "utf-8")
    [line] = FrontConfiguration([file]).lines("rewritten", "nginx")
    assert str(line).isprintable()


def test_without_files_and_port_nothing_is_read() -> None:
    configuration = FrontConfiguration()
    assert (configuration.lines("rewritten", "nginx"), configuration.front()) == ([], None)
