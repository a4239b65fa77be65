"""Compare two identifiers: whether they are equivalent, why, and where their normal forms differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...identifiers import Ark, Report, Urn, equivalence, equivalent, examine, parse
from ...identifiers.ark import kunze
from ...identifiers.report import Limits
from ...identifiers.suggestions import suggestions
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable, join_texts, list_items
from ...identifiers.urn import parser as urn
from ...identifiers.urn.grammar import RFC8141
from . import inspection

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings
    from .verdict import IdentifierVerdict

Verdict = Literal["equivalent", "different", "undecided", "unreadable"]

_PARTS = {
    "label": Translatable("scheme"),
    "naan": "NAAN",
    "name": Translatable.in_context("part of an identifier", "Name"),
    "nid": Translatable("namespace identifier"),
    "nss": Translatable("namespace-specific string"),
}

_MAX_NAMED = 120


class Suggested(NamedTuple):
    """Two texts, each in its suggested spelling if it has one, and whether these are equivalent."""

    a: str
    b: str
    equivalent: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of :func:`compare`. ``sentence`` is the reason, and this and the ``notes`` are in printable ASCII.

    - ``verdict``: "equivalent", "different", "undecided" if the rule of the URN namespace is not known, or "unreadable"
      if one of the texts is not a valid identifier.
    - ``part``, ``difference``: the first part ("Name") and the index of the first code point in which they differ.
    - ``kunze``: whether the texts are equivalent by draft-kunze-ark; None if one of them is not an ARK there.
    - ``suggested``: the texts with their suggested spellings, and whether these are equivalent; None without one.
    - ``notes``: a different result of draft-kunze-ark, and the result with the suggested spellings.
    """

    a: Report
    b: Report
    verdict: Verdict
    sentence: str
    part: str | None = None
    difference: int | None = None
    kunze: bool | None = None
    suggested: Suggested | None = None
    notes: tuple[str, ...] = ()

    def verdicts(self, bindings: Bindings | None) -> list[IdentifierVerdict]:
        """Return the verdicts on both identifiers, with what the store knows (:func:`.inspection.verdicts`)."""
        return inspection.verdicts((self.a, self.b), bindings)

    def as_dict(self, verdicts: Sequence[IdentifierVerdict]) -> dict[str, Any]:
        """Return the comparison for JSON: ``a`` and ``b`` are reports with verdicts; ``equivalent`` can be null."""
        first, second = verdicts
        return {
            "verdict": self.verdict,
            "equivalent": None if self.verdict == "undecided" else self.verdict == "equivalent",
            "sentence": self.sentence,
            "part": self.part,
            "difference": self.difference,
            "kunze": None if self.kunze is None else {"revision": kunze.REVISION, "equivalent": self.kunze},
            "suggested": self.suggested and self.suggested._asdict(),
            "notes": list(self.notes),
            "a": self.a.as_dict() | {"verdict": first.as_dict()},
            "b": self.b.as_dict() | {"verdict": second.as_dict()},
        }


def compare(a: str, b: str, *, brief: bool = False, policies: Sequence[Profile] = ()) -> Comparison:
    """Compare two identifiers by their normal forms, and return the verdict with both reports. Any text is accepted.

    Two identifiers are equivalent if their normal forms have equal code points, or by the rule of their URN namespace.
    White space counts. In a URL that contains an ARK, only the ARK is compared (ARK draft, section 6; URN draft,
    section 5; ARK-081, N-06, U-02). ``brief`` makes reports with one problem at most. ``policies`` are the IRI policies
    of the site.

    >>> compare("ark:/12345/x6-np1", "https://n2t.net/ark:12345/x6np1").verdict
    'equivalent'
    >>> found = compare("ark:12345/x6", "ark:12345/x7")
    >>> found.verdict, found.part, found.difference
    ('different', 'Name', 11)
    >>> for note in compare("ark:12345/a/", "ark:12345/a").notes:
    ...     print(note)
    By draft-kunze-ark, revision 43, they are equivalent.
    With the suggested spelling ark:12345/a they are equivalent.
    """
    found = _compare(a, b, brief=brief, policies=policies)
    by_kunze, suggested = _by_kunze(a, b), _with_suggestions(found)
    notes = (*_kunze_notes(found, by_kunze), *_suggested_notes(found, suggested))
    whether = None if by_kunze is None or None in by_kunze else by_kunze[0] == by_kunze[1]
    return replace(found, kunze=whether, suggested=suggested, notes=notes)


def _compare(a: str, b: str, *, brief: bool, policies: Sequence[Profile]) -> Comparison:
    limits = Limits(problems=1) if brief else Limits()
    first, second = (examine(text, limits=limits, brief=brief, policies=policies) for text in (a, b))
    if first.normal_form is None or second.normal_form is None:
        return Comparison(first, second, "unreadable", _unreadable(first, second))
    if first.normal_form == second.normal_form:
        return Comparison(first, second, "equivalent", _equivalent(first, second))
    if equivalent(a, b):
        rule = equivalence.rule_sentence(urn.parse(first.normal_form))
        why = Translatable("Equivalent by the rule of the namespace: %(rule)s", rule=rule)
        return Comparison(first, second, "equivalent", why)
    place = _first_difference(first.normal_form, second.normal_form)
    part = _part(first.normal_form, second.normal_form, place)
    if unknown := _unknown_rule(first.normal_form, second.normal_form):
        return Comparison(first, second, "undecided", unknown, part, place)
    return Comparison(first, second, "different", _different(first, second, part), part, place)


