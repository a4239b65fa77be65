"""The audit: the requests of accounts, also refused ones, and its export. Only for administrators."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, render_template, request

from ....bindings.names.binding import rfc3339
from ....identifiers.text.translatable import Translatable
from ...accounts.audit_listing import AuditRow, AuditSelection, all_audit, list_audit
from ...accounts.identify import accounts
from ...config import url
from ...errors import HTTPRefusal
from ...management.permissions import require_administrator
from .. import dates, exports
from ..blueprint import blueprint, caller
from ..forms import FieldProblem, comparable

SHOWN = 100
"""The number of requests on a page."""

_FIELDS = ("account", "token", "operation", "since", "before")


@blueprint.get("/audit")
def audit() -> str:
    """Return an HTML page of the audit, which lists the requests of accounts. The query parameters are its filters."""
    given, errors, selection = _read_filters()
    after = request.args.get("after", "")
    if after and not (after.isascii() and after.isdecimal() and len(after) < 19):
        sentence = Translatable("The link to this page of the list is not valid. Open the first page.")
        raise HTTPRefusal(HTTPStatus.BAD_REQUEST, "list-after", sentence)
    require_administrator(caller())
    shown = list_audit(accounts(), selection, below=int(after) if after else None, limit=SHOWN)
    return render_template(
        "desk/audit.html",
        given=given,
        errors=errors,
        shown=shown,
        exports=exports.addresses("desk.export_audit", **given),
        first=url("desk.audit", **given) if after else None,
        next=url("desk.audit", **given, after=shown.next) if shown.next else None,
    )


@blueprint.get("/audit.<any(csv, jsonl):form>")
def export_audit(form: str) -> Response:
    """Return the audit that meets the filters as a file to save ("csv" or "jsonl"). For administrators."""
    require_administrator(caller())
    _, errors, selection = _read_filters()
    exports.require_valid(errors)
    rows = (row._asdict() | {"time": rfc3339(row.time)} for row in all_audit(accounts(), selection))
    if form == "csv":
        return exports.csv_file("audit", AuditRow._fields, rows)
    return exports.json_lines_file("audit", rows)


def _read_filters() -> tuple[dict[str, str], dict[str, FieldProblem], AuditSelection]:
    """Return the filters as the user wrote them, their errors, and what they select."""
    given = {name: comparable(text[:200]) for name in _FIELDS if (text := request.args.get(name, "").strip())}
    errors: dict[str, FieldProblem] = {}
    period = dates.read_period(given, errors)
    token = given.get("token", "")
    if token and not (token.isascii() and token.isdecimal() and len(token) < 16):
        errors["token"] = FieldProblem(
            Translatable("This is not the number of a token."), Translatable("a number, such as 3")
        )
        token = ""
    selection = AuditSelection(
        account=given.get("account"),
        token=int(token) if token else None,
        operation=given.get("operation"),
        since=period.since,
        before=period.before,
    )
    return given, errors, selection
