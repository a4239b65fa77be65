"""The parser of requests: bodies have the limits of their routes before they are stored."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable

import pytest
from waitress.adjustments import Adjustments

from ararat.bindings.system.body_space import BodySpace
from ararat.cli.serving import request_parser
from ararat.cli.serving.mount import Mounts
from ararat.cli.serving.request_parser import MAX_IGNORED, BodyBuffer, RequestParser
from ararat.webapp.body_routes import MAX_OPEN, MAX_TABLE

TOKEN = "Authorization: Bearer a\r\n"
MB = 2**20


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> BodySpace:
    space = BodySpace()
    monkeypatch.setattr(request_parser, "BodyBuffer", functools.partial(BodyBuffer, space=space))
    return space


def begun(path: str, fields: str = "", *, size: int | None = None, mounts: tuple[str, ...] = ()) -> RequestParser:
    """Return a parser that has read the head of a request: with a length, or in chunks."""
    parser = RequestParser(Adjustments(), mounts=Mounts(mounts))
    length = "Transfer-Encoding: chunked\r\n" if size is None else f"Content-Length: {size}\r\n"
    parser.received(f"POST {path} HTTP/1.1\r\nHost: a.example\r\n{fields}{length}\r\n".encode())
    return parser


def in_pieces(parser: RequestParser, number: int) -> None:
    """Send bytes of a body until the request is complete."""
    left = number
    while left and not parser.completed:
        left -= parser.received(b"x" * min(left, 65536))


def in_chunks(parser: RequestParser, number: int) -> None:
    left = number
    while left > 0 and not parser.completed:
        parser.received(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        left -= 65536
    if not parser.completed:
        parser.received(b"0\r\n\r\n")


def status(parser: RequestParser) -> int | None:
    return parser.error and parser.error.code


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "fields", "most"),
    [
        pytest.param("/no/such/imports", "", MAX_OPEN, id="no path"),
        pytest.param("/no/such/imports", TOKEN, MAX_OPEN, id="no path, with a token"),
        pytest.param("/api/v1/imports", "", MAX_OPEN, id="no token"),
        pytest.param("/api/v1/imports?dry_run=1", TOKEN, MAX_TABLE, id="an import"),
        pytest.param("/ids/api/v1/imports", TOKEN, MAX_TABLE, id="an import below a mount"),
        pytest.param("/desk/tables", "Cookie: ararat=a\r\n", MAX_TABLE, id="an upload"),
        pytest.param("/ark:12345/x", TOKEN, MAX_OPEN, id="a name"),
        pytest.param("/", "Content-Type: application/x-www-form-urlencoded\r\n", 3 * MB, id="a text"),
    ],
)
@pytest.mark.parametrize("send", [in_pieces, in_chunks])
def test_a_body_is_stored_up_to_the_limit_of_its_route(
    path: str, fields: str, most: int, send: Callable[[RequestParser, int], None], space: BodySpace
) -> None:
    for number, is_stored in ((500_000, True), (2 * MB, most > 2 * MB), (5 * MB, most > 5 * MB)):
        parser = begun(path, fields, size=number if send is in_pieces else None, mounts=("https://a.example/ids",))
        send(parser, number)
        sent = number if send is in_pieces else -(-number // 65536) * 65536
        assert (parser.completed, status(parser)) == (True, None)
        # The application answers with the length that the client sent.
        assert int(parser.headers["CONTENT_LENGTH"]) == sent
        assert len(parser.get_body_stream().read()) == (sent if is_stored else 0)
        assert space.used == (sent if is_stored else 0)
        parser.close()
        assert space.used == 0


def test_nothing_is_stored_of_a_body_whose_length_is_too_great(space: BodySpace) -> None:
    parser = begun("/sign-in", size=2 * MB)
    parser.received(b"x" * 65536)
    assert space.used == 0
    assert parser.get_body_stream().read() == b""


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-in", "/no/such/imports"])
def test_a_body_that_is_far_too_long_is_refused_at_once(path: str, space: BodySpace) -> None:
    parser = begun(path, TOKEN, size=MAX_IGNORED)
    assert (parser.completed, status(parser)) == (True, 413)
    endless = begun(path, TOKEN)
    in_chunks(endless, 2 * MAX_IGNORED)
    assert (endless.completed, status(endless)) == (True, 413)
    assert endless.body_bytes_received <= MAX_IGNORED + 2 * 65536
    assert begun("/api/v1/imports", TOKEN, size=MAX_TABLE + 1).error
    assert not begun("/api/v1/imports", TOKEN, size=MAX_TABLE).error
    assert space.used == 0


@pytest.mark.one_setup
@pytest.mark.parametrize("send", [in_pieces, in_chunks])
def test_all_bodies_together_have_a_limit(send: Callable[[RequestParser, int], None], space: BodySpace) -> None:
    space.use(8 * MB)
    held = []
    for _ in range(7):
        held.append(begun("/api/v1/imports", TOKEN, size=5 * MB if send is in_pieces else None))
        for _ in range(16):
            held[-1].received((b"10000\r\n" if send is in_chunks else b"") + b"x" * 65536 + b"\r\n")
    refused = begun("/api/v1/imports", TOKEN, size=5 * MB if send is in_pieces else None)
    send(refused, 5 * MB)
    assert (refused.completed, status(refused)) == (True, 503)
    assert refused.error is not None
    assert ("Retry-After", "5") in refused.error.to_response()[1]
    # A short body has space, and so has a long one after the end of another.
    short = begun("/sign-in", size=1000)
    send_all = b"x" * 1000
    short.received(send_all)
    assert status(short) is None
    held[0].close()
    again = begun("/api/v1/imports", TOKEN, size=500_000 if send is in_pieces else None)
    send(again, 500_000)
    assert status(again) is None


def test_a_connection_that_ends_within_a_body_frees_its_space(space: BodySpace, few_objects: None) -> None:
    parser = begun("/api/v1/imports", TOKEN, size=5 * MB)
    parser.received(b"x" * MB)
    assert space.used == MB
    del parser
    gc.collect()
    assert space.used == 0
