"""Behind each server: request targets that are not paths, to the resolver, the inspector, the desk and the API."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.middleware.servers.conftest import HERE, SERVERS, program, wait_until_it_answers
from tests.ports import free_port

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

TARGETS = [
    *("*", "*/desk", "*?q=1", "foo", "foo/bar", "ark:12345/doc", "ark%3A12345/doc", "ARK:12345/doc?info"),
    *("urn:isbn:9783161484100", "desk", "desk/names", "api/v1/names", "api/inspect?q=x", "healthz", "?q=x", "#x"),
    *("http:", "http://", "http:foo", "http:/desk", "http:///desk", "ftp://h/desk", "mailto:a@b.example"),
    *("http://h:99999/", "http://h:abc/", "http://h:abc/ark:12345/doc", "http://h:-1/desk", "https://u:p@h/desk"),
    *("http://[::1/", "http://[foo]/", "http://h/[", "http://h\xff/", "h:443", "[::1]:443", ":443", ":", "["),
    *("//", "//h:99999/", "//[::1/", "//[/desk", "\\desk", "/\\[", "%2Fdesk", "%", "%ff", "\xff", "/*", "/[", "/%00"),
    *("javascript:alert(1)", "/desk/names/http://[::1/x", "/api/v1/names/http://[::1/x", "/docs/%ff", "/static/%00"),
]
OWN_FAILURES = {
    # They read the URL with urlsplit before they call the application.
    "cheroot": ("http://[::1/", "http://[foo]/", "//[::1/", "//[/desk"),
    "waitress": ("http://[::1/", "http://[foo]/"),
    "werkzeug, for development": tuple(each for each in TARGETS if each.startswith("http://h:")),
}
OWN_FAILURES["werkzeug, for development"] += ("http://[::1/", "http://[foo]/")


@pytest.mark.parametrize("of", [name for name, row in SERVERS.items() if row.configuration is None])
def test_a_target_that_is_not_a_path_is_never_an_error_of_the_server(
    of: str, start_server: Callable[..., Any], tmp_path: Path
) -> None:
    row = SERVERS[of]
    if program(row) is None:
        pytest.fail(f"{of} IS NOT TESTED: {row.tested} is not installed. `make long` installs it.")
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/doc", "https://example.org/doc")
        Accounts(bindings).add("jane", "administrator")
    (tmp_path / "bindings.jsonl").write_text("", "ascii")
    shutil.copy(HERE / "site.py", tmp_path / "site_under_test.py")
    port = free_port() if row.port is None else None
    command = [part.format(folder=f"{tmp_path}/", port=port, program="") for part in row.command]
    environ = {"ARARAT_DATABASE": str(tmp_path / "names.sqlite"), "ARARAT_PREFIX": "http://127.0.0.1:8000"}
    server = start_server(command, environ, tmp_path)
    server.port = int(server.wait_for(row.port)) if row.port else port
    wait_until_it_answers(server)
    known = len(server.log().splitlines())
    sent = [("GET", each) for each in TARGETS if each not in OWN_FAILURES.get(of, ())]
    sent += [(method, "*") for method in ("OPTIONS", "POST", "HEAD")]
    failed = []
    for method, target in sent:
        head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
        answer = server.exchange(head.encode("latin-1"))
        if answer[9:10] not in (b"2", b"3", b"4"):
            failed.append((method, target, answer[:30]))
    assert failed == []
    # Some servers have an access log, whose line can follow the answer, also that of the request that waited.
    assert len(server.log().splitlines()) - known <= len(sent) + 1
    assert "Traceback" not in server.log()
    assert server.get("/ark:12345/doc").status == 302
