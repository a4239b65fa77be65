"""Rounds of traces over a database, with a site on loopback."""

from __future__ import annotations

import http.server
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from ararat.bindings import holding
from ararat.bindings.digest import facts
from ararat.bindings.names.errors import ReadOnlyBindings
from ararat.cli import main
from ararat.middleware import Bindings
from ararat.net.allowed_addresses import Destinations, parse_networks
from ararat.tracing.links.model import STATES, State, TracedTarget
from ararat.tracing.links.rounds import Round, run_continuously
from ararat.tracing.links.store import Links
from tests.http_servers import Quiet, running

LOOPBACK = Destinations(parse_networks(["127.0.0.0/8"]))
STATUSES = {"/ok": 200, "/moved": 301, "/refused": 403, "/gone": 404, "/elsewhere": 302}


class Site(Quiet, http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = self.server.statuses.get(self.path, 500)  # type: ignore[attr-defined]
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "600")
        if status in (301, 302):
            self.send_header("Location", "/ok")
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def site() -> Iterator[http.server.ThreadingHTTPServer]:
    with running(Site) as server:
        server.statuses = dict(STATUSES)  # type: ignore[attr-defined]
        server.asked = []  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def bound(bindings: Bindings, site: http.server.ThreadingHTTPServer) -> Bindings:
    for path in STATUSES:
        bindings.bind(f"ark:12345{path}", f"http://127.0.0.1:{site.server_port}{path}")
    bindings.bind("ark:12345/text", kind="described")
    bindings.bind("ark:12345/own", "/own")
    bindings.reserve("ark:12345/reserved", f"http://127.0.0.1:{site.server_port}/gone")
    bindings.bind("ark:12345/old", f"http://127.0.0.1:{site.server_port}/gone")
    bindings.withdraw("ark:12345/old")
    return bindings


def run(bindings: Bindings, **options) -> dict[State, int]:
    return dict(Round(bindings, older_than=timedelta(), destinations=LOOPBACK, pause=0, **options).run())


def states(bindings: Bindings) -> dict[str, str]:
    links = Links(bindings)
    return {link.key.removeprefix("ark:12345"): link.state for state in links.count() for link in links.of_state(state)}


def link(days: float, status: int | None = 503, code: str = "error-status", since: float = 0.0) -> TracedTarget:
    result = {"identifier": "ark:12345/x", "key": "ark:12345/x", "target": "https://a.test/", "url": None}
    state: State = "works" if status == 200 else "dead" if status == 404 else "unclear"
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = {"since": start + timedelta(days=since or days), "traced": start + timedelta(days=days)}
    return TracedTarget(**result, state=state, status=status, code=code, sentence="", **times)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("new", "old", "state", "since"),
    [
        pytest.param(link(9), None, "unclear", 9, id="the first trace"),
        pytest.param(link(9), link(8), "unclear", 8, id="for a day"),
        pytest.param(link(9), link(8, since=5), "dead", 5, id="for days"),
        pytest.param(link(9, None, "timeout"), link(8, since=5), "dead", 5, id="another temporary failure"),
        pytest.param(link(9), link(8, 200, "found", since=1), "unclear", 9, id="it worked before"),
        pytest.param(link(9), link(8, 404, since=1), "unclear", 9, id="it was not found before"),
        pytest.param(link(9, 404), link(8, since=1), "dead", 9, id="not found is dead at once"),
        pytest.param(link(9, 302, "location-invalid"), link(8, since=1), "unclear", 9, id="not temporary"),
    ],
)
def test_an_overloaded_target_is_dead_after_days(new, old, state, since):
    found = new.following(old)
    assert (found.state, found.since) == (state, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=since))


def test_the_pause_of_a_host_is_kept_for_the_next_process(bindings, site, monkeypatch):
    site.statuses["/busy"] = 503
    bindings.bind("ark:12345/busy", f"http://127.0.0.1:{site.server_port}/busy")
    assert run(bindings) == {"unclear": 1}
    assert 590 < Links(bindings).pauses()["127.0.0.1"] <= 600
    assert run(bindings) == {}
    arguments = [
        "check",
        "--trace",
        "--pause",
        "0",
        "--allow-network",
        "127.0.0.0/8",
        "--database",
        bindings.location,
        "--json",
    ]
    if bindings.location.startswith("sqlite"):
        assert (
            '"code": "too-often"' in CliRunner().invoke(main.main, [*arguments, "--database", bindings.location]).stdout
        )
    assert site.asked == ["/busy"]
    assert states(bindings) == {"/busy": "unclear"}
    later = bindings.now() + timedelta(seconds=601)
    monkeypatch.setattr(bindings, "now", lambda: later)
    assert Links(bindings).pauses() == {}
    assert run(bindings) == {"unclear": 1}
    assert site.asked == ["/busy", "/busy"]


