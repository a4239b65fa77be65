from __future__ import annotations

import json
import shutil
import subprocess
import sys
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.net import allowed_addresses
from ararat.net.allowed_addresses import (
    IPV4_REFUSED,
    IPV6_GLOBAL_UNICAST,
    IPV6_REFUSED,
    REFUSED_DOMAINS,
    REFUSED_NAMES,
    name_verdict,
    parse_networks,
    verdict,
)

HOSTILE = Path(__file__).parents[1] / "data" / "hostile"

ranges = pytest.mark.parametrize(
    "refused", [pytest.param(row, id=str(row.network)) for row in (*IPV4_REFUSED, *IPV6_REFUSED)]
)


@ranges
def test_the_first_and_the_last_address_of_a_range_are_refused(refused):
    for address in (refused.network[0], refused.network[-1]):
        assert verdict(address).allowed is False
        assert verdict(str(address)) == verdict(address)


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(row, id=str(row.network))
        for row in (*IPV4_REFUSED, *IPV6_REFUSED)
        # The next refused range begins at the end of these ranges.
        if str(row.network) not in ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "2001::/23")
        and (row.network.version == 4 or row.network[0] in IPV6_GLOBAL_UNICAST)
    ],
)
def test_the_addresses_around_a_range_are_not_refused_with_it(refused):
    assert verdict(refused.network[0] - 1).allowed is True
    assert verdict(refused.network[-1] + 1).allowed is True


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        pytest.param("1.0.0.0", True, id="after 0.0.0.0/8"),
        pytest.param("223.255.255.255", True, id="before 224.0.0.0/4"),
        pytest.param("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True, id="before 2001::/23"),
        pytest.param("2001:200::", True, id="after 2001::/23"),
        pytest.param("255.255.255.255", False, id="the end of 240.0.0.0/4"),
    ],
)
def test_adjacent_ranges_are_refused(text, allowed):
    assert verdict(text).allowed is allowed


EVERY_END = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("addresses", sys.argv[1])
sys.modules["addresses"] = addresses = importlib.util.module_from_spec(spec)
spec.loader.exec_module(addresses)
for refused in (*addresses.IPV4_REFUSED, *addresses.IPV6_REFUSED):
    first, last = refused.network[0], refused.network[-1]
    near = [end for end in (int(first) - 1, int(last) + 1) if 0 <= end < 2**first.max_prefixlen]
    for address in (first, last, *map(type(first), near)):
        print(address, addresses.verdict(str(address)))
for text in sys.argv[2:]:
    print(ascii(text), addresses.verdict(text))
