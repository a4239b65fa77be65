"""Find the names that are near a search without a result: other spellings of a number, old addresses, misspelled words.
Each search reads a fixed number of pages by the indexes of lists, so that it takes no longer in a large database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, product
from time import monotonic
from typing import TYPE_CHECKING

from ...identifiers.text.translatable import Translatable
from ..names.errors import BindingError
from ..names.metadata import folding
from ..names.selection import Page, Selection, select
from ..operations.relocation import Rewriting
from ..storage.store import DatabaseStore

if TYPE_CHECKING:
    from ..collection import Bindings
    from ..names.binding import Binding

MAX_NEAR = 25
"""The maximum number of near names."""

NUMBER = Translatable("No name has this text. These names have the number in another spelling.")
TARGET = Translatable("No name has this address. These names had it before.")
WORD = Translatable("No name has this text. These names have a word that differs in one letter.")

NOTES = (NUMBER, TARGET, WORD)
"""The beginnings of the notes of pages with near names."""

_SECONDS = 0.25
_CANDIDATES = 100
_MOST_READ = 24
_MOST_OPERATIONS = 1000
_MOST_MOVES = 50_000
_SHORTEST_WORD, _LONGEST_WORD = 5, 24
_SHORT_NUMBER = 2


def page(bindings: Bindings, selection: Selection | None, *, cursor: str | None = None, limit: int = 100) -> Page:
    """Return a page as :meth:`.Bindings.list_names`, or one page of near names if a search for words or targets finds
    none. Its note states how these differ.
    """
    found = bindings.list_names(selection, cursor=cursor, limit=limit)
    if cursor is not None or found.names or found.next or found.unreadable or selection is None:
        return found
    for note, names in (
        (TARGET, _with_former_target(bindings, selection)),
        (NUMBER, _with_number(bindings, selection, " ".join(selection.words))),
        (WORD, _with_word(bindings, selection)),
    ):
        near: dict[str, Binding] = {}
        most = min(limit, MAX_NEAR)
        for each in names:
            near.setdefault(each.identifier, each)
            if len(near) > most:
                note = Translatable(
                    "%(note)s Only the first %(number)s are shown. To find the others, search for one more word.",
                    note=note,
                    number=most,
                )
                break
        if near:
            return found._replace(names=[*near.values()][:most], note=note, searched=None)
    return found


def _candidates(bindings: Bindings, selection: Selection, several: Iterable[Sequence[str]]) -> Iterator[Binding]:
    """Yield names with all words of one of some queries. Only the first queries are made."""
    until = monotonic() + _SECONDS
    for words in dict.fromkeys(map(tuple, islice(several, _MOST_READ))):
        if monotonic() > until:
            return
        wanted = replace(selection, words=words, named=None, resource=None, targets=(), host=None)
        yield from bindings.list_names(wanted, limit=_CANDIDATES).names


def tokens(text: str) -> list[str]:
    """Return the runs of letters and of digits in a text, folded, without zeros at the beginning of numbers.

    >>> tokens("OB 2026/0017-a"), tokens("ob2026.17A")
    (['ob', '2026', '17', 'a'], ['ob', '2026', '17', 'a'])
    """
    found: list[str] = []
    for word in folding.fold(text).split():
        for is_number, run in groupby(word, str.isdecimal):
            part = "".join(run)
            found.append((part.lstrip("0") or "0") if is_number else part)
    return found


def _with_number(bindings: Bindings, selection: Selection, text: str) -> Iterator[Binding]:
    wanted = tokens(text)
    if not any(map(str.isdecimal, wanted)) or len(wanted) > 12 or "://" in text:
        return
    choices: list[list[str]] = []
    for place, each in enumerate(wanted):
        if each.isdecimal() and len(each) <= _SHORT_NUMBER:
            before = wanted[place - 1] if place and not wanted[place - 1].isdecimal() else ""
            # A part of a word is found from three letters.
            padded = [f"0{each}", *([f"00{each}"] if len(each) == 1 else [])]
            choices.append([each, *padded, *([f"{before}{each}"] if before else [])])
        else:
            choices.append([each])
    for found in _candidates(bindings, selection, product(*choices)):
        texts = (found.resource or "", *found.numbers.values(), *found.metadata.values())
        if any(_contains(tokens(each), wanted) for each in texts):
            yield found


def _contains(several: Sequence[str], wanted: Sequence[str]) -> bool:
    return any([*several[at : at + len(wanted)]] == [*wanted] for at in range(len(several) - len(wanted) + 1))


def _with_word(bindings: Bindings, selection: Selection) -> Iterator[Binding]:
    for place, word in enumerate(selection.words):
        folded = folding.fold(word)
        if not (folded.isalpha() and _SHORTEST_WORD <= len(folded) <= _LONGEST_WORD):
            continue
        others = [*selection.words[:place], *selection.words[place + 1 :]]
        pieces: list[list[str]] = []
        for cut in range(len(folded)):
            # One edit leaves the letters before and behind it: also an exchange of two letters.
            parts = [part for part, least in ((folded[:cut], 2), (folded[cut + 2 :], 3)) if len(part) >= least]
            if parts and sum(map(len, parts)) >= folding.MIN_PART:
                pieces.append([*others, *parts])
        for found in _candidates(bindings, selection, pieces):
            if any(is_near(folded, each) for each in folding.text_of(found).split()):
                yield found


def is_near(word: str, other: str) -> bool:
    """Return whether two words differ in one letter: one is missing, added or another, or two are exchanged.

    >>> is_near("habour", "harbour"), is_near("harbuor", "harbour"), is_near("barber", "harbour")
    (True, True, False)
    """
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    one, two = word[start:], other[start:]
    exchanged = len(one) == len(two) > 1 and one[1] + one[0] + one[2:] == two
    return exchanged or one[1:] == two or one == two[1:] or one[1:] == two[1:]


def _with_former_target(bindings: Bindings, selection: Selection) -> Iterator[Binding]:
    """Yield the names that had a target before a move, or before one of the last changes of a target."""
    addresses = [each for each in selection.targets if "/" in each.partition("://")[2] or each.startswith("/")]
    if len(selection.words) == 1 and "/" in (text := selection.words[0]):
        addresses += _addresses(text)
    store = bindings.store
    if not addresses or bindings.kind != "database" or not isinstance(store, DatabaseStore):
        return
    # A printed address can have the other scheme.
    addresses = [*dict.fromkeys((*addresses, *map(_other_scheme, addresses)))]
    moves = [
        each
        for each in bindings.list_operations(limit=_MOST_OPERATIONS)
        if each.action == "relocate" and each.undone_by is None and {"from", "to"} <= each.parameters.keys()
    ]
    for address in addresses:
        moved = address
        for each in reversed(moves):
            try:
                moved = Rewriting.of(each.parameters["from"], each.parameters["to"])(moved)
            except BindingError:
                continue
        if moved != address and (targets := _addresses(moved)):
            wanted = replace(selection, words=(), named=None, targets=targets, host=None)
            yield from bindings.list_names(wanted, limit=_CANDIDATES).names
    others = replace(selection, words=(), named=None, targets=(), host=None, resource=None)
    undone = {each.number for each in bindings.list_operations(limit=_MOST_OPERATIONS) if each.undone_by or each.undoes}
    for address in addresses:
        moved = store.moved_from(address, _MOST_MOVES, _CANDIDATES)
        found = store.fetch([key for key, operation in moved if operation not in undone])
        for each in found.values():
            if not str(each.target).startswith(address) and others.includes(each):
                yield each


def _addresses(text: str) -> tuple[str, ...]:
    try:
        return select(target=text).targets
    except BindingError:
        return ()


def _other_scheme(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    return {"http": "https", "https": "http"}.get(scheme, scheme) + separator + rest
