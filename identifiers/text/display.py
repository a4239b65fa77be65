"""Make text of unknown origin safe to show (ARK draft, sections 8.1 and 8.1.1). It can contain terminal escape
sequences, line breaks that forge log lines, right-to-left overrides and invisible characters.

:func:`escape` and :func:`percent` return printable ASCII for terminals, logs, headers and attributes. :func:`atoms`
splits a text for a page into visible runs and labels of hidden characters.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from dataclasses import dataclass, replace

from . import characters, iri
from .translatable import Translatable

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_ESCAPED = re.compile(r"\\\\|\\u\{([0-9a-f]{2,6})\}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODED = [chr(octet) if 0x20 <= octet < 0x7F else f"%{octet:02X}" for octet in range(0x100)]
_ENCODED_NON_ASCII = re.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")
_LONG_RUN = 16
# More combining marks on one letter overlap the lines above and below. No language needs more.
_MAX_MARKS = 4


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as "1 name" or "2,000 names". The default plural is the noun with an "s".

    >>> format_count(2000, "entry", "entries")
    '2,000 entries'
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of a text for a page: a run of visible characters, or hidden ones that ``chip`` replaces ("U+202E RLO").
    ``chip`` and ``name``, its Unicode name, are None for visible ones. The ``count`` of equal characters exceeds 1 only
    for long runs.
    """

    text: str
    chip: str | None = None
    name: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Character:
    """A code point outside printable ASCII, with the texts that explain it. ``index`` counts code points from 0.
    ``code_point`` is such as "U+00E9", ``utf8`` "C3 A9" and ``percent`` "%C3%A9". ``why`` is a phrase about its effect.
    """

    index: int
    code_point: str
    name: str
    utf8: str
    percent: str
    why: str


def escape(text: str) -> str:
    r"""Return ``text`` in printable ASCII for a terminal, log or header: other characters as ``\u{...}``, backslashes
    doubled.

    >>> print(escape("a\u202eb\x1b[2J\\"))
    a\u{202e}b\u{1b}[2J\\
    """
    return _UNPRINTABLE.sub(_escape_match, text.replace("\\", "\\\\"))


def visible(text: str, *, ascii_only: bool = False) -> str:
    r"""Return ``text`` for a Unicode terminal: hidden characters as ``\u{...}``, visible characters unchanged. A second
    call changes nothing.

    Hidden are control, bidi, format, zero-width, private-use, surrogate and unassigned characters, non-ASCII spaces,
    and combining marks without a base or after many others. With ``ascii_only``, escape all non-ASCII characters.

    >>> visible("M\u00fcller\u202e") == "M\u00fcller\\u{202e}"
    True
    """
    if ascii_only or text.isascii():
        return _UNPRINTABLE.sub(_escape_match, text)
    shown: list[str] = []
    marks = _MAX_MARKS
    for char in text:
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > _MAX_MARKS or characters.is_hidden(char):
            # A mark must change neither the escape before it nor the text before the call.
            shown.append(f"\\u{{{ord(char):x}}}")
            marks = _MAX_MARKS
        else:
            shown.append(char)
            marks = _MAX_MARKS if char == " " else marks
    return "".join(shown)


def restore(text: str) -> str:
    r"""Return a message with the characters that :func:`escape` has escaped, for a Unicode terminal. Escapes of hidden
    characters, doubled backslashes, combining marks and right-to-left letters stay.

    >>> restore(r"M\u{fc}ller\u{202e} \\u{fc}") == "M\u00fcller" + r"\u{202e} \\u{fc}"
    True
    """
    return _ESCAPED.sub(_restore_match, text) if "\\u{" in text else text


