"""The live trace: hops as they happen, in a stream or a growing page, and everything that keeps it from starting."""

from __future__ import annotations

import json
import shlex
import threading
import time

import pytest

from ararat.webapp import create_app, live, runs
from ararat.webapp.tracing.hop import USER_AGENT, HopResponse
from ararat.webapp.tracing.local import HOP_KEY

HERE = "https://here.example.org"
STREAM = {"Accept": "text/event-stream"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site": "same-origin"}
HTMX = {"HX-Request": "true"}
NAME = "ark:12345/x"


def redirecting(environ, start_response):
    """A site where every name leads to a page, and the page to its second edition."""
    path = environ["PATH_INFO"]
    leads = {
        "/ark:12345/x": "/page",
        "/page": "/page/2",
        "/ark:12345/odd": "/p\u00e1ge\u200b".encode().decode("latin-1"),
    }
    if path in leads:
        start_response("302 Found", [("Location", leads[path])])
    elif path == "/page/2":
        start_response("200 <b>OK", [("Content-Type", "text/html"), ("Server", "<i>\x9b31m")])
    else:
        start_response("404 Not Found", [])
    return [b""]


class Slow:
    """A site that answers when it is let, and tells how often it was asked."""

    def __init__(self):
        self.asked = 0
        self.answers = threading.Event()

    def __call__(self, environ, start_response):
        self.asked += 1
        self.answers.wait(20)
        start_response("200 OK", [])
        return [b""]


@pytest.fixture
def slow():
    site = Slow()
    yield site
    site.answers.set()


@pytest.fixture
def inspector(bound):
    """inspector(site, **options) is a client of an inspector for which `site` answers its own hops."""

    def make(site=redirecting, **options):
        names = bound({NAME: "located", "ark:12345/odd": "located", "ark:12345/gone": "withdrawn"})
        # No test asks another host.
        options.setdefault("trace_elsewhere", False)
        return create_app(names, prefix=HERE, local={HERE: site}, **options).test_client()

    return make


def messages(response, *also):
    """The messages of an event stream, as (type, data); comments left out, and what waits or stays unless asked for."""
    found = []
    for block in response.text.split("\n\n"):
        lines = [line.partition(": ") for line in block.split("\n") if not line.startswith(":")]
        if any(name == "event" for name, _, _ in lines):
            data = "\n".join(value for name, _, value in lines if name == "data")
            found.append((next(value for name, _, value in lines if name == "event"), data))
    return [message for message in found if message[0] not in {"waiting", "record"} - {*also}]


# The stream -----------------------------------------------------------------------------------------------------------


def test_a_stream_has_a_start_each_hop_a_verdict_and_an_end(inspector, read_page):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.status_code == 200
    assert response.mimetype == "text/event-stream"
    found = messages(response)
    assert [event for event, _ in found] == ["start", "hop", "hop", "hop", "verdict", "end"]
    hops = [read_page(data) for event, data in found if event == "hop"]
    assert ["302 Found" in hop.text for hop in hops] == [True, True, False]
    assert hops[1].one("p", "location").text.split() == ["Location", "/page/2", "which", "is", f"{HERE}/page/2"]
    assert f"The resource is at {HERE}/page/2" in found[4][1]


def test_a_stream_is_not_held_back_on_its_way(inspector):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Cache-Control"] == "no-store, no-transform"
    assert "Content-Length" not in response.headers


def test_hops_are_numbered_and_nothing_of_theirs_becomes_an_element(inspector, read_page):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    ids = [line for line in response.text.split("\n") if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(1, 6)]
    *_, (_, last), _, _ = messages(response)
    hop = read_page(last)
    assert hop.one("p", "answer").one("b").text == "200 OK"
    assert hop.one("dl", "fields").all("div")[0].one("code").text == "200 <b>OK"
    assert "\x9b" not in last
    assert hop.all("i") == []


def test_what_a_site_sends_is_shown_without_what_cannot_be_seen(inspector, read_page):
    response = inspector().get("/trace", query_string={"q": "ark:12345/odd"}, headers=STREAM)
    assert not any(0x7F <= ord(char) <= 0x9F or char == "\u200b" for char in response.text)
    [hop] = [read_page(data) for event, data in messages(response) if event == "hop"]
    assert hop.one("p", "location").all("span", "cp")


def test_while_a_hop_waits_there_is_a_sign_of_life(inspector, slow):
    response = inspector(slow).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = response.iter_encoded()
    assert b"event: start" in next(parts)
    assert b"event: waiting" in next(parts)
    slow.answers.set()
    assert b"event: hop" in next(parts)
    response.close()


def test_hops_arrive_while_later_ones_are_still_waited_for(inspector, slow):
    def site(environ, start_response):
        return (
            redirecting(environ, start_response) if environ["PATH_INFO"] != "/page" else slow(environ, start_response)
        )

    response = inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = response.iter_encoded()
    assert b"event: start" in next(parts)
    assert b"302 Found" in next(parts)
    assert slow.asked <= 1
    slow.answers.set()
    assert b"event: end" in b"".join(parts)
    response.close()


def test_what_is_waited_for_is_said(inspector, slow, read_page):
    def site(environ, start_response):
        return (
            redirecting(environ, start_response) if environ["PATH_INFO"] != "/page" else slow(environ, start_response)
        )

    response = inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = response.iter_encoded()
    start, hop, beat = [next(parts).decode() for _ in range(3)]
    slow.answers.set()
    assert "Asking here.example.org" in start
    assert "Asking here.example.org" in hop
    assert beat.startswith("event: waiting\n")
    assert "Waiting for this site to answer, 1 s" in beat
    assert b"event: record" in b"".join(parts)
    response.close()


def test_after_the_end_there_is_a_table_and_the_events_as_json(inspector, read_page):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    (record,) = [read_page(data) for event, data in messages(response, "record") if event == "record"]
    rows = [[cell.text for cell in row.children if not isinstance(cell, str)] for row in record.one("tbody").all("tr")]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        ("1", f"GET {HERE}/{NAME}", "302 Found"),
        ("2", f"GET {HERE}/page", "302 Found"),
        ("3", f"GET {HERE}/page/2", "200 OK"),
    ]
    events = [json.loads(line) for line in record.one("pre", "json").text.splitlines()]
    assert [event["event"] for event in events] == ["start", "hop", "hop", "hop", "end"]


