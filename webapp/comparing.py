"""The page that compares: two identifiers or more, one a line, or those that were ticked in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ..identifiers import Report
from . import comparison, inspection, lines, pages, verdicts
from .comparison import Classes, Comparison
from .errors import Refused
from .lines import Line
from .representation import as_json, wants_json
from .site import LONGEST_ADDRESS, url

blueprint = Blueprint("comparing", __name__, url_prefix="/compare")

MOST_COMPARED = 50
"""Identifiers that are compared with one another at once."""

_REPEATED = 240


@dataclass(frozen=True, slots=True)
class Compared:
    """One that was compared: its number, how it reads, and the rules that bring it into its normal form.

    ``rules`` are titles with their references; ``address`` inspects it, None where that would be too long; ``verdict``
    says why it cannot be read, "" where it can.
    """

    number: int
    line: Line
    rules: tuple[tuple[str, str], ...]
    address: str | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of two normal forms that part: whose it is, and the place where they do, marked."""

    number: int
    line: Line


@dataclass(frozen=True, slots=True)
class Set:
    """Identifiers that are equivalent, their normal form, and how it parts from that of the first set.

    ``rule`` is where it stands that these are one; ``sentence`` and ``sides`` are empty for the first set.
    """

    members: tuple[Compared, ...]
    normal: Line
    rule: str
    sentence: str = ""
    sides: tuple[Side, ...] = ()


@blueprint.get("")
def page() -> Response:
    """What ``a`` and ``b`` are to one another, and each further ``id``; without them, a form."""
    if wants_json():
        return compared()
    return _answered([text for name in ("a", "b", "id") for text in request.args.getlist(name) if text])


@blueprint.post("")
def chosen() -> AnyResponse:
    """The lines of the text ``q``; or of the identifiers ``found`` in it those whose numbers are picked, else all."""
    text = pages.pasted()
    texts = _picked(text, request.form.getlist("pick")) if "found" in request.form else _lines(text)
    permalink = address(texts[: MOST_COMPARED + 1])
    return redirect(permalink, code=HTTPStatus.SEE_OTHER) if permalink else _answered(texts)


def address(texts: Sequence[str]) -> str | None:
    """The address that compares ``texts``, or None where it would be too long."""
    given = {"a": texts[0], "b": texts[1]} if len(texts) == 2 else {"id": list(texts)}
    try:
        permalink = url("comparing.page", **given)
    except UnicodeEncodeError:
        return None
    return permalink if len(permalink) < LONGEST_ADDRESS else None


def compared() -> Response:
    """The same for programs, as JSON: of two identifiers their comparison, of more the sets that they fall into.

    Raises :class:`Refused` where there are not two, or more than :data:`MOST_COMPARED`.
    """
    texts = [text for name in ("a", "b", "id") for text in request.args.getlist(name)]
    for name in ("a", "b"):
        if "id" not in request.args and name not in request.args:
            raise Refused(400, "parameter-missing", f"The query has no {name}.")
    if len(texts) < 2:
        raise Refused(400, "parameter-missing", "The query has one identifier alone.")
    if len(texts) > MOST_COMPARED:
        sentence = f"There are {len(texts):,} identifiers; expected {MOST_COMPARED} at most."
        raise Refused(400, "too-many", sentence)
    found = comparison.compare(*texts) if len(texts) == 2 else comparison.classify(texts)
    return as_json(found.as_dict())


def _picked(text: str, numbers: Sequence[str]) -> list[str]:
    found = [finding.match.literal for finding in inspection.inspect(text).findings]
    wanted = dict.fromkeys(
        int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 5
    )
    return [found[number - 1] for number in wanted if 0 < number <= len(found)] if wanted else found


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


def _answered(texts: Sequence[str]) -> Response:
    classes = comparison.classify(texts[:MOST_COMPARED]) if len(texts) > 1 else None
    whole = address(texts)
    return Response(
        render_template(
            "compare.html",
            title="Compare - Ararat",
            text="\n".join(texts),
            alone=len(texts) == 1,
            cut=len(texts) > MOST_COMPARED,
            most=MOST_COMPARED,
            classes=classes,
            tone=_tone(classes) if classes else None,
            sets=list(_sets(classes)) if classes else [],
            against=_first(classes) if classes else 0,
            permalink=whole if classes else None,
            twin=_twin(texts) if whole and classes else None,
        )
    )


def _twin(texts: Sequence[str]) -> str | None:
    """The address of the same as JSON, or None where there are more than it compares."""
    if len(texts) > MOST_COMPARED:
        return None
    return url("api.compare", a=texts[0], b=texts[1]) if len(texts) == 2 else url("api.compare", id=list(texts))


def _tone(classes: Classes) -> verdicts.Tone:
    if any(group.normal_form is None for group in classes.groups):
        return "bad"
    return "good" if len(classes.groups) == 1 else "warn"


def _first(classes: Classes) -> int:
    # What the others are held against: the first that can be read.
    return next((number for number, report in enumerate(classes.reports, 1) if report.normal_form), 0)


def _sets(classes: Classes) -> Iterator[Set]:
    first = _first(classes)
    for group in classes.groups:
        members = tuple(_compared(place + 1, classes.reports[place]) for place in group.members)
        normal = lines.plain(group.normal_form or "", _REPEATED)
        rule = _rule(classes.reports[group.members[0]])
        if group.parting is None:
            yield Set(members, normal, rule)
        else:
            sides = _sides(group.parting, (first, members[0].number))
            yield Set(members, normal, rule, group.parting.sentence, tuple(sides))


def _sides(parting: Comparison, numbers: Sequence[int]) -> Iterator[Side]:
    place = parting.difference or 0
    for number, report in zip(numbers, (parting.a, parting.b), strict=True):
        form = report.normal_form or ""
        yield Side(number, lines.marked(form, place, min(place + 1, len(form))))


def _rule(report: Report) -> str:
    if report.normal_form is None:
        return ""
    return "URN draft, section 5" if report.form == "urn" else "ARK draft, section 6"


def _compared(number: int, report: Report) -> Compared:
    rules = tuple((step.title, step.reference) for step in report.steps)
    line, link = lines.plain(report.input, _REPEATED), pages.address(report.input)
    if report.normal_form:
        return Compared(number, line, rules, link, "")
    return Compared(number, line, rules, link, verdicts.verdict(report))
