"""The filters of the list of names, which are in its URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from ....bindings.names import selection
from ....bindings.names.errors import BindingError
from ....bindings.names.selection import Selection, Sort
from .. import dates
from ..forms import FieldProblem
from .search import SCOPES, Scope, Search

Time = Literal["created_since", "created_before", "changed_since", "changed_before"]
TIMES: tuple[Time, ...] = get_args(Time)

_NAAN = re.compile(r"ark:/?[^/]+", re.IGNORECASE)

MAX_TEXT = 400
FIELDS = ("q", "in", "state", "prefix", "resource", "owner", "hold", *TIMES, "sort")
"""The parameters of the URL: the text of the search, where to search, the filters, and the order."""


class Ordering(NamedTuple):
    """The order that a click on a column selects (``sort``), and the ``current`` direction of this column, or None."""

    sort: str
    current: Literal["ascending", "descending"] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NameFilters:
    """The filters of a list of names: the parameters as ``given``, the ``search`` that they mean, and ``errors`` by
    parameter. A wrong parameter does not restrict the list. ``scope`` is the part of the bindings that the user
    selected.
    """

    given: Mapping[str, str]
    search: Search
    scope: Scope | None
    errors: Mapping[str, FieldProblem] = field(default_factory=dict)

    @property
    def has_more(self) -> bool:
        """Whether the list has a filter that the page shows only on request."""
        return any(self.given.get(name) for name in ("resource", "owner", "hold", *TIMES))

    @property
    def restricts(self) -> bool:
        """Whether a filter or search is given, so that the list does not have all names."""
        return bool(self.given.keys() - {"sort"})

    def sorted_by(self, sort: Sort) -> Ordering:
        """Return the order that a click on the heading of the column ``sort`` selects, and its current direction.

        >>> read_filters({"sort": "title"}).sorted_by("title")
        Ordering(sort='-title', current='ascending')
        """
        current = self.given.get("sort")
        if current == sort:
            return Ordering(f"-{sort}", "ascending")
        return Ordering(sort, "descending" if current == f"-{sort}" else None)

    def address(self, **changed: str | None) -> dict[str, str]:
        """Return the parameters of the list with some ``changed``. None removes a parameter.

        >>> read_filters({"q": "map", "state": "live"}).address(state=None)
        {'q': 'map'}
        """
        wanted: dict[str, str | None] = {**self.given, **changed}
        return {name: text for name, text in wanted.items() if text}


def read_filters(arguments: Mapping[str, str]) -> NameFilters:
    """Return the filters in the parameters of a query string, with the problems of wrong ones.

    >>> read_filters({"q": " map ", "state": "live"}).search.filter.status
    'live'
    >>> read_filters({"prefix": "nonsense"}).errors["prefix"].message
    'nonsense is not the beginning of an ARK or URN.'
    """
    # Surrogates cannot be in a URL.
    texts = {name: arguments.get(name, "").encode("utf-8", "replace").decode().strip() for name in FIELDS}
    given = {name: text[:MAX_TEXT] for name, text in texts.items() if text}
    errors: dict[str, FieldProblem] = {}
    values: dict[str, object] = {}
    for name, text in given.items():
        if name in ("q", "in"):
            continue
        try:
            values |= _value(name, text)
        except BindingError as error:
            errors[name] = FieldProblem.of(error)
        except (ValueError, OverflowError):
            errors[name] = dates.not_a_date(text)
    scopes: dict[str, Scope] = {each: each for each in SCOPES}
    search = Search(text=given.get("q", ""), filter=Selection(**values))  # type: ignore[arg-type]
    return NameFilters(given=given, search=search, scope=scopes.get(given.get("in", "")), errors=errors)


def _value(name: str, text: str) -> dict[str, object]:
    match name:
        case "state":
            return {"status": selection.select(state=text).status}
        case "prefix":
            # Users often omit the label "ark:", and the slash after a NAAN.
            naan = f"ark:{text}" if text[:1].isdigit() else text
            return {"prefix": selection.beginning(f"{naan}/" if _NAAN.fullmatch(naan) else naan)}
        case "owner":
            return {"owner": text}
        case "hold":
            return {"hold": selection.select(hold=text).hold}
        case "resource":
            return {"resource": selection.select(resource=text).resource}
        case "sort":
            wanted = selection.select(sort=text)
            return {"sort": wanted.sort, "descending": wanted.descending}
        case _:
            return {name: dates.read_period_end(text) if name.endswith("before") else dates.read_since(text)}
