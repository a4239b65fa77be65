"""Batch downloads from running servers."""

from __future__ import annotations

import csv
import gzip
import io
import re
import urllib.error
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ararat.bindings.imports.importing import import_table
from ararat.bindings.imports.sources.importing import import_dump
from ararat.middleware import open_bindings
from tests.datacite_records import record
from tests.webapp.ezid.client import EzidClient, Reply
from tests.webapp.ezid.conftest import Person, Service

DATACITE = f'<?xml version="1.0"?>\n{record("1 &lt; 2")}'


def url_of(reply: Reply) -> str:
    assert reply.status == 200, reply.line
    assert reply.line.startswith("success: http")
    return reply.line.removeprefix("success: ")


@pytest.fixture
def fetched(service: Service, curator: Person) -> Callable[..., bytes]:
    """fetched(*fields, client=...) requests a download and returns its file. The download needs no credentials."""

    def fetch(*fields: tuple[str, str], client: EzidClient | None = None) -> bytes:
        url = url_of((client or curator.client).request_download(*fields))
        assert url.startswith(service.prefix)
        return EzidClient(service.base).download(service.local(url))

    return fetch


@pytest.fixture
def names(curator: Person) -> dict[str, str]:
    """Three identifiers by status."""
    mint = curator.client.mint
    found = {
        "public": mint(curator.shoulder, {"erc.what": "Ark:\n100%", "my name": "a\nb", "_target": "https://e.org/"}),
        "reserved": mint(curator.shoulder, {"_status": "reserved", "_profile": "datacite", "datacite": DATACITE}),
        "unavailable": mint(curator.shoulder, {"dc.creator": "Noah", "_profile": "dc"}),
    }
    identifiers = {status: reply.identifier for status, reply in found.items()}
    curator.client.update(identifiers["unavailable"], {"_status": "unavailable | lost"})
    return identifiers


def test_anvl_has_the_same_elements_as_a_view(
    fetched: Callable[..., bytes], names: dict[str, str], curator: Person
) -> None:
    blocks = gzip.decompress(fetched(("format", "anvl"))).decode().split("\n\n")
    assert blocks.pop() == ""
    found = {block.splitlines()[0]: block.splitlines()[1:] for block in blocks}
    assert found.keys() == {f":: {name}" for name in names.values()}
    curator.client.login()
    viewed = curator.client.view(names["public"]).elements
    lines = found[f":: {names['public']}"]
    assert "my name: a%0Ab" in lines
    assert "erc.what: Ark:%0A100%25" in lines
    assert f"_owner: {curator.name}" in lines
    assert len(lines) == len(viewed)


def test_csv_has_the_requested_columns(fetched: Callable[..., bytes], names: dict[str, str]) -> None:
    columns = ["_id", "_status", "my name", "_mappedCreator", "_mappedTitle", "missing"]
    fields = [("format", "csv"), ("compression", "zip"), *(("column", column) for column in columns)]
    with zipfile.ZipFile(io.BytesIO(fetched(*fields))) as archive:
        [name] = archive.namelist()
        text = archive.read(name).decode()
    assert name == "ezid.csv"
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == columns
    assert sorted(rows) == sorted(
        [
            [names["public"], "public", "a b", "", "Ark: 100%", ""],
            [names["reserved"], "reserved", "", "C", "1 < 2", ""],
            [names["unavailable"], "unavailable | lost", "", "Noah", "", ""],
        ]
    )


