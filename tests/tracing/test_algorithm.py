from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import PROBLEMS
from ararat.net.hop import FAILURES, HopFailed, HopResponse
from ararat.tracing.algorithm import CODES, End, Event, Hop, Start, TraceError, trace

# Test folders are not packages, so the module is loaded by path.
_scripted = run_path(str(Path(__file__).with_name("scripted.py")))
Script, redirect, answer, run, codes, ticking = (
    _scripted[name] for name in ("Script", "redirect", "answer", "run", "codes", "ticking")
)


# The algorithm --------------------------------------------------------------------------------------------------------


# ARK-118
@pytest.mark.vectors("resolve")
def test_the_vectors_of_the_reference_algorithm(vector):
    given = vector.input
    script = Script(
        *(
            HopFailed("connect")
            if status is None
            else HopResponse(status, "", () if location is None else (("Location", location),))
            for status, location in given["responses"]
        )
    )
    parameters = {"resolver": given["prefix"], "method": given["method"], "max_redirects": given["max_redirects"]}
    if "error" in vector.expect:
        with pytest.raises(TraceError) as refused:
            trace(given["ark"], fetch=script, **parameters)
        assert refused.value.code == vector.expect["error"]
        assert script.asked == []
        return
    *_, end = trace(given["ark"], fetch=script, **parameters)
    assert isinstance(end, End)
    seen = {"outcome": end.outcome, "state": end.state, "uri": end.url, "requests": len(script.asked)}
    assert {name: seen[name] for name in vector.expect} == vector.expect


#
# ARK-112
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_statuses(status):
    hops, end = run((status, "https://a.example/"), answer(200))
    assert [hop.status for hop in hops] == [status, 200]
    assert (end.outcome, end.url) == ("success", "https://a.example/")
    assert end.state == ("related" if status == 303 else "direct")


@pytest.mark.parametrize(("age", "words"), [(0.2, "1 s old"), (41.6, "42 s old")])
def test_a_cached_response_has_a_note_with_its_age(age, words):
    old = HopResponse(302, "Found", (("Location", "https://a.example/"),), age=age)
    (first, second), _ = run(old, answer(200))
    assert (first.age, second.age) == (age, None)
    assert [words in note.text for note in first.notes if note.code == "reused"] == [True]
    assert "reused" not in codes(second)
    assert (first.as_dict()["age"], second.as_dict()["age"]) == (age, None)


# ARK-127
@pytest.mark.parametrize("status", [200, 204, 206, 226, 304])
def test_success_statuses(status):
    _, end = run(answer(status))
    assert (end.outcome, end.code, end.state) == ("success", "found", "direct")


# ARK-119
@pytest.mark.parametrize("status", [400, 403, 404, 410, 418, 451, 500, 503, 599])
def test_failure_statuses(status):
    _, end = run(answer(status, ("Location", "https://a.example/")))
    assert (end.outcome, end.code, end.url) == ("failure", "error-status", "https://n2t.net/ark:12345/x")


@pytest.mark.parametrize("status", [201, 202, 203, 205, 207, 208, 300, 305, 306, 399, 600, 999])
def test_other_statuses_are_unspecified_and_end_the_trace(status):
    hops, end = run(answer(status, ("Location", "https://a.example/")))
    assert (end.outcome, end.code) == ("unspecified", "unspecified-status")
    assert hops[0].location == "https://a.example/"
    assert hops[0].target is None


def test_the_state_related_is_kept():
    hops, end = run((302, "/1"), (303, "/2"), (302, "/3"), answer(200))
    assert [hop.state for hop in hops] == ["direct", "related", "related", "related"]
    assert end.state == "related"


# ARK-105
@pytest.mark.parametrize("inflection", ["?", "??", "?info", "?%69nfo", "?other"])
def test_an_inflection_gives_the_state_metadata(inflection):
    hops, end = run((303, "/1"), answer(200), identifier=f"ark:12345/x{inflection}")
    assert [hop.state for hop in hops] == ["metadata", "metadata"]
    assert end.state == "metadata"
    assert "The answer to the inflection" in end.sentence


