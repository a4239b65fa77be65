"""Credentials: a password or a token with each request, or a session cookie."""

from __future__ import annotations

import base64
from collections.abc import Callable
from http.cookies import SimpleCookie

import pytest

from tests.webapp.ezid.client import EzidClient, Reply
from tests.webapp.ezid.conftest import PASSWORD, Person, Service

UNAUTHORIZED = "error: unauthorized"


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"}


def cookie_of(reply: Reply) -> dict[str, str]:
    """Return the attributes of the cookie that an answer sets."""
    [morsel] = SimpleCookie(reply.fields["Set-Cookie"]).values()
    assert morsel.key == "sessionid"
    return {"value": morsel.value, **{name: str(value) for name, value in morsel.items() if value}}


def test_a_change_needs_credentials(anonymous: EzidClient, curator: Person) -> None:
    name = f"{curator.shoulder}x"
    replies = [
        anonymous.create(name),
        anonymous.update(name, {"a": "b"}),
        anonymous.delete(name),
        anonymous.mint(curator.shoulder),
        anonymous.request_download(("format", "anvl")),
        anonymous.login(),
    ]
    assert {reply[:2] for reply in replies} == {(401, UNAUTHORIZED)}
    assert {reply.fields["WWW-Authenticate"] for reply in replies} == {'Basic realm="EZID"'}


def test_a_wrong_credential_is_refused_also_where_none_is_needed(anonymous: EzidClient, curator: Person) -> None:
    name = curator.client.mint(curator.shoulder).identifier
    wrong = [
        basic(curator.name, "wrong password"),
        basic("", "ararat_wrong"),
        {"Authorization": "Basic ?"},
        {"Authorization": "Basic \xe9"},
        {"Authorization": "Digest a=b"},
        {"Authorization": "Bearer ararat_wrong"},
        {"Cookie": f"sessionid={'a' * 43}"},
    ]
    for fields in wrong:
        reply = anonymous.send("GET", f"/id/{name}", fields=fields)
        assert (reply.status, reply.line.partition(" - ")[0]) == (401, UNAUTHORIZED), fields
        assert reply.fields["WWW-Authenticate"] == 'Basic realm="EZID"'
    # Other applications use the name of the cookie, too.
    assert anonymous.send("GET", f"/id/{name}", fields={"Cookie": "sessionid=abc"}).status == 200


def test_a_session_replaces_the_credentials(new_person: Callable[..., Person], service: Service) -> None:
    curator = new_person(password=PASSWORD)
    login = curator.client.login()
    assert login[:2] == (200, "success: session cookie returned")
    cookie = cookie_of(login)
    assert cookie == {
        "value": cookie["value"],
        "path": service.base.partition(service.server.origin)[2],
        "httponly": "True",
        "samesite": "Strict",
    }
    with_cookie = {"Cookie": f"sessionid={cookie['value']}"}
    client = EzidClient(service.base)
    minted = client.send("POST", f"/shoulder/{curator.shoulder}", fields=with_cookie)
    assert minted.status == 201
    logout = client.send("GET", "/logout", fields=with_cookie)
    assert logout[:2] == (200, "success: authentication credentials flushed")
    assert cookie_of(logout)["max-age"] == "0"
    after = client.send("POST", f"/shoulder/{curator.shoulder}", fields=with_cookie)
    assert (after.status, after.line[:19]) == (401, UNAUTHORIZED)
    # A client with a stored password sends it after the answer 401.
    assert curator.client.mint(curator.shoulder).status == 201


def test_logout_without_a_session_succeeds(anonymous: EzidClient) -> None:
    assert anonymous.logout()[:2] == (200, "success: authentication credentials flushed")


@pytest.mark.one_setup
@pytest.mark.parametrize("has_name", [True, False])
def test_a_token_is_the_password_of_basic_credentials(service: Service, curator: Person, has_name: bool) -> None:
    _, secret = service.accounts.tokens.create(curator.name, "repository")
    client = EzidClient(service.base, curator.name if has_name else "", secret)
    assert client.mint(curator.shoulder).status == 201


def test_the_session_of_a_token_has_its_prefixes_and_ends_with_it(service: Service, curator: Person) -> None:
    token, secret = service.accounts.tokens.create(curator.name, "one", prefixes=[f"{curator.key}a1"])
    client = EzidClient(service.base, curator.name, secret)
    session = cookie_of(client.login())["value"]
    with_cookie = {"Cookie": f"sessionid={session}"}
    without_token = {"Cookie": f"sessionid={session.partition('.')[0]}"}
    anonymous = EzidClient(service.base)

    def create(end: str, fields: dict[str, str]) -> int:
        return anonymous.send("PUT", f"/id/{curator.shoulder}{end}", fields=fields).status

    assert create("b", with_cookie) == 403
    assert create("a1b", with_cookie) == 201
    assert create("a1c", without_token) == 401
    assert create("a1c", {"Cookie": f"sessionid={session}9"}) == 401
    service.accounts.tokens.revoke(token.number)
    assert create("a1d", with_cookie) == 401
    assert client.mint(curator.shoulder).status == 401


def test_a_disabled_account_is_refused_immediately(service: Service, curator: Person) -> None:
    curator.client.login()
    assert curator.client.mint(curator.shoulder).status == 201
    service.accounts.disable(curator.name)
    assert {curator.client.mint(curator.shoulder).status for _ in range(4)} == {401}


def test_a_page_of_another_site_changes_nothing(service: Service, curator: Person, anonymous: EzidClient) -> None:
    _, secret = service.accounts.tokens.create(curator.name, "browser")
    known = basic(curator.name, secret)
    for field in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        fields = {**known, **field}
        name = f"/id/{curator.shoulder}x"
        replies = [
            anonymous.send("PUT", name, fields=fields),
            anonymous.send("POST", f"/shoulder/{curator.shoulder}", fields=fields),
            anonymous.send("POST", "/download_request", body=b"format=anvl", content_type="text/plain", fields=fields),
            anonymous.send("GET", "/login", fields=fields),
            anonymous.send("GET", "/logout", fields=fields),
        ]
        assert [reply.status for reply in replies] == [403, 403, 400, 403, 403]
        assert anonymous.send("GET", name, fields=fields).status == 400


def test_too_many_failed_attempts_are_refused(new_person: Callable[..., Person], service: Service) -> None:
    person = new_person(password=PASSWORD)
    anonymous = EzidClient(service.base)
    lines = [anonymous.send("GET", "/login", fields=basic(person.name, "wrong password")).line for _ in range(6)]
    assert lines[0] == "error: unauthorized - The name or the password is wrong."
    assert lines[5].startswith("error: unauthorized - There were too many failed attempts to sign in.")
    assert anonymous.send("GET", "/login", fields=basic(person.name, PASSWORD)).status == 401
    # Later tests sign in from the same address.
    from ararat.bindings.storage.tables.account_tables import sign_ins

    service.accounts.run_in_transaction(lambda each: each.execute(sign_ins.delete()))
