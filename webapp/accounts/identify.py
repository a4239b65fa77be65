"""The caller of the current request: the account that sends it. A request can have one of these credentials:

- ``Authorization: Bearer TOKEN``, with a token of this site, or of a provider (:mod:`.provider_tokens`);
- ``Authorization: Basic``, with the name of the account, or no name, and the token as password; or with name and
  password of the account;
- the user that the web server reports in REMOTE_USER, if the operator trusts it (``remote_user``);
- the cookie of a session.

A credential in a URL is never read. A wrong credential is refused, also where no credential is needed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from flask import abort, g, request
from werkzeug.datastructures import Authorization

from ...bindings.names import validation
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from ..config import site
from ..errors import HTTPRefusal
from ..security import OF_CALLER
from . import cookies, csrf
from .model import Account, AccountError, Caller

if TYPE_CHECKING:
    from .store import Accounts

CHALLENGES = ('Bearer realm="Ararat"', 'Basic realm="Ararat", charset="UTF-8"')
"""The values of WWW-Authenticate for programs."""

_MAX_TOKEN = 200
_log = logging.getLogger(__name__)
_G = "ararat_caller"
_BROWSER_G = "ararat_account_of_browser"


def accounts() -> Accounts:
    """Return the accounts of the current site. Aborts with 404 if the site has no account."""
    found = site().accounts
    if found is None or not found.exist():
        abort(404)
    return found


def caller() -> Caller | None:
    """Return the caller of the current request, or None without a credential or without accounts.
    Raises BindingsUnavailable. Raises :class:`HTTPRefusal` for a wrong credential (401), too many failed attempts
    (429), and a request that another site can have sent (403).
    """
    if _G not in g:
        setattr(g, OF_CALLER, True)
        known = site().accounts
        setattr(g, _G, _identify(known) if known is not None and known.exist() else None)
    return g.get(_G)


def account_of_browser() -> Account | None:
    """Return the account of the current request, to present a page only: no proof that the person wants a change.
    Raises BindingsUnavailable, and :class:`HTTPRefusal` for a user of the web server without an account.
    """
    if _G in g:
        known_caller: Caller | None = g.get(_G)
        return None if known_caller is None else known_caller.account
    if _BROWSER_G not in g:
        setattr(g, _BROWSER_G, None)
        known = site().accounts
        if known is not None and known.exist():
            setattr(g, _BROWSER_G, _of_browser(known))
    return g.get(_BROWSER_G)


def _of_browser(known: Accounts) -> Account | None:
    if (user := remote_user()) is not None:
        return _of_user(known, user)
    session = cookies.session_id()
    found = known.sessions.caller(session, idle=site().settings.idle) if session else None
    return None if found is None else found.account


def require_caller() -> Caller:
    """Return the caller. Raises :class:`HTTPRefusal` with 401 without a credential; 404 if the site has no accounts."""
    found = caller()
    if found is None:
        accounts()
        raise unauthorized("credential-missing", "This needs an account. Sign in, or send a token.")
    return found


def of_token(known: Accounts, secret: str, address: str | None) -> Caller:
    """Return the account and the rights of an API token. Raises :class:`HTTPRefusal` (401) for another text."""
    # A token of this site has no full stop.
    if "." in secret and is_of_provider(secret):
        return of_found(known, _of_provider(known, secret, address), address)
    found = known.tokens.caller(secret) if len(secret) <= _MAX_TOKEN else None
    if found is None:
        raise unauthorized("token-invalid", "The token is not valid. It can be wrong, expired or revoked.")
    return of_found(known, found, address)


def is_of_provider(secret: str) -> bool:
    """Return whether a text looks like a JWT and this site accepts tokens of providers. No signature is checked."""
    return site().settings.provider_tokens is not None and secret.startswith("eyJ") and secret.count(".") == 2


def _of_provider(known: Accounts, token: str, address: str | None) -> Caller:
    from .provider import ProviderUnavailable
    from .provider_tokens import TokenRefused

    accepted = site().settings.provider_tokens
    assert accepted is not None, "the caller has asked is_of_provider"  # noqa: S101
    try:
        issuer, subject = accepted.identity(token, known.bindings.now(), address)
    except TokenRefused as refused:
        raise unauthorized("token-invalid", refused.sentence) from None
    except ProviderUnavailable as error:
        _log.warning("the provider of a token cannot be used: %s", display.escape(str(error)[:1000]))
        sentence = Translatable("The provider of the token cannot be reached at the moment. Try again later.")
        raise HTTPRefusal(503, "provider-unavailable", sentence, retry_after=error.retry_after) from None
    found = known.identities.program(issuer, subject)
    if found is None:
        sentence = Translatable(
            "The token is valid, but its issuer %(issuer)s and subject %(subject)s are not linked to the enabled "
            "account of a program.",
            issuer=validation.quote(issuer, 200),
            subject=validation.quote(subject, 200),
        )
        raise unauthorized("token-invalid", sentence)
    return found


def of_found(known: Accounts, found: Caller, address: str | None, path: str | None = None) -> Caller:
    """Return the caller of a token, or of the session of a token, with the client's address. An emergency token is
    audited. ``path`` replaces the path of the request in the audit if that has a secret.
    """
    known_caller = Caller(account=found.account, token=found.token, address=address)
    if found.token is not None and found.token.emergency:
        known.tokens.record_request(known_caller, f"{request.method} {path or request.path}")
    return known_caller


def of_name_and_secret(known: Accounts, name: str, secret: str, address: str | None) -> Caller:
    """Return the caller with a name and a password, or with a token as ``secret``. A token needs no name, but another
    name than that of its account is refused. Raises :class:`HTTPRefusal` (401, 429, 503).
    """
    from . import passwords  # it loads Argon2, which a site without accounts does not need

    if secret.startswith(passwords.TOKEN_BEGINS) or is_of_provider(secret):
        found = of_token(known, secret, address)
        if name and name.lower() != found.account.name:
            raise unauthorized("token-invalid", Translatable("The token belongs to another account than the name."))
        return found
    return Caller(account=signed_in(known, name, secret, address), address=address)


def signed_in(known: Accounts, name: str, password: str, address: str | None) -> Account:
    """Return the account with a name and a password. Raises :class:`HTTPRefusal`: 401 if one of them is wrong, 429
    after too many failed attempts, 503 if the server is busy.
    """
    from . import passwords
    from .records.attempts import TooManyAttempts
    from .sign_in import WrongPassword, sign_in

    try:
        return sign_in(known, name, password, address)
    except WrongPassword:
        raise unauthorized("sign-in-wrong", Translatable("The name or the password is wrong.")) from None
    except TooManyAttempts as error:
        sentence = Translatable("There were too many failed attempts to sign in. Wait 15 minutes, then try again.")
        raise HTTPRefusal(429, "sign-in-limit", sentence, retry_after=error.seconds) from None
    except passwords.PasswordsBusy:
        sentence = Translatable("Too many passwords are checked at this moment. Try again in some seconds.")
        raise HTTPRefusal(503, "sign-in-busy", sentence, retry_after=5) from None


def unauthorized(code: str, sentence: str) -> HTTPRefusal:
    """Return the error 401 with a code such as "token-invalid", a sentence, and the challenges WWW-Authenticate."""
    return HTTPRefusal(401, code, sentence, challenges=CHALLENGES)


def _identify(known: Accounts) -> Caller | None:
    address = request.remote_addr
    has_field = "Authorization" in request.headers
    # Browsers send these credentials by themselves.
    needs_own_form = request.method not in csrf.SAFE_METHODS
    if (user := remote_user()) is not None and not _is_bearer():
        if needs_own_form:
            csrf.require_own_form()
        return Caller(account=_of_user(known, user), address=address)
    if has_field:
        return _of_authorization(known, authorization(), address)
    session = cookies.session_id()
    if session is None and not cookies.has_session():
        return None
    found = known.sessions.caller(session, idle=site().settings.idle) if session else None
    if found is None:
        cookies.forget_session()
        raise unauthorized("session-ended", Translatable("The session has ended. Sign in again."))
    if needs_own_form:
        csrf.require_own_form()
    return Caller(account=found.account, address=address)


def remote_user() -> str | None:
    """Return the user that the web server reports, or None. It is None if the operator has not set ``remote_user``. It
    is None, too, if a proxy did not prove that it sent the request.
    """
    source = site().settings.user_source
    return None if source is None else source.of(request.environ)


def authorization() -> Authorization | None:
    """Return the field Authorization of the current request, or None if it is missing or cannot be read."""
    try:
        return request.authorization
    except ValueError:
        # werkzeug decodes Base64 when it reads the field, and raises this for characters that are not ASCII.
        return None


def _of_user(known: Accounts, user: str) -> Account:
    try:
        account = known.get(user)
    except AccountError:
        account = None
    if account is None or account.disabled or account.is_program:
        raise HTTPRefusal(
            403, "account-unknown", Translatable("The web server reports a user that has no account on this site.")
        )
    return account


def _is_bearer() -> bool:
    return request.headers.get("Authorization", "").lower().startswith("bearer ")


def _of_authorization(known: Accounts, given: Authorization | None, address: str | None) -> Caller:
    if given is not None and given.type == "bearer" and given.token:
        return of_token(known, given.token, address)
    if given is not None and given.type == "basic":
        if request.method not in csrf.SAFE_METHODS:
            # A browser repeats these credentials by itself.
            csrf.require_own_page()
        return of_name_and_secret(known, given.username or "", given.password or "", address)
    raise unauthorized(
        "credential-malformed", Translatable("The field Authorization is not valid. Use Bearer or Basic.")
    )
