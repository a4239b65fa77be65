"""Find identifiers in running text: ARKs (bare, in addresses, percent-encoded) and URNs.

Text that is a single identifier is one match, so that a report can explain its errors. In longer text, each match has
its place and its literal text. It has a suggestion if a reader would expect a different identifier: without closing
punctuation, typographic hyphens or HTML entities, or with the rest after a line break. A word is never shortened
silently: the match is the whole word, or ``why`` states the rest. The time is linear in the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import lru_cache
from heapq import merge
from itertools import product
from typing import NamedTuple

from . import suggestions
from .ark import embedded
from .ark.grammar import ARK_UNRESERVED, BASE29, LABEL_PATTERN, LABELS, NAAN
from .parsing import ASCII_SPACE, reads
from .suggestions import without_closing
from .text import iri, lookalikes
from .urn import grammar as urn

FOLLOWED_BY = "followed-by: "
"""The beginning of the reason that states the rest of a word after a match."""


class Match(NamedTuple):
    """An identifier that was found in a text, at ``text[start:end]``, counted in code points.

    ``literal`` is that text. ``suggestion`` is the identifier that the author probably meant, or None if that is the
    literal. ``why`` lists the differences, by the codes of :data:`.suggestions.REASONS`. A last item that begins with
    :data:`FOLLOWED_BY` states the rest of the word, after a comma, semicolon, bracket or bar.
    """

    start: int
    end: int
    literal: str
    suggestion: str | None = None
    why: tuple[str, ...] = ()

    @property
    def rest(self) -> str:
        """The rest of the word after the identifier, at most 40 characters, or "".

        >>> find("in ark:12345/x,Title here")[0].rest
        ',Title'
        """
        return next((each.removeprefix(FOLLOWED_BY) for each in self.why if each.startswith(FOLLOWED_BY)), "")

    @property
    def corrections(self) -> tuple[str, ...]:
        """The corrections that lead from the text to the suggested identifier, by the codes of
        :data:`.suggestions.REASONS`.

        They are the items of ``why`` that are codes.
        """
        return tuple(each for each in self.why if not each.startswith(FOLLOWED_BY))

    @property
    def normal_form_of(self) -> str | None:
        """The text whose normal form represents this match: the suggested or the literal identifier, or None.

        It is None if the whole word is outside the specification. The part after a line break is only a guess, so
        that the literal counts.
        """
        if "outside" in self.why or "valid-beginning" in self.why:
            return None
        return self.literal if self.suggestion is None or "line-break" in self.why else self.suggestion


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
_ENCODED_LABEL = "(?:[Aa][Rr][Kk]|[Uu][Rr][Nn])%3[Aa]"
_ENCODED = re.compile(rf"{_ENCODED_LABEL}(?:[{ARK_UNRESERVED}\-./]++|{iri.PCT_ENCODED})++")
_ANY_LABEL = f"(?:({LABEL_PATTERN})|({_ENCODED_LABEL})|({urn.LABEL_PATTERN}))"
_LABEL = re.compile(f"(?<![A-Za-z0-9]){_ANY_LABEL}")
_SCHEME_START = r"[A-Za-z][A-Za-z0-9+.\-]{0,30}://"
# Between two identifiers of a list.
_SEPARATOR = re.compile(f"[,;|]++(?={_ANY_LABEL}|{_SCHEME_START})")
# Between two parameters of a query, and the parameter before an identifier.
_NEXT_PARAMETER = re.compile(r"&(?:amp;)?(?=[A-Za-z0-9_.\-]{1,40}=)")
_PARAMETER = re.compile(r"[?&;][A-Za-z0-9_.\-]{1,40}=\Z")
_PARAMETER_LENGTH = 42
_ADDRESS = rf"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{{0,30}}://{_run(f'{iri.PCHAR}/', least=0)}"
_IRI_END = rf"(?:\?{_QUERY})?(?:#{_QUERY})?"
_SCHEME = re.compile(rf"{embedded.SCHEME}:")
_SPACE = re.compile(f"[{ASCII_SPACE}]")
_LABELS = LABELS | frozenset(map("".join, product("uU", "rR", "nN", ":")))
_OPENING = frozenset("<>\"'([{,;|")
_GOES_ON = re.compile("(?:/{0,2}|%2[Ff])[0-9A-Za-z]")
_WORD = re.compile(r"[^\s<>\"\x00-\x1f\x7f-\x9f]++")
_ALPHANUMERIC = re.compile(r"[^\W_]")
# A row of a table or list goes on after these characters.
_ROW = re.compile("[,;(|]")
_BRACKET = frozenset(")]}[{")
_HEAD = re.compile(r"[^,;()\[\]{}|]*+")
_ENCLOSED = {")": "(", "]": "[", "}": "{", "'": "'", "`": "`", "|": "|"}
_PARTNERS = {opening: closing for closing, opening in _ENCLOSED.items() if opening != closing}
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});")
_MAX_WORDS = 9
_MAX_REST = 40
_MAX_SHORT = 200
# The white space at a line end, and after a hyphen; then the rest of a broken ARK.
_LINE_END = re.compile("[ \t\r]*+\n[ \t\r]*+")
_AFTER_HYPHEN = re.compile("[ \t\r]++(?:\n[ \t\r]*+)?|\n[ \t\r]*+")
_GAP = frozenset(" \t\r\n")
_MAX_BROKEN = 120
_NAME_ONLY = re.compile(rf"[{ARK_UNRESERVED}\-./]++")
_UNLABELLED = re.compile(f"[{BASE29}]{{5}}/")


def find(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the ARKs and URNs in ``text``. The matches are in order and do not overlap.

    The whole text, without surrounding white space (space, tab, CR, LF), is one match in two cases. A report can then
    name the first wrong character:

    - It is one word that starts with a scheme or contains no identifier, and not more than one identifier. No column of
      a row follows, as in "ark:12345/x,Title".
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
    matches = in_running_text(text, scope=scope)
    token = text.strip(ASCII_SPACE)
    if not token or len(matches) > 1 or not _is_whole(token, matches):
        return _whole_lines(text, matches) if len(matches) > 1 and "\n" in text else matches
    start = text.index(token[0])
    return [Match(start, start + len(token), token, *_repaired(token))]


def in_running_text(text: str, *, scope: Collection[str] = ()) -> list[Match]:
    """Find the ARKs and URNs in ``text``, which consists of sentences. Unlike :func:`find`, the whole text is never one
    identifier.

    ``scope`` contains host names in lower case: addresses at these hosts are matches, too.

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
            whole += [Match(place, place + len(token), token, *_repaired(token))] if alone else matches[first:after]
            first = after
        start = end
    return whole