def test_each_hop_has_its_request_for_a_command_line(inspector, read_page):
    hops = [data for event, data in messages(inspector().get("/trace?q=" + NAME, headers=STREAM)) if event == "hop"]
    lines = [read_page(hop).one("p", "command") for hop in hops]
    assert [shlex.split(line.one("code").text)[-1] for line in lines] == [
        f"{HERE}/{NAME}",
        f"{HERE}/page",
        f"{HERE}/page/2",
    ]
    assert [line.one("button").attributes["data-copy"] for line in lines] == [line.one("code").text for line in lines]


def test_curl_which_takes_anything_gets_the_stream(inspector):
    response = inspector().get("/trace", query_string={"q": NAME}, headers={"Accept": "*/*"})
    assert response.mimetype == "text/event-stream"


# What does not start --------------------------------------------------------------------------------------------------


def test_where_the_bindings_cannot_be_read_no_name_is_said_to_be_unbound(bound):
    names = bound({}, reachable=False)
    client = create_app(names, prefix=HERE, local={HERE: redirecting}, trace_elsewhere=False).test_client()
    with client.application.test_request_context("/"):
        choice = runs.choose(runs.Wish(NAME), bound=None)
    assert choice.why == "The bindings of this site cannot be read, so the official resolver is asked."
    refused = json.loads(client.get("/api/trace", query_string={"q": NAME}).text)
    assert refused["code"] == "not-asked"


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
def test_what_cannot_start_says_why_everywhere(inspector, read_page, query, status, code):
    client = inspector()
    problem = client.get("/api/trace", query_string=query)
    assert (problem.status_code, problem.json["code"]) == (status, code)
    stream = client.get("/trace", query_string=query, headers=STREAM)
    # The extension connects for ever on any other status.
    assert stream.status_code == 200
    assert [event for event, _ in messages(stream)] == ["verdict", "end"]
    assert problem.json["detail"] in read_page(messages(stream)[0][1]).text
    if query:
        assert client.get("/trace", query_string=query, headers=BROWSER).status_code == status


