"""The command ``policy check``: request the pages of a running site, and report what breaks its URL policy."""

from __future__ import annotations

import ipaddress
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ...identifiers import iri_policy
from ...identifiers.iri_policy import AllocationFacts, Profile
from ...identifiers.problems import Problem
from ...identifiers.text import display
from ...middleware.http.well_known import PATH as WELL_KNOWN
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from .. import streams
from ..errors import DONE, NO, NO_INPUT, CommandError, write, writing
from ..output import Sheet, Style, format_count, identifier
from ..progress import Progress
from .junit import JUnitCase, write_junit
from .pages import Robots, SiteListing, SitePage, lines_of
from .requests import UNREACHABLE, RunningSite, unavailable

_STATE_VERSION = 1
_MAX_STATE = 64 * 1024 * 1024
_STYLES: dict[str, Style] = {"error": "error", "warning": "warning", "note": "soft"}
_PROBES = {"ark": "ark:99999/ararat-policy-check", "urn": "urn:example:ararat-policy-check"}
_WIDTH = 9


class PageResult(NamedTuple):
    """The result of the check of one page: the status and Location of its answer, and what breaks the policy."""

    url: str
    status: int | None
    location: str | None
    findings: tuple[Problem, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether the page has an error or a warning."""
        return any(finding.severity != "note" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a mapping for JSON: the URL, the status, the location of a redirect, the findings."""
        findings = [each.as_dict() for each in self.findings]
        return {"url": self.url, "status": self.status, "location": self.location, "findings": findings}


def check_policy(
    site: RunningSite,
    profile: Profile,
    *,
    is_ready: bool,
    sitemap: bool,
    file: str | None,
    state: str | None,
    most: int,
    as_json: bool,
    junit: str | None,
) -> int:
    """Check the pages of a running site by a URL policy, print the results, and return the exit code.
    ``is_ready``: the profile is one of the package, whose hosts are examples. ``file`` is a list of URLs, ``state`` the
    file with the URLs of earlier checks, ``junit`` that for a JUnit report. At most ``most`` pages are checked.
    """
    profile = _for_host(profile, site, is_ready=is_ready)
    earlier = _read_state(state, site) if state is not None else {}
    robots = Robots(site)
    site.pause = max(site.pause, robots.delay)
    # The sitemap of a copy lists the published URLs.
    listing = SiteListing(site, () if site.url.host in profile.hosts else profile.hosts, most)
    listing.add(f"{site.address}/")
    if sitemap:
        listing.add_sitemaps(robots)
    if file is not None:
        for text in lines_of(line.text for line in streams.lines(file)):
            listing.add(text)
    listed = set(listing.pages)
    for url in earlier:
        listing.add(url)
    allowed = [page for page in listing.pages.values() if robots.allows(page.target)]
    run = _Check(site, profile, earlier, listed)
    sheet, progress = Sheet.of(sys.stdout), Progress(shown=not sys.stdout.isatty())
    results: list[PageResult] = []
    for result in run.all(robots, allowed):
        results.append(result)
        if as_json:
            streams.dump(result.as_dict())
        elif result.findings:
            write(_lines(result, sheet))
        progress.show(f"{len(results):,} requested")
    progress.clear()
    if state is not None:
        _write_state(state, site, earlier, results)
    if junit is not None:
        write_junit(junit, f"URL policy of {site.address}", [_case(each) for each in results])
    wrong = sum(result.is_wrong for result in results)
    if not as_json:
        write(sheet.prose(f"{format_count(len(results), 'URL')} requested at {site.address}: {_summary(results)}."))
    for text in _left_out(listing, len(listing.pages) - len(allowed), most):
        write(Sheet.of(sys.stderr).prose(text, style="warning"), to=sys.stderr)
    return NO if wrong else DONE


class _Check:
    """Checks the answers of one site. ``listed`` are the URLs that are in a sitemap or a list now."""

    def __init__(
        self, site: RunningSite, profile: Profile, earlier: Mapping[str, Mapping[str, Any]], listed: set[str]
    ) -> None:
        self._site = site
        self._profile = profile
        self._earlier = earlier
        self._listed = listed

    def all(self, robots: Robots, pages: list[SitePage]) -> Iterator[PageResult]:
        yield from self.check_reserved_paths(robots)
        yield from self._site.each(pages, self.page)

    def page(self, page: SitePage) -> PageResult:
        """Request a page, and check its URL and its answer."""
        judged = _as_published(page, self._site, self._profile)
        try:
            answer = self._site.get(page.target, most=65_536)
        except HopFailed as failed:
            if failed.code in UNREACHABLE:
                raise unavailable(self._site, failed) from None
            result = self._of_answer(page, None, f"no answer: {failed}")
            return PageResult(page.url, None, None, self._apply_profile(result))
        facts = AllocationFacts(status=answer.status, own=True)
        rules = iri_policy.evaluate(judged, self._profile, facts).findings
        where = answer.field("Location") if 300 <= answer.status < 400 else None
        result = self._of_answer(page, answer, str(answer))
        return PageResult(page.url, answer.status, where, (*rules, *self._apply_profile(result)))

    def _of_answer(self, page: SitePage, answer: SiteAnswer | None, came: str) -> Iterator[Problem]:
        """Compare an answer with that of the earlier check."""
        before = self._earlier.get(page.url)
        fails = answer is None or answer.status >= 400
        whole = 0, len(page.url)
        if before is None:
            # A site can have no start page.
            is_down = answer is None or answer.status >= 500
            if fails and page.url in self._listed and (page.target != "/" or is_down):
                yield iri_policy.finding("page-error", *whole, f"a listed URL does not work: {came}")
            return
        was, where = before["status"], before["location"]
        if fails:
            yield iri_policy.finding("url-gone", *whole, f"the URL answered {was} in an earlier check, and now {came}")
        elif answer is not None and answer.status >= 300 and not self._is_name(page):
            now = answer.field("Location")
            if was < 300 or now != where:
                yield iri_policy.finding("url-moved", *whole, f"the URL answered {was} in an earlier check, now {came}")

    def _is_name(self, page: SitePage) -> bool:
        """Return whether the redirect of a URL may change: that of a name, or below a path for temporary redirects."""
        return iri_policy.is_reserved(_as_published(page, self._site, self._profile), self._profile) or any(
            page.target == each or (each.endswith("/") and page.target.startswith(each))
            for each in self._profile.temporary_paths
        )

    def check_reserved_paths(self, robots: Robots) -> Iterator[PageResult]:
        """Yield the paths that are reserved for a resolver, with whether another application answers them."""
        base = self._site.url.target.rstrip("/")
        probes = [_PROBES.get(scheme, f"{scheme}:ararat-policy-check") for scheme in self._profile.reserved_schemes]
        for target in (*(f"{base}/{probe}" for probe in probes), WELL_KNOWN):
            if not robots.allows(target):
                continue
            try:
                answer = self._site.get(target)
            except HopFailed as failed:
                if failed.code in UNREACHABLE:
                    raise unavailable(self._site, failed) from None
                continue
            url = f"{self._site.origin}{target}"
            findings: list[Problem] = []
            if _is_of_another_application(target, answer):
                message = f"another application answers this path, which is reserved for a resolver: {answer}"
                findings.append(iri_policy.finding("reserved-path-answered", 0, len(url), message))
            yield PageResult(url, answer.status, answer.field("Location"), self._apply_profile(findings))

    def _apply_profile(self, findings: Iterable[Problem]) -> tuple[Problem, ...]:
        ruled = (iri_policy.with_policy_severity(finding, self._profile) for finding in findings)
        return tuple(finding for finding in ruled if finding is not None)


def _is_of_another_application(target: str, answer: SiteAnswer) -> bool:
    """Return whether an answer for a name that is never bound is that of a page, and not that of a resolver."""
    if target == WELL_KNOWN and answer.status == 200:
        # draft-kunze-ark-43, section 5.6: the path or the address of the resolver.
        text = answer.body[:1000].decode("utf-8", "replace").strip()
        return not text.startswith(("/", "http://", "https://")) or "<" in text
    if 300 <= answer.status < 400:
        # A resolver can forward names that it does not know.
        return f"{target.partition(':')[0]}:" not in (answer.field("Location") or "") or ":" not in target
    return answer.status < 300


def _for_host(profile: Profile, site: RunningSite, *, is_ready: bool) -> Profile:
    """Return the profile for the host of a site. The host, NAAN and address of a ready profile are examples."""
    if not is_ready or site.url.host in profile.hosts:
        return profile
    profile = replace(profile, naan=None, naans=(), url="")
    if _is_here(site.url.host):
        return profile
    host = site.url.host.removeprefix("www.")
    return replace(profile, hosts=(host,), resolvers=(f"https://{host}",))


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _as_published(page: SitePage, site: RunningSite, profile: Profile) -> str:
    """Return the URL of a page as it is published. The site can be a copy at another host, such as 127.0.0.1."""
    if site.url.host in profile.hosts or site.url.host.removeprefix("www.") in profile.hosts:
        return page.url
    if not page.url.startswith(f"{site.origin}/"):
        return page.url
    return f"{profile.schemes[0]}://{profile.hosts[0]}{page.url.removeprefix(site.origin)}"


def _read_state(name: str, site: RunningSite) -> dict[str, Mapping[str, Any]]:
    """Return the URLs of earlier checks with their status and Location. The file is missing before the first check."""
    path = Path(name)
    if streams.does_not_exist(name):
        return {}
    try:
        with path.open("rb") as stream:
            content = stream.read(_MAX_STATE + 1)
        document: Any = json.loads(content) if len(content) <= _MAX_STATE else None
        pages = document["pages"]
        for url, page in pages.items():
            if not isinstance(url, str) or not isinstance(page["status"], int):
                raise TypeError
            page["location"] = page.get("location") if isinstance(page.get("location"), str) else None
        whose = document["site"]
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror or error}", exit_code=NO_INPUT) from None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise CommandError(f"{name} is not a state file", ("Expected", "a file that --state has written")) from None
    if whose != site.address:
        fix = "use one state file for each site"
        raise CommandError(f"{name} is the state file of {display.escape(str(whose)[:200])}", ("Fix", fix))
    return pages


