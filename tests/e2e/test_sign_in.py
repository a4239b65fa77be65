"""Sign in and out in a browser: by password and by OpenID Connect, with and without JavaScript."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.e2e.conftest import findings
from tests.ports import free_port
from tests.webapp.accounts import openid_provider

PASSWORD = "correct horse battery"
COOKIE = "ararat"


def add_jane(folder: Path) -> str:
    """Return the path of a new database with the account jane."""
    database = folder / "bindings.sqlite"
    with open_bindings(database, create=True) as bindings:
        Accounts(bindings).add("jane", "curator", ["12345/x5"], PASSWORD)
    return str(database)


@pytest.fixture(scope="module")
def origin(serve_ararat, tmp_path_factory) -> str:
    """The URL of one server with the account jane, which no test changes."""
    return serve_ararat("--no-trace-elsewhere", "--database", add_jane(tmp_path_factory.mktemp("accounts"))).origin


@pytest.fixture
def site(origin, page_watch) -> str:
    """The URL of the server, which the pages may request."""
    page_watch.origins.add(origin)
    return origin


@pytest.fixture(
    params=[
        pytest.param(True, id="with JavaScript", marks=pytest.mark.long),
        pytest.param(False, id="without JavaScript"),
    ]
)
def page(request, new_page) -> Page:
    """A page of a browser with its own cookies."""
    return new_page(java_script_enabled=request.param)


def sign_in(page: Page, site: str, password: str = PASSWORD) -> None:
    page.goto(f"{site}/sign-in?next=/sign-in")
    page.get_by_label("Account").fill("jane")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def cookie_of(context: BrowserContext) -> str | None:
    return next((each.get("value") for each in context.cookies() if each.get("name") == COOKIE), None)


def test_a_curator_signs_in_and_out(page, site, page_watch):
    page_watch.expect("422")
    sign_in(page, site, "wrong horse battery")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    sign_in(page, site)
    expect(page.get_by_role("heading", level=1)).to_have_text("Signed in")
    expect(page.locator("#answer")).to_contain_text("jane. Role: curator")
    session = cookie_of(page.context)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert cookie_of(page.context) is None
    # The browser does not keep the page, and the session is useless.
    page.go_back()
    expect(page.locator("#answer")).not_to_contain_text("jane")
    page.context.add_cookies([{"name": COOKIE, "value": session, "url": site}])
    page.goto(f"{site}/sign-in")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("page", [True], indirect=True)
def test_scripts_cannot_read_the_session(page, site):
    sign_in(page, site)
    assert cookie_of(page.context)
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]


@pytest.mark.parametrize("page", [True], indirect=True)
def test_a_page_of_another_site_cannot_send_the_forms(page, site, start_server, tmp_path, page_watch):
    page_watch.expect("403")
    sign_in(page, site)
    # A browser sends cookies with SameSite=Lax to this site from "localhost" with links only.
    port = free_port()
    (tmp_path / "index.html").write_text(
        f"<!doctype html><link rel=icon href=data:,><form method=post action={site}/sign-out><button>go</button></form>"
    )
    server = start_server([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)], None, tmp_path)
    page_watch.origins.add(f"http://localhost:{port}")
    server.wait_for("Serving HTTP")
    page.goto(f"http://localhost:{port}/")
    page.get_by_role("button", name="go").click()
    expect(page.locator("body")).to_contain_text("403")
    page.goto(f"{site}/sign-in")
    expect(page.locator("#answer")).to_contain_text("jane")


@pytest.mark.parametrize("page", [True], indirect=True)
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_the_pages_are_accessible(page, site, scheme, page_watch):
    page_watch.expect("422")
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{site}/sign-in")
    assert findings(page) == []
    sign_in(page, site, "wrong horse battery")
    assert findings(page) == []
    sign_in(page, site)
    assert findings(page) == []
    page.goto(f"{site}/sign-out")
    assert findings(page) == []


# tests/webapp/views/test_openid.py signs in at the same provider without a browser.
@pytest.mark.long
def test_a_curator_signs_in_at_an_openid_provider(page, serve_ararat, start_server, run_command, tmp_path, page_watch):
    database = add_jane(tmp_path)
    here, there = free_port(), free_port()
    script, redirect_uri = str(openid_provider.__file__), f"http://127.0.0.1:{here}/sign-in/openid/return"
    provider = start_server([sys.executable, script, str(there), redirect_uri], None, tmp_path)
    (tmp_path / "secret").write_text(openid_provider.SECRET)
    issuer = f"http://127.0.0.1:{there}/o"
    options = ["--openid-issuer", issuer, "--openid-client", openid_provider.CLIENT, "--openid-title", "University"]
    options += ["--openid-secret-file", str(tmp_path / "secret"), "--no-trace-elsewhere", "--port", str(here)]
    server = serve_ararat("--database", database, *options)
    provider.wait_for("ready", seconds=60)
    page_watch.origins |= {server.origin, f"http://127.0.0.1:{there}"}
    page_watch.expect("403")
    page_watch.expect("favicon.ico")
    page.goto(f"{server.origin}/sign-in?next=/sign-in")
    page.get_by_role("link", name="Sign in with University").click()
    page.get_by_label("Username").fill(openid_provider.USER)
    page.get_by_label("Password").fill(openid_provider.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("No account")
    found_issuer, subject = page.locator("dd").all_text_contents()
    command = [Path(sys.executable).with_name("ararat"), "account", "link", "jane", "--database", database]
    assert run_command(*command, "--issuer", found_issuer, "--subject", subject).returncode == 0
    # The provider knows the browser already.
    page.goto(f"{server.origin}/sign-in?next=/sign-in")
    page.get_by_role("link", name="Sign in with University").click()
    expect(page.locator("#answer")).to_contain_text("jane. Role: curator")
    expect(page).to_have_url(f"{server.origin}/sign-in")