# URN-066
def test_a_urn_is_resolved_like_an_ark():
    script = Script((303, "/about"), answer(200))
    start, *_, end = trace("urn:isbn:0451450523#p", fetch=script, resolver="https://r.example/x/")
    assert isinstance(start, Start)
    assert isinstance(end, End)
    assert start.sent == script.asked[0][1] == "https://r.example/x/urn:isbn:0451450523"
    assert (end.outcome, end.state, end.fragment) == ("success", "related", "p")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_method_never_changes(method):
    script = Script((303, "https://a.example/"), (302, "/2"), answer(405))
    list(trace("ark:12345/x", fetch=script, method=method))
    assert [asked for asked, _ in script.asked] == [method] * 3


@pytest.mark.parametrize("most", [5, 10, 20])
def test_there_is_one_more_request_than_redirects(most):
    hops, end = run(*[(302, f"/{n}") for n in range(most)], answer(200), max_redirects=most)
    assert (end.outcome, len(hops)) == ("success", most + 1)
    assert [hop.redirects_left for hop in hops] == [*range(most - 1, -1, -1), 0]
    hops, end = run(*[(302, f"/{n}") for n in range(most + 1)], max_redirects=most)
    assert (end.outcome, end.code, len(hops)) == ("failure", "too-many-redirects", most + 1)


def test_a_loop_is_noted_and_followed():
    hops, end = run(*[(302, "#again")] * 6, max_redirects=5)
    assert [codes(hop).count("seen-before") for hop in hops] == [0, 1, 1, 1, 1, 1]
    assert {hop.url for hop in hops} == {"https://n2t.net/ark:12345/x"}
    assert end.outcome == "failure"


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({"max_redirects": 4}, id="too-few-redirects"),
        pytest.param({"max_redirects": 21}, id="too-many-redirects"),
        pytest.param({"method": "POST"}, id="post"),
        pytest.param({"method": "get"}, id="lower-case"),
        pytest.param({"method": "GET\r\nX: y"}, id="injection"),
        pytest.param({"resolver": "ftp://n2t.net"}, id="another-scheme"),
        pytest.param({"resolver": "n2t.net"}, id="no-scheme"),
        pytest.param({"resolver": "https://n2t.net/?x="}, id="query"),
        pytest.param({"resolver": "https://n2t.net/#x"}, id="fragment"),
        pytest.param({"resolver": "https://user@n2t.net"}, id="user"),
        pytest.param({"resolver": "https://\u202e/"}, id="bidi"),
        pytest.param({"resolver": ""}, id="empty"),
        pytest.param({"run_seconds": 0}, id="no-time"),
        pytest.param({"run_seconds": float("nan")}, id="not-a-time"),
    ],
)
def test_invalid_parameters_raise_an_error_at_once(parameters):
    with pytest.raises(TraceError) as refused:
        trace("ark:12345/x", fetch=Script(), **parameters)
    assert refused.value.code == "parameter"
    assert str(refused.value).isascii()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        ("hello", "no-ark-label"),
        ("ark:99999/x", "naan-reserved-invalid"),
        ("ark:12345/..", "dot-segment"),
        ("", "empty"),
    ],
)
def test_a_refused_identifier_ends_the_trace_before_a_request(identifier, code):
    script = Script()
    start, end = trace(identifier, fetch=script)
    assert isinstance(start, Start)
    assert isinstance(end, End)
    assert start.sent is None
    assert (end.outcome, end.hops, end.url) == ("refused", 0, None)
    assert end.code in PROBLEMS
    assert end.code == code or identifier == "hello"
    assert end.sentence.startswith("No request was sent: ")
    assert script.asked == []


def test_the_trace_ends_at_its_time_limit():
    hops, end = run(*[(302, f"/{n}") for n in range(9)], clock=ticking(4), run_seconds=30)
    assert (end.outcome, end.code) == ("failure", "time-used-up")
    assert 0 < len(hops) < 9


