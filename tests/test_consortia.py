"""Run the commands of docs/consortia.md, and connect the three resolvers of the page: in process, and as processes."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.collection import Bindings
from ararat.cli.doctor import in_process, names
from ararat.cli.doctor.finding import HealthFinding
from ararat.cli.main import main
from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.net.hop import HopFailed
from ararat.net.response import SiteAnswer
from ararat.net.url import WebURL
from ararat.tracing.algorithm import trace
from ararat.tracing.events import End, Hop
from ararat.tracing.in_process import local_fetch

from .conftest import Server

PAGE = (Path(__file__).parents[1] / "docs" / "consortia.md").read_text("utf-8")
CONSOLES = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
BLOCKS = [re.findall(r"^\$ (.*)$", block, re.MULTILINE) for block in CONSOLES]
CENTRE, MUSEUM, ARCHIVE = (f"http://127.0.0.1:{port}" for port in (8000, 8001, 8002))
DATABASES = {"centre": CENTRE, "museum": MUSEUM, "archive": ARCHIVE}


def ararat(command: str, folder: Path) -> Result:
    """Run a command of the page in this process."""
    arguments = [f"{folder}/{each}" if each.endswith(".sqlite") else each for each in shlex.split(command)]
    clean = {name: None for name in os.environ if name.startswith("ARARAT_")}
    return CliRunner().invoke(main, arguments[1:], env=clean)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The databases after the first two steps of the page."""
    for command in (*BLOCKS[0], *BLOCKS[1]):
        assert ararat(command, tmp_path).exit_code == 0, command
    return tmp_path


class Consortium:
    """The resolvers of the page without a network. Those in ``down`` do not answer."""

    def __init__(self, folder: Path, stack: ExitStack, *down: str) -> None:
        up = [name for name in DATABASES if name not in down]
        self.bindings = {name: stack.enter_context(open_bindings(f"{folder}/{name}.sqlite")) for name in up}
        self.apps = {
            DATABASES[name]: ResolverMiddleware(_site, opened, prefix=DATABASES[name])
            for name, opened in self.bindings.items()
        }

    def trace(self, name: str) -> tuple[list[tuple[int | None, str | None]], End]:
        """Return the status and Location of each hop from the centre, and the end."""
        *events, end = trace(name, fetch=local_fetch(self.apps, None, None), resolver=CENTRE)
        assert isinstance(end, End)
        return [(event.status, event.location) for event in events if isinstance(event, Hop)], end

    def doctor(self) -> list[HealthFinding]:
        """Return the findings of the centre about its delegations."""
        return [*names.delegations(self.bindings["centre"], CENTRE, self._ask)]

    def _ask(self, url: WebURL, method: str, target: str, fields: Any = None) -> SiteAnswer:
        app = self.apps.get(f"{url.scheme}://{url.authority}")
        if url.host == "archive.example":
            return SiteAnswer(200, (), b"")
        if app is None:
            raise HopFailed("connect")
        return in_process.client_of(app)(url, method, target, fields)


def _site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return [b""]


@pytest.fixture
def consortium(folder: Path) -> Iterator[Callable[..., Consortium]]:
    """consortium(*down) opens the databases as they are now."""
    with ExitStack() as stack:
        yield lambda *down: Consortium(folder, stack, *down)


def test_each_name_is_answered_by_the_resolver_that_has_it(consortium: Callable[..., Consortium]) -> None:
    network = consortium()
    harp = "https://museum.example/objects/harp"
    assert network.trace("ark:12345/m1harp")[0][:2] == [(302, f"{MUSEUM}/ark:12345/m1harp"), (302, harp)]
    assert network.trace("ark:12345/c9report")[0][0] == (302, "https://centre.example/report")
    assert network.trace("ark:12345/f4-107")[0][0] == (303, "https://archive.example/reading-room")
    hops, end = network.trace("ark:/12345/m1-harp?info")
    assert hops == [(302, f"{MUSEUM}/ark:/12345/m1-harp?info"), (200, None)]
    assert (end.outcome, end.state) == ("success", "metadata")
    hops, end = network.trace("ark:12345/m1unknown")
    assert ([status for status, _ in hops], end.code) == ([302, 404], "error-status")
    assert {finding.state for finding in network.doctor()} == {"ok"}


