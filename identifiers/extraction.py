"""Find identifiers in running text: ARKs (bare, in addresses, percent-encoded) and URNs.

Text that is a single identifier is one match, so that a report can explain its errors. In longer text, each match has
its place and its literal text. It has a suggestion if a reader would expect a different identifier: without closing
punctuation, typographic hyphens or HTML entities. The time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterator
from heapq import merge
from html.entities import html5
from itertools import product
from typing import NamedTuple

from . import suggestions
from .ark import embedded
from .ark.grammar import ARK_UNRESERVED, ENCODED_LABEL_PATTERN, LABEL_PATTERN, LABELS, NAAN
from .parsing import ASCII_SPACE, reads
from .text import iri, lookalikes
from .urn import grammar as urn


class Match(NamedTuple):
    """An identifier at ``text[start:end]``, counted in code points.

    ``literal`` is that text. ``suggestion`` is the identifier that the author probably meant, or None if that is the
    literal. ``why`` lists the differences: "closing-punctuation", "trailing-slash", "typographic-character",
    "html-entity" or "encoded-label".
    """

    start: int
    end: int
    literal: str
    suggestion: str | None = None
    why: tuple[str, ...] = ()


# ucschar contains the non-ASCII spaces. In running text they end a word.
_SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UCSCHAR = f"(?![{_SPACES}])[{iri.UCSCHAR}]"


def _run(inside: str, *, least: int = 1) -> str:
    return f"(?:[{inside}]++|{_UCSCHAR}|{iri.PCT_ENCODED})" + ("++" if least else "*+")


# The longest match of the *strict* grammar: a dot precedes a non-empty variant, so a full stop does not match.
_NAME_CHARS = _run(rf"{ARK_UNRESERVED}\-")
_QUERY = _run(f"{iri.PCHAR}/?", least=0)
_ARK = (
    rf"{LABEL_PATTERN}/?{NAAN}/{_NAME_CHARS}(?:/{_NAME_CHARS})*+(?:\.{_NAME_CHARS})*+"
    rf"(?:\?{_QUERY}(?:#{_QUERY})?|#{_QUERY}|/(?![^\s<>\"'),;.]))?"
)
# URN draft, section 2.3.3: in text a NSS ends before the first excluded character (U-04, U-08). Slashes are accepted,
# as in RFC 8141.
_URN = re.compile(
    rf"{urn.LABEL_PATTERN}[A-Za-z0-9][A-Za-z0-9\-]{{1,31}}:"
    rf"{iri.run(iri.PCHAR)}(?:/{iri.run(iri.PCHAR + '/', least=0)})?"
    rf"(?:\?{iri.run(iri.PCHAR + '/?', least=0)})?(?:#{iri.run(iri.PCHAR + '/?', least=0)})?"
)
_ENCODED = re.compile(rf"{ENCODED_LABEL_PATTERN}(?:[{ARK_UNRESERVED}\-./]++|{iri.PCT_ENCODED})++")
_ENCODED_LABEL = re.compile(ENCODED_LABEL_PATTERN)
_LABEL = re.compile(f"(?<![A-Za-z0-9])(?:({LABEL_PATTERN})|({ENCODED_LABEL_PATTERN})|({urn.LABEL_PATTERN}))")
_ADDRESS = rf"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{{0,30}}://{_run(f'{iri.PCHAR}/', least=0)}"
_IRI_END = rf"(?:\?{_QUERY})?(?:#{_QUERY})?"
_SCHEME = re.compile(rf"{embedded.SCHEME}:")
_SPACE = re.compile(f"[{ASCII_SPACE}]")
_LABELS = LABELS | frozenset(map("".join, product("uU", "rR", "nN", ":")))
_OPENING = frozenset("<>\"'([{,;|")
_GOES_ON = re.compile("/{0,2}[0-9A-Za-z]")
_WORD = re.compile(r"[^\s<>\"]+")
# A longer number is not a character, and int() refuses more than 4,300 digits.
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});")
_MAX_WORDS = 9
_CLOSING = frozenset(".,;:!?'*_\"")
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}
_COLON_AND_SLASH = (("%3A", ":"), ("%3a", ":"), ("%2F", "/"), ("%2f", "/"))


def find(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the identifiers in ``text``. The matches are in order and do not overlap.

    The whole text, without surrounding white space (space, tab, CR, LF), is one match in two cases. A report can then
    name the first wrong character:

    - It is one word that starts with a scheme or contains no identifier, and not more than one identifier.
    - It is one line that starts with an identifier and contains no other, unless a sentence or a column follows.

    In a list, each line starts with an identifier. A line with only one identifier is then one match, unless a sentence
    or a column follows. In other text of several lines, a match ends where the grammar ends.

    ``scope``: host names in lower case. Addresses at these hosts, also with "www." before them, are matches too. An IRI
    policy applies to them (POL-001).

    Source: URN draft, section 2.3.3; ARK-060, URN-045.

    >>> [match.literal for match in find("See ark:12345/x.en. Or https://n2t.net/ark:12345/y?info")]
    ['ark:12345/x.en', 'https://n2t.net/ark:12345/y?info']
    >>> [match.literal for match in find("ark:12345/INV 1940 0041")]
    ['ark:12345/INV 1940 0041']
    >>> [match.literal for match in find("ark:12345/INV 1940\\nark:12345/INV 1941")]
    ['ark:12345/INV 1940', 'ark:12345/INV 1941']
    """
    found = in_running_text(text, scope=scope)
    token = text.strip(ASCII_SPACE)
    if not token or len(found) > 1 or not _is_whole(token, found):
        return _whole_lines(text, found) if len(found) > 1 and "\n" in text else found
    start = text.index(token[0])
    return [Match(start, start + len(token), token, *_repaired(token))]


