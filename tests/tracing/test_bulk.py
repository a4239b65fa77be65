"""Traces of many identifiers: verdicts, pauses between requests, and interruption."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ararat.net.hop import HopFailed, HopResponse
from ararat.net.throttle import PausableClock, PerHostThrottle
from ararat.tracing.algorithm import trace
from ararat.tracing.bulk import COLUMNS, CSV_HEADER, VERDICTS, BulkTraceRow, row, trace_all
from ararat.tracing.events import Event

TO_HTTP = (HopResponse(302, "", (("Location", "http://example.org/"),)), HopResponse(200, "", ()))


def scripted(*answers: HopResponse | HopFailed):
    """A fetch with these responses. The last one is repeated."""
    left = list(answers)

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, HopFailed):
            raise answer
        return answer

    return fetch


@pytest.mark.parametrize(
    ("identifier", "answers", "verdict", "downgraded"),
    [
        pytest.param("ark:12345/x", [HopResponse(200, "", ())], "resolves", False, id="resolves"),
        pytest.param(
            "ark:12345/x",
            [HopResponse(303, "", (("Location", "/about"),)), HopResponse(200, "", ())],
            "related",
            False,
            id="related",
        ),
        pytest.param("ark:12345/x?info", [HopResponse(200, "", ())], "metadata", False, id="metadata"),
        pytest.param("ark:12345/x", TO_HTTP, "resolves", True, id="downgraded"),
        pytest.param("ark:12345/x", [HopResponse(404, "", ())], "dead", False, id="an error"),
        pytest.param("ark:12345/x", [HopResponse(403, "", ())], "declined", False, id="declined"),
        *(
            pytest.param("ark:12345/x", [HopResponse(status, "", ())], verdict, False, id=str(status))
            for verdict, statuses in {
                "declined": (401, 451),
                "unclear": (408, 425, 429, 500, 502, 503, 504, 599),
                "dead": (400, 405, 410, 418),
            }.items()
            for status in statuses
        ),
        pytest.param("ark:12345/x", [HopFailed("timeout")], "unclear", False, id="time-out"),
        *(
            pytest.param("ark:12345/x", [HopResponse(302, "", (("Location", location),))], verdict, False, id=location)
            for location, verdict in {
                "/caf\u00c3\u00a9": "unclear",
                "/latin\u00e9": "unclear",
                "/a b/c d": "unclear",
                "https://a.test\\x": "unclear",
                "/a\tb": "dead",
                "http://[x": "dead",
            }.items()
        ),
        pytest.param(
            "ark:12345/x",
            [HopResponse(302, "", (("Location", "https://a.test/403"),)), HopFailed("dns")],
            "dead",
            False,
            id="no answer after a redirect",
        ),
        pytest.param("ark:12345/x", [HopFailed("dns")], "dead", False, id="no answer"),
        pytest.param("ark:12345/x", [HopFailed("blocked")], "blocked", False, id="blocked"),
        pytest.param("ark:12345/x", [HopFailed("port")], "blocked", False, id="another port"),
        pytest.param("ark:12345/x", [HopFailed("busy")], "undone", False, id="busy"),
        pytest.param("ark:12345/x", [HopResponse(300, "", ())], "unspecified", False, id="unspecified"),
        pytest.param(
            "ark:12345/x",
            [HopResponse(302, "", (("Location", "https://n2t.net/ark:12345/x"),))],
            "unregistered",
            False,
            id="a circle at the registry",
        ),
        pytest.param("nonsense", [HopFailed("dns")], "unreadable", False, id="no identifier"),
        pytest.param("ark:99999/x", [HopFailed("dns")], "unreadable", False, id="NAAN 99999"),
    ],
)
def test_each_trace_has_a_verdict(identifier, answers, verdict, downgraded):
    found = row(identifier, trace(identifier, fetch=scripted(*answers)))
    assert (found.verdict, found.downgraded) == (verdict, downgraded)
    assert found.ok == (verdict in ("resolves", "related", "metadata") and not downgraded)
    assert BulkTraceRow.of_dict(found.as_dict()) == found


def loop(*fields: tuple[str, str]) -> HopResponse:
    return HopResponse(302, "", (("Location", "https://a.test/1"), *fields))


def test_a_loop_with_a_cookie_is_unclear_and_one_without_is_dead():
    first = HopResponse(302, "", (("Location", "https://a.test/1"),))
    found = row("ark:12345/x", trace("ark:12345/x", fetch=scripted(first, loop(("Set-Cookie", "a=b")))))
    assert (found.verdict, found.code) == ("unclear", "too-many-redirects")
    assert found.sentence.endswith("A browser sends the cookie and may get the page.")
    assert row("ark:12345/x", trace("ark:12345/x", fetch=scripted(first, loop()))).verdict == "dead"


def test_the_note_names_the_character_of_the_octets():
    moved = HopResponse(302, "", (("Location", "/caf\u00c3\u00a9"),))
    found = row("ark:12345/x", trace("ark:12345/x", fetch=scripted(moved)))
    assert found.code == "location-invalid"
    assert "browsers correct it (encode U+00E9" in found.sentence


GOOD_ROW = row("ark:12345/x", trace("ark:12345/x", fetch=scripted(HopResponse(200, "", ()))))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"verdict": "splendid"}, id="no verdict"),
        pytest.param({"verdict": ["dead"]}, id="a list"),
        pytest.param({"hops": True}, id="a value that is not a number"),
        pytest.param({"identifier": None}, id="nothing"),
        pytest.param({"more": 1}, id="one key more"),
    ],
)
def test_an_invalid_row_is_refused(change):
    with pytest.raises(ValueError, match=r"expected an object|has the wrong type|is unknown") as caught:
        BulkTraceRow.of_dict(GOOD_ROW.as_dict() | change)
    assert str(caught.value).isascii()
    with pytest.raises(ValueError, match="expected an object"):
        BulkTraceRow.of_dict([])


def test_a_csv_line_has_the_columns_of_the_header():
    line = replace(GOOD_ROW, identifier='ark:12345/\u202e"x,\n', sentence="One, two.").as_csv()
    assert line.isascii()
    assert line.count("\n") == 1
    assert CSV_HEADER.split(",")[0] == COLUMNS[0] == "identifier"
    assert {"resolves", "dead", "unregistered"} <= VERDICTS.keys()


class Hosts:
    """Hosts that record the times and the concurrency of their requests."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.at_once: dict[str, int] = {}
        self.most = 0

    def fetch(self, method: str, url: str, deadline: float) -> HopResponse:
        host = url.split("/")[2]
        self.at_once[host] = self.at_once.get(host, 0) + 1
        self.most = max(self.most, self.at_once[host])
        self.times.setdefault(host, []).append(time.monotonic())
        assert deadline > time.monotonic()
        time.sleep(0.01)
        self.at_once[host] -= 1
        if host != "n2t.net":
            return HopResponse(200, "OK", (), where="here" if host == "example.org" else "elsewhere")
        target = "https://other.example.org/" if url.endswith("1") else "https://example.org/"
        return HopResponse(302, "Found", (("Location", target),))


