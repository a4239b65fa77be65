"""The harvester of the package oaipmh reads all names from a server, while names change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from io import BytesIO
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from oaipmh.client import Client
from oaipmh.error import NoRecordsMatchError
from oaipmh.metadata import MetadataRegistry, oai_dc_reader

from ararat.middleware import Bindings, ResolverMiddleware, import_table
from ararat.middleware.feeds import oai_pmh
from tests.http_servers import Quiet, serving

from .conftest import site

CHANGED = (20, 70, 80)
NAMES = [f"ark:12345/x5{number:03}" for number in range(240)]


class _Handler(Quiet, WSGIRequestHandler):
    pass


@pytest.fixture
def server(ticking: Bindings) -> Iterator[str]:
    """The URL of a repository on a server."""
    with serving(make_server("127.0.0.1", 0, site, handler_class=_Handler)) as running:
        url = f"http://127.0.0.1:{running.server_port}"
        running.set_app(ResolverMiddleware(site, ticking, prefix=url, oai="/oai"))
        yield f"{url}/oai"


def client(server: str, *, get: bool = False) -> Client:
    registry = MetadataRegistry()
    registry.registerReader("oai_dc", oai_dc_reader)
    return Client(server, registry, force_http_get=get)


def test_a_harvest_loses_and_repeats_no_name_while_names_change(ticking, server, monkeypatch):
    monkeypatch.setattr(oai_pmh, "RECORDS", 50)
    harvester = client(server)
    for names in (NAMES[:150], NAMES[150:]):
        table = "".join(("identifier,target,what\n", *(f"{name},/x,{name[-3:]}\n" for name in names)))
        assert import_table(ticking, BytesIO(table.encode())).written
    ticking.prefixes.set("ark:12345/x5", what="Maps")
    found: list[tuple[str, datetime, bool]] = []
    for count, (header, metadata, _) in enumerate(harvester.listRecords(metadataPrefix="oai_dc")):
        found.append((header.identifier(), header.datestamp(), bool(header.isDeleted())))
        assert header.setSpec() == ["12345", "12345:x5"]
        if not header.isDeleted():
            assert metadata.getField("title") == [header.identifier()[-3:]]
        if count in CHANGED:
            ticking.withdraw(NAMES[count])
            ticking.bind(NAMES[-count], "/x", redirect=307)
            ticking.bind(f"ark:12345/x5{count}new", "/x", metadata={"what": "new"})
    assert len(found) == len({*found})
    last = {name: deleted for name, _, deleted in found}
    assert {*last} == {*NAMES, *(f"ark:12345/x5{count}new" for count in CHANGED)}
    assert [name for name, deleted in last.items() if deleted] == [NAMES[count] for count in CHANGED]
    # A name is repeated only with a new state.
    assert len(found) == len(last) + len(CHANGED)

    # The next harvest begins at the time of the last change.
    newest = max(time for _, time, _ in found)
    ticking.bind(NAMES[5], "/x", redirect=307)
    later = harvester.listIdentifiers(metadataPrefix="oai_dc", from_=newest + timedelta(seconds=1))
    assert [header.identifier() for header in later] == [NAMES[5]]


def test_the_harvester_understands_the_other_verbs(ticking, server):
    harvester = client(server, get=True)
    ticking.bind(NAMES[0], "/x", metadata={"who": "Ada"})
    ticking.prefixes.set("ark:12345/x5", what="Maps")
    identity = harvester.identify()
    assert identity.granularity() == "YYYY-MM-DDThh:mm:ssZ"
    assert identity.deletedRecord() == "persistent"
    assert identity.earliestDatestamp() == datetime(2026, 1, 31, 12, 30, 15)  # noqa: DTZ001
    assert [spec for spec, _, _ in harvester.listSets()] == ["12345", "12345:x5"]
    assert [prefix for prefix, _, _ in harvester.listMetadataFormats()] == ["oai_dc"]
    header, metadata, _ = harvester.getRecord(identifier=NAMES[0], metadataPrefix="oai_dc")
    assert (header.identifier(), metadata.getField("creator")) == (NAMES[0], ["Ada"])
    with pytest.raises(NoRecordsMatchError):
        harvester.listRecords(metadataPrefix="oai_dc", set="12345:none")
