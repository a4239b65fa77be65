"""Find the URLs of descriptions in ``Link`` fields: links with ``rel="describedby"`` (RFC 8288, section 3). The parser
skips a malformed link up to the next comma (appendix B.2), and takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_LINKS = 10
"""The number of links of one response that are read."""

# RFC 8288, section 3:
#     Link = #link-value
#     link-value = "<" URI-Reference ">" *( OWS ";" OWS link-param )
#     link-param = token BWS [ "=" BWS ( token / quoted-string ) ]
# Possessive quantifiers, and separators that are skipped together, so that each character is read only a few times.
_TARGET = re.compile(r"[ \t,]*+<([^<>]*+)>")
_PARAMETER = re.compile(
    r"[ \t]*+;[ \t]*+([^\s=;,\"<>]*+)[ \t]*+(?:=[ \t]*+(?:\"((?:[^\"\\]|\\.)*+)\"?|([^\s;,\"]*+)))?", re.DOTALL
)
_NEXT = re.compile(r"[ \t,]*+[^,]*+,?")
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


def describedby(fields: Iterable[str]) -> list[str]:
    """Return the targets of the links with the relation describedby, as written and in order. Only the first
    :data:`MAX_LINKS` links are read. A link with an ``anchor`` describes another resource and is omitted. So are
    formats for programs, if there is a link to a page.

    >>> describedby(['<?info>; rel="alternate describedby", </css>; rel=preload', '</j>; rel=describedby; type=a/b'])
    ['?info']
    """
    found, pages = [], []
    for number, (target, parameters) in enumerate(_links(fields)):
        if number == MAX_LINKS:
            break
        if "anchor" not in parameters and "describedby" in parameters.get("rel", "").lower().split():
            found.append(target)
            if parameters.get("type", "text/html").lower() == "text/html":
                pages.append(target)
    return pages or found


def relations(fields: Iterable[str]) -> dict[str, list[str]]:
    """Return the targets of all links in the values of Link fields by relation, in lower case. Links of other resources
    (with an ``anchor``) are omitted.

    >>> relations(['<?info>; rel="describedby", </licence>; rel="license item"'])
    {'describedby': ['?info'], 'license': ['/licence'], 'item': ['/licence']}
    """
    found: dict[str, list[str]] = {}
    for target, parameters in _links(fields):
        for relation in parameters.get("rel", "").lower().split() if "anchor" not in parameters else ():
            found.setdefault(relation, []).append(target)
    return found


def _links(fields: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for field in fields:
        position = 0
        while position < len(field):
            if target := _TARGET.match(field, position):
                parameters, position = _parameters(field, target.end())
                yield target[1].strip(" \t"), parameters
            else:
                skipped = _NEXT.match(field, position)
                position = skipped.end() if skipped else len(field)


def _parameters(field: str, position: int) -> tuple[dict[str, str], int]:
    parameters: dict[str, str] = {}
    while found := _PARAMETER.match(field, position):
        position = found.end()
        name, quoted, token = found.groups()
        value = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else token or ""
        # RFC 8288, section 3.3: "The rel parameter MUST be present but MUST NOT appear more than once in a given
        # link-value; occurrences after the first MUST be ignored by parsers."
        parameters.setdefault(name.lower(), value)
    return parameters, position
