"""Read the addresses in a sitemap (sitemaps.org), or in a text with one address per line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NoReturn
from xml.parsers import expat

from ..identifiers.text import xml_text
from ..identifiers.text.translatable import Translatable

LOC = "http://www.sitemaps.org/schemas/sitemap/0.9 loc"
"""The element of a sitemap that contains an address, in the notation of expat: namespace, space, name."""

_CHUNK = 65536


class SitemapError(ValueError):
    """Raised for a text that is not a sitemap. The message is printable ASCII with the position of the error."""


def addresses(text: str, *, most: int) -> list[str]:
    r"""Return at most ``most`` first addresses of a text with one per line, or of a sitemap, which starts with ``<``.
    White space around addresses and empty lines are ignored. Raises :class:`SitemapError` for invalid XML and for a
    sitemap with a document type.

    >>> addresses("https://17beta.top/en\n\nhttps://17beta.top/\n", most=10)
    ['https://17beta.top/en', 'https://17beta.top/']
    >>> addresses(f'<urlset xmlns="{LOC.split()[0]}"><url><loc> https://17beta.top/ </loc></url></urlset>', most=10)
    ['https://17beta.top/']
    """
    found = _locations(text) if text.lstrip()[:1] == "<" else text.splitlines()
    stripped = (each.strip(" \t\r\n") for each in found)
    return list(itertools.islice((each for each in stripped if each), most))


def _locations(text: str) -> Iterator[str]:
    reading: list[str] = []
    done: list[str] = []
    inside = False

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        inside = name == LOC

    def end(name: str) -> None:
        nonlocal inside
        if name == LOC:
            done.append("".join(reading))
            reading.clear()
        inside = False

    def say(data: str) -> None:
        if inside:
            reading.append(data)

    def refuse() -> NoReturn:
        raise SitemapError(Translatable("a sitemap must not have a document type; remove <!DOCTYPE ...>"))

    # The text is already decoded, so the encoding in the XML declaration is ignored.
    parser = xml_text.parser(refuse, "utf-8")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = say
    try:
        octets = text.lstrip().encode("utf-8")
        for start in range(0, len(octets), _CHUNK):
            parser.Parse(octets[start : start + _CHUNK], start + _CHUNK >= len(octets))
            yield from done
            done.clear()
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        message = Translatable(
            "the XML is not valid at line %(line)s, column %(column)s: %(reason)s",
            line=error.lineno,
            column=error.offset + 1,
            reason=why,
        )
        raise SitemapError(message) from None
    except UnicodeEncodeError:
        raise SitemapError(Translatable("XML must not contain half of a surrogate pair")) from None
