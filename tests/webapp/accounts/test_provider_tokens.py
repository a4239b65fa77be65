"""Test access tokens of providers: what is accepted, what is refused, and when keys are read."""

from __future__ import annotations

import base64
import functools
import hmac
import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Literal

import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, KeyParameters, OctKey, OKPKey, RSAKey

from ararat.webapp import create_app
from ararat.webapp.accounts import provider, provider_tokens
from ararat.webapp.accounts.openid import OpenID
from ararat.webapp.accounts.provider import ProviderUnavailable
from ararat.webapp.accounts.provider_tokens import OneAlgorithm, ProviderTokens, TokenRefused
from ararat.webapp.accounts.store import Accounts

GITHUB = "https://token.actions.githubusercontent.com"
KEYCLOAK = "https://sso.example.edu/realms/library"
AUDIENCE = "https://ids.example.org"
JOB = "repo:octo-org/octo-repo:environment:prod"
ROBOT = "8d0a6f6e-6a5f-4a3d-b0a4-1f5b5a1b0c11"
SITE = "https://ids.example.org"


def key(kid: str = "k1", kind: str = "RSA") -> Key:
    """Return a key. It is generated for the first test that uses it."""
    return generated(kid, kind)


@functools.cache
def generated(kid: str, kind: str) -> Key:
    parameters: KeyParameters = {"kid": kid}
    if kind == "RSA":
        return RSAKey.generate_key(2048, parameters)
    curves: dict[str, Literal["Ed25519", "Ed448"]] = {"Ed25519": "Ed25519", "Ed448": "Ed448"}
    if kind in curves:
        return OKPKey.generate_key(curves[kind], parameters)
    return ECKey.generate_key(kind, parameters)


def public_pem(of: Key) -> bytes:
    assert isinstance(of, RSAKey)
    return of.as_pem(private=False)


class Documents:
    """Documents that providers publish, and how often each was read."""

    def __init__(self):
        self.read = Counter()
        self.away = False
        self.keys = {GITHUB: [key()], KEYCLOAK: [key("kc")]}

    def fetch(self, address, denied=()):
        self.read[address] += 1
        if self.away:
            raise ProviderUnavailable(f"{address}: no connection")
        issuer = next(each for each in self.keys if address.startswith(each))
        if address.endswith("/openid-configuration"):
            return {"issuer": issuer, "jwks_uri": f"{issuer}/jwks"}
        return {
            "keys": [each.as_dict(private=False) if hasattr(each, "as_dict") else each for each in self.keys[issuer]]
        }

    def jwks_read(self, issuer=GITHUB):
        return self.read[f"{issuer}/jwks"]


@pytest.fixture
def documents(monkeypatch):
    found = Documents()
    monkeypatch.setattr(provider_tokens, "fetch", found.fetch)
    return found


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accepted(documents, clock):
    return ProviderTokens(AUDIENCE, [GITHUB, KEYCLOAK], clock=clock)


def now():
    return int(time.time())


def of_github(**changed):
    """Return claims as GitHub Actions issues them (its documentation, "Understanding the OIDC token")."""
    claims = {
        "jti": "example-id",
        "sub": JOB,
        "environment": "prod",
        "aud": AUDIENCE,
        "ref": "refs/heads/main",
        "sha": "f" * 40,
        "repository": "octo-org/octo-repo",
        "repository_owner": "octo-org",
        "run_id": "6281",
        "actor": "octocat",
        "workflow": "publish",
        "event_name": "push",
        "iss": GITHUB,
        "nbf": now() - 600,
        "exp": now() + 300,
        "iat": now(),
    } | changed
    return {name: value for name, value in claims.items() if value is not ...}


def of_keycloak(**changed):
    """Return claims as Keycloak issues them to a client by client_credentials."""
    claims = {
        "exp": now() + 300,
        "iat": now(),
        "jti": "trrtcc:0b6c",
        "iss": KEYCLOAK,
        "aud": [AUDIENCE, "account"],
        "sub": ROBOT,
        "typ": "Bearer",
        "azp": "repository",
        "acr": "1",
        "realm_access": {"roles": ["offline_access"]},
        "scope": "email profile",
        "clientHost": "192.0.2.8",
        "email_verified": False,
        "preferred_username": "service-account-repository",
        "client_id": "repository",
    } | changed
    return {name: value for name, value in claims.items() if value is not ...}


