"""The page where a registration of a scheme is drafted: what it lacks or has wrong, while it is typed, and the record.

Nothing is kept: the form is all there is of a draft, and it is saved as the template or as JSON, which
``ararat schemes`` reads.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from flask import Blueprint, Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from ..identifiers import schemes
from ..identifiers.schemes import CHECKLIST, FIELDS, PROFILES, QUESTIONS, STATUSES, Finding, Registration
from . import verdicts
from .errors import Refused
from .language import gettext as _
from .language import marked_plural
from .representation import represented

blueprint = Blueprint("drafting", __name__, url_prefix="/schemes/draft")

_FORMS = {"text": ("text/plain", "txt"), "json": ("application/json", "json")}
_LONGEST_NAME = 60
_COUNTED = {
    "error": marked_plural("%(count)s error", "%(count)s errors"),
    "warning": marked_plural("%(count)s warning", "%(count)s warnings"),
    "note": marked_plural("%(count)s note", "%(count)s notes"),
}


@blueprint.get("")
def page() -> Response:
    """The empty form, or one that begins with the record of a scheme that ships (``begin``)."""
    begin = request.args.get("begin", "")
    record = schemes.registration(begin) if begin else Registration()
    if record is None:
        known = ", ".join(schemes.registered_names())
        raise Refused(400, "parameter", f"There is no record to begin with; there are those of {known}.")
    # Whoever begins with the record of a registered scheme looks at how that is done.
    return _answered(record, _profile(request.args.get("profile")), judged=bool(begin), update=bool(begin))


@blueprint.post("")
def judged() -> Response:
    """What the record in the form lacks or has wrong."""
    update = bool(request.form.get("update"))
    return _answered(_record(), _profile(request.form.get("profile")), judged=True, update=update)


@blueprint.post("/record")
def record() -> Response:
    """The record in the form as a file, the template or (``form=json``) JSON, whatever is wrong with it."""
    form = request.args.get("form", "text")
    if form not in _FORMS:
        raise Refused(400, "parameter", f"There is no such form; expected one of {', '.join(_FORMS)}.")
    found, (kind, ending) = _record(), _FORMS[form]
    body = found.json() if form == "json" else found.text()
    # What names a file is the name of a scheme or nothing: letters, digits and + - . in ASCII.
    of_it = f"-{found.name[:_LONGEST_NAME].lower()}" if schemes.VALID.fullmatch(found.name) else ""
    fields = {
        "Content-Disposition": f'attachment; filename="registration{of_it}.{ending}"',
        "Cache-Control": "no-store",
    }
    return Response(body.encode("utf-8", "replace"), content_type=f"{kind}; charset=utf-8", headers=fields)


def _record() -> Registration:
    texts: dict[str, Any] = {field.name: request.form.get(field.name, "") for field in FIELDS}
    if sum(map(len, texts.values())) > schemes.record.LARGEST:
        raise RequestEntityTooLarge
    return Registration(**texts)


def _profile(name: str | None) -> str:
    if not name:
        return next(iter(PROFILES))
    if name not in PROFILES:
        raise Refused(400, "parameter", f"There is no such profile; expected one of {', '.join(PROFILES)}.")
    return name


def _answered(record: Registration, profile: str, *, judged: bool, update: bool) -> Response:
    findings = schemes.lint(record, profile, update=update) if judged else []
    shown: dict[str, Any] = {
        "profile": profile,
        "update": update,
        "record": record.as_dict(),
        "findings": [found.as_dict() for found in findings],
    }
    return represented(
        shown,
        "draft.html",
        fragment="_draft.html",
        title=_("Draft a registration - Ararat"),
        judged=judged,
        headline=_headline(findings),
        fields=FIELDS,
        labels={field.name: field.label for field in FIELDS},
        profiles=PROFILES,
        statuses=STATUSES,
        begins=schemes.registered_names(),
        questions=QUESTIONS,
        checklist=CHECKLIST,
    )


def _headline(findings: list[Finding]) -> str:
    counted = Counter(found.severity for found in findings)
    said = [verdicts.counted(*_COUNTED[each], counted[each]) for each in _COUNTED if counted[each]]
    return ", ".join(said).capitalize() or _("Nothing to find fault with")
