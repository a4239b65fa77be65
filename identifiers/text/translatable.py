"""A sentence in English that a page can show in another language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

SEPARATOR = "\x1f"
"""The character between the text in English and its pattern, in the text of :func:`pack`."""
# A width such as "%(line)999999999s" in the text of a person would fill the memory.
_PATTERN = re.compile(r"(?:[^%]|%%|%\(\w+\)s)*")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ARTICLES = ("a ", "an ", "only ", "the ", "there ", "this ")


class Translatable(str):
    """A text in English, ``pattern % values``, from which a page makes the text in another language.

    ``plural`` is the pattern for other numbers than 1, of which ``number`` is the value. ``is_sentence``: the text has
    a capital letter and a full stop that the pattern does not need to have. ``context`` tells two meanings of the same
    words apart. A value can be translatable, too. In a pattern "%%" is a percent sign.

    >>> text = Translatable("the status %(status)s is not a redirect", status=200)
    >>> text, text.pattern, text.sentence()
    ('the status 200 is not a redirect', 'the status %(status)s is not a redirect', 'The status 200 is not a redirect.')
    """

    __slots__ = ("context", "is_sentence", "pattern", "plural", "values")

    pattern: str
    values: Mapping[str, object]
    plural: str | None
    is_sentence: bool
    context: str

    def __new__(cls, pattern: str, /, **values: object) -> Self:
        return cls._of(pattern, values)

    @classmethod
    def literal(cls, text: str) -> Self:
        """Return ``text`` as a translatable text without values, in which a percent sign is itself. A translatable one
        is returned unchanged.
        """
        return text if isinstance(text, cls) else cls._of(text.replace("%", "%%"), {})

    @classmethod
    def counted(cls, one: str, several: str, number: int, /, **values: object) -> Self:
        """Return the text for a number of things: ``one`` is the pattern for the number 1, ``several`` for others. Both
        can contain ``%(number)s``.

        >>> [Translatable.counted("%(number)s name", "%(number)s names", number) for number in (1, 2000)]
        ['1 name', '2,000 names']
        """
        return cls._of(one, {"number": number, **values}, several)

    @classmethod
    def in_context(cls, context: str, pattern: str, /, **values: object) -> Self:
        """Return a text whose words have another meaning elsewhere. ``context`` is for translators.

        >>> Translatable.in_context("part of an identifier", "Name")
        'Name'
        """
        return cls._of(pattern, values, context=context)

    @classmethod
    def _of(
        cls,
        pattern: str,
        values: Mapping[str, object],
        plural: str | None = None,
        *,
        is_sentence: bool = False,
        context: str = "",
    ) -> Self:
        chosen = pattern if plural is None or values["number"] == 1 else plural
        text = chosen % {name: in_english(value) for name, value in values.items()}
        if is_sentence:
            begins = text[:1] if pattern.startswith("%(") else text[:1].upper()
            # A question mark of the pattern ends the sentence; one of a value can end an address.
            text = f"{begins}{text[1:]}" if chosen.endswith("?") else f"{begins}{text[1:].removesuffix('.')}."
        self = super().__new__(cls, text)
        self.pattern = pattern
        self.values = values
        self.plural = plural
        self.is_sentence = is_sentence
        self.context = context
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.pattern, dict(self.values), self.plural, self.is_sentence, self.context)

    def sentence(self) -> Self:
        """Return the text with a full stop, unless it is a question, and with a capital letter, unless it can begin
        with a user's text.

        >>> Translatable("did you mean %(name)s?", name="x").sentence(), Translatable("%(url)s", url="a?").sentence()
        ('Did you mean x?', 'a?.')
        """
        return self._of(self.pattern, self.values, self.plural, is_sentence=True, context=self.context)


class NumberWord(int):
    """A number that a text in English has as a word, from zero to nine. Other languages have it in digits.

    >>> Translatable.counted("%(number)s hop", "%(number)s hops", NumberWord(2)), f"{NumberWord(1200):,}"
    ('two hops', '1,200')
    """

    def __format__(self, spec: str) -> str:
        return _NUMBERS[self] if spec == "," and 0 <= self < len(_NUMBERS) else int.__format__(self, spec)


class FirstWord(NumberWord):
    """A number word with a capital letter, for the beginning of a sentence."""

    def __format__(self, spec: str) -> str:
        return super().__format__(spec).capitalize()


def join_texts(*texts: str, by: str = " ") -> Translatable:
    """Return sentences or items after each other as one translatable text, without the empty ones. ``by`` is between
    them.
    """
    kept = {f"text{number}": text for number, text in enumerate(filter(None, texts), 1)}
    return Translatable(by.join(f"%({name})s" for name in kept), **kept)


def list_items(items: Sequence[str]) -> str:
    """Return items as the end of a sentence lists them, such as "a, b and c"."""
    if len(items) < 2:
        return items[0] if items else ""
    return Translatable("%(items)s and %(last)s", items=join_texts(*items[:-1], by=", "), last=items[-1])


def in_english(value: object) -> str:
    """Return ``value`` as texts in English have it: integers with groups of three digits."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def sentence(text: str) -> str:
    """Return ``text`` with a full stop, and with a capital letter unless it can begin with a user's text.

    >>> sentence("the name is not bound"), sentence("ark:12345/x is bound")
    ('The name is not bound.', 'ark:12345/x is bound.')
    """
    if isinstance(text, Translatable):
        return text.sentence()
    return f"{text[:1].upper() if text.startswith(_ARTICLES) else text[:1]}{text[1:].removesuffix('.')}."


