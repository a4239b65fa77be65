"""Holds: their list, the form that puts a name or prefix on hold, and the release."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings import holding
from ....bindings.holding import Of
from ....bindings.names.errors import BindingError, Stale
from ....identifiers.text.translatable import Translatable
from ...accounts.identify import accounts
from ...config import site_bindings, url
from ...management import Forbidden, holds
from ...management.permissions import require_granted
from .. import dates, exports, messages
from ..blueprint import blueprint, caller, read_revision, see_other
from ..forms import FieldProblem

_COLUMNS = ("name", "prefix", "until", "reason", "since", "actor", "current")


@blueprint.get("/holds", endpoint="holds")
def listing() -> str:
    """Return the HTML page with the holds that last now. The query parameter ``all`` adds those that have ended."""
    with_ended = "all" in request.args
    return render_template(
        "desk/holds.html",
        holds=holding.current(site_bindings(), with_ended=with_ended),
        with_ended=with_ended,
        exports=exports.addresses("desk.export_holds", **({"all": "1"} if with_ended else {})),
    )


@blueprint.get("/holds.<any(csv, jsonl):form>")
def export_holds(form: str) -> Response:
    """Return the holds as a file to save ("csv" or "jsonl"). The query parameter ``all`` adds those that have ended."""
    found = holding.current(site_bindings(), with_ended="all" in request.args)
    rows = [each.as_dict() for each in found]
    if form == "csv":
        return exports.csv_file("holds", _COLUMNS, [dict.fromkeys(_COLUMNS) | row for row in rows])
    return exports.json_lines_file("holds", rows)


@blueprint.get("/holds/set", endpoint="hold")
def form() -> str:
    """Return the HTML page with the form to put the name or prefix in the query parameters on hold."""
    of, kind = _of(request.args)
    key, found = holding.require(site_bindings(), of, kind)
    require_granted(caller(), key)
    return _form(key, found, {})


@blueprint.post("/holds/set", endpoint="save_hold")
def save() -> AnyResponse:
    """Put the name or prefix in the form on hold, or change its hold. Redirect, or show the form with its errors."""
    of, kind = _of(request.form)
    until = request.form.get("until", "").strip()
    problems: dict[str, FieldProblem] = {}
    try:
        end = dates.read_period_end(until)
    except (ValueError, OverflowError):
        problems["until"] = dates.not_a_date(until)
    else:
        try:
            reason = request.form.get("reason", "").strip()
            made = holds.hold(accounts(), caller(), of, end, reason, kind=kind, revision=_revision())
        except (Forbidden, Stale):
            raise
        except BindingError as error:
            if error.code not in ("hold-until", "hold-reason"):
                raise
            problems["until" if error.code == "hold-until" else "reason"] = FieldProblem.of(error)
        else:
            messages.put(
                Translatable("The hold was recorded already.")
                if made.outcome == "unchanged"
                else Translatable("The redirect is on hold.")
            )
            return _redirect_to(made.of, made.kind)
    key, found = holding.require(site_bindings(), of, kind)
    require_granted(caller(), key)
    return Response(_form(key, found, problems), HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.post("/holds/release", endpoint="release")
def release() -> AnyResponse:
    """End the hold of the name or prefix in the form fields before its time, and redirect to its page."""
    of, kind = _of(request.form)
    made = holds.release(accounts(), caller(), of, kind=kind, revision=_revision())
    messages.put(Translatable("The hold is released. The redirect works again."))
    return see_other("desk.holds") if "list" in request.form else _redirect_to(made.of, made.kind)


def _of(values: dict[str, str]) -> tuple[str, Of]:
    name = values.get("name", "").strip()
    return (name, "name") if name else (values.get("prefix", "").strip(), "prefix")


def _revision() -> int | None:
    """Return the revision of the name or prefix record for which the page with the form was made."""
    return read_revision() if "revision" in request.form else None


def _redirect_to(key: str, kind: Of) -> AnyResponse:
    return see_other("desk.name", name=key) if kind == "name" else see_other("desk.prefix", prefix=key)


def _form(key: str, kind: Of, problems: dict[str, FieldProblem]) -> str:
    bindings = site_bindings()
    binding = bindings.store.fetch([key]).get(key) if kind == "name" else None
    found = binding if kind == "name" else bindings.prefixes.get(key)
    recorded = found and found.hold
    return render_template(
        "desk/hold.html",
        key=key,
        kind=kind,
        binding=binding,
        recorded=recorded,
        # A form with an error keeps its revision, so that a change meanwhile is not replaced unseen.
        revision=request.form.get("revision", found.revision if found else 0),
        values={
            "until": request.form.get("until", dates.last_day(recorded.until) if recorded else ""),
            "reason": request.form.get("reason", (recorded and recorded.reason) or ""),
        },
        errors=problems,
        back=url("desk.name", name=key) if kind == "name" else url("desk.prefix", prefix=key),
    )
