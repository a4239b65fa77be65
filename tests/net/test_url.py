from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names import targets
from ararat.bindings.names.origins import check_prefix
from ararat.net.url import MAX_LENGTH, BadURL, WebURL, parse


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("https://n2t.net", WebURL("https", "n2t.net", 443, "/"), id="no-path"),
        pytest.param("HTTP://N2T.NET/X", WebURL("http", "n2t.net", 80, "/X"), id="case"),
        pytest.param("https://n2t.net?info", WebURL("https", "n2t.net", 443, "/?info"), id="query-without-path"),
        pytest.param("https://n2t.net./x", WebURL("https", "n2t.net", 443, "/x"), id="dot-of-the-root"),
        pytest.param("http://h.example:/x", WebURL("http", "h.example", 80, "/x"), id="empty-port"),
        pytest.param("http://h.example:8080/x", WebURL("http", "h.example", 8080, "/x"), id="port"),
        pytest.param("http://h.example:443/", WebURL("http", "h.example", 443, "/"), id="port-of-the-other-scheme"),
        pytest.param("http://a_b.example/", WebURL("http", "a_b.example", 80, "/"), id="underscore"),
        pytest.param("http://r3---sn-x.example/", WebURL("http", "r3---sn-x.example", 80, "/"), id="hyphens-3-and-4"),
        pytest.param("http://b\u00fccher.example/", WebURL("http", "xn--bcher-kva.example", 80, "/"), id="u-label"),
        pytest.param("http://fa\u00df.example/", WebURL("http", "xn--fa-hia.example", 80, "/"), id="not-transitional"),
        pytest.param("http://xn--bcher-kva.example/", WebURL("http", "xn--bcher-kva.example", 80, "/"), id="a-label"),
        pytest.param("http://192.0.2.1/", WebURL("http", "192.0.2.1", 80, "/", IPv4Address("192.0.2.1")), id="ipv4"),
        pytest.param(
            "http://192.0.2.1./", WebURL("http", "192.0.2.1", 80, "/", IPv4Address("192.0.2.1")), id="ipv4-dot"
        ),
        pytest.param(
            "http://[2001:DB9::1]:81/", WebURL("http", "2001:db9::1", 81, "/", IPv6Address("2001:db9::1")), id="ipv6"
        ),
        pytest.param(
            "http://127.0.0.1.example.com/", WebURL("http", "127.0.0.1.example.com", 80, "/"), id="numbers-in-front"
        ),
        pytest.param("http://1.example/", WebURL("http", "1.example", 80, "/"), id="number-in-front"),
        pytest.param("http://0xg.0xfg/", WebURL("http", "0xg.0xfg", 80, "/"), id="not-quite-hexadecimal"),
    ],
)
def test_a_url_is_split_for_a_connection(url, expected):
    assert parse(url) == expected


