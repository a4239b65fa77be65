"""Build a URN from a name with any characters."""

from __future__ import annotations

from urllib.parse import quote

from ..problems import IdentifierError, problem
from ..text import iri
from . import namespaces
from .grammar import DRAFT
from .parser import parse

_PCHAR_MARKS = iri.SUB_DELIMS + ":@"


def build(nid: str, raw_nss: str | tuple[str, ...]) -> str:
    """Build a URN from a name with any characters. Percent-encode those that a URN cannot contain (URN-033).

    The special characters of the namespace keep their meaning in a str. In a tuple of parts they are percent-encoded,
    and the delimiter of the namespace joins the parts (URN-040). Raises
    :class:`~ararat.identifiers.problems.IdentifierError` if the result is not a URN by the URN draft, and ValueError
    for parts in a namespace without parts.

    >>> build("foo", "\\u00e9/100%")
    'urn:foo:%C3%A9%2F100%25'
    >>> build("foo", "a:b"), build("foo", ("a:b", "c"))
    ('urn:foo:a:b', 'urn:foo:a%3Ab:c')
    """
    if isinstance(raw_nss, str):
        return parse(f"urn:{nid}:{_encode(raw_nss)}", DRAFT).text
    namespace = namespaces.lookup(nid)
    delimiter = namespace.delimiter if namespace else ":"
    if delimiter is None:
        raise ValueError(f"names in the namespace {nid} have no parts: pass the whole name as a str")
    # "the character used in a literal sense MUST be encoded with "%" followed by the hexadecimal representation of that
    # octet"
    special = {ord(char): f"%{ord(char):02X}" for char in namespaces.special(nid)}
    nss = delimiter.join(_encode(part).translate(special) for part in raw_nss)
    return parse(f"urn:{nid}:{nss}", DRAFT).text


def _encode(raw: str) -> str:
    # URN-036 to URN-044: percent-encode "/", "?", "#", "[", "]", "%" and all characters outside the repertoire.
    try:
        return quote(raw, safe=_PCHAR_MARKS)
    except UnicodeEncodeError as error:
        raise IdentifierError(raw, problem("nss-char", error.start, error.start + 1)) from None
