"""The access to the API: accounts, roles, other sites, and the header fields of its responses."""

from __future__ import annotations

import base64

import pytest

from ararat.webapp import create_app
from ararat.webapp.api import openapi
from tests.webapp.api.conftest import BASE, Client, accounts_of, assert_problem, rows_of

REQUESTS = [
    (method.upper(), path.removeprefix(BASE).format(name="ark:12345/x51", number=1, prefix="ark:12345/x5"))
    for path, methods in openapi.PATHS.items()
    for method in methods
]
OTHERS = [
    ("GET", ""),
    ("GET", "/"),
    ("GET", "/unknown"),
    *((method, "/names") for method in ("DELETE", "OPTIONS", "TRACE")),
]
every_request = pytest.mark.parametrize(("method", "path"), [*REQUESTS, *OTHERS])


@pytest.fixture
def without_accounts(bindings, tmp_path, open_store):
    """Clients of sites without an account, with a wrong token too, and of sites without a database."""
    (tmp_path / "names.csv").write_text("identifier,target\n", "utf-8")
    sites = [create_app(each, trace_elsewhere=False) for each in (bindings, None, open_store(tmp_path / "names.csv"))]
    return [Client(sites[0], "ararat_wrong"), *(Client(site, None) for site in sites)]


@pytest.mark.one_setup
@every_request
def test_every_url_is_404_without_a_database_with_accounts(without_accounts, method, path):
    for client in without_accounts:
        assert_problem(client(method, path), 404, "not-found")


@pytest.mark.one_setup
@every_request
def test_every_url_needs_a_caller(shared, method, path):
    refused = shared(None)(method, path)
    assert_problem(refused, 401, "credential-missing")
    assert [each.split(" ")[0] for each in refused.headers.getlist("WWW-Authenticate")] == ["Bearer", "Basic"]
    assert_problem(Client(shared(None).app, "ararat_wrong")(method, path), 401, "token-invalid")


def test_a_token_that_was_revoked_is_refused_immediately(app, client_of):
    curator = client_of("curator")
    curator.ok("GET", "/names")
    (token,) = accounts_of(app).tokens.list("curator")
    accounts_of(app).tokens.revoke(token.number)
    assert_problem(curator("GET", "/names"), 401, "token-invalid")


def test_a_token_can_be_the_password_of_basic(app, curator):
    credentials = base64.b64encode(f"curator:{curator.secret}".encode()).decode()
    Client(app, None).ok("GET", "/names", Authorization=f"Basic {credentials}")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("POST", "/names", {"names": [{"name": "ark:12345/x51"}]}, id="create"),
        pytest.param("POST", "/names", {"names": [{"shoulder": "ark:12345/x5"}]}, id="mint"),
        pytest.param("PUT", "/names/ark:12345/x51", {"target": "https://example.org/1"}, id="put"),
        pytest.param("PATCH", "/names/ark:12345/x50", {"metadata": {"who": "a"}}, id="patch"),
        pytest.param("DELETE", "/names/ark:12345/x50", None, id="delete"),
        pytest.param("POST", "/names/ark:12345/x50/withdraw", None, id="withdraw"),
        pytest.param("POST", "/names/ark:12345/x50/restore", None, id="restore"),
        pytest.param("POST", "/names/ark:12345/x50/relocate", {"target": "https://example.org/1"}, id="relocate"),
    ],
)
def test_a_change_needs_a_role_and_a_grant(administrator, reader, client_of, rows, method, path, body):
    administrator.ok("PUT", "/names/ark:12345/x50", {"state": "reserved"}, status=201)
    before = rows()
    assert_problem(reader(method, path, body), 403, "role-missing")
    for other in (client_of("curator", ["ark:12345/x59"]), client_of("administrator", ["ark:12345/x59"])):
        assert_problem(other(method, path, body), 403, "not-granted")
    assert rows() == before


def test_a_reader_sees_reserved_names_and_the_history(administrator, reader):
    administrator.ok("PUT", "/names/ark:12345/x50", {"state": "reserved"}, status=201)
    assert reader.ok("GET", "/names/ark:12345/x50")["state"] == "reserved"
    assert len(reader.ok("GET", "/names/ark:12345/x50/history")["events"]) == 1
    assert [name["identifier"] for name in reader.ok("GET", "/names")["names"]] == ["ark:12345/x50"]


