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
    """The configuration of the EZID API.

    - ``path``: the path below which it answers, such as ``/ezid``.
    - ``prefix``: the resolver prefix of this site. It begins the URLs of descriptions and of the API.
    - ``passthrough``: "no", "normal" or "given": that of a name that gets its first target.
    - ``slots``: the limit of concurrent requests.
    """

    path: str
    prefix: str
    accounts: Accounts
    slots: ConcurrencyLimit
    passthrough: str = "given"

    def base(self) -> str:
        """Return the base URL of the API for its clients. The Host field of the request is never used.

        An application that is mounted at a path knows it. Otherwise a proxy can have removed the path of the prefix.
        """
        root = request.script_root
        return f"{origin(self.prefix)}{root}{self.path}" if root else f"{self.prefix}{self.path}"


def ezid() -> Ezid:
    """Return the settings of the EZID API of the current application."""
    return current_app.extensions[KEY]


def check_path(path: str, taken: Container[str]) -> str:
    """Return the path of the EZID API without a slash at its end.

    - ``path``: the configured path of the API, such as ``/ezid``.
    - ``taken``: the first segments of the paths of other pages.

    Raises ValueError for a path that is malformed or belongs to another page.

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
