from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.targets import MAX_OCTETS, check, check_alternates, is_stored_url, location
from ararat.identifiers.text import characters

STORED = [
    pytest.param("https://example.org/1", "https://example.org/1", id="an address stays as it is"),
    pytest.param(
        "HTTP://Example.ORG:80/A", "http://example.org/A", id="scheme and host in lower case, own port dropped"
    ),
    pytest.param("https://example.org", "https://example.org", id="an empty path stays empty"),
    pytest.param(
        "https://example.org:8443?q=1#f", "https://example.org:8443?q=1#f", id="port, query and fragment stay"
    ),
    pytest.param("https://example.org/a%2fb%2E", "https://example.org/a%2fb%2E", id="triplets stay as written"),
    pytest.param(
        "https://example.org/caf\u00e9?\u043a#\u00e9", "https://example.org/caf%C3%A9?%D0%BA#%C3%A9", id="IRI to URI"
    ),
    pytest.param(
        "https://b\u00fccher.example/", "https://xn--bcher-kva.example/", id="an internationalized host in A-labels"
    ),
    pytest.param("https://[2001:DB8::0:1]:443/", "https://[2001:db8::1]/", id="an IPv6 address in its one spelling"),
    pytest.param("http://192.0.2.7/x", "http://192.0.2.7/x", id="an IPv4 address"),
    pytest.param("http://my_host/x", "http://my_host/x", id="a host without a domain, with an underscore"),
    pytest.param(
        "https://example.org/../a//b", "https://example.org/../a//b", id="the path of an address is its own affair"
    ),
    pytest.param("/", "/", id="the root of this site"),
    pytest.param("/a/b?c#d", "/a/b?c#d", id="a path of this site"),
    pytest.param("/a//b", "/a//b", id="two slashes further on"),
    pytest.param("/caf\u00e9", "/caf%C3%A9", id="a path outside ASCII"),
    pytest.param("/%5Cevil.example", "/%5Cevil.example", id="an encoded backslash is data"),
    pytest.param("/ark:12345/y", "/ark:12345/y", id="another name of this site"),
]

