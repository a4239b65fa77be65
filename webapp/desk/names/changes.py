"""The changes of one name by forms: metadata, target, publication, withdrawal, restoration and deletion.
If another account changed the name meanwhile, nothing is written, and a page shows both versions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings import changes
from ....bindings.changes import NameChange
from ....bindings.log import redaction
from ....bindings.names import assignment
from ....bindings.names.binding import KINDS, Binding, rfc3339
from ....bindings.names.errors import BindingConflict, BindingError
from ....bindings.names.fields import text_of
from ....bindings.names.metadata import metadata
from ....bindings.names.naming import Name
from ....bindings.names.prefixes.prefixes import PrefixRecords
from ....identifiers.text.translatable import Translatable, sentence
from ...accounts.identify import accounts
from ...config import site_bindings, url
from ...management import Fields, Forbidden, Missing, Stale, bulk, reading
from ...management.acting import acting, change_name
from ...management.permissions import require_administrator, require_granted
from .. import before_public, messages
from ..blueprint import blueprint, caller, read_revision, see_other
from ..forms import FieldProblem, field_label
from . import forms
from .history import changes_of, differences
from .new import put_done
from .page import RESPONSES, requested_name, response_of

_DONE = {
    "updated": Translatable("The name is updated."),
    "unchanged": Translatable("Nothing was changed, because the values are the recorded ones."),
    "relocated": Translatable("The name has a new target."),
    "claimed": Translatable("The resource of the name is recorded."),
    "bound": Translatable("The name is live."),
    "reserved": Translatable("The name is reserved."),
    "withdrawn": Translatable("The name is withdrawn. Its public page is a tombstone."),
    "restored": Translatable("The name is live again."),
    "redacted": Translatable("The texts are removed."),
    "deleted": Translatable("The reserved name is deleted. It is never minted again."),
}
_CHANGED = Translatable("The name is changed.")

MAX_LATER = 5
"""The maximum number of changes of others on the page of a conflict."""

RequestedChange = Callable[[Name, int], NameChange]
"""A function that requests a change of a name with the revision that the name must have."""


@blueprint.get("/name/metadata", endpoint="describe")
def describe() -> str:
    """Return the HTML page with the form of the metadata of the query parameter ``name``, a group for each profile."""
    return _metadata_form(_changeable(requested_name()), {})


@blueprint.post("/name/metadata")
def save_metadata() -> AnyResponse:
    """Save the metadata in the form, and redirect to the page of the name. Show the form again with its errors."""
    binding = _get_recorded(requested_name(request.form))
    fields, problems = forms.read_metadata(forms.merge_statements(request.form), binding.metadata)
    if problems:
        return Response(_metadata_form(binding, problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    if asked := _question(binding, fields):
        return Response(_metadata_form(binding, {}, asked), HTTPStatus.UNPROCESSABLE_ENTITY)
    return _change("change", lambda name, revision: changes.patch(name, fields, revision=revision))


@blueprint.get("/name/target", endpoint="place")
def place() -> str:
    """Return the HTML page with the form of the target and its settings, for the query parameter ``name``."""
    return _place_form(_changeable(requested_name()), {})


@blueprint.post("/name/target")
def save_place() -> AnyResponse:
    """Save the target in the form fields, and redirect to the page of the name.
    Show the form again with its errors. The user confirms that a new target leads to the same resource.
    """
    binding = _get_recorded(requested_name(request.form))
    if "add" in request.form or "remove" in request.form:
        return Response(_place_form(binding, {}))
    fields, problems = forms.read_target_fields(request.form, binding)
    if not problems and (asked := _question(binding, fields, relocate="same" in request.form)):
        return Response(_place_form(binding, {}, asked), HTTPStatus.UNPROCESSABLE_ENTITY)
    if not problems:
        try:
            is_same = "same" in request.form
            return _change(
                "change",
                lambda name, revision: changes.patch(name, fields, revision=revision, relocate=is_same),
            )
        except (Forbidden, Missing, Stale):
            raise
        except BindingConflict as error:
            if error.code not in ("bound-otherwise", "other-resource"):
                raise  # such as a name that was withdrawn meanwhile
            problem = FieldProblem(
                sentence(error.message),
                Translatable("a confirmation that the target leads to the same resource; select the box below"),
            )
            problems["same" if error.code == "bound-otherwise" else "resource"] = problem
        except BindingError as error:
            problems[_FIELDS.get(error.field or error.entry.about or "", "target")] = FieldProblem.of(error)
    return Response(_place_form(binding, problems), HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.get("/name/withdraw", endpoint="withdraw")
def withdraw() -> str:
    """Return the HTML page with the form to withdraw the query parameter ``name``."""
    return _withdrawal_form(_changeable(requested_name()), {})


@blueprint.post("/name/withdraw")
def save_withdrawal() -> AnyResponse:
    """Withdraw the name in the form fields, or correct the reason and the successor of a withdrawn one.
    Redirect to its page, or show the form again with its errors.
    """
    reason, successor = (request.form.get(field, "").strip() or None for field in ("reason", "successor"))
    try:
        return _change(
            "withdraw",
            lambda name, revision: changes.withdraw(name, reason=reason, successor=successor, revision=revision),
        )
    except (Forbidden, Missing, BindingConflict):
        raise
    except BindingError as error:
        problems = {"successor" if error.field == "successor" else "reason": FieldProblem.of(error)}
        form = _withdrawal_form(_get_recorded(requested_name(request.form)), problems)
        return Response(form, HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.post("/name/restore", endpoint="restore")
def restore() -> AnyResponse:
    """Make the withdrawn name in the form live again, and redirect to its page. If it shares a value with another
    name, show a question with 422 first.
    """
    binding = _get_recorded(requested_name(request.form))
    may_restore = binding.is_withdrawn and caller().may_change(binding.identifier)
    if may_restore and (asked := before_public.question_of(None, replace(binding, status="live"))):
        return Response(_publication(binding, asked), HTTPStatus.UNPROCESSABLE_ENTITY)
    return _change("restore", lambda name, revision: changes.restore(name, is_same=True, revision=revision))


@blueprint.get("/name/publish", endpoint="ask_to_publish")
def ask_to_publish() -> AnyResponse | str:
    """Return the page with the answer that visitors get when the reserved name ``name`` is live. Others redirect."""
    binding = _changeable(requested_name())
    if not binding.is_reserved:
        return see_other("desk.name", name=binding.identifier)
    return _publication(binding, _question_of_publication(binding) or before_public.Question())


@blueprint.post("/name/publish", endpoint="publish")
def publish() -> AnyResponse:
    """Make the reserved name in the form live, and redirect to its page. A question is shown first, with 422: before
    its date, if it shares a value with another name, or if its target does not answer.
    """
    binding, live = _get_recorded(requested_name(request.form)), Fields(status="live")
    may_publish = binding.is_reserved and caller().may_change(binding.identifier)
    if may_publish and (asked := _question_of_publication(binding)):
        return Response(_publication(binding, asked), HTTPStatus.UNPROCESSABLE_ENTITY)
    return _change("change", lambda name, revision: changes.patch(name, live, revision=revision))


@blueprint.post("/name/delete", endpoint="delete")
def delete() -> AnyResponse:
    """Delete the reserved name in the form, and redirect to the overview."""
    return _change("delete", lambda name, revision: changes.delete(name, revision=revision), to="desk.overview")


@blueprint.get("/name/texts", endpoint="redact")
def redact() -> str:
    """Return the page with the form that removes the texts of a name for good; the parameter ``name`` of the URL is the
    name. Only for administrators.
    """
    require_administrator(caller())
    return _redaction_form(_get_recorded(requested_name()), {})


@blueprint.post("/name/texts")
def remove_texts() -> AnyResponse:
    """Remove the texts of the name in the form for good, and redirect to its page.
    A reason is required. With the field ``resource``, the resource is removed, too.
    """
    name, reason = requested_name(request.form), " ".join(request.form.get("reason", "").split())
    try:
        with acting(accounts(), caller(), "redact", name, require=require_administrator) as actor:
            done = redaction.redact(
                site_bindings(), name, resource="resource" in request.form, reason=reason, actor=actor
            )
    except BindingError as error:
        if error.code != "reason-text":
            raise
        form = _redaction_form(_get_recorded(name), {"reason": FieldProblem.of(error)})
        return Response(form, HTTPStatus.UNPROCESSABLE_ENTITY)
    messages.put(_DONE["redacted"])
    if done.is_erased is None:
        messages.put(Translatable("To erase the texts from the files of PostgreSQL, run VACUUM."), "warn")
    elif not done.is_erased:
        messages.put(
            Translatable(
                "Another program reads the database, so its file still has the texts. Remove them again later."
            ),
            "warn",
        )
    return see_other("desk.name", name=_get_recorded(name).identifier)


@blueprint.post("/name/undo", endpoint="undo_last")
def undo_last() -> AnyResponse:
    """Undo the last change of the name in the form, and redirect to its page. An undo adds a change to the history."""
    name = requested_name(request.form)
    result = bulk.undo_change(accounts(), caller(), name, revision=read_revision())
    if result.written:
        messages.put(Translatable("The last change is undone."))
    elif result.refused:
        messages.put(Translatable("Nothing was undone: %(reason)s.", reason=result.refused[0].message), "warn")
    else:
        messages.put(Translatable("Nothing was undone, because there is nothing to undo."), "warn")
    return see_other("desk.name", name=name)


def _change(operation: str, request_change: RequestedChange, *, to: str = "desk.name") -> AnyResponse:
    """Make a change, and redirect to the page of the name. Show both versions if the name was changed meanwhile."""
    name = requested_name(request.form)
    try:
        saved = change_name(
            accounts(), caller(), operation, name, lambda name: request_change(name, read_revision()), asked=True
        )
    except Stale as error:
        return _conflict(error)
    key = saved.after.identifier
    put_done(_DONE.get(saved.outcome, _CHANGED), saved)
    return see_other(to) if to != "desk.name" else see_other(to, name=key)


def _conflict(error: Stale) -> AnyResponse:
    if error.existing is None:
        raise Missing("not-bound", identifier=error.identifier) from error
    revision = read_revision()
    events = site_bindings().history(error.existing.identifier)
    earlier = next((event.after for event in events if event.revision == revision), None)
    later = [each for each in changes_of(events) if each.revision > revision] if earlier else []
    given = forms.merge_statements(request.form).items(multi=True)
    sent = [(field, text) for field, text in given if field not in ("revision", "csrf_token")]
    form = [(field, _merge_text(field, text, earlier, error.existing)) for field, text in sent]
    page = render_template(
        "desk/conflict.html",
        binding=error.existing,
        theirs=list(differences(earlier, error.existing)) if earlier else [],
        later=later[:MAX_LATER],
        more_later=max(0, len(later) - MAX_LATER),
        form=form,
        yours=[
            (field_label(field), text)
            for field, text in form
            if field != "name" and not forms.is_recorded(field, text, error.existing.metadata)
        ],
        action=url(str(request.endpoint)),
    )
    return Response(page, HTTPStatus.CONFLICT)


def _merge_text(field: str, text: str, earlier: Binding | None, existing: Binding) -> str:
    """Return the recorded text of a metadata field that the user did not edit, so that saving keeps it."""
    is_edited = earlier is None or not field.startswith("m.") or not forms.is_recorded(field, text, earlier.metadata)
    return text if is_edited else existing.metadata.get(field.removeprefix("m."), "")


def _get_recorded(name: str) -> Binding:
    return reading.show(site_bindings(), caller(), name)


def _changeable(name: str) -> Binding:
    """Return a recorded name that the caller can change. Raises :class:`Forbidden` and :class:`Missing`."""
    binding = _get_recorded(name)
    require_granted(caller(), binding.identifier)
    return binding


def _question(binding: Binding, fields: Fields, *, relocate: bool = False) -> before_public.Question | None:
    """Return the question about the change of a public name, or None. The change reports errors itself."""
    if not caller().may_change(binding.identifier):
        return None
    now = site_bindings().now()
    try:
        changes = assignment.set_fields(binding.identifier, binding, fields, now, relocate=relocate)
    except BindingError:
        return None
    return before_public.question_of(binding, changes[-1].after)


def _question_of_publication(binding: Binding) -> before_public.Question | None:
    live = replace(binding, status="live", embargo=None)
    early: list[before_public.Concern] = []
    if binding.embargo is not None and binding.embargo > site_bindings().now():
        name = before_public.NewValues(binding.identifier)
        early.append(before_public.Concern(code="embargo", name=name, text=rfc3339(binding.embargo)))
    return before_public.question_of(None, live, also=early)


def _publication(binding: Binding, asked: before_public.Question) -> str:
    """Return the page before a name is live: what visitors get, and the concerns."""
    days = 0
    if binding.embargo is not None:
        days = max(0, -((site_bindings().now() - binding.embargo) // timedelta(days=1)))
    live = replace(binding, status="live", embargo=None)
    return render_template("desk/publish.html", binding=binding, response=response_of(live), days=days, asked=asked)


def _metadata_form(
    binding: Binding, problems: dict[str, FieldProblem], asked: before_public.Question | None = None
) -> str:
    records = PrefixRecords(site_bindings().store.prefixes())
    inherited = records.statements(binding.identifier, binding.metadata).by_element
    profiles = [
        (profile, title, forms.element_fields(profile, binding.metadata, forms.merge_statements(request.form)))
        for profile, title in forms.TITLES.items()
    ]
    labels = {field.name: field.label for *_, fields in profiles for field in fields}
    return render_template(
        "desk/metadata.html",
        binding=binding,
        inherited=inherited,
        profiles=profiles,
        labels={**labels, "new-element": Translatable("Name of the element"), "new-text": Translatable("Value")},
        codes=metadata.VALUE_CODES,
        errors=problems,
        asked=asked,
        form=request.form,
    )


def _place_form(
    binding: Binding, problems: dict[str, FieldProblem], asked: before_public.Question | None = None
) -> str:
    given = request.form
    rows = forms.alternate_rows(given or None, binding)
    if (removed := given.get("remove", "")).isdecimal():
        rows = [row for number, row in enumerate(rows) if str(number) != removed]
    if "add" in given or not rows:
        rows.append(forms.AlternateRow())
    return render_template(
        "desk/target.html",
        rows=rows,
        is_added="add" in given,
        binding=binding,
        texts=forms.TEXTS,
        kinds=[(kind, RESPONSES[kind]) for kind in KINDS],
        values={
            "target": given.get("target", binding.target or ""),
            "kind": given.get("kind", binding.kind),
            "redirect": given.get("redirect", str(binding.redirect)),
            "listed": given.get("listed", text_of("listed", binding)),
            **{field.name: given.get(field.name, text_of(field.name, binding)) for field in forms.TEXTS},
            "passthrough": given.get("passthrough", "no") if given else text_of("passthrough", binding),
            "subtree": "subtree" in given if given else binding.scope == "subtree",
            "same": "same" in given,
            "embargo": given.get("embargo", forms.embargo_text(binding)),
            **{column: given.get(column, text) for column, text in forms.number_texts(binding).items()},
        },
        errors=problems,
        asked=asked,
    )


def _redaction_form(binding: Binding, problems: dict[str, FieldProblem]) -> str:
    values = {"reason": request.form.get("reason", ""), "resource": "resource" in request.form}
    return render_template("desk/redaction.html", binding=binding, values=values, errors=problems)


def _withdrawal_form(binding: Binding, problems: dict[str, FieldProblem]) -> str:
    values = {
        "reason": request.form.get("reason", binding.reason or ""),
        "successor": request.form.get("successor", binding.successor or ""),
    }
    return render_template("desk/withdraw.html", binding=binding, values=values, errors=problems)


_FIELDS = {
    "embargo": "embargo",
    "resource": "resource",
    "numbers": "number",
    "alternates": "alternates",
    "scope": "kind",
    "kind": "kind",
    "redirect": "redirect",
}
"""The fields of the form of a target, by the field of an error. The others belong to the target."""
