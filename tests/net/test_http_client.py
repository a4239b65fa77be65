"""The guarded client with scripted lookups: its connections and its refusals. No request leaves this machine."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ararat.middleware import ResolverMiddleware, open_bindings
from ararat.net import http_client
from ararat.net.allowed_addresses import Address
from ararat.net.deadline import Deadline
from ararat.net.dns import Lookups
from ararat.net.hop import HopFailed, HopResponse
from ararat.net.http_client import GuardedClient
from ararat.tracing.algorithm import End, Hop, trace
from ararat.tracing.in_process import local_fetch
from ararat.webapp import create_app, trace_requests

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"


HOME = ["127.0.0.1", "::1"]


@pytest.fixture
def connects(monkeypatch) -> list[Any]:
    """Record and refuse every attempt to connect a socket."""
    tried: list[Any] = []

    class Watched(socket.socket):
        def connect(self, address: Any) -> None:
            tried.append(address)
            raise ConnectionRefusedError(errno.ECONNREFUSED, "watched")

        def connect_ex(self, address: Any) -> int:
            tried.append(address)
            return errno.ECONNREFUSED

    monkeypatch.setattr(socket, "socket", Watched)
    return tried


# Where it goes --------------------------------------------------------------------------------------------------------


def table(name: str) -> list[list[str]]:
    lines = (HOSTILE / name).read_text("ascii").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[json.loads(f'"{host}"', strict=False), *rest] for host, *rest in rows]


def objects(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HOSTILE / name).read_text("ascii").splitlines()]


hostile_hosts = pytest.mark.parametrize(
    "host", [pytest.param(row[0], id=ascii(row[0])) for row in table("ssrf-hosts.txt")]
)


@hostile_hosts
def test_a_hostile_host_is_never_connected_to(host, connects, failure, answering):
    failed = failure(GuardedClient(lookups=answering(HOME)), f"http://{host}/")
    assert failed.code in ("blocked", "bad-url", "port")
    assert connects == []


@hostile_hosts
def test_a_hostile_host_in_a_location_ends_the_run_without_a_connection(host, connects, deadline, answering):
    guarded = GuardedClient(lookups=answering(HOME))

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        if url.startswith("https://n2t.net/"):
            return HopResponse(302, "Found", (("Location", f"http://{host}/"),))
        return guarded(method, url, deadline)

    _, first, *_, end = trace("ark:12345/x", fetch=fetch)
    assert isinstance(first, Hop)
    assert isinstance(end, End)
    assert first.status == 302
    assert (end.outcome, end.code) in {("failure", code) for code in ("blocked", "bad-url", "port", "location-invalid")}
    assert connects == []


@hostile_hosts
def test_a_hostile_resolver_is_never_connected_to(host, connects, answering):
    with contextlib.suppress(ValueError):
        *_, end = trace("ark:12345/x", resolver=f"http://{host}", fetch=GuardedClient(lookups=answering(HOME)))
        assert isinstance(end, End)
        assert end.outcome == "failure"
    assert connects == []


def test_a_hostile_target_is_never_connected_to(connects, tmp_path, answering):
    guarded = GuardedClient(lookups=answering(HOME))
    bound = 0
    with open_bindings(tmp_path / "b.sqlite", create=True) as bindings:
        site = ResolverMiddleware(lambda environ, start_response: [], bindings, prefix="https://here.example.org")
        fetch = local_fetch({"https://here.example.org": site}, guarded, None)
        for number, (host, *_) in enumerate(table("ssrf-hosts.txt")):
            name = f"ark:12345/{number}"
            with contextlib.suppress(ValueError):
                bindings.bind(name, f"http://{host}/")
                bound += 1
            *_, end = trace(name, resolver="https://here.example.org", fetch=fetch)
            assert isinstance(end, End)
            assert end.outcome == "failure"
            assert end.code in ("error-status", "blocked", "bad-url", "port")
    assert bound > 20
    assert connects == []


def test_the_host_of_a_pasted_url_is_not_requested(connects):
    asked = []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        asked.append(url)
        return HopResponse(200, "OK", ())

    for host, *_ in table("ssrf-hosts.txt"):
        list(trace(f"http://{host}/ark:12345/x", fetch=fetch))
    assert set(asked) == {"https://n2t.net/ark:12345/x"}
    assert connects == []


def test_hostile_hosts_reach_no_listener_on_any_channel_of_the_page(listen, monkeypatch, does):
    server = listen(does.silent)
    # Every name is at loopback, and the port is allowed.
    monkeypatch.setattr(http_client.LOOKUPS, "_resolve", lambda host: ["127.0.0.1", "::1"])
    allowed = functools.partial(GuardedClient.to, ports=(80, 443, server.port))
    monkeypatch.setattr(trace_requests, "GuardedClient", SimpleNamespace(to=allowed))
    client = create_app().test_client()
    for host, *_ in table("ssrf-hosts.txt"):
        resolver = f"http://{host}:{server.port}"
        answer = client.get("/api/trace", query_string={"q": "ark:12345/x", "resolver": resolver})
        assert answer.status_code in (200, 400)
        if answer.status_code == 200:
            assert json.loads(answer.text.splitlines()[-1])["code"] in ("blocked", "bad-url", "port")
    assert server.connections == 0


@pytest.mark.one_setup
@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in objects("ssrf-urls.jsonl")])
def test_a_hostile_url_is_never_connected_to(row, connects, failure, answering):
    assert failure(GuardedClient(lookups=answering(HOME)), row["url"]).code in ("blocked", "bad-url", "port")
    assert connects == []


@pytest.mark.parametrize(
    ("host", "kind"), [pytest.param(*row[:2], id=ascii(row[0])) for row in table("ssrf-allowed.txt")]
)
def test_a_public_host_is_not_refused(host, kind, connects, failure):
    asked = []
    lookups = Lookups(lambda name: asked.append(name) or ["93.184.216.34"])
    assert failure(GuardedClient(lookups=lookups), f"http://{host}/").code == "connect"
    expected = "93.184.216.34" if kind == "name" else str(ip_address(host.strip("[]")))
    assert connects == [(expected, 80)]
    assert len(asked) == (kind == "name")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("host", "only"), [pytest.param(*row[:2], id=ascii(row[0])) for row in table("ssrf-either.txt")]
)
def test_two_correct_addresses_cause_no_other_requests(host, only, connects, failure, answering):
    failure(GuardedClient(lookups=answering(["93.184.216.34"])), f"http://{host}/")
    assert {address for address, _ in connects} <= {only, "8.8.8.8", "2.2.2.2", "93.184.216.34"}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in objects("ssrf-dns.jsonl")])
def test_only_checked_addresses_are_connected_to(row, connects, failure):
    answers, lookups = row["answers_in_order"], []

    def resolve(host: str) -> list[str]:
        lookups.append(host)
        return answers[len(lookups) - 1]

    # The hosts of the scripts are in .test, which has no public names. Another domain lets them reach the lookup.
    host = row["host"].replace(".test", ".example")
    failed = failure(GuardedClient(lookups=Lookups(resolve)), f"http://{host}/")
    assert len(lookups) <= 1
    expected = {"rebind": "connect", "empty": "no-address", "amplification": "connect", "invalid": "bad-url"}
    assert failed.code == expected.get(row["class"], "blocked")
    public = answers[0][:4] if failed.code == "connect" else []
    assert {address for address, _ in connects} <= set(public)
    assert bool(connects) is bool(public)


def test_a_lookup_uses_the_share_of_the_client(connects, failure):
    lookups = Lookups(lambda host: ["93.184.216.34"], per_client=0)
    assert failure(GuardedClient(lookups=lookups), "http://a.example/").code == "connect"
    assert failure(GuardedClient(lookups=lookups, client="192.0.2.1"), "http://a.example/").code == "busy"


def test_one_refused_address_refuses_the_host(connects, caplog, failure, answering):
    with caplog.at_level(logging.INFO):
        failed = failure(GuardedClient(lookups=answering(["93.184.216.34", "10.0.0.1"])), "http://a.example/")
    assert failed.code == "blocked"
    assert connects == []
    assert "10.0.0.1 is private use" in caplog.text


def test_all_refused_addresses_have_the_same_text(failure, answering):
    urls = ["http://127.0.0.1/", "http://[fd00::1]/", "http://localhost/", "http://db.internal/", "http://a.example/"]
    fetch = GuardedClient(lookups=answering(["169.254.169.254"]))
    assert {str(failure(fetch, url)) for url in urls} == {"the address is not allowed (blocked)"}


def test_a_private_name_is_not_looked_up(failure):
    def never(host: str) -> list[str]:
        raise AssertionError(host)

    for host in ("localhost", "db.internal", "printer.local", "intranet", "x.onion", "metadata.google.internal"):
        assert failure(GuardedClient(lookups=Lookups(never)), f"http://{host}/").code == "blocked"


@pytest.mark.one_setup
@pytest.mark.parametrize("port", [21, 22, 25, 81, 8080, 65535])
def test_other_ports_are_refused(port, connects, failure, answering):
    failed = failure(GuardedClient(lookups=answering(["93.184.216.34"])), f"http://a.example:{port}/")
    assert failed.code == "port"
    assert connects == []


def test_a_port_can_be_allowed_for_all_hosts(connects, failure, answering):
    fetch = GuardedClient(lookups=answering(["93.184.216.34"]), ports=(80, 443, 8080))
    assert failure(fetch, "http://a.example:8080/").code == "connect"
    assert connects == [("93.184.216.34", 8080)]


@pytest.mark.parametrize(
    ("url", "answer", "code"),
    [
        pytest.param("http://10.1.2.3:8080/", None, "connect", id="address-inside"),
        pytest.param("http://db.internal:5000/", "10.1.2.3", "connect", id="name-that-resolves-inside"),
        pytest.param("http://db.internal/", "93.184.216.34", "blocked", id="internal-name-that-resolves-outside"),
        pytest.param("http://a.example:8080/", "93.184.216.34", "port", id="public-address-on-another-port"),
        pytest.param("http://a.example/", "10.2.0.1", "blocked", id="private-address-beside-the-network"),
        pytest.param("http://a.example/", "93.184.216.34", "connect", id="public-address"),
    ],
)
def test_only_the_allowed_network_is_reachable(url, answer, code, connects, failure, answering):
    fetch = GuardedClient(networks=["10.1.0.0/16"], lookups=answering([answer]))
    assert failure(fetch, url).code == code
    assert bool(connects) is (code == "connect")


def test_a_host_with_one_address_outside_a_network_is_refused(connects, failure, answering):
    fetch = GuardedClient(networks=["10.1.0.0/16"], lookups=answering(["10.1.0.1", "93.184.216.34"]))
    assert failure(fetch, "http://db.internal/").code == "blocked"
    assert failure(fetch, "http://a.example:8080/").code == "port"
    assert connects == []


def test_nat64_is_refused_unless_the_network_uses_it(connects, failure, answering):
    lookups = answering(["64:ff9b::5db8:d822"])
    assert failure(GuardedClient(lookups=lookups), "http://a.example/").code == "blocked"
    assert failure(GuardedClient(lookups=lookups, nat64=True), "http://a.example/").code == "connect"
    inside = answering(["64:ff9b::7f00:1"])
    assert failure(GuardedClient(lookups=inside, nat64=True), "http://a.example/").code == "blocked"
    assert connects == [("64:ff9b::5db8:d822", 80)]


def test_a_few_addresses_of_a_host_are_tried(connects, failure, answering):
    many = [f"93.184.216.{n}" for n in range(1, 100)] + [f"2606:2800::{n:x}" for n in range(1, 100)]
    assert failure(GuardedClient(lookups=answering(many)), "http://a.example/").code == "connect"
    assert connects == [("93.184.216.1", 80), ("93.184.216.2", 80), ("2606:2800::1", 80), ("2606:2800::2", 80)]


def test_an_unresponsive_address_leaves_time_for_the_next(failure, answering, monkeypatch):
    tried = []
    clock = SimpleNamespace(now=time.monotonic(), monotonic=lambda: clock.now)
    monkeypatch.setattr("ararat.net.deadline.time", clock)

    def connect(address: Address, port: int, deadline: Deadline) -> socket.socket:
        tried.append(str(address))
        while address.version == 6:
            clock.now += deadline.poll_interval()
        raise ConnectionRefusedError

    fetch = GuardedClient(lookups=answering(["2606:2800::1", "93.184.216.1"]), connect=connect, connect_seconds=0.2)
    failed = failure(fetch, "http://a.example/")
    assert tried == ["2606:2800::1", "93.184.216.1"]
    assert failed.sentence == "the time limit of the connection was reached"


@pytest.mark.parametrize("networks", ["127.0.0.0", ["10.0.0.1/8"], ["all"]])
def test_an_invalid_network_raises_an_error_at_start(networks):
    with pytest.raises(ValueError, match="CIDR"):
        GuardedClient(networks=networks)


def test_admit_receives_the_checked_addresses_and_can_refuse(connects, failure, answering):
    heard = []

    def before_connect(host: str, addresses: Sequence[Address]) -> None:
        heard.append((host, [str(address) for address in addresses]))
        raise HopFailed("too-often")

    fetch = GuardedClient(
        lookups=answering(["93.184.216.34", "93.184.216.35"], ["10.0.0.1"]), before_connect=before_connect
    )
    assert failure(fetch, "http://a.example/").code == "too-often"
    # Blocked requests do not count.
    assert failure(fetch, "http://b.example/").code == "blocked"
    assert heard == [("a.example", ["93.184.216.34", "93.184.216.35"])]
    assert connects == []


def test_expensive_objects_are_created_before_the_first_request():
    # Otherwise the first hop of a trace includes the time to load certificates and tables.
    program = """
from ararat.identifiers.text import characters
from ararat.net.tls import tls_context
from ararat.net.http_client import GuardedClient

GuardedClient()
assert tls_context.cache_info().currsize == 1
assert characters._hidden.cache_info().currsize == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
