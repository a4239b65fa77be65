"""The user and the address of the client that a reverse proxy reports, and when both are trusted.

A WSGI environ has one key for several names of a header field: ``X-Remote-User`` and ``X_Remote_User`` are both
``HTTP_X_REMOTE_USER``. Some servers keep fields with an underscore, and the last field wins. A proxy that removes only
one spelling lets a client send the other one. So a field of the user counts only together with a secret that only the
proxy knows. With a secret, the same is true for ``X-Forwarded-For`` and ``X-Forwarded-Proto``.
"""

from __future__ import annotations

import hmac
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from werkzeug.middleware.proxy_fix import ProxyFix

from ..identifiers.text import display

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SECRET_FIELD = "X-Ararat-Secret"  # noqa: S105 - the name of a field
"""The default name of the field with the secret."""

MIN_SECRET = 32
"""The minimum length of the secret in characters."""

FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto")
"""The fields of a proxy that are read if proxies are trusted."""

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SECRET = re.compile(rf"[!-~](?:[ -~]{{{MIN_SECRET - 2},998}})[!-~]")

# Modules of servers that pass a field with an underscore on. docs/request-targets.md has the tests.
_KEEPING = {"granian": "granian", "uwsgi": "uWSGI", "cheroot": "cheroot", "wsgiref.simple_server": "wsgiref"}
# Other packages, such as prometheus_client, load wsgiref too.
_DROPPING = ("gunicorn", "waitress", "gevent", "mod_wsgi", "uvicorn", "hypercorn")


@dataclass(frozen=True, slots=True)
class ProxySecret:
    """The secret that a proxy adds to each request, and the name of its field.

    Raises ValueError for a secret of fewer than 32 characters, or with a character that is not printable ASCII, and for
    a wrong name of the field.

    >>> secret = ProxySecret("0123456789abcdef0123456789abcdef")
    >>> secret.is_in({"HTTP_X_ARARAT_SECRET": "0123456789abcdef0123456789abcdef"}), secret.is_in({})
    (True, False)
    """

    secret: str = field(repr=False)
    name: str = SECRET_FIELD

    def __post_init__(self) -> None:
        environ_key(self.name, "remote_user_secret_field")
        if not _SECRET.fullmatch(self.secret):
            expected = f"{MIN_SECRET} to 1,000 characters of printable ASCII"
            raise ValueError(f"remote_user_secret: the secret is too short or has other characters; use {expected}")

    def is_in(self, environ: Mapping[str, Any]) -> bool:
        """Return whether a request has the secret. ``environ`` is the WSGI environ of the request.

        The time does not depend on the place of the first wrong character.
        """
        given = environ.get(environ_key(self.name, "remote_user_secret_field"))
        if not isinstance(given, str):
            return False
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.secret.encode("ascii"))


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """The user that a web server or proxy has signed in.

    ``key`` is the key of the environ. Without ``secret`` the key is that of the server itself, which no client can set.

    >>> RemoteUser.of_setting("REMOTE_USER", None).of({"REMOTE_USER": "jane"})
    'jane'
    >>> proxied = RemoteUser.of_setting("X-Remote-User", ProxySecret("0123456789abcdef0123456789abcdef"))
    >>> print(proxied.of({"HTTP_X_REMOTE_USER": "jane"}))
    None
    """

    key: str
    secret: ProxySecret | None

    @classmethod
    def of_setting(cls, name: str, secret: ProxySecret | None) -> RemoteUser:
        """Return the source of the user name of a request.

        ``name`` is "REMOTE_USER" or the name of a header field. ``secret`` is the secret that the proxy adds, which a
        header field needs; or None. Raises ValueError for another name, and for a field without a secret.
        """
        if name == "REMOTE_USER":
            return cls(name, None)
        key = environ_key(name, "remote_user")
        if secret is None:
            raise ValueError(
                f"remote_user: the field {name} needs a secret that only the proxy knows; set remote_user_secret=…"
            )
        if key == environ_key(secret.name, "remote_user_secret_field"):
            raise ValueError("remote_user: the user and the secret need different fields")
        return cls(key, secret)

    def of(self, environ: Mapping[str, Any]) -> str | None:
        """Return the user of a request, or None without a user, without the secret, or with two users.

        ``environ`` is the WSGI environ of the request.
        """
        user = environ.get(self.key)
        if not isinstance(user, str) or not user:
            return None
        if self.secret is None:
            return user
        # Some servers join two fields of one name. No account has a comma in its name.
        return user if "," not in user and self.secret.is_in(environ) else None


