"""The path of the public addresses, such as ``/ids`` of ``https://example.org/ids``.
A proxy sends the whole path, or removes this one. In both cases the applications get it as the mount (``SCRIPT_NAME``
of WSGI, ``root_path`` of ASGI). So they answer below it, and their links include it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from ...middleware.http.request_target import is_path

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Mounts:
    """The paths of the public addresses of an application. Of two addresses with one host, the first counts.

    >>> mounts = Mounts(["https://example.org/ids", "https://look.example"])
    >>> mounts.of("/ids/desk", "127.0.0.1:8000"), mounts.of("/desk", "example.org"), mounts.of("/desk", "look.example")
    ('/ids', '/ids', '')
    """

    def __init__(self, addresses: Iterable[str]) -> None:
        self._of_hosts: dict[str, str] = {}
        paths: set[str] = set()
        for address in addresses:
            parts = urlsplit(address)
            # WSGI has one character for each byte.
            mount = unquote_to_bytes(parts.path.rstrip("/")).decode("latin-1")
            self._of_hosts.setdefault(_host(parts.netloc), mount)
            paths.add(mount)
        self._paths = sorted(paths - {""}, key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._paths)

    def of(self, path: str, host: str) -> str:
        """Return the mount at which ``path`` begins, else that of ``host``, because a proxy has removed it."""
        whole = (mount for mount in self._paths if path == mount or path.startswith(f"{mount}/"))
        return next(whole, None) or self._of_hosts.get(_host(host), "")

    def split_path(self, path: str, host: str) -> tuple[str, str]:
        """Return the mount of a request and the path below it.

        >>> Mounts(["https://example.org/ids"]).split_path("/ids/desk", "127.0.0.1:8000")
        ('/ids', '/desk')
        """
        mount = self.of(path, host)
        return mount, path[len(mount) :] if path == mount or path.startswith(f"{mount}/") else path


class MountedWSGI:
    """A WSGI application at the path of its public addresses. A mount that the server has set is kept.
    A request target that is not a path gets no mount, so that the application refuses it.
    """

    def __init__(self, app: WSGIApplication, mounts: Mounts) -> None:
        self._app = app
        self._mounts = mounts

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if not environ.get("SCRIPT_NAME") and is_path(path):
            found = self._mounts.split_path(path, environ.get("HTTP_HOST", ""))
            environ["SCRIPT_NAME"], environ["PATH_INFO"] = found
        return self._app(environ, start_response)


class MountedASGI:
    """An ASGI application at the path of its public addresses. A mount that the server has set is kept."""

    def __init__(self, app: Any, mounts: Mounts) -> None:
        self._app = app
        self._mounts = mounts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if "path" in scope and not scope.get("root_path"):
            # ASGI decodes the path as UTF-8.
            path = scope["path"].encode("utf-8", "surrogateescape").decode("latin-1")
            if mount := self._mounts.of(path, ""):
                scope = {**scope, "root_path": mount.encode("latin-1").decode("utf-8", "surrogateescape")}
        await self._app(scope, receive, send)


def _host(authority: str) -> str:
    # A proxy can accept https and forward http.
    return authority.lower().removesuffix(":80").removesuffix(":443")