def test_each_request_has_the_deadline_of_the_trace():
    deadlines = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        deadlines.append(deadline)
        return redirect(302, "/again")

    list(trace("ark:12345/x", fetch=fetch, clock=ticking(), run_seconds=12))
    assert set(deadlines) == {112}


@pytest.mark.parametrize("code", FAILURES)
def test_a_request_without_a_response_is_a_failure(code):
    hops, end = run((302, "https://a.example/"), HopFailed(code))
    assert (end.outcome, end.code, end.url) == ("failure", code, "https://a.example/")
    assert hops[-1].status is None
    assert hops[-1].failure is not None
    assert hops[-1].failure.code == code
    assert FAILURES[code] in end.sentence


# Location -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param([], "location-missing", id="missing"),
        pytest.param([""], "location-missing", id="empty"),
        pytest.param(["/a", "/b"], "location-repeated", id="two"),
        pytest.param(["/a", "/a"], "location-repeated", id="two-alike"),
        pytest.param(["https://a.example/\u00e9"], "location-invalid", id="non-ascii"),
        pytest.param(["https://a.example/\u00c3\u00a9"], "location-invalid", id="utf-8-read-as-latin-1"),
        pytest.param(["/a b"], "location-invalid", id="space"),
        pytest.param([" /a"], "location-invalid", id="leading-space"),
        pytest.param(["/a\r\nSet-Cookie: x"], "location-invalid", id="crlf"),
        pytest.param(["/a\x00b"], "location-invalid", id="nul"),
        pytest.param(["/a\x1b[2J"], "location-invalid", id="escape"),
        pytest.param(["<script>"], "location-invalid", id="markup"),
        pytest.param(["http://127.0.0.1\\@example.com/"], "location-invalid", id="backslash"),
        pytest.param(["/" + "a" * 5000], "location-invalid", id="too-long"),
        pytest.param(["/%"], "location-invalid", id="lone-percent"),
    ],
)
def test_an_invalid_location_is_a_failure(fields, code):
    hops, end = run(answer(302, *(("Location", value) for value in fields)))
    assert (end.outcome, end.code) == ("failure", code)
    assert hops[0].target is None
    assert end.sentence.isascii()
    assert end.sentence.isprintable()


@pytest.mark.parametrize(
    ("location", "target"),
    [
        pytest.param("/y?", "https://n2t.net/y?", id="path"),
        pytest.param("y", "https://n2t.net/ark:12345/y", id="relative-path"),
        pytest.param("?q", "https://n2t.net/ark:12345/x?q", id="query"),
        pytest.param("#f", "https://n2t.net/ark:12345/x", id="fragment"),
        pytest.param("../../..", "https://n2t.net/", id="above-the-root"),
        pytest.param("//a.example/b", "https://a.example/b", id="authority"),
    ],
)
def test_a_relative_location_is_resolved_and_noted(location, target):
    script = Script((302, location), answer(200))
    _, hop, _, _ = trace("ark:12345/x", fetch=script)
    assert isinstance(hop, Hop)
    assert (hop.location, hop.target) == (location, target)
    assert "relative-location" in codes(hop)
    assert script.asked[1] == ("GET", target)


def test_strict_location_refuses_a_relative_location():
    _, end = run((302, "/y"), strict_location=True)
    assert (end.outcome, end.code) == ("failure", "location-relative")
    _, end = run((302, "https://n2t.net/y"), answer(200), strict_location=True)
    assert end.outcome == "success"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/a/../b/./c",
        "https://a.example/x?",
        "https://a.example/a%2Eb",
        "https://a.example//x",
        "HTTPS://A.example/",
    ],
)
def test_an_absolute_location_is_requested_unchanged(url):
    script = Script((302, url), answer(200))
    list(trace("ark:12345/x", fetch=script))
    assert script.asked[1][1] == url


