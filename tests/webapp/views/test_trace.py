"""The live trace: hops as they happen, in a stream or a growing page, and reasons not to start."""

from __future__ import annotations

import json
import shlex
import time
from functools import partial

import pytest

from ararat.net.hop import USER_AGENT
from ararat.webapp import create_app, trace_requests
from ararat.webapp.views import trace_fragments

HERE = "https://here.example.org"
STREAM = {"Accept": "text/event-stream"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site": "same-origin"}
HTMX = {"HX-Request": "true"}
NAME = "ark:12345/x"


@pytest.fixture
def page_waits(redirecting, slow):
    """A site that redirects at once, and whose page blocks until it is released."""

    def site(environ, start_response):
        return (slow if environ["PATH_INFO"] == "/page" else redirecting)(environ, start_response)

    return site


# The stream -----------------------------------------------------------------------------------------------------------


def test_a_stream_has_a_start_hops_and_an_end(inspector, messages, read_page):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.status_code == 200
    assert response.mimetype == "text/event-stream"
    found = messages(response)
    assert [event for event, _ in found] == ["start", "hop", "hop", "hop", "verdict", "end"]
    hops = [read_page(data) for event, data in found if event == "hop"]
    assert [hop.one("span", "code").text.split()[-1] for hop in hops] == ["302", "302", "200"]
    location = hops[1].one("dl", "fields").all("div")[2]
    assert location.text.split() == ["Location", "/page/2", "resolves", "to", f"{HERE}/page/2"]
    ended = read_page(found[4][1]).one("div", "ended")
    assert ended.one("p", "sentence").text.endswith(f"{HERE.removeprefix('https://')}/page/2")
    assert "2 redirects" in ended.text
    assert "This server answered all requests itself." in ended.text


def test_the_finding_of_a_hop_and_the_slowest_request_are_named(inspector, messages, read_page, monkeypatch):
    # The time of a busy machine does not count.
    now = [time.monotonic()]
    monkeypatch.setattr(trace_requests, "trace", partial(trace_requests.trace, clock=lambda: now[0]))

    def site(environ, start_response):
        moves = {f"/{NAME}": ("302 Found", "/page"), "/page": ("301 Moved Permanently", "/new")}
        if environ["PATH_INFO"] == "/page":
            now[0] += 0.12
        status, location = moves.get(environ["PATH_INFO"], ("200 OK", None))
        start_response(status, [("Location", location)] if location else [("Content-Type", "image/jpeg")])
        return [b""]

    found = messages(inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM))
    hops = [read_page(data).one("li", "hop") for event, data in found if event == "hop"]
    assert [hop.one("span", "remark").text for hop in hops] == [
        "This server answered.",
        "A permanent redirect: record the new target.",
        "OK, image/jpeg.",
    ]
    assert "moved" in hops[1].attributes["class"].split()
    assert "Slowest request: 2, to this site, " in next(data for event, data in found if event == "verdict")


def test_a_host_that_is_not_asked_is_not_a_dead_link(inspector, messages, read_page):
    def site(environ, start_response):
        start_response("302 Found", [("Location", "https://elsewhere.example/a")])
        return [b""]

    found = messages(inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM))
    ended = read_page(next(data for event, data in found if event == "verdict")).one("div", "ended")
    assert "sends no requests to other hosts" in ended.text
    assert "warn" in ended.classes
    assert "responsible" not in next(data for event, data in found if event == "verdict")


def test_a_stream_is_not_buffered(inspector):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.headers["X-Accel-Buffering"] == "no"
    assert response.headers["Cache-Control"] == "no-store, no-transform"
    assert "Content-Length" not in response.headers


def test_hops_are_numbered_and_create_no_elements(inspector, messages, read_page):
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    ids = [line for line in response.text.split("\n") if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(1, 6)]
    *_, (_, last), _, _ = messages(response)
    hop = read_page(last)
    assert hop.one("dl", "fields").all("div")[1].text.split() == ["Response", "200", "OK", "<b>OK"]
    assert "\x9b" not in last
    assert hop.all("b") == []


def test_texts_of_a_site_are_shown_without_hidden_characters(inspector, messages, read_page):
    response = inspector().get("/trace", query_string={"q": "ark:12345/odd"}, headers=STREAM)
    assert not any(0x7F <= ord(char) <= 0x9F or char == "\u200b" for char in response.text)
    [hop] = [read_page(data) for event, data in messages(response) if event == "hop"]
    assert hop.one("dl", "fields").all("span", "cp")


