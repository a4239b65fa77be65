"""Messages about a change, which the next page of the desk shows. They are in a cookie, authenticated with the session.
A secret has another cookie, which the browser sends only for the list of tokens or the pages of accounts.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from typing import Any, Literal, get_args

from flask import Response, after_this_request, request, url_for

from ..accounts import cookies, csrf
from ..language.translation import translate
from ..responses import safe_path

Status = Literal["good", "warn", "bad"]

COOKIE = "ararat-message"
ONCE_COOKIE = "ararat-once"

_SECONDS = 60
_MAX_BYTES = 1500
_MAX_LINK = 700
_END = "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message at the top of a page, with a link (``label``, ``path``) and a text that is shown once, or ""."""

    text: str
    status: Status = "good"
    label: str = ""
    path: str = ""
    secret: str = ""


def put(text: str, status: Status = "good", *, label: str = "", path: str = "", secret: str = "") -> None:
    """Show a message on the next page of the browser, with a link (``label``, ``path``) below it. Its text is cut at
    1,500 bytes, and a long path is omitted. ``secret`` is a text that is shown once.
    """
    text, label = translate(text), translate(label)
    if len(label) + len(path) > _MAX_LINK or _END in label or safe_path(path) is None:
        label = path = ""
    shortened = text.encode("utf-8", "replace")[:_MAX_BYTES].decode("utf-8", "ignore")
    content = base64.urlsafe_b64encode(_END.join((status, label, path, secret, shortened)).encode()).decode()
    name = ONCE_COOKIE if secret else COOKIE
    after_this_request(lambda response: _set(response, name, f"{content}.{_authentication(content)}"))


def take() -> Message | None:
    """Return the message for this page and delete its cookie, or return None."""
    name = ONCE_COOKIE if ONCE_COOKIE in request.cookies else COOKIE
    value = request.cookies.get(name)
    if value is None:
        return None
    after_this_request(lambda response: _delete(response, name))
    content, _, authentication = value.partition(".")
    if not hmac.compare_digest(_authentication(content).encode(), authentication.encode("utf-8", "replace")):
        return None
    try:
        status, label, path, secret, text = base64.urlsafe_b64decode(content).decode().split(_END, 4)
    except (binascii.Error, ValueError):
        return None
    found: dict[str, Status] = {each: each for each in get_args(Status)}
    if status not in found:
        return None
    return Message(text=text, status=found[status], label=label, path=path, secret=secret)


def _authentication(content: str) -> str:
    return csrf.derive(cookies.session_id() or cookies.form_id(), f"message {content}")


def _set(response: Response, name: str, value: str) -> Response:
    # A browser does not write a cookie without max_age to the disk.
    seconds = _SECONDS if name == COOKIE else None
    response.set_cookie(name, value, max_age=seconds, **_attributes(name))
    return response


def _delete(response: Response, name: str) -> Response:
    response.delete_cookie(name, **_attributes(name))
    return response


def _attributes(name: str) -> dict[str, Any]:
    accounts = url_for("desk.accounts")
    once = accounts if f"{request.script_root}{request.path}".startswith(accounts) else url_for("desk.tokens")
    path = "/" if name == COOKIE else once
    return {"path": path, "secure": cookies.is_https(), "httponly": True, "samesite": "Lax"}
