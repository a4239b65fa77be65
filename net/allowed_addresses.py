"""Decide which addresses and host names a trace may request (protection against SSRF). A verdict applies to the address
of the connection, never to its spelling.

An IPv4 address is allowed unless the IANA special-purpose registry lists it as not globally reachable. An IPv6 address
is allowed if it is global unicast (2000::/3) and in no special range there. ``is_global`` of Python is not used: it is
true for some forms of 127.0.0.1, such as NAT64, and differs between releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Destinations:
    """The servers to which an operator lets this program send requests. ``networks`` are private networks that are
    allowed, and ``denied`` those that are not, even inside of them. If ``elsewhere`` is False, no request leaves this
    site.
    """

    networks: tuple[Network, ...] = ()
    denied: tuple[Network, ...] = ()
    elsewhere: bool = True


ANYWHERE = Destinations()
"""All public addresses."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range of IP addresses, the name of its purpose, such as "loopback", and the RFC that defines it."""

    network: Network
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class AddressVerdict:
    """Whether a trace may request an address or a host name. ``name`` is the range or rule that decides, such as
    "loopback", or "public".
    """

    allowed: bool
    name: str


def _ranges(*rows: tuple[str, str, str]) -> tuple[Range, ...]:
    return tuple(Range(ip_network(network), name, source) for network, name, source in rows)


# The IANA IPv4 Special-Purpose Address Registry without the globally reachable entries (the AS112 and AMT services),
# which are ordinary servers. Multicast and the address of a cloud come from other registries.
IPV4_REFUSED = _ranges(
    ("0.0.0.0/8", "this network", "RFC 791, section 3.2"),
    ("10.0.0.0/8", "private use", "RFC 1918"),
    ("100.64.0.0/10", "shared address space", "RFC 6598"),
    ("127.0.0.0/8", "loopback", "RFC 1122, section 3.2.1.3"),
    ("168.63.129.16/32", "platform address of a cloud", "Azure virtual networks"),
    ("169.254.0.0/16", "link-local", "RFC 3927"),
    ("172.16.0.0/12", "private use", "RFC 1918"),
    ("192.0.0.0/24", "IETF protocol assignments", "RFC 6890, section 2.1"),
    ("192.0.2.0/24", "documentation (TEST-NET-1)", "RFC 5737"),
    ("192.88.99.0/24", "6to4 relay anycast", "RFC 7526"),
    ("192.168.0.0/16", "private use", "RFC 1918"),
    ("198.18.0.0/15", "benchmarking", "RFC 2544"),
    ("198.51.100.0/24", "documentation (TEST-NET-2)", "RFC 5737"),
    ("203.0.113.0/24", "documentation (TEST-NET-3)", "RFC 5737"),
    ("224.0.0.0/4", "multicast", "RFC 5771"),
    # The limited broadcast address is the last of the reserved ones.
    ("240.0.0.0/4", "reserved", "RFC 1112, section 4"),
)

IPV6_GLOBAL_UNICAST = ip_network("2000::/3")
"""The only part of the IPv6 address space that has global unicast addresses (RFC 4291, section 2.4; IANA)."""

