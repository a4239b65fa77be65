"""Identifiers that are sent to a running deployment to learn what its application sees of them.

No endpoint is needed for it: a refusal of Ararat's own repeats the identifier as it was received, and says whether the
server handed over the raw target. The probes are of NAAN 99999, under which nothing is ever bound or looked up, so they
may be sent to any deployment; where ARKs are not answered, of the URN namespace ``example``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...identifiers import IdentifierError, normalize
from ...identifiers.text import display
from ...middleware.http.responses import METHODS
from ...middleware.settings import Settings
from ...middleware.views.refusal import ECHOED
from ...webapp.tracing.client.url import WebURL
from ...webapp.tracing.hop import HopFailed
from .finding import Finding, State
from .fixes import Cause, Front, front, remedy
from .requests import Said, ask

_SHOWN = 100
_TRIPLET = re.compile("%[0-9A-Fa-f]{2}")
_PROBLEM = "application/problem+json"

# Below the default of max_length, and below the 4,094 octets that gunicorn takes unless it is told otherwise; a name of
# 255 code points, all of them percent-encoded, has 3,060.
_LONG = 3300
# What a front server answers while the server behind it cannot be reached, is not ready or takes too long.
_GATEWAY = (502, 503, 504)
_TOO_LONG = Settings().max_length + 200

Ask = Callable[[str, str], Said]
"""From method and request target to the answer. Raises HopFailed."""


class NotAnswered(Exception):
    """Nothing at all answers at this address; the text says why."""


class Probe(NamedTuple):
    """An identifier to send, without what it begins with: what is tried by it, and what is lost with it."""

    code: str
    rest: str
    shown: str
    lost: str
    reference: str


class Heard(NamedTuple):
    """What an answer tells of the request: the identifier as received, whether it is as the client wrote it (None: not
    told), the code of the refusal, and an address made with the resolver's prefix, if one was."""

    identifier: str
    exact: bool | None
    code: str
    suggestion: str | None


_OBLIGATION = "ARK draft, section 7.1"
PROBES = (
    Probe("encoded-slash", "a%2Fb", "%2F", "ark:12345/a%2Fb and ark:12345/a/b become one name", _OBLIGATION),
    Probe("encoded-octet", "a%ffb", "%ff", "names with octets that are no UTF-8 become other names", _OBLIGATION),
    Probe("double-slash", "a//b", "//", "an address that names nothing is answered as another name", _OBLIGATION),
    Probe("dot-segment", "a/../b", "/../", "an address that names nothing is answered as another name", _OBLIGATION),
    Probe(
        "encoded-dot-segment",
        "a/%2E%2E/b",
        "/%2E%2E/",
        "an address that names nothing is answered as another name",
        _OBLIGATION,
    ),
    Probe("encoded-hyphen", "a%2Db", "%2D", "what is written %2D arrives as something else", _OBLIGATION),
    Probe("question-mark", "x?", "a bare ?", "x? is answered as x, not described", "ARK draft, section 3.4"),
    Probe("question-marks", "x??", "??", "x?? is answered as x, not described", "ARK draft, section 3.4"),
    Probe("info", "x?info", "?info", "nothing can be described", "ARK draft, section 3.4"),
    *(
        Probe(f"extension-{end}", f"x.{end}", f".{end}", f"names that end in .{end} are not answered", _OBLIGATION)
        for end in ("pdf", "jpg", "php")
    ),
    Probe("long", "x" * _LONG, f"{_LONG:,} octets", "long names are not answered", "ARK draft, section 7.1.1"),
)
"""What is sent, each below the name that the probes begin with."""


def examine(url: WebURL, *, prefix: str | None = None, asking: Ask | None = None) -> Iterator[Finding]:
    """Probe the deployment whose resolver prefix is ``url``, and yield what was found, well or not.

    ``prefix`` is what it should announce, in its stored form; without one the address itself. ``asking`` takes the
    place of the network. Raises :class:`NotAnswered` where nothing answers at the address.

    Source: requirements 3.1, 3.3, 3.44, 3.45; security design, section 4.
    """
    asked = asking or (lambda method, target: ask(url, target, method, accept=_PROBLEM))
    patient = _Patient(url, asked, prefix)
    yield from patient.findings()


