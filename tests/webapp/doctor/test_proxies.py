"""docs/proxies.md, held to real nginx before gunicorn: its configuration is well, the usual mistake is named."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = (Path(__file__).parents[3] / "docs" / "proxies.md").read_text("utf-8")
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
NO_NGINX = "nginx is not installed (apt-get install nginx-light)"
SITE = """\
from ararat.middleware import ResolverMiddleware, open_bindings

application = ResolverMiddleware(lambda *_: [], open_bindings("bindings.sqlite"), prefix="{prefix}")
"""


def shown(language: str) -> str:
    """The configuration that the document shows for a server."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    return block


@pytest.fixture
def behind_nginx(
    start_server: Callable[..., Any], wsgi_server: Callable[..., Any], tmp_path: Path
) -> Iterator[Callable[..., str]]:
    """behind_nginx(change) is the address of a site behind nginx with the document's configuration, changed by it."""
    if NGINX is None:
        if os.environ.get("CI"):
            pytest.fail(NO_NGINX)
        pytest.skip(NO_NGINX)
    started: list[Any] = []

    def start(change: Callable[[str], str] = str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        prefix = f"http://127.0.0.1:{port}"
        site = wsgi_server(SITE.format(prefix=prefix))
        configuration = change(shown("nginx")).replace("127.0.0.1:8000", f"127.0.0.1:{site.port}")
        configuration = configuration.replace("listen 80;", f"listen 127.0.0.1:{port};")
        places = "".join(f"{each}_temp_path {each};\n" for each in TEMPORARY)
        (tmp_path / "nginx.conf").write_text(
            f"daemon off;\npid nginx.pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}{configuration}}}\n", "utf-8"
        )
        command = [NGINX, "-e", "stderr", "-p", tmp_path, "-c", "nginx.conf", "-g", "error_log stderr;"]
        server = start_server(command, folder=tmp_path)
        started.append(server)
        server.port = port
        deadline = time.monotonic() + 20
        while True:
            try:
                server.get("/ark:99999/x")
            except ConnectionError:
                assert server.process.poll() is None, server.log()
                assert time.monotonic() < deadline, server.log()
                time.sleep(0.02)
            else:
                return prefix

    yield start
    for server in started:
        server.stop()


TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def examined(address: str) -> tuple[int, dict[str, dict[str, str]]]:
    ararat = Path(sys.executable).with_name("ararat")
    ran = subprocess.run(
        [ararat, "doctor", "--url", address, "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    return ran.returncode, {row["code"]: row for row in map(json.loads, ran.stdout.splitlines())}


@pytest.mark.long
def test_nginx_as_the_document_has_it_is_well(behind_nginx: Callable[..., str]) -> None:
    code, found = examined(behind_nginx())
    assert (code, [row for row in found.values() if row["state"] != "well"]) == (0, [])


@pytest.mark.long
def test_nginx_with_a_slash_after_the_address_is_not_and_the_line_is_named(behind_nginx: Callable[..., str]) -> None:
    code, found = examined(behind_nginx(lambda shown: shown.replace("proxy_pass http://ararat;", SLASH)))
    assert code == 1
    assert {code for code, row in found.items() if row["state"] == "bad"} == {
        *("encoded-slash", "double-slash", "dot-segment", "encoded-dot-segment", "question-mark"),
    }
    assert found["question-mark"]["seen"] == "ark:99999/x"
    assert found["question-mark"]["remedy"].startswith("nginx: take the path off the address of proxy_pass. Not proxy_")


SLASH = "proxy_pass http://ararat/;"


@pytest.mark.long
def test_nginx_with_a_location_for_labels_in_lower_case_is_told_of_capitals(behind_nginx: Callable[..., str]) -> None:
    only_lower = "location / { return 404; }\n    location ~ ^/(ark|urn): {"
    code, found = examined(behind_nginx(lambda shown: shown.replace("location / {", only_lower)))
    assert (code, found["label"]["state"], found["classic"]["state"]) == (1, "bad", "well")
    assert "location ~* ^/(ark|urn):" in found["label"]["remedy"]
    # And as the document says it, it is well.
    assert "location ~* ^/(ark|urn):" in DOCUMENT


def test_every_line_that_a_remedy_names_stands_in_the_document() -> None:
    plain = " ".join(DOCUMENT.split())
    for line in ("large_client_header_buffers 4 16k;", "merge_slashes off;", "AllowEncodedSlashes NoDecode", "nocanon"):
        assert line in plain
    assert "--limit-request-line 8190" in plain
    assert {*re.findall(r"^```(\w+)$", DOCUMENT, re.MULTILINE)} == {"nginx", "apache", "caddy"}
