"""Labels that read like ``ark`` or ``urn`` and are not (ARK draft, section 5.2).

"IRIs do not allow for non-ASCII characters in the scheme": the label of an identifier is three ASCII letters and a
colon. Text may still show it transliterated, in letters of another width or style, or with a character in it that
nobody sees. Such a label makes no identifier; it is recognised here so that a person can be told, and offered the
label they may have meant.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from . import characters

_LOOKS_LIKE = {
    "a": "\u0430\u0410\u03b1\u0391\u0251\u1d00\u2c6d\u0561\u0250",
    "r": "\u0440\u0420\u03c1\u03a1\u0280\u0433\u1d26\u2c85\u027e\u0491",
    "k": "\u043a\u041a\u03ba\u039a\u1d0b\u049b\u03f0\u2c95\u212a",
    "u": "\u0443\u0423\u03c5\u03a5\u028b\u1d1c\u057d\u03c5\u0446",
    "n": "\u043d\u041d\u03bd\u039d\u0274\u0578\u057c\u043f\u0438",
}
_ASCII = {ord(char): letter for letter, chars in _LOOKS_LIKE.items() for char in chars}
_COLONS = "\uff1a\ufe55\ufe13\ufe30\u2236\ua789\u02d0\u0589\u05c3\u1803\u205a"
_LONGEST = 24


class Lookalike(NamedTuple):
    """Where the label stands, with its colon, and the ASCII label it reads like."""

    span: tuple[int, int]
    label: str


_BEFORE_COLON = re.compile(f"[^:{_COLONS}/?#]{{0,{_LONGEST}}}[:{_COLONS}]")


def lookalike(text: str) -> Lookalike | None:
    """The label at the start of ``text`` that reads like ark: or urn: without being it, or None.

    >>> lookalike("\\u0410\\u0420\\u041a: 12345/437719").label
    'ark:'
    >>> lookalike("ark:12345/x") is None
    True
    """
    found = _BEFORE_COLON.match(text)
    if found is None or re.fullmatch("[A-Za-z]+:", found[0]):
        return None
    plain = _plain(found[0][:-1])
    return Lookalike(found.span(), f"{plain}:") if plain in ("ark", "urn") else None


def _plain(written: str) -> str:
    visible = characters.HIDDEN.sub("", written).strip()
    folded = unicodedata.normalize("NFKC", visible).translate(_ASCII)
    return folded.casefold() if folded.isascii() else ""
