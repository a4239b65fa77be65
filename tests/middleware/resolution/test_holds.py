"""A name on hold is described and does not redirect, in each store and at each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from ararat.bindings import holding
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.snapshots import write_snapshot
from ararat.middleware import BindingSource, ResolverMiddleware

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
END = NOW + timedelta(days=30)
SECOND = timedelta(seconds=1)
HOST = "https://id.example"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


def site(environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]


def filled(store: Bindings) -> Bindings:
    """Bind names of each kind, and put some of them on hold."""
    store.bind("ark:12345/free", "https://example.org/free")
    store.bind("ark:12345/x1", "https://example.org/1", metadata={"what": "A map"})
    store.bind("ark:12345/x1/p1", "https://example.org/p1")
    store.bind("ark:12345/open", "https://example.org/open", passthrough=True)
    store.bind("ark:12345/page", "/page", kind="served", scope="subtree")
    store.bind("ark:12345/about", "https://example.org/about", kind="related")
    store.bind("ark:12345/many", "https://example.org/m", alternates={"en": "https://example.org/en"})
    store.bind("ark:12345/note", kind="described", metadata={"what": "A note"})
    store.bind("ark:12345/gone", "https://example.org/gone")
    store.reserve("ark:12345/later", "https://example.org/later")
    store.bind("ark:12345/z9a", "https://example.org/z9a")
    store.bind("urn:nbn:de:101:1-2020", "https://example.org/urn")
    store.rules.set("ark:12345/r", "https://example.org/r?id=${suffix}")
    for name in ("x1", "open", "page", "about", "many", "note", "gone", "later"):
        holding.hold(store, f"ark:12345/{name}", END, "a court order")
    holding.hold(store, "urn:nbn:de:101:1-2020", END, "a court order")
    holding.hold(store, "ark:12345/r", END, "the rule is checked")
    holding.hold(store, "ark:12345/z9", END, "all of z9")
    store.withdraw("ark:12345/gone", reason="sold")
    return store


@pytest.fixture(params=["sqlite", "postgresql", "csv", "jsonl", "snapshot"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, open_store: Callable[..., Bindings], clock: Clock
) -> Iterator[Bindings]:
    """A store with held names: a database, a table file that was exported from one, and a snapshot of one."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = cluster.new_schema()
        yield filled(open_store(url, clock=clock))
        cluster.recycle(url)
        return
    database = filled(open_store(tmp_path / "bindings.sqlite", clock=clock))
    if request.param == "sqlite":
        yield database
    elif request.param == "snapshot":
        write_snapshot(database, tmp_path / "names.snapshot")
        yield open_store(tmp_path / "names.snapshot", clock=clock, create=False)
    else:
        file = tmp_path / f"names.{request.param}"
        with file.open("wb") as stream:
            export_table(database, stream, format=request.param)
        yield open_store(file, clock=clock, create=False)


HELD = {
    "name": ("/ark:12345/x1", 302, "ark:12345/x1?info"),
    "another spelling": ("/ark:/12345/x-1", 302, "ark:12345/x1?info"),
    "bound component": ("/ark:12345/x1/p1", 302, "ark:12345/x1/p1?info"),
    "passthrough": ("/ark:12345/open/a/b", 302, "ark:12345/open/a/b?info"),
    "variant with passthrough": ("/ark:12345/open.pdf", 302, "ark:12345/open.pdf?info"),
    "served": ("/ark:12345/page", 200, "ark:12345/page?info"),
    "served subtree": ("/ark:12345/page/a", 200, "ark:12345/page?info"),
    "text below a served subtree": ("/ark:12345/page/1,2", 200, "ark:12345/page?info"),
    "related": ("/ark:12345/about", 303, "ark:12345/about?info"),
    "several targets": ("/ark:12345/many", 302, "ark:12345/many?info"),
    "described": ("/ark:12345/note", 303, "ark:12345/note?info"),
    "URN": ("/urn:nbn:de:101:1-2020", 302, "urn:nbn:de:101:1-2020?info"),
    "rule below a held prefix": ("/ark:12345/r7", 302, "ark:12345/r7?info"),
    "name below a held prefix": ("/ark:12345/z9a", 302, "ark:12345/z9a?info"),
}


