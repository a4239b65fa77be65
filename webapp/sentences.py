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

from markupsafe import Markup, escape

from .language import Language, current

_FILLED = re.compile(r"%\((\w+)\)s")
_LONGEST = 10_000
_DEEPEST = 3
_MOST = 8


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
    said = _said(text, language) if len(text) <= _LONGEST else None
    return Markup('<span lang="en" dir="ltr">{}</span>').format(text) if said is None else said


def begun(text: str) -> Markup | str:
    """The same as the beginning of a sentence of its own: with a capital letter, where the language has them.

    >>> begun("the Name is empty")
    'The Name is empty'
    """
    said = told(text)
    return _begun(said) if isinstance(said, Markup) else said[:1].upper() + said[1:]


@lru_cache(maxsize=2048)
def _said(text: str, language: Language, depth: int = 0) -> Markup | None:
    if depth > _DEEPEST:
        return None
    said = _whole(text, language, depth)
    return _one_by_one(text, language, depth) if said is None else said


def _whole(text: str, language: Language, depth: int) -> Markup | None:
    """A sentence that is translated as a whole: as it stands, without its dot, or without its capital letter."""
    spellings = [text]
    spellings += [text[0].lower() + text[1:]] if text[:1].isupper() else []
    spellings += [each[:-1] for each in spellings if each.endswith(".")]
    for spelling in spellings:
        if (said := _exactly(spelling, language) or _by_template(spelling, language, depth)) is not None:
            said = said if spelling[:1] == text[:1] else _begun(said)
            return said + "." if len(spelling) < len(text) else said
    return None


def _exactly(text: str, language: Language) -> Markup | None:
    asked = text.replace("%", "%%")
    if (said := language.sentence(asked)) != asked:
        return escape(said.replace("%%", "%"))
    return None if (said := language.catalogue.gettext(text)) == text else escape(said)


def _by_template(text: str, language: Language, depth: int) -> Markup | None:
    for template in language.sentences:
        if (values := _values(template, text)) is not None:
            return Markup("").join(_filled(language.sentence(template), values, language, depth))
    return None


def _one_by_one(text: str, language: Language, depth: int) -> Markup | None:
    """A text of several sentences, each of which is translated; not of too many, and fewer where they are filled in."""
    said: list[Markup] = []
    begin, place = 0, -1
    for _ in range(_MOST >> depth):
        place = text.find(". ", place + 1)
        if place < 0:
            break
        if (one := _whole(text[begin : place + 1], language, depth + 1)) is not None:
            said.append(one)
            begin = place + 2
    last = _whole(text[begin:], language, depth + 1) if said else None
    return None if last is None else Markup(" ").join([*said, last])


def _begun(said: Markup) -> Markup:
    # What begins with a tag begins with what was filled in, which keeps its case; a reference to a character has none.
    return said if said[:1] in {"<", "&"} else Markup(said[:1].upper() + said[1:])  # noqa: S704


def _values(template: tuple[str, ...], text: str) -> dict[str, str] | None:
    """What was filled into a template, given as words and names in turn, or None if the text was not made from it."""
    if not text.startswith(template[0]) or not text.endswith(template[-1]):
        return None
    at, end = len(template[0]), len(text) - len(template[-1])
    values: dict[str, str] = {}
    for place in range(1, len(template) - 2, 2):
        begin, at = at, text.find(template[place + 1], at, end)
        if at < 0:
            return None
        values[template[place]] = text[begin:at]
        at += len(template[place + 1])
    if at > end:
        return None
    values[template[-2]] = text[at:end]
    return values


def _filled(said: str, values: dict[str, str], language: Language, depth: int) -> Iterator[Markup]:
    for place, piece in enumerate(_FILLED.split(said)):
        if place % 2 == 0:
            yield escape(piece.replace("%%", "%"))
            continue
        value = values.get(piece, "")
        before, bare = value[: len(value) - len(value.lstrip(" "))], value.strip(" ")
        # A word alone may be anybody's, and is left as it is.
        known = _said(bare, language, depth + 1) if " " in bare else None
        if known is not None:
            yield escape(before) + known
        elif value:
            yield Markup('<bdi dir="ltr" translate="no">{}</bdi>').format(value)
