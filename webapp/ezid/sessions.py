"""The caller of a request, and sign-in with a session cookie. A client sends the name of an account with its password
or a token, with each request, or once to ``/login``. Programs send the cookie back; a browser does not send it with
requests of other sites. Source: EZID API, version 2, "Authentication".
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import request
from werkzeug.http import dump_cookie

from .. import cross_site
from ..accounts import cookies, identify
from ..accounts.model import Caller, SignInOutdated
from ..errors import HTTPRefusal
from .answers import EzidAnswer, EzidRequest, Failed, unauthorized
from .configuration import ezid

COOKIE = "sessionid"

# Other applications also have a cookie with this name. Their values have another form.
_VALUE = re.compile(r"[A-Za-z0-9_-]{43}(?:\.[0-9]{1,18})?")


def caller() -> Caller | None:
    """Return the caller, or None without credentials. Raises :class:`~.answers.Failed` for wrong credentials."""
    if "Authorization" in request.headers:
        return _of_authorization()
    session = _session()
    if session is None:
        return None
    accounts = ezid().accounts
    found = accounts.sessions.caller(session)
    if found is None:
        raise unauthorized("the session has ended; send the name and the password again")
    return identify.of_found(accounts, found, request.remote_addr)


def require_caller() -> Caller:
    """Return the caller of a change. Raises :class:`~.answers.Failed`: 401 without an account, 403 for another site."""
    if cross_site.from_another_site():
        # A browser sends cookies and known passwords by itself.
        raise Failed("forbidden", "a page of another site sent the request")
    found = caller()
    if found is None:
        raise unauthorized()
    return found


def login(asked: EzidRequest) -> EzidAnswer:
    """Start a session for the name and password in ``Authorization``, and return an answer that sets its cookie. Raises
    :class:`~.answers.Failed` for wrong credentials, and for a request from a page of another site.
    """
    if cross_site.from_another_site():
        raise Failed("forbidden", "a page of another site sent the request")
    if "Authorization" not in request.headers:
        raise unauthorized()
    found = _of_authorization()
    given = identify.authorization()
    if given is not None and identify.is_of_provider(given.token or given.password or ""):
        # A session would outlive it.
        raise unauthorized("a token of a provider begins no session; send it with each request")
    accounts = ezid().accounts
    try:
        session = accounts.sessions.start(found.account, token=found.token, address=request.remote_addr)
    except SignInOutdated:
        raise unauthorized("the account was changed during the sign-in; send the name and the password again") from None
    return EzidAnswer(text="session cookie returned", fields={"Set-Cookie": _cookie(session)})


def logout(asked: EzidRequest) -> EzidAnswer:
    """End the session of the cookie, if it has one, and return an answer that deletes the cookie. Raises
    :class:`~.answers.Failed` for a request from a page of another site.
    """
    if cross_site.from_another_site():
        raise Failed("forbidden", "a page of another site sent the request")
    if session := _session():
        ezid().accounts.sessions.end(session)
    return EzidAnswer(text="authentication credentials flushed", fields={"Set-Cookie": _cookie("", max_age=0)})


def _of_authorization() -> Caller:
    accounts, address = ezid().accounts, request.remote_addr
    given = identify.authorization()
    try:
        if given is not None and given.type == "basic":
            return identify.of_name_and_secret(accounts, given.username or "", given.password or "", address)
        if given is not None and given.type == "bearer" and given.token:
            return identify.of_token(accounts, given.token, address)
    except HTTPRefusal as error:
        if error.code == 503:
            fields = {"Retry-After": str(error.retry_after or 5)}
            raise Failed("concurrency limit exceeded", error.sentence, fields=fields) from None
        raise unauthorized(error.sentence) from None
    raise unauthorized("the field Authorization is not valid; use Basic")


def _session() -> str | None:
    value = request.cookies.get(COOKIE, "")
    return value if _VALUE.fullmatch(value) else None


def _cookie(value: str, max_age: int | None = None) -> str:
    path = urlsplit(ezid().base()).path
    return dump_cookie(
        COOKIE, value, max_age=max_age, path=path, secure=cookies.is_https(), httponly=True, samesite="Strict"
    )