def test_when_all_places_are_taken_the_next_is_told_to_wait(inspector, slow, read_page):
    client = inspector(slow, traces=2, traces_each=2)
    running = [client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False) for _ in range(2)]
    parts = [response.iter_encoded() for response in running]
    assert [b"event: start" in next(part) for part in parts] == [True, True]
    stream = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert (stream.status_code, [event for event, _ in messages(stream)]) == (200, ["verdict", "end"])
    page = client.get("/trace", query_string={"q": NAME}, headers=BROWSER)
    assert (page.status_code, page.headers["Retry-After"]) == (503, str(runs.RETRY_SECONDS))
    assert client.get("/api/trace", query_string={"q": NAME}).status_code == 503
    slow.answers.set()
    for response, part in zip(running, parts, strict=True):
        assert b"event: end" in b"".join(part)
        response.close()
    assert client.get("/trace", query_string={"q": NAME}, headers=STREAM).text.count("event: hop") == 1


def test_one_client_gets_no_more_than_its_share(inspector, slow):
    client = inspector(slow, traces=50, traces_each=1)
    running = client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    assert b"event: start" in next(running.iter_encoded())
    assert client.get("/api/trace", query_string={"q": NAME}).status_code == 503
    other = client.get(
        "/trace", query_string={"q": NAME}, headers=STREAM, environ_base={"REMOTE_ADDR": "192.0.2.9"}, buffered=False
    )
    assert b"event: start" in next(other.iter_encoded())
    running.close()
    other.close()


def test_a_client_that_goes_leaves_its_place_when_the_hop_is_over(inspector, slow):
    client = inspector(slow, traces=1)
    running = client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    next(running.iter_encoded())
    running.close()
    places = client.application.extensions["ararat"].places
    assert places.taken == 1
    slow.answers.set()
    deadline = time.monotonic() + 10
    while places.taken and time.monotonic() < deadline:
        time.sleep(0.01)
    assert places.taken == 0


def test_a_stream_that_nobody_reads_gives_its_place_back(inspector):
    client = inspector(traces=1)
    for _ in range(3):
        client.get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False).close()
        client.head("/trace", query_string={"q": NAME}, headers=STREAM).close()
    assert client.application.extensions["ararat"].places.taken == 0


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="a neighbour"),
        pytest.param({"Sec-Purpose": "prefetch;prerender"}, id="a prefetch"),
        pytest.param({"Purpose": "prefetch"}, id="an older prefetch"),
    ],
)
def test_another_site_or_a_prefetch_gets_a_button_and_no_trace(inspector, slow, read_page, fields):
    client = inspector(slow)
    page = client.get("/trace", query_string={"q": NAME}, headers={**BROWSER, **fields})
    assert page.status_code == 200
    form = read_page(page.text).one("form", "wish")
    assert form.one("input", id="q").attributes["value"] == NAME
    assert form.one("button", type="submit")
    stream = client.get("/trace", query_string={"q": NAME}, headers={**STREAM, **fields})
    assert [event for event, _ in messages(stream)] == ["verdict", "end"]
    assert client.get("/api/trace", query_string={"q": NAME}, headers=fields).status_code == 403
    assert slow.asked == 0


