"""The limits of bodies at every door: before anything parses or stores a body, with a length and in chunks."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import werkzeug.formparser
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ararat.bindings.system.body_space import BodySpace
from ararat.middleware import open_bindings
from ararat.webapp import config, create_app, request_body
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.body_routes import MAX_OPEN

MB = 2**20
FORM = "application/x-www-form-urlencoded"
WAITRESS = {"waitress.client_disconnected": None}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    with open_bindings(tmp_path_factory.mktemp("bodies") / "b.sqlite", create=True) as bindings:
        Accounts(bindings).add("ada", "administrator")
        yield create_app(bindings, prefix="https://a.example", ezid="/ezid").test_client()


@pytest.fixture(scope="module")
def token(client: FlaskClient) -> str:
    accounts = client.application.extensions[config.KEY].accounts
    return accounts.tokens.create("ada", "test")[1]


@pytest.fixture(params=["length", "chunks", "read by the server"])
def send(request: pytest.FixtureRequest, client: FlaskClient) -> Callable[..., TestResponse]:
    """send(path, body, content_type) sends a body with a length, in chunks, or as waitress passes it on."""

    def send(path: str, body: bytes, kind: str, method: str = "POST", **fields: str) -> TestResponse:
        environ: dict[str, Any] = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        environ["CONTENT_TYPE"] = kind
        if request.param == "chunks":
            # As gunicorn passes it on.
            environ |= {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
        elif request.param == "read by the server":
            environ |= WAITRESS
        return client.open(path, method=method, headers=fields, environ_overrides=environ)

    return send


def parts(number: int, value: bytes = b"x") -> tuple[bytes, str]:
    """Return a form in parts with a number of fields, and its media type."""
    part = b'--box\r\nContent-Disposition: form-data; name="a%d"\r\n\r\n%b\r\n'
    return b"".join(
        part % (each, value) for each in range(number)
    ) + b"--box--\r\n", "multipart/form-data; boundary=box"


def fields(number: int) -> tuple[bytes, str]:
    return b"&".join(b"a%d=x" % each for each in range(number)), FORM


FORMS = [pytest.param(fields, id="urlencoded"), pytest.param(parts, id="in parts")]


@pytest.mark.one_setup
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("path", "most"),
    [("/", 1016), ("/list", 1016), ("/compare", 1016), ("/sign-in", 100), ("/traces", 100), ("/language", 100)],
)
def test_a_form_has_a_maximum_of_fields(
    path: str, most: int, form: Callable[[int], tuple[bytes, str]], send: Callable[..., TestResponse]
) -> None:
    with send(path, *form(most)) as answer:
        assert answer.status_code != 413
    refused = send(path, *form(most + 1))
    assert refused.status_code == 413
    assert f"more than {most:,} fields" in refused.text


@pytest.mark.parametrize("number", [101, 600_000])
def test_many_fields_are_counted_before_they_are_parsed(
    number: int, send: Callable[..., TestResponse], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(werkzeug.formparser, "parse_qsl", pytest.fail)
    body = b"&".join([b"a"] * number)
    assert send("/sign-in", body, FORM).status_code == 413
    assert send("/sign-in", b"&" * number, FORM + "; charset=utf-8").status_code == 413


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("/", "text/plain", id="a body that no view reads"),
        pytest.param("/sign-in", FORM, id="a form"),
        pytest.param("/sign-in", "multipart/form-data; boundary=box", id="a form in parts"),
        pytest.param("/no/such/imports", "text/csv", id="a path that does not exist"),
        pytest.param("/static/ararat.css", "text/plain", id="a file"),
        pytest.param("/api/inspect", "text/plain", id="the public API"),
        pytest.param("/api/traces", "text/plain", id="lists of traces"),
        pytest.param("/desk/tables", "multipart/form-data; boundary=box", id="a table without a credential"),
        pytest.param("/api/v1/imports", "text/csv", id="an import without a credential"),
        pytest.param("/api/v1/names", "application/json", id="names without a credential"),
        pytest.param("/ezid/shoulder/ark:/12345/x5", "text/plain", id="EZID"),
        pytest.param("/ezid/download_request", FORM, id="a form of EZID"),
    ],
)
def test_a_long_body_is_refused_without_a_read(path: str, kind: str, client: FlaskClient) -> None:
    class Unread(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            # An answer can read and ignore it, so that the connection can be used again.
            assert ignored
            return super().read(size)

    ignored, drain = [], request_body.RequestBody.drain

    def drained(self: request_body.RequestBody) -> None:
        ignored.append(True)
        drain(self)

    body = Unread(b"x" * (2 * MB if path != "/" else 4 * MB))
    environ = {"wsgi.input": body, "CONTENT_LENGTH": str(len(body.getvalue())), "CONTENT_TYPE": kind}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request_body.RequestBody, "drain", drained)
        answer = client.post(path, environ_overrides=environ)
    assert answer.status_code == (400 if path.startswith("/ezid") else 413)
    assert "Sign in" in answer.text or "too long" in answer.text or "longer than" in answer.text
    if path.startswith("/api/v1"):
        assert answer.json is not None
        assert answer.json["code"] == "body-too-long"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/sign-in", "/api/inspect", "/ezid/shoulder/ark:/12345/x5"])
def test_a_long_body_in_chunks_is_read_up_to_its_limit(path: str, client: FlaskClient) -> None:
    read = 0

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            nonlocal read
            assert 0 <= size <= 65536
            read += size
            return b"x" * size

    environ = {"wsgi.input": Endless(), "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    kind = FORM if path == "/sign-in" else "text/plain"
    answer = client.post(path, content_type=kind, environ_overrides={**environ, "CONTENT_LENGTH": ""})
    assert answer.status_code == (400 if path.startswith("/ezid") else 413)
    assert MAX_OPEN < read <= MAX_OPEN + 2 * 65536


def test_a_text_that_is_too_long_is_refused_without_its_parts(send: Callable[..., TestResponse]) -> None:
    body, kind = parts(1, b"x" * (MB + 1))
    answer = send("/", body.replace(b'"a0"', b'"q"'), kind)
    assert answer.status_code == 413
    assert "longer than 1,048,576 bytes" in answer.text


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> BodySpace:
    """A small space for bodies. Only the beginnings of their texts are inspected."""
    inspect = config.Site.inspect
    monkeypatch.setattr(config.Site, "inspect", lambda site, text, *more: inspect(site, text[:100], *more))
    space = BodySpace()
    space.use(800_000)
    monkeypatch.setattr(request_body, "body_space", space)
    return space


@pytest.mark.one_setup
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        pytest.param("/", FORM, 415, id="the inspector"),
        pytest.param("/sign-in", FORM, 415, id="a form"),
        pytest.param("/sign-in", "multipart/form-data; boundary=box", 415, id="a form in parts"),
        pytest.param("/api/inspect", "text/plain", 415, id="a text for the public API"),
        pytest.param("/api/traces", "text/plain", 415, id="a list of traces"),
        pytest.param("/api/v1/names", "application/json", 415, id="names"),
        pytest.param("/api/v1/imports", "text/csv", 415, id="an import"),
        pytest.param("/ezid/shoulder/ark:/12345/x5", "text/plain", 400, id="EZID"),
    ],
)
def test_a_compressed_body_is_refused_at_each_door(
    path: str, kind: str, status: int, send: Callable[..., TestResponse], token: str
) -> None:
    body = gzip.compress(b"ark:12345/x5")
    fields = {"Authorization": f"Bearer {token}"} if path.startswith("/api/v1") else {}
    answer = send(path, body, kind, **fields, **{"Content-Encoding": "gzip"})
    assert answer.status_code == status
    assert "compressed" in answer.text
    assert "compressed" not in send(path, body, kind, **fields, **{"Content-Encoding": "identity"}).text


@pytest.mark.parametrize("path", ["/", "/api/inspect", "/sign-in", "/ezid/shoulder/ark:/12345/x5"])
def test_a_body_without_space_is_refused(path: str, client: FlaskClient, space: BodySpace) -> None:
    kind = "text/plain" if path in ("/api/inspect", "/ezid/shoulder/ark:/12345/x5") else FORM
    refused = client.post(path, data=b"q=" + b"x" * 900_000, content_type=kind)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert space.used == 0
    with client.post(path, data=b"q=" + b"x" * 500_000, content_type=kind) as answer:
        assert answer.status_code != 503
    assert space.used == 0


def test_a_body_has_space_until_its_request_is_answered(
    client: FlaskClient, space: BodySpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []
    view = client.application.view_functions["api.inspect_text"]

    def seen() -> Any:
        answer = view()
        used.append(space.used)
        return answer

    monkeypatch.setitem(client.application.view_functions, "api.inspect_text", seen)
    client.post("/api/inspect", data=b"x" * 500_000).close()
    assert 400_000 < used[0] <= 500_000
    assert space.used == 0


def test_a_body_that_the_server_has_read_has_its_space_there(client: FlaskClient, space: BodySpace) -> None:
    with client.post("/api/inspect", data=b"x" * 900_000, environ_overrides=WAITRESS) as answer:
        assert answer.status_code == 200
    assert space.used == 0
