"""What a trace says that it waits for."""

from __future__ import annotations

import socket
import time

import pytest

from ararat.webapp.tracing.client.dns import Lookups
from ararat.webapp.tracing.client.guard import GuardedClient
from ararat.webapp.tracing.hop import HopFailed, HopResponse
from ararat.webapp.tracing.progress import Progress


def test_each_stage_is_reported_before_it_starts() -> None:
    stages, said = Progress(), []

    def resolve(host: str) -> list[str]:
        said.append(stages.now)
        return ["127.0.0.1"]

    def connect(*arguments) -> socket.socket:
        try:
            return stages.connect(*arguments)
        finally:
            said.append(stages.now)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        fetch = stages.track_remote(
            GuardedClient(
                networks=["127.0.0.0/8"], lookups=stages.lookups(Lookups(resolve)), connect=connect, hop_seconds=0.5
            )
        )
        with pytest.raises(HopFailed, match="timeout"):
            fetch("GET", f"http://example.org:{port}/", time.monotonic() + 5)
    assert said == ["Looking up example.org", "Waiting for example.org to answer"]
    assert stages.now == ""


def test_a_remote_hop_reports_its_host() -> None:
    stages, said = Progress(), []

    def elsewhere(method: str, url: str, deadline: float) -> HopResponse:
        said.append(stages.now)
        return HopResponse(200, "OK", ())

    inner = stages.track_remote(elsewhere)
    fetch = stages.track_local(lambda *asked: (said.append(stages.now), inner(*asked))[1])
    fetch("GET", "https://Example.org/x", 0.0)
    assert said == ["Waiting for this site to answer", "Waiting for example.org to answer"]