"""


def python(version: str) -> str | None:
    """Return a Python of this version: on the path, or one of pyenv."""
    found = [shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for each in filter(None, found):
        asked = [each, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, check=False, text=True).stdout.strip() == version:
            return each
    return None


def test_all_supported_python_versions_agree(monkeypatch, capsys):
    texts = [*literals("ssrf-hosts.txt"), *literals("ssrf-allowed.txt")]
    arguments = ["-c", EVERY_END, allowed_addresses.__file__, *texts]
    running = f"3.{sys.version_info.minor}"
    others = {version: python(version) for version in ("3.11", "3.12", "3.13") if version != running}
    found = {
        version: subprocess.run([each, *arguments], capture_output=True, check=True, text=True).stdout
        for version, each in others.items()
        if each is not None
    }
    monkeypatch.setattr(sys, "argv", arguments[:1] + arguments[2:])
    monkeypatch.setitem(sys.modules, "addresses", None)
    exec(EVERY_END, {})
    own = capsys.readouterr().out
    assert found == dict.fromkeys(found, own)
    assert len(own.splitlines()) > 200


@ranges
def test_every_range_has_a_name_and_a_source(refused):
    assert refused.name
    assert refused.source
    assert verdict(refused.network[-1]).name == refused.name


@pytest.mark.parametrize("text", ["1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "200::1", "8000::1"])
def test_ipv6_outside_global_unicast_is_refused(text):
    assert verdict(text).allowed is False


@pytest.mark.parametrize(
    "text", ["2000::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "2003::", "3fff:1000::"]
)
def test_ipv6_in_global_unicast_is_allowed_outside_special_ranges(text):
    assert verdict(text).allowed is True


@given(st.ip_addresses(v=4))
def test_an_ipv4_mapped_address_is_checked_as_ipv4(address):
    assert verdict(IPv6Address(f"::ffff:{address}")) == verdict(address)


@given(st.ip_addresses(v=4))
def test_other_embedded_ipv4_addresses_are_refused(address):
    number = int(address)
    forms = {
        "compatible": number,
        "translated": 0xFFFF << 48 | number,
        "NAT64": 0x64FF9B << 96 | number,
        "NAT64, local": 0x64FF9B_0001 << 80 | number,
        "6to4": 0x2002 << 112 | number << 80 | 1,
        "Teredo": 0x20010000 << 96 | number,
    }
    assert {name for name, form in forms.items() if verdict(IPv6Address(form)).allowed} == set()


@given(st.ip_addresses(v=4))
def test_a_nat64_address_is_checked_as_ipv4(address):
    assert verdict(IPv6Address(0x64FF9B << 96 | int(address)), nat64=True) == verdict(address)


@given(st.ip_addresses(v=4))
def test_ipv4_is_refused_exactly_in_the_listed_ranges(address):
    assert verdict(address).allowed is not any(address in row.network for row in IPV4_REFUSED)


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.1", "0x7f000001", "256.1.1.1", "1.1.1.1 ", "[::1]", "\uff11.1.1.1"]
)
def test_an_invalid_address_is_refused(text):
    assert verdict(text).allowed is False


@pytest.mark.parametrize("text", ["fe80::1%eth0", "::1%lo", "::ffff:127.0.0.1%lo"])
def test_an_address_with_a_zone_is_refused(text):
    assert verdict(text).allowed is False


def test_an_allowed_network_takes_precedence_over_the_table():
    networks = parse_networks(["127.0.0.0/8", "fd00::/8"])
    for text in ("127.0.0.1", "127.255.255.255", "::ffff:127.0.0.1", "fd00::1"):
        assert verdict(text, networks).allowed is True
    for text in ("126.0.0.0", "10.0.0.1", "::1", "fc00::1"):
        assert verdict(text, networks) == verdict(text)


def test_networks_are_parsed_from_cidr_notation():
    found = parse_networks(["10.0.0.0/8", "192.0.2.1", IPv6Network("fd00::/8")])
    assert found == (IPv4Network("10.0.0.0/8"), IPv4Network("192.0.2.1/32"), IPv6Network("fd00::/8"))


@pytest.mark.parametrize("text", ["10.0.0.1/8", "everything", "10.0.0.0/33", "", "\u202e"])
def test_an_invalid_network_is_reported(text):
    with pytest.raises(ValueError, match="is not a network in CIDR notation") as error:
        parse_networks([text])
    assert str(error.value).isascii()


@pytest.mark.parametrize("domain", [*REFUSED_DOMAINS, *REFUSED_NAMES])
def test_a_name_that_is_never_public_is_refused(domain):
    assert name_verdict(domain).allowed is False


@pytest.mark.parametrize("domain", REFUSED_DOMAINS)
def test_names_below_a_private_domain_are_refused(domain):
    assert name_verdict(f"a.b.{domain}").allowed is False
    assert name_verdict(f"a.not{domain.rpartition('.')[2]}").allowed is True


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        pytest.param("intranet", False, id="one-label"),
        pytest.param("ip6-localhost", False, id="hosts-file"),
        pytest.param("metadata.google.internal", False, id="metadata"),
        pytest.param("test.example.com", True, id="refused-word-in-front"),
        pytest.param("metadata.example.com", True, id="metadata-elsewhere"),
        pytest.param("localhost.example", True, id="localhost-in-front"),
    ],
)
def test_names_are_compared_label_by_label(host, allowed):
    assert name_verdict(host).allowed is allowed


def literals(name: str) -> list[str]:
    rows = [line.split("\t") for line in (HOSTILE / name).read_text("ascii").splitlines() if not line.startswith("#")]
    hosts = [
        json.loads(f'"{row[0]}"')
        for row in rows
        if row[1] in ("v4", "v6", "v4-range", "v6-range", "v4-in-v6", "metadata")
    ]
    return [host.strip("[]") for host in hosts]


@pytest.mark.parametrize("text", literals("ssrf-allowed.txt"), ids=ascii)
def test_public_addresses_are_allowed(text):
    assert verdict(text).allowed is True


@pytest.mark.parametrize("text", literals("ssrf-hosts.txt"), ids=ascii)
def test_hostile_addresses_are_refused(text):
    assert verdict(text).allowed is False
    assert isinstance(ip_address(text), IPv4Address | IPv6Address)


@pytest.mark.parametrize("identifier", ["0:5efe", "200:5efe"], ids=["private", "global"])
@pytest.mark.parametrize(
    ("inner", "name"),
    [
        pytest.param("127.0.0.1", "ISATAP, loopback", id="loopback"),
        pytest.param("10.0.0.1", "ISATAP, private use", id="private"),
        pytest.param("169.254.169.254", "ISATAP, link-local", id="metadata"),
        pytest.param("8.8.8.8", None, id="public"),
    ],
)
def test_an_isatap_address_is_checked_as_ipv4(identifier, inner, name):
    judged = verdict(f"2001:4860::{identifier}:{inner}")
    assert (judged.allowed, judged.name) == ((True, "public") if name is None else (False, name))


def test_an_isatap_address_in_an_allowed_network_is_allowed():
    address = "2001:4860::5efe:10.0.0.1"
    assert verdict(address, parse_networks(["2001:4860::/32"])).allowed
    assert verdict(address, parse_networks(["10.0.0.0/8"])).allowed
    assert not verdict(address, parse_networks(["10.0.0.0/8"]), denied=parse_networks(["10.0.0.1"])).allowed


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "::ffff:8.8.8.8", "2001:4860:64::a00:1"], ids=["IPv4", "mapped", "NAT64 of this network"]
)
def test_a_denied_network_takes_precedence(address):
    denied = parse_networks(["8.8.8.8", "2001:4860:64::/96"])
    assert verdict(address).allowed
    for networks in ((), parse_networks(["8.0.0.0/8", "2001:4860::/32"])):
        assert verdict(address, networks, denied=denied) == allowed_addresses.AddressVerdict(
            False, "denied by the operator"
        )


def test_the_nat64_prefix_for_local_use_is_refused():
    assert not verdict("64:ff9b:1::10.0.0.1").allowed
    assert not verdict("64:ff9b:1:ffff::8.8.8.8", nat64=True).allowed
