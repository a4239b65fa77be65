"""The checks of a deployment: a table of functions, each with the deployments to which it applies."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from ....identifiers.text import display
from ....middleware.http.well_known import PATH as WELL_KNOWN
from ....middleware.resolution.settings import Settings
from ....net.hop import HopFailed
from ....net.response import SiteAnswer
from ....net.url import WebURL
from ...sites import hosts
from ...sites.reader_requests import REDIRECTS
from .. import inspector
from ..finding import HealthFinding, State
from ..fixes import Cause
from ..requests import Ask, PatientClient, network
from .deployment import RULE, Deployment
from .probes import (
    NAMES_NOTHING,
    OBLIGATION,
    PROBES,
    SHOWN,
    SUB_DELIMS,
    Echo,
    Probe,
    cut,
    equivalent_names,
    parse_echo,
    prefix_of,
    proxy_of,
    redirect_prefix,
    redirected_to,
    same,
    status_of,
)

_CLOCK_SECONDS = 300
_DAY = 86_400
_TOO_LONG = Settings().max_length + 200
_RENEWAL = "Renew it now (certbot renew). Check the timer that renews it: systemctl list-timers certbot."
SPELLINGS = (
    Probe("classic", "x", "ark:/", "ARKs in their classic form (ark:/), the most frequent one,", OBLIGATION),
    Probe("label", "x", "ARK:", "ARKs with a label in capitals, which are valid,", OBLIGATION),
)
"""The other spellings of an ARK: its beginning is that of the table, ``shown``."""


def examine(
    url: WebURL,
    *,
    prefix: str | None = None,
    asking: Ask | None = None,
    sleep: Callable[[float], object] | None = None,
) -> Iterator[HealthFinding]:
    """Send requests to a deployment, and yield the findings. ``url`` is its resolver prefix.
    Its links must contain ``prefix``, by default ``url``. ``asking`` answers the requests instead of the network, and
    ``sleep`` waits between slow requests. Raises :class:`NotAnswered` if no server answers.
    """

    def client(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        if asking is None:
            return network(url, method, target, fields)
        return asking(method, target, fields) if fields else asking(method, target)

    deployment = Deployment(url, PatientClient(client, sleep), prefix=prefix)
    yield from findings(deployment)
    yield from deployment.limits()


def findings(site: Deployment) -> Iterator[HealthFinding]:
    """Send the requests of all checks, and yield a finding for each. Raises :class:`~.deployment.NotAnswered`."""
    is_answered = yield from site.reach()
    for check in CHECKS if is_answered else ():
        if (check.local or not site.is_local) and (check.urns or site.base.startswith("ark:")):
            found = check.run(site)
            yield from [found] if isinstance(found, HealthFinding) else found


def _raw_target(site: Deployment) -> HealthFinding:
    shown = "raw target"
    if site.echo.exact is None:
        return HealthFinding(
            "url", "raw-target", "warning", shown, "The version of Ararat is too old to report this. Update it."
        )
    if site.echo.exact:
        return HealthFinding("url", "raw-target", "ok", shown, "The server passes it to the application.")
    message = "The application does not receive the request target as it was sent."
    return site.bad("raw-target", shown, message, "no-raw-target", "ARK draft, section 7.1")


def _identifiers(site: Deployment) -> Iterator[HealthFinding]:
    for probe in PROBES:
        # A request in this process has no limit of length.
        if not (site.is_local and probe.code == "long"):
            yield _run_probe(site, probe)


def _run_probe(site: Deployment, probe: Probe, base: str | None = None) -> HealthFinding:
    """Send a probe. If it is lost, send its parts one after the other, to name those that are lost."""
    found = _sent(site, probe, sent := (base or site.base) + probe.rest)
    if found.state != "error" or not probe.each:
        return found
    others = {part: sent.removesuffix(probe.rest) + probe.each.format(part) for part in probe.shown.split()}
    lost = [part for part, other in others.items() if _sent(site, probe, other).state == "error"]
    alone = f"Lost alone: {' '.join(lost)}" if lost else "Each alone arrives"
    return found._replace(message=f"{found.message} {alone}.")


def _sent(site: Deployment, probe: Probe, sent: str) -> HealthFinding:
    try:
        response = site.get_answer("GET", f"{site.mount}/{sent}")
    except HopFailed as failed:
        return _no_echo(site, probe, sent, f"No answer: {failed.sentence}.")
    echo = parse_echo(response)
    if echo is None:
        return _no_echo(site, probe, sent, f"{status_of(response)}, not by Ararat: {probe.lost}.", response)
    return _compare_echo(site, probe, sent, echo)


def _compare_echo(site: Deployment, probe: Probe, sent: str, echo: Echo) -> HealthFinding:
    received = cut(echo.identifier)

    def found(state: State, message: str, cause: Cause | None = None) -> HealthFinding:
        return HealthFinding(
            "url",
            probe.code,
            state,
            probe.shown,
            message,
            site.remedy(cause) if cause else None,
            None if state == "ok" else probe.reference,
            cut(sent),
            received,
        )

    if same(sent, echo.identifier):
        return found("ok", "Arrives unchanged.")
    # A path that was cleaned does no harm if the raw target shows the dot-segment, so that it is refused.
    if probe.code.endswith("dot-segment") and echo.code == "dot-segment":
        return found("ok", "Refused, although the path was cleaned in transit.")
    if equivalent_names(sent, echo.identifier):
        return found("warning", f"Arrives as {received}, another spelling of the same name.")
    if probe.code == "question-mark" and not site.shows_empty_query and echo.identifier == sent[:-1]:
        return found("ok", "An ASGI server does not show it (docs/request-targets.md). Use ?info.")
    lost = f"Arrives as {received}: {probe.lost}."
    cause = _cause_of_change(site, probe, sent, echo)
    site.causes[probe.code] = cause
    return found("error", lost, cause)


def _cause_of_change(site: Deployment, probe: Probe, sent: str, echo: Echo) -> Cause:
    """Return why another identifier arrived. Names that were never requested before show whether it is a cache."""
    fresh = _fresh(site, probe.rest)
    if fresh is not None and same(*fresh):
        return "cache-key"
    if not site.raw:
        return "no-raw-target"
    if sent.lower() == echo.identifier.lower():
        return "case"
    if probe.code == "query" and echo.identifier.startswith(sent.partition("?")[0]):
        return "arguments"
    # A path in proxy_pass, a frequent fault of nginx, keeps a query that is not empty.
    if _loses(site, "x?info"):
        return "arguments"
    if probe.code == "question-mark" and not _loses(site, "a%2Fb"):
        return "empty-query"
    return "normalised" if echo.exact is False else "rewritten"


def _loses(site: Deployment, rest: str) -> bool:
    """Return whether a name with this end, which was never requested before, arrives changed."""
    if rest not in site.lost:
        fresh = _fresh(site, rest)
        site.lost[rest] = fresh is not None and not same(*fresh)
    return site.lost[rest]


def _fresh(site: Deployment, rest: str) -> tuple[str, str] | None:
    """Request a name that was never requested before. Return what was sent and what arrived, or None."""
    rest = f"{secrets.token_hex(4)}{rest}"
    try:
        echo = parse_echo(site.ask(rest))
    except HopFailed:
        return None
    return None if echo is None else (site.base + rest, echo.identifier)


def _no_echo(
    site: Deployment, probe: Probe, sent: str, message: str, response: SiteAnswer | None = None
) -> HealthFinding:
    cause: Cause = "long" if probe.code == "long" else "stopped"
    if probe.code.startswith("extension-"):
        cause = "extension"
    if response is not None and 400 <= response.status < 500 and probe.lost == NAMES_NOTHING:
        message = f"{status_of(response)} by a server in front of Ararat. Such a URL names nothing."
        return HealthFinding("url", probe.code, "ok", probe.shown, message, sent=cut(sent))
    where = None if response is None or response.status not in REDIRECTS else response.field("Location")
    if where is not None:
        target = redirected_to(site.url, where)[1]
        cause = "slash" if target.partition("?")[0] == f"{site.mount}/{sent.partition('?')[0]}/" else "redirected"
        cause = "case" if target.lower() == f"{site.mount}/{sent}".lower() else cause
        message = f"{message[:-1]}. It is redirected to {display.percent(where[:SHOWN])}."
    if response is not None and response.status in RULE and cause != "long":
        cause = "rule"
        message = f"{status_of(response)}, not by Ararat: a rule in front of it refuses such names."
    if response is not None and response.status in (401, 407, 429):
        cause = "rate-limit" if response.status == 429 else "password"
    site.causes[probe.code] = cause
    # A reverse proxy may name itself only in its own answers.
    change = site.remedy(cause, proxy_of(response) if response else None)
    return HealthFinding("url", probe.code, "error", probe.shown, message, change, probe.reference, cut(sent))


def _too_long(site: Deployment) -> HealthFinding:
    code, shown = "too-long", f"{_TOO_LONG:,} bytes"
    try:
        response = site.ask("x" * _TOO_LONG)
    except HopFailed as failed:
        message = f"No answer: {failed.sentence}. The status 414 gives the client the reason."
        return HealthFinding("url", code, "warning", shown, message, reference="ARK draft, section 7.1.1")
    if parse_echo(response) is None:
        message = f"{status_of(response)} by a server in front of Ararat. Ararat answers 414."
        return HealthFinding("url", code, "warning", shown, message, reference="ARK draft, section 7.1.1")
    description = "Refused with 414." if response.status == 414 else f"Answered by Ararat ({response.status})."
    return HealthFinding("url", code, "ok", shown, description)


def _spellings(site: Deployment) -> Iterator[HealthFinding]:
    """Send the other spellings of ARKs."""
    for probe in SPELLINGS:
        sent = f"{probe.shown}{site.base[4:]}{probe.rest}"
        try:
            response = site.get_answer("GET", f"{site.mount}/{sent}")
        except HopFailed as failed:
            yield site.bad(probe.code, probe.shown, f"No answer: {failed.sentence}.", "label", probe.reference)
            continue
        echo = parse_echo(response)
        if echo is None:
            message = f"{status_of(response)}, not by Ararat: {probe.lost} do not reach it."
            yield site.bad(probe.code, probe.shown, message, "label", probe.reference, sent)
        else:
            yield _compare_echo(site, probe._replace(lost=f"{probe.lost} are lost"), sent, echo)


def _head(site: Deployment) -> HealthFinding:
    try:
        response = site.ask("x", "HEAD")
    except HopFailed as failed:
        return site.bad("head", "HEAD", f"No answer: {failed.sentence}.", "head", "RFC 9110, section 9.3.2")
    if response.body:
        message = (
            "The response to HEAD has a body. On a persistent connection the client reads it as the next response."
        )
        return site.bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")
    names = ("Content-Type", "Cache-Control", "Vary")
    differs = [name for name in names if response.field(name) != site.plain.field(name)]
    if response.status == 429:
        return site.bad("head", "HEAD", "HEAD is limited, GET is not.", "rate-limit", "RFC 9110, section 9.3.2")
    if response.status != site.plain.status:
        message = f"{status_of(response)}, but GET is answered by {site.plain.status}."
    elif differs:
        message = f"{' and '.join(differs)} {'is' if len(differs) == 1 else 'are'} different from GET."
    else:
        return HealthFinding("url", "head", "ok", "HEAD", "The same as GET, without a body.")
    return site.bad("head", "HEAD", message, "head", "RFC 9110, section 9.3.2")


def _cache_control(site: Deployment) -> HealthFinding:
    expected = {404: "max-age=60", 400: "no-store"}.get(site.plain.status)
    seen = site.plain.field("Cache-Control")
    if expected is None or seen == expected:
        return HealthFinding("url", "cache-control", "ok", "Cache-Control", "Arrives as Ararat set it.")
    message = f"A refusal has {display.escape((seen or 'no value')[:SHOWN])}; Ararat sets {expected}."
    return site.bad("cache-control", "Cache-Control", message, "cache", "RFC 9111, section 5.2")


def _bindings(site: Deployment) -> Iterator[HealthFinding]:
    """Look up a name to check the store, and that URNs reach the resolver."""
    try:
        response = site.get_answer("GET", f"{site.mount}/urn:example:ararat-doctor")
    except HopFailed:
        return
    echo = parse_echo(response)
    if echo is None:
        yield from _urns(site, response)
    elif echo.code == "bindings-unavailable":
        change = "See its log, or run ararat doctor --database URL as the user that runs the site."
        message = "The resolver cannot read its bindings."
        yield HealthFinding("url", "bindings", "error", "bindings", message, change, "ARK draft, section 3.1")
    else:
        yield HealthFinding("url", "bindings", "ok", "bindings", "The resolver can read its bindings.")
        yield _run_probe(site, SUB_DELIMS, "urn:example:ararat-")


def _urns(site: Deployment, response: SiteAnswer) -> Iterator[HealthFinding]:
    if site.schemes is not None and "urn" not in site.schemes and not site.has_urns:
        yield HealthFinding("url", "urn", "ok", "URNs", "The settings exclude URNs.")
        return
    message = f"{status_of(response)}, not by Ararat: URNs (/urn:) do not reach it."
    change = site.remedy("urn", proxy_of(response))
    yield HealthFinding("url", "urn", "error" if site.has_urns else "warning", "URNs", message, change)


def _inspector(site: Deployment) -> Iterator[HealthFinding]:
    return inspector.examine(site.url, site.echo.inspect, site.proxy, site.get_answer)


def _check_prefix(site: Deployment) -> HealthFinding | list[HealthFinding]:
    """Check the prefix of links."""
    code, shown = "prefix", "prefix"
    site.announced = root = _announced_root(site)
    if site.is_local:
        return []
    if root is None:
        return HealthFinding("url", code, "warning", shown, "The prefix of links is unknown: no answer contains it.")
    if not root.startswith("http"):
        change = f'Set it: ResolverMiddleware(..., prefix="{site.here}"), or ararat serve --prefix {site.here}.'
        message = "No prefix is set, so links contain no host and do not work outside of this site."
        return HealthFinding("url", code, "warning", shown, message, change)
    expected = site.expected or site.here
    announced = display.percent(root[:SHOWN])
    if root == expected or (site.expected is None and root == prefix_of(site.start)):
        return HealthFinding("url", code, "ok", shown, f"Links begin with {announced}.")
    message = f"Links begin with {announced}, not with {expected}."
    same_host = root.partition("://")[2].partition("/")[0] == site.url.authority
    if site.expected is None and not same_host:
        message = f"{message} This is correct if both lead to this site."
        return HealthFinding("url", code, "warning", shown, message, f'Otherwise, set prefix="{expected}".')
    return HealthFinding("url", code, "error", shown, message, f'Set prefix="{expected}".', "ARK draft, section 7.1")


def _announced_root(site: Deployment) -> str | None:
    """Return the prefix of links. A refusal that suggests another spelling contains it (ark:B9999/x)."""
    try:
        echo = parse_echo(site.get_answer("GET", f"{site.mount}/ark:B9999/x"))
    except HopFailed:
        return None
    tail = "/ark:b9999/x"
    if echo is None or echo.suggestion is None or not echo.suggestion.endswith(tail):
        return None
    return echo.suggestion.removesuffix(tail)


def _well_known(site: Deployment) -> HealthFinding:
    """Check that the host announces the resolver at its root, also if the prefix has a path."""
    code, shown = "well-known", WELL_KNOWN
    expected = f"{site.mount}/"
    reference = "draft-kunze-ark-43, section 5.6"
    try:
        response = site.get_answer("GET", WELL_KNOWN)
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
            change = site.remedy("host")
        return HealthFinding("url", code, "warning", shown, message, change, reference)
    body = response.body[:SHOWN].decode("utf-8", "replace").strip()
    if body == expected:
        return HealthFinding("url", code, "ok", shown, f"The host announces the resolver at {expected}.")
    if site.announced is not None and body == f"{urlsplit(site.announced).path.rstrip('/')}/":
        message = f"The host announces a resolver at {display.percent(body)}, the path of the prefix of links."
        return HealthFinding("url", code, "warning", shown, message, f'Set prefix="{site.here}".', reference)
    is_path = body.startswith("/") and "<" not in body
    message = f"The host announces a resolver at {display.percent(body)}, not at {expected}."
    if not is_path:
        message = f"The site has another page at {WELL_KNOWN}, so the host does not announce the resolver."
    change = f"Answer {expected} at {WELL_KNOWN}, as text/plain."
    return HealthFinding("url", code, "error" if is_path else "warning", shown, message, change, reference)


def _hsts(site: Deployment) -> HealthFinding:
    code, shown, seen = "hsts", "HSTS", site.plain.field("Strict-Transport-Security")
    if site.url.scheme == "http":
        if seen is None:
            return HealthFinding("url", code, "ok", shown, "Not sent over http, as required.")
        message = "Strict-Transport-Security is sent over http."
        change = f"Send it over https only: move the line that sets it to the server for https. {site.remedy('hsts')}"
        return HealthFinding("url", code, "warning", shown, message, change, "RFC 6797, section 7.2")
    ends = re.search(r'(?i)max-age\s*=\s*"?0*(?!\d)', seen or "")
    if seen is not None and not ends:
        return HealthFinding("url", code, "ok", shown, f"Sent: {display.escape(seen[:SHOWN])}.")
    message = f"Strict-Transport-Security is {'sent with max-age=0, which ends it' if ends else 'not sent'}."
    return HealthFinding("url", code, "warning", shown, message, site.remedy("hsts"), "ARK draft, section 8")


def _host(site: Deployment) -> Iterator[HealthFinding]:
    """Check what the host tells a reader: its clock, robots.txt, each of its addresses and its certificate."""
    ahead = hosts.clock_error(site.plain)
    if ahead is not None and abs(ahead) > _CLOCK_SECONDS:
        message = f"The field Date is {abs(ahead) / _DAY:,.1f} days {'after' if ahead > 0 else 'before'} "
        message += "the clock of this machine."
        yield HealthFinding("url", "clock", "error", "clock", message, site.remedy("clock"), "RFC 9110, section 6.6.1")
    with suppress(HopFailed):
        robots = site.get_answer("GET", "/robots.txt")
        if refused := hosts.refused_robots(robots, f"{site.mount}/ark:12345/x"):
            answer = f" ({robots.status})" if robots.status >= 500 else ""
            message = f"/robots.txt{answer} does not let {' and '.join(refused)} read {site.mount}/ark:."
            yield HealthFinding("url", "robots", "warning", "robots.txt", message, site.remedy("robots"))
    if not site.is_on_network:
        return
    yield from site.addresses()
    times = hosts.certificate_times(site.url) if site.url.scheme == "https" else None
    if times is not None:
        days, lifetime = (times[1] - time.time()) / _DAY, (times[1] - times[0]) / _DAY
        shown, message = "certificate", f"The certificate ends in {days:,.1f} days."
        if days < 2 or days < lifetime / 10:
            yield HealthFinding("url", "certificate-ends", "error", shown, message, _RENEWAL)
        elif days < lifetime / 4:
            yield HealthFinding("url", "certificate-ends", "warning", shown, message, _RENEWAL)
        else:
            yield HealthFinding("url", "certificate-ends", "ok", shown, message)


def _over_http(site: Deployment) -> Iterator[HealthFinding]:
    """Check the prefix over http, which is printed in many ARKs, or over https if the checked one is http."""
    url = site.url
    if url.scheme == "http" and url.port == 80 and not (url.address and not url.address.is_global):
        yield _over_https(site)
    if url.scheme != "https" or url.port != 443 or site.start.scheme == "http":
        return
    plain = replace(url, scheme="http", port=80)
    shown = prefix_of(plain)
    try:
        response = site.client(plain, "GET", f"{site.mount}/{site.base}x")
    except HopFailed as failed:
        message = f"{shown} does not answer ({failed.sentence}), so links that begin with http fail."
        yield HealthFinding("url", "http", "warning", "http", message, "Redirect port 80 to https.")
        return
    following = redirect_prefix(plain, f"{site.base}x", response)
    if following is not None:
        try:
            site.client(following, "GET", f"{following.target.rstrip('/')}/{site.base}x")
        except HopFailed as failed:
            yield site.dead_redirect(plain, following, failed, response)
            return
        site.http = plain
        findings = list(site.redirect_keeps_all(plain, following, proxy_of(response)))
        yield from findings
        if not findings:
            yield HealthFinding("url", "http", "ok", "http", f"{shown} redirects to https with the whole target.")
    elif parse_echo(response) is not None:
        site.http, other = plain, copy(site)
        other.url, other.causes, other.lost = plain, {}, {}
        wrong = [found for found in _identifiers(other) if found.state == "error" and found.code not in site.causes]
        yield from (found._replace(shown=f"http, {found.shown}") for found in wrong)
        if not wrong:
            yield HealthFinding("url", "http", "ok", "http", f"Ararat answers at {shown}.")
    else:
        message = f"{shown} is answered by {response.status}, not by Ararat: links that begin with http fail."
        change = site.remedy("no-redirect", proxy_of(response))
        yield HealthFinding("url", "http", "error", "http", message, change)


def _over_https(site: Deployment) -> HealthFinding:
    secure = replace(site.url, scheme="https", port=443)
    shown = prefix_of(secure)
    change = "Answer the names over https, too, and redirect http to it with the whole request target."
    try:
        response = site.client(secure, "GET", f"{site.mount}/{site.base}x")
    except HopFailed as failed:
        message = f"{shown} does not answer ({failed.sentence}), so links that begin with https fail."
        return HealthFinding("url", "https", "warning", "https", message, change)
    if parse_echo(response) is None:
        message = f"{shown} is answered by {response.status}, not by Ararat: links that begin with https fail."
        return HealthFinding("url", "https", "warning", "https", message, change)
    return HealthFinding("url", "https", "ok", "https", f"Ararat answers at {shown}.")


class DeploymentCheck(NamedTuple):
    """A check of a deployment that answers. ``run`` sends the requests, and returns the findings.
    ``local`` and ``urns``: it applies to an application in this process, and to a deployment of URNs only, too.
    """

    run: Callable[[Deployment], HealthFinding | Iterable[HealthFinding]]
    local: bool = True
    urns: bool = True


CHECKS = (
    DeploymentCheck(_raw_target),
    DeploymentCheck(_identifiers),
    DeploymentCheck(_too_long, local=False),
    DeploymentCheck(_spellings, urns=False),
    DeploymentCheck(_head),
    DeploymentCheck(_cache_control),
    DeploymentCheck(_bindings),
    DeploymentCheck(_inspector, local=False),
    DeploymentCheck(_check_prefix),
    DeploymentCheck(_well_known, local=False, urns=False),
    DeploymentCheck(_hsts, local=False),
    DeploymentCheck(_host, local=False),
    DeploymentCheck(_over_http, local=False),
)
"""The checks, in the order of their findings."""