def signed(claims, signer=None, alg="RS256", header=None):
    """Return a token. ``header`` replaces members of its header; ... removes one."""
    of_keycloak = isinstance(claims, dict) and claims.get("iss") == KEYCLOAK
    signer = signer or key("kc" if of_keycloak else "k1")
    members = {"alg": alg, "typ": "JWT", "kid": signer.kid, "x5t": "eBZ_cn3sXYAd0ch4THBKHIgOwOE"} | (header or {})
    members = {name: value for name, value in members.items() if value is not ...}
    payload = claims if isinstance(claims, (bytes, str)) else json.dumps(claims)
    registry = OneAlgorithm(algorithms=[alg], strict_check_header=False)
    return jws.serialize_compact(members, payload, signer, registry=registry)


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_of_github_proves_its_subject(accepted):
    assert accepted.identity(signed(of_github()), datetime.now(UTC)) == (GITHUB, JOB)


def test_a_token_of_keycloak_proves_its_subject(accepted):
    assert accepted.identity(signed(of_keycloak()), datetime.now(UTC)) == (KEYCLOAK, ROBOT)


@pytest.mark.parametrize("typ", [..., "JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"], ids=str)
def test_the_types_of_access_tokens(accepted, typ):
    assert accepted.identity(signed(of_github(), header={"typ": typ}), datetime.now(UTC))


@pytest.mark.parametrize(
    ("alg", "kind"),
    [("RS256", "RSA"), ("PS256", "RSA"), ("ES256", "P-256"), ("EdDSA", "Ed25519"), ("EdDSA", "Ed448")],
)
def test_the_accepted_signatures(accepted, documents, alg, kind):
    signer = key("other", kind)
    documents.keys[GITHUB] = [key("not-used"), signer, {"kty": "AKP", "kid": "new"}, {"kty": "RSA"}, 7, None]
    assert accepted.identity(signed(of_github(), signer, alg), datetime.now(UTC)) == (GITHUB, JOB)


def test_the_begin_of_a_token_has_a_small_leeway_and_its_end_none(accepted):
    accepted.identity(signed(of_github(nbf=now() + 30, iat=now() + 30)), datetime.now(UTC))
    for late in ({"nbf": now() + 90}, {"iat": now() + 90}, {"exp": now() - 1}):
        with pytest.raises(TokenRefused):
            accepted.identity(signed(of_github(**late)), datetime.now(UTC))


