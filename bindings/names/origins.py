"""Convert web origins (scheme, host and port) and resolver prefixes to one spelling."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from ...identifiers.text import iri
from ...identifiers.text.translatable import Translatable
from . import validation
from .errors import PrefixError

# RFC 3986, section 3.2:    authority = [ userinfo "@" ] host [ ":" port ]      port = *DIGIT
# RFC 3986, section 3.2.2:  host = IP-literal / IPv4address / reg-name
#                           IP-literal = "[" ( IPv6address / IPvFuture ) "]"
# The callers refuse userinfo. IPvFuture has no version yet. An empty port is refused.
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]++\]|[^\[\]:@]++)(?::(?P<port>[0-9]{1,5}))?")

# RFC 1123, section 2.1 (LDH rule). "_" is allowed because real hosts have it. Percent-encoding is not allowed, because
# two programs can read two different hosts in it.
_LABEL = re.compile(r"(?!-)[a-z0-9_\-]{1,63}(?<!-)")
# The URL standard reads an IPv4 address in many spellings (127.1, 0x7f.1, 2130706433). Only the dotted quad is allowed.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
"""The ports of the schemes without a port in the address (RFC 9110, section 4.2)."""

# ARK draft, section 7.1:  http-resolver-prefix = (~"http" / ~"https") "://" authority path-abempty
# RFC 3986, section 3.3:   path-abempty = *( "/" segment )      segment = *pchar
_HTTP_RESOLVER_PREFIX = re.compile("(https?)://([^/?#]*+)(.*+)", re.ASCII | re.IGNORECASE | re.DOTALL)
_PATH_ABEMPTY = re.compile(f"(?:/{iri.run(iri.PCHAR, least=0)})*+")


@lru_cache(maxsize=1024)
def normalize_authority(authority: str, scheme: str) -> str:
    r"""Return the host in lower case and ASCII (A-labels), with the port unless it is the default of ``scheme`` ("http"
    or "https"). Raises ValueError with one sentence in ASCII. Source: RFC 3986, 3.2 and 6.2.2; RFC 5891, 5; ARK-090.

    >>> normalize_authority("EXAMPLE.org:443", "https")
    'example.org'
    >>> normalize_authority("b\u00fccher.example:8080", "http"), normalize_authority("[::0:1]", "http")
    ('xn--bcher-kva.example:8080', '[::1]')
    >>> normalize_authority("0x7f.1", "http")
    Traceback (most recent call last):
    ValueError: 0x7f.1 is not an IPv4 address of four decimal numbers
    """
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise ValueError(
            Translatable("%(given)s is not a host, with or without a port", given=validation.quote(authority))
            if authority
            else Translatable("the host is empty")
        )
    host, port = _normalize_host(match["host"]), match["port"]
    if port is None or int(port) == DEFAULT_PORTS[scheme]:
        return host
    if not 1 <= int(port) <= 65535:
        raise ValueError(Translatable("the port %(port)s is not between 1 and 65535", port=port))
    return f"{host}:{int(port)}"


def _normalize_host(host: str) -> str:
    if host.startswith("["):
        return f"[{IPv6Address(host[1:-1])}]"
    # Check the length first: the time of the IDNA conversion grows with the square of the length.
    if len(host) > 253:
        raise ValueError(
            Translatable("the host has %(number)s characters; at most 253 are allowed", number=str(len(host)))
        )
    normal = host.lower() if host.isascii() else _a_labels(host)
    *_, last = labels = normal.split(".")
    if _NUMERIC.fullmatch(last):
        return _ipv4(normal)
    for label in labels:
        if not _LABEL.fullmatch(label):
            shown = validation.quote(host)
            if not label:
                raise ValueError(Translatable("the host %(host)s has an empty label", host=shown))
            raise ValueError(
                Translatable(
                    "the host %(host)s has the invalid label %(label)s", host=shown, label=validation.quote(label)
                )
            )
    return normal


def _a_labels(host: str) -> str:
    try:
        import idna  # its tables take time to load, and few hosts need them
    except ModuleNotFoundError:
        raise ValueError(
            Translatable(
                "the host %(host)s is not ASCII: write it with xn--, or pip install 'ararat[app]'",
                host=validation.quote(host),
            )
        ) from None
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except UnicodeError:  # idna.IDNAError is one
        raise ValueError(
            Translatable("the host %(host)s is not an internationalized domain name", host=validation.quote(host))
        ) from None


def _ipv4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise ValueError(
            Translatable("%(host)s is not an IPv4 address of four decimal numbers", host=validation.quote(host))
        ) from None


def check_prefix(prefix: str) -> str:
    """Check a resolver prefix, the part of a URL before the identifier, and return its stored form: in lower case,
    without the default port and a slash at the end (E-04). Raises :class:`PrefixError` with the code ``prefix-scheme``,
    ``prefix-userinfo``, ``prefix-host`` or ``prefix-path``. Source: ARK draft, section 7.1; ARK-090, ARK-094.

    >>> check_prefix("HTTPS://N2T.net:443/"), check_prefix("http://x.example/a/b")
    ('https://n2t.net', 'http://x.example/a/b')
    >>> try:
    ...     check_prefix("https://x.example/?q")
    ... except PrefixError as error:
    ...     print(error.message)
    a resolver prefix cannot have a query or a fragment
    """
    match = _HTTP_RESOLVER_PREFIX.fullmatch(prefix)
    if match is None:
        raise PrefixError(
            "prefix-scheme",
            Translatable("%(given)s does not begin with http:// or https://", given=validation.quote(prefix))
            if prefix
            else Translatable("the empty text does not begin with http:// or https://"),
        )
    scheme, authority, path = match[1].lower(), match[2], match[3]
    if "@" in authority:
        raise PrefixError("prefix-userinfo")
    try:
        authority = normalize_authority(authority, scheme)
    except ValueError as error:
        raise PrefixError("prefix-host", error.args[0]) from None
    if not _PATH_ABEMPTY.fullmatch(path):
        has_query = "?" in path or "#" in path
        raise PrefixError(
            "prefix-path", Translatable("a resolver prefix cannot have a query or a fragment") if has_query else None
        )
    return f"{scheme}://{authority}{path.removesuffix('/')}"


def join(prefix: str, identifier: str) -> str:
    """Return the URL of an identifier at the resolver with the stored ``prefix``.

    >>> join("https://n2t.net", "ark:12345/x?info")
    'https://n2t.net/ark:12345/x?info'
    """
    return f"{prefix}/{identifier}"
