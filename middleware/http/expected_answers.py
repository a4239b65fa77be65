"""Compare the answer of a site to a request for a name with the expected one, and state what to do about a difference.
The pytest plugin and ``ararat check --url`` use it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from ...identifiers.text import display
from ...net.response import SiteAnswer

if TYPE_CHECKING:
    from ..resolution.result import Resolution

TEMPORARY = (302, 303, 307)
PERMANENT = (301, 308)
FOUND = (200, 204, *TEMPORARY)
"""The statuses of a name that resolves."""

SIGN_IN = re.compile(r"(?i)log-?in|sign-?in|anmeld|/connexion\b|/auth|/sso|saml|oauth|openid")
"""The words of addresses at which people sign in."""

_SHOWN = 300
_PASSWORD = (b'type="password"', b"type='password'", b"type=password")
_NOT_FOUND = (b"404", b"not found", b"nicht gefunden", b"introuvable")
# How Django, TrustedHostMiddleware of Starlette, and Flask refuse a host.
_OTHER_HOST = re.compile(rb"(?i)<h1>Bad Request \(400\)</h1>|DisallowedHost|invalid host|host .{0,60}not trusted")


class ExpectedAnswer(NamedTuple):
    """The right answer of a site for a name: one of the ``statuses``, and the ``target`` or None for any."""

    statuses: tuple[int, ...]
    target: str | None = None

    def __str__(self) -> str:
        """Return the answer in words, such as "302, 303 or 307 to https://example.org/"."""
        *others, last = map(str, self.statuses)
        listed = f"{', '.join(others)} or {last}" if others else last
        return listed if self.target is None else f"{listed} to {display.escape(self.target[:_SHOWN])}"


class AnswerFault(NamedTuple):
    """A difference between the answer of a site and the expected one, in printable ASCII. ``asked`` is the request,
    ``came`` the answer, and ``fix`` what to do.
    """

    asked: str
    came: str
    expected: str
    fix: str

    def __str__(self) -> str:
        return f"asked     {self.asked}\ncame      {self.came}\nexpected  {self.expected}\nfix       {self.fix}"


def path_of(name: str) -> str:
    """Return the path and query at which a site answers for a name, percent-encoded where HTTP needs it.

    >>> path_of("ark:12345/x?info"), path_of("/ark:12345/\u00e9 %41")
    ('/ark:12345/x?info', '/ark:12345/%C3%A9%20%41')
    """
    return quote(name if name.startswith("/") else f"/{name}", safe="/:?&=;,+@$!*'()~%#[]")


def answer_of(resolution: Resolution) -> ExpectedAnswer:
    """Return the answer that a site must give for an identifier with this result of :func:`~ararat.middleware.resolve`.
    Its target is None for a name with alternates.
    """
    if resolution.problem is not None:
        return ExpectedAnswer((resolution.status,))
    match resolution.outcome:
        case "held":
            # A name on hold leads to its description.
            return ExpectedAnswer((303,))
        case "served":
            return ExpectedAnswer((200, 204))
        case "described" | "metadata" | "prefix":
            return ExpectedAnswer((200, 303))
        case "related":
            statuses: tuple[int, ...] = (303,)
        case _:
            statuses = TEMPORARY
    # Accept and Accept-Language select among the alternates.
    is_chosen = resolution.binding is not None and bool(resolution.binding.alternates)
    return ExpectedAnswer(statuses, None if is_chosen else resolution.target)


def is_page_to_sign_in(answer: SiteAnswer) -> bool:
    """Return whether the body of an answer contains a field for a password."""
    body = answer.body.lower()
    return any(text in body for text in _PASSWORD)


def says_not_found(answer: SiteAnswer) -> bool:
    """Return whether the title or heading of a page with the status 200 reports that it does not exist."""
    body = answer.body.lower()
    parts = [body.partition(tag)[2].partition(b"</")[0][:_SHOWN] for tag in (b"<title", b"<h1")]
    return answer.status == 200 and any(text in part for part in parts for text in _NOT_FOUND)


def is_of_the_site(answer: SiteAnswer) -> bool:
    """Return whether the site itself made an answer, for a served name. Ararat adds only links to such an answer."""
    return _prefix_path(answer) is not None and answer.field("Access-Control-Expose-Headers") is None


def refused_host(answer: SiteAnswer) -> str | None:
    """Return what to do if a site answers 400 because it does not know the host of the test, or None."""
    if answer.status != 400 or answer.problem or not _OTHER_HOST.search(answer.body):
        return None
    return (
        "The site refuses the host of the test. Add localhost and testserver to the hosts in its settings: "
        "ALLOWED_HOSTS of Django, allowed_hosts of TrustedHostMiddleware, or TRUSTED_HOSTS of Flask."
    )


def fault(request: str, url: str, answer: SiteAnswer, expected: ExpectedAnswer) -> AnswerFault | None:
    """Compare the answer of a site with the expected one, and return the difference, or None. ``request`` is the
    request in words, and ``url`` its absolute address. A target that is a path is compared with the path of the
    Location.

    >>> moved = SiteAnswer(301, (("Location", "https://example.org/"),))
    >>> fault("GET /ark:12345/x", "http://localhost/ark:12345/x", moved, ExpectedAnswer((302,))).came
    '301 Moved Permanently to https://example.org/'
    """

    def differs(fix: str) -> AnswerFault:
        return AnswerFault(display.escape(request[:_SHOWN]), str(answer), str(expected), fix)

    if answer.status not in expected.statuses:
        return differs(_fix(answer, expected))
    where = answer.field("Location")
    if expected.target is None:
        return None
    if where is None:
        return differs("The answer has no Location. Send the target of the name in it.")
    is_path = expected.target.startswith("/") and not expected.target.startswith("//")
    location = _path(where) if is_path else _comparable(_join(url, where))
    if location != _comparable(expected.target):
        if is_path and (prefix := _prefix_path(answer)):
            return differs(_PREFIX.format(prefix=prefix))
        return differs("The name leads elsewhere. Correct its target (ararat relocate NAME URL), or the expected one.")
    return None


def _join(url: str, where: str) -> str:
    try:
        return urljoin(url, where)
    except ValueError:
        return where


def _path(url: str) -> str:
    """Return a URL without its scheme and host, because a target on the site itself is stored as a path."""
    try:
        return urlsplit(url)._replace(scheme="", netloc="").geturl()
    except ValueError:
        return url


def _comparable(url: str) -> str:
    """Return a URL with a slash for an empty path, so that both spellings of a home page are equal."""
    _, separator, rest = url.partition("://")
    return f"{url}/" if separator and not {"/", "?", "#"} & set(rest) else url


_PREFIX = (
    "The prefix has the path {prefix}: names and the pages of the site are below it. Ask for {prefix}/NAME, or test "
    "with a prefix that has no path."
)


def _prefix_path(answer: SiteAnswer) -> str | None:
    """Return the path of the prefix, from the link that Ararat adds to each answer for a name that it knows."""
    address, found, relation = (answer.field("Link") or "").partition(">")
    if not found or "describedby" not in relation[:40] or not address.endswith("?info"):
        return None
    path = _path(address.removeprefix("<"))
    place = max(path.lower().find(f"/{scheme}:") for scheme in ("ark", "urn"))
    return display.escape(path[:place]) if place >= 0 else None


def _fix(answer: SiteAnswer, expected: ExpectedAnswer) -> str:
    status, code = answer.status, answer.problem.get("code")
    if status in PERMANENT:
        return (
            "Clients keep a permanent redirect and never ask again. Redirect names with 302, 303 or 307. A rule of the "
            "front server or of the framework (https, www, a slash at the end) often causes it."
        )
    if code == "not-bound":
        return "The resolver answers, but the name is not bound. Bind it: ararat bind NAME URL."
    if status == 410 and 410 not in expected.statuses:
        return "The name is withdrawn. Restore it (ararat restore NAME), or expect that it is withdrawn."
    if (change := refused_host(answer)) is not None:
        return change
    prefix = _prefix_path(answer)
    if status in (404, 405, 410) and code is None and prefix is not None:
        if prefix:
            return _PREFIX.format(prefix=prefix)
        return (
            "The name is served, and the site has no page for it. Restore the page, or give the name the address of "
            "another one: ararat relocate NAME URL."
        )
    if status == 404 and code is None:
        return (
            "The request did not reach a resolver. Put ResolverMiddleware around the application that is tested. "
            "A middleware inside the router of a framework does not see names: wrap the application from outside. "
            "Django's test client does not run WSGI middleware: use ararat_site(application)."
        )
    if code is not None and status in (400, 404, 414):
        return "The resolver refuses the text. Correct the spelling of the name: ararat inspect NAME."
    if status == 503:
        return "The resolver cannot read its bindings. See its log, or run: ararat doctor."
    if status >= 500:
        return "The application failed. See its log."
    if status in (401, 403):
        return "The site asks for a password or refuses the request. Exclude the paths of names from this rule."
    if status == 429:
        return "The site limits the number of requests. Ask more slowly, or exclude the paths of names from the limit."
    if 410 in expected.statuses:
        return "The name still works. Withdraw it (ararat withdraw NAME), or expect that it resolves."
    if 404 in expected.statuses:
        return "The name is reserved and must not be public. Find the application that answers for it."
    if status in (200, 204):
        return (
            "The site answers with a page of its own. Check that no route of the application matches this path, and "
            "that the name is bound to a URL."
        )
    return "Compare the binding of the name (ararat show NAME) with the answer."
