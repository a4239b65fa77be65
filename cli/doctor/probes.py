"""Probe a running deployment: send identifiers and compare them with what the application received.

No special endpoint is needed. A refusal of Ararat repeats the identifier as received and reports whether the server
passed on the raw target. The probes use NAAN 99999 with a random beginning. A site binds names there only with
``test_naans``, and then none with this beginning. If ARKs are not answered, they use the URN namespace ``example``.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from ...identifiers import IdentifierError, normalize
from ...identifiers.text import display
from ...middleware.http.expected_answers import SIGN_IN
from ...middleware.http.responses import METHODS
from ...middleware.http.well_known import PATH as WELL_KNOWN
from ...middleware.resolution.settings import Settings
from ...middleware.views.error_page import ECHOED
from ...net import url as weburl
from ...net.hop import HopFailed
from ...net.response import PROBLEM, SiteAnswer
from ...net.url import WebURL
from ..output import counted
from ..sites import hosts
from . import inspector
from .configuration import FrontConfiguration
from .finding import HealthFinding, State
from .fixes import Cause, ReverseProxy, remedy, reverse_proxy
from .requests import Ask, PatientClient, ProbeClient, network

_SHOWN = 100
_TRIPLET = re.compile("%[0-9A-Fa-f]{2}")

# Below the default of max_length and below the default of gunicorn, 4,094 bytes. A name of 255 code points, all of them
# percent-encoded, has 3,060 bytes.
_LONG = 3300
GATEWAY = (502, 503, 504)
"""The statuses of a reverse proxy whose upstream server cannot be reached, is not ready or is too slow."""

# Statuses with which firewalls and rules refuse requests.
_RULE = (403, 406, 418, 451, 999)
_ASGI_SERVER = re.compile(r"(?i)uvicorn|hypercorn|daphne|granian")
# Servers of applications, which name themselves if there is no front server.
_APPLICATION_SERVER = re.compile(r"(?i)uvicorn|hypercorn|daphne|granian|cheroot|cherrypy|waitress|werkzeug|wsgiserver")
_CLOCK_SECONDS = 300
_DAY = 86_400
_CACHE_FIELDS = ("Age", "X-Cache", "X-Proxy-Cache", "X-Cache-Status", "CF-Cache-Status")
_MAX_REDIRECTS = 4
_TOO_LONG = Settings().max_length + 200


class NotAnswered(Exception):
    """Raised when no server answers at the URL of the deployment. The text is the reason."""


class Probe(NamedTuple):
    """A test of a deployment with one kind of identifier, such as one with two slashes in a row.

    ``rest`` is the identifier without its beginning. ``lost`` names the consequence if it does not arrive unchanged.
    """

    code: str
    rest: str
    shown: str
    lost: str
    reference: str


class Echo(NamedTuple):
    """The request as a resolver received it, from the JSON problem document of its refusal.

    ``identifier`` is the one that the resolver received. ``exact`` is whether it is as the client wrote it; an old
    version of Ararat does not report this, and it is None. ``code`` is the reason of the refusal. ``suggestion`` is the
    URL of a similar identifier, with the resolver prefix, or None. ``inspect`` is the URL of this identifier in the
    inspector, or None. ``shows_empty_query`` is False behind an ASGI server,
    which does not show a question mark at the end.
    """

    identifier: str
    exact: bool | None
    code: str
    suggestion: str | None
    inspect: str | None = None
    shows_empty_query: bool = True


class ReachedDeployment(NamedTuple):
    """A deployment whose resolver answers, and the facts that the probes found out about it.

    - ``start``: the address that was checked. ``url``: the resolver prefix to which it redirects, often the same.
      ``http``: the prefix over http, if that is another one that answers; or None.
    - ``client``: sends the requests. ``announced``: the prefix of links, or None.
    - ``remedy``: returns the fix for a fault, with the lines of the configuration.
    - ``shows_empty_query``: whether a question mark at the end can arrive.
    - ``causes``: the causes of the faults that were found, by the codes of their findings.
    - ``is_intercepted``: whether error pages are replaced.
    """

    start: WebURL
    url: WebURL
    http: WebURL | None
    client: ProbeClient
    announced: str | None
    remedy: Callable[[Cause, ReverseProxy | None], str]
    shows_empty_query: bool
    causes: Mapping[str, Cause]
    is_intercepted: bool


_CERTIFICATE = (
    "Use a certificate for this host of a known authority, and send it with all intermediate ones (nginx: "
    "ssl_certificate fullchain.pem; Apache: SSLCertificateFile fullchain.pem). For an authority of your own, name its "
    "certificate: SSL_CERT_FILE=ca.pem ararat doctor ..."
)
_RENEWAL = "Renew it now (certbot renew). Check the timer that renews it: systemctl list-timers certbot."
_OBLIGATION = "ARK draft, section 7.1"
_NAMES_NOTHING = "a URL that names nothing is resolved as another name"
PROBES = (
    Probe("encoded-slash", "a%2Fb", "%2F", "ark:12345/a%2Fb and ark:12345/a/b become one name", _OBLIGATION),
    Probe("encoded-octet", "a%ffb", "%ff", "names with bytes that are not UTF-8 become other names", _OBLIGATION),
    Probe("double-slash", "a//b", "//", _NAMES_NOTHING, _OBLIGATION),
    Probe("dot-segment", "a/../b", "/../", _NAMES_NOTHING, _OBLIGATION),
    Probe(
        "encoded-dot-segment",
        "a/%2E%2E/b",
        "/%2E%2E/",
        _NAMES_NOTHING,
        _OBLIGATION,
    ),
    Probe("letter-case", "aB", "capitals", "ark:12345/aB and ark:12345/ab become one name", _OBLIGATION),
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
        for end in ("pdf", "css", "js", "png", "jpg", "php", "xml", "sql", "bak", "log", "zip")
    ),
    Probe("long", "x" * _LONG, f"{_LONG:,} bytes", "long names do not reach the resolver", "ARK draft, section 7.1.1"),
)
"""The probes."""


def examine(
    url: WebURL,
    *,
    prefix: str | None = None,
    asking: Ask | None = None,
    sleep: Callable[[float], object] | None = None,
) -> Iterator[HealthFinding]:
    """Send requests to a deployment, and yield the findings.

    - ``url``: the resolver prefix of the deployment.
    - ``prefix``: the prefix that its links must contain, in stored form. None is ``url``.
    - ``asking``: a function that answers the requests instead of the network, or None.
    - ``sleep``: a function that waits for some seconds between slow requests, or None for the clock.

    Raises :class:`NotAnswered` if no server answers at the URL.
    """

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        if asking is None:
            return network(url, method, target, fields)
        return asking(method, target, fields) if fields else asking(method, target)

    deployment = Deployment(url, PatientClient(client, sleep), prefix=prefix)
    yield from deployment.findings()
    yield from deployment.limits()


class Deployment:
    """One deployment, and the facts that its first answers contain.

    - ``url``: its resolver prefix. ``client`` sends the requests. ``prefix``: as in :func:`examine`.
    - ``has_urns``: whether names that are URNs are bound there. ``schemes``: those of the settings, if they are known.
    - ``configuration``: the files of the front server.
    - ``is_local``: whether the application is called in this process, so that there is no network to check.
    - ``is_on_network``: whether the client uses the network, so that the addresses and the certificate can be checked.
    """

    def __init__(
        self,
        url: WebURL,
        client: PatientClient,
        *,
        prefix: str | None = None,
        has_urns: bool = False,
        schemes: Collection[str] | None = None,
        configuration: FrontConfiguration | None = None,
        is_local: bool = False,
        is_on_network: bool = False,
    ) -> None:
        self._start = self._url = url
        self._client = client
        self._expected = prefix
        self._has_urns = has_urns
        self._schemes = schemes
        self._configuration = configuration or FrontConfiguration()
        self._is_local = is_local
        self._is_on_network = is_on_network
        self._mount = url.target.rstrip("/")
        self._arks = self._base = f"ark:99999/{secrets.token_hex(4)}"
        self._proxy: ReverseProxy | None = None
        self._server: str | None = None
        self._origins = {url.origin}
        self._raw = True
        self._root: str | None = None
        self._http: WebURL | None = None
        self._causes: dict[str, Cause] = {}
        self._lost: dict[str, bool] = {}
        self._shows_empty_query = True
        self._is_intercepted = False
        self._answers = False

    @property
    def reached(self) -> ReachedDeployment | None:
        """The facts about the deployment after :meth:`findings`. None if it does not answer for names."""
        if not self._answers:
            return None
        return ReachedDeployment(
            self._start,
            self._url,
            self._http,
            self._client,
            self._root,
            self.remedy,
            self._raw and self._shows_empty_query,
            self._causes,
            self._is_intercepted,
        )

    def remedy(self, cause: Cause, proxy: ReverseProxy | None = None) -> str:
        """Return the fix for a fault as a text. The lines of the configuration that can cause the fault are at its
        end.

        ``cause`` is the kind of the fault. ``proxy`` is the reverse proxy; None is the one that was found.
        """
        proxy = proxy or self._proxy
        if proxy in (None, "gunicorn"):
            # Some front servers name themselves only in their own answers.
            proxy = self._configuration.front() or proxy
        if proxy is None and self._server:
            if cause in ("rewritten", "normalised", "no-raw-target"):
                cause = "server-merges"
            cause = "wrap" if cause == "not-forwarded" else cause
        lines = self._configuration.lines(cause, proxy)
        change = remedy(cause, proxy)
        if cause in ("wrap", "server-merges"):
            change = f"The server is {self._server}. {change}"
        return f"{change} See {'; '.join(map(str, lines))}" if lines else change

    def findings(self) -> Iterator[HealthFinding]:
        """Send the probes to the deployment, and yield what is right or wrong. Raises :class:`NotAnswered`."""
        yield from self._probes()

    def limits(self) -> Iterator[HealthFinding]:
        """Yield the finding about a rate limit, after all requests."""
        if self._client.limited:
            message = (
                f"{counted(self._client.limited, 'request was', 'requests were')} refused at first "
                f"({self._client.status}) and answered after a pause."
            )
            change = self.remedy("rate-limit", reverse_proxy(self._client.server, None))
            yield HealthFinding("url", "rate-limit", "warning", "rate limit", message, change)

    def _probes(self) -> Iterator[HealthFinding]:
        try:
            plain = self._ask("x")
            for _ in range(_MAX_REDIRECTS):
                following = redirected(self._url, f"{self._base}x", plain)
                if following is None:
                    break
                yield from self._follow(following, plain)
                try:
                    plain = self._ask("x")
                except HopFailed as failed:
                    if failed.code == "tls":
                        raise
                    yield self._dead_redirect(self._start, following, failed, plain)
                    return
        except HopFailed as failed:
            if failed.code == "tls":
                message = f"{self._here} has no certificate that this machine trusts: {failed.sentence}."
                yield HealthFinding("url", "certificate", "error", "certificate", message, _CERTIFICATE)
                return
            raise NotAnswered(failed.sentence) from None
        self._proxy = _proxy_of(plain)
        if _APPLICATION_SERVER.search(named := plain.field("Server") or ""):
            self._server = display.escape(named[:_SHOWN])
        echo = parse_echo(plain)
        if echo is None:
            first = plain
            self._base = "urn:example:ararat-"
            plain = self._try("x") or first
            if (echo := parse_echo(plain)) is None:
                self._base = self._arks
                yield self._not_ararat(first)
                return
            if self._schemes is None or "ark" in self._schemes:
                message = f"/{self._arks}x is {_status(first).lower()}, not refused, so only URNs were probed."
                change = "Correct a rule or a binding of NAAN 99999 (setting test_naans), or what answers /ark:."
                yield HealthFinding("url", "arks-not-probed", "warning", "ARKs", message, change)
        self._answers = True
        self._proxy = _proxy_of(plain)
        self._raw = echo.exact is not False
        self._shows_empty_query = echo.shows_empty_query and not _ASGI_SERVER.search(plain.field("Server") or "")
        yield HealthFinding("url", "answered", "ok", "answered", f"Ararat answers at {self._mount or '/'}.")
        yield self._raw_target(echo)
        for probe in PROBES:
            # A request in this process has no limit of length.
            if not (self._is_local and probe.code == "long"):
                yield self._probed(probe)
        if not self._is_local:
            yield self._too_long()
        if self._base.startswith("ark:"):
            yield self._other_spelling(
                "classic",
                f"ark:/{self._base[4:]}x",
                "ark:/",
                "ARKs in their classic form (ark:/), the most frequent one,",
            )
            yield self._other_spelling(
                "label", f"ARK:{self._base[4:]}x", "ARK:", "ARKs with a label in capitals, which are valid,"
            )
        yield self._head(plain)
        yield self._cache_control(plain)
        yield from self._bindings()
        if self._is_local:
            self._root = self._announced_root()
            return
        yield from inspector.examine(self._url, echo.inspect, self._proxy, self._asked)
        yield self._announced()
        if self._base.startswith("ark:"):
            yield self._well_known()
        yield self._hsts(plain)
        yield from self._host(plain)
        yield from self._over_http()

    def _over_https(self) -> HealthFinding:
        secure = replace(self._url, scheme="https", port=443)
        shown = _prefix_of(secure)
        change = "Answer the names over https, too, and redirect http to it with the whole request target."
        try:
            response = self._client(secure, "GET", f"{self._mount}/{self._base}x")
        except HopFailed as failed:
            message = f"{shown} does not answer ({failed.sentence}), so links that begin with https fail."
            return HealthFinding("url", "https", "warning", "https", message, change)
        if parse_echo(response) is None:
            message = f"{shown} is answered by {response.status}, not by Ararat: links that begin with https fail."
            return HealthFinding("url", "https", "warning", "https", message, change)
        return HealthFinding("url", "https", "ok", "https", f"Ararat answers at {shown}.")

    def _asked(self, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        return self._client(self._url, method, target, fields)

    def _follow(self, following: WebURL, plain: SiteAnswer) -> Iterator[HealthFinding]:
        """Continue at the prefix to which all names are redirected, and check that the redirect loses nothing."""
        before, after = (_prefix_of(url) for url in (self._url, following))
        if following.origin not in self._origins:
            self._origins |= {self._url.origin, following.origin}
            yield from self._redirect_keeps_all(self._url, following, _proxy_of(plain))
        self._url, self._mount = following, following.target.rstrip("/")
        if self._start.host == following.host and following.scheme == "https":
            message = f"{before} redirects to {after}, which is checked."
            yield HealthFinding("url", "redirect", "ok", "redirect", message)
            return
        message = f"{before} redirects each name to {after}, which is checked."
        change = (
            f"Use this address: ararat doctor {after}, and set it as the prefix. Or answer names at {before} without "
            "this redirect."
        )
        yield HealthFinding("url", "redirect", "warning", "redirect", message, change)

    def _redirect_keeps_all(
        self, url: WebURL, following: WebURL, proxy: ReverseProxy | None
    ) -> Iterator[HealthFinding]:
        """Compare the targets of a redirect from one prefix to another with the requested ones."""
        lost: dict[str, list[tuple[str, str]]] = {}
        for probe in PROBES:
            sent = f"{self._base}{probe.rest}"
            target = f"{url.target.rstrip('/')}/{sent}"
            where = self._client(url, "GET", target).field("Location") or ""
            if redirected_to(url, where) == (following.origin, f"{following.target.rstrip('/')}/{sent}"):
                continue
            if probe.lost == _NAMES_NOTHING and probe.code != "double-slash":
                continue
            message = f"{_cut(target)} is redirected to {display.percent(where[:_SHOWN]) or 'nothing'}: "
            message += "the description is lost" if "?" in sent else "it becomes another name"
            lost.setdefault("redirect-query" if "?" in sent else "redirect-path", []).append((sent, message))
        for code, rows in lost.items():
            message = f"{'. '.join(message for _, message in rows[:3])}."
            change = self.remedy("redirect-query", proxy)
            yield HealthFinding("url", code, "error", "redirect", message, change, _OBLIGATION, _cut(rows[0][0]))

    def _dead_redirect(self, url: WebURL, following: WebURL, failed: HopFailed, response: SiteAnswer) -> HealthFinding:
        message = f"{_prefix_of(url)} redirects to {_prefix_of(following)}, where nothing answers: {failed.sentence}."
        change = self.remedy("dead-redirect", _proxy_of(response))
        return HealthFinding("url", "dead-redirect", "error", "redirect", message, change)

    def _host(self, plain: SiteAnswer) -> Iterator[HealthFinding]:
        """Check what the host tells a reader: its clock, robots.txt, each of its addresses and its certificate."""
        ahead = hosts.clock_error(plain)
        if ahead is not None and abs(ahead) > _CLOCK_SECONDS:
            message = f"The field Date is {abs(ahead) / _DAY:,.1f} days {'after' if ahead > 0 else 'before'} "
            message += "the clock of this machine."
            yield HealthFinding(
                "url", "clock", "error", "clock", message, self.remedy("clock"), "RFC 9110, section 6.6.1"
            )
        with suppress(HopFailed):
            robots = self._asked("GET", "/robots.txt")
            if refused := hosts.refused_robots(robots, f"{self._mount}/ark:12345/x"):
                message = f"/robots.txt does not let {' and '.join(refused)} read {self._mount}/ark:."
                yield HealthFinding("url", "robots", "warning", "robots.txt", message, self.remedy("robots"))
        if not self._is_on_network:
            return
        yield from self._addresses()
        times = hosts.certificate_times(self._url) if self._url.scheme == "https" else None
        if times is not None:
            days, lifetime = (times[1] - time.time()) / _DAY, (times[1] - times[0]) / _DAY
            shown, message = "certificate", f"The certificate ends in {days:,.1f} days."
            if days < 2 or days < lifetime / 10:
                yield HealthFinding("url", "certificate-ends", "error", shown, message, _RENEWAL)
            elif days < lifetime / 4:
                yield HealthFinding("url", "certificate-ends", "warning", shown, message, _RENEWAL)
            else:
                yield HealthFinding("url", "certificate-ends", "ok", shown, message)

    def _addresses(self) -> Iterator[HealthFinding]:
        """Send a request to each address of the host: a reader can get any of them."""
        sent = {"Accept": PROBLEM, "User-Agent": "ararat-doctor"}
        answers = hosts.by_address(self._url, f"{self._mount}/{self._base}x", sent)
        wrong = {
            address: answer.sentence if isinstance(answer, HopFailed) else _status(answer)
            for address, answer in answers.items()
            if isinstance(answer, HopFailed) or parse_echo(answer) is None
        }
        if answers and len(wrong) < len(answers):
            seen = ", ".join(f"{address}: {answer}" for address, answer in wrong.items())
            message = (
                f"Not all addresses of {self._url.host} lead to Ararat. {seen}."
                if wrong
                else (f"All {len(answers)} addresses of {self._url.host} lead to Ararat.")
            )
            change = self.remedy("addresses") if wrong else None
            yield HealthFinding("url", "addresses", "error" if wrong else "ok", "addresses", message, change)

    def _over_http(self) -> Iterator[HealthFinding]:
        """Check the prefix over http, which is printed in many ARKs, if the checked one is https at its own port.

        If the checked one is http, check it over https.
        """
        url = self._url
        if url.scheme == "http" and url.port == 80 and not (url.address and not url.address.is_global):
            yield self._over_https()
        if url.scheme != "https" or url.port != 443 or self._start.scheme == "http":
            return
        plain = replace(url, scheme="http", port=80)
        shown = _prefix_of(plain)
        try:
            response = self._client(plain, "GET", f"{self._mount}/{self._base}x")
        except HopFailed as failed:
            message = f"{shown} does not answer ({failed.sentence}), so links that begin with http fail."
            yield HealthFinding("url", "http", "warning", "http", message, "Redirect port 80 to https.")
            return
        following = redirected(plain, f"{self._base}x", response)
        if following is not None:
            try:
                self._client(following, "GET", f"{following.target.rstrip('/')}/{self._base}x")
            except HopFailed as failed:
                yield self._dead_redirect(plain, following, failed, response)
                return
            self._http = plain
            findings = list(self._redirect_keeps_all(plain, following, _proxy_of(response)))
            yield from findings
            if not findings:
                yield HealthFinding("url", "http", "ok", "http", f"{shown} redirects to https with the whole target.")
        elif parse_echo(response) is not None:
            self._http = plain
            yield HealthFinding("url", "http", "ok", "http", f"Ararat answers at {shown}.")
        else:
            message = f"{shown} is answered by {response.status}, not by Ararat: links that begin with http fail."
            change = self.remedy("no-redirect", _proxy_of(response))
            yield HealthFinding("url", "http", "error", "http", message, change)

    def _ask(self, rest: str, method: str = "GET") -> SiteAnswer:
        return self._asked(method, f"{self._mount}/{self._base}{rest}")

    def _try(self, rest: str) -> SiteAnswer | None:
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
                self.remedy(cause) if cause else None,
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
        if probe.code == "question-mark" and not self._shows_empty_query and echo.identifier == sent[:-1]:
            return found("ok", "An ASGI server does not show it (docs/request-targets.md). Use ?info.")
        lost = f"Arrives as {received}: {probe.lost}."
        cause = self._cause_of_change(probe, sent, echo)
        self._causes[probe.code] = cause
        return found("error", lost, cause)

    def _cause_of_change(self, probe: Probe, sent: str, echo: Echo) -> Cause:
        """Return why another identifier arrived. Names that were never requested before show whether it is a cache."""
        fresh = self._fresh(probe.rest)
        if fresh is not None and _same(*fresh):
            return "cache-key"
        if not self._raw:
            return "no-raw-target"
        if sent.lower() == echo.identifier.lower():
            return "case"
        # A path in proxy_pass, a frequent fault of nginx, keeps a query that is not empty.
        if self._loses("x?info"):
            return "arguments"
        if probe.code == "question-mark" and not self._loses("a%2Fb"):
            return "empty-query"
        return "normalised" if echo.exact is False else "rewritten"

    def _loses(self, rest: str) -> bool:
        """Return whether a name with this end, which was never requested before, arrives changed."""
        if rest not in self._lost:
            fresh = self._fresh(rest)
            self._lost[rest] = fresh is not None and not _same(*fresh)
        return self._lost[rest]

    def _fresh(self, rest: str) -> tuple[str, str] | None:
        """Request a name that was never requested before. Return what was sent and what arrived, or None."""
        rest = f"{secrets.token_hex(4)}{rest}"
        try:
            echo = parse_echo(self._ask(rest))
        except HopFailed:
            return None
        return None if echo is None else (self._base + rest, echo.identifier)

    def _stopped(self, probe: Probe, sent: str, message: str, response: SiteAnswer | None = None) -> HealthFinding:
        cause: Cause = "long" if probe.code == "long" else "stopped"
        if probe.code.startswith("extension-"):
            cause = "extension"
        if response is not None and 400 <= response.status < 500 and probe.lost == _NAMES_NOTHING:
            message = f"{_status(response)} by a server in front of Ararat. Such a URL names nothing."
            return HealthFinding("url", probe.code, "ok", probe.shown, message, sent=_cut(sent))
        if response is not None and response.status in _RULE and cause != "long":
            cause = "rule"
            message = f"{_status(response)}, not by Ararat: a rule in front of it refuses such names."
        self._causes[probe.code] = cause
        # A reverse proxy may name itself only in its own answers.
        change = self.remedy(cause, _proxy_of(response) if response else None)
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
        description = "Refused with 414." if response.status == 414 else f"Answered by Ararat ({response.status})."
        return HealthFinding("url", code, "ok", shown, description)

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

    def _head(self, get: SiteAnswer) -> HealthFinding:
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
        if response.status == 429:
            return self._bad("head", "HEAD", "HEAD is limited, GET is not.", "rate-limit", "RFC 9110, section 9.3.2")
        if response.status != get.status:
            message = f"{_status(response)}, but GET is answered by {get.status}."
        elif differs:
            message = f"{' and '.join(differs)} {'is' if len(differs) == 1 else 'are'} different from GET."
        else:
            return HealthFinding("url", "head", "ok", "HEAD", "The same as GET, without a body.")
        return self._bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")

    def _cache_control(self, plain: SiteAnswer) -> HealthFinding:
        expected = {404: "max-age=60", 400: "no-store"}.get(plain.status)
        seen = plain.field("Cache-Control")
        if expected is None or seen == expected:
            return HealthFinding("url", "cache-control", "ok", "Cache-Control", "Arrives as Ararat set it.")
        message = f"A refusal has {display.escape((seen or 'no value')[:_SHOWN])}; Ararat sets {expected}."
        change = self.remedy("cache")
        return HealthFinding("url", "cache-control", "error", "Cache-Control", message, change, "RFC 9111, section 5.2")

    def _bindings(self) -> Iterator[HealthFinding]:
        """Look up a name to check the store, and that URNs reach the resolver."""
        try:
            response = self._asked("GET", f"{self._mount}/urn:example:ararat-doctor")
        except HopFailed:
            return
        echo = parse_echo(response)
        if echo is None:
            yield from self._urns(response)
        elif echo.code == "bindings-unavailable":
            change = "See its log, or run ararat doctor --database URL as the user that runs the site."
            message = "The resolver cannot read its bindings."
            yield HealthFinding("url", "bindings", "error", "bindings", message, change, "ARK draft, section 3.1")
        else:
            yield HealthFinding("url", "bindings", "ok", "bindings", "The resolver can read its bindings.")

    def _urns(self, response: SiteAnswer) -> Iterator[HealthFinding]:
        if self._schemes is not None and "urn" not in self._schemes and not self._has_urns:
            yield HealthFinding("url", "urn", "ok", "URNs", "The settings exclude URNs.")
            return
        message = f"{_status(response)}, not by Ararat: URNs (/urn:) do not reach it."
        change = self.remedy("urn", _proxy_of(response))
        yield HealthFinding("url", "urn", "error" if self._has_urns else "warning", "URNs", message, change)

    def _announced_root(self) -> str | None:
        """Return the prefix of links. A refusal that suggests another spelling contains it (ark:B9999/x)."""
        try:
            echo = parse_echo(self._asked("GET", f"{self._mount}/ark:B9999/x"))
        except HopFailed:
            return None
        tail = "/ark:b9999/x"
        if echo is None or echo.suggestion is None or not echo.suggestion.endswith(tail):
            return None
        return echo.suggestion.removesuffix(tail)

    def _announced(self) -> HealthFinding:
        """Check the prefix of links."""
        code, shown = "prefix", "prefix"
        self._root = root = self._announced_root()
        if root is None:
            return HealthFinding(
                "url", code, "warning", shown, "The prefix of links is unknown: no answer contains it."
            )
        if not root.startswith("http"):
            change = f'Set it: ResolverMiddleware(..., prefix="{self._here}"), or ararat serve --prefix {self._here}.'
            message = "No prefix is set, so links contain no host and do not work outside of this site."
            return HealthFinding("url", code, "warning", shown, message, change)
        expected = self._expected or self._here
        announced = display.percent(root[:_SHOWN])
        if root == expected or (self._expected is None and root == _prefix_of(self._start)):
            return HealthFinding("url", code, "ok", shown, f"Links begin with {announced}.")
        message = f"Links begin with {announced}, not with {expected}."
        same_host = root.partition("://")[2].partition("/")[0] == self._url.authority
        if self._expected is None and not same_host:
            message = f"{message} This is correct if both lead to this site."
            return HealthFinding("url", code, "warning", shown, message, f'Otherwise, set prefix="{expected}".')
        return HealthFinding(
            "url", code, "error", shown, message, f'Set prefix="{expected}".', "ARK draft, section 7.1"
        )

    def _well_known(self) -> HealthFinding:
        """Check that the host announces the resolver at its root, also if the prefix has a path."""
        code, shown = "well-known", WELL_KNOWN
        expected = f"{self._mount}/"
        reference = "draft-kunze-ark-43, section 5.6"
        try:
            response = self._asked("GET", WELL_KNOWN)
        except HopFailed:
            response = None
        if response is None or response.status != 200:
            answer = "no answer" if response is None else f"the status {response.status}"
            message = f"The host does not announce the resolver: {WELL_KNOWN} has {answer}."
            change = (
                f"Forward {WELL_KNOWN} to Ararat like the names, or answer {expected} there. "
                "With the setting well_known=False, this is correct."
            )
            if response is not None and response.status == 400:
                change = self.remedy("host")
            return HealthFinding("url", code, "warning", shown, message, change, reference)
        body = response.body[:_SHOWN].decode("utf-8", "replace").strip()
        if body == expected:
            return HealthFinding("url", code, "ok", shown, f"The host announces the resolver at {expected}.")
        if self._root is not None and body == f"{urlsplit(self._root).path.rstrip('/')}/":
            message = f"The host announces a resolver at {display.percent(body)}, the path of the prefix of links."
            return HealthFinding("url", code, "warning", shown, message, f'Set prefix="{self._here}".', reference)
        is_path = body.startswith("/") and "<" not in body
        message = f"The host announces a resolver at {display.percent(body)}, not at {expected}."
        if not is_path:
            message = f"The site has another page at {WELL_KNOWN}, so the host does not announce the resolver."
        change = f"Answer {expected} at {WELL_KNOWN}, as text/plain."
        return HealthFinding("url", code, "error" if is_path else "warning", shown, message, change, reference)

    def _not_ararat(self, response: SiteAnswer) -> HealthFinding:
        """Return why the first request got no answer of Ararat."""
        proxy, who = _proxy_of(response), response.field("Server")
        by = f" (Server: {display.escape(who[:_SHOWN])})" if who else ""
        answer = f"{_status(response)}, not by Ararat{by}"
        where = response.field("Location")

        def found(code: str, message: str, cause: Cause, more: str = "") -> HealthFinding:
            change = f"{self.remedy(cause, proxy)}{more}"
            return HealthFinding("url", code, "error", "answered", message, change)

        if self._is_on_network and (found_here := [*self._addresses()]):
            return found_here[0]
        if self._mount != self._start.target.rstrip("/") and self._url.origin == self._start.origin:
            message = f"{_prefix_of(self._start)} redirects each name to {self._here}, where Ararat does not answer."
            return found("answered", message, "redirected")
        if where is not None and 300 <= response.status < 400:
            message = f"{answer}: it redirects to {display.percent(where[:_SHOWN])}."
            if redirected_to(self._url, where)[1] == f"{self._mount}/{self._base}x/":
                return found("slash", message, "slash")
            if SIGN_IN.search(where):
                return found("password", f"{message} This is a page to sign in.", "password")
            return found("answered", message, "redirected")
        if response.status in (401, 407):
            return found("password", f"{answer}: the front server asks for a password.", "password")
        if response.status == 429:
            return found("rate-limit", f"{answer}, also after pauses.", "rate-limit")
        if response.status in _RULE:
            return found("rule", f"{answer}: a rule refuses /{self._base}x.", "rule")
        if response.field("Access-Control-Expose-Headers") == "Link, Location" and response.status in (400, 404):
            kind = display.escape((response.field("Content-Type") or "no type")[:_SHOWN])
            message = f"Ararat answers as {kind}, not as application/problem+json: the request field Accept is lost."
            return found("fields", message, "fields")
        if self._works_without_errors():
            self._answers = self._is_intercepted = True
            message = f"{answer}: Ararat answers other requests at this address, but its error pages are replaced."
            return found("intercepted", message, "intercepted")
        if response.status in GATEWAY:
            message = f"{_status(response)}{by}: the reverse proxy works, but the server behind it does not answer."
            return found("backend", message, "no-process")
        message = f"{answer}: a request for /{self._base}x does not reach a resolver."
        more = f" ResolverMiddleware answers {METHODS}. The URL must be the resolver prefix, with its path."
        return found("answered", message, "not-forwarded", more)

    def _works_without_errors(self) -> bool:
        """Return whether Ararat answers a request that is not refused: OPTIONS for a name (204)."""
        try:
            response = self._ask("x", "OPTIONS")
        except HopFailed:
            return False
        return response.status == 204 and response.field("Allow") == METHODS

    def _hsts(self, response: SiteAnswer) -> HealthFinding:
        code, shown, seen = "hsts", "HSTS", response.field("Strict-Transport-Security")
        if self._url.scheme == "http":
            if seen is None:
                return HealthFinding("url", code, "ok", shown, "Not sent over http, as required.")
            message = "Strict-Transport-Security is sent over http."
            change = (
                f"Send it over https only: move the line that sets it to the server for https. {self.remedy('hsts')}"
            )
            return HealthFinding("url", code, "warning", shown, message, change, "RFC 6797, section 7.2")
        if seen is not None:
            return HealthFinding("url", code, "ok", shown, f"Sent: {display.escape(seen[:_SHOWN])}.")
        message = "Strict-Transport-Security is not sent."
        return HealthFinding("url", code, "warning", shown, message, self.remedy("hsts"), "ARK draft, section 8")

    @property
    def _here(self) -> str:
        return _prefix_of(self._url)

    def _bad(
        self, code: str, shown: str, message: str, cause: Cause, reference: str, sent: str | None = None
    ) -> HealthFinding:
        self._causes[code] = cause
        return HealthFinding("url", code, "error", shown, message, self.remedy(cause), reference, sent)


def redirected(url: WebURL, name: str, response: SiteAnswer) -> WebURL | None:
    """Return the prefix to which a front server redirects a name, or None for another response.

    - ``url``: the prefix that was requested.
    - ``name``: the name that was requested.
    - ``response``: the response. A redirect to the same name at another host, or over https, counts. A redirect to the
      target of the name does not count.

    >>> from ararat.net import url as weburl
    >>> answer = SiteAnswer(301, (("Location", "https://www.a.example/ark:12345/x"),), b"")
    >>> redirected(weburl.parse("http://a.example/"), "ark:12345/x", answer).authority
    'www.a.example'
    """
    where = response.field("Location")
    if where is None or response.status not in (301, 302, 303, 307, 308):
        return None
    path = name.partition("?")[0]
    try:
        address = weburl.parse(urljoin(f"{url.scheme}://{url.authority}/", where))
    except (weburl.BadURL, ValueError):
        return None
    target = address.target.partition("?")[0]
    following = replace(address, target=target.removesuffix(path))
    if not target.endswith(f"/{path}") or not _are_neighbours(url.host, following.host):
        return None
    is_same = (following.origin, following.target.rstrip("/")) == (url.origin, url.target.rstrip("/"))
    return None if is_same else following


def redirected_to(url: WebURL, where: str) -> tuple[tuple[str, str, int] | None, str]:
    """Return the origin and the request target of a redirect; (None, "") if it does not lead to a web address.

    ``url`` is the URL that was requested. ``where`` is the value of the header field ``Location``.

    >>> from ararat.net import url as weburl
    >>> redirected_to(weburl.parse("http://a.example/"), "/b?c")
    (('http', 'a.example', 80), '/b?c')
    """
    try:
        where = where.partition("#")[0]
        # urljoin removes a bare question mark.
        target = weburl.parse(where if "://" in where else urljoin(f"{url.scheme}://{url.authority}/", where))
    except (weburl.BadURL, ValueError):
        return None, ""
    return target.origin, target.target


def answered_by(response: SiteAnswer) -> str | None:
    """Return the header fields of a response that name the server and a cache, as one text, or None without them.

    ``response`` is the response.

    >>> answered_by(SiteAnswer(302, (("Server", "nginx"), ("Age", "17")), b""))
    'nginx, Age: 17'
    """
    named = [response.field(name) for name in ("Via", "Server")]
    caches = [f"{name}: {value}" for name in _CACHE_FIELDS if (value := response.field(name))]
    return ", ".join(display.escape(value[:_SHOWN]) for value in [*named, *caches] if value) or None


def _prefix_of(url: WebURL) -> str:
    return f"{url.scheme}://{url.authority}{url.target.rstrip('/')}"


def _are_neighbours(one: str, other: str) -> bool:
    """Return whether two hosts are of one site: they are equal, one is below the other, or both are this machine."""
    if one == other or one.endswith(f".{other}") or other.endswith(f".{one}"):
        return True
    loopback = ("localhost", "127.0.0.1", "::1")
    return one in loopback and other in loopback


def _proxy_of(response: SiteAnswer) -> ReverseProxy | None:
    return reverse_proxy(response.field("Server"), response.field("Via"))


def parse_echo(response: SiteAnswer) -> Echo | None:
    """Return the identifier that a resolver received, as its refusal repeats it, or None for another response.

    ``response`` is the response to a request for a name that cannot be bound.

    >>> parse_echo(SiteAnswer(200, (("Content-Type", "text/html"),), b"<title>Ararat</title>")) is None
    True
    """
    if (response.field("Content-Type") or "").partition(";")[0].strip().lower() != PROBLEM:
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
        document.get("empty_query_visible") is not False,
    )


def _status(response: SiteAnswer) -> str:
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
