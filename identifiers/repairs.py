"""Correct a damaged copy of an identifier. :mod:`.suggestions` calls this for all entrances; none applies a correction
automatically. The damages are those of mails, PDFs, spreadsheets, word processors and browsers. A suggestion is always
valid, and the time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from html.entities import html5
from typing import NamedTuple

from .ark import check_character
from .ark.grammar import BASE29, LABEL, LABEL_PATTERN, LABELS
from .ark.outside import OutsideText, outside
from .parsing import ASCII_SPACE, parse, reads
from .problems import IdentifierError
from .text import characters, iri, lookalikes
from .text.translatable import Translatable, list_items
from .urn import grammar as urn
from .urn.model import Urn


class Suggestion(NamedTuple):
    """A valid identifier that the author of a text probably meant. ``differences`` are codes of :data:`REASONS`."""

    identifier: str
    differences: tuple[str, ...]


REASONS = {
    "surrounding-space": Translatable("without the white space around it"),
    "closing-punctuation": Translatable("without the closing punctuation"),
    "trailing-slash": Translatable("without the final slash"),
    "repeated-slash": Translatable("with single slashes"),
    "typographic-character": Translatable("with plain hyphens and no hidden characters"),
    "encoded-character": Translatable("with the percent-encoded spaces, quotes and hidden characters decoded"),
    "html-entity": Translatable("without the HTML entity"),
    "encoded-label": Translatable("with the label decoded"),
    "encoded-slash": Translatable("with the slashes decoded"),
    "doubled-label": Translatable("with the label once"),
    "missing-label": Translatable("with the label"),
    "missing-scheme": Translatable("without the host before it"),
    "transliterated-label": Translatable("with the label in ASCII"),
    "full-width": Translatable("with ASCII letters and digits"),
    "query-parameter": Translatable("from the query of the address"),
    "naan-case": Translatable("with the NAAN in lower case"),
    "line-break": Translatable("with the part after the line break"),
    "space": Translatable("with the part after the space"),
    "text-before": Translatable("without the text before it"),
    "text-after": Translatable("without the text after it"),
    "escape": Translatable("without the escape characters"),
    "before-space": Translatable("up to the space"),
    "several": Translatable("without the other identifiers after it"),
    "valid-beginning": Translatable("up to the first character that is not allowed"),
    "outside": Translatable("with the characters that are not allowed percent-encoded"),
}
"""The corrections in words."""

MAX_SUGGESTIONS = 6
"""The maximum number of suggestions for one text."""

_HYPHENS = "\u2010-\u2015\u00ad\ufe63\uff0d"
_TYPOGRAPHIC_HYPHENS = re.compile(f"[{_HYPHENS}]")
_NO_ARKS = "(?![Hh][Dd][Ll][.][Hh][Aa][Nn][Dd][Ll][Ee][.])"
_MISSING_LABEL = re.compile(f"(?:[A-Za-z]+://{_NO_ARKS}[^/?#]+/)?(?=[{BASE29}]{{5}}/[^/?#])")
_TRIPLETS = re.compile(f"(?:{iri.PCT_ENCODED})+")
# Encoded white space, quotation marks, a comma and a semicolon.
_FINAL_MARKS = frozenset(("%20", "%22", "%2C", "%3B", "%3E", "%09", "%0A", "%0D"))
_MARKS = frozenset('"<>')
_PLAIN_WORD = re.compile(rf"[{iri.UNRESERVED}{iri.SUB_DELIMS}:/@\[\]]*[A-Za-z0-9]")
_NOT_PLAIN = re.compile(rf"[^{iri.UNRESERVED}=*+@$/]")
_AFTER_SLASH = re.compile(f"/{LABEL_PATTERN}")
_QUOTES = frozenset(("Pi", "Pf"))
_ENCODED_LABEL = re.compile("([Aa][Rr][Kk]|[Uu][Rr][Nn])%((?:25){0,3})3[Aa]")
_ENCODED_AFTER_NID = re.compile(f"({urn.LABEL_PATTERN}[A-Za-z0-9][A-Za-z0-9\\-]{{1,31}})%((?:25){{0,3}})3[Aa]")
_ENCODED_SCHEME = re.compile("(?:[Hh][Tt][Tt][Pp][Ss]?|[Ff][Tt][Pp])%(?:25){0,3}3[Aa]%(?:25){0,3}2[Ff]")
# The characters of an address that has been percent-encoded as a value of a query.
_GRAPHIC = iri.triplets(f"{iri.ALPHANUMERIC}-._~:/?#[]@!$&'()*+,;=")
_PLAIN_ENCODED_LABEL = re.compile("([Aa][Rr][Kk]|[Uu][Rr][Nn])%3[Aa]")
_ENCODED_SLASH = re.compile("%2[Ff]")
_ENCODED_COLON = re.compile("%3[Aa]")
_DOUBLED_LABEL = re.compile(
    f"(?:{LABEL_PATTERN}/?){{1,100}}(?={LABEL_PATTERN})|(?:{urn.LABEL_PATTERN}){{1,100}}(?={urn.LABEL_PATTERN})"
)
_SECOND = re.compile(f"(?<![,;|])[,;|]++(?={LABEL_PATTERN}|{urn.LABEL_PATTERN}|[A-Za-z][A-Za-z0-9+.\\-]{{0,30}}://)")
_HOST = re.compile(
    rf"[A-Za-z0-9](?:[A-Za-z0-9.\-]*+)(?::[0-9]+)?/(?:[^?#\s]*/)?(?=(?:{LABEL_PATTERN}|{urn.LABEL_PATTERN}))"
)
_ONLY_SCHEME = re.compile(rf"(?i:https?)://(?={LABEL_PATTERN}|{urn.LABEL_PATTERN})")
_FULL_WIDTH = {0xFF01 + number: 0x21 + number for number in range(94)}
# In the label or the NAAN.
_BEGINS_FULL_WIDTH = re.compile("[^\uff01-\uff5e]{0,10}[\uff01-\uff5e]")
_SPACES = re.compile(r"\s+")
# The end of the label, the NAAN and the slash: white space before it is not inside a name.
_BEFORE_NAME = re.compile(rf"(?:{LABEL_PATTERN}/?[{BASE29}\-]+/|{urn.LABEL_PATTERN}[A-Za-z0-9\-]+:)[^\s/]")
_LABELS_IN_QUERY = re.compile(
    rf"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{{2}})|(?<=%25[0-9A-Fa-f]{{2}}))"
    rf"(?:({LABEL_PATTERN}|[Aa][Rr][Kk]%(?:25){{0,3}}3[Aa])|({urn.LABEL_PATTERN}|[Uu][Rr][Nn]%(?:25){{0,3}}3[Aa]))"
)
_LABEL_AND_SLASH = re.compile(f"{LABEL_PATTERN}/?")
_LABEL_AND_NAAN = re.compile(f"{LABEL_PATTERN}/?[{BASE29}%-]+/")
_PATH = re.compile("[^?#]*+")
# A longer number is not a character, and int() refuses more than 4,300 digits.
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});")
_WORD_END = re.compile(r"[\s<>\"]")
_CLOSING = frozenset(".,;:!?'*_\"`")
_OPENING = re.compile("[\"'`\u2018-\u201f\u00ab\u2039(\\[{<]+")
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}
_BARE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_NOT_IN_PATH = rf"[^{iri.UNRESERVED}=*+@$%/#{iri.UCSCHAR}]"
_NOT_IN_QUERY = rf"[^{iri.PCHAR}%/?#{iri.UCSCHAR}{iri.IPRIVATE}]"
_SLASH = "(?:/|%(?:25){0,3}2[Ff])"
_COLON = "(?::|%(?:25){0,3}3[Aa])"
_ANY_BASE29 = f"{BASE29}{BASE29.upper()}"
# What a text must contain that a correction can make valid: an ARK with NAAN and Name, a NAAN of five characters
# without its label, a URN, or a character that other corrections decode or remove.
_CORRECTABLE = re.compile(
    rf"[^\x21-\x7e]|[Aa][Rr][Kk]{_COLON}{_SLASH}*+[{_ANY_BASE29}\-]++{_SLASH}++[^/]"
    rf"|[{_ANY_BASE29}]{{5}}/[^/]|[Uu][Rr][Nn]{_COLON}[A-Za-z0-9\-]{{2,32}}{_COLON}."
)
_SLASH_OR_COLONS = re.compile(f"{_SLASH}|{_COLON}")
# A cut at these characters is more probable than a name that contains them.
_CELL_ENDS = frozenset(",;")
_ENCODABLE = frozenset(("bad-char", "bad-percent", "private-use", "bad-query", "bad-fragment"))
_ENDING = frozenset(",;([&|\\<")


def suggestions(
    text: str,
    *,
    in_text: bool = False,
    guesses: bool = False,
    valid: bool | None = None,
    most: int = MAX_SUGGESTIONS,
) -> tuple[Suggestion, ...]:
    """Return the identifiers that a damaged text probably means, the most probable first. All are valid and differ from
    it. At most ``most`` are returned.

    ``in_text``: ``text`` is a word of a longer text, in which a final ``?`` is punctuation, not an inflection.
    ``guesses``: also correct a valid identifier in ways that only a lookup can confirm. ``valid``: whether it is one,
    if known.

    >>> suggestions("(n2t.net/ark:/12345/x5m1).")[0]
    Suggestion(identifier='ark:/12345/x5m1', differences=('closing-punctuation', 'missing-scheme'))
    """
    if in_text and text.isascii() and text[-1:].isalnum() and "%" not in text and "&" not in text:
        valid = reads(text) if valid is None else valid
        if valid:
            # No correction changes such a text.
            return ()
    if not is_correctable(text):
        return ()
    result: dict[str, Suggestion] = {}
    for each in _correct(text, in_text=in_text, guesses=guesses, valid=reads(text) if valid is None else valid):
        if each.identifier != text:
            result.setdefault(each.identifier, each)
        if len(result) == most:
            break
    return tuple(result.values())


def is_correctable(text: str) -> bool:
    """Return False if a text certainly has no valid correction. True means that :func:`suggestions` must be called.
    This fast path is for texts with many labels that no name follows.

    >>> is_correctable("ark%3Ax"), is_correctable("ark:B5072/x"), is_correctable("urn:isbn")
    (False, True, False)
    """
    if _CORRECTABLE.search(text) is not None:
        return True
    # Entities are decoded once. Other triplets can be in any place of an identifier, but not for its slash or colon.
    if "&" in text and (plain := _without_entities(text)) != text and is_correctable(plain):
        return True
    return ("%" in text or "&" in text) and ("/" in text or len(_SLASH_OR_COLONS.findall(text)) > 1)


def of_word(word: str, end: int) -> Suggestion | None:
    """Return the first suggestion for a word of plain characters that begins with a valid ARK of ``end`` characters.
    This fast path is for texts with many such words. It returns None if :func:`suggestions` must decide.

    >>> of_word("ark:12345/x:y", 11)
    Suggestion(identifier='ark:12345/x%3Ay', differences=('outside',))
    """
    start = word.find(":/", 0, end) if word[:4] not in LABELS else 0
    if not _PLAIN_WORD.fullmatch(word) or "//" in word[max(start, 0) + 3 :] or _DOUBLED_LABEL.search(word):
        return None
    if start and _AFTER_SLASH.search(word) is None:
        return None
    if (word[end] in "./" and reads(word)) or word[end : end + 2] in ("/?", "/#"):
        return None
    if word[end] in _ENDING:
        return Suggestion(word[:end], ("valid-beginning",))
    encoded = word[:end] + _NOT_PLAIN.sub(_octets, word[end:])
    return Suggestion(encoded, ("outside",)) if "-" not in word or reads(encoded) else None


def without_hidden(text: str) -> str:
    """Return ``text`` without invisible characters, and with "-" for typographic hyphens. It can be an invalid
    identifier.

    >>> without_hidden("12345/x\u200b\u2010y")
    '12345/x-y'
    """
    if text.isascii():
        return text
    return characters.hidden_in(text).sub("", _TYPOGRAPHIC_HYPHENS.sub("-", text))


def without_closing(literal: str) -> str:
    """Return an identifier without the punctuation of the sentence at its end. A bracket with a partner stays.

    >>> without_closing("ark:12345/x)."), without_closing("urn:foo:(a)")
    ('ark:12345/x', 'urn:foo:(a)')
    """
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


def join_broken(first: str, rest: str, code: str, *, only_checked: bool = False) -> Suggestion | None:
    """Return the identifier that a line end or space has broken into a valid identifier and a word. Return None if they
    probably do not belong together. ``code`` is "line-break" or "space".

    A check character decides. Without one, the rest must contain a digit or follow a hyphen. With ``only_checked``, the
    whole needs a check character, and the rest a digit.

    >>> join_broken("ark:12345/x6np", "1wh8k", "line-break").identifier
    'ark:12345/x6np1wh8k'
    >>> join_broken("ark:12345/x6np", "shows", "line-break") is None
    True
    """
    first = without_hidden(first)
    whole = first + without_hidden(rest)
    if not rest or not reads(whole) or not reads(first):
        return None
    whole_checked, first_checked = map(_has_check_character, (whole, first))
    if first_checked or (only_checked and not (whole_checked and any(char.isdigit() for char in rest))):
        return None if not first.endswith("-") or (first_checked and not whole_checked) else Suggestion(whole, (code,))
    if not whole_checked and not (first.endswith("-") or any(char.isdigit() for char in rest)):
        return None
    return Suggestion(whole, (code,))


def _has_check_character(identifier: str) -> bool:
    normal_form = parse(identifier).normal_form
    return check_character.find(normal_form) is not None


def _correct(text: str, *, in_text: bool, guesses: bool, valid: bool) -> Iterator[Suggestion]:
    if valid:
        yield from _of_valid(text, in_text=in_text, guesses=guesses)
        return
    changed, differences = text, list[str]()
    place = 0
    while place < len(_REPAIRS):
        for number in _able_to_change(_features(changed)):
            if number < place:
                continue
            code, repair, needed = _REPAIRS[number]
            repaired = repair(changed)
            if repaired != changed and repaired and (not needed or reads(repaired)):
                changed, valid, place = repaired, needed, number + 1
                differences.append(code)
                break
        else:
            break
    if differences and (valid or reads(changed)):
        yield Suggestion(changed, tuple(differences))
        return
    yield from (Suggestion(each, (*differences, code)) for code, each in _in_pieces(changed) if reads(each))


# The features of a text. A repair can change only texts with some of them. Each is one bit.
_FEATURES = {
    name: 1 << number
    for number, name in enumerate(
        ("edges", "others", "triplets", "entities", "labels", "query", "before", "capitals", "slashes", "slash")
    )
}


def _features(text: str) -> int:
    """Return the bits of the features of a text."""
    has_query = "?" in text or "#" in text
    bits = 0
    if not (text[:1].isalnum() and text[-1:].isalnum()):
        # A first or last character that is neither a letter nor a digit.
        bits |= 1
    if not text.isascii():
        bits |= 2
    if "%" in text:
        bits |= 4
    if "&" in text:
        bits |= 8
    if text.count(":") > 1:
        # Several labels.
        bits |= 16
    if has_query:
        bits |= 32
    if text[:4] not in LABELS:
        # Something before the label.
        bits |= 64
    if not text.islower():
        bits |= 128
    if "//" in text:
        bits |= 256
    if text[-1:] == "/" or (has_query and ("/?" in text or "/#" in text)):
        # A slash at the end of the path.
        bits |= 512
    return bits


@lru_cache(1024)
def _able_to_change(features: int) -> tuple[int, ...]:
    """Return the numbers of the repairs that can change a text with these features, in their order."""
    return tuple(number for number, feature in enumerate(_NEEDED) if _FEATURES[feature] & features)


def _of_valid(text: str, *, in_text: bool, guesses: bool) -> Iterator[Suggestion]:
    """Correct a valid identifier: its end, hidden characters and hyphens."""
    changed, differences = text, list[str]()
    for code, repair in (
        ("encoded-character", _with_decoded_marks),
        ("html-entity", _without_entities),
        ("closing-punctuation", without_closing if in_text else _without_closing_marks),
        ("trailing-slash", lambda each: each.removesuffix("/")),
        ("typographic-character", without_hidden),
    ):
        repaired = repair(changed)
        if repaired != changed and reads(repaired):
            changed = repaired
            differences.append(code)
    # By the letter, the NAAN can contain encoded slashes.
    plain = _with_plain_slashes(changed)
    if plain != changed and reads(plain):
        yield Suggestion(plain, (*differences, "encoded-slash"))
        return
    if "%3" in changed and _is_better(colons := _ENCODED_COLON.sub(":", changed), changed):
        yield Suggestion(colons, (*differences, "encoded-character"))
    if differences:
        yield Suggestion(changed, tuple(differences))
    # By RFC 8141, a list of URNs without spaces is one URN (U-08).
    if (second := _SECOND.search(changed)) is not None and reads(changed[: second.start()]):
        yield Suggestion(changed[: second.start()], (*differences, "several"))
    # By the letter, ark:ark:12345/x is an address with an ARK (E-03).
    single = _with_one_label(text)
    if single != text and reads(single):
        yield Suggestion(single, ("doubled-label",))
    if guesses:
        spaced = _with_decoded_marks(text, spaces=True)
        pieces = list(_around_space(spaced)) if spaced != text else []
        yield from (Suggestion(each, (code,)) for code, each in reversed(pieces) if reads(each))


def _is_better(text: str, other: str) -> bool:
    """Return whether a URN follows the rules of its namespace, and the valid identifier ``other`` does not."""
    if text == other or not reads(text):
        return False
    first, second = parse(text), parse(other)
    return isinstance(first, Urn) and isinstance(second, Urn) and bool(second.findings) and not first.findings


def _in_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield what can be meant by a text that contains white space, or characters that no ARK contains."""
    pieces = sorted(_around_space(text), key=lambda each: not _is_checked(each[1]))
    yield from pieces
    if not pieces and _LABEL_AND_NAAN.search(text) and (beyond := outside(text)) is not None:
        yield from _of_outside(beyond)


