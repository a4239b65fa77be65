"""The client of the JSON API: each call is carried out once, also if connections break."""

from __future__ import annotations

import os
import random
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from flask import Flask

from ararat.bindings.collection import Bindings
from ararat.cli.main import main
from ararat.client import Ararat, Delegated, Name, NameFields, OutcomeUnknown, Problem, Stale, Taken
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.api import openapi, schemas

SHOULDER = "ark:12345/x5"
URL = "https://example.org/17"


class Transport(httpx.BaseTransport):
    """A transport to an application that notes the requests, and breaks those that ``breaks`` selects."""

    def __init__(self, app: Flask) -> None:
        self.app = httpx.WSGITransport(app=app, raise_app_exceptions=False)
        self.requests: list[httpx.Request] = []
        self.breaks: Callable[[int], str | None] = lambda _: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        broken = self.breaks(len(self.requests))
        if broken == "before":
            raise httpx.ConnectError("cut")
        answer = self.app.handle_request(request)
        answer.read()
        if broken == "after":
            raise httpx.ReadError("cut")
        return httpx.Response(502, text="Bad Gateway") if broken == "front" else answer


@pytest.fixture
def bindings(tmp_path: Path) -> Iterator[Bindings]:
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as opened:
        opened.prefixes.set("12345/x5", what="Maps")
        yield opened


@pytest.fixture
def transport(bindings: Bindings) -> Transport:
    return Transport(create_app(bindings, trace_elsewhere=False))


@pytest.fixture
def site(bindings: Bindings, transport: Transport) -> Iterator[Ararat]:
    accounts = Accounts(bindings)
    accounts.add("root", "administrator")
    with Ararat(
        "http://localhost/api/v1/", accounts.tokens.create("root", "test")[1], transport=transport, retries=5
    ) as client:
        client._sleep = lambda seconds: threading.Event().wait(min(seconds, 0.02))
        yield client


def test_a_thing_is_minted_once_changed_moved_withdrawn_and_restored(site: Ararat) -> None:
    name = site.mint(SHOULDER, resource="INV 17", target=URL)
    again = site.mint(SHOULDER, resource="INV 17", target="https://example.org/other")
    assert (name.outcome, again.outcome, again) == ("bound", "exists", Name.of(name.row, name.etag, "exists"))
    described = site.update(name, metadata={"erc.what": "A", "erc.who": "B"})
    assert site.update(described, metadata={"erc.who": None}).metadata == {"erc.what": "A"}
    assert site.relocate(str(name), f"{URL}/new").target == f"{URL}/new"
    assert site.withdraw(str(name), reason="twice").state == "withdrawn"
    assert site.restore(str(name), resource="INV 17").state == "live"
    found = site.get(str(name))
    assert found is not None
    assert [each.identifier for each in site.find(resource="INV 17")] == [found.identifier]
    assert [each["action"] for each in site.history(found)][:2] == ["bound", "updated"]
    assert site.get(f"{SHOULDER}none") is None


def test_a_reserved_name_is_published(site: Ararat) -> None:
    name = site.mint(SHOULDER, resource=None, state="reserved")
    assert site.publish(name, URL).state == "live"


def test_many_names_are_minted_in_blocks_and_listed_on_pages(site: Ararat, transport: Transport) -> None:
    seen: list[int] = []
    rows = [{"resource": f"{number}", "target": f"{URL}/{number}"} for number in range(1001)]
    names = site.mint_many(SHOULDER, rows, progress=lambda done, _: seen.append(done))
    assert (len({each.identifier for each in names}), seen) == (1001, [1000, 1001])
    assert site.mint_many(SHOULDER, rows[:3]) == [Name.of(each.row, None, "exists") for each in names[:3]]
    before = len(transport.requests)
    assert len({each.identifier for each in site.find(prefix=SHOULDER)}) == 1001
    assert len(transport.requests) == before + 2


def test_tables_and_files_are_jobs_with_progress(site: Ararat, tmp_path: Path) -> None:
    table, seen = tmp_path / "table.csv", list[int]()
    table.write_text("Inventarnummer,target\nA1,https://example.org/1\nA2,https://example.org/2\n", "utf-8")
    options: dict[str, Any] = {"mint": SHOULDER, "key": "Inventarnummer", "columns": "Inventarnummer=resource"}
    planned = site.import_table(table, dry_run=True, **options)
    result = site.import_table(table, progress=lambda done, _: seen.append(done), **options)
    assert (planned["written"], result["written"], sum(result["counts"].values())) == (False, True, 2)
    assert seen
    assert site.export(tmp_path / "names.csv", prefix=SHOULDER) == 2
    assert (tmp_path / "names.csv").read_text("utf-8").count("https://example.org/") == 2
    operation = next(site.operations())
    assert operation["action"] == "import"
    assert site.undo(operation["number"])["written"]


