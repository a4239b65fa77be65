"""Read the dump of a noid or egg database. The first lines show which form it has:

- the output of Berkeley DB's ``db_dump -p`` or ``db_dump``: a header, then a line for each key and each value,
- lines ``id|element|value``,
- blocks of ANVL, which begin with ``:: id``, ``id: id`` or ``# id: id``.

A key with ``:/`` belongs to the minter (:mod:`minter`). Source: Berkeley DB, db_dump; NOID, "noid dbinfo"; egg, "dump".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from ....names.errors import TableError
from ....tables.text_stream import Lines
from .. import anvl_blocks
from ..record import DumpRecord
from . import elements as binder_elements
from .minter import Minter

_BEGIN = re.compile(r"(?:::|(?:# )?id:)\s*(\S.*)", re.IGNORECASE)
_SETTING = re.compile(r":/([^|:\s]+)(?:\||:\s*+)(.*)")
_PRINT_ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|(\\))")


class BinderElement(NamedTuple):
    """One element of an identifier in a dump of noid or egg, with its line, name and text."""

    line: int
    identifier: str
    element: tuple[str, str]


def records(lines: Lines, first: str, minter: Minter) -> Iterator[DumpRecord]:
    """Yield each identifier in a dump of noid or egg. Add the settings of its minter to ``minter``. ``first``, the
    first line that is not empty or a comment, decides the form. Raises :class:`TableError` for a line of another form.
    """
    if first.startswith("VERSION="):
        bindings = _read_dump(lines, minter)
    elif _BEGIN.match(first) or (_SETTING.match(first) and "|" not in first):
        yield from _blocks(lines, minter)
        return
    elif first.count("|") >= 2 or _SETTING.match(first):
        bindings = _read_pairs(lines, minter)
    else:
        message = "the file is neither the output of db_dump, nor lines id|element|value, nor blocks of ANVL"
        raise TableError("dump-syntax", message, lines.file, 1)
    for identifier, rows in groupby(bindings, key=lambda bound: bound.identifier):
        elements = list(rows)
        yield binder_elements.record(elements[0].line, identifier, [row.element for row in elements])


def _blocks(lines: Lines, minter: Minter) -> Iterator[DumpRecord]:
    def identifier_of(line: str) -> str | None:
        if line.startswith(":/") and (setting := _SETTING.fullmatch(line)):
            _keep(minter, lines.first + len(lines.record) - 1, setting[1], setting[2])
            return ""
        begin = _BEGIN.fullmatch(line)
        return begin[1].strip() if begin else None

    for block in anvl_blocks.read(lines, identifier_of, "id: 13030/xf93gt2q"):
        if block.identifier:
            yield binder_elements.record(block.line, block.identifier, block.elements)


def _read_pairs(lines: Lines, minter: Minter) -> Iterator[BinderElement]:
    while True:
        lines.begin()
        text = next(lines, None)
        if text is None:
            return
        row = text.rstrip("\r\n")
        if not row.strip() or row.startswith("#"):
            continue
        if setting := _SETTING.fullmatch(row):
            _keep(minter, lines.first, setting[1], setting[2])
            continue
        parts = row.split("|", 2)
        if len(parts) < len(BinderElement._fields):
            raise TableError("dump-syntax", "expected id|element|value", lines.file, lines.first)
        identifier, element, value = map(str.strip, parts)
        yield BinderElement(lines.first, identifier, (element, value))


def _read_dump(lines: Lines, minter: Minter) -> Iterator[BinderElement]:
    decode = _decode_print
    for text in lines:
        name, _, value = text.strip().partition("=")
        if name == "format" and value == "bytevalue":
            decode = _hexadecimal
        if name == "HEADER":
            break
    else:
        raise TableError("dump-syntax", "the line HEADER=END is missing; the file is incomplete", lines.file, 1)
    while True:
        lines.begin()
        key = next(lines, None)
        if key is None or key.strip() == "DATA=END":
            return
        value = next(lines, None)
        if value is None or not (key.startswith(" ") and value.startswith(" ")):
            message = "expected a line with a key and a line with a value, each after a space"
            raise TableError("dump-syntax", message, lines.file, lines.first)
        try:
            # noid separates identifier and element by a tab, egg by a bar.
            # A name that is not text keeps a backslash, so that the import leaves it out.
            written = decode(key[1:].rstrip("\r\n")).decode(errors="backslashreplace")
            content = decode(value[1:].rstrip("\r\n")).decode()
        except ValueError:
            message = "the value is not text in UTF-8, or a line is not hexadecimal"
            raise TableError("dump-syntax", message, lines.file, lines.first) from None
        if written.startswith(":/"):
            _keep(minter, lines.first, written[2:], content)
            continue
        identifier, separator, element = written.partition("\t")
        if not separator:
            identifier, separator, element = written.partition("|")
        if separator:
            yield BinderElement(lines.first, identifier, (element, content))


def _keep(minter: Minter, line: int, name: str, value: str) -> None:
    minter.line = minter.line or line
    minter.values[name.strip()] = value.strip()


def _decode_print(text: str) -> bytes:
    octets = text.encode()
    return _PRINT_ESCAPE.sub(_octet, octets) if b"\\" in octets else octets


def _octet(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else match[2]


def _hexadecimal(text: str) -> bytes:
    return bytes.fromhex(text)