def _around_space(text: str) -> Iterator[tuple[str, str]]:
    space = _SPACES.search(text)
    if space is None:
        return
    yield "before-space", without_closing(text[: space.start()])
    name = _BEFORE_NAME.search(text)
    if name is not None and name.end() <= space.start() and not _MISSING_LABEL.match(text, space.end()):
        whole = without_hidden(_SPACES.sub("", text))
        yield ("line-break" if "\n" in text or "\r" in text else "space"), whole


def _is_checked(text: str) -> bool:
    try:
        return _has_check_character(text)
    except IdentifierError:
        return False


def _of_outside(source: OutsideText) -> Iterator[tuple[str, str]]:
    prefix, text, problem = source.prefix, source.text, source.problem
    first = text[problem.start : problem.start + 1]
    candidates = []
    # A name does not begin with the end of a cell.
    if (source.read or first not in _CELL_ENDS) and problem.code in _ENCODABLE:
        candidates.append(("outside", prefix + _encode(text)))
    if source.read:
        candidates.append(("valid-beginning", prefix + source.read))
    yield from reversed(candidates) if first in _ENDING else candidates


def _encode(text: str) -> str:
    """Percent-encode the characters of an ARK that its parts cannot contain."""
    path, mark, rest = _BARE_PERCENT.sub("%25", text).partition("?")
    label = LABEL.match(path)
    start = label.end() if label else 0
    try:
        path = path[:start] + iri.compile_rule(_NOT_IN_PATH, path).sub(_octets, path[start:])
        return path + mark + iri.compile_rule(_NOT_IN_QUERY, rest).sub(_octets, rest)
    except UnicodeEncodeError:
        return text