def test_a_hold_stops_the_redirects_until_its_end_in_each_store(store: Bindings, clock: Clock) -> None:
    client = Client(ResolverMiddleware(site, store, prefix=HOST))
    for time, is_held in ((NOW, True), (END - SECOND, True), (END, False)):
        clock.time = time
        for case, (path, status, info) in HELD.items():
            answer = client.get(path, headers={"Accept-Language": "de"})
            assert answer.status_code == (303 if is_held else status), (case, time)
            if is_held:
                assert answer.headers["Location"] == f"{HOST}/{info}", case
        # What a hold does not change.
        assert client.get("/ark:12345/free").headers["Location"] == "https://example.org/free"
        assert client.get("/ark:12345/x1?info").status_code == 200
        assert client.get("/ark:12345/gone").status_code == 410
        assert client.get("/ark:12345/later").status_code == client.get("/ark:12345/z9other").status_code == 404


def test_no_cache_keeps_an_answer_longer_than_the_hold_or_300_seconds(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = filled(open_store(tmp_path / "bindings.sqlite", clock=clock))
    client = Client(ResolverMiddleware(site, store, prefix=HOST, cache=3600))
    for time, seconds in ((NOW, 300), (END - timedelta(seconds=20.5), 20)):
        clock.time = time
        for path in ("/ark:12345/x1", "/ark:12345/x1?info", "/ark:12345/z9a", "/ark:12345/z9"):
            assert client.get(path).headers["Cache-Control"] == f"max-age={seconds}", path
    clock.time = END
    assert client.get("/ark:12345/x1").headers["Cache-Control"] == "max-age=3600, stale-if-error=86400"


def test_a_redirect_in_memory_ends_with_a_hold_of_the_name_a_container_or_a_prefix(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "bindings.sqlite"
    store = open_store(path, clock=clock)
    other = open_store(path, clock=clock)  # another process
    store.bind("ark:12345/x1", "https://example.org/1")
    store.bind("ark:12345/x1/p1", "https://example.org/p1")
    client = Client(ResolverMiddleware(site, store, prefix=HOST))

    def statuses() -> list[int]:
        store._rule_cache.invalidate()
        store.source.own_changes += 1
        return [client.get(f"/ark:12345/{name}").status_code for name in ("x1", "x1/p1")]

    assert statuses() == statuses() == [302, 302]
    for held in ("ark:12345/x1", "ark:12345/x", "ark:12345/"):
        holding.hold(other, held, END, "why")
        assert statuses() == [303, 303], held
        holding.release(other, held)
        assert statuses() == [302, 302], held


@pytest.mark.parametrize("ahead", [timedelta(days=365), timedelta(minutes=10)], ids=["a year", "10 minutes"])
def test_a_clock_that_is_corrected_ends_no_hold_before_its_time(
    ahead: timedelta, open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    names = ["ark:12345/x9c", "ark:12345/x9c/p1", "ark:12345/x9c.v1", "ark:12345/z9"]
    for name in names:
        store.bind(name, f"https://example.org/{name[-2:]}")
    until = NOW + min(ahead, timedelta(days=30)) - timedelta(minutes=1)
    holding.hold(store, names[0], until, "A court decides.")
    holding.hold(store, "ark:12345/z", until, "A court decides.", kind="prefix")
    clock.time = NOW + ahead
    client = Client(ResolverMiddleware(site, store, prefix=HOST))
    assert [client.get(f"/{name}").status_code for name in names] == [302] * 4
    clock.time = NOW
    assert [client.get(f"/{name}").status_code for name in names] == [303] * 4
    clock.time = NOW + ahead
    assert [client.get(f"/{name}").status_code for name in names] == [302] * 4


def test_the_narrowest_hold_is_shown(open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    for name in ("ark:12345/x1", "ark:12345/x1/p1", "ark:12345/x1/p2", "ark:12345/x2"):
        store.bind(name, "https://example.org/")
    holding.hold(store, "ark:12345/", END, "naan")
    holding.hold(store, "ark:12345/x1", END, "name")
    holding.hold(store, "ark:12345/x1/p1", NOW + SECOND, "component")
    client = Client(ResolverMiddleware(site, store, prefix=HOST))

    def reason_of(name: str) -> str:
        document = client.get(f"/ark:12345/{name}?info&format=json").json
        assert document is not None
        return document["hold"]["reason"]

    wanted = {"x1": "name", "x1/p1": "component", "x1/p2": "name", "x2": "naan"}
    for name, reason in wanted.items():
        assert reason_of(name) == reason, name
    clock.time = NOW + SECOND
    assert reason_of("x1/p1") == "name"


def test_a_forwarded_name_below_a_held_prefix_leads_to_the_page_of_the_prefix(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.prefixes.set("ark:12148/", who="A library")
    client = Client(ResolverMiddleware(site, store, prefix=HOST, naans=["12345"], forward=True))
    assert client.get("/ark:/12148/btv1b8449691v").status_code == 302
    holding.hold(store, "ark:12148/", END, "why")
    for path in ("/ark:/12148/btv1b8449691v", "/ark:/12148/a,b"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{HOST}/ark:12148/?info"), path
    assert client.get("/ark:12148/?info").status_code == 200


def test_a_hold_covers_the_parts_that_the_site_or_passthrough_answers_for(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.bind("ark:12345/x", "/site", kind="served", scope="subtree")
    store.bind("ark:12345/i", "https://example.org/iiif/i", passthrough="given")
    client = Client(ResolverMiddleware(site, store, prefix=HOST))
    parts = {"x/y1/ab": "x/y1/ab", "x/y-1/ab": "x/y1/ab", "x/y1/a:b": "x/y1", "x/%79%31/a/0,1": "x/y1/a"}
    parts |= {"i/y1/ab": "i/y1/ab", "i/y1/a:b": "i/y1", "i/y-1/0,1": "i/y1"}
    for name in ("x", "i"):
        store.bind(f"ark:12345/{name}/y1", "https://example.org/part")
    assert {client.get(f"/ark:12345/{part}").status_code for part in parts} == {200, 302}
    for name in ("x", "i"):
        holding.hold(store, f"ark:12345/{name}/y1", END, "why")
    for part, described in parts.items():
        answer = client.get(f"/ark:12345/{part}")
        assert (answer.status_code, answer.headers.get("Location")) == (303, f"{HOST}/ark:12345/{described}?info"), part
        document = client.get(f"/ark:12345/{described}?info&format=json").json
        assert document is not None, part
        assert document["hold"]["name"] == f"ark:12345/{part[0]}/y1", part
    # What is beside the held part has its answer.
    assert client.get("/ark:12345/x/y2/a:b").status_code == 200
    assert client.get("/ark:12345/i/y2/0,1").status_code == 302


def test_a_hold_of_a_reserved_name_is_not_public(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.rules.set("ark:12345/x5", "https://example.org/${value}")
    store.prefixes.set("ark:12345/d", state="delegated", resolver="https://lower.example")
    store.bind("ark:12345/x5s/p1", "https://example.org/p1")
    for name, embargo in (("x5r", None), ("x5s", NOW + timedelta(seconds=60)), ("d5r", None)):
        store.reserve(f"ark:12345/{name}", "https://example.org/r", embargo=embargo)
        holding.hold(store, f"ark:12345/{name}", END, "secret")
    client = Client(ResolverMiddleware(site, store, prefix=HOST, cache=300))
    for path in ("d5r", "d5r/p1", "x5r/p1", "x5s/p1"):
        answer = client.get(f"/ark:12345/{path}")
        assert answer.status_code == 302, path
        assert "secret" not in client.get(f"/ark:12345/{path}?info&format=json").text, path
    assert client.get("/ark:12345/d5r").headers["Location"] == "https://lower.example/ark:12345/d5r"
    # From its embargo on, the name is public with its hold. No cache has the redirect of its part for longer.
    assert client.get("/ark:12345/x5s/p1").headers["Cache-Control"].partition(",")[0] == "max-age=60"
    clock.time = NOW + timedelta(seconds=60)
    assert [client.get(f"/ark:12345/{path}").status_code for path in ("x5s", "x5s/p1", "x5r/p1")] == [303, 303, 302]


def test_a_hold_includes_each_spelling_of_a_forwarded_text_that_is_no_ark(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.prefixes.set("ark:61903/1", who="An archive")
    client = Client(ResolverMiddleware(site, store, prefix=HOST, naans=["12345"], forward=True))
    paths = (
        "/ark:/61903/1:1:MW98",
        "/ark:/6-1903/1:1:MW98",
        "/ARK:61903/-1:1",
        "/ark:/61903/%31:1",
        "/ark:61903/1%2D:1",
    )
    assert {client.get(path).status_code for path in paths} == {302}
    holding.hold(store, "ark:61903/1", END, "why", kind="prefix")
    for path in paths:
        assert client.get(path).headers["Location"] == f"{HOST}/ark:61903/1?info", path
    assert client.get("/ark:/61903/2:1:MW98").status_code == 302


def test_a_hold_below_a_delegated_prefix_stops_its_redirects(
    open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.prefixes.set("ark:12345/x5", state="delegated", resolver="https://lower.example")
    store.bind("ark:12345/x5b1", "https://example.org/1")
    client = Client(ResolverMiddleware(site, store, prefix=HOST))
    holding.hold(store, "ark:12345/x5b", END, "why")
    for name in ("x5b1", "x5b2"):
        assert client.get(f"/ark:12345/{name}").status_code == 303, name
    assert client.get("/ark:12345/x5b2").headers["Location"] == f"{HOST}/ark:12345/x5b?info"
    assert client.get("/ark:12345/x5b?info").status_code == 200
    clock.time = END
    assert client.get("/ark:12345/x5b2").headers["Location"] == "https://lower.example/ark:12345/x5b2"


REASON = 'A <script>alert(1)</script> "court" \u202e order & more'


def described(store: Bindings, path: str, **fields: str) -> TestResponse:
    return Client(ResolverMiddleware(site, store, prefix=HOST)).get(path, headers=fields)


@pytest.mark.parametrize("path", ["ark:12345/x1", "ark:12345/x"], ids=["name", "prefix"])
def test_a_hostile_reason_is_text_in_each_format(
    path: str, open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.bind("ark:12345/x1", "https://secret.example/1", metadata={"who": "Noah", "what": "A map", "when": "1912"})
    holding.hold(store, path, END, REASON)
    page = described(store, f"/{path}?info", Accept="text/html").get_data(as_text=True)
    assert "<script>" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert "2026-12-26 12:00 UTC" in page
    assert "secret.example" not in page
    for form in ("erc", "json", "jsonld", "csl"):
        answer = described(store, f"/{path}?info&format={form}")
        text = answer.get_data(as_text=True)
        assert answer.status_code == 200, form
        assert "secret.example" not in text, form
        assert "court" in text, form
        assert "\u202e" not in text, form
    assert "hold_until: 2026-12-26T12:00:00.000000Z" in described(store, f"/{path}?info", Accept="text/plain").text


@pytest.mark.parametrize("language", ["de", "ar", "ja"])
def test_the_page_states_the_end_and_the_reason_in_the_language_of_the_visitor(
    language: str, open_store: Callable[..., Bindings], tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path / "bindings.sqlite", clock=clock)
    store.bind("ark:12345/x1", "https://example.org/1")
    holding.hold(store, "ark:12345/x1", END, "ein Grund")
    page = described(store, "/ark:12345/x1?info", **{"Accept": "text/html", "Accept-Language": language}).text
    assert "The link to this item" not in page
    assert "The identifier stays" not in page
    assert "ein Grund" in page
    assert 'datetime="2026-12-26T12:00:00Z"' in page


def test_a_source_of_a_site_with_its_own_bindings_can_hold_them(
    open_store: Callable[..., Bindings], tmp_path: Path
) -> None:
    store = open_store(tmp_path / "bindings.sqlite")
    store.bind("ark:12345/x1", "https://example.org/1")
    holding.hold(store, "ark:12345/x1", store.now() + timedelta(days=3), "why")

    class Own(BindingSource):
        def fetch(self, keys: Any) -> Any:
            return store.store.fetch(keys)

    assert Client(ResolverMiddleware(site, Own(), prefix=HOST)).get("/ark:12345/x1").status_code == 303
