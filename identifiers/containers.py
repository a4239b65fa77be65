"""The containers of identifiers in text: rows, quotes, catalogue records, links, queries, and text with escapes. A
container decides before the grammar does: in a row, a comma ends also a URN. All searches use these tables, and all
expressions take linear time. Decisions: E-08, U-08.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

from .ark.grammar import BASE29
from .text import iri

# IIIF Image API 3.0, sections 4.1 and 4.2: a region or size is a segment with commas.
_NUMBER = "[0-9.]++"
IIIF_SEGMENT = rf"/(?:\^?!?[0-9]*+,[0-9]*+|(?:pct:)?{_NUMBER}(?:,{_NUMBER}){{3}})(?=/)"
SUBFIELD_MARKS = "$\u2021\u01c2\u0192\x1f"
"""The signs before the code of a subfield in the text of a MARC or PICA record, except the bar."""
_QUOTE_OF_HTML = (
    "&(?:quot|apos|[lg]t|[lr][sda]quo|[bs]d?quo|nbsp|#0*(?:3[49]|6[02]|160)|#[xX]0*(?:2[27]|3[CcEe]|[Aa]0));"
)
_MARC = rf"(?:\$\$?|[{SUBFIELD_MARKS[1:]}])[A-Za-z0-9]"


class Container(NamedTuple):
    """A container of identifiers in text. ``before`` matches the text directly before an identifier, of at most
    :data:`MOST_BEFORE` characters, and ``last`` has its possible last characters. ``inside`` matches what an identifier
    can contain there. ``states``: the text after the identifier is another value, so that a match states it.
    """

    name: str
    example: str
    last: str
    before: str
    inside: str
    states: bool = False


def _quotation(name: str, opening: str, closing: str) -> Container:
    return Container(name, f"{opening}ark:12345/x{closing[0]}", opening, re.escape(opening), f"[^{closing}]*+")


_LETTER_OR_DIGIT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

CONTAINERS: tuple[Container, ...] = (
    Container("row with commas", "7,ark:12345/x,Map", ",", ",", f"(?:{IIIF_SEGMENT}|[^,/]++|/)*+", states=True),
    Container("row with semicolons", "7;ark:12345/x;Map", ";", ";", "[^;]*+", states=True),
    Container("quotes of HTML", "&quot;ark:12345/x&quot;", ";", _QUOTE_OF_HTML, f"(?:[^&]++|(?!{_QUOTE_OF_HTML})&)*+"),
    Container("character reference", "&nbsp;ark:12345/x", ";", "&#?[A-Za-z0-9]{1,8};", ".*+"),
    Container("row with tabs", "7\tark:12345/x\tMap", "\t", "\t", "[^\t]*+", states=True),
    Container("row with bars", "|ark:12345/x|Map|", "|", r"\|", r"[^|]*+", states=True),
    _quotation("double quotes", '"', '"'),
    # An apostrophe in a word is not a quotation mark.
    Container("single quotes", "'ark:12345/x'", "'", "'", "(?:[^']++|'(?=[A-Za-z0-9]))*+"),
    _quotation("code", "`", "`"),
    _quotation("English quotes", "\u201c", "\u201d\u201c"),
    _quotation("German quotes", "\u201e", "\u201c\u201d"),
    _quotation("single English quotes", "\u2018", "\u2019\u2018"),
    _quotation("single German quotes", "\u201a", "\u2018\u2019"),
    _quotation("French quotes", "\u00ab", "\u00bb"),
    _quotation("reversed French quotes", "\u00bb", "\u00ab"),
    _quotation("single French quotes", "\u2039", "\u203a"),
    _quotation("corner brackets", "\u300c", "\u300d"),
    _quotation("white corner brackets", "\u300e", "\u300f"),
    _quotation("angle brackets", "\u3008", "\u3009"),
    _quotation("double angle brackets", "\u300a", "\u300b"),
    _quotation("lenticular brackets", "\u3010", "\u3011"),
    _quotation("full-width brackets", "\uff08", "\uff09"),
    _quotation("wiki link", "[", "]"),
    _quotation("braces", "{", "}"),
    Container("Markdown link", "[map](ark:12345/x)", "(", r"\]\(", r"(?:[^)]++|\)(?=\)))*+"),
    Container(
        "MARC subfield",
        "=856 40$uark:12345/x$zView",
        _LETTER_OR_DIGIT,
        _MARC,
        rf"(?:[^{SUBFIELD_MARKS}]++|(?!{_MARC}).)*+",
        states=True,
    ),
    Container(
        "MARC subfield with a space",
        "856 40 $u ark:12345/x $z View",
        " ",
        f"{_MARC} ",
        rf"(?:(?!{_MARC})\S)*+",
        states=True,
    ),
    Container(
        "MARC subfield with a bar", "856 40|uark:12345/x|zView", _LETTER_OR_DIGIT, r"\|[a-z0-9]", r"[^|]*+", states=True
    ),
)

_SUBFIELD = frozenset(SUBFIELD_MARKS)
MOST_BEFORE = 10
"""The maximum number of characters before an identifier that decide about its container."""


def _by_last_character() -> dict[str, re.Pattern[str]]:
    """Return, for each character before an identifier, the containers that it can begin, as one expression."""
    numbers: dict[str, list[int]] = {}
    for number, container in enumerate(CONTAINERS):
        for char in container.last:
            numbers.setdefault(char, []).append(number)
    return {
        char: re.compile("|".join(f"(?P<c{number}>(?:{CONTAINERS[number].before})\\Z)" for number in each))
        for char, each in numbers.items()
    }


_BEFORE = _by_last_character()
_INSIDE = tuple(re.compile(container.inside, re.DOTALL) for container in CONTAINERS)


def around(text: str, start: int) -> int | None:
    """Return the index in :data:`CONTAINERS` of the container whose sign is directly before ``start``, or None.

    >>> CONTAINERS[around("7,ark:12345/x,Map", 2)].name, around("see ark:12345/x", 4)
    ('row with commas', None)
    """
    before = _BEFORE.get(text[start - 1]) if start else None
    if before is None:
        return None
    # Most identifiers follow a space.
    if text[start - 1] == " " and text[start - 3 : start - 2] not in _SUBFIELD:
        return None
    found = before.search(text[max(0, start - MOST_BEFORE) : start])
    return int(found.lastgroup[1:]) if found and found.lastgroup else None


def end(number: int, text: str, place: int, limit: int) -> int:
    """Return where the container ``number`` ends an identifier that is read up to ``place``; ``limit`` if it does not.

    >>> end(around("7,ark:12345/x,Map", 2), "7,ark:12345/x,Map", 6, 17)
    13
    """
    return _INSIDE[number].match(text, place, limit).end()  # type: ignore[union-attr]


class _Escape(NamedTuple):
    code: str
    pattern: str


_QUOTED_ARK = "[\"'][Aa][Rr][Kk][\"']"
_VALUE_OF_ARK = f"(?<={_QUOTED_ARK}>)|(?<={_QUOTED_ARK}:[\"'])|(?<={_QUOTED_ARK}: [\"'])"
# The codes are corrections of :data:`.repairs.REASONS`.
ESCAPES: tuple[_Escape, ...] = (
    # RFC 8259, section 7; strings of programs; Markdown and TeX escape the signs of their markup.
    _Escape("escape", r"(?<!\\)\\++(?:[/_&%#$~*\-=+@?.:]|u00[2-7][0-9A-Fa-f]|x[2-7][0-9A-Fa-f]|u[0-9A-Fa-f]{4})"),
    # RFC 4452: an info URI. OAI identifiers and DPLA have them.
    _Escape("missing-label", "[Ii][Nn][Ff][Oo]:[Aa][Rr][Kk]/"),
    # The query of a resolver: urn=nbn:de:…
    _Escape("missing-label", r"(?<=[?&;][Uu][Rr][Nn]=)[Nn][Bb][Nn]:"),
    # The query of a catalogue: ark=12345/x
    _Escape("missing-label", rf"(?<=[?&;][Aa][Rr][Kk]=)/?[{BASE29}]{{5}}(?:/|%2[Ff])"),
    # A record in XML or JSON: type="ark">12345/x
    _Escape("missing-label", rf"(?:{_VALUE_OF_ARK})/?[{BASE29}]{{5}}/"),
)
_ANY_ESCAPE = re.compile("|".join(f"(?P<e{number}>{each.pattern})" for number, each in enumerate(ESCAPES)))
_MAY_BE_ESCAPED = re.compile(
    r"\\|[Ff][Oo]:[Aa][Rr][Kk]/|=[Nn][Bb][Nn]:|[?&;][Aa][Rr][Kk]=/?[0-9b-z]|[Aa][Rr][Kk][\"'][>:]"
)
# Such characters end an identifier, so they stay escaped.
_ENDING = re.compile("[\\s\x00-\x20\x7f-\x9f<>\"'\\\\\ud800-\udfff]")


class PlainText(NamedTuple):
    """A text without escapes, and what leads back to the text with them. The n-th escape has the code of its correction
    in ``codes`` and its place in the plain text in ``starts``. ``shifts`` is how much longer the original text is up to
    and with it.
    """

    text: str
    starts: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()
    codes: tuple[str, ...] = ()

    def original(self, place: int) -> int:
        """Return the index in the original text of the character at the index ``place`` of the plain text."""
        number = bisect_right(self.starts, place - 1)
        return place + self.shifts[number - 1] if number else place

    def codes_in(self, start: int, stop: int) -> tuple[str, ...]:
        """Return the codes of the escapes between two places of the plain text, each once."""
        first = bisect_right(self.starts, start - 1)
        return tuple(dict.fromkeys(self.codes[first : bisect_right(self.starts, stop - 1)]))


def unescape(text: str) -> PlainText:
    r"""Return ``text`` without the escapes of JSON, programs, Markdown and TeX, and with labels in their usual form.

    >>> unescape(r"https:\/\/n2t.net\/ark:\/12345\/x").text, unescape("info:ark/12345/x").text
    ('https://n2t.net/ark:/12345/x', 'ark:/12345/x')
    >>> unescape(r'"ark:12345/x\n"').text
    '"ark:12345/x\\n"'
    """
    if _MAY_BE_ESCAPED.search(text) is None:
        return PlainText(text)
    pieces: list[str] = []
    starts: list[int] = []
    lengths: list[int] = []
    codes: list[str] = []
    place = length = 0
    for found in _ANY_ESCAPE.finditer(text):
        plain = _plain(found)
        if plain == found[0]:
            continue
        pieces += (text[place : found.start()], plain)
        length += found.start() - place
        starts.append(length)
        length += len(plain)
        lengths.append(len(found[0]) - len(plain))
        codes.append(ESCAPES[int((found.lastgroup or "e0")[1:])].code)
        place = found.end()
    pieces.append(text[place:])
    return PlainText("".join(pieces), tuple(starts), tuple(accumulate(lengths)), tuple(codes))


def _plain(found: re.Match[str]) -> str:
    escape = found[0]
    if escape[0] != "\\":
        if escape[-1] == ":":
            return f"urn:{escape}"
        return "ark:/" if ":" in escape else f"ark:{unquote(escape)}"
    code = escape.lstrip("\\")
    char = code if len(code) == 1 else chr(int(code[1:], 16))
    return escape if _ENDING.match(char) else char


class Guess(NamedTuple):
    """A sign that probably ends a name in running text, such as a subfield of MARC. ``name`` describes it in words, and
    ``pattern`` is its regular expression.
    """

    name: str
    pattern: str


GUESSES: tuple[Guess, ...] = (Guess("subfield", rf"(?:\$\$?|[{SUBFIELD_MARKS[1:]}])[a-z0-9]"),)
"""The signs that probably end an ARK of ASCII. By the letter, the name can contain it."""

_NO_REFERENCE = (
    "(?<!&[lg]t)(?<!&amp)(?<!&quot)(?<!&apos)(?<!&nbsp)(?<!&#[0-9]{2})(?<!&#[0-9]{3})(?<!&#[xX][0-9A-Fa-f]{2})"
)

# The first sign of a run, also behind a reference: each sign of a run would be tried up to its end.
_FIRST = (
    "(?:(?<![,;])|(?<=&[lg]t;)|(?<=&amp;)|(?<=&quot;)|(?<=&apos;)|(?<=&nbsp;)|(?<=&#[0-9]{2};)|(?<=&#[0-9]{3};)"
    "|(?<=&#[xX][0-9A-Fa-f]{2};))"
)

URN_GUESSES: tuple[Guess, ...] = (
    Guess("next cell", rf"(?:\?(?:\?|info)?)?{_FIRST}(?:,|{_NO_REFERENCE};)[,;]*+['\"(\[]?(?=[A-Za-z0-9])"),
    Guess("apostrophe", r"'(?=[A-Za-z])"),
    Guess("next list item", r"(?<!['\")\]])['\")\]]++[,;|]"),
    Guess("after the bracket", r"\)(?=[A-Za-z])"),
    *GUESSES,
)
"""The signs that probably end a URN. By the letter, the name can contain it."""
_GUESS = re.compile("|".join(each.pattern for each in GUESSES))
_URN_GUESS = re.compile("|".join(each.pattern for each in URN_GUESSES))
_ARK_CELL = re.compile(r"\?(?:\?|info)?(?=[,;'])")
# A hyphen of another font, and a mark inside of Catalan words.
_IN_NAMES = frozenset("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d\u00ad\u00b7")


def probable_end(name: str, start: int, *, is_urn: bool, marks_only: bool = False, special: str = "") -> int | None:
    """Return where the identifier ``name`` probably ends before its last letter or digit, or None. ``start`` is the
    first index of its Name. ``special`` characters do not end it. ``marks_only``: a change of the script does not end
    it.

    >>> probable_end("ark:12345/n1を参照", 10, is_urn=False), probable_end("ark:12345/名前を参照", 10, is_urn=False)
    (12, None)
    >>> probable_end("urn:nbn:fi:lb-1,Corpus", 9, is_urn=True), probable_end("ark:12345/café", 10, is_urn=False)
    (15, None)
    """
    guesses = (_URN_GUESS if is_urn else _GUESS).finditer(name, start + 1)
    end = next((found.start() for found in guesses if found[0][0] not in special), None)
    if not is_urn and "?" in name and (cell := _ARK_CELL.search(name, start)) is not None:
        end = min(end or cell.end(), cell.end())
    if not name.isascii():
        other = _other_end(name, start, marks_only=marks_only)
        end = other if end is None or (other is not None and other < end) else end
    return end


def _other_end(name: str, start: int, *, marks_only: bool) -> int | None:
    """Return the first place of a mark outside of ASCII, or of the first letter of another script after ASCII."""
    is_first = True
    for run in iri.NON_ASCII.finditer(name, start):
        for place, char in enumerate(run[0], run.start()):
            kind = _kind(char)
            if place > start and (kind == "mark" or (kind == "script" and is_first and not marks_only)):
                return place
            is_first = is_first and kind == "latin"
    return None


@lru_cache(4096)
def _kind(char: str) -> str:
    """Return "mark" for punctuation and signs, "latin" for letters that join ASCII, and "script" for all others."""
    category = unicodedata.category(char)
    if char in _IN_NAMES or category[0] in "MC":
        return "latin"
    if category[0] in "PS" or category == "No":
        return "mark"
    return "latin" if unicodedata.name(char, "").startswith("LATIN") else "script"
