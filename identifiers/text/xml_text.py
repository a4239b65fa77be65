r"""Texts in XML documents: replace the characters that XML forbids, and escape the others.

Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]      (XML 1.0, section 2.2)
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

_NOT_CHAR = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def valid(text: str) -> str:
    r"""Replace each character that XML forbids by U+FFFD, also half of a surrogate pair.

    >>> ascii(valid("a\x00b\ud800c\uffff"))
    "'a\\ufffdb\\ufffdc\\ufffd'"
    """
    return _NOT_CHAR.sub("\ufffd", text)


def content(text: str) -> str:
    r"""Return a text as the content of an element.

    A carriage return becomes a reference, because an XML parser replaces it by a line feed.

    >>> content("R&D\r\n\x00")
    'R&amp;D&#13;\n\ufffd'
    """
    return escape(valid(text), {"\r": "&#13;"})


def attribute(text: str) -> str:
    """Return a text as the value of an attribute, with its quotation marks.

    >>> attribute('the "Ark"')
    '\\'the "Ark"\\''
    """
    return quoteattr(valid(text))
