"""Write dumps of EZID, arklet, noid, N2T and ERC, always with the same content; as a program: FOLDER and COUNT."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from ararat.identifiers.ark.check_character import check_character
from ararat.identifiers.ark.grammar import BETANUMERIC
from ararat.identifiers.text import anvl
from tests.datacite_records import record

TITLES = (
    "Maps of Mount Ararat",
    "Արարատ լեռան քարտեզներ",
    "خرائط جبل أرارات",
    "מפות הר אררט",
    "Карта горы",
    "亚拉腊山地图",
    'A "quoted" title; 100% of it, =1+1',
)
STATES = {5: "reserved", 11: "unavailable | withdrawn by the author", 12: "unavailable"}
FIRST_SECOND = 1_400_000_000


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the dumps. ``identifier`` is its published spelling; ``status`` is that of EZID."""

    identifier: str
    target: str
    status: str
    created: int
    updated: int
    owner: str
    elements: dict[str, str]


def names(count: int) -> Iterator[Name]:
    """Yield the names: of twenty, one is reserved and two are unavailable."""
    for number in range(count):
        name = f"x5{_digits(number * 7919 % 29**5)}"
        name += check_character(f"12345/{name}")
        spelling = f"{name[:4]}-{name[4:]}" if number % 10 == 3 else name
        status = STATES.get(number % 20, "public")
        created = FIRST_SECOND + number * 60
        title = f"{TITLES[number * 5 % len(TITLES)]} {number}"
        elements = {"erc.who": f"Author {number % 97}", "erc.what": title, "erc.when": str(1900 + number % 120)}
        if number % 3 == 1:
            elements = {"dc.creator": f"Author {number % 97}", "dc.title": title}
        if number % 50 == 7:
            elements = {"datacite": record(escape(title))}
        yield Name(
            f"ark:/12345/{spelling}",
            f"https://example.org/items/{number}?view=full&n={number}",
            status,
            created,
            created + number * 7919 % 10_000_000,
            f"user{number % 5}",
            elements,
        )


def _digits(number: int) -> str:
    digits = ""
    for _ in range(5):
        number, value = divmod(number, len(BETANUMERIC))
        digits = BETANUMERIC[value] + digits
    return digits


def ezid_elements(name: Name) -> dict[str, str]:
    return {
        "_target": name.target,
        "_profile": "erc",
        "_status": name.status,
        "_export": "yes",
        "_created": str(name.created),
        "_updated": str(name.updated),
        "_owner": name.owner,
        "_ownergroup": "library",
        **name.elements,
    }


def ezid_anvl(given: Iterator[Name]) -> Iterator[str]:
    for name in given:
        yield f":: {name.identifier}\n"
        yield from (anvl.element(label, value) for label, value in ezid_elements(name).items())
        yield "\n"


def ezid_csv(given: Iterator[Name]) -> Iterator[str]:
    columns = ["_id", "_target", "_profile", "_status", "_export", "_created", "_updated", "_owner", "_ownergroup"]
    columns += ["erc.who", "erc.what", "erc.when", "dc.creator", "dc.title", "datacite"]
    yield from table(columns, ({"_id": name.identifier, **ezid_elements(name)} for name in given))