def _octets(char: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in char[0].encode())


def _with_decoded_marks(text: str, *, spaces: bool = False) -> str:
    """Decode percent-encoded quotes, hidden characters and typographic hyphens; white space at the end or everywhere.
    At the end, also decode punctuation. The octets of other characters stay.
    """
    if "%" not in text:
        return text
    decoded = _TRIPLETS.sub(lambda run: _decoded_run(run[0], spaces=spaces), text)
    end = len(decoded)
    while decoded[max(0, end - 3) : end].upper() in _FINAL_MARKS or decoded[end - 1 : end].isspace():
        end -= 1 if decoded[end - 1].isspace() else 3
    if decoded == text and end == len(text):
        return text
    stripped = decoded[:end].strip()
    return stripped if stripped[-1:].isalnum() else without_closing(stripped).strip()


def _decoded_run(run: str, *, spaces: bool) -> str:
    octets = bytes.fromhex(run.replace("%", ""))
    try:
        chars = octets.decode()
    except UnicodeDecodeError:
        return run
    if not any(_is_mark(char, spaces=spaces) for char in chars):
        return run
    decoded, place = [], 0
    for char in chars:
        end = place + 3 * len(char.encode())
        decoded.append(char if _is_mark(char, spaces=spaces) else run[place:end])
        place = end
    return "".join(decoded)


