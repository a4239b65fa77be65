"""Test the caller of a request: each kind of credential, wrong ones, and requests of other sites."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ararat.webapp import create_app
from ararat.webapp.accounts import csrf, identify

from .conftest import PASSWORD

SITE = "https://ids.example.org"
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def make_client(accounts):
    """make_client(**options) returns a client of an inspector whose path /who answers the caller."""

    def make(**options):
        app = create_app(accounts.bindings, prefix=SITE, **options)

        @app.route("/who", methods=["GET", "POST"])
        def who():
            caller = identify.caller()
            return {"actor": caller and caller.actor, "token": bool(caller and caller.token)}

        @app.route("/token")
        def token():
            return csrf.form_token()

        @app.route("/members")
        def members():
            return identify.require_caller().actor

        return app.test_client()

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def jane(accounts):
    return accounts.add("jane", "curator", ["12345/x5"], PASSWORD)


def basic(name, secret):
    return {"Authorization": f"Basic {base64.b64encode(f'{name}:{secret}'.encode()).decode()}"}


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def sign_in(client, name="jane", password=PASSWORD, **kwargs):
    token = client.get("/token", base_url=SITE).text
    form = {"name": name, "password": password, "csrf_token": token}
    return client.post("/sign-in", data=form, base_url=SITE, **kwargs)


def who(client, method="GET", **kwargs):
    response = client.open("/who", method=method, base_url=SITE, **kwargs)
    return response.json["actor"] if response.status_code == 200 else (response.status_code, code_of(response))


def code_of(response):
    return response.json["code"] if response.is_json else None


JSON = {"Accept": "application/json"}


def test_a_request_without_a_credential_has_no_caller(client, jane):
    assert who(client) is None
    response = client.get("/members", headers=JSON, base_url=SITE)
    assert (response.status_code, code_of(response)) == (401, "credential-missing")
    assert response.headers.getlist("WWW-Authenticate") == list(identify.CHALLENGES)
    assert response.headers["Cache-Control"] == "no-store"


def test_without_accounts_there_is_no_caller(client):
    assert who(client, headers=bearer("ararat_x")) is None
    assert client.get("/members", base_url=SITE).status_code == 404


def test_a_token_identifies_the_caller(client, accounts, jane):
    token, secret = accounts.tokens.create("jane", "repository")
    for headers in (bearer(secret), basic("", secret), basic("jane", secret), basic("Jane", secret)):
        assert who(client, headers=headers) == "jane"
        assert who(client, "POST", headers=headers) == "jane"
    assert who(client, headers=JSON | basic("joan", secret)) == (401, "token-invalid")
    accounts.tokens.revoke(token.number)
    for headers in (bearer(secret), basic("", secret), basic("jane", secret)):
        assert who(client, headers=JSON | headers) == (401, "token-invalid")


def test_an_expired_token_is_refused(client, accounts, jane, clock):
    _, secret = accounts.tokens.create("jane", "repository", clock.now + timedelta(days=1))
    assert who(client, headers=bearer(secret)) == "jane"
    clock.move(days=1)
    assert who(client, headers=JSON | bearer(secret)) == (401, "token-invalid")


def test_a_token_in_the_url_or_body_is_not_read(client, accounts, jane):
    _, secret = accounts.tokens.create("jane", "repository")
    for query in ({"access_token": secret}, {"token": secret}):
        assert who(client, query_string=query) is None
        assert who(client, "POST", data=query) is None


def test_name_and_password_identify_the_caller(client, jane):
    assert who(client, headers=basic("jane", PASSWORD)) == "jane"
    for headers in (basic("jane", "wrong horse battery"), basic("joan", PASSWORD), basic("", PASSWORD)):
        assert who(client, headers=JSON | headers) == (401, "sign-in-wrong")


def test_too_many_wrong_passwords_are_refused(client, jane):
    for _ in range(5):
        assert who(client, headers=JSON | basic("jane", "wrong horse battery")) == (401, "sign-in-wrong")
    response = client.get("/who", headers=JSON | basic("jane", PASSWORD), base_url=SITE)
    assert (response.status_code, code_of(response)) == (429, "sign-in-limit")
    assert 0 < int(response.headers["Retry-After"]) <= 900


MALFORMED = [
    *("", "Bearer", "Bearer ", "Basic", "Basic x", "Basic !!!", "Digest username=jane", "jane", "Basic /w==", "x y"),
    *(
        "Basic \xe9",
        "basic \xe9",
        "Basic  \xff\xfe",
        "Basic amFuZTo\xe9",
        "B\xe1sic eA==",
        "\xe9",
        "Digest \xe9",
        "Digest a*=b''c",
    ),
    *("Digest realm*0=x", 'Digest a="', "Negotiate \xe9==", "Basic =", "Basic amFuZTp4=A", "Bearer \x01", "Basic \x7f"),
    *("Bearer \xff", "Bearer " + "a" * 9999, "Basic " + "A" * 20_000, "Basic AAAA"),
    *(f"Basic {base64.b64encode(text).decode()}" for text in (b"\xff:\xff", b"jane", b":", b"jane:\0")),
]


@pytest.mark.one_setup
@pytest.mark.parametrize("field", MALFORMED)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_malformed_credential_is_refused(client, jane, field):
    status, code = who(client, headers=JSON | {"Authorization": field})
    assert status == 401
    assert code in ("credential-malformed", "token-invalid", "sign-in-wrong")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_no_text_in_the_field_is_an_error_of_the_server(client, jane):
    schemes = st.sampled_from(["Basic ", "Bearer ", "Digest ", "basic", "Negotiate ", ""])
    texts = st.text(st.characters(max_codepoint=255, exclude_categories=(), exclude_characters="\r\n"), max_size=30)

    @settings(database=None)
    @given(schemes, texts)
    def check(scheme, text):
        environ = {"HTTP_AUTHORIZATION": scheme + text}
        assert client.get("/who", headers=JSON, base_url=SITE, environ_overrides=environ).status_code in (401, 429, 503)

    check()


@pytest.fixture
def client_of_ezid(make_client, jane):
    return make_client(ezid="/ezid")


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/sign-in", "/desk", "/api/v1/names", "/ark:12345/x5a", "/ezid/login"]
)
@pytest.mark.parametrize("field", ["Authorization", "Cookie", "X-CSRF-Token", "Idempotency-Key"])
def test_a_credential_that_cannot_be_read_is_never_an_error_of_the_server(client_of_ezid, path, field):
    for text in (
        "Basic \xe9",
        "\xe9=\xff; __Host-ararat=\xe9; sessionid=\xe9",
        '__Host-ararat="\\351\\400"; sessionid="\\9"',
        "\x00",
    ):
        environ = {f"HTTP_{field.upper().replace('-', '_')}": text}
        for method in ("GET", "POST"):
            answer = client_of_ezid.open(path, method=method, base_url=SITE, environ_overrides=environ)
            assert answer.status_code < 500
            if method == "GET" and field == "Authorization" and path in ("/desk", "/api/v1/names", "/ezid/login"):
                assert answer.status_code == 401


def test_a_wrong_credential_does_not_fall_back_to_the_session(client, jane):
    assert sign_in(client).status_code == 303
    assert who(client) == "jane"
    assert who(client, headers=JSON | bearer("ararat_x")) == (401, "token-invalid")


def test_a_session_changes_something_only_with_the_token_of_a_form(client, jane):
    sign_in(client)
    assert who(client, "POST", headers=JSON) == (403, "csrf")
    token = client.get("/token", base_url=SITE).text
    assert who(client, "POST", headers={"X-CSRF-Token": token}) == "jane"
    assert who(client, "POST", data={"csrf_token": token}) == "jane"
    for wrong in ("", "x", token[:-1], token.upper(), "\u00e9"):
        assert who(client, "POST", headers=JSON, data={"csrf_token": wrong}) == (403, "csrf")
    for sender in ("https://evil.example", "null", "https://sub.ids.example.org"):
        headers = JSON | {"X-CSRF-Token": token, "Origin": sender}
        assert who(client, "POST", headers=headers) == (403, "other-site")


def test_the_token_of_a_form_belongs_to_one_session(make_client, jane):
    one, other = make_client(), make_client()
    sign_in(one)
    sign_in(other)
    token = one.get("/token", base_url=SITE).text
    assert who(other, "POST", headers=JSON | {"X-CSRF-Token": token}) == (403, "csrf")


def test_basic_credentials_of_a_browser_are_refused_from_another_site(client, jane):
    headers = JSON | basic("jane", PASSWORD)
    assert who(client, "POST", headers=headers | {"Sec-Fetch-Site": "cross-site"}) == (403, "other-site")
    assert who(client, "POST", headers=headers | {"Origin": "https://evil.example"}) == (403, "other-site")
    assert who(client, "POST", headers=headers) == "jane"


def test_an_ended_session_is_refused_and_its_cookie_deleted(client, accounts, jane):
    sign_in(client)
    accounts.disable("jane")
    response = client.get("/who", headers=JSON, base_url=SITE)
    assert (response.status_code, code_of(response)) == (401, "session-ended")
    assert "__Host-ararat=;" in response.headers["Set-Cookie"]
    assert who(client) is None


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["x", "x" * 43, "", "\u00e9", "../" * 20])
def test_an_invented_session_is_refused(client, jane, value):
    client.set_cookie("__Host-ararat", value, domain="ids.example.org", secure=True)
    assert who(client, headers=JSON) == (401, "session-ended")


def test_answers_for_a_caller_are_not_kept(client, accounts, jane):
    _, secret = accounts.tokens.create("jane", "repository")
    assert client.get("/who", headers=bearer(secret), base_url=SITE).headers["Cache-Control"] == "no-store"
    assert client.get("/", headers=bearer(secret), base_url=SITE).headers["Cache-Control"] == "no-cache"


# REMOTE_USER ----------------------------------------------------------------------------------------------------------


def test_the_user_of_the_web_server_is_not_trusted_by_default(client, jane):
    environ = {"REMOTE_USER": "jane", "HTTP_X_REMOTE_USER": "jane", "HTTP_REMOTE_USER": "jane"}
    assert who(client, environ_overrides=environ) is None


@pytest.mark.parametrize(
    ("setting", "variable", "proved"),
    [
        ("REMOTE_USER", "REMOTE_USER", {}),
        ("XRemoteUser", "HTTP_XREMOTEUSER", {"HTTP_X_ARARAT_SECRET": SECRET}),
    ],
)
def test_the_user_of_the_web_server_identifies_the_caller_if_trusted(
    make_client, jane, accounts, setting, variable, proved
):
    client = make_client(remote_user=setting, remote_user_secret=SECRET)
    assert who(client, environ_overrides=proved | {variable: "Jane"}) == "jane"
    assert who(client, environ_overrides=proved | {variable: ""}) is None
    assert who(client, environ_overrides=proved) is None
    for user in ("joan", "\u212aane", "\xe9", "ja ne", "\0"):
        assert who(client, headers=JSON, environ_overrides=proved | {variable: user}) == (403, "account-unknown")
    accounts.disable("jane")
    assert who(client, headers=JSON, environ_overrides=proved | {variable: "jane"}) == (403, "account-unknown")


def test_a_header_field_is_not_trusted_in_place_of_remote_user(make_client, jane):
    client = make_client(remote_user="REMOTE_USER")
    assert who(client, headers={"Remote-User": "jane", "X-Remote-User": "jane", "REMOTE_USER": "jane"}) is None


def test_the_user_of_the_web_server_changes_something_only_with_the_token_of_a_form(make_client, jane):
    client = make_client(remote_user="REMOTE_USER")
    environ = {"REMOTE_USER": "jane"}
    assert who(client, "POST", headers=JSON, environ_overrides=environ) == (403, "csrf")
    token = client.get("/token", base_url=SITE, environ_overrides=environ).text
    assert who(client, "POST", headers={"X-CSRF-Token": token}, environ_overrides=environ) == "jane"


def test_a_token_is_stronger_than_the_user_of_the_web_server(make_client, accounts, jane):
    accounts.add("robot", "curator")
    _, secret = accounts.tokens.create("robot", "repository")
    client = make_client(remote_user="REMOTE_USER")
    environ = {"REMOTE_USER": "jane"}
    assert who(client, headers=bearer(secret), environ_overrides=environ) == "robot"
    # A web server that checks Basic credentials itself passes them on.
    assert who(client, headers=basic("jane", "of the web server"), environ_overrides=environ) == "jane"


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(None, id="none"),
        pytest.param("", id="empty"),
        pytest.param(SECRET[:-1], id="shorter"),
        pytest.param(SECRET + "0", id="longer"),
        pytest.param(SECRET.upper(), id="upper case"),
        pytest.param(f"{SECRET},{SECRET}", id="two fields, joined"),
        pytest.param("\xe9", id="not ASCII"),
        pytest.param("\ud800", id="a surrogate"),
        pytest.param(b"0", id="not a text"),
    ],
)
def test_a_header_field_of_the_user_does_not_count_without_the_secret(make_client, jane, given):
    client = make_client(remote_user="XRemoteUser", remote_user_secret=SECRET)
    environ = {"HTTP_XREMOTEUSER": "jane"} | ({} if given is None else {"HTTP_X_ARARAT_SECRET": given})
    assert who(client, environ_overrides=environ) is None


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_two_users_are_no_user(make_client, accounts, jane):
    accounts.add("joan", "administrator")
    client = make_client(remote_user="XRemoteUser", remote_user_secret=SECRET)
    for both in ("jane,joan", "jane, joan", "jane,", ",jane", "jane,jane"):
        environ = {"HTTP_XREMOTEUSER": both, "HTTP_X_ARARAT_SECRET": SECRET}
        assert who(client, environ_overrides=environ) is None


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_field_of_the_secret_can_have_another_name(make_client, jane):
    client = make_client(remote_user="RemoteUser", remote_user_secret=SECRET, remote_user_secret_field="Proof")
    environ = {"HTTP_REMOTEUSER": "jane"}
    assert who(client, environ_overrides=environ | {"HTTP_X_ARARAT_SECRET": SECRET}) is None
    assert who(client, environ_overrides=environ | {"HTTP_PROOF": SECRET}) == "jane"


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs a secret"),
        ({"remote_user_secret": SECRET[:31]}, "too short"),
        ({"remote_user_secret": ""}, "too short"),
        ({"remote_user_secret": f"{SECRET}\n"}, "other characters"),
        ({"remote_user_secret": f"{SECRET}\xe9"}, "other characters"),
        ({"remote_user_secret": SECRET, "remote_user_secret_field": "X_Secret"}, "remote_user_secret_field"),
        ({"remote_user_secret": SECRET, "remote_user_secret_field": "xremoteuser"}, "different fields"),
    ],
)
def test_a_header_field_without_a_good_secret_is_refused(accounts, options, words):
    with pytest.raises(ValueError, match=words) as caught:
        create_app(accounts.bindings, remote_user="XRemoteUser", **options)
    assert SECRET[:31] not in str(caught.value)


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("secret", [None, SECRET])
@pytest.mark.parametrize(
    "name", ["", "X Remote", "X-R\u00e9mote", "-x", "X:Y", "X\n", "remote_user", "X-", "_", "7User"]
)
def test_a_wrong_name_of_the_header_field_is_refused(accounts, name, secret):
    with pytest.raises(ValueError, match="remote_user"):
        create_app(accounts.bindings, remote_user=name, remote_user_secret=secret)


@pytest.mark.one_setup
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["X-Remote-User", "X_Remote_User", "X-Remote_User", "Remote-User", "x-remoteuser"])
def test_a_name_with_two_spellings_is_refused_with_the_lines_of_the_proxies(accounts, name):
    with pytest.raises(ValueError, match="has a hyphen or an underscore") as caught:
        create_app(accounts.bindings, remote_user=name, remote_user_secret=SECRET, remote_user_secret_field="X-Proof")
    better = name.replace("-", "").replace("_", "")
    lines = str(caught.value)
    assert f'Apache: RequestHeader set {better} expr=%{{REMOTE_USER}}; RequestHeader set X-Proof "SECRET"' in lines
    assert f'nginx: proxy_set_header {better} $remote_user; proxy_set_header X-Proof "SECRET";' in lines
    create_app(accounts.bindings, remote_user=better, remote_user_secret=SECRET)


def test_a_database_that_is_down_answers_503(client, accounts, jane):
    sign_in(client)
    accounts.bindings.close()
    for path in ("/who", "/sign-in", "/members"):
        response = client.get(path, headers=JSON | bearer("ararat_x"), base_url=SITE)
        assert (response.status_code, code_of(response)) == (503, "unavailable")
        assert response.headers["Retry-After"] == "5"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_only_an_administrator_gets_the_facts_of_the_digest_with_the_health(accounts, client, jane):
    ada = accounts.add("ada", "administrator", [], PASSWORD)
    secrets = {each.name: accounts.tokens.create(each.name, "monitoring")[1] for each in (ada, jane)}
    assert "facts" not in client.get("/healthz", base_url=SITE).json
    assert client.get("/healthz", base_url=SITE, headers=basic("proxy", "x")).status_code == 200
    answer = client.get("/healthz", base_url=SITE, headers=bearer(secrets["ada"]))
    assert {fact["code"] for fact in answer.json["facts"]} >= {"backup", "disk", "links", "tokens", "imports"}
    for secret, status in ((secrets["jane"], 403), ("wrong", 401)):
        assert client.get("/healthz", base_url=SITE, headers=bearer(secret)).status_code == status
