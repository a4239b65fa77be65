"""Find the first error in a text that the grammar of Extended ARKs has refused. The search stops at the first error,
because a correction can change the meaning of everything after it.
"""

from __future__ import annotations

import re

from ..problems import IdentifierError, Problem, problem
from ..text import characters, display, iri
from ..text.translatable import Translatable
from .grammar import BASE29_LETTERS, EXTENDED_ARK, IFRAGMENT, IQUERY, LABEL, NAAN_START, PATH_START

ENCODED_SLASH = "the NAAN is missing: the slash before it is percent-encoded"
"""The message about a text such as ``ark:%2F12345%2Fx``, as in addresses of IIIF."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def matched_ark(text: str) -> re.Match[str]:
    """Return the match of the whole ``text`` with the grammar of Extended ARKs. Its groups are "label", "naan", "path",
    "tail", "query" and "fragment". Raises IdentifierError with the first problem if the grammar refuses it.
    """
    matched = iri.compile_rule(EXTENDED_ARK, text).fullmatch(text)
    if matched is None:
        raise IdentifierError(text, first_problem(text))
    return matched


def first_problem(text: str) -> Problem:
    """Return the first error, from left to right, of a text that the grammar has refused (else AssertionError).

    >>> first_problem("ark:12345/x//").code
    'empty-segment'
    """
    label = LABEL.match(text)
    if not text:
        return problem("empty", 0, 0)
    if label is None:
        expected = "an ARK; ararat.parse reads URNs and addresses, too"
        return problem("no-scheme", 0, min(len(text), 4), "the text does not start with ark:", expected=expected)
    start = label.end()
    if text.startswith("//", start):
        return problem("double-slash", start, start + 2)
    if text.startswith("/", start):
        start += 1
    return _naan_problem(text, start)


def _naan_problem(text: str, start: int) -> Problem:
    end = _find_first(text, "/?#", start)
    if end == start:
        return problem("no-naan", start, start)
    if starts_with_encoded_slash(text, start):
        return problem("no-naan", start, start + 3, ENCODED_SLASH)
    wrong = _match_end(NAAN_START, text, start, end)
    if wrong < end:
        return _naan_char_problem(text, wrong)
    if not text.startswith("/", end):
        return problem("no-name", end, end)
    return _path_problem(text, end + 1)


def starts_with_encoded_slash(text: str, start: int) -> bool:
    """Return whether ``text`` continues with ``%2F`` or ``%2f`` at the index ``start``."""
    return text.startswith(("%2F", "%2f"), start)


def _naan_char_problem(text: str, index: int) -> Problem:
    if character_problem := _invalid_everywhere(text, index):
        return character_problem
    char = display.describe_character(text[index])
    if text[index] in BASE29_LETTERS.upper():
        return problem(
            "naan-uppercase",
            index,
            index + 1,
            Translatable("the NAAN contains %(char)s, an upper-case letter", char=char),
        )
    return problem("naan-char", index, index + 1, Translatable("a NAAN cannot contain %(char)s", char=char))


def _path_problem(text: str, start: int) -> Problem:
    end = _find_first(text, "?#", start)
    if end == start:
        return problem("empty-name", start, start)
    wrong = _match_end(PATH_START, text, start, end)
    empty = text.find("//", start - 1, end)
    if 0 <= empty < wrong:
        return problem("empty-segment", empty, empty + 2)
    if wrong < end:
        return _char_problem(text, wrong, "bad-char", Translatable("a Name, component or variant"))
    if text[end - 1] == "/":
        return problem("trailing-slash", end - 1, end)
    return _query_or_fragment_problem(text, end)


def _query_or_fragment_problem(text: str, start: int) -> Problem:
    for mark, allowed, code, part in (
        ("?", IQUERY, "bad-query", "a query"),
        ("#", IFRAGMENT, "bad-fragment", "a fragment"),
    ):
        if text.startswith(mark, start):
            end = text.find("#", start + 1) if mark == "?" else len(text)
            end = len(text) if end < 0 else end
            wrong = _match_end(allowed, text, start + 1, end)
            if wrong < end:
                return _char_problem(text, wrong, code, part)
            start = end
    raise AssertionError("the grammar accepts this text")


def _char_problem(text: str, index: int, code: str, part: str) -> Problem:
    if everywhere := _invalid_everywhere(text, index):
        return everywhere
    char = display.describe_character(text[index])
    if characters.classify(text[index]) == "private":
        return problem("private-use", index, index + 1, Translatable("%(char)s is allowed only in a query", char=char))
    return problem(code, index, index + 1, Translatable("%(part)s cannot contain %(char)s", part=part, char=char))


def _invalid_everywhere(text: str, index: int) -> Problem | None:
    char = text[index]
    if char == "%":
        return problem("bad-percent", index, min(len(text), index + 3))
    if _CONTROL.match(char):
        # ARK-141: "The production rules of IRIs forbid characters in the range U+0000-U+001F, U+007F-U+009F"
        return problem(
            "control-char",
            index,
            index + 1,
            Translatable("%(char)s is a control character", char=display.describe_character(char)),
        )
    return None


def _match_end(allowed: str, text: str, start: int, end: int) -> int:
    """Return the index of the first character that the expression does not allow, or ``end``."""
    match = iri.compile_rule(allowed, text).match(text, start, end)
    return match.end() if match else start


def _find_first(text: str, marks: str, start: int) -> int:
    """Return the index of the first of the marks, or the length of the text."""
    return min((index for mark in marks if (index := text.find(mark, start)) >= 0), default=len(text))
