"""Find identifiers in running text: ARKs (bare, in addresses, percent-encoded) and URNs, in linear time. Text that is a
single identifier is one match, so that a report can explain its errors. A word is never shortened silently: the match
is the whole word, or ``differences`` states the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import lru_cache
from heapq import merge
from typing import NamedTuple

from . import containers, numbers, repairs
from .ark import embedded
from .ark.grammar import ARK_UNRESERVED, ARK_UNRESERVED_MARKS, BASE29, LABEL_PATTERN, NAAN
from .parsing import ASCII_SPACE, parse, reads
from .problems import require_text
from .repairs import Suggestion, without_closing
from .text import iri, lookalikes
from .urn import grammar as urn
from .urn.model import Urn

FOLLOWED_BY = "followed-by: "
"""The beginning of the reason that states the rest of a word after a match."""

NOT_VALID = "not-valid"
"""The reason of a match that is not an identifier, and for which there is no suggestion."""


class Match(NamedTuple):
    """An identifier that was found in a text, at ``text[start:end]``.

    - ``start``, ``end``: the places of its first code point and of the one after it. ``literal``: the text between
      them.
    - ``suggestion``: the identifier that the author probably meant, or None if that is the literal text.
    - ``differences``: the differences, by the codes of :data:`.repairs.REASONS`. A last item that begins with
      :data:`FOLLOWED_BY` states the rest of the word. :data:`NOT_VALID` marks a text that is not an identifier.

    >>> find("See ark:12345/x5np1/.")
    [Match(start=4, end=20, literal='ark:12345/x5np1/', suggestion='ark:12345/x5np1', differences=('trailing-slash',))]
    """

    start: int
    end: int
    literal: str
    suggestion: str | None = None
    differences: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        """The rest of the word after the identifier, as ",Title" in "ark:12345/x,Title", up to 40 characters, or ""."""
        return next((each.removeprefix(FOLLOWED_BY) for each in self.differences if each.startswith(FOLLOWED_BY)), "")

    @property
    def corrections(self) -> tuple[str, ...]:
        """The corrections that lead from the text to the suggestion: the items of ``differences`` that are codes."""
        return tuple(each for each in self.differences if each != NOT_VALID and not each.startswith(FOLLOWED_BY))

    @property
    def represented_text(self) -> str | None:
        """The text whose normal form represents this match: the suggestion or the literal. It is None if the whole word
        is outside the specification. The literal counts where the suggestion is a guess: after a line break, and at a
        comma in a URN.
        """
        if "outside" in self.differences or "valid-beginning" in self.differences or NOT_VALID in self.differences:
            return None
        is_uncertain = "line-break" in self.differences or (
            "text-after" in self.differences and _IS_URN.search(self.literal) is not None
        )
        is_guess = is_uncertain and reads(self.literal)
        return self.literal if self.suggestion is None or is_guess else self.suggestion


_IS_URN = re.compile(f"(?<![A-Za-z0-9]){urn.LABEL_PATTERN}")

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
_LABEL_CODE = "%(?:25){0,3}3[Aa]"
_ENCODED = re.compile(rf"(?:[Aa][Rr][Kk]|[Uu][Rr][Nn]){_LABEL_CODE}(?:[{ARK_UNRESERVED}\-./]++|{iri.PCT_ENCODED})++")
# The character before a label is a letter or digit only in a percent-encoding or in the code of a MARC subfield.
_LABEL = re.compile(
    "[AaUu][Rr][KkNn](?:(?<![A-Za-z0-9]...)|(?<=%[0-9A-Fa-f]{2}...)|(?<=%25[0-9A-Fa-f]{2}...)"
    f"|(?<=[{containers.SUBFIELD_MARKS}|][A-Za-z0-9]...))"
    f"(?:(?<=[Aa][Rr][Kk])(:)|({_LABEL_CODE})|(?<=[Uu][Rr][Nn])(:))"
)
# A label in a word: a second identifier without a separator.
_ONLY_NAAN = re.compile(f"/?{NAAN}/")
_INNER_LABEL = re.compile(f"[Aa][Rr][Kk](:)(?=/?{NAAN}/)")
_AFTER_SEPARATOR = f"(?:{LABEL_PATTERN}|{urn.LABEL_PATTERN}|[A-Za-z][A-Za-z0-9+.\\-]{{0,30}}://)"
# Between two identifiers of a list.
_SEPARATOR = re.compile(rf"['\")\]}}]?(?<![,;|])[,;|]++['\"(\[{{]?(?={_AFTER_SEPARATOR})")
# Between two parameters of a query, and the parameter before an identifier.
_NEXT_PARAMETER = re.compile(r"&(?:amp;)?(?=[A-Za-z0-9_.\-]{1,40}(?:[=&\s<>\"']|\Z))")
_PARAMETER = re.compile(r"(?:[?&;#]|(?<![^\s'\"(<]))[A-Za-z0-9_.\-\[\]]{1,40}=")
_VALUE = re.compile(r"(?<![^\s<>\"'&?#])[^\s<>\"'&?#]*+\Z")
_PARAMETER_LENGTH = 160
_RUN = rf"://{_run(f'{iri.PCHAR}/', least=0)}"
_ADDRESS = rf"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{{0,30}}{_RUN}"
_SCHEME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-"
_BETWEEN_VALUES = frozenset(",;|'()[]")
_MAX_SCHEME = 31
_COMMON_SCHEMES = frozenset(("http", "https", "ftp"))
# An address in the query of another one.
_ENCODED_ADDRESS = re.compile("(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])%(?:25){0,3}3[Aa](?:%(?:25){0,3}2[Ff]){2}")
_ENCODED_CHARS = re.compile(r"(?<![A-Za-z0-9.\-_~%+:/])[A-Za-z0-9.\-_~%+:/]*+\Z")
_MAX_ENCODED = 400
# Signs between two identifiers, or before an arrow. They do not end a name.
_CONNECTORS = f"{ARK_UNRESERVED_MARKS}-.\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BEFORE_ANOTHER = re.compile(
    rf"[=+~*\-](?=(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])://|{LABEL_PATTERN}|{urn.LABEL_PATTERN})"
)
_IN_QUERY = re.compile("[?#&]")
_IRI_END = rf"(?:\?{_QUERY})?(?:#{_QUERY})?"
_SCHEME = re.compile(rf"{embedded.SCHEME}:")
_SPACE = re.compile(f"[{ASCII_SPACE}]")
_OPENING = frozenset("<>\"'([{,;|")
_GOES_ON = re.compile("(?:/{0,2}|%2[Ff])[0-9A-Za-z]")
_WORD = re.compile(r"[^\s<>\"\x00-\x1f\x7f-\x9f]++")
_ALPHANUMERIC = re.compile(r"[^\W_]")
# A row of a table or list goes on after these characters.
_ROW = re.compile("[,;(|$]")
_TAG = re.compile("</?[A-Za-z]")
_CELL = re.compile(rf"(?:{containers.IIIF_SEGMENT}|[^,;(|/]++|/)*+")
_BRACKET = frozenset(")]}[{")
_HEAD = re.compile(r"[^,;()\[\]{}|]*+")
_ENCLOSED = {")": "(", "]": "[", "}": "{", "'": "'", "`": "`", "|": "|"}
_PARTNERS = {opening: closing for closing, opening in _ENCLOSED.items() if opening != closing}
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});")
_MAX_WORDS = 9
_MAX_REST = 40
_MAX_SHORT = 200
# The white space at a line end, and after a hyphen; then the rest of a broken ARK.
# A line of a quoted mail begins with ">".
_LINE_END = re.compile("[ \t\r]*+\n[ \t\r]*+(?:>[ \t]++|>(?=>))*+")
_AFTER_HYPHEN = re.compile("[ \t\r]++(?:\n[ \t\r]*+(?:>[ \t]++|>(?=>))*+)?|\n[ \t\r]*+(?:>[ \t]++|>(?=>))*+")
# A broken end: in the NAAN, or before the name.
_HYPHENS = "-\u2010\u2011\u2012\u2013\u00ad"
_BROKEN_NAAN = re.compile(f"{LABEL_PATTERN}/?[{BASE29}]++/?\\Z")
_GAP = frozenset(" \t\r\n")
_MAX_BROKEN = 120
_NAME_ONLY = re.compile(rf"[{ARK_UNRESERVED}\-./]++")
_UNLABELLED = re.compile(f"[{BASE29}]{{5}}/")


def find(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the ARKs and URNs in ``text``. The matches are in order and do not overlap.

    Without surrounding white space, a text is one match in two cases. A report can then name the first wrong character:

    - It is one word that starts with a scheme or contains no identifier, and not more than one.
    - It is one line that starts with an identifier and contains no other.

    A sentence or column after the identifier, as in "ark:12345/x,Title", prevents this. In a list, each line starts
    with an identifier, and is treated like a whole text. In other text, a match ends where the grammar ends.

    ``scope`` contains host names in lower case. Addresses at these hosts, also with "www." before them, are matches
    too: an IRI policy applies to them (POL-001). Source: URN draft, section 2.3.3; ARK-060, URN-045.

    >>> [match.literal for match in find("See ark:12345/x.en. Or https://n2t.net/ark:12345/y?info")]
    ['ark:12345/x.en', 'https://n2t.net/ark:12345/y?info']
    >>> [match.literal for match in find("ark:12345/INV 1940 0041")]
    ['ark:12345/INV 1940 0041']
    """
    if not isinstance(text, str):
        require_text(text)
    matches = in_running_text(text, scope=scope)
    token = text.strip(ASCII_SPACE)
    if not token or len(matches) > 1 or not _is_whole(token, matches):
        return _with_numbers(text, _whole_lines(text, matches) if len(matches) > 1 and "\n" in text else matches)
    start = text.index(token[0])
    return [_alone(token, start)]