@pytest.mark.parametrize(
    ("act", "kind", "code"),
    [
        pytest.param(
            lambda site: site.update(Name.of(site.get(f"{SHOULDER}a").row, '"0-0"'), listed=False),
            Stale,
            "revision-stale",
            id="stale",
        ),
        pytest.param(lambda site: site.update(f"{SHOULDER}a", target=f"{URL}/x"), Taken, "bound-otherwise", id="taken"),
        pytest.param(
            lambda site: site.mint("ark:12345/d7", resource="a"), Delegated, "prefix-delegated", id="delegated"
        ),
        pytest.param(
            lambda site: site.mint(SHOULDER, resource="a", target="ftp://x"), Problem, "target-scheme", id="value"
        ),
        pytest.param(lambda site: site.update(f"{SHOULDER}none", listed=False), Problem, "not-bound", id="missing"),
    ],
)
def test_an_error_has_a_class_and_its_members(
    site: Ararat, bindings: Bindings, act: Callable[[Ararat], object], kind: type[Problem], code: str
) -> None:
    bindings.bind(f"{SHOULDER}a", URL)
    bindings.prefixes.set(
        "12345/d7", what="D", state="delegated", resolver="https://d.example", minter="https://d.example/mint"
    )
    with pytest.raises(Problem) as caught:
        act(site)
    assert (type(caught.value), caught.value.code) == (kind, code)
    assert (caught.value.existing is not None) == (kind in (Stale, Taken))
    assert caught.value.minter == ("https://d.example/mint" if kind is Delegated else None)
    assert caught.value.pointer == ("/names/0/target" if code == "target-scheme" else caught.value.pointer)


@pytest.mark.parametrize("broken", ["before", "after", "front"])
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda site, name: site.mint(SHOULDER, resource=None), id="mint"),
        pytest.param(lambda site, name: site.update(name, metadata={"erc.what": "new"}), id="update"),
        pytest.param(lambda site, name: site.withdraw(name), id="withdraw"),
        pytest.param(lambda site, name: site.relocate(name, f"{URL}/new"), id="relocate"),
    ],
)
def test_a_repeated_change_is_made_once(
    site: Ararat, bindings: Bindings, transport: Transport, act: Callable[[Ararat, Name], object], broken: str
) -> None:
    name = site.mint(SHOULDER, resource="a", target=URL)
    first = len(transport.requests)
    transport.breaks = lambda number: broken if number <= first + 3 else None
    act(site, name)
    assert len(transport.requests) == first + 4
    assert len({each.headers["Idempotency-Key"] for each in transport.requests[first:]}) == 1
    assert bindings.count().number + len(bindings.history(str(name))) == 3


def test_a_lost_answer_is_unknown(site: Ararat, transport: Transport) -> None:
    transport.breaks = lambda _: "after"
    with pytest.raises(OutcomeUnknown):
        site.mint(SHOULDER, resource="a")
    with pytest.raises(Problem) as caught:
        site.get(f"{SHOULDER}a")
    assert (type(caught.value), caught.value.code) == (Problem, "unreachable")


@pytest.mark.parametrize(("status", "sent"), [(401, 2), (429, 4), (503, 4)])
def test_a_refusal_after_a_lost_answer_leaves_the_outcome_unknown(status: int, sent: int) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if len(requests) == 1:
            raise httpx.ReadError("the connection was closed after the request was carried out")
        return httpx.Response(status, json={"code": "refused", "detail": "Try again."})

    with Ararat("https://ids.example.org/api/v1", "token", transport=httpx.MockTransport(answer)) as site:
        site._sleep = lambda seconds: None
        with pytest.raises(OutcomeUnknown) as unknown:
            site.mint(SHOULDER, resource=None)
        assert (unknown.value.status, unknown.value.code, len(requests)) == (status, "refused", sent)
        requests[:] = []
        with pytest.raises(Problem) as refused:
            site.get("ark:12345/x5np1")
        assert type(refused.value) is Problem


def test_a_redirect_gets_no_token(site: Ararat) -> None:
    seen: list[httpx.Request] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(308, headers={"Location": "https://other.example/api/v1/names"})

    with (
        Ararat("http://localhost/api/v1", "secret", transport=httpx.MockTransport(redirect)) as client,
        pytest.raises(Problem, match=r"redirects to https://other\.example"),
    ):
        client.mint(SHOULDER, resource="a")
    assert len(seen) == 1


