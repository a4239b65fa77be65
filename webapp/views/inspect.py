"""The home page ``/``: a text box, and the identifiers found in the text. The URL of a result is its permalink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, abort, current_app, redirect, render_template, request
from htmx_flask import make_response
from htmx_flask import request as htmx_request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.health import health_document
from ...identifiers import examine, numbers
from ...identifiers.text import display, xml_text
from ...identifiers.text.translatable import FirstWord, NumberWord, Translatable, join_texts
from ...middleware.http.trusted_proxy import forwarded_facts
from .. import admission, errors
from ..accounts import identify
from ..config import FACTS, MAX_BYTES, MAX_URL_LENGTH, site, url
from ..errors import HTTPRefusal
from ..language.translation import translate
from ..navigation import logo_file
from ..report import card, inspection, qr
from ..report import table as listing
from ..report.inspection import Inspection
from ..responses import as_json, as_json_pieces, wants_json
from ..security import is_foreign_host
from . import trace

blueprint = Blueprint("inspect", __name__)

MAX_LINES = 5
"""Maximum number of lines without an identifier that a page quotes."""

_TITLED = 100
# The headline of these verdicts is the title of the thing, or does not say that the store could not be read. So the
# title of the page begins with the tag.
_NAMED = ("on-hold", "link-dead", "link-moved", "unread")


_MAX_OTHERS = 5


@blueprint.get("/")
def page() -> Response:
    """Show the identifiers in the parameter ``q`` as a page, a fragment for htmx, or JSON, or else the home page."""
    return _answered(request.args.get("q", ""), _view(request.args))


@blueprint.post("/")
def paste() -> AnyResponse:
    """Inspect the text of the form. Redirect to its permalink, or show the result if the text is too long for a URL."""
    text, view = pasted_text(), _view(request.form)
    if wants_json():
        return _answered(text, view)
    permalink = address(text, **view)
    if htmx_request.htmx:
        # Without a permalink, the address bar must not keep the permalink of the previous result.
        return make_response(_answered(text, view), push_url=permalink or address(""))
    return redirect(permalink, code=HTTPStatus.SEE_OTHER) if permalink else _answered(text, view)


@blueprint.post("/list")
def download() -> Response:
    """Return the identifiers in the text of the form as a file.
    CSV has the rows of the filter in the selected order. JSON has all identifiers in the order of the text.
    """
    found = site().inspect(pasted_text())
    if request.form.get("as") == "json":
        response, kind = as_json_pieces(found.as_json()), "json"
    else:
        rows = listing.listing(found).arrange(**_view(request.form))
        table = listing.as_csv([row for row, among in rows if among])
        response, kind = Response(table, content_type="text/csv; charset=utf-8; header=present"), "csv"
    response.headers["Content-Disposition"] = f'attachment; filename="identifiers.{kind}"'
    return response


@blueprint.get("/qr.svg")
def picture() -> Response:
    """Return the URL of the identifier ``q`` as a QR code in SVG. With ``here``, it starts with the prefix of this
    site. Raises :class:`.HTTPRefusal` (400) if the identifier has no URL, or if the URL is too long.
    """
    text = qr.qr_address(examine(request.args.get("q", "")), site().settings.prefix, bound="here" in request.args)
    if text is None:
        raise HTTPRefusal(
            400,
            "no-address",
            Translatable("This identifier has no URL for a QR code: it is not valid, or its URL is too long."),
        )
    # The catalogue of the same institution shows it on its own pages.
    fields = {"Cache-Control": "public, max-age=86400", "Cross-Origin-Resource-Policy": "cross-origin"}
    return Response(qr.draw_svg(text), content_type="image/svg+xml", headers=fields)


def pasted_text() -> str:
    """Return the text of the form. Line breaks are LF, so that positions are those of the API. Raises
    :class:`.HTTPRefusal`: 413 if the text is too long, 503 if too many large texts are being inspected.
    """
    text = request.form.get("q", "").replace("\r\n", "\n")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise HTTPRefusal(413, "request-entity-too-large", errors.TOO_LONG)
    admission.admit(text)
    return text


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """Return the icon at ``/favicon.ico``, the path that browsers request by default."""
    icon = current_app.send_static_file("favicon.ico")
    # This URL does not change with the content.
    icon.headers["Cache-Control"] = "public, max-age=86400"
    return icon


@blueprint.get("/logo")
def logo() -> Response:
    """Return the picture of the logo of the institution, if the branding contains it. Another logo has another URL."""
    found = logo_file()
    if found is None:
        abort(404)
    media_type, content = found
    return Response(content, content_type=media_type, headers={"Cache-Control": "public, max-age=86400"})


@blueprint.get("/opensearch.xml")
def opensearch() -> Response:
    """Return the OpenSearch description, with which a browser adds this inspector to its search engines."""
    address = url("inspect.page", lang=None, _external=True)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        "<ShortName>Ararat</ShortName>\n<Description>Inspect an ARK or URN</Description>\n"
        "<InputEncoding>UTF-8</InputEncoding>\n"
        f'<Url type="text/html" template={xml_text.attribute(address + "?q={searchTerms}")}/>\n'
        "</OpenSearchDescription>\n"
    )
    return Response(text, content_type="application/opensearchdescription+xml")


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Return robots.txt. It permits names, the home page, the documentation and the reference, but no results."""
    start = address("")
    pages = ("ark:", "urn:", "api$", "docs", "problems$", "schemes", "registries")
    rules = (
        *("User-agent: *", f"Allow: {start}$", f"Allow: {start}static/", *(f"Allow: {start}{page}" for page in pages)),
        *(f"Disallow: {start}registries/naan?", f"Disallow: {start}", ""),
    )
    return Response("\n".join(rules), content_type="text/plain")


