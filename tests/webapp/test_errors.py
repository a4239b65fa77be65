"""Errors: a page for people, a problem document for programs, without internal details."""

from __future__ import annotations

import io
import logging
import re
from urllib.parse import urlencode

import pytest

from ararat.identifiers import PROBLEMS
from ararat.webapp import create_app, cross_site, errors
from ararat.webapp.config import MAX_BYTES, Site

TEXT = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
JSON = {"Accept": "application/json"}


@pytest.fixture
def app():
    app = create_app(trace_elsewhere=False)
    # An internal error must be answered as in production, and not end the test.
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app


def assert_canonical_error(response, status, code):
    """Check the members of a problem document (RFC 9457)."""
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert set(response.json) == {"type", "title", "status", "detail", "code"}
    assert (response.json["status"], response.json["code"]) == (status, code)
    known = response.json["code"] in PROBLEMS
    page = "problems" if known else f"docs/{errors.pages_of_codes()[code]}"
    assert response.json["type"] == f"http://localhost/{page}#{code}"
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", code)
    assert response.text.isascii()
    assert response.headers["Cache-Control"] == "no-store"
    work = response.request.path in cross_site.WORK
    assert ("Access-Control-Allow-Origin" in response.headers) == (not work)


@pytest.mark.one_setup
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
def test_page_and_problem_document_have_the_same_text(app, read_page, method, address, status, code):
    client = app.test_client()
    problem = client.open(address, method=method, headers=JSON)
    assert_canonical_error(problem, status, code)
    page = client.open(address, method=method, headers=TEXT)
    assert page.status_code == status
    assert problem.json["detail"] in read_page(page.text).text
    assert problem.headers.get("Allow") == page.headers.get("Allow")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        pytest.param("GET", "/api/inspect", 400, "parameter-missing", id="nothing to inspect"),
        pytest.param("GET", "/api/compare?a=x", 400, "parameter-missing", id="nothing to compare with"),
        pytest.param("GET", "/api/trace", 400, "nothing-to-trace", id="nothing to trace"),
        pytest.param("GET", "/api/trace?q=ark:12345/x", 403, "not-asked", id="not traced from here"),
        pytest.param("GET", "/api/trace?q=ark:12345/x&method=PUT", 400, "parameter", id="bad method"),
        pytest.param("PUT", "/api/trace", 405, "method-not-allowed", id="not how to trace"),
        pytest.param("PATCH", "/api/inspect", 405, "method-not-allowed", id="not how to inspect"),
        pytest.param("POST", "/api/registries/naan", 405, "method-not-allowed", id="not how to search"),
        pytest.param("GET", "/api/registries/naan?page=x", 400, "parameter", id="bad page"),
        pytest.param("GET", "/api/registries/naan/nobody", 404, "not-registered", id="no holder"),
        pytest.param("GET", "/api/registries/urn/nothing-of-it", 404, "not-registered", id="no namespace"),
        pytest.param("GET", "/api/schemes/nothing-of-it", 404, "not-registered", id="no scheme"),
        pytest.param("GET", "/api/nowhere", 404, "not-found", id="no address"),
        pytest.param("GET", "/api/%00%E2%80%AE", 404, "not-found", id="a hostile address"),
    ],
)
def test_every_api_error_has_one_shape(app, method, address, status, code):
    assert_canonical_error(app.test_client().open(address, method=method), status, code)


def test_a_refused_body_has_the_same_shape(app):
    client = app.test_client()
    assert_canonical_error(client.post("/api/inspect", data=b"\xff"), 400, "not-utf-8")
    assert_canonical_error(client.post("/api/inspect", data=b"x" * (MAX_BYTES + 1)), 413, "request-entity-too-large")
    assert_canonical_error(client.post("/", headers=JSON, **form(MAX_BYTES + 1)), 413, "request-entity-too-large")


