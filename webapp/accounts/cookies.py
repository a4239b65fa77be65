"""The cookies of signed-in browsers: the session, and a random value for forms without a session.
On https their names begin with ``__Host-``, so that no subdomain can set them. They are HttpOnly and SameSite=Lax.
"""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from urllib.parse import urlsplit

from flask import Response, after_this_request, g, request

from ..config import site

_SESSION = "ararat"
_FORM = "ararat-form"
_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_FORM_SECONDS = 3600
_G = "ararat_form_id"
_FORGOTTEN = "ararat_session_forgotten"


def session_id() -> str | None:
    """Return the session id of the current request, or None. It can be unknown or ended."""
    return None if _FORGOTTEN in g else _read(_SESSION)


def forget_session() -> None:
    """Treat the current request as one without a session, and delete its cookie."""
    setattr(g, _FORGOTTEN, True)
    after_this_request(delete_session)


def has_session() -> bool:
    """Return whether the current request has a cookie of a session, also one that is not valid."""
    return _name(_SESSION) in request.cookies


def form_id() -> str:
    """Return the random value of this browser for forms. If it did not send the cookie, set the cookie."""
    found = known_form_id() or g.get(_G)
    if found is None:
        found = secrets.token_urlsafe(32)
        setattr(g, _G, found)
        new = found
        after_this_request(lambda response: _set(response, _FORM, new, _FORM_SECONDS))
    return found


def known_form_id() -> str | None:
    """Return the random value of the cookie for forms, or None without the cookie."""
    return _read(_FORM)


def set_session(response: Response, session: str, seconds: int) -> Response:
    """Set the cookie with the session id ``session`` for ``seconds``, delete that for forms. Return the response."""
    _delete(response, _FORM)
    return _set(response, _SESSION, session, seconds)


def delete_session(response: Response) -> Response:
    """Delete the session cookie of the browser, and return the same response. The session in the database stays."""
    return _delete(response, _SESSION)


def is_https() -> bool:
    """Return whether the browser uses https. If a proxy forwards http without reporting it, the settings decide."""
    if request.is_secure:
        return True
    settings = site().settings
    return request.host.lower() in _https_hosts(settings.inspector, settings.prefix)


@lru_cache(maxsize=16)
def _https_hosts(*addresses: str | None) -> frozenset[str]:
    own = (urlsplit(address) for address in addresses if address)
    return frozenset(each.netloc.lower() for each in own if each.scheme == "https")


def _name(name: str) -> str:
    return f"__Host-{name}" if is_https() else name


def _read(name: str) -> str | None:
    value = request.cookies.get(_name(name), "")
    return value if _ID.fullmatch(value) else None


def _set(response: Response, name: str, value: str, seconds: int) -> Response:
    response.set_cookie(_name(name), value, max_age=seconds, path="/", secure=is_https(), httponly=True, samesite="Lax")
    return response


def _delete(response: Response, name: str) -> Response:
    response.delete_cookie(_name(name), path="/", secure=is_https(), httponly=True, samesite="Lax")
    return response