def test_requests_to_a_host_are_serialized_with_pauses_that_do_not_count():
    hosts, turns = Hosts(), PerHostThrottle(0.2)
    ends = []

    def run(identifier: str) -> Iterator[Event]:
        clock = PausableClock()
        yield from trace(identifier, fetch=turns.wrap(hosts.fetch, clock), clock=clock, run_seconds=1.5)
        ends.append(clock.waited)

    rows = list(trace_all([f"ark:12345/x{number}" for number in range(8)], run, at_once=4))
    assert sorted(each.identifier for each in rows) == [f"ark:12345/x{number}" for number in range(8)]
    # Together they take longer than the limit of one trace: waiting does not count.
    assert {each.verdict for each in rows} == {"resolves"}
    assert max(ends) > 0
    assert hosts.most == 1
    gaps = [later - before for before, later in zip(hosts.times["n2t.net"], hosts.times["n2t.net"][1:], strict=False)]
    assert min(gaps) >= 0.2


def test_a_stopped_bulk_trace_ends_at_once():
    stop, taken = threading.Event(), []
    turns = PerHostThrottle(30, stop=stop)

    def given() -> Iterator[str]:
        for number in range(100):
            taken.append(number)
            yield f"ark:12345/x{number}"

    def run(identifier: str) -> Iterator[Event]:
        clock = PausableClock()
        return trace(identifier, fetch=turns.wrap(scripted(HopResponse(200, "", ())), clock), clock=clock)

    rows = trace_all(given(), run, at_once=3, stop=stop)
    first = next(rows)
    assert first.verdict == "resolves"
    # The others wait half a minute.
    stop.set()
    assert list(rows) == []
    assert len(taken) <= 4


def test_an_exception_of_a_trace_is_raised_and_ends_the_bulk_trace():
    def run(identifier: str) -> Iterator[Event]:
        raise ArithmeticError("seven")

    with pytest.raises(ArithmeticError, match="seven"):
        list(trace_all(["ark:12345/x"] * 9, run))
