"""Convert a name in any spelling to the key of its binding, and refuse names that cannot be bound."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from ...identifiers import Ark, EmbeddedArk, IdentifierError, Urn, parse
from ...identifiers.ark import length, normalization
from ...identifiers.ark.grammar import BASE29_ONLY, RESERVED_NAAN
from ...identifiers.suggestions import without_container
from ...identifiers.text import characters, display, iri
from ...identifiers.text.characters import BIDI_FORMATTING
from ...identifiers.text.translatable import Translatable
from . import validation
from .errors import BindingError

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile

Name: TypeAlias = Ark | EmbeddedArk | Urn | str
"""A name in any spelling. In a URL that contains an ARK, the ARK is the name."""

# An encoded character that is not ASCII, or a control.
_ENCODED_NON_ASCII = re.compile("%(?:[0189A-Fa-f][0-9A-Fa-f]|7[Ff])")
# A list of URNs is one URN, because all of these characters can be in one.
_SECOND_NAME = re.compile(r"[;,&](?:%20)*((?:urn|ark):[^;,&]+)", re.IGNORECASE)
_MAX_QUOTED = 100
# The characters that word processors and spreadsheets write for a hyphen, and characters that look like one.
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d")


MAX_CHARACTERS: Final = 4000
"""The maximum number of characters of a name in any spelling, or of an address, in a request. A longer text is refused
before it is parsed. Names themselves are shorter.
"""

TEST_NAANS: Final = frozenset({RESERVED_NAAN[4:-1]})
"""The NAANs below which a site can bind names for tests: 99999, which no organization holds (decision X-06)."""


class NamingRules(NamedTuple):
    """The rules of a site for the names that it binds. ``policy`` is its IRI policy or None. ``test_naans`` are the
    NAANs for tests in normal form (decision X-06).
    """

    policy: Profile | None = None
    test_naans: Collection[str] = ()


NO_RULES: Final = NamingRules()
"""The rules of a site without an IRI policy and without NAANs for tests."""

RECORDED: Final = NamingRules(test_naans=TEST_NAANS)
"""The rules for a name that is recorded: a name for tests is changed and restored also without the setting."""


def is_test(key: str) -> bool:
    """Return whether a key has a NAAN of :data:`TEST_NAANS`. Such a name is marked, and never in a feed, sitemap or
    log.

    >>> is_test("ark:99999/fk4x"), is_test("ark:12345/x")
    (True, False)
    """
    return key.startswith(RESERVED_NAAN)


def naans_for_tests(naans: Iterable[str]) -> frozenset[str]:
    """Return the setting ``test_naans`` in normal form. Raises ValueError for a NAAN outside :data:`TEST_NAANS`.

    >>> sorted(naans_for_tests(["99-999"]))
    ['99999']
    """
    if isinstance(naans, str):
        raise ValueError(f"test_naans: {naans!r} is a text, but a list is expected; write [{naans!r}]")
    normal_forms = {naan: naan.replace("-", "") for naan in naans}
    for naan, normal in normal_forms.items():
        if normal not in TEST_NAANS:
            raise ValueError(f"test_naans: {naan!r} is not a NAAN for tests; expected {', '.join(sorted(TEST_NAANS))}")
    return frozenset(normal_forms.values())


def read(identifier: Name) -> Ark | Urn:
    """Parse an ARK, a URL that contains one, or a URN. Raises :class:`BindingError` with the code of the problem, or
    with ``name-too-long`` for more than :data:`MAX_CHARACTERS`.

    >>> read("https://n2t.net/ark:/12345/x6-np1").normal_form
    'ark:12345/x6np1'
    """
    if isinstance(identifier, str):
        require_length(identifier)
        try:
            identifier = parse(identifier)
        except IdentifierError as error:
            raise BindingError.of(error, display.percent(error.text)) from error
    if isinstance(identifier, EmbeddedArk):
        if not identifier.boundary:
            raise BindingError("label-inside-segment", identifier=display.percent(identifier.text))
        return identifier.ark
    return identifier


def require_length(text: str) -> None:
    """Raise :class:`BindingError` (``name-too-long``) for more than :data:`MAX_CHARACTERS`. Call it before the text is
    parsed.
    """
    if len(text) > MAX_CHARACTERS:
        raise BindingError("name-too-long", identifier=display.percent(text[:_MAX_QUOTED]))


def key(name: Ark | Urn) -> str:
    """Return the key of a name: its normal form without query and fragment. URNs that are equivalent by the rules of
    their namespace have the same key (URN-053; decision U-10).

    >>> key(read("ark:/12345/x6-np1?info#p1")), key(read("urn:isbn:0-451-45052-3"))
    ('ark:12345/x6np1', 'urn:isbn:9780451450524')
    """
    return name.basic if isinstance(name, Ark) else name.canonical_name


def key_of(identifier: Name) -> str:
    """Return the key of a name in any spelling. Raises like :func:`read`; :func:`assignable` also refuses unbindable
    names.

    >>> key_of("https://n2t.net/ark:/12345/x6-np1"), key_of("ark:12345/x6-np1")
    ('ark:12345/x6np1', 'ark:12345/x6np1')
    """
    if isinstance(identifier, str) and len(identifier) <= length.ALWAYS_ACCEPTED:
        # The fast path for most names.
        plain = normalization.plain(identifier)
        if plain is not None:
            return plain
    return key(read(identifier))


def assignable(identifier: Name, rules: NamingRules = NO_RULES) -> str:
    """Return the key of a name that can be bound. Raises :class:`BindingError` for a text that is not an identifier,
    and for names that are never bound, such as those of NAAN 99999 without ``test_naans``.

    Source: ARK-019, ARK-142, URN-017, POL-023; decisions A-04, A-07, A-09, A-11.

    >>> assignable("ark:/12345/d-oc")
    'ark:12345/doc'
    >>> try:
    ...     assignable("ark:9-9999/x")
    ... except BindingError as error:
    ...     print(error.identifier, error.code)
    ark:99999/x naan-reserved-invalid
    >>> assignable("ark:9-9999/x", NamingRules(test_naans=["99999"]))
    'ark:99999/x'
    """
    if isinstance(identifier, str) and len(identifier) <= length.ALWAYS_ACCEPTED:
        # The fast path for most names. The reserved NAAN is the only reason to refuse a name of this form.
        plain = normalization.plain(identifier)
        if plain is not None and not plain.startswith(RESERVED_NAAN):
            return plain
    name = read(identifier)
    name_key = key(name)
    if code := _never_bound(name, name_key, rules):
        error = BindingError(code, identifier=name_key)
        # Such an ARK is mostly the percent-encoded copy of another one.
        raise error.with_suggestion(name.text) if code == "naan-not-base29" else error
    require_visible(name.text, Translatable("Name"), name_key)
    return name_key


def require_visible(text: str, label: str, identifier: str | None = None, *, code: str | None = None) -> None:
    r"""Raise :class:`BindingError` for a text with a hidden character that is not percent-encoded (A-09). The message
    begins with ``label``. The default of ``code`` is ``bidi-formatting`` for characters that no IRI can contain, else
    ``hidden-char``.

    >>> try:
    ...     require_visible("ark:12345/a\u200bb", "Name")
    ... except BindingError as error:
    ...     print(error.message)
    Name: it has U+200B ZERO WIDTH SPACE, which is invisible: remove it; if it belongs there, write %E2%80%8B
    """
    if text.isascii():
        return
    for run in characters.hidden_runs(text):
        char = run[1]
        # A code point that Unicode does not define yet can be a letter of a later version.
        if characters.classify(char) == "unassigned":
            continue
        encoded = display.percent(char)
        error_code = code or ("bidi-formatting" if char in BIDI_FORMATTING else "hidden-char")
        raise BindingError(
            error_code,
            Translatable(
                "%(label)s: it has %(char)s, which is invisible: remove it; if it belongs there, write %(encoded)s",
                label=label,
                char=display.describe_character(char),
                encoded=encoded,
            ),
            identifier=identifier,
        )


def spelling_of(identifier: Name) -> str:
    """Return the spelling of a name as written, without the URL of a resolver before it.

    >>> spelling_of("https://n2t.net/ark:/12345/x6-np1"), spelling_of("ark:/12345/x6-np1")
    ('ark:/12345/x6-np1', 'ark:/12345/x6-np1')
    """
    if isinstance(identifier, str) and identifier.startswith(("ark:", "urn:")):
        return identifier
    return read(identifier).text


def _never_bound(name: Ark | Urn, key: str, rules: NamingRules) -> str | None:
    # "The <query> part MUST NOT be present in any *assigned* URN." The name of an ARK has no fragment.
    if name.normal_form != (name.basic if isinstance(name, Ark) else name.assigned_name):
        return "inflected-ark" if isinstance(name, Ark) else "urn-not-assigned"
    if length.code_points(name.text) > length.ALWAYS_ACCEPTED:
        return "name-too-long"
    if iri.has_dot_segment(key):
        return "dot-segment"
    if isinstance(name, Urn):
        return None
    if name.reserved_naan and name.normal_naan not in rules.test_naans:
        return "naan-reserved-invalid"
    if not BASE29_ONLY.fullmatch(name.normal_naan):
        return "naan-not-base29"
    return None


class NameWarning(NamedTuple):
    """A warning about a name that can be bound. ``code`` is a stable name, and ``message`` a sentence in printable
    ASCII.
    """

    code: str
    message: Translatable


def _container_warning(written: str, shorter: str) -> NameWarning:
    place = written.find(shorter)
    rest = written[place + len(shorter) :] if place >= 0 else ""
    if rest:
        rest = validation.quote(rest, _MAX_QUOTED)
        message = Translatable(
            "the name has %(rest)s at its end, which can be another value of a row, record or text", rest=rest
        )
        return NameWarning("name-container", message)
    before = validation.quote(written[: max(place, 0)] or written, _MAX_QUOTED)
    message = Translatable("the name has %(before)s before it, which is not a part of an address", before=before)
    return NameWarning("name-container", message)


def warnings_about(identifier: Name) -> list[NameWarning]:
    r"""Return warnings about unusual characters in a name: hidden, unassigned or non-ASCII ones, a dot at the end, and
    what looks like a part of its container (ARK-065; decisions A-09, A-13, E-08).

    >>> [each.code for each in warnings_about("ark:12345/a%E2%80%8Bb")], warnings_about("ark:12345/a-b")
    (['hidden-char'], [])
    >>> print(warnings_about("ark:12345/a\u2013b")[0].message)
    the name has U+2013 EN DASH, which is not a hyphen: a hyphen is ignored, this character is part of the name
    """
    written = identifier if isinstance(identifier, str) else identifier.text
    plain = isinstance(identifier, str) and identifier.isascii() and identifier[-1:] not in ".-"
    second = _SECOND_NAME.search(written)
    if second is None and (shorter := without_container(written)) is not None:
        return [_container_warning(written, shorter.identifier)]
    if plain and second is None and ("%" not in str(identifier) or not _ENCODED_NON_ASCII.search(str(identifier))):
        return []
    if second is not None:
        message = Translatable("the name has a second one in it: %(other)s", other=validation.quote(second[1], 100))
        return [NameWarning("name-several", message)]
    name = read(identifier)
    if isinstance(name, Ark) and name.basic.endswith("."):
        message = Translatable("the name ends in a dot: other resolvers ignore it, and readers take it for a full stop")
        return [NameWarning("dot-in-name", message)]
    warnings: list[NameWarning] = []
    for char in dict.fromkeys(unquote(key(name))):
        if kind := characters.classify(char):
            shown = display.describe_character(char)
            code, message = (
                "hidden-char",
                Translatable("the name has %(char)s, which is invisible but part of the name", char=shown),
            )
            if kind == "unassigned":
                code, message = (
                    kind,
                    Translatable("the name has %(char)s, which is not assigned in Unicode", char=shown),
                )
            warnings.append(NameWarning(code, message))
    if warnings:
        return warnings
    others = [char for char in dict.fromkeys(unquote(key(name))) if not char.isascii()]
    if not others:
        return []
    first = min(others, key=lambda char: char not in _DASHES)
    named: str = display.describe_character(first)
    if len(others) > 1:
        named = Translatable.counted(
            "%(char)s and %(number)s other", "%(char)s and %(number)s others", len(others) - 1, char=named
        )
    message = Translatable("the name has %(char)s, which is not ASCII and is permanently part of the name", char=named)
    if first in _DASHES:
        message = Translatable(
            "the name has %(char)s, which is not a hyphen: a hyphen is ignored, this character is part of the name",
            char=named,
        )
    return [NameWarning("non-ascii", message)]


def confusable(key: str) -> list[str]:
    """Return the keys of ARKs that software can confuse with a key, because it decodes ``%2E``: at most nine (A-08).

    >>> confusable("ark:12345/a%2Eb"), confusable("ark:12345/a.b.c")
    (['ark:12345/a.b'], ['ark:12345/a%2Eb%2Ec', 'ark:12345/a%2Eb.c', 'ark:12345/a.b%2Ec'])
    """
    if not key.startswith("ark:"):
        return []
    if "%2E" in key:
        spellings = [key.replace("%2E", ".")]
    elif "." in key:
        dots = [place for place, char in enumerate(key) if char == "."]
        encoded = [f"{key[:place]}%2E{key[place + 1 :]}" for place in dots[:8]]
        spellings = [key.replace(".", "%2E"), *encoded]
    else:
        return []
    keys = []
    for spelling in spellings:
        try:
            keys.append(parse(spelling).normal_form)
        except IdentifierError:
            continue
    return list(dict.fromkeys(keys))


# Rules of normalization that need no explanation.
_OBVIOUS = ("scheme-case", "classic-slash", "non-ascii", "nid-case", "hex-case", "query-and-fragment")
_WHY = {
    "percent-decoding": "characters that need no percent-encoding are decoded",
    "hyphens": "hyphens in an ARK are ignored",
    "variants": "the variants of an ARK (the parts after the dots at its end) are sorted, and duplicates are removed",
}


def why_same(*spellings: str) -> str:
    """Return a sentence that explains why ``spellings`` are one name, or "" if that is obvious.

    >>> why_same("ark:/12345/1987-12-3", "ark:12345/1987-1-23"), why_same("ark:/12345/a", "ark:12345/a")
    ('hyphens in an ARK are ignored', '')
    """
    reasons: dict[str, None] = {}
    for spelling in spellings:
        try:
            name = read(spelling)
        except BindingError:
            continue
        for step in name.steps:
            if step.rule not in _OBVIOUS:
                reasons[_WHY[step.rule]] = None
        if isinstance(name, Urn) and name.canonical_name != name.assigned_name:
            reasons["these URNs are equivalent by the rules of their namespace"] = None
    return "; ".join(reasons)


def why_similar_in_case(other: str) -> Translatable:
    """Return the warning about a URN that differs from the recorded URN ``other`` in case only. It adds that both can
    be one name if the rule of equivalence of their namespace is unknown.
    """
    from ...identifiers.equivalence import unknown_rule  # a resolver does not need it

    shown, nid = validation.quote(other, 100), other.split(":")[1]
    if unknown_rule(nid) is None:
        return Translatable(
            "the name differs in upper and lower case only from the recorded name %(other)s", other=shown
        )
    return Translatable(
        "the name differs in upper and lower case only from the recorded name %(other)s; the rule of the namespace "
        "%(nid)s is not known to Ararat",
        other=shown,
        nid=nid,
    )
