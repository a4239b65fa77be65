"""Sitemaps list each live name once, in files of at most 50,000 names, and no reserved name."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from ararat.bindings.storage import name_ranges
from ararat.bindings.storage.name_ranges import behind, between
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import Bindings, import_table
from ararat.middleware.feeds import sitemaps
from ararat.middleware.feeds.feed import FeedSource
from ararat.webapp.sitemaps import LOC, addresses

from .conftest import PREFIX

PATH = "/sitemap-names.xml"
NAMESPACE = {"s": LOC.split()[0]}
NAMES = [f"ark:12345/x{number}" for number in (*range(12), 5_000, "7=a", "9*c")]


@pytest.fixture
def client(bindings: Bindings, feed_of: Callable[..., Client]) -> Client:
    return feed_of(bindings, sitemap=PATH)


def fill(bindings: Bindings) -> None:
    for name in NAMES:
        bindings.bind(name, "https://example.org/")
    bindings.bind("urn:isbn:9780451450524", kind="described")
    bindings.reserve("ark:12345/x3reserved")
    bindings.withdraw("ark:12345/x4", reason="lost")


def files_of(client: Client) -> list[str]:
    answer = client.get(PATH)
    assert answer.status_code == 200
    assert answer.content_type == "application/xml; charset=utf-8"
    return addresses(answer.text, most=1000)


def names_in(client: Client, file: str) -> list[str]:
    assert file.startswith(f"{PREFIX}{PATH}?from=")
    found = addresses(client.get(file.removeprefix(PREFIX)).text, most=1000)
    return [each.removeprefix(f"{PREFIX}/") for each in found]


def all_names(client: Client) -> list[list[str]]:
    return [names_in(client, file) for file in files_of(client)]


LIVE = sorted({*NAMES, "urn:isbn:9780451450524"} - {"ark:12345/x4"})


@pytest.mark.parametrize("keys", [1, 3, 10_000])
def test_files_together_list_each_live_name_once(bindings, client, monkeypatch, keys):
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 4)
    monkeypatch.setattr(sitemaps, "NAMES_AT_ONCE", 3)
    monkeypatch.setattr(name_ranges, "KEYS_AT_ONCE", keys)
    fill(bindings)
    files = all_names(client)
    assert [name for file in files for name in file] == LIVE
    assert max(map(len, files)) <= 4
    assert len(files) > 3


def test_sitemap_of_a_file_of_text_equals_that_of_a_database(ticking, as_file, feed_of, monkeypatch):
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 4)
    fill(ticking)
    table = as_file(ticking)
    expected, found = feed_of(ticking, sitemap=PATH), feed_of(table, sitemap=PATH)
    assert files_of(found) == files_of(expected)
    assert all_names(found) == all_names(expected)


def test_no_address_contains_more_of_a_reserved_name_than_public_names_do(bindings, client, monkeypatch):
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 4)
    for number in range(40):
        bindings.reserve(f"ark:12345/q{number:02}secret")
    for number in range(0, 40, 9):
        bindings.bind(f"ark:12345/q{number:02}public", "/p")
    text = "".join(client.get(file.removeprefix(PREFIX)).text + file for file in files_of(client))
    assert "secret" not in text
    public = [f"ark:12345/q{number:02}public" for number in range(0, 40, 9)]
    assert [name for file in all_names(client) for name in file] == public


def test_a_new_name_moves_few_bounds(ticking, feed_of, monkeypatch):
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 50)
    monkeypatch.setattr(sitemaps, "REFRESH_SECONDS", 0)
    table = "".join(("identifier,target\n", *(f"ark:12345/{number:04},/x\n" for number in range(0, 4000, 4))))
    import_table(ticking, BytesIO(table.encode()))
    client = feed_of(ticking, sitemap=PATH)
    before = files_of(client)
    for number in (1, 2, 3, 1001, 1002):
        ticking.bind(f"ark:12345/{number:04}", "/x")
    assert len({*before} ^ {*files_of(client)}) <= 12
    assert len(before) >= 20


def test_resolver_lists_only_names_that_it_answers_for(bindings, feed_of):
    fill(bindings)
    bindings.bind("ark:67890/other", "/x")
    assert all_names(feed_of(bindings, sitemap=PATH, naans=["67890"])) == [["ark:67890/other"], LIVE[-1:]]
    assert all_names(feed_of(bindings, sitemap=PATH, schemes=["urn"])) == [LIVE[-1:]]
    elsewhere = feed_of(bindings, sitemap=PATH, naans=["67890"], schemes=["ark"])
    assert elsewhere.get(f"{PATH}?from=ark:12345/").status_code == 404


@pytest.mark.parametrize("sampled", [1, 3])
def test_the_ranges_of_a_large_database_begin_at_public_names_of_its_sample(
    bindings: Bindings, feed_of: Callable[..., Client], monkeypatch: pytest.MonkeyPatch, sampled: int
) -> None:
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 7)
    monkeypatch.setattr(sitemaps, "_MAX_SAMPLED", sampled)
    monkeypatch.setattr(sitemaps, "SAMPLED", 1)
    live = [f"ark:12345/x{number}" for number in range(10, 40)]
    for name in live:
        bindings.bind(name, "/1")
        bindings.reserve(f"{name}reserved")
    store = bindings.store
    assert isinstance(store, DatabaseStore)
    with store.transaction() as transaction:
        # Each name of three is in the sample.
        for key in sorted(each.identifier for each in bindings.list_names(limit=100).names)[::3]:
            add = f"INSERT INTO name_counts VALUES ('sample', '{key}', 0, 1) ON CONFLICT DO NOTHING"  # noqa: S608  ours
            transaction.connection.exec_driver_sql(add)
    client = feed_of(bindings, sitemap=PATH)
    files = all_names(client)
    assert [name for file in files for name in file] == live
    assert 4 < len(files) <= len(live) + 2
    assert max(map(len, files)) <= 7
    assert "reserved" not in client.get(PATH).text


def test_lastmod_is_the_time_of_the_last_change(ticking, feed_of):
    ticking.bind("ark:12345/a", "/1")
    ticking.bind("ark:12345/a", "/1", metadata={"what": "Map"})
    root = ElementTree.fromstring(feed_of(ticking, sitemap=PATH).get(f"{PATH}?from=").data)  # noqa: S314
    assert [each.text for each in root.findall("s:url/s:lastmod", NAMESPACE)] == ["2026-01-31T13:30:15Z"]


def test_a_long_name_that_an_address_cannot_contain_is_omitted(bindings, client):
    long, longer = (f"ark:12345/{'%F0%9F%98%80' * number}" for number in (100, 200))
    for name in (long, longer, "ark:12345/c"):
        bindings.bind(name, "/x")
    assert all_names(client) == [[long, "ark:12345/c"]]
    assert len(longer) > 2047


def test_a_client_with_the_current_file_gets_304_until_a_name_changes(bindings, client):
    fill(bindings)
    tag = client.get(f"{PATH}?from=").headers["ETag"]
    fields = {"If-None-Match": tag}
    unchanged = client.get(f"{PATH}?from=", headers=fields)
    assert (unchanged.status_code, unchanged.data, unchanged.headers["ETag"]) == (304, b"", tag)
    assert client.get(PATH, headers={"If-None-Match": client.get(PATH).headers["ETag"]}).status_code == 304
    bindings.reserve("ark:12345/secret")
    assert client.get(f"{PATH}?from=", headers=fields).status_code == 304
    bindings.withdraw("ark:12345/x1", reason="lost")
    changed = client.get(f"{PATH}?from=", headers=fields)
    assert changed.status_code == 200
    assert "/x1<" not in changed.text


HOSTILE = [
    *("from=a&from=b", "x=1", "from=ark%00", "from=%F0", "from=%80", "from=%7F", "utm_source=x", "&"),
    *(f"from={'a' * 1101}", "&".join(["from=a"] * 2000)),
]


def test_an_unknown_file_is_refused(bindings, client):
    for query in HOSTILE:
        answer = client.get(f"{PATH}?{query}")
        assert answer.status_code == 404, query
        advice = f"Open a file that {PREFIX}{PATH} lists."
        assert answer.text == f"This file of the sitemap does not exist. {advice}\n"


def test_index_is_read_again_after_ten_minutes(ticking):
    now = [0.0]
    sitemap = sitemaps.Sitemap(FeedSource(ticking, PREFIX, ("",)), PATH, 300, lambda: now[0])
    assert sitemap._all() == [""]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sitemaps, "MAX_NAMES", 1)
        for number in range(3):
            ticking.bind(f"ark:12345/{number}", "/x")
        assert sitemap._all() == [""]
        now[0] = sitemaps.REFRESH_SECONDS
        assert sitemap._all() == ["", "ark:12345/1", "ark:12345/2"]


def test_head_has_no_body_and_the_same_fields(bindings, client):
    fill(bindings)
    for path in (PATH, f"{PATH}?from="):
        head, answer = client.head(path), client.get(path)
        assert head.data == b""
        assert dict(head.headers) == dict(answer.headers)


def test_bounds_and_names_are_read_from_the_index_of_the_keys(bindings: Bindings):
    store = bindings.store
    assert isinstance(store, DatabaseStore)
    bindings.reserve("ark:12345/1")
    ranges, is_sqlite = store.ranges(), bindings.location.startswith("sqlite")
    statements: list[tuple[str, tuple[Any, ...]]] = [
        (ranges.nth_sql, ("ark:", "ark:\x7f", 100)),
        (ranges.last_sql, ("ark:12345/1", "ark:12345/2")),
        (ranges.first_sql, ("ark:12345/1", "ark:12345/2")),
        (ranges.live_sql, ("ark:12345/1", "ark:12345/2", 10)),
        (ranges.state_sql, ("ark:12345/1", "ark:12345/2")),
    ]
    with store.transaction() as transaction:
        transaction.connection.exec_driver_sql("ANALYZE bindings")
        if not is_sqlite:
            transaction.connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        for statement, parameters in statements:
            explain = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
            plan = str(transaction.connection.exec_driver_sql(f"{explain} {statement}", parameters).all())
            assert "INDEX" in plan.upper()
            assert "TEMP B-TREE" not in plan
            assert "Sort" not in plan


def test_a_statement_reads_a_limited_number_of_keys(bindings: Bindings, feed_of, monkeypatch):
    # Most names are reserved, so a statement that looks for other names would read many keys.
    keys = sorted(f"ark:12345/{number:02}" for number in range(60))
    live = "ark:12345/00", "ark:12345/01", "ark:12345/55"
    rows = (f"{key},{'/x,live' if key in live else ',reserved'}\n" for key in keys)
    import_table(bindings, BytesIO("".join(("identifier,target,status\n", *rows)).encode()))
    monkeypatch.setattr(name_ranges, "KEYS_AT_ONCE", 10)
    monkeypatch.setattr(sitemaps, "MAX_NAMES", 25)
    ranges, sizes = bindings.store.ranges(), []
    assert isinstance(ranges, name_ranges.DatabaseRanges)
    read = ranges._read

    def counted(statement, parameters):
        within = [key for key in keys if parameters[0] <= key < parameters[1]]
        sizes.append(parameters[2] if statement == ranges.nth_sql else len(within))
        return read(statement, parameters)

    monkeypatch.setattr(ranges, "_read", counted)
    monkeypatch.setattr(bindings.store, "ranges", lambda: ranges)
    client = feed_of(bindings, sitemap=PATH)
    assert all_names(client) == [["ark:12345/00", "ark:12345/01"], ["ark:12345/55"]]
    assert max(sizes) == 10


@given(st.lists(st.text("!/0129=~", max_size=4), min_size=2, max_size=2, unique=True))
def test_a_bound_is_between_two_keys(keys):
    low, high = sorted(f"ark:{key}" for key in keys)
    assert low < between(low, high) <= high
    assert between(low, low) == low < behind(low) < f"{low}!"


def test_addresses_are_below_the_prefix(bindings, client):
    fill(bindings)
    for file in files_of(client):
        assert urlsplit(file).path == PATH
