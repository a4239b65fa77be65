"""The page of conformance: every requirement, narrowed without a script."""

from __future__ import annotations

import pytest

from ararat.identifiers.conformance import counts, requirements
from ararat.webapp import create_app


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture
def rows(client, read_page):
    """rows(**query) are the rows of the table, each by the number of its requirement."""

    def ask(**query):
        page = read_page(client.get("/conformance", query_string=query).text)
        return {row.attributes["id"]: row for row in page.all("tr") if "id" in row.attributes}

    return ask


def test_every_requirement_has_its_row_with_the_tests_or_the_reason(rows):
    shown = rows()
    assert list(shown) == [each.id for each in requirements()]
    for each in requirements():
        text = shown[each.id].text
        assert each.title in text
        for test in each.tests:
            assert test.removeprefix("kind:") in text
        assert (each.why or "") in text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({"document": "SCH"}, lambda each: each.id.startswith("SCH"), id="a document"),
        pytest.param({"state": "prose"}, lambda each: each.reason == "prose", id="a reason"),
        pytest.param({"state": "tests"}, lambda each: each.reason is None, id="shown by tests"),
        pytest.param(
            {"document": "URN", "state": "later"},
            lambda each: each.id.startswith("URN") and each.reason == "later",
            id="both",
        ),
        pytest.param({"document": "", "state": ""}, lambda each: True, id="an empty form"),
    ],
)
def test_the_table_is_narrowed_by_document_and_state(client, rows, query, expected):
    wanted = [each.id for each in requirements() if expected(each)]
    assert list(rows(**query)) == wanted
    assert [each["id"] for each in client.get("/api/conformance", query_string=query).json["found"]] == wanted


def test_what_is_no_choice_is_refused_without_being_repeated(client):
    for query in ({"document": "<script>"}, {"state": "\u202e"}):
        answer = client.get("/conformance", query_string=query, headers={"Accept": "application/json"})
        assert (answer.status_code, answer.json["code"]) == (400, "parameter")
        assert "script" not in answer.json["detail"]


def test_the_counts_are_those_of_the_table(client, read_page):
    data = client.get("/api/conformance").json
    assert data["total"] == len(requirements())
    for state, count in counts().items():
        assert sum(each[state] for each in data["counts"].values()) == count
        assert str(count) in read_page(client.get("/conformance").text).one("p", "lead").text
