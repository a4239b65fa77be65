"""The page where a registration is drafted: findings while one types, and the record as a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ararat.identifiers import schemes
from ararat.webapp import create_app

DRAFT: dict[str, Any] = {"name": "atlas", "status": "provisional", "contact": "maps@example.org"}
HOSTILE = '"></textarea><script>alert(1)</script>\u202e\u05d0{{7*7}}\x1b[2J\r\nStatus: permanent'


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


def codes(page):
    return [each.text for item in page.one(id="answer").all("li") for each in item.all("code")]


@pytest.mark.parametrize("profile", schemes.PROFILES)
def test_the_page_says_what_lint_says(client, read_page, profile):
    page = read_page(client.post("/schemes/draft", data={**DRAFT, "profile": profile}).text)
    findings = schemes.lint(schemes.Registration(**DRAFT), profile)
    assert codes(page) == [found.code for found in findings]
    fields = {each.attributes["id"] for each in page.walk() if "id" in each.attributes}
    assert {link.attributes["href"][1:] for link in page.one(id="answer").all("a")} <= fields
    assert page.one("input", id="f-name").attributes["value"] == "atlas"
    selected = [option.text for option in page.all("option") if "selected" in option.attributes]
    assert selected == [schemes.PROFILES[profile].title, "provisional"]


def test_the_empty_form_is_not_judged_and_every_field_has_its_label(client, read_page):
    page = read_page(client.get("/schemes/draft").text)
    assert page.one(id="answer").text.strip() == ""
    assert "checked" not in page.one("input", name="update").attributes
    labels = {label.attributes["for"]: label.text for label in page.all("label") if "for" in label.attributes}
    assert {f"f-{field.name}": field.label for field in schemes.FIELDS}.items() <= labels.items()


def test_it_is_judged_while_one_types_and_htmx_gets_the_findings_alone(client, read_page):
    form = read_page(client.get("/schemes/draft").text).one("form")
    assert form.attributes["hx-trigger"].startswith("input delay:400ms")
    page = read_page(client.post("/schemes/draft", data=DRAFT, headers={"HX-Request": "true"}).text)
    assert page.all("form") == []
    assert page.one("p", id="said").text == page.one(id="wrong").text == "Two errors, six warnings"


def test_one_begins_with_a_record_that_ships(client, read_page):
    page = read_page(client.get("/schemes/draft?begin=urn&profile=7595").text)
    assert page.one(id="wrong").text == "Nothing to find fault with"
    assert "checked" in page.one("input", name="update").attributes
    assert page.one("textarea", id="f-syntax").text.strip() == getattr(schemes.registration("urn"), "syntax", None)
    refused = client.get("/schemes/draft?begin=https", headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json["code"]) == (400, "parameter")


@pytest.mark.parametrize("record", [DRAFT, {**DRAFT, "syntax": HOSTILE, "security": "a\n\n\n\nb"}, {}])
def test_what_is_saved_is_read_back_as_it_was(client, record):
    expected = schemes.Registration(**record)
    for form, kind in (("text", "text/plain"), ("json", "application/json")):
        answer = client.post(f"/schemes/draft/record?form={form}", data=record)
        assert answer.mimetype == kind
        if record or form == "json":
            assert schemes.read(answer.data.decode()) == expected
    assert json.loads(answer.text) == expected.as_dict()


@pytest.mark.parametrize(
    ("name", "file"),
    [
        pytest.param("atlas", "registration-atlas.txt", id="a name"),
        pytest.param("ATLAS", "registration-atlas.txt", id="upper case"),
        pytest.param("x" * 100, f"registration-{'x' * 60}.txt", id="a long one"),
        pytest.param('a"; filename=../b', "registration.txt", id="no name"),
        pytest.param("a\r\nX: y", "registration.txt", id="a line break"),
    ],
)
def test_the_file_is_called_by_a_name_that_is_one(client, name, file):
    answer = client.post("/schemes/draft/record", data={"name": name})
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{file}"'
    assert "X" not in answer.headers


def test_nothing_of_a_draft_becomes_an_element(client, read_page):
    for headers in ({}, {"HX-Request": "true"}):
        answer = client.post("/schemes/draft", data={field.name: HOSTILE for field in schemes.FIELDS}, headers=headers)
        assert answer.status_code == 200
        assert "\u202e" not in answer.text
        assert "<script>alert" not in answer.text
        read_page(answer.text)


def test_as_json_it_is_the_record_with_its_findings(client):
    answer = client.post("/schemes/draft", data=DRAFT, headers={"Accept": "application/json"})
    assert answer.json["record"] == schemes.Registration(**DRAFT).as_dict()
    assert len(answer.json["findings"]) == 8
    assert answer.data.isascii()


@pytest.mark.parametrize(
    ("address", "form", "status"),
    [
        pytest.param("/schemes/draft", {"profile": "x"}, 400, id="profile"),
        pytest.param("/schemes/draft/record?form=xml", {}, 400, id="form"),
        pytest.param("/schemes/draft", {"syntax": "x" * 200_001}, 413, id="too long"),
        pytest.param("/schemes/draft/record", {"syntax": "x" * 1_300_000}, 413, id="far too long"),
    ],
)
def test_what_will_not_do_is_refused(client, address, form, status):
    assert client.post(address, data=form).status_code == status