@pytest.mark.parametrize(
    "target",
    [
        "/a%2Eb/../c/./d",
        "/x?",
        "/x??",
        "/x?info",
        "/a//b",
        "/%E2%80%AE",
        "/a%2Fb",
        "/;p=1?a=/b?c",
        "/%e2%80%ae",
        "/:@!$&'()*+,;=",
    ],
)
def test_the_request_target_is_unchanged(target):
    assert parse(f"https://n2t.net{target}").target == target


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="nothing"),
        pytest.param("//n2t.net/x", id="no-scheme"),
        pytest.param("ftp://n2t.net/", id="another-scheme"),
        pytest.param("httpx://n2t.net/", id="a-scheme-that-begins-alike"),
        pytest.param("http\u017f://n2t.net/", id="long-s"),
        pytest.param("http:n2t.net/", id="no-slashes"),
        pytest.param("http:/n2t.net/", id="one-slash"),
        pytest.param("http:///x", id="no-host"),
        pytest.param("http://:80/", id="port-alone"),
        pytest.param("http://./", id="root"),
        pytest.param("http://a..b/", id="empty-label"),
        pytest.param("http://-a.example/", id="leading-hyphen"),
        pytest.param("http://user@h.example/", id="user"),
        pytest.param("http://@h.example/", id="empty-user"),
        pytest.param("http://h.example#f", id="fragment"),
        pytest.param("http://h.example/x#", id="empty-fragment"),
        pytest.param(" http://h.example/", id="leading-space"),
        pytest.param("http://h.example/ ", id="trailing-space"),
        pytest.param("http://h.example/\n", id="final-newline"),
        pytest.param("http://h.example/\x7f", id="delete"),
        pytest.param("http://h.example/\x85", id="next-line"),
        pytest.param("http://h.example/\u00e9", id="non-ascii-path"),
        pytest.param("http://h.example/%", id="lone-percent"),
        pytest.param("http://h.example/a\\b", id="backslash-in-path"),
        pytest.param("http://h.example/[", id="bracket-in-path"),
        pytest.param("http://h.example:0/", id="port-0"),
        pytest.param("http://h.example:080/", id="port-with-zero"),
        pytest.param("http://h.example:65536/", id="port-too-large"),
        pytest.param("http://h.example:" + "9" * 5000 + "/", id="port-of-5000-digits"),
        pytest.param("http://h.example:\uff18\uff10/", id="fullwidth-port"),
        pytest.param("http://h.example:+80/", id="port-with-sign"),
        pytest.param("http://h.example:80:80/", id="two-ports"),
        pytest.param("http://h%2eexample/", id="percent-in-host"),
        pytest.param("http://h\u200b.example/", id="invisible"),
        pytest.param("http://\u202eh.example/", id="bidi"),
        pytest.param("http://\ud800.example/", id="lone-surrogate"),
        pytest.param("http://[::1%25eth0]/", id="zone"),
        pytest.param("http://[1.2.3.4]/", id="ipv4-in-brackets"),
        pytest.param("http://[::1]x/", id="after-the-bracket"),
        pytest.param("http://2130706433/", id="number"),
        pytest.param("http://0x7f000001/", id="hexadecimal"),
        pytest.param("http://0x/", id="hexadecimal-prefix-alone"),
        pytest.param("http://example.0x7f/", id="hexadecimal-last-label"),
        pytest.param("http://127.0.0.01/", id="octal-last"),
        pytest.param("http://1.2.3.4.5/", id="five-numbers"),
        pytest.param("http://" + "a" * 64 + ".example/", id="label-of-64"),
        pytest.param("http://" + "a." * 127 + "example/", id="name-of-261"),
        pytest.param("http://xn--\u00fc/", id="a-label-that-is-none"),
        pytest.param("http://xn--a/", id="bad-punycode"),
        pytest.param("http://" + "\u00fc" * 63 + ".example/", id="a-label-too-long"),
        pytest.param("http://h.example/" + "a" * MAX_LENGTH, id="too-long"),
    ],
)
def test_an_unusual_url_is_refused_with_an_ascii_text(url):
    with pytest.raises(BadURL) as refused:
        parse(url)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        pytest.param("https://n2t.net:443/", "n2t.net", id="usual-port"),
        pytest.param("http://n2t.net:443/", "n2t.net:443", id="unusual-port"),
        pytest.param("http://[::1]:8000/", "[::1]:8000", id="ipv6"),
        pytest.param("http://127.0.0.1/", "127.0.0.1", id="ipv4"),
    ],
)
def test_the_host_field_contains_an_unusual_port(url, authority):
    assert parse(url).authority == authority


PIECES = st.sampled_from(
    [
        "http://",
        "https:",
        "//",
        "@",
        ":",
        "80",
        "127.0.0.1",
        "a.example",
        "[",
        "]",
        "::1",
        "%",
        "\\",
        "/",
        "?",
        "#",
        "\u3002",
        "0x7f",
        ".",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=8).map("".join))
def test_only_bad_url_is_raised_and_results_are_ascii(url):
    try:
        read = parse(url)
    except BadURL:
        return
    assert read.host.isascii()
    assert not set(read.host) & set(" %@/\\?#[]")
    assert read.target.startswith("/")
    assert 0 < read.port < 65536
    assert parse(f"{read.scheme}://{read.authority}{read.target}") == read


def test_a_long_name_is_refused_before_idna(monkeypatch):
    def too_late(*_: object, **__: object) -> bytes:
        raise AssertionError("idna was asked")

    monkeypatch.setattr("idna.encode", too_late)
    for host in ("\u00fc" * 300, "\u00fc" * 64 + ".example", "xn--" + "a" * 3000, "\u00fc" * 100_000):
        with pytest.raises(BadURL):
            parse(f"http://{host}/")


@given(
    st.lists(
        st.sampled_from([*"aZ.-_:@[]%/", "xn--", "\u00fc", "\u3002", "127.0.0.1", "0x7f", "::1", "80", "443", "0"]),
        max_size=6,
    ).map("".join),
    st.sampled_from(["http", "https"]),
)
def test_a_prefix_a_target_and_a_request_read_one_host(authority, scheme):
    # E-09: a filter of one reader cannot be passed with the host of another one.
    read = set()
    for check in (check_prefix, lambda url: targets.check(url, "located")):
        try:
            read.add((check(f"{scheme}://{authority}/x") or "").removesuffix("/x"))
        except ValueError:
            continue
    try:
        url = parse(f"{scheme}://{authority}/x")
    except BadURL:
        return
    if "/" not in authority:
        assert {each.replace(".:", ":").removesuffix(".") for each in read} <= {f"{scheme}://{url.authority}"}