def test_a_trace_never_starts_a_trace(inspector, slow):
    client = inspector(slow)
    for accept in (STREAM, BROWSER, {}):
        client.get("/trace", query_string={"q": NAME}, headers=accept, environ_base={HOP_KEY: True})
    assert client.get("/api/trace", query_string={"q": NAME}, environ_base={HOP_KEY: True}).status_code == 403
    assert slow.asked == 0


def test_a_name_that_leads_to_its_own_trace_ends(inspector):
    def site(environ, start_response):
        if environ["PATH_INFO"] == "/trace":
            return client.application(environ, start_response)
        start_response("302 Found", [("Location", f"/trace?q={NAME}")])
        return [b""]

    client = inspector(site)
    response = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert [event for event, _ in messages(response)] == ["start", "hop", "hop", "verdict", "end"]


@pytest.mark.parametrize("accept", [STREAM, BROWSER, {}], ids=["stream", "page", "anything"])
def test_a_trace_that_comes_back_under_another_name_starts_no_other(inspector, slow, accept):
    client = inspector(slow)
    answer = client.get("/trace", query_string={"q": NAME}, headers={**accept, "User-Agent": USER_AGENT})
    assert answer.status_code == 200
    assert (
        client.get("/api/trace", query_string={"q": NAME}, headers={"User-Agent": "Ararat/99 (x)"}).status_code == 403
    )
    assert slow.asked == 0


def test_a_broken_connection_does_not_run_the_trace_again(inspector, slow):
    response = inspector(slow).get("/trace", query_string={"q": NAME}, headers={**STREAM, "Last-Event-ID": "2"})
    assert [event for event, _ in messages(response)] == ["verdict", "end"]
    assert "connection was lost" in response.text
    assert (
        inspector(slow).get("/api/trace", query_string={"q": NAME}, headers={"Last-Event-ID": "2"}).status_code == 204
    )
    assert slow.asked == 0


def test_head_starts_nothing(inspector, slow):
    assert inspector(slow).head("/trace", query_string={"q": NAME}, headers=BROWSER).status_code == 200
    assert slow.asked == 0


def test_a_defect_ends_the_stream_and_the_page_properly(inspector, monkeypatch, caplog):
    def broken(*_, **__):
        yield from ()
        raise ArithmeticError("seven")

    monkeypatch.setattr(runs, "watch", broken)
    client = inspector()
    stream = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert [event for event, _ in messages(stream)] == ["verdict", "end"]
    page = client.get("/trace", query_string={"q": NAME}, headers=BROWSER)
    assert page.text.rstrip().endswith("</html>")
    for response in (stream, page):
        assert "went wrong on this side" in response.text
        assert "seven" not in response.text
    assert caplog.text.count("ArithmeticError: seven") == 2


# The page -------------------------------------------------------------------------------------------------------------


def test_without_javascript_the_page_grows_hop_by_hop(inspector, slow, read_page):
    def site(environ, start_response):
        return (
            redirecting(environ, start_response) if environ["PATH_INFO"] != "/page" else slow(environ, start_response)
        )

    response = inspector(site).get("/trace", query_string={"q": NAME}, headers=BROWSER, buffered=False)
    assert response.headers["X-Accel-Buffering"] == "no"
    parts = response.iter_encoded()
    shown = next(parts) + next(parts) + next(parts)
    assert b"302 Found" in shown
    assert b"</html>" not in shown
    assert b"still waiting" in next(parts)
    slow.answers.set()
    shown += b"".join(parts)
    page = read_page(shown.decode())
    assert len(page.one("ol", "hops").all("li", "hop")) == 2
    assert "The resource is at" in page.one("div", "ended").text
    assert page.one("div", "ended").all("a")[-1].attributes["href"] == f"/trace?q={NAME}&fresh=1"
    response.close()


def test_the_page_says_the_same_as_the_stream(inspector, read_page):
    client = inspector()
    page = read_page(client.get("/trace", query_string={"q": NAME}, headers=BROWSER).text)
    stream = messages(client.get("/trace", query_string={"q": NAME}, headers=STREAM))
    hops = [read_page(data).one("p", "asked").text for event, data in stream if event == "hop"]
    assert [hop.one("p", "asked").text for hop in page.all("li", "hop")] == hops


