"""The pages of accounts: the list, the form for a new account, and one account. Only for administrators."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from flask import Response, abort, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....identifiers.text.translatable import Translatable
from ...accounts import identify
from ...accounts.identify import accounts
from ...accounts.model import MAX_PREFIX, ROLE_LABELS, Account, AccountError, Caller
from ...config import site_bindings
from ...errors import HTTPRefusal
from ...management import Forbidden
from ...management.acting import record_refusal
from ...management.permissions import require_administrator
from .. import exports, messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem
from .account_changes import CHANGES, WrongField, put_link
from .forms import account_problem, read_prefixes
from .tokens import require_person, sorted_tokens

_ROLE_CHOICES: Final = (
    ("reader", Translatable("Reader: sees reserved names and the history")),
    ("curator", Translatable("Curator: also changes the names below the granted prefixes")),
    ("administrator", Translatable("Administrator: also manages all names, accounts and prefixes")),
)
"""The roles with their labels, for a choice."""

_COLUMNS: Final = ("name", "role", "prefixes", "created", "disabled", "has_password", "program")
_FIELDS: Final = (("account-role", "role"),)


@blueprint.get("/accounts", endpoint="accounts")
def page() -> str:
    """Return the HTML page with all accounts, and the form for a new one."""
    _administrator()
    return _page()


@blueprint.get("/accounts.<any(csv, jsonl):form>")
def export_accounts(form: str) -> Response:
    """Return all accounts as a file to save ("csv" or "jsonl"), without passwords and tokens."""
    _administrator()
    rows = [account.as_dict() for account in identify.accounts().list()]
    if form == "csv":
        return exports.csv_file("accounts", _COLUMNS, (row | {"prefixes": " ".join(row["prefixes"])} for row in rows))
    return exports.json_lines_file("accounts", rows)


@blueprint.post("/accounts", endpoint="add_account")
def add() -> AnyResponse:
    """Add the account that is described by the form fields. Redirect to its page, or show the form with its errors."""
    asking, form = _administrator("account.add"), request.form
    prefixes, wrong = read_prefixes(form.get("prefixes", ""), site_bindings().naming)
    problems = {"prefixes": wrong} if wrong else {}
    if not problems:
        try:
            added = identify.accounts().add(form.get("name", "").strip(), form.get("role", ""), prefixes, by=asking)
            if "link" in form:
                put_link(added, identify.accounts().make_link(added.name, by=asking))
            else:
                messages.put(Translatable("The account %(name)s is added.", name=added.name))
            return see_other("desk.account", name=added.name)
        except AccountError as error:
            field = next((field for beginning, field in _FIELDS if error.code.startswith(beginning)), "name")
            problems[field] = account_problem(error)
    return Response(_page(problems), HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.get("/accounts/<name>", endpoint="account")
def account(name: str) -> str:
    """Return the HTML page of an account with the forms to change it, or 404 for an unknown account."""
    _administrator()
    return _account_page(_find(name))


@blueprint.post("/accounts/<name>/<change>", endpoint="change_account")
def change_account(name: str, change: str) -> AnyResponse:
    """Make one of :data:`~.account_changes.CHANGES`, such as "grant", and redirect to the page of the account. A wrong
    field gives that page with 422, an unknown change 404.
    """
    if change not in CHANGES:
        abort(HTTPStatus.NOT_FOUND)
    asking = _administrator(f"account.{change}")
    found = _find(name)
    try:
        done = CHANGES[change](identify.accounts(), found, asking)
    except WrongField as error:
        problems = {error.field: error.problem}
        return Response(_account_page(found, problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    if done:
        messages.put(done)
    is_demoted = found.number == asking.account.number and change == "role" and request.form["role"] != found.role
    return see_other("desk.overview") if is_demoted else see_other("desk.account", name=found.name)


def _administrator(operation: str | None = None) -> Caller:
    """Return the caller of a page or of a change (``operation``), and write a refused change to the audit. Raises
    :class:`Forbidden` unless the caller is an administrator, and :class:`HTTPRefusal` for a change with a token.
    """
    try:
        asking = require_administrator(caller())
        return require_person() if operation else asking
    except (Forbidden, HTTPRefusal) as error:
        if operation:
            code = error.code if isinstance(error, Forbidden) else error.kind
            record_refusal(accounts(), caller(), operation, None, code)
        raise


def _find(name: str) -> Account:
    """Return the account with this name. Answers 404 if there is none."""
    try:
        found = identify.accounts().get(name)
    except AccountError:
        found = None
    return found or abort(HTTPStatus.NOT_FOUND)


def _page(problems: dict[str, FieldProblem] | None = None) -> str:
    return render_template(
        "desk/accounts.html",
        accounts=identify.accounts().list(),
        roles=_ROLE_CHOICES,
        role_names=ROLE_LABELS,
        exports=exports.addresses("desk.export_accounts"),
        form=request.form,
        errors=problems or {},
    )


def _account_page(account: Account, problems: dict[str, FieldProblem] | None = None) -> str:
    known = identify.accounts()
    valid, invalid = sorted_tokens(account.name)
    return render_template(
        "desk/account.html",
        account=account,
        is_own=account.number == caller().account.number,
        sessions=known.sessions.count(account),
        failed=known.failed_attempts(account),
        identities=known.identities.list(account),
        valid=valid,
        invalid=invalid,
        roles=_ROLE_CHOICES,
        role_names=ROLE_LABELS,
        longest=MAX_PREFIX,
        form=request.form,
        errors=problems or {},
    )