class _Patient:
    """One deployment, and what its first answer tells of it."""

    def __init__(self, url: WebURL, asked: Ask, prefix: str | None) -> None:
        self._url = url
        self._asked = asked
        self._expected = prefix
        self._mount = url.target.rstrip("/")
        self._base = "ark:99999/"
        self._front: Front | None = None
        self._raw = True

    def findings(self) -> Iterator[Finding]:
        try:
            plain = self._ask("x")
        except HopFailed as failed:
            raise NotAnswered(failed.sentence) from None
        heard = heard_of(plain)
        if heard is None:
            first = plain
            self._base = "urn:example:ararat-"
            plain = self._try("x") or first
            if (heard := heard_of(plain)) is None:
                yield _not_ararat(first, self._url)
                return
        self._front = front(plain.field("Server"), plain.field("Via"))
        self._raw = heard.exact is not False
        yield Finding("url", "answered", "well", "answered", f"Ararat answers at {self._mount or '/'}.")
        yield self._raw_target(heard)
        for probe in PROBES:
            yield self._probed(probe)
        yield self._too_long()
        if self._base.startswith("ark:"):
            yield self._other_spelling("classic", "ark:/99999/x", "ark:/", "ARKs in their classic form, most that are")
            yield self._other_spelling("label", "ARK:99999/x", "ARK:", "labels in capitals, which are right too,")
        yield self._head(plain)
        yield self._cache_control(plain)
        yield from self._bindings()
        yield from self._health()
        yield self._announced()
        yield _hsts(plain, self._url)

    def _ask(self, rest: str, method: str = "GET") -> Said:
        return self._asked(method, f"{self._mount}/{self._base}{rest}")

    def _try(self, rest: str) -> Said | None:
        try:
            return self._ask(rest)
        except HopFailed:
            return None

    def _raw_target(self, heard: Heard) -> Finding:
        shown = "raw target"
        if heard.exact is None:
            return Finding("url", "raw-target", "doubtful", shown, "This Ararat is too old to say; update it.")
        if heard.exact:
            return Finding("url", "raw-target", "well", shown, "The server hands it to the application.")
        message = "The application does not get the request target as it was sent."
        return self._bad("raw-target", shown, message, "no-raw-target", "ARK draft, section 7.1")

    def _probed(self, probe: Probe) -> Finding:
        sent = self._base + probe.rest
        try:
            said = self._ask(probe.rest)
        except HopFailed as failed:
            return self._stopped(probe, sent, f"No answer: {failed.sentence}.")
        heard = heard_of(said)
        if heard is None:
            return self._stopped(probe, sent, f"{_said(said)}, and not by Ararat: {probe.lost}.", said)
        return self._compared(probe, sent, heard)

    def _compared(self, probe: Probe, sent: str, heard: Heard) -> Finding:
        told = _cut(heard.identifier)

        def found(state: State, message: str, cause: Cause | None = None) -> Finding:
            return Finding(
                "url",
                probe.code,
                state,
                probe.shown,
                message,
                remedy(cause, self._front) if cause else None,
                None if state == "well" else probe.reference,
                _cut(sent),
                told,
            )

        if _same(sent, heard.identifier):
            return found("well", "Arrives as it was sent.")
        # What was cleaned on the way, and is refused all the same because the raw target tells, did no harm.
        if probe.code.endswith("dot-segment") and heard.code == "dot-segment":
            return found("well", "Refused, though it was cleaned on the way.")
        if _equivalent(sent, heard.identifier):
            return found("doubtful", f"Arrives as {told}, which is the same name in another spelling.")
        lost = f"Lost: arrives as {told}; {probe.lost}."
        if not self._raw:
            return found("bad", lost, "no-raw-target")
        return found("bad", lost, "normalised" if heard.exact is False else "rewritten")

    def _stopped(self, probe: Probe, sent: str, message: str, said: Said | None = None) -> Finding:
        cause: Cause = "long" if probe.code == "long" else "stopped"
        if probe.code.startswith("extension-"):
            cause = "extension"
        # Who says nothing of itself in what it passes on may do so in an answer of its own.
        who = front(said.field("Server"), said.field("Via")) if said else None
        change = remedy(cause, who or self._front)
        return Finding("url", probe.code, "bad", probe.shown, message, change, probe.reference, _cut(sent))

    def _too_long(self) -> Finding:
        code, shown = "too-long", f"{_TOO_LONG:,} octets"
        try:
            said = self._ask("x" * _TOO_LONG)
        except HopFailed as failed:
            message = f"No answer: {failed.sentence}. An answer of 414 would say why."
            return Finding("url", code, "doubtful", shown, message, reference="ARK draft, section 7.1.1")
        if heard_of(said) is None:
            message = f"{_said(said)} by something in front; Ararat would say 414."
            return Finding("url", code, "doubtful", shown, message, reference="ARK draft, section 7.1.1")
        known = "Refused by 414." if said.status == 414 else f"Answered by Ararat ({said.status})."
        return Finding("url", code, "well", shown, known)

    def _other_spelling(self, code: str, identifier: str, shown: str, lost: str) -> Finding:
        reference = "ARK draft, section 7.1"
        try:
            said = self._asked("GET", f"{self._mount}/{identifier}")
        except HopFailed as failed:
            return self._bad(code, shown, f"No answer: {failed.sentence}.", "label", reference)
        heard = heard_of(said)
        if heard is None:
            message = f"{_said(said)}, and not by Ararat: {lost} do not reach it."
            return self._bad(code, shown, message, "label", reference, identifier)
        probe = Probe(code, "", shown, f"{lost} are lost", reference)
        return self._compared(probe, identifier, heard)

    def _head(self, get: Said) -> Finding:
        try:
            said = self._ask("x", "HEAD")
        except HopFailed as failed:
            return self._bad("head", "HEAD", f"No answer: {failed.sentence}.", "head", "RFC 9110, section 9.3.2")
        if said.body:
            message = "A body follows the answer, and reads as the next answer where connections are kept."
            return self._bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")
        names = ("Content-Type", "Cache-Control", "Vary")
        differs = [name for name in names if said.field(name) != get.field(name)]
        if said.status != get.status:
            message = f"{_said(said)}, where GET has {get.status}."
        elif differs:
            message = f"{' and '.join(differs)} {'is' if len(differs) == 1 else 'are'} not as with GET."
        else:
            return Finding("url", "head", "well", "HEAD", "The same as GET, without a body.")
        return self._bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")

    def _cache_control(self, plain: Said) -> Finding:
        wanted = {404: "max-age=60", 400: "no-store"}.get(plain.status)
        seen = plain.field("Cache-Control")
        if wanted is None or seen == wanted:
            return Finding("url", "cache-control", "well", "Cache-Control", "Arrives as Ararat set it.")
        message = f"A refusal says {display.escape((seen or 'nothing')[:_SHOWN])}, where Ararat says {wanted}."
        change = (
            "Take out what sets it for these paths (nginx: expires and add_header Cache-Control; Apache: mod_expires "
            "and Header set), since a name may be bound at any time."
        )
        return Finding("url", "cache-control", "bad", "Cache-Control", message, change, "RFC 9111, section 5.2")

    def _bindings(self) -> Iterator[Finding]:
        """Whether the store answers, by a name that is looked up; nothing where URNs are not answered, or this one
        is."""
        try:
            heard = heard_of(self._asked("GET", f"{self._mount}/urn:example:ararat-doctor"))
        except HopFailed:
            return
        if heard is None:
            return
        if heard.code == "bindings-unavailable":
            change = "Its log says why; so does ararat doctor --database URL, run as the user that runs the site."
            message = "The resolver cannot read its bindings."
            yield Finding("url", "bindings", "bad", "bindings", message, change, "ARK draft, section 3.1")
        else:
            yield Finding("url", "bindings", "well", "bindings", "The resolver can read them.")

    def _health(self) -> Iterator[Finding]:
        """Report what ``/healthz`` of the inspector has about the bindings; nothing where it does not reach one."""
        try:
            health = health_of(self._asked("GET", f"{self._mount}/healthz"))
        except HopFailed:
            return
        names, file = health.get("names"), health.get("file")
        if isinstance(names, int) and not isinstance(names, bool):
            about = "About " if health.get("names_exact") is False else ""
            if names:
                message = f"{about}{names:,} {'name is' if names == 1 else 'names are'} bound."
                yield Finding("url", "names", "well", "names", message)
            else:
                change = "Check that it reads the right database; bind names by ararat bind or ararat import."
                yield Finding("url", "no-names", "doubtful", "names", "No name is bound.", change)
        if file == "refused":
            message = "The file of bindings is refused: an older version of it answers."
            change = "Correct the file. Its log names the line; so does ararat doctor --database FILE."
            yield Finding("url", "file-refused", "bad", "file", message, change)
        elif file == "unrecorded":
            message = "No copy of the file of bindings can be kept: after a restart a name can be missing unnoticed."
            change = "Let the server write to the folder of the file."
            yield Finding("url", "file-unrecorded", "doubtful", "file", message, change)

    def _announced(self) -> Finding:
        """The prefix that links begin with; a refusal that suggests another spelling has one (ark:B9999/x)."""
        code, shown = "prefix", "prefix"
        try:
            heard = heard_of(self._asked("GET", f"{self._mount}/ark:B9999/x"))
        except HopFailed:
            heard = None
        tail = "/ark:b9999/x"
        if heard is None or heard.suggestion is None or not heard.suggestion.endswith(tail):
            return Finding("url", code, "doubtful", shown, "No answer tells which prefix links begin with.")
        root = heard.suggestion.removesuffix(tail)
        if not root.startswith("http"):
            change = f'Say it: ResolverMiddleware(..., prefix="{self._here}"), or ararat serve --prefix {self._here}.'
            message = "No prefix is set: links are path-absolute, and are nothing once they are copied elsewhere."
            return Finding("url", code, "doubtful", shown, message, change, "17beta policy, section 3.2")
        wanted = self._expected or self._here
        said = display.percent(root[:_SHOWN])
        if root == wanted:
            return Finding("url", code, "well", shown, f"Links begin with {said}.")
        message = f"Links begin with {said}, not with {wanted}."
        same_host = root.partition("://")[2].partition("/")[0] == self._url.authority
        if self._expected is None and not same_host:
            return Finding("url", code, "doubtful", shown, f"{message} That is right where both lead here.")
        return Finding("url", code, "bad", shown, message, f'Set prefix="{wanted}".', "ARK draft, section 7.1")

    @property
    def _here(self) -> str:
        return f"{self._url.scheme}://{self._url.authority}{self._mount}"

    def _bad(
        self, code: str, shown: str, message: str, cause: Cause, reference: str, sent: str | None = None
    ) -> Finding:
        return Finding("url", code, "bad", shown, message, remedy(cause, self._front), reference, sent)


