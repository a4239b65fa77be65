"""One deployment: the requests to it, its redirects, and the facts that its first answers contain."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Generator, Iterator, Mapping

from ....identifiers.text import display
from ....middleware.http.answer_builder import METHODS
from ....middleware.http.expected_answers import SIGN_IN
from ....net.hop import HopFailed
from ....net.response import PROBLEM, SiteAnswer
from ....net.url import WebURL
from ...output import format_count
from ...sites import hosts
from ..configuration import FrontConfiguration
from ..finding import HealthFinding
from ..fixes import Cause, ReverseProxy, remedy, reverse_proxy
from ..requests import PatientClient
from .probes import (
    GATEWAY,
    NAMES_NOTHING,
    OBLIGATION,
    PROBES,
    SHOWN,
    Echo,
    cut,
    parse_echo,
    prefix_of,
    proxy_of,
    redirect_prefix,
    redirected_to,
    status_of,
)

# Statuses with which firewalls and rules refuse requests.
RULE = (403, 406, 418, 451, 999)
_ASGI_SERVER = re.compile(r"(?i)uvicorn|hypercorn|daphne|granian")
# Servers of applications, which name themselves if there is no front server.
_APPLICATION_SERVER = re.compile(r"(?i)uvicorn|hypercorn|daphne|granian|cheroot|cherrypy|waitress|werkzeug|wsgiserver")
_MAX_REDIRECTS = 4

_CERTIFICATE = (
    "Use a certificate for this host of a known authority, and send it with all intermediate ones (nginx: "
    "ssl_certificate fullchain.pem; Apache: SSLCertificateFile fullchain.pem). For an authority of your own, name its "
    "certificate: SSL_CERT_FILE=ca.pem ararat doctor ..."
)


class NotAnswered(Exception):
    """Raised when no server answers at the URL of the deployment. The text is the reason."""


class Deployment:
    """One deployment, and the facts that its first answers contain.

    - ``url``: its resolver prefix. ``start``: the address that was checked. ``http``: the prefix over
      http, if another one answers there. ``prefix``: as in :func:`.checks.examine`.
    - ``has_urns``: names that are URNs are bound there. ``schemes``: those of the settings, if they are known.
    - ``is_local``: the application is called in this process. ``is_on_network``: it has addresses and a certificate.
    - ``plain``: the first answer of Ararat, after :meth:`reach`. ``echo``: the request as it received it.
    - ``announced``: the prefix of links, or None. ``is_intercepted``: error pages are replaced.
    - ``causes``: the causes of the faults that were found, by the codes of their findings.
    """

    plain: SiteAnswer
    echo: Echo

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
        self.start = self.url = url
        self.client = client
        self.expected = prefix
        self.has_urns = has_urns
        self.schemes = schemes
        self.configuration = configuration or FrontConfiguration()
        self.is_local = is_local
        self.is_on_network = is_on_network
        self.mount = url.target.rstrip("/")
        self.arks = self.base = f"ark:99999/{secrets.token_hex(4)}"
        self.proxy: ReverseProxy | None = None
        self.server: str | None = None
        self.origins = {url.origin}
        self.raw = True
        self.announced: str | None = None
        self.http: WebURL | None = None
        self.causes: dict[str, Cause] = {}
        self.lost: dict[str, bool] = {}
        self.shows_empty_query = True
        self.is_intercepted = False
        self.answers = False

    @property
    def reached(self) -> Deployment | None:
        """This deployment after :func:`.checks.findings`, or None if it does not answer for names."""
        return self if self.answers else None

    def remedy(self, cause: Cause, proxy: ReverseProxy | None = None) -> str:
        """Return the fix for a fault as a text, with the lines of the configuration that can cause it.
        The default of ``proxy`` is the reverse proxy that was found.
        """
        proxy = proxy or self.proxy
        if proxy in (None, "gunicorn"):
            # Some front servers name themselves only in their own answers.
            proxy = self.configuration.front() or proxy
        if proxy is None and self.server:
            if cause in ("rewritten", "normalised", "no-raw-target"):
                cause = "server-merges"
            cause = "wrap" if cause == "not-forwarded" else cause
        lines = self.configuration.lines(cause, proxy)
        change = remedy(cause, proxy)
        if cause in ("wrap", "server-merges"):
            change = f"The server is {self.server}. {change}"
        return f"{change} See {'; '.join(map(str, lines))}" if lines else change

    def limits(self) -> Iterator[HealthFinding]:
        """Yield the finding about a rate limit, after all requests."""
        if self.client.limited:
            message = (
                f"{format_count(self.client.limited, 'request was', 'requests were')} refused at first "
                f"({self.client.status}) and answered after a pause."
            )
            change = self.remedy("rate-limit", reverse_proxy(self.client.server, None))
            yield HealthFinding("url", "rate-limit", "warning", "rate limit", message, change)

    def reach(self) -> Generator[HealthFinding, None, bool]:
        """Send the first requests, and yield where they are redirected and why they are not answered.
        Return whether a refusal of Ararat arrived: ``echo`` and ``plain``. Raises :class:`NotAnswered`.
        """
        try:
            plain = self.ask("x")
            for _ in range(_MAX_REDIRECTS):
                following = redirect_prefix(self.url, f"{self.base}x", plain)
                if following is None:
                    break
                yield from self._follow(following, plain)
                try:
                    plain = self.ask("x")
                except HopFailed as failed:
                    if failed.code == "tls":
                        raise
                    yield self.dead_redirect(self.start, following, failed, plain)
                    return False
        except HopFailed as failed:
            if failed.code == "tls":
                message = f"{self.here} has no certificate that this machine trusts: {failed.sentence}."
                yield HealthFinding("url", "certificate", "error", "certificate", message, _CERTIFICATE)
                return False
            raise NotAnswered(failed.sentence) from None
        self.proxy = proxy_of(plain)
        if _APPLICATION_SERVER.search(named := plain.field("Server") or ""):
            self.server = display.escape(named[:SHOWN])
        echo = parse_echo(plain)
        if echo is None:
            first = plain
            self.base = "urn:example:ararat-"
            plain = self._try("x") or first
            if (echo := parse_echo(plain)) is None:
                self.base = self.arks
                yield self._not_ararat(first)
                return False
            if self.schemes is None or "ark" in self.schemes:
                message = f"/{self.arks}x is {status_of(first).lower()}, not refused, so only URNs were probed."
                change = "Correct a rule or a binding of NAAN 99999 (setting test_naans), or what answers /ark:."
                yield HealthFinding("url", "arks-not-probed", "warning", "ARKs", message, change)
        self.answers = True
        self.proxy = proxy_of(plain)
        self.echo, self.plain = echo, plain
        self.raw = echo.exact is not False
        self.shows_empty_query = echo.shows_empty_query and not _ASGI_SERVER.search(plain.field("Server") or "")
        yield HealthFinding("url", "answered", "ok", "answered", f"Ararat answers at {self.mount or '/'}.")
        return True

    def get_answer(self, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        """Return the answer to a request for the path and query ``target``, with further header fields."""
        return self.client(self.url, method, target, fields)

    def _follow(self, following: WebURL, plain: SiteAnswer) -> Iterator[HealthFinding]:
        """Continue at the prefix to which all names are redirected, and check that the redirect loses nothing."""
        before, after = (prefix_of(url) for url in (self.url, following))
        if following.origin not in self.origins:
            self.origins |= {self.url.origin, following.origin}
            yield from self.redirect_keeps_all(self.url, following, proxy_of(plain))
        self.url, self.mount = following, following.target.rstrip("/")
        if self.start.host == following.host and following.scheme == "https":
            message = f"{before} redirects to {after}, which is checked."
            yield HealthFinding("url", "redirect", "ok", "redirect", message)
            return
        message = f"{before} redirects each name to {after}, which is checked."
        change = (
            f"Use this address: ararat doctor {after}, and set it as the prefix. Or answer names at {before} without "
            "this redirect."
        )
        yield HealthFinding("url", "redirect", "warning", "redirect", message, change)

    def redirect_keeps_all(self, url: WebURL, following: WebURL, proxy: ReverseProxy | None) -> Iterator[HealthFinding]:
        """Compare the targets of a redirect between prefixes with the requested ones, and yield the differences."""
        lost: dict[str, list[tuple[str, str]]] = {}
        for probe in PROBES:
            sent = f"{self.base}{probe.rest}"
            target = f"{url.target.rstrip('/')}/{sent}"
            where = self.client(url, "GET", target).field("Location") or ""
            if redirected_to(url, where) == (following.origin, f"{following.target.rstrip('/')}/{sent}"):
                continue
            if probe.lost == NAMES_NOTHING and probe.code != "double-slash":
                continue
            message = f"{cut(target)} is redirected to {display.percent(where[:SHOWN]) or 'nothing'}: "
            message += "the description is lost" if "?" in sent else "it becomes another name"
            lost.setdefault("redirect-query" if "?" in sent else "redirect-path", []).append((sent, message))
        for code, rows in lost.items():
            message = f"{'. '.join(message for _, message in rows[:3])}."
            change = self.remedy("redirect-query", proxy)
            yield HealthFinding("url", code, "error", "redirect", message, change, OBLIGATION, cut(rows[0][0]))

    def dead_redirect(self, url: WebURL, following: WebURL, failed: HopFailed, response: SiteAnswer) -> HealthFinding:
        """Return the finding for a redirect from ``url`` to ``following``, where the request ``failed``."""
        message = f"{prefix_of(url)} redirects to {prefix_of(following)}, where nothing answers: {failed.sentence}."
        change = self.remedy("dead-redirect", proxy_of(response))
        return HealthFinding("url", "dead-redirect", "error", "redirect", message, change)

    def addresses(self) -> Iterator[HealthFinding]:
        """Send a request to each address of the host, and yield the finding whether all lead to Ararat."""
        answers = self.by_address(f"{self.mount}/{self.base}x")
        wrong = {
            address: answer.sentence if isinstance(answer, HopFailed) else status_of(answer)
            for address, answer in answers.items()
            if isinstance(answer, HopFailed) or parse_echo(answer) is None
        }
        if answers and len(wrong) < len(answers):
            seen = ", ".join(f"{address}: {answer}" for address, answer in wrong.items())
            message = (
                f"Not all addresses of {self.url.host} lead to Ararat. {seen}."
                if wrong
                else (f"All {len(answers)} addresses of {self.url.host} lead to Ararat.")
            )
            change = self.remedy("addresses") if wrong else None
            yield HealthFinding("url", "addresses", "error" if wrong else "ok", "addresses", message, change)

    def by_address(self, target: str) -> dict[str, SiteAnswer | HopFailed]:
        """Return the answer of each address of the host; {} for one address or an application in this process."""
        sent = {"Accept": PROBLEM, "User-Agent": "ararat-doctor"}
        return hosts.by_address(self.url, target, sent) if self.is_on_network else {}

    def ask(self, rest: str, method: str = "GET") -> SiteAnswer:
        """Return the answer to a request for the name that ends with ``rest``."""
        return self.get_answer(method, f"{self.mount}/{self.base}{rest}")

    def _try(self, rest: str) -> SiteAnswer | None:
        try:
            return self.ask(rest)
        except HopFailed:
            return None

    def _not_ararat(self, response: SiteAnswer) -> HealthFinding:
        """Return why the first request got no answer of Ararat."""
        proxy, who = proxy_of(response), response.field("Server")
        by = f" (Server: {display.escape(who[:SHOWN])})" if who else ""
        answer = f"{status_of(response)}, not by Ararat{by}"
        where = response.field("Location")

        def found(code: str, message: str, cause: Cause, more: str = "") -> HealthFinding:
            change = f"{self.remedy(cause, proxy)}{more}"
            return HealthFinding("url", code, "error", "answered", message, change)

        if self.is_on_network and (found_here := [*self.addresses()]):
            return found_here[0]
        if self.mount != self.start.target.rstrip("/") and self.url.origin == self.start.origin:
            message = f"{prefix_of(self.start)} redirects each name to {self.here}, where Ararat does not answer."
            return found("answered", message, "redirected")
        if where is not None and 300 <= response.status < 400:
            message = f"{answer}: it redirects to {display.percent(where[:SHOWN])}."
            if redirected_to(self.url, where)[1] == f"{self.mount}/{self.base}x/":
                return found("slash", message, "slash")
            if SIGN_IN.search(where):
                return found("password", f"{message} This is a page to sign in.", "password")
            return found("answered", message, "redirected")
        if response.status in (401, 407):
            return found("password", f"{answer}: the front server asks for a password.", "password")
        if response.status == 429:
            return found("rate-limit", f"{answer}, also after pauses.", "rate-limit")
        if response.status in RULE:
            return found("rule", f"{answer}: a rule refuses /{self.base}x.", "rule")
        if response.field("Access-Control-Expose-Headers") == "Link, Location" and response.status in (400, 404):
            if encoding := response.field("Content-Encoding"):
                message = f"Answers have Content-Encoding: {display.escape(encoding[:SHOWN])}, which was not requested."
                return found("response", message, "response")
            if not response.media_type:
                return found("response", "Content-Type is missing in the answers of Ararat.", "response")
            kind = display.escape((response.field("Content-Type") or "")[:SHOWN])
            message = f"Ararat answers as {kind}, not as application/problem+json"
            if response.body.startswith(b"{"):
                return found("response", f"{message}: Content-Type is changed.", "response")
            return found("fields", f"{message}: the request field Accept is lost.", "fields")
        if self._works_without_errors():
            self.answers = self.is_intercepted = True
            message = f"{answer}: Ararat answers other requests at this address, but its error pages are replaced."
            return found("intercepted", message, "intercepted")
        if response.status in GATEWAY:
            message = f"{status_of(response)}{by}: the reverse proxy works, but the server behind it does not answer."
            return found("backend", message, "no-process")
        message = f"{answer}: a request for /{self.base}x does not reach a resolver."
        more = f" ResolverMiddleware answers {METHODS}. The URL must be the resolver prefix, with its path."
        return found("answered", message, "not-forwarded", more)

    def _works_without_errors(self) -> bool:
        """Return whether Ararat answers a request that is not refused: OPTIONS for a name (204)."""
        try:
            response = self.ask("x", "OPTIONS")
        except HopFailed:
            return False
        return response.status == 204 and response.field("Allow") == METHODS

    @property
    def here(self) -> str:
        """The prefix that is checked as a text, without a slash at its end."""
        return prefix_of(self.url)

    def bad(
        self, code: str, shown: str, message: str, cause: Cause, reference: str, sent: str | None = None
    ) -> HealthFinding:
        """Return the error for a fault, with its remedy, and note its ``cause`` by ``code`` for the checks of names."""
        self.causes[code] = cause
        return HealthFinding("url", code, "error", shown, message, self.remedy(cause), reference, sent)
