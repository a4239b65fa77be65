"""Dumps of other systems: every format yields the same names."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.imports.sources import compressed, dump
from ararat.bindings.imports.sources.arklet import elements as arklet_elements
from ararat.bindings.imports.sources.dump import SOURCES
from ararat.bindings.imports.sources.record import Counter, DumpRecord, MintedName
from ararat.bindings.names.errors import TableError

FORMATS = {
    "ezid": ["ezid.txt", "ezid.csv", "ezid.xml", "ezid.txt.gz", "ezid.csv.zip"],
    "arklet": ["arklet.csv", "arklet.sql", "arklet.json"],
    "noid": ["noid.dump", "noid.txt", "noid.anvl"],
    "n2t": ["n2t.json", "n2t.jsonl"],
    "erc": ["erc.txt"],
}
FILES = [(source, name) for source, files in FORMATS.items() for name in files]


def read(text: str | bytes, source: Any) -> list[Any]:
    return list(dump.read(io.BytesIO(text.encode() if isinstance(text, str) else text), source))


def refused(text: str | bytes, source: Any) -> TableError:
    with pytest.raises(TableError) as error:
        read(text, source)
    assert str(error.value).isascii()
    return error.value


@pytest.mark.one_setup
@pytest.mark.parametrize(("source", "name"), FILES, ids=[name for _, name in FILES])
def test_every_format_yields_the_same_names(source, name, dumped: Callable[..., Path], dumped_names, tmp_path) -> None:
    entries = list(dump.read(dumped(tmp_path / name, 60), source))
    records = [entry for entry in entries if isinstance(entry, DumpRecord)]
    assert len(records) == 60
    lines = [record.line for record in records]
    assert lines == sorted(lines)
    for record, expected in zip(records, dumped_names(60), strict=True):
        assert record.identifier == expected.identifier
        assert record.created == datetime.fromtimestamp(expected.created, UTC)
        assert record.updated == datetime.fromtimestamp(expected.updated, UTC)
        assert record.omitted == ()
        state, _, reason = expected.status.partition(" | ")
        if source == "arklet":
            assert record.state == ("reserved" if state == "reserved" else "public")
            assert (record.target, record.elements) == (
                (None, {}) if state == "reserved" else (expected.target, expected.elements)
            )
            continue
        assert (record.state, record.reason) == (state, reason or None)
        assert (record.target, record.elements) == (expected.target, expected.elements)
        if source == "erc":
            continue
        assert record.owner == (f"{expected.owner} (library)" if source == "ezid" else expected.owner)


def test_a_minter_adds_its_counter_and_its_names(dumped: Callable[..., Path], tmp_path) -> None:
    entries = list(dump.read(dumped(tmp_path / "noid.dump", 3), "noid"))
    assert entries[3:5] == [Counter(7, "ark:12345/x6", "next 12 of 10^2"), MintedName(7, "ark:/12345/x600")]
    assert [entry.identifier[-2:] for entry in entries[4:]] == [f"{number:02}" for number in range(12)]


@pytest.mark.parametrize(
    "name",
    [
        "ezid.txt.gz",
        "arklet.json",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("ezid.txt", "ezid.csv", "ezid.xml", "noid.dump")),
    ],
)
def test_memory_does_not_depend_on_the_number_of_names(name: str, dumped: Callable[..., Path], tmp_path) -> None:
    peaks = []
    for count in (300, 1000):
        (tmp_path / str(count)).mkdir()
        file = dumped(tmp_path / str(count) / name, count)
        tracemalloc.start()
        try:
            for _ in dump.read(file, name.partition(".")[0]):  # type: ignore[arg-type]
                pass
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    # 700 stored names would need at least 600,000 bytes.
    assert peaks[1] < peaks[0] + 300_000


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zipped({"dump.txt": content})], ids=["gzip", "zip"])
def test_a_content_that_is_much_larger_than_its_archive_is_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "ALWAYS_ALLOWED", 100_000)
    assert read(pack(b":: ark:/12345/x5\n\n" * 5000), "ezid")
    bomb = pack((b":: ark:/12345/x5\nwho: " + b"x" * 500_000 + b"\n\n") * 60)
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(TableError) as refusal:
        for _ in dump.read(io.BytesIO(bomb), "ezid"):
            pass
    error = refusal.value
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error.code == "archive-content"
    assert "200 times the archive" in error.message
    assert peak < 20_000_000


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(zipped({}), "the archive has 0 files", id="no file"),
        pytest.param(zipped({"a": b"", "b": b""}), "the archive has 2 files", id="two files"),
        pytest.param(zipped({"a": b":: ark:/12345/x"})[:60], "the archive is damaged", id="half a ZIP archive"),
        pytest.param(gzip.compress(b":: ark:/12345/x5\n" * 99)[:40], "the archive is damaged", id="half a gzip file"),
        pytest.param(b"\x1f\x8b\x08\x00" + bytes(40), "the archive is damaged", id="not a gzip file"),
    ],
)
def test_a_damaged_archive_is_refused(content: bytes, message: str) -> None:
    error = refused(content, "ezid")
    assert (error.code, error.message.startswith(message)) == ("archive-content", True)


def test_a_zip_archive_from_a_pipe_is_refused() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(TableError, match="cannot be read from a pipe"):
        list(dump.read(Pipe(zipped({"a": b":: ark:/12345/x"})), "ezid"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x00\x01\x02", id="octets"),
        pytest.param(b"GIF89a\xff\xfe", id="a picture"),
        pytest.param(b"identifier,target\nark:12345/x,https://example.org/\n", id="a table of Ararat"),
        pytest.param(b"<html></html>", id="a page"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_place(source: str, content: bytes) -> None:
    error = refused(content, source)
    assert error.line >= 1
    assert error.expected


@pytest.mark.one_setup
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_that_is_closed_early_is_closed(source: str, tmp_path, dumped: Callable[..., Path]) -> None:
    file = dumped(tmp_path / FORMATS[source][0], 50)
    with closing(dump.read(file, source)) as entries:  # type: ignore[arg-type]
        next(entries)


def test_the_encoding_of_lines_can_be_set() -> None:
    content = ":: ark:/12345/x5\nerc.who: José\n".encode("latin-1")
    assert refused(content, "ezid").code == "table-encoding"
    [record] = dump.read(io.BytesIO(content), "ezid", "latin-1")
    assert isinstance(record, DumpRecord)
    assert record.elements == {"erc.who": "José"}


def test_json_of_n2t_can_be_empty() -> None:
    assert read("{}", "n2t") == read("[]", "n2t") == []


@pytest.mark.parametrize(
    ("text", "identifier", "target", "elements"),
    [
        pytest.param(
            "erc:\nwho: Noah\nwhat: The\t\tArk\nwhen: (:unav)\nwhere: https://n2t.net/ark:/12345/x5\n",
            "https://n2t.net/ark:/12345/x5",
            None,
            {"erc.who": "Noah", "erc.what": "The Ark"},
            id="kernel",
        ),
        pytest.param(
            "erc: Noah | The Ark | 1999 | https://n2t.net/ark:/12345/x5\n",
            "https://n2t.net/ark:/12345/x5",
            None,
            {"erc.who": "Noah", "erc.what": "The Ark", "erc.when": "1999"},
            id="short form",
        ),
        pytest.param(
            "erc:\nwhere: ark:/12345/x5\nwhere: https://example.org/5\ndc.subject: maps\nnote: n\n",
            "ark:/12345/x5",
            "https://example.org/5",
            {"dc.subject": "maps", "erc.note": "n"},
            id="two places",
        ),
        pytest.param("erc:\nspelling: ark:/12345/x-5\nwhere: ark:12345/x5", "ark:/12345/x-5", None, {}, id="spelling"),
        pytest.param("erc:\nwhat: B\nwhere: urn:nbn:fi:lb-1\n", "urn:nbn:fi:lb-1", None, {"erc.what": "B"}, id="URN"),
    ],
)
def test_an_erc_record_names_its_identifier(text, identifier, target, elements) -> None:
    (record,) = read(text, "erc")
    assert (record.identifier, record.target, record.elements) == (identifier, target, elements)


def test_an_erc_record_without_an_identifier_is_left_out() -> None:
    (part,) = read("erc:\nwho: Noah\nwhere: https://example.org/\n", "erc")
    assert part.omitted.element == "where"
    assert "belongs to no identifier" in str(refused("who: Noah\n", "erc"))


_TWO = "Smith, A; Jones, B"


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        pytest.param(
            "ezid",
            ":: ark:/12345/x5\nerc: who: Smith, A%0Awho: Jones, B%0Awhere: UC1.TIF%0Awhere: ark:/13030/m5\n",
            {"erc.who": _TWO, "erc.where": "UC1.TIF; ark:/13030/m5"},
            id="a block of EZID",
        ),
        pytest.param(
            "ezid",
            ":: ark:/12345/x5\nerc: Who: Smith, A%0AWHO: Jones, B\n",
            {"erc.who": _TWO},
            id="letters of any case",
        ),
        pytest.param(
            "ezid", ":: ark:/12345/x5\ndc.creator: Smith, A\ndc.creator: Jones, B\n", {"dc.creator": _TWO}, id="EZID"
        ),
        pytest.param("noid", "# id: 12345/x5\nwho: Smith, A\nwho: Jones, B\n", {"erc.who": _TWO}, id="noid"),
        pytest.param(
            "n2t", '{"ark:/12345/x5": {"erc.who": ["Smith, A", "Jones, B"]}}', {"erc.who": _TWO}, id="N2T, a list"
        ),
        pytest.param(
            "n2t", '{"ark:/12345/x5": {"erc": {"who": ["Smith, A", "Jones, B"]}}}', {"erc.who": _TWO}, id="N2T, a group"
        ),
        pytest.param("noid", "# id: 12345/x5\nWho: Smith, A\nWHO: Jones, B\n", {"erc.who": _TWO}, id="noid, any case"),
        pytest.param(
            "n2t",
            '{"ark:/12345/x5": {"Who": "Smith, A", "erc.WHO": "Jones, B"}}',
            {"erc.who": _TWO},
            id="N2T, any case",
        ),
        pytest.param(
            "ezid",
            ":: ark:/12345/x5\nerc: who: Smith, A%0Awhat: Ferns\nerc.who: Jones, B\nerc.what: Ferns\n",
            {"erc.who": _TWO, "erc.what": "Ferns"},
            id="a block of EZID and the same element",
        ),
        pytest.param(
            "erc", "erc:\nWho: Smith, A\nWHO: Jones, B\nWhere: ark:/12345/x5\n", {"erc.who": _TWO}, id="ERC, any"
        ),
        pytest.param("erc", "erc:\nwho: Smith, A\nwho: Jones, B\nwhere: ark:/12345/x5\n", {"erc.who": _TWO}, id="ERC"),
    ],
)
def test_values_of_a_repeated_element_are_kept(source: Any, text: str, expected: dict[str, str]) -> None:
    (record,) = dump.read(io.BytesIO(text.encode()), source)
    assert isinstance(record, DumpRecord)
    assert {name: record.elements.get(name) for name in expected} == expected
    assert record.omitted == ()


def test_a_repeated_target_is_reported() -> None:
    text = ":: ark:/12345/x5\n_target: https://example.org/1\n_target: https://example.org/2\n"
    (record,) = dump.read(io.BytesIO(text.encode()), "ezid")
    assert isinstance(record, DumpRecord)
    assert (record.target, [each.element for each in record.omitted]) == ("https://example.org/1", ["_target"])


def test_values_of_a_repeated_element_of_arklet_are_kept() -> None:
    for metadata in (
        "who: Smith, A\nWho: Jones, B",
        '{"who": ["Smith, A", "Jones, B"]}',
        '{"WHO": "Smith, A", "Who": ["Jones, B"]}',
    ):
        record = arklet_elements.record(1, {"ark": "12345/x5", "metadata": metadata})
        assert (record.elements, record.omitted) == ({"erc.who": _TWO}, ())