def _is_mark(char: str, *, spaces: bool) -> bool:
    if char.isspace():
        return spaces or char != " "
    if char.isascii():
        return char in _MARKS
    return (
        _TYPOGRAPHIC_HYPHENS.match(char) is not None
        or unicodedata.category(char) in _QUOTES
        or characters.is_hidden(char)
    )


def _strip(text: str) -> str:
    return text.strip(ASCII_SPACE)


def _without_closing_marks(text: str) -> str:
    # An inflection can end in "?", and a name in "*" or "_".
    return text if text[-1:] in "?*_" else without_closing(text)


def _without_punctuation(text: str) -> str:
    opening = _OPENING.match(text)
    shorter = without_closing(text)
    if opening is None:
        return shorter
    inner = without_closing(text[opening.end() :])
    return inner or shorter


def _without_entities(text: str) -> str:
    """Decode character references once, and cut the result where the word ends."""
    if "&" not in text:
        return text
    plain = _ENTITY.sub(decode_reference, text)
    return _WORD_END.split(plain, maxsplit=1)[0] if plain != text else text


def decode_reference(reference: re.Match[str]) -> str:
    """Return the character that a matched character reference of HTML, such as ``&amp;``, means."""
    return html5.get(reference[0][1:]) or html.unescape(reference[0])


