"""Why a text is no Extended ARK: the first place that is wrong, what was expected there and which rule says so.

This is asked only once the grammar has refused a text. The text is gone through once, from the left, part by part; the
first fault is the answer. What follows it is not judged, since it may be meant otherwise once the fault is mended.
"""

from __future__ import annotations

import re

from ..problems import Problem, problem
from ..text import characters, display, iri

_LABEL = re.compile("[Aa][Rr][Kk]:")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# The longest beginning of a part that can stand there; possessive, so that it is found in one pass.
_NAAN_CHARS = re.compile(iri.run(r"0-9bcdfghjkmnpqrstvwxz\-", least=0))
_PATH_CHARS = re.compile(iri.run(rf"0-9A-Za-z=~*+@_$\-./{iri.UCSCHAR}", least=0))
_QUERY_CHARS = re.compile(iri.run(f"{iri.IPCHAR}{iri.IPRIVATE}/?", least=0))
_FRAGMENT_CHARS = re.compile(iri.run(f"{iri.IPCHAR}/?", least=0))
# C0 and DEL, and the first octet of an encoded C1, bidi or other character that may be hidden.
_ENCODED_SUSPECT = re.compile("%[01][0-9A-Fa-f]|%7[Ff]|(?:%[89A-Fa-f][0-9A-Fa-f]){2,}")


def first_fault(text: str) -> Problem:
    """The first reason why ``text`` is no Extended ARK. ``text`` must be one that the grammar refuses."""
    label = _LABEL.match(text)
    if label is None:
        return problem("no-scheme", 0, min(len(text), 4)) if text else problem("empty", 0, 0)
    start = label.end()
    if text.startswith("//", start):
        return problem("double-slash", start, start + 2)
    if text.startswith("/", start):
        start += 1
    return _naan_fault(text, start)


def encoded_control(text: str) -> re.Match[str] | None:
    """The first percent-encoded control or formatting character of ``text``: legal octets, but a hazard once decoded.

    >>> encoded_control("ark:12345/a%E2%80%AEb").span()
    (11, 20)
    """
    if "%" not in text:
        return None
    for found in _ENCODED_SUSPECT.finditer(text):
        octets = bytes.fromhex(found[0].replace("%", ""))
        if any(characters.is_hidden(char) for char in octets.decode("utf-8", "ignore")):
            return found
    return None


def _naan_fault(text: str, start: int) -> Problem:
    end = _first(text, "/?#", start)
    if end == start:
        return problem("no-naan", start, start)
    wrong = _run_end(_NAAN_CHARS, text, start, end)
    if wrong < end:
        return _wrong_naan_char(text, wrong)
    if not text.startswith("/", end):
        return problem("no-name", end, end)
    return _path_fault(text, end + 1)


def _wrong_naan_char(text: str, place: int) -> Problem:
    char = text[place]
    if fault := _always_wrong(text, place):
        return fault
    if char in "BCDFGHJKMNPQRSTVWXZ":
        return problem(
            "naan-uppercase", place, place + 1, f"the NAAN holds {display.named(char)}, an upper-case letter"
        )
    return problem("naan-char", place, place + 1, f"a NAAN cannot hold {display.named(char)}")


def _path_fault(text: str, start: int) -> Problem:
    end = _first(text, "?#", start)
    if end == start:
        return problem("empty-name", start, start)
    wrong = _run_end(_PATH_CHARS, text, start, end)
    empty = text.find("//", start - 1, end)
    if 0 <= empty < wrong:
        return problem("empty-segment", empty, empty + 2)
    if wrong < end:
        return _wrong_char(text, wrong, "bad-char", "a Name, component or variant")
    if text[end - 1] == "/":
        return problem("trailing-slash", end - 1, end)
    return _tail_fault(text, end)


def _tail_fault(text: str, start: int) -> Problem:
    for mark, allowed, code, where in (
        ("?", _QUERY_CHARS, "bad-query", "a query"),
        ("#", _FRAGMENT_CHARS, "bad-fragment", "a fragment"),
    ):
        if text.startswith(mark, start):
            end = text.find("#", start + 1) if mark == "?" else len(text)
            end = len(text) if end < 0 else end
            wrong = _run_end(allowed, text, start + 1, end)
            if wrong < end:
                return _wrong_char(text, wrong, code, where)
            start = end
    raise AssertionError("the grammar reads this text")


def _wrong_char(text: str, place: int, code: str, where: str) -> Problem:
    if fault := _always_wrong(text, place):
        return fault
    if "\ue000" <= text[place] <= "\uf8ff" or text[place] >= "\U000f0000":
        kind = characters.classify(text[place])
        if kind == "private":
            return problem("private-use", place, place + 1, f"{display.named(text[place])} can stand in a query alone")
    return problem(code, place, place + 1, f"{where} cannot hold {display.named(text[place])}")


def _always_wrong(text: str, place: int) -> Problem | None:
    char = text[place]
    if char == "%":
        return problem("bad-percent", place, min(len(text), place + 3))
    if _CONTROL.match(char):
        # ARK-141: "The production rules of IRIs forbid characters in the range U+0000-U+001F, U+007F-U+009F"
        return problem("control-char", place, place + 1, f"{display.named(char)} is a control character")
    return None


def _run_end(allowed: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Where the first character stands that the pattern does not allow, or ``end``."""
    found = allowed.match(text, start, end)
    return found.end() if found else start


def _first(text: str, marks: str, start: int) -> int:
    """Where the first of the marks stands, or the length of the text."""
    return min((place for mark in marks if (place := text.find(mark, start)) >= 0), default=len(text))