def _is_whole(token: str, matches: list[Match]) -> bool:
    """Return whether ``token``, which contains at most one identifier, is meant as a single identifier.

    It is not if a column of a row follows the identifier, as in "ark:12345/x,Title".
    """
    if matches and _ROW.match(matches[0].rest) and token.startswith(matches[0].literal):
        return False
    if not _SPACE.search(token):
        return not matches or _SCHEME.match(token) is not None
    if not matches:
        return lookalikes.lookalike(token) is not None or (_LABEL.match(token) is not None and _is_name(token))
    return token.startswith(matches[0].literal) and _is_name(token[len(matches[0].literal) :])


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


def _running(text: str) -> Iterator[Match]:
    place = taken = unread = 0
    addresses = _Addresses(text) if "://" in text else None
    separators = _Separators(text)
    grammars: dict[int | None, re.Pattern[str]] = {1: iri.compiled(_ARK, text), 2: _ENCODED, 3: _URN}
    while label := _LABEL.search(text, place):
        start, place = label.span()
        # Inside an invalid match, the match of a label ends at the next label. So each character is matched only a few
        # times.
        following = _LABEL.search(text, place) if start < unread else None
        in_query = text[start - 1 : start] == "=" and _is_parameter(text, start)
        limit = min(following.start() if following else len(text), separators.after(start, in_query=in_query))
        matched = grammars[label.lastindex].match(text, start, limit)
        if matched and _another_label(text, matched.end()):
            # The last label counts (E-01). It starts with the three letters at the end of this match.
            place = matched.end() - 3
            continue
        address = addresses.around(start, taken) if addresses and start else None
        literal = _longest(matched, address) if matched else None
        if literal is not None and matched is not None:
            literal = _whole(text, literal, address, in_query=in_query, is_urn=matched.re is _URN)
        else:
            literal = _faulty(label, address, limit)
        if literal is not None:
            yield literal
            place = literal.end
        elif matched:
            unread = max(unread, matched.end())
        taken = place