def _with_numbers(text: str, matches: list[Match]) -> list[Match]:
    """Return the matches with the lines between them that are a number without its label, such as an ISBN, and with
    the ISBNs and ISSNs in sentences.
    """
    found: list[Match] = []
    start = first = 0
    for line in text.split("\n"):
        end = start + len(line)
        before = first
        while first < len(matches) and matches[first].start <= end:
            first += 1
        is_free = first == before and not (before and matches[before - 1].end > start)
        if is_free and (number := numbers.suggestion(line)) is not None:
            place = start + len(line) - len(line.lstrip())
            found.append(Match(place, place + len(line.strip()), line.strip(), *number))
        start = end + 1
    known = list(merge(matches, found, key=lambda match: match.start)) if found else matches
    starts = [match.start for match in known]
    labelled: list[Match] = []
    for start, end, meant in numbers.find_labelled(text):
        after = bisect_left(starts, start)
        if (after == len(known) or starts[after] >= end) and (not after or known[after - 1].end <= start):
            labelled.append(Match(start, end, text[start:end], *meant))
    return list(merge(known, labelled, key=lambda match: match.start)) if labelled else known


def in_running_text(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the ARKs and URNs in sentences. Unlike for :func:`find`, the whole text is never one identifier.

    >>> [match.literal for match in in_running_text("ark:12345/INV 1940 0041")]
    ['ark:12345/INV']
    """
    matches = list(_running(text))
    return list(merge(matches, _in_scope(text, scope, matches), key=lambda match: match.start)) if scope else matches


def _whole_lines(text: str, matches: list[Match]) -> list[Match]:
    """Extend a match that is alone on its line to the whole line, if ``text`` is a list: each line has a match first.
    Empty lines do not count. So a list reports the same matches as its lines do one at a time.
    """
    whole: list[Match] = []
    start = first = 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        if token := line.strip(ASCII_SPACE):
            after = first
            while after < len(matches) and matches[after].start < end:
                after += 1
            place = end - 1 - len(line.lstrip(ASCII_SPACE))
            if after == first or matches[first].start != place:
                return matches
            rest = token[len(matches[first].literal) :]
            alone = after == first + 1 and _SPACE.search(rest) and _is_name(rest)
            whole += [Match(place, place + len(token), token, *_repair(token))] if alone else matches[first:after]
            first = after
        start = end
    return whole


def _is_whole(token: str, matches: list[Match]) -> bool:
    """Return whether ``token``, which contains at most one identifier, is meant as a single identifier. It is not if a
    column of a row or a tag follows the identifier, as in "ark:12345/x,Title" and "ark:12345/x</li>".
    """
    if matches and token.startswith(matches[0].literal):
        after = len(matches[0].literal)
        if _ROW.match(matches[0].rest) or _TAG.match(token, after):
            return False
    if not _SPACE.search(token):
        return not matches or token.startswith(matches[0].literal) or _begins_with_scheme(token) or reads(token)
    if not matches:
        if numbers.suggestion(token) is not None or numbers.other(token) is not None:
            return True
        return lookalikes.lookalike(token) is not None or (_LABEL.match(token) is not None and _is_name(token))
    return token.startswith(matches[0].literal) and _is_name(token[len(matches[0].literal) :])


def _begins_with_scheme(token: str) -> bool:
    scheme = _SCHEME.match(token)
    return scheme is not None and _is_scheme(scheme[0][:-1].lower())


def _is_name(rest: str) -> bool:
    """Return whether the rest of a line can belong to the identifier at its start, as in "INV 1940 0041". It cannot if
    it contains another column or address, or many words. It cannot either if two or more words, and at least half of
    all, are lower-case like a sentence.
    """
    if re.search("[\t\r\n]|://", rest):
        return False
    words = rest.split(maxsplit=_MAX_WORDS)
    lower = sum(map(_is_lower_case_word, words))
    return len(words) < _MAX_WORDS and not (lower > 1 and 2 * lower >= len(words))


def _is_lower_case_word(word: str) -> bool:
    letters = word.strip(".,;:!?()[]\"'")
    return len(letters) > 1 and letters.isalpha() and letters.islower()


def readings(text: str) -> Iterator[Suggestion]:
    """Yield the identifiers in a damaged copy of one identifier, in their order, without the container around them.

    >>> next(readings("uc2.ark:/13960/t4qj7970f")).identifier
    'ark:/13960/t4qj7970f'
    """
    if reads(text) and _SUSPECT.search(text) is None and text.find(":") >= text.rfind("://"):
        return
    for match in _running(text, is_alone=True):
        identifier = match.suggestion or match.literal
        if identifier != text and (match.suggestion or reads(identifier)):
            differences = list(match.corrections)
            differences += ["text-before"] * (match.start > 0)
            differences += ["text-after"] * (match.end < len(text) and "text-after" not in differences)
            yield Suggestion(identifier, tuple(differences))


def _alone(token: str, start: int) -> Match:
    """Return the match of a text that is one identifier."""
    end = start + len(token)
    suggestion, differences = _repair(token)
    if suggestion is None:
        first = next(_running(token, is_alone=True), None)
        if first is not None and len(first.literal) == len(token):
            return first._replace(start=start, end=end)
        reading = next(readings(token), None) if first is not None else numbers.suggestion(token)
        if reading is not None:
            suggestion, differences = reading
    elif "before-space" in differences and (first := beginning(token)) is not None:
        suggestion, differences = first
    return Match(start, end, token, suggestion, _reasons(token, suggestion, differences))


def beginning(text: str) -> Suggestion | None:
    """Return the identifier with which the sentence ``text`` begins, if its first word is not that, or None.

    A change of the script ends a name, and a line end after a hyphen does not.

    >>> beginning("ark:12345/x5\uae4c\uc9c0 all").identifier, beginning("ark:12345/INV 1940")
    ('ark:12345/x5', None)
    """
    first = next(_running(text), None)
    if first is None or first.suggestion is None or first.start:
        return None
    return Suggestion(first.suggestion, first.corrections)


def _reasons(literal: str, suggestion: str | None, differences: tuple[str, ...]) -> tuple[str, ...]:
    return differences if differences or suggestion is not None or reads(literal) else (NOT_VALID,)


def _running(given: str, *, is_alone: bool = False) -> Iterator[Match]:
    """Yield the matches. ``is_alone`` is whether the text is probably only one identifier."""
    plain = containers.unescape(given)
    for match in _in_plain_text(plain.text, is_alone=is_alone):
        yield _with_escapes(given, plain, match) if plain.starts else match


def _with_escapes(given: str, plain: containers.PlainText, match: Match) -> Match:
    start, end = plain.original(match.start), plain.original(match.end)
    literal = given[start:end]
    if literal == match.literal:
        return match._replace(start=start, end=end)
    suggestion = match.suggestion or (match.literal if reads(match.literal) else None)
    differences = (
        match.differences if suggestion is None else (*plain.codes_in(match.start, match.end), *match.differences)
    )
    return Match(start, end, literal, suggestion, differences)


class _Word(NamedTuple):
    """The word of a label: where the identifier and its label begin, and where its container ends it at the latest. In
    the heading of a table, ``heading`` is its separator.
    """

    begin: int
    start: int
    limit: int
    container: int | None
    is_cell: bool
    in_query: bool
    heading: str


def _in_plain_text(text: str, *, is_alone: bool) -> Iterator[Match]:
    taken = unread = 0
    addresses = _Addresses(text) if "://" in text else None
    separators, heading = _Separators(text), _heading(text)
    grammars: dict[int | None, re.Pattern[str]] = {1: iri.compile_rule(_ARK, text), 2: _ENCODED, 3: _URN}
    label = following = _LABEL.search(text)
    while label:
        start, place = label.span()
        # A label in a word keeps the next one, so that each part of the text is searched once.
        if following is not None and following.start() < place:
            following = _LABEL.search(text, place)
        after = following.start() if following else len(text)
        address = addresses.around(start, taken) if addresses and start else None
        if address is None and label.lastindex == 2:
            address = _encoded_address(text, start, taken)
        word = _word(label, address, after, separators, heading)
        if following and label.lastindex == 3:
            word = word._replace(limit=min(word.limit, _before_another(text, place, following.end())))
        # Inside an invalid match, the match of a URN ends at the next label. So each character is matched only a few
        # times.
        limit = min(word.limit, after) if label.lastindex != 3 or start < unread else word.limit
        matched = grammars[label.lastindex].match(text, start, limit)
        if (
            matched
            and label.lastindex == 1
            and matched.end() == after < word.limit
            and _has_query(matched[0])
            and start >= unread
        ):
            matched = grammars[1].match(text, start, word.limit)
        if following and matched is None and text[after - 1] == "/" and _ONLY_NAAN.fullmatch(text, place, after):
            # The last label counts (E-01).
            label = following
            continue
        second = None
        end = matched.end() if matched else 0
        if matched and label.lastindex != 3:
            if following and end == after and text[end - 1] == "/":
                label = following
                continue
            if end == after or text[end : end + 1] in _BEFORE_NEXT:
                second = _INNER_LABEL.match(text, end - 3) if text.startswith(":", end) else None
                end = _without_next(text, start, second.start() if second else end, after)
        found = _longest(text, word, end, label) if matched and end > place else None
        if found is not None and matched is not None and end == matched.end():
            found = _whole(text, found, word, is_urn=label.lastindex == 3, is_alone=is_alone)
        elif found is None:
            found = _faulty(label, word, min(limit, after))
        if found is not None:
            yield found
            place = max(place, found.end)
        elif matched:
            unread = max(unread, matched.end())
        taken = place
        if second is not None and second.start() >= place:
            label = second
        elif following and following.start() >= place:
            label = following
        else:
            label = _LABEL.search(text, place)


def _has_query(literal: str) -> bool:
    return "?" in literal or "#" in literal


def _word(label: re.Match[str], address: int | None, after: int, separators: _Separators, heading: str) -> _Word:
    text, (start, place) = label.string, label.span()
    begin = start if address is None else address
    container = containers.around(text, begin)
    in_query = _is_parameter(text, begin)
    limit = separators.find_after(start, in_query=in_query)
    is_cell = False
    if container is not None:
        end = containers.end(container, text, place, min(limit, after))
        if end < after:
            limit, is_cell = min(limit, end), True
    begins_line = begin == 0 or text[begin - 1] == "\n"
    return _Word(begin, start, limit, container, is_cell, in_query, heading if begins_line else "")


def _without_next(text: str, start: int, end: int, after: int) -> int:
    """Return where an identifier ends before the signs, and the scheme, that begin the next one."""
    if text.startswith("://", end):
        scheme = _scheme_start(text, end)
        if scheme <= start or text[scheme:end].lower() not in _COMMON_SCHEMES:
            return end
        end = scheme
    elif end != after and not text.startswith(">", end) and not _INNER_LABEL.match(text, end):
        return end
    return start + len(text[start:end].rstrip(_CONNECTORS))


def _before_another(text: str, place: int, end: int) -> int:
    """Return where a URN ends before the signs between it and the next identifier, or the length of the text."""
    sign = _BEFORE_ANOTHER.search(text, place, end)
    before = text[place : sign.start()] if sign else "?"
    return len(text) if _IN_QUERY.search(before) else place + len(before.rstrip(_CONNECTORS))


def _is_parameter(text: str, start: int) -> bool:
    if not start or text[start - 1] in _GAP:
        return False
    before = text[max(0, start - _PARAMETER_LENGTH) : start]
    if "=" not in before:
        return False
    # The sign before the last value, or a semicolon in it, begins the parameter.
    value = _VALUE.search(before)
    return value is not None and _PARAMETER.search(before, max(0, value.start() - 1)) is not None


def _encoded_address(text: str, start: int, least: int) -> int | None:
    """Return the start of the percent-encoded address around the label at ``start``, or None."""
    if "%" not in text[max(0, start - 5) : start]:
        return None
    place = max(least, start - _MAX_ENCODED)
    before = text[place:start]
    chars = _ENCODED_CHARS.search(before)
    found = _ENCODED_ADDRESS.search(before, chars.start()) if chars else None
    return place + found.start() if found else None


class _Separators:
    """The places in a text where an identifier of a list ends, found once."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._lists = [match.start() for match in _SEPARATOR.finditer(text)]
        self._parameters = [match.start() for match in _NEXT_PARAMETER.finditer(text)] if "&" in text else []

    def find_after(self, place: int, *, in_query: bool) -> int:
        """Return the first separator after ``place``, or the end of the text. In a query, "&" is one."""
        end = self._end
        for places in (self._lists, self._parameters) if in_query else (self._lists,):
            if places and (at := bisect_left(places, place)) < len(places):
                end = min(end, places[at])
        return end


class _Addresses:
    """The addresses in a text, searched once from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = iri.compile_rule(_RUN, text).finditer(text)
        self._start: float = 0
        self._end: float = 0
        self._read = 0

    def around(self, place: int, least: int) -> int | None:
        """Return the start of the address around ``place``, or None if there is none or it starts before ``least``. An
        address in the path of another one belongs to it. One in the next column, or in the next subfield, does not.
        """
        while self._end <= place:
            following = next(self._found, None)
            self._end = following.end() if following else float("inf")
            self._read = following.start() + 3 if following else len(self._text)
            self._start = _scheme_start(self._text, following.start()) if following else float("inf")
        while self._start < place and (colon := self._text.find("://", self._read, place)) >= 0:
            self._read = colon + 3
            scheme = _scheme_start(self._text, colon)
            if scheme < colon and _begins_value_at(self._text, scheme):
                self._start = scheme
        self._read = max(self._read, place - 2)
        start = self._start
        return int(start) if least <= start < place else None


def _begins_value_at(text: str, start: int) -> bool:
    """Return whether the character before ``start`` separates two values."""
    before = text[start - 1]
    is_subfield = text[start - 2] in containers.SUBFIELD_MARKS and before.isalnum()
    return before in _BETWEEN_VALUES or not before.isascii() or is_subfield


def _scheme_start(text: str, colon: int) -> int:
    """Return where the scheme before the colon of an address starts. If the word is not in the registry of IANA, it is
    "https", "http" or "ftp" at its end: "uhttps" is "u" and "https".
    """
    before = text[max(0, colon - _MAX_SCHEME) : colon]
    word = before[len(before.rstrip(_SCHEME_CHARS)) :]
    return colon - len(_scheme(word.lower()))


@lru_cache(1024)
def _scheme(word: str) -> str:
    """Return the scheme at the end of ``word``: itself, a common scheme at its end, or what can be a scheme."""
    if _is_scheme(word):
        return word
    common = [scheme for scheme in _COMMON_SCHEMES if word.endswith(scheme)]
    return max(common, key=len, default=word.lstrip("0123456789+.-"))


@lru_cache(1024)
def _is_scheme(name: str) -> bool:
    """Return whether the URI scheme ``name``, in lower case, is in the registry of IANA."""
    if name in _COMMON_SCHEMES:
        return True
    from . import registries  # it loads tables that most texts do not need

    return registries.scheme(name) is not None


def _in_scope(text: str, scope: Collection[str], matches: list[Match]) -> Iterator[Match]:
    """Yield the addresses at the hosts in ``scope`` that overlap no match in ``matches``."""
    hosts = {*scope, *(f"www.{host}" for host in scope)}
    taken = iter([*matches, Match(len(text), len(text), "")])
    following = next(taken)
    place = 0
    for address in iri.compile_rule(_ADDRESS, text).finditer(text):
        start, end = address.span()
        while following.end <= start:
            following = next(taken)
        host = re.split("[/:]", address[0].partition("://")[2], maxsplit=1)[0].lower()
        if start < place or following.start < end or host not in hosts:
            continue
        place = min(iri.compile_rule(_IRI_END, text).match(text, end).end(), following.start)  # type: ignore[union-attr]
        literal = text[start:place]
        yield Match(start, place, literal, *_in_a_sentence(literal))


def _in_a_sentence(literal: str) -> tuple[str | None, tuple[str, ...]]:
    shorter = without_closing(literal)
    return (None, ()) if shorter == literal else (shorter, ("closing-punctuation",))


def _longest(text: str, word: _Word, end: int, label: re.Match[str]) -> Match | None:
    plain = text[word.start : end]
    if label.lastindex == 2:
        if not repairs.is_correctable(plain):
            return None
        plain = repairs.with_plain_label(plain)
    valid = reads(plain)
    if not valid and not _is_too_long(plain):
        # An invalid identifier is repaired once: as a whole word, in _faulty.
        return None
    for begin in [word.begin] if word.begin == word.start else [word.begin, word.start]:
        literal = text[begin:end]
        # In an address of IIIF, the word goes on after a slash and a comma, and is then read as a whole.
        is_encoded = label.lastindex == 2 and (literal[-1] != "/" or text.startswith(",", end))
        if is_encoded and (decoded := _decode_label(literal)) is not None:
            return Match(begin, end, literal, *decoded)
        is_valid = valid if literal == plain else reads(literal)
        if not is_valid and literal[-1] == "/" and (shorter := _without_slash(literal)) is not None:
            return Match(begin, end, literal, shorter, ("trailing-slash",))
        suggestion, differences = _repair(literal, valid=is_valid)
        if suggestion is not None or is_valid:
            return Match(begin, end, literal, suggestion, differences)
    return None


def _decode_label(literal: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the suggestion for a literal that is right but for its encoded label, or None: a fast path."""
    plain = repairs.with_plain_label(literal)
    stripped = plain.removesuffix("/")
    if not (stripped.isascii() and stripped[-1:].isalnum()) or "%" in stripped or "&" in stripped:
        return None
    if _REPEATED.search(stripped, 8) or not reads(stripped):
        return None
    return stripped, ("encoded-label",) if stripped == plain else ("encoded-label", "trailing-slash")


def _without_slash(literal: str) -> str | None:
    """Return a literal without the slash at its end if that is its only fault, or None: a fast path."""
    shorter = literal[:-1]
    is_plain = shorter.isascii() and shorter[-1:].isalnum() and "%" not in shorter and "&" not in shorter
    return shorter if is_plain and not _REPEATED.search(shorter, 8) and reads(shorter) else None


def _is_too_long(literal: str) -> bool:
    shorter = literal[:-1] if literal[-1] == "/" else without_closing(literal)
    return shorter != literal and reads(shorter)


def _whole(text: str, match: Match, word: _Word, *, is_urn: bool, is_alone: bool) -> Match:
    """Extend a match to the whole word if the word goes on. Otherwise state the rest of the word in ``differences``.
    The word goes on with a letter or digit after other characters. It ends where its container ends it, before another
    identifier, before the partner of a bracket or quotation mark, and in a query before the next parameter.
    """
    end = match.end
    in_cell = word.is_cell and end == word.limit
    guessed = _guess_end(text, match, word, is_urn=is_urn, is_alone=is_alone) if is_urn or not in_cell else None
    # In a cell or quotation marks, only the rules of a namespace end it.
    if guessed is not None and (not in_cell or len(guessed.literal) < len(match.literal)):
        return guessed
    rest = _rest(text, end)
    if not rest or not _ALPHANUMERIC.search(rest):
        is_complete = is_urn and match.literal[-1] not in _HYPHENS
        return match if is_complete or in_cell else _with_line_after(text, match, word)
    before = text[match.start - 1 : match.start] if match.start else ""
    if in_cell:
        return _add_follower(match, rest) if containers.CONTAINERS[word.container or 0].states else match
    if _ends_word(before, rest, in_query=word.in_query):
        return match
    if before in _PARTNERS and before not in rest:
        # The word is in brackets or quotation marks.
        rest = rest.partition(_PARTNERS[before])[0]
    head = 0 if is_urn else _head(text, match, min(len(rest), word.limit - end), in_query=word.in_query)
    literal = without_closing(text[match.start : end + head]) if head else match.literal
    if len(literal) > len(match.literal):
        suggestion, differences = repairs.of_word(literal, len(match.literal)) or _repair(literal)
        match = Match(match.start, match.start + len(literal), literal, suggestion, differences)
    rest = rest[match.end - end :]
    if (word.in_query and rest.startswith("&")) or not _ALPHANUMERIC.search(rest):
        return match
    return _add_follower(match, rest)


def _add_follower(match: Match, rest: str) -> Match:
    shown = rest if len(rest) <= _MAX_REST else f"{rest[:_MAX_REST]}..."
    return match._replace(differences=(*match.differences, FOLLOWED_BY + shown))


def _guess_end(text: str, match: Match, word: _Word, *, is_urn: bool, is_alone: bool) -> Match | None:
    """Return the match with the part before a sign that probably ends its name as suggestion, or None. If only this
    part is right by the rules of its URN namespace, it is the match.
    """
    literal = match.literal
    if not is_urn and literal.isascii() and "$" not in literal and "?" not in literal:
        return None
    first = literal.find(":" if is_urn else "/", word.start - match.start + (4 if is_urn else 5)) + 1
    marks_only = (is_alone and not match.start) or _is_line(text, match)
    end = containers.probable_end(literal, first, is_urn=is_urn, marks_only=marks_only) if first else None
    if end is not None and is_urn and (special := _special(literal, first)):
        end = containers.probable_end(literal, first, is_urn=True, special=special)
    if end is None:
        return None
    part = literal[:end]
    suggestion, differences = _repair(part)
    if not _ALPHANUMERIC.search(literal, end):
        # A sign at the end that is not punctuation.
        is_sign = match.suggestion is None and suggestion is None and reads(part)
        return match._replace(suggestion=part, differences=("closing-punctuation",)) if is_sign else None
    if (suggestion is None and not reads(part)) or part[-1] == ":":
        return None
    rest = literal[end:] + _rest(text, match.end)
    if is_urn and suggestion is None and (_is_only_part_right(literal, part) or word.heading == literal[end]):
        return _add_follower(Match(match.start, match.start + end, part), rest)
    return _add_follower(match._replace(suggestion=suggestion or part, differences=(*differences, "text-after")), rest)


def _special(literal: str, first: int) -> str:
    """Return the characters that have a meaning in names of the namespace of a URN whose NSS is at ``first``."""
    from .urn import namespaces  # it loads modules that texts without URNs do not need

    nid = literal[: first - 1].rpartition(":")[2]
    found = namespaces.lookup(nid)
    return (found.special if found else None) or ""


def _heading(text: str) -> str:
    """Return the separator of a table whose first line is a heading, or ""."""
    line = text[:_MAX_HEADING].partition("\n")
    if not line[1] or _LABEL.search(line[0]):
        return ""
    return next((separator for separator in _CELL_SEPARATORS if separator in line[0]), "")


def _is_only_part_right(literal: str, part: str) -> bool:
    """Return whether a part of a URN is right by the rules of its namespace, and the whole is not."""
    shorter = parse(part)
    if not isinstance(shorter, Urn) or shorter.findings:
        return False
    # A match can have an error of the grammar, such as a slash and an empty query in the NSS.
    whole = parse(literal) if reads(literal) else None
    return whole is None or (isinstance(whole, Urn) and bool(whole.findings))


def _is_line(text: str, match: Match) -> bool:
    """Return whether the match is alone on its line."""
    indent = text[max(0, match.start - _MAX_INDENT) : match.start].rpartition("\n")
    begins = (indent[1] or match.start <= _MAX_INDENT) and not indent[2].strip(ASCII_SPACE)
    return bool(begins) and _END_OF_LINE.match(text, match.end) is not None


def _rest(text: str, end: int) -> str:
    """Return the text from ``end`` to the end of the word, or to another identifier or address in it."""
    if text[end : end + 1] in _NO_REST:
        return ""
    word = _WORD.match(text, end, end + _MAX_SHORT)
    if word is None:
        return ""
    if word.end() == end + _MAX_SHORT:
        # Do not read a long word again for each label in it.
        following = _LABEL.search(text, end)
        word = _WORD.match(text, end, following.start() if following else len(text))
    elif following := _LABEL.search(text, end, word.end()):
        word = _WORD.match(text, end, following.start())
    rest = word[0] if word else ""
    address = rest.find("://")
    return rest if address < 0 else rest[:address].rstrip(_SCHEME_CHARS)


def _ends_word(before: str, rest: str, *, in_query: bool) -> bool:
    """Return whether the first character of ``rest`` ends the word. ``before`` is the character before the match."""
    first = rest[0]
    if (before and _ENCLOSED.get(first) == before) or (in_query and first == "&"):
        return True
    if first == "\\":
        return _ESCAPED_END.match(rest) is not None
    entity = _ENTITY.match(rest) if first == "&" else None
    return entity is not None and _WORD.match(repairs.decode_reference(entity)) is None


def _head(text: str, match: Match, length: int, *, in_query: bool) -> int:
    """Return how many of the ``length`` characters after the match belong to its word."""
    end = match.end
    rest = text[end : end + length]
    cell = _CELL.match(text, match.start, end + length)
    stop = len(rest) if cell is None else max(0, cell.end() - end)
    if "\\" in rest:
        stop = min(stop, rest.index("\\"))
    if in_query:
        stop = min(stop, next((each.start() for each in _NEXT_PARAMETER.finditer(rest)), stop))
    if not stop:
        return 0
    if rest[0] in _BRACKET:
        return stop if rest[1:2].isalnum() else 0
    # A comma here is one of IIIF.
    return stop if rest[0] == "," or _ALPHANUMERIC.search(_HEAD.match(rest, 0, stop)[0]) else 0  # type: ignore[index]


def _with_line_after(text: str, match: Match, word: _Word) -> Match:
    """Suggest the ARK that is broken at a line end, or after a hyphen, if the next word can be the rest of it. In a
    list or table, it cannot: the next line has a value of its own.
    """
    last = match.literal[-1]
    hyphen = last == "-" or (not last.isascii() and repairs.without_hidden(last) == "-")
    if text[match.end : match.end + 1] not in _GAP:
        return match
    if not hyphen and text[match.end] == " " and text[match.end + 1 : match.end + 2] not in _GAP:
        return match
    gap = (_AFTER_HYPHEN if hyphen else _LINE_END).match(text, match.end)
    if gap is None or (match.differences and "typographic-character" not in match.differences):
        return match
    following = _WORD.match(text, gap.end(), gap.end() + _MAX_BROKEN)
    rest = without_closing(following[0]) if following else ""
    if not _NAME_ONLY.fullmatch(rest) or _UNLABELLED.match(rest) or len(rest) == _MAX_BROKEN:
        return match
    is_list = word.container is not None or _is_line(text, match)
    if not hyphen and (not rest[0].isalnum() or _begins_value(text, gap.end(), len(rest))):
        return match
    broken = repairs.join_broken(match.literal, rest, "line-break", only_checked=is_list and not hyphen)
    return match if broken is None else match._replace(suggestion=broken.identifier, differences=broken.differences)


def _begins_value(text: str, start: int, length: int) -> bool:
    """Return whether the line at ``start`` begins with a number or tag, and another identifier or a value follows."""
    return _AFTER_TAG.match(text, start + length) is not None


def _faulty(label: re.Match[str], word: _Word, limit: int) -> Match | None:
    """Match an invalid identifier at the start of a word, so that a list of identifiers loses no entry silently."""
    text, start = label.string, word.begin
    before = text[start - 1] if start else " "
    begins = before in _OPENING or before.isspace() or not before.isascii() or word.container is not None
    if not (begins and _GOES_ON.match(text, label.end())):
        return None
    limit = max(limit, label.end())
    literal = without_closing(_WORD.match(text, start, limit)[0])  # type: ignore[index]
    if start + len(literal) <= label.end():
        return None
    suggestion, differences = _repair(literal)
    if suggestion is None and (whole := _with_rest_of_naan(text, literal, label.start(), start + len(literal))):
        suggestion, differences = whole
    return Match(start, start + len(literal), literal, suggestion, _reasons(literal, suggestion, differences))


def _with_rest_of_naan(text: str, literal: str, label: int, end: int) -> Suggestion | None:
    """Return the ARK that a line end has broken before its name, or None. Without a digit, the rest can be a word."""
    gap = _LINE_END.match(text, end)
    if gap is None or _BROKEN_NAAN.match(text[label:end]) is None:
        return None
    following = _WORD.match(text, gap.end(), gap.end() + _MAX_BROKEN)
    rest = without_closing(following[0]) if following else ""
    if len(rest) == _MAX_BROKEN or not _NAME_ONLY.fullmatch(rest) or _UNLABELLED.match(rest):
        return None
    if not any(map(str.isdigit, rest)):
        return None
    whole = literal + rest
    return Suggestion(whole, ("line-break",)) if reads(whole) else None


def _repair(literal: str, *, valid: bool | None = None) -> tuple[str | None, tuple[str, ...]]:
    """Return the suggestion for a literal, and the reasons. ``valid`` is whether it is valid, if that is known."""
    if valid and literal.isascii() and literal[-1].isalnum() and "%" not in literal and "&" not in literal:
        return None, ()
    # A table repeats a literal in many rows, and a correction takes longer than a search.
    return _remembered(literal, valid) if len(literal) <= _MAX_SHORT else _first_suggestion(literal, valid)


def _first_suggestion(literal: str, valid: bool | None) -> tuple[str | None, tuple[str, ...]]:
    corrections = repairs.suggestions(literal, in_text=True, valid=valid, most=1)
    return corrections[0] if corrections else (None, ())


_remembered = lru_cache(1024)(_first_suggestion)


_NO_REST = frozenset(("", *' \t\r\n<>"'))
# What a valid identifier contains if it can be a part of a container.
_SUSPECT = re.compile(r"[$,;'()?#]|[^\x00-\x7f]|(?<![Hh][Tt][Tt][Pp])(?<![Hh][Tt][Tt][Pp][Ss])://|[A-Za-z0-9]https?:")
# After the tag of a line: of RIS, of a record of fields, or in a table.
_AFTER_TAG = re.compile(rf"[:=]|[ ]{{1,3}}[-=:|]|[.][ ]|\t|[ ]++['\"(<]?{_AFTER_SEPARATOR}")
_CELL_SEPARATORS = ",;"
_MAX_HEADING = 2000
# Other repairs concern such a text.
_REPEATED = re.compile(f"//|{LABEL_PATTERN}/?{LABEL_PATTERN}|{LABEL_PATTERN}[^:]*{LABEL_PATTERN}|[?#]")
_BEFORE_NEXT = frozenset(":>")
_MAX_INDENT = 40
_END_OF_LINE = re.compile(r"[ \t\r]*+(?:\n|\Z)")
# The escape of the character that ends a text in a program or in JSON.
_ESCAPED_END = re.compile(r"\\++(?:[abfnrtv0\"']|\Z)")
