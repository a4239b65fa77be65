"""Request bound names from a site, and compare the answers with those of the database. The expected answers come from
the resolver itself, in this process. Without a database, the answers for one name are compared with one another.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from werkzeug.datastructures import ResponseCacheControl
from werkzeug.http import parse_cache_control_header

from ...bindings.names.binding import Binding
from ...bindings.names.prefixes.prefixes import PrefixRecord
from ...bindings.names.selection import Selection, shoulder_of
from ...identifiers.text import display
from ...middleware import Bindings, ResolverMiddleware
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ...net.url import BadURL, WebURL, parse
from ..output import format_count
from ..sites.reader_requests import PROGRAMS, REQUESTS, ReaderRequest, losses, status_text
from ..sites.reader_requests import REDIRECTS as _REDIRECTS
from .deployment.deployment import Deployment
from .deployment.probes import GATEWAY, answered_by, parse_echo, redirect_prefix
from .finding import HealthFinding, ProbeHop, State
from .fixes import Cause, reverse_proxy
from .in_process import client_of
from .requests import ProbeClient

MAX_NAMES = 16
"""The number of names that are chosen from a database."""

_MAX_SHOULDERS = 10
_MOST_COUNTED = 200_000
_LISTED = 100
_DETAILED = 6
_AGAIN = 6
_SHOWN = 100
_NAMED = 3
_LARGE = 2000
_MAX_SECONDS = 86_400
_SERVED = b"the site"
_REFUSED = (401, 403, 405, 406, 418, 429, 451, 501, 999)
# The causes of wrong answers to requests of readers, if the probes and experiments find no other one.
_USUAL: dict[str, Cause] = {
    **dict.fromkeys(("label", "classic", "encoded-colon"), "label"),
    **dict.fromkeys(("requests", "curl", "harvester", "no-agent", "programs"), "agent"),
    **dict.fromkeys(("fields", "data"), "fields"),
    **dict.fromkeys(("encoded-hyphen", "encoded-slash"), "rewritten"),
    **dict.fromkeys(("info", "question-marks", "shared"), "arguments"),
    "question-mark": "empty-query",
    "head": "head",
    "preflight": "preflight",
}
_OF_FIELDS: dict[str, Cause] = {"Referer": "referrer", "User-Agent": "agent"}
_OF_PROGRAMS = ("Content-Language", "Vary", "Access-Control-Expose-Headers", "Set-Cookie")
_BROKEN = 500
_MOST_HOPS = 20


class ReferenceResolver:
    """A resolver in this process that computes the right answers of a site, from ``bindings`` and its settings.
    ``settings`` are those of :class:`~ararat.middleware.ResolverMiddleware`. ``are_known``: they are those of the site.
    """

    def __init__(self, bindings: Bindings, prefix: str, settings: Mapping[str, Any], *, are_known: bool) -> None:
        self.are_known = are_known
        own: dict[str, Any] = {**settings, "prefix": prefix}
        self._client = client_of(ResolverMiddleware(_site, bindings, **own))

    def answer(self, url: WebURL, method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
        """Return the right response of the site to a name and a query below the prefix, without the network."""
        return self._client(url, method, target, fields)


def _site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [_SERVED]


def choose(bindings: Bindings) -> list[str]:
    """Return at most :data:`MAX_NAMES` public names as samples: some of each kind, state and shoulder.
    The last changed names are among them, because a cache can have their old targets, and the longest target.
    """
    newest = _listed_names(bindings, sort="changed", descending=True)
    if bindings.count().number <= _MOST_COUNTED:
        beginnings = [*bindings.count_names(Selection(public=True), by="shoulder")]
    else:
        beginnings = [record.prefix for record in bindings.prefixes.list()] or ["ark:", "urn:"]
    for beginning in beginnings[:_MAX_SHOULDERS]:
        newest += _listed_names(bindings, prefix=beginning)
    with bindings.store.snapshot() as snapshot:
        _, served = snapshot.count_served()
    newest += bindings.store.fetch([served]).values() if served else ()
    longest = max(newest, key=lambda binding: len(binding.target or ""), default=None)
    seen: set[tuple[str, object]] = set()
    chosen: dict[str, None] = {} if longest is None else {longest.identifier: None}
    for binding in newest:
        key = binding.identifier
        traits = {
            ("kind", (binding.kind, binding.status)),
            ("shoulder", shoulder_of(key)),
            ("scheme", key.partition(":")[0]),
            ("alternates", bool(binding.alternates)),
            ("encoded", "%" in key),
            ("capitals", (binding.target or "").lower() != (binding.target or "")),
            *(("target", char) for char in "?#%" if char in (binding.target or "")),
            ("end", key.rpartition("/")[2].partition(".")[2]),
        }
        if not traits <= seen and len(chosen) < MAX_NAMES:
            seen |= traits
            chosen[key] = None
    return [*chosen]


def _listed_names(bindings: Bindings, **conditions: Any) -> list[Binding]:
    page = bindings.list_names(Selection(public=True, **conditions), limit=_LISTED)
    return [binding for binding in page.names if not binding.is_reserved]


def delegations(bindings: Bindings, address: str, client: ProbeClient) -> Iterator[HealthFinding]:
    """Request an unknown name from the resolver of each delegated or retired prefix, and yield a finding for each.
    An error is a resolver that does not answer, or one that redirects names to this resolver: a loop.
    """
    for record in bindings.prefixes.list():
        key = f"{record.prefix}0doctor"
        if record.state != "active" and (elsewhere := record.address_elsewhere(key, key)):
            yield _check_delegation(record, elsewhere, address.rstrip("/"), client)


def _check_delegation(record: PrefixRecord, elsewhere: str, own: str, client: ProbeClient) -> HealthFinding:
    hops: list[ProbeHop] = []
    address, seen = elsewhere, {elsewhere}

    def found(state: State, message: str, remedy: str | None = None) -> HealthFinding:
        label = f"delegation {_short(record.prefix)}"
        return HealthFinding("url", "delegation", state, label, message, remedy, hops=tuple(hops))

    place = display.percent(elsewhere[:_SHOWN])
    remedy = f"Correct the resolver here (ararat prefix set {record.prefix} --resolver), or the record there."
    while True:
        if f"{address}/".startswith((f"{own}/", f"{own}?")):
            return found("error", f"{place} leads back to this resolver: a loop without an answer.", remedy)
        try:
            url = parse(address)
            response = client(url, "GET", url.target)
        except (HopFailed, BadURL) as failed:
            sentence = failed.sentence if isinstance(failed, HopFailed) else str(failed)
            hops.append(ProbeHop("GET", display.percent(address[:300]), None, None, None))
            return found("error", f"The resolver does not answer at {place}: {sentence}.", "Readers get no answer now.")
        where = response.field("Location") if response.status in _REDIRECTS else None
        shown = display.percent(where[:300]) if where else None
        hops.append(ProbeHop("GET", display.percent(address[:300]), response.status, shown, answered_by(response)))
        if response.status >= _BROKEN:
            return found("error", f"The resolver at {place} answers {response.status}.", "Readers get no answer now.")
        if where is None:
            return found("ok", f"The resolver at {place} answers {response.status} for an unknown name.")
        address = urljoin(address, where)
        if address in seen or len(hops) > _MOST_HOPS:
            return found("error", f"{place} leads to a loop of redirects.", remedy)
        seen.add(address)


class _Fault(NamedTuple):
    """A fault of one name: its message, and the header fields by which the front server is recognized."""

    name: str
    message: str
    response: SiteAnswer | None = None


def examine(reached: Deployment, names: Sequence[str], expected: ReferenceResolver | None) -> Iterator[HealthFinding]:
    """Request each name from the site, compare the responses with the right ones, and yield the findings.
    A name is the end of a URL. ``expected`` is None without a database.
    """
    check = _Check(reached, expected)
    for number, name in enumerate(names):
        yield from check.name(name, is_first=number == 0)
    yield from check.faults()


class _Check:
    """The check of several names. The faults are collected, so that each kind is reported once."""

    def __init__(self, reached: Deployment, expected: ReferenceResolver | None) -> None:
        self._reached = reached
        self._expected = expected
        self._mount = reached.url.target.rstrip("/")
        self._faults: dict[tuple[Cause, State], list[_Fault]] = {}
        self._hops: dict[tuple[Cause, State], tuple[ProbeHop, ...]] = {}
        self._detailed: set[str] = set()
        self._seen: set[tuple[str, int]] = set()

    def name(self, name: str, *, is_first: bool) -> Iterator[HealthFinding]:
        hops: list[ProbeHop] = []
        summary = ""
        faults: list[tuple[Cause, State, str, SiteAnswer | None]]
        expected: SiteAnswer | None = None
        try:
            first = self._chain(name, hops)
            expected = self._expected_answer("GET", name)
            if expected is not None and expected.status == 503:
                # The database cannot be read here; the check of the store reports it.
                return
            fault = self._plain(name, first, expected, tries=3 if is_first else 1)
            faults = [fault] if fault else [*self._details(name, first, expected)]
            if (echo := parse_echo(first)) is not None and echo.code == "bindings-unavailable":
                return  # the probes report it
            summary = self._summary(first, expected)
        except HopFailed as failed:
            faults = [("stopped", "error", f"No answer for {_short(name)}: {failed.sentence}", None)]
        answers = self._reached.by_address(f"{self._mount}/{name}") if is_first and expected is not None else {}
        for address, answer in answers.items():
            if isinstance(answer, SiteAnswer) and not self._is_right(answer, expected, answer):
                message = f"{_short(name)} is answered by {status_text(answer)} at the address {address}"
                faults.append(("addresses", "error", message, answer))
        if not any(state == "error" for _, state, _, _ in faults):
            yield HealthFinding("url", "name", "ok", _label(name), summary, sent=_short(name), hops=tuple(hops))
        for cause, state, message, response in faults:
            self._hops.setdefault((cause, state), tuple(hops))
            self._faults.setdefault((cause, state), []).append(_Fault(name, message, response))

    def faults(self) -> Iterator[HealthFinding]:
        for (cause, state), faults in self._faults.items():
            messages = [fault.message for fault in faults[:_NAMED]]
            if len(faults) > _NAMED:
                messages.append(f"The same for {format_count(len(faults) - _NAMED, 'more name')}")
            proxy = next(
                (proxy_name for fault in faults if fault.response and (proxy_name := _proxy(fault.response))), None
            )
            yield HealthFinding(
                "url",
                cause,
                state,
                _LABELS.get(cause, "names"),
                ". ".join(messages) + ".",
                self._reached.remedy(cause, proxy),
                sent=_short(faults[0].name),
                hops=self._hops[cause, state],
            )

    # Requests ---------------------------------------------------------------------------------------------------------

    def _ask(self, method: str, rest: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        return self._reached.client(self._reached.url, method, f"{self._mount}/{rest}", fields)

    def _expected_answer(self, method: str, rest: str, fields: Mapping[str, str] | None = None) -> SiteAnswer | None:
        if self._expected is None:
            return None
        return self._expected.answer(self._reached.url, method, f"/{rest}", fields or {})

    def _chain(self, name: str, hops: list[ProbeHop]) -> SiteAnswer:
        """Request a name as a client that has the printed address, and follow the redirects to the resolver."""
        url = self._reached.http or self._reached.start
        while True:
            target = f"{url.target.rstrip('/')}/{name}"
            response = self._reached.client(url, "GET", target)
            where = response.field("Location")
            hops.append(
                ProbeHop(
                    "GET",
                    display.percent(f"{url.scheme}://{url.authority}{target}"[:300]),
                    response.status,
                    display.percent(where[:300]) if where else None,
                    answered_by(response),
                )
            )
            following = redirect_prefix(url, name, response)
            if following is None or len(hops) > 5:
                return response
            url = following

    # Comparison -------------------------------------------------------------------------------------------------------

    def _plain(
        self, name: str, first: SiteAnswer, expected: SiteAnswer | None, tries: int
    ) -> tuple[Cause, State, str, SiteAnswer | None] | None:
        """Return the fault of the answers for a name, or None. Send the request several times."""
        others = [self._ask("GET", name) for _ in range(tries)]
        if not self._is_right(first, expected, first if expected else others[0]) and all(
            self._is_right(answer, expected, others[0]) for answer in others
        ):
            # Only the chain from the printed address is wrong, each time: a redirect changes the name.
            hops: list[ProbeHop] = []
            again = self._chain(name, hops)
            directly = [self._ask("GET", name) for _ in range(2)]  # two databases can take turns
            if (
                self._has_other_start
                and _signature(again) == _signature(first)
                and all(self._is_right(answer, expected, others[0]) for answer in directly)
            ):
                message = f"{_short(name)} becomes another name on its way: {hops[-1].line()}"
                return "redirect-query", "error", message, again
        answers = [first, *others]
        if all(self._is_right(answer, expected, first) for answer in answers):
            return self._age(name, answers, expected)
        answers += [self._ask("GET", name) for _ in range(_AGAIN)]
        wrong = [answer for answer in answers if not self._is_right(answer, expected, first)]
        seen = ", ".join(status_text(answer) for answer in answers[-_AGAIN:])
        response, shown = wrong[-1], _short(name)
        if len(wrong) < len(answers):
            if all(answer.status in GATEWAY and parse_echo(answer) is None for answer in wrong):
                message = f"Some requests for {shown} get no answer from the server behind the proxy: {seen}"
                return "no-process", "error", message, response
            message = f"The answers for {shown} differ from request to request: {seen}"
            return "two-databases", "error", message, response
        if expected is None:
            return None
        difference = f"{shown} is answered by {status_text(response)}; the database has {status_text(expected)}"
        fresh = self._ask("GET", f"{name}?utm_source=ararat-doctor-{secrets.token_hex(4)}")
        if self._is_right(fresh, expected, first):
            message = f"{difference}. A request that no cache has stored gets the right answer"
            return "cached", "error", message, response
        return self._cause(name, response, expected), "error", difference, response

    def _is_right(self, answer: SiteAnswer, expected: SiteAnswer | None, first: SiteAnswer) -> bool:
        if expected is None:
            return _signature(answer) == _signature(first)
        if expected.body == _SERVED:
            # The site answers. It can redirect to another of its own pages.
            where = urljoin(f"https://{self._reached.url.authority}/", answer.field("Location") or "")
            return answer.status < 400 and urlsplit(where).netloc == self._reached.url.authority
        return _signature(answer) == _signature(expected)

    def _cause(self, name: str, response: SiteAnswer, expected: SiteAnswer) -> Cause:
        """Return why a name is always answered in another way than expected."""
        where, right = response.field("Location"), expected.field("Location")
        causes = self._reached.causes
        if "cache-key" in causes.values():
            return "cache-key"
        if "letter-case" in causes and name != name.lower():
            return causes["letter-case"]
        if parse_echo(response) is not None:
            code = expected.problem.get("code")
            return "other-database" if code is None or response.problem.get("code") != code else "intercepted"
        if response.status in (*GATEWAY, 500):
            large = sum(len(field) + len(value) + 4 for field, value in expected.fields) > _LARGE
            return "buffer" if large else "no-process"
        if where is not None and 300 <= response.status < 400:
            if where == right:
                return "unknown"  # only the status is another one
            if where.rstrip("/").endswith(f"/{name}"):
                return "slash" if where.endswith(f"/{name}/") else "redirected"
            here = self._reached.url.authority
            if right is not None and _same_path(where, right) and urlsplit(where).netloc in ("", here):
                return "location"
            # The description of the site shows which target its database has.
            told, wanted = (_target(answer) for answer in self._descriptions(name))
            if told is None and wanted is None:
                return "redirected"
            if told == wanted:
                return "location" if right is not None else "redirected"
            return "redirected" if told is None else "other-database"
        if response.status in (401, 407):
            return "password"
        if expected.body == _SERVED:
            return "served"
        if expected.status >= 400 and (self._reached.is_intercepted or response.status not in _REFUSED):
            return "intercepted"
        if name.lower().startswith("urn:"):
            return "urn"
        return "rule" if response.status == 403 else "not-forwarded"

    @property
    def _has_other_start(self) -> bool:
        return (self._reached.http or self._reached.start) != self._reached.url

    def _descriptions(self, name: str) -> Iterator[SiteAnswer | None]:
        """Yield the description of a name as JSON: that of the site, and that of Ararat with the database."""
        fields = {"Accept": "application/json"}
        try:
            yield self._ask("GET", f"{name}?info", fields)
        except HopFailed:
            yield None
        yield self._expected_answer("GET", f"{name}?info", fields)

    def _age(
        self, name: str, answers: Sequence[SiteAnswer], expected: SiteAnswer | None
    ) -> tuple[Cause, State, str, SiteAnswer | None] | None:
        """Return the fault of a stored answer that is older than Ararat allows."""
        allowed = _seconds((expected or answers[0]).field("Cache-Control"))
        for answer in answers:
            age = (answer.field("Age") or "").strip()
            if allowed is not None and age.isdigit() and len(age) < 10 and int(age) > allowed + 60:
                message = f"{_short(name)} comes from a cache that stored it {int(age):,} seconds ago, not {allowed:,}"
                return "cached", "error", message, answer
        return None

    def _details(
        self, name: str, first: SiteAnswer, expected: SiteAnswer | None
    ) -> Iterator[tuple[Cause, State, str, SiteAnswer | None]]:
        """Compare the other header fields, and the answers to other requests for the same name."""
        if expected is not None and expected.body != _SERVED:
            if expected.status < 400:
                yield from self._fields(name, first, expected)
            yield from self._find_losses(REQUESTS[0], name, f"GET {_short(name)}", first, expected, "unknown")
        beginning = re.match("[^:]*:/?[^/:]*", name)
        kind = f"{beginning and beginning[0].lower()} {first.status}"
        if kind in self._detailed or len(self._detailed) >= _DETAILED or (expected is None and first.status >= 400):
            return
        self._detailed.add(kind)
        yield from self._readers(name, first, expected)

    def _fields(
        self, name: str, first: SiteAnswer, expected: SiteAnswer
    ) -> Iterator[tuple[Cause, State, str, SiteAnswer | None]]:
        shown = _short(name)
        # The first link, to the description, depends on no setting but the prefix.
        described = (expected.field("Link") or "").partition(">")[0]
        if described and described not in (first.field("Link") or ""):
            seen = "another field Link" if first.field("Link") else "no field Link"
            yield "link", "warning", f"The answer for {shown} has {seen}; Ararat links {described[1:]}", first

    def _kept(
        self, asked: str, answer: SiteAnswer, expected: SiteAnswer
    ) -> Iterator[tuple[Cause, State, str, SiteAnswer | None]]:
        """Compare the time for which caches and browsers keep an answer."""
        seen, right = answer.field("Cache-Control"), expected.field("Cache-Control")
        kind = (f"cache {_value(seen)}", expected.status)
        if seen == right or kind in self._seen or (expected.status == 404 and "cache-control" in self._reached.causes):
            return
        self._seen.add(kind)
        message = f"{asked} is answered with Cache-Control {_value(seen)}; Ararat sets {_value(right)}"
        seconds, allowed = _seconds(seen), _seconds(right)
        longer = seconds is None or allowed is None or seconds > max(allowed, _MAX_SECONDS)
        if longer or (self._expected is not None and self._expected.are_known):
            yield "cache", "error", message, answer
        else:
            yield "cache", "warning", f"{message} by default. This is right if the setting cache is set", answer

    def _readers(
        self, name: str, first: SiteAnswer, expected: SiteAnswer | None
    ) -> Iterator[tuple[Cause, State, str, SiteAnswer | None]]:
        """Send the requests of readers for a name, and compare the answers with those of Ararat."""
        for row in REQUESTS[1:]:
            sent = row.spelling(name)
            if sent is None or ("question" in row.code and not (self._reached.raw and self._reached.shows_empty_query)):
                continue
            cause = self._reached.causes.get(row.code, _USUAL.get(row.code, "rule"))
            right = self._expected_answer(row.method, sent, row.fields)
            if right is not None and right.body == _SERVED:
                continue
            try:
                answer = self._ask(row.method, sent, row.fields)
            except HopFailed as failed:
                yield cause, "error", f"No answer for {row.method} {_short(sent)}: {failed.sentence}", None
                continue
            asked = f"{row.method} {_short(sent)} ({row.reader})"
            if right is None:
                is_same = "?" in sent and _signature(answer) == _signature(first)
                if is_same and row.want == "description" and 300 <= answer.status < 400:
                    message = f"{asked} is answered by {status_text(answer)}, like the name without the query"
                    yield cause, "error", message, answer
                if row.want != "name":
                    continue
                right = first
            yield from self._find_losses(row, sent, asked, answer, right, cause)

    def _find_losses(
        self, row: ReaderRequest, sent: str, asked: str, answer: SiteAnswer, right: SiteAnswer, usual: Cause
    ) -> Iterator[tuple[Cause, State, str, SiteAnswer | None]]:
        """Yield what a reader loses, with its cause by experiments: requests that differ in one thing only."""
        refused = right.status >= 400 and answer.status >= 400
        if row.want == "data" and answer.status == right.status and None is not _target(answer) != _target(right):
            told, known = (_short(_target(each) or "nothing") for each in (answer, right))
            yield "response", "error", f"{asked}: the description has {told}, not {known}", answer
        lost = [*losses(answer, right)]
        if not any(loss.part in ("status", "location", "body") for loss in lost) and row.want != "preflight":
            yield from self._kept(asked, answer, right)
            item = re.search('<([^<>]*)>; rel="item"', right.field("Link") or "")
            linked = item[1].replace("&", "&amp;").encode() if item and right.media_type == "text/html" else b""
            if row.method == "GET" and linked in right.body and linked not in answer.body:
                yield "response", "warning", f"{asked}: the page does not have the target of the name", answer
        for loss in lost:
            if (
                loss.part in ("status", "location")
                and refused
                and (self._reached.is_intercepted or row.code in self._reached.causes)
            ):
                return  # the probes report it
            if loss.part == "field" and row.want == "preflight":
                continue  # a front server that answers it has none of the fields of Ararat
            kind = (f"{loss.part} {loss.words.partition(' ')[0]}", right.status)
            if loss.part in ("robots", "cors", "repeated", "language", "field") and kind in self._seen:
                continue
            self._seen.add(kind)
            message = f"{asked}: {loss.words}"
            match loss.part:
                case "field":
                    yield "response", "warning" if loss.words.startswith(_OF_PROGRAMS) else "error", message, answer
                case "cors" if row.want == "preflight" and [code for code, _ in self._seen].count(kind[0]) == 1:
                    yield "preflight", "error", message, answer
                case "robots" | "cors":
                    yield loss.part, "warning" if loss.part == "robots" else "error", message, answer
                case "repeated":
                    yield "response", "error", message, answer
                case "body" if answer.field("Access-Control-Expose-Headers"):
                    # Ararat answers in another form.
                    again = self._ask(row.method, _fresh(sent), row.fields)
                    is_right = not any(loss.part == "body" for loss in losses(again, right))
                    yield "vary" if is_right else "fields", "error", message, answer
                case "body":
                    if not self._reached.is_intercepted and row.code not in self._reached.causes:
                        yield "intercepted", "error", message, answer
                case _:
                    cause, more = self._why(row, sent, answer, right, usual)
                    yield cause, "error", f"{message}{more}", answer

    def _why(
        self, row: ReaderRequest, sent: str, answer: SiteAnswer, right: SiteAnswer, usual: Cause
    ) -> tuple[Cause, str]:
        """Return why the answer to a request of a reader is wrong, and for the message the field that decides it."""
        cause = self._usual(row, sent, answer, right, usual)
        if not row.fields or cause not in (usual, "fields", "rule", "redirected"):
            return cause, ""
        if usual in ("fields", "rule"):
            again = self._ask(row.method, _fresh(sent), row.fields)
            if not any(loss.part in ("status", "location", "language") for loss in losses(again, right)):
                return "vary", ""
        if cause == "fields":
            return cause, ""
        if row.code == "programs":
            alone = [each for each in PROGRAMS if self._is_lost(row, sent, {"User-Agent": each}, right)]
            return cause, f". Refused: {', '.join(alone or ['all of them together'])}"
        for name in row.fields if usual != "agent" else ():
            others = {field: value for field, value in row.fields.items() if field != name}
            if not self._is_lost(row, sent, others, self._expected_answer(row.method, sent, others) or right):
                return _OF_FIELDS.get(name, "by-field"), f". Without the field {name} the answer is right"
        return cause, ""

    def _is_lost(self, row: ReaderRequest, sent: str, fields: Mapping[str, str], right: SiteAnswer) -> bool:
        try:
            answer = self._ask(row.method, sent, fields)
        except HopFailed:
            return True
        return any(loss.part in ("status", "location", "body") for loss in losses(answer, right))

    def _usual(self, row: ReaderRequest, sent: str, answer: SiteAnswer, right: SiteAnswer, usual: Cause) -> Cause:
        """Return why the answer is wrong by what it contains alone."""
        if answer.status == 429:
            return "rate-limit"
        if "cache-key" in self._reached.causes.values():
            return "cache-key"
        where = answer.field("Location")
        is_redirected = where is not None and answer.status in _REDIRECTS
        if where and is_redirected and where.partition("?")[0].endswith(f"/{sent.partition('?')[0]}/"):
            return "slash"
        if "?" in sent and (cause := self._reached.causes.get("info")):
            return cause
        if right.status >= 400 and self._reached.is_intercepted:
            return "intercepted"
        if usual in ("fields", "rule") and (row.code == "fields" or (answer.status == right.status and not where)):
            return "fields"
        if answer.status in (401, 407):
            return "password"
        if parse_echo(answer) is None and answer.status in _REFUSED:
            return usual if usual in ("agent", "head", "preflight") else "rule"
        if is_redirected and row.want == "name" and usual in ("label", "arguments"):
            return "redirected"
        if usual == "arguments" and answer.status >= 400:
            return "stopped"
        return usual

    def _summary(self, first: SiteAnswer, expected: SiteAnswer | None) -> str:
        agrees = "as in the database" if expected is not None else "the same each time"
        if expected is not None and expected.body == _SERVED:
            return f"The site answers by {first.status}."
        return f"{status_text(first)}, {agrees}."


_LABELS: dict[Cause, str] = {
    "cached": "cache",
    "vary": "cache",
    "cache": "Cache-Control",
    "link": "Link",
    "head": "HEAD",
    "served": "served names",
    "other-database": "database",
    "two-databases": "databases",
    "urn": "URNs",
    "label": "ARK:",
}


def _label(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:37]}..."


def _signature(response: SiteAnswer) -> tuple[int, str | None]:
    return response.status, response.field("Location") if 300 <= response.status < 400 else None


def _value(field: str | None) -> str:
    return display.escape((field or "no value")[:_SHOWN])


def _short(name: str) -> str:
    shown = display.percent(name)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _seconds(field: str | None) -> int | None:
    """Return for how long a cache may keep an answer. None: for an unknown time."""
    control = parse_cache_control_header(field, cls=ResponseCacheControl)
    if control.no_store or control.no_cache:
        return 0
    return control.max_age if control.s_maxage is None else max(control.s_maxage, control.max_age or 0)


def _fresh(sent: str) -> str:
    """Return a request for the same name that no cache has stored."""
    return f"{sent}{'&' if '?' in sent else '?'}utm_source={secrets.token_hex(4)}"


def _target(answer: SiteAnswer | None) -> str | None:
    """Return the target and state of a name in its description as JSON, or None without a description."""
    try:
        document = json.loads(answer.body) if answer is not None and answer.status in (200, 410) else None
    except (ValueError, RecursionError):
        return None
    return f"{document.get('status')} {document.get('target')}" if isinstance(document, dict) else None


def _same_path(one: str, other: str) -> bool:
    try:
        return urlsplit(one)[2:] == urlsplit(other)[2:]
    except ValueError:
        return False


def _proxy(response: SiteAnswer) -> Any:
    return reverse_proxy(response.field("Server"), response.field("Via"))