def _restore(
    kind: type[Translatable],
    pattern: str,
    values: Mapping[str, object],
    plural: str | None,
    is_sentence: bool,
    context: str,
) -> Translatable:
    return kind._of(pattern, values, plural, is_sentence=is_sentence, context=context)


def pack(text: str) -> str:
    """Return ``text`` for a database: in English, and for a translatable text also its pattern and values.

    >>> pack(Translatable("line %(line)s", line=3))
    'line 3\\x1f["line %(line)s", {"line": 3}, null, false]'
    """
    return f"{text}{SEPARATOR}{json.dumps(_pack(text))}" if isinstance(text, Translatable) else text


def unpack(text: str) -> str:
    """Return the text that :func:`pack` has converted. Any other text is returned unchanged."""
    english, separator, packed = text.rpartition(SEPARATOR)
    if not separator:
        return text
    try:
        found = _unpack(json.loads(packed))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return text
    return found if found == english else english


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value of JSON with each of its texts replaced by the result of ``change``.

    >>> each_text({"code": "x", "lines": [1, "a"]}, str.upper)
    {'code': 'X', 'lines': [1, 'A']}
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: each_text(each, change) for name, each in value.items()}
    return [each_text(each, change) for each in value] if isinstance(value, list | tuple) else value


def _pack(text: Translatable) -> list[Any]:
    values = {name: _packed_value(value) for name, value in text.values.items()}
    return [text.pattern, values, text.plural, text.is_sentence, *([text.context] if text.context else [])]


def _packed_value(value: object) -> Any:
    if isinstance(value, Translatable):
        return _pack(value)
    if isinstance(value, NumberWord):
        return {type(value).__name__: int(value)}
    return value if isinstance(value, int) else str(value)


def _unpack(packed: list[Any]) -> Translatable:
    pattern, values, plural, is_sentence, *context = packed
    if plural is not None and not isinstance(_unpacked_value(values["number"]), int):
        raise ValueError("the number of a plural is not an integer")
    if not all(_PATTERN.fullmatch(each) for each in (pattern, plural or "")):
        raise ValueError("the pattern has other conversions than names")
    read = {name: _unpacked_value(value) for name, value in values.items()}
    return Translatable._of(pattern, read, plural, is_sentence=bool(is_sentence), context="".join(context))


def _unpacked_value(value: Any) -> object:
    if isinstance(value, list):
        return _unpack(value)
    if isinstance(value, dict):
        [(name, number)] = value.items()
        return {"NumberWord": NumberWord, "FirstWord": FirstWord}[name](number)
    return value
