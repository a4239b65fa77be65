"""The order of resolution, without environ and store."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.error_codes import REFUSALS
from ararat.bindings.names.prefixes.rules import RuleMatch
from ararat.middleware import Resolution
from ararat.middleware.resolution.resolver import no_rules, resolve
from ararat.middleware.resolution.settings import Settings

STATUSES = {200, 302, 303, 307, 400, 404, 410, 414}


def code_of(resolution: Resolution) -> str | None:
    return resolution.problem and resolution.problem.code


@pytest.fixture(scope="session")
def store(held, binding):
    return held(
        binding("ark:12345/doc", "https://example.org/doc", metadata={"what": "A document"}),
        binding("ark:12345/doc/deep", "https://example.org/deep"),
        binding("ark:12345/kept", "https://example.org/kept", redirect=307),
        binding("ark:12345/cat", "https://example.org/about-cat", kind="related"),
        binding("ark:12345/idea", kind="described"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/gone", "https://example.org/gone", status="withdrawn", reason="a hoax"),
        binding("ark:12345/gone/part", "https://example.org/part", status="withdrawn"),
        binding("ark:12345/queried", "https://example.org/q?a=b#c"),
        binding("urn:foo:a%2C1", "https://example.org/urn-a"),
        binding("urn:foo:a/b", "https://example.org/slash"),
        binding("urn:foo:served", "/show", kind="served"),
        binding("urn:foo:about", "https://example.org/about", kind="related"),
        binding("urn:foo:idea", kind="described"),
    )


@pytest.fixture
def answer(store):
    def ask(identifier, rules=no_rules, **settings):
        return resolve(identifier, store.fetch, rules, Settings(**settings))

    return ask


# ARK-012, POL-036, POL-039
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status", "outcome", "target"),
    [
        pytest.param("ark:12345/doc", 302, "located", "https://example.org/doc", id="located"),
        pytest.param("ark:12345/kept", 307, "located", "https://example.org/kept", id="located, by 307"),
        pytest.param("ark:12345/cat", 303, "related", "https://example.org/about-cat", id="related (X-02)"),
        pytest.param("ark:12345/idea", 303, "described", None, id="described"),
        pytest.param("ark:12345/page", 200, "served", "/page", id="served"),
        pytest.param("urn:foo:a%2C1", 302, "located", "https://example.org/urn-a", id="URN"),
        pytest.param("urn:foo:a/b", 302, "located", "https://example.org/slash", id="URN that only RFC 8141 takes"),
    ],
)
def test_each_kind_has_its_answer(answer, identifier, status, outcome, target):
    resolution = answer(identifier)
    assert (resolution.status, resolution.outcome, resolution.target) == (status, outcome, target)
    assert resolution.key == identifier
    assert resolution.problem is None


# ARK-091, POL-026
@pytest.mark.one_setup
@pytest.mark.parametrize(
    "spelling",
    [
        "ark:/12345/doc",
        "ARK:12345/doc",
        "ark:12-345/d-o-c",
        "ark:12345/%64oc",
        "ark:12345/doc%2D",
        "ark:%31%32345/doc",
        "ark:12345/doc/",
        "ark:12345/doc?fbclid=1",
    ],
)
def test_every_spelling_gets_the_same_answer(answer, spelling):
    resolution, plain = answer(spelling), answer("ark:12345/doc")
    assert (resolution.status, resolution.target, resolution.key) == (plain.status, plain.target, plain.key)


@pytest.mark.one_setup
@pytest.mark.parametrize("spelling", ["URN:FOO:a%2c1", "urn:Foo:a%2C1?+res", "urn:foo:a%2C1?utm_source=x"])
def test_every_spelling_of_a_urn_gets_the_same_answer(answer, spelling):
    assert answer(spelling).target == "https://example.org/urn-a"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "name", ["ark:12345/doc", "ark:12345/gone", "ark:12345/idea", "ark:12345/page", "urn:foo:a%2C1", "urn:foo:a/b"]
)
@pytest.mark.parametrize("inflection", ["?", "??", "?info", "?%69nfo", "?info&fbclid=1"])
def test_metadata_inflections_return_the_description_of_any_kind(answer, name, inflection):
    resolution = answer(name + inflection)
    assert (resolution.status, resolution.outcome) == (200, "metadata")
    assert resolution.binding.identifier == name


# I-02, I-03
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        pytest.param("ark:12345/doc?foo", "unknown-inflection", id="located"),
        pytest.param("ark:12345/doc?INFO", "unknown-inflection", id="other case"),
        pytest.param("ark:12345/doc???", "unknown-inflection", id="three question marks"),
        pytest.param("ark:12345/doc?a[b]=^", "unknown-inflection", id="no query at all"),
        pytest.param("ark:12345/cat?page=2", "unknown-inflection", id="related"),
        pytest.param("ark:12345/idea?page=2", "unknown-inflection", id="described"),
        pytest.param("urn:foo:a%2C1?page=2", "unknown-inflection", id="URN"),
        pytest.param("ark:12345/nope?info", "not-bound", id="unbound"),
        pytest.param("ark:12345/gone?page=2", "withdrawn", id="withdrawn"),
    ],
)
def test_an_unknown_inflection_gets_404(answer, identifier, code):
    assert answer(identifier).problem.code == code


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "target", "passed"),
    [
        pytest.param("?=q=1", "https://example.org/slash?q=1", "q=1", id="q-component"),
        pytest.param("?=op=map&lat=39.56&lon=-104.85", None, "op=map&lat=39.56&lon=-104.85", id="of RFC 8141"),
        pytest.param("?+r=1?=q=1", "https://example.org/slash?q=1", "q=1", id="after an r-component"),
        pytest.param("?+r", "https://example.org/slash", None, id="r-component alone"),
        pytest.param("?=", "https://example.org/slash", None, id="empty"),
        pytest.param("?=info", "https://example.org/slash?info", "info", id="not an inflection"),
        pytest.param("?=a?=b?+c", "https://example.org/slash?a?=b?+c", "a?=b?+c", id="question marks"),
        pytest.param("?=utm_source=x", "https://example.org/slash?utm_source=x", "utm_source=x", id="not ignored"),
    ],
)
def test_the_q_component_of_a_urn_reaches_the_target_and_the_served_page(answer, query, target, passed):
    found = answer(f"urn:foo:a/b{query}")
    assert (found.status, found.outcome) == (302, "located")
    assert target is None or found.target == target
    served = answer(f"URN:foo:served{query}")
    assert (served.outcome, served.target, served.query) == ("served", "/show", passed)
    assert answer(f"urn:foo:about{query}").outcome == "related"
    assert answer(f"urn:foo:idea{query}").outcome == "described"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "handed_on"),
    [
        ("?page=2", "page=2"),
        ("?page=2&utm_source=x", "page=2"),
        ("?utm_source=x", None),
        ("", None),
        ("?a[b]=%41", "a[b]=%41"),
        ("?+x", "+x"),
    ],
)
def test_a_served_name_passes_other_queries_to_the_site(answer, query, handed_on):
    resolution = answer(f"ark:12345/page{query}")
    assert (resolution.outcome, resolution.query) == ("served", handed_on)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "target"),
    [
        ("ark:12345/doc?page=2", "https://example.org/doc?page=2"),
        ("ark:12345/queried?d=%41", "https://example.org/q?a=b&d=%41#c"),
        ('ark:12345/cat?x=%"<>', "https://example.org/about-cat?x=%25%22%3C%3E"),
        ("ark:12345/doc?gclid=1", "https://example.org/doc"),
    ],
)
def test_forward_query_appends_queries_to_targets(answer, identifier, target):
    assert answer(identifier, forward_query=True).target == target
    assert answer("ark:12345/doc?info", forward_query=True).outcome == "metadata"
    assert answer("ark:12345/idea?x=1", forward_query=True).problem.code == "unknown-inflection"


# URN-024
def test_a_fragment_is_passed_unchanged(answer):
    resolution = answer("urn:foo:a%2C1#S%2f")
    assert resolution.given == "urn:foo:a%2C1#S%2f"
    assert resolution.identifier.fragment == "S%2f"
    # The name is the text without it (U-02).
    assert (resolution.key, resolution.target) == ("urn:foo:a%2C1", "https://example.org/urn-a")


# ARK-101
# ARK-019, ARK-096, ARK-104
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status", "code"),
    [
        pytest.param("ark:99999/doc", 404, "naan-reserved-invalid", id="NAAN 99999"),
        pytest.param("ark:%39-9999/doc?info", 404, "naan-reserved-invalid", id="NAAN 99999 in disguise"),
        pytest.param("ark:12345", 400, "no-name", id="NAAN alone"),
        pytest.param("ark:12345/", 400, "empty-name", id="empty Name"),
        pytest.param("ark://12345/x", 400, "double-slash", id="two slashes"),
        pytest.param("ark:12345/doc//", 400, "empty-segment", id="two slashes at the end"),
        pytest.param("ark:B5072/x", 400, "naan-uppercase", id="NAAN in upper case (A-01)"),
        pytest.param("ark:12345/-", 400, "empty-after-normalization", id="nothing but a hyphen"),
        pytest.param("ark:12345/x/ark:67890/y", 400, "bad-char", id="an ARK below an ARK (E-01)"),
        pytest.param("ark:12345/x%", 400, "bad-percent", id="half a triplet"),
        pytest.param("ark:12345/%2E%2e", 400, "dot-segment", id="encoded dot-segment"),
        pytest.param("ark:12345/.-.", 400, "dot-segment", id="dot-segment by normalization (A-07)"),
        pytest.param("urn:foo:", 400, None, id="URN without a name"),
        pytest.param("urn:f:a", 400, None, id="URN with a short NID"),
        pytest.param("ark:12345/" + "x" * 3491, 414, "too-long", id="too long"),
        pytest.param("ark:" + "^" * 4000, 414, "too-long", id="too long, and never read"),
        pytest.param("urn:foo:" + "x" * 4000, 414, "too-long", id="URN that is too long"),
    ],
)
def test_an_invalid_request_is_refused_without_a_lookup(held, identifier, status, code):
    store = held()
    resolution = resolve(identifier, store.fetch, no_rules, Settings())
    assert (resolution.status, resolution.outcome) == (status, "refused")
    assert code in (None, code_of(resolution))
    assert resolution.identifier is None
    # An invalid byte below an ARK can be below one whose subtree the site serves.
    assert store.asked in ([], [["ark:12345/x"]], [["ark:12345/doc"]])


# ARK-102
@pytest.mark.one_setup
@pytest.mark.vectors("length")
def test_identifiers_within_the_minimum_length_are_never_refused(vector, answer):
    case = vector.input if isinstance(vector.input, dict) else {"configured_limit": 255, "ark": vector.input}
    wire = quote(case["ark"], safe="/:?=")
    assert (answer(wire, max_length=case["configured_limit"]).status != 414) is vector.expect["must_accept"]


def test_a_final_slash_is_ignored_by_default(answer):
    assert answer("ark:12345/doc/?info").outcome == "metadata"
    strict = answer("ark:12345/doc/", ignore_trailing_slash=False)
    assert (strict.status, strict.problem.code) == (400, "trailing-slash")


def test_a_withdrawn_name_gets_its_tombstone(answer):
    resolution = answer("ark:12345/gone")
    assert (resolution.status, resolution.problem.code) == (410, "withdrawn")
    assert resolution.binding.reason == "a hoax"


# Step 7, H-02
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "container"),
    [
        pytest.param("ark:12345/doc/x", "ark:12345/doc", id="component"),
        pytest.param("ark:12345/doc.en", "ark:12345/doc", id="variant"),
        pytest.param("ark:12345/doc/deep/a/b.en", "ark:12345/doc/deep", id="the nearest"),
        pytest.param("ark:12345/doc/" + "x/" * 40 + "y", None, id="too far away"),
        pytest.param("ark:12345/nope", None, id="none"),
        pytest.param("urn:foo:a%2C1/x", None, id="URNs contain nothing"),
    ],
)
def test_an_unbound_name_gets_404_with_its_nearest_container(answer, identifier, container):
    resolution = answer(identifier)
    assert (resolution.status, resolution.problem.code, resolution.container) == (404, "not-bound", container)


def test_a_miss_looks_up_the_nearest_containers_in_one_query(held, binding):
    store = held(binding("ark:12345/x/y", "/there"))
    resolve("ark:12345/x/y", store.fetch, no_rules, Settings())
    assert store.asked == [["ark:12345/x/y"]]
    resolve("ark:12345/x/y/z.en", store.fetch, no_rules, Settings())
    assert store.asked[1:] == [["ark:12345/x/y/z.en"], ["ark:12345/x/y/z", "ark:12345/x/y", "ark:12345/x"]]


def test_a_name_that_is_too_long_to_be_bound_is_not_looked_up(held, binding):
    store = held(binding("ark:12345/x", "/there"))
    resolution = resolve("ark:12345/x/" + "y" * 300, store.fetch, no_rules, Settings())
    assert (resolution.status, resolution.container) == (404, "ark:12345/x")
    assert store.asked == [["ark:12345/x"]]


# Step 4
@pytest.fixture
def below(held, binding):
    """below(identifier) resolves with names that have passthrough."""
    store = held(
        binding("ark:12345/book", "https://example.org/book?v=1#top", passthrough=True, metadata={"what": "A book"}),
        binding("ark:12345/book/2", "https://example.org/second", passthrough=True),
        binding("ark:12345/book/3", "https://example.org/third"),
        binding("ark:12345/book/gone", "https://example.org/gone", passthrough=True, status="withdrawn"),
        binding("ark:12345/cat", "https://example.org/about/cat", kind="related", passthrough=True),
        binding("ark:12345/page", "/page", kind="served", passthrough=True),
        binding("ark:12345/bare", "https://example.org", passthrough=True),
        binding("ark:12345/round", "/ark:12345/round/a", passthrough=True),
        binding("ark:12345/far", "https://r.example/ark:12345/far.b", passthrough=True),
        binding("ark:12345/folder", "https://example.org/f/", passthrough=True),
        binding("ark:12345/p1", "https://example.org/p", passthrough="given"),
        binding("ark:12345/q", "https://example.org/q?v=1#top", passthrough="given", kind="related"),
        binding("ark:12345/q/hidden", "https://example.org/h", passthrough="no"),
        binding("ark:12345/loop", "/ark:12345/loop/a", passthrough="given"),
        binding("ark:12345/here", "/files", kind="served", passthrough="given"),
        binding("ark:12345/past", "https://example.org/past", passthrough="given", status="withdrawn"),
    )

    def ask(identifier, rules=no_rules, **settings):
        return resolve(identifier, store.fetch, rules, Settings(prefix="https://r.example", **settings))

    return ask


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status", "target"),
    [
        pytest.param("ark:12345/book/1", 302, "https://example.org/book/1?v=1#top", id="component"),
        pytest.param("ark:/12345/bo-ok/c-1.b.a", 302, "https://example.org/book/c1.a.b?v=1#top", id="any spelling"),
        pytest.param("ark:12345/book.en", 302, "https://example.org/book.en?v=1#top", id="variant"),
        pytest.param("ark:12345/book/2/1", 302, "https://example.org/second/1", id="the nearest"),
        pytest.param("ark:12345/book/3/1", 302, "https://example.org/book/3/1?v=1#top", id="the nearest that opted in"),
        pytest.param("ark:12345/book/a%2Fb", 302, "https://example.org/book/a%2Fb?v=1#top", id="encoded slash"),
        pytest.param("ark:12345/cat/tail", 303, "https://example.org/about/cat/tail", id="related"),
        pytest.param("ark:12345/page/2", 200, "/page/2", id="served"),
        pytest.param("ark:12345/book/" + "x" * 300, 302, None, id="longer than any bound name"),
    ],
)
def test_passthrough_appends_the_rest_to_the_target(below, identifier, status, target):
    resolution = below(identifier)
    assert resolution.status == status
    assert target is None or resolution.target == target
    assert resolution.container
    assert resolution.binding.identifier == resolution.key


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        pytest.param("ark:12345/bookend", "not-bound", id="no boundary"),
        pytest.param("ark:12345/book/gone/1", "container-withdrawn", id="below a withdrawn name"),
        pytest.param("ark:12345/bare/1", "not-bound", id="target without a path"),
        pytest.param("ark:12345/bare.evil.example", "not-bound", id="target that would get another host"),
        pytest.param("ark:12345/folder.%2E", "not-bound", id="dot-segment in the making"),
        pytest.param("ark:12345/round/b", "target-unusable", id="a circle that grows"),
        pytest.param("ark:12345/far/b", "target-unusable", id="a circle that grows, at the prefix"),
        pytest.param("ark:12345/book/1?page=2", "unknown-inflection", id="unknown inflection"),
    ],
)
def test_an_unsafe_rest_is_not_passed_through(below, identifier, code):
    assert below(identifier).problem.code == code


def test_the_description_of_a_passthrough_name_names_only_the_container(below):
    resolution = below("ark:12345/book/1?info")
    assert (resolution.outcome, resolution.container) == ("metadata", "ark:12345/book")
    assert resolution.binding.metadata == {}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("rest", "target"),
    [
        pytest.param("/my-photo.tar.gz", "/my-photo.tar.gz", id="hyphen and two extensions"),
        pytest.param("/my%2Dphoto.tar.gz", "/my%2Dphoto.tar.gz", id="encoded hyphen"),
        pytest.param("/page.html.en", "/page.html.en", id="order of extensions"),
        pytest.param(".tar.gz", ".tar.gz", id="variants"),
        pytest.param(".tar,gz", ".tar,gz", id="variant with a comma"),
        pytest.param("/uc3/ezid/", "/uc3/ezid/", id="slash at the end"),
        pytest.param("/", "/", id="slash alone"),
        pytest.param("/full/400,/0/default.jpg", "/full/400,/0/default.jpg", id="IIIF width"),
        pytest.param("/full/!200,200/0/default.jpg", "/full/!200,200/0/default.jpg", id="IIIF best fit"),
        pytest.param("/full/pct:50/0/default.jpg", "/full/pct:50/0/default.jpg", id="IIIF percentage"),
        pytest.param("/0,0,100,100/^max/!90/gray.tif", "/0,0,100,100/%5Emax/!90/gray.tif", id="IIIF 3"),
        pytest.param("/a//b", "/a//b", id="empty component"),
        pytest.param("/a'b(1);c&d=[e]", "/a'b(1);c&d=%5Be%5D", id="other characters"),
        pytest.param("/caf%c3%a9%2F", "/caf%c3%a9%2F", id="percent-encoding"),
        pytest.param("?x=%61&y", "?x=%61&y", id="query"),
        pytest.param("/a,b?x=1", "/a,b?x=1", id="path and query"),
        pytest.param("/a.b-c?x=1&utm_source=y", "/a.b-c?x=1", id="tracking parameter"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_passthrough_as_given_changes_nothing_of_the_rest(below, rest, target):
    for name in ("ark:12345/p1", "ark:/12345/p-1", "ARK:12345/%70-1"):
        resolution = below(name + rest)
        assert (resolution.status, resolution.target) == (302, f"https://example.org/p{target}")
    # A query or fragment of the target ends with the rest.
    assert below(f"ark:12345/q{rest}").target == f"https://example.org/q?v=1#top{target}"
    assert below(f"ark:12345/q{rest}").status == 303


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("identifier", "status"),
    [
        pytest.param("ark:12345/p1_extra", 404, id="no boundary"),
        pytest.param("ark:12345/p1,extra", 400, id="no boundary, not an ARK"),
        pytest.param("ark:12345/p1/../x", 400, id="dot-segments"),
        pytest.param("ark:12345/p1/,/%2e%2E/x", 400, id="encoded dot-segments"),
        pytest.param("ark:12345/book/1,2", 400, id="normal passthrough"),
        pytest.param("ark:12345/q/hidden/1,2", 303, id="a nearer name without passthrough"),
        pytest.param("ark:12345/past/1,2", 400, id="below a withdrawn name"),
        pytest.param("ark:12345/past/12", 410, id="an ARK below a withdrawn name"),
        pytest.param("ark:12345/loop/b,c", 404, id="a circle that grows"),
        pytest.param("ark:12345/p1/a,b?info", 400, id="a description of no name"),
        pytest.param("ark:12345/p1?info", 200, id="the description of the name"),
        pytest.param("ark:12345/p1/a-b?", 200, id="the description of a name below it"),
        pytest.param("ark:12345/here/a-b,c.tar.gz/?x", 200, id="served"),
    ],
)
def test_passthrough_as_given_has_limits(below, identifier, status):
    assert below(identifier).status == status


def test_a_served_page_gets_the_rest_as_given(below):
    found = below("ark:12345/here/a-b,c.tar.gz/?x")
    assert (found.outcome, found.target, found.query) == ("served", "/files/a-b,c.tar.gz/", "x")
    assert below("ark:12345/here/").target == "/files/"


def test_forward_query_works_with_passthrough(below):
    found = below("ark:12345/book/1?page=2", forward_query=True)
    assert found.target == "https://example.org/book/1?v=1&page=2#top"
    assert below("ark:12345/page/1?page=2").query == "page=2"


# Steps 3, 5 and 7 in order
def test_a_rule_answers_only_for_unbound_names(answer, binding):
    def rules(identifier):
        return RuleMatch(binding(identifier.basic, f"https://rule.example/{identifier.name}"), "ark:12345/")

    assert answer("ark:12345/nope", rules).target == "https://rule.example/nope"
    described = answer("ark:12345/nope?info", rules)
    assert (described.outcome, described.rule) == ("metadata", "ark:12345/")
    assert answer("ark:12345/doc", rules).rule is None
    assert answer("ark:12345/doc", rules).target == "https://example.org/doc"
    assert answer("ark:99999/nope", rules).status == 404


def test_a_refusal_states_that_the_naan_is_not_served(answer):
    assert (
        answer("ark:67531/x", naans=["12345"]).problem.message
        == "this resolver answers for NAAN 12345, not for NAAN 67531"
    )
    assert answer("ark:12345/nope", naans=["12345"]).problem.message == REFUSALS["not-bound"].title


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("kind", "target"),
    [
        pytest.param("located", "javascript:alert(1)", id="scheme"),
        pytest.param("located", "//evil.example/", id="address without a scheme"),
        pytest.param("located", "https://u:p@example.org/", id="credentials"),
        pytest.param("located", "https://example.org/\r\nSet-Cookie: a=b", id="line break"),
        pytest.param("located", None, id="none"),
        pytest.param("served", "https://example.org/", id="served elsewhere"),
        pytest.param("served", "/ark:12345/other", id="served from a reserved path"),
        pytest.param("located", "/ark:/12345/b-ad", id="itself, as a path"),
        pytest.param("located", "https://r.example/ark:12345/b-ad/", id="itself, at the prefix"),
        pytest.param("located", "http://also.example/r/ark:12345/bad#x", id="itself, at another prefix"),
    ],
)
def test_an_invalid_stored_target_is_refused(held, binding, kind, target):
    store = held(binding("ark:12345/bad", target, kind=kind))
    settings = Settings(prefix="https://r.example", also=["http://also.example/r"])
    resolution = resolve("ark:12345/bad", store.fetch, no_rules, settings)
    assert (resolution.status, code_of(resolution), resolution.target) == (404, "target-unusable", None)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "target", ["/ark:12345/other", "https://r.example/ark:12345/bad?info", "https://n2t.example/ark:12345/bad"]
)
def test_a_target_at_another_name_or_resolver_is_not_a_loop(held, binding, target):
    store = held(binding("ark:12345/bad", target))
    assert resolve("ark:12345/bad", store.fetch, no_rules, Settings(prefix="https://r.example")).target == target


@given(
    st.text(max_size=80)
    | st.text("ark:/12345x.-%2Fe?&#", max_size=60).map("ark:12345/".__add__)
    | st.text("urn:fo%2C?+=/", max_size=40).map("urn:".__add__)
)
def test_every_request_gets_an_answer(store, identifier):
    resolution = resolve(identifier, store.fetch, no_rules, Settings())
    assert resolution.status in STATUSES
    assert (resolution.outcome == "refused") is (resolution.problem is not None)
    assert resolution.key is None or resolution.key.isascii()


@pytest.mark.naughty
def test_no_hostile_identifier_resolves_to_another_binding(naughty, store):
    wire = quote(naughty.input.encode("utf-8", "surrogatepass"), safe=":/?#[]@!$&'()*+,;=%-._~")
    resolution = resolve(wire, store.fetch, no_rules, Settings())
    # An identifier beyond the limit on the wire can always be refused.
    assert resolution.status in naughty.http or (resolution.status == 414 and len(wire) > 3500)
    if naughty.normal and resolution.key:
        assert resolution.key.upper() == naughty.normal.partition("#")[0].partition("?")[0].upper()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("rest", "location"),
    [
        pytest.param("/x.", "https://example.org/pg/x.", id="a dot of the path"),
        pytest.param("/x.tar.", "https://example.org/pg/x.tar.", id="after another one"),
        pytest.param("/x/", "https://example.org/pg/x/", id="a slash"),
        pytest.param(".", "https://example.org/pg", id="the end of a sentence"),
    ],
)
def test_the_rest_below_a_given_name_keeps_its_final_dot(rest, location, binding):
    store = {"ark:12345/pg": binding("ark:12345/pg", "https://example.org/pg", passthrough="given")}

    def fetch(keys):
        return {key: store[key] for key in keys if key in store}

    assert resolve(f"ark:12345/pg{rest}", fetch, no_rules, Settings()).target == location