@pytest.mark.parametrize(("status", "times"), [(503, 2), (429, 2), (500, 1)])
def test_a_busy_site_is_asked_again_after_the_time_that_it_states(status: int, times: int) -> None:
    waited: list[float] = []
    answers = [httpx.Response(status, headers={"Retry-After": "7"}), httpx.Response(404, json={"code": "not-bound"})]
    with Ararat(
        "http://localhost/api/v1", lambda: "token", transport=httpx.MockTransport(lambda _: answers.pop(0))
    ) as client:
        client._sleep = waited.append
        with suppress(Problem):
            client.get(f"{SHOULDER}a")
    assert (len(answers), waited) == (2 - times, [7.0] * (times - 1))


def test_a_token_that_cannot_read_changes_a_reserved_name(bindings: Bindings, transport: Transport) -> None:
    bindings.reserve(f"{SHOULDER}a", URL, resource="secret")
    accounts = Accounts(bindings)
    accounts.add("curator", "curator", ["ark:12345/x5"])
    token = accounts.tokens.create("curator", "test", rights=["describe", "bind"])[1]
    with Ararat("http://localhost/api/v1", token, transport=transport) as client:
        name = client.update(f"{SHOULDER}a", metadata={"erc.what": "Vase"})
        assert (name.identifier, name.state, name.target, name.resource) == (f"{SHOULDER}a", "reserved", None, None)
        assert (name.metadata, client.publish(name).target) == ({}, URL)


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        pytest.param(lambda site: site.get(f"{SHOULDER}a"), Problem, id="read"),
        pytest.param(lambda site: site.update(f"{SHOULDER}a", listed=False), OutcomeUnknown, id="change"),
    ],
)
def test_a_page_of_a_front_server_is_no_answer(act: Callable[[Ararat], object], kind: type[Problem]) -> None:
    page = httpx.Response(200, html="<title>Sign in</title>")
    with (
        Ararat("http://localhost/api/v1", "secret", transport=httpx.MockTransport(lambda _: page)) as client,
        pytest.raises(Problem, match="200 without JSON") as caught,
    ):
        act(client)
    assert (type(caught.value), caught.value.code) == (kind, "no-problem-document")


