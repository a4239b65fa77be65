"""The catalogue of refusals. Each refusal has an example."""

from __future__ import annotations

import json
import re

import pytest
from werkzeug.test import Client

from ararat.bindings.names.error_codes import HTTP_STATUS, REFUSALS
from ararat.identifiers import PROBLEMS, Problem
from ararat.middleware import BindingSource, BindingsUnavailable, ResolverMiddleware
from ararat.middleware.resolution.refusals import problem, refuse


class Broken(BindingSource):
    def __init__(self, error):
        self.error = error

    def fetch(self, keys):
        raise self.error


BROKEN = {
    "bindings-unavailable": Broken(BindingsUnavailable("no such host")),
    "internal-error": Broken(RuntimeError("a defect")),
}


EXAMPLES = {
    "not-bound": ("GET", "/ark:12345/nope"),
    "unknown-inflection": ("GET", "/ark:12345/doc?foo"),
    "withdrawn": ("GET", "/ark:12345/gone"),
    "hidden": ("GET", "/ark:12345/closed"),
    "container-withdrawn": ("GET", "/ark:12345/gone/1"),
    "target-unusable": ("GET", "/ark:12345/bad"),
    "method-not-allowed": ("POST", "/ark:12345/doc"),
    "bindings-unavailable": ("GET", "/ark:12345/doc"),
    "internal-error": ("GET", "/ark:12345/doc"),
}


def test_every_refusal_has_an_example_and_every_example_is_in_the_catalogue():
    assert set(EXAMPLES) == set(REFUSALS)


@pytest.mark.one_setup
@pytest.mark.parametrize("code", EXAMPLES)
def test_each_refusal_has_its_status(code, held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc"),
        binding("ark:12345/gone", "https://example.org/gone", status="withdrawn"),
        binding("ark:12345/closed", "https://example.org/closed", status="reserved", once_public="yes"),
        binding("ark:12345/bad", "javascript:alert(1)"),
    )
    method, path = EXAMPLES[code]
    client = Client(ResolverMiddleware(None, BROKEN.get(code, store)))  # type: ignore[arg-type]
    answer = client.open(path, method=method, headers={"Accept": "application/json"})
    assert answer.status_code == HTTP_STATUS[code]
    told = json.loads(answer.data)
    assert (told["code"], told["expected"]) == (code, REFUSALS[code].expected)
    assert told["detail"].rstrip(".").lower() == REFUSALS[code].title.lower()


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_codes_are_kebab_case_and_texts_are_ascii(code):
    known = REFUSALS[code]
    assert re.fullmatch("[a-z]+(-[a-z]+)*", code)
    assert all(re.fullmatch("[ -~]+", text) for text in (known.title, known.expected, known.reference))
    assert code not in PROBLEMS


# Obligation 20: a status alone never causes the words "persistent", "valid resource" or "does not exist".
@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_no_text_blames_the_identifier(code):
    words = f"{REFUSALS[code].title} {REFUSALS[code].expected}".lower()
    assert not re.search("persistent|invalid|does not exist|wrong|broken", words)


def test_a_problem_of_the_identifier_keeps_its_code_and_text():
    assert problem("dot-segment", "ark:12345/..").message == PROBLEMS["dot-segment"].title
    assert problem("dot-segment", "ark:12345/..").severity == "error"


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        pytest.param("withdrawn", "ark:12345/x", id="the identifier without its query"),
        pytest.param("unknown-inflection", "?cite", id="the query"),
        pytest.param("not-bound", "ark:12345/x?cite", id="the identifier with its query"),
    ],
)
def test_problem_is_at_the_part_that_the_code_is_about(code, marked):
    found = problem(code, "ark:12345/x?cite")
    assert "ark:12345/x?cite"[found.start : found.end] == marked


@pytest.mark.parametrize(
    ("code", "status"),
    [("bad-char", 400), ("dot-segment", 400), ("naan-reserved-invalid", 404), ("too-long", 414), ("no-such-code", 400)],
)
def test_a_problem_of_the_identifier_gets_400_by_default(code, status):
    assert refuse("ark:12345/x", Problem(code, "error", "", 0, 1, "", "")).status == status


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("not-bound", "ark:12345/x?info"),
        ("unknown-inflection", "?info"),
        ("withdrawn", "ark:12345/x"),
        ("container-withdrawn", "ark:12345/x"),
        ("target-unusable", "ark:12345/x"),
        ("naan-reserved-invalid", "ark:12345/x"),
        ("dot-segment", "ark:12345/x"),
    ],
)
def test_a_refusal_marks_the_part_of_the_identifier_that_it_is_about(code, place):
    given = "ark:12345/x?info"
    found = problem(code, given)
    assert given[found.start : found.end] == place


def test_the_status_of_each_refusal():
    assert HTTP_STATUS == {
        "not-bound": 404,
        "unknown-inflection": 404,
        "withdrawn": 410,
        "hidden": 410,
        "container-withdrawn": 410,
        "target-unusable": 404,
        "method-not-allowed": 405,
        "bindings-unavailable": 503,
        "internal-error": 500,
        "naan-reserved-invalid": 404,
        "too-long": 414,
    }
