"""The pages below /sign-in/openid: to the OpenID provider, and back from it.
State, nonce and code verifier are computed from a random cookie of the browser, so nothing is stored in between.
"""

from __future__ import annotations

import hmac
import logging
from http import HTTPStatus

from flask import Blueprint, Response, abort, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.system.concurrency import Busy
from ...bindings.system.thread_slots import slots
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from ..accounts import cookies, identify
from ..accounts.csrf import derive
from ..accounts.openid import NotConfirmed, OpenID, ProviderUnavailable
from ..config import site, url
from ..errors import HTTPRefusal
from ..navigation import page_title
from ..responses import forbid_caches, safe_path
from . import sign_in

blueprint = Blueprint("openid", __name__, url_prefix="/sign-in/openid")

_MAX_CODE = 4000
"""The maximum length of the code that the provider sends."""

_EACH = 2
"""The number of sign-ins of one client that wait for the provider at the same time."""

_log = logging.getLogger(__name__)

blueprint.before_request(sign_in.require_accounts)
blueprint.after_request(forbid_caches)


@blueprint.get("")
def start() -> AnyResponse:
    """Redirect the browser to the OpenID provider, where the user signs in."""
    provider, cookie = _provider(), cookies.form_id()
    destination = safe_path(request.args.get("next")) or ""
    try:
        with slots.acquire("sign-ins", request.remote_addr, each=_EACH):
            address = provider.authorization_url(
                redirect_uri=redirect_uri(),
                state=_state(cookie, destination),
                nonce=derive(cookie, "nonce"),
                verifier=derive(cookie, "verifier"),
            )
    except (ProviderUnavailable, Busy) as error:
        raise _unavailable(error) from None
    return redirect(address, HTTPStatus.SEE_OTHER)


@blueprint.get("/return")
def finish() -> AnyResponse:
    """Start a session for the identity that the OpenID provider confirms, and redirect to the requested page."""
    provider, cookie = _provider(), cookies.known_form_id()
    given = request.args.get("state", "")
    destination = given.partition(".")[2]
    if cookie is None or not hmac.compare_digest(
        _state(cookie, destination).encode(), given.encode("utf-8", "replace")
    ):
        raise HTTPRefusal(
            403,
            "openid-state",
            Translatable("The sign-in was not started in this browser, or took too long. Start it again."),
        )
    code = request.args.get("code", "")
    if not code or len(code) > _MAX_CODE or request.args.get("iss", provider.issuer) != provider.issuer:
        raise _not_confirmed(f"error {display.escape(request.args.get('error', '')[:200])}")
    try:
        with slots.acquire("sign-ins", request.remote_addr, each=_EACH):
            subject, value = provider.confirm(
                redirect_uri=redirect_uri(),
                code=code,
                nonce=derive(cookie, "nonce"),
                verifier=derive(cookie, "verifier"),
            )
    except (ProviderUnavailable, Busy) as error:
        raise _unavailable(error) from None
    except NotConfirmed as error:
        raise _not_confirmed(display.escape(str(error)[:1000])) from None
    identity = provider.issuer, subject
    identities = identify.accounts().identities
    account = identities.account(*identity)
    if account is None and provider.claim is not None and value is not None:
        account = identities.adopt(provider.issuer, provider.claim, value, subject)
    if account is None:
        return _unknown(provider, subject)
    return sign_in.begin(account, destination, identity)


def redirect_uri() -> str:
    """Return the URL of :func:`finish`, which must be registered at the provider. The Host field is not used."""
    return site().origin + url("openid.finish")


def _provider() -> OpenID:
    return site().settings.openid or abort(404)


def _state(cookie: str, destination: str) -> str:
    return f"{derive(cookie, f'state {destination}')}.{destination}"


def _unknown(provider: OpenID, subject: str) -> Response:
    page = render_template(
        "inspector/openid.html", title=page_title(Translatable("Sign in")), issuer=provider.issuer, subject=subject
    )
    return make_response(page, HTTPStatus.FORBIDDEN)


def _unavailable(error: Exception) -> HTTPRefusal:
    _log.warning("the OpenID provider cannot be used: %s", display.escape(str(error)[:1000]))
    sentence = Translatable("The OpenID provider cannot be reached at the moment. Try again in some seconds.")
    return HTTPRefusal(503, "openid-unavailable", sentence, retry_after=10)


def _not_confirmed(reason: str) -> HTTPRefusal:
    _log.warning("the OpenID provider did not confirm a sign-in: %s", reason)
    return HTTPRefusal(
        403, "openid-refused", Translatable("The OpenID provider did not confirm the sign-in. Start it again.")
    )