def test_a_front_server_that_compresses_leaves_the_version(site: Ararat, transport: Transport) -> None:
    """nginx makes the entity tag of a compressed answer weak, and Apache adds a suffix. No change matches them."""

    class Compressing(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            answer = transport.handle_request(request)
            if "gzip" in request.headers["Accept-Encoding"] and "ETag" in answer.headers:
                answer.headers["ETag"] = f"W/{answer.headers['ETag']}"
            return answer

    minted = site.mint(SHOULDER, resource="a", target=URL)
    with Ararat("http://localhost/api/v1", site._token, transport=Compressing()) as client:
        found = client.get(minted)
        assert found is not None
        described = client.update(found, metadata={"erc.what": "Vase"})
        again = client.mint(SHOULDER, resource="a")
        assert client.relocate(again, f"{URL}/new").target == f"{URL}/new"
        with pytest.raises(Stale):
            client.update(described, listed=False)


def test_each_request_of_the_client_is_in_the_description(site: Ararat, transport: Transport, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("identifier,target\nark:12345/x5t,https://example.org/t\n", "utf-8")
    name = str(site.mint(SHOULDER, resource="a", target=URL))
    site.get(name)
    site.update(name, listed=False)
    site.relocate(name, f"{URL}/n")
    site.history(name)
    assert [*site.find()]
    site.withdraw(name)
    site.restore(name, resource="a")
    site.import_table(table)
    site.export(tmp_path / "e.csv")
    site.undo(next(site.operations())["number"])
    described = {(method.upper(), path) for path, methods in openapi.PATHS.items() for method in methods}
    public = {each for each in vars(Ararat) if not each.startswith("_")} - {"close", "mint_many", "publish"}
    assert len(public) == 12
    for request in transport.requests:
        parts = request.url.raw_path.decode().partition("?")[0].split("/")
        place = ["{name}" if "%3A" in each else "{number}" if each.isdecimal() else each for each in parts]
        assert (request.method, "/".join(place)) in described


def test_the_client_loads_no_other_part_of_ararat() -> None:
    code = "import sys, ararat.client; print(sorted(each for each in sys.modules if each.startswith('ararat')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ararat', 'ararat.client']\n"


class CuttingProxy:
    """A proxy on loopback that cuts a share of its connections at random moments, in both directions."""

    def __init__(self, port: int, seed: int, share: float = 0.4) -> None:
        self._to = port
        self._random = random.Random(seed)  # noqa: S311
        self._share = share
        self._stopped = False
        self.cut = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped = True
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        self._thread.join(5)
        self._listening.close()

    def _run(self) -> None:
        while not self._stopped:
            client, _ = self._listening.accept()
            with client, suppress(OSError), socket.create_connection(("127.0.0.1", self._to), 5) as server:
                # The client keeps no connection after a cut, and this proxy serves one at a time.
                self._serve(client, server)

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        is_cut = self._random.random() < self._share
        moment = self._random.randrange(1, 1500) if is_cut else None
        passed = 0
        with ExitStack() as stack:
            for each in (client, server):
                each.settimeout(2)
                stack.callback(each.close)
            while not self._stopped:
                ready, _, _ = select.select([client, server], [], [], 0.3)
                for source in ready:
                    target = server if source is client else client
                    if not (content := source.recv(200)):
                        return
                    passed += len(content)
                    if moment is not None and passed > moment:
                        self.cut += 1
                        return
                    target.sendall(content)


@pytest.mark.parametrize("requests", [20, pytest.param(500, marks=[pytest.mark.long, pytest.mark.timeout(600)])])
def test_cut_connections_lose_no_name_and_make_none_twice(
    requests: int, tmp_path: Path, serve_ararat: Callable[..., Any]
) -> None:
    database = f"sqlite:///{tmp_path}/bindings.sqlite"
    run = CliRunner()
    for command in (
        ["init"],
        ["account", "add", "jane", "--role", "administrator"],
        ["prefix", "set", "12345/x5", "--what", "M"],
    ):
        assert run.invoke(main, [*command, "--database", database]).exit_code == 0
    token = run.invoke(main, ["account", "token", "jane", "--database", database]).stdout.strip()
    server = serve_ararat("--database", database)
    proxy = CuttingProxy(server.port, seed=requests)
    names: list[str] = []
    try:
        with Ararat(f"http://127.0.0.1:{proxy.port}/api/v1", token, retries=40, timeout=5) as site:
            site._sleep = lambda _: None
            site._http.headers["Connection"] = "close"
            for number in range(requests):
                resource = f"INV {number}" if number % 2 else None
                name = site.mint(SHOULDER, resource=resource, target=f"{URL}/{number}")
                changed = site.update(name, metadata={"erc.what": f"{number}"})
                assert changed.row["revision"] == 2
                names.append(str(name))
    finally:
        proxy.close()
    assert proxy.cut > requests / 8
    assert len(set(names)) == requests
    with open_bindings(tmp_path / "bindings.sqlite") as bindings:
        assert bindings.count().number == requests


def test_the_fields_of_a_name_are_those_of_the_description() -> None:
    described = schemas.REQUESTS["NewName"]["properties"].keys()
    assert {*NameFields.__annotations__} == described - {"name", "shoulder", "resource"}


def test_a_token_that_may_not_read_gets_the_identifier(bindings: Bindings, site: Ararat, transport: Transport) -> None:
    name = site.mint(SHOULDER, resource="INV 17", target=URL, state="reserved")
    token = Accounts(bindings).tokens.create("root", "limited", rights=["mint", "bind", "describe"])[1]
    with Ararat("http://localhost/api/v1/", token, transport=transport) as limited:
        changed = limited.update(str(name), listed=False)
        assert (changed.identifier, changed.target, changed.metadata) == (name.identifier, None, {})
        assert limited.mint(SHOULDER, resource=None, state="reserved").state == "reserved"


def test_the_numbers_of_a_thing_can_be_corrected(site: Ararat) -> None:
    name = site.mint(SHOULDER, resource="INV 17", target=URL, numbers={"current": "A 17"})
    site.update(name, numbers={"current": "A 71"})
    found = site.get(str(name))
    assert found is not None
    assert (found.row["numbers"]["current"], found.row["numbers"]["former"]) == ("A 71", ["A 17"])


def test_an_export_keeps_a_device_and_leaves_no_part(site: Ararat, tmp_path: Path) -> None:
    site.mint(SHOULDER, resource="a", target=URL)
    assert site.export(os.devnull) == 1
    assert Path(os.devnull).is_char_device()
    assert not Path(f"{os.devnull}.part").exists()
    with pytest.raises(OSError, match="directory"):
        site.export(tmp_path)
    assert site.export(tmp_path / "names.csv") == 1
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".part"] == []
