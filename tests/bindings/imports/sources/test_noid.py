"""The formats of noid, egg and N2T, and the names of minters."""

from __future__ import annotations

import io
from itertools import islice
from typing import Any

import pytest

from ararat.bindings.imports.sources import dump
from ararat.bindings.imports.sources.noid import elements as binder_elements
from ararat.bindings.imports.sources.noid.minter import MAX_MINTED, Minter
from ararat.bindings.imports.sources.record import Counter, DumpRecord, MintedName, SkippedPart
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import TableError

HEAD = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"


def read(text: str, source: Any = "noid") -> list[Any]:
    return list(dump.read(io.BytesIO(text.encode()), source))


def minter(**values: str) -> Minter:
    return Minter(1, {name.replace("_", "/"): value for name, value in values.items()})


def test_a_berkeley_db_dump_is_read() -> None:
    text = (
        f"{HEAD} :/version\n 1.00\n ark:/13960/t00000018|_,ec\n 1152999140\n ark:/13960/t00000018|_,ep\n p:&P/1||76\n"
        " ark:/13960/t00000018|__mc\n 1152999140\n ark:/13960/t00000018|_t\n https://example.org/caf\\c3\\a9?a|b\\5c\n"
        " 13960/t0000002r\\09:/c\n i|20060508112522|jak/noid|2\n 13960/t0000002r\\09:/h\n 1\nDATA=END\n"
    )
    first, second = read(text)
    assert (first.line, first.target, first.elements, first.omitted) == (7, "https://example.org/café?a|b\\", {}, ())
    assert first.created.isoformat() == "2006-07-15T21:32:20+00:00"
    assert (second.identifier, second.state, second.target) == ("ark:/13960/t0000002r", "reserved", None)
    assert second.created.isoformat() == "2006-05-08T11:25:22+00:00"
    octets = f"{HEAD}".replace("print", "bytevalue")
    pair = f" {b'12345/x5|_t'.hex()}\n {b'https://example.org/'.hex()}\nDATA=END\n"
    assert read(octets + pair)[0].target == "https://example.org/"


def test_lines_and_blocks_are_read() -> None:
    lines = "# comment\nark:/12345/x5|_t|https://example.org/a|b\nark:/12345/x5|erc.who|A\n\n12345/x6|who|B\n"
    blocks = "# id: 12345/x5\n_t: https://example.org/a%7Cb%250A\nwho: A\n\n:: ark:/12345/x6\nwho: B\n"
    for text, target in ((lines, "https://example.org/a|b"), (blocks, "https://example.org/a%7Cb%0A")):
        first, second = read(text)
        assert (first.identifier, first.target, first.elements) == ("ark:/12345/x5", target, {"erc.who": "A"})
        assert (second.identifier, second.elements) == ("ark:/12345/x6", {"erc.who": "B"})


