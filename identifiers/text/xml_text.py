"""Texts in XML documents: replace the characters that XML forbids, and escape the others. Read untrusted documents.

Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]      (XML 1.0, section 2.2)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

_NOT_CHAR = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def valid(text: str) -> str:
    r"""Return ``text`` with U+FFFD for each character that XML forbids, such as half of a surrogate pair.

    >>> ascii(valid("a\x00b\ud800c\uffff"))
    "'a\\ufffdb\\ufffdc\\ufffd'"
    """
    return _NOT_CHAR.sub("\ufffd", text)


def content(text: str) -> str:
    r"""Escape ``text`` for the content of an XML element. A carriage return becomes a reference, because an XML parser
    replaces it by a line feed.

    >>> content("R&D\r\n\x00")
    'R&amp;D&#13;\n\ufffd'
    """
    from xml.sax.saxutils import escape  # it loads urllib.request and ssl

    return escape(valid(text), {"\r": "&#13;"})


def attribute(text: str) -> str:
    """Escape ``text`` for the value of an XML attribute, and add the quotation marks."""
    from xml.sax.saxutils import quoteattr  # it loads urllib.request and ssl

    return quoteattr(valid(text))


def parser(refuse: Callable[[], NoReturn], encoding: str | None = None, *, namespaces: bool = True) -> XMLParserType:
    """Create an XML parser (expat) for untrusted documents. It calls ``refuse``, which must raise, for a document type
    or an entity. Entities could grow without bound or include other files.

    ``encoding`` replaces that of the XML declaration. With ``namespaces``, an element is named by its namespace, a
    space, and its local name.

    >>> def refuse():
    ...     raise ValueError("a document type is not allowed")
    >>> parser(refuse).Parse('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', True)
    Traceback (most recent call last):
    ValueError: a document type is not allowed
    """
    from xml.parsers import expat  # only an XML document needs it

    result = expat.ParserCreate(encoding, " " if namespaces else None)
    result.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def declared(*_: object) -> NoReturn:
        refuse()

    result.StartDoctypeDeclHandler = result.EntityDeclHandler = result.ExternalEntityRefHandler = declared
    result.buffer_text = True
    return result
