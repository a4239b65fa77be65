"""A text of unknown origin, cut into runs that a page can show.

A :data:`Line` is what every echo of an identifier is made of: runs of pieces, of which some are marked, deleted,
inserted, or stand for what was left out. Characters that cannot be seen are chips
(:func:`.display.atoms`), and what is written from right to left is kept apart, so that the pieces
stand in the order of the text whatever is in them (UAX #9, HL4). No line repeats more than about :data:`MOST`
characters, however long the text; what is left out is counted.

Strings go in, values come out; how a run looks is the template's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from markupsafe import Markup, escape

from ...identifiers.text import characters, display

Kind = Literal["same", "mark", "del", "ins", "gap"]

MOST = 700
"""Characters of one text that one line repeats."""

# Blocks whose characters are, by default, written from right to left (Unicode, DerivedBidiClass.txt), and what follows
# them outside ASCII: combining marks must not be cut off.
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff][^\\x00-\\x7f]*"
)

_AROUND = 28
_COMPARED = 240
_MOST_CHANGES = 24
_LONGEST_TOKEN = 100

CHARACTERS = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
"""What a comparison takes as one: a character, or a percent-encoded octet."""

VARIANTS = re.compile(r"\.[^./?#]*|.", re.DOTALL)
"""What a comparison takes as one where variants were sorted: a variant with its dot."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that is shown as it is, or ``count`` equal characters for which a ``chip`` is shown.

    ``apart`` is whether the text would pull its neighbours into its own direction, and is isolated from them.
    """

    text: str
    chip: str | None = None
    count: int = 1
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a line that is shown in one way.

    ``kind`` is "same" (as it is), "mark" (look here; without pieces, a place between two characters), "del" and "ins"
    (what a change took away and put there), or "gap", which has no pieces: ``left_out`` characters are not repeated.
    """

    kind: Kind
    pieces: tuple[Piece, ...] = ()
    left_out: int = 0


Line = tuple[Run, ...]


def unseen(text: str) -> Markup:
    """``text`` for the inside of a textarea: what cannot be seen is written as character references.

    So the box keeps the raw paste, and the page that carries it still holds no such character itself. A line break
    and a tab are what they are; NUL, C1 controls and surrogates cannot be written in any way, and are left to the
    encoder.

    >>> unseen("a\\u202e<b>")
    Markup('a&#x202E;&lt;b&gt;')
    """
    return Markup(characters.HIDDEN.sub(_references, str(escape(text))))  # noqa: S704 - escaped just here


def _references(found: re.Match[str]) -> str:
    char = found[1]
    if char in "\n\t\0" or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff":
        return found[0]
    return f"&#x{ord(char):X};" * len(found[0])


def plain(text: str, most: int = MOST) -> Line:
    """``text`` as it is; of one longer than ``most`` characters the middle is left out.

    >>> [(run.kind, run.left_out) for run in plain("ark:12345/" + "x" * 990)]
    [('same', 0), ('gap', 300), ('same', 0)]
    """
    return tuple(_elided("same", text, most))


def pointed(text: str, start: int, end: int) -> Line:
    """``text`` as it is with ``text[start:end]`` marked; of one longer than :data:`MOST` only what stands around it.

    >>> [run.kind for run in pointed("ark:12345/x!y", 11, 12)]
    ['same', 'mark', 'same']
    """
    if len(text) > MOST:
        return marked(text, start, end)
    mark = tuple(_elided("mark", text[start:end], MOST)) or (Run("mark"),)
    return (*_elided("same", text[:start], MOST), *mark, *_elided("same", text[end:], MOST))


def marked(text: str, start: int, end: int) -> Line:
    """``text[start:end]``, marked, with a little of what stands around it.

    >>> [run.kind for run in marked("ark:12345/x!", 11, 12)]
    ['same', 'mark']
    """
    left, right = max(0, start - _AROUND), min(len(text), end + _AROUND)
    runs = [Run("gap", left_out=left)] if left else []
    runs += _elided("same", text[left:start], MOST)
    runs += list(_elided("mark", text[start:end], 2 * _AROUND)) or [Run("mark")]
    runs += _elided("same", text[end:right], MOST)
    if right < len(text):
        runs.append(Run("gap", left_out=len(text) - right))
    return tuple(runs)


def compared(before: str, after: str, by: re.Pattern[str] = CHARACTERS) -> Line:
    """What changed between two texts: one line with deletions, insertions, and a little of what stayed around them.

    Where much lies between the first change and the last one it is not compared inside, so that the time taken stays
    near linear in the texts; of very many changes the first are shown.

    >>> [(run.kind, run.pieces[0].text) for run in compared("x6-np1", "x6np1")]
    [('same', 'x6'), ('del', '-'), ('same', 'np1')]
    """
    head = _agreement(before, after)
    # A token may have begun before the place where the texts part: it is taken back whole.
    head = min(_token_start(before, head, by), _token_start(after, head, by))
    old, new = before[head:], after[head:]
    if max(len(old), len(new)) <= _COMPARED:
        changes = _changes(by.findall(old), by.findall(new))
    else:
        tail = _agreement(old[::-1], new[::-1])
        ends = len(old) - tail, len(new) - tail
        changes = _whole_change(old[: ends[0]], new[: ends[1]], old[ends[0] :])
    shown = [change for change in changes if change[1]]
    left_out = sum(len(text) for _, text in shown[_MOST_CHANGES:])
    runs = list(_context(before[:head], first=True))
    for number, (kind, text) in enumerate(shown[:_MOST_CHANGES], 1):
        runs += _context(text, last=number == len(shown)) if kind == "same" else _elided(kind, text, 2 * _AROUND)
    return (*runs, Run("gap", left_out=left_out)) if left_out else tuple(runs)


def _agreement(first: str, second: str) -> int:
    """The length of the longest text that both begin with."""
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first.startswith(second[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least


def _token_start(text: str, place: int, by: re.Pattern[str]) -> int:
    # No token that is cut is longer than this, but a variant may be: then it is compared from its middle on.
    for start in range(max(0, place - _LONGEST_TOKEN), place):
        found = by.match(text, start)
        if found and found.end() - start > 1 and found.end() > place:
            return start
    return place


def _pieces(text: str) -> Iterator[Piece]:
    for atom in display.atoms(text):
        if atom.chip:
            yield Piece(atom.text, atom.chip, atom.count)
            continue
        end = 0
        for found in _RIGHT_TO_LEFT.finditer(atom.text):
            if found.start() > end:
                yield Piece(atom.text[end : found.start()])
            yield Piece(found[0], apart=True)
            end = found.end()
        if end < len(atom.text):
            yield Piece(atom.text[end:])


def _elided(kind: Kind, text: str, most: int) -> Iterator[Run]:
    if not text:
        return
    if len(text) <= most:
        yield Run(kind, tuple(_pieces(text)))
        return
    head = most * 2 // 3
    tail = len(text) - (most - head)
    yield Run(kind, tuple(_pieces(text[:head])))
    yield Run("gap", left_out=tail - head)
    yield Run(kind, tuple(_pieces(text[tail:])))


def _context(text: str, *, first: bool = False, last: bool = False) -> Iterator[Run]:
    # What stayed: its end before a change, its beginning after one, both between two changes.
    before, after = (0 if first else _AROUND), (0 if last else _AROUND)
    if len(text) <= before + after:
        yield from _elided("same", text, MOST)
        return
    yield from _elided("same", text[:before], MOST)
    yield Run("gap", left_out=len(text) - before - after)
    yield from _elided("same", text[len(text) - after :], MOST)


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
