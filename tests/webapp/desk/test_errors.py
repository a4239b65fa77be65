"""Error pages of the desk."""

from __future__ import annotations

import pytest

from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.webapp.config import site_bindings
from ararat.webapp.desk.blueprint import caller
from ararat.webapp.management import Fields, reading
from ararat.webapp.management.permissions import require_administrator
from tests.webapp.management.acts import Acts


def test_missing_role_is_named_with_the_administrators(rita, visit, read_page):
    response = visit(rita, lambda: require_administrator(caller()))
    page = read_page(response.text)
    assert response.status_code == 403
    text = " ".join(page.one("div", "desk").text.split())
    assert "only an administrator can do this, and the caller is a reader" in text.replace("Only", "only")
    assert "You are signed in as rita, reader" in text
    assert "ada" in text


def test_missing_grant_is_named(jane, visit, read_page):
    response = visit(
        jane, lambda: Acts(site_bindings()).save(caller(), "ark:12345/y1", Fields(target="https://a.test/"))
    )
    assert response.status_code == 403
    assert "ark:12345/y1" in read_page(response.text).one("div", "desk").text


def test_missing_name_is_a_page_of_the_desk(jane, visit, read_page):
    response = visit(jane, lambda: reading.show(site_bindings(), caller(), "ark:12345/x5none"))
    assert response.status_code == 404
    assert read_page(response.text).one("nav", aria_label="Desk")


def test_conflict_is_a_page_of_the_desk(desk, jane, visit):
    desk.bindings.bind("ark:12345/x51", "https://a.test/")
    fields = Fields(target="https://b.test/")
    assert (
        visit(jane, lambda: Acts(site_bindings()).save(caller(), "ark:12345/x51", fields, revision=0)).status_code
        == 409
    )


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["ada", "jane", "rita"])
def test_hostile_text_of_an_error_is_escaped(desk, visit, name):
    def view():
        raise BindingError("list-text", "<b>\u202ex\u202c</b>")

    response = visit(desk.signed_in(name), view)
    assert response.status_code == 422
    assert "<b>" not in response.text
    assert "\u202e" not in response.text


def test_fragment_and_json_get_no_page(desk, jane, visit):
    visit(jane, lambda: require_administrator(caller()))
    fragment = jane.fragment("/desk/visit")
    assert fragment.status_code == 403
    assert "<html" not in fragment.text
    problem = jane.get("/desk/visit", headers={"Accept": "application/json"})
    assert problem.json["code"] == "role-missing"


def test_unavailable_database_is_a_503(jane, visit):
    def view():
        raise BindingsUnavailable("gone")

    assert visit(jane, view).status_code == 503
