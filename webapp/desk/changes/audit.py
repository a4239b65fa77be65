"""The audit: the requests of accounts, also refused ones. Only for administrators."""

from __future__ import annotations

from http import HTTPStatus

from flask import render_template, request

from ...accounts.audit_listing import AuditSelection
from ...config import url
from ...errors import Refused
from .. import dates
from ..blueprint import blueprint, caller, management
from ..forms import Problem, comparable

SHOWN = 100
"""The number of requests on a page."""

_FIELDS = ("account", "operation", "since", "before")


@blueprint.get("/audit")
def audit() -> str:
    """Show a page of the audit."""
    given = {name: comparable(text[:200]) for name in _FIELDS if (text := request.args.get(name, "").strip())}
    errors: dict[str, Problem] = {}
    period = dates.read_period(given, errors)
    selection = AuditSelection(
        account=given.get("account"), operation=given.get("operation"), since=period.since, before=period.before
    )
    after = request.args.get("after", "")
    if after and not (after.isascii() and after.isdecimal() and len(after) < 19):
        sentence = "The link to this page of the list is not valid. Open the first page."
        raise Refused(HTTPStatus.BAD_REQUEST, "list-after", sentence)
    shown = management().audit(caller(), selection, below=int(after) if after else None, limit=SHOWN)
    return render_template(
        "desk/audit.html",
        given=given,
        errors=errors,
        shown=shown,
        first=url("desk.audit", **given) if after else None,
        next=url("desk.audit", **given, after=shown.next) if shown.next else None,
    )
