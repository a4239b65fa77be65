"""The check of a new name while a user types it: its normal form, and the reasons not to record it.
A pasted text can be an identifier in any spelling, an address with one, or the address of a resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ....bindings.checks import new_names
from ....bindings.checks.plausibility import target_warnings
from ....bindings.names import naming, selection, targets
from ....bindings.names.binding import Binding
from ....bindings.names.errors import BindingError
from ....bindings.names.metadata import personal_data
from ....identifiers import Report
from ....identifiers.text import display
from ....identifiers.text.translatable import Translatable, sentence
from ...accounts.model import Caller
from ...config import site
from ...language import formats
from ..blueprint import time_zone

if TYPE_CHECKING:
    from ....middleware import Bindings

Weight = Literal["good", "warn", "bad"]

_MAX_SAME_TARGET = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A remark on a new name, and how serious it is: "bad" forbids the name. ``names`` are those that it is about."""

    weight: Weight
    text: str
    names: Sequence[Binding] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """The check of a pasted text: the normal form (``key``) of the identifier in it, and the steps to it as sentences.
    An address without an identifier is the ``target``. ``remarks`` are the result and its reasons.
    """

    key: str | None = None
    target: str | None = None
    steps: Sequence[str] = ()
    equivalents: Sequence[str] = ()
    remarks: Sequence[Remark] = ()


def check(bindings: Bindings, asking: Caller, text: str, target: str = "") -> Check:
    """Return the check of a pasted identifier or URL. ``target`` is the target that the user typed already.
    It repeats the rules of the operations only to explain them. The operation itself decides.
    """
    pasted = text.strip()
    if not pasted:
        return Check()
    try:
        naming.require_length(pasted)
    except BindingError as error:
        return Check(remarks=[_refusal(error)])
    found = site().inspect(pasted)
    valid = [each for each in found.findings if each.report.valid and each.key]
    if not valid:
        named = found.findings and found.findings[0].report.problems[0].code not in ("no-ark-label", "label-in-query")
        if pasted.startswith(("http://", "https://")) and not named:
            return _check_address(bindings, asking, pasted)
        return Check(remarks=[_unreadable(found.findings[0].report if found.findings else None)])
    report = valid[0].report
    try:
        key = naming.assignable(naming.read(report.normal_form or pasted), bindings.naming)
    except BindingError as error:
        return Check(remarks=[_refusal(error)])
    recorded = bindings.lookup(key)
    return Check(
        key=key,
        steps=[sentence(step.title) for step in report.steps],
        equivalents=[each for each in report.equivalents[:5] if each != key],
        remarks=[*_obstacles(asking, key, recorded, report), *_warnings(bindings, key, pasted, len(valid), target)],
    )


def _check_address(bindings: Bindings, asking: Caller, address: str) -> Check:
    same = _names_with_target(bindings, asking, address)
    note = Translatable("This is an address without an ARK or URN. It can be the target of a new name.")
    remarks = [Remark(weight="good", text=note)]
    if same:
        note = Translatable("This address is already the target of another name. Check whether you need a new name.")
        remarks.append(Remark(weight="warn", text=note, names=same))
    remarks += [Remark(weight="warn", text=sentence(each.message)) for each in target_warnings(address)]
    return Check(target=address, remarks=remarks)


def _names_with_target(bindings: Bindings, asking: Caller, address: str) -> list[Binding]:
    """Return the first names with a target. The list of a beginning has the targets that are equal to it first."""
    try:
        target = targets.location(address)
        page = bindings.list_names(selection.select(target=target), limit=_MAX_SAME_TARGET)
    except BindingError:
        return []
    return [each for each in page.names if each.target == target]


def _unreadable(report: Report | None) -> Remark:
    if report is None or not report.problems:
        said = Translatable("The text has no ARK or URN. Write one, such as %(example)s.", example="ark:12345/x54xz321")
        return Remark(weight="bad", text=said)
    problem = report.problems[0]
    meant = display.percent(report.suggestion) if report.suggestion else None
    return Remark(weight="bad", text=_expected_text(sentence(problem.message), problem.expected, meant))


