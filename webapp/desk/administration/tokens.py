"""The page of the tokens of the caller: create a token, which is shown once, and revoke tokens."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus

from flask import Response, abort, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....identifiers.text.translatable import Translatable
from ...accounts import identify
from ...accounts.model import AccountError, Caller, Token
from ...accounts.records.tokens import EMERGENCY_DAYS, MAX_LABEL
from ...accounts.rights import RIGHTS
from ...config import site_bindings
from ...errors import HTTPRefusal
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem
from .forms import account_problem, read_prefixes

DAYS = 365
"""The suggested time until a token expires."""

_FIELDS = {"token-label": "label", "token-right": "rights"}


@blueprint.get("/tokens", endpoint="tokens")
def page() -> str:
    """Return the HTML page with the tokens of the caller, and the form for a new token."""
    return _page()


@blueprint.post("/tokens", endpoint="create_token")
def create() -> AnyResponse:
    """Create the token in the form fields, and redirect to the list of tokens, which shows its secret once. A wrong
    field shows the form with its errors.
    """
    asking, form = require_person(), request.form
    prefixes, wrong_prefix = read_prefixes(form.get("prefixes", ""), site_bindings().naming)
    expires, wrong_day = _read_day(form.get("expires", ""))
    if wrong_prefix is None and (foreign := [each for each in prefixes if not asking.may_change(each)]):
        wrong_prefix = FieldProblem(
            Translatable("Your account has no grant for %(prefix)s.", prefix=foreign[0]),
            Translatable("a prefix below one of your own"),
        )
    # The form has an empty right, because a browser sends nothing for check boxes that are not checked.
    rights = [right for right in form.getlist("rights") if right]
    problems = {field: each for field, each in (("expires", wrong_day), ("prefixes", wrong_prefix)) if each}
    if not problems:
        try:
            token, secret = identify.accounts().tokens.create(
                asking.account.name,
                form.get("label", ""),
                expires,
                prefixes or None,
                rights=None if "rights" not in form or {*rights} >= {*RIGHTS} else rights,
                emergency="emergency" in form,
                by=asking,
            )
            said = Translatable(
                "The token %(label)s is created. Store it now. It cannot be shown again.", label=token.label
            )
            messages.put(said, "warn", secret=secret)
            return see_other("desk.tokens")
        except AccountError as error:
            problems[_FIELDS.get(error.code, "expires")] = account_problem(error)
    return Response(_page(problems), HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.post("/tokens/revoke", endpoint="revoke_token")
def revoke() -> AnyResponse:
    """Revoke a token of the caller, and redirect to the list of tokens. The form has its ``number``."""
    asking = require_person()
    messages.put(revoke_of(asking, asking.account.name))
    return see_other("desk.tokens")


def revoke_of(asking: Caller, name: str) -> str:
    """Revoke the token of the account ``name`` with the number in the form, and return a sentence to show. Answers 404
    for a token of another account.
    """
    number, known = request.form.get("number", ""), identify.accounts()
    token = next((each for each in known.tokens.list(name) if str(each.number) == number), None)
    if token is None:
        abort(HTTPStatus.NOT_FOUND)
    known.tokens.revoke(token.number, by=asking)
    return Translatable("The token %(label)s is revoked. Programs can no longer use it.", label=token.label)


def sorted_tokens(name: str) -> tuple[list[Token], list[Token]]:
    """Return the valid tokens of an account, and its revoked or expired ones. Both lists begin with the newest."""
    known = identify.accounts()
    now, every = known.bindings.now(), known.tokens.list(name)[::-1]
    valid = [each for each in every if each.revoked is None and (each.expires is None or each.expires > now)]
    return valid, [each for each in every if each not in valid]


def _page(problems: dict[str, FieldProblem] | None = None) -> str:
    asking = caller()
    valid, invalid = sorted_tokens(asking.account.name)
    suggested = (identify.accounts().bindings.now() + timedelta(days=DAYS)).date()
    return render_template(
        "desk/tokens.html",
        valid=valid,
        invalid=invalid,
        may_create=asking.token is None,
        form=request.form or {"expires": suggested.isoformat()},
        most=MAX_LABEL,
        rights=[(right, words.label) for right, words in RIGHTS.items()],
        chosen_rights=request.form.getlist("rights") if request.form else [*RIGHTS],
        emergency_days=EMERGENCY_DAYS,
        errors=problems or {},
    )


def require_person() -> Caller:
    """Return the caller. Raises :class:`HTTPRefusal` (403, ``token-used``) for a program with a token. A stolen token
    could otherwise create another one or set a password, and so outlive its revocation.
    """
    asking = caller()
    if asking.token is not None:
        sentence = Translatable("A token cannot change tokens or accounts. Sign in with the account instead.")
        raise HTTPRefusal(HTTPStatus.FORBIDDEN, "token-used", sentence)
    return asking


def _read_day(text: str) -> tuple[datetime | None, FieldProblem | None]:
    """Return the end of a day in UTC, and None for an empty text; and the problem of another text."""
    if not text.strip():
        return None, None
    try:
        return datetime.combine(date.fromisoformat(text.strip()), time(23, 59, 59), UTC), None
    except ValueError:
        return None, FieldProblem(
            Translatable("This is not a day."),
            Translatable("a day in the future, such as 2027-11-23, or an empty field"),
        )
