"""The page of the branding of the public pages, for administrators: a form with a preview, and the earlier versions.
If another account saved a version meanwhile, nothing is written, and the page shows both versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

from flask import Response, abort, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.branding import colours, logos
from ....bindings.names.branding import model as branding
from ....bindings.names.branding.model import NO_BRANDING, Branding
from ....bindings.names.branding.stored import BrandingVersion
from ....bindings.names.errors import BindingError
from ....identifiers.text import display
from ....identifiers.text.translatable import Translatable
from ....middleware.resolution.refusals import refuse
from ....middleware.resolution.settings import ENGLISH, LANGUAGES
from ....middleware.views import templates
from ....middleware.views.error_page import explain
from ....middleware.views.presentation import Presentation
from ...accounts.identify import accounts
from ...config import origin, site, site_bindings
from ...language.current import LANGUAGE_NAMES, language
from ...management import Stale
from ...management.acting import acting
from ...management.permissions import require_administrator
from ...security import CONTENT_SECURITY_POLICY
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem, number_of
from ..names.history import Difference

MAX_SHOWN = 20
"""The maximum number of versions on the page."""

_USUAL = colours.Readable("#0b4f6c", "#83c5e0")
"""The colours of links without a branding: ``--accent`` of static/ararat.css."""

_EXAMPLE = "ark:12345/x6np1"
_DATA = "data:"
_MAX_REVISION = 10**9


@dataclass(frozen=True, kw_only=True, slots=True)
class BrandingChange:
    """A version of the branding in the history, with the values that differ from the version before."""

    revision: int
    actor: str | None
    when: datetime
    differences: list[Difference]


@blueprint.get("/branding", endpoint="branding")
def page() -> Response:
    """Return the HTML page with the form for the branding, its recorded values, and the earlier versions."""
    versions = _versions()
    return _page(versions, versions[0].branding if versions else NO_BRANDING)


def _versions() -> list[BrandingVersion]:
    require_administrator(caller())
    return site_bindings().branding.history()


def _save(wanted: Branding) -> None:
    with acting(accounts(), caller(), "branding.set", require=require_administrator) as actor:
        site_bindings().branding.set(wanted, revision=_number("revision"), actor=actor)


@blueprint.post("/branding", endpoint="save_branding")
def save() -> AnyResponse:
    """Save the branding in the form, and redirect, or show the form and errors. An empty field deletes its value."""
    values, problems = _read()
    if problems:
        return _page(_versions(), values, problems)
    try:
        _save(Branding(**values))
    except Stale:
        return _page(_versions(), values, is_stale=True)
    messages.put(Translatable("The branding is saved. The public pages show it after about a second."))
    return see_other("desk.branding")


class PageSample(NamedTuple):
    """A sample of a public page in light or dark colours. ``paper``, ``ink`` and ``colour`` are CSS colours of the
    page, the text and the links. ``contrast`` is from 1 to 21.
    """

    scheme: Literal["light", "dark"]
    paper: str
    ink: str
    colour: str
    contrast: float


@blueprint.post("/branding/sample", endpoint="sample_branding")
def sample() -> str:
    """Return a sample of the public pages with the values in the form, as a fragment of HTML. Nothing is saved."""
    require_administrator(caller())
    values, problems = _read()
    given: dict[branding.Field, str | None] = {
        field: None if field in problems else text for field, text in values.items()
    }
    return _sample(Branding(**given))


def _sample(given: Branding) -> str:
    shown = given.with_defaults(site().settings.branding)
    light, dark = colours.readable(shown.colour) if shown.colour else _USUAL
    samples = (
        PageSample("light", "#f7f5f0", "#1b1f23", light, colours.contrast(light, colours.LIGHT)),
        PageSample("dark", "#121518", "#ebe9e3", dark, colours.contrast(dark, colours.DARK)),
    )
    logo = Presentation(branding=shown, root=site().settings.prefix or request.script_root).logo
    is_own = logo is not None and (logo.startswith(("data:", "/")) or origin(logo) == site().origin)
    return render_template(
        "desk/_sample.html",
        samples=samples,
        institution=display.visible(shown.institution or ""),
        contact=display.visible(shown.contact or ""),
        statement=shown.statement,
        logo=logo if is_own else None,
    )


@blueprint.post("/branding/preview", endpoint="preview_branding")
def preview() -> AnyResponse:
    """Return a public HTML page with the branding in the form, in the selected language. Nothing is saved."""
    require_administrator(caller())
    values, problems = _read()
    if problems:
        return _page(_versions(), values, problems)
    root, chosen = site().settings.prefix or request.script_root, request.form.get("language", ENGLISH)
    shown = Presentation(language=chosen if chosen in LANGUAGES else ENGLISH, branding=Branding(**values), root=root)
    response = Response(explain(refuse(_EXAMPLE, "not-bound"), root, None).as_html(shown), mimetype="text/html")
    response.headers["Content-Security-Policy"] = templates.content_security_policy(shown)
    return response


@blueprint.post("/branding/restore", endpoint="restore_branding")
def restore() -> AnyResponse:
    """Save the values of an earlier version of the branding again, and redirect to the page of the branding. The field
    ``version`` of the form is the number of the version. Answers 404 if it does not exist.
    """
    wanted, versions = _number("version"), site_bindings().branding.history()
    found = next((each for each in versions if each.revision == wanted), None)
    if found is None:
        require_administrator(caller())
        abort(HTTPStatus.NOT_FOUND)
    try:
        _save(found.branding)
    except Stale:
        return _page(versions, found.branding, is_stale=True)
    messages.put(Translatable("The values of version %(version)s are saved again.", version=str(found.revision)))
    return see_other("desk.branding")


def differences(before: Branding, after: Branding) -> list[Difference]:
    """Return the fields of two versions of the branding that differ, with their values as texts to show.

    >>> differences(Branding(), Branding(institution="A library"))
    [Difference(field='Institution', before='', after='A library')]
    """
    old, new = before.as_dict(), after.as_dict()
    return [
        Difference(field=label, before=_show_value(old[field]), after=_show_value(new[field]))
        for field, label in branding.LABELS.items()
        if old[field] != new[field]
    ]


def _show_value(value: str | None) -> str:
    """Return a value for a reader: of an image its format and size."""
    if value is None or not value.startswith(_DATA):
        return value or ""
    media_type, _, content = value.removeprefix(_DATA).partition(";base64,")
    return Translatable("%(format)s, %(size)s bytes", format=media_type, size=len(content) * 3 // 4)


def _read() -> tuple[dict[branding.Field, str | None], dict[str, FieldProblem]]:
    """Return the values of the form in their stored form, and its problems. A wrong value stays as it was entered."""
    values: dict[branding.Field, str | None] = {}
    problems: dict[str, FieldProblem] = {}
    for field in branding.FIELDS:
        values[field] = " ".join(request.form.get(field, "").split())
        try:
            if field == "logo":
                values[field] = _logo(values[field] or "")
            values[field] = branding.check_field(field, values[field])
        except BindingError as error:
            problems[field] = FieldProblem.of(error)
    return values, problems


def _logo(path: str) -> str:
    """Return the logo of the form: the uploaded image, the path, or the recorded image that stays."""
    image = request.files.get("image")
    if image is not None and image.filename:
        return logos.data_url(image.stream.read(logos.MAX_BYTES + 1))
    return path or (request.form.get("kept", "") if "keep" in request.form else "")


def _number(field: str) -> int:
    number = number_of(request.form.get(field, ""), _MAX_REVISION)
    return -1 if number is None else number


def _page(
    versions: list[BrandingVersion],
    values: Branding | dict[branding.Field, str | None],
    problems: dict[str, FieldProblem] | None = None,
    *,
    is_stale: bool = False,
) -> Response:
    given: dict[Any, str | None] = {**(values.as_dict() if isinstance(values, Branding) else values)}
    recorded = versions[0] if versions else None
    revision = recorded.revision if recorded else 0
    # The recorded version that the form did not show, against the values of the form.
    conflict = differences(recorded.branding, Branding(**given)) if is_stale and recorded else []
    before = [*(each.branding for each in versions[1:]), NO_BRANDING]
    changes = [
        BrandingChange(
            revision=each.revision,
            actor=each.actor,
            when=each.changed,
            differences=differences(earlier, each.branding),
        )
        for each, earlier in zip(versions, before, strict=False)
    ]
    logo = given.get("logo") or ""
    page = render_template(
        "desk/branding.html",
        values={field: text or "" for field, text in given.items()},
        image=logo if logo.startswith(_DATA) else "",
        image_words=_show_value(logo),
        revision=revision,
        # A form with an error keeps its revision, so that a version saved meanwhile is not replaced unseen.
        form_revision=_number("revision") if problems else revision,
        recorded=recorded,
        is_stale=is_stale,
        conflict=conflict,
        changes=changes[:MAX_SHOWN],
        preview_languages=LANGUAGE_NAMES,
        preview_language=request.form.get("language", language()),
        errors=problems or {},
        labels=branding.LABELS,
        settings=site().settings.branding,
        sample=_sample(Branding(**{field: None if field in (problems or {}) else given[field] for field in given})),
        most_bytes=logos.MAX_BYTES,
    )
    status = HTTPStatus.CONFLICT if is_stale else HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK
    response = Response(page, status)
    # The page shows the recorded image, which is in a data URL.
    allowed = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")
    response.headers["Content-Security-Policy"] = allowed
    return response