def _refusal(error: BindingError) -> Remark:
    suggestion = error.suggestion if error.question else None
    return Remark(weight="bad", text=_expected_text(sentence(error.message), error.expected, suggestion))


def _expected_text(problem: str, expected: str, suggestion: str | None) -> Translatable:
    """Return an error of a text: the sentence of the problem, what is expected, and the identifier that is meant."""
    values = {"problem": problem, "expected": expected}
    if suggestion is None:
        return Translatable("%(problem)s Expected %(expected)s.", **values)
    return Translatable(
        "%(problem)s Expected %(expected)s. Did you mean %(suggestion)s?", **values, suggestion=suggestion
    )


def _obstacles(asking: Caller, key: str, recorded: Binding | None, report: Report) -> list[Remark]:
    found: list[Remark] = []
    if recorded is not None:
        found.append(Remark(weight="bad", text=_since(recorded), names=[recorded]))
        if recorded.spelling != report.input.strip():
            said = Translatable(
                "It was recorded as %(spelling)s. Both spellings have the same normal form, so they are one name.",
                spelling=display.escape(recorded.spelling[:100]),
            )
            found.append(Remark(weight="bad", text=said))
    if not asking.may_change(key):
        if asking.account.prefixes:
            said = Translatable(
                "Your account cannot change names with this beginning. It has %(granted)s.",
                granted=", ".join(asking.account.prefixes),
            )
        else:
            said = Translatable("Your account cannot change names with this beginning. It has no prefix.")
        found.append(Remark(weight="bad", text=said))
    return found or [Remark(weight="good", text=Translatable("The name is free."))]


def _since(recorded: Binding) -> Translatable:
    """Return the state of a recorded name and the day of its record."""
    day = formats.day(recorded.created.astimezone(time_zone()))
    match recorded.status:
        case "live":
            return Translatable("The name is live. It was recorded on %(day)s.", day=day)
        case "reserved":
            return Translatable("The name is reserved. It was recorded on %(day)s.", day=day)
        case "withdrawn":
            return Translatable("The name is withdrawn. It was recorded on %(day)s.", day=day)


def _warnings(bindings: Bindings, key: str, pasted: str, found: int, target: str) -> list[Remark]:
    remarks: list[Remark] = []
    if found > 1:
        said = Translatable("The text has %(number)s identifiers. Only the first one is used.", number=found)
        remarks.append(Remark(weight="warn", text=said))
    remarks += [
        Remark(weight="warn", text=sentence(warning.message))
        for warning in personal_data.warnings_about(pasted_name(pasted, key))
    ]
    try:
        new = new_names.ComparedName(key, targets.check(target, "located") if target else None, None)
    except BindingError:
        new = new_names.ComparedName(key, None, None)  # the form reports the error of the target
    remarks += [
        Remark(weight="warn", text=sentence(warning.message))
        for warning in new_names.warnings_before(bindings, [new._replace(spelling=pasted_name(pasted, key))])[0]
    ]
    similar = [*naming.confusable(key), *_other_cases(key)]
    for other in bindings.store.fetch(similar):
        remarks.append(
            Remark(
                weight="warn",
                text=Translatable(
                    "The name %(name)s is recorded. People can confuse the two names.", name=display.escape(other)
                ),
            )
        )
    return remarks


def pasted_name(pasted: str, key: str) -> str:
    """Return the name to record for a pasted text: the text if it begins with "ark:" or "urn:", else its ``key``.

    >>> pasted_name("https://n2t.net/ark:12345/x5", "ark:12345/x5"), pasted_name("ark:/12345/x5", "ark:12345/x5")
    ('ark:12345/x5', 'ark:/12345/x5')
    """
    return pasted if pasted[:4].lower() in ("ark:", "urn:") else key


def _other_cases(key: str) -> list[str]:
    """Return the keys of the same ARK in lower case and in capitals, which are other names; also below its shoulder."""
    if not key.startswith("ark:"):
        return []
    naan, shoulder = f"{key.partition('/')[0]}/", selection.shoulder_of(key)
    cased = [f"{start}{change(key[len(start) :])}" for start in (naan, shoulder) for change in (str.lower, str.upper)]
    return [each for each in dict.fromkeys(cased) if each != key]
