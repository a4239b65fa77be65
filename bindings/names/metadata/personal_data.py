"""Find data about persons in a new name, and warn: a name enters the public log, and can never be removed. The rules
find e-mail addresses, ORCID iDs, ISNIs, telephone numbers, dates of birth, and national numbers; not all personal data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from ....identifiers.text import display
from ....identifiers.text.translatable import Translatable
from ..naming import NameWarning

CODE = "personal-data"
"""The code of the warnings."""

_MAX_TEXT = 10_000
"""The number of characters of a value that are searched."""


class _Rule(NamedTuple):
    """A pattern of personal data. ``confirms`` checks a match further, such as its check digit."""

    kind: Translatable
    pattern: re.Pattern[str]
    confirms: Callable[[re.Match[str]], bool]


def _is_address(match: re.Match[str]) -> bool:
    # The local part of a reference such as urn:lex:br:...;137@data.evento has no letter.
    return any(character.isalpha() for character in match[1])


def _is_isni(match: re.Match[str]) -> bool:
    # ISO/IEC 7064, MOD 11-2.
    digits, total = match[1].replace("-", "").upper(), 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2 % 11
    return "0123456789X"[(1 - total) % 11] == digits[-1]


def _is_date(match: re.Match[str]) -> bool:
    parts = [int(part) for part in match.groups() if part]
    year, month, day = parts if parts[0] > 31 else parts[::-1]
    try:
        return 1900 <= date(year, month, day).year <= 2100
    except ValueError:
        return False


def _is_french(match: re.Match[str]) -> bool:
    # Corsica has the departments 2A and 2B instead of 19 and 18.
    digits = re.sub(r"\s", "", match[0]).upper().replace("2A", "19").replace("2B", "18")
    return 97 - int(digits[:-2]) % 97 == int(digits[-2:])


def _is_swiss(match: re.Match[str]) -> bool:
    digits = [int(digit) for digit in match[0] if digit.isdigit()]
    return (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def _always(match: re.Match[str]) -> bool:
    return True


def _rule(kind: Translatable, pattern: str, confirms: Callable[[re.Match[str]], bool] = _always) -> _Rule:
    return _Rule(kind, re.compile(pattern, re.ASCII | re.IGNORECASE), confirms)


_ADDRESS = _rule(
    Translatable("an e-mail address"),
    # The file icon@2x.png is not an address.
    r"([a-z0-9._%+-]{1,64})@(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}"
    r"(?!(?:css|csv|gif|html?|jpe?g|jp2|js|json|min|mjs|mp[34]|pdf|png|svg|tiff?|txt|webp|xml)\b)[a-z]{2,24}(?![a-z0-9])",
    _is_address,
)
# Without hyphens and without a label, they look like padded numbers.
_ISNI = _rule(
    Translatable("an ORCID iD or ISNI"),
    r"(?:(?<![\w-])(?=000[09]-)|(?:orcid|isni)[ .:_/=-]{0,3}(?:org/)?)(\d{4}(-?)\d{4}\2\d{4}\2\d{3}[\dx])(?![\w-])",
    _is_isni,
)
_TELEPHONE = _rule(Translatable("a telephone number"), r"(?<![a-z0-9])(?:tel:\+?|\+)[1-9](?:[ ()-]{0,2}\d){7,14}(?!\d)")
_TELEPHONE_URL = _rule(Translatable("a telephone number"), r"(?<![a-z0-9])tel:\+?\d{7,15}(?!\d)")
_BIRTH = _rule(
    Translatable("a date of birth"),
    r"(?<![a-z])(?:born|birth|birthday|birthdate|dob|geb|geboren|geburtsdatum|naissance|nacimiento|nascita)"
    r"[ .:_/=-]{0,3}(?:on |am |le |el |il )?"
    r"(?:(\d{4})-?(\d{2})-?(\d{2})|(\d{1,2})[./-](\d{1,2})[./-](\d{4}))(?!\d)",
    _is_date,
)
_NATIONAL = (
    # The United States, Italy, France and Switzerland: their form or check digits are rare in other texts.
    _rule(Translatable("a national number"), r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"),
    _rule(
        Translatable("a national number"), r"(?<![a-z0-9])[a-z]{6}\d{2}[abcdehlmprst]\d{2}[a-z]\d{3}[a-z](?![a-z0-9])"
    ),
    _rule(
        Translatable("a national number"),
        r"(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[ab]) ?\d{3} ?\d{3} ?\d{2}(?!\d)",
        _is_french,
    ),
    _rule(Translatable("a national number"), r"(?<!\d)756\.?\d{4}\.?\d{4}\.?\d{2}(?!\d)", _is_swiss),
)
_OF_NAME = (_ADDRESS, _ISNI, _TELEPHONE, _BIRTH, *_NATIONAL)
_OF_TARGET = (_ADDRESS, _ISNI, _TELEPHONE_URL, _BIRTH, *_NATIONAL)
# The ORCID iDs of authors are published with their works.
_OF_METADATA = (_ADDRESS, _TELEPHONE, _BIRTH, *_NATIONAL)
_AUTHORITY = re.compile(r"^[^:/?#]*://[^/?#]*")
_NUMBER = re.compile(r"[0-9](?:[0-9 ().-]{7}|[0-9][a-z][0-9]{2}[a-z][0-9]{3}[a-z])")


# The characters and words of which the rules of addresses, telephone numbers and dates need one.
_PARTS = ("@", "%", "+", "tel:", "born", "birth", "dob", "geb", "naissance", "nacimiento", "nascita")
# Those and the ones of an ORCID iD or ISNI, and parts of the national numbers, all in lower case. Python searches fast
# for a pattern that begins with a character or a set, and has no flag. What surrounds a number is not compared.
_PARTS_AND_LABELS = (*_PARTS, "0000-", "0009-", "orcid", "isni")
_NUMBERS = (
    re.compile("-[0-9]{2}-[0-9]{4}"),
    re.compile("[abcdehlmprst][0-9]{2}[a-z][0-9]{3}[a-z]"),
    re.compile("[12](?=[0-9ab ]{14}) ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?(?:[0-9]{2}|2[ab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}"),
    re.compile(r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}"),
)


def _can_match(text: str) -> bool:
    """Return whether a text has a part that all matches of a rule have. Most texts have none."""
    text = text.lower()
    return any(part in text for part in _PARTS) or _NUMBER.search(text) is not None


def warnings_about(
    name: str, target: str | None = None, resource: str | None = None, metadata: Mapping[str, str] | None = None
) -> list[NameWarning]:
    """Return warnings about data of persons in a new name, as written with its hyphens, and in its values. The warnings
    do not contain the data.

    >>> print(warnings_about("ark:12345/jane.doe@example.org")[0].message)
    the name contains an e-mail address; a name enters the public log and can never be removed
    >>> warnings_about("ark:12345/x6np1", "https://example.org/2024-03-12/17", "inv. 1940,0041")
    []
    """
    values = metadata or {}
    whole = "\n".join([name, target or "", resource or "", *filter(None, values.values())])
    if not _can_match(whole):
        return []
    return [NameWarning(CODE, message) for message in _messages(name, target, resource, values)]


class _Values(Protocol):
    """A binding, or another object with these values of a name."""

    @property
    def spelling(self) -> str: ...
    @property
    def target(self) -> str | None: ...
    @property
    def resource(self) -> str | None: ...
    @property
    def metadata(self) -> Mapping[str, str]: ...


def of_binding(binding: _Values) -> list[NameWarning]:
    """Return warnings about data of persons in the name, target, resource and metadata of a binding."""
    return warnings_about(binding.spelling, binding.target, binding.resource, binding.metadata)


def of_bindings(bindings: Sequence[_Values]) -> list[list[NameWarning]]:
    """Return the warnings about data of persons for each binding. It is faster than single calls: most are searched
    together.
    """
    warnings: list[list[NameWarning]] = [[] for _ in bindings]
    texts = [_text(each) for each in bindings]
    for place in _suspects(texts, 0, len(texts)):
        warnings[place] = of_binding(bindings[place])
    return warnings


def can_be_in(texts: Iterable[str]) -> bool:
    """Return whether one of ``texts`` can have data of persons. None has a line feed."""
    return _has_match("\n".join(texts))


def _text(binding: _Values) -> str:
    """Return all that is searched in a binding, on lines. No rule matches a line end."""
    if binding.target and not (binding.metadata or binding.resource):
        return f"{binding.spelling}\n{binding.target}"
    values = filter(None, binding.metadata.values())
    return "\n".join([binding.spelling, binding.target or "", binding.resource or "", *values])


def _suspects(texts: Sequence[str], start: int, stop: int) -> Iterator[int]:
    """Yield the places of texts in which a rule can match. Halves of the list are searched until one text is left."""
    if start == stop or not _has_match("\n".join(texts[start:stop])):
        return
    if stop - start == 1:
        yield start
        return
    middle = (start + stop) // 2
    yield from _suspects(texts, start, middle)
    yield from _suspects(texts, middle, stop)


def _has_match(text: str) -> bool:
    """Return whether a rule can match in a text. It is a longer check than :func:`_can_match`, with fewer results."""
    text = text.lower()
    return any(part in text for part in _PARTS_AND_LABELS) or any(each.search(text) is not None for each in _NUMBERS)


def _messages(
    name: str, target: str | None, resource: str | None, metadata: Mapping[str, str]
) -> Iterator[Translatable]:
    if kind := _kind_of(name.partition(":")[2], _OF_NAME):
        yield Translatable(
            "the name contains %(kind)s; a name enters the public log and can never be removed", kind=kind
        )
    # The part before @ in the authority is the name of an account.
    if target and (kind := _kind_of(_AUTHORITY.sub("", target[:_MAX_TEXT]), _OF_TARGET)):
        yield Translatable(
            "the target contains %(kind)s; the history keeps it permanently, and ararat redact removes metadata only",
            kind=kind,
        )
    if resource and (kind := _kind_of(resource, _OF_NAME)):
        yield Translatable(
            "the resource contains %(kind)s; it never changes, and only ararat redact --resource can replace it",
            kind=kind,
        )
    for element, value in metadata.items():
        if kind := _kind_of(value, _OF_METADATA):
            yield Translatable(
                "the element %(element)s contains %(kind)s; the history keeps it until ararat redact removes it",
                element=display.escape(element[:60]),
                kind=kind,
            )


def _kind_of(value: str, rules: tuple[_Rule, ...]) -> Translatable | None:
    """Return the kind of personal data that a value contains, or None."""
    if not _can_match(value):
        return None
    text = value[:_MAX_TEXT]
    if "%" in text:
        text = unquote(text)
    return next((kind for kind, pattern, confirms in rules if any(map(confirms, pattern.finditer(text)))), None)