def test_an_unclear_target_is_traced_again_after_an_hour(bindings, site):
    for name, status in {"busy": 500, "gone": 404}.items():
        site.statuses[f"/{name}"] = status
        bindings.bind(f"ark:12345/{name}", f"http://127.0.0.1:{site.server_port}/{name}")
    assert run(bindings) == {"unclear": 1, "dead": 1}
    links, now = Links(bindings), bindings.now()
    for hours, due in {-1: [], 1: ["ark:12345/busy"]}.items():
        again = now + timedelta(hours=hours)
        assert [each.identifier for each in links.due(now - timedelta(days=30), again=again)] == due


EXPECTED = {
    "/ok": "works",
    "/elsewhere": "works",
    "/moved": "moved",
    "/refused": "refused",
    "/gone": "dead",
    "/own": "unclear",
}


def test_a_round_records_the_state_of_each_target(bound: Bindings, site: http.server.ThreadingHTTPServer) -> None:
    assert run(bound) == {"works": 2, "moved": 1, "refused": 1, "dead": 1, "unclear": 1}
    assert states(bound) == EXPECTED
    moved = Links(bound).of_name("ark:12345/moved")
    assert moved is not None
    assert (moved.url, moved.status) == (f"http://127.0.0.1:{site.server_port}/ok", 200)


def test_since_stays_until_the_state_changes(bound: Bindings, site: http.server.ThreadingHTTPServer) -> None:
    links = Links(bound)
    run(bound)
    first = links.of_name("ark:12345/gone")
    run(bound)
    second = links.of_name("ark:12345/gone")
    site.statuses["/gone"] = 200  # type: ignore[attr-defined]
    run(bound)
    third = links.of_name("ark:12345/gone")
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.since == first.traced
    assert (second.since, second.traced > first.traced) == (first.since, True)
    assert (third.state, third.since) == ("works", third.traced)


def test_a_result_for_another_target_is_not_shown(bound: Bindings) -> None:
    links = Links(bound)
    run(bound)
    bound.relocate("ark:12345/gone", "https://example.org/new")
    bound.withdraw("ark:12345/refused")
    assert links.of_name("ark:12345/gone") is None
    assert links.count() == {"works": 2, "moved": 1, "refused": 0, "dead": 0, "unclear": 1}
    assert [each.identifier for each in links.due(bound.now() - timedelta(days=1))] == ["ark:12345/gone"]


def test_a_round_traces_only_what_is_due(bound: Bindings) -> None:
    assert sum(run(bound, most=2).values()) == 2
    counts = Round(bound, older_than=timedelta(days=1), destinations=LOOPBACK, pause=0).run()
    assert counts.total() == len(EXPECTED) - 2
    assert Round(bound, older_than=timedelta(days=1), destinations=LOOPBACK, pause=0).run().total() == 0


def test_a_stopped_round_keeps_its_results(bound: Bindings) -> None:
    one = Round(bound, older_than=timedelta(), destinations=LOOPBACK, pause=0)
    counts = one.run(lambda link: one.stop.set())
    assert 1 <= counts.total() <= len(EXPECTED)
    assert sum(one.links.count().values()) == counts.total()


def test_private_addresses_are_not_requested_by_default(bound: Bindings) -> None:
    assert set(Round(bound, older_than=timedelta(), pause=0).run()) == {"unclear"}


def test_long_names_are_traced(bindings: Bindings) -> None:
    name = "ark:12345/" + "\U0001f600" * 240
    bindings.bind(name, "http://127.0.0.1:1/")
    assert run(bindings) == {"dead": 1}
    assert sum(run(bindings).values()) == 1
    [link] = Links(bindings).of_state("dead")
    assert (len(link.identifier), len(link.key)) == (10 + 240 * 12, 965)


