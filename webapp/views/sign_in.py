"""The pages /sign-in and /sign-out. Until an account exists, the first shows the command that adds one."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...identifiers.text.translatable import Translatable
from ..accounts import cookies, csrf, first_account, identify
from ..accounts.model import ROLE_LABELS, Account, Caller, SignInOutdated
from ..accounts.records.sessions import SESSION_HOURS
from ..config import site, url
from ..errors import HTTPRefusal
from ..navigation import page_title
from ..responses import forbid_caches, safe_path

_MAX_NAME = 64

blueprint = Blueprint("sign_in", __name__)


@blueprint.before_request
def require_accounts() -> AnyResponse | None:
    """Until an account exists, show how to add the first one at /sign-in, and answer 404 elsewhere."""
    if request.method in ("GET", "HEAD") and request.path == "/sign-in" and first_account.is_missing():
        return first_account.page()
    identify.accounts()
    return None


blueprint.after_request(forbid_caches)


@blueprint.get("/sign-in")
def page() -> Response:
    """Return the HTML page with the form to sign in, or with the account of the caller."""
    return _answer()


@blueprint.post("/sign-in")
def enter() -> AnyResponse:
    """Start a session for the name and password in the form, and redirect. Show the form again with its errors."""
    csrf.require_own_form()
    name, password = request.form.get("name", ""), request.form.get("password", "")
    try:
        account = identify.signed_in(identify.accounts(), name.strip(), password, request.remote_addr)
        return begin(account, request.form.get("next"))
    except HTTPRefusal as error:
        # A page cannot answer 401: a browser would ask for credentials itself.
        status = HTTPStatus.UNPROCESSABLE_ENTITY if error.code == 401 else error.code or 500
        response = _answer(error.sentence, status)
        if error.retry_after is not None:
            response.headers["Retry-After"] = str(error.retry_after)
        return response


@blueprint.get("/sign-out")
def confirm() -> Response:
    """Return the HTML page with the button that ends the session."""
    return make_response(
        render_template("inspector/sign_out.html", title=page_title(Translatable("Sign out")), token=csrf.form_token())
    )


@blueprint.post("/sign-out")
def leave() -> AnyResponse:
    """End the session of the browser, and redirect to the page to sign in."""
    csrf.require_own_form()
    if session := cookies.session_id():
        identify.accounts().sessions.end(session)
    return cookies.delete_session(_see_other(url("sign_in.page")))


def begin(account: Account, destination: str | None, identity: tuple[str, str] | None = None) -> AnyResponse:
    """Start a session with a new id, and redirect to a path of this site, by default the desk.
    An OpenID ``identity`` has an issuer and a subject. Raises :class:`HTTPRefusal`.
    """
    known = identify.accounts()
    if old := cookies.session_id():
        known.sessions.end(old)
    try:
        session = known.sessions.start(
            account, identity=identity, address=request.remote_addr, idle=site().settings.idle
        )
    except SignInOutdated:
        raise HTTPRefusal(
            403, "sign-in-outdated", Translatable("The account was changed during the sign-in. Sign in again.")
        ) from None
    response = _see_other(safe_path(destination) or url("desk.overview"))
    return cookies.set_session(response, session, SESSION_HOURS * 3600)


def _see_other(path: str) -> Response:
    return make_response(redirect(path, HTTPStatus.SEE_OTHER))


def _caller() -> Caller | None:
    try:
        return identify.caller()
    except HTTPRefusal:
        return None  # a session that has ended, or a user without an account


def _answer(failure: str | None = None, status: int = 200) -> Response:
    destination = safe_path(request.values.get("next"))
    caller = _caller() if request.method != "POST" else None
    page = render_template(
        "inspector/sign_in.html",
        title=page_title(Translatable("Sign in")),
        caller=caller,
        role_label=ROLE_LABELS[caller.account.role] if caller else "",
        by_web_server=identify.remote_user() is not None,
        failure=failure,
        name=request.form.get("name", "").strip()[:_MAX_NAME],
        destination=destination,
        provider=site().settings.openid,
        token=csrf.form_token(),
    )
    return Response(page, status)