def test_an_internal_error_has_the_same_shape(app):
    app.add_url_rule("/api/broken", view_func=lambda: 1 / 0)
    assert_canonical_error(app.test_client().get("/api/broken"), 500, "internal-server-error")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accepted", "kind"),
    [
        pytest.param("*/*", "text/html", id="anything"),
        pytest.param("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html", id="a browser"),
        pytest.param("application/json", "application/problem+json", id="JSON"),
        pytest.param("application/json, text/plain, */*", "application/problem+json", id="a script"),
        pytest.param("text/html;q=0.5, application/json;q=0.4", "text/html", id="a page before JSON"),
        pytest.param("application/json;q=0.5, text/html;q=0.4", "application/problem+json", id="JSON before a page"),
        pytest.param("image/png", "text/html", id="neither"),
        pytest.param("", "text/html", id="nothing"),
    ],
)
def test_a_client_that_accepts_json_gets_json(app, accepted, kind):
    response = app.test_client().get("/nowhere", headers={"Accept": accepted})
    assert response.mimetype == kind
    assert "Accept" in response.vary


def test_a_405_lists_the_allowed_methods(app):
    allowed = app.test_client().delete("/").headers["Allow"]
    assert {"GET", "HEAD", "POST", "OPTIONS"} == {method.strip() for method in allowed.split(",")}


def test_the_api_returns_problem_documents_for_any_accept_field(app):
    assert_canonical_error(app.test_client().get("/api/nowhere", headers=TEXT), 404, "not-found")


def test_htmx_gets_the_error_as_a_fragment(app):
    response = app.test_client().get("/nowhere", headers={"HX-Request": "true"})
    assert response.status_code == 404
    assert "<html" not in response.text
    assert "This page does not exist" in response.text


def form(length):
    body = b'--box\r\nContent-Disposition: form-data; name="q"\r\n\r\n' + b"x" * length + b"\r\n--box--\r\n"
    return {"data": body, "content_type": "multipart/form-data; boundary=box"}


def test_a_text_that_is_too_long_is_refused_with_a_reason(app, read_page):
    response = app.test_client().post("/", **form(MAX_BYTES + 1))
    assert response.status_code == 413
    assert "longer than 1,048,576 bytes" in read_page(response.text).text


@pytest.fixture
def inspected(monkeypatch):
    """The lengths of the texts that are inspected, each of which would take a third of a second."""
    lengths, inspect = [], Site.inspect

    def begin(site, text, *more):
        lengths.append(len(text.encode()))
        return inspect(site, text[:100], *more)

    monkeypatch.setattr(Site, "inspect", begin)
    return lengths


def test_a_text_of_the_maximum_length_is_accepted(app, inspected):
    assert app.test_client().post("/", **form(MAX_BYTES)).status_code == 200
    assert inspected == [MAX_BYTES]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param("\u00e9" * (MAX_BYTES // 2), 200, id="three bytes for each byte"),
        pytest.param("x" * (MAX_BYTES + 1), 413, id="too long"),
    ],
)
def test_a_percent_encoded_form_has_the_maximum_length_of_its_text(app, inspected, text, status):
    body, kind = urlencode({"q": text}), "application/x-www-form-urlencoded"
    assert app.test_client().post("/", data=body, content_type=kind).status_code == status
    assert inspected == ([MAX_BYTES] if status == 200 else [])


def test_a_long_body_is_read_before_the_refusal(app):
    body = io.BytesIO(b"q=" + b"x" * 3 * MAX_BYTES)
    response = app.test_client().post("/", input_stream=body, content_length=len(body.getvalue()))
    assert response.status_code == 413
    assert body.read() == b""


def test_an_internal_error_is_logged_and_not_shown(app, read_page, caplog):
    app.add_url_rule("/broken", view_func=lambda: 1 / 0)
    with caplog.at_level(logging.ERROR):
        response = app.test_client().get("/broken")
    assert response.status_code == 500
    assert "ZeroDivisionError" in caplog.text
    assert "Division" not in response.text
    assert "went wrong" in read_page(response.text).text


def test_a_failing_error_page_is_answered_with_a_fallback(app, monkeypatch, caplog):
    app.add_url_rule("/broken", view_func=lambda: 1 / 0)

    def render(*_, **__):
        raise OSError("no templates")

    monkeypatch.setattr(errors, "render_template", render)
    response = app.test_client().get("/broken")
    assert (response.status_code, response.text) == (500, errors.LAST_RESORT)
    assert "no templates" in caplog.text


def test_an_invalid_host_gets_400():
    response = create_app().test_client().get("/", headers={"Host": "x" * 64})
    assert (response.status_code, response.mimetype) == (400, "text/plain")
