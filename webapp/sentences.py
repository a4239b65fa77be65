"""Says the sentences of reports, refusals and traces in the language of a page.

They come as English text, the same for people and programs, from rooms that know of no language. Here such a text is
found again among the sentences of the catalogues (:mod:`.phrases`), with what was filled into it, and that is filled
into the translation: isolated, or itself translated where it is a sentence, too. A text that is not found stays
English, and is marked as English.

What is looked for holds text of unknown origin. So nothing here goes back and forth in it: a sentence is compared from
left to right, once for each that there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup, escape

from .language import Language, current

_FILLED = re.compile(r"%\((\w+)\)s")
_WORD = re.compile("[A-Za-z]{2,}")
_LONGEST = 10_000
_DEEPEST = 3
_MOST = 8
_FEW = 2


class _Reading(NamedTuple):
    """A text in another language, and how many words of it are left as they were."""

    said: Markup
    left: int


def told(text: str) -> Markup | str:
    r"""The sentence ``text`` in the language that is spoken, as HTML; in English it is the text itself.

    >>> from .language import of_name, speaking
    >>> with speaking(of_name("ar-XB")):
    ...     print(told("port 81 is not one that is asked"), told("xyzzy"), sep="\n")
    ןמסף <bdi dir="ltr" translate="no">81</bdi> טע םמף מםה ףחאף טע אעךהד
    <span lang="en" dir="ltr">xyzzy</span>
    """
    language = current()
    if language.tag == "en" or not text:
        return text
    reading = _read(text, language) if len(text) <= _LONGEST else None
    return reading.said if reading else Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def begun(text: str) -> Markup | str:
    """The same as the beginning of a sentence of its own: with a capital letter, where the language has them.

    >>> begun("the Name is empty")
    'The Name is empty'
    """
    said = told(text)
    return _begun(said) if isinstance(said, Markup) else said[:1].upper() + said[1:]


@lru_cache(maxsize=2048)
def _read(text: str, language: Language, depth: int = 0) -> _Reading | None:
    """Of all ways to read a text the one that leaves the fewest words as they are."""
    if depth > _DEEPEST:
        return None
    ways = [_whole(text, language, depth), _one_by_one(text, language, depth)]
    return min(filter(None, ways), key=_words_left, default=None)


def _words_left(reading: _Reading) -> int:
    return reading.left


def _whole(text: str, language: Language, depth: int) -> _Reading | None:
    """A sentence as it stands, without its dot, or with its first letter in the other case."""
    spellings = [text]
    spellings += [text[0].swapcase() + text[1:]] if text[:1].isalpha() else []
    # Without its dot first, which is not to be taken for the end of what is filled in.
    spellings = [each[:-1] for each in spellings if each.endswith(".")] + spellings
    exact = {each: said for each in spellings if (said := _exactly(each, language)) is not None}
    ways: list[_Reading] = []
    for spelling in exact or spellings:
        reading = _Reading(exact[spelling], 0) if exact else _by_template(spelling, language, depth)
        if reading:
            said = _begun(reading.said) if text[:1].isupper() else reading.said
            ways.append(_Reading(said + "." if len(spelling) < len(text) else said, reading.left))
    return min(ways, key=_words_left, default=None)


def _exactly(text: str, language: Language) -> Markup | None:
    asked = text.replace("%", "%%")
    if (said := language.sentence(asked)) != asked:
        return escape(said.replace("%%", "%"))
    return None if (said := language.catalogue.gettext(text)) == text else escape(said)


def _by_template(text: str, language: Language, depth: int) -> _Reading | None:
    ways: list[_Reading] = []
    for template in language.sentences:
        own = len(_WORD.findall(" ".join(template[::2])))
        for values in _values(template, text):
            reading = _filled(language.sentence(template), values, language, depth)
            # Half of all texts are something, " and " and something: where more is filled in than said, nothing is
            # known.
            if own > _FEW or reading.left <= own + _FEW:
                ways.append(reading)
    return min(ways, key=_words_left, default=None)


def _one_by_one(text: str, language: Language, depth: int) -> _Reading | None:
    """A text of several sentences, each of which is translated; not of too many, and fewer where they are filled in."""
    read: list[_Reading] = []
    begin, place = 0, -1
    for _ in range(_MOST >> depth):
        place = text.find(". ", place + 1)
        if place < 0:
            break
        if one := _whole(text[begin : place + 1], language, depth + 1):
            read.append(one)
            begin = place + 2
    last = _whole(text[begin:], language, depth + 1) if read else None
    if last is None:
        return None
    read.append(last)
    return _Reading(Markup(" ").join(each.said for each in read), sum(map(_words_left, read)))


def _begun(said: Markup) -> Markup:
    # What begins with a tag begins with what was filled in, which keeps its case; a reference to a character has none.
    return said if said[:1] in {"<", "&"} else Markup(said[:1].upper() + said[1:])  # noqa: S704


def _values(template: tuple[str, ...], text: str) -> Iterator[dict[str, str]]:
    """What may have been filled into a template, given as words and names in turn, if the text was made from it.

    A value ends where the words after it begin for the first time; the last but one also where they do for the last.
    """
    if not text.startswith(template[0]) or not text.endswith(template[-1]):
        return
    at, end = len(template[0]), len(text) - len(template[-1])
    values: dict[str, str] = {}
    for place in range(1, len(template) - 2, 2):
        begin, words = at, template[place + 1]
        at = text.find(words, begin, end)
        if at < 0:
            return
        last = text.rfind(words, begin, end) if place == len(template) - 4 else at
        if last > at:
            yield values | {template[place]: text[begin:last], template[-2]: text[last + len(words) : end]}
        values[template[place]] = text[begin:at]
        at += len(words)
    if at <= end:
        yield values | {template[-2]: text[at:end]}


def _filled(said: str, values: dict[str, str], language: Language, depth: int) -> _Reading:
    pieces: list[Markup] = []
    left = 0
    for place, piece in enumerate(_FILLED.split(said)):
        if place % 2 == 0:
            pieces.append(escape(piece.replace("%%", "%")))
            continue
        value = values.get(piece, "")
        before, bare = value[: len(value) - len(value.lstrip(" "))], value.strip(" ")
        # A word alone may be anybody's, and is left as it is.
        known = _read(bare, language, depth + 1) if " " in bare else None
        if known:
            pieces += [escape(before), known.said]
            left += known.left
        elif value:
            pieces.append(Markup('<bdi dir="ltr" translate="no">{}</bdi>').format(value))
            left += len(_WORD.findall(value)) if " " in bare else 0
    return _Reading(Markup("").join(pieces), left)
