"""URI references: grammar, parts and resolution (RFC 3986, sections 3 to 5). A trace must not change a ``Location``:
nothing is decoded or removed, except dot-segments as in section 5.2. urljoin of the standard library removes a bare
``?`` and some characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..identifiers.text import display
from ..identifiers.text.iri import COMPONENTS, PCHAR, PCT_ENCODED, SUB_DELIMS, UNRESERVED, remove_dot_segments, run
from ..identifiers.text.translatable import Translatable

# RFC 3986, section 3.1:  scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*")
# RFC 3986, section 3.2:  authority = [ userinfo "@" ] host [ ":" port ]
#     userinfo = *( unreserved / pct-encoded / sub-delims / ":" )
#     host = IP-literal / IPv4address / reg-name            port = *DIGIT
#     IP-literal = "[" ( IPv6address / IPvFuture ) "]"      reg-name = *( unreserved / pct-encoded / sub-delims )
# Only the characters of an IP-literal are checked here, not whether it is an address.
_AUTHORITY = re.compile(
    rf"(?:{run(f'{UNRESERVED}{SUB_DELIMS}:', least=0)}@)?"
    rf"(?P<host>\[[{UNRESERVED}{SUB_DELIMS}:]+\]|{run(f'{UNRESERVED}{SUB_DELIMS}', least=0)})"
    r"(?::[0-9]*)?"
)
# RFC 3986, section 3.3:  path-abempty = *( "/" segment )      segment = *pchar      (and similar rules)
_PATH = re.compile(run(f"{PCHAR}/", least=0))
# RFC 3986, sections 3.4 and 3.5:  query = *( pchar / "/" / "?" )      fragment = *( pchar / "/" / "?" )
_QUERY = re.compile(run(f"{PCHAR}/?", least=0))

_FOREIGN = re.compile(rf"(?!{PCT_ENCODED})[^{PCHAR}/?#\[\]]")


class BadReference(ValueError):
    """Raised for a text that is not a URI reference. The message is printable ASCII, with the wrong character."""


@dataclass(frozen=True, slots=True)
class UriReference:
    """The five components of a URI reference, as written. A missing component is None, and an empty one is "".

    >>> parse("/a?").query, parse("/a").query
    ('', None)
    """

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        # RFC 3986, section 5.3: "we are careful to preserve the distinction between a component that is undefined [...]
        # and a component that is empty"
        return (
            (f"{self.scheme}:" if self.scheme is not None else "")
            + (f"//{self.authority}" if self.authority is not None else "")
            + self.path
            + (f"?{self.query}" if self.query is not None else "")
            + (f"#{self.fragment}" if self.fragment is not None else "")
        )

    @property
    def is_relative(self) -> bool:
        """Whether the URI reference is relative, such as ``/a``: it has no scheme."""
        return self.scheme is None

    @property
    def is_web(self) -> bool:
        """True for an absolute URL with the scheme http or https, in any case."""
        return self.scheme is not None and self.scheme.lower() in ("http", "https")

    @property
    def host(self) -> str:
        """The host of the URI in lower case, without user information and port; "" without a valid authority."""
        found = _AUTHORITY.fullmatch(self.authority or "")
        return found["host"].lower() if found else ""

    def without_fragment(self) -> UriReference:
        """Return the URI reference without ``#`` and the text after it."""
        return replace(self, fragment=None)