def _write_state(
    name: str, site: RunningSite, earlier: Mapping[str, Mapping[str, Any]], results: list[PageResult]
) -> None:
    """Write the URLs that work, with their first good answer, so that a change is reported until it is corrected."""
    pages = dict(earlier)
    for result in results:
        if result.status is not None and result.status < 400 and "ararat-policy-check" not in result.url:
            pages.setdefault(result.url, {"status": result.status, "location": result.location})
    document = {"version": _STATE_VERSION, "site": site.address, "pages": pages}
    with writing(name), streams.replace_file(name) as stream:
        stream.write(json.dumps(document, indent=1).encode("ascii"))


def _lines(result: PageResult, sheet: Sheet) -> Iterator[str]:
    yield sheet.paint(identifier(result.url), "strong")
    for finding in result.findings:
        yield f"  {sheet.paint(finding.severity.ljust(_WIDTH), _STYLES[finding.severity])}{finding.code}"
        message = f"{finding.message}; expected: {finding.expected} ({finding.reference})"
        yield from sheet.prose(message, indent=2 + _WIDTH)


def _case(result: PageResult) -> JUnitCase:
    texts: dict[bool, list[str]] = {True: [], False: []}
    for finding in result.findings:
        message = (
            f"{finding.severity}: {finding.message} ({finding.code})\nexpected: {finding.expected}\n{finding.reference}"
        )
        texts[finding.severity == "note"].append(message)
    return JUnitCase(result.url, "policy", texts[False], texts[True])


def _summary(results: list[PageResult]) -> str:
    counts = dict.fromkeys(_STYLES, 0)
    for result in results:
        for finding in result.findings:
            counts[finding.severity] += 1
    listed = [format_count(count, severity) for severity, count in counts.items() if count]
    return ", ".join(listed) or "no problems found"


def _left_out(listing: SiteListing, excluded: int, most: int) -> Iterator[str]:
    if excluded:
        yield f"ararat: robots.txt excludes {format_count(excluded, 'URL')}, which were not requested"
    if listing.elsewhere:
        yield f"ararat: {format_count(listing.elsewhere, 'line')} without a valid URL of this site were not requested"
    if listing.is_cut:
        yield f"ararat: only the first {most:,} URLs were requested; to request more, use --limit"