def _unknown_rule(first: str, second: str) -> str | None:
    """Return why it is not known whether two URNs are equivalent, or None if it is known."""
    a, b = parse(first), parse(second)
    if not isinstance(a, Urn) or not isinstance(b, Urn) or a.nid != b.nid or a.assigned_name == b.assigned_name:
        return None
    return equivalence.unknown_rule(a.nid)


def _by_kunze(a: str, b: str) -> tuple[str | None, str | None] | None:
    """Return the normal forms by draft-kunze-ark, each None if the text is not an ARK there; None for other schemes."""
    first, second = kunze.compare(a), kunze.compare(b)
    return None if first is None or second is None else (first.normal_form, second.normal_form)


def _kunze_notes(found: Comparison, forms: tuple[str | None, str | None] | None) -> Iterator[str]:
    if forms is None:
        return
    revision = str(kunze.REVISION)
    if None not in forms:
        equal = forms[0] == forms[1]
        if equal and found.verdict != "equivalent":
            yield Translatable("By draft-kunze-ark, revision %(revision)s, they are equivalent.", revision=revision)
        elif not equal and found.verdict == "equivalent":
            yield Translatable("By draft-kunze-ark, revision %(revision)s, they are different.", revision=revision)
    elif found.verdict == "equivalent" and forms == (None, None):
        yield Translatable("By draft-kunze-ark, revision %(revision)s, neither text is an ARK.", revision=revision)
    elif found.verdict == "equivalent" and forms[0]:
        yield Translatable(
            "By draft-kunze-ark, revision %(revision)s, the second text is not an ARK.", revision=revision
        )
    elif found.verdict == "equivalent":
        yield Translatable(
            "By draft-kunze-ark, revision %(revision)s, the first text is not an ARK.", revision=revision
        )


def _with_suggestions(found: Comparison) -> Suggested | None:
    texts = [(report.input, next(iter(suggestions(report.input)), None)) for report in (found.a, found.b)]
    if all(meant is None for _, meant in texts):
        return None
    a, b = (given if meant is None else meant.identifier for given, meant in texts)
    valid = [report.valid or meant is not None for report, (_, meant) in zip((found.a, found.b), texts, strict=True)]
    return Suggested(a, b, equivalent(a, b)) if all(valid) else None


def _suggested_notes(found: Comparison, suggested: Suggested | None) -> Iterator[str]:
    if suggested is None or found.verdict in (("equivalent",) if suggested.equivalent else ("different", "undecided")):
        return
    pairs = ((suggested.a, found.a.input), (suggested.b, found.b.input))
    changed = [display.percent(meant) for meant, given in pairs if meant != given]
    named = list_items([each if len(each) <= _MAX_NAMED else f"{each[:_MAX_NAMED]}..." for each in changed])
    if suggested.equivalent:
        yield Translatable.counted(
            "With the suggested spelling %(spellings)s they are equivalent.",
            "With the suggested spellings %(spellings)s they are equivalent.",
            len(changed),
            spellings=named,
        )
    else:
        yield Translatable.counted(
            "With the suggested spelling %(spellings)s they are different.",
            "With the suggested spellings %(spellings)s they are different.",
            len(changed),
            spellings=named,
        )


def _unreadable(first: Report, second: Report) -> str:
    if first.normal_form is None and second.normal_form is None:
        return Translatable("Neither text is a valid ARK or URN, so they cannot be compared.")
    if first.normal_form is None:
        return Translatable("The first text is not a valid ARK or URN, so they cannot be compared.")
    return Translatable("The second text is not a valid ARK or URN, so they cannot be compared.")


def _equivalent(first: Report, second: Report) -> str:
    if first.input == second.input:
        return Translatable("Equivalent: both texts are the same.")
    why = Translatable("Equivalent: the normal forms are equal.")
    if "embedded" in (first.form, second.form):
        return join_texts(why, Translatable("In a URL that contains an ARK, only the ARK is compared."))
    return why


def _different(first: Report, second: Report, part: str) -> str:
    why, more = Translatable("Not equivalent: the normal forms differ in the %(part)s.", part=part), ""
    a, b = (parse(report.normal_form or "") for report in (first, second))
    if isinstance(a, Urn) and isinstance(b, Urn) and equivalence.equivalent(a, b, RFC8141):
        more = Translatable("They are equivalent by RFC 8141, which ignores query and fragment.")
    elif (first.normal_form or "").lower() == (second.normal_form or "").lower():
        more = Translatable("They differ only in upper and lower case, and the case matters.")
    elif display.is_composed(first.input) != display.is_composed(second.input):
        more = Translatable(
            "One text has composed characters, the other decomposed ones. Comparison does not normalize Unicode."
        )
    return join_texts(why, more)


def _first_difference(a: str, b: str) -> int:
    length = min(len(a), len(b))
    return next((place for place in range(length) if a[place] != b[place]), length)


def _part(a: str, b: str, place: int) -> str:
    # If one normal form is the beginning of the other, the longer one contains the differing part.
    longer = parse(max(a, b, key=len))
    if isinstance(longer, Ark):
        part = longer.written.part_at(place)
    else:
        part = next(segment.part for segment in longer.segments if segment.start <= place < segment.end)
    return _PARTS.get(part, part)