def test_the_page_without_an_identifier_is_a_form(inspector, read_page):
    response = inspector().get("/trace", headers=BROWSER)
    assert response.status_code == 200
    assert "autofocus" in read_page(response.text).one("input", id="q").attributes


def test_htmx_gets_a_fragment_that_connects_and_closes_at_the_end(inspector, slow, read_page):
    response = inspector(slow).get("/trace?q=ark:12345/x&max_redirects=7", headers=HTMX)
    fragment = read_page(response.text).one("div", "trace")
    assert fragment.attributes["sse-connect"] == "/trace?q=ark:12345/x&max_redirects=7"
    assert fragment.attributes["sse-close"] == "end"
    swaps = {element.attributes["sse-swap"] for element in fragment.walk() if "sse-swap" in element.attributes}
    assert swaps == {"start", "hop", "waiting", "verdict", "record"}
    assert slow.asked == 0


def test_only_http_addresses_become_links(inspector, read_page):
    def site(environ, start_response):
        start_response("302 Found", [("Location", "javascript:alert(1)")])
        return [b""]

    response = inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM)
    links = [link.attributes["href"] for _, data in messages(response) for link in read_page(data).all("a")]
    assert links == [f"/trace?q={NAME}&fresh=1"]
    ended = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM).text
    assert 'rel="noopener noreferrer nofollow ugc" referrerpolicy="no-referrer"' in ended


# Hops elsewhere, shared among everybody -------------------------------------------------------------------------------


@pytest.fixture
def others(monkeypatch):
    """What is asked of other hosts: each address, in order. Every one of them answers that it is the end."""
    asked = []

    def guarded(*, admit, **_):
        def fetch(method, url, deadline):
            admit(url.split("/")[2], [])
            asked.append(url)
            return HopResponse(200, "OK", (), peer="192.0.2.1")

        return fetch

    monkeypatch.setattr(runs, "guarded_fetch", guarded)
    return asked


def leaving(environ, start_response):
    """A site from which the only name leads away."""
    start_response("302 Found", [("Location", "https://other.example/")])
    return [b""]


def hops_of(client, query="", **environ):
    response = client.get(f"/api/trace?q={NAME}{query}", environ_base=environ)
    return [event for event in map(json.loads, response.text.splitlines()) if event["event"] == "hop"]


def test_an_answer_from_elsewhere_is_taken_again_and_says_so(inspector, others):
    client = inspector(leaving, trace_elsewhere=True)
    first, second = hops_of(client), hops_of(client, REMOTE_ADDR="192.0.2.9")
    assert [hop["age"] for hop in first] == [None, None]
    # Our own hop is never one of before.
    assert second[0]["age"] is None
    assert second[1]["age"] >= 0
    assert [note["code"] for note in second[1]["notes"]] == ["reused"]
    assert others == ["https://other.example/"]


def test_run_again_asks_again_as_long_as_the_host_may_be_asked(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate=2)
    assert [hops_of(client, "&fresh=1")[1]["age"] for _ in range(2)] == [None, None]
    assert hops_of(client, "&fresh=1")[1]["age"] >= 0
    assert len(others) == 2


def test_a_host_that_was_asked_too_often_is_asked_no_more_and_the_hop_says_why(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate=2)
    for host in "ab":
        client.get(f"/api/trace?q={NAME}-{host}&resolver=https://r.example")
    failed = client.get(f"/api/trace?q={NAME}-c&resolver=https://r.example")
    *_, hop, end = map(json.loads, failed.text.splitlines())
    assert (failed.status_code, hop["failure"]["code"], end["code"]) == (200, "too-often", "too-often")
    assert "asked it 2 times within a minute" in end["sentence"]
    assert len(others) == 2
    # Our own site is never asked too often.
    assert all(hops_of(client)[0]["status"] == 302 for _ in range(5))


