"""Test the pages /sign-in and /sign-out."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from ararat.bindings.open import open_file
from ararat.webapp import create_app
from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.store import Accounts

PASSWORD = "correct horse battery"
SITE = "https://ids.example.org"


@pytest.fixture
def accounts(tmp_path, open_store):
    return Accounts(open_store(tmp_path / "bindings.sqlite"))


@pytest.fixture
def jane(accounts, monkeypatch):
    monkeypatch.setattr(passwords, "_state", passwords._State())
    passwords._decoy.cache_clear()
    return accounts.add("jane", "curator", ["12345/x5"], PASSWORD)


@pytest.fixture
def client(accounts):
    return create_app(accounts.bindings, prefix=SITE).test_client()


def form_of(client, path="/sign-in", **kwargs):
    page = client.get(path, base_url=SITE, **kwargs)
    assert page.status_code == 200
    return {"csrf_token": token_of(page)}


def token_of(page):
    found = re.search('name="csrf_token" value="([0-9a-f]{64})"', page.text)
    assert found
    return found[1]


def post(client, path="/sign-in", base_url=SITE, **kwargs):
    return client.post(path, base_url=base_url, **kwargs)


def sign_in(client, **fields):
    return post(client, data=form_of(client) | {"name": "jane", "password": PASSWORD} | fields)


def cookies_of(response):
    return {each.partition("=")[0]: each for each in response.headers.getlist("Set-Cookie")}


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_without_accounts_only_the_page_that_says_so_exists(client, path, method):
    is_page = path == "/sign-in" and method in ("GET", "HEAD")
    assert client.open(path, method=method).status_code == (200 if is_page else 404)


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_the_pages_do_not_exist_for_a_file_or_without_bindings(tmp_path, path):
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x1,https://example.org/1\n")
    assert create_app().test_client().get(path).status_code == 404
    with open_file(tmp_path / "names.csv") as bindings:
        assert create_app(bindings).test_client().get(path).status_code == 404


def test_a_page_that_needs_no_account_sets_no_cookie(client, jane):
    for path in ("/", "/compare", "/docs", "/healthz"):
        assert "Set-Cookie" not in client.get(path, base_url=SITE).headers


def test_the_form_starts_a_session(client, accounts, jane, read_page):
    response = sign_in(client)
    assert (response.status_code, response.headers["Location"]) == (303, "/desk")
    cookie = cookies_of(response)["__Host-ararat"]
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=43200"} <= {*cookie.split("; ")}
    page = read_page(client.get("/sign-in", base_url=SITE).text)
    assert page.one("strong").text == "jane"
    assert page.one("code").text == "ark:12345/x5"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("base_url", "name", "secure"),
    [
        pytest.param("http://127.0.0.1:8000", "ararat", False, id="http"),
        pytest.param("https://127.0.0.1:8000", "__Host-ararat", True, id="https"),
        pytest.param("http://ids.example.org", "__Host-ararat", True, id="behind a proxy with https"),
        pytest.param("http://ids.example.org:8000", "ararat", False, id="another port"),
    ],
)
def test_the_cookie_is_secure_on_https(client, jane, base_url, name, secure):
    page = client.get("/sign-in", base_url=base_url)
    # The test client sends secure cookies on https only. A proxy accepts https.
    cookie = page.headers["Set-Cookie"].partition(";")[0]
    form = {"name": "jane", "password": PASSWORD, "csrf_token": token_of(page)}
    response = create_client(client).post("/sign-in", data=form, base_url=base_url, headers={"Cookie": cookie})
    assert response.status_code == 303
    assert ("Secure" in cookies_of(response)[name]) is secure


def create_client(client):
    """Return a client that sends no cookies by itself."""
    return client.application.test_client(use_cookies=False)


def test_each_failure_has_the_same_page(client, accounts, jane):
    accounts.add("joan", "curator")
    pages = set()
    for name, password in (("jane", "wrong horse battery"), ("joan", PASSWORD), ("jim", PASSWORD), ("\0", "")):
        response = sign_in(client, name=name, password=password)
        assert response.status_code == 422
        assert "The name or the password is wrong." in response.text
        assert "__Host-ararat" not in cookies_of(response)
        pages.add(re.sub('[0-9a-f]{64}|value="[^"]*" maxlength', "", response.text))
    accounts.disable("jane")
    response = sign_in(client)
    pages.add(re.sub('[0-9a-f]{64}|value="[^"]*" maxlength', "", response.text))
    assert len(pages) == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda accounts: accounts.set_password("jane", "another horse battery"), id="another password"),
        pytest.param(lambda accounts: accounts.set_password("jane", None), id="no password"),
        pytest.param(lambda accounts: accounts.disable("jane", force=True), id="disabled"),
    ],
)
def test_a_change_of_the_account_while_its_password_is_checked_prevents_the_session(
    client, accounts, jane, monkeypatch, change
):
    verify = passwords.verify

    def slow(*arguments):
        is_right = verify(*arguments)
        monkeypatch.setattr(passwords, "verify", verify)
        change(accounts)
        return is_right

    monkeypatch.setattr(passwords, "verify", slow)
    answer = sign_in(client)
    assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (403, [])
    assert accounts.sessions.count(jane) == 0


def test_the_limit_has_the_same_page_for_all_names(client, jane):
    for name in ("jane", "joan"):
        for _ in range(5):
            sign_in(client, name=name, password="wrong horse battery")
        response = sign_in(client, name=name)
        assert response.status_code == 429
        assert "Wait 15 minutes" in response.text
        assert int(response.headers["Retry-After"]) > 800


def test_a_password_is_not_repeated(client, jane):
    response = sign_in(client, name="<b>jane", password="wrong horse <i>battery")
    assert "horse" not in response.text
    assert "<b>" not in response.text


def test_the_form_needs_its_token_and_cookie(client, jane):
    fields = {"name": "jane", "password": PASSWORD}
    assert post(client, data=fields).status_code == 403
    form = form_of(client) | fields
    assert post(create_client(client), data=form).status_code == 403
    assert post(client, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert post(client, data=form, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert post(client, data=form, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303


def test_a_form_of_another_browser_is_refused(client, jane):
    other = client.application.test_client()
    form = form_of(other)
    form_of(client)
    assert post(client, data=form | {"name": "jane", "password": PASSWORD}).status_code == 403


def test_a_session_gets_a_new_id_and_the_old_one_ends(client, accounts, jane):
    sign_in(client)
    old = client.get_cookie("__Host-ararat", domain="ids.example.org").value
    sign_in_again = post(client, data=form_of(client) | {"name": "jane", "password": PASSWORD})
    assert sign_in_again.status_code == 303
    new = client.get_cookie("__Host-ararat", domain="ids.example.org").value
    assert old != new
    assert accounts.sessions.caller(old) is None
    assert accounts.sessions.caller(new)


def test_a_given_session_id_is_not_used(client, accounts, jane):
    client.set_cookie("__Host-ararat", "x" * 43, domain="ids.example.org", secure=True)
    sign_in(client)
    assert client.get_cookie("__Host-ararat", domain="ids.example.org").value != "x" * 43
    assert accounts.sessions.caller("x" * 43) is None


def test_a_session_is_useless_after_sign_out(client, accounts, jane):
    sign_in(client)
    session = client.get_cookie("__Host-ararat", domain="ids.example.org").value
    assert post(client, "/sign-out").status_code == 403
    assert accounts.sessions.caller(session)
    response = post(client, "/sign-out", data=form_of(client, "/sign-out"))
    assert (response.status_code, response.headers["Location"]) == (303, "/sign-in")
    assert "Max-Age=0" in cookies_of(response)["__Host-ararat"]
    assert accounts.sessions.caller(session) is None
    replayed = create_client(client).get("/sign-in", base_url=SITE, headers={"Cookie": f"__Host-ararat={session}"})
    assert "jane" not in replayed.text


def test_sign_out_twice_is_no_error(client, jane):
    sign_in(client)
    form = form_of(client, "/sign-out")
    assert post(client, "/sign-out", data=form).status_code == 303
    assert post(client, "/sign-out", data=form_of(client, "/sign-out")).status_code == 303


def test_a_session_that_is_not_used_for_an_hour_ends(client, accounts, jane, monkeypatch):
    sign_in(client)
    start = accounts.bindings.now()
    for minutes, status in ((59, 200), (118, 200), (179, 303)):
        monkeypatch.setattr(accounts.bindings, "now", lambda end=minutes: start + timedelta(minutes=end))
        monkeypatch.setattr("ararat.webapp.accounts.records.tokens.USE_SECONDS", 0)
        assert client.get("/desk", base_url=SITE).status_code == status
    with pytest.raises(ValueError, match="session_idle: 4 minutes is too short; set at least 5"):
        create_app(session_idle=4)


def test_get_does_not_sign_out(client, accounts, jane):
    sign_in(client)
    client.get("/sign-out", base_url=SITE)
    assert accounts.sessions.caller(client.get_cookie("__Host-ararat", domain="ids.example.org").value)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        ("/compare?a=1", "/compare?a=1"),
        *((text, "/desk") for text in ("https://evil.test/", "//evil.test/", "/\\evil.test", "\\\\evil.test", "")),
        *((text, "/desk") for text in ("/\t/evil.test", "/\n/evil.test", "javascript:alert(1)", "evil.test", "/é")),
        *((text, "/desk") for text in ("///evil.test", "/x\r\nSet-Cookie: a=b", "/" + "x" * 2000, "http:/evil.test")),
    ],
)
def test_only_a_path_of_this_site_follows(client, jane, destination, expected):
    form = form_of(client, query_string={"next": destination})
    response = post(client, data=form | {"name": "jane", "password": PASSWORD, "next": destination})
    assert (response.status_code, response.headers["Location"]) == (303, expected)


def test_the_host_of_a_request_is_not_in_the_answers(client, jane):
    page = client.get("/sign-in", base_url="http://evil.test")
    assert "evil" not in page.text
    assert "evil" not in str(page.headers)


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
def test_the_pages_are_not_kept(client, jane, path):
    for response in (client.get(path), client.head(path), client.post(path)):
        assert response.headers["Cache-Control"] == "no-store"
    assert client.open(path, method="OPTIONS").status_code == 200
    assert client.put(path).status_code == 405


def test_an_error_of_sign_in_is_a_problem_document_for_programs(client, jane):
    response = post(client, headers={"Accept": "application/json"})
    assert (response.status_code, response.json["code"]) == (403, "csrf")


def test_a_body_that_is_too_long_is_refused(client, jane):
    response = sign_in(client, password="x" * 2**21)
    assert response.status_code == 413


def test_the_page_names_the_user_of_the_web_server(accounts, jane):
    client = create_app(accounts.bindings, prefix=SITE, remote_user="REMOTE_USER").test_client()
    page = client.get("/sign-in", base_url=SITE, environ_overrides={"REMOTE_USER": "jane"})
    assert "The web server signed you in" in page.text
    page = client.get("/sign-in", base_url=SITE, environ_overrides={"REMOTE_USER": "jim"})
    assert "has no account on this site" in page.text


def test_the_database_is_down(client, accounts, jane):
    accounts.bindings.close()
    for response in (client.get("/sign-in"), client.post("/sign-in")):
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"


def test_a_wrong_password_keeps_the_name_and_never_the_password(client, jane):
    page = sign_in(client, name='"><b>Jane', password="wrong horse battery").text
    assert 'value="&#34;&gt;&lt;b&gt;Jane"' in page
    assert "wrong horse" not in page
    assert "Ask an administrator of this site for a one-time link." in " ".join(page.split())


def test_the_page_names_the_institution_to_ask(accounts, jane):
    client = create_app(accounts.bindings, prefix=SITE, institution="Museum of Two Rivers").test_client()
    page = " ".join(client.get("/sign-in", base_url=SITE).text.split())
    assert re.search("Ask an administrator of <[^>]+>Museum of Two Rivers</span> for a one-time link.", page)