def heard_of(said: Said) -> Heard | None:
    """What an answer tells of its request; None where it is none of Ararat's refusals.

    >>> heard_of(Said(200, (("Content-Type", "text/html"),), b"<title>Ararat</title>")) is None
    True
    """
    if (said.field("Content-Type") or "").partition(";")[0].strip().lower() != _PROBLEM:
        return None
    try:
        document = json.loads(said.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("status") != said.status:
        return None
    identifier, code = document.get("identifier"), document.get("code")
    if not isinstance(identifier, str) or not isinstance(code, str) or not isinstance(document.get("start"), int):
        return None
    exact, suggestion = document.get("target_exact"), document.get("suggestion")
    return Heard(
        identifier,
        exact if isinstance(exact, bool) else None,
        code,
        suggestion if isinstance(suggestion, str) else None,
    )


def health_of(said: Said) -> dict[str, Any]:
    """Return the document of ``/healthz``, or an empty one if this is not the inspector's.

    >>> health_of(Said(200, (("Content-Type", "application/json"),), b'{"status": "ok"}'))
    {}
    """
    try:
        document = json.loads(said.body)
    except (ValueError, RecursionError):
        return {}
    ours = isinstance(document, dict) and document.get("bindings") in ("readable", "unreadable")
    return document if ours else {}


def _not_ararat(said: Said, url: WebURL) -> Finding:
    where = said.field("Location")
    if where is not None and 300 <= said.status < 400:
        shown = display.percent(where[:_SHOWN])
        message = f"{_said(said)}, and not by Ararat: it redirects to {shown}."
        change = "Ask the address that it redirects to (--url)."
        if url.scheme == "http" and where.lower().startswith(f"https://{url.host}"):
            change = "Ask its https address (--url https://...)."
        return Finding("url", "answered", "bad", "answered", message, change)
    who = said.field("Server")
    by = f" (Server: {display.escape(who[:_SHOWN])})" if who else ""
    message = f"{_said(said)}, and not by Ararat{by}: a request for /ark:99999/x does not reach a resolver here."
    if said.status in _GATEWAY:
        message = f"{_said(said)}{by}: the front server works, and the server behind it does not answer."
        change = (
            "Start the server behind the front server: is `ararat serve`, or the server that runs ResolverMiddleware, "
            "running? Compare its address and port with the front server's (nginx: proxy_pass and upstream; Apache: "
            "ProxyPass; Caddy: reverse_proxy)."
        )
        return Finding("url", "backend", "bad", "answered", message, change)
    change = (
        "Put ResolverMiddleware in front of the site, and let the front server pass on /ark: and /urn: without a "
        f"change. It answers {METHODS}; the address must be the resolver's prefix, path included."
    )
    return Finding("url", "answered", "bad", "answered", message, change)


def _hsts(said: Said, url: WebURL) -> Finding:
    code, shown, seen = "hsts", "HSTS", said.field("Strict-Transport-Security")
    if url.scheme == "http":
        if seen is None:
            return Finding("url", code, "well", shown, "Not sent over http, as it must be.")
        message = "Strict-Transport-Security is sent over http."
        return Finding("url", code, "bad", shown, message, "Send it over https alone.", "RFC 6797, section 7.2")
    if seen is not None:
        return Finding("url", code, "well", shown, f"Sent: {display.escape(seen[:_SHOWN])}.")
    change = 'Set it where TLS ends, or say ResolverMiddleware(..., hsts="max-age=31536000").'
    message = "Strict-Transport-Security is not sent."
    return Finding("url", code, "doubtful", shown, message, change, "ARK draft, section 8")


def _said(said: Said) -> str:
    return f"Answered by {said.status}"


def _cut(identifier: str) -> str:
    shown = display.percent(identifier)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _same(sent: str, seen: str) -> bool:
    """Whether it is what was sent, as far as it is repeated; the digits of a triplet have no case."""
    upper = [_TRIPLET.sub(lambda found: found[0].upper(), text) for text in (sent[:ECHOED], seen)]
    return upper[0] == upper[1]


def _equivalent(sent: str, seen: str) -> bool:
    (name, mark, query), (other, other_mark, other_query) = sent.partition("?"), seen.partition("?")
    try:
        return (mark, query) == (other_mark, other_query) and normalize(name) == normalize(other)
    except IdentifierError:
        return False
