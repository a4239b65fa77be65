"""Test sign-in with OpenID Connect, with providers on loopback."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
import requests
from authlib.oauth2.rfc6749 import OAuth2Token
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts import openid
from ararat.webapp.accounts.model import AccountError
from ararat.webapp.accounts.openid import NotConfirmed, OpenID, ProviderUnavailable
from ararat.webapp.accounts.records.identities import Identities
from ararat.webapp.accounts.store import Accounts
from tests.ports import free_port
from tests.webapp.accounts import openid_provider
from tests.webapp.accounts.small_provider import small_provider

SITE = "https://ids.example.org"
RETURN = f"{SITE}/sign-in/openid/return"
PROVIDER = Path(openid_provider.__file__)


@contextmanager
def independent_provider(folder):
    """Start the provider that others have written, and return its issuer."""
    port = free_port()
    command = [sys.executable, str(PROVIDER), str(port), RETURN]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n", (folder / "log").read_text()
            yield f"http://127.0.0.1:{port}/o"
        finally:
            process.terminate()


@pytest.fixture(scope="module", params=["small", pytest.param("independent", marks=pytest.mark.long)])
def issuer(request, tmp_path_factory):
    """The issuer of a provider that runs."""
    is_small = request.param == "small"
    with small_provider(RETURN) if is_small else independent_provider(tmp_path_factory.mktemp("provider")) as found:
        yield found


@pytest.fixture
def provider(issuer):
    return OpenID(issuer=issuer, client_id=openid_provider.CLIENT, client_secret=openid_provider.SECRET, title="SSO")


@pytest.fixture
def accounts(tmp_path, open_store):
    accounts = Accounts(open_store(tmp_path / "bindings.sqlite"))
    accounts.add("jane", "curator", ["12345/x5"])
    return accounts


@pytest.fixture
def client(accounts, provider):
    return create_app(accounts.bindings, prefix=SITE, openid=provider).test_client()


def start(client, **query):
    response = client.get("/sign-in/openid", base_url=SITE, query_string=query)
    assert response.status_code == 303
    return response.headers["Location"]


def at_provider(address):
    """Sign in at the provider, and return the URL that it redirects to."""
    with requests.Session() as browser:
        page = browser.get(address, timeout=20)
        token = re.search('name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token, page.text
        form = {"csrfmiddlewaretoken": token[1], "username": openid_provider.USER}
        form |= {"password": openid_provider.PASSWORD}
        there = browser.post(page.url, data=form, timeout=20, allow_redirects=False)
        while not there.headers["Location"].startswith(SITE):
            address = urljoin(there.url, there.headers["Location"])
            there = browser.get(address, timeout=20, allow_redirects=False)
        return there.headers["Location"]


def finish(client, address):
    parts = urlsplit(address)
    return client.get(parts.path, query_string=parts.query, base_url=SITE)


def subject_of(page):
    return re.findall("<dd><code>([^<]+)</code></dd>", page.text)[1]


def test_a_linked_identity_starts_a_session(client, accounts, issuer):
    refused = finish(client, at_provider(start(client)))
    assert refused.status_code == 403
    assert issuer in refused.text
    accounts.identities.link(issuer, subject_of(refused), "jane")
    response = finish(client, at_provider(start(client, next="/compare?a=1")))
    assert (response.status_code, response.headers["Location"]) == (303, "/compare?a=1")
    assert "signed in as <strong>jane</strong>" in client.get("/sign-in", base_url=SITE).text
    assert accounts.sessions.caller(client.get_cookie("__Host-ararat", domain="ids.example.org").value).actor == "jane"


def test_the_link_is_on_the_sign_in_page(client, read_page):
    page = read_page(client.get("/sign-in", base_url=SITE, query_string={"next": "/compare"}).text)
    link = page.one("a", css="button")
    assert (link.text, link.attributes["href"]) == ("Sign in with SSO", "/sign-in/openid?next=/compare")


def test_the_request_has_pkce_state_and_nonce_and_no_secret(client, issuer):
    address = start(client)
    assert address.startswith(f"{issuer}/authorize/?")
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert query["redirect_uri"] == RETURN
    assert (query["scope"], query["response_type"], query["code_challenge_method"]) == ("openid", "code", "S256")
    assert query["client_id"] == openid_provider.CLIENT
    cookie = client.get_cookie("__Host-ararat-form", domain="ids.example.org").value
    assert not any(secret in address for secret in (cookie, "the+secret", "secret%20of"))
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3


def test_the_host_of_a_request_is_not_in_the_address_to_return_to(client):
    response = client.get("/sign-in/openid", base_url="http://evil.test")
    assert "evil" not in response.headers["Location"]


@pytest.mark.one_setup
@pytest.mark.parametrize("destination", ["https://evil.test/", "//evil.test", "/\\evil.test"])
def test_another_site_does_not_follow(client, accounts, issuer, destination):
    accounts.identities.link(issuer, "1", "jane")
    address = at_provider(start(client, next=destination))
    assert finish(client, address).headers["Location"] == "/desk"


def test_an_answer_for_another_browser_is_refused(client, accounts, issuer):
    accounts.identities.link(issuer, "1", "jane")
    address = at_provider(start(client))
    other = client.application.test_client()
    assert finish(other, address).status_code == 403
    start(other)
    assert finish(other, address).status_code == 403
    assert "Set-Cookie" not in finish(client, address.replace("state=", "state=x")).headers
    # A changed page to return to is refused as well.
    assert finish(client, address + "%2Fevil").status_code == 403


def test_a_code_is_used_once(client, accounts, issuer):
    accounts.identities.link(issuer, "1", "jane")
    address = at_provider(start(client))
    cookie = client.get_cookie("__Host-ararat-form", domain="ids.example.org").value
    assert finish(client, address).status_code == 303
    client.set_cookie("__Host-ararat-form", cookie, domain="ids.example.org", secure=True)
    assert finish(client, address).status_code == 403


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["", "error=access_denied", "code=", "code=x", "code=" + "x" * 5000])
def test_an_answer_without_a_valid_code_is_refused(client, query):
    state = parse_qs(urlsplit(start(client)).query)["state"][0]
    response = client.get(f"/sign-in/openid/return?state={state}&{query}", base_url=SITE)
    assert response.status_code == 403
    assert "did not confirm" in response.text


def test_an_answer_of_another_issuer_is_refused(client, accounts, issuer):
    accounts.identities.link(issuer, "1", "jane")
    address = at_provider(start(client))
    assert finish(client, f"{address}&iss=https%3A%2F%2Fevil.test").status_code == 403
    assert finish(client, f"{address}&iss={issuer}").status_code == 303


def test_a_disabled_account_is_refused(client, accounts, issuer):
    accounts.identities.link(issuer, "1", "jane")
    accounts.disable("jane")
    response = finish(client, at_provider(start(client)))
    assert response.status_code == 403
    assert "not linked to an enabled account" in response.text


def test_the_identity_of_a_program_cannot_sign_in(client, accounts, issuer):
    accounts.set_program("jane", True)
    accounts.identities.link(issuer, "1", "jane")
    response = finish(client, at_provider(start(client)))
    assert (response.status_code, accounts.sessions.count(accounts.get("jane"))) == (403, 0)


def test_an_identity_that_is_unlinked_during_the_sign_in_is_refused(client, accounts, issuer, monkeypatch):
    accounts.identities.link(issuer, "1", "jane")
    known = Identities.account

    def of_identity(self, *identity):
        account = known(self, *identity)
        accounts.identities.unlink(*identity, "jane")
        return account

    address = at_provider(start(client))
    monkeypatch.setattr(Identities, "account", of_identity)
    response = finish(client, address)
    assert response.status_code == 403
    assert "changed during the sign-in" in response.text
    assert accounts.sessions.count(accounts.get("jane")) == 0


def test_a_wrong_secret_of_the_client_is_refused(accounts, issuer):
    provider = OpenID(issuer=issuer, client_id=openid_provider.CLIENT, client_secret="wrong")
    client = create_app(accounts.bindings, prefix=SITE, openid=provider).test_client()
    response = finish(client, at_provider(start(client)))
    assert response.status_code == 403


def test_the_pages_do_not_exist_without_a_provider_or_accounts(accounts, provider, tmp_path):
    client = create_app(accounts.bindings, prefix=SITE).test_client()
    assert client.get("/sign-in/openid").status_code == 404
    with open_bindings(tmp_path / "empty.sqlite", create=True) as bindings:
        client = create_app(bindings, prefix=SITE, openid=provider).test_client()
        for path in ("/sign-in/openid", "/sign-in/openid/return"):
            assert client.get(path).status_code == 404


def test_a_provider_that_is_down_answers_503(accounts, unused_port):
    provider = OpenID(issuer=f"http://127.0.0.1:{unused_port}", client_id="x")
    client = create_app(accounts.bindings, prefix=SITE, openid=provider).test_client()
    response = client.get("/sign-in/openid", base_url=SITE)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert "Sign in with 127.0.0.1" in client.get("/sign-in", base_url=SITE).text


@pytest.mark.parametrize(
    "issuer",
    ["", "http://idp.example", "ftp://127.0.0.1", "https://", "https://a@b.example", "https://b.example/#x", "x"],
)
def test_an_issuer_without_https_is_refused(issuer):
    with pytest.raises(ValueError, match="not an https URL"):
        OpenID(issuer=issuer, client_id="x")


def test_openid_needs_the_url_of_the_inspector(accounts, provider):
    with pytest.raises(ValueError, match="openid: the URL of this inspector is missing"):
        create_app(accounts.bindings, openid=provider)


def test_the_secret_is_not_in_the_representation(provider):
    assert openid_provider.SECRET not in repr(provider)


# ID tokens that the provider of the test does not issue ---------------------------------------------------------------

ISSUER = "https://idp.example"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}


@functools.cache
def key_of(owner):
    """Return a key. It is generated for the first test that uses it."""
    return RSAKey.generate_key(2048, {"kid": "1"})


@pytest.fixture
def confirm(monkeypatch):
    """confirm(claims, ...) returns the subject for an ID token with these claims."""
    documents: dict[str, object] = {f"{ISSUER}/.well-known/openid-configuration": METADATA}
    documents[f"{ISSUER}/keys"] = {"keys": [key_of("provider").as_dict(private=False)]}
    monkeypatch.setattr(OpenID, "_fetch", lambda self, address: documents[address])

    def run(signer="provider", key=None, alg="RS256", **changed):
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": "17", "aud": "ararat", "exp": now + 60, "iat": now, "nonce": "n"} | changed
        claims = {name: value for name, value in claims.items() if value is not None}
        text = jwt.encode({"alg": alg, "kid": "1"}, claims, key or key_of(signer), algorithms=[alg])
        token = OAuth2Token({"id_token": text, "access_token": "a", "token_type": "Bearer"})
        monkeypatch.setattr(openid.OAuth2Session, "fetch_token", lambda *args, **kwargs: token)
        provider = OpenID(issuer=ISSUER, client_id="ararat", client_secret="s")
        return provider.subject(redirect_uri=RETURN, code="c", nonce="n", verifier="v" * 43)

    return run


def test_a_valid_id_token_confirms_the_subject(confirm):
    assert confirm() == "17"
    assert confirm(aud=["ararat"]) == "17"
    assert confirm(aud=["ararat", "other"], azp="ararat") == "17"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"iss": "https://evil.test"}, id="another issuer"),
        pytest.param({"iss": None}, id="no issuer"),
        pytest.param({"aud": "other"}, id="another client"),
        pytest.param({"aud": "other", "azp": "ararat"}, id="another client with azp"),
        pytest.param({"aud": ["ararat", "other"], "azp": "other"}, id="issued to another client"),
        pytest.param({"azp": ""}, id="issued to an empty client"),
        pytest.param({"aud": None}, id="no client"),
        pytest.param({"nonce": "m"}, id="another nonce"),
        pytest.param({"nonce": None}, id="no nonce"),
        pytest.param({"sub": None}, id="no subject"),
        pytest.param({"sub": 17}, id="subject is a number"),
        pytest.param({"sub": "1\u202e7"}, id="subject with a bidi override"),
        pytest.param({"sub": " 17"}, id="subject with a space"),
        pytest.param({"exp": 1}, id="expired"),
        pytest.param({"exp": None}, id="no expiry"),
        pytest.param({"iat": 2**40}, id="from the future"),
        pytest.param({"at_hash": "x"}, id="another access token"),
        pytest.param({"signer": "another site"}, id="another key"),
        pytest.param({"key": OctKey.import_key("s" * 32), "alg": "HS256"}, id="signed with the secret"),
    ],
)
def test_another_id_token_is_not_confirmed(confirm, changed):
    with pytest.raises(NotConfirmed):
        confirm(**changed)


def test_an_unsigned_id_token_is_not_confirmed(confirm, monkeypatch):
    confirm()
    unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxNyJ9."
    for token in ({"id_token": unsigned}, {"id_token": "x"}, {"id_token": None}, {}, None, []):
        monkeypatch.setattr(openid.OAuth2Session, "fetch_token", lambda *args, token=token, **kwargs: token)
        provider = OpenID(issuer=ISSUER, client_id="ararat")
        with pytest.raises(NotConfirmed):
            provider.subject(redirect_uri=RETURN, code="c", nonce="n", verifier="v" * 43)


def test_new_keys_of_the_provider_are_read(confirm, monkeypatch):
    new = RSAKey.generate_key(2048, {"kid": "2"})
    keys = [{"keys": [key_of("provider").as_dict(private=False)]}, {"keys": [new.as_dict(private=False)]}]
    monkeypatch.setattr(
        OpenID, "_fetch", lambda self, address: METADATA if address.endswith("configuration") else keys.pop(0)
    )
    now = int(time.time())
    claims = {"iss": ISSUER, "sub": "17", "aud": "ararat", "exp": now + 60, "iat": now, "nonce": "n"}
    token = {"id_token": jwt.encode({"alg": "RS256", "kid": "2"}, claims, new), "access_token": "a"}
    monkeypatch.setattr(openid.OAuth2Session, "fetch_token", lambda *args, **kwargs: token)
    provider = OpenID(issuer=ISSUER, client_id="ararat")
    assert provider.subject(redirect_uri=RETURN, code="c", nonce="n", verifier="v" * 43) == "17"
    assert keys == []


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://other.example"},
        {"issuer": None},
        {"token_endpoint": "http://idp.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
        {"jwks_uri": 7},
    ],
)
def test_wrong_metadata_are_refused(monkeypatch, changed):
    monkeypatch.setattr(OpenID, "_fetch", lambda self, address: METADATA | changed)
    provider = OpenID(issuer=ISSUER, client_id="ararat")
    with pytest.raises(ProviderUnavailable):
        provider.authorization_url(redirect_uri=RETURN, state="s", nonce="n", verifier="v" * 43)


# People that are linked by a claim before their first sign-in ---------------------------------------------------------


@pytest.fixture
def claimed(confirm, monkeypatch):
    """claimed(name, claims, user_info) is the value of a claim that an ID token and the user information confirm."""

    def run(name, user_info=None, **claims):
        answer = requests.Response()
        answer.status_code, answer._content = 200, json.dumps(user_info or {}).encode()
        monkeypatch.setattr(openid.OAuth2Session, "get", lambda self, address, **options: answer)
        monkeypatch.setitem(METADATA, "userinfo_endpoint", f"{ISSUER}/me")
        init = OpenID.__post_init__

        def with_claim(self):
            self.claim = name
            init(self)

        monkeypatch.setattr(OpenID, "__post_init__", with_claim)
        values = []
        confirmed = OpenID.confirm
        monkeypatch.setattr(
            OpenID, "confirm", lambda self, **given: values.append(confirmed(self, **given)) or values[0]
        )
        confirm(**claims)
        return values[0].claim

    return run


@pytest.mark.parametrize(
    ("name", "claims", "user_info", "value"),
    [
        ("email", {"email": "Jane@Uni.Example", "email_verified": True}, {}, "jane@uni.example"),
        ("email", {"email": "jane@uni.example"}, {}, None),
        ("email", {"email": "jane@uni.example", "email_verified": False}, {}, None),
        ("email", {"email": "jane@uni.example", "email_verified": "true"}, {}, None),
        ("email", {}, {"sub": "17", "email": "jane@uni.example", "email_verified": True}, "jane@uni.example"),
        ("email", {}, {"sub": "18", "email": "jane@uni.example", "email_verified": True}, None),
        ("email", {}, {"email": "jane@uni.example", "email_verified": True}, None),
        ("eppn", {"eppn": "jane@uni.example"}, {}, "jane@uni.example"),
        ("eppn", {"eppn": ["jane@uni.example"]}, {}, None),
        ("eppn", {}, {"sub": "17"}, None),
        ("orcid", {"orcid": "https://orcid.org/0000-0002-1825-009X"}, {}, "0000-0002-1825-009X"),
        (None, {"email": "jane@uni.example", "email_verified": True}, {}, None),
    ],
)
def test_the_value_of_a_claim_is_that_which_the_provider_verified(claimed, name, claims, user_info, value):
    assert claimed(name, user_info, **claims) == value


@pytest.fixture
def as_user(accounts, monkeypatch):
    """as_user(subject, value) is the answer to a sign-in of this user, whom the provider confirms."""
    monkeypatch.setattr(OpenID, "_fetch", lambda self, address: METADATA)
    provider = OpenID(issuer=ISSUER, client_id="ararat", claim="eppn")
    client = create_app(accounts.bindings, prefix=SITE, openid=provider).test_client()

    def sign_in(subject, value):
        monkeypatch.setattr(OpenID, "confirm", lambda self, **given: openid.Confirmed(subject, value))
        state = parse_qs(urlsplit(start(client)).query)["state"][0]
        return client.get("/sign-in/openid/return", query_string={"state": state, "code": "c"}, base_url=SITE)

    return sign_in


def test_the_first_sign_in_links_the_subject(accounts, as_user):
    accounts.identities.link(ISSUER, "Jane@Uni.Example", "jane", claim="eppn")
    assert as_user("17", None).status_code == 403
    assert as_user("17", "joan@uni.example").status_code == 403
    assert as_user("17", "jane@uni.example").status_code == 303
    assert accounts.identities.list(accounts.get("jane")) == [(ISSUER, "17")]
    assert as_user("17", "jane@new.example").status_code == 303
    # A later owner of the address is another person.
    assert as_user("18", "jane@uni.example").status_code == 403


def test_a_claim_is_no_subject(accounts, as_user):
    accounts.identities.link(ISSUER, "jane@uni.example", "jane", claim="email")
    for subject, value in (("jane@uni.example", None), ("17", "jane@uni.example"), ("email=jane@uni.example", None)):
        assert as_user(subject, value).status_code == 403
    accounts.identities.unlink(ISSUER, "jane@uni.example", "jane", claim="email")
    assert accounts.identities.list(accounts.get("jane")) == []


def test_a_disabled_account_and_a_program_are_not_linked_by_a_claim(accounts, as_user):
    accounts.identities.link(ISSUER, "jane@uni.example", "jane", claim="eppn")
    accounts.disable("jane")
    assert as_user("17", "jane@uni.example").status_code == 403
    accounts.enable("jane")
    accounts.set_program("jane", True)
    assert as_user("17", "jane@uni.example").status_code == 403
    accounts.add("robot", "reader", is_program=True)
    with pytest.raises(AccountError, match="account-program"):
        accounts.identities.link(ISSUER, "robot@uni.example", "robot", claim="eppn")


def test_a_subject_of_another_account_is_not_linked_by_a_claim(accounts, as_user):
    accounts.identities.link(ISSUER, "17", "jane")
    accounts.disable("jane")
    accounts.add("jane2", "curator")
    accounts.identities.link(ISSUER, "jane@uni.example", "jane2", claim="eppn")
    # The disabled account must not come back under another name.
    assert as_user("17", "jane@uni.example").status_code == 403
    assert accounts.identities.list(accounts.get("jane2")) == [(f"{ISSUER}#eppn", "jane@uni.example")]


@pytest.mark.parametrize(
    ("subject", "value"),
    [("s" * 1001, "jane@uni.example"), ("17", ""), ("17", "v" * 1001), ("17", "a\nb")],
    ids=["long subject", "empty value", "long value", "control character"],
)
def test_a_text_that_cannot_be_linked_keeps_the_claim(accounts, as_user, subject, value):
    accounts.identities.link(ISSUER, "jane@uni.example", "jane", claim="eppn")
    assert as_user(subject, value).status_code == 403
    assert as_user("17", "jane@uni.example").status_code == 303
