"""Tokens in forms, against forms that a page of another site sends for a user (CSRF).
A token is computed from a random cookie of the browser. So the server needs no secret key and stores no tokens.
"""

from __future__ import annotations

import hmac

from flask import request

from ...identifiers.text.translatable import Translatable
from .. import cross_site
from ..errors import HTTPRefusal
from . import cookies

FIELD = "csrf_token"
"""The name of the form field."""

HEADER = "X-CSRF-Token"
"""The header field for requests of scripts, with the same value."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def form_token() -> str:
    """Return the token for the forms of the current page. If the browser did not send a cookie, set one."""
    return derive(cookies.session_id() or cookies.form_id(), "csrf")


def require_own_form() -> None:
    """Raise :class:`HTTPRefusal` (403, ``csrf`` or ``other-site``) unless a form of this site sent the current
    request. It needs the token of :func:`form_token` as a field of the form, or as a header field.
    """
    require_own_page()
    given = request.headers.get(HEADER) or (request.form.get(FIELD) if request.mimetype in _FORMS else None) or ""
    # A page of a subdomain can set the cookie of forms on http. It cannot set that of the session, which is random.
    known = cookies.session_id() or cookies.known_form_id()
    if known is None or not hmac.compare_digest(derive(known, "csrf").encode(), given.encode("utf-8", "replace")):
        raise HTTPRefusal(
            403,
            "csrf",
            Translatable(
                "The form is too old, or the browser does not send cookies. "
                "Load the page again and send the form again."
            ),
        )


def require_own_page() -> None:
    """Raise :class:`HTTPRefusal` (403, ``other-site``) if a page of another site sent the current request."""
    if cross_site.from_another_site():
        raise HTTPRefusal(
            403, "other-site", Translatable("A page of another site sent this request. Use the form on this site.")
        )


def derive(cookie: str, purpose: str) -> str:
    """Return 64 hexadecimal digits that need the secret text of a cookie. ``purpose`` names their use, such as "csrf".

    >>> derive("a", "csrf") == derive("a", "csrf"), derive("a", "csrf") == derive("a", "state")
    (True, False)
    """
    return hmac.digest(cookie.encode(), purpose.encode("utf-8", "replace"), "sha256").hex()