REFUSED = [
    pytest.param("//evil.example/x", "target-relative", id="an address without scheme"),
    pytest.param("/\\evil.example", "target-character", id="a backslash that browsers read as a slash"),
    pytest.param("a/b", "target-relative", id="a path from nowhere"),
    pytest.param("../x", "target-relative", id="a path upwards"),
    pytest.param("?q", "target-relative", id="a query alone"),
    pytest.param(" https://example.org", "target-relative", id="a space before it"),
    pytest.param("example.org/x", "target-relative", id="an address without scheme or slashes"),
    pytest.param("javascript:alert(1)", "target-scheme", id="javascript"),
    pytest.param("data:text/html,x", "target-scheme", id="data"),
    pytest.param("file:///etc/passwd", "target-scheme", id="file"),
    pytest.param("ftp://example.org/x", "target-scheme", id="ftp"),
    pytest.param("JaVaScRiPt://example.org/%0aalert(1)", "target-scheme", id="javascript with an authority"),
    pytest.param("http:example.org", "target-host", id="http without slashes"),
    pytest.param("https:/example.org", "target-host", id="http with one slash"),
    pytest.param("https://", "target-host", id="no host"),
    pytest.param("https:///x", "target-host", id="an empty host"),
    pytest.param("https://:443/x", "target-host", id="a port without host"),
    pytest.param("https://example.org:/x", "target-host", id="an empty port"),
    pytest.param("https://example.org:0/x", "target-host", id="port 0"),
    pytest.param("https://example.org:65536/x", "target-host", id="port 65536"),
    pytest.param("https://example.org:99999999999999/x", "target-host", id="a port without end"),
    pytest.param("https://exa mple.org/", "target-host", id="a space in the host"),
    pytest.param("https://%31%32%37.0.0.1/", "target-host", id="an encoded host"),
    pytest.param("https://2130706433/", "target-host", id="a number as host"),
    pytest.param("https://0x7f.1/", "target-host", id="hexadecimal parts"),
    pytest.param("https://127.1/", "target-host", id="an IPv4 address of two parts"),
    pytest.param(
        "https://\uff11\uff12\uff17.\uff10.\uff10.1x.2/", "target-host", id="fullwidth digits that map to no address"
    ),
    pytest.param("https://-a.example/", "target-host", id="a label that begins with a hyphen"),
    pytest.param("https://a..example/", "target-host", id="an empty label"),
    pytest.param("https://" + "a" * 64 + ".example/", "target-host", id="a label of 64"),
    pytest.param("https://" + "a.b" * 100 + "/", "target-host", id="a host of 300"),
    pytest.param("https://" + "\u00e9." * 500 + "x/", "target-host", id="a long host outside ASCII"),
    pytest.param("https://[::1", "target-host", id="an open bracket"),
    pytest.param("https://[fe80::1%25eth0]/", "target-host", id="a zone"),
    pytest.param("https://[v1.x]/", "target-host", id="a future address"),
    pytest.param("https://user@example.org/", "target-userinfo", id="a user"),
    pytest.param("https://user:secret@example.org/", "target-userinfo", id="a user and password"),
    pytest.param("http://127.0.0.1\\@example.com/", "target-userinfo", id="two hosts, by who reads it"),
    pytest.param("https://example.org/a b", "target-character", id="a space"),
    pytest.param("https://example.org/a\r\nSet-Cookie: x", "target-character", id="a header in the target"),
    pytest.param("https://example.org/a\n", "target-character", id="a line feed at the end"),
    pytest.param("https://example.org/\x00", "target-character", id="NUL"),
    pytest.param("https://example.org/\x85", "target-character", id="a C1 control"),
    pytest.param("https://example.org/\ud800", "target-character", id="half a character"),
    pytest.param("https://example.org/\u202ex", "target-character", id="a right-to-left override"),
    pytest.param("https://example.org/\ufffe", "target-character", id="a noncharacter"),
    pytest.param("https://example.org/<x>", "target-character", id="angle brackets"),
    pytest.param("https://example.org/?a[]=1", "target-character", id="square brackets"),
    pytest.param("https://example.org/a#b#c", "target-character", id="two fragments"),
    pytest.param("https://example.org/100%", "target-character", id="a percent sign alone"),
    pytest.param("https://example.org/%zz", "target-character", id="no hexadecimal digits"),
    pytest.param("/a/../b", "target-dot-segment", id="a dot-segment of this site"),
    pytest.param("/a/%2e%2E/b", "target-dot-segment", id="an encoded one"),
    pytest.param("/.", "target-dot-segment", id="a single dot"),
    pytest.param("https://example.org/" + "a" * 2048, "target-too-long", id="too long"),
    pytest.param("https://example.org/" + "\u00e9" * 400, "target-too-long", id="too long when encoded"),
    pytest.param("", "target-missing", id="nothing"),
]


# ARK-011
@pytest.mark.parametrize(("target", "stored"), STORED)
def test_a_target_is_stored_as_a_uri(target: str, stored: str) -> None:
    assert check(target, "located") == stored
    assert check(stored, "located") == stored


@pytest.mark.parametrize(("target", "code"), REFUSED)
@pytest.mark.parametrize("kind", ["located", "related"])
def test_unsafe_targets_are_refused(target: str, code: str, kind) -> None:
    with pytest.raises(BindingError) as refused:
        check(target, kind)
    assert refused.value.code == code
    assert re.fullmatch(r"[\x20-\x7e\n]+", str(refused.value))


def test_a_refused_character_is_reported_with_its_encoding() -> None:
    with pytest.raises(BindingError, match=r"'\{', which is not allowed here; percent-encode it as %7B"):
        check("https://example.org/{x}", "located")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param(
            "https://example.org/a b", "has a space, which is not allowed here; percent-encode it as %20", id="space"
        ),
        pytest.param(
            "https://example.org/100%", "not followed by two hexadecimal digits; write %25", id="percent sign"
        ),
        pytest.param("https://example.org/\x7f", "has U+007F DELETE, which is not allowed here", id="control"),
        pytest.param("https://example.org/a#b#c", "has '#', which is not allowed here", id="number sign"),
    ],
)
def test_a_wrong_character_is_named_with_its_correction(target: str, message: str) -> None:
    with pytest.raises(BindingError) as refused:
        check(target, "located")
    assert refused.value.message.endswith(message)


