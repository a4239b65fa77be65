"""A host that asks for a pause gets no request before its end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from werkzeug.http import http_date

from ararat.net.hop import HopFailed, HopResponse
from ararat.net.retry_after import MAX_SECONDS, RetryAfter, seconds_of


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        pytest.param(503, "120", 120, id="seconds"),
        pytest.param(429, "9" * 30, MAX_SECONDS, id="too long"),
        pytest.param(503, "soon", 0, id="no time"),
        pytest.param(503, "-5", 0, id="negative"),
        pytest.param(200, "120", 0, id="a success"),
        pytest.param(503, None, 0, id="without the field"),
    ],
)
def test_a_host_gets_no_request_before_the_time_it_asked_for(status, value, seconds):
    now = [0.0]
    asked = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        asked.append(url)
        return HopResponse(status, "", (("Retry-After", value),) if value else ())

    polite = RetryAfter(lambda: now[0]).wrap(fetch)
    polite("GET", "https://a.test/1", 9)
    if seconds:
        now[0] = seconds - 1.0
        with pytest.raises(HopFailed) as failed:
            polite("GET", "https://A.test/2", 9)
        assert failed.value.code == "too-often"
        polite("GET", "https://b.test/", 9)
        now[0] = seconds + 1.0
    polite("GET", "https://a.test/3", 9)
    assert "https://A.test/2" not in asked


def test_a_date_is_read():
    date = http_date(datetime.now(UTC) + timedelta(minutes=2))
    assert 100 < seconds_of([("Retry-After", date)]) <= 120