def _is_parameter(text: str, start: int) -> bool:
    return _PARAMETER.search(text, max(0, start - _PARAMETER_LENGTH), start) is not None


class _Separators:
    """The places in a text where an identifier of a list ends, found once."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._lists = [match.start() for match in _SEPARATOR.finditer(text)]
        self._parameters = [match.start() for match in _NEXT_PARAMETER.finditer(text)] if "&" in text else []

    def after(self, place: int, *, in_query: bool) -> int:
        """Return the first separator after ``place``, or the end of the text. In a query, "&" is one."""
        end = self._end
        for places in (self._lists, self._parameters) if in_query else (self._lists,):
            if places and (at := bisect_left(places, place)) < len(places):
                end = min(end, places[at])
        return end


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


def _in_scope(text: str, scope: Collection[str], matches: list[Match]) -> Iterator[Match]:
    """Yield the addresses at the hosts in ``scope`` that overlap no match in ``matches``."""
    hosts = {*scope, *(f"www.{host}" for host in scope)}
    taken = iter([*matches, Match(len(text), len(text), "")])
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
    shorter = without_closing(literal)
    return (None, ()) if shorter == literal else (shorter, ("closing-punctuation",))


def _longest(matched: re.Match[str], address: int | None) -> Match | None:
    text, start, end = matched.string, *matched.span()
    plain = matched[0]
    if matched.re is _ENCODED:
        if not suggestions.is_correctable(plain):
            return None
        plain = suggestions.with_plain_label(plain)
    valid = reads(plain)
    if not valid and not _is_too_long(plain):
        # An invalid identifier is repaired once: as a whole word, in _faulty.
        return None
    for begin in [start] if address is None else [address, start]:
        literal = text[begin:end]
        is_valid = valid if literal == plain else reads(literal)
        suggestion, why = _repaired(literal, valid=is_valid)
        if suggestion is not None or is_valid:
            return Match(begin, end, literal, suggestion, why)
    return None


def _is_too_long(literal: str) -> bool:
    shorter = literal[:-1] if literal[-1] == "/" else without_closing(literal)
    return shorter != literal and reads(shorter)


def _another_label(text: str, end: int) -> bool:
    """Whether the last three characters before ``end`` and the colon there are a label."""
    return text.startswith(":", end) and text[end - 3 : end + 1] in _LABELS


def _whole(text: str, match: Match, address: int | None, *, in_query: bool, is_urn: bool) -> Match:
    """Extend a match to the whole word if the word goes on. Otherwise state the rest of the word in ``why``.

    The word goes on with a letter or digit after other characters. It ends before another identifier, before the
    partner of a bracket or quotation mark, and in a query before the next parameter.
    """
    end = match.end
    rest = _rest(text, end)
    if not rest or not _ALPHANUMERIC.search(rest):
        return match if is_urn else _with_line_after(text, match)
    before = text[match.start - 1 : match.start] if match.start else ""
    if _ends_word(before, rest, in_query=in_query):
        return match
    if before in _PARTNERS and before not in rest:
        # The word is in brackets or quotation marks.
        rest = rest.partition(_PARTNERS[before])[0]
    head = 0 if is_urn else _head(rest, in_address=address is not None and match.start == address, in_query=in_query)
    literal = without_closing(text[match.start : end + head]) if head else match.literal
    if len(literal) > len(match.literal):
        suggestion, why = suggestions.of_word(literal, len(match.literal)) or _repaired(literal)
        match = Match(match.start, match.start + len(literal), literal, suggestion, why)
    rest = rest[match.end - end :]
    if (in_query and rest.startswith("&")) or not _ALPHANUMERIC.search(rest):
        return match
    shown = rest if len(rest) <= _MAX_REST else f"{rest[:_MAX_REST]}..."
    return match._replace(why=(*match.why, FOLLOWED_BY + shown))


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
    entity = _ENTITY.match(rest) if first == "&" else None
    return entity is not None and _WORD.match(suggestions.character(entity)) is None


def _head(rest: str, *, in_address: bool, in_query: bool) -> int:
    """Return how many characters of ``rest`` belong to the word."""
    row = _ROW.search(rest)
    end = len(rest)
    if row and not (in_address and "/" in rest[row.start() :]):
        end = row.start()
    if in_query:
        end = min(end, next((match.start() for match in _NEXT_PARAMETER.finditer(rest)), end))
    if not end:
        return 0
    if row and end > row.start():
        return end
    if rest[0] in _BRACKET:
        return end if rest[1:2].isalnum() else 0
    return end if _ALPHANUMERIC.search(_HEAD.match(rest)[0]) else 0  # type: ignore[index]


def _with_line_after(text: str, match: Match) -> Match:
    """Suggest the ARK that is broken at a line end, or after a hyphen, if the next word can be the rest of it."""
    if text[match.end : match.end + 1] not in _GAP:
        return match
    hyphen = match.literal[-1] == "-" or suggestions.without_hidden(match.literal[-1]) == "-"
    gap = (_AFTER_HYPHEN if hyphen else _LINE_END).match(text, match.end)
    if gap is None or (match.why and "typographic-character" not in match.why):
        return match
    word = _WORD.match(text, gap.end(), gap.end() + _MAX_BROKEN)
    rest = without_closing(word[0]) if word else ""
    if not _NAME_ONLY.fullmatch(rest) or _UNLABELLED.match(rest) or len(rest) == _MAX_BROKEN:
        return match
    broken = suggestions.joined(match.literal, rest, "line-break")
    return match if broken is None else match._replace(suggestion=broken.identifier, why=broken.why)


def _faulty(label: re.Match[str], address: int | None, limit: int) -> Match | None:
    """Match an invalid identifier at the start of a word, so that a list of identifiers loses no entry silently."""
    text = label.string
    start = label.start() if address is None else address
    before = text[start - 1] if start else " "
    if not ((before in _OPENING or before.isspace()) and _GOES_ON.match(text, label.end())):
        return None
    literal = without_closing(_WORD.match(text, start, max(limit, label.end()))[0])  # type: ignore[index]
    if start + len(literal) <= label.end():
        return None
    suggestion, why = _repaired(literal)
    return Match(start, start + len(literal), literal, suggestion, why)


def _repaired(literal: str, *, valid: bool | None = None) -> tuple[str | None, tuple[str, ...]]:
    """Return the suggestion for a literal, and the reasons. ``valid`` is whether it is valid, if that is known."""
    if valid and literal.isascii() and literal[-1].isalnum() and "%" not in literal and "&" not in literal:
        return None, ()
    # A table repeats a literal in many rows, and a correction takes longer than a search.
    return _remembered(literal, valid) if len(literal) <= _MAX_SHORT else _first_suggestion(literal, valid)


def _first_suggestion(literal: str, valid: bool | None) -> tuple[str | None, tuple[str, ...]]:
    corrections = suggestions.suggestions(literal, in_text=True, valid=valid, most=1)
    return corrections[0] if corrections else (None, ())


_remembered = lru_cache(1024)(_first_suggestion)


_NO_REST = frozenset(("", *' \t\r\n<>"'))
_SCHEME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-"
