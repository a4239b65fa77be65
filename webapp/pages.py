"""The page: one box, and what was found in it. The address of an answer is its permalink.

Everything works without JavaScript; htmx asks the same addresses for fragments.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, Response, current_app, redirect, render_template, request
from htmx_flask import make_response
from htmx_flask import request as htmx_request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as AnyResponse

from ..identifiers import display
from . import cards, inspection, lines, verdicts
from .inspection import Finding, Inspection
from .lines import Line
from .site import LONGEST_ADDRESS, MOST_OCTETS, site, url

blueprint = Blueprint("inspector", __name__)

MOST_OPEN = 20
"""Cards that are shown whole; what is found beyond them stands in a table."""

_LISTED = 120
_TITLED = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding in a list; ``address`` inspects it alone, and is None where it would be too long."""

    number: int
    line: Line
    tone: verdicts.Tone
    verdict: str
    address: str | None


@blueprint.get("/")
def page() -> Response:
    """The empty page, or what was found in ``q``."""
    return _answered(request.args.get("q", ""))


@blueprint.post("/")
def paste() -> AnyResponse:
    """The same for a form: to the permalink where there is one, else the page itself."""
    text = request.form.get("q", "")
    if len(text.encode("utf-8", "surrogatepass")) > MOST_OCTETS:
        raise RequestEntityTooLarge
    permalink = address(text)
    if htmx_request.htmx:
        # Where there is no permalink, the address bar must not keep that of another answer.
        return make_response(_answered(text), push_url=permalink or address(""))
    return redirect(permalink, code=HTTPStatus.SEE_OTHER) if permalink else _answered(text)


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """The icon, for whoever asks at the root without reading a page."""
    icon = current_app.send_static_file("favicon.ico")
    # This address does not change with the content.
    icon.headers["Cache-Control"] = "public, max-age=86400"
    return icon


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Robots read the start page: answers have no end, and a trace is work."""
    start = address("")
    rules = ("User-agent: *", f"Allow: {start}$", f"Allow: {start}static/", f"Disallow: {start}", "")
    return Response("\n".join(rules), content_type="text/plain")


@blueprint.get("/healthz")
def healthz() -> Response:
    """Whether this process answers."""
    return Response("ok\n", content_type="text/plain", headers={"Cache-Control": "no-store"})


def address(text: str) -> str | None:
    """The address that inspects ``text``, or None where it would be too long or cannot be written as UTF-8."""
    try:
        permalink = url("inspector.page", q=text or None)
    except UnicodeEncodeError:
        return None
    return permalink if len(permalink) < LONGEST_ADDRESS else None


def _answered(text: str) -> Response:
    if not text:
        return _shown("_start.html", text="", title="Ararat", said="", examples=site().examples)
    found = inspection.inspect(text, prefix=site().prefix, bindings=site().bindings, policies=site().policies)
    return _shown(
        "_answer.html",
        text=text,
        title=_title(found),
        said=_said(found),
        found=found,
        most_found=inspection.MOST_FOUND,
        headline=headline(found),
        entries=[_entry(number, finding) for number, finding in enumerate(found.findings, 1)],
        cards=[cards.card(finding) for finding in found.findings[:MOST_OPEN]],
        permalink=address(text),
    )


def _shown(answer: str, **context: object) -> Response:
    htmx = htmx_request.htmx
    fragment = bool(htmx) and not htmx.history_restore_request
    template = answer if fragment else "inspect.html"
    return make_response(render_template(template, answer=answer, fragment=fragment, **context))


def headline(found: Inspection) -> str:
    """What was found, in a sentence.

    >>> headline(inspection.inspect("See ark:12345/x and ark:12345/y."))
    'Two identifiers, both valid'
    """
    count = len(found.findings)
    if not count:
        seen = len(found.text)
        return f"No identifier in these {seen:,} characters" if found.text.strip() else "There is only white space"
    if count == 1:
        return verdicts.verdict(found.findings[0].report)
    tones = Counter(verdicts.tone(finding.report) for finding in found.findings)
    valid, warned = count - tones["bad"], tones["warn"]
    whole = {0: "none of them valid", count: "both valid" if count == 2 else "all valid"}
    judged = whole.get(valid, f"{valid:,} of them valid") + (f", {warned:,} with a warning" if warned else "")
    things = verdicts.counted(count, "identifier")
    return f"{f'The first {things}' if found.truncated else things.capitalize()}, {judged}"


def _title(found: Inspection) -> str:
    # A title can hold no elements, so nothing in it can be isolated: printable ASCII alone.
    if len(found.findings) != 1:
        return f"{headline(found)} - Ararat"
    name = display.percent(found.findings[0].match.literal[:_TITLED])
    return f"{name if len(name) <= _TITLED else name[:_TITLED] + '...'} - Ararat"


def _said(found: Inspection) -> str:
    # The focus goes to the verdict, which is read out with it; what is said beside it is what stands in the chips.
    if len(found.findings) != 1:
        return ""
    finding = found.findings[0]
    names = inspection.keys(finding.report)
    chips = verdicts.chips(finding.report, names[-1] if names else None, finding.bound)
    return ", ".join(chip.word for chip in chips).capitalize()


def _entry(number: int, finding: Finding) -> Entry:
    report = finding.report
    line = lines.plain(report.input, _LISTED)
    return Entry(number, line, verdicts.tone(report), verdicts.verdict(report), address(report.input))
