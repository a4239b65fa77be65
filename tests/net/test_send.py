"""Test that a request with a body of the response has limits, and that a connection is kept only for its server."""

from __future__ import annotations

import pytest

from ararat.net import url as weburl
from ararat.net.hop import HopFailed
from ararat.net.send import CHOSEN_BY_OPERATOR, KeptConnection, send

OK = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello"


def test_a_target_is_sent_unchanged_and_the_body_is_returned(listen, does):
    with_target = weburl.parse(f"http://127.0.0.1:{listen(does.saying(OK)).port}/")
    answer = send(with_target, target="/ark:12345/%78?", to=CHOSEN_BY_OPERATOR)
    assert (answer.status, answer.media_type, answer.body) == (200, "text/plain", b"hello")


def test_a_long_body_is_cut_or_refused(listen, does):
    url = f"http://127.0.0.1:{listen(does.saying(OK)).port}/"
    assert send(url, to=CHOSEN_BY_OPERATOR, most=2).body == b"he"
    with pytest.raises(HopFailed, match="longer than 2 bytes") as failed:
        send(url, to=CHOSEN_BY_OPERATOR, most=2, cut=False)
    assert failed.value.code == "too-large"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        pytest.param("ftp://example.org/", "bad-url", id="scheme"),
        pytest.param("http://127.0.0.1:1/", "port", id="port of a visitor"),
        pytest.param("http://127.0.0.1/", "blocked", id="loopback by default"),
    ],
)
def test_a_request_that_must_not_be_sent_fails(url, code):
    with pytest.raises(HopFailed) as failed:
        send(url)
    assert failed.value.code == code


def test_a_kept_connection_that_the_server_closed_is_replaced(listen, does):
    url = f"http://127.0.0.1:{listen(does.saying(OK)).port}/"
    kept = KeptConnection()
    assert [send(url, to=CHOSEN_BY_OPERATOR, kept=kept).body for _ in range(3)] == [b"hello"] * 3
    assert send(url, "POST", content=b"x\r\n\r\n", to=CHOSEN_BY_OPERATOR, kept=kept).body == b"hello"
    kept.close()
