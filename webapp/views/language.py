"""Choose the language of the pages: by the URL (``lang``), the account, the browser or the institution, in this order.
The browser states it by a cookie, or else by the field Accept-Language.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from flask import Blueprint, Flask, Response, current_app, g, has_request_context, redirect, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.names.errors import BindingsUnavailable
from ...identifiers.text.translatable import Translatable
from ...middleware.resolution.settings import ENGLISH
from ...middleware.views.languages import preferred_language
from ..accounts import cookies, csrf, identify
from ..accounts.model import Account
from ..config import site, url
from ..errors import HTTPRefusal
from ..language import current
from ..language.current import language
from ..responses import safe_path

blueprint = Blueprint("language", __name__)

PARAMETER = "lang"
"""The parameter of a URL that selects the language of its page."""

HEADER = "X-Language"
"""The header field with which a page of a URL with ``lang`` requests its fragments."""

COOKIE = "ararat-language"
_MAX_LINK = 500
"""The maximum length of the address of a page in another language, in characters."""

_IN_PATHS = "%!$&'()*+,/:;=@"
"""The characters of a path that stay as they are, as in :func:`werkzeug.urls.iri_to_uri`."""

_NOT_PAGES = frozenset(
    {
        *(
            "inspect.favicon",
            "inspect.healthz",
            "inspect.logo",
            "inspect.opensearch",
            "inspect.picture",
            "inspect.robots",
        ),
        *("language.choose", "openid.finish", "policy.judged_as_json", "reference.description", "static"),
    }
)
_OF_PROGRAMS = ("api", "management")
_G = "ararat_language_of_url"

_YEAR = 365 * 24 * 3600


def init_app(app: Flask) -> None:
    """Register the choice of the language in the application ``app``. Its pages then offer all languages."""
    app.extensions[current.CHOICE] = _choose
    app.register_blueprint(blueprint)
    app.url_defaults(_keep)
    app.jinja_env.globals.update(
        asked_language=_of_address,
        requested_language=_of_request,
        can_save_language=lambda: _account() is not None,
        language_links=links,
        here=here,
        language_field=language_field,
    )


def _choose() -> str:
    permitted = current.languages()
    account = _account()
    wishes = (
        _of_address(),
        request.headers.get(HEADER),
        None if account is None else account.preferences.language,
        request.cookies.get(COOKIE),
    )
    for wish in wishes:
        if wish is not None and wish in permitted:
            return wish
    usual = site().settings.language if site().settings.language in permitted else ENGLISH
    in_order = (usual, *(each for each in permitted if each != usual))
    return preferred_language(request.headers.get("Accept-Language"), in_order)


def _of_address() -> str | None:
    """Return the language that the URL of the request selects, or None."""
    wish = request.args.get(PARAMETER)
    return wish if wish in current.languages() else None


def _of_request() -> str | None:
    """Return the language that the URL of the request, or that of its page for a stream of events, selects."""
    if _G not in g:
        wish = _of_address() or request.headers.get(HEADER)
        setattr(g, _G, wish if wish in current.languages() else None)
    return g.get(_G)


def _keep(endpoint: str, values: dict[str, Any]) -> None:
    """Keep the language that the URL of the current page selects in the URLs of its links, forms and redirects."""
    # A page has dozens of URLs, and almost none selects a language.
    if PARAMETER in values or not has_request_context() or (wish := _of_request()) is None:
        return
    is_page = endpoint not in _NOT_PAGES and not endpoint.endswith("_json")
    if is_page and endpoint.partition(".")[0] not in _OF_PROGRAMS:
        values[PARAMETER] = wish


def language_field() -> Markup:
    """Return the field with which a form that is sent as a query string keeps the language of its page, or ""."""
    wish = _of_request()
    if wish is None:
        return Markup()
    return Markup('<input type="hidden" name="{}" value="{}">').format(PARAMETER, wish)


def _account() -> Account | None:
    """Return the account of the browser, or None. A wrong credential is not refused here, but by the page."""
    try:
        return identify.account_of_browser()
    except (BindingsUnavailable, HTTPRefusal):
        return None


def links() -> list[tuple[str, str]]:
    """Return pairs of a language tag and the URL of the page in this language, for readers without an account. A page
    with a long text in its URL, and a page of the desk, have no links.
    """
    if request.method not in ("GET", "HEAD") or request.path.startswith("/desk"):
        return []
    # The host of the request is not used: a page in a cache must not name another site.
    page, query = site().origin + quote(request.script_root + request.path, safe=_IN_PATHS), _without_language()
    found = [(tag, f"{page}?{urlencode([*query, (PARAMETER, tag)])}") for tag in current.languages()]
    return found if all(len(address) <= _MAX_LINK for _, address in found) else []


def here() -> str:
    """Return the path and query of the current page, or of a page that a browser can load instead."""
    if request.method not in ("GET", "HEAD") and not _can_be_loaded():
        return _page_of_form()
    query = urlencode(_without_language())
    path = safe_path(f"{request.script_root}{request.path}{'?' if query else ''}{query}")
    return url("inspect.page", lang=None) if path is None else path


def _can_be_loaded() -> bool:
    """Return whether a browser can load the address of the current form as a page."""
    adapter = current_app.create_url_adapter(request)
    try:
        return adapter is not None and adapter.match(request.path, "GET")[0] != "desk.missing"
    except HTTPException:
        return False


def _page_of_form() -> str:
    """Return the path of the page with the form that was sent, if it is on this site."""
    try:
        sent_from = urlsplit(request.referrer or "")
    except ValueError:
        sent_from = urlsplit("")
    if sent_from.netloc == request.host:
        path = safe_path(f"{sent_from.path}{'?' if sent_from.query else ''}{sent_from.query}")
        if path is not None:
            return path
    return url("desk.overview" if request.path.startswith("/desk") else "inspect.page", lang=None)


def _without_language() -> list[tuple[str, str]]:
    query = request.query_string.decode("ascii", "replace")
    return [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != PARAMETER]


@blueprint.post("/language")
def choose() -> AnyResponse:
    """Save the language in the form in a cookie, and in the account, if any. Redirect to the page before."""
    wanted = request.form.get("language", "")
    if wanted not in current.languages():
        raise HTTPRefusal(
            HTTPStatus.BAD_REQUEST, "language-unknown", Translatable("Ararat has no pages in this language.")
        )
    csrf.require_own_page()
    response = redirect(safe_path(request.form.get("next")) or url("inspect.page", lang=None), HTTPStatus.SEE_OTHER)
    if _account() is not None or "Authorization" in request.headers:
        caller = identify.require_caller()
        preferences = replace(caller.account.preferences, language=wanted)
        # The cookie is kept also if the database can only be read.
        with suppress(BindingsUnavailable):
            identify.accounts().set_preferences(caller.account.name, preferences, by=caller)
    secure = cookies.is_https()
    response.set_cookie(COOKIE, wanted, _YEAR, path="/", secure=secure, httponly=True, samesite="Lax")
    return response


def describe(response: Response) -> None:
    """State the language of a page, and the fields of the request that select it."""
    if not response.content_language:
        response.content_language.add(language())
    response.vary.update(["Accept-Language", "Cookie", HEADER])
    if _account() is not None:
        response.headers["Cache-Control"] = "no-store"