def test_a_file_has_no_traces(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/1\n")
    with pytest.raises(ReadOnlyBindings, match="use a database"):
        run(open_store(tmp_path / "names.csv"))


def test_rounds_go_on_after_a_failure(bindings: Bindings, caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()
    rounds = [Round(bindings, older_than=timedelta(), stop=stop) for _ in range(2)]
    bindings.close()

    def new_round() -> Round:
        if len(rounds) == 1:
            stop.set()
        return rounds.pop()

    run_continuously(new_round, stop, pause=0)
    assert rounds == []
    assert caplog.text.count("The round of traces ended early") == 2


def test_the_command_prints_what_does_not_work(
    tmp_path: Path, open_store: Callable[..., Bindings], site: http.server.ThreadingHTTPServer
) -> None:
    database = f"sqlite:///{tmp_path / 'b.sqlite'}"
    bindings = open_store(database)
    for path in ("/ok", "/gone"):
        bindings.bind(f"ark:12345{path}", f"http://127.0.0.1:{site.server_port}{path}")
    options = ["rounds", "--database", database, "--pause", "0", "--allow-network", "127.0.0.0/8"]
    first = CliRunner().invoke(main.main, options)
    assert first.exit_code == 1, first.output
    lines = first.stdout.splitlines()
    assert lines[0] == "dead     ark:12345/gone"
    assert lines[-1] == "2 traced: 1 works, 1 dead." or lines[-1] == "2 traced: 1 dead, 1 works."
    assert CliRunner().invoke(main.main, options).stdout == "0 traced.\n"
    recorded = CliRunner().invoke(main.main, [*options, "--recorded", "--json"])
    assert (recorded.exit_code, '"state": "dead"' in recorded.stdout, "/ok" in recorded.stdout) == (1, True, False)


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(replace(LOOPBACK, denied=parse_networks(["127.0.0.1"])), id="denied"),
        pytest.param(replace(LOOPBACK, elsewhere=False), id="not-elsewhere"),
    ],
)
def test_a_round_sends_no_request_to_a_refused_host(bindings: Bindings, refused: Destinations) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bindings.bind("ark:12345/x", f"http://127.0.0.1:{listener.getsockname()[1]}/internal")
        assert Round(bindings, older_than=timedelta(), destinations=refused, pause=0).run() == {"unclear": 1}
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("option", [("--deny-network", "127.0.0.1/32"), ("--no-trace-elsewhere",)], ids=" ".join)
@pytest.mark.parametrize("command", [("rounds",), ("check", "--trace")], ids=" ".join)
def test_the_commands_send_no_request_to_a_refused_host(
    tmp_path: Path, open_store: Callable[..., Bindings], command: tuple[str, ...], option: tuple[str, ...]
) -> None:
    url = f"sqlite:///{tmp_path / 'b.sqlite'}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_store(url).bind("ark:12345/x", f"http://127.0.0.1:{listener.getsockname()[1]}/internal")
        given = [*command, "--database", url, "--prefix", "https://r.example", "--allow-network", "127.0.0.0/8"]
        done = CliRunner().invoke(main.main, [*given, *option])
        assert done.exit_code in (0, 1), done.output
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_round_says_how_long_it_takes_and_what_missed_the_last_one(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, day = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)

    def at(days: float) -> None:
        monkeypatch.setattr(bindings, "now", lambda: start + days * day)

    at(0)
    for number in range(5):
        bindings.bind(f"ark:12345/x{number}", f"https://{'a' if number else 'b'}.test/{number}")
    one = Round(bindings, older_than=30 * day, pause=2.0)
    assert one.forecast() == (5, 0, "a.test", 4, 8.0)
    assert Round(bindings, older_than=30 * day, most=1).forecast()[:2] == (1, 0)
    Links(bindings).record([replace(link(0), key="ark:12345/x1", target="https://a.test/1", traced=start)])
    at(31)
    bindings.bind("ark:12345/new", "/new")
    # The traced one is due, and those without a trace are late.
    assert one.forecast()[:2] == (6, 4)
    at(61)
    assert one.forecast()[:2] == (6, 5)
    [fact] = [each for each in facts(bindings) if each.code == "overdue"]
    assert (fact.problem, fact.number) == (True, 5)
    assert Round(bindings, older_than=timedelta()).forecast().overdue == 0
    # A name on hold has no redirect to trace, so it is neither due nor late.
    holding.hold(bindings, "ark:12345/x2", start + 80 * day, "A court decides.")
    bindings.prefixes.set("ark:12345/x3", what="Maps")
    holding.hold(bindings, "ark:12345/x3", start + 80 * day, "A court decides.", kind="prefix")
    assert Round(bindings, older_than=30 * day).forecast()[:2] == (4, 3)
    at(81)
    assert Round(bindings, older_than=30 * day).forecast()[:2] == (6, 5)


def test_the_command_says_how_long_a_round_takes(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    for number in range(3):
        bindings.bind(f"ark:12345/x{number}", "https://a.test/")
    monkeypatch.setattr(Round, "run", lambda self, progress: Counter())
    said = CliRunner().invoke(main.main, ["rounds", "--pause", "60", "--days", "0.001", "--database", database]).output
    assert " ".join(said.split()).startswith(
        "3 targets are due, 3 of them at a.test. With one request in 60 s to a host, the round takes at least "
        "3 minutes. This is longer than 0.001 days: set a shorter --pause, or more --days."
    )
    assert "are due" not in CliRunner().invoke(main.main, ["rounds", "--pause", "1", "--database", database]).output


def test_a_name_on_hold_is_not_traced(bound: Bindings) -> None:
    holding.hold(bound, "ark:12345/ok", bound.now() + timedelta(days=1), "A court decides.")
    run(bound)
    assert "/ok" not in states(bound)
    assert all("this-site.invalid" not in each.sentence for state in STATES for each in Links(bound).of_state(state))


def test_targets_with_one_error_are_one_cause() -> None:
    first, second = link(1, 404), link(2, 404)
    assert first.cause == second.cause == "404 Not Found"
    assert link(1, None, "dns").cause == "The name of the host could not be looked up."
