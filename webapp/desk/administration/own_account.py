"""The page of the own account: preferences, password and sessions. Tokens have a page of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import Final
from zoneinfo import available_timezones

from flask import Response, abort, make_response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....identifiers.text.translatable import Translatable
from ...accounts import cookies, identify, passwords
from ...accounts.model import AccountError, Caller, Preferences
from ...accounts.records.attempts import TooManyAttempts
from ...accounts.records.database import secret_hash
from ...accounts.records.sessions import SESSION_HOURS
from ...accounts.sign_in import WrongPassword, sign_in
from ...config import site
from ...errors import HTTPRefusal
from ...language import current
from ...language.current import languages
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem
from .forms import account_problem
from .tokens import require_person

MAX_DISPLAY_NAME = 60

SEPARATORS: Final = (
    ("", Translatable("As usual for the language")),
    ("comma", Translatable("Comma")),
    ("semicolon", Translatable("Semicolon")),
    ("tab", Translatable("Tab")),
)


@blueprint.get("/account", endpoint="own_account")
def page() -> str:
    """Return the HTML page with the preferences of the caller, the form for the password, and the sessions."""
    return _page()


@blueprint.post("/account/preferences", endpoint="save_preferences")
def save() -> AnyResponse:
    """Save the preferences in the form fields, and redirect to the page of the account, or show the errors with 422."""
    asking = require_person()
    wanted = replace(
        asking.account.preferences,
        display_name=request.form.get("display_name", "").strip(),
        language=request.form.get("language", ""),
        time_zone=request.form.get("time_zone", "").strip(),
        separator=request.form.get("separator", ""),
    )
    if problems := _problems(wanted):
        return Response(_page(problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    identify.accounts().set_preferences(asking.account.name, wanted, by=asking)
    # The next page has the new language.
    with current.use(wanted.language or current.language()):
        messages.put(Translatable("Your preferences are saved."))
    return see_other("desk.own_account")


@blueprint.post("/account/password", endpoint="change_own_password")
def change_password() -> AnyResponse:
    """Set a new password of the caller, who must type the current one. Other sessions end. Wrong fields give 422."""
    asking, known = require_person(), identify.accounts()
    problems = _change_password(asking)
    if problems:
        return Response(_page(problems), HTTPStatus.UNPROCESSABLE_ENTITY)
    account = known.get(asking.account.name)
    if account is None:
        abort(HTTPStatus.NOT_FOUND)
    session = known.sessions.start(account, address=request.remote_addr, idle=site().settings.idle)
    # The message cookie belongs to the session that has just ended.
    response = make_response(see_other("desk.own_account", changed="password"))
    return cookies.set_session(response, session, SESSION_HOURS * 3600)


@blueprint.post("/account/sessions", endpoint="end_own_sessions")
def end_sessions() -> AnyResponse:
    """End the session in the form, or all sessions of the caller except the current one. Redirect to the account."""
    asking, current = require_person(), _current()
    wanted = request.form.get("session", "")
    known = identify.accounts().sessions
    ended = known.end_some(asking.account.name, lambda each: each == wanted if wanted else each != current, by=asking)
    messages.put(Translatable.counted("%(number)s session is ended.", "%(number)s sessions are ended.", ended))
    return see_other("desk.own_account")


def _change_password(asking: Caller) -> dict[str, FieldProblem]:
    """Set the password of the form, and return the problems of its fields."""
    name, new = asking.account.name, request.form.get("password", "")
    known = identify.accounts()
    if not asking.account.has_password:
        return {
            "current": FieldProblem(
                Translatable("Your account has no password."), Translatable("a one-time link of an administrator")
            )
        }
    if new != request.form.get("again", ""):
        return {
            "again": FieldProblem(Translatable("The passwords are different."), Translatable("the new password, twice"))
        }
    try:
        sign_in(known, name, request.form.get("current", ""), request.remote_addr)
        known.set_password(name, new, by=asking)
    except WrongPassword:
        return {"current": FieldProblem(Translatable("This is not the current password of your account."))}
    except TooManyAttempts:
        message = Translatable("There were too many wrong passwords. Wait 15 minutes, then try again.")
        return {"current": FieldProblem(message)}
    except AccountError as error:
        return {"password": account_problem(error)}
    except passwords.PasswordsBusy:
        message = Translatable("Too many passwords are checked at this moment. Try again in some seconds.")
        raise HTTPRefusal(HTTPStatus.SERVICE_UNAVAILABLE, "sign-in-busy", message, retry_after=5) from None
    return {}


def _problems(wanted: Preferences) -> dict[str, FieldProblem]:
    problems: dict[str, FieldProblem] = {}
    if len(wanted.display_name) > MAX_DISPLAY_NAME or not wanted.display_name.isprintable():
        expected = Translatable.counted(
            "at most %(number)s character without control characters",
            "at most %(number)s characters without control characters",
            MAX_DISPLAY_NAME,
        )
        problems["display_name"] = FieldProblem(Translatable("This display name cannot be used."), expected)
    if wanted.language and wanted.language not in languages():
        problems["language"] = FieldProblem(
            Translatable("This language is not known."), Translatable("a language of the list")
        )
    if wanted.time_zone and wanted.time_zone not in _zones():
        problems["time_zone"] = FieldProblem(
            Translatable("This time zone is not known."), Translatable("a name such as Europe/Berlin")
        )
    if wanted.separator not in dict(SEPARATORS):
        problems["separator"] = FieldProblem(
            Translatable("This separator is not known."), Translatable("a separator of the list")
        )
    return problems


@cache
def _zones() -> tuple[str, ...]:
    """Return the time zones that this machine knows, in order."""
    return tuple(sorted(available_timezones() | {"UTC"}))


def _current() -> str | None:
    session = cookies.session_id()
    return None if session is None else secret_hash(session)


def _page(problems: dict[str, FieldProblem] | None = None) -> str:
    account, form = caller().account, request.form
    preferences = account.preferences
    return render_template(
        "desk/own_account.html",
        account=account,
        values={
            "display_name": form.get("display_name", preferences.display_name),
            "language": form.get("language", preferences.language),
            "time_zone": form.get("time_zone", preferences.time_zone),
            "separator": form.get("separator", preferences.separator),
        },
        choices=[("", Translatable("Not selected")), *languages().items()],
        separators=SEPARATORS,
        zones=_zones(),
        most=MAX_DISPLAY_NAME,
        sessions=identify.accounts().sessions.list(account),
        current=_current(),
        is_changed=request.args.get("changed") == "password",
        errors=problems or {},
    )