def ezid_xml(given: Iterator[Name]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<records>'
    for name in given:
        yield f"<record identifier={quoteattr(name.identifier)}>"
        for label, value in ezid_elements(name).items():
            yield f"<element name={quoteattr(label)}>{value if label == 'datacite' else escape(value)}</element>"
        yield "</record>\n"
    yield "</records>"


def arklet_row(name: Name) -> dict[str, str]:
    written = name.identifier.removeprefix("ark:/")
    used = name.status != "reserved"
    return {
        "ark": written,
        "naan_id": "12345",
        "shoulder": "/x5",
        "assigned_name": written.removeprefix("12345/x5"),
        "url": name.target if used else "",
        "metadata": json.dumps(name.elements, ensure_ascii=False) if used else "",
        "commitment": "",
        "created_at": f"{_iso(name.created)}+00:00",
        "updated_at": f"{_iso(name.updated)}+00:00",
    }


def _iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat(" ")


def arklet_csv(given: Iterator[Name]) -> Iterator[str]:
    first = next(names(1))
    yield from table(list(arklet_row(first)), map(arklet_row, given))


def arklet_copy(given: Iterator[Name]) -> Iterator[str]:
    yield "--\n-- PostgreSQL database dump\n--\nSET client_encoding = 'UTF8';\n"
    yield "COPY public.ark_naan (naan, name) FROM stdin;\n12345\tExample\n\\.\n"
    yield f"COPY public.ark_ark ({', '.join(arklet_row(next(names(1))))}) FROM stdin;\n"
    for name in given:
        cells = arklet_row(name).values()
        yield "\t".join(cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for cell in cells) + "\n"
    yield "\\.\n"


def arklet_json(given: Iterator[Name]) -> Iterator[str]:
    yield "["
    for number, name in enumerate(given):
        row = arklet_row(name)
        fields = {"model": "ark.ark", "pk": row.pop("ark"), "fields": row}
        yield (",\n" if number else "") + json.dumps(fields, ensure_ascii=False)
    yield "]"


def binder(name: Name) -> dict[str, str]:
    status = {"_s": name.status} if name.status != "public" else {}
    return (
        {"_c": str(name.created), "_u": str(name.updated), "_o": name.owner, "_t": name.target} | status | name.elements
    )


def noid_dump(given: Iterator[Name]) -> Iterator[str]:
    yield "VERSION=3\nformat=print\ntype=btree\nduplicates=1\ndb_pagesize=4096\nHEADER=END\n"
    yield " :/template\n x6.sdd\n :/oacounter\n 12\n :/naan\n 12345\n"
    for name in given:
        for label, value in binder(name).items():
            yield f" {_printed(name.identifier)}|{label}\n {_printed(value)}\n"
    yield "DATA=END\n"


def _printed(text: str) -> str:
    return "".join(
        chr(octet) if 0x20 <= octet < 0x7F and octet != 0x5C else f"\\{octet:02x}" for octet in text.encode()
    )


def noid_lines(given: Iterator[Name]) -> Iterator[str]:
    for name in given:
        for label, value in binder(name).items():
            yield f"{name.identifier}|{label}|{value}\n"


def noid_blocks(given: Iterator[Name]) -> Iterator[str]:
    for name in given:
        yield f"id: {name.identifier.removeprefix('ark:/')}\n"
        yield from (anvl.element(label, value) for label, value in binder(name).items())
        yield "\n"


def n2t_json(given: Iterator[Name]) -> Iterator[str]:
    yield "{"
    for number, name in enumerate(given):
        members = {"target": name.target, "created": name.created, "updated": name.updated, "owner": name.owner}
        erc = {label[4:]: value for label, value in name.elements.items() if label.startswith("erc.")}
        others = {label: value for label, value in name.elements.items() if not label.startswith("erc.")}
        whole = {**members, "status": name.status, **others} | ({"erc": erc} if erc else {})
        yield (",\n" if number else "") + f"{json.dumps(name.identifier)}: {json.dumps(whole, ensure_ascii=False)}"
    yield "}"


def n2t_lines(given: Iterator[Name]) -> Iterator[str]:
    for name in given:
        yield json.dumps({"id": name.identifier, **binder(name)}) + "\n"


def erc_records(given: Iterator[Name]) -> Iterator[str]:
    states = {"public": "live", "reserved": "reserved", "unavailable": "withdrawn"}
    for name in given:
        state, _, reason = name.status.partition(" | ")
        times = [datetime.fromtimestamp(each, UTC).isoformat() for each in (name.created, name.updated)]
        others = {
            "where": f"https://n2t.net/{name.identifier}",
            "identifier": name.identifier,
            "target": name.target,
            "status": states[state],
            "reason": reason,
            "created": times[0],
            "changed": times[1],
        }
        yield "erc:\n"
        for label, value in {**name.elements, **others}.items():
            yield anvl.element(label.removeprefix("erc."), value) if value else ""
        yield "\n"


def table(columns: list[str], rows: Iterator[dict[str, str]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.DictWriter(line, columns, lineterminator="\r\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield line.getvalue()


Writer = Callable[[Iterator[Name]], Iterator[str]]

DUMPS: dict[str, tuple[str, Writer]] = {
    "ezid.txt": ("ezid", ezid_anvl),
    "ezid.csv": ("ezid", ezid_csv),
    "ezid.xml": ("ezid", ezid_xml),
    "ezid.txt.gz": ("ezid", ezid_anvl),
    "ezid.csv.zip": ("ezid", ezid_csv),
    "arklet.csv": ("arklet", arklet_csv),
    "arklet.sql": ("arklet", arklet_copy),
    "arklet.json": ("arklet", arklet_json),
    "noid.dump": ("noid", noid_dump),
    "noid.txt": ("noid", noid_lines),
    "noid.anvl": ("noid", noid_blocks),
    "n2t.json": ("n2t", n2t_json),
    "n2t.jsonl": ("n2t", n2t_lines),
    "erc.txt": ("erc", erc_records),
}
"""The system and the writer of each file."""


def write(file: Path, count: int) -> Path:
    """Write the dump with this name."""
    texts = DUMPS[file.name][1](names(count))
    if file.suffix == ".gz":
        with gzip.open(file, "wt", encoding="utf-8", newline="") as stream:
            stream.writelines(texts)
    elif file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(file.stem, "w") as member:
            member.writelines(text.encode() for text in texts)
    else:
        with file.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(texts)
    return file


@pytest.fixture(scope="session")
def dumped() -> Callable[[Path, int], Path]:
    """``dumped(file, count)`` writes the dump with the name of the file."""
    return write


@pytest.fixture(scope="session")
def dumped_names() -> Callable[[int], list[Name]]:
    """``dumped_names(count)`` returns the names in a dump."""
    return lambda count: list(names(count))


if __name__ == "__main__":
    for name in DUMPS:
        write(Path(sys.argv[1]) / name, int(sys.argv[2]))