@blueprint.get("/healthz")
def healthz() -> Response:
    """Return the state of the inspector as JSON: 503 if its bindings cannot be read, else 200. An administrator's
    token gets ``facts`` that a person must act on (:mod:`~.bindings.digest`), another token 403. ``?forwarded`` shows
    how the address of the client was found. For a host that is not trusted, only ``status`` is shown.
    """
    health = health_document(site().bindings)
    if is_foreign_host():
        return _health({"status": health["status"]})
    if health["status"] != "ok":
        health["documentation"] = url("docs.page", name="troubleshooting", _anchor="a-name-answers-503")
    asks = request.headers.get("Authorization", "").lower().startswith("bearer ")
    if asks and health["status"] == "ok" and site().accounts is not None:
        # It loads SQLAlchemy, which a site without accounts does not need.
        from ..management.permissions import Forbidden, require_administrator

        try:
            require_administrator(identify.require_caller())
        except Forbidden as error:
            raise HTTPRefusal(403, error.code, f"The facts are for administrators: {error.message}.") from None
        health["facts"] = [fact._asdict() for fact in current_app.extensions[FACTS].facts()]
    if "forwarded" in request.args:
        health["forwarded"] = forwarded_facts(request.environ)
    return _health(health)


def _health(health: dict[str, Any]) -> Response:
    response = as_json(health, 200 if health["status"] == "ok" else 503)
    response.headers["Cache-Control"] = "no-store"
    return response


def address(text: str, **view: str) -> str | None:
    """Return the permalink of a text: the URL that inspects it, or None if it is too long or the text has a surrogate.
    ``view`` has the filter ``show`` and the sort key ``order`` of the table if they differ from the default.
    """
    try:
        ascii_only = len(text.encode("ascii", "ignore"))
        # A byte of another character takes three characters in a URL.
        if ascii_only + 3 * (len(text.encode()) - ascii_only) >= MAX_URL_LENGTH:
            return None
        permalink = url("inspect.page", q=text or None, **view)
    except UnicodeEncodeError:
        return None
    return permalink if len(permalink) < MAX_URL_LENGTH else None


