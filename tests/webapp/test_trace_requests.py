"""A trace takes a slot, obeys the limits, and explains why it does not start."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from ararat.bindings.system.thread_slots import slots
from ararat.net.hop import HopResponse
from ararat.tracing.in_process import HOP_KEY
from ararat.webapp import create_app, resolver_choice, trace_requests
from tests.waiting import until

HERE = "https://here.example.org"
STREAM = {"Accept": "text/event-stream"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site": "same-origin"}
NAME = "ark:12345/x"


# What does not start --------------------------------------------------------------------------------------------------


def test_unreadable_bindings_are_not_reported_as_unbound(bound, redirecting):
    names = bound({}, reachable=False)
    client = create_app(names, prefix=HERE, local={HERE: redirecting}, trace_elsewhere=False).test_client()
    with client.application.test_request_context("/"):
        choice = resolver_choice.choose_resolver(NAME, None, bound=None)
    assert choice.why == "The bindings of this site cannot be read, so the trace starts at the official resolver."
    refused = json.loads(client.get("/api/trace", query_string={"q": NAME}).text)
    assert refused["code"] == "not-asked"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        pytest.param({}, 400, "nothing-to-trace", id="no identifier"),
        pytest.param({"q": "nonsense"}, 400, "no-scheme", id="no such identifier"),
        pytest.param({"q": "ark:99999/x"}, 400, "naan-reserved-invalid", id="NAAN 99999"),
        pytest.param({"q": "ark:12345/x/.."}, 400, "dot-segment", id="dot-segment"),
        pytest.param({"q": NAME, "method": "POST"}, 400, "parameter", id="method"),
        pytest.param({"q": NAME, "max_redirects": "4"}, 400, "parameter", id="too few redirects"),
        pytest.param({"q": NAME, "max_redirects": "-1\u0661"}, 400, "parameter", id="no number"),
        pytest.param({"q": NAME, "resolver": "javascript:alert(1)"}, 400, "parameter", id="no resolver"),
        pytest.param({"q": NAME, "fresh": "yes\u202e"}, 400, "parameter", id="fresh or not"),
        pytest.param({"q": NAME, "resolver": "https://n2t.net"}, 403, "not-asked", id="another resolver"),
        pytest.param({"q": "ark:12345/unbound"}, 403, "not-asked", id="not bound here"),
    ],
)
def test_every_channel_reports_why_a_trace_cannot_start(inspector, messages, read_page, query, status, code):
    client = inspector()
    problem = client.get("/api/trace", query_string=query)
    assert (problem.status_code, problem.json["code"]) == (status, code)
    stream = client.get("/trace", query_string=query, headers=STREAM)
    # With any other status, the extension would reconnect endlessly.
    assert stream.status_code == 200
    assert [event for event, _ in messages(stream)] == ["verdict", "end"]
    assert problem.json["detail"] in read_page(messages(stream)[0][1]).text
    if query:
        assert client.get("/trace", query_string=query, headers=BROWSER).status_code == status


def test_a_trace_without_a_free_slot_gets_503(inspector, messages, slow, read_page, without_beats):
    client = inspector(slow, traces=2, traces_each=2)
    running = [client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False) for _ in range(2)]
    parts = [without_beats(response) for response in running]
    assert [b"event: start" in next(part) for part in parts] == [True, True]
    stream = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert (stream.status_code, [event for event, _ in messages(stream)]) == (200, ["verdict", "end"])
    page = client.get("/trace", query_string={"q": NAME}, headers=BROWSER)
    assert (page.status_code, page.headers["Retry-After"]) == (503, str(trace_requests.RETRY_SECONDS))
    assert client.get("/api/trace", query_string={"q": NAME}).status_code == 503
    slow.answers.set()
    for response, part in zip(running, parts, strict=True):
        assert b"event: end" in b"".join(part)
        response.close()
    assert client.get("/trace", query_string={"q": NAME}, headers=STREAM).text.count("event: hop") == 1


def test_a_client_gets_a_limited_number_of_slots(inspector, slow, without_beats):
    client = inspector(slow, traces_each=1)
    running = client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    assert b"event: start" in next(without_beats(running))
    assert client.get("/api/trace", query_string={"q": NAME}).status_code == 503
    other = client.get(
        "/trace", query_string={"q": NAME}, headers=STREAM, environ_base={"REMOTE_ADDR": "192.0.2.9"}, buffered=False
    )
    assert b"event: start" in next(without_beats(other))
    running.close()
    other.close()


def test_the_slot_of_a_disconnected_client_is_released_after_the_hop(inspector, slow):
    client = inspector(slow, traces=1)
    running = client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    next(running.iter_encoded())
    until(lambda: slow.asked)
    running.close()
    assert slots.in_use("traces") == 1
    slow.answers.set()
    wait_until_free()


def wait_until_free():
    until(lambda: not slots.in_use())


def test_an_unread_stream_releases_its_slot(inspector):
    client = inspector(traces=1)
    for _ in range(3):
        client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False).close()
        client.head("/trace", query_string={"q": NAME}, headers=STREAM).close()
    # The thread of the trace ends after the stream is closed.
    wait_until_free()


def test_a_trace_whose_thread_cannot_start_releases_its_slot(inspector, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    client = inspector(traces=1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        assert "event: verdict" in client.get("/trace", query_string={"q": NAME}, headers=STREAM).text
    assert slots.in_use() == 0


def test_a_trace_does_not_start_a_trace(inspector, slow):
    client = inspector(slow)
    for accept in (STREAM, BROWSER, {}):
        client.get("/trace", query_string={"q": NAME}, headers=accept, environ_base={HOP_KEY: True})
    assert client.get("/api/trace", query_string={"q": NAME}, environ_base={HOP_KEY: True}).status_code == 403
    assert slow.asked == 0


# Requests to other hosts, with limits for all clients -----------------------------------------------------------------


@pytest.fixture
def others(monkeypatch):
    """The requests to other hosts in order. Every host ends the trace."""
    asked = []

    def guarded(destinations, *, before_connect, **_):
        def fetch(method, url, deadline):
            before_connect(url.split("/")[2], [])
            asked.append(url)
            return HopResponse(200, "OK", (), peer="192.0.2.1")

        return fetch

    monkeypatch.setattr(trace_requests, "GuardedClient", SimpleNamespace(to=guarded))
    return asked


def leaving(environ, start_response):
    """A site whose only name leads to another host."""
    start_response("302 Found", [("Location", "https://other.example/")])
    return [b""]


def hops_of(client, query="", **environ):
    response = client.get(f"/api/trace?q={NAME}{query}", environ_base=environ)
    return [event for event in map(json.loads, response.text.splitlines()) if event["event"] == "hop"]


def test_a_cached_response_is_used_and_marked(inspector, others):
    client = inspector(leaving, trace_elsewhere=True)
    first, second = hops_of(client), hops_of(client, REMOTE_ADDR="192.0.2.9")
    assert [hop["age"] for hop in first] == [None, None]
    # The hop at this site is never cached.
    assert second[0]["age"] is None
    assert second[1]["age"] >= 0
    assert [note["code"] for note in second[1]["notes"]] == ["reused"]
    assert others == ["https://other.example/"]


def test_run_again_sends_new_requests_within_the_rate_limit(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate=2)
    assert [hops_of(client, "&fresh=1")[1]["age"] for _ in range(2)] == [None, None]
    assert hops_of(client, "&fresh=1")[1]["age"] >= 0
    assert len(others) == 2


def test_a_host_above_the_rate_limit_is_not_requested_and_the_hop_explains_it(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate=2)
    for host in "ab":
        client.get(f"/api/trace?q={NAME}-{host}&resolver=https://r.example").get_data()
    failed = client.get(f"/api/trace?q={NAME}-c&resolver=https://r.example")
    *_, hop, end = (event for event in map(json.loads, failed.text.splitlines()) if event["event"] != "waiting")
    assert (failed.status_code, hop["failure"]["code"], end["code"]) == (200, "too-often", "too-often")
    assert "its limit of 2 requests" in end["sentence"]
    assert len(others) == 2
    # This site has no rate limit.
    assert all(hops_of(client)[0]["status"] == 302 for _ in range(5))


def test_each_client_has_a_rate_limit_per_host(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate_each=1)
    codes = []
    for name, address in (("1", "192.0.2.1"), ("2", "192.0.2.1"), ("3", "192.0.2.2")):
        answer = client.get(
            f"/api/trace?q={NAME}{name}&resolver=https://r.example", environ_base={"REMOTE_ADDR": address}
        )
        codes.append(json.loads(answer.text.splitlines()[-1])["code"])
    assert codes == ["found", "too-often", "found"]