def test_xml_has_documents_as_child_elements(fetched: Callable[..., bytes], names: dict[str, str]) -> None:
    text = gzip.decompress(fetched(("format", "xml"), ("status", "reserved")))
    [record] = ElementTree.fromstring(text)  # noqa: S314 - our own server
    assert record.get("identifier") == names["reserved"]
    [document] = [element for element in record if element.get("name") == "datacite"]
    assert document[0].tag == "{http://datacite.org/schema/kernel-4}resource"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param([], {"public", "reserved", "unavailable"}, id="all"),
        pytest.param([("status", "public")], {"public"}, id="a status"),
        pytest.param([("status", "public"), ("status", "unavailable")], {"public", "unavailable"}, id="two"),
        pytest.param([("type", "ark")], {"public", "reserved", "unavailable"}, id="arks"),
        pytest.param([("type", "urn")], set(), id="no urns"),
        pytest.param([("type", "urn"), ("type", "ark"), ("status", "reserved")], {"reserved"}, id="types"),
        pytest.param([("permanence", "test")], set(), id="tests"),
        pytest.param([("permanence", "real"), ("status", "public")], {"public"}, id="real"),
        pytest.param([("createdAfter", "2000-01-01T00:00:00Z"), ("status", "public")], {"public"}, id="after"),
        pytest.param([("createdAfter", "0"), ("status", "public")], {"public"}, id="after 1970"),
        pytest.param([("createdBefore", "946684800")], set(), id="before"),
        pytest.param([("updatedAfter", "4000000000")], set(), id="updated after"),
        pytest.param(
            [("updatedBefore", "2099-01-01"), ("createdAfter", "946684800"), ("status", "reserved")],
            {"reserved"},
            id="two times",
        ),
    ],
)
def test_the_form_selects_identifiers(
    fetched: Callable[..., bytes], names: dict[str, str], fields: list[tuple[str, str]], expected: set[str]
) -> None:
    text = gzip.decompress(fetched(("format", "csv"), ("column", "_id"), *fields)).decode()
    assert set(text.split()[1:]) == {names[status] for status in expected}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "fields",
    [
        [],
        [("format", "json")],
        [("format", "anvl"), ("format", "anvl")],
        [("format", "csv")],
        [("format", "csv"), ("column", "")],
        [("format", "anvl"), ("column", "_id")],
        [("format", "anvl"), ("compression", "bzip2")],
        [("format", "anvl"), ("status", "gone")],
        [("format", "anvl"), ("permanence", "")],
        [("format", "anvl"), ("createdAfter", "yesterday")],
        [("format", "csv"), *[("column", "_id")] * 300],
    ],
)
def test_a_wrong_form_is_refused(curator: Person, fields: list[tuple[str, str]]) -> None:
    reply = curator.client.request_download(*fields)
    assert (reply.status, reply.line.partition(" - ")[0]) == (400, "error: bad request")


def test_a_download_has_only_the_names_that_its_caller_can_change(
    service: Service,
    fetched: Callable[..., bytes],
    names: dict[str, str],
    curator: Person,
    new_person: Callable[..., Person],
) -> None:
    # No minted name contains a vowel.
    other = new_person(prefixes=(f"{curator.key}aa", "urn:nbn:de:"))
    form = ("format", "csv"), ("column", "_id")
    assert gzip.decompress(fetched(*form, client=other.client)) == b"_id\r\n"
    _, secret = service.accounts.tokens.create(curator.name, "limited", prefixes=[names["public"]])
    limited = EzidClient(service.base, curator.name, secret)
    assert gzip.decompress(fetched(*form, client=limited)).split() == [b"_id", names["public"].encode()]
    # Overlapping grants list a name once.
    service.accounts.grant(curator.name, f"{curator.key}")
    service.accounts.grant(curator.name, names["reserved"])
    assert len(gzip.decompress(fetched(*form)).split()) == 4
    reader = new_person("reader", ())
    assert set(names.values()) <= set(gzip.decompress(fetched(*form, client=reader.client)).decode().split())


def test_the_url_is_protected_against_guessing(service: Service, curator: Person, names: dict[str, str]) -> None:
    token, secret = service.accounts.tokens.create(curator.name, "one")
    url = service.local(url_of(EzidClient(service.base, curator.name, secret).request_download(("format", "anvl"))))
    anonymous = EzidClient(service.base)
    assert anonymous.download(url)
    start, _, file = url.rpartition("/")
    number, _, rest = file.partition("-")
    wrong = [
        f"{start}/{number}-{'A' * 43}.txt.gz",
        f"{start}/{int(number) + 1}-{rest}",
        f"{start}/{number}-{rest[:-3]}",
        f"{start}/{number}-{rest.replace('.txt.gz', '.zip')}",
        f"{start}/{'9' * 30}-{rest}",
        f"{start}/x",
    ]
    for each in wrong:
        with pytest.raises(urllib.error.HTTPError) as error:
            anonymous.download(each)
        assert error.value.code == 404
        error.value.close()
    service.accounts.tokens.revoke(token.number)
    with pytest.raises(urllib.error.HTTPError) as error:
        anonymous.download(url)
    error.value.close()


