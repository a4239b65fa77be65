"""A server with a temporary database states on each page of the desk that names are lost, and how to keep them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from ararat.middleware import open_bindings
from ararat.webapp import create_app
from tests.webapp.desk.conftest import Browser, Desk

NOTICE = "Demonstration: names are lost when the server stops."
COMMAND = "ararat serve --database museum.sqlite --create"
SECRET = "s" * 43
NAME = "ark:12345/x5a"


def pages(ada: Browser) -> dict[str, TestResponse]:
    """Return the pages of the desk that a link of another one leads to, by their addresses."""
    found, waiting = dict[str, TestResponse](), ["/desk"]
    while waiting and len(found) < 60:
        path = waiting.pop(0)
        answer = found[path] = ada.get(path)
        if answer.mimetype == "text/html":
            links = re.findall(r'href="(/desk[^"#?.]*)["#?]', answer.text)
            waiting += [each for each in dict.fromkeys(links) if each not in found and each not in waiting]
    return found


@pytest.mark.parametrize("temporary", [False, True])
def test_each_page_of_the_desk_has_the_notice_and_the_command(make_desk: Callable[..., Desk], temporary: bool) -> None:
    desk = make_desk(temporary=temporary)
    desk.bindings.bind(NAME, "https://example.org/")
    ada, rita = desk.signed_in("ada"), desk.signed_in("rita")
    shown: dict[str, bool] = {}
    others = ("/sign-in", "/sign-out", "/desk/none", f"/desk/name?name={NAME}", "/desk/name?name=ark:12345/none")
    found = pages(ada)
    assert len(found) > 15
    for path, answer in (found | {path: ada.get(path) for path in others}).items():
        if answer.mimetype == "text/html" and answer.status_code not in (302, 303):
            shown[path] = NOTICE in answer.text and COMMAND in answer.text
    assert len(shown) > 15
    assert [path for path, notice in shown.items() if notice is not temporary] == []
    refused = rita.get("/desk/accounts")
    assert (refused.status_code, NOTICE in refused.text) == (403, temporary)
    german = ada.get("/desk", headers={"Accept-Language": "de"}).text
    assert ("Demonstration: " in german, COMMAND in german) == (temporary, temporary)
    for path in ("/", f"/?q={NAME}", "/docs", "/problems"):
        assert NOTICE not in ada.get(path).text


@pytest.mark.one_setup
@pytest.mark.parametrize("temporary", [False, True])
def test_the_pages_of_the_first_account_have_the_notice(temporary: bool, tmp_path: object) -> None:
    with open_bindings(f"{tmp_path}/new.sqlite", create=True) as bindings:
        client = create_app(bindings, first_secret=SECRET, temporary=temporary).test_client()
        answers = [client.get(path) for path in (f"/first-account/{SECRET}", "/sign-in", "/first-account/wrong")]
        answers.append(client.post(f"/first-account/{SECRET}"))
        assert [answer.status_code for answer in answers] == [200, 200, 404, 403]
        assert {NOTICE in answer.text and COMMAND in answer.text for answer in answers} == {temporary}
