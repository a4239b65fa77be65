"""Guess which columns of a person's table have which meaning. The score is the weight of the heading for a meaning
(:mod:`.heading_words`), times how well the values fit it (:mod:`.column_values`). The best pairs are taken first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..bindings.names import validation
from ..bindings.names.metadata.numbers import COLUMNS
from ..bindings.tables.columns import Columns
from ..identifiers.text.translatable import Translatable
from . import column_values, heading_words
from .column_values import Values
from .heading_words import SECOND

_LEAST = 0.42
_CLOSE = 0.9
_MEANT = 0.5
_OF_DATABASES = 0.5
_OF_RECORDS = 0.6
_OF_OBJECTS = 0.75
_BY_VALUES = {"identifier": 0.85, "target": 0.5}
"""The weights of a heading that has no meaning, for meanings that the values alone can have."""

_WITH_NAMES = frozenset(
    {"status", "kind", "scope", "passthrough", "redirect", "listed", "reason", "successor", "spelling", "created"}
    | {"changed", "once_public", "hold_until", "hold_reason", "embargo", "test"}
)
"""Columns of the tables of Ararat itself, whose names are ordinary words in other tables."""

_NAMES = "identifier"


class GuessedColumn(NamedTuple):
    """The guess for a column: a column of bindings, or "" for one that is ignored, with a sentence about the reason.
    ``question`` is a sentence if another column can have the same meaning, or "".
    """

    column: str
    why: str = ""
    question: str = ""


class _Candidate(NamedTuple):
    score: float
    place: int
    column: str
    weight: float


def guess(headings: Sequence[str], rows: Sequence[Sequence[str]], above: Sequence[str] = ()) -> list[GuessedColumn]:
    """Return the guess for each column of a table, from its headings and some rows of data. No meaning is guessed
    twice. ``above`` is the first of two rows of headings, from :func:`.headings.upper_headings`.

    >>> [each.column for each in guess(["ARK", "Titel", "Adresse", "dc.title"], [])]
    ['identifier', 'what', 'target', 'dc.title']
    >>> rows = [["https://m.example/1.jpg", "https://m.example/1", "A 1"], ["https://m.example/2.jpg", "", "A 2"]]
    >>> [each.column for each in guess(["Bild", "Permalink", "Signatur"], rows)]
    ['', 'target', 'resource']
    """
    values = column_values.of(len(headings), rows)
    own = {place: found for place, heading in enumerate(headings) if (found := Columns().find(heading))}
    weights = [_weights(heading, above[place] if place < len(above) else "") for place, heading in enumerate(headings)]
    has_names = any(each.number and each.fits(_NAMES) > 0 for each in values)
    is_own = any(column == _NAMES and values[place].fits(_NAMES) for place, column in own.items())
    candidates = sorted(
        _candidates(weights, values, own, is_own=is_own, has_names=has_names),
        key=lambda each: (-each.score, each.place, each.column),
    )
    taken: dict[int, _Candidate] = {}
    for each in candidates:
        is_free = each.place not in taken and all(each.column != one.column for one in taken.values())
        if each.score >= _LEAST and is_free:
            taken[each.place] = each
    return [_guess(place, taken, candidates, headings, values, weights) for place in range(len(headings))]


def _weights(heading: str, above: str) -> dict[str, float]:
    """Return the weights of a heading alone, and of a first row of headings with it."""
    found = dict(heading_words.weights(heading))
    texts = [(f"{above.strip()} {heading}", 0.95)] if above else []
    if above and not above.startswith(" "):
        texts.append((above, 0.9))
    for text, share in texts:
        for column, weight in heading_words.weights(text).items():
            found[column] = max(found.get(column, 0), share * weight)
    return found


def _candidates(
    weights: Sequence[dict[str, float]],
    values: Sequence[Values],
    own: dict[int, str],
    *,
    is_own: bool,
    has_names: bool,
) -> Iterator[_Candidate]:
    for place, (by_heading, found) in enumerate(zip(weights, values, strict=True)):
        column = own.get(place)
        if column in COLUMNS and not is_own:
            column = None  # "Number" is the key of other tables
        if column in _WITH_NAMES:
            if (is_own or has_names) and (fit := found.fits_own(column)):
                yield _Candidate(2 * fit, place, column, 1)
            continue
        # A table of Ararat, or an element by its name.
        is_stated = column and (is_own or (column not in by_heading and heading_words.is_own_element(column)))
        if column and is_stated and (fit := found.fits_own(column)):
            yield _Candidate(1.5 * fit, place, column, 1)
            continue
        for meaning, weight in by_heading.items():
            yield _Candidate(weight * found.fits(meaning, weight, has_names=has_names), place, meaning, weight)
        for meaning, weight in _BY_VALUES.items():
            if found.number and weight > by_heading.get(meaning, 0) and not heading_words.excludes(by_heading, meaning):
                yield _Candidate(weight * found.fits(meaning, 0), place, meaning, 0)


def _guess(
    place: int,
    taken: dict[int, _Candidate],
    candidates: Sequence[_Candidate],
    headings: Sequence[str],
    values: Sequence[Values],
    weights: Sequence[dict[str, float]],
) -> GuessedColumn:
    if chosen := taken.get(place):
        return GuessedColumn(
            chosen.column,
            _why(chosen, values[place]),
            _question(chosen, taken, candidates, headings, values[chosen.place]),
        )
    meant = [column for column, weight in weights[place].items() if weight >= _MEANT]
    for column in meant:
        better = next((each for each in taken.values() if each.column == column), None)
        if better is not None:
            return GuessedColumn(
                "", Translatable('The column "%(heading)s" fits better.', heading=_show_heading(headings, better.place))
            )
        if values[place].number:
            return GuessedColumn("", Translatable("The values do not fit the heading."))
    return GuessedColumn("")


def _why(chosen: _Candidate, values: Values) -> str:
    if chosen.column == _NAMES and values.number:
        return Translatable("The values are ARKs or URNs.")
    if chosen.column == "target" and values.number:
        return Translatable("The values are web addresses, and differ.")
    if not values.number:
        return Translatable("The heading fits. The first rows have no value.")
    if chosen.column == "resource":
        return Translatable("The heading fits, and the values differ.")
    return Translatable("The heading and the values fit.")


def _question(
    chosen: _Candidate,
    taken: dict[int, _Candidate],
    candidates: Sequence[_Candidate],
    headings: Sequence[str],
    values: Values,
) -> str:
    """Return a sentence about another column that fits as well, and that is not another language of this one."""
    if chosen.column == "resource" and _is_of_database(chosen.weight, values):
        return Translatable("It can be a number of the database. Check that it is the number of the object.")
    for each in candidates:
        is_other = each.column == chosen.column and each.place != chosen.place and each.place not in taken
        if is_other and each.score >= max(_LEAST, _CLOSE * chosen.score) and chosen.column not in SECOND:
            if heading_words.same(headings[each.place], headings[chosen.place]):
                continue
            return Translatable(
                'The column "%(heading)s" fits as well. Check which one is right.',
                heading=_show_heading(headings, each.place),
            )
    return ""


def _is_of_database(weight: float, values: Values) -> bool:
    """Return whether a key can be a number of a database or of a row: "ID", "Object ID" with 5011, "No" with 1, 2."""
    return (
        weight <= _OF_DATABASES
        or (weight <= _OF_RECORDS and values.is_count())
        or (weight < _OF_OBJECTS and values.is_running())
    )


def _show_heading(headings: Sequence[str], place: int) -> str:
    return validation.quote(headings[place] or f"{place + 1}")


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]], above: Sequence[str] = ()) -> list[str]:
    """Return only the guessed column of bindings for each heading, "" for an ignored one. The arguments are those of
    :func:`guess`.
    """
    return [each.column for each in guess(headings, rows, above)]
