"""Test sign-in with servers that run: cookies, several processes, and the user that a proxy reports."""

from __future__ import annotations

import re
import time
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from click.testing import CliRunner

from ararat.cli import main
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.databases import database
from tests.wrapping import unwrapped

__all__ = ["database"]

PASSWORD = "correct horse battery"
SECRET = "0123456789abcdef0123456789abcdef"


def account(database, *arguments, given=""):
    done = CliRunner().invoke(main.main, ["account", *arguments, "--database", database], given)
    assert done.exit_code == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def prepared(database, open_store):
    """The URL of a database with the account jane."""
    open_store(database)
    account(database, "add", "jane", "--role", "curator", "--password-stdin", given=PASSWORD)
    return database


@pytest.fixture
def secret(tmp_path):
    """The file with the secret of a proxy."""
    file = tmp_path / "proxy-secret"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o600)
    return file


class Browser:
    """A client that keeps cookies."""

    def __init__(self, *servers):
        self.cookies = CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))
        self.servers = servers

    def page(self, path="/sign-in", server=0, headers=(), **form):
        data = urlencode(form).encode() if form else None
        request = Request(f"http://127.0.0.1:{self.servers[server].port}{path}", data, dict(headers))
        with self.opener.open(request, timeout=30) as response:
            return response.read().decode()

    def token(self):
        found = re.search('name="csrf_token" value="([0-9a-f]{64})"', self.page())
        assert found
        return found[1]


def is_jane(page):
    return "<strong>jane</strong>" in page


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_all_processes_share_sessions_and_revocations(serve_ararat, prepared):
    servers = [serve_ararat("--database", prepared) for _ in range(2)]
    browser = Browser(*servers)
    browser.page(csrf_token=browser.token(), name="jane", password=PASSWORD, next="/sign-in")
    # Cookies do not depend on the port.
    assert all(is_jane(browser.page(server=server)) for server in (0, 1))
    secret = account(prepared, "token", "jane")
    bearer = {"Authorization": f"Bearer {secret}"}
    assert all(is_jane(Browser(server).page(headers=bearer)) for server in servers)
    account(prepared, "revoke-token", "1")
    assert not any(is_jane(Browser(server).page(headers=bearer)) for server in servers)
    assert all(is_jane(browser.page(server=server)) for server in (0, 1))
    cookies = {"Cookie": "; ".join(f"{each.name}={each.value}" for each in browser.cookies)}
    assert all(is_jane(Browser(server).page(headers=cookies)) for server in servers)
    browser.page("/sign-out", csrf_token=browser.token())
    assert not any(is_jane(Browser(server).page(headers=cookies)) for server in servers)
    browser.page(csrf_token=browser.token(), name="jane", password=PASSWORD, next="/sign-in")
    assert all(is_jane(browser.page(server=server)) for server in (0, 1))
    account(prepared, "disable", "jane")
    assert not any(is_jane(browser.page(server=server)) for server in (1, 0))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_first_account_enables_sign_in_while_the_server_runs(serve_ararat, database, open_store):
    open_store(database)
    server = serve_ararat("--database", database)
    page = server.get("/sign-in")
    assert (page.status, "account add" in page.text, 'name="password"' in page.text) == (200, True, False)
    with open_bindings(database) as bindings:
        Accounts(bindings).add("jane", "reader")
    deadline = time.monotonic() + 20
    while 'name="password"' not in server.get("/sign-in").text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_only_the_field_of_the_option_is_trusted(serve_ararat, prepared, secret):
    options = ("--trusted-proxies", "1", "--remote-user", "XRemoteUser", "--remote-user-secret-file", str(secret))
    server = serve_ararat("--database", prepared, *options)
    proved = {"X-Ararat-Secret": SECRET}
    assert is_jane(Browser(server).page(headers=proved | {"XRemoteUser": "jane"}))
    assert not is_jane(Browser(server).page(headers={"XRemoteUser": "jane"}))
    for field in ("X-Remote-User", "XRemote-User", "Remote-User", "REMOTE_USER"):
        assert not is_jane(Browser(server).page(headers=proved | {field: "jane"}))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--remote-user", "XRemoteUser"), "needs --trusted-proxies"),
        (("--remote-user", "X-Remote-User"), "use letters and digits, such as XRemoteUser"),
        (("--remote-user", "X_Remote_User", "--trusted-proxies", "1"), "has a hyphen or an underscore"),
        (("--remote-user", "REMOTE_USER", "--trusted-proxies", "1"), "needs the name of a header field"),
        (("--remote-user", "X User", "--trusted-proxies", "1"), "--remote-user: 'X User' is not a header field"),
        (("--remote-user", "XU", "--trusted-proxies", "1"), "needs --remote-user-secret-file"),
        (("--remote-user-secret-file", "x"), "--remote-user-secret-file needs --trusted-proxies"),
        (("--remote-user", "REMOTE_USER", "--remote-user-secret-file", "x"), "needs the name of a header field"),
        (("--openid-issuer", "https://idp.example"), "need each other"),
        (("--openid-client", "x"), "need each other"),
        (("--openid-secret-file", "x"), "need each other"),
        (("--openid-issuer", "http://idp.example", "--openid-client", "x"), "is not an https URL"),
    ],
)
def test_wrong_options_are_usage_errors(options, words):
    ran = CliRunner().invoke(main.main, ["serve", "--port", "0", *options])
    assert ran.exit_code == 64
    assert words in unwrapped(ran.stderr)


