"""The user and the address of the client that a reverse proxy reports, and when both are trusted.

A WSGI environ has one key for ``X-Remote-User`` and ``X_Remote_User``. A proxy that replaces only one spelling lets a
client send the other one. So the field of the user has a name of letters and digits, which has one spelling. It counts
only together with a secret that only the proxy knows. With a secret, ``X-Forwarded-For`` and ``X-Forwarded-Proto`` also
count only together with it.
"""

from __future__ import annotations

import hmac
import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.http import parse_list_header
from werkzeug.middleware.proxy_fix import ProxyFix

from ...bindings.system.thread_slots import instances_of
from ...identifiers.text import display

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SECRET_FIELD = "X-Ararat-Secret"  # noqa: S105 - the name of a field
"""The default name of the field with the secret."""

MIN_SECRET = 32
"""The minimum length of the secret in characters."""

FORWARDED = ("X-Forwarded-For", "X-Forwarded-Proto")
"""The fields of a proxy that are read if proxies are trusted."""

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_ONE_SPELLING = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SECRET = re.compile(rf"[!-~](?:[ -~]{{{MIN_SECRET - 2},998}})[!-~]")

# Modules of servers that pass a field with an underscore on. docs/request-targets.md has the tests.
_KEEPING = {"granian": "granian", "uwsgi": "uWSGI", "cheroot": "cheroot", "wsgiref.simple_server": "wsgiref"}
# Other packages, such as prometheus_client, load wsgiref too.
_DROPPING = ("gunicorn", "waitress", "gevent", "mod_wsgi", "uvicorn", "hypercorn")
# The fields from which servers take the scheme.
_OF_SCHEME = ("HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_PROTOCOL", "HTTP_X_FORWARDED_SSL")

_log = logging.getLogger(__name__)


