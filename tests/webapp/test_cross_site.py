"""Pages of other sites cannot start traces or read their results."""

from __future__ import annotations

import pytest

from ararat.bindings.system.thread_slots import slots
from ararat.webapp import create_app, cross_site

PREFIX = "https://ids.example.org"
WORK = [
    ("GET", "/api/trace", {}),
    ("POST", "/api/traces", {"data": "ark:12345/x"}),
    ("POST", "/traces", {"data": {"q": "ark:12345/x"}}),
    ("POST", "/traces/result?form=csv", {"data": {"run": "x"}}),
]
works = pytest.mark.parametrize(("method", "path", "body"), WORK, ids=[path for _, path, _ in WORK])


def site(environ, start_response):
    start_response("200 OK", [])
    return [b""]


@pytest.fixture
def client(bound):
    app = create_app(bound({"ark:12345/x": "located"}), prefix=PREFIX, local={PREFIX: site}, trace_elsewhere=False)
    return app.test_client()


def ask(client, method, path, body, headers):
    query = {"q": "ark:12345/x"} if path == "/api/trace" else None
    return client.open(path, method=method, query_string=query, headers=headers, base_url="http://here:8080", **body)


@works
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="cross-site"),
        pytest.param({"Sec-Fetch-Site": "same-site", "Origin": "http://here:8080"}, id="same-site"),
        pytest.param({"Origin": "http://evil.example"}, id="another origin"),
        pytest.param({"Origin": "null"}, id="an origin that is hidden"),
        pytest.param({"Origin": "http://here:8081"}, id="another port"),
        pytest.param({"Origin": "http://here:8080.evil.example"}, id="a host that begins like this one"),
        pytest.param({"Origin": "http://[half"}, id="an invalid origin"),
        pytest.param({"Referer": "http://evil.example/ids.example.org"}, id="a page elsewhere"),
        pytest.param({"Referer": "http://here:8080@evil.example/"}, id="this host as a user name"),
    ],
)
def test_requests_of_other_sites_are_refused(client, method, path, body, headers):
    answer = ask(client, method, path, body, headers)
    assert answer.status_code == 403
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert slots.in_use() == 0


@works
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no browser"),
        pytest.param({"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"}, id="as the browser says"),
        pytest.param({"Sec-Fetch-Site": "none"}, id="typed"),
        pytest.param({"Origin": "http://here:8080"}, id="this host"),
        pytest.param({"Origin": "HTTP://HERE:8080"}, id="this host in capitals"),
        pytest.param({"Origin": PREFIX}, id="the announced host"),
        pytest.param({"Referer": "http://here:8080/traces"}, id="a page of this host"),
    ],
)
def test_requests_of_this_site_and_of_programs_are_accepted(client, method, path, body, headers):
    answer = ask(client, method, path, body, headers)
    assert answer.status_code in (200, 404)
    assert "Access-Control-Allow-Origin" not in answer.headers
    answer.close()


def test_a_request_of_another_site_gets_a_button_instead_of_a_trace(client):
    query = {"q": "ark:12345/x"}
    headers = {"Accept": "text/html", "Referer": "http://evil.example/"}
    assert "The trace has not started" in client.get("/trace", query_string=query, headers=headers).text


def test_every_trace_url_is_protected(client):
    paths = {rule.rule for rule in client.application.url_map.iter_rules() if "trace" in rule.rule}
    assert paths == set(cross_site.WORK)
