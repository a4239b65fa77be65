"""Public addresses with a path, such as https://example.org/ids, behind a proxy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.cli.serving.application import Placement, compose
from ararat.middleware import Bindings, open_bindings
from ararat.webapp.accounts.store import Accounts

PASSWORD = "correct horse battery"
HOST = "http://ids.example"


@pytest.fixture
def bindings(tmp_path: Path) -> Iterator[Bindings]:
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/x")
        Accounts(bindings).add("jane", "administrator", [], PASSWORD)
        yield bindings


def served(bindings: Bindings, prefix: str = "https://ids.example/base", inspector: str | None = None) -> Client:
    return Client(
        compose(
            bindings,
            Placement(prefix=prefix, address="http://127.0.0.1:8000", inspector=inspector or prefix),
            {"ezid": "/ezid"},
        )
    )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "inspector", "path", "host", "status"),
    [
        pytest.param("https://ids.example/base", None, "/base/ark:12345/x", "ids.example", 302, id="the whole path"),
        pytest.param("https://ids.example/base", None, "/base/ark:12345/x", "127.0.0.1", 302, id="no host passed on"),
        pytest.param("https://ids.example/base", None, "/ark:12345/x", "ids.example", 302, id="the path is removed"),
        pytest.param("https://ids.example/base", None, "/base", "ids.example", 200, id="the home page"),
        pytest.param("https://ids.example/base", None, "/based/ark:12345/x", "ids.example", 404, id="a longer word"),
        pytest.param("https://ids.example/a%20b", None, "/a%20b/ark:12345/x", "ids.example", 302, id="a space"),
        pytest.param("https://ids.example/%C3%A9", None, "/%C3%A9/desk/", "ids.example", 303, id="not ASCII"),
        pytest.param("https://ids.example", "https://look.example/i", "/i/desk/", "look.example", 303, id="inspector"),
        pytest.param("https://ids.example", "https://look.example/i", "/ark:12345/x", "ids.example", 302, id="root"),
    ],
)
def test_the_path_of_a_public_address_leads_to_the_same_pages(
    prefix: str, inspector: str | None, path: str, host: str, status: int, bindings: Bindings
) -> None:
    client = served(bindings, prefix, inspector)
    assert client.get(path, base_url=f"http://{host}").status_code == status


@pytest.mark.one_setup
@pytest.mark.parametrize("mount", ["", "/base"], ids=["of the prefix", "of the server"])
@pytest.mark.parametrize("target", ["*", "ids.example:443", "ark:12345/x", "desk"])
def test_a_target_that_is_not_a_path_is_refused_below_a_mount(bindings: Bindings, target: str, mount: str) -> None:
    received = {"SCRIPT_NAME": mount, "PATH_INFO": target, "REQUEST_URI": target}
    answer = served(bindings).open("/", base_url=HOST, environ_overrides=received)
    assert (answer.status_code, "not a path" in answer.text) == (400, True)


@pytest.mark.parametrize("received", [pytest.param("/base", id="whole"), pytest.param("", id="removed by the proxy")])
def test_each_link_and_redirect_of_the_desk_includes_the_path(received: str, bindings: Bindings) -> None:
    client = served(bindings)
    answer = client.get(f"{received}/desk/", base_url=HOST)
    assert (answer.status_code, answer.location) == (303, "/base/sign-in?next=/base/desk/")
    page = client.get(f"{received}/sign-in?next=/base/desk/", base_url=HOST)
    # The form of the languages at the end of the page has another "next".
    form = dict(reversed(re.findall(r'name="(csrf_token|next)" value="([^"]*)"', page.text)))
    sent = client.post(f"{received}/sign-in", data=form | {"name": "jane", "password": PASSWORD}, base_url=HOST)
    assert (sent.status_code, sent.location) == (303, "/base/desk/")
    name = "ark:12345/x"
    pages = ("/desk/", f"/desk/name?name={name}", "/desk/accounts", "/", "/docs", "/registries", f"/trace?q={name}")
    answers = [client.get(f"{received}{path}", base_url=HOST) for path in pages]
    token = re.findall(r'name="csrf_token" value="([^"]*)"', answers[1].text)[0]
    bindings.bind(name, "https://example.org/x", metadata={"what": "Theirs"})
    form = {"name": name, "revision": "1", "m.erc.what": "Mine", "csrf_token": token}
    conflict = client.post(f"{received}/desk/name/metadata", data=form, base_url=HOST)
    assert ([each.status_code for each in answers], conflict.status_code) == ([200] * len(pages), 409)
    for answer in (*answers, conflict):
        paths = [each for each in addresses(answer.text) if each.startswith("/")]
        assert [each for each in paths if not f"{each}/".startswith("/base/")] == []


def test_links_at_another_host_have_no_path(bindings: Bindings) -> None:
    client = served(bindings)
    assert client.get("/desk/", base_url="http://127.0.0.1:8000").location == "/sign-in?next=/desk/"


def addresses(page: str) -> list[str]:
    return re.findall(r'\s(?:href|src|action|formaction|hx-[a-z]+|sse-connect)="([^"]*)"', page)
