"""Why an identifier is refused, in words: one view, which page, problem document and text all say.

The identifier is repeated as it was received, the place that is wrong marked in it, and never more of it than a reader
can use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from ...identifiers import IdentifierError, Problem
from ...identifiers.suggestions import suggestion
from ...identifiers.text import display
from ..bindings import targets
from ..bindings.model import NOTHING
from ..resolution.result import Resolution
from . import templates
from .description import Description, describe

_SHOWN_AROUND = 120
ECHOED = 1000
"""Code points of an identifier that a problem document repeats, at most."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of the identifier around the place that matters; ``marks`` where that place is less than the whole."""

    before: str
    marked: str
    after: str
    cut_before: bool
    cut_after: bool
    marks: bool


@dataclass(frozen=True, slots=True)
class Hint:
    """Where to go from here: ``member`` is its name in the problem document, ``shown`` an identifier it leads to."""

    member: str
    words: str
    href: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A refusal as it is told. Its own words are ASCII; excerpt, hints and tombstone are what others wrote.

    ``inflections`` are those that are known here, where another one was asked for (ARK-044, I-02). ``exact`` says
    whether the identifier stood so in the request, or was rebuilt from what the server left of it (:mod:`target`).
    """

    status: int
    phrase: str
    problem: Problem
    given: str
    excerpt: Excerpt
    hints: tuple[Hint, ...]
    tombstone: Description | None = None
    inflections: Mapping[str, str] = field(default_factory=dict)
    exact: bool = True

    @property
    def title(self) -> str:
        """The identifier as a title can hold it: printable ASCII, and short."""
        shown = display.percent(self.given[:80])
        return shown if len(shown) <= 80 else f"{shown[:77]}..."

    @property
    def sentence(self) -> str:
        """The message as a sentence."""
        message = self.problem.message
        return f"{message[:1].upper()}{message[1:]}."

    @property
    def place(self) -> str:
        """Which characters are marked, counted from one."""
        start, end = self.problem.start, self.problem.end
        if end > start + 1:
            return f"characters {start + 1} to {end}"
        return f"character {start + 1}" if end > start else f"before character {start + 1}"

    def as_html(self) -> bytes:
        """The page."""
        return templates.render("refusal.html", view=self)

    def as_json(self) -> bytes:
        """The problem document (RFC 9457)."""
        # RFC 9457, section 4.2.1: with "about:blank" the title is the status phrase; the code says which problem it is.
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": self.phrase,
            "status": self.status,
            "detail": self.sentence,
            "code": self.problem.code,
            "identifier": self.given[:ECHOED],
            "target_exact": self.exact,
            "start": self.problem.start,
            "end": self.problem.end,
            "expected": self.problem.expected,
            "reference": self.problem.reference,
        }
        document |= {hint.member: hint.href for hint in self.hints}
        if self.inflections:
            document["inflections"] = dict(self.inflections)
        if self.tombstone is not None:
            document["tombstone"] = self.tombstone.as_dict()
        return json.dumps(document, indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """Plain text with a line of carets under the place; after it the tombstone, where there is one."""
        lines = [f"{self.status} {self.phrase}", "", str(IdentifierError(self.given, self.problem))]
        lines += [f"{hint.words}: {hint.href}" for hint in self.hints]
        lines += [f"{inflection}: {description}" for inflection, description in self.inflections.items()]
        text = "\n".join([*lines, ""]).encode("ascii", "backslashreplace")
        return text if self.tombstone is None else text + b"\n" + self.tombstone.as_text()


def explain(
    resolution: Resolution,
    root: str,
    inspector: str | None,
    inflections: Mapping[str, str] = NOTHING,
    *,
    exact: bool = True,
) -> Explanation:
    """What to tell whoever asked; ``root`` is what links begin with, ``inspector`` what an inspector's address does,
    ``inflections`` what may be asked for, ``exact`` whether the target was.
    """
    problem, binding = resolution.problem, resolution.binding
    if problem is None:
        raise ValueError("this resolution is no refusal")
    return Explanation(
        status=resolution.status,
        phrase=HTTPStatus(resolution.status).phrase,
        problem=problem,
        given=resolution.given,
        excerpt=excerpt(resolution.given, problem),
        hints=tuple(_hints(resolution, problem, root, inspector)),
        tombstone=None if binding is None or binding.is_live else describe(binding, root),
        inflections=inflections if problem.code == "unknown-inflection" else NOTHING,
        exact=exact,
    )


def excerpt(text: str, problem: Problem) -> Excerpt:
    """The surroundings of a problem's place in ``text``.

    >>> excerpt("ark:12345/x!", Problem("bad-char", "error", "", 11, 12, "", ""))
    Excerpt(before='ark:12345/x', marked='!', after='', cut_before=False, cut_after=False, marks=True)
    """
    start, end = problem.start, problem.end
    shown_end = min(end, start + _SHOWN_AROUND)
    left, right = max(0, start - _SHOWN_AROUND), min(len(text), shown_end + _SHOWN_AROUND)
    after = "" if shown_end < end else text[shown_end:right]
    whole = start == 0 and end >= len(text.partition("?")[0])
    cut_after = shown_end < end or right < len(text)
    return Excerpt(text[left:start], text[start:shown_end], after, left > 0, cut_after, not whole)


def _hints(resolution: Resolution, problem: Problem, root: str, inspector: str | None) -> Iterator[Hint]:
    key, given = resolution.key, resolution.given
    if resolution.binding is not None:
        yield Hint("description", "What is known of it is here", f"{root}/{key}?info", f"{key}?info")
    if (container := resolution.container) is not None:
        if problem.code == "container-withdrawn":
            info = f"{container}?info"
            yield Hint("container", "The description of the withdrawn name", f"{root}/{info}", info)
        else:
            yield Hint("container", "What contains it is bound here", f"{root}/{container}", container)
    if len(given) > ECHOED:
        return
    if resolution.status == 400 and (meant := suggestion(given, problem)):
        yield Hint("suggestion", "Perhaps this was meant", f"{root}/{quote(meant, safe=targets.AS_IT_IS)}", meant)
    if inspector is not None:
        page = inspector if inspector.startswith("http") else root + inspector
        yield Hint("inspect", "Read it letter by letter in the inspector", f"{page}/?q={quote(given, safe='')}")
