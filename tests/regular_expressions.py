"""Find regular expressions that take more than linear time, without running them.

A pattern is converted to an automaton with one state for each place of a character. Its time is more than linear if a
word can be repeated inside of one run of characters (a loop) and also leads to a second one: the text can be divided
between both at each place, and a text that does not match makes the engine try each. Two adjacent runs that overlap are
the usual case. For a search, the characters that it skips are such a run, too: a search for ``\\s+x`` tries each space
of a long run as the first one. A look-behind or a possessive quantifier can prevent both.

Source: Weideman, van der Merwe, Berglund, Watson: Analyzing Matching Time Behavior of Backtracking Regular Expression
Matchers by Using Ambiguity of NFA, 2016.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SCANS = ("search", "finditer", "findall", "sub", "subn", "split")
METHODS = ("match", "fullmatch", *SCANS)
"""The methods of a pattern. Those of SCANS look for a match at each place."""

MOST_BOUNDED = 256
"""A repetition of at most this number is not a loop: its time is linear in the text, with this factor."""

_parser: Any = getattr(re, "_parser")  # noqa: B009  # the module has no public name since Python 3.11
_c: Any = getattr(re, "_constants")  # noqa: B009

_SAMPLES = "\u00a0\u00e9\u0130\u0660\u2028\u4e00\ud800\U0001f600"
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_REMEMBERED = 6
_SCAN = -1
"""The state of a search that has not found the beginning of a match yet."""


class Growth(NamedTuple):
    """A word that makes a pattern take more than linear time: ``before`` leads to a run, and ``unit`` is repeated."""

    before: str
    unit: str


Before = tuple[int, ...]
"""The characters that can precede: of the last character, of the one before it, and so on. () permits all."""

_BOUNDARY: Before = (-1,)
"""A word boundary: it permits the other kind of characters than the next one."""


class _Edge(NamedTuple):
    to: int
    mask: int  # the next characters
    before: Before
    atomic: frozenset[int]  # the possessive repetitions whose next turn it begins


@dataclass(slots=True)
class _Part:
    """A part of a pattern: whether it can be empty, also without a condition, and the states at its ends."""

    empty: bool = False
    empty_without_condition: bool = False
    first: list[tuple[int, int, Before]] = field(default_factory=list)  # state, next characters, characters before
    last: list[tuple[int, int]] = field(default_factory=list)  # state, next characters that are allowed
    # At the end of the part, about the characters before: each condition has alternatives.
    conditions: list[list[Before]] = field(default_factory=list)
    accepting: set[int] = field(default_factory=set)


class Automaton:
    """The automaton of a pattern, which is used with a ``method``."""

    def __init__(self, pattern: re.Pattern[Any], method: str) -> None:
        self._flags = int(pattern.flags)
        is_text = isinstance(pattern.pattern, str)
        tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        known = {*map(chr, range(128 if is_text else 256)), *(_SAMPLES if is_text else "")}
        self.alphabet = sorted(known | set(_characters(tree)))
        self._all = (1 << len(self.alphabet)) - 1
        self._by_code = {each: self._sorted(is_folded=each) for each in (False, True)}
        self._word = self._of(lambda char: char.isalnum() or char == "_")
        self.labels: list[int] = []
        self.edges: dict[int, list[_Edge]] = {}
        self._inside: list[frozenset[int]] = []  # the atomic parts around each state
        self._atomic: frozenset[int] = frozenset()
        self._number = 0
        self._doubled: list[int] = []
        whole = self._part(tree)
        self.accepting = whole.accepting
        if method == "fullmatch":
            # A run of all characters at the end matches each text.
            self.accepting = {each for each in whole.accepting if self.labels[each] == self._all and self._loops(each)}
        self._scans = method in SCANS
        if self._scans:
            self.edges[_SCAN] = [_Edge(_SCAN, self._all, (), frozenset())]
        self._starts = whole.first
        for to, mask, before in whole.first:
            if self._scans:
                self.edges[_SCAN].append(_Edge(to, mask, before, frozenset()))

    # From the tree to states -----------------------------------------------------------------------------------------

    def _part(self, tree: Iterable[Any]) -> _Part:
        whole = _Part(empty=True, empty_without_condition=True)
        for item in tree:
            whole = self._then(whole, self._item(*item))
        return whole

    def _item(self, operator: Any, value: Any) -> _Part:
        match str(operator):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "RANGE" | "CATEGORY":
                return self._state(self._mask(operator, value))
            case "BRANCH":
                return self._either([self._part(each) for each in value[1]])
            case "SUBPATTERN":
                outside = self._flags
                self._flags = outside & ~value[2] | value[1]
                part = self._part(value[3])
                self._flags = outside
                return part
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeated(*value)
            case "POSSESSIVE_REPEAT":
                return self._possessive(*value)
            case "ATOMIC_GROUP":
                with_number = self._enter()
                part = self._part(value)
                self._atomic = with_number
                return part
            case "ASSERT" | "ASSERT_NOT":
                return self._condition(str(operator) == "ASSERT", *value)
            case "AT":
                return self._place(str(value))
            case "GROUPREF":
                part = self._state(self._all)
                part.empty = True
                return part
            case "GROUPREF_EXISTS":
                parts = [self._part(each) for each in value[1:] if each is not None]
                return self._either([*parts, _Part(True, True)])
            case other:
                raise NotImplementedError(other)

    def _enter(self) -> frozenset[int]:
        outside, self._number = self._atomic, self._number + 1
        self._atomic = outside | {self._number}
        return outside

    def _state(self, mask: int) -> _Part:
        state = len(self.labels)
        self.labels.append(mask)
        self._inside.append(self._atomic)
        self.edges[state] = []
        return _Part(False, False, [(state, mask, ())], [(state, self._all)], [], {state})

    def _then(self, one: _Part, other: _Part) -> _Part:
        first = [
            (to, mask, both) for to, mask, before in other.first for both in self._both(mask, before, one.conditions)
        ]
        self._connect(one.last, first)
        return _Part(
            one.empty and other.empty,
            one.empty_without_condition and other.empty_without_condition,
            [*one.first, *first] if one.empty else one.first,
            [*other.last, *one.last] if other.empty else other.last,
            [*one.conditions, *other.conditions] if other.empty else other.conditions,
            other.accepting | (one.accepting if other.empty_without_condition else set()),
        )

    def _both(self, mask: int, before: Before, conditions: list[list[Before]]) -> list[Before]:
        """Return the characters before a state that all conditions permit, one for each choice of alternatives."""
        found = [before]
        for alternatives in conditions:
            found = [self._joined(mask, each, other) for each in found for other in alternatives]
        return found

    def _joined(self, mask: int, before: Before, other: Before) -> Before:
        if other == _BOUNDARY:
            is_word, is_other = mask & self._word, mask & ~self._word
            other = () if is_word and is_other else (self._all & ~self._word,) if is_word else (self._word,)
        length = max(len(before), len(other))
        padded = [(*some, *[self._all] * (length - len(some))) for some in (before, other)]
        return tuple(first & second for first, second in zip(*padded, strict=True))

    def _loops(self, state: int) -> bool:
        return any(edge.to == state for edge in self.edges[state])

    @staticmethod
    def _either(parts: list[_Part]) -> _Part:
        return _Part(
            any(each.empty for each in parts),
            any(each.empty_without_condition for each in parts),
            [entry for each in parts for entry in each.first],
            [entry for each in parts for entry in each.last],
            _alternatives(parts),
            {state for each in parts for state in each.accepting},
        )

    def _repeated(self, least: int, most: int, tree: Any) -> _Part:
        part = _Part(empty=True, empty_without_condition=True)
        for _ in range(min(least, 2)):
            part = self._then(part, self._part(tree))
        if most == least:
            return part
        more = self._part(tree)
        if most > MOST_BOUNDED:
            self._connect(more.last, more.first, is_loop=True)
        more.empty = more.empty_without_condition = True
        return self._then(part, more)

    def _possessive(self, least: int, most: int, tree: Any) -> _Part:
        outside = self._enter()
        number = self._number
        part = self._part(tree)
        if most > MOST_BOUNDED:
            self._connect(part.last, part.first, is_loop=True, atomic=number)
        self._atomic = outside
        part.empty = part.empty or least == 0
        part.empty_without_condition = part.empty_without_condition or least == 0
        if most > MOST_BOUNDED and len(part.first) == 1 and part.first[0][0] == part.last[0][0]:
            # A run of one class ends at a character that is not in it.
            part.last = [(state, mask & ~self.labels[state]) for state, mask in part.last]
        return part

    def _condition(self, is_positive: bool, direction: int, tree: Any) -> _Part:
        if direction < 0:
            masks = self._behind(tree)
            if is_positive:
                before = tuple(masks)
            else:
                # A longer look-behind that is negative permits each character in another context.
                before = (self._all & ~masks[0],) if len(masks) == 1 == len(list(tree)) else ()
            return _Part(True, False, conditions=[[before]])
        content = self._part(tree)
        return _Part(True, False, content.first)

    def _behind(self, tree: Any) -> list[int]:
        """Return the characters that a look-behind finds, the last one first."""
        masks: list[int] = []
        for operator, value in reversed(list(tree)):
            match str(operator):
                case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                    masks.append(self._mask(operator, value))
                case "MAX_REPEAT" if value[0] == value[1]:
                    masks.extend(self._behind(value[2]) * value[0])
                case _:
                    break
        return masks

    def _place(self, name: str) -> _Part:
        match name:
            case "AT_BEGINNING" if self._flags & re.MULTILINE:
                return _Part(True, False, conditions=[[(self._of(lambda char: char == "\n"),)]])
            case "AT_BEGINNING" | "AT_BEGINNING_STRING":
                return _Part(True, False, conditions=[[(0,)]])
            case "AT_BOUNDARY":
                return _Part(True, False, conditions=[[_BOUNDARY]])
            case _:
                return _Part(True, False)

    def _connect(
        self,
        last: list[tuple[int, int]],
        first: list[tuple[int, int, Before]],
        *,
        is_loop: bool = False,
        atomic: int | None = None,
    ) -> None:
        for state, allowed in last:
            for to, mask, before in first:
                if not (mask := mask & allowed) or (before and not before[0] & self.labels[state]):
                    continue
                known = [each for each in self.edges[state] if each.to == to and each.mask & mask]
                if known and is_loop and atomic is None:
                    self._doubled.append(state)
                if not known:
                    turn = frozenset() if atomic is None else frozenset({atomic})
                    self.edges[state].append(_Edge(to, mask, before, turn))

    # Characters ------------------------------------------------------------------------------------------------------

    def _of(self, is_in: Any) -> int:
        return sum(1 << place for place, char in enumerate(self.alphabet) if is_in(char))

    def _mask(self, operator: Any, value: Any) -> int:
        match str(operator):
            case "ANY":
                return self._all if self._flags & re.DOTALL else self._of(lambda char: char != "\n")
            case "LITERAL":
                return self._between(value, value)
            case "NOT_LITERAL":
                return self._all & ~self._between(value, value)
            case "RANGE":
                return self._between(*value)
            case "CATEGORY":
                category = re.compile(_CATEGORIES[str(value)], re.ASCII if self._flags & re.ASCII else 0)
                return self._of(lambda char: category.match(char))
            case _:
                return self._class(value)

    def _class(self, value: Any) -> int:
        is_negative, mask = False, 0
        for kind, inner in value:
            if str(kind) == "NEGATE":
                is_negative = True
            else:
                mask |= self._mask(kind, inner)
        return self._all & ~mask if is_negative else mask

    def _between(self, first: int, last: int) -> int:
        by_code = self._by_code[bool(self._flags & re.IGNORECASE)]
        mask = 0
        for _, place in by_code[bisect_left(by_code, (first, -1)) : bisect_left(by_code, (last + 1, -1))]:
            mask |= 1 << place
        return mask

    def _sorted(self, *, is_folded: bool) -> list[tuple[int, int]]:
        """Return the places of the characters by code, also by those of the other case if case is not significant."""
        pairs: set[tuple[int, int]] = set()
        for place, char in enumerate(self.alphabet):
            variants = (char, char.lower(), char.upper()) if is_folded else (char,)
            pairs.update((ord(each), place) for each in variants if len(each) == 1)
        return sorted(pairs)

    # The search ------------------------------------------------------------------------------------------------------

    def growth(self) -> Growth | None:
        """Return a word that makes the pattern take more than linear time, or None."""
        for state in self._doubled:
            if state not in self.accepting:
                return Growth(self._way_to(state), self._char(self.labels[state]))
        reach = {state: self._reached(state) for state in self.edges}
        loops = {state: {to for to in reach[state] if state in reach.get(to, ())} for state in self.edges}
        for one, cycle in loops.items():
            for other in reach[one]:
                if other in (one, _SCAN) or other not in loops[other] or one not in cycle:
                    continue
                if other in self.accepting:
                    continue
                if one != _SCAN and self._inside[one] - self._inside[other]:
                    continue
                if word := self._common_word(one, other, loops):
                    return Growth(self._way_to(one), word)
        return None

    def words(self) -> Iterator[Growth]:
        """Yield, for each run in the pattern, a word that leads to it, and one that stays in it."""
        for state in self.edges:
            if state != _SCAN and (word := self._shortest(state)):
                yield Growth(self._way_to(state), word)

    def _shortest(self, state: int) -> str | None:
        """Return the shortest word that leads from a state to itself, or None."""
        seen: dict[int, str] = {}
        waiting: list[tuple[int, str]] = [(state, "")]
        while waiting:
            current, word = waiting.pop(0)
            for edge in self.edges[current]:
                longer = word + self._char(edge.mask)
                if edge.to == state:
                    return longer
                if edge.to not in seen:
                    seen[edge.to] = longer
                    waiting.append((edge.to, longer))
        return None

    def _reached(self, state: int) -> set[int]:
        found: set[int] = set()
        waiting = [state]
        while waiting:
            for edge in self.edges[waiting.pop()]:
                if edge.to not in found:
                    found.add(edge.to)
                    waiting.append(edge.to)
        return found

    def _common_word(self, one: int, other: int, loops: dict[int, set[int]]) -> str | None:
        """Return a word that leads from ``one`` to itself and to ``other``, and from ``other`` to itself, or None."""
        atomic = self._inside[one] if one != _SCAN else frozenset()
        # The word is repeated, so the characters before are those of the second run.
        inside = 0
        for state in loops[other]:
            inside |= self.labels[state]
        start: tuple[tuple[int, int, int], Before] = (one, one, other), (inside,) * _REMEMBERED
        seen = {start: ""}
        waiting = [start]
        while waiting:
            current = waiting.pop(0)
            (a, b, c), before = current
            for next_a in self._steps(a, loops[one], before, atomic):
                for next_c in self._steps(c, loops[other], before, atomic):
                    # A match that ends there is found without another try.
                    if next_c.to in self.accepting or not (both := next_a.mask & next_c.mask):
                        continue
                    for next_b in self._steps(b, None, before, atomic):
                        mask = both & next_b.mask
                        if not mask:
                            continue
                        word = seen[current] + self._char(mask)
                        target = next_a.to, next_b.to, next_c.to
                        if target == (one, other, other):
                            return word
                        # The characters before matter only for a search, and there for its first states.
                        known = (mask, *before[:-1]) if _SCAN in target else before
                        state = target, known
                        if state not in seen:
                            seen[state] = word
                            waiting.append(state)
        return None

    def _steps(self, state: int, allowed: set[int] | None, before: Before, atomic: frozenset[int]) -> Iterator[_Edge]:
        for edge in self.edges[state]:
            if (
                (allowed is None or edge.to in allowed)
                and not edge.atomic & atomic
                and (state != _SCAN or all(some & known for some, known in zip(edge.before, before, strict=False)))
            ):
                yield edge

    def _char(self, mask: int) -> str:
        """Return a character of a mask: a printable one, if there is one."""
        chars = [char for place, char in enumerate(self.alphabet) if mask >> place & 1]
        return min(chars, key=lambda char: (not char.isascii(), not char.isprintable(), not char.isalnum(), char))

    def _way_to(self, state: int) -> str:
        """Return a word with which a match reaches a state."""
        seen: dict[int, str] = {}
        waiting: list[int] = []
        for to, mask, _ in self._starts:
            if to not in seen:
                seen[to] = self._char(mask)
                waiting.append(to)
        while waiting and state not in seen:
            current = waiting.pop(0)
            for edge in self.edges[current]:
                if edge.to not in seen:
                    seen[edge.to] = seen[current] + self._char(edge.mask)
                    waiting.append(edge.to)
        return seen.get(state, "")


def _alternatives(parts: list[_Part]) -> list[list[Before]]:
    """Return the condition that alternatives of conditions are. A condition beside states is not kept."""
    if any(each.first or len(each.conditions) > 1 for each in parts):
        return []
    return [[before for each in parts for before in (each.conditions[0] if each.conditions else [()])]]


def _characters(tree: Any) -> Iterator[str]:
    """Yield the characters at which the classes of a pattern begin and end."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple) and len(item) == 2 and str(item[0]) in ("LITERAL", "NOT_LITERAL"):
            yield from _near(item[1])
        elif isinstance(item, tuple) and len(item) == 2 and str(item[0]) == "RANGE":
            yield from _near(item[1][0])
            yield from _near(item[1][1])
        elif isinstance(item, tuple | list) or hasattr(item, "data"):
            found = list(item)
            # A class of many ranges, such as all hidden characters: some of them are enough.
            waiting.extend(found if len(found) < 100 else found[:50])


def _near(code: int) -> Iterator[str]:
    for each in (code - 1, code, code + 1):
        if 0 <= each <= 0x10FFFF:
            yield chr(each)


def growth(pattern: re.Pattern[Any], method: str) -> Growth | None:
    """Return a word that makes a pattern take more than linear time with a method, or None."""
    return Automaton(pattern, method).growth()
