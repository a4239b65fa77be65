"""A language for tests: each message is longer, and between ⟦ and ⟧. Text of a page outside of them is not translated.

.venv/bin/python -m pytest tests/webapp/language
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from html import unescape
from unittest.mock import patch

from ararat.webapp.language import current, translation

BEGIN, END = "\u27e6", "\u27e7"
_LONGER = str.maketrans({"a": "\u00e0a", "e": "\u00eae", "o": "\u00f8", "A": "\u00c5", "E": "\u00c9"})
_TAG = re.compile(r"(<[^>]*>|%\(\w+\)s|%%|&\w+;)")
# Acronyms and the name of the product are the same in all languages.
_WORD = re.compile(r"\b(?!Ararat\b)(?=\w*[a-z]{2})[A-Za-z]{3,}")
_SHOWN = ("alt", "aria-label", "content", "data-label", "data-said", "label", "placeholder", "title")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_CODE = {"code", "kbd", "pre", "samp", "script", "style", "textarea", "bdi", "data", "time"}


def _longer(message: str) -> str:
    pieces = _TAG.split(message)
    return BEGIN + "".join(each if _TAG.fullmatch(each) else each.translate(_LONGER) for each in pieces) + END


class Pseudo(NullTranslations):
    """Translations into the language for tests."""

    def gettext(self, message: str) -> str:
        return _longer(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return _longer(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return _longer(message)

    def npgettext(self, context: str, msgid1: str, msgid2: str, n: int) -> str:
        return _longer(msgid1 if n == 1 else msgid2)


@contextmanager
def pseudo_language(tag: str = "de") -> Iterator[None]:
    """Show the pages in the language for tests instead of the language ``tag``; the tag "he" is right-to-left."""
    usual, names = translation.translations, {**current.languages(), tag: "Pseudo"}
    with (
        patch.object(translation, "translations", lambda each: Pseudo() if each == tag else usual(each)),
        patch.object(current, "languages", lambda: names),
    ):
        yield


_ATTRIBUTE = re.compile(r"""([a-z-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


class _Page:
    """A reader of the output of the templates, which escape each ">" of a value. html.parser takes much longer."""

    def __init__(self) -> None:
        self.untranslated: list[str] = []
        self._marked = 0
        self._stack: list[tuple[str, bool]] = []

    def feed(self, html: str) -> None:
        before, *parts = html.split("<")
        self._text(before)
        for part in parts:
            tag, _, text = part.partition(">")
            name = tag.split(maxsplit=1)[0].rstrip("/")
            if tag[0] == "/":
                self._end(tag[1:])
            elif tag[0] != "!":
                self._start(
                    name, {each[1]: unescape(each[2] or each[3] or each[4] or "") for each in _ATTRIBUTE.finditer(tag)}
                )
            if text:
                self._text(unescape(text))

    def _start(self, tag: str, values: dict[str, str]) -> None:
        data = tag in _CODE or values.get("translate") == "no" or "words" in values.get("class", "").split()
        foreign = "lang" in values and tag != "html"
        if tag not in _VOID:
            self._stack.append((tag, data or foreign))
        if data or foreign or any(each for _, each in self._stack):
            return
        for name in _SHOWN:
            if name == "content" and values.get("name") != "description":
                continue
            text = values.get(name)
            if text and self._marked == 0 and tag != "option":
                self._look(f"{name}={text}", text)
        if tag == "input" and values.get("type") in ("submit", "button") and values.get("value"):
            self._look(f"value={values['value']}", values["value"])

    def _end(self, tag: str) -> None:
        while self._stack:
            if self._stack.pop()[0] == tag:
                break

    def _text(self, data: str) -> None:
        outside = ""
        for char in data:
            if char == BEGIN:
                self._marked += 1
            elif char == END:
                self._marked -= 1
            elif self._marked == 0:
                outside += char
        if not any(each for _, each in self._stack) and _WORD.search(outside):
            self.untranslated.append(" ".join(outside.split()))

    def _look(self, shown: str, text: str) -> None:
        depth = 0
        outside = ""
        for char in text:
            depth += (char == BEGIN) - (char == END)
            outside += char if depth == 0 and char not in (BEGIN, END) else ""
        if _WORD.search(outside):
            self.untranslated.append(shown)


def untranslated(html: str) -> list[str]:
    """Return the texts of a page that are not in the language for tests.

    Left out are identifiers and code, texts of persons (``class="words"``), and parts with another ``lang``.

    >>> untranslated("<p>\u27e6Save\u27e7 <code>ark:12345/x</code> <b title='Names'>now</b></p>")
    ['title=Names', 'now']
    """
    page = _Page()
    page.feed(html)
    return page.untranslated