def test_a_target_of_the_greatest_length_is_accepted() -> None:
    start = "https://example.org/"
    longest = start + "a" * (MAX_OCTETS - len(start))
    assert check(longest, "located") == longest
    with pytest.raises(BindingError, match="2,049 characters; at most 2,048 bytes"):
        check(longest + "a", "located")


@pytest.mark.parametrize("target", ["/a?b=/../c", "/a#/../c", "/a?b?c#d?e", "https://example.org/a?b?c/d"])
def test_query_and_fragment_of_a_target_can_contain_slashes_and_question_marks(target: str) -> None:
    assert check(target, "located") == target


def test_a_described_name_has_no_target() -> None:
    assert check(None, "described") is None
    with pytest.raises(BindingError) as refused:
        check("https://example.org/", "described")
    assert refused.value.code == "target-unwanted"


def test_all_other_kinds_require_a_target() -> None:
    with pytest.raises(BindingError, match="a served name must have one"):
        check(None, "served")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        pytest.param("https://example.org/x", "target-not-local", id="an address"),
        pytest.param("/ark:12345/x", "reserved-target", id="an ARK"),
        pytest.param("/ARK:/12345/x", "reserved-target", id="an ARK in capitals"),
        pytest.param("/%61rk:12345/x", "reserved-target", id="an encoded label"),
        pytest.param("/ark%3A12345/x", "reserved-target", id="an encoded colon, which a site would see decoded"),
        pytest.param("/urn:isbn:1", "reserved-target", id="a URN"),
    ],
)
def test_a_served_target_is_an_unreserved_path_of_the_site(target: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        check(target, "served")
    assert refused.value.code == code


@pytest.mark.parametrize("path", ["/park:1", "/ar\u212a:1", "/a/ark:12345/x", "/arks"])
def test_an_almost_reserved_path_can_be_served(path: str) -> None:
    assert check(path, "served")


@pytest.mark.parametrize(
    ("target", "prefix", "sent"),
    [
        pytest.param("/a", "https://r.example/app", "https://r.example/app/a", id="a path after the prefix"),
        pytest.param("/a", None, "/a", id="a path without prefix"),
        pytest.param("https://example.org/a", "https://r.example", "https://example.org/a", id="an address as it is"),
    ],
)
def test_location_is_the_target_with_the_prefix(target: str, prefix: str | None, sent: str) -> None:
    assert location(target, prefix) == sent


@pytest.mark.parametrize("stored", ["javascript:alert(1)", "//evil.example", "/a\r\nb", "https://a@b.example/"])
def test_an_invalid_stored_target_is_not_sent(stored: str) -> None:
    with pytest.raises(BindingError):
        location(stored, "https://r.example")


HOSTILE = (
    st.text(st.sampled_from("htps:/\\@?#[]%.-0123456789aAxX\u00e9\u212a\u3002\uff0f\u202e \t\r\n\0\ud800")) | st.text()
)
TARGETS = (
    HOSTILE | HOSTILE.map("https://".__add__) | HOSTILE.map("https://example.org/".__add__) | HOSTILE.map("/".__add__)
)


@given(TARGETS)
def test_every_target_is_refused_or_stored_as_a_safe_uri(target: str) -> None:
    refused, stored = "", None
    try:
        stored = check(target, "located")
    except BindingError as error:
        refused = str(error)
    assert (stored is None) == bool(refused)
    assert not list(characters.hidden_runs(refused.replace("\n", " ")))
    if stored is None:
        return
    assert check(stored, "located") == stored
    assert re.fullmatch(r"[!-~]+", stored)
    assert not re.search(r'[\\"<>^`{|}]', stored)
    if not re.match("/(?!/)", stored):
        parts = urlsplit(stored)
        assert parts.scheme in ("http", "https")
        assert parts.hostname
        assert parts.username is None


PARTS = st.lists(
    st.sampled_from(["/", "?", ".", "..", "a", "~", "%41", "%c3", "%", "%4", "[", "\\", " ", "@", ":8", "{", "\n"])
).map("".join)
ORIGINS = st.sampled_from(
    [
        "https://example.org",
        "http://Example.org:80",
        "HTTPS://b\u00fccher.example:443",
        "http://a@b",
        "http://",
        "https://a..b",
        "http://[::1]",
        "https://0x7f.1",
        "ftp://example.org",
        "http:/a",
        "//example.org",
    ]
)


@given(ORIGINS, PARTS, PARTS)
def test_ascii_urls_are_checked_like_other_urls(origin: str, rest: str, fragment: str) -> None:
    url = f"{origin}{rest}#{fragment}"

    def outcome(target: str) -> tuple[str, str]:
        try:
            return "stored", check(target, "located") or ""
        except BindingError as error:
            return error.code, ""

    first, stored = outcome(url)
    # The expression for ASCII does not match this URL.
    assert outcome(f"{url}\u00e9") == (first, stored and f"{stored}%C3%A9")


# URN-059
def test_selectors_are_stored_in_lower_case_and_sorted() -> None:
    given = {"text/HTML;EN": "/x.en", "de-AT": "/x.de", "application/pdf": "https://Example.org/x.pdf"}
    assert list(check_alternates(given, "located").items()) == [
        ("application/pdf", "https://example.org/x.pdf"),
        ("de-at", "/x.de"),
        ("text/html;en", "/x.en"),
    ]


@pytest.mark.parametrize(
    "selector",
    [
        "",
        "/",
        "text/",
        "text/html;",
        ";en",
        "text/html;q=1",
        "text/html; en",
        "text/html;en;de",
        "e",
        "123",
        "en_US",
        "\u202e",
        "text/html\n",
        "*/*",
        None,
    ],
)
def test_an_invalid_selector_is_refused(selector: str) -> None:
    with pytest.raises(BindingError) as refused:
        check_alternates({selector: "/x"}, "located")
    assert refused.value.code == "alternate-selector"


def test_two_equal_selectors_are_refused() -> None:
    with pytest.raises(BindingError) as refused:
        check_alternates({"en": "/a", "EN": "/b"}, "located")
    assert refused.value.code == "alternate-twice"


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [
        pytest.param("located", "javascript:x", "target-scheme", id="an unsafe scheme"),
        pytest.param("served", "https://example.org", "target-not-local", id="an address for a served name"),
        pytest.param("described", "/x", "target-unwanted", id="a described name"),
        pytest.param("described", None, "target-unwanted", id="a described name, and no target"),
        pytest.param("related", None, "target-missing", id="no target"),
    ],
)
def test_an_alternate_is_validated_like_a_target(kind, target: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        check_alternates({"en": target}, kind)
    assert refused.value.code == code


def test_the_number_of_alternates_is_limited() -> None:
    with pytest.raises(BindingError, match="the binding has 51 alternates; at most 50"):
        check_alternates({f"text/x{number}": "/x" for number in range(51)}, "located")


@pytest.mark.parametrize(
    ("target", "is_stored"),
    [
        ("https://example.org/a?b=c#d", True),
        ("http://example.org", True),
        ("https://xn--caf-dma.example/", True),
        ("HTTPS://example.org/", False),
        ("https://Example.org/", False),
        ("https://example.org:443/", False),
        ("https://me@example.org/", False),
        ("https://example.org/caf\u00e9", False),
        ("https://example.org/a b", False),
        ("https://ex\u202eample.org/", False),
        ("https:///x", False),
        (f"https://example.org/{'x' * 2048}", False),
        ("/about", False),
        ("ftp://example.org/", False),
    ],
)
def test_a_url_in_its_stored_form_is_known(target: str, is_stored: bool) -> None:
    assert [is_stored_url(target) for _ in range(2)] == [is_stored] * 2
    if is_stored:
        assert check(target, "located") == target
