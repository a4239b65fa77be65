"""One-time links: the first administrator, and a password that only its user knows."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

PASSWORD = "correct horse battery staple"
SECRET = "s" * 43
FIRST = f"/first-account/{SECRET}"


@pytest.fixture
def empty(tmp_path):
    with open_bindings(tmp_path / "names.sqlite", create=True) as found:
        yield found


def form_of(client, path=FIRST, **fields):
    found = re.search('name="csrf_token" value="([0-9a-f]{64})"', client.get(path).text)
    assert found
    return {"csrf_token": found[1], "name": "adam", "password": PASSWORD, "again": PASSWORD} | fields


def test_the_link_creates_the_first_administrator_and_signs_in_once(empty):
    client = create_app(empty, first_secret=SECRET).test_client()
    form = form_of(client)
    made = client.post(FIRST, data=form)
    assert (made.status_code, made.location) == (303, "/desk")
    assert "You are signed in as administrator" in client.get("/desk").text
    assert [(each.name, each.role) for each in Accounts(empty).list()] == [("adam", "administrator")]
    assert client.get(FIRST).status_code == 404
    token = re.search('name="csrf_token" value="([0-9a-f]{64})"', client.get("/sign-out").text)
    assert token
    assert client.post(FIRST, data=form | {"csrf_token": token[1], "name": "eve"}).status_code == 404


def test_two_requests_at_once_create_one_account(empty):
    app = create_app(empty, first_secret=SECRET)
    clients = [app.test_client() for _ in range(2)]
    forms = [form_of(client, name=name) for client, name in zip(clients, ("adam", "eve"), strict=True)]
    with ThreadPoolExecutor(2) as pool:
        sent = zip(clients, forms, strict=True)
        codes = list(pool.map(lambda each: each[0].post(FIRST, data=each[1]).status_code, sent))
    assert sorted(codes) in ([303, 404], [303, 422])
    assert len(Accounts(empty).list()) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"password": "short", "again": "short"}, "has 5 characters", id="short"),
        pytest.param({"again": "another horse battery"}, "The passwords are different", id="different"),
        pytest.param({"name": "J\u00f6rg"}, "is not a name of an account", id="name"),
        pytest.param({"name": ""}, "is not a name of an account", id="no name"),
    ],
)
def test_a_wrong_form_keeps_the_link_and_the_name(empty, fields, said):
    client = create_app(empty, first_secret=SECRET).test_client()
    refused = client.post(FIRST, data=form_of(client, **fields))
    assert refused.status_code == 422
    assert said in refused.text
    assert "<title>Error: " in refused.text
    assert PASSWORD not in refused.text
    assert client.post(FIRST, data=form_of(client)).status_code == 303


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "path", "status"),
    [
        pytest.param({}, f"/first-account/{'t' * 43}", 404, id="wrong"),
        pytest.param({}, "/first-account/%C3%A4", 404, id="not ASCII"),
        pytest.param({"base_url": "http://ids.example.org"}, FIRST, 403, id="http"),
        pytest.param({"headers": {"X-Forwarded-For": "203.0.113.5"}}, FIRST, 403, id="proxy with http"),
        pytest.param({"environ_base": {"REMOTE_ADDR": "203.0.113.5"}}, FIRST, 403, id="another machine"),
        pytest.param({"base_url": "https://ids.example.org"}, FIRST, 200, id="https"),
    ],
)
def test_the_link_works_over_https_and_on_the_machine_of_the_server_only(empty, options, path, status):
    client = create_app(empty, first_secret=SECRET).test_client()
    assert client.get(path, **options).status_code == status


def test_without_a_secret_or_from_another_page_no_account_is_created(empty):
    client = create_app(empty).test_client()
    assert client.get("/first-account/None").status_code == client.get("/first-account/").status_code == 404
    client = create_app(empty, first_secret=SECRET).test_client()
    form = form_of(client)
    assert client.post(FIRST, data=form | {"csrf_token": "0" * 64}).status_code == 403
    assert client.post(FIRST, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert not Accounts(empty).list()
