"""The identifiers that are sent to a deployment, and what its answers say: the echo, the redirect, the servers.
A refusal of Ararat repeats the identifier as received, so that no special endpoint is needed. The probes use NAAN 99999
with a random beginning, or the URN namespace ``example``. No site binds such names.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urljoin

from ....identifiers import IdentifierError, normalize
from ....identifiers.text import display
from ....middleware.views.error_page import ECHOED
from ....net import url as weburl
from ....net.response import PROBLEM, SiteAnswer
from ....net.url import WebURL
from ..fixes import ReverseProxy, reverse_proxy

SHOWN = 100
_TRIPLET = re.compile("%[0-9A-Fa-f]{2}")

# Below the default of max_length and below the default of gunicorn, 4,094 bytes. A name of 255 code points, all of them
# percent-encoded, has 3,060 bytes.
_LONG = 3300
GATEWAY = (502, 503, 504)
"""The statuses of a reverse proxy whose upstream server cannot be reached, is not ready or is too slow."""
_CACHE_FIELDS = ("Age", "X-Cache", "X-Proxy-Cache", "X-Cache-Status", "CF-Cache-Status")


class Probe(NamedTuple):
    """A test of a deployment with one kind of identifier, such as one with two slashes in a row.
    ``rest`` follows the random beginning. ``lost`` names the consequence if it does not arrive unchanged. ``each`` is
    an identifier with one part of ``shown``, to find out which of them is lost, or empty.
    """

    code: str
    rest: str
    shown: str
    lost: str
    reference: str
    each: str = ""


class Echo(NamedTuple):
    """The request as a resolver received it, from the JSON problem document of its refusal, whose reason is ``code``.
    ``exact``: it is as the client wrote it; None if an old version does not report this. ``suggestion`` is the URL of a
    similar identifier, ``inspect`` that of this one in the inspector. ``shows_empty_query`` is False behind an ASGI
    server, which does not show a question mark at the end.
    """

    identifier: str
    exact: bool | None
    code: str
    suggestion: str | None
    inspect: str | None = None
    shows_empty_query: bool = True


OBLIGATION = "ARK draft, section 7.1"
NAMES_NOTHING = "a URL that names nothing is resolved as another name"
PROBES = (
    Probe("encoded-slash", "a%2Fb", "%2F", "ark:12345/a%2Fb and ark:12345/a/b become one name", OBLIGATION),
    Probe("encoded-octet", "a%ffb", "%ff", "names with bytes that are not UTF-8 become other names", OBLIGATION),
    Probe("double-slash", "a//b", "//", NAMES_NOTHING, OBLIGATION),
    Probe("dot-segment", "a/../b", "/../", NAMES_NOTHING, OBLIGATION),
    Probe("encoded-dot-segment", "a/%2E%2E/b", "/%2E%2E/", NAMES_NOTHING, OBLIGATION),
    Probe("letter-case", "aB", "capitals", "ark:12345/aB and ark:12345/ab become one name", OBLIGATION),
    Probe("punctuation", "a=*+@_$~", "= * + @ _ $ ~", "names with these characters do not reach it", OBLIGATION, "a{}"),
    Probe("encoded-reserved", "a%25%3F%23%20%22%3C%C3%A9b", "%25 %3F %23 %20 %22 %3C %C3%A9",
          "names with these characters do not reach it", OBLIGATION, "a{}b"),
    Probe("parts", "a/.b/c.d/e/f/g.", "a/b a/.b a/b.c a/b/c/d/e/f a.", "parts and variants do not reach it", OBLIGATION,
          "{}"),
    Probe("encoded-hyphen", "a%2Db", "%2D", "%2D arrives as another character", OBLIGATION),
    Probe("question-mark", "x?", "a bare ?", "x? is resolved as x instead of described", "ARK draft, section 3.4"),
    Probe("question-marks", "x??", "??", "x?? is resolved as x instead of described", "ARK draft, section 3.4"),
    Probe("info", "x?info", "?info", "no name can be described", "ARK draft, section 3.4"),
    Probe("query", "x?b=2&a=1;c&utm_source='(D),!*:@/~$+_%20", "; = & ' ( ) , ! * : @ / ~ $ + %20 utm_source=D",
          "queries with these characters do not reach it", "RFC 3986, section 3.4", "x?a{}b"),
    *(Probe(f"extension-{end}", f"x.{end}", f".{end}", f"names that end in .{end} do not reach it", OBLIGATION)
      for end in re.findall(r"\w+", "pdf css js png jpg php xml sql bak log zip html json svg txt tif")),
    Probe("long", "x" * _LONG, f"{_LONG:,} bytes", "long names do not reach the resolver", "ARK draft, section 7.1.1"),
)  # fmt: skip
"""The probes."""
SUB_DELIMS = Probe("sub-delims", "a;b!c&d'e(f)g,h:i", "; ! & ' ( ) , :", "URNs with these characters do not reach it",
                   "RFC 8141, section 2", "a{}b")  # fmt: skip
"""The probe with the characters that URNs can have, and ARKs cannot."""


def redirect_prefix(url: WebURL, name: str, response: SiteAnswer) -> WebURL | None:
    """Return the prefix to which a front server redirects a name, or None for another response.
    A redirect to the same name at another host, or over https, counts. One to the target of the name does not.

    >>> from ararat.net import url as weburl
    >>> answer = SiteAnswer(301, (("Location", "https://www.a.example/ark:12345/x"),), b"")
    >>> redirect_prefix(weburl.parse("http://a.example/"), "ark:12345/x", answer).authority
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
    """Return the origin and the request target of a Location, or (None, "") without a web address.

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

    >>> answered_by(SiteAnswer(302, (("Server", "nginx"), ("Age", "17")), b""))
    'nginx, Age: 17'
    """
    named = [response.field(name) for name in ("Via", "Server")]
    caches = [f"{name}: {value}" for name in _CACHE_FIELDS if (value := response.field(name))]
    return ", ".join(display.escape(value[:SHOWN]) for value in [*named, *caches] if value) or None


def prefix_of(url: WebURL) -> str:
    return f"{url.scheme}://{url.authority}{url.target.rstrip('/')}"


def _are_neighbours(one: str, other: str) -> bool:
    """Return whether two hosts are of one site: they are equal, one is below the other, or both are this machine."""
    if one == other or one.endswith(f".{other}") or other.endswith(f".{one}"):
        return True
    loopback = ("localhost", "127.0.0.1", "::1")
    return one in loopback and other in loopback


def proxy_of(response: SiteAnswer) -> ReverseProxy | None:
    return reverse_proxy(response.field("Server"), response.field("Via"))


def parse_echo(response: SiteAnswer) -> Echo | None:
    """Return the identifier that a refusal repeats as the resolver received it, or None for another response."""
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


def status_of(response: SiteAnswer) -> str:
    return f"Answered by {response.status}"


def cut(identifier: str) -> str:
    shown = display.percent(identifier)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def same(sent: str, seen: str) -> bool:
    """Return whether the identifiers are equal up to the length of an echo. Ignore the case of %xx digits."""
    upper = [_TRIPLET.sub(lambda found: found[0].upper(), text) for text in (sent[:ECHOED], seen)]
    return upper[0] == upper[1]


def equivalent_names(sent: str, seen: str) -> bool:
    (name, mark, query), (other, other_mark, other_query) = sent.partition("?"), seen.partition("?")
    try:
        return (mark, query) == (other_mark, other_query) and normalize(name) == normalize(other)
    except IdentifierError:
        return False
