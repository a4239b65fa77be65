"""Search of the documentation: the sections that have the words of a question."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...bindings.names.metadata.folding import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 20
"""The largest number of sections that a search returns."""
_EXCERPT = 220
"""The length of an excerpt, in characters."""
_LONG = 4_000
"""The length of a section whose score counts half, in characters."""

# Words of questions that say nothing about the subject.
_NOISE = frozenset(
    {
        "a",
        "after",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "can",
        "do",
        "does",
        "for",
        "from",
        "get",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "my",
        "no",
        "not",
        "now",
        "of",
        "on",
        "or",
        "should",
        "so",
        "that",
        "the",
        "then",
        "there",
        "this",
        "to",
        "want",
        "was",
        "we",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "with",
        "you",
        "your",
    }
)
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ed|ing|s|es)$")
# The weight of a word in the title of the page, in the heading of the section, and in its text.
_TITLE, _HEADING, _TEXT = 2.0, 3.0, 1.0
_EXPLANATION = 0.5
"""The weight of a section that explains a subject."""


class Section(NamedTuple):
    """A part of a page below a heading of the ``level`` 1 to 6, with the ``anchor`` of the heading and its ``text``."""

    level: int
    heading: str
    anchor: str
    text: str


class SearchedPage(Protocol):
    """A page that can be searched."""

    @property
    def title(self) -> str: ...

    @property
    def sections(self) -> tuple[Section, ...]: ...


class FoundSection(NamedTuple):
    """A section that matches, and the name and ``title`` of its page. Each second part of the excerpt is a match."""

    page: str
    title: str
    section: Section
    excerpt: tuple[str, ...]


def found(
    query: str, pages: Mapping[str, SearchedPage], explanations: frozenset[str] = frozenset()
) -> list[FoundSection]:
    """Return the sections of ``pages`` that have words of ``query``, the best first.

    The sections of the pages ``explanations`` count less, because they explain a subject and answer no question.

    A word is also found as the beginning of a longer one, and without its ending: "redirects" finds "redirected". Words
    that most questions have are ignored, such as "how".

    >>> from ararat.webapp.views.docs import rendered
    >>> page = rendered("# Backup\\n\\nCopy the file.\\n\\n## Restore\\n\\nPut the copy back.", "/docs")
    >>> [each.section.heading for each in found("how do I restore a copy?", {"backup": page})]
    ['Restore', 'Backup']
    """
    words = _words(query)
    if not words:
        return []
    sections = [(name, page, section) for name, page in pages.items() for section in page.sections]
    texts = [[f" {fold(text)}" for text in (page.title, each.heading, each.text)] for _, page, each in sections]
    rarity = {
        word: math.log(1 + len(texts) / (1 + sum(any(f" {word}" in text for text in each) for each in texts)))
        for word in words
    }
    scored: list[tuple[float, int, int]] = []
    for number, (title, heading, text) in enumerate(texts):
        score, matched = 0.0, 0
        for word in words:
            part = f" {word}"
            weight = _TITLE * (part in title) + _HEADING * (part in heading) + _TEXT * min(text.count(part), 3)
            matched += weight > 0
            score += rarity[word] * weight
        if matched:
            # A section that lacks words answers another question. A long section has more words by chance.
            score *= (matched / len(words)) ** 2 / (1 + len(text) / _LONG)
            scored.append((score * (_EXPLANATION if sections[number][0] in explanations else 1), matched, -number))
    scored.sort(reverse=True)
    best = max((matched for _, matched, _ in scored), default=0)
    chosen = [-number for _, matched, number in scored if 2 * matched >= best][:_MOST]
    return [
        FoundSection(name, page.title, section, _excerpt(section.text, words))
        for name, page, section in (sections[number] for number in chosen)
    ]


def _words(query: str) -> list[str]:
    """Return the folded words of a question without their endings, without those that say nothing if others remain."""
    all_words = list(dict.fromkeys(fold(query).split()))[:20]
    chosen = [word for word in all_words if word not in _NOISE] or all_words
    return list(dict.fromkeys(_ENDING.sub("", word) for word in chosen))


def _excerpt(text: str, words: list[str]) -> tuple[str, ...]:
    """Return a part of ``text`` that begins shortly before its first match, split at the matches."""
    pattern = re.compile(rf"(?<![^\W_])((?:{'|'.join(map(re.escape, words))})[^\W_]*)", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - 60) if first else 0
    if start:
        start = text.find(" ", start) + 1
    end = len(text) if len(text) <= start + _EXCERPT else text.rfind(" ", start, start + _EXCERPT)
    if end <= start:
        end = start + _EXCERPT
    shown = ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")
    return tuple(pattern.split(shown))
