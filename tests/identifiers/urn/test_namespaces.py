"""URN namespaces: names, equivalences, records of a site, and reports."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError, Urn, equivalent, examine
from ararat.identifiers.equivalence import equivalence
from ararat.identifiers.equivalence import equivalent as urns_equivalent
from ararat.identifiers.text import characters
from ararat.identifiers.urn import namespaces
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.building import build
from ararat.identifiers.urn.grammar import DRAFT, RFC8141
from ararat.identifiers.urn.namespaces import AssignedFragments, GeneralFragments, Namespace, built_in, lint

INCLUDED = ("ietf", "isbn", "issn", "lex", "nbn", "oid", "uuid")
every_namespace = pytest.mark.parametrize("nid", INCLUDED)

Register = Callable[..., Namespace]


def shelf(**fields: Any) -> Namespace:
    """Return a complete record of a site with some fields changed."""
    complete: dict[str, Any] = {
        "nid": "example-shelf",
        "title": "Shelf marks",
        "reference": "the site's handbook",
        "special": "",
        "functional": "Two marks are two places.",
        "security": "None known.",
        "example": "A-12",
    }
    return Namespace(**(complete | fields))


def known(nid: str) -> Namespace:
    """Return a namespace that has a record."""
    record = namespaces.lookup(nid)
    assert record is not None
    return record


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """register(**fields) registers a record until the test ends."""
    monkeypatch.setattr(built_in, "_known", dict(built_in._known))

    def made_known(**fields: Any) -> Namespace:
        record = shelf(**fields)
        namespaces.register(record)
        return record

    return made_known


@st.composite
def names(draw: st.DrawFn) -> Urn:
    """Yield URNs in the included namespaces: similar to their examples, and random ones."""
    nid = draw(st.sampled_from(INCLUDED))
    example = known(nid).example
    pieces = st.sampled_from([*example, *"-:;.xXaAfF019", "%c3%A9", "%2f", "%41", "params:", example, example.upper()])
    nss = draw(st.one_of(st.just(example), st.lists(pieces, min_size=1, max_size=20).map("".join)))
    return urn.parse(f"urn:{draw(st.sampled_from([nid, nid.upper()]))}:{nss}{draw(tails)}")


tails = st.sampled_from(["", "", "", "?+r", "#f", "?=a%2f#B%2f"])


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "urn:isbn:0451450523",
        "urn:isbn:0-8044-2957-x",
        "urn:isbn:978-951-0-18435-6",
        "urn:isbn:9791090636071",
        "urn:issn:0167-6423",
        "urn:issn:2434561X",
        "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
        "urn:uuid:00000000-0000-0000-0000-000000000000",
        "urn:oid:1.3.6.1",
        "urn:oid:0.9.2342.19200300.100.4",
        "urn:oid:2",
        "URN:NBN:fi-fe201003181510",
        "urn:nbn:ch:bel-9039",
        "urn:nbn:de:hbz:929:02-edoweb:17507853",
        "urn:nbn:de:gbv:luen4-dspace-20.500.14123/175-7",
        "urn:lex:it:stato:legge:2003-09-21;456",
        "urn:lex:ch;glarus:regiere:erlass:2007-10-15;963",
        "urn:lex:br:federal:constituicao:1988-10-05;1988!art153_cpt_inc5",
        "urn:lex:un.org:a+b;c:m;d:x",
        "urn:ietf:rfc:2648",
        "urn:ietf:id:ietf-urn-ietf-06",
        "urn:ietf:mtg:41-urn",
        "urn:ietf:params:xml:ns:pidf:geopriv10:civicAddr",
        "urn:ietf:a-series-to-come:1",
    ],
)
def test_well_formed_names_have_no_warning(text):
    assert [problem.code for problem in examine(text).problems if problem.severity == "warning"] in ([], ["nss-slash"])
    assert urn.parse(text).findings == ()


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        pytest.param("urn:isbn:0451450524", "4", "the check digit is wrong", id="ISBN-10 mistyped"),
        pytest.param("urn:isbn:978-951-0-18435-X", "978-951-0-18435-X", "this is not an ISBN", id="ISBN-13 with X"),
        pytest.param("urn:isbn:9789510184357", "7", "the check digit is wrong", id="ISBN-13 mistyped"),
        pytest.param("urn:isbn:978-952", "978-952", "this is not an ISBN", id="ISBN cut off"),
        pytest.param("urn:isbn:9771234567898", "9771234567898", "this is not an ISBN", id="an EAN of another kind"),
        pytest.param("urn:isbn:345180901", "345180901", "this is not an ISBN", id="nine digits"),
        pytest.param("urn:isbn:0%3451450523", "0%3451450523", "this is not an ISBN", id="percent-encoded"),
        pytest.param("urn:issn:0167-6424", "4", "the check digit is wrong", id="ISSN mistyped"),
        pytest.param("urn:issn:01676-423", "01676-423", "this is not an ISSN", id="ISSN with its hyphen elsewhere"),
        pytest.param("urn:uuid:1234", "1234", "this is not a UUID", id="UUID cut off"),
        pytest.param(
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6/a",
            "/a",
            "there are characters after the UUID",
            id="UUID with more",
        ),
        pytest.param(
            "urn:uuid:f81d4fae7dec11d0a76500a0c91e6bf6", None, "this is not a UUID", id="UUID without hyphens"
        ),
        pytest.param("urn:oid:1.03.6", "03", "the number begins with a zero", id="OID with a leading zero"),
        pytest.param("urn:oid:1..6", "", "this is not a number", id="OID with two dots"),
        pytest.param("urn:oid:1.3.x", "x", "this is not a number", id="OID with a letter"),
        pytest.param("urn:oid:3.1", "3", "this root arc does not exist", id="OID below nothing"),
        pytest.param("urn:nbn:fi", "", "there is no hyphen after the prefix", id="NBN without a hyphen"),
        pytest.param("urn:nbn:fi-", "-", "there is no number after the hyphen", id="NBN without a number"),
        pytest.param("urn:nbn:fin:a-1", "fin:a", "this is not a country code", id="NBN of three letters"),
        pytest.param("urn:nbn:de::a-1", "de::a", "this is not a country code", id="NBN with an empty sub-namespace"),
        pytest.param("urn:lex:br", "", "the authority is missing", id="LEX jurisdiction alone"),
        pytest.param("urn:lex:b:x:y:z", "b", "this is not a valid jurisdiction", id="LEX jurisdiction of one letter"),
        pytest.param("urn:lex:br:x:y:", "", "the date and number of the measure are missing", id="LEX without details"),
        pytest.param("urn:lex:br:x-y:z:1", "x-y", "this is not a valid authority", id="LEX authority with a hyphen"),
        pytest.param("urn:ietf:rfc:2648bis", "2648bis", "this is not the number of a document", id="RFC with letters"),
        pytest.param("urn:ietf:std", "", "this is not the number of a document", id="STD without number"),
        pytest.param(
            "urn:ietf:id:a%2Db", "a%2Db", "this is not the name of a draft or meeting", id="draft percent-encoded"
        ),
    ],
)
def test_a_name_that_breaks_a_rule_of_its_namespace_is_valid_with_a_warning(text, place, message):
    report = examine(text)
    [found] = [problem for problem in report.problems if problem.code == "nss-invalid"]
    assert (report.valid, report.form, found.severity) == (True, "urn", "warning")
    assert found.message.startswith(message)
    assert text[found.start : found.end] == (text.split(":", 2)[2] if place is None else place)
    assert found.reference == known(report.parts["nid"]).reference


def test_a_wrong_check_digit_is_reported_with_the_correct_one():
    assert [found.expected for found in urn.parse("urn:isbn:0-8044-2957-1").findings] == ["the check digit X"]
    assert [found.expected for found in urn.parse("urn:issn:0167-6424").findings] == ["the check digit 3"]


@every_namespace
def test_a_name_of_100000_characters_is_checked(nid):
    for long in ("1" * 100_000, "a:" * 50_000, "1." * 50_000, "-" * 100_000, "a;" * 50_000, "%C3" * 30_000):
        name = urn.parse(f"urn:{nid}:{long}")
        assert urn.parse(name.canonical).canonical == name.canonical
        assert len(name.findings) < 2
        assert len(name.display) > 1000


# -- equivalence -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "by"),
    [
        pytest.param("urn:isbn:0451450523", "URN:ISBN:0451450523", ("urnbis-01",), id="by the general rule"),
        pytest.param("urn:isbn:0451450523", "urn:isbn:0451450523?+r", ("rfc8141",), id="but for the query"),
        pytest.param("urn:isbn:0451450523", "urn:isbn:0-451-45052-3", ("urnbis-01", "isbn"), id="ISBN hyphens"),
        pytest.param("urn:isbn:080442957x", "urn:isbn:080442957X", ("urnbis-01", "isbn"), id="ISBN x"),
        pytest.param("urn:isbn:0451450523", "urn:isbn:978-0451450524", ("urnbis-01", "isbn"), id="ISBN-10 and ISBN-13"),
        pytest.param("urn:isbn:0451450523#a", "urn:isbn:9780451450524#b", ("rfc8141", "isbn"), id="and the fragment"),
        pytest.param("urn:isbn:0451450524", "urn:isbn:0-451450524", ("urnbis-01", "isbn"), id="mistyped alike"),
        pytest.param("urn:issn:01676423", "urn:issn:0167-6423", ("urnbis-01", "issn"), id="ISSN hyphen"),
        pytest.param("urn:issn:2434561x", "urn:issn:2434-561X", ("urnbis-01", "issn"), id="ISSN x"),
        pytest.param(
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "urn:uuid:F81D4FAE-7dec-11d0-A765-00a0c91e6bf6",
            ("urnbis-01", "uuid"),
            id="UUID case",
        ),
        pytest.param("urn:nbn:FI:UU-Diva", "urn:nbn:fi:uu-Diva", ("urnbis-01", "nbn"), id="NBN prefix case"),
        pytest.param("urn:lex:IT:Stato:x:1", "urn:lex:it:stato:X:1", ("urnbis-01", "lex"), id="LEX case"),
        pytest.param("urn:lex:it:s%c3%A9:x:1", "urn:lex:IT:s%C3%a9:x:1", ("urnbis-01", "lex"), id="LEX triplets"),
        pytest.param("urn:ietf:RFC:2648", "urn:ietf:rfc:2648", ("urnbis-01", "ietf"), id="RFC case"),
    ],
)
def test_an_equivalence_names_its_rule(a, b, by):
    answer = equivalence(urn.parse(a), urn.parse(b))
    assert answer
    assert answer.by == by
    assert (answer.why, answer.reference) != ("", "")
    assert equivalent(a, b) is ("rfc8141" not in by), "two str are compared with query and fragment"


@pytest.mark.parametrize(
    ("a", "b", "asked"),
    [
        pytest.param("urn:foo:a", "urn:foo:A", ("urnbis-01", "rfc8141"), id="an unknown namespace"),
        pytest.param("urn:isbn:0451450523", "urn:issn:0451450523", ("urnbis-01", "rfc8141"), id="two namespaces"),
        pytest.param("urn:isbn:0451450524", "urn:isbn:9780451450524", ("urnbis-01", "rfc8141", "isbn"), id="mistyped"),
        pytest.param("urn:isbn:0%2D451450523", "urn:isbn:0451450523", ("urnbis-01", "rfc8141", "isbn"), id="encoded"),
        pytest.param("urn:oid:1.3", "urn:oid:1.03", ("urnbis-01", "rfc8141", "oid"), id="OID"),
        pytest.param("urn:nbn:fi-a", "urn:nbn:fi-A", ("urnbis-01", "rfc8141", "nbn"), id="NBN string case"),
        pytest.param("urn:nbn:fi:a-1", "urn:nbn:fi-a-1", ("urnbis-01", "rfc8141", "nbn"), id="NBN delimiters"),
        pytest.param("urn:ietf:params:a", "urn:ietf:params:A", ("urnbis-01", "rfc8141", "ietf"), id="IETF parameter"),
        pytest.param("urn:uuid:ABC", "urn:uuid:abc", ("urnbis-01", "rfc8141", "uuid"), id="no UUID"),
    ],
)
def test_a_difference_names_all_applied_rules(a, b, asked):
    answer = equivalence(urn.parse(a), urn.parse(b))
    assert not answer
    assert answer.by == asked


# URN-053
@given(names(), names())
def test_a_namespace_only_adds_equivalences(a, b):
    # URN draft, section 5: "they MUST NOT say that two URNs are not equivalent if the procedure above says they are"
    answer = equivalence(a, b)
    assert answer or a != b
    assert answer or not urns_equivalent(a, b, RFC8141)
    assert equivalence(b, a) == answer
    assert equivalence(a, a)


@given(names(), st.functions(like=lambda nss: "", returns=st.text(), pure=True))
def test_any_record_adds_equivalences_and_returns_names(name, rule):
    record = shelf(canonicalize=rule, equivalence="Whatever.")
    folded = record.canonical(name.nss)
    other_case = re.sub("%..", lambda octet: octet[0].swapcase(), name.nss)
    assert record.canonical(other_case) == folded
    assert urn.parse(f"urn:example-shelf:{folded}").nss == folded


# URN-032
@given(names())
def test_a_canonical_urn_is_ascii_and_idempotent(name):
    again = urn.parse(name.canonical)
    assert again.canonical == name.canonical
    assert equivalence(name, again)
    assert name.canonical.isascii()
    assert not name.findings or again.findings, "an invalid name stays invalid"
    assert name.findings or not again.findings, "what is a name stays one"


def test_functional_equivalence_is_never_claimed():
    # URN draft, section 6; URN-055: only the guidance of the namespace is shown.
    pairs = [
        ("urn:isbn:0451450523", "urn:isbn:9780451450524"),
        ("urn:foo:a", "urn:foo:a#x"),
        ("urn:foo:a", "urn:foo:b"),
    ]
    for a, b in pairs:
        assert "function" not in equivalence(urn.parse(a), urn.parse(b)).why


# -- what is shown -----------------------------------------------------------------------------------------------------


# URN-049
@pytest.mark.parametrize(
    ("text", "canonical", "shown"),
    [
        pytest.param("URN:ISBN:0451450523", "urn:isbn:9780451450524", "urn:isbn:0-451-45052-3", id="ISBN-10"),
        pytest.param("urn:isbn:9789510184356", "urn:isbn:9789510184356", "urn:isbn:978-951-0-18435-6", id="ISBN-13"),
        pytest.param("urn:isbn:0451450524", "urn:isbn:0451450524", "urn:isbn:0451450524", id="ISBN mistyped"),
        pytest.param("urn:isbn:-", "urn:isbn:-", "urn:isbn:-", id="a hyphen and no more"),
        pytest.param("urn:issn:01676423", "urn:issn:0167-6423", "urn:issn:0167-6423", id="ISSN"),
        pytest.param("urn:nbn:FI-%c3%A9#x", "urn:nbn:fi-%C3%A9#x", "urn:nbn:FI-\u00e9#x", id="NBN"),
        pytest.param(
            "urn:foo:%C3%A9%2f?=%c3%a9", "urn:foo:%C3%A9%2F?=%C3%A9", "urn:foo:\u00e9%2f?=\u00e9", id="unknown"
        ),
        pytest.param("urn:foo:%E2%80%AEx", "urn:foo:%E2%80%AEx", "urn:foo:%E2%80%AEx", id="an override stays encoded"),
    ],
)
def test_a_report_contains_a_canonical_and_a_readable_urn(text, canonical, shown):
    parts = examine(text).parts
    assert (parts["canonical"], parts["display"]) == (canonical, shown)


@given(names())
def test_the_readable_urn_begins_with_urn_and_has_no_hidden_characters(name):
    # URN-065: "display the complete URN (including the "urn:" tag)"
    assert name.display.startswith(f"urn:{name.nid.lower()}:")
    assert not characters.HIDDEN.search(name.display)


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("urn:isbn:0451450523", {"ISBN-13": "978-0-451-45052-4", "registration group": "0, English language"}),
        ("urn:isbn:0451450524", {}),
        ("urn:uuid:f81d4fae-7dec-41d0-a765-00a0c91e6bf6", {"variant": "RFC 9562", "version": "4, random"}),
        (
            "urn:uuid:f81d4fae-7dec-f1d0-a765-00a0c91e6bf6",
            {"variant": "RFC 9562", "version": "f, reserved"},
        ),
        ("urn:uuid:f81d4fae-7dec-41d0-C765-00a0c91e6bf6", {"variant": "Microsoft, for compatibility"}),
        ("urn:uuid:00000000-0000-0000-0000-000000000000", {"kind": "the nil UUID, which has no referent"}),
        ("urn:uuid:FFFFFFFF-ffff-ffff-ffff-ffffffffffff", {"kind": "the max UUID, which has no referent"}),
        ("urn:uuid:1", {}),
        ("urn:oid:2.5.4.3", {"root": "ISO and ITU-T together"}),
        ("urn:oid:9", {}),
        ("urn:nbn:FI:Uu-1", {"country": "FI", "sub-namespace": "uu"}),
        (
            "urn:nbn:de:gbv:089-3321752945",
            {"country": "DE", "sub-namespace": "gbv:089", "check digit": "5, which is right"},
        ),
        (
            "urn:nbn:de:0183-mbi0003722",
            {"country": "DE", "sub-namespace": "0183", "check digit": "1 is expected at the end"},
        ),
        ("urn:nbn:fi-1", {"country": "FI"}),
        ("urn:nbn:fi", {}),
        ("urn:lex:br;b:C:d:x", {"jurisdiction": "br;b", "authority": "c", "measure": "d"}),
        ("urn:lex:br", {}),
        ("urn:ietf:RFC:2648", {"document": "RFC 2648"}),
        ("urn:ietf:id:x", {}),
        ("urn:foo:x", {}),
    ],
)
def test_a_report_contains_the_facts_in_a_name(text, details):
    assert examine(text).parts["details"] == details


@given(names())
def test_a_namespace_is_json_and_its_findings_have_positions(name):
    report = examine(name.text)
    assert json.loads(json.dumps(report.as_dict()))["parts"]["canonical"] == name.canonical
    assert set(name.findings) <= set(report.problems)
    places = [(problem.start, problem.end) for problem in report.problems]
    assert places == sorted(places)
    for found in name.findings:
        assert 5 + len(name.nid) <= found.start <= found.end <= 5 + len(name.nid) + len(name.nss)
        assert found.message.isascii()
        assert found.expected.isascii()


@every_namespace
def test_texts_of_a_record_are_ascii(nid):
    facts = known(nid).as_dict()
    json.dumps(facts)
    for field in ("title", "reference", "functional", "security", "example"):
        assert facts[field]
        assert facts[field].isascii()
    assert facts["functional"].endswith(".")
    assert facts["security"].endswith(".")


# -- building ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nid", "name", "built"),
    [
        pytest.param("foo", ("a:b", "c/d"), "urn:foo:a%3Ab:c%2Fd", id="unknown namespace"),
        pytest.param("foo", ("a:b",), "urn:foo:a%3Ab", id="one part is still a part"),
        pytest.param("foo", "a:b", "urn:foo:a:b", id="a name given whole"),
        pytest.param("OID", ("1", "3", "6"), "urn:OID:1.3.6", id="a delimiter of its own"),
        pytest.param("oid", ("1.3",), "urn:oid:1%2E3", id="an unreserved delimiter"),
        pytest.param("lex", ("br", "federal", "lei", "1966;~1"), "urn:lex:br:federal:lei:1966%3B%7E1", id="special"),
        pytest.param("lex", "br:federal:lei:1966;5172", "urn:lex:br:federal:lei:1966;5172", id="special, given whole"),
        pytest.param("ietf", ("rfc", "2648"), "urn:ietf:rfc:2648", id="IETF"),
    ],
)
def test_parts_encode_special_characters(nid, name, built):
    assert build(nid, name) == built


@given(st.sampled_from(["foo", "oid", "lex", "ietf"]), st.lists(st.text(min_size=1), min_size=1).map(tuple))
def test_a_name_built_from_parts_can_be_split_again(nid, parts):
    try:
        built = build(nid, parts)
    except IdentifierError:
        assert any("\0" in part or re.search("[\ud800-\udfff]", part) for part in parts)
        return
    name = urn.parse(built, DRAFT)
    record = namespaces.lookup(nid)
    assert tuple(map(unquote, name.nss.split(record.delimiter if record else ":"))) == parts
    assert "needless-percent-encoding" not in {problem.code for problem in name.problems}


def test_names_without_parts_are_not_built_from_parts():
    for nid in ("isbn", "issn", "nbn", "uuid"):
        with pytest.raises(ValueError, match="pass the whole name"):
            build(nid, ("1", "2"))
    with pytest.raises(IdentifierError) as refused:
        build("foo", ())
    assert refused.value.problem.code == "empty-nss"


# URN-040
def test_special_characters_can_be_percent_encoded(register):
    def needless(text: str) -> list[str]:
        return [text[found.start : found.end] for found in urn.parse(text).problems if "needless" in found.code]

    assert needless("urn:example-shelf:a%2Db") == ["%2D"]
    register(special="-~")
    assert needless("urn:example-shelf:a%2Db%7e") == []
    assert needless("urn:example-shelf:a%2Db%41") == ["%41"]


# -- records -----------------------------------------------------------------------------------------------------------


@every_namespace
def test_the_included_records_have_no_findings(nid):
    assert lint(known(nid)) == ()


# URN-009
def test_a_complete_record_has_no_findings_and_all_records_are_listed(register):
    record = register()
    assert lint(record) == ()
    assert namespaces.lookup("EXAMPLE-Shelf") is record
    assert [each.nid for each in namespaces.list_namespaces()] == sorted([*INCLUDED, "example-shelf"])
    assert namespaces.lookup("foo") is None


# URN-021, URN-022, URN-026, URN-042, URN-061
@pytest.mark.parametrize(
    ("fields", "severity", "field"),
    [
        pytest.param({"nid": "urn"}, "error", "nid", id="reserved"),
        pytest.param({"nid": "a"}, "error", "nid", id="too short"),
        pytest.param({"nid": "Shelf"}, "error", "nid", id="upper case"),
        pytest.param({"nid": "shelf\n"}, "error", "nid", id="line break"),
        pytest.param({"title": ""}, "error", "title", id="no title"),
        pytest.param({"reference": ""}, "error", "reference", id="no reference"),
        pytest.param({"special": None}, "error", "special", id="no special characters given"),
        pytest.param({"special": "%"}, "error", "special", id="a special character no URN can hold"),
        pytest.param({"special": "x"}, "error", "special", id="a letter as special character"),
        pytest.param({"delimiter": "::"}, "error", "delimiter", id="two delimiters"),
        pytest.param({"delimiter": ""}, "error", "delimiter", id="an empty delimiter"),
        pytest.param({"delimiter": "/"}, "error", "delimiter", id="a delimiter the draft cannot hold"),
        pytest.param({"security": ""}, "error", "security", id="no security note"),
        pytest.param({"functional": ""}, "warning", "functional", id="no guidance"),
        pytest.param({"canonicalize": str.lower}, "error", "equivalence", id="equivalences without words"),
        pytest.param({"fragments": (AssignedFragments(),)}, "error", "fragments", id="assigned without rules"),
        pytest.param({"fragments": (AssignedFragments(re.compile("p[0-9]+")),)}, "error", "fragments", id="no process"),
        pytest.param({"fragments": (AssignedFragments(process="By us."),)}, "error", "fragments", id="no syntax"),
        pytest.param({"fragments": (GeneralFragments(),)}, "error", "fragments", id="neither set nor rule"),
        pytest.param({"fragments": (GeneralFragments(frozenset()),)}, "error", "fragments", id="empty set"),
        pytest.param(
            {"fragments": (AssignedFragments(re.compile("p"), "By us."), GeneralFragments(frozenset({"toc"})))},
            "warning",
            "fragments",
            id="both options",
        ),
        pytest.param(
            {"example": "", "canonicalize": str.lower, "equivalence": "Case."}, "warning", "example", id="no example"
        ),
        pytest.param({"example": "a b"}, "error", "example", id="an example that is not an NSS"),
        pytest.param(
            {"validate": lambda nss: [namespaces.Fault(0, 1, "no", "another")]},
            "error",
            "example",
            id="a wrong example",
        ),
        pytest.param(
            {"canonicalize": lambda nss: nss + "x", "equivalence": "Odd."},
            "error",
            "canonicalize",
            id="never at its end",
        ),
    ],
)
def test_errors_in_a_record_prevent_its_registration(register, fields, severity, field):
    [found] = lint(shelf(**fields))
    assert (found.severity, found.field) == (severity, field)
    assert found.reference.startswith("URN draft, section ")
    if severity == "warning":
        register(**fields)
        return
    before = namespaces.list_namespaces()
    with pytest.raises(ValueError, match=re.escape(found.message)):
        register(**fields)
    assert namespaces.list_namespaces() == before


def test_a_registered_namespace_is_replaced_only_with_replace(register):
    register()
    with pytest.raises(ValueError, match="already registered"):
        register(title="Other marks")
    namespaces.register(shelf(title="Other marks"), replace=True)
    assert known("example-shelf").title == "Other marks"
    with pytest.raises(ValueError, match="reserved"):
        namespaces.register(shelf(nid="urn"), replace=True)


# URN-009
def test_a_record_of_a_site_affects_all_functions(register):
    register(
        equivalence="The case of the letters does not matter.",
        canonicalize=str.upper,
        validate=lambda nss: [] if "-" in nss else [namespaces.Fault(0, 1, "there is no hyphen", "a hyphen")],
        format=lambda nss: nss.replace("-", " \u2192 "),
        describe=lambda nss: {"hall": nss[0]},
    )
    a, b = urn.parse("urn:example-shelf:a-%c3%a9"), urn.parse("urn:EXAMPLE-SHELF:A-%C3%A9")
    assert equivalence(a, b).by == ("urnbis-01", "example-shelf")
    report = examine("urn:example-shelf:a12")
    assert [(found.code, found.start, found.message) for found in report.problems] == [
        ("nss-invalid", 18, "there is no hyphen")
    ]
    assert examine(b.text).parts["display"] == "urn:example-shelf:A \u2192 %C3%A9"
    assert examine(a.text).parts["details"] == {"hall": "a"}


# -- fragments ---------------------------------------------------------------------------------------------------------


def fragment_codes(text: str) -> tuple[list[str], list[str]]:
    """Return the codes of a fragment in the report, and in the draft specification."""
    report = examine(text)
    of_report = [problem.code for problem in report.problems if "fragment" in problem.code]
    return of_report, [code for code in report.profiles[DRAFT]["problems"] if "fragment" in code]


# URN-020
def test_a_fragment_causes_a_warning_unless_allowed():
    assert fragment_codes("urn:foo:a#sec1") == (["fragment-not-opted-in"], ["fragment-not-opted-in"])
    assert fragment_codes("urn:isbn:0451450523#sec1") == (["fragment-not-opted-in"], ["fragment-not-opted-in"])
    assert fragment_codes("urn:nbn:fi-fe19981001#sec1") == ([], [])


# URN-023
@pytest.mark.parametrize(
    ("option", "known", "unknown"),
    [
        pytest.param(GeneralFragments(frozenset({"toc", "index"})), "toc", "cover", id="a finite set"),
        pytest.param(GeneralFragments(re.compile("p[0-9]+")), "p12", "p12x", id="an exact rule"),
        pytest.param(AssignedFragments(re.compile("[a-z]+"), "By the cataloguers."), "plate", "P", id="one by one"),
    ],
)
def test_an_unknown_fragment_causes_a_note(register, option, known, unknown):
    register(fragments=(option,))
    assert fragment_codes(f"urn:example-shelf:a#{known}") == ([], [])
    assert fragment_codes(f"urn:example-shelf:a#{unknown}") == (["fragment-unknown"], ["fragment-unknown"])
    report = examine(f"urn:example-shelf:a#{unknown}")
    assert report.valid
    assert {problem.severity for problem in report.problems} == {"note"}
