"""Recover the request target as the client sent it from what a WSGI or ASGI server passes on.

WSGI servers decode the path: in ``PATH_INFO`` the different names ``a%2Fb`` and ``a/b`` are equal. An empty
``QUERY_STRING`` means both "no query" and the inflection ``?``. So :func:`recover` reads the raw target,
``REQUEST_URI`` or ``RAW_URI``, if it agrees with ``PATH_INFO``. Else an outer middleware can have rewritten the path,
or checked access by it, and ``PATH_INFO`` is used.

Without a raw target (wsgiref, granian, bjoern), and if the two disagree, the target is *inexact*. It does not
distinguish ``%2F`` from ``/``, ``%2E`` from ``.``, and a bare ``?`` from no query: clients must use ``?info`` there. No
environ makes the functions raise an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote, unquote_to_bytes

from ...identifiers.text import iri

# RFC 3986, section 3.3:  pchar = unreserved / pct-encoded / sub-delims / ":" / "@"
# Characters that are not quoted again. "%" is quoted, because the client sent it as %25.
_PCHAR_AND_SLASH = "/:;@!$&'()*+,=~"

# RFC 9112, section 3.2.2:  absolute-form = absolute-URI
_HTTP_AUTHORITY = re.compile(r"[Hh][Tt][Tt][Pp][Ss]?://[^/?#]*")
PLAIN_PATH = re.compile(r"(?:/(?!\.)[A-Za-z0-9:;@!$&'()*+,=~_.\-]*+)++")
"""A path with only one spelling: no triplet, no query, and no segment that begins with a dot."""

NO_PATH = b"The request target is not a path. Send a path that begins with a slash, such as /ark:12345/x.\n"
"""The body of the answer 400 to a target that :func:`is_path` refuses."""

_ENCODED_COLON = re.compile("(/?(?:[Aa][Rr][Kk]|[Uu][Rr][Nn]))%3[Aa]")
# The NID of a URN has no percent sign. 32 characters are the most that one has.
_ENCODED_AFTER_NID = re.compile("(/?[Uu][Rr][Nn]):([0-9A-Za-z][0-9A-Za-z-]{1,31})%3[Aa]")
_ENCODED_SLASH = re.compile(rb"(%2[Ff])")
_NOT_ASCII = re.compile(rb"[^\x00-\x7f]")
_DOT_SEGMENTS = {b".", b".."}


class Target(NamedTuple):
    """A request target below the mount of the application (``SCRIPT_NAME``), without its fragment.

    - ``path``: ASCII, percent-encoded as the client sent it. ``query``: "" after a question mark at the end, or None.
    - ``exact``: False if the path or the query was rebuilt from decoded values.
    - ``dotted``: True if a segment of the raw or the decoded path is ``.`` or ``..``: an outer access check can have
      seen another path.
    """

    path: str
    query: str | None
    exact: bool = True
    dotted: bool = False

    @property
    def identifier(self) -> str:
        """The requested identifier with its query, as received: the text below the resolver prefix."""
        below = self.path[1:]
        return below if self.query is None else f"{below}?{self.query}"


def is_path(decoded: str) -> bool:
    """Return whether a decoded request target, such as ``PATH_INFO``, is a path or empty (RFC 9112, section 3.2).
    Servers also pass on ``*``, an authority, a text without a slash, or a whole URL, from which no URL can be built.

    >>> is_path("/desk"), is_path(""), is_path("*"), is_path("example.org:443"), is_path("http://example.org/desk")
    (True, True, False, False, False)
    """
    return decoded[:1] in ("", "/")


def reserved_labels(schemes: Iterable[str]) -> frozenset[str]:
    """Return the beginnings of reserved paths in all combinations of ASCII case: ``/ark:``, ``/ARK:`` and so on. It
    lists all, because case folding maps other letters to these (U+212A KELVIN SIGN).

        resolver-reserved = web-prefix "/" scheme ":" *ipchar *("/" *ipchar)       (POL-037)
    """
    return frozenset(
        f"/{''.join(letters)}:" for scheme in schemes for letters in product(*((c.lower(), c.upper()) for c in scheme))
    )


def recover(environ: Mapping[str, Any]) -> Target:
    """Return the request target of a WSGI environ as the client sent it. Rebuild it if the server does not pass it on.

    >>> recover({"PATH_INFO": "/ark:12345/a/b", "QUERY_STRING": "", "REQUEST_URI": "/ark:12345/a%2Fb?"}).identifier
    'ark:12345/a%2Fb?'
    >>> recover({"PATH_INFO": "/ark:12345/a/b", "QUERY_STRING": ""})
    Target(path='/ark:12345/a/b', query=None, exact=False, dotted=False)
    """
    path, raw = environ.get("PATH_INFO"), environ.get("REQUEST_URI", environ.get("RAW_URI"))
    # Fast path for most requests: such a path has only one spelling.
    if (
        (raw is None or path == raw)
        and not environ.get("QUERY_STRING")
        and isinstance(path, str)
        and PLAIN_PATH.fullmatch(path)
    ):
        return Target(path, None, raw is not None)
    return recover_from(
        (_text(environ, "REQUEST_URI"), _text(environ, "RAW_URI")),
        _octets(_text(environ, "PATH_INFO")),
        _text(environ, "QUERY_STRING"),
        _octets(_text(environ, "SCRIPT_NAME")),
    )


def recover_from(raw_targets: Iterable[str], decoded: bytes, query: str, mount: bytes) -> Target:
    """Return the first raw request target that agrees with the decoded path, or rebuild the target from that path.
    ``raw_targets`` have one character per byte and can contain a query; "" means unknown. ``decoded`` is the path below
    ``mount``.

    >>> recover_from(["/app/ark:12345/a%2Fb"], b"/ark:12345/a/b", "", b"/app").path
    '/ark:12345/a%2Fb'
    """
    path_info = _octets(_origin_form(decoded.decode("latin-1")))
    query_string = _ascii(_octets(query))
    dotted = b"." in path_info and not _DOT_SEGMENTS.isdisjoint(path_info.split(b"/"))
    for raw_target in raw_targets:
        raw = _origin_form(raw_target).partition("#")[0]
        path, mark, query = raw.partition("?")
        dotted = dotted or iri.has_dot_segment(path)
        for below in (_path_below(path, mount), path) if mount else (path,):
            if below and _agree(below, path_info):
                query, path = _ascii(_octets(query)), with_colon(_ascii(_octets(below)))
                if query == query_string:
                    return Target(path, query if mark else None, True, dotted)
                return Target(path, query_string or None, False, dotted)
    return Target(quote_from_bytes(path_info, safe=_PCHAR_AND_SLASH), query_string or None, False, dotted)


def with_colon(path: str) -> str:
    """Return a path or identifier with a plain colon instead of ``%3A`` after ``ark``, ``urn`` and the NID of a URN.
    Many clients encode it (E-07). The rest stays: there, ``%3A`` and a colon make two names.

    >>> with_colon("/ark%3A12345/a%3Ab"), with_colon("urn%3aisbn%3A1"), with_colon("/a/ark%3A12345/x")
    ('/ark:12345/a%3Ab', 'urn:isbn:1', '/a/ark%3A12345/x')
    """
    if "%3" not in path:
        return path
    if (match := _ENCODED_COLON.match(path)) is not None:
        path = f"{match[1]}:{path[match.end() :]}"
    if (match := _ENCODED_AFTER_NID.match(path)) is not None:
        path = f"{match[1]}:{match[2]}:{path[match.end() :]}"
    return path


def mount_path(environ: Mapping[str, Any]) -> str:
    """Return the mount of a WSGI application (``SCRIPT_NAME``) for links: percent-encoded, without a slash at its end.
    Several slashes at its start become one, so that no link leads to another host.

    >>> mount_path({"SCRIPT_NAME": "/a pp"}), mount_path({"SCRIPT_NAME": "//evil.example/"}), mount_path({})
    ('/a%20pp', '/evil.example', '')
    """
    mount = environ.get("SCRIPT_NAME")
    return quoted_mount(_octets(mount)) if mount and isinstance(mount, str) else ""


def quoted_mount(mount: bytes) -> str:
    """Return the decoded path of a mount percent-encoded, as :func:`mount_path` does."""
    mount = mount.strip(b"/")
    # Two slashes at the start would begin an authority.
    return f"/{quote(mount, safe=_PCHAR_AND_SLASH)}" if mount else ""


def _text(environ: Mapping[str, Any], key: str) -> str:
    value = environ.get(key)
    return value if isinstance(value, str) else ""


def _octets(text: str) -> bytes:
    """Return the octets of a WSGI native string (PEP 3333: one per character), or the UTF-8 of another str."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _ascii(octets: bytes) -> str:
    if not octets.isascii():
        octets = _NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], octets)
    return octets.decode("ascii")


