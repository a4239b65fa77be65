"""The progress texts of a trace."""

from __future__ import annotations

import socket
import time

import pytest

from ararat.net.dns import Lookups
from ararat.net.hop import HopFailed, HopResponse
from ararat.net.http_client import GuardedClient
from ararat.tracing.progress import TraceProgress


def test_each_stage_is_reported_before_it_begins() -> None:
    reported: list[str] = []

    def resolve(host: str) -> list[str]:
        assert reported == ["Looking up example.org"]
        return ["127.0.0.1"]

    def report(text: str) -> None:
        reported.append(text)
        if text.startswith("Waiting"):
            # This resets the connection.
            listener.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        fetch = GuardedClient(networks=["127.0.0.0/8"], lookups=Lookups(resolve), report=report)
        with pytest.raises(HopFailed, match="dropped"):
            fetch("GET", f"http://example.org:{listener.getsockname()[1]}/", time.monotonic() + 20)
    assert reported[1:] == ["Connecting to example.org", "Waiting for example.org to answer"]


def test_the_text_is_of_this_site_until_the_client_reports_another_host() -> None:
    progress, seen = TraceProgress(), []

    def fetch(method: str, url: str, deadline: float) -> HopResponse:
        seen.append(progress.now)
        progress.report("Waiting for example.org to answer")
        seen.append(progress.now)
        raise HopFailed("timeout")

    with pytest.raises(HopFailed):
        progress.track(fetch)("GET", "https://example.org/x", 0.0)
    assert seen == ["Waiting for this site to answer", "Waiting for example.org to answer"]
    assert progress.now == ""
