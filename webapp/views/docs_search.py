"""Search of the documentation: the sections that have the words of a question, by the full-text search of SQLite.
https://www.sqlite.org/fts5.html describes the tokenizer, ``bm25`` and ``snippet``.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...bindings.names.metadata.folding import fold
from ...bindings.system.fork_safety import ForkSafeLock

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 20
"""The largest number of sections that a search returns."""
_MARK = "\x00"
"""The character before and after a match in an excerpt."""

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


class Section(NamedTuple):
    """A part of a page below a heading of the ``level`` 1 to 6, with the ``anchor`` of the heading and its ``text``."""

    level: int
    heading: str
    anchor: str
    text: str


class SearchedPage(Protocol):
    """A page that can be searched: it has a ``title`` and its ``sections`` in order."""

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


class SearchIndex:
    r"""The sections of pages in a database in memory. All threads can search it.

    A word is also found as the beginning of a longer one, and without its ending: "redirects" finds "redirected".
    Words that most questions have, such as "how", are ignored beside others. Sections of ``explanations``, pages that
    answer no question, count half.

    >>> from ararat.webapp.views.docs import render_markdown
    >>> page = render_markdown("# Backup\n\nCopy the file.\n\n## Restore\n\nPut the copy back.", "/docs")
    >>> [each.section.heading for each in SearchIndex({"backup": page}).find("how do I restore a copy?")]
    ['Restore', 'Backup']
    """

    def __init__(self, pages: Mapping[str, SearchedPage], explanations: frozenset[str] = frozenset()) -> None:
        self._sections = [(name, page.title, section) for name, page in pages.items() for section in page.sections]
        self._lock = ForkSafeLock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        with self._database as database:
            database.execute(
                "CREATE VIRTUAL TABLE sections USING fts5"
                " (title, heading, text, weight UNINDEXED, tokenize = 'porter unicode61')"
            )
            database.executemany(
                "INSERT INTO sections (rowid, title, heading, text, weight) VALUES (?, ?, ?, ?, ?)",
                (
                    (number, title, section.heading, section.text, 0.5 if name in explanations else 1)
                    for number, (name, title, section) in enumerate(self._sections)
                ),
            )

    def find(self, query: str) -> list[FoundSection]:
        """Return at most 20 sections that have words of ``query``, the best first; none for a query without words."""
        words = _words(query)
        if not words:
            return []
        each = [f'"{word}"*' for word in words]
        with self._lock:
            scores = [row for word in each for row in self._database.execute(_SCORES, {"word": word})]
            totals: defaultdict[int, float] = defaultdict(float)
            for number, score in scores:
                totals[number] += score
            # A section that lacks words answers another question.
            matched = Counter(number for number, _ in scores)
            best = sorted(totals, key=lambda number: (totals[number] * matched[number] ** 2, number))[:_MOST]
            return [self._section(number, " OR ".join(each)) for number in best]

    def _section(self, number: int, question: str) -> FoundSection:
        [(excerpt,)] = self._database.execute(_EXCERPT, {"mark": _MARK, "question": question, "number": number})
        return FoundSection(*self._sections[number], tuple(excerpt.split(_MARK)))


# A score is negative, and the best one is the least. A match in a heading says most.
_SCORES = "SELECT rowid, bm25(sections, 2.0, 3.0, 1.0) * weight FROM sections WHERE sections MATCH :word"
# An excerpt has 30 words.
_EXCERPT = """
SELECT snippet(sections, 2, :mark, :mark, '\u2026', 30) FROM sections
WHERE sections MATCH :question AND rowid = :number
"""


def _words(query: str) -> list[str]:
    """Return the folded words of a question, without those that say nothing if others remain."""
    all_words = re.findall(r"\w+", fold(query))[:20]
    return list(dict.fromkeys([word for word in all_words if word not in _NOISE] or all_words))
