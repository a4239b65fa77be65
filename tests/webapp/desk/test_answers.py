"""Pages that answer a form have an address, so that Back never asks to send the form again."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from ararat.bindings.names.errors import ReadOnlyBindings
from ararat.bindings.storage.tables import account_tables as tables
from ararat.webapp.accounts.records import sessions
from tests.webapp.desk.conftest import Browser, open_desk

NAME = "ark:12345/x5a"
HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9"}


@pytest.fixture(autouse=True)
def recorded(desk):
    desk.bindings.bind(NAME, "https://example.org/a", metadata={"what": "Map"}, actor="jane")


def save(browser, title, revision=1, **options):
    form = {"name": NAME, "revision": str(revision), "m.erc.what": title}
    return browser.post("/desk/name/metadata", form, headers=HTML, **options)


def test_a_conflict_says_who_changed_what_at_an_address_of_its_own(desk, ada, jane, read_page):
    assert save(jane, "Map of Jane").status_code == 303
    redirected = save(ada, "Map of Ada")
    assert redirected.status_code == 303
    assert redirected.location.startswith("/desk/answers/")
    first, shown = (ada.get(redirected.location) for _ in range(2))
    assert (first.status_code, shown.status_code) == (409, 409)
    page = read_page(shown.text)
    (change,) = page.one("ul", "todo").all("li")
    assert " ".join(change.text.split()).startswith("jane, ")
    assert "Updated" in change.text
    assert "What" in change.one("strong").text
    assert [each.text.strip() for each in page.all("dt")] == ["What", "What"]
    saved = save(ada, "Map of Ada", revision=2)
    assert saved.location.startswith("/desk/name?")
    # No other session sees the page.
    assert jane.get(redirected.location).status_code == 404
    assert desk.signed_in("ada").get(redirected.location).status_code == 404


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/desk/new/mint", {"shoulder": "nonsense", "count": "x"}, 422),
        ("/desk/name/target", {"name": NAME, "revision": "1", "target": "relative"}, 422),
        ("/desk/name/withdraw", {"name": NAME, "revision": "1", "successor": "nonsense"}, 422),
        ("/desk/name/publish", {"name": "ark:12345/x5nothing", "revision": "1"}, 404),
        ("/desk/tokens", {"label": ""}, 422),
        ("/desk/account/preferences", {"time_zone": "nowhere"}, 422),
    ],
)
def test_an_error_of_a_form_has_an_address(jane, path, form, status):
    redirected = jane.post(path, form, headers=HTML)
    assert redirected.status_code == 303
    assert redirected.location.startswith("/desk/answers/")
    shown = jane.get(redirected.location)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (status, "no-store")
    assert "<form" in shown.text or status == 404


def test_a_user_of_the_web_server_gets_an_address_too(tmp_path):
    (tmp_path / "remote").mkdir()
    desk = open_desk(tmp_path / "remote", remote_user="REMOTE_USER")
    app, account = desk.app, desk.accounts.get("jane")
    assert account is not None
    sessions = desk.accounts.sessions.count(account)

    def browser(user):
        return Browser(app.test_client()), {"environ_overrides": {"REMOTE_USER": user}}

    jane, as_jane = browser("jane")
    form = re.search(r'name="csrf_token" value="([0-9a-f]+)"', jane.get("/desk/new?many=1", **as_jane).text)
    assert form is not None
    jane.token = form[1]
    redirected = jane.post("/desk/new/mint", {"shoulder": "nonsense", "count": "x"}, headers=HTML, **as_jane)
    assert redirected.status_code == 303
    assert redirected.location.startswith("/desk/answers/")
    assert [jane.get(redirected.location, **as_jane).status_code for _ in range(2)] == [422, 422]
    # Another user of the same browser, and another browser, do not see it.
    ada, as_ada = browser("ada")
    assert jane.get(redirected.location, **as_ada).status_code == 404
    assert ada.get(redirected.location, **as_jane).status_code == 404
    # To keep the answer begins no session.
    assert desk.accounts.sessions.count(account) == sessions
    desk.bindings.close()


def test_only_browsers_are_redirected(jane):
    form = {"shoulder": "nonsense", "count": "x"}
    assert jane.post("/desk/new/mint", form).status_code == 422
    assert jane.post("/desk/new/mint", form, headers={**HTML, "HX-Request": "true"}).status_code == 422


def test_the_last_answers_are_kept(jane):
    seen = [save(jane, "x", revision=9 + each).location for each in range(sessions.MAX_ANSWERS + 1)]
    assert [jane.get(each).status_code for each in seen] == [404, *([409] * sessions.MAX_ANSWERS)]
    assert "Open the form again." in jane.get(seen[0]).text
    jane.post("/sign-out")
    assert jane.get(seen[-1]).status_code == 303


def kept(desk):
    with desk.bindings.store.transaction() as transaction:
        return [each for each in transaction.connection.execute(select(tables.sessions.c.answers)).scalars() if each]


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-out", "/desk/account/sessions"])
def test_an_ended_session_keeps_no_answer(desk, path):
    first, second = desk.signed_in("ada"), desk.signed_in("ada")
    assert save(first, "x", revision=9).status_code == 303
    assert len(kept(desk)) == 1
    (first if path == "/sign-out" else second).post(path)
    assert kept(desk) == []


def test_a_page_with_a_new_secret_is_not_kept(desk, jane):
    jane.post("/desk/tokens", {"label": "t"})
    shown = jane.post("/desk/tokens", {"label": ""}, headers=HTML)
    assert (shown.status_code, "<code>ararat_" in shown.text) == (422, True)
    assert kept(desk) == []


def test_a_database_that_cannot_be_written_shows_the_page_itself(jane, monkeypatch):
    def refuse(*_):
        raise ReadOnlyBindings("read-only")

    monkeypatch.setattr(sessions.Sessions, "keep_answer", refuse)
    assert save(jane, "x", revision=9).status_code == 409
