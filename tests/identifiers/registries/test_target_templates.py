"""Target templates: variables are replaced, and flawed templates are reported and never expanded."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.ark import parser as ark
from ararat.identifiers.registries.target_templates import FLAWS, MAX_ADDRESS, TemplateParts, from_base, read
from ararat.identifiers.text import iri

ARK = "ark:/12345/x6np1/c3?q"
HOST = "https://data.museum"


def expand(template: str, text: str = ARK, shoulder: str = ""):
    return read(template).expand(TemplateParts.of(ark.parse(text)), shoulder)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        pytest.param("${content}", "12345/x6np1/c3?q", id="content"),
        pytest.param("${pid}", "ark:/12345/x6np1/c3?q", id="pid"),
        pytest.param("${value}", "x6np1/c3?q", id="value"),
        pytest.param("${prefix}/${value}", "12345/x6np1/c3?q", id="prefix and value"),
        pytest.param("${suffix}", "x6np1/c3?q", id="suffix of a NAAN"),
        pytest.param("${scheme}:${prefix}/${value}", "ark:12345/x6np1/c3?q", id="scheme"),
        pytest.param("$pid", "ark:/12345/x6np1/c3?q", id="pid of N2T"),
        pytest.param("${id}", "12345/x6np1/c3?q", id="id of N2T in braces"),
        pytest.param("ark:$id", "ark:/12345/x6np1/c3?q", id="bare id of N2T brings its slash"),
        pytest.param("ark:/$id", "ark:/12345/x6np1/c3?q", id="but no second one"),
        pytest.param("$nlid", "x6np1/c3?q", id="nlid of N2T"),
        pytest.param("${nlid}", "x6np1/c3?q", id="nlid of N2T in braces"),
        pytest.param("$arkid", "ark:/12345/x6np1/c3?q", id="arkid of N2T"),
        pytest.param("${arkid}", "ark:/12345/x6np1/c3?q", id="arkid of N2T in braces"),
        pytest.param("$arkpid", "ark:/12345/x6np1/c3?q", id="arkpid of N2T"),
        pytest.param("${arkpid}", "ark:/12345/x6np1/c3?q", id="arkpid of N2T in braces"),
    ],
)
def test_every_variable_is_replaced(variable, value):
    assert expand(f"{HOST}/{variable}").address == f"{HOST}/{value}"


def test_the_suffix_follows_the_shoulder():
    assert expand(f"{HOST}/brunner${{suffix}}", "ark:/12345/tkt42/03n01", "tkt42").address == f"{HOST}/brunner/03n01"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param("ark:/12345/x-6-np1?a-b", "ark:/12345/x-6-np1?a-b", id="hyphens stay"),
        pytest.param("ark:/12-345/x%2D6", "ark:/12345/x%2D6", id="but not in the NAAN"),
        pytest.param("ark:12345/x#part", "ark:12345/x", id="a fragment is never sent"),
        pytest.param("ark:12345/x.pdf.en", "ark:12345/x.pdf.en", id="variants keep their order"),
        pytest.param("ark:12345/4\u0431?\u0431", "ark:12345/4%D0%B1?%D0%B1", id="non-ASCII is percent-encoded"),
        pytest.param("ARK:/12345/x", "ark:/12345/x", id="the label in lower case"),
        pytest.param("ark:12345/x?info", "ark:12345/x?info", id="an inflection goes along"),
    ],
)
def test_the_identifier_is_inserted_as_a_resolver_sends_it(text, address):
    assert expand(f"{HOST}/${{pid}}", text).address == f"{HOST}/{address}"


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        pytest.param("w6/a", "/a", id="as registered"),
        pytest.param("w-6-a-b", "-a-b", id="a hyphen inside"),
        pytest.param("%77%36a-b", "a-b", id="percent-encoded"),
        pytest.param("--w6-a", "-a", id="hyphens before"),
        pytest.param("x-6a", "x-6a", id="another shoulder"),
    ],
)
def test_the_suffix_follows_the_shoulder_in_any_spelling(name, suffix):
    assert expand(f"{HOST}/${{suffix}}", f"ark:12345/{name}", "w6").address == f"{HOST}/{suffix}"


@pytest.mark.parametrize(
    ("template", "address"),
    [
        pytest.param("/view?id=${value}&fmt=html", "/view?id=a%2Bb=1~*@_$%26c%23&fmt=html", id="query"),
        pytest.param("/${value}?id=1", "/a+b=1~*@_$%26c%23?id=1", id="path"),
        pytest.param("/?a=1#${value}", "/?a=1#a+b=1~*@_$%26c%23", id="fragment"),
        pytest.param("/x#?${value}", "/x#?a+b=1~*@_$%26c%23", id="question mark in a fragment"),
        pytest.param("/?${prefix}=${value}", "/?12345=a%2Bb=1~*@_$%26c%23", id="second variable of a query"),
    ],
)
def test_a_plus_sign_is_escaped_in_a_query_only(template, address):
    assert expand(HOST + template, "ark:12345/a+b=1~*@_$%26c%23").address == HOST + address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param("ark:/61903/1:1:MW98-MNJ", "ark:/61903/1:1:MW98-MNJ", id="colons"),
        pytest.param("ark:6-1903/x/full/400,/0/a.jpg?x&y#z", "ark:61903/x/full/400,/0/a.jpg?x&y", id="commas"),
    ],
)
def test_a_text_that_is_not_an_ark_is_sent_as_received(text, address):
    assert read(f"{HOST}/${{pid}}").expand(TemplateParts.of_text(text, "61903")).address == f"{HOST}/{address}"
    # A program would read the second part as another parameter.
    assert (
        read(f"{HOST}/?${{value}}").expand(TemplateParts.of_text("ark:61903/a&b", "61903")).address == f"{HOST}/?a%26b"
    )


FLAWED = [
    pytest.param("https://data.museum/ark:/$(content)${pid}", {"unknown-variable", "example-left-in"}, id="$(content)"),
    pytest.param("https://data.museum/ark/$(value)${pid}", {"unknown-variable"}, id="$(value)"),
    pytest.param("https://data.museum/$1${pid}", {"unknown-variable", "glued"}, id="$1"),
    pytest.param("https://data.museum/ark:/$id${pid}", {"doubled-variable"}, id="$id and an appended variable"),
    pytest.param("https://data.museum/${id}${pid}", {"doubled-variable"}, id="${id} and an appended variable"),
    pytest.param("https://data.museum/", {"no-variable"}, id="no variable"),
    pytest.param("https://data.museum/${prefix}", {"no-variable"}, id="the NAAN alone"),
    pytest.param("https://data.museum/ark:12345/x8rd9", {"example-left-in", "no-variable"}, id="an example ARK"),
    pytest.param("https://data.museum/ark:12345", {"example-left-in", "no-variable"}, id="an example NAAN"),
    pytest.param("https://data.museum/ark:YourNAAN/Id.${pid}", {"example-left-in"}, id="YourNAAN"),
    pytest.param("https://data.museum/ark:[MYNAAN]/${pid}", {"example-left-in", "bad-character"}, id="[MYNAAN]"),
    pytest.param("https://data.museum/ark:/BMU/ark:/${content}", {"example-left-in"}, id="a label with something else"),
    pytest.param("https://data.museum/x8rd9${pid}", {"glued"}, id="an example without a label"),
    pytest.param("https://ark.example.org/${pid}", {"reserved-host"}, id="example.org"),
    pytest.param("http://museum.example/${pid}", {"reserved-host"}, id="example"),
    pytest.param("http://localhost:8000/${pid}", {"reserved-host"}, id="localhost"),
    pytest.param("https://data.museum/ark:/ark:/${content}", {"doubled-label"}, id="doubled label"),
    pytest.param("https://data.museum/ark:ark:/${content}", {"doubled-label"}, id="doubled label without a slash"),
    pytest.param("https://data.museum/ark:/${pid}", {"doubled-label"}, id="label and pid"),
    pytest.param("https:///data.museum/ark:/${content}", {"not-web"}, id="empty host"),
    pytest.param("data.museum", {"not-web", "no-variable"}, id="no scheme"),
    pytest.param("ftp://data.museum/${pid}", {"not-web"}, id="another scheme"),
    pytest.param("javascript:alert(1)//${pid}", {"not-web"}, id="no address at all"),
    pytest.param("https://data.museum/${prefix}/${value}  and so \u2192 on", {"bad-character"}, id="prose"),
    pytest.param('https://data.museum/${pid}"', {"bad-character"}, id="stray quotation mark"),
    pytest.param("https://data.museum/%zz/${pid}", {"bad-character"}, id="a broken triplet"),
    pytest.param("https://data.museum/\r\nSet-Cookie:/${pid}", {"bad-character"}, id="line breaks"),
    pytest.param("https://d\u0430ta.museum/${pid}", {"bad-character", "not-web"}, id="a host that is not ASCII"),
    pytest.param("https://arks.org/ark:/${content}", {"loop"}, id="arks.org"),
    pytest.param("https://N2T.net/ark:/${prefix}/${value}", {"loop"}, id="n2t.net"),
    pytest.param("https://arks.org", {"loop", "no-variable"}, id="arks.org alone"),
    pytest.param("https://data.museum${content}", {"variable-in-host"}, id="the ARK in the host"),
    pytest.param("https://${value}.museum/", {"not-web", "variable-in-host"}, id="the ARK as the host"),
    pytest.param("https://user:word@data.museum/${pid}", {"userinfo"}, id="a password"),
    pytest.param("https://data.museum@/${pid}", {"userinfo"}, id="a user without a host"),
    pytest.param("", {"not-web", "no-variable"}, id="nothing"),
]


@pytest.mark.parametrize(("text", "flaws"), FLAWED)
def test_a_flawed_template_is_reported_and_never_expanded(text, flaws):
    template = read(text)
    assert set(template.flaws) == flaws
    assert expand(text) == (None, template.flaws)
    assert template.prefix is None


def test_every_flaw_has_an_example():
    shown = {flaw for row in FLAWED for flaw in read(str(row.values[0])).flaws}
    assert shown == set(FLAWS) - {"dot-segment", "reserved-naan", "surrogate", "too-long"}


@pytest.mark.parametrize(
    "text",
    [
        "https://data.museum/${content}",
        "http://data.museum:8080/ids/ark:${content}",
        "https://data.museum/id/?${pid}",
        "https://data.museum/resolve.php?id=${value}",
        "https://data.museum/spip.php/ark:/${content}?page=57",
        "https://data.museum/start#h.${value}",
        "https://data.museum//park/${value}",
        "HTTPS://Data.Museum/ark:/${prefix}/${value}",
    ],
)
def test_an_unusual_template_has_no_flaw(text):
    assert read(text).flaws == ()
    assert expand(text).address


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("ark:12345/x/%2E%2E/y", "dot-segment", id="dot-segment"),
        pytest.param("ark:12345/" + "x" * MAX_ADDRESS, "too-long", id="too long once expanded"),
        pytest.param("ark:12345/" + "x-" * 10 * MAX_ADDRESS, "too-long", id="beyond all measure"),
    ],
)
def test_an_ark_that_must_not_be_resolved_has_no_address(text, code):
    assert expand(f"{HOST}/${{pid}}", text) == (None, (code,))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        pytest.param("http://data.museum", (302, "http://data.museum/ark:/${content}"), id="a host"),
        pytest.param("http://data.museum/", (302, "http://data.museum/ark:/${content}"), id="with a slash"),
        pytest.param("http://data.museum/ark:", (302, "http://data.museum/ark:${content}"), id="ends in the label"),
        pytest.param("http://data.museum/ark:/", (302, "http://data.museum/ark:/${content}"), id="or its classic form"),
        pytest.param("http://data.museum/?ark=", (302, "http://data.museum/?ark=${pid}"), id="ends in ="),
        pytest.param("http://data.museum/id?", (302, "http://data.museum/id?${pid}"), id="ends in ?"),
        pytest.param("http://d.museum/a.php?b=42", (302, "http://d.museum/a.php/ark:/${content}?b=42"), id="query"),
        pytest.param("http://n2t.net", (302, "http://arks.org/ark:/${content}"), id="n2t.net is arks.org now"),
        pytest.param("http://n2t.network", (302, "http://n2t.network/ark:/${content}"), id="but no other host is"),
        pytest.param("303 http://data.museum", (303, "http://data.museum/ark:/${content}"), id="a status before it"),
        pytest.param("https://d.museum/ark:$id", (302, "https://d.museum/ark:/${content}"), id="a variable"),
        pytest.param("https://d.museum/${nlid}", (302, "https://d.museum/${value}"), id="a variable in braces"),
    ],
)
def test_a_base_url_becomes_a_template(where, expected):
    assert from_base(where) == expected


@pytest.mark.parametrize("where", ["museum.ararat", "N/A", "http//museum.ararat"])
def test_an_invalid_base_url_becomes_a_flawed_template(where):
    assert "not-web" in read(from_base(where)[1]).flaws


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("https://data.museum/ark:/${content}", "https://data.museum"),
        ("https://data.museum/ids/ark:${content}", "https://data.museum/ids"),
        ("https://data.museum/${pid}", "https://data.museum"),
        ("https://data.museum/?id=${pid}", None),
        ("https://data.museum/#${pid}", None),
    ],
)
def test_a_template_contains_a_resolver_prefix(text, prefix):
    assert read(text).prefix == prefix


template_pieces = st.sampled_from(
    ["https://", "data.museum", "/", "ark:", "$", "{", "}", "${content}", "${pid}", "$id", "?", "#", "@", ":", " "]
)


@given(st.lists(template_pieces | st.text(max_size=3), max_size=12).map("".join))
def test_an_expanded_address_is_always_a_web_address(text):
    address, problems = expand(text)
    assert (address is None) is bool(problems)
    assert set(problems) <= set(FLAWS)
    if address is not None:
        assert address.lower().startswith(("http://", "https://"))
        assert address.isascii()
        assert address.isprintable()
        assert " " not in address
        # The host is that of the template, for any ARK.
        assert address.split("/")[2] == text.split("/")[2].split("?")[0].split("#")[0]


# The characters of a Name as ranges: hypothesis needs seconds to find them in one regular expression.
WIDE = st.sampled_from(re.findall("(.)-(.)", iri.UCSCHAR)).flatmap(
    lambda ends: st.characters(min_codepoint=ord(ends[0]), max_codepoint=ord(ends[1]))
)
NAMES = st.text(st.sampled_from(f"{string.ascii_lowercase}{string.digits}%") | WIDE, min_size=1, max_size=9)
QUERIES = st.just("") | st.from_regex(r"\?[a-z]*", fullmatch=True)


@given(st.builds("ark:{}12345/{}{}".format, st.sampled_from(["", "/"]), NAMES, QUERIES))
def test_every_ark_has_an_address_or_a_reason(text):
    try:
        asked = TemplateParts.of(ark.parse(text))
    except ValueError:
        return
    address = read(f"{HOST}/ark:/${{content}}").expand(asked).address
    assert address is None or ark.parse(address.removeprefix(f"{HOST}/")) == ark.parse(text.partition("#")[0])
