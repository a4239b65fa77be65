"""Hosts and ports of http addresses, in one spelling: for targets and for resolver prefixes."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from . import validation

# RFC 3986, section 3.2:    authority = [ userinfo "@" ] host [ ":" port ]      port = *DIGIT
# RFC 3986, section 3.2.2:  host = IP-literal / IPv4address / reg-name
#                           IP-literal = "[" ( IPv6address / IPvFuture ) "]"
# Userinfo is refused by those who call; IPvFuture has no version yet; an empty port means no port and is refused too.
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]++\]|[^\[\]:@]++)(?::(?P<port>[0-9]{1,5}))?")

# RFC 1123, section 2.1 (LDH rule); "_" is there because hosts have it. Percent-encoding is not: two programs would read
# two hosts in it.
_LABEL = re.compile(r"(?!-)[a-z0-9_\-]{1,63}(?<!-)")
# The URL standard reads a number here in many spellings (127.1, 0x7f.1, 2130706433); a plain dotted quad has one.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")

_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(maxsize=1024)
def normal(authority: str, scheme: str) -> str:
    """The host in lower case and in ASCII (A-labels), and the port where it is not the scheme's own.

    ``scheme`` is "http" or "https". Raises ValueError, whose text is one sentence in ASCII, for what is no host and
    port.

    Source: RFC 3986, sections 3.2 and 6.2.2; RFC 5891, section 5; ARK-090.

    >>> normal("EXAMPLE.org:443", "https"), normal("b\\u00fccher.example:8080", "http"), normal("[::0:1]", "http")
    ('example.org', 'xn--bcher-kva.example:8080', '[::1]')
    >>> normal("0x7f.1", "http")
    Traceback (most recent call last):
    ValueError: 0x7f.1 is no IPv4 address as it is usually written
    """
    read = _AUTHORITY.fullmatch(authority)
    if read is None:
        raise ValueError(f"{validation.shown(authority) or 'nothing'} is no host, or a host and a port")
    host, port = _host(read["host"]), read["port"]
    if port is None or int(port) == _DEFAULT_PORTS[scheme]:
        return host
    if not 1 <= int(port) <= 65535:
        raise ValueError(f"there is no port {port}")
    return f"{host}:{int(port)}"


def _host(written: str) -> str:
    if written.startswith("["):
        return f"[{IPv6Address(written[1:-1])}]"
    # The bound comes first: what IDNA makes of a long host takes time that grows with its square.
    if len(written) > 253:
        raise ValueError(f"the host has {len(written)} characters, more than 253")
    host = written.lower() if written.isascii() else _a_labels(written)
    *_, last = labels = host.split(".")
    if _NUMERIC.fullmatch(last):
        return _ipv4(host)
    for label in labels:
        if not _LABEL.fullmatch(label):
            raise ValueError(
                f"the host {validation.shown(written)} has the label {validation.shown(label) or '(empty)'}"
            )
    return host


def _a_labels(host: str) -> str:
    import idna  # few hosts need its tables

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except UnicodeError:  # idna.IDNAError is one
        raise ValueError(f"the host {validation.shown(host)} is no internationalized domain name") from None


def _ipv4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise ValueError(f"{validation.shown(host)} is no IPv4 address as it is usually written") from None
