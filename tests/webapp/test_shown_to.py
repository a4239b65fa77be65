"""Tokens with a single right, without the right to read, learn nothing about the reserved names of others at any door.

Each request of the API, of the EZID API and of the desk is sent for a reserved name and for one that does not exist.
The answers are equal, and contain neither the name's target nor its title and texts. All requests share one site.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from ararat.bindings.holding import hold
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

OTHERS = {"reserved": "ark:12345/y1", "embargoed": "ark:12345/y2", "held": "ark:12345/y3"}
UNKNOWN = "ark:12345/y9"
SECRETS = ("SECRET", "secret.example")
RIGHTS = ["mint", "bind", "relocate", "describe", "withdraw"]
ELSEWHERE = "https://elsewhere.example/"

Send = Callable[[FlaskClient, str, str], Any]


def ezid(method: str, query: str = "", body: str | None = None) -> Send:
    def send(client: FlaskClient, secret: str, name: str) -> Any:
        credentials = base64.b64encode(f"jane:{secret}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "text/plain"}
        path = f"/ezid/id/ark:/{name[4:]}{query}"
        return client.open(path, method=method, data=body, headers=headers if body else dict([*headers.items()][:1]))

    return send


def desk(path: str, **form: str) -> Send:
    def send(client: FlaskClient, secret: str, name: str) -> Any:
        values = {key: value.replace("NAME", name) for key, value in form.items()}
        headers = {"Authorization": f"Bearer {secret}"}
        method = "POST" if form else "GET"
        return client.open(path.replace("NAME", quote(name)), method=method, data=values or None, headers=headers)

    return send


def api(path: str, method: str = "GET", json: Any = None, **headers: str) -> Send:
    def send(client: FlaskClient, secret: str, name: str) -> Any:
        fields = {"Authorization": f"Bearer {secret}"} | headers
        url = "/api/v1" + path.replace("NAME", name)
        return client.open(url, method=method, json=_named(json, name), headers=fields)

    return send


def _named(json: Any, name: str) -> Any:
    if isinstance(json, dict):
        return {key: _named(value, name) for key, value in json.items()}
    if isinstance(json, list):
        return [_named(each, name) for each in json]
    return json.replace("NAME", name) if isinstance(json, str) else json


REQUESTS: dict[str, Send] = {
    "ezid view": ezid("GET"),
    "ezid view of a prefix": ezid("GET", "?prefix_match=yes"),
    "ezid create": ezid("PUT", body=f"_target: {ELSEWHERE}\n"),
    "ezid create or update": ezid("PUT", "?update_if_exists=yes", f"_target: {ELSEWHERE}\n"),
    "ezid update": ezid("POST", body="erc.what: other\n"),
    "ezid publish": ezid("POST", body="_status: public\n"),
    "ezid withdraw": ezid("POST", body="_status: unavailable\n"),
    "ezid delete": ezid("DELETE"),
    "desk name": desk("/desk/name?name=NAME"),
    "desk metadata": desk("/desk/name/metadata?name=NAME"),
    "desk parts": desk("/desk/name/parts?name=NAME"),
    "desk target": desk("/desk/name/target?name=NAME"),
    "desk withdraw": desk("/desk/name/withdraw?name=NAME"),
    "desk publish": desk("/desk/name/publish?name=NAME"),
    "desk hold": desk("/desk/holds/set?name=NAME"),
    "desk labels": desk("/desk/labels?pick=NAME"),
    "desk selected": desk("/desk/names/selected?do=withdraw&pick=NAME"),
    "desk names": desk("/desk/names?q=NAME"),
    "desk changes": desk("/desk/changes?q=NAME"),
    "desk new": desk("/desk/new", name="NAME", target=ELSEWHERE),
    "desk save": desk("/desk/name/metadata", name="NAME", revision="1", **{"m.erc.what": "other"}),
    "desk move": desk("/desk/name/target", name="NAME", revision="1", target=ELSEWHERE, same="1"),
    "desk delete": desk("/desk/name/delete", name="NAME", revision="1"),
    "desk undo": desk("/desk/name/undo", name="NAME", revision="1"),
    "show": api("/names/NAME"),
    "history": api("/names/NAME/history"),
    "put": api("/names/NAME", "PUT", {"target": ELSEWHERE}),
    "put as reserved": api("/names/NAME", "PUT", {"state": "reserved"}),
    "create": api("/names", "POST", {"names": [{"name": "NAME", "target": ELSEWHERE}]}),
    "relocate": api("/names/NAME/relocate", "POST", {"target": ELSEWHERE}),
    "withdraw": api("/names/NAME/withdraw", "POST", {}),
    "restore": api("/names/NAME/restore", "POST", {}),
    "delete": api("/names/NAME", "DELETE"),
    "stale delete": api("/names/NAME", "DELETE", If_Match='"99"'),
    "hold": api("/holds", "POST", {"name": "NAME", "until": "2999-01-01", "reason": "x"}),
    "release": api("/holds/release", "POST", {"name": "NAME"}),
    "holds": api("/holds?all=1"),
    "operations": api("/operations"),
    "list": api("/names?prefix=NAME"),
    "search": api("/names?q=SECRET"),
    "export": api("/exports", "POST", {"format": "csv", "selection": {"prefix": "NAME"}}),
    "successor": api("/names/ark:12345/x5own/withdraw?dry_run=1", "POST", {"successor": "NAME"}),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FlaskClient, dict[str, str]]]:
    """A client of a site with the names of another department, and a token of the curator jane for each right."""
    file = tmp_path_factory.mktemp("shown") / "bindings.sqlite"
    with open_bindings(file, create=True) as bindings:
        accounts = Accounts(bindings)
        accounts.add("ada", "administrator")
        accounts.add("jane", "curator", ["ark:12345/x5"])
        secret: dict[str, Any] = {"resource": "SECRET 1", "metadata": {"what": "SECRET title"}}
        for state, name in OTHERS.items():
            embargo = "2999-01-01" if state == "embargoed" else None
            bindings.reserve(name, f"https://secret.example/{name[-2:]}", embargo=embargo, **secret)
        hold(bindings, OTHERS["held"], bindings.now() + timedelta(days=3), reason="SECRET court")
        bindings.bind("ark:12345/x5own", "https://example.org/own")
        app = create_app(bindings, prefix="http://localhost", ezid="/ezid", trace_elsewhere=False)
        app.extensions["ararat_imports"].worker.wake = lambda: None  # the jobs need not run
        yield (
            app.test_client(),
            {right: accounts.tokens.create("jane", right, rights=[right])[1] for right in ("read", *RIGHTS)},
        )


def text_of(answer: Any, name: str) -> tuple[int, str]:
    """Return an answer without the name that was sent, and the numbers and times that differ in each."""
    text = answer.text + answer.headers.get("Location", "")
    for spelling in (name, name.replace("ark:", "ark:/"), quote(name, safe=""), quote(name)):
        text = text.replace(spelling, "NAME")
    text = re.sub(r'"(number|created|changed|expires)": ?[^,}]*|/(changes|imports|exports|answers)/[\w-]+', "", text)
    return answer.status_code, re.sub(r'nonce="[^"]*"|value="[0-9a-f]{64}"', "", text)


@pytest.mark.parametrize(
    "right",
    [right if right in ("bind", "describe") else pytest.param(right, marks=pytest.mark.long) for right in RIGHTS],
)
def test_an_answer_about_a_reserved_name_of_others_is_that_about_an_unknown_one(
    right: str, site: tuple[FlaskClient, dict[str, str]]
) -> None:
    client, tokens = site
    for title, send in REQUESTS.items():
        expected = text_of(send(client, tokens[right], UNKNOWN), UNKNOWN)
        for state, name in OTHERS.items():
            found = text_of(send(client, tokens[right], name), name)
            assert found == expected, (title, state)
            assert not any(secret in found[1] for secret in SECRETS), (title, state)


@pytest.mark.parametrize("title", ["show", "ezid view", "search", "holds"])
def test_a_token_with_the_right_to_read_sees_the_names(title: str, site: tuple[FlaskClient, dict[str, str]]) -> None:
    client, tokens = site
    answer = REQUESTS[title](client, tokens["read"], OTHERS["held"])
    assert any(secret in answer.text for secret in SECRETS), answer.text
