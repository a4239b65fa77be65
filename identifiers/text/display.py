r"""Text of unknown origin, made safe to show.

Every channel can be attacked by what it shows: a terminal by escape sequences, a log by line breaks, a page by
right-to-left overrides and characters nobody sees. :func:`escape` and :func:`percent` give printable ASCII for
terminals, logs, headers and attributes; :func:`atoms` cuts a text into runs that can be shown and chips that stand
for what cannot, so that none of the hidden characters is ever in a page itself (ARK draft, sections 8.1 and 8.1.1).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

from . import characters, iri

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OCTETS = {octet: f"%{octet:02X}" for octet in (*range(0x20), *range(0x7F, 0x100))}
_ENCODED_NON_ASCII = re.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")
_UCSCHAR = re.compile(f"[{iri.UCSCHAR}]")
_LONG_RUN = 16
# More combining marks on one letter reach into the lines above and below; no language needs more.
_MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of a text that is shown in one go.

    A run of visible characters has them in ``text`` and no ``chip``. Anything else is a chip: ``text`` holds the
    characters, ``chip`` what is shown in their place ("U+202E RLO"), ``name`` the Unicode name, ``count`` how many
    equal ones the chip stands for (more than one for long runs alone).
    """

    text: str
    chip: str | None = None
    name: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Character:
    """A code point that a reader should know of: where it stands, in code points, what it is, why it matters."""

    index: int
    code_point: str
    name: str
    utf8: str
    percent: str
    why: str


def escape(text: str) -> str:
    r"""Printable ASCII for a terminal, a log or a header: all else as ``\u{...}``, a backslash doubled.

    >>> print(escape("a\u202eb\x1b[2J\\"))
    a\u{202e}b\u{1b}[2J\\
    """
    return _UNPRINTABLE.sub(_escaped, text.replace("\\", "\\\\"))


def visible(text: str, *, ascii_only: bool = False) -> str:
    r"""``text`` for a terminal that shows Unicode: what cannot be seen as ``\u{...}``, every other character as it is.

    Escaped are control, bidi, format, zero-width, private-use, surrogate and unassigned characters, spaces beyond
    ASCII, and combining marks that have no base or follow many others. With ``ascii_only``, so is all beyond ASCII. A
    backslash stays as it is, so that the function can be applied twice.

    >>> visible("M\u00fcller\u202e") == "M\u00fcller\\u{202e}"
    True
    """
    if ascii_only:
        return _UNPRINTABLE.sub(_escaped, text)
    if text.isascii():
        return characters.HIDDEN.sub(_each_escaped, text)
    shown: list[str] = []
    marks = _MOST_MARKS
    for char in text:
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > _MOST_MARKS or characters.is_hidden(char):
            # A mark must not change the escape before it, nor the text before this one.
            shown.append(f"\\u{{{ord(char):x}}}")
            marks = _MOST_MARKS
        else:
            shown.append(char)
            marks = _MOST_MARKS if char == " " else marks
    return "".join(shown)