def with_plain_label(text: str) -> str:
    """Return an identifier with a plain colon and plain slashes in its label, where they are percent-encoded, also more
    than once. In a URN, its other colons are decoded too.

    >>> with_plain_label("https://e.org/ark%3A%2F12345%2Fx"), with_plain_label("urn%3Anbn%3Ase%3Ax")
    ('https://e.org/ark:/12345/x', 'urn:nbn:se:x')
    """
    label = (_ENCODED_LABEL.search(text) or _ENCODED_AFTER_NID.search(text)) if "%" in text else None
    if label is None:
        return text
    rest = text[label.end() :]
    # Encoded twice or more often.
    again = len(label[2]) // 2
    if again:
        rest = rest.replace("%" + "25" * again, "%")
    before = text[: label.start()]
    if _ENCODED_SCHEME.match(before):
        before = before.replace("%" + "25" * again, "%")
        return iri.decode(f"{before}{label[1]}:{rest}", _GRAPHIC)
    if "%" in rest:
        is_urn = label[1][0] in "uU"
        rest = _ENCODED_COLON.sub(":", rest) if is_urn else _PLAIN_ENCODED_LABEL.sub(r"\1:", rest)
        rest = _ENCODED_SLASH.sub("/", rest)
    return f"{before}{label[1]}:{rest}"


