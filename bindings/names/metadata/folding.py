"""Fold letters for the search, as a reader does who ignores case, accents and punctuation.

Letters with a usual second spelling, such as ö and ø, are folded to both: ``Köln`` is found as ``Koln`` and as
``Koeln``. Ideographs, Kana and Hangul are words of one character. Databases store the folded text of each name, so a
change of this module needs a step in ``bindings/migration``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .metadata import without_code

if TYPE_CHECKING:
    from ..binding import Binding

MIN_PART = 3
"""The number of letters from which a part of a word is found. Fewer letters must begin a word, and one is a word."""

_WORDS_OF_ADDRESS = 4
"""The number of words from which a part of a query is probably an address, such as "example org c0 12345"."""

MAX_SORTED = 120
"""The number of folded characters of a title by which a list is sorted."""

TITLES = ("erc.what", "dc.title", "erc.who", "dc.creator")
"""The elements of which the first one with a text is the title of a name in lists."""

# Letters that Unicode does not decompose, or that lose a letter when only the accent is removed.
_LETTERS = {
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ħ": "h",
    "ŧ": "t",
    "ŋ": "n",
    "\u0131": "i",
    "\u0133": "ij",
    "\u0259": "e",
    "\u0640": "",  # ARABIC TATWEEL, which only stretches a word
}
_SECOND = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
# Marks that change a letter into another one: nukta, the marks of Kana, and viramas. Class 0 includes vowel signs.
_KEPT_MARKS = frozenset({0, 7, 8, 9})


class _Folding(dict[int, str]):
    """The folded text of each character, for ``str.translate``, which calculates it at the first use."""

    def __init__(self, letters: Mapping[str, str]) -> None:
        super().__init__()
        self._letters = letters

    def __missing__(self, number: int) -> str:
        self[number] = folded = self._fold(chr(number))
        return folded

    def _fold(self, char: str) -> str:
        folded: list[str] = []
        for part in unicodedata.normalize("NFC", char.casefold()):
            if part in self._letters:
                folded.append(self._letters[part])
                continue
            for each in unicodedata.normalize("NFKD", part).casefold():
                if unicodedata.combining(each) not in _KEPT_MARKS:
                    continue
                digit = unicodedata.decimal(each, None)
                if digit is not None:
                    folded.append(str(digit))
                elif unicodedata.category(each)[0] in "LMN":
                    folded.append(self._letters.get(each, each))
                else:
                    folded.append(" ")
        text = unicodedata.normalize("NFC", "".join(folded))
        return f" {text} " if _is_word(char) else text


_FIRST = _Folding(_LETTERS)
_LINES = _Folding(_LETTERS | {"\n": "\n"})
_HAS_SECOND = re.compile(f"[{''.join(_SECOND)}]", re.IGNORECASE)
_SECOND_SPELLING = _Folding(_LETTERS | _SECOND)


def _is_word(char: str) -> bool:
    return "\u3041" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" or "\U00020000" <= char <= "\U0003ffff"


def fold(text: str) -> str:
    """Return the folded words of a text between single spaces.

    >>> fold("Große  Straße, Łódź"), fold("Œuvre"), fold("αγγείο"), fold("INV 1901/0001")
    ('grosse strasse lodz', 'oeuvre', 'αγγειο', 'inv 1901 0001')
    >>> fold("東京")
    '東 京'
    """
    if text.isascii():
        return " ".join(text.lower().translate(_FIRST).split())
    return " ".join(unicodedata.normalize("NFC", text).translate(_FIRST).split())


def spellings(text: str) -> tuple[str, ...]:
    """Return the folded form of a text, and its second spelling if it has one.

    >>> spellings("Käthe Müller"), spellings("map")
    (('kathe muller', 'kaethe mueller'), ('map',))
    """
    first = fold(text)
    if text.isascii():
        return (first,)
    second = " ".join(unicodedata.normalize("NFC", text).translate(_SECOND_SPELLING).split())
    return (first,) if first == second else (first, second)


def search_text(texts: Iterable[str]) -> str:
    """Return the text that a store records for the search of a name: the folded words of ``texts``.

    >>> search_text(["Köln, Dom", "INV 7"])
    ' koln dom inv 7 koeln '
    """
    text = " ".join(texts)
    if text.isascii():
        return f" {fold(text)} "
    words = [fold(text), *_second_spellings(unicodedata.normalize("NFC", text))]
    return f" {' '.join(' '.join(words).split())} "


def _second_spellings(text: str) -> list[str]:
    # Only these words have a second spelling. A pattern of whole words takes quadratic time in a long word.
    return [each.translate(_SECOND_SPELLING) for each in text.split() if _HAS_SECOND.search(each)]


def search_texts(texts: Sequence[str]) -> list[str]:
    """Return the :func:`search_text` of each of ``texts``, which have no line feed."""
    composed, folded = _fold_lines(texts)
    found: list[str] = []
    for text, words in zip(composed, folded, strict=True):
        if text.isascii():
            found.append(f" {words} ")
        else:
            found.append(f" {' '.join(' '.join([words, *_second_spellings(text)]).split())} ")
    return found


def _fold_lines(texts: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Return texts without line feeds in NFC, and folded."""
    if not texts:
        return (), []
    lines = "\n".join(texts)
    if lines.isascii():
        return texts, [" ".join(each.split()) for each in lines.lower().translate(_LINES).split("\n")]
    lines = unicodedata.normalize("NFC", lines)
    return lines.split("\n"), [" ".join(each.split()) for each in lines.translate(_LINES).split("\n")]


