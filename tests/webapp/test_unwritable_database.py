"""A database that can only be read: each interface answers a change with 503 and Retry-After, a command with 69."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import sql
from werkzeug.test import Client, TestResponse

from ararat.bindings.collection import Bindings
from ararat.bindings.names.error_codes import ERROR_CODES
from ararat.bindings.names.errors import OutcomeUnknown
from ararat.bindings.storage.store import DatabaseStore, reads_current
from ararat.cli.main import main
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

NAME = "ark:12345/x5doc"
RESERVED = "ark:12345/x5res"
_ROLE = """
CREATE ROLE only_reader LOGIN;
GRANT USAGE ON SCHEMA {schema} TO only_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO only_reader;
"""


class Reader(NamedTuple):
    """A site whose database can only be read: clients with a token and with a session, and the URL of the database."""

    send: Callable[..., TestResponse]
    post: Callable[..., TestResponse]
    database: str


@pytest.fixture(params=["file", "standby", "role"])
def reader(
    request: pytest.FixtureRequest, tmp_path: Any, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Reader]:
    if request.param == "file":
        yield _reader(open_store, f"sqlite:///{tmp_path}/bindings.sqlite", lambda _: _deny_writing(monkeypatch))
        return
    cluster = request.getfixturevalue("cluster")
    if request.param == "standby":
        url = cluster.new_database()
        yield _reader(open_store, url, _make_standby)
        return
    url = cluster.new_schema()
    try:
        yield _reader(open_store, url, lambda _: None, url.replace("//ararat@", "//only_reader@"), _grant_reading)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY only_reader; DROP ROLE only_reader")
        cluster.recycle(url)


def _reader(
    open_store: Callable[..., Bindings],
    url: str,
    deny: Callable[[str], None],
    read_url: str = "",
    grant: Callable[[str], None] = lambda _: None,
) -> Reader:
    bindings = open_store(url)
    bindings.bind(NAME, "https://example.org/1")
    bindings.reserve(RESERVED)
    bindings.prefixes.set("ark:12345/x5", what="Maps")
    accounts = Accounts(bindings)
    ada = accounts.add("ada", "administrator")
    _, secret = accounts.tokens.create("ada", "test")
    session = accounts.sessions.start(ada)
    grant(url)
    app = create_app(
        open_store(read_url or url, create=False), prefix="http://localhost", ezid="/ezid", trace_elsewhere=False
    )
    signed_in = app.test_client()
    signed_in.set_cookie("ararat", session)
    found = re.search(r'name="csrf_token" value="([0-9a-f]+)"', signed_in.get("/sign-out").text)
    assert found
    deny(url)

    def send(method: str, path: str, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {secret}", **options.pop("headers", {})}
        return Client(app).open(path, method=method, headers=headers, **options)

    def post(path: str, **form: str) -> TestResponse:
        return signed_in.post(path, data={"csrf_token": found[1], **form})

    return Reader(send, post, read_url or url)


def _deny_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests can run as root, which has every permission.
    permitted = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **more: not mode & os.W_OK and permitted(path, mode, **more))


def _make_standby(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        name = sql.Identifier(url.rpartition("/")[2])
        connection.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def _grant_reading(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        [schema] = connection.execute("SELECT current_schema()").fetchone() or [""]
        connection.execute(_ROLE.format(schema=schema).encode())


API = [
    ("PUT", "/api/v1/names/ark:12345/x5new", {"target": "https://example.org/2"}),
    ("PATCH", f"/api/v1/names/{NAME}", {"metadata": {"erc.who": "Lee"}}),
    ("POST", "/api/v1/names", {"names": [{"shoulder": "ark:12345/x5", "target": "https://example.org/3"}]}),
    ("DELETE", f"/api/v1/names/{RESERVED}", None),
    ("PUT", "/api/v1/prefixes/ark:12345/x5", {"what": "Atlas"}),
    ("POST", "/api/v1/relocations", {"from": "https://example.org/", "to": "https://example.com/"}),
]
EZID = [
    ("PUT", "/ezid/id/ark:/12345/x5new", b"_target: https://example.org/2"),
    ("POST", f"/ezid/id/{NAME}", b"erc.who: Lee"),
    ("POST", "/ezid/shoulder/ark:/12345/x5", b"_target: https://example.org/2"),
    ("DELETE", f"/ezid/id/{RESERVED}", b""),
]
DESK = [
    ("/desk/new/name", {"text": "ark:12345/x5new", "target": "https://example.org/2", "state": "live"}),
    ("/desk/new/mint", {"shoulder": "ark:12345/x5", "template": "https://example.org/${blade}", "count": "1"}),
    ("/desk/name/target", {"name": NAME, "revision": "1", "target": "https://example.org/4", "same": "on"}),
    ("/desk/name/withdraw", {"name": NAME, "revision": "1", "reason": "gone"}),
    ("/desk/name/publish", {"name": RESERVED, "revision": "1"}),
    ("/desk/name/delete", {"name": RESERVED, "revision": "1"}),
    ("/desk/prefixes/edit", {"prefix": "ark:12345/x6", "what": "Maps", "etag": "none"}),
    ("/desk/moves", {"source": "https://example.org/", "destination": "https://example.com/", "apply": "1"}),
    ("/desk/branding", {"institution": "Library", "revision": "0"}),
    ("/desk/accounts", {"name": "bob", "role": "reader"}),
    ("/desk/tokens", {"account": "ada", "label": "t"}),
]
COMMANDS = [
    ("bind", "ark:12345/x5new", "https://example.org/2"),
    ("relocate", NAME, "https://example.org/2"),
    ("withdraw", NAME, "--reason", "gone"),
    ("mint", "ark:12345/x5"),
]


def document_of(answer: TestResponse) -> dict[str, Any]:
    document = answer.json
    assert document is not None, answer.text
    return document


def test_each_change_is_answered_with_503_and_each_command_ends_with_69(reader: Reader) -> None:
    got: dict[str, Any] = {}
    for method, path, body in API:
        headers = {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
        answer = reader.send(method, path, json=body, headers=headers) if body else reader.send(method, path)
        got[f"{method} {path}"] = (answer.status_code, answer.headers.get("Retry-After"), document_of(answer)["code"])
        assert "sqlite:" not in answer.text
        assert "postgresql:" not in answer.text
    assert set(got.values()) == {(503, "5", "read-only")}, got
    got = {}
    for method, path, data in EZID:
        answer = reader.send(method, path, data=data, content_type="text/plain")
        line = "error: concurrency limit exceeded - the database can only be read; "
        got[f"{method} {path}"] = (answer.status_code, answer.headers.get("Retry-After"), answer.text.startswith(line))
    assert set(got.values()) == {(503, "5", True)}, got
    got = {}
    for path, form in DESK:
        answer = reader.post(path, **form)
        got[path] = (answer.status_code, answer.headers.get("Retry-After"), "can only be read" in answer.text)
    assert set(got.values()) == {(503, "5", True)}, got
    assert document_of(reader.send("GET", f"/api/v1/names/{NAME}"))["target"] == "https://example.org/1"
    assert reader.send("GET", f"/ezid/id/{NAME}").status_code == 200
    for command in COMMANDS:
        done = CliRunner().invoke(main, [*command, "--database", reader.database])
        assert done.exit_code == ERROR_CODES["read-only"].exit_code == 69, (command, done.output)
        assert "(read-only)" in done.stderr


def test_a_change_with_an_unknown_outcome_is_not_called_safe_to_repeat(
    open_store: Callable[..., Bindings], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OutcomeUnknown("the connection broke")

    reader = _reader(open_store, f"sqlite:///{tmp_path}/bindings.sqlite", lambda _: None)
    monkeypatch.setattr(DatabaseStore, "transaction", fail)
    method, path, body = API[0]
    answer = reader.send(method, path, json=body)
    assert (answer.status_code, document_of(answer)["code"]) == (503, "outcome-unknown")
    assert "may be written or not. Read the name" in document_of(answer)["detail"]
    assert "Retry-After" not in answer.headers  # a client would repeat the request by itself
    method, path, data = EZID[2]
    answer = reader.send(method, path, data=data, content_type="text/plain")
    assert (answer.status_code, "may be written or not; read the identifier" in answer.text) == (500, True)
    assert "concurrency limit" not in answer.text


def test_editors_read_from_the_primary_and_visitors_from_any_server(
    tmp_path: Any, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = _reader(open_store, f"sqlite:///{tmp_path}/bindings.sqlite", lambda _: None)
    seen: list[bool] = []
    fetch = DatabaseStore.fetch

    def note(self: DatabaseStore, identifiers: Any) -> Any:
        seen.append(reads_current())
        return fetch(self, identifiers)

    monkeypatch.setattr(DatabaseStore, "fetch", note)
    for path in (f"/api/v1/names/{NAME}", f"/desk/name?name={NAME}", f"/ezid/id/{NAME.replace('ark:', 'ark:/')}"):
        assert site.send("GET", path).status_code in (200, 302, 303)
        assert seen, path
        assert all(seen), path
        seen.clear()
        assert not reads_current()
