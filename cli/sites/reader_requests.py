"""List what a reader can lose: the requests that readers and programs send for one bound name, and what must come back.
``ararat doctor`` compares the answers with those of Ararat itself, ``ararat conformance URL`` with the target of the
name. No request asks a cache for a new answer, because readers do not either. Nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from werkzeug.http import parse_options_header

from ...identifiers.text import display
from ...net.response import PROBLEM, SiteAnswer

Want = Literal["name", "description", "data", "refusal", "preflight"]
"""The answer that must come back: that for the name, its description, this as JSON, a refusal, or permission."""

REDIRECTS = (301, 302, 303, 307, 308)
"""The statuses of a redirect."""

OTHER_SITE = "https://example.com"
"""The site with the link in the request of a browser."""

BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "de,fr;q=0.5",
    "Referer": f"{OTHER_SITE}/links",
    "Sec-Fetch-Site": "cross-site",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
}
"""The header fields of a browser that follows a link of another site."""

_PHONE = {
    "Accept": BROWSER["Accept"],
    "Accept-Language": "en-GB,en;q=0.8",
    "User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
}
PROGRAMS = (
    "libwww-perl/6.77", "Wget/1.24", "Go-http-client/1.1", "Apache-HttpClient/4.5", "okhttp/4.12", "axios/1.7",
    "node-fetch", "Ruby", "GuzzleHttp/7", "heritrix/3.4", "LinkChecker/10.4", "archive.org_bot", "Zotero/7.0",
)  # fmt: skip
"""Programs of readers. One request names all of them, because a rule looks for a word in the field User-Agent."""

_SHOWN = 100
# Fields that Ararat sends at most once. A browser refuses an answer in which the first one is repeated.
_ONCE = ("Access-Control-Allow-Origin", "Location", "Content-Type", "Content-Language", "Content-Security-Policy")
_CORS = "Access-Control-Allow-Origin"
_LISTS = ("Vary", "Access-Control-Expose-Headers")
_KEPT = ("Content-Type", "Content-Language", *_LISTS)
# A browser saves an answer with the first one, and leaves that with the second one. No request allows the third one. A
# cache does not keep an answer with the last one.
_NEVER = ("Content-Disposition", "Refresh", "Content-Encoding", "Clear-Site-Data", "Set-Cookie")


def _plain(name: str) -> str:
    return name


def _classic(name: str) -> str | None:
    return f"ark:/{name[4:]}" if name.startswith("ark:") and not name.startswith("ark:/") else None


def _label(name: str) -> str:
    scheme, _, rest = name.partition(":")
    return f"{scheme.upper()}:{rest}"


def _colon(name: str) -> str:
    return name.replace(":", "%3A", 1)


def _add_hyphen(name: str) -> str | None:
    """Return another spelling of an ARK, with a hyphen more, or None."""
    if not name.startswith("ark:") or not re.search("[A-Za-z0-9]{2}$", name):
        return None
    return f"{name[:-1]}-{name[-1]}"


def _with(end: str) -> Callable[[str], str]:
    return lambda name: name + end


class ReaderRequest(NamedTuple):
    """One row of the table: a request for a name, and what must come back (``want``).
    ``code`` never changes. ``reader`` is who sends such a request. ``spelling`` returns the end of the URL for a name,
    or None if the row does not apply to it. ``reference`` is the requirement, with its number.
    """

    code: str
    reader: str
    spelling: Callable[[str], str | None]
    want: Want
    reference: str
    method: str = "GET"
    fields: Mapping[str, str] = {}


_SPELLINGS = "ARK draft, section 7.1 (ARK-091, ARK-103)"
_INFLECTIONS = "ARK draft, section 3.4 (ARK-045); draft-kunze-ark-43, section 5.2"
_STATUS = "ARK draft, section 7.1.2 (ARK-108)"
_NOT_BOUND = "ARK draft, section 7.1.2 (ARK-110, ARK-115)"
REQUESTS = (
    ReaderRequest("plain", "the printed address", _plain, "name", _STATUS),
    ReaderRequest("head", "a link checker", _plain, "name", "RFC 9110, section 9.3.2", "HEAD"),
    ReaderRequest("label", "an address in capitals", _label, "name", f"{_SPELLINGS}; RFC 8141, section 3.1"),
    ReaderRequest("classic", "an address in the classic form", _classic, "name", _SPELLINGS),
    ReaderRequest("encoded-colon", "a link in an e-mail, with %3A", _colon, "name", _SPELLINGS),
    ReaderRequest("encoded-hyphen", "an address with a hyphen of a line break", _add_hyphen, "name", _SPELLINGS),
    ReaderRequest("browser", "a link on another site", _plain, "name", _STATUS, fields=BROWSER),
    ReaderRequest("requests", "a program in Python", _plain, "name", _STATUS, fields={"User-Agent": "python-requests"}),
    ReaderRequest("curl", "a program with curl", _plain, "name", _STATUS, fields={"User-Agent": "curl/8.5.0"}),
    ReaderRequest("harvester", "a harvester", _plain, "name", _STATUS, fields={"User-Agent": "Java/17.0.9"}),
    ReaderRequest("no-agent", "a program without a User-Agent", _plain, "name", _STATUS, fields={"User-Agent": ""}),
    ReaderRequest("programs", "other programs", _plain, "name", _STATUS, fields={"User-Agent": " ".join(PROGRAMS)}),
    ReaderRequest("phone", "a phone", _plain, "name", _STATUS, fields=_PHONE),
    ReaderRequest("shared", "a link shared in social media", _with("?fbclid=IwAR2x&utm_source=post"), "name", _STATUS),
    ReaderRequest("fields", "a program that asks for no redirect", _plain, "description", "ARK draft, section 7.1.2",
                  fields={"No-Redirect": "1"}),
    ReaderRequest("info", "a description", _with("?info"), "description", _INFLECTIONS),
    ReaderRequest("question-mark", "a description by a bare ?", _with("?"), "description", _INFLECTIONS),
    ReaderRequest("question-marks", "a description by ??", _with("??"), "description", _INFLECTIONS),
    ReaderRequest("page", "a description in a browser", _with("?info"), "description", _INFLECTIONS, fields=BROWSER),
    ReaderRequest("data", "a description as JSON", _with("?info"), "data", "RFC 9110, section 12.5.1",
                  fields={"Accept": "application/json"}),
    ReaderRequest("script", "a script on another site", _with("?info"), "data", "Fetch standard, CORS protocol",
                  fields={"Accept": "application/json", "Origin": OTHER_SITE}),
    ReaderRequest("part", "a part that is not bound", _with("/ararat-doctor"), "refusal", _NOT_BOUND),
    ReaderRequest("encoded-slash", "a part with %2F", _with("%2Fararat-doctor"), "refusal", _SPELLINGS),
    ReaderRequest("missing", "a name that is not bound", _with("0ararat0missing"), "refusal", _NOT_BOUND),
    ReaderRequest("preflight", "a script on another site", _plain, "preflight", "Fetch standard, CORS protocol",
                  "OPTIONS", {"Origin": OTHER_SITE, "Access-Control-Request-Method": "GET"}),
)  # fmt: skip
"""The table. The rows without a special ``want`` return the same answer as the first one."""


class Loss(NamedTuple):
    """A loss of a reader: the part of the answer that differs, and the difference in words, with escaped text."""

    part: Literal["status", "location", "body", "cors", "repeated", "robots", "language", "field"]
    words: str


def losses(answer: SiteAnswer, right: SiteAnswer) -> Iterator[Loss]:
    """Yield what the reader loses with an answer that differs from the right one; nothing without a loss. If the
    status differs, nothing else is compared.

    >>> right = SiteAnswer(302, (("Location", "https://a.example/"),))
    >>> [loss.words for loss in losses(SiteAnswer(404, ()), right)]
    ['404, not 302 to https://a.example/']
    """
    if answer.status != right.status:
        yield Loss("status", f"{status_text(answer)}, not {status_text(right)}")
        return
    if answer.status in REDIRECTS and answer.field("Location") != right.field("Location"):
        yield Loss("location", f"{status_text(answer)}, not {status_text(right)}")
        return
    if right.media_type and not answer.media_type:
        yield Loss("field", f"Content-Type is missing; Ararat sends {_excerpt(right.media_type)}")
        return
    code = right.problem.get("code")
    another = right.status >= 400 and answer.media_type != right.media_type
    if another or (code is not None and answer.problem.get("code") != code):
        yield Loss(
            "body", f"{status_text(answer)} with another body ({_excerpt(answer.media_type)}), not the reason of Ararat"
        )
        return
    if right.status == 200 and answer.media_type != right.media_type:
        yield Loss("status", f"200 as {_excerpt(answer.media_type)}, not as {_excerpt(right.media_type)}")
        return
    # A page of Ararat has these fields in each design.
    kept = ("Content-Language", "Access-Control-Expose-Headers")
    if all(right.field(name) and not answer.field(name) for name in kept):
        yield Loss(
            "body" if right.status >= 400 else "status", f"{status_text(answer)} with another page, not that of Ararat"
        )
        return
    for name in _ONCE:
        values = [value for field, value in answer.fields if field.lower() == name.lower()]
        if len(values) > 1 and right.field(name) is not None:
            part = "cors" if name == _CORS else "repeated"
            yield Loss(part, f"{name} is sent {len(values)} times: {_excerpt(', '.join(values))}")
    if (expected := right.field(_CORS)) is not None and expected not in _values(allowed := answer.field(_CORS)):
        yield Loss("cors", f"{_CORS} is {_excerpt(allowed or 'missing')}; Ararat sends {_excerpt(expected)}")
    robots = (answer.field("X-Robots-Tag") or "").lower()
    if re.search("noindex|none", robots) and not right.field("X-Robots-Tag"):
        yield Loss("robots", f"X-Robots-Tag is {_excerpt(robots)}, so search engines do not list it")
    for name in _KEPT:
        seen = answer.field(name)
        if right.field(name) and not seen:
            yield Loss("field", f"{name} is missing; Ararat sends {_excerpt(right.field(name))}")
        elif name in _LISTS and "*" not in _values(seen) and (lost := _values(right.field(name)) - _values(seen)):
            yield Loss("field", f"{name} is {_excerpt(seen)}, without {_excerpt(', '.join(sorted(lost)))}")
    charset, expected = _charset(answer), _charset(right)
    if expected and charset not in ("", expected):
        yield Loss("field", f"Content-Type has the charset {_excerpt(charset)}, not {expected}")
    for name in (name for name in _NEVER if answer.field(name) and not right.field(name)):
        yield Loss("field", f"{name} is added: {_excerpt(answer.field(name))}")
    language, said_language = right.field("Content-Language"), answer.field("Content-Language")
    if language is not None and said_language not in (None, language):
        yield Loss("language", f"the language is {_excerpt(said_language)}, not {_excerpt(language)}")


def status_text(answer: SiteAnswer) -> str:
    """Return the status of an answer, with its Location or the code of its problem document, for a person."""
    where = answer.field("Location")
    if where and 300 <= answer.status < 400:
        return f"{answer.status} to {display.percent(where[:_SHOWN])}"
    code = answer.problem.get("code") if answer.media_type == PROBLEM else None
    return f"{answer.status} ({display.escape(code[:40])})" if isinstance(code, str) else str(answer.status)


def _charset(answer: SiteAnswer) -> str:
    return parse_options_header(answer.field("Content-Type"))[1].get("charset", "").lower()


def _values(field: str | None) -> set[str]:
    """Return the values of a field that is a list, in lower case."""
    return {value.strip().lower() for value in (field or "").split(",")} - {""}


def _excerpt(text: str | None) -> str:
    return display.escape((text or "none")[:_SHOWN])
