"""The page for new names: mint some, or record one that the user chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from flask import Response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.changes import MAX_CHANGES
from ....bindings.minting import is_mintable
from ....bindings.names import targets
from ....bindings.names.binding import Binding, Status, rfc3339
from ....bindings.names.errors import BindingConflict, BindingError, BindingsUnavailable
from ....bindings.names.metadata import personal_data
from ....bindings.names.naming import NameWarning
from ....bindings.names.prefixes.prefixes import PrefixRecords
from ....bindings.names.selection import Selection, moment
from ....identifiers.text.translatable import Translatable, sentence
from ...accounts import identify
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...api.idempotency import OneRequest, StoredReply, reply_to
from ...config import site_bindings, url
from ...language.translation import translate
from ...management import ChangeResult, Fields, Forbidden, NewName, new_names
from ...management.permissions import require_curator
from .. import before_public, exports, messages
from ..blueprint import blueprint, caller, with_time
from ..forms import FieldProblem
from .check import Check, check

if TYPE_CHECKING:
    from ....middleware import Bindings

PLACE = "${identifier}"
"""The place of the name in the target of minted names. A button of the form inserts it."""

_WITHOUT_NEW_VALUES = ("unchanged", "withdrawn", "redacted", "deleted")

_KNOWN = Translatable("The name is recorded already with these values.")

_ELEMENTS = ("erc.who", "erc.what", "erc.when")


@blueprint.get("/new", endpoint="new")
def page() -> str:
    """Return the HTML page with the form for one new name, or with the parameter ``many`` the form for minting.
    The query parameters ``text`` and ``shoulder`` fill these forms.
    """
    require_curator(caller())
    return _page(is_many="many" in request.args)


@blueprint.get("/new/check", endpoint="check_new")
def check_text() -> str:
    """Return the check of the typed name in the query string, as a fragment of HTML."""
    return render_template(
        "desk/_check.html",
        check=_check(request.args.get("text", ""), request.args.get("target", "")),
        shoulders=shoulders(site_bindings(), caller()),
        values=request.args,
        last=caller().account.preferences.shoulder,
        errors={},
    )


@blueprint.post("/new/name", endpoint="record_new")
def record() -> AnyResponse:
    """Create the name in the form, or mint one for a URL without an ARK or URN. Redirect to its page, or show the form
    again with its errors.
    """
    found = _check(request.form.get("text", ""))
    fields = _fields(found.target)
    below = _choice("below") if "below" in request.form else _only_shoulder()
    problems: dict[str, FieldProblem] = {}
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    try:
        if found.key is None and found.target is None:
            problems["text"] = _unreadable(found)
            found = Check()  # The error has the text of the check.
        elif found.key is None and not below:
            problems["below"] = FieldProblem(
                Translatable("No shoulder is selected."), Translatable("the shoulder of the new name")
            )
        else:
            new = NewName(fields, name=found.key) if found.key else NewName(fields, shoulder=below)
            ask = partial(_question, fields, found.key)
            answer, made = _created_once([new], ask, lambda made: url("desk.name", name=made[0].after.identifier))
            if made:
                if new.shoulder:
                    _remember(new.shoulder)
                is_known = made[0].outcome == "unchanged"
                put_done(_KNOWN if is_known else _done(made[0]), made[0])
            return answer
    except Forbidden:
        raise
    except _Asked as error:
        return Response(_page({}, found, asked=error.question), status)
    except BindingConflict as error:
        problems["text"] = FieldProblem.of(error)
    except BindingError as error:
        about = "embargo" if error.field == "embargo" else _field_of(error.code)
        problems[about] = FieldProblem.of(error)
        status = _status_of(error)
    return Response(_page(problems, found), status)


def _status_of(error: BindingError) -> HTTPStatus:
    """Return the status of a form that is refused: 409 for a prefix whose names are not minted here."""
    is_conflict = error.code in ("prefix-delegated", "prefix-retired")
    return HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY


@blueprint.post("/new/mint", endpoint="mint")
def mint() -> AnyResponse:
    """Mint the names of the form, and redirect to their list. A reload of the list mints no more names."""
    problems: dict[str, FieldProblem] = {}
    if "insert" in request.form:
        # The button of the target, in a browser without scripts.
        template = f"{request.form.get('template', '').strip()}{PLACE}"
        return Response(_page(is_many=True, template=template))
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    count = request.form.get("count", "1").strip()
    if not (count.isascii() and count.isdecimal() and len(count) < 6 and 1 <= int(count) <= MAX_CHANGES):
        problems["count"] = FieldProblem(
            Translatable("This is not a number of names."),
            Translatable("a number from 1 to %(most)s", most=MAX_CHANGES),
        )
    else:
        try:
            state: Status = "live" if request.form.get("state") == "live" else "reserved"
            template = request.form.get("template", "").strip()
            new = NewName(_template(template, state), shoulder=_choice("shoulder"))
            # Names with the same target share it with each other.
            shared = Fields(status=state, target=template if PLACE not in template else None, embargo=_embargo())
            ask = partial(_question, shared, None, min(int(count), 2))
            answer, _ = _created_once(
                [new] * int(count), ask, lambda made: url("desk.minted", created=_creation_time(made))
            )
            _remember(_choice("shoulder"))
            return answer
        except Forbidden:
            raise
        except _Asked as error:
            return Response(_page(is_many=True, asked=error.question), status)
        except BindingError as error:
            about = "embargo" if error.field == "embargo" else "shoulder"
            problems["template" if error.code.startswith("target") else about] = FieldProblem.of(error)
            status = _status_of(error)
    return Response(_page(problems, is_many=True), status)


class _Asked(Exception):
    """The form asks ``question`` first. No name was created."""

    def __init__(self, question: before_public.Question) -> None:
        super().__init__()
        self.question = question


def _creation_time(made: Sequence[ChangeResult]) -> str:
    return rfc3339(made[0].after.created)


def _created_once(
    wanted: Sequence[NewName],
    ask: Callable[[], before_public.Question | None],
    address: Callable[[Sequence[ChangeResult]], str],
) -> tuple[AnyResponse, Sequence[ChangeResult]]:
    """Create names, and return the redirect to ``address`` of the result, and the result.
    Raise :class:`_Asked` for a question that ``ask`` returns. A second click, with the same random form field "once",
    gets the same redirect and an empty result.
    """
    form = sorted((name, text) for name, text in request.form.items(multi=True) if name != "csrf_token")
    digest = sha256(repr((request.path, form)).encode()).hexdigest()

    def represent(made: Sequence[ChangeResult]) -> StoredReply:
        return StoredReply(value=None, status=HTTPStatus.SEE_OTHER, location=address(made))

    def create(who: Caller) -> list[ChangeResult]:
        # Not before: the names that the first of two clicks has created would share these values.
        if asked := ask():
            raise _Asked(asked)
        return new_names.create(accounts(), who, wanted)

    if "once" not in request.form:
        made = create(caller())
        return redirect(address(made), HTTPStatus.SEE_OTHER), made
    one = OneRequest(accounts(), caller().account.number, f"form {digest}", digest)
    who = caller().with_end(lambda transaction: one.store_result(transaction, represent))
    created: list[ChangeResult] = []

    def act() -> StoredReply:
        created[:] = create(who)
        return represent(created)

    try:
        reply, is_repeated = reply_to(one, act)
    except _Asked:
        # The first of two clicks can have created the names meanwhile.
        if (earlier := one.earlier_reply()) is None:
            raise
        reply, is_repeated = earlier, True
    return redirect(reply.location or url("desk.new"), HTTPStatus.SEE_OTHER), [] if is_repeated else created


@blueprint.get("/new/minted", endpoint="minted")
def minted() -> str:
    """Return the page with the names that the caller minted at the time ``created``, and their operation."""
    require_curator(caller())
    names = _minted_names()
    return render_template(
        "desk/minted.html",
        names=names,
        created=request.args.get("created", ""),
        operation=site_bindings().history(names[0].identifier)[0].operation if len(names) > 1 else None,
    )


@blueprint.get("/new/minted.csv", endpoint="minted_csv")
def minted_csv() -> Response:
    """Return the names that the caller minted at one time, with their targets, as a CSV file to save."""
    require_curator(caller())
    columns = ("identifier", "target", "status")
    rows = [{column: getattr(each, column) for column in columns} for each in _minted_names()]
    return exports.csv_file("names", columns, rows)


def _minted_names() -> list[Binding]:
    """Return the names that the caller created at the time of the parameter ``created``. A mint has one time."""
    try:
        created = moment(request.args.get("created", ""))
        before = created + timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return []
    selection = Selection(owner=caller().actor, created_since=created, created_before=before)
    return site_bindings().list_names(selection, limit=MAX_CHANGES).names


def shoulders(bindings: Bindings, asking: Caller) -> list[tuple[str, str]]:
    """Return the prefixes below which an account can mint, each with a label, sorted. Whole NAANs are the last ones."""
    records = {record.prefix: record.what for record in bindings.prefixes.list()}
    known = {*asking.account.prefixes, *(prefix for prefix in records if asking.may_change(prefix))}
    if urns := [prefix for prefix in known if prefix.startswith("urn:")]:
        # Names below the beginning of URNs can be invalid in their namespace, such as an ISBN without its check digit.
        stated, naming = PrefixRecords(bindings.store.prefixes()), bindings.naming
        known -= {prefix for prefix in urns if not is_mintable(prefix, stated, naming)}
    ordered = sorted(known, key=lambda prefix: (prefix.endswith("/"), prefix))
    return [(each, f"{each} ({records[each]})" if records.get(each) else each) for each in ordered]


def _page(
    problems: dict[str, FieldProblem] | None = None,
    found: Check | None = None,
    *,
    is_many: bool = False,
    template: str | None = None,
    asked: before_public.Question | None = None,
) -> str:
    values, known = request.values, shoulders(site_bindings(), caller())
    return render_template(
        "desk/new.html",
        is_many=is_many and bool(known),
        template=values.get("template", "") if template is None else template,
        place=PLACE,
        shoulders=known,
        last=caller().account.preferences.shoulder,
        check=found or _check(values.get("text", ""), values.get("target", "")),
        values=values,
        once=token_urlsafe(12),
        elements=_ELEMENTS,
        errors=problems or {},
        asked=asked,
        most=MAX_CHANGES,
    )


def _check(text: str, target: str = "") -> Check:
    return check(site_bindings(), caller(), text, target.strip())


def _fields(target: str | None) -> Fields:
    form = request.form
    metadata = {each: form[each].strip() for each in _ELEMENTS if form.get(each, "").strip()}
    return Fields(
        target=form.get("target", "").strip() or target,
        status="live" if form.get("status") == "live" else "reserved",
        resource=form.get("resource", "").strip() or None,
        metadata=metadata,
        embargo=_embargo(),
    )


def _embargo() -> str | None:
    return with_time(_choice("embargo")) or None


def _question(fields: Fields, key: str | None, number: int = 1) -> before_public.Question | None:
    """Return the question about new public names, or None. ``key`` is the name; None for names that are minted."""
    if (fields.status != "live" and fields.embargo is None) or (key and site_bindings().lookup(key)):
        return None
    try:
        target = fields.target and targets.check(fields.target, "located")
    except BindingError:
        return None  # the form reports the error of the target
    numbers = (fields.resource,) if fields.resource else ()
    new = before_public.NewValues(key or "", numbers, target, before_public.title_in(fields.metadata or {}))
    return before_public.question([new] * number, requests=fields.status == "live")


def _template(template: str, state: Status) -> Fields | Callable[[str], Fields]:
    """Return the fields of minted names. :data:`PLACE` in the target becomes the name."""
    fields = Fields(status=state, embargo=_embargo())
    return (lambda name: fields._replace(target=template.replace(PLACE, name))) if template else fields


def _remember(shoulder: str) -> None:
    """Choose a shoulder the next time that the account mints a name. The names are minted already."""
    known, preferences = identify.accounts(), caller().account.preferences
    if preferences.shoulder != shoulder:
        try:
            known.set_preferences(caller().account.name, replace(preferences, shoulder=shoulder), by=caller())
        except (BindingsUnavailable, BindingError):
            return  # such as a database that is busy


def _choice(field: str) -> str:
    return request.form.get(field, "").strip()


def _only_shoulder() -> str:
    """Return the shoulder of an account that has only one. A page without scripts shows no shoulders at first."""
    known = shoulders(site_bindings(), caller())
    return known[0][0] if len(known) == 1 else ""


def _unreadable(found: Check) -> FieldProblem:
    if found.remarks:
        return FieldProblem(found.remarks[0].text)
    return FieldProblem(
        Translatable("The text has no identifier."), Translatable("an ARK, a URN, or the address of a resource")
    )


def put_done(text: str, saved: ChangeResult) -> None:
    """Show a message about a change on the next page, with warnings about personal data and probable mistakes."""
    binding = saved.after
    found: list[NameWarning] = []
    if saved.outcome not in _WITHOUT_NEW_VALUES:
        name = binding.spelling if saved.is_new else ""
        found = personal_data.warnings_about(name, binding.target, binding.resource, binding.metadata)
    found += saved.warnings
    said = [translate(each) for each in (text, *(sentence(each.message) for each in found))]
    messages.put(" ".join(said), "warn" if found else "good")


def _done(saved: ChangeResult) -> str:
    if saved.after.is_reserved:
        return Translatable("The name is reserved.")
    return Translatable("The name is live.")


def _field_of(code: str) -> str:
    """Return the field of the form that an error is about."""
    fields = {"target": "target", "resource": "resource", "metadata": "erc.what", "shoulder": "below"}
    fields |= {"rule-prefix": "below", "prefix": "below"}
    return next((field for beginning, field in fields.items() if code.startswith(beginning)), "text")
