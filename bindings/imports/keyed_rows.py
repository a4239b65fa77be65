"""Give the rows of a table without a name the recorded name of their key, or a new name below a shoulder. The key is
the text in the column ``resource``, such as an inventory number. A second import finds the names again and mints none
twice. Two rows with one key are refused, unless both have a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..minting import Drawing, pattern_below
from ..names import naming, validation
from ..names.errors import BindingError
from ..names.naming import NamingRules
from ..names.prefixes.prefixes import PrefixRecords
from ..storage.recorded import compose_key, other_spellings, without_signs
from ..storage.spill import Spill
from ..storage.tables.search_indexes import TARGET_CHARACTERS
from ..tables import wrong_text
from ..tables.columns import Row

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction

State = Literal["reserved", "live"]

MAX_KEY = TARGET_CHARACTERS
"""The maximum number of characters of a key, which is that of the index of the resources."""

_BLOCK = 1000
_MOST_NAMED = 3
_FEW_NAMES = 2_000_000
_MOST_FOLDED = 200_000
_MOST_DIGITS = 12


QUESTIONS: Mapping[str, str] = {
    "key-damaged": "the keys are right that a spreadsheet program probably changed",
    "key-similar": "the keys are right that differ from others only in case, spaces or hyphens",
    "key-same": "a key that differs from a recorded one only in case, spaces or hyphens finds its name",
    "key-former": "a key that is a former number finds the name of its thing",
    "key-reused": "a key that is a former number of a thing is now the number of another one",
    "other-thing": "a row with the ARK of another thing gets a name of its own below the shoulder",
}
"""The answers to questions about keys, each with what it means."""

ANSWERS: Mapping[str, Sequence[str]] = {
    "key-damaged": ("key-damaged",),
    "key-similar": ("key-same", "key-similar"),
    "key-former": ("key-former", "key-reused"),
    "other-resource": ("other-thing",),
}
"""The answers that accept a row, by the error of the row."""


class Mint(NamedTuple):
    """The options for rows of a table without a name.

    - ``shoulder``: the NAAN or shoulder, as for :func:`~ararat.bindings.minting.mint`: "ark:12345/k1".
    - ``state``: the state of a new name whose row has no status. A recorded name keeps its state.
    - ``finds``: whether rows are only given recorded names, and a row with another key is refused.
    - ``trusts``: the answers of a person to questions about keys, of :data:`QUESTIONS`.
    """

    shoulder: str
    state: State = "reserved"
    finds: bool = False
    trusts: Sequence[str] = ()


def key_of(row: Row) -> str:
    r"""Return the key of a row, such as an inventory number, in one line, or "".

    >>> key_of(Row(2, {"resource": "INV\n1901/0001"})), key_of(Row(2, {"what": "Vase"}))
    ('INV 1901/0001', '')
    """
    return wrong_text.on_one_line(row.cells.get("resource", "")).strip()


def has_name(row: Row) -> bool:
    """Return whether a row of a table has a name (an ARK or URN) in its column "identifier"."""
    return bool(row.cells.get("identifier", "").strip())


def repeated_keys(rows: Iterable[Row]) -> dict[int, str]:
    """Return why rows that share their key are refused, by line, if one of them has no name. Keys are compared in
    NFC.
    """
    spill = Spill("keys (key TEXT NOT NULL, line INTEGER NOT NULL, named INTEGER NOT NULL)", "the import")
    read = iter(rows)
    try:
        while block := list(islice(read, _BLOCK)):
            keyed = ((compose_key(key), row.line, has_name(row)) for row in block if (key := key_of(row)))
            spill.add("INSERT INTO keys VALUES (?, ?, ?)", keyed)
        query = """
