"""The IRI policy: namespaces by two grammars, hierarchy, allocatability, shoulders, equivalence classes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine, iri_policy
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.iri_policy import FINDINGS, AllocationFacts, evaluate, evaluate_all
from ararat.identifiers.iri_policy.iri_parts import first_fault, normal_form
from ararat.identifiers.iri_policy.segments import language_fault

P = iri_policy.built_in("17beta")
SITE = "https://17beta.top"
UUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

texts = st.one_of(
    st.text(max_size=60),
    st.text("aAeEbBxX019-_~.:/?#%\u00e9\u202e\ud800", max_size=40).map(f"{SITE}/".__add__),
    st.from_regex(r"https?://(www\.)?17beta\.top(/[a-z0-9.~_%:-]{0,5}){0,5}", fullmatch=True),
)


@pytest.mark.vectors("policy-hierarchy")
def test_components_are_a_slash_and_the_segments(vector):
    assert list(iri_policy.components(vector.input)) == vector.expect["components"]


@pytest.mark.vectors("policy-parents")
def test_parents_have_fewer_components(vector):
    assert list(iri_policy.parents(vector.input)) == vector.expect["parents"]


@pytest.mark.vectors("policy-lint")
def test_iris_are_allocatable_as_the_vectors_state(vector):
    verdict = evaluate(vector.input, P)
    assert (verdict.allocatable, list(verdict.codes)) == (vector.expect["allocatable"], vector.expect["codes"])


@pytest.mark.vectors("policy-namespace")
def test_namespaces_of_both_grammars_agree_with_the_vectors(vector):
    assert list(iri_policy.namespaces(vector.input, P)) == vector.expect["namespaces"]
    assert list(iri_policy.printed_grammar(P).matching(vector.input)) == vector.expect.get("literal_abnf", [])


@pytest.mark.vectors("reserved-iri")
def test_reserved_paths_agree_with_the_vectors(vector):
    assert (iri_policy.printed_grammar(P).reserved.fullmatch(vector.input) is not None) == vector.expect["literal"]
    assert iri_policy.is_reserved(vector.input, P) == vector.expect["decided"]


@pytest.mark.vectors("shoulder")
def test_shoulders_agree_with_the_vectors(vector):
    found = iri_policy.shoulder(ark.parse(vector.input), P)
    assert found == (vector.expect["shoulder"], vector.expect.get("reserved", False))


@pytest.mark.vectors("policy-equivalence-class")
def test_an_ark_is_equivalent_under_each_resolver(vector):
    members = iri_policy.equivalence_class(vector.input, P)
    assert list(members) == vector.expect["members"]
    assert {iri_policy.equivalence_class(member, P) for member in members} == {members}


# ARK-002, POL-042, POL-049, POL-053
@pytest.mark.parametrize(
    ("iri", "namespaces", "literal"),
    [
        pytest.param("https://17beta.topen/x", ("miscellaneous",), ("language",), id="no slash, by the letter (P-01)"),
        pytest.param(f"{SITE}/x-klingon", ("language",), (), id="private tag"),
        pytest.param(f"{SITE}/bcd", ("language",), (), id="three letters are not opaque"),
        pytest.param(f"{SITE}/BCD/x", ("language",), (), id="not in upper case"),
        pytest.param(f"{SITE}/12?q#f", ("opaque",), ("opaque",), id="digits and a tail"),
        pytest.param(f"{SITE}/b1_", ("miscellaneous",), (), id="a misc and nothing after it"),
        pytest.param(f"{SITE}/b/1", ("miscellaneous",), (), id="opaque has no second segment"),
        pytest.param("https://n2t.net/ark:12345", ("miscellaneous",), ("opaque",), id="no NAAN, by the letter (P-04)"),
        pytest.param("https://n2t.net/bcdf", ("miscellaneous",), (), id="only for ARKs elsewhere"),
        pytest.param(f"{SITE}/g81d4fae{UUID[8:]}", ("miscellaneous",), ("uuid",), id="G is not a digit (P-02)"),
        pytest.param(f"urn:uuid:{UUID}", ("uuid",), ("uuid",), id="a UUID as URN"),
        pytest.param(f"{SITE}/20201004T120000Z", ("datetime",), (), id="a time; prefix is defined nowhere (P-05)"),
        pytest.param(f"{SITE}/20201004T120000.12345678Z", ("miscellaneous",), (), id="eight digits of a second"),
        pytest.param(f"{SITE}/~ksenia", ("personal",), ("personal",), id="a home page"),
        pytest.param("HTTPS://17BETA.TOP/en", ("language",), (), id="ABNF strings have no case"),
        pytest.param("https://example.org/en", ("miscellaneous",), (), id="another host"),
        pytest.param(f"{SITE}/bcdfg-{'0' * 20}-cccccccccccc", ("opaque",), ("opaque",), id="groups of digits"),
    ],
)
def test_namespaces_of_further_iris(iri, namespaces, literal):
    assert iri_policy.namespaces(iri, P) == namespaces
    assert iri_policy.printed_grammar(P).matching(iri) == literal


# POL-012, POL-024, POL-038, POL-047
@pytest.mark.parametrize("code", [code for code, known in FINDINGS.items() if known.example is not None])
def test_the_example_of_a_code_has_that_finding(code):
    found = {each.code: each for each in evaluate(FINDINGS[code].example or "", P).findings}
    assert code in found
    assert found[code].severity == FINDINGS[code].severity


@pytest.mark.parametrize(
    ("iri", "codes"),
    [
        pytest.param("ark:20206/730591", ("naan-foreign",), id="of another organization"),
        pytest.param("https://n2t.net/ark:20206/730591", ("naan-foreign",), id="at a resolver of the profile"),
        pytest.param("ark:99999/fk4x", ("naan-reserved-invalid",), id="for tests"),
        pytest.param("ark:21206/730591", (), id="its own"),
        pytest.param("ark:12345/10015", (), id="in the list naans"),
        pytest.param("https://example.org/ark:20206/1", (), id="at another resolver"),
    ],
)
def test_a_list_to_allocate_has_only_naans_of_the_policy(iri, codes):
    own = iri_policy.Profile.of(P.as_dict() | {"naans": ["12345"]})
    assert [each.codes for each in evaluate_all([iri], own)] == [codes]
    assert evaluate(iri, own).codes == ()


def test_without_a_naan_only_the_one_for_tests_is_reported():
    plain = iri_policy.Profile("plain", ("example.org",))
    iris = ["https://example.org/ark:/67890/x", "https://example.org/ark:/99999/x", "ark:67890/x", "ark:99999/x"]
    assert [each.codes for each in evaluate_all(iris, plain)] == [
        (),
        ("naan-reserved-invalid",),
        (),
        ("naan-reserved-invalid",),
    ]


@pytest.mark.parametrize(
    ("iri", "status", "codes"),
    [
        pytest.param(f"{SITE}/ark:21206/10015", 301, ("permanent-redirect",), id="an ARK"),
        pytest.param(f"{SITE}/urn:example:a", 308, ("permanent-redirect",), id="a URN"),
        pytest.param(f"{SITE}/id/17", 301, ("permanent-redirect",), id="below a path of the profile"),
        pytest.param(f"{SITE}/id/17", 303, (), id="temporary"),
        pytest.param(f"{SITE}/idea", 301, (), id="another path"),
    ],
)
def test_names_and_paths_of_the_profile_redirect_for_a_time(iri, status, codes):
    own = iri_policy.Profile.of(P.as_dict() | {"temporary_paths": ["/id/"], "namespaces": []})
    assert evaluate(iri, own, AllocationFacts(status=status)).codes == codes


@pytest.mark.parametrize("code", FINDINGS)
def test_codes_are_kebab_case_and_texts_are_ascii(code):
    known = FINDINGS[code]
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", code)
    for words in (known.title, known.expected, known.reference):
        assert words
        assert words.isascii()


@pytest.mark.parametrize(
    ("known", "iri", "code"),
    [
        pytest.param(AllocationFacts(documented=False), f"{SITE}/en", "undocumented", id="POL-002"),
        pytest.param(AllocationFacts(persistent=True), f"{SITE}/en", "persistent-not-ark", id="POL-017"),
        pytest.param(
            AllocationFacts(persistent=True, availability="month"), "ark:21206/1b", "availability-statement", id="018"
        ),
        pytest.param(AllocationFacts(persistent=True), "ark:21206/1b", None, id="POL-018 default"),
        pytest.param(
            AllocationFacts(persistent=True, published=False, availability="month"), "ark:21206/1b", None, id="POL-020"
        ),
        pytest.param(AllocationFacts(status=301), "ark:21206/1b", "permanent-redirect", id="POL-035"),
        pytest.param(AllocationFacts(status=307), "ark:21206/1b", None, id="POL-036"),
        pytest.param(
            AllocationFacts(information=False), f"{SITE}/en#me", "non-information-fragment", id="POL-039 fragment"
        ),
        pytest.param(
            AllocationFacts(information=False, status=302), f"{SITE}/en", "non-information-status", id="POL-039"
        ),
        pytest.param(AllocationFacts(information=False, status=200), f"{SITE}/en", "non-information-status", id="P-06"),
        pytest.param(AllocationFacts(information=False, status=303), f"{SITE}/en", None, id="POL-039 303"),
        pytest.param(AllocationFacts(information=True, status=302), f"{SITE}/en", None, id="a page"),
        pytest.param(
            AllocationFacts(allocated="2020-10-05"), f"{SITE}/20201004T120000Z", "timespec-differs", id="POL-055"
        ),
        pytest.param(
            AllocationFacts(allocated="2020-10-04T12:00:00+00:00"), f"{SITE}/20201004T120000.5Z", None, id="same time"
        ),
        pytest.param(
            AllocationFacts(others={f"{SITE}/en"}), f"{SITE}/en/x", "parent-unallocated", id="POL-010: the root"
        ),
        pytest.param(AllocationFacts(others={f"{SITE}/en", f"{SITE}/"}), f"{SITE}/en/x", None, id="POL-010"),
    ],
)
def test_known_facts_of_an_allocation_are_checked(known, iri, code):
    assert evaluate(iri, P, known).codes == ((code,) if code else ())


# POL-004, POL-013, POL-038, POL-054
@pytest.mark.parametrize(
    ("iri", "codes"),
    [
        pytest.param(SITE, ("empty-path",), id="no path"),
        pytest.param(f"{SITE}/en//", ("empty-segment",), id="said once"),
        pytest.param(f"{SITE}/en/../x", ("not-normal-form",), id="dot-segment"),
        pytest.param(f"{SITE}/en/e\u0301", ("not-normal-form",), id="not composed"),
        pytest.param(f"{SITE}/en/%2f", ("not-normal-form",), id="lower-case triplet"),
        pytest.param(f"{SITE}/en/%2F", (), id="a slash that is data"),
        pytest.param(f"{SITE}/en/some%20book", ("phrase-style",), id="a space"),
        pytest.param(f"{SITE}/en/CGI-bin/a", ("phrase-style", "technology"), id="a folder of programs"),
        pytest.param(f"{SITE}/en/cgi-bin/a%C3%A9", ("technology",), id="upper-case hexadecimal digits"),
        pytest.param(f"{SITE}/en/x.PHP", ("phrase-style", "technology", "filename-extension"), id="php"),
        pytest.param(f"{SITE}/en/v1.2", (), id="a dot, but no extension"),
        pytest.param(f"{SITE}/ark:21206/10015.pdf", (), id="a variant is not an extension (P-11)"),
        pytest.param("http://17beta.top/ark:21206/10015?info", (), id="a resolver is asked by http too"),
        pytest.param(f"{SITE}/ark:12345/x", ("naan-foreign",), id="another NAAN"),
        pytest.param(f"{SITE}/ark:/2-02-06/730591", ("naan-foreign",), id="the NAAN of the text of the policy, P-07"),
        pytest.param(f"{SITE}/ark:/99999/x", ("naan-reserved-invalid",), id="the NAAN for tests"),
        pytest.param("https://n2t.net/ark:12345/x", (), id="another NAAN elsewhere"),
        pytest.param("ark:12345/x", (), id="an ARK of another NAAN alone"),
        pytest.param(f"{SITE}/en/x?id=17", ("technology",), id="a key of a database"),
        pytest.param(f"{SITE}/en/x?a=1&PHPSESSID=2#id=1", ("technology",), id="a session"),
        pytest.param(f"{SITE}/en/x;jsessionid=2", ("technology",), id="a session in the path"),
        pytest.param(f"{SITE}/en/x?q=id", (), id="another parameter"),
        pytest.param(f"{SITE}/doi:10.1/x", (), id="a registered scheme"),
        pytest.param(f"{SITE}/urn:foo", ("scheme-semantics",), id="no URN"),
        pytest.param(f"{SITE}/x", (), id="one letter is opaque, and no tag"),
        pytest.param(f"{SITE}/x-", ("bad-language-tag",), id="no private subtag"),
        pytest.param(f"{SITE}/en-/x", ("bad-language-tag",), id="POL-043"),
        pytest.param(f"{SITE}/bc-1", ("bad-language-tag",), id="in two namespaces, both count"),
        pytest.param(f"{SITE}/20161231T235960Z", (), id="a leap second"),
        pytest.param(f"{SITE}/20170230T000000Z", ("bad-timespec",), id="30 February"),
        pytest.param(f"urn:uuid:{UUID.upper()}", ("uuid-case",), id="POL-046"),
        pytest.param(f"{SITE}/{UUID[:14]}91d0{UUID[18:]}", ("uuid-unassigned",), id="no such version"),
        pytest.param("ark:21206/2345", ("reserved-name",), id="POL-031"),
        pytest.param("https://n2t.net/ark:/21206/0-1", ("shoulder-reserved",), id="POL-030, elsewhere"),
        pytest.param("https://user@www.17beta.top:80/en", ("spurious-authority", "spurious-www"), id="authority"),
    ],
)
def test_further_iris_have_the_expected_findings(iri, codes):
    assert evaluate(iri, P).codes == codes


# POL-001
@pytest.mark.parametrize(
    "text",
    [
        *("https://example.org/en/", "https://17beta.top.example.org/en/", "mailto:x@17beta.top", "ark:12345/x"),
        "https://17beta.top./en/",
    ],
)
def test_other_identifiers_are_not_in_scope(text):
    verdict = evaluate(text, P)
    assert (verdict.in_scope, verdict.codes) == (False, ())
    assert examine(text, policies=["17beta"]).policy is None


@pytest.mark.parametrize(
    ("text", "start", "end", "message"),
    [
        pytest.param("", 0, 0, "the scheme is missing", id="empty"),
        pytest.param("foo", 0, 3, "the scheme is missing", id="a word"),
        pytest.param("urn:a b", 5, 6, "a space is not allowed in an IRI", id="a space"),
        pytest.param("http s://a", 4, 5, "a space is not allowed in an IRI", id="a space in the scheme"),
        pytest.param("1a:b", 0, 1, "'1' is not allowed in an IRI", id="a scheme that begins with a digit"),
    ],
)
def test_a_text_that_is_no_iri_is_not_in_scope_and_has_the_reason(text, start, end, message):
    verdict = evaluate(text, P)
    [found] = verdict.findings
    assert (verdict.in_scope, verdict.readable) == (False, False)
    assert (found.code, found.start, found.end, found.message) == ("not-an-iri", start, end, message)
    assert examine(text, policies=["17beta"]).policy is None


def test_a_finding_has_a_position():
    text = f"{SITE}/en/Some-Book/x.html"
    marked = {found.code: text[found.start : found.end] for found in evaluate(text, P).findings}
    assert marked == {"phrase-style": "Some-Book", "filename-extension": ".html"}


# POL-048, POL-056
def test_several_iris_are_compared_with_each_other():
    given = [f"{SITE}/{UUID}_a", f"{SITE}/{UUID}_b", f"{SITE}/20201004T120000Z/a", f"{SITE}/20201004T120000Z/b", SITE]
    codes = [verdict.codes for verdict in evaluate_all(given, P)]
    assert codes == [("uuid-twice",)] * 2 + [("coarse-timespec",)] * 2 + [("empty-path",)]


def test_only_names_below_a_naan_are_parents_of_an_ark():
    assert iri_policy.parents(f"{SITE}/ark:/21206/1b/x.en?info") == (f"{SITE}/ark:/21206/1b", f"{SITE}/")


def test_a_report_contains_the_verdict_of_the_first_policy_in_scope():
    ours = iri_policy.Profile("ours", ("example.org",))
    report = examine("https://example.org/en/", policies=[P, ours])
    assert report.policy is not None
    assert (report.form, report.valid, report.policy["profile"]) == ("iri", False, "ours")
    assert {"namespaces", "reserved", "allocatable", "codes", "hierarchy", "parents"} <= set(report.policy)
    assert report.policy["hierarchy"] == ["/", "en", ""]
    assert [(found.code, found.severity) for found in report.problems] == [("no-ark-label", "note")]


# POL-043
@pytest.mark.parametrize(
    ("tag", "valid"),
    [
        *(("en", True), ("es-MX", True), ("x-klingon", True), ("i-klingon", True), ("zh-Hant-TW", True)),
        *(("sgn-BE-FR", True), ("qaa", True), ("iw", True), ("zh-cmn", True), ("de-1996", True), ("EN", True)),
        *(("en-", False), ("zz-@", False), ("zz", False), ("english", False), ("abcde", False), ("eng", False)),
        *(("en-UK", False), ("en_US", False), ("de-1901-1901", False), ("x-", False), ("", False), ("\ud800", False)),
        *(("en-a-bbb-a-ccc", False), ("en\n", False), ("en-x-" + "a-" * 2000, False)),
    ],
)  # fmt: skip
def test_language_tags_are_those_of_bcp_47(tag, valid):
    fault = language_fault(tag)
    assert (fault is None) == valid
    assert fault is None or fault.isascii()


@given(texts)
def test_every_text_has_a_namespace(text):
    found = iri_policy.namespaces(text, P)
    assert found
    assert set(found) <= {*iri_policy.NAMESPACES, iri_policy.MISCELLANEOUS}
    assert (iri_policy.MISCELLANEOUS in found) == (len(iri_policy.repaired_grammar(P).matching(text)) == 0)
    iri_policy.printed_grammar(P).matching(text)


@given(texts)
def test_evaluation_never_fails_and_positions_are_in_the_text(text):
    verdict = evaluate(text, P, AllocationFacts(information=False, status=200, persistent=True, others=()))
    for found in verdict.findings:
        assert found.code in FINDINGS
        assert 0 <= found.start <= found.end <= len(text)
        assert found.message.isascii()
    assert verdict.allocatable == (not [each for each in verdict.findings if each.severity == "error"])
    assert (verdict.readable is False) <= (first_fault(text) is not None)


@given(texts)
def test_parents_end_at_the_root_and_get_shorter(text):
    above = iri_policy.parents(text)
    assert [len(each) for each in above] == sorted({len(each) for each in above}, reverse=True)
    if above:
        assert iri_policy.components(above[-1]) == ("/",)
        assert all(text.startswith(each) for each in above)


@given(texts)
def test_the_normal_form_is_idempotent(text):
    once = normal_form(text)
    if once is not None and first_fault(text) is None:
        assert normal_form(once) == once


def test_no_input_raises_an_error(every_naughty):
    for naughty in every_naughty:
        # Long texts have their own test.
        for text in (naughty.input[:10_000], f"{SITE}/{naughty.input[:10_000]}"):
            assert evaluate(text, P).iri == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{SITE}/{'/' * 30_000}", id="slashes"),
        pytest.param(f"{SITE}/{'A.php/' * 30_000}", id="findings"),
        pytest.param(f"{SITE}/{'b1-' * 30_000}", id="groups"),
        pytest.param(f"{SITE}/a" + "\u0316\u0300" * 30_000, id="marks out of order"),
        pytest.param(f"{SITE}/en-{'a-' * 30_000}", id="subtags"),
        pytest.param(f"ark:21206/1{'/a' * 30_000}", id="components"),
        pytest.param(f"{SITE}/{'../' * 30_000}", id="dot-segments"),
    ],
)
@pytest.mark.timeout(10)
def test_a_long_text_is_evaluated_in_time_and_the_verdict_is_short(text):
    verdict = evaluate(text, P)
    assert len(verdict.findings) < 100
    assert len(verdict.hierarchy) <= 100
    assert len(verdict.parents) <= 100
