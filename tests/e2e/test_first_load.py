"""The cost of a first visit: bytes over the wire, and the number of requests before the result is shown."""

from __future__ import annotations

import gzip
import re

MOST = 100_000
"""Octets of page, styles and scripts together, compressed as a server in front would."""


def test_the_first_load_is_small_and_needs_one_round_trip(new_context, page_watch):
    # Nothing is in the cache of a new context.
    context, answers = new_context(), []
    page_watch.watch(context)
    page = context.new_page()
    page.on("response", lambda answer: answers.append(answer))
    page.goto("/?q=ark:/12345/mp-39n/1.pdf%E2%80%AE.en?info")
    page.wait_for_load_state("networkidle")
    # The page contains the result. All other requests are for files that a browser caches.
    assert [answer.url for answer in answers if "/static/" not in answer.url] == [page.url]
    assert len(answers) <= 6
    sizes = {answer.url: len(gzip.compress(answer.body(), 6)) for answer in answers}
    assert sum(sizes.values()) < MOST, sizes
    page.locator("#q").fill("ark:12345/x8rd4")
    with page.expect_response("**/"):
        page.locator("#q").press("Enter")
    page.locator(".normal code", has_text="ark:12345/x8rd4").wait_for(state="attached")
    # The browser loads a picture below the result lazily.
    asked = [answer.request.method for answer in answers if not re.search("/static/|/qr.svg", answer.url)]
    assert asked == ["GET", "POST"]
