"""Messages that a page shows after a redirect."""

from __future__ import annotations

import pytest

from ararat.webapp.desk import messages
from ararat.webapp.desk.blueprint import see_other


@pytest.fixture
def put(visit):
    """put(browser, ...) makes a request of this browser that leaves a message."""

    def leave(browser, *arguments, **options):
        def view():
            messages.put(*arguments, **options)
            return see_other("desk.overview")

        return visit(browser, view)

    return leave


def test_message_is_shown_once(jane, put, read_page):
    assert put(jane, "The name is bound.", label="Undo", path="/desk/changes/1").location == "/desk"
    shown = read_page(jane.get("/desk").text).one("p", "message")
    assert "The name is bound." in shown.text
    assert shown.one("a").attributes["href"] == "/desk/changes/1"
    assert 'class="message' not in jane.get("/desk").text


def test_hostile_text_is_escaped(jane, put, read_page):
    put(jane, "Bound <script>\u202eark:12345/x\x00.")
    text = jane.get("/desk").text
    assert "<script>\u202e" not in text
    assert "RIGHT-TO-LEFT" in text or "U+202E" in text
    assert len(read_page(text).all("p", "message")) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["https://evil.test/", "//evil.test/", "/x" * 500])
def test_link_leads_to_this_site_only(jane, put, read_page, path):
    put(jane, "Done.", label="More", path=path)
    assert read_page(jane.get("/desk").text).one("p", "message").all("a") == []


def test_long_message_fits_into_a_cookie(jane, put):
    response = put(jane, "\U0001f600" * 5000)
    assert len(response.headers["Set-Cookie"]) < 4096
    assert 'class="message' in jane.get("/desk").text


def test_cookie_of_another_session_is_ignored(desk, jane, put):
    put(jane, "Done.")
    cookie = jane.client.get_cookie(messages.COOKIE)
    rita = desk.signed_in("rita")
    rita.client.set_cookie(messages.COOKIE, cookie.value)
    assert 'class="message' not in rita.get("/desk").text


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["", ".", "x.y", "eyJ9." + "0" * 64, "\u00e9"])
def test_forged_cookie_is_ignored(jane, value):
    jane.client.set_cookie(messages.COOKIE, value)
    response = jane.get("/desk")
    assert response.status_code == 200
    assert 'class="message' not in response.text
    assert f"{messages.COOKIE}=;" in response.headers["Set-Cookie"]


def test_cookie_is_for_this_site_only(jane, put):
    cookie = put(jane, "Done.").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