def columns(text: str) -> int:
    """The columns that visible text takes in a terminal: two for a wide character, none for a combining mark.

    >>> columns("M\u00fcller"), columns("\u674e"), columns("e\u0301")
    (6, 2, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def percent(text: str) -> str:
    r"""An identifier as printable ASCII: whatever is not becomes percent-encoded UTF-8, a lone surrogate ``\u{d800}``.

    The result names the same thing wherever non-ASCII characters and their percent-encoded octets do.

    >>> percent("ark:12345/a\u202eb")
    'ark:12345/a%E2%80%AEb'
    """
    whole = _SURROGATE.sub(lambda found: escape(found[0]), text)
    return whole.encode().decode("latin-1").translate(_OCTETS)


def decoded(text: str) -> str:
    """An identifier in ASCII as people read it: percent-encoded UTF-8 as the characters it stands for.

    What is ASCII, cannot be seen, or is no UTF-8 stays percent-encoded, so that percent-encoding the rest again gives
    the identifier back. The result is for eyes alone, and goes through :func:`atoms` like all that is shown.

    Source: RFC 3987, section 3.2; URN-049.

    >>> decoded("urn:foo:caf%C3%A9%2F%E2%80%AE%FF")
    'urn:foo:caf\u00e9%2F%E2%80%AE%FF'
    """
    return _ENCODED_NON_ASCII.sub(_visibly, text) if "%" in text else text


def atoms(text: str) -> list[Atom]:
    """``text`` cut into runs of visible characters and chips, in order; their texts joined are ``text`` again.

    >>> [(atom.text, atom.chip) for atom in atoms("a\\u202eb")]
    [('a', None), ('\\u202e', 'U+202E RLO'), ('b', None)]
    """
    cut: list[Atom] = []
    end = 0
    for found in characters.HIDDEN.finditer(text):
        if found.start() > end:
            cut.append(Atom(text[end : found.start()]))
        cut.extend(_chips(found[1], found[0]))
        end = found.end()
    if end < len(text):
        cut.append(Atom(text[end:]))
    return cut


def unusual(text: str, *, most: int = 200) -> list[Character]:
    """Every code point of ``text`` outside printable ASCII, at most ``most`` of them, in order.

    >>> unusual("a\\u202e")[0].name
    'RIGHT-TO-LEFT OVERRIDE'
    """
    found = []
    for place in _UNPRINTABLE.finditer(text):
        if len(found) == most:
            break
        char = place[0]
        utf8 = char.encode("utf-8", "surrogatepass")
        found.append(
            Character(
                place.start(),
                f"U+{ord(char):04X}",
                characters.name(char),
                utf8.hex(" ").upper(),
                percent(char),
                _WHY.get(characters.classify(char), _WHY[None])
                if char not in characters.BIDI_FORMATTING
                else "reorders the text around it; must not stand in an IRI (RFC 3987, section 4.1)",
            )
        )
    return found


def named(char: str) -> str:
    """One character as a message names it: itself in quotation marks when printable ASCII, else code point and name.

    >>> named("!"), named("\\u202e")
    ("'!'", 'U+202E RIGHT-TO-LEFT OVERRIDE')
    """
    if char == " ":
        return "a space"
    if "\x20" < char < "\x7f":
        return f'"{char}"' if char == "'" else f"'{char}'"
    return f"U+{ord(char):04X} {characters.name(char)}"


def is_composed(text: str) -> bool:
    """Whether ``text`` is in Unicode normal form C, by the Unicode version of the running Python."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


_WHY = {
    "control": "a control character; no identifier can hold it",
    "bidi": "can reorder the text around it",
    "format": "is not seen, but is part of the name",
    "ignorable": "is not seen, but is part of the name",
    "space": "looks like a space, but is part of the name",
    "noncharacter": "will never be a character; no identifier can hold it",
    "private": "has no public meaning; only a query can hold it",
    "surrogate": "half a character; no text can hold it",
    "unassigned": "has no character assigned to it yet",
    None: "is percent-encoded in the normal form",
}


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"


def _each_escaped(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[1]):x}}}" * len(found[0])


@functools.lru_cache(4096)
def _columns_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _visibly(octets: re.Match[str]) -> str:
    # What is no UTF-8 comes out as surrogates, which is_hidden knows.
    chars = bytes.fromhex(octets[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(map(_visible_or_octets, chars))


@functools.lru_cache(1024)
def _visible_or_octets(char: str) -> str:
    if _UCSCHAR.match(char) and not characters.is_hidden(char):
        return char
    return "".join(f"%{octet:02X}" for octet in char.encode("utf-8", "surrogateescape"))


def _chips(char: str, run: str) -> list[Atom]:
    label = f"U+{ord(char):04X} {characters.short_name(char)}".strip()
    if len(run) > _LONG_RUN:
        return [Atom(run, label, characters.name(char), len(run))]
    return [Atom(char, label, characters.name(char))] * len(run)
