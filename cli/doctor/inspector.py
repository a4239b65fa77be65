"""Check the inspector of a deployment: its link in error pages, its health, and the addresses of its clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from ...identifiers.text import display
from ...middleware.http import trusted_proxy
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.url import WebURL
from ..output import format_count
from .finding import HealthFinding
from .fixes import ReverseProxy, remedy
from .requests import Ask

_SHOWN = 100
# RFC 5737: an address for documentation. No client has it.
_FORGED = {"X-Forwarded-For": "192.0.2.1"}
# The number of values shows that this field was read, also if it replaced the one of a proxy.
_UNDERSCORES = {"X_Forwarded_For": ", ".join(["192.0.2.1"] * 9)}


def examine(url: WebURL, link: str | None, proxy: ReverseProxy | None, send: Ask) -> Iterator[HealthFinding]:
    """Check the inspector at a resolver prefix, and yield the findings. ``link`` is the URL of an identifier in the
    inspector, from an error page. Without an inspector at the prefix, only this is checked.
    """
    mount = url.target.rstrip("/")
    health = health_of(_answer(send, f"{mount}/healthz?forwarded"))
    yield from _link(url, link, proxy, send, at_prefix=bool(health))
    yield from _contents(health)
    if isinstance(health.get("forwarded"), dict):
        forged = health_of(_answer(send, f"{mount}/healthz?forwarded", _FORGED)).get("forwarded")
        plain, forged = health["forwarded"], forged if isinstance(forged, dict) else {}
        yield (address := _client_address(url, plain, forged, proxy))
        yield from _of_server(plain, forged)
        if address.state != "error":
            yield from _scheme(plain, lambda fields: health_of(_answer(send, f"{mount}/healthz?forwarded", fields)))
        other = health_of(_answer(send, f"{mount}/healthz?forwarded", _UNDERSCORES)).get("forwarded")
        yield from _underscores(plain, other if isinstance(other, dict) else {})


def health_of(response: SiteAnswer | None) -> dict[str, Any]:
    """Return the JSON document of ``/healthz`` of an inspector, or {} for another response or None.

    >>> health_of(SiteAnswer(200, (("Content-Type", "application/json"),), b'{"status": "ok"}'))
    {}
    """
    try:
        document = json.loads(response.body if response else b"")
    except (ValueError, RecursionError):
        return {}
    ours = isinstance(document, dict) and document.get("bindings") in ("readable", "unreadable")
    return document if ours else {}


def _answer(send: Ask, target: str, fields: dict[str, str] | None = None) -> SiteAnswer | None:
    try:
        return send("GET", target, fields) if fields else send("GET", target)
    except HopFailed:
        return None


def _link(
    url: WebURL, link: str | None, proxy: ReverseProxy | None, send: Ask, *, at_prefix: bool
) -> Iterator[HealthFinding]:
    """Check that the link leads to the inspector. Another host than that of the deployment gets no request."""
    if link is None:
        return
    page = link.partition("?")[0]
    shown = display.percent(page[:_SHOWN])
    try:
        parts = urlsplit(page)
    except ValueError:
        return
    if (parts.scheme, parts.netloc) != (url.scheme, url.authority):
        message = f"Error pages link to the inspector at {shown}. This host was not requested; check it with --url."
        yield HealthFinding("url", "inspector", "ok", "inspector", message)
        return
    target = display.percent(parts.path).rstrip("/")
    here = target == url.target.rstrip("/")
    if at_prefix if here else health_of(_answer(send, f"{target}/healthz")):
        yield HealthFinding("url", "inspector", "ok", "inspector", f"Error pages link to the inspector at {shown}.")
        return
    message = f"Error pages link to the inspector at {shown}, but another page answers there."
    yield HealthFinding("url", "inspector", "error", "inspector", message, remedy("inspector", proxy))


def _contents(health: dict[str, Any]) -> Iterator[HealthFinding]:
    names, file = health.get("names"), health.get("file")
    if isinstance(names, int) and not isinstance(names, bool):
        about = "About " if health.get("names_exact") is False else ""
        if names:
            message = f"{about}{format_count(names, 'name is', 'names are')} bound."
            yield HealthFinding("url", "names", "ok", "names", message)
        else:
            change = "Check that it reads the right database. Bind names with ararat bind or ararat import."
            yield HealthFinding("url", "no-names", "warning", "names", "No name is bound.", change)
    if file == "refused":
        message = "The file of bindings contains an error. Its previous version is in use."
        change = "Correct the file. The log and ararat doctor --database FILE name the line."
        yield HealthFinding("url", "file-refused", "error", "file", message, change)
    elif file == "unrecorded":
        message = "The copy of the file of bindings cannot be written. After a restart, deleted names are not detected."
        change = "Give the server write access to the folder of the file."
        yield HealthFinding("url", "file-unrecorded", "warning", "file", message, change)


def _client_address(
    url: WebURL, plain: dict[str, Any], forged: dict[str, Any], proxy: ReverseProxy | None
) -> HealthFinding:
    """Compare two requests: one as sent, and one for which the client itself sets X-Forwarded-For.
    ``values`` is the number of values of the field, so the plain request counts the reverse proxies. ``position`` is
    the trusted value, counted from the last one, or 0.
    """
    proxies, position = _number(plain, "values"), _number(plain, "position")
    code, shown = "client-address", "client address"
    if _number(forged, "position") > proxies:
        message = "A client can set its own address: the value that it sends in X-Forwarded-For is trusted."
        change = f"Set --trusted-proxies {proxies} (ARARAT_TRUSTED_PROXIES, or ForwardedFields)."
        if not proxies:
            change = f"{remedy('client-address', proxy)} Without a reverse proxy, set --trusted-proxies 0."
        return HealthFinding("url", code, "error", shown, message, change)
    if proxies > position:
        message = (
            f"X-Forwarded-For has {proxies} {'value' if proxies == 1 else 'values'}, of which {position} are trusted."
        )
        change = (
            f"Set --trusted-proxies {proxies} (ARARAT_TRUSTED_PROXIES, or ForwardedFields). Otherwise all clients "
            "share one limit of the inspector, and it does not know whether the client used https."
        )
        return HealthFinding("url", code, "warning", shown, message, change)
    if url.scheme == "https" and plain.get("scheme") == "http":
        message = "The inspector takes requests over https as requests over http."
        return HealthFinding("url", code, "warning", shown, message, remedy("client-address", proxy))
    if not proxies and proxy in ("nginx", "Apache", "Caddy"):
        message = f"{proxy} does not set X-Forwarded-For, so all clients share one limit of the inspector."
        return HealthFinding("url", code, "warning", shown, message, remedy("client-address", proxy))
    trusted = (
        "No reverse proxy sets X-Forwarded-For." if not proxies else "The value of the last reverse proxies is used."
    )
    return HealthFinding("url", code, "ok", shown, trusted)


def _of_server(plain: dict[str, Any], forged: dict[str, Any]) -> Iterator[HealthFinding]:
    """Find a server that takes the address of the client from a field of the client, before the application."""
    if forged.get("by_server") is True and plain.get("by_server") is not True:
        message = "A client can set its own address: the server itself trusts X-Forwarded-For."
        yield HealthFinding("url", "server-trusts", "error", "client address", message, _of_servers())


def _scheme(plain: dict[str, Any], ask: Callable[[dict[str, str]], dict[str, Any]]) -> Iterator[HealthFinding]:
    """Compare a request as sent, and one for which the client itself sets X-Forwarded-Proto."""
    other = {"http": "https", "https": "http"}.get(str(plain.get("scheme")), "https")
    forged = ask({"X-Forwarded-Proto": other}).get("forwarded")
    if isinstance(forged, dict) and forged.get("scheme") == other:
        message = "A client can set the scheme: the value that it sends in X-Forwarded-Proto is trusted."
        change = f"Set the field in the proxy, and do not let clients reach the server directly. {_of_servers()}"
        yield HealthFinding("url", "server-trusts", "warning", "scheme", message, change)


def _of_servers() -> str:
    settings = "; ".join(f"{each.name}: {each.remedy}" for each in trusted_proxy.TRUSTING_SERVERS.values())
    return f"Servers can trust the field themselves. {settings}."


def _underscores(plain: dict[str, Any], other: dict[str, Any]) -> Iterator[HealthFinding]:
    """Compare a request as sent, and one with X_Forwarded_For, which some servers read as X-Forwarded-For."""
    if _number(other, "values") != _number(plain, "values") and _number(other, "position"):
        message = "A client can set its own address: the server reads X_Forwarded_For as X-Forwarded-For."
        lines = trusted_proxy.removal(*trusted_proxy.FORWARDED)
        change = (
            f"Remove the other spellings in the proxy. Apache: {lines}. nginx: keep underscores_in_headers off. "
            "Caddy: header_up -X_* and header_up -X-Forwarded_*, in reverse_proxy."
        )
        yield HealthFinding("url", "underscores", "warning", "X_Forwarded_For", message, change)


def _number(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
