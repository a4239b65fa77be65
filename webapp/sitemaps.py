"""The addresses in a sitemap, or in lines of text. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from xml.parsers import expat

LOC = "http://www.sitemaps.org/schemas/sitemap/0.9 loc"
"""The element of a sitemap that holds an address, with its namespace as expat writes it."""

_CHUNK = 65536


class SitemapError(ValueError):
    """A text is no sitemap; the message is printable ASCII and says where it ends to be one."""


def addresses(text: str, *, most: int) -> list[str]:
    """The first ``most`` addresses in a sitemap, or, where ``text`` does not begin with ``<``, one a line.

    White space around an address is let go, empty lines are passed over. A sitemap with a document type is refused:
    nothing that it could define is needed. Raises :class:`SitemapError`.

    >>> addresses("https://17beta.top/en\\n\\nhttps://17beta.top/\\n", most=10)
    ['https://17beta.top/en', 'https://17beta.top/']
    >>> addresses(f'<urlset xmlns="{LOC.split()[0]}"><url><loc> https://17beta.top/ </loc></url></urlset>', most=10)
    ['https://17beta.top/']
    """
    found = _locations(text) if text.lstrip()[:1] == "<" else text.splitlines()
    stripped = (each.strip(" \t\r\n") for each in found)
    return list(itertools.islice((each for each in stripped if each), most))


def _locations(text: str) -> Iterator[str]:
    # What was read from a form is text; whatever encoding it says it has, it has not any more.
    parser = expat.ParserCreate("utf-8", " ")
    parser.buffer_text = True
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

    def refuse(*declared: object) -> None:
        raise SitemapError("a sitemap needs no document type")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = say
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        octets = text.lstrip().encode("utf-8")
        for start in range(0, len(octets), _CHUNK):
            parser.Parse(octets[start : start + _CHUNK], start + _CHUNK >= len(octets))
            yield from done
            done.clear()
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise SitemapError(f"no XML at line {error.lineno}, column {error.offset + 1}: {why}") from None
    except UnicodeEncodeError:
        raise SitemapError("XML holds no half of a character") from None
