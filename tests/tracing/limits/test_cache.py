"""Cached responses, with a clock of the tests."""

from __future__ import annotations

import pytest

from ararat.net.hop import HopFailed, HopResponse
from ararat.tracing.limits.cache import ResponseCache, cached_fetch

URL = "https://a.example/"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def answers(clock):
    return ResponseCache(clock=clock)


class Counting:
    """A fetch that numbers its responses, or fails with a code."""

    def __init__(self, code=None, *fields):
        self.code, self.fields, self.asked = code, fields, 0

    def __call__(self, method, url, deadline):
        self.asked += 1
        if self.code:
            raise HopFailed(self.code)
        return HopResponse(200, str(self.asked), self.fields)


def test_a_response_is_cached_for_a_minute_with_its_age(answers, clock):
    fetch = Counting()
    ask = cached_fetch(fetch, answers)
    ages = []
    for later in (0, 0, 59.9, 0.2, 30):
        clock.now += later
        ages.append(ask("GET", URL, 0.0).age)
    assert ages == [None, 0, pytest.approx(59.9), None, pytest.approx(30)]
    assert fetch.asked == 2


@pytest.mark.parametrize(("method", "url"), [("HEAD", URL), ("GET", URL + "?"), ("GET", "http://a.example/")])
def test_another_request_is_not_answered_from_the_cache(method, url, answers):
    fetch = Counting()
    ask = cached_fetch(fetch, answers)
    assert ask("GET", URL, 0.0).age is None
    assert ask(method, url, 0.0).age is None


def test_a_fresh_trace_sends_requests_and_caches_the_responses(answers):
    fetch = Counting()
    assert [cached_fetch(fetch, answers, fresh=True)("GET", URL, 0.0).reason for _ in range(3)] == ["1", "2", "3"]
    assert cached_fetch(fetch, answers)("GET", URL, 0.0).reason == "3"


def test_the_cached_response_is_used_if_the_rate_limit_is_reached(answers):
    cached_fetch(Counting(), answers)("GET", URL, 0.0)
    assert cached_fetch(Counting("too-often"), answers, fresh=True)("GET", URL, 0.0).age == 0
    with pytest.raises(HopFailed):
        cached_fetch(Counting("too-often"), answers, fresh=True)("GET", URL + "other", 0.0)


@pytest.mark.parametrize("code", ["connect", "timeout", "blocked", "stopped"])
def test_failures_are_not_cached(code, answers):
    with pytest.raises(HopFailed):
        cached_fetch(Counting(code), answers)("GET", URL, 0.0)
    cached_fetch(Counting(), answers)("GET", URL, 0.0)
    # The failure of a host is not hidden by an earlier response.
    with pytest.raises(HopFailed) as failed:
        cached_fetch(Counting(code), answers, fresh=True)("GET", URL, 0.0)
    assert failed.value.code == code


@pytest.mark.parametrize(
    ("field", "kept"),
    [
        (("Cache-Control", "max-age=0, No-Store"), False),
        (("Cache-Control", "no-cache"), True),
        (("Vary", "Accept"), True),
        (("Set-Cookie", "a=b"), True),
    ],
)
def test_no_store_is_respected(field, kept, answers):
    ask = cached_fetch(Counting(None, field), answers)
    ask("GET", URL, 0.0)
    assert (ask("GET", URL, 0.0).age is not None) is kept


def test_the_cache_is_limited_and_keeps_the_newest(clock):
    answers = ResponseCache(max_bytes=100_000, clock=clock)
    for number in range(1000):
        answers.put("GET", f"{URL}{number}", HopResponse(200, "OK", (("X", "x" * 1000),)))
    assert 50 < len(answers) < 100
    assert answers.get("GET", f"{URL}999") is not None
    assert answers.get("GET", f"{URL}0") is None
    answers.put("GET", URL, HopResponse(200, "OK", (("X", "x" * 200_000),)))
    assert answers.get("GET", URL) is None


def test_replacing_a_response_needs_no_more_memory(clock):
    answers = ResponseCache(max_bytes=10_000, clock=clock)
    answers.put("GET", URL, HopResponse(200, "OK", ()))
    for _ in range(1000):
        answers.put("GET", URL + "b", HopResponse(200, "OK", (("X", "x" * 1000),)))
    assert answers.get("GET", URL) is not None


def test_expired_responses_are_dropped(answers, clock):
    answers.put("GET", URL, HopResponse(200, "OK", ()))
    clock.now += 60
    answers.put("GET", URL + "b", HopResponse(200, "OK", ()))
    assert len(answers) == 1
