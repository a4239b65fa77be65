"""Jobs of each kind that their server ended are continued by the API, and say what they wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from ararat.bindings.collection import Bindings
from ararat.webapp.jobs.imports import Imports
from tests.webapp.api.conftest import Client

TABLE = b"identifier,target\nark:12345/x51,https://example.org/1\nark:12345/x52,https://example.org/2\n"
LIST = {"operation": {"action": "edit", "fields": {"metadata": {"erc.who": "me"}}}, "names": ["ark:12345/x5a"]}
KINDS: dict[str, Callable[[Client], Any]] = {
    "import": lambda client: client("POST", "/imports", TABLE, Content_Type="text/csv"),
    "table": lambda client: client(
        "POST",
        "/imports?mint=ark:12345/x5&key=Key&columns=Link%3Dtarget",
        b"Key,Link\nK1,https://e.org/1\n",
        Content_Type="text/csv",
    ),
    "dry run": lambda client: client("POST", "/imports?dry_run=1", TABLE, Content_Type="text/csv"),
    "check": lambda client: client("POST", "/changes", LIST),
    "export": lambda client: client("POST", "/exports", {"format": "csv"}),
}


@pytest.fixture
def imports(app: Flask, bindings: Bindings) -> Imports:
    bindings.bind("ark:12345/x5a", "https://example.org/a")
    return app.extensions["ararat_imports"]


def ended(client: Client, path: str) -> Any:
    deadline = time.monotonic() + 20
    while (job := client.ok("GET", path))["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return job


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_of_each_kind_is_continued(
    kind: str, imports: Imports, curator: Client, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(imports.worker, "wake", lambda: None)
        path = KINDS[kind](curator).headers["Location"].removeprefix("/api/v1")
        claim = imports.jobs.claim()
        assert claim
        imports.jobs.fail(claim, "attempts", "its process ended")
        stopped = curator.ok("GET", path)
        assert (stopped["state"], stopped["problem"]["code"]) == ("failed", "attempts")
        assert "data" not in stopped
    assert reader("POST", f"{path}/resume").status_code == 404
    assert curator.ok("POST", f"{path}/resume")["state"] != "failed"
    job = ended(curator, path)
    assert (job["state"], job["problem"]) == ("done", None)
    if kind == "import":
        assert job["result"]["counts"] == {"added": 2}
    if kind == "check":
        assert job["result"]["counts"] == {"updated": 1}
    # A job that is done is returned as it is.
    assert curator.ok("POST", f"{path}/resume")["state"] == "done"


def test_a_job_says_what_it_waits_for_until_it_continues(
    imports: Imports, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    path = KINDS["import"](curator).headers["Location"].removeprefix("/api/v1")
    assert curator.ok("GET", path)["waits"] is None
    claim = imports.jobs.claim()
    assert claim
    # The database is full: nothing can be written about it.
    imports.worker._waits[claim.job.number] = "database-full"
    waits = curator.ok("GET", path)["waits"]
    assert (waits["code"], "Free space" in waits["detail"]) == ("database-full", True)
    imports.worker._waits.clear()
    imports.jobs.release(claim, "database-locked")
    assert curator.ok("GET", path)["waits"]["code"] == "database-locked"
    claim = imports.jobs.claim()
    assert claim
    assert curator.ok("GET", path)["waits"] is None
    # Another process carries out the job, and has reported nothing for half of its lease.
    monkeypatch.setattr(imports.jobs, "lease", -1.0)
    assert curator.ok("GET", path)["waits"]["code"] == "unavailable"


def test_the_limit_of_exports_holds_for_continued_ones(
    imports: Imports, curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    path = KINDS["export"](curator).headers["Location"].removeprefix("/api/v1")
    claim = imports.jobs.claim()
    assert claim
    imports.jobs.fail(claim, "attempts", "its process ended")
    for _ in range(2):
        KINDS["export"](curator)
    refused = curator("POST", f"{path}/resume")
    assert (refused.status_code, "Retry-After" in refused.headers) == (429, True)