def _origin_form(target: str) -> str:
    """Return the target without scheme and authority; "" without a path (``*``, an authority, another scheme)."""
    if target.startswith("/"):
        return target
    absolute = _HTTP_AUTHORITY.match(target)
    if absolute is None:
        return ""
    rest = target[absolute.end() :]
    return rest if rest.startswith("/") else f"/{rest}"


def _path_below(path: str, mount: bytes) -> str:
    """Return the raw path below the mount in any spelling of the mount; "" if the path is not below it."""
    place, seen = 0, b""
    while len(seen) < len(mount) and place < len(path):
        width = 3 if path[place] == "%" else 1
        seen += unquote_to_bytes(_octets(path[place : place + width]))
        place += width
    return path[place:] if seen == mount else ""


def _agree(raw: str, path_info: bytes) -> bool:
    """Return whether a server turns the raw path into ``path_info``. Each alternative is the exact behaviour of some
    servers. A more tolerant comparison would accept a raw target although a middleware has rewritten the path.
    """
    octets = _octets(raw)
    if octets == path_info and b"%" not in octets:
        return True
    decoded = unquote_to_bytes(octets)
    return (
        decoded == path_info
        # waitress merges the slashes at the beginning of a target
        or (octets.startswith(b"//") and b"/" + decoded.lstrip(b"/") == path_info)
        # cheroot, and Apache with "AllowEncodedSlashes NoDecode", keep %2F
        or (b"%2" in octets and path_info in _slashes_left(octets))
        # werkzeug's development server replaces invalid UTF-8 by U+FFFD
        or (b"\xef\xbf\xbd" in path_info and unquote(raw).encode("utf-8", "surrogatepass") == path_info)
    )


def _slashes_left(octets: bytes) -> tuple[bytes, bytes]:
    between = _ENCODED_SLASH.split(octets)
    decoded = [part if _ENCODED_SLASH.fullmatch(part) else unquote_to_bytes(part) for part in between]
    return b"".join(decoded), b"%2F".join(decoded[::2])