REFUSED = [
    pytest.param({"aud": "https://other.example"}, "audience", id="another audience"),
    pytest.param({"aud": [f"{AUDIENCE}/"]}, "audience", id="a longer audience"),
    pytest.param({"aud": [AUDIENCE, 7]}, "audience", id="a number as audience"),
    pytest.param({"aud": {AUDIENCE: 1}}, "audience", id="an object as audience"),
    pytest.param({"aud": ...}, "audience", id="no audience"),
    pytest.param({"aud": ""}, "audience", id="an empty audience"),
    pytest.param({"exp": now() - 3600}, "expired", id="expired"),
    pytest.param({"exp": ...}, "exp", id="no end"),
    pytest.param({"exp": "2099-01-01"}, "exp", id="a date as end"),
    pytest.param({"exp": True}, "exp", id="a truth value as end"),
    pytest.param({"exp": 10**400}, "exp", id="an endless number as end"),
    pytest.param({"exp": float(2**60)}, "exp", id="a huge end"),
    pytest.param({"exp": None}, "exp", id="null as end"),
    pytest.param({"nbf": now() + 3600}, "not valid yet", id="not valid yet"),
    pytest.param({"nbf": "now"}, "nbf", id="a text as begin"),
    pytest.param({"iat": now() + 3600}, "not valid yet", id="from the future"),
    pytest.param({"nonce": "n-0S6_WzA2Mj"}, "not an access token", id="ID token with nonce"),
    pytest.param({"nonce": ""}, "not an access token", id="ID token with an empty nonce"),
    pytest.param({"at_hash": "77QmUPtjPfzWtF2AnpK9RQ"}, "not an access token", id="ID token with at_hash"),
    pytest.param({"typ": "ID"}, "not an access token", id="ID token of Keycloak"),
    pytest.param({"typ": "Refresh"}, "not an access token", id="refresh token of Keycloak"),
    pytest.param({"typ": "Offline"}, "not an access token", id="offline token of Keycloak"),
    pytest.param({"typ": "Logout"}, "not an access token", id="logout token of Keycloak"),
    pytest.param({"typ": None}, "not an access token", id="null as type"),
    pytest.param({"token_use": "id"}, "not an access token", id="ID token of Cognito"),
    pytest.param(
        {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}, "not an access token", id="logout token"
    ),
    pytest.param({"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}, "not an access token", id="bound"),
    pytest.param({"sub": ...}, "subject", id="no subject"),
    pytest.param({"sub": ""}, "subject", id="an empty subject"),
    pytest.param({"sub": 17}, "subject", id="a number as subject"),
    pytest.param({"sub": f" {JOB}"}, "subject", id="a subject with a space"),
    pytest.param({"sub": "repo\u202e"}, "subject", id="a subject with a bidi override"),
    pytest.param({"iss": "https://evil.test"}, "issuer", id="another issuer"),
    pytest.param({"iss": f"{GITHUB}/"}, "issuer", id="issuer with a slash"),
    pytest.param({"iss": GITHUB.upper()}, "issuer", id="issuer in upper case"),
    pytest.param({"iss": [GITHUB]}, "issuer", id="a list as issuer"),
    pytest.param({"iss": ...}, "issuer", id="no issuer"),
]


@pytest.mark.parametrize(("changed", "reason"), REFUSED)
def test_other_claims_are_refused(accepted, changed, reason):
    with pytest.raises(TokenRefused, match=reason):
        accepted.identity(signed(of_github(**changed), key()), datetime.now(UTC))


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"kid": ...}, "kid"),
        ({"kid": ""}, "kid"),
        ({"kid": "k" * 501}, "kid"),
        ({"typ": "logout+jwt"}, "access token"),
        ({"typ": "dpop+jwt"}, "access token"),
        ({"typ": "secevent+jwt"}, "access token"),
        ({"zip": "DEF"}, "extension"),
        ({"kid": "k2"}, "not signed"),
    ],
    ids=str,
)
def test_other_headers_are_refused(accepted, header, reason):
    with pytest.raises(TokenRefused, match=reason):
        accepted.identity(signed(of_github(), header=header), datetime.now(UTC))


def forged(header, claims=None, signature="c2ln"):
    return f"{encoded(header)}.{encoded(claims or of_github())}.{signature}"


def parts():
    return signed(of_github()).split(".")


def twice():
    return f'{{"iss":"{GITHUB}","iss":"{GITHUB}","sub":"{JOB}","aud":"{AUDIENCE}","exp":{now() + 300}}}'


