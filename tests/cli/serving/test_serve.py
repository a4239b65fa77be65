"""`ararat serve`: its start, its options, and what it prints."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from click.testing import CliRunner, Result
from werkzeug.test import Client

from ararat.bindings.system.concurrency import Busy
from ararat.bindings.system.thread_slots import ThreadSlots
from ararat.cli import main as command
from ararat.cli.serving import listening
from ararat.cli.serving import serve as serve_command
from ararat.cli.serving import server as serve
from ararat.cli.serving.application import Placement, compose
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.wrapping import unwrapped

from ...waiting import until

ARARAT = Path(sys.executable).with_name("ararat")


@pytest.fixture
def ararat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """ararat(*arguments) runs the command in this process until the server would start."""

    def begin(*_: object, **_options: object) -> None:
        pytest.fail("it began to serve")

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(command.main, [*arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    for name in [name for name in os.environ if name.startswith("ARARAT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serve, "run", begin)
    return run


def test_serve_prints_its_address_and_its_bindings(ararat_server: Any) -> None:
    log = ararat_server.log()
    words = " ".join(log.split())
    assert len(re.findall(r"^Ararat .* at http://127\.0\.0\.1:\d+$", log, re.MULTILINE)) == 1
    assert re.search(r"/bindings\.sqlite \(temporary", words)
    assert f"Demo site {ararat_server.origin}/demo/" in words
    assert log.isascii()


def _with_account(server: Any) -> None:
    client = build_opener(HTTPCookieProcessor())
    link = server.wait_for(r"(http://\S+/first-account/\S+)")
    token = re.search('csrf_token" value="([0-9a-f]+)"', client.open(link).read().decode())
    assert token
    password = "correct horse battery"
    form = {"csrf_token": token[1], "name": "ada", "password": password, "again": password}
    client.open(link, urlencode(form).encode()).close()


def _with_name(server: Any) -> None:
    with open_bindings(_temporary(server)) as bindings:
        bindings.reserve("ark:12345/x5new")


def _with_record(server: Any) -> None:
    with open_bindings(_temporary(server)) as bindings:
        bindings.prefixes.set("ark:12345/x5", what="Objects")


def _temporary(server: Any) -> Path:
    return Path(server.wait_for(r"sqlite:///(/\S+\.sqlite)"))


@pytest.mark.one_setup
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("change", [_with_account, _with_name, _with_record, None])
def test_a_temporary_database_with_an_account_or_a_name_is_kept(
    serve_ararat: Callable[..., Any], change: Callable[[Any], None] | None, number: signal.Signals
) -> None:
    server = serve_ararat()
    assert re.search(r"^  \S*ararat serve --database museum\.sqlite --create$", server.log(), re.MULTILINE)
    file = _temporary(server)
    try:
        if change is None:
            server.get("/sign-in")
            server.get("/ark:12345/x8rd4")
        else:
            change(server)
        os.kill(server.process.pid, number)
        assert server.process.wait(20) == 0, server.log()
        last = server.log().splitlines()[-1]
        if change is None:
            assert not file.parent.exists()
            assert "Kept" not in server.log()
            return
        command = re.fullmatch(rf"Kept: {file}\. To start with it, run: (\S*ararat) serve --database {file}", last)
        assert command, last
        again = serve_ararat("--database", str(file))
        assert ("none yet" in again.log()) is (change is not _with_account)
        assert "Keep names" not in again.log()
        assert again.get("/ark:12345/x8rd4").status == 302
        os.kill(again.process.pid, number)
        assert again.process.wait(20) == 0
        assert file.exists()
        assert "Kept" not in again.log()
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)


def test_a_temporary_database_is_kept_if_it_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path()
    with contextlib.suppress(RuntimeError), serve_command._store(None, None) as store:
        file = Path(store.place.removeprefix("sqlite:///"))
        file.write_bytes(b"damaged")
        raise RuntimeError
    assert file.read_bytes() == b"damaged"
    assert capsys.readouterr().out.endswith(f"serve --database {file}\n")
    shutil.rmtree(file.parent)
    with serve_command._store(None, None) as store:
        folder = Path(store.place.removeprefix("sqlite:///")).parent
    assert not folder.exists()
    assert capsys.readouterr().out == ""


def test_serve_warns_if_other_machines_reach_it_without_a_prefix(
    ararat: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "run", lambda app, listener, ready, **_: ready())
    everywhere = ("serve", "--port", "0", "--host", "0.0.0.0")  # noqa: S104 - nothing is served
    assert "not reachable from other machines; set --prefix" in " ".join(ararat(*everywhere).stdout.split())
    assert "--prefix" not in ararat(*everywhere, "--prefix", "https://ids.example").stdout
    assert "--prefix" not in ararat("serve", "--port", "0").stdout


def test_serve_never_writes_samples_into_a_given_database_and_warns_of_served_names(
    serve_ararat: Callable[..., Any], tmp_path: Path, read_events: Callable[..., Iterator[str]]
) -> None:
    with open_bindings(tmp_path / "mine.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/mine", "https://example.org/mine")
        for name in ("b", "a", "gone"):
            bindings.bind(f"ark:12345/{name}", "/about", kind="served")
        bindings.withdraw("ark:12345/gone")
    options = ["--database", str(tmp_path / "mine.sqlite"), "--cache", "7"]
    server = serve_ararat(*options, environ={"ARARAT_PREFIX": "https://names.example.org"})
    try:
        assert server.get("/ark:12345/mine").header("Location") == "https://example.org/mine"
        assert server.get("/ark:12345/mp39n").status == 404
        assert server.get("/demo/").status == 404
        assert (server.get("/ark:12345/mine").header("Cache-Control") or "").startswith("max-age=7, ")
        # Every link begins with the prefix, not with the address.
        assert all(
            "<https://names.example.org/ark:12345/mine" in link for link in server.get("/ark:12345/mine").all("Link")
        )
        # A trace of the name still runs in process.
        assert list(read_events(server, "/trace?q=ark:12345/mine"))[-1] == "end"
        warning = "ararat: warning: 2 served names, such as ark:12345/a, cannot be answered here: a served name"
        until(lambda: warning in " ".join(server.log().split()))
    finally:
        # Closing the terminal stops the server, too.
        assert server.stop(signal.SIGHUP) == 0
    assert (tmp_path / "mine.sqlite").exists()


def test_serve_accepts_a_file_with_any_name(
    ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names.txt").write_text("identifier,target\nark:12345/doc,https://example.org/doc\n")
    locations: list[str | None] = []

    def run(app: Any, listener: socket.socket, ready: Callable[[], None], **_: object) -> None:
        locations.append(Client(app).get("/ark:12345/doc").location)
        ready()

    monkeypatch.setattr(serve, "run", run)
    result = ararat("serve", "--port", "0", "--bindings", "names.txt")
    assert (result.exit_code, locations) == (0, ["https://example.org/doc"])
    assert "names.txt (read again when it changes, never written" in unwrapped(result.stdout)


@pytest.mark.parametrize("place", ["names.log", "-"])
def test_the_access_log_has_a_line_for_each_requested_identifier(
    place: str, ararat: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/doc,https://example.org/doc\n")

    def run(app: Any, listener: socket.socket, ready: Callable[[], None], **_: object) -> None:
        for path in ("/ark:/12345/d-oc", "/healthz", "/ark:12345/nope"):
            Client(app).get(path)

    monkeypatch.setattr(serve, "run", run)
    result = ararat("serve", "--port", "0", "--bindings", "names.csv", "--access-log", place)
    log = result.stdout if place == "-" else (tmp_path / place).read_text("ascii")
    entries = [json.loads(line) for line in log.splitlines()]
    assert [(entry["identifier"], entry["status"]) for entry in entries] == [
        ("ark:12345/doc", 302),
        ("ark:12345/nope", 404),
    ]


def test_a_file_is_read_again_when_it_changes(serve_ararat: Callable[..., Any], tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text("identifier,target,resource\nark:12345/doc,https://example.org/doc,D\nark:12345/gone,/gone,G\n")
    server = serve_ararat("--database", str(table))
    try:
        assert f"{table} (read again when it changes" in " ".join(server.log().split())
        assert server.get("/ark:/12345/d-oc").header("Location") == "https://example.org/doc"
        assert server.get("/ark:12345/mp39n").status == 404
        table.write_text(
            "identifier,target,resource,status\n"
            "ark:12345/doc,/moved,D,\nark:12345/gone,,G,withdrawn\nark:12345/new,/new,,\n"
        )
        until(lambda: server.get("/ark:12345/new").status == 302)
        assert server.get("/ark:12345/doc").header("Location") == f"{server.origin}/moved"
        assert server.get("/ark:12345/gone").status == 410
        table.write_text("identifier,target,resource\nark:12345/doc,/elsewhere,D\n")
        until(lambda: server.get("/ark:12345/doc").status == 302 and "name-missing" in server.log())
        assert server.get("/ark:12345/doc").header("Location") == f"{server.origin}/moved"
        assert server.get("/ark:12345/new").status == 302
    finally:
        assert server.stop(signal.SIGINT) == 0
    assert "Traceback" not in server.log()


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        pytest.param(
            ["--bindings", "names.csv"],
            "names.csv, line 3: lines 2 and 3 are both for",
            id="a bad line",
            marks=pytest.mark.long,
        ),
        pytest.param(
            ["--database", "names.csv"],
            "names.csv, line 3: lines 2 and 3 are both for",
            id="in --database",
            marks=pytest.mark.long,
        ),
        pytest.param(["--bindings", "none.csv"], "No such file", id="no table", marks=pytest.mark.long),
        pytest.param(["--database", "none.sqlite"], "run: ararat init --database sqlite:", id="no database"),
        pytest.param(
            ["--database", "none/b.sqlite", "--create"],
            "the folder does not exist",
            id="no folder",
            marks=pytest.mark.long,
        ),
    ],
)
def test_serve_starts_without_bindings(
    options: list[str], cause: str, start_server: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/a,/1\nark:/12345/-a,/2\n")
    server = start_server([ARARAT, "serve", "--host", "127.0.0.1", "--port", "0", *options], None, tmp_path)
    server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
    server.wait_for("Stop")
    assert server.get("/").status == 200
    name = server.get("/ark:12345/a", accept="application/json")
    assert (name.status, name.json()["code"], name.header("Retry-After")) == (503, "bindings-unavailable", "10")
    assert server.get("/healthz").status == 503
    said = " ".join(server.log().split())
    assert cause in said
    assert "Names unknown" in said
    assert not (tmp_path / "none.sqlite").exists()
    server.stop()


def test_the_banner_and_healthz_contain_the_number_of_names(ararat_server: Any) -> None:
    assert ararat_server.get("/healthz").json()["names"] == 11
    assert re.search(r"Names +11", ararat_server.log())


def test_a_restarted_server_serves_the_previous_version_of_a_refused_file(
    serve_ararat: Callable[..., Any], tmp_path: Path
) -> None:
    table, state = tmp_path / "names.csv", tmp_path / "state"
    table.write_text("identifier,target,resource\nark:12345/doc,/doc,D\n")
    for target in ("/doc", "/evil"):
        table.write_text(f"identifier,target,resource\nark:12345/doc,{target},{target}\n")
        server = serve_ararat("--bindings", str(table), "--state", str(state))
        try:
            assert server.get("/ark:12345/doc").header("Location") == f"{server.origin}/doc"
            assert ("other-resource" in server.log()) == (target == "/evil")
            assert "\\u{a}" not in server.log()
        finally:
            assert server.stop(signal.SIGINT) == 0


def test_the_inspector_answers_at_trusted_hosts_only(tmp_path: Path) -> None:
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        place = Placement(prefix="https://ids.example", address="http://127.0.0.1:8000", trusted_hosts=["ids.example"])
        site = compose(bindings, place)
        client = Client(site)
        assert client.get("/", base_url="http://ids.example").status_code == 200
        assert client.get("/", base_url="http://evil.example").status_code == 400
        # A probe of Kubernetes sends the address of the pod.
        probe = client.get("/healthz?forwarded", base_url="http://10.244.3.17:8000")
        assert (probe.status_code, probe.json) == (200, {"status": "ok"})
        assert "names" in client.get("/healthz", base_url="http://ids.example").text


@pytest.fixture
def composed(ararat: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """composed(ask, *options) returns ask(client) for the application of `ararat serve`."""

    def start(ask: Callable[[Client], Any], *options: str) -> Any:
        answers: list[Any] = []
        monkeypatch.setattr(serve, "run", lambda app, listener, ready, **_: answers.append(ask(Client(app))))
        result = ararat("serve", "--port", "0", *options)
        assert result.exit_code == 0, result.stderr
        return answers[0]

    return start


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "host", "status"),
    [
        pytest.param([], "127.0.0.1", 200, id="an address of this machine"),
        pytest.param([], "localhost", 200, id="its name"),
        pytest.param([], "LOCALHOST", 200, id="its name in capitals"),
        pytest.param([], "[::1]", 200, id="its IPv6 address"),
        pytest.param([], "[::1]:8000", 200, id="its IPv6 address with a port"),
        pytest.param([], "evil.example", 400, id="a name that was rebound"),
        pytest.param([], "[::2]", 400, id="another IPv6 address"),
        pytest.param([], "localhost.evil.example", 400, id="a name that begins alike"),
        pytest.param(["--prefix", "https://ids.example"], "ids.example", 200, id="the host of the prefix"),
        pytest.param(["--inspector", "https://look.example"], "look.example", 200, id="the host of the inspector"),
        pytest.param(["--also", "https://old.example"], "old.example", 200, id="the host of another prefix"),
        pytest.param(["--trusted-host", "www.example"], "www.example", 200, id="a host that is added"),
        pytest.param(["--trusted-host", "www.example"], "localhost", 200, id="a host that was known before"),
        pytest.param(["--host", "0.0.0.0"], "evil.example", 200, id="a server for other machines"),  # noqa: S104
        pytest.param(
            ["--host", "0.0.0.0", "--allow-network", "10.0.0.0/8"],  # noqa: S104
            "evil.example",
            400,
            id="traces into a network",
        ),
        pytest.param(
            ["--host", "0.0.0.0", "--trusted-host", "www.example"],  # noqa: S104
            "evil.example",
            400,
            id="other machines by a known name",
        ),
    ],
)
def test_the_inspector_answers_at_known_hosts_only(
    options: list[str], host: str, status: int, composed: Callable[..., Any]
) -> None:
    def ask(client: Client) -> list[int]:
        return [client.get(path, headers={"Host": host}).status_code for path in ("/", "/ark:12345/nothing")]

    # The resolver answers for any host, because its answers do not depend on it.
    assert composed(ask, *options) == [status, 404]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("proxies", "scheme", "field"),
    [
        pytest.param("0", "https", None, id="no proxy"),
        pytest.param("1", "https", "max-age=1000", id="one proxy"),
        pytest.param("1", "http, https", "max-age=1000", id="a client that says http"),
        pytest.param("1", "https, http", None, id="a client that says https"),
        pytest.param("2", "https, http", "max-age=1000", id="two proxies"),
        pytest.param("2", "https", None, id="one proxy fewer than there should be"),
    ],
)
def test_answers_are_secure_if_a_trusted_proxy_received_https(
    proxies: str, scheme: str, field: str | None, composed: Callable[..., Any]
) -> None:
    def ask(client: Client) -> str | None:
        return client.get("/ark:12345/mp39n", headers={"X-Forwarded-Proto": scheme}).headers.get(
            "Strict-Transport-Security"
        )

    assert composed(ask, "--hsts", "max-age=1000", "--trusted-proxies", proxies) == field


@pytest.mark.parametrize(
    ("proxies", "addresses", "client"),
    [
        pytest.param("0", "192.0.2.1", "10.0.0.2", id="no proxy"),
        pytest.param("1", "192.0.2.1", "192.0.2.1", id="one proxy"),
        pytest.param("1", "203.0.113.9, 192.0.2.1", "192.0.2.1", id="a client that names another"),
        pytest.param("2", "203.0.113.9, 192.0.2.1, 10.0.0.1", "192.0.2.1", id="two proxies"),
        pytest.param("2", "192.0.2.1", "10.0.0.2", id="one proxy fewer than there should be"),
    ],
)
def test_clients_behind_trusted_proxies_are_distinguished(
    proxies: str, addresses: str, client: str, composed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def acquire(places: ThreadSlots, work: str, address: str | None, **limits: Any) -> None:
        seen.append(address)
        raise Busy("busy", "no place is free")

    monkeypatch.setattr(ThreadSlots, "acquire", acquire)

    def ask(asking: Client) -> None:
        peer = {"REMOTE_ADDR": "10.0.0.2"}
        asking.get("/api/trace?q=ark:12345/x", headers={"X-Forwarded-For": addresses}, environ_overrides=peer)

    composed(ask, "--trusted-proxies", proxies)
    assert seen == [client]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "link"),
    [
        pytest.param([], "http://127.0.0.1:{port}/?q=", id="no prefix"),
        pytest.param(["--prefix", "https://ids.example"], None, id="a prefix"),
        pytest.param(["--inspector", "none"], None, id="none"),
        pytest.param(["--inspector", "https://look.example"], "https://look.example/?q=", id="an address"),
        pytest.param(
            ["--prefix", "https://ids.example", "--inspector", "https://look.example/"],
            "https://look.example/?q=",
            id="a prefix and an address",
        ),
        pytest.param(
            ["--prefix", "https://ids.example", "--inspector", "https://ids.example"],
            "https://ids.example/?q=",
            id="the inspector at the prefix",
        ),
    ],
)
def test_error_pages_link_to_the_inspector(options: list[str], link: str | None, composed: Callable[..., Any]) -> None:
    def ask(client: Client) -> tuple[str, str]:
        refusal = client.get("/ark:12345/nothing", headers={"Accept": "text/html"})
        return refusal.text, client.get("/?q=ark:12345/nothing").text

    refusal, page = composed(ask, *options)
    found = re.findall(r'href="([^"]*/\?q=)', refusal)
    assert [re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:{port}", each) for each in found] == ([link] if link else [])
    # Printed permalinks begin with the URL of the inspector.
    shown = re.findall(r'data-origin="([^"]*)"', page)
    origin = (link or "http://127.0.0.1:{port}/?q=").removesuffix("/?q=")
    assert [re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:{port}", each) for each in shown] == [origin]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("inspector", "page"),
    [
        pytest.param(None, "not-asked", id="names alone"),
        pytest.param("https://look.example", "not-asked", id="an inspector elsewhere"),
        pytest.param("https://ids.example", "error-status", id="the whole site"),
    ],
)
def test_a_trace_is_answered_in_process_only_for_paths_of_ararat(
    tmp_path: Path, inspector: str | None, page: str
) -> None:
    """If a proxy forwards only the names, another application has the pages of the prefix."""
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/page", "https://ids.example/maps/17")
        bindings.bind("ark:12345/twice", "https://ids.example/ark:12345/here")
        bindings.bind("ark:12345/here", "http://127.0.0.1:8000/healthz")
        place = Placement(prefix="https://ids.example", address="http://127.0.0.1:8000", inspector=inspector)
        site = compose(bindings, place, {"trace_elsewhere": False})
        client = Client(site)
        codes = {}
        for name in ("page", "twice"):
            events = client.get(f"/api/trace?q=ark:12345/{name}").text.splitlines()
            codes[name] = json.loads(events[-1])["code"]
    assert codes == {"page": page, "twice": "found"}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        pytest.param(["--inspector", "ftp://example.org"], 64, "inspector", id="no inspector"),
        pytest.param(["--trusted-proxies", "-1"], 64, "trusted-proxies", id="fewer proxies than none"),
        pytest.param(["--prefix", "ftp://example.org"], 64, "prefix", id="no prefix"),
        pytest.param(["--max-length", "10"], 64, "255", id="a limit below the draft's"),
        pytest.param(["--allow-network", "everywhere"], 64, "everywhere", id="no network"),
        pytest.param(["--access-log", "none/log"], 74, "cannot write none/log", id="no folder for the log"),
        pytest.param(["--resolver", "ftp://example.org"], 64, "prefix", id="no resolver"),
        pytest.param(["--host", "192.0.2.1"], 69, "192.0.2.1", id="an address of another machine"),
        pytest.param(["--host", "no.such.host.invalid"], 69, "no.such.host.invalid", id="no host"),
        pytest.param(["--host", "..a"], 69, "..a is not the name of a host", id="no name of a host"),
    ],
)
def test_serve_reports_why_it_cannot_start(
    options: list[str], code: int, words: str, ararat: Callable[..., Result]
) -> None:
    result = ararat("serve", "--port", "0", *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in unwrapped(result.stderr)


def test_the_access_log_is_never_written_to_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    database = tmp_path / "names.sqlite"
    open_bindings(database, create=True).close()
    before = database.read_bytes()
    result = ararat("serve", "--port", "0", "--access-log", str(database))
    assert (result.exit_code, database.read_bytes()) == (74, before)
    assert "it is an SQLite database, which would be lost" in unwrapped(result.stderr)


def test_serve_reports_a_port_in_use(ararat_server: Any, ararat: Callable[..., Result]) -> None:
    result = ararat("serve", "--port", str(ararat_server.port))
    said = " ".join(result.stderr.split())
    assert f"port {ararat_server.port} of 127.0.0.1 is used" in said
    assert "in use" in said
    assert "set --port 0 for any free port" in said


def test_without_a_port_the_first_free_port_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(listening, "FIRST_PORT", taken.getsockname()[1])
        with listening.listen("127.0.0.1", None) as listener:
            assert taken.getsockname()[1] < listener.getsockname()[1] < taken.getsockname()[1] + 100


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        pytest.param("127.0.0.1", "http://127.0.0.1:", id="loopback"),
        pytest.param("0.0.0.0", "http://127.0.0.1:", id="everywhere"),  # noqa: S104 - for a moment
        pytest.param("::1", "http://[::1]:", id="IPv6"),
    ],
)
def test_the_printed_address_can_be_opened_on_this_machine(host: str, shown: str) -> None:
    with contextlib.suppress(OSError), listening.listen(host, 0) as listener:
        assert listening.address_of(listener) == f"{shown}{listener.getsockname()[1]}"


def test_rounds_need_a_database(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/1\n")
    refused = ararat("serve", "--rounds", "7", "--bindings", "names.csv")
    assert refused.exit_code == 64
    assert "--rounds needs a database" in unwrapped(refused.stderr)


def test_the_ezid_api_needs_a_database_and_a_path(ararat: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/1\n")
    on_file = ararat("serve", "--ezid", "/ezid", "--bindings", "names.csv")
    assert (on_file.exit_code, on_file.stdout) == (64, "")
    assert "the EZID API needs a prefix, and bindings in a database" in unwrapped(on_file.stderr)
    for path in ("ezid", "/", "/docs"):
        wrong = ararat("serve", "--ezid", path, "--database", "sqlite:///new.sqlite", "--create")
        assert wrong.exit_code == 64, path
        assert "EZID API" in unwrapped(wrong.stderr)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("option", "path"),
    [("--sitemap", "/desk"), ("--oai", "/ezid"), ("--atom", "/ezid/changes"), ("--services", "/api/v1")],
    ids=["desk", "EZID API", "below the EZID API", "JSON API"],
)
def test_a_path_of_the_resolver_hides_no_page(
    option: str, path: str, ararat: Callable[..., Result], tmp_path: Path
) -> None:
    stored = ("--database", f"sqlite:///{tmp_path}/new.sqlite", "--create", "--prefix", "https://ids.example.org")
    result = ararat("serve", "--port", "0", *stored, "--ezid", "/ezid", option, path)
    assert result.exit_code == 64
    assert f"{option[2:]}: the path {path} has other pages; choose another" in unwrapped(result.stderr)


@pytest.fixture
def banner(ararat: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """banner(*options) returns the lines that `ararat serve` prints when it is ready, with single spaces."""

    def printed(*options: str) -> str:
        monkeypatch.setattr(serve, "run", lambda app, listener, ready, **_: ready())
        result = ararat("serve", "--port", "0", *options)
        assert result.exit_code == 0, result.stderr
        return " ".join(result.stdout.split())

    return printed


def test_serve_prints_the_url_of_the_ezid_api(
    banner: Callable[..., str], composed: Callable[..., Any], tmp_path: Path
) -> None:
    database = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    options = ("--ezid", "/ezid/", "--database", database, "--create", "--prefix", "https://ids.example.org")
    assert "EZID API https://ids.example.org/ezid Bindings" in banner(*options)

    def ask(client: Client) -> list[tuple[int, str]]:
        answers = [client.get("/ezid/status", headers={"Host": f"{host}.example.org"}) for host in ("ids", "other")]
        return [(answer.status_code, answer.text) for answer in answers]

    known, other = composed(ask, *options)
    assert (known, other[0]) == ((200, "success: EZID is up"), 400)


PUBLIC = (
    *("--prefix", "https://example.org/", "--sitemap", "/names.xml", "--atom", "/changes.atom", "--oai", "/oai"),
    *("--database", "names.sqlite", "--create"),
)


def test_the_banner_contains_the_addresses_of_the_desk_the_api_the_feeds_and_the_log(
    banner: Callable[..., str], ararat: Callable[..., Result]
) -> None:
    shown = banner(*PUBLIC)
    address = re.search(r" at (http://\S+)", shown)
    assert address is not None
    link = rf"Desk {address[1]}/desk Account none yet; open this link once, or run this command: "
    link += rf"{address[1]}/first-account/[\w-]{{43}} \S*ararat account add ada --role administrator --password-stdin "
    assert re.search(rf"{link}--database \S*names\.sqlite JSON API {address[1]}/api/v1", shown)
    feeds = ("names.xml", "changes.atom", "oai")
    assert f"Feeds {', '.join(f'https://example.org/{feed}' for feed in feeds)} Bindings" in shown
    with open_bindings("names.sqlite") as bindings:
        Accounts(bindings).add("jane", "curator", ["12345"])
    assert ararat("log", "init", "--database", "names.sqlite", "--dir", "log", "--origin", "log.test").exit_code == 0
    shown = banner(*PUBLIC, "--inspector", "https://names.example.org/", "--log", "/log", "--log-folder", "log")
    assert "Desk https://names.example.org/desk JSON API https://names.example.org/api/v1" in shown
    assert "oai Log https://example.org/log Bindings" in shown
    assert "Desk https://example.org/desk JSON" in banner(*PUBLIC, "--inspector", "https://example.org")


def test_the_banner_for_a_file_contains_no_desk(banner: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/1\n")
    shown = banner("--bindings", "names.csv")
    assert "Desk" not in shown
    assert "API" not in shown


def test_a_running_server_traces_targets(
    tmp_path: Path, start_server: Callable[..., Any], run_command: Callable[..., Any]
) -> None:
    database = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    with open_bindings(database, create=True) as bindings:
        bindings.bind("ark:12345/x", "http://127.0.0.1:9/")
    start_server([ARARAT, "serve", "--port", "0", "--database", database, "--rounds", "7"])
    command = [ARARAT, "rounds", "--recorded", "--json", "--database", database]
    deadline = time.monotonic() + 20
    while not (found := run_command(*command).stdout):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert b'"state": "unclear"' in found


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("option", "value"),
    [
        pytest.param("--cache", "-5", id="a number"),
        pytest.param("--max-length", "5", id="an option of two words"),
        pytest.param("--naans", "abc", id="an option that can be repeated"),
    ],
)
def test_a_wrong_value_is_reported_with_its_option(option: str, value: str, ararat: Callable[..., Result]) -> None:
    refused = ararat("serve", option, value)
    assert (refused.exit_code, refused.stderr.startswith(f"ararat: {option}: ")) == (64, True)


def test_a_missing_value_is_reported_with_its_option(ararat: Callable[..., Result]) -> None:
    refused = ararat("serve", "--metrics", "/metrics")
    assert "set --metrics-token-file …" in unwrapped(refused.stderr)


def test_an_access_log_in_a_place_that_cannot_be_looked_at_is_refused(ararat: Callable[..., Result]) -> None:
    refused = ararat("serve", "--access-log", "a" * 300)
    assert (refused.exit_code, "File name too long" in unwrapped(refused.stderr)) == (74, True)