def test_one_client_gets_its_share_of_a_host(inspector, others):
    client = inspector(leaving, trace_elsewhere=True, host_rate_each=1)
    codes = []
    for name, address in (("1", "192.0.2.1"), ("2", "192.0.2.1"), ("3", "192.0.2.2")):
        answer = client.get(
            f"/api/trace?q={NAME}{name}&resolver=https://r.example", environ_base={"REMOTE_ADDR": address}
        )
        codes.append(json.loads(answer.text.splitlines()[-1])["code"])
    assert codes == ["found", "too-often", "found"]


# Which resolver, and what the card says of it -------------------------------------------------------------------------


def card_of(client, read_page, text):
    return read_page(client.get("/", query_string={"q": text}).text).one("section", "leads")


def test_where_a_name_is_bound_here_this_site_is_asked(inspector, read_page):
    section = card_of(inspector(), read_page, NAME)
    assert "this site is asked" in section.text
    assert section.one("a").attributes["href"] == section.one("a").attributes["hx-get"] == f"/trace?q={NAME}"


def test_of_an_address_the_ark_inside_is_traced(inspector, read_page):
    section = card_of(inspector(), read_page, f"https://n2t.net/{NAME}")
    assert section.one("a").attributes["href"] == f"/trace?q={NAME}"


def test_where_a_name_is_not_bound_here_the_command_line_is_named(inspector, read_page):
    section = card_of(inspector(), read_page, "urn:foo:a'b")
    assert "this page does not ask https://n2t.net" in section.text
    assert section.one("p", "command").one("code").text == """ararat trace 'urn:foo:a'"'"'b'"""
    assert section.one("a").attributes["href"] == f"/trace?q=urn:foo:a'b&resolver={HERE}"


def test_asked_all_the_same_this_site_says_that_it_knows_no_location(inspector):
    response = inspector().get("/trace", query_string={"q": "ark:12345/y", "resolver": HERE}, headers=STREAM)
    assert "404 Not Found" in response.text
    assert "It is unspecified whether the resource or its resolution failed." in response.text


def test_with_trace_elsewhere_the_official_resolver_is_asked(inspector, read_page):
    section = card_of(inspector(trace_elsewhere=True), read_page, "ark:12345/unbound")
    assert "the official resolver is asked" in section.text
    assert section.one("a").attributes["href"] == "/trace?q=ark:12345/unbound"


def test_without_a_site_of_its_own_the_inspector_offers_the_command_alone(read_page):
    section = card_of(create_app(trace_elsewhere=False).test_client(), read_page, NAME)
    assert section.one("p", "command")
    assert section.all("a") == []


def test_what_is_too_long_for_an_address_is_not_offered(inspector, read_page):
    client = inspector()
    response = client.post("/", data={"q": "ark:12345/" + "x" * 3_000})
    assert "too long for the address of a trace" in read_page(response.text).one("section", "leads").text


def test_the_bars_are_on_a_scale_where_little_can_be_seen():
    assert 0 < live.width(0.002) < live.width(0.2) < live.width(2) < live.width(10) == live.width(60) == 100


# The API --------------------------------------------------------------------------------------------------------------


def test_the_api_gives_a_line_of_json_for_each_event(inspector):
    response = inspector().get("/api/trace", query_string={"q": NAME})
    assert response.mimetype == "application/x-ndjson"
    assert response.data.isascii()
    events = [json.loads(line) for line in response.text.splitlines()]
    assert [event["event"] for event in events] == ["start", "hop", "hop", "hop", "end"]
    assert events[-1]["url"] == f"{HERE}/page/2"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_the_api_gives_events_where_they_are_asked_for(inspector):
    response = inspector().get("/api/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.mimetype == "text/event-stream"
    found = messages(response)
    assert [event for event, _ in found] == ["start", "hop", "hop", "hop", "end"]
    assert json.loads(found[1][1])["status"] == 302
