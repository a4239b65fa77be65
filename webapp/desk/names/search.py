"""The search for names by their beginning, by the beginning of targets, or by words of the metadata (:class:`Scope`).
A list is a chain of selections, so that a page of it reads only ranges of indexes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from ....bindings.names import selection
from ....bindings.names.errors import BindingError
from ....bindings.names.selection import Selection

if TYPE_CHECKING:
    from ....bindings.names.binding import Binding
    from ....bindings.names.selection import Page

Scope = Literal["names", "texts", "targets"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

MIN_WORD = 2
"""The minimum length of a word to search for. A single letter begins too many words."""

_SUFFIX = re.compile(r"[A-Za-z0-9][!-~]*")
# A path, or a URL or host with a part of its path. Stored targets contain no spaces.
_TARGET = re.compile(r"(?:/|https?:/|[a-z0-9][a-z0-9.:-]*+(?:/|$))(?!.* )", re.IGNORECASE)


Read = Callable[[Selection, "str | None", int], "Page"]
"""A function that returns a page of a selection: behind a cursor, with a maximum number of names."""


class SearchPage(NamedTuple):
    """A page of the names of a search. ``next`` is the position of the next page, or None. ``searched`` is the name up
    to which names were compared, if the search goes on. ``unreadable`` are names whose rows cannot be read.
    """

    names: list[Binding]
    next: str | None
    unreadable: list[str]
    note: str | None = None
    searched: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """A search: the ``text`` that the user typed, or "", and the ``filter`` that each selection of names has."""

    text: str = ""
    filter: Selection = field(default_factory=Selection)

    def chain(self, scope: Scope | None, naans: Iterable[str] = ()) -> Sequence[Selection]:
        """Return the selections whose names, one after the other, are the list of a search. It can be empty. A text
        without a NAAN is searched in ``naans``. The scope None selects all names that meet the filter.

        >>> [each.prefix for each in Search(text="ark:/12345/X5-a").chain("names")]
        ['ark:12345/X5a']
        >>> [each.prefix for each in Search(text="x5a").chain("names", ["12345", "67890"])]
        ['ark:12345/x5a', 'ark:67890/x5a']
        >>> [each.targets for each in Search(text="old.ex").chain("targets")]
        [('http://old.ex', 'https://old.ex')]
        """
        try:
            match scope:
                case None:
                    return [self.filter]
                case "names":
                    return self._by_name(naans)
                case "texts":
                    return self._by_words()
                case "targets":
                    return self._by_target()
        except BindingError:
            return []

    def _by_name(self, naans: Iterable[str]) -> Sequence[Selection]:
        # A whole name can have another normal form than a beginning, such as an ISBN.
        begun = [each for each in (_read(self.text), selection.find_key(self.text)) if each]
        if begun[1:] and begun[1].startswith(begun[0]):
            del begun[1]
        if ":" not in self.text and _SUFFIX.fullmatch(self.text):
            begun += filter(None, (_read(f"ark:{naan}/{self.text}") for naan in naans))
        within = self.filter.prefix or ""
        # A prefix of the filter and the beginning of a name are both met by the longer of the two.
        both = [max(each, within, key=len) for each in begun if each.startswith(within) or within.startswith(each)]
        return [replace(self.filter, prefix=each) for each in dict.fromkeys(both)]

    def _by_words(self) -> Sequence[Selection]:
        words = selection.select(text=self.text).words
        if max(map(len, words)) < MIN_WORD:
            return []
        return [replace(self.filter, words=words)]

    def _by_target(self) -> Sequence[Selection]:
        if not _TARGET.match(self.text):
            return []
        # Users type the beginning of a host, so a longer host matches too.
        return [replace(self.filter, targets=selection.select(target=self.text).targets)]


def _read(text: str) -> str:
    """Return the beginning of keys that a text means, or "" if no ARK or URN begins with it."""
    try:
        return selection.beginning(text)
    except BindingError:
        return ""


def page(read: Read, chain: Sequence[Selection], after: str | None, limit: int) -> SearchPage:
    """Return a page of at most ``limit`` names of :meth:`Search.chain`. ``read`` is called with a selection, a cursor
    and a limit. ``after`` is :attr:`SearchPage.next`. Raises :class:`BindingError` (``list-after``) for a wrong one.
    """
    number, inner = _position(after, len(chain))
    found = SearchPage([], None, [])
    for place in range(number, len(chain)):
        if len(found.names) == limit:
            return found._replace(next=f"{place}.")
        some = read(chain[place], inner, limit - len(found.names))
        inner = None
        found.names.extend(some.names)
        found.unreadable.extend(some.unreadable)
        found = found._replace(note=found.note or some.note)
        if some.next is not None:
            return found._replace(next=f"{place}.{some.next}", searched=some.searched)
    return found


def _position(after: str | None, length: int) -> tuple[int, str | None]:
    if after is None:
        return 0, None
    number, dot, inner = after.partition(".")
    if not dot or not number.isdecimal() or len(number) > 3 or int(number) >= length:
        raise BindingError("list-after")
    return int(number), inner or None
