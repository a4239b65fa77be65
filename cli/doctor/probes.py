"""Probe a running deployment: send identifiers and compare them with what the application received.

No special endpoint is needed. A refusal of Ararat repeats the identifier as received and reports whether the server
passed on the raw target. The probes use NAAN 99999, which is never bound or looked up, so they are safe for every
deployment. If ARKs are not answered, they use the URN namespace ``example``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...identifiers import IdentifierError, normalize
from ...identifiers.text import display
from ...middleware.http.responses import METHODS
from ...middleware.http.well_known import PATH as WELL_KNOWN
from ...middleware.resolution.settings import Settings
from ...middleware.views.error_page import ECHOED
from ...webapp.tracing.client.url import WebURL
from ...webapp.tracing.hop import HopFailed
from . import inspector
from .finding import HealthFinding, State
from .fixes import Cause, ReverseProxy, remedy, reverse_proxy
from .requests import Ask, RawResponse, raw_request

_SHOWN = 100
_TRIPLET = re.compile("%[0-9A-Fa-f]{2}")
_PROBLEM = "application/problem+json"

# Below the default of max_length and below the default of gunicorn, 4,094 bytes. A name of 255 code points, all of them
# percent-encoded, has 3,060 bytes.
_LONG = 3300
# Statuses of a reverse proxy whose upstream server cannot be reached, is not ready or is too slow.
_GATEWAY = (502, 503, 504)
_TOO_LONG = Settings().max_length + 200


class NotAnswered(Exception):
    """Raised when no server answers at the URL of the deployment. The text is the reason."""


class Probe(NamedTuple):
    """A test of one kind of identifier, such as one with two slashes in a row.

    ``rest`` is the identifier without its beginning. ``lost`` names the consequence if it does not arrive unchanged.
    """

    code: str
    rest: str
    shown: str
    lost: str
    reference: str


class Echo(NamedTuple):
    """The facts about a request that the refusal of a resolver contains (its JSON problem document).

    ``identifier`` is the one that the resolver received. ``exact`` is whether it is as the client wrote it; an old
    version of Ararat does not report this, and it is None. ``code`` is the reason of the refusal. ``suggestion`` is the
    URL of a similar identifier, with the resolver prefix, or None. ``inspect`` is the URL of this identifier in the
    inspector, or None.
    """

    identifier: str
    exact: bool | None
    code: str
    suggestion: str | None
    inspect: str | None = None


_OBLIGATION = "ARK draft, section 7.1"
PROBES = (
    Probe("encoded-slash", "a%2Fb", "%2F", "ark:12345/a%2Fb and ark:12345/a/b become one name", _OBLIGATION),
    Probe("encoded-octet", "a%ffb", "%ff", "names with bytes that are not UTF-8 become other names", _OBLIGATION),
    Probe("double-slash", "a//b", "//", "a URL that names nothing is resolved as another name", _OBLIGATION),
    Probe("dot-segment", "a/../b", "/../", "a URL that names nothing is resolved as another name", _OBLIGATION),
    Probe(
        "encoded-dot-segment",
        "a/%2E%2E/b",
        "/%2E%2E/",
        "a URL that names nothing is resolved as another name",
        _OBLIGATION,
    ),
    Probe("encoded-hyphen", "a%2Db", "%2D", "%2D arrives as another character", _OBLIGATION),
    Probe("question-mark", "x?", "a bare ?", "x? is resolved as x instead of described", "ARK draft, section 3.4"),
    Probe("question-marks", "x??", "??", "x?? is resolved as x instead of described", "ARK draft, section 3.4"),
    Probe("info", "x?info", "?info", "no name can be described", "ARK draft, section 3.4"),
    *(
        Probe(
            f"extension-{end}",
            f"x.{end}",
            f".{end}",
            f"names that end in .{end} do not reach the resolver",
            _OBLIGATION,
        )
        for end in ("pdf", "css", "js", "png", "jpg", "php")
    ),
    Probe("long", "x" * _LONG, f"{_LONG:,} bytes", "long names do not reach the resolver", "ARK draft, section 7.1.1"),
)
"""The probes."""


def examine(url: WebURL, *, prefix: str | None = None, asking: Ask | None = None) -> Iterator[HealthFinding]:
    """Send requests to the deployment whose resolver prefix is ``url``, and yield the findings.

    ``prefix`` is the prefix that its links should contain, in stored form; the default is ``url``. ``asking`` replaces
    the network. Raises :class:`NotAnswered` if no server answers at the URL.
    """
    asked = asking or _requests(url)
    deployment = _Deployment(url, asked, prefix)
    yield from deployment.findings()


def _requests(url: WebURL) -> Ask:
    def ask(method: str, target: str, fields: Mapping[str, str] | None = None) -> RawResponse:
        return raw_request(url, target, method, accept=_PROBLEM, fields=fields)

    return ask


class _Deployment:
    """One deployment, and the facts that its first answer contains."""

    def __init__(self, url: WebURL, asked: Ask, prefix: str | None) -> None:
        self._url = url
        self._asked = asked
        self._expected = prefix
        self._mount = url.target.rstrip("/")
        self._base = "ark:99999/"
        self._proxy: ReverseProxy | None = None
        self._raw = True

    def findings(self) -> Iterator[HealthFinding]:
        try:
            plain = self._ask("x")
        except HopFailed as failed:
            raise NotAnswered(failed.sentence) from None
        echo = parse_echo(plain)
        if echo is None:
            first = plain
            self._base = "urn:example:ararat-"
            plain = self._try("x") or first
            if (echo := parse_echo(plain)) is None:
                yield _not_ararat(first, self._url)
                return
        self._proxy = reverse_proxy(plain.field("Server"), plain.field("Via"))
        self._raw = echo.exact is not False
        yield HealthFinding("url", "answered", "ok", "answered", f"Ararat answers at {self._mount or '/'}.")
        yield self._raw_target(echo)
        for probe in PROBES:
            yield self._probed(probe)
        yield self._too_long()
        if self._base.startswith("ark:"):
            yield self._other_spelling(
                "classic", "ark:/99999/x", "ark:/", "ARKs in their classic form (ark:/), the most frequent one,"
            )
            yield self._other_spelling(
                "label", "ARK:99999/x", "ARK:", "ARKs with a label in capitals, which are valid,"
            )
        yield self._head(plain)
        yield self._cache_control(plain)
        yield from self._bindings()
        yield from inspector.examine(self._url, echo.inspect, self._proxy, self._asked)
        yield self._announced()
        if self._base.startswith("ark:"):
            yield self._well_known()
        yield _hsts(plain, self._url, self._proxy)

    def _ask(self, rest: str, method: str = "GET") -> RawResponse:
        return self._asked(method, f"{self._mount}/{self._base}{rest}")

    def _try(self, rest: str) -> RawResponse | None:
        try:
            return self._ask(rest)
        except HopFailed:
            return None

    def _raw_target(self, echo: Echo) -> HealthFinding:
        shown = "raw target"
        if echo.exact is None:
            return HealthFinding(
                "url", "raw-target", "warning", shown, "The version of Ararat is too old to report this. Update it."
            )
        if echo.exact:
            return HealthFinding("url", "raw-target", "ok", shown, "The server passes it to the application.")
        message = "The application does not receive the request target as it was sent."
        return self._bad("raw-target", shown, message, "no-raw-target", "ARK draft, section 7.1")

    def _probed(self, probe: Probe) -> HealthFinding:
        sent = self._base + probe.rest
        try:
            response = self._ask(probe.rest)
        except HopFailed as failed:
            return self._stopped(probe, sent, f"No answer: {failed.sentence}.")
        echo = parse_echo(response)
        if echo is None:
            return self._stopped(probe, sent, f"{_status(response)}, not by Ararat: {probe.lost}.", response)
        return self._compared(probe, sent, echo)

    def _compared(self, probe: Probe, sent: str, echo: Echo) -> HealthFinding:
        received = _cut(echo.identifier)

        def found(state: State, message: str, cause: Cause | None = None) -> HealthFinding:
            return HealthFinding(
                "url",
                probe.code,
                state,
                probe.shown,
                message,
                remedy(cause, self._proxy) if cause else None,
                None if state == "ok" else probe.reference,
                _cut(sent),
                received,
            )

        if _same(sent, echo.identifier):
            return found("ok", "Arrives unchanged.")
        # A path that was cleaned does no harm if the raw target shows the dot-segment, so that it is refused.
        if probe.code.endswith("dot-segment") and echo.code == "dot-segment":
            return found("ok", "Refused, although the path was cleaned in transit.")
        if _equivalent(sent, echo.identifier):
            return found("warning", f"Arrives as {received}, another spelling of the same name.")
        lost = f"Arrives as {received}: {probe.lost}."
        if not self._raw:
            return found("error", lost, "no-raw-target")
        return found("error", lost, "normalised" if echo.exact is False else "rewritten")

    def _stopped(self, probe: Probe, sent: str, message: str, response: RawResponse | None = None) -> HealthFinding:
        cause: Cause = "long" if probe.code == "long" else "stopped"
        if probe.code.startswith("extension-"):
            cause = "extension"
        # A reverse proxy may name itself only in its own answers.
        proxy = reverse_proxy(response.field("Server"), response.field("Via")) if response else None
        change = remedy(cause, proxy or self._proxy)
        return HealthFinding("url", probe.code, "error", probe.shown, message, change, probe.reference, _cut(sent))

    def _too_long(self) -> HealthFinding:
        code, shown = "too-long", f"{_TOO_LONG:,} bytes"
        try:
            response = self._ask("x" * _TOO_LONG)
        except HopFailed as failed:
            message = f"No answer: {failed.sentence}. The status 414 gives the client the reason."
            return HealthFinding("url", code, "warning", shown, message, reference="ARK draft, section 7.1.1")
        if parse_echo(response) is None:
            message = f"{_status(response)} by a server in front of Ararat. Ararat answers 414."
            return HealthFinding("url", code, "warning", shown, message, reference="ARK draft, section 7.1.1")
        known = "Refused with 414." if response.status == 414 else f"Answered by Ararat ({response.status})."
        return HealthFinding("url", code, "ok", shown, known)

    def _other_spelling(self, code: str, identifier: str, shown: str, lost: str) -> HealthFinding:
        reference = "ARK draft, section 7.1"
        try:
            response = self._asked("GET", f"{self._mount}/{identifier}")
        except HopFailed as failed:
            return self._bad(code, shown, f"No answer: {failed.sentence}.", "label", reference)
        echo = parse_echo(response)
        if echo is None:
            message = f"{_status(response)}, not by Ararat: {lost} do not reach it."
            return self._bad(code, shown, message, "label", reference, identifier)
        probe = Probe(code, "", shown, f"{lost} are lost", reference)
        return self._compared(probe, identifier, echo)

    def _head(self, get: RawResponse) -> HealthFinding:
        try:
            response = self._ask("x", "HEAD")
        except HopFailed as failed:
            return self._bad("head", "HEAD", f"No answer: {failed.sentence}.", "head", "RFC 9110, section 9.3.2")
        if response.body:
            message = (
                "The response to HEAD has a body. On a persistent connection the client reads it as the next response."
            )
            return self._bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")
        names = ("Content-Type", "Cache-Control", "Vary")
        differs = [name for name in names if response.field(name) != get.field(name)]
        if response.status != get.status:
            message = f"{_status(response)}, but GET is answered by {get.status}."
        elif differs:
            message = f"{' and '.join(differs)} {'is' if len(differs) == 1 else 'are'} different from GET."
        else:
            return HealthFinding("url", "head", "ok", "HEAD", "The same as GET, without a body.")
        return self._bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")

    def _cache_control(self, plain: RawResponse) -> HealthFinding:
        wanted = {404: "max-age=60", 400: "no-store"}.get(plain.status)
        seen = plain.field("Cache-Control")
        if wanted is None or seen == wanted:
            return HealthFinding("url", "cache-control", "ok", "Cache-Control", "Arrives as Ararat set it.")
        message = f"A refusal has {display.escape((seen or 'no value')[:_SHOWN])}; Ararat sets {wanted}."
        change = remedy("cache", self._proxy)
        return HealthFinding("url", "cache-control", "error", "Cache-Control", message, change, "RFC 9111, section 5.2")

    def _bindings(self) -> Iterator[HealthFinding]:
        """Look up a name to check the store. Yield nothing if URNs are not answered or this URN is bound."""
        try:
            echo = parse_echo(self._asked("GET", f"{self._mount}/urn:example:ararat-doctor"))
        except HopFailed:
            return
        if echo is None:
            return
        if echo.code == "bindings-unavailable":
            change = "See its log, or run ararat doctor --database URL as the user that runs the site."
            message = "The resolver cannot read its bindings."
            yield HealthFinding("url", "bindings", "error", "bindings", message, change, "ARK draft, section 3.1")
        else:
            yield HealthFinding("url", "bindings", "ok", "bindings", "The resolver can read its bindings.")

    def _announced(self) -> HealthFinding:
        """Check the prefix of links. A refusal that suggests another spelling contains it (ark:B9999/x)."""
        code, shown = "prefix", "prefix"
        try:
            echo = parse_echo(self._asked("GET", f"{self._mount}/ark:B9999/x"))
        except HopFailed:
            echo = None
        tail = "/ark:b9999/x"
        if echo is None or echo.suggestion is None or not echo.suggestion.endswith(tail):
            return HealthFinding(
                "url", code, "warning", shown, "The prefix of links is unknown: no answer contains it."
            )
        root = echo.suggestion.removesuffix(tail)
        if not root.startswith("http"):
            change = f'Set it: ResolverMiddleware(..., prefix="{self._here}"), or ararat serve --prefix {self._here}.'
            message = "No prefix is set, so links contain no host and do not work outside of this site."
            return HealthFinding("url", code, "warning", shown, message, change)
        wanted = self._expected or self._here
        announced = display.percent(root[:_SHOWN])
        if root == wanted:
            return HealthFinding("url", code, "ok", shown, f"Links begin with {announced}.")
        message = f"Links begin with {announced}, not with {wanted}."
        same_host = root.partition("://")[2].partition("/")[0] == self._url.authority
        if self._expected is None and not same_host:
            return HealthFinding("url", code, "warning", shown, f"{message} This is correct if both lead to this site.")
        return HealthFinding("url", code, "error", shown, message, f'Set prefix="{wanted}".', "ARK draft, section 7.1")

    def _well_known(self) -> HealthFinding:
        """Check that the host announces the resolver at its root, also if the prefix has a path."""
        code, shown = "well-known", WELL_KNOWN
        wanted = f"{self._mount}/"
        reference = "draft-kunze-ark-42, section 5.6"
        try:
            response = self._asked("GET", WELL_KNOWN)
        except HopFailed:
            response = None
        if response is None or response.status != 200:
            answer = "no answer" if response is None else f"the status {response.status}"
            message = f"The host does not announce the resolver: {WELL_KNOWN} has {answer}."
            change = (
                f"Forward {WELL_KNOWN} to Ararat like the names, or answer {wanted} there. "
                "With the setting well_known=False, this is correct."
            )
            return HealthFinding("url", code, "warning", shown, message, change, reference)
        found = response.body[:_SHOWN].decode("utf-8", "replace").strip()
        if found == wanted:
            return HealthFinding("url", code, "ok", shown, f"The host announces the resolver at {wanted}.")
        message = f"The host announces a resolver at {display.percent(found)}, not at {wanted}."
        return HealthFinding("url", code, "error", shown, message, f"Answer {wanted} at {WELL_KNOWN}.", reference)

    @property
    def _here(self) -> str:
        return f"{self._url.scheme}://{self._url.authority}{self._mount}"

    def _bad(
        self, code: str, shown: str, message: str, cause: Cause, reference: str, sent: str | None = None
    ) -> HealthFinding:
        return HealthFinding("url", code, "error", shown, message, remedy(cause, self._proxy), reference, sent)


def parse_echo(response: RawResponse) -> Echo | None:
    """Return the facts in a refusal of Ararat, or None if the response is not such a refusal.

    >>> parse_echo(RawResponse(200, (("Content-Type", "text/html"),), b"<title>Ararat</title>")) is None
    True
    """
    if (response.field("Content-Type") or "").partition(";")[0].strip().lower() != _PROBLEM:
        return None
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("status") != response.status:
        return None
    identifier, code = document.get("identifier"), document.get("code")
    if not isinstance(identifier, str) or not isinstance(code, str) or not isinstance(document.get("start"), int):
        return None
    exact, suggestion, inspect = (document.get(name) for name in ("target_exact", "suggestion", "inspect"))
    return Echo(
        identifier,
        exact if isinstance(exact, bool) else None,
        code,
        suggestion if isinstance(suggestion, str) else None,
        inspect if isinstance(inspect, str) else None,
    )


def _not_ararat(response: RawResponse, url: WebURL) -> HealthFinding:
    where = response.field("Location")
    if where is not None and 300 <= response.status < 400:
        shown = display.percent(where[:_SHOWN])
        message = f"{_status(response)}, not by Ararat: it redirects to {shown}."
        change = "Run ararat doctor with that address (--url)."
        if url.scheme == "http" and where.lower().startswith(f"https://{url.host}"):
            change = "Run ararat doctor with the https address (--url https://...)."
        return HealthFinding("url", "answered", "error", "answered", message, change)
    who = response.field("Server")
    by = f" (Server: {display.escape(who[:_SHOWN])})" if who else ""
    message = f"{_status(response)}, not by Ararat{by}: a request for /ark:99999/x does not reach a resolver."
    proxy = reverse_proxy(who, response.field("Via"))
    if response.status in _GATEWAY:
        message = f"{_status(response)}{by}: the reverse proxy works, but the server behind it does not answer."
        return HealthFinding("url", "backend", "error", "answered", message, remedy("no-process", proxy))
    change = (
        f"{remedy('not-forwarded', proxy)} ResolverMiddleware answers {METHODS}. The URL must be the resolver prefix, "
        "with its path."
    )
    return HealthFinding("url", "answered", "error", "answered", message, change)


def _hsts(response: RawResponse, url: WebURL, proxy: ReverseProxy | None) -> HealthFinding:
    code, shown, seen = "hsts", "HSTS", response.field("Strict-Transport-Security")
    if url.scheme == "http":
        if seen is None:
            return HealthFinding("url", code, "ok", shown, "Not sent over http, as required.")
        message = "Strict-Transport-Security is sent over http."
        change = "Send it over https only: move the line that sets it to the server for https."
        return HealthFinding("url", code, "error", shown, message, change, "RFC 6797, section 7.2")
    if seen is not None:
        return HealthFinding("url", code, "ok", shown, f"Sent: {display.escape(seen[:_SHOWN])}.")
    message = "Strict-Transport-Security is not sent."
    return HealthFinding("url", code, "warning", shown, message, remedy("hsts", proxy), "ARK draft, section 8")


def _status(response: RawResponse) -> str:
    return f"Answered by {response.status}"


def _cut(identifier: str) -> str:
    shown = display.percent(identifier)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _same(sent: str, seen: str) -> bool:
    """Return whether the identifiers are equal up to the length of an echo. Ignore the case of %xx digits."""
    upper = [_TRIPLET.sub(lambda found: found[0].upper(), text) for text in (sent[:ECHOED], seen)]
    return upper[0] == upper[1]


def _equivalent(sent: str, seen: str) -> bool:
    (name, mark, query), (other, other_mark, other_query) = sent.partition("?"), seen.partition("?")
    try:
        return (mark, query) == (other_mark, other_query) and normalize(name) == normalize(other)
    except IdentifierError:
        return False