def text_of(binding: Binding) -> str:
    """Return the search text (:func:`search_text`) of a binding: of its metadata, resource, numbers and targets."""
    if binding.target and not (binding.metadata or binding.resource or binding.alternates or binding.numbers):
        return search_text((binding.target,))  # most rows of a large import
    addresses = (binding.resource, *binding.numbers.values(), binding.target, *binding.alternates.values())
    return search_text((*binding.metadata.values(), *filter(None, addresses)))


def title_of(metadata: Mapping[str, str]) -> str:
    """Return the title of a resource, or else its creator, or "". Codes are left out.

    >>> title_of({"erc.what": "(:unav)", "dc.title": "Map"}), title_of({"erc.who": "(:unkn) Noah"}), title_of({})
    ('Map', 'Noah', '')
    """
    for element in TITLES:
        text = metadata.get(element, "")
        if text and (not text.startswith("(:") or (text := without_code(text))):
            return text
    return ""


def sorted_title(metadata: Mapping[str, str]) -> str | None:
    """Return the folded title of a resource, by which lists are sorted, or None without a title."""
    recorded = next((text for element in TITLES if (text := metadata.get(element))), "")
    return fold(recorded[: 2 * MAX_SORTED])[:MAX_SORTED].strip() or None


def sorted_titles(titles: Sequence[str]) -> list[str | None]:
    """Return :func:`sorted_title` of metadata with each of ``titles``, which have no line feed."""
    _, folded = _fold_lines([title[: 2 * MAX_SORTED] for title in titles])
    return [each[:MAX_SORTED].strip() or None for each in folded]


def parts(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the spellings of each word of a query. A text matches if it contains one spelling of each word.

    A word of one or two letters has a space before it, because it must begin a word. A single letter alone is a whole
    word. A word without letters and digits is left out.

    >>> parts(["Müller", "objekt/17", "ab", "x", "&"]), parts(["x"])
    ([('muller', 'mueller'), ('objekt 17',), (' ab',), (' x',)], [(' x ',)])
    """
    folded = [spelled for word in words if (spelled := tuple(filter(None, spellings(word))))]
    is_alone = all(len(word[0]) == 1 for word in folded)
    return [tuple(_part(each, is_alone) for each in word) for word in folded]


def contains(text: str, words: Iterable[tuple[str, ...]]) -> bool:
    """Return whether a search text contains one of the spellings of each word of a query.

    >>> contains(search_text(["Käthe Müllerin"]), parts(["ulleri", "kaethe"]))
    True
    """
    return all(any(part in text for part in word) for word in words)


def rarest(part: str) -> str:
    """Return the piece of a word of a query that few texts have, to look up in an index. Of a long address, it is the
    longest word with a digit; every other word is returned whole.

    >>> rarest("h45 example org c0 12345"), rarest("objekt 17"), rarest("inv 1901 0001")
    (' 12345', 'objekt 17', 'inv 1901 0001')
    """
    words = part.split(" ")
    numbers = [each for each in words if len(each) > MIN_PART and any(map(str.isdigit, each))]
    if len(words) < _WORDS_OF_ADDRESS or not numbers:
        return part
    longest = max(numbers, key=len)
    return longest if longest == words[0] else f" {longest}"


def trigrams(part: str) -> list[str]:
    """Return the pieces of three characters that together cover a part of a word of at least three, in order, for an
    index of trigrams.

    >>> trigrams("objekt 1")
    ['obj', 'ekt', 't 1']
    """
    last = len(part) - MIN_PART
    return [part[place : place + MIN_PART] for place in sorted({*range(0, last + 1, MIN_PART), last})]


def _part(folded: str, is_alone: bool) -> str:
    if len(folded) >= MIN_PART:
        return folded
    return f" {folded} " if len(folded) == 1 and (is_alone or _is_word(folded)) else f" {folded}"