def columns(text: str) -> int:
    """Return the width of the visible ``text`` in terminal columns: 2 for a wide character, 0 for a combining mark."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def percent(text: str) -> str:
    r"""Return an identifier in printable ASCII: other characters as percent-encoded UTF-8. A lone surrogate becomes
    ``\u{d800}``.

    >>> percent("ark:12345/a\u202eb")
    'ark:12345/a%E2%80%AEb'
    """
    if text.isascii() and text.isprintable():
        return text
    whole = _SURROGATE.sub(lambda found: escape(found[0]), text)
    return "".join(map(_ENCODED.__getitem__, whole.encode()))


def decode_for_display(text: str) -> str:
    """Decode the percent-encoded UTF-8 of an identifier for display through :func:`atoms` (RFC 3987, section 3.2;
    URN-049). ASCII, hidden characters and invalid UTF-8 stay, so that percent-encoding the result restores the
    identifier.

    >>> decode_for_display("urn:foo:caf%C3%A9%2F%E2%80%AE%FF")
    'urn:foo:caf\u00e9%2F%E2%80%AE%FF'
    """
    return _ENCODED_NON_ASCII.sub(_make_visible, text) if "%" in text else text


def atoms(text: str) -> list[Atom]:
    """Split a text for a page into runs of visible characters and chips for hidden ones. Their texts joined are
    ``text``.

    >>> [(atom.text, atom.chip) for atom in atoms("a\\u202eb")]
    [('a', None), ('\\u202e', 'U+202E RLO'), ('b', None)]
    """
    cut: list[Atom] = []
    end = 0
    for run in characters.hidden_runs(text):
        if run.start() > end:
            cut.append(Atom(text[end : run.start()]))
        cut.extend(_chips(run[1], run[0]))
        end = run.end()
    if end < len(text):
        cut.append(Atom(text[end:]))
    return cut


def unusual(text: str, *, limit: int = 200) -> list[Character]:
    """Return the first ``limit`` characters of ``text`` outside printable ASCII with their explanations, in order."""
    result = []
    for place in _UNPRINTABLE.finditer(text):
        if len(result) == limit:
            break
        char = place[0]
        utf8 = char.encode("utf-8", "surrogatepass")
        result.append(
            Character(
                place.start(),
                f"U+{ord(char):04X}",
                characters.name(char),
                utf8.hex(" ").upper(),
                percent(char),
                _WHY.get(characters.classify(char), _WHY[None])
                if char not in characters.BIDI_FORMATTING
                else Translatable("reorders the text around it; not allowed in an IRI (RFC 3987, section 4.1)"),
            )
        )
    return result


def describe_character(char: str) -> str:
    """Return a name for a character in a message: itself in quotation marks, or its code point and Unicode name.

    >>> describe_character("!"), describe_character("\\u202e")
    ("'!'", 'U+202E RIGHT-TO-LEFT OVERRIDE')
    """
    if char == " ":
        return Translatable("a space")
    if "\x20" < char < "\x7f":
        return f'"{char}"' if char == "'" else f"'{char}'"
    return f"U+{ord(char):04X} {characters.name(char)}"


def is_composed(text: str) -> bool:
    """Return whether ``text`` is in Unicode normal form NFC, by the Unicode version of Python."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)


_WHY = {
    "control": Translatable("a control character; not allowed in an identifier"),
    "bidi": Translatable("can reorder the text around it"),
    "format": Translatable("is invisible but part of the name"),
    "ignorable": Translatable("is invisible but part of the name"),
    "space": Translatable("looks like a space but is part of the name"),
    "noncharacter": Translatable("never assigned to a character; not allowed in an identifier"),
    "private": Translatable("a private-use character; allowed only in a query"),
    "surrogate": Translatable("half of a surrogate pair; not valid in text"),
    "unassigned": Translatable("not assigned in Unicode"),
    None: Translatable("is percent-encoded in the normal form"),
}


def _escape_match(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match[0]):x}}}"


def _restore_match(match: re.Match[str]) -> str:
    point = int(match[1] or "0", 16)
    if not 0x80 <= point <= sys.maxunicode:
        return match[0]
    char = chr(point)
    moved = unicodedata.category(char)[0] == "M" or unicodedata.bidirectional(char) in ("R", "AL", "AN")
    return match[0] if moved or characters.is_hidden(char) else char


@functools.lru_cache(4096)
def _columns_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _make_visible(octets: re.Match[str]) -> str:
    # Invalid UTF-8 becomes surrogates, which is_hidden recognizes.
    chars = bytes.fromhex(octets[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(map(_visible_or_octets, chars))


@functools.lru_cache(1024)
def _visible_or_octets(char: str) -> str:
    if iri.is_ucschar(char) and not characters.is_hidden(char):
        return char
    return "".join(f"%{octet:02X}" for octet in char.encode("utf-8", "surrogateescape"))


def _chips(char: str, run: str) -> list[Atom]:
    chip = _chip(char)
    return [replace(chip, text=run, count=len(run))] if len(run) > _LONG_RUN else [chip] * len(run)


@functools.lru_cache(4096)
def _chip(char: str) -> Atom:
    label = f"U+{ord(char):04X} {characters.short_name(char)}".strip()
    return Atom(char, label, characters.name(char))