@pytest.mark.parametrize(
    "uri",
    [
        "mailto:x@example.org",
        "urn:foo:a",
        "ftp://127.0.0.1/",
        "FILE:///etc/passwd",
        "javascript:alert(1)",
        "ark:12345/x",
        "http3://a.example/",
    ],
)
def test_a_target_that_is_not_http_is_a_success_and_not_requested(uri):
    hops, end = run((302, uri))
    assert (end.outcome, end.code, end.url, len(hops)) == ("success", "not-fetched", uri, 1)
    assert "not requested" in end.sentence
    assert codes(hops[0]) == ["not-web"]


# Fragments ------------------------------------------------------------------------------------------------------------


# URN-025, URN-027
@pytest.mark.parametrize(
    ("identifier", "locations", "fragment"),
    [
        pytest.param("ark:12345/x", ["/a"], None, id="none"),
        pytest.param("ark:12345/x#f", ["/a"], "f", id="inherited"),
        pytest.param("ark:12345/x#f", ["/a#g", "/b"], "g", id="replaced-and-inherited"),
        pytest.param("ark:12345/x#f", ["/a#"], "", id="replaced-by-an-empty-one"),
        pytest.param("ark:12345/x#\u00e9", ["/a"], "%C3%A9", id="non-ascii"),
    ],
)
def test_fragments_are_kept_and_never_sent(identifier, locations, fragment):
    script = Script(*[(302, location) for location in locations], answer(200))
    *_, end = trace(identifier, fetch=script)
    assert isinstance(end, End)
    assert end.fragment == fragment
    assert not [url for _, url in script.asked if "#" in url]
    assert (f"{end.url}#{fragment}" in end.sentence) is (fragment is not None)


# URN-027
@pytest.mark.parametrize("identifier", ["urn:foo:a#p1", "ark:12345/x#p1"])
def test_a_note_states_that_the_fragment_is_not_sent(identifier):
    hops, end = run((302, "https://a.example/"), answer(200), identifier=identifier, resolver="https://example.org")
    assert [note.text for note in hops[0].notes if note.code == "fragment-inherited"] == [
        "The fragment #p1 is kept for the new URL and is not sent (RFC 9110, section 10.2.2)."
    ]
    assert end.fragment == "p1"


# Events ---------------------------------------------------------------------------------------------------------------


def test_every_event_is_json():
    for answers in ([(302, "/\u00e9\ud800")], [(303, "/a#f"), answer(200)], [HopFailed("dns")]):
        for event in trace("ark:12-345/\u00e9#f", fetch=Script(*answers)):
            text = json.dumps(event.as_dict())
            assert text.isascii()
            assert json.loads(text) == event.as_dict()
            assert event.as_dict()["event"] == {Start: "start", Hop: "hop", End: "end"}[type(event)]


def test_times_are_relative_to_the_start():
    # The clock advances once for the start, and at the beginning and end of each hop.
    hops, end = run((302, "/a"), answer(200), clock=ticking(1))
    assert [(hop.at, hop.seconds) for hop in hops] == [(2, 1), (5, 1)]
    assert end.seconds > hops[-1].at


# Laws -----------------------------------------------------------------------------------------------------------------

STATUSES = st.one_of(st.sampled_from([200, 301, 302, 303, 307, 308, 404]), st.integers(100, 999))
LOCATIONS = st.one_of(
    st.sampled_from(
        ["/", "https://a.example/x", "?q", "#f", "mailto:a@b", "//b.example", "http://n2t.net/ark:12345/x"]
    ),
    st.text(max_size=20),
)
ANSWERS = st.lists(
    st.one_of(
        st.builds(lambda status, location: redirect(status, location), STATUSES, LOCATIONS),
        st.builds(
            lambda status, fields: HopResponse(status, "", tuple(fields)),
            STATUSES,
            st.lists(st.tuples(st.sampled_from(["Link", "Vary", "Location"]), st.text(max_size=20)), max_size=3),
        ),
        st.sampled_from(sorted(FAILURES)).map(HopFailed),
    ),
    min_size=25,
    max_size=25,
)