def test_keepalive_messages_are_sent_while_a_hop_waits(inspector, slow):
    response = inspector(slow).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = response.iter_encoded()
    # On a busy machine, a beat can precede each event.
    assert any(b"event: start" in part for part in parts)
    assert any(b"event: waiting" in part for part in parts)
    assert any(b"event: waiting" in part for part in parts)
    slow.answers.set()
    assert any(b"event: hop" in part for part in parts)
    response.close()


def test_hops_are_sent_before_later_ones_finish(inspector, page_waits, slow, without_beats):
    response = inspector(page_waits).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = without_beats(response)
    assert b"event: start" in next(parts)
    assert b"event: next" in next(parts)
    assert b"302 Found" in next(parts)
    assert slow.asked <= 1
    slow.answers.set()
    assert b"event: end" in b"".join(parts)
    response.close()


def test_the_pending_request_is_shown(inspector, page_waits, slow, without_beats):
    response = inspector(page_waits).get("/trace", query_string={"q": NAME}, headers=STREAM, buffered=False)
    parts = without_beats(response)
    _, first, hop, second = [next(parts).decode() for _ in range(4)]
    beat = next(part for part in response.iter_encoded() if part.startswith(b"event: waiting")).decode()
    slow.answers.set()
    assert "Waiting for here.example.org" in first
    assert "No redirects so far" in first
    assert "302" in hop
    assert "1 redirect so far" in second
    assert beat.startswith("event: waiting\n")
    assert "Waiting for this site to answer" in beat
    assert b"event: record" in b"".join(parts)
    response.close()


def test_a_finished_trace_has_a_table_and_its_events_as_json(inspector, messages, read_page):
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


def test_each_hop_has_a_curl_command(inspector, messages, read_page):
    hops = [data for event, data in messages(inspector().get("/trace?q=" + NAME, headers=STREAM)) if event == "hop"]
    lines = [read_page(hop).one("p", "command") for hop in hops]
    assert [shlex.split(line.one("code").text)[-1] for line in lines] == [
        f"{HERE}/{NAME}",
        f"{HERE}/page",
        f"{HERE}/page/2",
    ]
    assert [line.one("button").attributes["data-copy"] for line in lines] == [line.one("code").text for line in lines]


def test_a_client_that_accepts_everything_gets_the_stream(inspector):
    response = inspector().get("/trace", query_string={"q": NAME}, headers={"Accept": "*/*"})
    assert response.mimetype == "text/event-stream"


# What starts no trace -------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="a neighbour"),
        pytest.param({"Sec-Purpose": "prefetch;prerender"}, id="a prefetch"),
        pytest.param({"Purpose": "prefetch"}, id="an older prefetch"),
    ],
)
def test_another_site_or_a_prefetch_gets_a_button_instead_of_a_trace(inspector, messages, slow, read_page, fields):
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


def test_a_name_that_leads_to_its_own_trace_ends(inspector, messages):
    def site(environ, start_response):
        if environ["PATH_INFO"] == "/trace":
            return client.application(environ, start_response)
        start_response("302 Found", [("Location", f"/trace?q={NAME}")])
        return [b""]

    client = inspector(site)
    response = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert [event for event, _ in messages(response)] == ["start", "hop", "hop", "verdict", "end"]


@pytest.mark.one_setup
@pytest.mark.parametrize("accept", [STREAM, BROWSER, {}], ids=["stream", "page", "anything"])
def test_a_trace_requested_by_a_trace_does_not_start(inspector, slow, accept):
    client = inspector(slow)
    answer = client.get("/trace", query_string={"q": NAME}, headers={**accept, "User-Agent": USER_AGENT})
    assert answer.status_code == 200
    assert (
        client.get("/api/trace", query_string={"q": NAME}, headers={"User-Agent": "Ararat/99 (x)"}).status_code == 403
    )
    assert slow.asked == 0


def test_a_broken_connection_does_not_run_the_trace_again(inspector, messages, slow):
    response = inspector(slow).get("/trace", query_string={"q": NAME}, headers={**STREAM, "Last-Event-ID": "2"})
    assert [event for event, _ in messages(response)] == ["verdict", "end"]
    assert "connection was lost" in response.text
    assert (
        inspector(slow).get("/api/trace", query_string={"q": NAME}, headers={"Last-Event-ID": "2"}).status_code == 204
    )
    assert slow.asked == 0


def test_head_starts_no_trace(inspector, slow):
    assert inspector(slow).head("/trace", query_string={"q": NAME}, headers=BROWSER).status_code == 200
    assert slow.asked == 0


