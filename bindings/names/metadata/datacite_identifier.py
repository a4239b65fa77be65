"""The element ``identifier`` of a DataCite record in XML: a record states the name that it is recorded for. A program
that mints a name cannot know it, so it sends a placeholder, which is replaced as EZID does.

Source: EZID API, version 2, "Metadata profiles"; DataCite Metadata Schema 4.5, property 1; decision X-10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from ....identifiers.text import xml_text
from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError

_NAME = re.compile(rb"<([^\s/>]+)")
_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*+"|'[^']*+')*+>""")
# A code such as (:tba) means a value that is not known yet.
_NO_TEXT = re.compile(r"\s*(?:\(:[a-z]+\)\s*)?")


class _Place(NamedTuple):
    """The position of the element in bytes, its tag, type and text. A missing element has ``start`` equal to
    ``end``.
    """

    start: int
    end: int
    tag: str
    type: str
    text: str
    line: int


def with_identifier(document: str, key: str, shown: str | None = None, *, refuses: bool = True) -> str:
    """Return a DataCite record in XML with the name ``key``, or with the text ``shown``, as its identifier. Raises
    :class:`BindingError` (``metadata-document``) for an identifier of another type with a text that is not a code such
    as ``(:tba)``. Without ``refuses`` it is replaced, because an older version recorded it. A record without an
    identifier is returned as it is.

    >>> record = '<resource xmlns="http://datacite.org/schema/kernel-4"><identifier/></resource>'
    >>> with_identifier(record, "ark:12345/x5").partition("kernel-4")[2]
    '"><identifier identifierType="ARK">ark:12345/x5</identifier></resource>'
    """
    octets = document.encode()
    place = _find(octets)
    if place is None:
        return document
    kind = key.partition(":")[0].upper()
    if refuses and place.type.upper() != kind and not _NO_TEXT.fullmatch(place.text):
        other = f"{place.type or 'no type'} {place.text.strip()}"
        raise BindingError(
            "metadata-document",
            Translatable(
                "the metadata element datacite has the identifier %(stated)s in line %(line)s, but the name is an "
                "%(kind)s; send it with the type %(kind)s, or without a text",
                stated=validation.quote(other),
                line=place.line,
                kind=kind,
            ),
        )
    element = f"<{place.tag} identifierType={xml_text.attribute(kind)}>{xml_text.content(shown or key)}</{place.tag}>"
    return (octets[: place.start] + element.encode() + octets[place.end :]).decode()


def _find(octets: bytes) -> _Place | None:
    """Return the place of the first element ``identifier`` below the root, or the place for one."""
    from xml.parsers import expat  # only an XML document needs it

    places: list[_Place] = []
    depth, start, line, kind = 0, -1, 0, ""
    texts: list[str] = []
    root = b""

    def refuse() -> NoReturn:
        raise ValueError("the document was checked, and has no document type")

    parser = xml_text.parser(refuse, "utf-8")

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth, start, line, kind, root
        depth += 1
        if depth == 1:
            root = octets[: parser.CurrentByteIndex]
        elif depth == 2 and name.rpartition(" ")[2] == "identifier" and not places:
            start, line, kind = parser.CurrentByteIndex, parser.CurrentLineNumber, attributes.get("identifierType", "")

    def end(name: str) -> None:
        nonlocal depth, start
        if depth == 2 and start >= 0:
            stop = parser.CurrentByteIndex
            # After an empty-element tag, the position is that of the next tag, which can be the end of the root.
            tag = _TAG.match(octets, start)
            if tag is None or not tag[0].endswith(b"/>"):
                stop = octets.index(b">", stop) + 1
            places.append(_Place(start, stop, _tag(octets, start), kind, "".join(texts), line))
            start = -1
        depth -= 1

    def read(text: str) -> None:
        if start >= 0:
            texts.append(text)

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = read
    try:
        parser.Parse(octets, True)
    except (expat.ExpatError, ValueError):
        return None
    if places:
        return places[0]
    tag = _TAG.match(octets, len(root))
    if tag is None or tag[0].endswith(b"/>"):
        return None
    prefix = _tag(octets, len(root)).rpartition(":")
    return _Place(tag.end(), tag.end(), f"{prefix[0]}{prefix[1]}identifier", "", "", 0)


def _tag(octets: bytes, start: int) -> str:
    name = _NAME.match(octets, start)
    return name[1].decode() if name else "identifier"