# The first four ranges are inside 2000::/3. The others are outside and refused anyway; they are listed for their names.
# If two ranges overlap, the longer prefix comes first.
IPV6_REFUSED = _ranges(
    ("2001::/23", "IETF protocol assignments (Teredo, benchmarking, ORCHID)", "RFC 2928"),
    ("2001:db8::/32", "documentation", "RFC 3849"),
    ("2002::/16", "6to4", "RFC 3056"),
    ("3fff::/20", "documentation", "RFC 9637"),
    ("::/128", "unspecified", "RFC 4291, section 2.5.2"),
    ("::1/128", "loopback", "RFC 4291, section 2.5.3"),
    ("::ffff:0:0:0/96", "IPv4-translated", "RFC 2765"),
    ("::/96", "IPv4-compatible", "RFC 4291, section 2.5.5.1"),
    ("64:ff9b::/96", "NAT64", "RFC 6052"),
    ("64:ff9b:1::/48", "NAT64, local use", "RFC 8215"),
    ("100::/64", "discard-only", "RFC 6666"),
    ("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
    ("5f00::/16", "segment routing", "RFC 9602"),
    ("fc00::/7", "unique local", "RFC 4193"),
    ("fe80::/10", "link-local", "RFC 4291, section 2.5.6"),
    ("fec0::/10", "site-local", "RFC 3879"),
    ("ff00::/8", "multicast", "RFC 4291, section 2.7"),
)

NAT64 = IPv6Network("64:ff9b::/96")

# Domains without public addresses (RFC 6761 and its successors), and domains that private networks use.
REFUSED_DOMAINS = {
    "localhost": "RFC 6761, section 6.3",
    "invalid": "RFC 6761, section 6.4",
    "test": "RFC 6761, section 6.2",
    "local": "RFC 6762",
    "onion": "RFC 7686",
    "home.arpa": "RFC 8375",
    "arpa": "RFC 3172",
    "internal": "ICANN, reserved for private use",
    "lan": "used inside networks",
}
# Names of the metadata services of clouds, which contain credentials, in public domains.
REFUSED_NAMES = frozenset(
    {"metadata.goog", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com"}
)


def verdict(
    address: str | Address, networks: Sequence[Network] = (), *, denied: Sequence[Network] = (), nat64: bool = False
) -> AddressVerdict:
    """Return whether a trace may request an IP address, with the reason. A text that is not an address is refused.

    ``denied`` ranges are checked first; ``networks`` are allowed despite the table of special ranges. An IPv4-mapped
    IPv6 address is treated as the IPv4 address in it. With ``nat64`` (the network has DNS64), so is an address of the
    well-known NAT64 prefix (RFC 6052, section 2). A zone ("%eth0") is ignored.

    >>> verdict("::ffff:127.0.0.1")
    AddressVerdict(allowed=False, name='loopback')
    >>> verdict("2001:db9::1").allowed, verdict("127.0.0.2", parse_networks(["127.0.0.0/8"])).allowed
    (True, True)
    """
    if isinstance(address, str):
        try:
            address = ip_address(address.partition("%")[0])
        except ValueError:
            return AddressVerdict(False, "not an address")
    if isinstance(address, IPv6Address):
        embedded = address.ipv4_mapped
        if nat64 and address in NAT64:
            embedded = IPv4Address(int(address) & 0xFFFFFFFF)
        address = embedded or address
    if any(address in network for network in denied):
        return AddressVerdict(False, "denied by the operator")
    if any(address in network for network in networks):
        return AddressVerdict(True, "allowed by the operator")
    for refused in IPV4_REFUSED if isinstance(address, IPv4Address) else IPV6_REFUSED:
        if address in refused.network:
            return AddressVerdict(False, refused.name)
    if isinstance(address, IPv6Address):
        if address not in IPV6_GLOBAL_UNICAST:
            return AddressVerdict(False, "not global unicast")
        if _is_isatap(address):
            inner = verdict(IPv4Address(int(address) & 0xFFFFFFFF), networks, denied=denied)
            return inner if inner.allowed else AddressVerdict(False, f"ISATAP, {inner.name}")
    return AddressVerdict(True, "public")


def _is_isatap(address: IPv6Address) -> bool:
    # RFC 5214, section 6.1: the interface identifier is 0:5efe or, for a global IPv4 address, 200:5efe before it.
    return int(address) >> 32 & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE)


def name_verdict(host: str) -> AddressVerdict:
    """Check whether a trace may look up a host name: A-labels in lower case, without a final dot. Names of one label,
    in a non-public domain, and of metadata services are refused. The caller can allow one if the operator allows the
    networks of all its addresses.

    >>> name_verdict("db.internal"), name_verdict("notlocalhost.com").allowed
    (AddressVerdict(allowed=False, name='internal'), True)
    """
    if host in REFUSED_NAMES:
        return AddressVerdict(False, "metadata service of a cloud")
    for domain in REFUSED_DOMAINS:
        if host == domain or host.endswith("." + domain):
            return AddressVerdict(False, domain)
    if "." not in host:
        return AddressVerdict(False, "a single label")
    return AddressVerdict(True, "public")


def parse_networks(texts: Iterable[str | Network]) -> tuple[Network, ...]:
    """Return the networks that texts such as "10.1.0.0/16" or one address describe. Raises ValueError for a text that
    is not a network, or that has bits outside its prefix.

    >>> parse_networks(["10.1.0.0/16", "::1"])
    (IPv4Network('10.1.0.0/16'), IPv6Network('::1/128'))
    """
    networks = []
    for text in texts:
        try:
            networks.append(ip_network(text))
        except ValueError as error:
            raise ValueError(f"{str(text)!a} is not a network in CIDR notation: {str(error)!a}") from None
    return tuple(networks)