def test_a_change_answers_503_while_an_import_holds_the_lock_of_sqlite(curator, bindings, rows, monkeypatch):
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.BUSY_SECONDS", 0.05)
    curator.ok("GET", "/names")
    before = rows()
    with bindings.store.transaction():
        for method, path, body in (
            ("PUT", "/names/ark:12345/x51", {}),
            ("POST", "/names", {"names": [{"shoulder": "ark:12345/x5"}]}),
            ("POST", "/relocations", {"from": "a.example", "to": "b.example"}),
        ):
            refused = curator(method, path, body, Idempotency_Key="k")
            assert_problem(refused, 503, "unavailable")
            assert refused.headers["Retry-After"] == "5"
        assert curator.ok("GET", "/names")["names"] == []
    assert rows() == before
    curator.ok("PUT", "/names/ark:12345/x51", {}, status=201)


# Browsers and other sites ---------------------------------------------------------------------------------------------


@pytest.fixture
def callers(shared):
    return shared(None), shared("curator")


@pytest.mark.one_setup
@every_request
def test_no_response_can_be_read_by_pages_of_other_sites(callers, method, path):
    for client in callers:
        answer = client(method, path, Origin="https://evil.example")
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Access-Control-Allow-Credentials" not in answer.headers
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert {"Authorization", "Cookie"} <= set(answer.vary)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_other_api_stays_public(anonymous):
    answer = anonymous.app.test_client().get("/api/inspect?q=x")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Authorization" not in answer.vary


@pytest.fixture
def browser(app):
    """A browser with a session of the administrator."""
    return browser_of(app)


def browser_of(app):
    browser = app.test_client()
    account = accounts_of(app).get("administrator")
    assert account is not None
    browser.set_cookie("ararat", accounts_of(app).sessions.start(account))
    return browser


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="no field"),
        pytest.param({"Origin": "https://evil.example"}, id="another origin"),
        pytest.param({"Origin": "null"}, id="null"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="cross-site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="same-site"),
        pytest.param({"Sec-Fetch-Site": "none"}, id="none"),
        pytest.param({"Sec-Fetch-Site": "same-origin"}, id="same-origin, without a token of a form"),
        pytest.param({"Sec-Fetch-Site": "same-origin", "X-CSRF-Token": "a" * 64}, id="same-origin, with another token"),
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", None])
def test_a_session_changes_nothing_without_a_token_of_a_form(shared, fields, content_type):
    app = shared(None).app
    browser, rows = browser_of(app), rows_of(accounts_of(app).bindings)
    before = rows()
    for method, path in REQUESTS:
        if method == "GET":
            continue
        body = b'{"names": [{"name": "ark:12345/x51"}]}'
        answer = browser.open(f"{BASE}{path}", method=method, data=body, headers=fields, content_type=content_type)
        assert answer.status_code == 403, (method, path)
    assert rows() == before


def test_a_session_can_read_and_a_page_of_this_site_can_change(browser, app):
    assert browser.get(f"{BASE}/names").status_code == 200
    from ararat.webapp.accounts import csrf

    session = browser.get_cookie("ararat").value
    fields = {"Sec-Fetch-Site": "same-origin", "X-CSRF-Token": csrf.derive(session, "csrf")}
    body = {"names": [{"name": "ark:12345/x51"}]}
    assert browser.post(f"{BASE}/names", json=body, headers=fields).status_code == 201


def test_basic_credentials_of_a_browser_cannot_be_used_by_another_site(app, curator):
    credentials = base64.b64encode(f"curator:{curator.secret}".encode()).decode()
    body = {"names": [{"name": "ark:12345/x51"}]}
    basic = Client(app, None)
    fields = {"Authorization": f"Basic {credentials}"}
    refused = basic("POST", "/names", body, **fields, Origin="https://evil.example")
    assert refused.status_code == 403
    basic.ok("POST", "/names", body, **fields, status=201)


def test_an_ended_session_is_refused(browser, app):
    accounts_of(app).sessions.end(browser.get_cookie("ararat").value)
    assert_problem(browser.get(f"{BASE}/names"), 401, "session-ended")