class TrustingServer(NamedTuple):
    """A server that reads forwarded fields itself, before the application. ``fields`` are those that it trusts, and
    ``clients`` the addresses that may send them. ``remedy`` is a sentence in the imperative: set this, so that it
    trusts none.
    """

    name: str
    fields: str
    clients: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ProxySecret:
    """The secret that a proxy adds to each request, and the name of its field. Raises ValueError for fewer than 32
    characters, or others than printable ASCII, and for a wrong name of the field.

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
        """Return whether a request has the secret. The time does not depend on the place of a wrong character."""
        given = environ.get(environ_key(self.name, "remote_user_secret_field"))
        if not isinstance(given, str):
            return False
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.secret.encode("ascii"))


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """The user that a web server or proxy has signed in, under ``key`` in the environ. Without ``secret`` the key is
    that of the server itself, which no client can set.

    >>> RemoteUser.of_setting("REMOTE_USER", None).of({"REMOTE_USER": "jane"})
    'jane'
    >>> proxied = RemoteUser.of_setting("XRemoteUser", ProxySecret("0123456789abcdef0123456789abcdef"))
    >>> print(proxied.of({"HTTP_XREMOTEUSER": "jane"}))
    None
    """

    key: str
    secret: ProxySecret | None

    @classmethod
    def of_setting(cls, name: str, secret: ProxySecret | None) -> RemoteUser:
        """Return the source of the user name. ``name`` is "REMOTE_USER", or a header field of letters and digits, which
        needs the secret of the proxy. Raises ValueError for another name, and for a field without a secret.
        """
        if name == "REMOTE_USER":
            return cls(name, None)
        if fault := fault_of_user_field(name):
            lines = "; ".join(map(": ".join, proxy_lines(fault.name, SECRET_FIELD if secret is None else secret.name)))
            raise ValueError(f"remote_user: {fault.message}; {fault.remedy}. {lines}")
        key = environ_key(name, "remote_user")
        if secret is None:
            raise ValueError(
                f"remote_user: the field {name} needs a secret that only the proxy knows; set remote_user_secret=…"
            )
        if key == environ_key(secret.name, "remote_user_secret_field"):
            raise ValueError("remote_user: the user and the secret need different fields")
        return cls(key, secret)

    def of(self, environ: Mapping[str, Any]) -> str | None:
        """Return the user of a request, or None without a user, without the secret, or with two users."""
        user = environ.get(self.key)
        if not isinstance(user, str) or not user:
            return None
        if self.secret is None:
            return user
        # Some servers join two fields of one name. No account has a comma in its name.
        return user if "," not in user and self.secret.is_in(environ) else None


class ForwardedFields:
    """A WSGI application that gets the address of the client and the scheme from the fields of ``proxies`` proxies.
    With a secret, the fields of a request without it are ignored. So is the scheme that the server itself has taken
    from them. A server that trusts the address in them is named in the log. Host, port and path never change.
    """

    def __init__(self, app: WSGIApplication, proxies: int, secret: ProxySecret | None = None) -> None:
        self.app = app
        self._secret = secret
        self._trusting = ProxyFix(app, x_for=proxies, x_proto=proxies, x_host=0, x_port=0, x_prefix=0)
        # Some servers make their objects after they have loaded the application.
        self._is_server_known = secret is None or warn_of_trusting_server()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._is_server_known:
            self._is_server_known = True
            warn_of_trusting_server()
        if self._secret is None or self._secret.is_in(environ):
            return self._trusting(environ, start_response)
        if not environ.keys().isdisjoint(_OF_SCHEME):
            environ["wsgi.url_scheme"] = "http"
        return self.app(environ, start_response)


def client_address(environ: Mapping[str, Any], proxies: int, secret: ProxySecret | None = None) -> str:
    """Return the address of the client of a request: the value of X-Forwarded-For that the last of ``proxies`` trusted
    proxies has added. With 0 proxies, too few values, or a ``secret`` that the request lacks, it is REMOTE_ADDR, or "".

    >>> client_address({"HTTP_X_FORWARDED_FOR": "192.0.2.9, 192.0.2.1", "REMOTE_ADDR": "127.0.0.1"}, 1)
    '192.0.2.1'
    """
    is_trusted = secret is None or secret.is_in(environ)
    values = parse_list_header(environ.get("HTTP_X_FORWARDED_FOR", "")) if is_trusted else []
    return values[-proxies] if 0 < proxies <= len(values) else environ.get("REMOTE_ADDR", "")


class UserFieldFault(NamedTuple):
    """The reason why a field cannot have the user, the remedy, and the ``name`` of a field that can."""

    message: str
    remedy: str
    name: str


def fault_of_user_field(name: str) -> UserFieldFault | None:
    """Return why a header field cannot have the user, or None.

    >>> fault_of_user_field("XRemoteUser") is None, fault_of_user_field("X-Remote-User").name
    (True, 'XRemoteUser')
    """
    if _ONE_SPELLING.fullmatch(name):
        return None
    shown, better = display.escape(name), re.sub("[-_]", "", name)
    if not _ONE_SPELLING.fullmatch(better):
        remedy = "set REMOTE_USER, or the name of a field of letters and digits"
        return UserFieldFault(f"{shown!r} is not a header field", remedy, "XRemoteUser")
    message = (
        f"{shown!r} has a hyphen or an underscore. Some servers read both as the same, so a client can send the other "
        "spelling"
    )
    return UserFieldFault(message, f"use letters and digits, such as {better}", better)


def proxy_lines(user: str, secret: str) -> list[tuple[str, str]]:
    """Return the lines of Apache and nginx that send the user in the header field ``user``, and the secret in
    ``secret``.

    >>> for proxy, lines in proxy_lines("XUser", "X-Proof"):
    ...     print(f"{proxy}: {lines}")
    Apache: RequestHeader set XUser expr=%{REMOTE_USER}; RequestHeader set X-Proof "SECRET"
    nginx: proxy_set_header XUser $remote_user; proxy_set_header X-Proof "SECRET";
    """
    return [
        ("Apache", f'RequestHeader set {user} expr=%{{REMOTE_USER}}; RequestHeader set {secret} "SECRET"'),
        ("nginx", f'proxy_set_header {user} $remote_user; proxy_set_header {secret} "SECRET";'),
    ]


def warn_of_trusting_server() -> bool:
    """Return whether the server of this process trusts forwarded fields itself. If so, write its setting and the remedy
    to the log.
    """
    server = trusting_server()
    if server is not None:
        _log.warning(
            "%s itself trusts %s of %s, without the secret of the proxy; %s",
            server.name, server.fields, server.clients, server.remedy,
        )  # fmt: skip
    return server is not None


def trusting_server() -> TrustingServer | None:
    """Return the server of this process if its configuration trusts forwarded fields, or None. The objects of the
    server are searched, because none passes its configuration on. Sources:
    https://docs.gunicorn.org/en/stable/settings.html#forwarded-allow-ips, https://www.uvicorn.org/settings/#http,
    https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html.
    """
    if "uwsgi" in sys.modules:
        return TRUSTING_SERVERS["uWSGI"]
    for name, (module, kind, setting) in _SETTINGS.items():
        if (found := getattr(sys.modules.get(module), kind, None)) is None:
            continue
        for config in instances_of(found):
            if clients := setting(config):
                shown = clients if isinstance(clients, str) else ", ".join(map(str, clients))
                return TRUSTING_SERVERS[name]._replace(clients=display.escape(shown))
    return None


_SETTINGS: Mapping[str, tuple[str, str, Callable[[Any], Any]]] = {
    # A worker of gunicorn can run uvicorn, whose fields then count.
    "uvicorn": ("uvicorn.config", "Config", lambda config: config.proxy_headers and config.forwarded_allow_ips),
    "gunicorn": ("gunicorn.config", "Config", lambda config: config.forwarded_allow_ips),
    "waitress": ("waitress.adjustments", "Adjustments", lambda config: config.trusted_proxy),
}

_BOTH = " and ".join(FORWARDED)
TRUSTING_SERVERS: Mapping[str, TrustingServer] = {
    each.name: each
    for each in (
        TrustingServer("gunicorn", FORWARDED[1], "127.0.0.1, ::1", "set --forwarded-allow-ips ''"),
        TrustingServer("uvicorn", _BOTH, "127.0.0.1, ::1", "set --no-proxy-headers"),
        TrustingServer(
            "waitress", _BOTH, "trusted_proxy", "omit --trusted-proxy, and set --no-clear-untrusted-proxy-headers"
        ),
        TrustingServer("uWSGI", FORWARDED[1], "all clients", "let only the proxy reach it, such as by --socket PATH"),
    )
}
"""The servers that can trust forwarded fields themselves, with their defaults. hypercorn and granian never do, unless
the application is wrapped in ``ProxyFixMiddleware`` or ``wrap_wsgi_with_proxy_headers``.
"""


def environ_key(name: str, setting: str) -> str:
    """Return the key of a header field in a WSGI environ. Raises ValueError, which names ``setting``, for a text that
    is not the name of a field.

    >>> environ_key("X-Ararat-Secret", "remote_user_secret_field")
    'HTTP_X_ARARAT_SECRET'
    """
    if not _FIELD.fullmatch(name):
        shown = display.escape(name)
        raise ValueError(f"{setting}: {shown!r} is not a header field; set the name of a field")
    return f"HTTP_{name.upper().replace('-', '_')}"


def other_spellings(name: str) -> list[str]:
    """Return the other names of header fields that have the same key in a WSGI environ.

    >>> other_spellings("X-Forwarded-For")
    ['X-Forwarded_For', 'X_Forwarded-For', 'X_Forwarded_For']
    """
    parts = name.split("-")
    joined = (product("-_", repeat=len(parts) - 1)) if len(parts) <= 5 else [("_",) * (len(parts) - 1)]
    spelled = ["".join(map("".join, zip(parts, (*signs, ""), strict=True))) for signs in joined]
    return [each for each in spelled if each != name]


def removal(*names: str) -> str:
    """Return the directives of Apache, on one line, that remove the :func:`other_spellings` of header fields.

    >>> removal("X-User")
    'RequestHeader unset X_User'
    """
    return "; ".join(f"RequestHeader unset {each}" for name in names for each in other_spellings(name))


def server_that_keeps_underscores() -> str | None:
    """Return the name of the server that runs this process, if it passes on header fields with an underscore."""
    found = next((name for module, name in _KEEPING.items() if module in sys.modules), None)
    return None if found == "wsgiref" and any(module in sys.modules for module in _DROPPING) else found


def forwarded_facts(environ: Mapping[str, Any]) -> dict[str, int | str]:
    """Return facts about X-Forwarded-For and X-Forwarded-Proto of a request, without any address, for ``ararat
    doctor``. Source: ``werkzeug.middleware.proxy_fix``, which keeps the values before its changes.

    - ``values``: the number of values of X-Forwarded-For. ``by_server``: whether one is the address that the server
      reports.
    - ``position``: the trusted value, counted from the last one; of equal values the first. 0: the field is not used.
    - ``scheme``: "http" or "https", as the application sees it.

    >>> forwarded_facts({"HTTP_X_FORWARDED_FOR": "192.0.2.1, 192.0.2.2", "REMOTE_ADDR": "127.0.0.1"})
    {'values': 2, 'position': 0, 'scheme': 'http', 'by_server': False}
    """
    given = environ.get("HTTP_X_FORWARDED_FOR", "")
    values = [value.strip() for value in given.split(",") if value.strip()]
    position, address = 0, environ.get("REMOTE_ADDR")
    of_server = environ.get("werkzeug.proxy_fix.orig", {}).get("REMOTE_ADDR", address)
    if "werkzeug.proxy_fix.orig" in environ and address in values:
        position = len(values) - values.index(address)
    scheme = str(environ.get("wsgi.url_scheme", "http"))
    return {"values": len(values), "position": position, "scheme": scheme, "by_server": of_server in values}