class ForwardedFields:
    """A WSGI application that gets the address of the client and the scheme from the fields of ``proxies`` proxies.

    With a secret, the fields of a request without it are ignored. Header fields never set the host, port or path.
    """

    def __init__(self, app: WSGIApplication, proxies: int, secret: ProxySecret | None = None) -> None:
        self.app = app
        self._secret = secret
        self._trusting = ProxyFix(app, x_for=proxies, x_proto=proxies, x_host=0, x_port=0, x_prefix=0)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        trusted = self._secret is None or self._secret.is_in(environ)
        return (self._trusting if trusted else self.app)(environ, start_response)


def environ_key(name: str, setting: str) -> str:
    """Return the key of a header field in a WSGI environ. ``name`` is the name of the field.

    Raises ValueError for another text. ``setting`` is the name of the setting in the message.

    >>> environ_key("X-Remote-User", "remote_user")
    'HTTP_X_REMOTE_USER'
    """
    if not _FIELD.fullmatch(name):
        shown = display.escape(name)
        allowed = "set REMOTE_USER or the name of a field" if setting == "remote_user" else "set the name of a field"
        raise ValueError(f"{setting}: {shown!r} is not a header field; {allowed}")
    return f"HTTP_{name.upper().replace('-', '_')}"


def other_spellings(name: str) -> list[str]:
    """Return the other names of header fields that have the same key in a WSGI environ. ``name`` is the name of a
    field.

    >>> other_spellings("X-Remote-User")
    ['X-Remote_User', 'X_Remote-User', 'X_Remote_User']
    """
    parts = name.split("-")
    joined = (product("-_", repeat=len(parts) - 1)) if len(parts) <= 5 else [("_",) * (len(parts) - 1)]
    spelled = ["".join(map("".join, zip(parts, (*signs, ""), strict=True))) for signs in joined]
    return [each for each in spelled if each != name]


def removal(*names: str) -> str:
    """Return the lines of Apache that remove the other spellings of header fields. ``names`` are the names of the
    fields.

    >>> removal("X-User")
    'RequestHeader unset X_User'
    """
    return "; ".join(f"RequestHeader unset {each}" for name in names for each in other_spellings(name))


def server_that_keeps_underscores() -> str | None:
    """Return the name of the server that runs this process, if it passes on header fields with an underscore."""
    found = next((name for module, name in _KEEPING.items() if module in sys.modules), None)
    return None if found == "wsgiref" and any(module in sys.modules for module in _DROPPING) else found


def forwarded(environ: Mapping[str, Any]) -> dict[str, int | str]:
    """Return facts about the fields X-Forwarded-For and X-Forwarded-Proto of a request, without any address.

    ``environ`` is the WSGI environ of the request. ``ararat doctor`` reads the facts:

    - ``values``: the number of values of X-Forwarded-For.
    - ``position``: the trusted value, counted from the last one. 0: the field is not used. If several values are
      equal, the first of them counts.
    - ``scheme``: "http" or "https", as the application sees it.

    >>> forwarded({"HTTP_X_FORWARDED_FOR": "192.0.2.1, 192.0.2.2", "REMOTE_ADDR": "127.0.0.1"})
    {'values': 2, 'position': 0, 'scheme': 'http'}

    Source: ``werkzeug.middleware.proxy_fix``, which keeps the values before its changes.
    """
    given = environ.get("HTTP_X_FORWARDED_FOR", "")
    values = [value.strip() for value in given.split(",") if value.strip()]
    position = 0
    if "werkzeug.proxy_fix.orig" in environ and environ.get("REMOTE_ADDR") in values:
        position = len(values) - values.index(environ["REMOTE_ADDR"])
    return {"values": len(values), "position": position, "scheme": str(environ.get("wsgi.url_scheme", "http"))}
