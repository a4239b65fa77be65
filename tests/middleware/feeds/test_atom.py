"""The Atom feed lists the changes of public names, the last one first, in pages that lose no change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from xml.etree import ElementTree

import pytest
from werkzeug.test import Client

from ararat.bindings.names.branding.model import Branding
from ararat.middleware import Bindings
from ararat.middleware.feeds import atom

from .conftest import PREFIX

PATH = "/changes.atom"
ATOM = {"a": "http://www.w3.org/2005/Atom"}
HOSTILE = "<b>&amp;\"' ]]> &#0; \u05d0\U0001f600 <?x?> <!-- end"


@pytest.fixture
def client(ticking: Bindings, feed_of: Callable[..., Client]) -> Client:
    return feed_of(ticking, atom=PATH)


def read(client: Client, address: str = f"{PREFIX}{PATH}") -> ElementTree.Element:
    answer = client.get(address.removeprefix(PREFIX))
    assert answer.status_code == 200
    assert answer.content_type == "application/atom+xml; charset=utf-8"
    return ElementTree.fromstring(answer.data)  # noqa: S314


def text(element: ElementTree.Element, path: str) -> str:
    found = element.findall(path, ATOM)
    assert len(found) == 1, path
    return found[0].text or ""


def links(element: ElementTree.Element) -> dict[str, str]:
    return {each.attrib["rel"]: each.attrib["href"] for each in element.findall("a:link", ATOM)}


def pages(client: Client) -> Iterator[ElementTree.Element]:
    address: str | None = f"{PREFIX}{PATH}"
    while address is not None:
        page = read(client, address)
        assert links(page)["self"] == address
        assert links(page)["first"] == f"{PREFIX}{PATH}"
        yield page
        address = links(page).get("next")


def entries(client: Client) -> list[ElementTree.Element]:
    return [entry for page in pages(client) for entry in page.findall("a:entry", ATOM)]


def terms(client: Client) -> list[tuple[str, str]]:
    return [(text(each, "a:id"), each.find("a:category", ATOM).attrib["term"]) for each in entries(client)]  # type: ignore[union-attr]


def change_names(bindings: Bindings) -> None:
    bindings.bind("ark:12345/new", "/1", metadata={"what": "Map"})
    bindings.bind("ark:12345/moved", "/1", resource="1")
    bindings.relocate("ark:12345/moved", "/2")
    bindings.bind("ark:12345/gone", "/1")
    bindings.withdraw("ark:12345/gone", reason="lost", successor="ark:12345/new")
    bindings.reserve("ark:12345/published")
    bindings.bind("ark:12345/published", "/1")
    bindings.bind("ark:12345/back", "/1")
    bindings.withdraw("ark:12345/back")
    bindings.restore("ark:12345/back")
    bindings.reserve("ark:12345/secret")


CHANGES = [
    ("ark:12345/back", "changed"),
    ("ark:12345/published", "new"),
    ("ark:12345/gone", "withdrawn"),
    ("ark:12345/moved", "changed"),
    ("ark:12345/new", "new"),
]


def test_feed_lists_new_changed_and_withdrawn_names(ticking, client):
    change_names(ticking)
    assert terms(client) == CHANGES


def test_feed_of_a_file_has_the_same_names(ticking, as_file, feed_of):
    change_names(ticking)
    file = feed_of(as_file(ticking), atom=PATH)
    assert [name for name, _ in terms(file)] == [name for name, _ in CHANGES]
    assert dict(terms(file))["ark:12345/gone"] == "withdrawn"


def test_feed_has_the_elements_that_rfc_4287_requires(ticking, client):
    change_names(ticking)
    feed = read(client)
    assert text(feed, "a:id") == f"{PREFIX}{PATH}"
    assert text(feed, "a:author/a:name") == "r.example"
    found = feed.findall("a:entry", ATOM)
    times = [text(each, "a:updated") for each in found]
    assert times == sorted(times, reverse=True)
    assert text(feed, "a:updated") == times[0]
    assert all(datetime.fromisoformat(time).tzinfo for time in times)
    gone, new = found[2], found[4]
    assert text(new, "a:title") == "Map"
    assert links(new) == {"alternate": f"{PREFIX}/ark:12345/new?info"}
    assert text(gone, "a:summary") == "The name is withdrawn. Reason: lost"
    assert links(gone)["successor-version"] == f"{PREFIX}/ark:12345/new"


def test_an_empty_feed_is_valid(client):
    feed = read(client)
    assert text(feed, "a:updated") == "1970-01-01T00:00:00Z"
    assert feed.findall("a:entry", ATOM) == []


def test_pages_lose_no_name_while_names_change(ticking, client, monkeypatch):
    monkeypatch.setattr(atom, "ENTRIES", 3)
    for number in range(10):
        ticking.bind(f"ark:12345/{number}", "/x", metadata={"what": "1"})
    reader = pages(client)
    seen = [text(each, "a:id") for each in next(reader).findall("a:entry", ATOM)]
    ticking.bind("ark:12345/5", "/x", metadata={"what": "2"})
    seen += [text(each, "a:id") for page in reader for each in page.findall("a:entry", ATOM)]
    # A reader of the first page gets the change.
    assert sorted([*seen, text(read(client), "a:entry[1]/a:id")]) == [f"ark:12345/{number}" for number in range(10)]
    assert len(list(pages(client))) == 4


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"what": "(:unav)", "dc.title": "Map"}, "Map"),
        ({"dcterms.title": "Map"}, "Map"),
        ({"what": "(:tba)"}, "ark:12345/x"),
        ({}, "ark:12345/x"),
    ],
)
def test_title_of_an_entry_is_that_of_the_other_formats(ticking, client, metadata, title):
    ticking.bind("ark:12345/x", "/1", metadata=metadata)
    assert text(read(client), "a:entry/a:title") == title


def test_values_are_escaped_and_invalid_characters_replaced(ticking, client):
    ticking.bind("ark:12345/x", "/1", metadata={"dc.title": HOSTILE})
    assert text(read(client), "a:entry/a:title") == HOSTILE
    with ticking.store.transaction() as transaction:
        events = "UPDATE bindings SET metadata = ?, revision = 2 WHERE key = 'ark:12345/x'"
        transaction.connection.exec_driver_sql(events, ('{"dc.title": "a\\u0000b\\ud800\\u001b<c>\\ufffe"}',))
    assert text(read(client), "a:entry/a:title") == "a\ufffdb\ufffd\ufffd<c>\ufffd"


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["after=x", "after=", "after=%00", "x=1", "after=WyJhIl0", "after=WyJhIiwxXQ"])
def test_an_unknown_page_is_refused(client, query):
    answer = client.get(f"{PATH}?{query}")
    assert answer.status_code == 404
    assert answer.text == f"This page of the feed does not exist. Begin at {PREFIX}{PATH}.\n"


def test_a_client_with_the_current_feed_gets_304(ticking, client):
    change_names(ticking)
    fields = {"If-None-Match": client.get(PATH).headers["ETag"]}
    assert client.get(PATH, headers=fields).status_code == 304
    ticking.bind("ark:12345/x", "/1")
    assert client.get(PATH, headers=fields).status_code == 200


def test_the_author_is_the_institution_or_else_the_host(ticking, client, feed_of):
    assert text(read(client), "a:author/a:name") == "r.example"
    branded = feed_of(ticking, atom=PATH, institution="A <library>")
    assert text(read(branded), "a:author/a:name") == "A <library>"


def test_the_recorded_institution_replaces_that_of_the_settings(ticking, feed_of):
    ticking.branding.set(Branding(institution="The recorded library"))
    client = feed_of(ticking, atom=PATH, institution="A library")
    assert text(read(client), "a:author/a:name") == "The recorded library"