def _with_plain_slashes(text: str) -> str:
    """Decode the slashes around the NAAN. Addresses of IIIF have an encoded ARK and then a path of their own."""
    label = (LABEL.search(text) or _ENCODED_ARK.search(text)) if "%2" in text else None
    encoded = _ENCODED_NAAN.match(text, label.start()) if label else None
    if label is None or encoded is None:
        return text
    before, rest = text[: label.start()], text[label.start() :]
    # The encoded ARK ends where the path goes on with a plain slash.
    end = re.search("[/?#]", rest[encoded.end() - label.start() :])
    cut = len(rest) if end is None else encoded.end() - label.start() + end.start()
    plain = _ENCODED_SLASH.sub("/", "ark:" + rest[:cut][3 + len(encoded[1]) :])
    return before + plain if end is None and encoded[1] != ":" else plain


_ENCODED_ARK = re.compile("[Aa][Rr][Kk]%3[Aa]")
_ENCODED_NAAN = re.compile(rf"[Aa][Rr][Kk](:|%3[Aa])(?:%2[Ff]|/?[{BASE29}\-]+%2[Ff])")


def _with_one_label(text: str) -> str:
    doubled = _DOUBLED_LABEL.search(text) if text.count(":") > 1 else None
    return text if doubled is None else text[: doubled.start()] + text[doubled.end() :]


