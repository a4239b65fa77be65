"""Labels that look like ``ark:`` or ``urn:`` but are not ASCII, so that an error can explain them. They are
transliterated, in letters of another width or style, or with invisible characters. "IRIs do not allow for non-ASCII
characters in the scheme" (ARK draft, section 5.2).
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from . import characters, confusables

# The letters with the same sound in other alphabets. Letters with the same look are in confusables.
_SOUNDS_LIKE = {
    "a": "\u0430\u0410\u03b1\u0391\u0561\u0531\u10d0",
    "r": "\u0440\u0420\u03c1\u03a1\u0580\u0550\u10e0",
    "k": "\u043a\u041a\u03ba\u039a\u056f\u053f\u10d9",
    "u": "\u0443\u0423\u03c5\u03a5\u0578\u0548\u10e3",
    "n": "\u043d\u041d\u03bd\u039d\u0576\u0546\u10dc",
}
_TRANSLITERATED = {char: letter for letter, chars in _SOUNDS_LIKE.items() for char in chars}
_COLONS = "\uff1a\ufe55\ufe13\ufe30\u2236\ua789\u02d0\u0589\u05c3\u1803\u205a"
_MAX_LENGTH = 24


class Lookalike(NamedTuple):
    """A label that looks like ``ark:`` or ``urn:`` in other characters. ``span`` is its place, with the colon."""

    span: tuple[int, int]
    ascii_label: str


_BEFORE_COLON = re.compile(f"[^:{_COLONS}/?#]{{0,{_MAX_LENGTH}}}[:{_COLONS}]")


def lookalike(text: str) -> Lookalike | None:
    """Find a label at the start of ``text`` that looks like ark: or urn: but is not ASCII.

    >>> lookalike("\u0410\u0420\u041a: 12345/437719").ascii_label
    'ark:'
    """
    match = _BEFORE_COLON.match(text)
    if match is None or re.fullmatch("[A-Za-z]+:", match[0]):
        return None
    plain = _plain(match[0][:-1])
    return Lookalike(match.span(), f"{plain}:") if plain in ("ark", "urn") else None


def _plain(written: str) -> str:
    """Return the label in lower-case ASCII, or "" if a character has no ASCII counterpart."""
    visible = unicodedata.normalize("NFKC", characters.HIDDEN.sub("", written).strip())
    letters = [_TRANSLITERATED.get(char) or confusables.looks_like(char) or char for char in visible]
    return "".join(letters).lower() if all(map(str.isascii, letters)) else ""
