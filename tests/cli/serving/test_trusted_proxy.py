"""The ready application behind each server: only the proxy with the secret reports a user or an address."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from werkzeug.test import Client

from ararat.cli.serving import environment, sign_in
from ararat.middleware import open_bindings
from ararat.middleware.http import trusted_proxy
from ararat.webapp.accounts.store import Accounts
from tests.ports import free_port
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("few_objects")

SECRET = "0123456789abcdef0123456789abcdef"
BESIDE = Path(sys.executable).parent
SITE = """
import sys

if sys.argv[1:2] == ["cheroot"]:
    import cheroot.wsgi
elif sys.argv[1:2] == ["wsgiref"]:
    import wsgiref.simple_server
from ararat.wsgi import application

if sys.argv[1:2] == ["cheroot"]:
    from cheroot.wsgi import Server
    Server(("127.0.0.1", int(sys.argv[2])), application).safe_start()
elif sys.argv[1:2] == ["wsgiref"]:
    from wsgiref.simple_server import make_server
    make_server("127.0.0.1", int(sys.argv[2]), application).serve_forever()
elif sys.argv[1:2] == ["werkzeug"]:
    from werkzeug.serving import run_simple
    run_simple("127.0.0.1", int(sys.argv[2]), application)
"""
COMMANDS = {
    "gunicorn": [sys.executable, "-m", "gunicorn", "--no-control-socket", "--bind=127.0.0.1:{port}", "ararat.wsgi"],
    "waitress": [
        *(sys.executable, "-m", "waitress", "--listen=127.0.0.1:{port}", "--no-clear-untrusted-proxy-headers"),
        "ararat.wsgi:application",
    ],
    "cheroot": [sys.executable, "proxied_site.py", "cheroot", "{port}"],
    "uWSGI": [
        *(str(BESIDE / "uwsgi"), "--http-socket", "127.0.0.1:{port}", "--module", "ararat.wsgi:application"),
        *("--need-app", "--die-on-term", "--buffer-size", "16384", "--enable-threads"),
    ],
    "granian": [
        *(str(BESIDE / "granian"), "--interface", "wsgi", "--blocking-threads", "1"),
        *("--host", "127.0.0.1", "--port", "{port}", "ararat.wsgi:application"),
    ],
    "wsgiref": [sys.executable, "proxied_site.py", "wsgiref", "{port}"],
    "werkzeug": [sys.executable, "proxied_site.py", "werkzeug", "{port}"],
}
TRUSTING = ("gunicorn", "uWSGI")


@pytest.fixture
def prepared(tmp_path: Path) -> dict[str, str]:
    """The variables of a site with the administrator adam and the curator jane, and with a secret of the proxy."""
    database, secret = tmp_path / "names.sqlite", tmp_path / "secret"
    with open_bindings(database, create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("adam", "administrator")
        accounts.add("jane", "curator", ["12345/x5"])
    secret.write_text(SECRET)
    secret.chmod(0o600)
    (tmp_path / "proxied_site.py").write_text(SITE)
    origin = "https://ids.example.org"
    return {
        "ARARAT_DATABASE": str(database),
        "ARARAT_PREFIX": origin,
        "ARARAT_INSPECTOR": origin,
        "ARARAT_TRUSTED_PROXIES": "1",
        "ARARAT_REMOTE_USER": "XRemoteUser",
        "ARARAT_REMOTE_USER_SECRET_FILE": str(secret),
    }


def started(start_server: Callable[..., Any], folder: Path, environ: dict[str, str], name: str) -> Any:
    """Start the site under a server, and wait until it answers."""
    port = free_port()
    command = [part.format(port=port) for part in COMMANDS[name]]
    server = start_server(command, environ | {"PYTHONPATH": str(folder)}, folder)
    server.port = port
    until(lambda: answers(server), 30, server.log)
    return server


def answers(server: Any) -> bool:
    request = b"GET /healthz HTTP/1.1\r\nHost: ids.example.org\r\nConnection: close\r\n\r\n"
    try:
        return server.ask(request).status == 200
    except OSError:
        return False


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_proxy_reports_a_user_behind_each_server(
    start_server: Callable[..., Any], tmp_path: Path, prepared: dict[str, str], name: str
) -> None:
    server = started(start_server, tmp_path, prepared, name)

    def status(*fields: tuple[str, str]) -> int:
        head = "".join(f"{field}: {value}\r\n" for field, value in (("Host", "ids.example.org"), *fields))
        return server.ask(f"GET /desk/accounts.csv HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode()).status

    def scheme(*fields: tuple[str, str]) -> str:
        head = "".join(f"{field}: {value}\r\n" for field, value in (("Host", "ids.example.org"), *fields))
        answer = server.ask(f"GET /healthz?forwarded HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        return json.loads(answer.text)["forwarded"]["scheme"]

    assert status() == 303
    proof = ("X-Ararat-Secret", SECRET)
    assert status(("XRemoteUser", "adam"), proof) == 200
    assert status(("XRemoteUser", "jane"), proof) == 403
    for field in ("X-Remote-User", "X_Remote_User", "XRemote_User"):
        for own in ("jane", ""):
            assert status(("XRemoteUser", own), (field, "adam"), proof) == (403 if own else 303)
            assert status((field, "adam"), ("XRemoteUser", own), proof) == (403 if own else 303)
    for field in ("XRemoteUser", "X-Remote-User", "X_Remote_User"):
        assert status((field, "adam")) == 303
        assert status((field, "adam"), ("X-Ararat-Secret", SECRET[:-1])) == 303
        assert status((field, "adam"), ("X_Ararat_Secret", SECRET[1:])) == 303
    assert "passes on" not in server.log()
    assert bool(re.search("itself trusts X-Forwarded-", server.log())) is (name in TRUSTING)
    assert scheme() == "http"
    assert scheme(("X-Forwarded-Proto", "https")) == "http"
    assert scheme(("X-Forwarded-Proto", "https"), proof) == "https"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, prepared: dict[str, str]) -> Any:
    """client(**variables) returns a client of `ararat.wsgi`, in process."""
    opened = []
    original = environment._open_bindings
    monkeypatch.setattr(environment, "_open_bindings", lambda options: opened.append(original(options)) or opened[-1])

    def start(**variables: str) -> Client:
        for name, value in (prepared | variables).items():
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        return Client(environment.wsgi_application())

    yield start
    for bindings, _ in opened:
        bindings.close()


def status(client: Client, **environ: str) -> int:
    origin = "https://ids.example.org"
    return client.get("/desk/accounts.csv", base_url=origin, environ_overrides=environ).status_code


def test_the_ready_application_reads_the_variables(client: Any) -> None:
    proof = {"HTTP_X_ARARAT_SECRET": SECRET}
    started = client()
    assert status(started, HTTP_XREMOTEUSER="adam", **proof) == 200
    assert status(started, HTTP_XREMOTEUSER="jane", **proof) == 403
    assert status(started, HTTP_XREMOTEUSER="adam") == 303
    other = client(ARARAT_REMOTE_USER_SECRET_FIELD="X-Proof")
    assert status(other, HTTP_XREMOTEUSER="adam", **proof) == 303
    assert status(other, HTTP_XREMOTEUSER="adam", HTTP_X_PROOF=SECRET) == 200


def test_the_user_of_the_server_itself_needs_no_secret(client: Any) -> None:
    started = client(ARARAT_REMOTE_USER="REMOTE_USER", ARARAT_REMOTE_USER_SECRET_FILE="", ARARAT_TRUSTED_PROXIES="")
    assert status(started, REMOTE_USER="adam") == 200
    assert status(started, HTTP_REMOTE_USER="adam") == 303


def test_a_field_without_a_secret_is_refused_with_the_lines(client: Any) -> None:
    with pytest.raises(environment.InvalidEnvironment) as caught:
        client(ARARAT_REMOTE_USER_SECRET_FILE="")
    assert "--remote-user-secret-file" in str(caught.value)
    assert "RequestHeader set XRemoteUser" in str(caught.value)
    assert "proxy_set_header X-Ararat-Secret" in str(caught.value)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["X-Remote-User", "X_Remote_User"])
def test_a_field_with_two_spellings_is_refused_with_the_lines(client: Any, name: str) -> None:
    with pytest.raises(environment.InvalidEnvironment) as caught:
        client(ARARAT_REMOTE_USER=name)
    assert "has a hyphen or an underscore" in str(caught.value)
    assert "Apache: RequestHeader set XRemoteUser expr=%{REMOTE_USER}" in str(caught.value)
    assert "nginx: proxy_set_header XRemoteUser $remote_user" in str(caught.value)


def test_the_address_of_a_client_needs_the_secret(client: Any) -> None:
    health = "/healthz?forwarded"
    started = client(ARARAT_REMOTE_USER="")
    fields = {"HTTP_X_FORWARDED_FOR": "198.51.100.1"}
    origin = "https://ids.example.org"
    assert started.get(health, base_url=origin, environ_overrides=fields).json["forwarded"]["position"] == 0
    proved = fields | {"HTTP_X_ARARAT_SECRET": SECRET}
    assert started.get(health, base_url=origin, environ_overrides=proved).json["forwarded"]["position"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({}, None, id="no proxies"),
        pytest.param({"trusted_proxies": 1}, "X_Forwarded_For as X-Forwarded-For", id="no secret"),
        pytest.param({"trusted_proxies": 1, "remote_user_secret_file": "x"}, None, id="a secret"),
    ],
)
@pytest.mark.parametrize("server", ["granian", None])
def test_a_server_that_keeps_underscores_is_warned_of(
    monkeypatch: Any, caplog: Any, options: dict[str, Any], words: str | None, server: str | None
) -> None:
    monkeypatch.setattr(trusted_proxy, "server_that_keeps_underscores", lambda: server)
    sign_in.warn_of_underscores({"trusted_proxies": 0, "remote_user_secret_file": None} | options)
    assert bool(caplog.text) is bool(server and words)
    if server and words:
        assert words in caplog.text
        assert "RequestHeader unset" in caplog.text


@pytest.mark.one_setup
@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_workbook_is_read_in_a_process_of_its_own_under_each_server(
    start_server: Callable[..., Any], tmp_path: Path, prepared: dict[str, str], name: str
) -> None:
    with open_bindings(tmp_path / "names.sqlite") as bindings:
        token = Accounts(bindings).tokens.create("jane", "t")[1]
    server = started(start_server, tmp_path, prepared, name)
    book, content = Workbook(), io.BytesIO()
    book.worksheets[0].append(["identifier", "target"])
    book.worksheets[0].append(["ark:12345/x5a", "https://example.org/a"])
    book.save(content)
    damaged = b"PK\x03\x04" + b"x" * 100
    answers = []
    for uploaded in (content.getvalue(), damaged):
        boundary = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.xlsx"\r\n'
        body = boundary + b"Content-Type: application/octet-stream\r\n\r\n" + uploaded + b"\r\n--b--\r\n"
        head = (
            "POST /desk/tables HTTP/1.1\r\nHost: ids.example.org\r\nConnection: close\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        answers.append(server.ask(head.encode() + body).status)
    assert answers == [303, 422], server.log()
