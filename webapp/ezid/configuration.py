"""The configuration of the EZID API. Flask keeps it in ``app.extensions``; :func:`ezid` returns it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app, request

from ..config import origin

if TYPE_CHECKING:
    from ...bindings.system.concurrency import ConcurrencyLimit
    from ..accounts.store import Accounts

KEY = "ararat-ezid"

_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ezid:
    """The configuration of the EZID API, such as its path ``/ezid``, and its limit of concurrent requests.
    The resolver prefix of this site begins the URLs of descriptions and of the API. ``passthrough`` is that of a name
    that gets its first target: "no", "normal" or "given".
    """

    path: str
    prefix: str
    accounts: Accounts
    slots: ConcurrencyLimit
    passthrough: str = "given"

    def base(self) -> str:
        """Return the base URL of the API for its clients. The Host field of the request is never used.
        A mounted application knows its path. Otherwise a proxy can have removed the path of the prefix.
        """
        root = request.script_root
        return f"{origin(self.prefix)}{root}{self.path}" if root else f"{self.prefix}{self.path}"


def ezid() -> Ezid:
    """Return the settings of the EZID API of the current application."""
    return current_app.extensions[KEY]


def check_path(path: str, taken: Container[str]) -> str:
    """Return the path of the EZID API without a slash at its end. Raises ValueError for a malformed path, and for one
    whose first segment is in ``taken``, because it belongs to another page.

    >>> check_path("/ezid/", {"docs"})
    '/ezid'
    """
    checked = path.rstrip("/")
    if not _PATH.fullmatch(checked):
        message = f"{path!a} is not a path for the EZID API; use a path of letters, digits and hyphens, such as /ezid"
        raise ValueError(message)
    if checked.split("/")[1] in taken:
        raise ValueError(f"the path {checked} has other pages; use another path for the EZID API, such as /ezid")
    return checked