def test_a_download_expires(service: Service, curator: Person) -> None:
    from ararat.bindings.storage.tables.account_tables import jobs

    url = service.local(url_of(curator.client.request_download(("format", "anvl"))))
    number = int(url.rpartition("/")[2].partition("-")[0])
    old = jobs.update().where(jobs.c.id == number).values(created="2020-01-01T00:00:00.000000Z")
    service.accounts.run_in_transaction(lambda each: each.execute(old))
    with pytest.raises(urllib.error.HTTPError) as error:
        EzidClient(service.base).download(url)
    assert error.value.read().startswith(b"error: bad request - this download does not exist or has expired")
    error.value.close()
    # The next request deletes it.
    curator.client.request_download(("format", "anvl"))
    expired = jobs.select().where(jobs.c.created < "2021")
    assert service.accounts.run_in_transaction(lambda each: each.execute(expired).first()) is None


def test_many_names_are_streamed_and_imported_again(
    service: Service, fetched: Callable[..., bytes], curator: Person, tmp_path: Path
) -> None:
    lines = (f"{curator.key}n{n},https://example.org/{n},{n}\n" for n in range(1100))
    table = tmp_path / "names.csv"
    table.write_text("identifier,target,what\n" + "".join(lines))
    import_table(service.bindings, table)
    content = fetched(("format", "anvl"))
    assert gzip.decompress(content).count(b":: ark:/") == 1100
    with open_bindings(tmp_path / "other.sqlite", create=True) as other:
        import_dump(other, io.BytesIO(content), "ezid")
        assert other.count().number == 1100
        binding = other.lookup(f"{curator.key}n17")
        assert binding is not None
        assert (binding.target, binding.metadata["erc.what"]) == ("https://example.org/17", "17")


def test_the_documented_fields_of_ezid_are_accepted(
    fetched: Callable[..., bytes], names: dict[str, str], curator: Person
) -> None:
    # The example of EZID's documentation, and the fields of batch-download.sh.
    fields = [("format", "csv"), ("column", "_id"), ("type", "ark"), ("type", "doi"), ("permanence", "real")]
    others = [("owner", curator.name), ("notify", "jane@example.org"), ("convertTimestamps", "yes"), ("profile", "erc")]
    found = gzip.decompress(fetched(*fields, *others)).decode().splitlines()
    assert set(found[1:]) == set(names.values())
    assert gzip.decompress(fetched(*fields, ("owner", "nobody"))).decode().splitlines()[1:] == []
    curator.client.update(names["public"], {"_export": "no"})
    exported = gzip.decompress(fetched(*fields, ("exported", "no"))).decode().splitlines()
    assert exported[1:] == [names["public"]]


def test_times_of_a_csv_file_are_converted_on_request(fetched: Callable[..., bytes], names: dict[str, str]) -> None:
    fields = [("format", "csv"), *(("column", each) for each in ("_id", "_created", "_updated")), ("type", "ark")]

    def times(*more: tuple[str, str]) -> list[str]:
        return [row.partition(",")[2] for row in gzip.decompress(fetched(*fields, *more)).decode().splitlines()[1:]]

    unix = times()
    iso = times(("convertTimestamps", "yes"))
    assert times(("convertTimestamps", "no")) == unix
    assert all(re.fullmatch(r"[0-9]+,[0-9]+", each) for each in unix)
    expected = [
        ",".join(datetime.fromtimestamp(int(each), UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for each in row.split(","))
        for row in unix
    ]
    assert iso == expected