@pytest.mark.parametrize(
    "text", [":/template: .sdd\n:/naan: 12345\n:/oacounter: 2\n", ":/template|.sdd\n:/naan|12345\n:/oacounter|2\n"]
)
@pytest.mark.parametrize("source", ["noid", "n2t"])
def test_a_dump_can_have_a_minter_only(text: str, source: str) -> None:
    assert read(text, source) == [
        Counter(1, "ark:12345/", "next 2 of 10^2"),
        MintedName(1, "ark:/12345/00"),
        MintedName(1, "ark:/12345/01"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "element"),
    [("_zz", "x", "_zz"), ("_c", "soon", "_created"), ("a\x00b", "x", "a\x00b"), ("_s", "gone", "_status")],
)
def test_a_value_that_cannot_be_imported_is_reported(name: str, value: str, element: str) -> None:
    [note] = binder_elements.record(1, "12345/x5", [(name, value)]).omitted
    assert note.element == element


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("VERSION=3\nformat=print\n", 1, id="half a header"),
        pytest.param(f"{HEAD} key\nvalue\n", 5, id="a value without a space"),
        pytest.param(f"{HEAD} key\n", 5, id="a key without a value"),
        pytest.param(f"{HEAD} 12345/x|_t\n \\ff\n", 5, id="not UTF-8"),
        pytest.param(f"{HEAD.replace('print', 'bytevalue')} zz\n 00\n", 5, id="not hexadecimal"),
        pytest.param("a|b|c\na|b\n", 2, id="a part is missing"),
        pytest.param("id: x\nno colon\n", 2, id="no colon"),
        pytest.param("hello\n", 1, id="another file"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(TableError) as error:
        read(text)
    assert (error.value.line, error.value.code) == (line, "dump-syntax")


@pytest.mark.parametrize(
    ("values", "names", "counter"),
    [
        pytest.param(
            {"template": "xf.sdd", "naan": "13030", "oacounter": "2"},
            ["ark:/13030/xf00", "ark:/13030/xf01"],
            Counter(1, "ark:13030/xf", "next 2 of 10^2"),
            id="sequential digits",
        ),
        pytest.param(
            {"template": "xf9.seeeek", "firstpart": "13030/", "oacounter": "1"},
            ["ark:/13030/xf90000j"],
            Counter(1, "ark:13030/xf9", "next 1 of 29^4+check"),
            id="sequential with a check character",
        ),
        pytest.param(
            {"template": "x.sed", "naan": "12345", "oacounter": "12"},
            [*(f"ark:/12345/x0{digit}" for digit in range(10)), "ark:/12345/x10", "ark:/12345/x11"],
            None,
            id="two kinds of characters",
        ),
        pytest.param(
            {"template": "x.zd", "naan": "12345", "oacounter": "11"},
            [*(f"ark:/12345/x{digit}" for digit in range(10)), "ark:/12345/x10"],
            None,
            id="without end",
        ),
        pytest.param(
            {
                "template": "t.rdeedeedk",
                "NAAN": "13960",
                "oacounter": "3",
                "percounter": "2413929",
                "c0_value": "2",
                "c1_value": "1",
                "c2_value": "0",
            },
            # The first two are published names of the Internet Archive.
            ["ark:/13960/t00000018", "ark:/13960/t0000002r", "ark:/13960/t00z70w0r"],
            None,
            id="random",
        ),
        pytest.param(
            {"template": "99999/fk4{eedk}", "oacounter": "1", "percounter": "30", "c7_value": "1"},
            ["ark:/99999/fk40q13"],
            None,
            id="egg",
        ),
        pytest.param({"template": "x.rd", "naan": "12345", "oacounter": "0"}, [], None, id="nothing was minted"),
        pytest.param({}, [], None, id="no minter"),
    ],
)
def test_the_counters_determine_the_minted_names(
    values: dict[str, str], names: list[str], counter: Counter | None
) -> None:
    found = minter(**values)
    assert found.fault() is None
    assert list(found.names()) == names
    assert found.counter() == counter


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({"template": "x.q", "naan": "1", "oacounter": "1"}, "is not a template", id="template"),
        pytest.param({"naan": "12345", "oacounter": "1"}, "is not a template", id="no template"),
        pytest.param({"template": "x.sd", "oacounter": "1"}, "the NAAN", id="no NAAN"),
        pytest.param(
            {"template": "x.rd", "naan": "12345", "oacounter": "2", "percounter": "1", "c0_value": "1"},
            "do not have the sum",
            id="counters are missing",
        ),
        pytest.param(
            {"template": "x.rd", "naan": "12345", "oacounter": "2", "percounter": "x", "c0_value": "9" * 5000},
            "do not have the sum",
            id="counters are not numbers",
        ),
        pytest.param(
            {"template": "x.zd", "naan": "12345", "oacounter": str(MAX_MINTED + 1)}, "is larger than", id="too many"
        ),
    ],
)
def test_a_minter_whose_names_cannot_be_determined_has_a_fault(values: dict[str, str], message: str) -> None:
    found = minter(**values)
    assert message in (found.fault() or "")
    assert (list(found.names()), found.counter()) == ([], None)
    text = "".join(f":/{name}|{value}\n" for name, value in found.values.items())
    [skipped] = [entry for entry in read(text) if not isinstance(entry, DumpRecord)]
    assert isinstance(skipped, SkippedPart)
    assert message in skipped.omitted.reason


def test_a_huge_minter_yields_its_names_one_by_one() -> None:
    found = minter(template="x.zd", naan="12345", oacounter=str(MAX_MINTED))
    assert list(islice(found.names(), 2)) == ["ark:/12345/x0", "ark:/12345/x1"]


def test_the_series_of_noid_continues_in_ararat(bindings) -> None:
    found = minter(template="xf9.seeeek", naan="13030", oacounter="3")
    assert [name.replace("ark:/", "ark:") for name in found.names()] == mint(
        bindings, "13030/xf9", length=4, check="noid", sequential=True, count=3
    )


def test_json_of_n2t_is_a_map_or_has_identifiers() -> None:
    body = '"target": "https://example.org/", "erc": {"who": "A", "when": 1999}, "created": 1435680779, "x": null'
    for text in (
        f'{{"ark:/12345/x5": {{{body}}}}}',
        f'{{"id": "ark:/12345/x5", {body}}}',
        f'[{{"identifier": "12345/x5", {body}}}]',
    ):
        [found] = read(text, "n2t")
        assert (found.identifier, found.target) == ("ark:/12345/x5", "https://example.org/")
        assert found.elements == {"erc.who": "A", "erc.when": "1999"}
        assert (found.created.year, found.omitted) == (2015, ())
