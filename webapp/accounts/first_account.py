"""The first account of a site: the command that adds it, and a one-time link that `ararat serve` prints.
The link is valid until an account exists or the server stops, and only on this machine or over https.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shlex
import shutil
import sys
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, render_template, request

from ...identifiers.text.translatable import Translatable
from ..config import site
from ..navigation import page_title
from . import cookies
from .model import Account

if TYPE_CHECKING:
    from ...middleware import Bindings
    from .store import Accounts

_KEY = "ararat_first_link"
_NAME = "ada"
_MANAGING = ("desk", "first-account", "set-password", "sign-in", "sign-out")
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")


class FirstLink:
    """The secret of a link that creates the first administrator, once.

    >>> link = FirstLink("a" * 43)
    >>> link.is_right("a" * 43), link.is_right("b" * 43), link.is_right("\u00e4")
    (True, False, False)
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._lock = Lock()

    def is_right(self, given: str) -> bool:
        """Return whether a text is the secret of the link that creates the first administrator."""
        return hmac.compare_digest(self._secret, given.encode("utf-8", "replace"))

    def add(self, accounts: Accounts, name: str, password: str) -> Account:
        """Add the first account, an administrator, and return it. Raises AccountError: ``account-exists`` if the site
        has an account, ``account-name``, or that of the password, such as ``password-short``.
        """
        with self._lock:
            return accounts.add(name, "administrator", password=password, only_first=True)


def offer(app: Flask, secret: str) -> None:
    """Let a link create the first account of the application ``app``. ``secret`` is the last segment of the link."""
    app.extensions[_KEY] = FirstLink(secret)


def link() -> FirstLink | None:
    """Return the link that can create the first account of the current site, or None."""
    return current_app.extensions.get(_KEY)


def new_secret() -> str:
    """Return a new secret for the link that creates the first administrator: 256 random bits for a URL."""
    return secrets.token_urlsafe(32)


def program() -> str:
    """Return the command of this installation as a shell can run it: a name on the PATH, or a path."""
    own = Path(sys.prefix, "bin", "ararat")
    found = shutil.which("ararat")
    if found and (not own.exists() or Path(found).resolve() == own.resolve()):
        return "ararat"
    return shlex.quote(str(own)) if own.exists() else f"{shlex.quote(sys.executable)} -m ararat"


def command(bindings: Bindings, *, with_place: bool = True) -> str:
    """Return the command that adds the first administrator, run as the user of this server if it cannot sign in.
    ``with_place`` names the database, for readers on this machine; one with a password in its URL is never named.
    """
    parts = [program(), "account", "add", _NAME, "--role", "administrator", "--password-stdin"]
    if with_place and bindings.location.startswith("sqlite:"):
        place = bindings.location
    elif with_place and not bindings.location.startswith("postgresql"):
        place = os.path.abspath(bindings.location)  # noqa: PTH100 - no link is followed
    else:
        place = "DATABASE"
    return f"{_as_user()}{' '.join(parts)} --database {shlex.quote(place)}"


def _as_user() -> str:
    """Return the words that run a command as the user of this process, if this user cannot sign in.
    Root would create files beside the database that the server cannot write.
    """
    import pwd

    try:
        user = pwd.getpwuid(os.getuid())
    except KeyError:
        return ""
    has_shell = not user.pw_shell or Path(user.pw_shell).name not in ("nologin", "false")
    return "" if has_shell else f"runuser -u {shlex.quote(user.pw_name)} -- "


def keeping_command() -> str:
    """Return the command that starts a server whose names are kept."""
    return f"{program()} serve --database museum.sqlite --create"


def is_demonstration() -> bool:
    """Return whether the current page manages names or accounts, and the server loses them when it stops."""
    return site().settings.temporary and request.path.split("/")[1] in _MANAGING


def is_missing() -> bool:
    """Return whether the current site can have accounts, but does not have an account yet."""
    known = site().accounts
    return known is not None and not known.exist()


def page() -> Response:
    """Return the page that shows how to add the first account. Only people on the machine see the database."""
    known = site().accounts
    assert known is not None, "a site without a database has no accounts"  # noqa: S101
    return Response(
        render_template(
            "inspector/no_account.html",
            title=page_title(Translatable("No account yet")),
            command=command(known.bindings, with_place=is_loopback()),
            has_place=is_loopback(),
            has_link=link() is not None,
        )
    )


def is_loopback() -> bool:
    """Return whether the client of the current request is on this machine and no proxy forwarded its request."""
    host = urlsplit(f"//{request.host}").hostname or ""
    try:
        is_near = ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
    is_named = host == "localhost" or host.endswith(".localhost") or _is_loopback_address(host)
    return is_near and is_named and not any(field in request.headers for field in _FORWARDED)


def is_private() -> bool:
    """Return whether no network can read the current request: it uses https, or comes from this machine."""
    return cookies.is_https() or is_loopback()


def may_print(address: str) -> bool:
    """Return whether a link to a URL can be used safely: its host is this machine, or it uses https.

    >>> [may_print(each) for each in ("http://127.0.0.1:8000", "https://ids.example.org", "http://ids.example.org")]
    [True, True, False]
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    return parts.scheme == "https" or host == "localhost" or _is_loopback_address(host)


def _is_loopback_address(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
