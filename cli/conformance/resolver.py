"""Check any resolver against the requirements for readers: the rows of :mod:`..sites.reader_requests`.
Each answer is compared with the given target. A redirect of a name to the same name at another address is followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple
from urllib.parse import urljoin

from ...identifiers.text import display
from ...middleware.http.expected_answers import PERMANENT, ExpectedAnswer, fault, path_of
from ...net.hop import HopFailed
from ...net.response import SiteAnswer
from ..errors import CommandError
from ..options import ALLOW_NETWORK
from ..sites.reader_requests import REDIRECTS, REQUESTS, ReaderRequest, status_text
from ..sites.requests import UNREACHABLE, RunningSite, unavailable

Outcome = Literal["pass", "fail", "advice"]
"""``advice`` is a failure of a row that no standard requires of each resolver."""

_ADVICE = ("data", "script", "preflight", "cors")
# These are about rules that a front server has for programs. An honest check does not pretend to be another program.
_OF_FRONTS = ("requests", "curl", "harvester", "no-agent", "programs", "phone", "shared", "fields")
_MOST_HOPS = 5
_CORS = "Access-Control-Allow-Origin"


class RequirementResult(NamedTuple):
    """The result of one row for one name. ``words`` is the reason of a failure, or the answer."""

    name: str
    code: str
    reader: str
    reference: str
    outcome: Outcome
    request: str
    words: str


def examine(site: RunningSite, name: str, expected: ExpectedAnswer) -> Iterator[RequirementResult]:
    """Send the requests of readers for a name, one after the other, and yield the results.
    Raises :class:`~ararat.cli.errors.CommandError` if the site does not answer, or may not be asked.
    """
    name = path_of(name)[1:]
    for row in REQUESTS:
        sent = row.spelling(name)
        if sent is None or row.code in _OF_FRONTS:
            continue
        fields = {field: text for field, text in row.fields.items() if field != "User-Agent"}
        url = f"{site.address}/{sent}"
        request = display.percent(f"{row.method} {url}")
        try:
            answer, reason = _answered(site, row, url, sent, fields)
        except HopFailed as failed:
            if failed.code in ("blocked", "port"):
                raise CommandError(f"{request} is not sent: {failed}", ("Fix", ALLOW_NETWORK)) from None
            if row.code == "plain" and failed.code in UNREACHABLE:
                raise unavailable(site, failed) from None
            answer, reason = None, f"no answer: {failed.sentence}"
        if answer is not None and reason is None:
            reason = _reason(row, url, answer, expected)
        outcome: Outcome = "pass" if reason is None else "advice" if row.code in _ADVICE else "fail"
        words = status_text(answer) if answer is not None and reason is None else reason or ""
        yield RequirementResult(name, row.code, row.reader, row.reference, outcome, request, words)
        if row.code == "browser" and answer is not None:
            values = [text for field, text in answer.fields if field.lower() == _CORS.lower()]
            right = len(values) == 1 and values[0] in ("*", "null", row.fields["Referer"].rpartition("/")[0])
            words = f"{_CORS} is sent {len(values)} times" if len(values) != 1 else f"{_CORS} is sent once"
            if len(values) == 1 and not right:
                words = f"{_CORS} is {display.escape(values[0][:100])}, which excludes other sites"
            reference = "Fetch standard, CORS protocol"
            yield RequirementResult(
                name, "cors", "a script on another site", reference, "pass" if right else "advice", request, words
            )


def _answered(
    site: RunningSite, row: ReaderRequest, url: str, sent: str, fields: Mapping[str, str]
) -> tuple[SiteAnswer, str | None]:
    """Return the answer after redirects of the same name to other resolvers, and the fault of such a redirect."""
    for hop in range(_MOST_HOPS):
        answer = site.ask(row.method, url, fields)
        if hop == _MOST_HOPS - 1:
            return answer, f"more than {_MOST_HOPS} redirects of the same name"
        where = answer.field("Location")
        if answer.status not in REDIRECTS or where is None:
            return answer, None
        following = where if "://" in where else _join(url, where)
        plain = sent.partition("?")[0]
        if following == url or not following.partition("?")[0].endswith(f"/{plain}"):
            return answer, None
        if "?" in sent and following.count("?") < 1:
            return answer, f"{status_text(answer)}: the redirect loses the query"
        url = following
    raise AssertionError("a loop of hops ends with an answer")


def _reason(row: ReaderRequest, url: str, answer: SiteAnswer, expected: ExpectedAnswer) -> str | None:
    """Return why an answer breaks the requirement of its row, or None."""
    if answer.status in PERMANENT:
        return f"{status_text(answer)}: clients keep a permanent redirect, and never ask again"
    if answer.status >= 500:
        return f"{status_text(answer)}: an error of the server"
    where = answer.field("Location")
    match row.want:
        case "name":
            found = fault(row.method, url, answer, expected)
            if found is not None:
                return f"{found.came}, not {found.expected}"
            return "the answer to HEAD has a body" if row.method == "HEAD" and answer.body else None
        case "description" | "data":
            if where is not None and answer.status in REDIRECTS:
                is_target = expected.target is not None and _join(url, where) == _join(url, expected.target)
                return f"{status_text(answer)}: the resource, not its description" if is_target else None
            if answer.status != 200 or not answer.body:
                return f"{status_text(answer)}, not a description"
            return _format(answer) if row.want == "data" else None
        case "refusal":
            if answer.status < 300:
                return f"{status_text(answer)}: a page for a name that is not bound"
            if where is not None and expected.target is not None and _join(url, where) == expected.target:
                return f"{status_text(answer)}: the target of another name"
        case "preflight":
            if answer.status >= 300 or answer.field(_CORS) is None:
                return f"{status_text(answer)}, without permission for other sites"
    return None


def _format(answer: SiteAnswer) -> str | None:
    return (
        None if "json" in answer.media_type else f"requested as JSON, answered as {display.escape(answer.media_type)}"
    )


def _join(url: str, where: str) -> str:
    try:
        return urljoin(url, where)
    except ValueError:
        return where
