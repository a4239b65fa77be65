"""Read the body of a request: ANVL in UTF-8, with one element on a line.

A line that begins with ``#`` is a comment. A line that begins with white space continues the line before it. Every
percent-encoding is decoded, because some clients encode a colon in values, too. In contrast,
:mod:`ararat.identifiers.text.anvl` reads ANVL with URLs that are not encoded.

Source: EZID API, version 2, "Request & response bodies".
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from ...bindings.names import validation
from .answers import bad_request

MAX_BYTES = 2**20
MAX_ELEMENTS = 1000

_END_OF_LINE = re.compile("\r\n?|\n")
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


def read(body: bytes) -> dict[str, str]:
    r"""Return the elements of ANVL in UTF-8 by their names, decoded. An element with an empty value is deleted by an
    update. Raises :class:`~.answers.Failed` (400) with the number of the wrong line.

    >>> read(b"# comment\r\n_target: http%3A//a.example/?q=100%25\nerc.what: one\n  two%0Athree\n")
    {'_target': 'http://a.example/?q=100%', 'erc.what': 'one two\nthree'}
    """
    if len(body) > MAX_BYTES:
        raise bad_request(f"the body has {len(body):,} bytes; at most {MAX_BYTES:,} are allowed")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_request(f"the body is not UTF-8: byte {error.start + 1} is wrong") from None
    found: dict[str, list[str]] = {}
    name: str | None = None
    for number, line in enumerate(_END_OF_LINE.split(text), 1):
        if line.startswith("#"):
            continue
        if not line or line.isspace():
            name = None
        elif line[0].isspace():
            if name is None:
                raise bad_request(f"line {number} begins with white space, but there is no line to continue")
            found[name].append(_decode(line, number))
        else:
            label, colon, value = line.partition(":")
            name = _decode(label, number)
            if not colon or not name:
                raise bad_request(f"line {number} is not ANVL: expected a name, a colon and a value")
            if name in found:
                raise bad_request(f"line {number} repeats the element {validation.quote(name)}")
            if len(found) == MAX_ELEMENTS:
                raise bad_request(f"the body has more than {MAX_ELEMENTS:,} elements")
            found[name] = [_decode(value, number)]
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}


def _decode(text: str, number: int) -> str:
    if "%" not in text:
        return text.strip()
    if _LONE_PERCENT.search(text):
        raise bad_request(f"line {number} has a percent sign without two hexadecimal digits; write %25")
    try:
        return unquote(text, errors="strict").strip()
    except UnicodeDecodeError:
        raise bad_request(f"line {number} has percent-encoded bytes that are not UTF-8") from None