def parse(text: str) -> UriReference:
    """Parse a URI reference: a URI, or a relative reference. The time is linear in the length of ``text``.

    Raises :class:`BadReference` for a character that the grammar does not allow, such as a space, a backslash, or one
    outside ASCII. Source: RFC 3986, section 4.1 and appendix A; RFC 9110, section 10.2.2 (``Location =
    URI-reference``).

    >>> parse("../a?#f")
    UriReference(scheme=None, authority=None, path='../a', query='', fragment='f')
    >>> parse("/a b")
    Traceback (most recent call last):
    ararat.net.uri.BadReference: a space at index 2 is not allowed in a URI
    """
    if foreign := _FOREIGN.search(text):
        raise BadReference(
            Translatable(
                "%(character)s at index %(index)s is not allowed in a URI",
                character=display.describe_character(foreign[0]),
                index=foreign.start(),
            )
        )
    found = COMPONENTS.fullmatch(text)
    if found is None:
        raise BadReference(Translatable("a second # is not allowed in a URI"))
    for name, production in _PRODUCTIONS.items():
        component = found[name]
        if component is not None and production.fullmatch(component) is None:
            raise BadReference(
                Translatable(
                    "the %(component)s is not valid in a URI: %(text)s",
                    component=name,
                    text=display.escape(component[:40]),
                )
            )
    return UriReference(found["scheme"], found["authority"], found["path"], found["query"], found["fragment"])


class Opened(NamedTuple):
    """A Location as browsers open it: its URL, and the first character outside ASCII, read as UTF-8, or None."""

    url: str
    meaning: str | None


def opened_by_browsers(text: str) -> Opened | None:
    """Return a URI reference as browsers read it, or None if they do not open it. ``text`` has a character per octet.
    Spaces around it are removed, octets outside ASCII and spaces are percent-encoded, and a backslash is a slash.
    Source: https://url.spec.whatwg.org/#url-parsing

    >>> opened_by_browsers("/caf\\u00c3\\u00a9").url, opened_by_browsers(" /a b\\\\c").url
    ('/caf%C3%A9', '/a%20b/c')
    >>> opened_by_browsers("/a\\x00"), opened_by_browsers("")
    (None, None)
    """
    before, mark, rest = text.strip(" ").partition("?")
    try:
        octets = (before.replace("\\", "/") + mark + rest).encode("latin-1")
    except UnicodeEncodeError:
        return None
    if any(octet < 0x20 or octet == 0x7F for octet in octets):
        return None
    url = "".join(chr(octet) if 0x20 < octet < 0x7F else f"%{octet:02X}" for octet in octets)
    try:
        found = parse(url)
    except BadReference:
        return None
    if not url or not (found.is_relative or found.is_web):
        return None
    try:
        meaning = "".join(re.findall("[^\x00-\x7f]", octets.decode("utf-8")))
    except UnicodeDecodeError:
        meaning = ""
    return Opened(url, display.describe_character(meaning[0]) if meaning else None)


def resolve(base: UriReference, reference: UriReference) -> UriReference:
    """Resolve ``reference`` against ``base``, which must have a scheme. An absolute reference is returned unchanged
    (R-02), as the server sent it. A relative one loses its dot-segments (RFC 3986, sections 5.2.2 to 5.2.4).

    >>> str(resolve(parse("https://n2t.net/ark:12345/x?info"), parse("../a/./b?")))
    'https://n2t.net/a/b?'
    >>> str(resolve(parse("https://n2t.net/x"), parse("http://example.org/a/../b")))
    'http://example.org/a/../b'
    """
    if not reference.is_relative:
        return reference
    if reference.authority is not None:
        return replace(reference, scheme=base.scheme, path=remove_dot_segments(reference.path))
    path, query = reference.path, reference.query
    if path == "":
        path, query = base.path, query if query is not None else base.query
    else:
        path = remove_dot_segments(path if path.startswith("/") else _merge(base, path))
    return UriReference(base.scheme, base.authority, path, query, reference.fragment)


def _merge(base: UriReference, path: str) -> str:
    # RFC 3986, section 5.2.3: "If the base URI has a defined authority component and an empty path, then return a
    # string consisting of "/" concatenated with the reference's path"
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path.rpartition("/")[0] + "/" + path if "/" in base.path else path


_PRODUCTIONS = {"scheme": _SCHEME, "authority": _AUTHORITY, "path": _PATH, "query": _QUERY, "fragment": _QUERY}