def in_running_text(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the identifiers in a text of sentences. Unlike :func:`find`, never take the whole text for one identifier.

    >>> [match.literal for match in in_running_text("ark:12345/INV 1940 0041")]
    ['ark:12345/INV']
    """
    found = list(_running(text))
    return list(merge(found, _in_scope(text, scope, found), key=lambda match: match.start)) if scope else found


def _whole_lines(text: str, found: list[Match]) -> list[Match]:
    """Extend a match that is alone on its line to the whole line, if ``text`` is a list: each line has a match first.

    Empty lines do not count. So a list reports the same matches as its lines do one at a time.
    """
    whole: list[Match] = []
    start = first = 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        if token := line.strip(ASCII_SPACE):
            after = first
            while after < len(found) and found[after].start < end:
                after += 1
            place = end - 1 - len(line.lstrip(ASCII_SPACE))
            if after == first or found[first].start != place:
                return found
            rest = token[len(found[first].literal) :]
            alone = after == first + 1 and _SPACE.search(rest) and _is_name(rest)
            whole += [Match(place, place + len(token), token, *_repaired(token))] if alone else found[first:after]
            first = after
        start = end
    return whole


def _is_whole(token: str, found: list[Match]) -> bool:
    """Return whether ``token``, which contains at most one identifier, is meant as a single identifier."""
    if not _SPACE.search(token):
        return not found or _SCHEME.match(token) is not None
    if not found:
        return lookalikes.lookalike(token) is not None or (_LABEL.match(token) is not None and _is_name(token))
    return token.startswith(found[0].literal) and _is_name(token[len(found[0].literal) :])


def _is_name(rest: str) -> bool:
    """Return whether the rest of a line can belong to the identifier at its start, as in "INV 1940 0041".

    It cannot if it contains another column or address, or many words. It cannot either if two or more words, and at
    least half of all, are lower-case like a sentence.
    """
    if re.search("[\t\r\n]|://", rest):
        return False
    words = rest.split(maxsplit=_MAX_WORDS)
    lower = sum(map(_is_lower_case_word, words))
    return len(words) < _MAX_WORDS and not (lower > 1 and 2 * lower >= len(words))


def _is_lower_case_word(word: str) -> bool:
    letters = word.strip(".,;:!?()[]\"'")
    return len(letters) > 1 and letters.isalpha() and letters.islower()


def _running(text: str, *, repair: bool = True) -> Iterator[Match]:
    place = taken = unread = 0
    addresses = _Addresses(text) if "://" in text else None
    grammars: dict[int | None, re.Pattern[str]] = {1: iri.compiled(_ARK, text), 2: _ENCODED, 3: _URN}
    while label := _LABEL.search(text, place):
        start, place = label.span()
        # Inside an invalid match, the match of a label ends at the next label. So each character is matched only a few
        # times.
        following = _LABEL.search(text, place) if start < unread else None
        matched = grammars[label.lastindex].match(text, start, following.start() if following else len(text))
        if matched and _another_label(text, matched.end()):
            # The last label counts (E-01). It starts with the three letters at the end of this match.
            place = matched.end() - 3
            continue
        address = addresses.around(start, taken) if addresses and start else None
        found = (_longest(matched, address, repair) if matched else None) or _faulty(label, address, repair)
        if found is not None:
            yield found
            place = found.end
        elif matched:
            unread = max(unread, matched.end())
        taken = place


class _Addresses:
    """The addresses in a text, searched once from left to right."""

    def __init__(self, text: str) -> None:
        self._found = iri.compiled(_ADDRESS, text).finditer(text)
        self._span: tuple[float, float] = (0, 0)

    def around(self, place: int, least: int) -> int | None:
        """Return the start of the address around ``place``, or None if there is none or it starts before ``least``."""
        while self._span[1] <= place:
            following = next(self._found, None)
            self._span = following.span() if following else (float("inf"), float("inf"))
        start = self._span[0]
        return int(start) if least <= start < place else None


def _in_scope(text: str, scope: Collection[str], found: list[Match]) -> Iterator[Match]:
    """Yield the addresses at the hosts in ``scope`` that overlap no match in ``found``."""
    hosts = {*scope, *(f"www.{host}" for host in scope)}
    taken = iter([*found, Match(len(text), len(text), "")])
    following = next(taken)
    place = 0
    for address in iri.compiled(_ADDRESS, text).finditer(text):
        start, end = address.span()
        while following.end <= start:
            following = next(taken)
        host = re.split("[/:]", address[0].partition("://")[2], maxsplit=1)[0].lower()
        if start < place or following.start < end or host not in hosts:
            continue
        place = min(iri.compiled(_IRI_END, text).match(text, end).end(), following.start)  # type: ignore[union-attr]
        literal = text[start:place]
        yield Match(start, place, literal, *_in_a_sentence(literal))


def _in_a_sentence(literal: str) -> tuple[str | None, tuple[str, ...]]:
    shorter = _without_closing(literal)
    return (None, ()) if shorter == literal else (shorter, ("closing-punctuation",))


def _longest(matched: re.Match[str], address: int | None, repair: bool) -> Match | None:
    text, start, end = matched.string, *matched.span()
    plain = _with_plain_label(matched[0]) if matched.re is _ENCODED else matched[0]
    valid = reads(plain)
    if not valid and not (repair and _is_too_long(plain)):
        # An invalid identifier is repaired once: as a whole word, in _faulty.
        return None
    for begin in [start] if address is None or matched.re is _URN else [address, start]:
        literal = text[begin:end]
        suggestion, why = _repaired(literal) if repair else (None, ())
        if suggestion is not None or (valid if literal == plain else reads(literal)):
            return Match(begin, end, literal, suggestion, why)
    return None


def _is_too_long(literal: str) -> bool:
    shorter = literal[:-1] if literal[-1] == "/" else _without_closing(literal)
    return shorter != literal and reads(shorter)


def _another_label(text: str, end: int) -> bool:
    """Whether the last three characters before ``end`` and the colon there are a label."""
    return text.startswith(":", end) and text[end - 3 : end + 1] in _LABELS


def _faulty(label: re.Match[str], address: int | None, repair: bool) -> Match | None:
    """Match an invalid identifier at the start of a word, so that a list of identifiers loses no entry silently."""
    text = label.string
    start = label.start() if address is None else address
    before = text[start - 1] if start else " "
    if not ((before in _OPENING or before.isspace()) and _GOES_ON.match(text, label.end())):
        return None
    literal = _without_closing(_WORD.match(text, start)[0])  # type: ignore[index]
    if start + len(literal) <= label.end():
        return None
    suggestion, why = _repaired(literal) if repair else (None, ())
    return Match(start, start + len(literal), literal, suggestion, why)


def _repaired(literal: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the suggestion for a literal, and the reasons."""
    if literal.isascii() and literal[-1].isalnum() and "%" not in literal and "&" not in literal:
        # No repair changes such a literal.
        return None, ()
    suggestion, why = literal, []
    for code, repaired in _REPAIRS:
        changed = repaired(suggestion)
        if changed != suggestion and reads(changed):
            suggestion = changed
            why.append(code)
    return suggestion if why else None, tuple(why)


def _without_closing(literal: str) -> str:
    """Remove the punctuation of the sentence at the end. Keep a bracket whose partner is in ``literal``."""
    if literal[-1:].isalnum():
        return literal
    end = len(literal)
    unpaired: dict[str, int] = {}
    while end:
        char = literal[end - 1]
        if char in _BRACKETS:
            if char not in unpaired:
                unpaired[char] = literal.count(char) - literal.count(_BRACKETS[char])
            if unpaired[char] <= 0:
                break
            unpaired[char] -= 1
        elif char not in _CLOSING and (char.isascii() or unicodedata.category(char) not in ("Pe", "Pf", "Pi", "Po")):
            break
        end -= 1
    return literal[:end]


def _without_entities(literal: str) -> str:
    """Decode character references once, and cut the result where the identifier ends."""
    if "&" not in literal:
        return literal
    plain = _ENTITY.sub(_character, literal)
    found = next(_running(plain, repair=False), None) if plain != literal else None
    return found.literal if found else literal


def _character(reference: re.Match[str]) -> str:
    return html5.get(reference[0][1:]) or html.unescape(reference[0])


def _with_plain_label(literal: str) -> str:
    label = _ENCODED_LABEL.search(literal) if "%3" in literal else None
    if label is None:
        return literal
    rest = literal[label.start() :]
    for octet, char in _COLON_AND_SLASH:
        rest = rest.replace(octet, char)
    return literal[: label.start()] + rest


_REPAIRS = (
    ("encoded-label", _with_plain_label),
    ("html-entity", _without_entities),
    ("closing-punctuation", _without_closing),
    ("trailing-slash", lambda literal: literal.removesuffix("/")),
    ("typographic-character", suggestions.without_hidden),
)