def _without_host(text: str) -> str:
    if text[:4] in LABELS or urn.LABEL.match(text):
        return text
    host = _HOST.match(text) or _ONLY_SCHEME.match(text)
    return text if host is None else text[host.end() :]


def _from_query(text: str) -> str:
    """Return the identifier in the query or fragment of an address."""
    if "?" not in text and "#" not in text:
        return text
    start = _PATH.match(text).end()  # type: ignore[union-attr]
    match = _LABELS_IN_QUERY.search(text, start)
    if match is None or "://" not in text[:start]:
        return text
    rest = re.split("[&#]" if match[2] else "[&;#]", text[match.start() :], maxsplit=1)[0]
    return with_plain_label(rest)


def _ascii_label(text: str) -> str:
    label = None if text.isascii() else lookalikes.lookalike(text)
    return label.ascii_label + text[label.span[1] :].strip(ASCII_SPACE) if label else text


def _half_width(text: str) -> str:
    return text if text.isascii() or not _BEGINS_FULL_WIDTH.match(text) else text.translate(_FULL_WIDTH)


def _label_before_naan(text: str) -> str:
    matched = _MISSING_LABEL.match(text)
    return f"{text[: matched.end()]}ark:{text[matched.end() :]}" if matched else text


def _with_single_slashes(text: str) -> str:
    label = LABEL.search(text) if "//" in text else None
    return text if label is None else text[: label.end()] + re.sub("/{2,}", "/", text[label.end() :])


def _lower_naan(text: str) -> str:
    match = None if text.islower() else _LABEL_AND_SLASH.search(text)
    if match is None:
        return text
    end = text.find("/", match.end())
    return text if end < 0 else text[: match.end()] + text[match.end() : end].lower() + text[end:]


def _without_final_slash(text: str) -> str:
    """Remove the slashes at the end of the path."""
    return _FINAL_SLASH.sub("", text, count=1)


_FINAL_SLASH = re.compile(r"(?<!/)/++(?=[?#]|\Z)")
_Repair = Callable[[str], str]
# The code, the function, whether the result counts only if it is valid, and the feature of texts that it can change.
_TABLE: tuple[tuple[str, _Repair, bool, str], ...] = (
    ("surrounding-space", _strip, False, "edges"),
    ("transliterated-label", _ascii_label, True, "others"),
    ("full-width", _half_width, True, "others"),
    ("encoded-label", with_plain_label, True, "triplets"),
    ("encoded-slash", _with_plain_slashes, False, "triplets"),
    ("encoded-character", _with_decoded_marks, False, "triplets"),
    ("html-entity", _without_entities, True, "entities"),
    ("closing-punctuation", _without_punctuation, False, "edges"),
    ("typographic-character", without_hidden, False, "others"),
    ("doubled-label", _with_one_label, False, "labels"),
    ("query-parameter", _from_query, True, "query"),
    ("missing-scheme", _without_host, False, "before"),
    ("missing-label", _label_before_naan, True, "before"),
    ("naan-case", _lower_naan, True, "capitals"),
    ("repeated-slash", _with_single_slashes, True, "slashes"),
    ("trailing-slash", _without_final_slash, True, "slash"),
)
_REPAIRS = tuple((code, repair, needed) for code, repair, needed, _ in _TABLE)
_NEEDED = tuple(feature for *_, feature in _TABLE)


def reasons(differences: Iterable[str]) -> str:
    """Return the corrections of a suggested identifier as one phrase. ``differences`` are codes of :data:`REASONS`;
    others stay as they are.

    >>> reasons(("closing-punctuation", "missing-scheme"))
    'without the closing punctuation and without the host before it'
    """
    return list_items([REASONS.get(code, code) for code in differences])
