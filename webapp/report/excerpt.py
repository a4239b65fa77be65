"""Split a text from an unknown source into runs that a page can display safely (a :data:`Line`). A line has about
:data:`MAX_LENGTH` characters at most. Hidden characters become chips (:func:`.display.atoms`). Right-to-left text is
isolated, so that the pieces keep the order of the text (UAX #9, HL4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from markupsafe import Markup, escape

from ...identifiers.text import characters, display
from ...identifiers.text.display import Atom
from ...identifiers.text.translatable import Translatable
from ..language.translation import pieces

Kind = Literal["same", "mark", "del", "ins", "gap"]

MAX_LENGTH = 700
"""Maximum number of characters of a text in one line."""

# Blocks of right-to-left characters (Unicode, DerivedBidiClass.txt) and the non-ASCII characters after them, so that
# combining marks stay with their base.
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff][^\\x00-\\x7f]*"
)

_AROUND = 28
_COMPARED = 240
_MAX_CHANGES = 24
_MAX_TOKEN = 100

CHARACTERS = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
"""A token of :func:`show_difference`: a character, or a percent-encoded byte."""

VARIANTS = re.compile(r"\.[^./?#]*|.", re.DOTALL)
"""A token of :func:`show_difference` for sorted variants: a variant with its dot, or a character."""


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a line with one kind of markup: "same", "mark", "del", "ins", or "gap" (``left_out`` characters
    omitted). A "mark" without pieces is a position between two characters.
    """

    kind: Kind
    pieces: tuple[Atom, ...] = ()
    left_out: int = 0


Line = tuple[Run, ...]


def escape_hidden(text: str) -> Markup:
    r"""Escape a text as HTML for a textarea, with hidden characters as character references.
    Line breaks and tabs stay. NUL, C1 controls and surrogates have no character reference and stay, too.

    >>> escape_hidden("a\u202e<b>")
    Markup('a&#x202E;&lt;b&gt;')
    """
    escaped = str(escape(text))
    references = characters.hidden_in(escaped).sub(lambda run: _reference(run[1]) * len(run[0]), escaped)
    return Markup(references)  # noqa: S704 - escaped just here


@lru_cache(4096)
def _reference(char: str) -> str:
    if char in "\n\t\0" or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff":
        return char
    return f"&#x{ord(char):X};"


def render_pieces(pieces: Sequence[Atom]) -> Markup:
    """Return the pieces of :func:`.display.atoms` as HTML: hidden characters as chips, right-to-left text isolated.

    >>> print(render_pieces(display.atoms("<​")))
    &lt;<span class="cp">U+200B ZWSP</span>
    """
    return Markup("".join(map(_show_piece, pieces)))  # noqa: S704 - escaped in _show_piece


def _show_piece(piece: Atom) -> str:
    if piece.chip is not None:
        times = f" &times; {piece.count:,}" if piece.count > 1 else ""
        return f'<span class="cp">{piece.chip}{times}</span>'
    if piece.text.isascii():
        return str(escape(piece.text))
    # Only ASCII characters are escaped, and they become ASCII. So the matches are those in the text.
    return _RIGHT_TO_LEFT.sub(r'<bdi dir="ltr">\g<0></bdi>', str(escape(piece.text)))


def plain(text: str, most: int = MAX_LENGTH) -> Line:
    """Return a text as a line without marks, and without its middle if it has more than ``most`` characters.
    A translatable text is shown in the current language; the limit is that of each of its values.

    >>> [(run.kind, run.left_out) for run in plain("ark:12345/" + "x" * 990)]
    [('same', 0), ('gap', 300), ('same', 0)]
    """
    if isinstance(text, Translatable):
        runs: list[Run] = []
        for piece, is_value in pieces(text):
            # The words of a catalogue have no hidden characters except its spaces.
            runs += _elide("same", piece, most) if is_value else [Run("same", (Atom(piece),))]
        return tuple(runs)
    return tuple(_elide("same", text, most))


def mark_in_whole(text: str, start: int, end: int) -> Line:
    """Return a text as a line with the part from ``start`` to ``end`` marked.
    More than :data:`MAX_LENGTH` characters are shortened to the part and a few characters around it.

    >>> [run.kind for run in mark_in_whole("ark:12345/x!y", 11, 12)]
    ['same', 'mark', 'same']
    """
    if len(text) > MAX_LENGTH:
        return mark_excerpt(text, start, end)
    mark = tuple(_elide("mark", text[start:end], MAX_LENGTH)) or (Run("mark"),)
    return (*_elide("same", text[:start], MAX_LENGTH), *mark, *_elide("same", text[end:], MAX_LENGTH))


