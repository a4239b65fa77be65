"""The API: the same reports as JSON, in printable ASCII."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from ararat.cli.inspect import inspect_command
from ararat.identifiers import examine
from ararat.webapp import create_app
from ararat.webapp.config import MAX_BYTES

FIELDS = {"start", "end", "literal", "suggestion", "why", "report", "bound", "hold", "verdict"}


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


def assert_answer(response):
    """Check a successful answer: the fields of the contract, as ASCII, readable by any page."""
    assert response.status_code == 200
    assert response.content_type == "application/json"
    assert response.data.isascii()
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert set(response.json) == {"input_length", "truncated", "found"}
    assert all(set(found) == FIELDS for found in response.json["found"])
    return response.json


def assert_problem(response, status, code):
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert response.json["code"] == code


def test_a_query_is_inspected(client):
    answer = assert_answer(client.get("/api/inspect", query_string={"q": "see ark:/12345/x-1#f"}))
    assert answer["input_length"] == 20
    assert answer["found"][0]["report"] == examine("ark:/12345/x-1#f").as_dict()


def test_a_body_is_inspected(client):
    body = "\n".join(f"ark:12345/x{number}" for number in range(30))
    answer = assert_answer(client.post("/api/inspect", data=body.encode()))
    assert len(answer["found"]) == 30


@pytest.mark.one_setup
@pytest.mark.parametrize("text", ["ark:/12345/INV 1940 0041", "ark:/12345/M\u00fcller 7!", "urn:isbn:0 451 45052 3"])
def test_page_api_and_command_agree(client, read_page, text):
    (found,) = assert_answer(client.get("/api/inspect", query_string={"q": text}))["found"]
    command = CliRunner().invoke(inspect_command, ["--json", text], standalone_mode=False)
    assert found["report"] | {"verdict": found["verdict"]} == json.loads(command.stdout)
    assert found["report"]["problems"][0]["start"] == text.index(" ")
    page = read_page(client.get("/", query_string={"q": text}).text).text
    assert "cannot contain a space" in page
    assert "A valid" not in page


def test_positions_in_a_form_agree_with_those_of_the_text(client):
    text = "a\nb\nark:12345/x"
    (of_api,) = assert_answer(client.post("/api/inspect", data=text.encode()))["found"]
    sent = {"q": text.replace("\n", "\r\n"), "as": "json"}
    (of_list,) = client.post("/list", data=sent).json["found"]
    (of_page,) = client.post("/", data=sent, headers={"Accept": "application/json"}).json["found"]
    assert of_api["start"] == of_list["start"] == of_page["start"] == 4


def test_an_empty_body_has_no_identifiers(client):
    assert assert_answer(client.post("/api/inspect", data=b"")) == {"input_length": 0, "truncated": False, "found": []}


@pytest.mark.naughty
def test_every_text_is_answered_in_ascii(client, naughty):
    body = naughty.input.encode("utf-8", "surrogatepass")
    response = client.post("/api/inspect", data=body)
    if len(body) > MAX_BYTES:
        assert_problem(response, 413, "request-entity-too-large")
        return
    if response.status_code == 400:
        assert_problem(response, 400, "not-utf-8")
        return
    for found in assert_answer(response)["found"]:
        assert found["report"] == json.loads(json.dumps(examine(found["literal"]).as_dict()))


def test_a_body_that_is_not_utf8_is_refused_with_its_position(client):
    response = client.post("/api/inspect", data=b"ark:12345/\xff")
    assert_problem(response, 400, "not-utf-8")
    assert "byte 10" in response.json["detail"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "length", [pytest.param(MAX_BYTES + 1, id="one too many"), pytest.param(3 * MAX_BYTES, id="far too many")]
)
def test_a_body_that_is_too_long_is_refused(client, length):
    assert_problem(client.post("/api/inspect", data=b"x" * length), 413, "request-entity-too-large")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "address",
    [pytest.param("/api/inspect", id="inspect"), pytest.param("/api/compare?a=x", id="compare"),
     pytest.param("/api/compare?b=x", id="compare the other")],
)  # fmt: skip
def test_a_missing_parameter_is_reported(client, address):
    response = client.get(address)
    assert_problem(response, 400, "parameter-missing")
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_two_identifiers_are_compared(client):
    answer = client.get("/api/compare", query_string={"a": "ark:/12345/x-1", "b": "https://n2t.net/ark:12345/x1"})
    assert (answer.status_code, answer.json["verdict"], answer.json["equivalent"]) == (200, "equivalent", True)
    answer = client.get("/api/compare", query_string={"a": "ark:12345/x", "b": "ark:12345/\u202ey"})
    assert (answer.json["verdict"], answer.json["part"]) == ("different", "Name")
    assert answer.data.isascii()
