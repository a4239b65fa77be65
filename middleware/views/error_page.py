"""Render the error page of a refused request, also as a problem document (RFC 9457) and as text. It repeats a part of
the identifier as received. It marks the place of the problem, which :mod:`ararat.middleware.resolution.refusals`
selects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ...bindings.names import targets
from ...bindings.names.binding import NOTHING, Binding
from ...bindings.names.branding.model import contact_address
from ...bindings.names.corrections import MISTYPED
from ...bindings.names.prefixes.prefixes import PrefixRecord
from ...identifiers import Ark, IdentifierError, Problem
from ...identifiers.ark.grammar import BASE29_ONLY
from ...identifiers.registries.holder_names import HolderName
from ...identifiers.suggestions import suggestions
from ...identifiers.text import display
from ..resolution.description_formats import FORMATS, Format
from ..resolution.forwarding import Holder
from ..resolution.result import Resolution
from . import templates
from .description import Description, describe, successor_address
from .messages import HINTS, MOVED, Sentence, sentence
from .presentation import PLAIN, Presentation

if TYPE_CHECKING:
    from ...bindings.names.binding import LoggedName

_SHOWN_AROUND = 120
# A query that requests a format, which can be unknown or in the wrong case.
_FORMAT = re.compile(r"\?info&format(?:=|\Z)", re.IGNORECASE)
_STEPS = frozenset(("elsewhere", "suggestion", "item", "successor"))
ECHOED = 1000
"""The number of code points of an identifier that a problem document repeats at most."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of an identifier around its problem: the text before, at and after it. ``cut_before`` and ``cut_after``
    are whether text is omitted. If the problem is the whole identifier, ``marks`` is False.
    """

    before: str
    marked: str
    after: str
    cut_before: bool
    cut_after: bool
    marks: bool


@dataclass(frozen=True, slots=True)
class Hint:
    """A link on an error page, such as to a possible correction. ``member`` is its name in the problem document, such
    as "suggestion", "successor", "container" or "inspect". ``words`` is the text before or of the link, and ``shown``
    the identifier that it leads to, or "".
    """

    member: str
    words: str
    href: str
    shown: str = ""

    @property
    def relation(self) -> str:
        """The relation type of the link on the error page (RFC 8288)."""
        return "successor-version nofollow" if self.member == "successor" else "nofollow"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The error page of one refused request, as HTML, as a problem document or as text.

    - ``hints``: links to related information. ``tombstone``: the description of a withdrawn name, or None.
    - ``inflections``: the known inflections if the requested one is unknown (ARK-044, I-02), else empty.
    - ``record``: the record of the longest NAAN or shoulder that an unknown identifier begins with, or None.
    - ``holder``: the institution of another NAAN to which an unknown identifier belongs, or None.
    - ``other_title``: the title of the name that replaces a withdrawn one, or that was probably meant, if it is known.
    - ``exact``: whether the request target is as the client sent it (:mod:`.http.request_target`).
      ``hides_empty_query``: whether the server hides a question mark at its end.
    """

    status: int
    phrase: str
    problem: Problem
    given: str
    excerpt: Excerpt
    hints: tuple[Hint, ...]
    tombstone: Description | None = None
    inflections: Mapping[str, str] = field(default_factory=dict)
    record: PrefixRecord | None = None
    exact: bool = True
    hides_empty_query: bool = False
    other_title: str | None = None
    has_open_successor: bool = True
    holder: HolderName | None = None

    @property
    def title(self) -> str:
        """The identifier for the title of the error page, in printable ASCII of at most 80 characters."""
        shown = display.percent(self.given[:80])
        return shown if len(shown) <= 80 else f"{shown[:77]}..."

    @property
    def sentence(self) -> str:
        message = self.problem.message
        return f"{message[:1].upper()}{message[1:]}."

    @property
    def visitor(self) -> Sentence:
        """The first sentence of the error page, and the advice after it, in words for visitors."""
        code = self.problem.code
        if self.tombstone is not None and self.tombstone.successor and self.has_open_successor:
            return Sentence(MOVED)
        if self.holder is not None:
            return sentence("elsewhere")
        return sentence("mistyped" if self.problem.message == MISTYPED else code)

    @property
    def links(self) -> tuple[Hint, ...]:
        """The links below the identifier. The successor is in a tombstone, and the prefix in its record."""
        is_in_tombstone = self.tombstone is not None and self.has_open_successor
        elsewhere = ("prefix", "successor") if is_in_tombstone else ("prefix",)
        return tuple(hint for hint in self.hints if hint.member not in elsewhere)

    @property
    def buttons(self) -> tuple[Hint, ...]:
        """The links above the identifier, each a next step with an identifier, such as to the correction."""
        steps = _STEPS if self.has_open_successor else _STEPS - {"successor"}
        return tuple(hint for hint in self.links if hint.member in steps and hint.shown)

    @property
    def further_links(self) -> tuple[Hint, ...]:
        return tuple(hint for hint in self.links if hint not in self.buttons and hint.member != "inspect")

    @property
    def record_address(self) -> str | None:
        """The address of the record of the NAAN or shoulder of an unknown identifier. It is None without a record."""
        return next((hint.href for hint in self.hints if hint.member == "prefix"), None)

    @property
    def contact(self) -> str | None:
        """The address of the link to the contact in the record of the NAAN or shoulder. It is None without one."""
        return self.record and contact_address(self.record.contact or "")

    @property
    def place(self) -> str:
        """The place of the problem in the identifier in words, such as "characters 12 to 14", counted from one."""
        start, end = self.problem.start, self.problem.end
        if end > start + 1:
            return f"characters {start + 1} to {end}"
        return f"character {start + 1}" if end > start else f"before character {start + 1}"

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("error_page.html", site, view=self)

    def as_json(self) -> bytes:
        """Return the error page as a problem document in JSON (RFC 9457). Further members are the code and place of the
        problem, the links, and the tombstone of a withdrawn name.
        """
        # RFC 9457, section 4.2.1: with "about:blank" the title is the status phrase. The code names the problem.
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
        # Only for NAAN 99999, with which `ararat doctor` probes: other answers are the same under WSGI and ASGI.
        if self.hides_empty_query and self.problem.code == "naan-reserved-invalid":
            document["empty_query_visible"] = False
        document |= {hint.member: hint.href for hint in self.hints}
        if self.holder is not None:
            document["holder"] = self.holder.plain
        if self.inflections:
            document["inflections"] = dict(self.inflections)
        if self.tombstone is not None:
            document["tombstone"] = self.tombstone.as_dict()
        return json.dumps(document, indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """Return the error page as plain text. Carets mark the place of the problem."""
        lines = [f"{self.status} {self.phrase}", "", str(IdentifierError(self.given, self.problem))]
        lines += [f"{hint.words.removesuffix(':')}: {hint.href}" for hint in self.hints]
        lines += [f"{inflection}: {description}" for inflection, description in self.inflections.items()]
        text = "\n".join([*lines, ""]).encode("ascii", "backslashreplace")
        return text if self.tombstone is None else text + b"\n" + self.tombstone.as_text()


def explain(
    resolution: Resolution,
    root: str,
    inspector: str | None,
    inflections: Mapping[str, str] = NOTHING,
    *,
    formats: Sequence[Format] = FORMATS,
    exact: bool = True,
    hides_empty_query: bool = False,
    logged: LoggedName | None = None,
    other: Binding | None = None,
    holder: Holder | None = None,
) -> Explanation:
    """Create the error page of a refused request. ``root`` is the beginning of links, and ``inspector`` the address or
    path of an inspector. ``inflections`` has all known ones with their descriptions. ``other`` is the binding of the
    name that replaces a withdrawn one, or that was probably meant. Raises ValueError if the resolution is not a
    refusal.
    """
    problem, binding = resolution.problem, resolution.binding
    if problem is None:
        raise ValueError("this resolution is not a refusal")
    if problem.code != "unknown-inflection":
        inflections = NOTHING
    elif _FORMAT.match(resolution.given[problem.start :]):
        inflections = {form.inflection: f"The description as {form.title}" for form in formats}
    tombstone = None
    if binding is not None and not binding.is_live:
        tombstone = describe(binding, root, inherited=resolution.inherited, logged=logged)
    return Explanation(
        status=resolution.status,
        phrase=HTTPStatus(resolution.status).phrase,
        problem=problem,
        given=resolution.given,
        excerpt=excerpt(resolution.given, problem),
        hints=(*_elsewhere(holder), *_hints(resolution, problem, root, inspector)),
        holder=None if holder is None else holder.name,
        tombstone=tombstone,
        inflections=inflections,
        record=resolution.record,
        exact=exact,
        hides_empty_query=hides_empty_query,
        other_title=describe(other, root).title if other is not None and other.is_live else None,
        has_open_successor=other is None or other.is_hidden or not other.is_reserved,
    )


def excerpt(text: str, problem: Problem) -> Excerpt:
    """Return the part of an identifier around its problem, at most 120 characters on each side.

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


def _is_damaged(resolution: Resolution) -> bool:
    """Return whether the text is probably a damaged copy: it is not valid, or its NAAN has encoded slashes (A-04)."""
    identifier = resolution.identifier
    is_encoded = isinstance(identifier, Ark) and not BASE29_ONLY.fullmatch(identifier.normal_naan)
    return resolution.status == 400 or (resolution.status == 404 and is_encoded)


def _elsewhere(holder: Holder | None) -> Iterator[Hint]:
    if holder is not None:
        yield Hint("elsewhere", HINTS["elsewhere"], holder.address, urlsplit(holder.address).hostname or "")


def _hints(resolution: Resolution, problem: Problem, root: str, inspector: str | None) -> Iterator[Hint]:
    key, given = resolution.key, resolution.given
    if resolution.successor is not None:
        address = successor_address(resolution.successor, root)
        yield Hint("successor", HINTS["successor"], address, resolution.successor)
    if resolution.correction is not None:
        yield Hint("suggestion", HINTS["suggestion"], f"{root}/{resolution.correction}", resolution.correction)
    if problem.code == "unknown-inflection":
        # The query has no meaning here, so most visitors want the item itself.
        core = given.partition("?")[0]
        yield Hint("item", HINTS["item"], f"{root}/{quote(core, safe=targets.AS_IT_IS)}", core)
    if resolution.binding is not None:
        yield Hint("description", HINTS["description"], f"{root}/{key}?info", f"{key}?info")
    if (container := resolution.container) is not None:
        if problem.code == "container-withdrawn":
            info = f"{container}?info"
            yield Hint("container", HINTS["withdrawn"], f"{root}/{info}", info)
        else:
            yield Hint("container", HINTS["container"], f"{root}/{container}", container)
    if resolution.record is not None:
        prefix = resolution.record.prefix
        yield Hint("prefix", "The group of identifiers that it begins with", f"{root}/{prefix}", prefix)
    if len(given) > ECHOED:
        return
    if _is_damaged(resolution) and resolution.correction is None and (corrections := suggestions(given)):
        # Not bound, but valid.
        meant = corrections[0].identifier
        yield Hint("suggestion", HINTS["suggestion"], f"{root}/{quote(meant, safe=targets.AS_IT_IS)}", meant)
    if inspector is not None:
        page = inspector if inspector.startswith("http") else root + inspector
        yield Hint("inspect", HINTS["inspect"], f"{page}/?q={quote(given, safe='')}")