@pytest.mark.parametrize("name", ["XUser", "X-User", "X_User"], ids=["no secret", "hyphen", "underscore"])
def test_the_refusal_has_the_lines_of_the_proxies(name):
    ran = CliRunner().invoke(main.main, ["serve", "--port", "0", "--trusted-proxies", "1", "--remote-user", name])
    assert ran.exit_code == 64
    shown = " ".join(ran.stderr.split())
    assert "Apache RequestHeader set XUser expr=%{REMOTE_USER};" in shown
    assert 'nginx proxy_set_header XUser $remote_user; proxy_set_header X-Ararat-Secret "SECRET";' in shown


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        pytest.param(None, 0o600, "No such file", id="missing"),
        pytest.param(SECRET[:31], 0o600, "too short", id="short"),
        pytest.param(f"{SECRET}\n{SECRET}\n", 0o600, "one line with a secret", id="two lines"),
        pytest.param(f"{SECRET}\xe9", 0o600, "other characters", id="not ASCII"),
        pytest.param(SECRET, 0o644, "other users can read or change", id="read by others"),
        pytest.param(SECRET, 0o602, "other users can read or change", id="written by others"),
    ],
)
def test_a_wrong_secret_of_the_proxy_is_refused(secret, content, mode, words):
    secret.unlink()
    if content is not None:
        secret.write_text(content, "utf-8")
        secret.chmod(mode)
    options = ("--trusted-proxies", "1", "--remote-user", "XUser", "--remote-user-secret-file", str(secret))
    ran = CliRunner().invoke(main.main, ["serve", "--port", "0", *options])
    assert ran.exit_code in (2, 66)
    assert words in unwrapped(ran.stderr)
    assert SECRET[:31] not in ran.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), (b"", "one line with a secret"), (b"a\nb", "one line with a secret"), (b"\xff", "UTF-8")],
)
def test_a_wrong_file_of_the_secret_is_refused(tmp_path, content, words):
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    options = ("--openid-issuer", "https://idp.example", "--openid-client", "x", "--openid-secret-file", str(file))
    ran = CliRunner().invoke(main.main, ["serve", "--port", "0", *options])
    assert ran.exit_code in (2, 66)
    assert words in unwrapped(ran.stderr)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_link_to_the_openid_provider_is_on_the_page(serve_ararat, prepared, tmp_path):
    (tmp_path / "secret").write_text("s\n")
    options = ("--openid-issuer", "https://idp.example", "--openid-client", "x", "--openid-title", "Our <university>")
    server = serve_ararat("--database", prepared, *options, "--openid-secret-file", str(tmp_path / "secret"))
    assert "Sign in with Our &lt;university&gt;</a>" in Browser(server).page()
