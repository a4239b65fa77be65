"""A client of EZID from the standard library, written after its documentation. It knows nothing of Ararat.

It sends credentials only after an answer 401 whose realm is EZID, as urllib does.
"""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from email.message import Message
from http.cookiejar import CookieJar
from typing import NamedTuple


class Reply(NamedTuple):
    """The status of an answer, its first line, its elements, and its header fields."""

    status: int
    line: str
    elements: dict[str, str]
    fields: Message

    @property
    def identifier(self) -> str:
        """The identifier in the first line of a success."""
        found = re.fullmatch(r"success: (\S+)", self.line)
        assert found is not None, self.line
        return _unescaped(found[1])


class EzidClient:
    """A client for the API below a base URL. Without a name it sends no credentials. ``context`` is for TLS."""

    def __init__(
        self, base: str, name: str | None = None, password: str = "", context: ssl.SSLContext | None = None
    ) -> None:
        self.base = base
        self.cookies = CookieJar()
        basic = urllib.request.HTTPBasicAuthHandler()
        if name is not None:
            basic.add_password("EZID", base, name, password)
        handlers = [urllib.request.ProxyHandler({}), basic, urllib.request.HTTPCookieProcessor(self.cookies)]
        if context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)

    def status(self) -> Reply:
        return self.send("GET", "/status")

    def login(self) -> Reply:
        return self.send("GET", "/login")

    def logout(self) -> Reply:
        return self.send("GET", "/logout")

    def view(self, identifier: str, *, prefix_match: bool = False) -> Reply:
        return self.send("GET", _path("id", identifier) + ("?prefix_match=yes" if prefix_match else ""))

    def create(self, identifier: str, elements: Mapping[str, str] | None = None, *, update: bool = False) -> Reply:
        return self.send("PUT", _path("id", identifier) + ("?update_if_exists=yes" if update else ""), elements)

    def update(self, identifier: str, elements: Mapping[str, str]) -> Reply:
        return self.send("POST", _path("id", identifier), elements)

    def delete(self, identifier: str) -> Reply:
        return self.send("DELETE", _path("id", identifier))

    def mint(self, shoulder: str, elements: Mapping[str, str] | None = None) -> Reply:
        return self.send("POST", _path("shoulder", shoulder), {} if elements is None else elements)

    def request_download(self, *fields: tuple[str, str]) -> Reply:
        body = urllib.parse.urlencode(fields).encode()
        return self.send("POST", "/download_request", body=body, content_type="application/x-www-form-urlencoded")

    def download(self, url: str) -> bytes:
        """Return the file at the URL of a download; raise HTTPError until it is ready."""
        with self._opener.open(url, timeout=20) as response:
            return response.read()

    def send(
        self,
        method: str,
        path: str,
        elements: Mapping[str, str] | None = None,
        *,
        body: bytes | None = None,
        content_type: str = "text/plain; charset=UTF-8",
        fields: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request, and return the answer, also that of an error."""
        if elements is not None:
            body = "\n".join(f"{_escaped(name)}: {_escaped(value)}" for name, value in elements.items()).encode()
        request = urllib.request.Request(self.base + path, data=body, method=method)  # noqa: S310
        if body is not None:
            request.add_header("Content-Type", content_type)
        for name, value in (fields or {}).items():
            request.add_header(name, value)
        try:
            with self._opener.open(request, timeout=20) as response:
                return _reply(response.status, response.read(), response.headers)
        except urllib.error.HTTPError as error:
            with error:
                return _reply(error.code, error.read(), error.headers)


def _path(folder: str, name: str) -> str:
    return f"/{folder}/{urllib.parse.quote(name, safe=':/')}"


def _reply(status: int, body: bytes, fields: Message) -> Reply:
    line, *rest = body.decode("utf-8").splitlines() or [""]
    pairs = [each.split(":", 1) for each in rest]
    elements = {_unescaped(name).strip(): _unescaped(value).strip() for name, value in pairs}
    return Reply(status, line, elements, fields)


def _escaped(text: str) -> str:
    return re.sub("[%:\r\n]", lambda found: f"%{ord(found[0]):02X}", text)


def _unescaped(text: str) -> str:
    return re.sub("%([0-9A-Fa-f][0-9A-Fa-f])", lambda found: chr(int(found[1], 16)), text)