SELECT key, line FROM keys JOIN (SELECT key FROM keys GROUP BY key HAVING count(*) > 1 AND min(named) = 0) USING (key)
ORDER BY key, line"""
        lines: dict[str, list[int]] = {}
        for key, line in spill.rows(query):
            lines.setdefault(key, []).append(line)
    finally:
        spill.close()
    return {line: _repeated_key_message(key, line, several) for key, several in lines.items() for line in several}


_NO_TARGET = Translatable("the row has no target, so its name is reserved, not live")


def _repeated_key_message(key: str, line: int, lines: Sequence[int]) -> str:
    others = [f"{each:,}" for each in lines[: _MOST_NAMED + 1] if each != line][:_MOST_NAMED]
    if (more := len(lines) - 1 - len(others)) > 0:
        others.append(Translatable("%(number)s more", number=more))
    shown = validation.quote(key, 100)
    if len(others) == 1:
        return Translatable("row %(row)s has the key %(key)s too", row=others[0], key=shown)
    return Translatable(
        "the rows %(rows)s and %(last)s have the key %(key)s too",
        rows=", ".join(others[:-1]),
        last=others[-1],
        key=shown,
    )


class KeyedRows:
    """A source of names for the table rows without one, in one transaction that excludes other writers."""

    def __init__(
        self,
        mint: Mint,
        repeated: Mapping[int, str],
        transaction: Transaction,
        naming: NamingRules,
        records: PrefixRecords,
    ) -> None:
        """``repeated`` is the result of :func:`repeated_keys`. Raises like :func:`~ararat.bindings.minting.mint`."""
        self._mint = mint
        self._repeated = repeated
        self._transaction = transaction
        self._pattern = pattern_below(mint.shoulder, records, naming)
        self._drawing = Drawing(transaction, records)
        # The keys of rows that mint, without case, spaces and hyphens.
        self._folded: dict[str, str] = {}
        # The keys of rows with the ARK of another thing, with their first line.
        self._moved: dict[str, int] = {}

    def leave_out(self, earlier: KeyedRows) -> None:
        """Do not mint the names that an ``earlier`` transaction has drawn and not written. They are not remembered if
        almost all names are free.
        """
        self._folded, self._moved = earlier._folded, earlier._moved
        if self._pattern.numbers <= _FEW_NAMES:
            self._drawing.drawn = earlier._drawing.drawn

    def assign_names(self, batch: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows in order with their own, a recorded or a minted name, or a fault. Raises :class:`BindingError`
        (``mint-under-rule``, ``names-exhausted``).
        """
        keys: dict[int, str] = {}
        faults: dict[int, BindingError] = {}
        moved = self._of_other_things(batch) if "other-thing" in self._mint.trusts else frozenset[int]()
        for row in batch:
            if row.line in moved:
                keys[row.line] = key = key_of(row)
                if (first := self._moved.setdefault(compose_key(key), row.line)) != row.line:
                    faults[row.line] = BindingError(
                        "key-twice", _repeated_key_message(key, row.line, [first, row.line])
                    )
            elif row.fault is None and (why := self._repeated.get(row.line)):
                faults[row.line] = BindingError("key-twice", why)
            elif row.fault is None and not has_name(row):
                key = key_of(row)
                if not key:
                    faults[row.line] = BindingError("key-missing")
                elif len(key) > MAX_KEY:
                    message = Translatable(
                        "the key has %(number)s characters; at most %(most)s are allowed", number=len(key), most=MAX_KEY
                    )
                    faults[row.line] = BindingError("resource-text", message)
                else:
                    keys[row.line] = key
        recorded, beginning = self._transaction.recorded, self._pattern.beginning
        # A withdrawn name is the duplicate of a live one, and is found only without it.
        names_by_key = recorded.of_things(keys.values(), beginning, withdrawn=False)
        if missing := {key for key, names in names_by_key.items() if not names}:
            names_by_key |= recorded.of_things(missing, beginning)
        missing = {key for key, names in names_by_key.items() if not names}
        former = recorded.formerly(missing, beginning) if "key-reused" not in self._mint.trusts else {}
        if "key-former" in self._mint.trusts:
            names_by_key |= former
            missing -= former.keys()
        similar = self._similar(missing)
        if "key-same" in self._mint.trusts:
            names_by_key |= {key: names for key, (_, names) in similar.items()}
            missing -= similar.keys()
        untold = self._unreadable([*names_by_key.values(), *former.values(), *(names for _, names in similar.values())])
        for line, key in keys.items():
            if key in missing and key in former:
                message = Translatable(
                    "%(key)s is a former number of %(name)s", key=validation.quote(key, 100), name=min(former[key])
                )
                faults[line] = BindingError("key-former", message if untold.isdisjoint(former[key]) else None)
        asked = {line: key for line, key in keys.items() if key in missing and line not in faults}
        told = {key: other if untold.isdisjoint(names) else None for key, (other, names) in similar.items()}
        faults |= self._questions(asked, told, moved, self._find_stripped(asked.values()))
        new = [line for line, key in keys.items() if line not in faults and not names_by_key.get(key)]
        drawn = dict(zip(new, self._drawing.draw(self._pattern, len(new)), strict=True)) if new else {}
        hidden = self._find_hidden({name for several in names_by_key.values() if len(several) == 1 for name in several})
        for row in batch:
            if fault := faults.get(row.line):
                yield row._replace(fault=fault)
            elif name := drawn.get(row.line):
                cells = self._first({**row.cells, "identifier": name})
                notes = row.notes
                if self._mint.state == "live" and not row.cells.get("status") and cells["status"] == "reserved":
                    notes = (*notes, ("target-empty", _NO_TARGET))
                yield row._replace(cells=cells, minted=True, notes=notes)
            elif key := keys.get(row.line):
                several = sorted(names_by_key[key])
                if len(several) > 1:
                    message = Translatable(
                        "%(first)s and %(second)s have the key %(key)s",
                        first=several[0],
                        second=several[1],
                        key=validation.quote(key, 100),
                    )
                    fault = BindingError("key-ambiguous", message if untold.isdisjoint(several) else None)
                    yield row._replace(fault=fault)
                else:
                    # The key as it is recorded: a name never gets another resource.
                    named_cells = {**row.cells, "identifier": several[0], "resource": names_by_key[key][several[0]]}
                    yield row._replace(cells=self._first(named_cells) if several[0] in hidden else named_cells)
            else:
                yield row

    def _of_other_things(self, batch: Sequence[Row]) -> frozenset[int]:
        """Return the lines of rows whose name is recorded for a thing with other numbers than the row."""
        named: dict[int, str] = {}
        for row in batch:
            if row.fault is None and has_name(row) and 0 < len(key_of(row)) <= MAX_KEY:
                with suppress(BindingError):
                    named[row.line] = naming.key_of(row.cells["identifier"])
        recorded, found = self._transaction.get(sorted(set(named.values()))), set[int]()
        for row in batch:
            before = recorded.get(named.get(row.line, ""))
            if before is None or not before.resource or not self._transaction.actor.may_read(before):
                continue
            numbers, key = before.thing_numbers, key_of(row)
            known = {before.resource, *filter(None, [numbers.current]), *numbers.further, *numbers.former}
            if compose_key(key) not in map(compose_key, known) and not any(
                wrong_text.is_changed_number(each, key) for each in known
            ):
                found.add(row.line)
        return frozenset(found)

    def _similar(self, keys: Collection[str]) -> dict[str, tuple[str, dict[str, str]]]:
        """Return a recorded key that differs only in case, spaces or hyphens, and its names, for some of ``keys``."""
        if self._mint.finds and "key-same" not in self._mint.trusts:
            return {}
        spellings = {key: other_spellings(key) for key in keys}
        wanted = {each for several in spellings.values() for each in several}
        found = self._transaction.recorded.of_things(wanted, self._pattern.beginning, withdrawn=False)
        recorded = {key: next((each for each in spellings[key] if found.get(each)), None) for key in keys}
        return {key: (other, found[other]) for key, other in recorded.items() if other is not None}

    def _find_stripped(self, keys: Collection[str]) -> set[str]:
        """Return those of ``keys`` that lack the zeros at the beginning of a recorded number, as 42 for 00042."""
        padded = {
            key: [key.rjust(digits, "0") for digits in range(len(key) + 1, _MOST_DIGITS + 1)]
            for key in keys
            if key.isascii() and key.isdecimal() and key[0] != "0"
        }
        if not padded or "key-damaged" in self._mint.trusts:
            return set()
        wanted = {each for several in padded.values() for each in several}
        found = self._transaction.recorded.of_things(wanted, self._pattern.beginning, withdrawn=False)
        return {key for key, several in padded.items() if any(found.get(each) for each in several)}

    def _unreadable(self, each_names: Iterable[Collection[str]]) -> set[str]:
        """Return those of the names that the actor must not read. No error has them, or their keys."""
        actor = self._transaction.actor
        if actor.reads_reserved:
            return set()
        recorded = self._transaction.get(sorted({name for names in each_names for name in names}))
        return {key for key, binding in recorded.items() if not actor.may_read(binding)}

    def _questions(
        self,
        keys: Mapping[int, str],
        similar: Mapping[str, str | None],
        moved: Collection[int],
        stripped: Collection[str],
    ) -> dict[int, BindingError]:
        """Return the errors of rows that would mint a name and probably should not, by line: for keys that are
        ``similar`` to recorded ones, ``moved`` from another name, or ``stripped`` of zeros.
        """
        trusts = self._mint.trusts
        faults: dict[int, BindingError] = {}
        for line, key in keys.items():
            if self._mint.finds and line not in moved:
                message = Translatable("no name has the key %(key)s", key=validation.quote(key, 100))
                faults[line] = BindingError("key-unknown", message)
                continue
            folded = without_signs(key)
            before = self._folded.setdefault(folded, key) if len(self._folded) < _MOST_FOLDED else key
            other = similar.get(key, before if before != key else None)
            if (wrong_text.is_damaged_number(key) or key in stripped) and "key-damaged" not in trusts:
                message = Translatable(
                    "the key %(key)s looks like a number that a spreadsheet program changed",
                    key=validation.quote(key, 100),
                )
                faults[line] = BindingError("key-damaged", message)
            elif (key in similar or before != key) and "key-similar" not in trusts:
                message = other and Translatable(
                    "the key %(key)s differs from %(other)s only in case, spaces or hyphens",
                    key=validation.quote(key, 100),
                    other=validation.quote(other, 100),
                )
                faults[line] = BindingError("key-similar", message or None)
        return faults

    def _find_hidden(self, names: Collection[str]) -> set[str]:
        """Return the names that the undo of such an import has hidden. They have neither target nor metadata."""
        if self._mint.state == "reserved" or not names:
            return set()
        bindings = self._transaction.get(list(names)).values()
        return {each.identifier for each in bindings if each.is_hidden and not (each.target or each.metadata)}

    def _first(self, cells: Mapping[str, str]) -> dict[str, str]:
        """Return the cells of a name without values. Without a target it is described, or reserved if the table has
        targets.
        """
        result = dict(cells)
        if not cells.get("status"):
            lacks_target = "target" in cells and not cells["target"] and not cells.get("kind")
            result["status"] = "reserved" if lacks_target else self._mint.state
        if not (cells.get("kind") or cells.get("target")):
            result["kind"] = "described"
        return result
