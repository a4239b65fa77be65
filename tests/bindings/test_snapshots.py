"""Snapshots of stores: a resolver answers from a snapshot as from its source."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.names.branding.model import check
from ararat.bindings.names.selection import select
from ararat.bindings.snapshots import write_snapshot
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import Bindings, ResolverMiddleware, open_bindings

PREFIX = "https://names.example"
TARGET = "https://example.org/1"
LONG = f"ark:12345/{'%F0%9F%98%80' * 100}"
NAMES: dict[str, dict[str, Any]] = {
    "ark:12345/x-1": {"target": f"{TARGET}?a=b#c", "redirect": 307, "passthrough": True},
    "ark:12345/X1": {"target": TARGET, "kind": "related"},
    "ark:12345/alternates": {"target": TARGET, "alternates": {"text/html": f"{TARGET}.html", "de": f"{TARGET}.de"}},
    "ark:12345/served": {"target": "/page", "kind": "served", "scope": "subtree"},
    "ark:12345/described": {"kind": "described", "metadata": {"erc.who": "Ana\u0308 \u202e", "dc.type": "Dataset"}},
    "ark:12345/lost": {"target": TARGET, "resource": "sha256:1"},
    "ark:12345/vase": {
        "target": TARGET,
        "resource": "A 1",
        "numbers": {"current": "A 10", "further": ["B 7"], "former": ["C 1", "C 2"]},
    },
    "urn:isbn:0-451-45052-3": {"target": TARGET, "metadata": {"dc.rights": "https://rights.example/1"}},
    LONG: {"target": TARGET},
}
REQUESTS = [
    *(f"/{name}{query}" for name in (*NAMES, "ark:12345/reserved") for query in ("", "?info", "?", "?format=json")),
    *("/ark:/12345/X-1", "/ark:12345/x1/below.pdf", "/ark:12345/lost/part", "/ark:12345/served/a,b", "/ark:12345/"),
    *("/ark:12345/x7unknown", "/ark:12345/x7", "/ark:12345/x7?info", "/ark:67890/x", "/urn:isbn:9780451450524?info"),
    *("/ark:12345/x9bcd", "/ark:12345/ALTERNATES", "/other", "/ark:12345/x1?info&format=jsonld", "/sitemap.xml"),
]


def fill(bindings: Bindings) -> None:
    for name, given in NAMES.items():
        bindings.bind(name, **given)
    bindings.withdraw("ark:12345/lost", reason="Burnt", successor="ark:12345/x1")
    bindings.reserve("ark:12345/reserved", TARGET)
    bindings.rules.set("ark:12345/x7", "https://rules.example/${suffix}")
    bindings.prefixes.set("ark:12345/", who="The Museum", statement="Names are kept.")
    bindings.prefixes.set("ark:12345/x9", who="The Archive", pattern="29^4+check")
    bindings.branding.set(check({"institution": "The Museum"}))


def answers(bindings: Bindings, **settings: Any) -> dict[tuple[str, str], Any]:
    """Return the complete answers to all requests, in several languages and formats."""

    def site(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [environ["PATH_INFO"].encode()]

    client = Client(ResolverMiddleware(site, bindings, prefix=PREFIX, sitemap="/sitemap.xml", **settings))
    found: dict[tuple[str, str], Any] = {}
    for path in REQUESTS:
        for accepted in ("text/html", "application/json", "*/*;q=0.1, application/ld+json"):
            answer = client.get(path, headers={"Accept": accepted, "Accept-Language": "de"})
            found[path, accepted] = answer.status_code, list(answer.headers), answer.get_data()
    return found


def test_a_resolver_answers_from_a_snapshot_as_from_its_source(bindings: Bindings, tmp_path: Path) -> None:
    fill(bindings)
    assert write_snapshot(bindings, tmp_path / "names.snapshot") == len(NAMES) + 1
    with open_bindings(tmp_path / "names.snapshot") as copy:
        answered = answers(bindings)
        assert {answer[0] for answer in answered.values()} >= {200, 302, 303, 307, 404, 410}
        assert answers(copy) == answered
        assert list(copy.list_names().names) == list(bindings.list_names().names)
        for number in ("A 1", "A 10", "B 7", "C 2", "sha256:1", "B"):
            found, expected = (list(each.list_names(select(resource=number)).names) for each in (copy, bindings))
            assert (found, len(found)) == (expected, 0 if number == "B" else 1)
        assert (copy.count(), copy.source.is_local, copy.kind) == (bindings.count(), True, "snapshot")


def test_a_snapshot_has_the_places_of_names_in_the_log(open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    assert isinstance(bindings.store, DatabaseStore)
    folder, key = LogFolder(tmp_path / "log"), tmp_path / "log.key"
    initialize(bindings.store, folder, key, "names.example/log")
    fill(bindings)
    publish(bindings.store, folder, key)
    write_snapshot(bindings, tmp_path / "names.snapshot")
    settings = {"log": "/log", "log_folder": str(tmp_path / "log")}
    with open_bindings(tmp_path / "names.snapshot") as copy:
        expected = answers(bindings, **settings)
        assert b"/ark:12345/x1?proof" in expected["/ark:12345/x-1?info", "text/html"][2]
        assert answers(copy, **settings) == expected
        assert copy.store.log_entries("ark:12345/lost") == bindings.store.log_entries("ark:12345/lost")


def test_a_table_file_has_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text(f"identifier,target,who\nark:12345/a,{TARGET},Ana\n")
    with open_bindings(tmp_path / "names.csv") as table:
        write_snapshot(table, tmp_path / "names.snapshot")
        with open_bindings(tmp_path / "names.snapshot") as copy:
            assert copy.lookup("ark:12345/a") == table.lookup("ark:12345/a")


def test_workers_notice_a_new_snapshot(open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    bindings.bind("ark:12345/a", TARGET)
    file = tmp_path / "names.snapshot"
    write_snapshot(bindings, file)
    with open_bindings(file) as copy:
        assert copy.store.fetch(["ark:12345/a"])["ark:12345/a"].is_live
        version = copy.store.rules_version()
        bindings.withdraw("ark:12345/a", reason="Lost")
        write_snapshot(bindings, file)
        time.sleep(0.02)
        assert copy.store.fetch(["ark:12345/a"])["ark:12345/a"].is_withdrawn
        assert copy.store.rules_version() != version


def test_a_failed_snapshot_leaves_the_old_file(
    open_store: Callable[..., Bindings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    bindings.bind("ark:12345/a", TARGET)
    file = tmp_path / "names.snapshot"
    write_snapshot(bindings, file)
    before = file.read_bytes()

    def interrupted(names: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ararat.bindings.snapshots._EVERY", 1)
    with pytest.raises(KeyboardInterrupt):
        write_snapshot(bindings, file, progress=interrupted)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(FileNotFoundError):
        write_snapshot(bindings, tmp_path / "nowhere" / "names.snapshot")
