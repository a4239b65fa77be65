"""Server-sent events: data cannot end a message or create another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.webapp import sse


def received(stream: str) -> list[dict[str, str]]:
    """Return the messages of a stream as a browser parses them (HTML standard, section 9.2.6)."""
    messages: list[dict[str, str]] = []
    message: dict[str, str] = {}
    for line in stream.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line and message:
            message["data"] = message.get("data", "").removesuffix("\n")
            messages.append(message)
            message = {}
        name, colon, value = line.partition(":")
        if not colon or not name:
            continue
        value = value.removeprefix(" ")
        message[name] = message.get("data", "") + value + "\n" if name == "data" else value
    return messages


def test_a_message_has_id_event_and_data():
    assert received(sse.message("hop", "<li>", 7)) == [{"id": "7", "event": "hop", "data": "<li>"}]


@pytest.mark.parametrize(
    "line_break", [pytest.param("\n", id="lf"), pytest.param("\r", id="cr"), pytest.param("\r\n", id="crlf")]
)
def test_a_line_break_in_the_data_creates_no_event(line_break):
    data = f"a{line_break}{line_break}event: end{line_break}data: x"
    assert received(sse.message("hop", data)) == [{"event": "hop", "data": "a\n\nevent: end\ndata: x"}]


@pytest.mark.parametrize(
    "name", [pytest.param("", id="none"), pytest.param("a\nb", id="two lines"), pytest.param("a b", id="a space")]
)
def test_the_event_type_is_one_word(name):
    with pytest.raises(ValueError, match="one word"):
        sse.message(name, "data")


@given(st.lists(st.text(), max_size=4))
def test_sent_data_is_received_unchanged(texts):
    stream = "".join(sse.message("hop", text, number) for number, text in enumerate(texts)) + sse.HEARTBEAT
    normal = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
    assert [message["data"] for message in received(stream)] == normal
    assert {message["event"] for message in received(stream)} <= {"hop"}