def test_two_resolvers_that_delegate_to_each_other_are_a_loop(
    consortium: Callable[..., Consortium], folder: Path
) -> None:
    with open_bindings(f"{folder}/museum.sqlite") as museum:
        museum.prefixes.set("12345/m1", state="delegated", resolver=CENTRE)
    network = consortium()
    hops, end = network.trace("ark:12345/m1unknown")
    assert (len(hops), end.code) == (11, "too-many-redirects")
    assert "loop" in end.sentence
    (finding,) = [each for each in network.doctor() if each.state == "error"]
    assert finding.code == "delegation"
    assert "loop" in finding.message
    # A name that is bound has its answer.
    assert network.trace("ark:12345/m1harp")[0][1] == (302, "https://museum.example/objects/harp")


def test_a_resolver_that_is_down_stops_only_its_own_names(consortium: Callable[..., Consortium]) -> None:
    network = consortium("museum")
    hops, end = network.trace("ark:12345/m1harp")
    assert (hops[0], end.outcome) == ((302, f"{MUSEUM}/ark:12345/m1harp"), "failure")
    assert network.trace("ark:12345/c9report")[0][0][0] == 302
    (finding,) = [each for each in network.doctor() if each.state == "error"]
    assert "does not answer" in finding.message


def test_no_name_changes_when_institutions_merge_and_leave(consortium: Callable[..., Consortium], folder: Path) -> None:
    for block in BLOCKS[3:]:
        for command in block:
            assert ararat(command, folder).exit_code == ("mint" in command) or "--dry-run" in command, command
    network = consortium()
    assert network.trace("ark:12345/m1harp")[0][0] == (302, f"{MUSEUM}/ark:12345/m1harp")
    for path in ("f4107", "f4-107", "f4unknown"):
        value = path.replace("-", "")
        assert network.trace(f"ark:12345/{path}")[0][0] == (302, f"https://national.example/{value}")
    archive: Bindings = network.bindings["archive"]
    known = archive.lookup("ark:12345/f4107")
    assert known is not None
    assert (known.target, known.spelling) == ("https://national.example/f4107", "ark:12345/f4-107")
    record = network.bindings["centre"].prefixes.get("12345/m1")
    assert record is not None
    assert [each.who for each in record.predecessors] == ["City Museum"]


@pytest.mark.long
def test_three_processes_are_one_consortium(tmp_path: Path, serve_ararat: Callable[..., Server]) -> None:
    def run(command: str) -> str:
        for name, address in DATABASES.items():
            if name in servers:
                command = command.replace(address, f"http://127.0.0.1:{servers[name].port}")
        if "archive" in servers:
            # Tests send no requests to other hosts.
            command = command.replace("https://archive.example", f"http://127.0.0.1:{servers['archive'].port}")
        return " ".join(ararat(command, tmp_path).output.split())

    def start(name: str) -> None:
        servers[name] = serve_ararat("--database", f"{tmp_path}/{name}.sqlite")

    def location(path: str) -> tuple[int, str | None]:
        answer = servers["centre"].get(path)
        return answer.status, answer.header("Location")

    servers: dict[str, Server] = {}
    for command in BLOCKS[0]:
        run(command)
    start("museum")
    start("archive")
    for command in (*BLOCKS[1], *BLOCKS[2]):
        run(command)
    start("centre")
    museum = f"http://127.0.0.1:{servers['museum'].port}"
    centre = f"http://127.0.0.1:{servers['centre'].port}"
    doctor = f"ararat doctor {centre} --database centre.sqlite"
    traced = f"ararat trace ark:12345/m1unknown --resolver {centre} --allow-network 127.0.0.0/8"
    assert location("/ark:/12345/m1-harp?info") == (302, f"{museum}/ark:/12345/m1-harp?info")
    assert location("/ark:12345/f4-107") == (303, f"http://127.0.0.1:{servers['archive'].port}/reading-room")
    assert "answers 404 for an unknown name" in run(doctor)
    run(f"ararat prefix set --database museum.sqlite 12345/m1 --state delegated --resolver {centre}")
    _eventually(lambda: "loop" in run(traced))
    assert "loop" in run(doctor)
    until = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
    run(f"ararat hold --database centre.sqlite ark:12345/m1 --until {until} --reason Dispute")
    _eventually(lambda: servers["centre"].get("/ark:12345/m1harp").status == 303)
    run("ararat release --database centre.sqlite ark:12345/m1")
    servers["museum"].stop()
    assert "does not answer" in run(doctor)
    _eventually(lambda: location("/ark:12345/m1harp") == (302, f"{museum}/ark:12345/m1harp"))
    assert location("/ark:12345/c9report") == (302, "https://centre.example/report")
    for block in BLOCKS[3:]:
        for command in block:
            run(command)
    _eventually(lambda: location("/ark:12345/f4107") == (302, "https://national.example/f4107"))


def _eventually(is_true: Callable[[], bool], seconds: float = 10) -> None:
    """Wait until a running server uses a changed record."""
    import time

    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.1)
