"""The page ``/compare``: compare two identifiers, from two lines or from two rows that the user selected in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...identifiers import Report
from ...identifiers.text.translatable import Translatable
from ..config import MAX_URL_LENGTH, site, url
from ..errors import HTTPRefusal
from ..navigation import page_title
from ..report import comparison, excerpt
from ..report.comparison import Comparison
from ..report.excerpt import Line
from ..report.standing import Status
from ..report.verdict import IdentifierVerdict
from ..responses import as_json, wants_json
from . import inspect

blueprint = Blueprint("compare", __name__, url_prefix="/compare")

_REPEATED = 240


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the two compared identifiers, as the page shows it.
    Each of the ``rules`` has a title and a source. ``meant`` is the identifier that was probably meant, with the URL
    that inspects it. ``reference`` is the section of the specification that defines the comparison. ``side`` is the
    normal form with the first difference marked, or None without one.
    """

    line: Line
    rules: tuple[tuple[str, str], ...]
    address: str | None
    verdict: IdentifierVerdict
    meant: tuple[Line, str] | None
    normal: Line
    reference: str
    side: Line | None


@blueprint.get("")
def page() -> Response:
    """Return the comparison of the query parameters ``a`` and ``b`` as a page or JSON, or a page with a form."""
    if wants_json():
        return compared()
    return _answer([text for name in ("a", "b") if (text := request.args.get(name))])


@blueprint.post("")
def chosen() -> AnyResponse:
    """Compare the two lines of the form field ``q``, or the two identifiers that were selected in the table.
    Redirect to the permalink of the comparison, or return the HTML page if the permalink would be too long.
    """
    text = inspect.pasted_text()
    texts = _pick(text, request.form.getlist("pick")) if "found" in request.form else _lines(text)
    permalink = address(texts)
    return redirect(permalink, code=HTTPStatus.SEE_OTHER) if permalink else _answer(texts)


def address(texts: Sequence[str]) -> str | None:
    """Return the permalink of the comparison of two texts, or None for another number, or if it would be too long."""
    if len(texts) != 2:
        return None
    try:
        permalink = url("compare.page", a=texts[0], b=texts[1])
    except UnicodeEncodeError:
        return None
    return permalink if len(permalink) < MAX_URL_LENGTH else None


def compared() -> Response:
    """Return the comparison of the parameters ``a`` and ``b`` as JSON, or 400 if one of them is missing."""
    for name in ("a", "b"):
        if name not in request.args:
            raise HTTPRefusal(
                400,
                "parameter-missing",
                Translatable("The parameter %(name)s is missing. Add it to the query.", name=name),
            )
    found = comparison.compare(request.args["a"], request.args["b"], policies=site().settings.profiles)
    return as_json(found.as_dict(_verdicts(found)))


def _pick(text: str, numbers: Sequence[str]) -> list[str]:
    # The numbers refer to the table, which also contains the IRIs that the policies of this site cover.
    found = [finding.report.input for finding in site().inspect(text).findings]
    wanted = dict.fromkeys(
        int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 5
    )
    return [found[number - 1] for number in wanted if 0 < number <= len(found)] if wanted else found


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


def _answer(texts: Sequence[str]) -> Response:
    found = comparison.compare(*texts, brief=True, policies=site().settings.profiles) if len(texts) == 2 else None
    permalink = address(texts)
    return Response(
        render_template(
            "inspector/compare.html",
            title=page_title(Translatable("Compare")),
            text="\n".join(texts),
            notice=found is None and (bool(texts) or request.method == "POST"),
            found=found,
            status=_STATUSES[found.verdict] if found else None,
            sides=list(_sides(found)) if found else [],
            permalink=permalink,
            twin=url("api.compare", a=texts[0], b=texts[1]) if permalink else None,
        )
    )


_STATUSES: dict[comparison.Verdict, Status] = {
    "equivalent": "good",
    "different": "warn",
    "undecided": "warn",
    "unreadable": "bad",
}


def _verdicts(found: Comparison) -> list[IdentifierVerdict]:
    return found.verdicts(site().bindings)


def _sides(found: Comparison) -> Iterator[Compared]:
    for report, said in zip((found.a, found.b), _verdicts(found), strict=True):
        form, place = report.normal_form or "", found.difference
        yield Compared(
            line=excerpt.plain(report.input, _REPEATED),
            rules=tuple((step.title, step.reference) for step in report.steps),
            address=inspect.address(report.input),
            verdict=said,
            meant=_meant(said),
            normal=excerpt.plain(form, _REPEATED),
            reference=_reference(report),
            side=None if place is None else excerpt.mark_excerpt(form, place, min(place + 1, len(form))),
        )


def _meant(said: IdentifierVerdict) -> tuple[Line, str] | None:
    # The correction of another scheme is the address of its resolver, and that of a withdrawn name is its successor.
    if said.correction is None or said.code in ("other-scheme", "withdrawn"):
        return None
    link = inspect.address(said.correction)
    return None if link is None else (excerpt.plain(said.correction, _REPEATED), link)


def _reference(report: Report) -> str:
    return "URN draft, section 5" if report.form == "urn" else "ARK draft, section 6"
