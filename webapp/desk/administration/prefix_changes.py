"""The forms that set and remove the record and rule of a NAAN or shoulder, for administrators.
If another account changed the record meanwhile, nothing is written, and a page shows both versions.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import BindingError
from ....bindings.names.policy import is_registered
from ....bindings.names.prefixes import prefixes, rule_templates
from ....bindings.names.prefixes.prefixes import PrefixRecord, PrefixRecords
from ....bindings.names.prefixes.texts import EDITED, TEXTS
from ....identifiers.text.translatable import Translatable, sentence
from ....middleware.resolution.settings import ENGLISH, LANGUAGES
from ....middleware.views import templates
from ....middleware.views.prefix import describe_prefix
from ....middleware.views.presentation import Presentation
from ...accounts.identify import accounts
from ...config import site, site_bindings
from ...language.current import LANGUAGE_NAMES, language
from ...language.translation import translate
from ...management import NO_RECORD, Stale, prefix_etag
from ...management import prefixes as prefix_records
from ...management.permissions import require_administrator
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem, statement_of
from .first_shoulder import LENGTH
from .prefix_history import LABELS, differences, values_of


@blueprint.get("/prefixes/edit", endpoint="edit_prefix")
def edit() -> str:
    """Return the HTML page with the form for the record of the query parameter ``prefix``, or for a new record."""
    require_administrator(caller())
    prefix = request.args.get("prefix", "").strip()
    found = site_bindings().prefixes.get(prefix) if prefix else None
    rule = next((each for each in site_bindings().rules.list() if found is None and each.prefix == prefix), None)
    values = values_of(found) | {"prefix": found.prefix if found else prefix}
    if rule is not None:
        values |= {"rule": rule.template, "redirect": str(rule.redirect)}
    return _form(values, prefix_etag(found) if found else NO_RECORD, {})


@blueprint.post("/prefixes/edit", endpoint="save_prefix")
def save() -> AnyResponse:
    """Save the record in the form, and redirect, or show the form with its errors. An empty field deletes its text."""
    values = {field: _text(field) for field in ("prefix", *EDITED, "rule", "redirect")}
    etag = request.form.get("etag", NO_RECORD)
    problems = _problems(values)
    if problems:
        require_administrator(caller())
        return Response(_form(values, etag, problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    texts: dict[str, str | None] = {field: values[field] for field in EDITED}
    redirect = 307 if values["redirect"] == "307" else 302
    try:
        saved = prefix_records.set_record(
            accounts(), caller(), values["prefix"], texts, rule=values["rule"], redirect=redirect, etag=etag
        )
    except Stale:
        return _conflict(values)
    warned = [sentence(each.message) for each in prefixes.warnings_about(saved.texts)]
    done = Translatable("The record of %(prefix)s is saved.", prefix=saved.prefix)
    messages.put(" ".join(map(translate, [done, *warned])), "warn" if warned else "good")
    return see_other("desk.prefix", prefix=saved.prefix)


@blueprint.post("/prefixes/preview", endpoint="preview_prefix")
def preview() -> AnyResponse:
    """Return the public HTML page of the prefix record in the form, in the selected language. Nothing is saved."""
    require_administrator(caller())
    values = {field: _text(field) for field in ("prefix", *EDITED, "rule", "redirect")}
    etag = request.form.get("etag", NO_RECORD)
    if problems := _problems(values):
        return Response(_form(values, etag, problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    bindings = site_bindings()
    key = prefixes.check_prefix(values["prefix"], bindings.naming)
    texts = prefixes.check(key, {field: values[field] for field in EDITED})
    stated = {field: text for field, text in texts.items() if text}
    given = prefixes.record(key, stated, changed=bindings.now())
    inherited = PrefixRecords(bindings.prefixes.list()).statements(key, given.statements)
    root, chosen = site().settings.prefix or request.script_root, request.form.get("language", ENGLISH)
    shown = Presentation(
        language=chosen if chosen in LANGUAGES else ENGLISH,
        branding=bindings.branding.current(),
        root=root,
    )
    response = Response(describe_prefix(given, root, inherited).as_html(shown), mimetype="text/html")
    response.headers["Content-Security-Policy"] = templates.content_security_policy(shown)
    return response


@blueprint.post("/prefixes/remove", endpoint="remove_prefix")
def remove() -> AnyResponse:
    """Remove the prefix record in the form with its rule, and redirect. The history stays."""
    prefix = _text("prefix")
    prefix_records.remove_record(accounts(), caller(), prefix, etag=request.form.get("etag", NO_RECORD))
    messages.put(Translatable("The record and its rule are removed. The names stay."))
    return see_other("desk.prefixes")


def _problems(values: dict[str, str]) -> dict[str, FieldProblem]:
    """Return the problems of the fields of a form."""
    problems: dict[str, FieldProblem] = {}
    key = "ark:12345/x"
    try:
        key = prefixes.check_prefix(values["prefix"], site_bindings().naming)
    except BindingError as error:
        problems["prefix"] = FieldProblem.of(error)
    naan = key[4:].partition("/")[0] if key.startswith("ark:") else ""
    if naan and len(naan) != LENGTH and not is_registered(naan) and "prefix" not in problems:
        message = Translatable("No registry has %(naan)s as a NAAN.", naan=naan)
        problems["prefix"] = FieldProblem(message, Translatable("a NAAN, a slash and the shoulder, such as 12345/x5"))
    is_new = request.form.get("etag", NO_RECORD) in ("", NO_RECORD) and site_bindings().prefixes.get(key) is None
    if is_new and not any(values[field] for field in (*EDITED, "rule")):
        problems.setdefault("what", FieldProblem.of(BindingError("prefix-empty")))
    for field in EDITED:
        try:
            prefixes.check(key, {field: values[field]})
        except BindingError as error:
            problems[field] = FieldProblem.of(error)
    try:
        if values["rule"]:
            rule_templates.check_template(values["rule"])
    except BindingError as error:
        problems["rule"] = FieldProblem.of(error)
    return problems


def _conflict(yours: dict[str, str]) -> Response:
    """Show the recorded version and that of the form."""
    key = prefixes.check_prefix(yours["prefix"], site_bindings().naming)
    found: PrefixRecord | None = site_bindings().prefixes.get(key)
    recorded = values_of(found)
    del recorded["lineage"]  # the form does not change it
    # The form selects the state that a record without one has.
    recorded["state"] = recorded["state"] or "active"
    page = render_template(
        "desk/prefix_conflict.html",
        prefix=key,
        record=found,
        differences=differences(recorded, yours if yours["rule"] else yours | {"redirect": ""}),
        values=yours,
        etag=prefix_etag(found) if found else NO_RECORD,
    )
    return Response(page, HTTPStatus.CONFLICT)


def _form(values: dict[str, str], etag: str, problems: dict[str, FieldProblem]) -> str:
    return render_template(
        "desk/prefix_form.html",
        values=values,
        etag=etag,
        is_new=etag == NO_RECORD,
        errors=problems,
        labels={"prefix": Translatable("Prefix"), **LABELS},
        groups=_groups(),
        preview_languages=LANGUAGE_NAMES,
        preview_language=request.form.get("language", language()),
    )


def _groups() -> dict[str, list[dict[str, Any]]]:
    """Return the controls of the form for the declared texts, by group and in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in sorted(TEXTS, key=lambda text: text.rank):
        shown = {"label": translate(each.question or each.label), "hint": translate(each.hint)}
        choices = [(value, translate(label)) for value, label in each.choices]
        flags = {"control": each.control, "is_exact": each.is_exact, "is_address": each.is_address}
        groups.setdefault(each.group, []).append({"name": each.name, "choices": choices, **shown, **flags})
    return groups


def _text(field: str) -> str:
    """Return a value of the form in one line. A term of persistence statements can have words in a second field."""
    return " ".join(statement_of(field, request.form).split())
