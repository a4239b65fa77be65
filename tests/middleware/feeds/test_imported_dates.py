"""Imported dates are facts of the names: incremental readers see a name when this store has recorded it."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from werkzeug.test import Client

from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.selection import Selection
from ararat.middleware import Bindings, import_table

SINCE = datetime(2020, 1, 1, tzinfo=UTC)
OLD = "ark:12345/i2"
ROWS = (
    f"{OLD},https://example.org/2,live,2015-01-01T00:00:00Z,2015-06-01T00:00:00Z\n"
    "ark:12345/i3,https://example.org/3,withdrawn,1899-12-30T00:00:00Z,1969-12-31T00:00:00Z\n"
)


@pytest.fixture
def migrated(bindings: Bindings) -> Bindings:
    bindings.bind("ark:12345/i1", "https://example.org/1")
    table = f"identifier,target,status,created,changed\n{ROWS}"
    summary = import_table(bindings, io.BytesIO(table.encode()))
    assert [noted.code for noted in summary.warned] == ["time-old"]
    return bindings


def test_harvesters_see_imported_names_and_tombstones(migrated: Bindings, feed_of: Callable[..., Client]) -> None:
    client = feed_of(migrated, oai="/oai", atom="/changes.atom", sitemap="/names.xml")
    answer = client.get("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc&from=2020-01-01").text
    assert [f"ark:12345/i{number}" in answer for number in (1, 2, 3)] == [True] * 3
    earliest = client.get("/oai?verb=Identify").text.partition("<earliestDatestamp>")[2]
    assert earliest[:4] >= "2020"
    assert "<updated>2015" not in client.get("/changes.atom").text
    assert "<lastmod>2015" not in client.get("/names.xml?from=").text


def test_lists_and_exports_of_changes_have_imported_names(migrated: Bindings) -> None:
    found = migrated.list_names(Selection(changed_since=SINCE, public=True)).names
    assert {name.identifier for name in found} == {"ark:12345/i1", OLD, "ark:12345/i3"}
    export_table(migrated, file := io.BytesIO(), since=SINCE)
    text = file.getvalue().decode()
    assert OLD in text
    assert "2015-06-01T00:00:00.000000Z" in text


def test_the_description_has_the_imported_dates(migrated: Bindings, feed_of: Callable[..., Client]) -> None:
    described = feed_of(migrated).get(f"/{OLD}?info", headers={"Accept": "application/json"})
    assert "2015-06-01" in described.text


def test_a_change_of_an_imported_name_has_one_time(migrated: Bindings) -> None:
    migrated.relocate(OLD, "https://example.org/new")
    found = migrated.lookup(OLD)
    assert found is not None
    assert (found.recorded, found.recorded_at, found.created.year) == (None, found.changed, 2015)


def test_a_sitemap_has_no_time_before_1970(
    migrated: Bindings, feed_of: Callable[..., Client], as_file: Callable[[Bindings], Bindings]
) -> None:
    for bindings in (migrated, as_file(migrated)):
        assert "<lastmod>1" not in feed_of(bindings, sitemap="/names.xml").get("/names.xml?from=").text