def test_an_internal_error_ends_the_stream_and_the_page(inspector, messages, monkeypatch, caplog):
    def broken(*_, **__):
        yield from ()
        raise ArithmeticError("seven")

    monkeypatch.setattr(trace_requests, "iter_with_keepalive", broken)
    client = inspector()
    stream = client.get("/trace", query_string={"q": NAME}, headers=STREAM)
    assert [event for event, _ in messages(stream)] == ["verdict", "end"]
    page = client.get("/trace", query_string={"q": NAME}, headers=BROWSER)
    assert page.text.rstrip().endswith("</html>")
    for response in (stream, page):
        assert "went wrong on our side" in response.text
        assert "seven" not in response.text
    assert caplog.text.count("ArithmeticError: seven") == 2


# The page -------------------------------------------------------------------------------------------------------------


def test_the_page_grows_hop_by_hop_without_javascript(inspector, page_waits, slow, read_page):
    response = inspector(page_waits).get("/trace", query_string={"q": NAME}, headers=BROWSER, buffered=False)
    assert response.headers["X-Accel-Buffering"] == "no"
    parts = response.iter_encoded()
    shown = b""
    while b"302 Found" not in shown:
        shown += next(parts)
    assert b"</html>" not in shown
    assert any(b"still waiting" in part for part in parts)
    slow.answers.set()
    shown += b"".join(parts)
    page = read_page(shown.decode())
    hops = page.one("ol", "hops").all("li", "hop")
    assert sum("waits" not in hop.attributes["class"].split() for hop in hops) == 2
    assert "The trace ended at" in page.one("div", "ended").text
    assert page.one("div", "ended").all("a")[-1].attributes["href"] == f"/trace?q={NAME}&fresh=1"
    response.close()


def test_page_and_stream_have_the_same_content(inspector, messages, read_page):
    client = inspector()
    page = read_page(client.get("/trace", query_string={"q": NAME}, headers=BROWSER).text)
    stream = messages(client.get("/trace", query_string={"q": NAME}, headers=STREAM))
    hops = [read_page(data).one("summary").one("span", "url").text for event, data in stream if event == "hop"]
    assert [hop.one("summary").one("span", "url").text for hop in page.all("li", "hop") if hop.all("summary")] == hops


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
    assert swaps == {"start", "hop", "next", "waiting", "verdict", "record"}
    assert slow.asked == 0


def test_only_http_urls_become_links(inspector, messages, read_page):
    def site(environ, start_response):
        start_response("302 Found", [("Location", "javascript:alert(1)")])
        return [b""]

    response = inspector(site).get("/trace", query_string={"q": NAME}, headers=STREAM)
    links = [link.attributes["href"] for _, data in messages(response) for link in read_page(data).all("a")]
    assert links == [f"/trace?q={NAME}&fresh=1"]
    ended = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM).text
    assert 'rel="noopener noreferrer nofollow ugc" referrerpolicy="no-referrer"' in ended


# The resolver on the card ---------------------------------------------------------------------------------------------


def card_of(client, read_page, text):
    return read_page(client.get("/", query_string={"q": text}).text).one("section", "leads")


def test_a_bound_name_is_traced_at_this_site(inspector, read_page):
    section = card_of(inspector(), read_page, NAME)
    assert "this site resolves it" in section.text
    form = section.one("form", "plan")
    assert form.attributes["action"] == form.attributes["hx-get"] == "/trace"
    assert form.one("input", name="q").attributes["value"] == NAME
    assert form.one("option", selected="").attributes["value"] == ""


def test_only_the_ark_in_a_url_is_traced(inspector, read_page):
    section = card_of(inspector(), read_page, f"https://n2t.net/{NAME}")
    assert section.one("input", name="q").attributes["value"] == NAME


def test_an_unbound_name_shows_the_command(inspector, read_page):
    section = card_of(inspector(), read_page, "urn:foo:a'b")
    assert "No resolver of urn:foo is known. Run this command with a resolver instead:" in section.text
    assert section.one("p", "command").one("code").text == """ararat trace 'urn:foo:a'"'"'b' --resolver URL"""
    assert section.one("input", name="q").attributes["value"] == "urn:foo:a'b"
    assert [option.attributes["value"] for option in section.all("option")] == [HERE]
    for text, resolver in {"ark:12345/y": "https://n2t.net", "urn:nbn:fi-fe1": "https://urn.fi"}.items():
        section = card_of(inspector(), read_page, text)
        assert f"this page sends no requests to {resolver}" in section.text
        assert section.one("p", "command").one("code").text == f"ararat trace {text}"


def test_this_site_answers_404_for_an_unbound_name_on_request(inspector):
    response = inspector().get("/trace", query_string={"q": "ark:12345/y", "resolver": HERE}, headers=STREAM)
    assert "404 Not Found" in response.text
    assert "It is unspecified whether the resource or its resolution failed." in response.text