def with_public_key():
    """Return a token whose secret is the public key, which joserfc does not sign itself."""
    text = f"{encoded({'alg': 'HS256', 'kid': 'k1'})}.{encoded(of_github())}"
    mac = hmac.digest(public_pem(key()), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


HOSTILE = {
    "alg none": lambda: forged({"alg": "none", "kid": "k1"}),
    "alg None": lambda: forged({"alg": "None", "kid": "k1"}),
    "no signature": lambda: ".".join([*parts()[:2], ""]),
    "padding": lambda: f"{signed(of_github())}=",
    "white space": lambda: signed(of_github()).replace(".", ". "),
    "changed claims": lambda: ".".join([parts()[0], encoded(of_github(sub="root")), parts()[2]]),
    "HS256 with the public key": with_public_key,
    "HS256": lambda: signed(of_github(), OctKey.import_key("s" * 32, {"kid": "k1"}), "HS256"),
    "ES384": lambda: signed(of_github(), key("k1", "P-384"), "ES384"),
    "another key of the same name": lambda: signed(of_github(), RSAKey.generate_key(2048, {"kid": "k1"})),
    "RS512": lambda: signed(of_github(), key(), "RS512"),
    "crit": lambda: forged({"alg": "RS256", "kid": "k1", "crit": ["exp"], "exp": 1}),
    "a list as algorithm": lambda: forged({"alg": ["RS256"], "kid": "k1"}),
    "an object as key": lambda: forged({"alg": "RS256", "kid": {"k": 1}}),
    "a list as claims": lambda: forged({"alg": "RS256", "kid": "k1"}, [1]),
    "too long": lambda: "eyJ" + "A" * 9000 + ".e30.c2ln",
    "no JSON": lambda: f"{encoded({'alg': 'RS256', 'kid': 'k1'})}.{'W' * 6000}.c2ln",
    "nested": lambda: f"{parts()[0]}.{base64.urlsafe_b64encode(b'[' * 5000).decode().rstrip('=')}.c2ln",
    "a repeated member": lambda: signed(twice()),
    "an infinite end": lambda: signed(json.dumps(of_github(exp=float("inf")))),
    "an end that is not a number": lambda: signed(json.dumps(of_github(exp=float("nan")))),
    "no UTF-8": lambda: signed("\ud800".encode("utf-8", "surrogatepass")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tokens_are_refused(accepted, name):
    with pytest.raises(TokenRefused):
        accepted.identity(HOSTILE[name](), datetime.now(UTC))


@pytest.mark.parametrize("name", ["jku", "x5u"])
def test_addresses_and_keys_in_a_header_are_never_used(accepted, documents, name):
    own = RSAKey.generate_key(2048, {"kid": "mine"})
    header = {name: "http://127.0.0.1:1/keys", "jwk": own.as_dict(private=False)}
    with pytest.raises(TokenRefused, match="not signed"):
        accepted.identity(signed(of_github(), own, header=header), datetime.now(UTC))
    assert {*documents.read} == {f"{GITHUB}/.well-known/openid-configuration", f"{GITHUB}/jwks"}


@pytest.mark.parametrize("published", [{"use": "enc"}, {"alg": "PS256"}, {"key_ops": ["sign"]}], ids=str)
def test_a_key_for_another_purpose_verifies_nothing(accepted, documents, published):
    documents.keys[GITHUB] = [key().as_dict(private=False) | published]
    with pytest.raises((TokenRefused, ProviderUnavailable)):
        accepted.identity(signed(of_github()), datetime.now(UTC))


def test_keys_are_kept_for_an_hour(accepted, documents, clock):
    for _ in range(20):
        accepted.identity(signed(of_github()), datetime.now(UTC))
    assert documents.jwks_read() == 1
    clock.now += provider.KEPT_SECONDS
    accepted.identity(signed(of_github()), datetime.now(UTC))
    assert documents.jwks_read() == 2


def test_a_rotated_key_is_found_at_the_first_request_and_unknown_keys_once_a_minute(accepted, documents, clock):
    accepted.identity(signed(of_github()), datetime.now(UTC))
    documents.keys[GITHUB] = [key("k2")]
    assert accepted.identity(signed(of_github(), key("k2")), datetime.now(UTC)) == (GITHUB, JOB)
    for number in range(50):
        with pytest.raises(TokenRefused):
            accepted.identity(signed(of_github(), header={"kid": f"x{number}"}), datetime.now(UTC))
    assert documents.jwks_read() == 2
    with pytest.raises(TokenRefused, match="not signed"):
        accepted.identity(signed(of_github()), datetime.now(UTC))  # the old key is not published any more
    clock.now += provider_tokens.PAUSE_SECONDS
    documents.keys[GITHUB] = [key("k3")]
    assert accepted.identity(signed(of_github(), key("k3")), datetime.now(UTC)) == (GITHUB, JOB)
    assert documents.jwks_read() == 3


def test_unknown_keys_before_the_first_valid_token_cause_one_request(accepted, documents):
    for number in range(50):
        with pytest.raises(TokenRefused):
            accepted.identity(signed(of_github(), header={"kid": f"x{number}"}), datetime.now(UTC))
    assert documents.jwks_read() == 1
    assert accepted.identity(signed(of_github()), datetime.now(UTC)) == (GITHUB, JOB)


def test_a_provider_that_is_away_is_asked_once_a_minute(accepted, documents, clock):
    documents.away = True
    for _ in range(20):
        with pytest.raises(ProviderUnavailable) as caught:
            accepted.identity(signed(of_github()), datetime.now(UTC))
        assert 0 < caught.value.retry_after <= 60
    assert sum(documents.read.values()) == 1
    documents.away = False
    # The other issuer is not concerned.
    assert accepted.identity(signed(of_keycloak()), datetime.now(UTC))
    clock.now += provider_tokens.PAUSE_SECONDS
    assert accepted.identity(signed(of_github()), datetime.now(UTC))


def test_known_keys_last_while_the_provider_is_away(accepted, documents, clock):
    accepted.identity(signed(of_github()), datetime.now(UTC))
    documents.away = True
    accepted.identity(signed(of_github()), datetime.now(UTC))
    with pytest.raises(ProviderUnavailable):
        accepted.identity(signed(of_github(), key("k2")), datetime.now(UTC))
    with pytest.raises(ProviderUnavailable):
        accepted.identity(signed(of_github(), key("k9", "P-256"), "ES256"), datetime.now(UTC))
    accepted.identity(signed(of_github()), datetime.now(UTC))
    clock.now += provider.KEPT_SECONDS
    with pytest.raises(ProviderUnavailable):
        accepted.identity(signed(of_github()), datetime.now(UTC))


# Through the doors ----------------------------------------------------------------------------------------------------


@pytest.fixture
def accounts(tmp_path, open_store):
    accounts = Accounts(open_store(tmp_path / "bindings.sqlite"))
    accounts.add("adam", "administrator")
    accounts.add("mint-job", "curator", ["12345/x5"], is_program=True)
    accounts.add("jane", "curator", ["12345/x5"])
    accounts.bindings.prefixes.set("12345/x5", what="Maps")
    return accounts


@pytest.fixture
def site(accounts, documents):
    issuers = [GITHUB, KEYCLOAK]
    app = create_app(accounts.bindings, prefix=SITE, ezid="/ezid", token_audience=AUDIENCE, token_issuers=issuers)
    return app.test_client()


def get(site, token, path="/api/v1/account"):
    return site.get(path, base_url=SITE, headers={"Authorization": f"Bearer {token}"})


def mint(site, token):
    body = {"names": [{"shoulder": "ark:12345/x5", "state": "reserved"}]}
    return site.post("/api/v1/names", base_url=SITE, headers={"Authorization": f"Bearer {token}"}, json=body)


def ezid(site, credential, method="post", path="shoulder/ark:/12345/x5"):
    headers = {"Authorization": credential, "Content-Type": "text/plain"}
    return site.open(f"/ezid/{path}", method=method.upper(), base_url=SITE, headers=headers, data="_status: reserved")


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_a_linked_program_mints_by_the_api_and_by_ezid(site, accounts):
    accounts.identities.link(GITHUB, JOB, "mint-job")
    token = signed(of_github())
    assert get(site, token).json["name"] == "mint-job"
    assert mint(site, token).status_code == 201
    assert ezid(site, f"Bearer {token}").text.startswith("success: ark:/12345/x5")
    assert ezid(site, basic("mint-job", token)).text.startswith("success: ark:/12345/x5")
    assert ezid(site, basic("jane", token)).status_code == 401


def test_the_audit_has_the_identity(site, accounts):
    from ararat.webapp.accounts.audit_listing import AuditSelection, list_audit

    accounts.identities.link(GITHUB, JOB, "mint-job")
    mint(site, signed(of_github()))
    row = next(
        row for row in list_audit(accounts, AuditSelection(account="mint-job")).rows if row.operation == "create"
    )
    assert row.token == f"{JOB} {GITHUB}"
    assert accounts.tokens.list("mint-job")[0].last_used is not None


@pytest.mark.parametrize(
    "how", ["not linked", "another subject", "person", "disabled", "unlinked", "revoked", "unmarked"]
)
def test_an_identity_that_may_not_is_refused_at_once(site, accounts, how):
    link = accounts.identities.link
    if how == "person":
        link(GITHUB, JOB, "jane")
    elif how == "another subject":
        link(GITHUB, JOB.upper(), "mint-job")
    elif how != "not linked":
        link(GITHUB, JOB, "mint-job")
        assert get(site, signed(of_github())).status_code == 200
    if how == "disabled":
        accounts.disable("mint-job")
    elif how == "unlinked":
        accounts.identities.unlink(GITHUB, JOB, "mint-job")
    elif how == "revoked":
        accounts.tokens.revoke(accounts.tokens.list("mint-job")[0].number)
    elif how == "unmarked":
        accounts.set_program("mint-job", False)
    refused = get(site, signed(of_github()))
    assert (refused.status_code, refused.json["code"]) == (401, "token-invalid")
    assert JOB in refused.json["detail"]
    assert "Bearer" in refused.headers["WWW-Authenticate"]
    assert mint(site, signed(of_github())).status_code == 401
    assert ezid(site, f"Bearer {signed(of_github())}").status_code == 401


def test_a_program_that_is_linked_again_is_accepted(site, accounts):
    for _ in range(2):
        accounts.identities.link(GITHUB, JOB, "mint-job")
        assert get(site, signed(of_github())).status_code == 200
        accounts.identities.unlink(GITHUB, JOB, "mint-job")
        assert get(site, signed(of_github())).status_code == 401


def test_a_person_that_becomes_a_program_has_tokens_of_its_provider(site, accounts):
    accounts.identities.link(GITHUB, JOB, "jane")
    assert get(site, signed(of_github())).status_code == 401
    accounts.set_program("jane", True)
    assert get(site, signed(of_github())).json["name"] == "jane"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tokens_answer_401_at_each_door(site, accounts, name):
    if accounts.identities.account(GITHUB, JOB) is None:
        accounts.identities.link(GITHUB, JOB, "mint-job")
    token = HOSTILE[name]()
    assert get(site, token).status_code == 401
    assert ezid(site, f"Bearer {token}").status_code == 401


def test_a_provider_that_is_away_answers_503(site, accounts, documents):
    accounts.identities.link(GITHUB, JOB, "mint-job")
    documents.away = True
    for answer in (get(site, signed(of_github())), ezid(site, f"Bearer {signed(of_github())}")):
        assert answer.status_code == 503
        assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert get(site, signed(of_github())).json["code"] == "provider-unavailable"


def test_a_token_of_a_provider_begins_no_session(site, accounts):
    accounts.identities.link(GITHUB, JOB, "mint-job")
    for credential in (f"Bearer {signed(of_github())}", basic("mint-job", signed(of_github()))):
        answer = ezid(site, credential, "get", "login")
        assert (answer.status_code, answer.headers.get("Set-Cookie")) == (401, None)


def test_a_token_cannot_change_accounts(site, accounts):
    accounts.set_role("mint-job", "administrator")
    accounts.identities.link(GITHUB, JOB, "mint-job")
    headers = {"Authorization": f"Bearer {signed(of_github())}"}
    answer = site.post("/desk/accounts/jane/disable", base_url=SITE, headers=headers)
    assert (answer.status_code, "token" in answer.text) == (403, True)
    assert accounts.get("jane").disabled is None


def test_without_issuers_such_a_token_is_wrong(accounts, documents):
    accounts.identities.link(GITHUB, JOB, "mint-job")
    site = create_app(accounts.bindings, prefix=SITE).test_client()
    assert get(site, signed(of_github())).status_code == 401
    assert not documents.read


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"token_audience": "a"}, "need each other"),
        ({"token_issuers": [GITHUB]}, "need each other"),
        ({"token_audience": " a", "token_issuers": [GITHUB]}, "white space"),
        ({"token_audience": "a", "token_issuers": ["http://idp.example"]}, "not an https URL"),
        (
            {"token_audience": "x", "token_issuers": [GITHUB], "openid": OpenID(issuer=GITHUB, client_id="x")},
            "client ID",
        ),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(settings, reason):
    with pytest.raises(ValueError, match=reason):
        create_app(prefix=SITE, **settings)