def _view(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the valid values of ``show`` and ``order`` that differ from the default."""
    known = {"show": listing.SHOWN, "order": listing.ORDERS}
    given = {name: arguments.get(name, "") for name in known}
    return {name: value for name, value in given.items() if value in known[name] and value != next(iter(known[name]))}


def _answered(text: str, view: Mapping[str, str]) -> Response:
    if wants_json():
        return as_json_pieces(site().inspect(text).as_json())
    if not text:
        return _show("inspector/_start.html", text="", title="Ararat", said="", examples=site().settings.examples)
    found = site().inspect(text, 1)
    single = found.findings[0] if len(found.findings) == 1 else None
    if single is not None and htmx_request.htmx and "row" in request.args:
        # A row of a list opens in place.
        shown = card.card(single, site().settings.prefix)
        return make_response(render_template("inspector/_row.html", card=shown, plan=_plan(shown), row=_row_number()))
    table = listing.listing(found)
    rows = table.arrange(**view)
    cards = [card.card(single, site().settings.prefix)] if single is not None else []
    return _show(
        "inspector/_answer.html",
        text=text,
        title=_title(found),
        said=_status_text(found, rows),
        found=found,
        most_found=inspection.MAX_FOUND,
        most_lines=MAX_LINES,
        headline=headline(found),
        others=[] if found.findings else numbers.others(text, _MAX_OTHERS),
        listing=table,
        rows=rows,
        show=view.get("show", "all"),
        order=view.get("order", "text"),
        shown=listing.SHOWN,
        orders=listing.ORDERS,
        cards=[(each, _plan(each)) for each in cards],
        examples=site().settings.examples,
        picked=request.form.getlist("pick"),
        permalink=address(text, **view),
    )


def _plan(shown: card.Card) -> trace.TraceOffer | None:
    return trace.plan(shown.subject, shown.is_answered, shown.unread, shown.pasted) if shown.subject else None


def _show(answer: str, **context: object) -> Response:
    htmx = htmx_request.htmx
    fragment = bool(htmx) and not htmx.history_restore_request
    template = answer if fragment else "inspector/inspect.html"
    return make_response(render_template(template, answer=answer, fragment=fragment, **context))


def headline(found: Inspection) -> str:
    """Return a phrase with the numbers of identifiers in a text by verdict; for one, its own headline.

    >>> headline(inspection.inspect("See ark:12345/x and ark:12345/y."))
    'Two identifiers: two fine'
    """
    count = len(found.findings)
    if not count:
        seen = len(found.text)
        if not found.text.strip():
            return Translatable("The text contains only white space")
        return Translatable.counted(
            "No identifier in this character", "No identifier in these %(number)s characters", seen
        )
    if count == 1:
        return found.findings[0].verdict.headline
    statuses = Counter(finding.verdict.status for finding in found.findings)
    things = Translatable.counted("%(number)s identifier", "%(number)s identifiers", FirstWord(count))
    if found.truncated:
        things = Translatable.counted("The first identifier", "The first %(number)s identifiers", count)
    fine, doubtful, wrong = (
        NumberWord(number) for number in (statuses["good"] + statuses["plain"], statuses["warn"], statuses["bad"])
    )
    judged = [
        Translatable.counted("%(number)s fine", "%(number)s fine", fine) if fine else "",
        Translatable.counted("%(number)s to check", "%(number)s to check", doubtful) if doubtful else "",
        Translatable.counted("%(number)s wrong or dead", "%(number)s wrong or dead", wrong) if wrong else "",
    ]
    said = Translatable("%(things)s: %(counts)s", things=things, counts=join_texts(*judged, by=", "))
    if not (without := len(found.lines_without)):
        return said
    lines = Translatable.counted(
        "%(number)s line has no identifier", "%(number)s lines have no identifier", FirstWord(without)
    )
    return Translatable("%(identifiers)s. %(lines)s", identifiers=said, lines=lines)


def _row_number() -> int:
    given = request.args["row"]
    return int(given) if given.isascii() and given.isdigit() and len(given) < 5 else 0


def _title(found: Inspection) -> str:
    # A title cannot contain elements that isolate text, so hidden characters are escaped.
    said = translate(headline(found))
    if len(found.findings) == 1 and (one := found.findings[0].verdict).code in _NAMED:
        said = f"{translate(one.tag)}: {said}"
    said = display.visible(said)
    return f"{said if len(said) <= _TITLED else said[:_TITLED] + '...'} - Ararat"


def _status_text(found: Inspection, rows: Sequence[tuple[listing.IdentifierRow, bool]]) -> str:
    # A screen reader reads the headline, which receives the focus. The announcement adds the tag.
    if len(found.findings) != 1:
        shown = sum(among for _, among in rows)
        return Translatable("%(number)s of %(all)s shown", number=shown, all=len(rows)) if shown < len(rows) else ""
    return found.findings[0].verdict.tag