# ARK-136
def test_trace_elsewhere_uses_the_official_resolver(inspector, read_page):
    section = card_of(inspector(trace_elsewhere=True), read_page, "ark:12345/unbound")
    assert "starts at the official resolver" in section.text
    assert section.one("option", selected="").attributes["value"] == ""


def test_an_inspector_without_a_site_offers_only_the_command(read_page):
    section = card_of(create_app(trace_elsewhere=False).test_client(), read_page, NAME)
    assert section.one("p", "command")
    assert section.all("form") == []


def test_an_identifier_that_is_too_long_has_no_trace(inspector, read_page):
    client = inspector()
    response = client.post("/", data={"q": "ark:12345/" + "x" * 3_000})
    assert "too long for a trace" in read_page(response.text).one("section", "leads").text


def test_the_bars_of_a_trace_are_on_one_axis_of_time(inspector, messages, read_page):
    assert [trace_fragments.scale(seconds)[0] for seconds in (0, 0.4, 1, 1.1, 60)] == [
        *("until-02", "until-05", "until-1", "until-2", "until-30"),
    ]
    response = inspector().get("/trace", query_string={"q": NAME}, headers=STREAM)
    bars = [read_page(data).one("rect").attributes for event, data in messages(response) if event == "hop"]
    ends = [int(bar["x"]) + int(bar["width"]) for bar in bars]
    assert all(int(bar["x"]) >= end - 3 for bar, end in zip(bars[1:], ends, strict=False))


# The API --------------------------------------------------------------------------------------------------------------


def test_the_api_returns_one_json_line_per_event(inspector):
    response = inspector().get("/api/trace", query_string={"q": NAME})
    assert response.mimetype == "application/x-ndjson"
    assert response.data.isascii()
    events = [event for event in map(json.loads, response.text.splitlines()) if event["event"] != "waiting"]
    assert [event["event"] for event in events] == ["start", "hop", "hop", "hop", "end"]
    assert events[-1]["url"] == f"{HERE}/page/2"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_the_api_returns_server_sent_events_on_request(inspector, messages):
    response = inspector().get("/api/trace", query_string={"q": NAME}, headers=STREAM)
    assert response.mimetype == "text/event-stream"
    found = messages(response)
    assert [event for event, _ in found] == ["start", "hop", "hop", "hop", "end"]
    assert json.loads(found[1][1])["status"] == 302


# A link without an identifier ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [STREAM, BROWSER], ids=["stream", "page"])
def test_a_link_without_an_identifier_is_traced_as_it_is(inspector, headers):
    response = inspector().get("/trace", query_string={"q": f"{HERE}/missing?id=7#part"}, headers=headers)
    assert response.status_code == 200
    assert f"{HERE}/missing?id=7" in response.text
    assert "404 Not Found" in response.text
    assert "The address has no ARK or URN, so it is requested as it is." in response.text
    assert "Ask the operator of here.example.org." in response.text


def test_a_link_with_spaces_is_traced_as_a_browser_sends_it(inspector):
    response = inspector().get("/trace", query_string={"q": f"{HERE}/my page|100%"}, headers=BROWSER)
    assert response.status_code == 200
    assert f"{HERE}/my%20page%7C100%25" in response.text


def test_a_link_that_works_names_no_operator(inspector):
    response = inspector().get("/trace", query_string={"q": f"{HERE}/page"}, headers=STREAM)
    assert "200 OK" in response.text
    assert "Ask the operator" not in response.text


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("https://127.0.0.1/x", 403),
        ("https://elsewhere.example/x", 403),
        ("https://user:word@here.example.org/x", 400),
        ("https://", 400),
        ("file:///etc/passwd", 400),
        ("museum.example/x", 400),
    ],
)
def test_a_link_is_traced_only_where_a_trace_can_go(inspector, text, status):
    assert inspector().get("/trace", query_string={"q": text}, headers=BROWSER).status_code == status


def test_the_page_asks_one_question(inspector, read_page):
    form = read_page(inspector().get("/trace", headers=BROWSER).text).one("form", "wish")
    assert form.one("h1").text == "Which link is dead?"
    options = form.one("details", "options")
    assert "open" not in options.attributes
    closed = {each.attributes.get("name") for tag in ("input", "select") for each in options.all(tag)}
    assert closed == {"resolver", "method", "max_redirects"}
    chosen = read_page(inspector().get(f"/trace?q={NAME}&method=HEAD", headers={**BROWSER, "Purpose": "prefetch"}).text)
    assert "open" in chosen.one("details", "options").attributes
