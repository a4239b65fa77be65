"""Servers with the EZID API, and accounts with a shoulder of their own for each test."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.webapp.ezid.client import EzidClient

PASSWORD = "correct horse battery"
NAAN = "ark:12345"

WHEN_READY = "def post_worker_init(worker):\n    worker.log.info('worker ready')\n"
MOUNTED = """\
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware

from ararat.middleware import open_bindings
from ararat.webapp import create_app

bindings = open_bindings({database!r})
# The port is not known yet, and only the path of the prefix matters to the tests.
inspector = create_app(bindings, prefix="http://names.test/tools", ezid="/id/ezid", trace_elsewhere=False)
application = DispatcherMiddleware(NotFound(), {{"/tools": inspector}})
"""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A running server: the URL of its API, its resolver prefix, its database, and the process."""

    base: str
    prefix: str
    bindings: Bindings
    accounts: Accounts
    server: Any

    def local(self, url: str) -> str:
        """Return a URL of the API as the test reaches it. The prefix of a mounted application has another host."""
        path = self.base.split("/", 3)[3]
        assert f"/{path}/" in url, url
        return f"{self.base}/{url.partition(f'/{path}/')[2]}"


@dataclass(frozen=True, kw_only=True)
class Person:
    """An account: its name, a client that signs in with it, and its shoulder in the classic form and as a key.

    ``secret`` is a token or the password.
    """

    name: str
    client: EzidClient
    secret: str
    shoulder: str
    key: str


@pytest.fixture(scope="session", params=["waitress", pytest.param("gunicorn", marks=pytest.mark.long)])
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, start_server: Callable[..., Any]
) -> Iterator[Service]:
    """`ararat serve` with SQLite, and two workers of gunicorn with PostgreSQL below a path."""
    folder = tmp_path_factory.mktemp("ezid")
    if request.param == "waitress":
        database = f"sqlite:///{folder / 'bindings.sqlite'}"
    else:
        database = request.getfixturevalue("cluster").new_schema()
    bindings = open_bindings(database, create=True)
    started = _waitress if request.param == "waitress" else _gunicorn
    server, path, prefix = started(start_server, database, folder)
    yield Service(
        base=f"{server.origin}{path}",
        prefix=prefix or server.origin,
        bindings=bindings,
        accounts=Accounts(bindings),
        server=server,
    )
    bindings.close()


def _waitress(start_server: Callable[..., Any], database: str, folder: Path) -> tuple[Any, str, str | None]:
    ararat = Path(sys.executable).with_name("ararat")
    options = ("--host", "127.0.0.1", "--port", "0", "--database", database, "--ezid", "/ezid", "--no-trace-elsewhere")
    server = start_server([ararat, "serve", *options], {}, folder)
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    return server, "/ezid", None


def _gunicorn(start_server: Callable[..., Any], database: str, folder: Path) -> tuple[Any, str, str | None]:
    (folder / "site_under_test.py").write_text(MOUNTED.format(database=database), "utf-8")
    (folder / "settings.py").write_text(WHEN_READY, "utf-8")
    options = (
        "--config",
        "settings.py",
        "--bind",
        "127.0.0.1:0",
        "--no-control-socket",
        "--workers",
        "2",
        "--threads",
        "8",
    )
    server = start_server([sys.executable, "-m", "gunicorn", *options, "site_under_test:application"], {}, folder)
    server.port = int(server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)"))
    server.wait_for("worker ready", times=2)
    return server, "/tools/id/ezid", "http://names.test/tools"


def new_shoulder() -> str:
    """Return the key of a shoulder that no other test uses."""
    return f"{NAAN}/{''.join(secrets.choice('bcdfghjkmnpqrstvwxz') for _ in range(8))}5"


@pytest.fixture
def new_person(service: Service) -> Callable[..., Person]:
    """new_person(role="curator", prefixes=None, password=None) adds an account.

    By default it signs in with a token, which takes less time than a password, and its shoulder is the only grant.
    """

    def add(role: str = "curator", prefixes: tuple[str, ...] | None = None, password: str | None = None) -> Person:
        key = new_shoulder()
        name = f"user-{secrets.token_hex(6)}"
        service.accounts.add(name, role, (key,) if prefixes is None else prefixes, password)
        secret = password or service.accounts.tokens.create(name, "test")[1]
        client = EzidClient(service.base, name, secret)
        return Person(name=name, client=client, secret=secret, shoulder=f"ark:/{key[4:]}", key=key)

    return add


@pytest.fixture
def curator(new_person: Callable[..., Person]) -> Person:
    return new_person()


@pytest.fixture
def administrator(new_person: Callable[..., Person]) -> Person:
    return new_person("administrator", ())


@pytest.fixture
def anonymous(service: Service, curator: Person) -> EzidClient:
    """A client without credentials. An account exists."""
    return EzidClient(service.base)
