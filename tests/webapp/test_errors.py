"""What went wrong: a page for people, a problem document for programs, nothing of the inside for anybody."""

from __future__ import annotations

import io
import logging

import pytest

from ararat.webapp import create_app, errors
from ararat.webapp.site import MOST_OCTETS

TEXT = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
JSON = {"Accept": "application/json"}


@pytest.fixture
def app():
    app = create_app(trace_elsewhere=False)
    # A defect must answer as it would in production, and not end the test that provokes it.
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app


def assert_problem(response, status, code):
    """RFC 9457, and the same five members wherever one is sent."""
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert set(response.json) == {"type", "title", "status", "detail", "code"}
    assert (response.json["status"], response.json["code"]) == (status, code)
    assert response.text.isascii()
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        pytest.param("GET", "/nowhere", 404, "not-found", id="not found"),
        pytest.param("DELETE", "/", 405, "method-not-allowed", id="not allowed"),
        pytest.param("GET", "/trace?max_redirects=x", 400, "parameter", id="bad parameter"),
        pytest.param("GET", "/trace?q=nonsense", 400, "no-scheme", id="nothing to trace"),
        pytest.param("GET", "/trace?q=ark:12345/x", 403, "not-asked", id="not traced from here"),
    ],
)
def test_page_and_problem_say_the_same(app, read_page, method, address, status, code):
    client = app.test_client()
    problem = client.open(address, method=method, headers=JSON)
    assert_problem(problem, status, code)
    page = client.open(address, method=method, headers=TEXT)
    assert page.status_code == status
    assert problem.json["detail"] in read_page(page.text).text
    assert problem.headers.get("Allow") == page.headers.get("Allow")


def test_a_method_that_is_not_allowed_names_those_that_are(app):
    allowed = app.test_client().delete("/").headers["Allow"]
    assert {"GET", "HEAD", "POST", "OPTIONS"} == {method.strip() for method in allowed.split(",")}


def test_the_api_answers_problems_whatever_is_accepted(app):
    assert_problem(app.test_client().get("/api/nowhere", headers=TEXT), 404, "not-found")


def test_htmx_gets_the_error_as_a_fragment(app):
    response = app.test_client().get("/nowhere", headers={"HX-Request": "true"})
    assert response.status_code == 404
    assert "<html" not in response.text
    assert "There is no page at this address" in response.text


def form(length):
    body = b'--box\r\nContent-Disposition: form-data; name="q"\r\n\r\n' + b"x" * length + b"\r\n--box--\r\n"
    return {"data": body, "content_type": "multipart/form-data; boundary=box"}


def test_a_paste_that_is_too_long_is_refused_in_plain_words(app, read_page):
    response = app.test_client().post("/", **form(MOST_OCTETS + 1))
    assert response.status_code == 413
    assert "more than a million octets" in read_page(response.text).text


def test_a_paste_of_just_the_greatest_length_is_answered(app):
    assert app.test_client().post("/", **form(MOST_OCTETS)).status_code == 200


def test_a_long_body_is_read_before_it_is_refused(app):
    body = io.BytesIO(b"q=" + b"x" * 3 * MOST_OCTETS)
    response = app.test_client().post("/", input_stream=body, content_length=len(body.getvalue()))
    assert response.status_code == 413
    assert body.read() == b""


def test_a_defect_is_noted_down_and_tells_nobody_how_it_came(app, read_page, caplog):
    app.add_url_rule("/broken", view_func=lambda: 1 / 0)
    with caplog.at_level(logging.ERROR):
        response = app.test_client().get("/broken")
    assert response.status_code == 500
    assert "ZeroDivisionError" in caplog.text
    assert "Division" not in response.text
    assert "went wrong" in read_page(response.text).text


def test_when_even_the_error_page_breaks_there_is_a_last_resort(app, monkeypatch, caplog):
    app.add_url_rule("/broken", view_func=lambda: 1 / 0)

    def render(*_, **__):
        raise OSError("no templates")

    monkeypatch.setattr(errors, "render_template", render)
    response = app.test_client().get("/broken")
    assert (response.status_code, response.text) == (500, errors.LAST_RESORT)
    assert "no templates" in caplog.text
