"""Warn of probable mistakes before a name becomes permanent: in the name, its target, its resource and its successor.
These are not refusals: old names of other patterns exist, and a local target can be meant. An import needs some lookups
in indexes for each thousand rows.

>>> import tempfile
>>> from ararat.middleware import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> b.bind("ark:12345/x5gt3f", "https://example.org/1")
'bound'
>>> new = ComparedName("ark:12345/x5tg3f", "https://example.org/1", None)
>>> for warning in warnings_before(b, [new])[0]:
...     print(warning.message)
the name differs by one typing error from the recorded name ark:12345/x5gt3f
the target is already that of ark:12345/x5gt3f
>>> b.close(); folder.cleanup()
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...identifiers import registries
from ...identifiers.ark.grammar import BETANUMERIC
from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import corrections, naming, validation
from ..names.binding import NOTHING, Binding
from ..names.metadata import persistence
from ..names.naming import NameWarning
from ..names.prefixes.patterns import Pattern
from ..names.prefixes.prefixes import PrefixRecords, root_of
from .plausibility import target_warnings
from .shared_values import NewValues, SharedValue, find_shared

if TYPE_CHECKING:
    from ..storage.recorded import RecordedNames
    from ..storage.writing.transaction import Transaction

_NO_NAMES: frozenset[str] = frozenset()
_FEW = 20
"""The number of names up to which all typing errors of each are looked up. In more, exchanged neighbours."""
_MOST_CORRECTED = 50
_SHORTEST = 4
"""The least number of characters of a name that is compared with similar ones: short ones are numbered by hand."""
_MOST_SUCCESSORS = 20


class ComparedName(NamedTuple):
    """A new name with the values that are checked for probable mistakes. ``key`` is "" for a name that will be minted.
    Without ``is_new``, it is a recorded name of which only the target is checked. ``spelling`` is the name as given, or
    "". A minted name is not ``is_typed``: it has no typing error. ``shared`` are the values that no other name should
    have, by default the target and the resource of a new name.
    """

    key: str
    target: str | None
    resource: str | None
    alternates: Mapping[str, str] = NOTHING
    is_new: bool = True
    metadata: Mapping[str, str] = NOTHING
    spelling: str = ""
    is_typed: bool = True
    shared: NewValues | None = None

    @classmethod
    def of(
        cls,
        binding: Binding,
        before: Binding | None = None,
        *,
        is_new: bool = True,
        is_typed: bool = True,
        spelling: str | None = None,
    ) -> ComparedName:
        """Return the values of a binding that are checked. ``spelling`` is by default that of the binding."""
        values = binding.identifier, binding.target, binding.resource, binding.alternates
        spelling = binding.spelling if spelling is None else spelling
        shared = NewValues.of(before, binding, reserved=is_new)
        if shared is not None and shared.title and binding.status == "reserved" and binding.embargo is None:
            shared = shared._replace(title="")  # the name can still be deleted
        elif shared is not None and not (is_new or shared.numbers or shared.target or shared.title):
            shared = None
        return cls(*values, is_new, binding.metadata, spelling, is_typed, shared)

    @classmethod
    def of_change(cls, before: Binding | None, after: Binding) -> ComparedName | None:
        """Return the values of a recorded name that other names must not have after a change, or None without any.

        ``before`` and ``after`` are its bindings.
        """
        shared = NewValues.of(before, after)
        if shared is None or not (shared.numbers or shared.target or shared.title):
            return None
        return cls(after.identifier, None, after.resource, is_new=False, shared=shared)


class TypingErrors(NamedTuple):
    """The probable typing errors of several new names: the candidates for each by its check character (``right``) and
    by similarity, and those of them that are ``recorded``, or are one of these names.
    """

    patterns: Sequence[Pattern]
    right: Mapping[str, list[str]]
    similar: Mapping[str, list[str]]
    recorded: Collection[str]

    @classmethod
    def of(cls, recorded: RecordedNames, patterns: Sequence[Pattern], names: Iterable[str]) -> TypingErrors:
        """Find those of the ARKs and NBNs of ``names``."""
        keys = [key for key in names if key.startswith(("ark:", "urn:nbn:"))]
        right: dict[str, list[str]] = {}
        compared: list[str] = []
        for key in keys:
            is_urn = key.startswith("urn:")
            if (patterns or is_urn) and corrections.is_mistyped(key, patterns):
                right[key] = corrections.corrections(key, patterns) if len(right) < _MOST_CORRECTED else []
            elif not is_urn and not (patterns and corrections.has_check_character(key, patterns)):
                compared.append(key)
        if len(keys) > _FEW:
            numbered = _numbered_apart(compared, recorded, keys)
            similar = {key: _transpositions(key) for key in compared if key.rstrip(_DIGITS) not in numbered}
        else:
            branches = _branches(compared, recorded, keys)
            similar = {key: [*_transpositions(key), *_similar(key, places)] for key, places in branches.items()}
        candidates = {other for others in (*right.values(), *similar.values()) for other in others}
        found = recorded.of(candidates) | candidates.intersection(keys) if candidates else _NO_NAMES
        return cls(patterns, right, similar, found)

    def concerns(self, key: str) -> bool:
        """Return whether a name is probably mistyped."""
        return key in self.right or any(each in self.recorded and each != key for each in self.similar.get(key, ()))


def warnings_before(bindings: Bindings, names: Sequence[ComparedName]) -> list[list[NameWarning]]:
    """Return the warnings of :func:`warnings_about` for each name before it is recorded, in order. They are empty for
    a table file.
    """
    recorded = bindings.store.recorded
    if recorded is None:
        return [[] for _ in names]
    if not any(each.is_new or each.shared for each in names):
        return [_of_values(each) for each in names]
    return warnings_about(recorded, *bindings.source.records_and_patterns(), names, bindings.store.fetch)


def warnings_inside(
    transaction: Transaction,
    names: Sequence[ComparedName],
    recorded: RecordedNames | None = None,
    fetch: Callable[[list[str]], Mapping[str, Binding]] | None = None,
    errors: TypingErrors | None = None,
) -> list[list[NameWarning]]:
    """Return the warnings of :func:`warnings_about` for each name that a transaction records. ``recorded`` looks names
    up, and ``fetch`` returns their bindings, by default those of the database. ``errors`` are those of these and other
    names. For an actor who cannot read reserved names, there are none about other names.
    """
    if not transaction.actor.reads_reserved or not any(each.is_new or each.shared for each in names):
        # A warning can name a reserved name.
        return [_of_values(each) for each in names]
    records = transaction.prefixes()
    patterns = [*transaction.patterns(), *records.patterns] if errors is None else []
    recorded = recorded or transaction.recorded
    return warnings_about(recorded, records, patterns, names, fetch or transaction.look_up, errors)


def note_warnings(transaction: Transaction, *, shared: bool = True) -> None:
    """Add the warnings of :func:`warnings_about`, and for a withdrawn name of :func:`successor_warnings`, to the
    results of a transaction, which are a list of :class:`.ChangeResult` (:attr:`.Actor.at_end`). Without ``shared``, a
    recorded name has none about other names, because a person was asked about them.
    """
    results: Any = transaction.result
    compared = [
        ComparedName.of(each.after, each.before, is_new=each.is_new, is_typed=not each.is_minted) for each in results
    ]
    if not shared:
        compared = [each if each.is_new else each._replace(shared=None) for each in compared]
    for number, warnings in enumerate(warnings_inside(transaction, compared)):
        after = results[number].after
        if after.status == "withdrawn":
            key, successor = after.identifier, after.successor
            warnings = successor_warnings_inside(transaction, key, successor, transaction.look_up)
        results[number] = results[number]._replace(warnings=tuple(warnings))


def warnings_about(
    recorded: RecordedNames,
    records: PrefixRecords,
    patterns: Sequence[Pattern],
    names: Sequence[ComparedName],
    fetch: Callable[[list[str]], Mapping[str, Binding]],
    errors: TypingErrors | None = None,
) -> list[list[NameWarning]]:
    """Return the warnings about probable mistakes in new names, one list for each name. The names can be recorded
    already. ``errors`` are by default those of these names.

    - ``check-character``: the check character of the name is wrong.
    - ``naan-unrecorded``, ``nid-unrecorded``, ``shoulder-unrecorded``: prefixes have records, and none of them fits.
    - ``name-similar``: the name differs by one typing error from a recorded name.
    - ``name-case``: the name is a URN, and differs from a recorded name in upper and lower case only.
    - ``resource-shared``, ``number-shared``, ``target-shared``, ``title-shared``: another name has the same value.
    - ``persistence-term``: a statement is not in the vocabulary (:mod:`~ararat.bindings.names.metadata.persistence`).
    - The codes of :func:`~ararat.bindings.names.naming.warnings_about` and :func:`~.plausibility.target_warnings`.
    """
    new = [each for each in names if each.is_new]
    errors = errors or TypingErrors.of(recorded, patterns, [each.key for each in new if each.is_typed])
    urns = [each.key for each in new if each.key.startswith("urn:")]
    cases = _in_other_case(recorded, urns) if urns else {}
    shared = find_shared(
        recorded,
        fetch,
        (
            each.shared or NewValues(each.key, (each.resource,) if each.resource else (), each.target)
            if each.is_new or each.shared
            else None
            for each in names
        ),
        keys_only=True,
    )
    result: list[list[NameWarning]] = []
    is_name_compared = bool(errors.recorded or records.prefixes or errors.right)
    for place, each in enumerate(names):
        warnings: list[NameWarning] = []
        if each.is_new:
            # Most rows of a large table have such a name.
            if each.key and _UNMARKED.fullmatch(each.spelling or each.key) is None:
                warnings += naming.warnings_about(each.spelling or each.key)
            if cases and (others := cases.get(each.key.lower(), _NO_NAMES) - {each.key}):
                warnings.append(NameWarning("name-case", naming.why_similar_in_case(min(others))))
            # A name that will be minted cannot be mistyped.
            if is_name_compared and each.key:
                warnings += _of_name(each.key, records, errors)
        if shared and place in shared:
            warnings += _of_shared(each, shared[place])
        result.append(warnings + _of_values(each))
    return result


def marked(spellings: Sequence[str]) -> list[int]:
    """Return the places of names with a character of which :func:`.naming.warnings_about` can warn. None has a line
    feed.
    """
    if _UNMARKED_LINES.fullmatch("\n".join(spellings)):
        return []
    return [place for place, each in enumerate(spellings) if _UNMARKED.fullmatch(each) is None]


def _in_other_case(recorded: RecordedNames, urns: Sequence[str]) -> dict[str, set[str]]:
    """Return the recorded names and those of the list by lower case, for URNs that differ in case only."""
    names = recorded.in_other_case(urns)
    for urn in urns:
        names.setdefault(urn.lower(), set()).add(urn)
    return names


def _of_values(each: ComparedName) -> list[NameWarning]:
    warnings = target_warnings(each.target)
    if not (each.alternates or each.metadata):
        return warnings
    for target in each.alternates.values():
        warnings += [warning for warning in target_warnings(target) if warning not in warnings]
    return [*warnings, *persistence.warnings_about(each.metadata)]


def changed_value_warnings(before: Binding | None, after: Binding) -> list[NameWarning]:
    """Return the warnings about the new targets, alternates and persistence statements that a change gives a name."""
    old = {before.target, *before.alternates.values()} if before else set()
    new = dict.fromkeys(each for each in (after.target, *after.alternates.values()) if each not in old)
    warnings = list(dict.fromkeys(warning for target in new for warning in target_warnings(target)))
    return [*warnings, *persistence.warnings_about(after.metadata, before.metadata if before else NOTHING)]


def successor_warnings(bindings: Bindings, key: str, successor: str | None) -> list[NameWarning]:
    """Return the warnings about the successor of a withdrawn name: ``successor-unknown`` if it is not recorded, and its
    NAAN or shoulder has names here; ``successor-circle`` if its own successors lead back to the name.
    """
    return warnings_of_successor(bindings.store.fetch, lambda: PrefixRecords(bindings.store.prefixes()), key, successor)


def successor_warnings_inside(
    transaction: Transaction, key: str, successor: str | None, fetch: Callable[[list[str]], Mapping[str, Binding]]
) -> list[NameWarning]:
    """Return the warnings of :func:`successor_warnings` in a transaction, with ``fetch`` for bindings. There are
    none for an actor without the right to read, because a warning shows which names are reserved.
    """
    if not transaction.actor.reads_reserved:
        return []
    return warnings_of_successor(fetch, transaction.prefixes, key, successor)


def warnings_of_successor(
    fetch: Callable[[list[str]], Mapping[str, Binding]],
    records: Callable[[], PrefixRecords],
    key: str,
    successor: str | None,
) -> list[NameWarning]:
    """Return the warnings of :func:`successor_warnings`, with functions that read bindings and prefix records in a
    transaction.
    """
    if successor is None or not successor.startswith(("ark:", "urn:")):
        return []
    if successor not in fetch([successor]):
        own = f"{key.partition('/')[0]}/" if key.startswith("ark:") else f"{key.rpartition(':')[0]}:"
        is_own = successor.startswith(own) or any(records().records_of(successor))
        message = Translatable(
            "the successor %(successor)s is not recorded", successor=validation.quote(successor, 100)
        )
        return [NameWarning("successor-unknown", message)] if is_own else []
    passed = [key]
    following: str | None = successor
    while following and following not in passed and len(passed) <= _MOST_SUCCESSORS:
        passed.append(following)
        binding = fetch([following]).get(following)
        following = binding.successor if binding is not None and binding.is_withdrawn else None
    if following != key:
        return []
    message = Translatable(
        "the successor %(successor)s is withdrawn, and its successors lead back to this name",
        successor=validation.quote(successor, 100),
    )
    return [NameWarning("successor-circle", message)]


def _numbered_apart(keys: Iterable[str], recorded: RecordedNames, others: Collection[str]) -> set[str]:
    """Return the beginnings of numbered names, such as ark:12345/x17, from which no name differs by exchanged
    neighbours. A name that does begins with the exchanged letters, or with a digit at the place of the last letter.
    """
    ranges: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for beginning in {key.rstrip(_DIGITS) for key in keys}:
        start = beginning.find("/") + 1
        letters = beginning[start:]
        if not (letters.isalpha() and letters.isascii()):
            continue
        for place in range(len(letters) - 1):
            begun = f"{beginning[: start + place]}{letters[place + 1]}{letters[place]}"
            if begun != beginning[: start + place + 2]:
                ranges[beginning].append((begun, begun + _AFTER_ALL))
        ranges[beginning].append((f"{beginning[:-1]}0", f"{beginning[:-1]}{_AFTER_DIGITS}"))
    if not ranges or len(ranges) > _MOST_KINDS:
        return set()
    following = recorded.following([first for several in ranges.values() for first, _ in several])
    ordered = sorted(others)

    def is_used(first: str, end: str) -> bool:
        return following.get(first, end) < end or bisect_left(ordered, first) < bisect_left(ordered, end)

    return {beginning for beginning, several in ranges.items() if not any(is_used(*each) for each in several)}


def _transpositions(key: str) -> list[str]:
    """Return the names that differ from an ARK by two exchanged neighbours, of which one is a letter."""
    start = key.find("/") + 1
    name = _COMPARED.match(key, start)
    if name is None:
        return []
    names: list[str] = []
    end, last = name.end() - 1, start - 1
    for letter in _LETTER.finditer(key, start, name.end()):
        after = letter.start()
        for place in (after - 1, after):
            if last < place < end:
                last = place
                if key[place] != key[place + 1]:
                    names.append(f"{key[:place]}{key[place + 1]}{key[place]}{key[place + 2 :]}")
    return names


def _similar(key: str, branches: Collection[int]) -> Iterator[str]:
    """Yield the names that differ from an ARK by one character. Numbered names, which differ in digits, are left out,
    and most names that first differ at another place than ``branches``.
    """
    naan, _, rest = key.partition("/")
    if (compared := _COMPARED.match(rest)) is None:
        return
    name, end = compared[0], rest[compared.end() :]
    for place, char in enumerate(name):
        # One character less or more of several equal ones is seen only behind the last of them.
        last = place
        while name[last + 1 : last + 2] == char:
            last += 1
        if last in branches and not char.isdigit():
            yield f"{naan}/{name[:place]}{name[place + 1 :]}{end}"
        if place not in branches and last + 1 not in branches:
            continue
        for other in _LETTERS_AND_DIGITS:
            if other != char and not (other.isdigit() and char.isdigit()):
                yield f"{naan}/{name[:place]}{other}{name[place + 1 :]}{end}"
            if not other.isdigit():
                yield f"{naan}/{name[:place]}{other}{name[place:]}{end}"


def _branches(keys: Iterable[str], recorded: RecordedNames, others: Collection[str]) -> dict[str, set[int]]:
    """Return the places of each name at which another name goes on with another character. For a digit, and at the end,
    a digit does not count. Names without such a place have no similar name.
    """
    ranges: list[tuple[str, int, str, str]] = []
    for key in keys:
        start = key.find("/") + 1
        if (compared := _COMPARED.match(key, start)) is None:
            continue
        for end in range(start, compared.end() + 1):
            begun, char = key[:end], key[end : min(end + 1, compared.end())]
            if not char or char.isdigit():
                ranges.append((key, end - start, begun + _AFTER_DIGITS, begun + _AFTER_ALL))
            else:
                ranges.append((key, end - start, begun, begun + char))
                ranges.append((key, end - start, begun + chr(ord(char) + 1), begun + _AFTER_ALL))
    following = recorded.following([first for _, _, first, _ in ranges]) if ranges else {}
    branches: defaultdict[str, set[int]] = defaultdict(set)
    for key, place, first, end in ranges:
        if following.get(first, end) < end or any(first <= other < end for other in others):
            branches[key].add(place)
    return branches


_UNMARKED = re.compile("ark:/?[0-9A-Za-z/]+")
"""A name without a character of which :func:`.naming.warnings_about` warns."""
_UNMARKED_LINES = re.compile(f"{_UNMARKED.pattern}(?:\n{_UNMARKED.pattern})*+")
_DIGITS = "0123456789"
_MOST_KINDS = 20
"""The number of kinds of numbered names, such as ark:12345/x…, up to which they are looked for."""
_AFTER_DIGITS, _AFTER_ALL = ":", "\x7f"
"""The character after all digits, and the one after all characters of names."""
_COMPARED = re.compile(f"[0-9A-Za-z]{{{_SHORTEST},{corrections.MAX_LENGTH}}}(?![^/.])")
_LETTER = re.compile("[A-Za-z]")
_LETTERS_AND_DIGITS = "".join(dict.fromkeys(f"{BETANUMERIC}abcdefghijklmnopqrstuvwxyz"))


def _of_name(key: str, records: PrefixRecords, errors: TypingErrors) -> Iterator[NameWarning]:
    recorded = errors.recorded
    if other := next((each for each in errors.right.get(key, ()) if each in recorded and each != key), None):
        message = Translatable(
            "the check character of the name is wrong: %(other)s is recorded", other=validation.quote(other, 100)
        )
        yield NameWarning("check-character", message)
    elif key in errors.right and (expected := corrections.expected_character(key, errors.patterns)):
        yield NameWarning("check-character", corrections.why_mistyped(expected))
    elif other := next((each for each in errors.similar.get(key, ()) if each in recorded and each != key), None):
        message = Translatable(
            "the name differs by one typing error from the recorded name %(other)s", other=validation.quote(other, 100)
        )
        yield NameWarning("name-similar", message)
    if records.prefixes and (missing := records.missing(key)):
        is_root = missing == root_of(key)
        is_ark = key.startswith("ark:")
        code = "shoulder-unrecorded" if not is_root else "naan-unrecorded" if is_ark else "nid-unrecorded"
        yield NameWarning(code, _no_record(missing[4:-1] if is_root else None, is_ark=is_ark))


def _no_record(root: str | None, *, is_ark: bool) -> Translatable:
    """Return the warning about a name whose prefix has no record. ``root`` is its NAAN or URN namespace, or None."""
    if root is None and is_ark:
        return Translatable("there is no record of the shoulder of the name here: check it for typing errors")
    if root is None:
        return Translatable("there is no record of the beginning of the name here: check it for typing errors")
    if _is_registered(root):
        if is_ark:
            return Translatable(
                "there is no record of the NAAN %(naan)s here: check that it is the right one", naan=root
            )
        return Translatable(
            "there is no record of the URN namespace %(namespace)s here: check that it is the right one", namespace=root
        )
    if is_ark:
        return Translatable("there is no record of the NAAN %(naan)s here: check it for typing errors", naan=root)
    return Translatable(
        "there is no record of the URN namespace %(namespace)s here: check it for typing errors", namespace=root
    )


def _is_registered(root: str) -> bool:
    """Return whether the registries know a NAAN or a URN namespace, so that it is not a typing error of its own."""
    return registries.authority(root) is not None or registries.namespace(root) is not None


def _of_shared(each: ComparedName, shared: Sequence[SharedValue]) -> Iterator[NameWarning]:
    """Yield the warnings about values that another name has. One that will be minted has no name to report."""
    for field, text, named in shared:
        if not named.key:
            continue
        other = validation.quote(named.key, 100)
        if field == "target":
            yield NameWarning("target-shared", Translatable("the target is already that of %(others)s", others=other))
        elif field == "title":
            message = Translatable("the title is already that of %(others)s", others=other)
            yield NameWarning("title-shared", message)
        elif text == each.resource:
            message = Translatable("the resource is already that of %(others)s", others=other)
            yield NameWarning("resource-shared", message)
        else:
            shown = validation.quote(text, 100)
            message = Translatable("the number %(number)s is already that of %(others)s", number=shown, others=other)
            yield NameWarning("number-shared", message)