def mark_occurrences(text: str, wrong: str, most: int = MAX_LENGTH) -> Line:
    """Return a text as a line with at most 50 occurrences of ``wrong`` marked.
    A text of more than ``most`` characters is shortened, and has no marks.

    >>> [run.kind for run in mark_occurrences("1:1:MW98", ":")]
    ['same', 'mark', 'same', 'mark', 'same']
    """
    pieces = text.split(wrong, 50) if len(text) <= most else [text]
    runs: list[Run] = []
    for number, piece in enumerate(pieces):
        if number:
            runs += _elide("mark", wrong, most)
        runs += _elide("same", piece, most)
    return tuple(runs)


def mark_excerpt(text: str, start: int, end: int) -> Line:
    """Return the part from ``start`` to ``end`` as a marked line, with a few characters before and after it.

    >>> [run.kind for run in mark_excerpt("ark:12345/x!", 11, 12)]
    ['same', 'mark']
    """
    left, right = max(0, start - _AROUND), min(len(text), end + _AROUND)
    runs = [Run("gap", left_out=left)] if left else []
    runs += _elide("same", text[left:start], MAX_LENGTH)
    runs += list(_elide("mark", text[start:end], 2 * _AROUND)) or [Run("mark")]
    runs += _elide("same", text[end:right], MAX_LENGTH)
    if right < len(text):
        runs.append(Run("gap", left_out=len(text) - right))
    return tuple(runs)


def show_difference(before: str, after: str, by: re.Pattern[str] = CHARACTERS) -> Line:
    """Return two texts as one line with their first differences as deletions and insertions. ``by`` matches the tokens
    that are compared. A long section between the first and the last change becomes one of each, in nearly linear time.

    >>> [(run.kind, run.pieces[0].text) for run in show_difference("x6-np1", "x6np1")]
    [('same', 'x6'), ('del', '-'), ('same', 'np1')]
    """
    head = _agreement(before, after)
    # A token can start before the first difference. Then the comparison starts at the token.
    head = min(_token_start(before, head, by), _token_start(after, head, by))
    old, new = before[head:], after[head:]
    if max(len(old), len(new)) <= _COMPARED:
        changes = _changes(by.findall(old), by.findall(new))
    else:
        tail = _agreement(old[::-1], new[::-1])
        ends = len(old) - tail, len(new) - tail
        changes = _whole_change(old[: ends[0]], new[: ends[1]], old[ends[0] :])
    shown = [change for change in changes if change[1]]
    left_out = sum(len(text) for _, text in shown[_MAX_CHANGES:])
    runs = list(_context(before[:head], first=True))
    for number, (kind, text) in enumerate(shown[:_MAX_CHANGES], 1):
        runs += _context(text, last=number == len(shown)) if kind == "same" else _elide(kind, text, 2 * _AROUND)
    return (*runs, Run("gap", left_out=left_out)) if left_out else tuple(runs)


def _agreement(first: str, second: str) -> int:
    """Return the length of the longest common prefix."""
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first.startswith(second[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least


def _token_start(text: str, place: int, by: re.Pattern[str]) -> int:
    # A variant longer than this is compared from its middle on.
    for start in range(max(0, place - _MAX_TOKEN), place):
        found = by.match(text, start)
        if found and found.end() - start > 1 and found.end() > place:
            return start
    return place


def _elide(kind: Kind, text: str, most: int) -> Iterator[Run]:
    if not text:
        return
    if len(text) <= most:
        yield Run(kind, tuple(display.atoms(text)))
        return
    head = most * 2 // 3
    tail = len(text) - (most - head)
    yield Run(kind, tuple(display.atoms(text[:head])))
    yield Run("gap", left_out=tail - head)
    yield Run(kind, tuple(display.atoms(text[tail:])))


def _context(text: str, *, first: bool = False, last: bool = False) -> Iterator[Run]:
    # Unchanged text: its end before a change, its beginning after one, both between two changes.
    before, after = (0 if first else _AROUND), (0 if last else _AROUND)
    if len(text) <= before + after:
        yield from _elide("same", text, MAX_LENGTH)
        return
    yield from _elide("same", text[:before], MAX_LENGTH)
    yield Run("gap", left_out=len(text) - before - after)
    yield from _elide("same", text[len(text) - after :], MAX_LENGTH)


def _whole_change(old: str, new: str, rest: str) -> Iterator[tuple[Kind, str]]:
    yield "del", old
    yield "ins", new
    yield "same", rest


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Kind, str]]:
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[start:end])
            continue
        if start < end:
            yield "del", "".join(old[start:end])
        if new_start < new_end:
            yield "ins", "".join(new[new_start:new_end])