@given(ANSWERS, st.integers(5, 20), st.sampled_from(["ark:12345/x", "ark:12345/x?info#f", "urn:foo:a", "hello"]))
def test_every_trace_has_a_start_hops_and_an_end(answers, most, identifier):
    script = Script(*answers)
    events: Sequence[Event] = list(trace(identifier, fetch=script, max_redirects=most))
    assert [type(event) for event in events] == [Start, *[Hop] * len(script.asked), End]
    assert len(script.asked) <= most + 1
    end = events[-1]
    assert isinstance(end, End)
    assert end.code in CODES or end.code in FAILURES or end.code in PROBLEMS
    assert (end.outcome == "refused") is (end.hops == 0)
    assert end.sentence.isascii()
    assert end.sentence.isprintable()
    assert all(url.isascii() and url.isprintable() and " " not in url for _, url in script.asked)
    for event in events:
        json.dumps(event.as_dict())


@pytest.mark.naughty
def test_no_identifier_raises_an_error(naughty):
    script = Script(answer(200))
    *_, end = trace(naughty.input, fetch=script)
    assert isinstance(end, End)
    assert all(url.isascii() and not set(url) & set(' #"<>\\^`{|}\x00\n') for _, url in script.asked)
    assert end.outcome in ("success", "refused")
    assert end.sentence.isascii()
    assert not [text for text in naughty.must_not_appear_raw if text in end.sentence]


def rows(name: str) -> list[Any]:
    path = Path(__file__).parents[1] / "data" / "hostile" / name
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in rows("ssrf-urls.jsonl")])
def test_a_hostile_location_is_requested_unchanged_or_not_at_all(row):
    script = Script((302, row["url"]), HopFailed("bad-url"))
    *_, end = trace("ark:12345/x", fetch=script)
    assert isinstance(end, End)
    assert end.code in ("not-fetched", "location-invalid", "bad-url")
    assert [url for _, url in script.asked[1:]] == [row["url"].partition("#")[0]][: len(script.asked) - 1]


def test_a_url_without_an_identifier_is_requested_only_on_request():
    script = Script(redirect(301, "https://b.example/new"), answer(200))
    start, first, _, end = trace("https://a.example/old?id=7#top", fetch=script, resolver="https://n2t.net", links=True)
    assert isinstance(start, Start)
    assert isinstance(first, Hop)
    assert isinstance(end, End)
    assert (start.resolver, start.sent) == ("https://a.example", "https://a.example/old?id=7")
    assert [note.code for note in start.notes] == ["link"]
    assert (first.target, end.url, end.fragment) == ("https://b.example/new", "https://b.example/new", "top")
    # An identifier in a URL still starts at the resolver.
    script = Script(answer(200))
    start, *_ = trace("https://a.example/ark:12345/x", fetch=script, links=True)
    assert isinstance(start, Start)
    assert start.sent == "https://n2t.net/ark:12345/x"
    *_, end = trace("https://a.example/old", fetch=Script())
    assert isinstance(end, End)
    assert (end.outcome, end.code) == ("refused", "no-ark-label")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        pytest.param("https://a.example/Über uns?q=a b", "/%C3%9Cber%20uns?q=a%20b", id="spaces"),
        pytest.param('https://a.example/a|b[c]"\\{d}', "/a%7Cb%5Bc%5D%22%5C%7Bd%7D", id="signs that no URI has"),
        pytest.param("https://a.example/100%?50%zz%20", "/100%25?50%25zz%20", id="percent signs"),
        pytest.param("https://a.example/\u202ex\0", "/%E2%80%AEx%00", id="hidden characters"),
    ],
)
def test_signs_that_no_uri_has_are_encoded_in_a_url_without_an_identifier(text, sent):
    script = Script(answer(200))
    *_, end = trace(f"{text}#a b", fetch=script, links=True)
    assert isinstance(end, End)
    assert (end.outcome, end.fragment) == ("success", "a%20b")
    assert [url for _, url in script.asked] == [f"https://a.example{sent}"]


def test_a_url_with_a_lone_surrogate_is_refused():
    *_, end = trace("https://a.example/\ud800", fetch=Script(), links=True)
    assert isinstance(end, End)
    assert end.outcome == "refused"
