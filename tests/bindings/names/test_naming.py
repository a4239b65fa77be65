from __future__ import annotations

import pytest

from ararat.bindings.names import naming
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.naming import assignable, confusable
from ararat.identifiers import parse

KEYS = [
    pytest.param("ark:/12345/d-oc", "ark:12345/doc", id="the classic label and a hyphen"),
    pytest.param("ARK:12-345/doc", "ark:12345/doc", id="a hyphen in the NAAN"),
    pytest.param("https://n2t.net/ark:/12345/doc", "ark:12345/doc", id="an ARK in an address"),
    pytest.param("ark:12345/x.pdf.en", "ark:12345/x.en.pdf", id="variants in order"),
    pytest.param("ark:12345/\u00e9", "ark:12345/%C3%A9", id="outside ASCII"),
    pytest.param("ark:12345/a%E2%80%AEb", "ark:12345/a%E2%80%AEb", id="an encoded override is bytes"),
    pytest.param("URN:ISBN:0451450523", "urn:isbn:9780451450524", id="a URN"),
    pytest.param("urn:foo:a%2c1", "urn:foo:a%2C1", id="hexadecimal digits of a URN"),
    pytest.param("urn:example:a/b", "urn:example:a/b", id="a URN by RFC 8141 alone"),
]

NEVER = [
    pytest.param("ark:12345", "no-name", id="a NAAN alone"),
    pytest.param("foo", "no-scheme", id="no identifier"),
    pytest.param("", "empty", id="nothing"),
    pytest.param("ark:12345/x!", "bad-char", id="a character that no ARK holds"),
    pytest.param("ark:99999/x", "naan-reserved-invalid", id="the invalid NAAN"),
    pytest.param("ark:/9-9%3999/x", "naan-reserved-invalid", id="the invalid NAAN in disguise"),
    pytest.param("ark:%D0%B1/x", "naan-not-base29", id="a NAAN outside ASCII"),
    pytest.param("ark:12345/x/%2E%2E/y", "dot-segment", id="an encoded dot-segment"),
    pytest.param("ark:12345/.-.", "dot-segment", id="a dot-segment in the normal form"),
    pytest.param("urn:example:a/../b", "dot-segment", id="a dot-segment in a URN"),
    pytest.param("urn:example:a/%2e", "dot-segment", id="an encoded one in a URN"),
    *(
        pytest.param(f"ark:12345/a{chr(c)}b", "bidi-formatting", id=f"U+{c:04X}")
        for c in (0x200E, 0x200F, *range(0x202A, 0x202F))
    ),
    *(
        pytest.param(f"{start}a{char}b", code, id=f"{start[:3]} U+{ord(char):04X}")
        for start in ("ark:12345/", "https://n2t.net/ark:/12345/")
        for char, code in (
            ("\u200b", "hidden-char"),
            ("\u00ad", "hidden-char"),
            ("\ufeff", "hidden-char"),
            ("\u00a0", "hidden-char"),
            ("\u2066", "hidden-char"),
            ("\u202e", "bidi-formatting"),
        )
    ),
    pytest.param("ark:12345/x?", "inflected-ark", id="an inflection (I-01)"),
    pytest.param("ark:12345/x?info", "inflected-ark", id="another inflection"),
    pytest.param("ark:12345/x#p1", "inflected-ark", id="a fragment"),
    pytest.param("https://n2t.net/ark:12345/x?info", "inflected-ark", id="an inflection in an address"),
    pytest.param("urn:foo:a?meta", "urn-not-assigned", id="a URN with a query"),
    pytest.param("urn:foo:a?+r", "urn-not-assigned", id="a URN with an r-component"),
    pytest.param("urn:foo:a#s", "urn-not-assigned", id="a URN with a fragment"),
    pytest.param("ark:12345/" + "x" * 246, "name-too-long", id="256 characters"),
    pytest.param("ark:12345/" + "\u00e9" * 246, "name-too-long", id="256 characters outside ASCII"),
    pytest.param("ark:12345/" + "%F0%9F%98%80" * 246, "name-too-long", id="256 encoded characters"),
    pytest.param("urn:foo:" + "x" * 248, "name-too-long", id="a URN of 256 characters"),
    pytest.param(
        "http://hdl.handle.net/2027/uc2.ark:/13960/t5q81d82b", "label-inside-segment", id="an ARK inside a word"
    ),
]


@pytest.mark.parametrize(("spelling", "key"), KEYS)
def test_equivalent_spellings_have_one_key(spelling: str, key: str) -> None:
    assert assignable(spelling) == key
    assert assignable(parse(spelling)) == key


# ARK-019, ARK-030
@pytest.mark.parametrize(("text", "code"), NEVER)
def test_names_that_cannot_be_bound_are_refused(text: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        assignable(text)
    assert refused.value.code == code
    assert refused.value.identifier is not None
    assert str(refused.value).isascii()


@pytest.mark.naughty
def test_a_hostile_name_has_an_ascii_key_or_is_refused(naughty) -> None:
    said = key = None
    try:
        key = assignable(naughty.input)
    except BindingError as refused:
        said = str(refused).replace("\n", "")
    for text in filter(None, (said, key)):
        assert text.isascii()
        assert text.isprintable()
    assert key is None or assignable(key) == key


@pytest.mark.parametrize("length", [1, 255])
def test_names_of_up_to_255_characters_have_a_key(length: int) -> None:
    name = "ark:12345/" + "\U0001f600" * max(1, length - 10)
    assert len(assignable(name)) == 10 + 12 * max(1, length - 10)


def test_the_example_naan_can_be_bound() -> None:
    assert assignable("ark:12345/x").replace("12345", "67890") == assignable("ark:67890/x")


@pytest.mark.parametrize("spelling", ["ark:12345/doc?info", "https://n2t.net/ark:/12345/d-oc?#f", "ark:12345/doc#f"])
def test_a_query_or_fragment_is_not_part_of_the_key(spelling: str) -> None:
    assert naming.key(naming.read(spelling)) == naming.key_of(spelling) == "ark:12345/doc"


@pytest.mark.parametrize(
    "spelling",
    [
        *("ark:/12345/X6-np1.b.a", "ARK:12345/x6np1", "ark:99999/x-1", "ark:12345/a%2fb", "ark:9-9999/x"),
        *("https://n2t.net/ark:/12345/x6-np1", "urn:isbn:0-451-45052-3", f"ark:12345/{'x' * 300}"),
    ],
)
def test_the_key_of_a_text_is_that_of_the_parsed_name(spelling: str) -> None:
    assert naming.key_of(spelling) == naming.key_of(naming.read(spelling)) == naming.key(naming.read(spelling))


@pytest.mark.parametrize("text", ["", "x", "ark:12345/a/../b", "ark:12345", "ark:12345/x y", "x" * 5000])
def test_a_text_without_a_key_is_refused_as_by_reading_it(text: str) -> None:
    outcomes = []
    for read in (naming.key_of, lambda each: naming.key(naming.read(each))):
        try:
            outcomes.append(read(text))
        except BindingError as error:
            outcomes.append(error.code)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        pytest.param("ark:12345/a%2Eb", ["ark:12345/a.b"], id="an encoded dot"),
        pytest.param("ark:12345/x%2Eb.a", ["ark:12345/x.a.b"], id="an encoded dot that would begin a variant"),
        pytest.param("ark:12345/a.b", ["ark:12345/a%2Eb"], id="a dot"),
        pytest.param("ark:12345/ab", [], id="no dot"),
        pytest.param("urn:foo:a.b", [], id="a URN, in which nothing is decoded"),
    ],
)
def test_names_that_software_may_confuse_are_found(name: str, others: list[str]) -> None:
    assert confusable(name) == others


def test_a_name_with_many_dots_has_few_similar_names() -> None:
    assert len(confusable("ark:12345/x" + ".a1" * 80)) < 10


@pytest.mark.parametrize(
    ("spellings", "why"),
    [
        pytest.param(["ark:/12345/a", "ARK:12345/a"], "", id="nothing to explain"),
        pytest.param(["ark:12345/1987-12-3"], "hyphens in an ARK are ignored", id="hyphens"),
        pytest.param(["ark:12345/a.c.b"], "the variants of an ARK (the parts after the dots", id="variants"),
        pytest.param(["ark:12345/%41"], "characters that need no percent-encoding are decoded", id="percent-encoding"),
        pytest.param(
            ["urn:isbn:0-451-45052-3", "urn:isbn:0451450523"], "equivalent by the rules of their namespace", id="a URN"
        ),
        pytest.param(["ARK:/12345/%c3%a9", "ark:12345/\u00e9"], "", id="case of letters and hexadecimal digits"),
        pytest.param(["URN:FOO:a%2f", "urn:foo:a%2F"], "", id="case of a URN"),
        pytest.param(["nonsense"], "", id="no identifier"),
    ],
)
def test_the_reason_for_the_equivalence_of_two_spellings_is_given(spellings: list[str], why: str) -> None:
    found = naming.why_same(*spellings)
    assert why in found
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("identifier", "code", "words"),
    [
        pytest.param("ark:12345/a-b", None, "", id="a hyphen"),
        pytest.param("ark:12345/a\u2013b", "non-ascii", "U+2013 EN DASH, which is not a hyphen", id="a dash"),
        pytest.param("ark:12345/\u00e9\u2212b", "non-ascii", "U+2212 MINUS SIGN and 1 other, which", id="a dash first"),
        pytest.param("ark:12345/a%E2%80%93b", "non-ascii", "U+2013 EN DASH", id="a dash, percent-encoded"),
        pytest.param("ark:12345/\u00e9", "non-ascii", "which is not ASCII", id="a letter"),
        pytest.param("urn:example:%C3%A9", "non-ascii", "which is not ASCII", id="a URN"),
        pytest.param("ark:12345/a%E2%80%8Bb", "hidden-char", "U+200B ZERO WIDTH SPACE, which is inv", id="hidden"),
        pytest.param("urn:example:a%C2%ADb", "hidden-char", "U+00AD SOFT HYPHEN, which is inv", id="hidden in a URN"),
        pytest.param("ark:12345/a\u0378b", "unassigned", "U+0378", id="not assigned"),
    ],
)
def test_a_name_that_is_not_ascii_is_questionable(identifier: str, code: str | None, words: str) -> None:
    found = naming.warnings_about(identifier)
    assert [warning.code for warning in found] == ([code] if code else [])
    assert all(words in warning.message for warning in found)


def test_a_dot_at_the_end_of_an_ark_is_a_warning():
    assert [warning.code for warning in naming.warnings_about("ark:12345/x7.")] == ["dot-in-name"]
    assert [warning.code for warning in naming.warnings_about("ark:12345/a.-")] == ["dot-in-name"]
    assert naming.warnings_about("urn:example:a.") == naming.warnings_about("ark:12345/x.pdf") == []


@pytest.mark.parametrize(
    ("identifier", "part"),
    [
        pytest.param("https://n2t.net/ark:/12345/n1$zView", "$zView", id="MARC"),
        pytest.param("uhttps://n2t.net/ark:/12345/n1", "the name has u before it", id="an unregistered scheme"),
        pytest.param("urn:nbn:fi:lb-1,Corpus", ",Corpus", id="the next cell"),
        pytest.param("urn:isbn:9780306406157;Book", ";Book", id="the next cell after an ISBN"),
        pytest.param("ark:12345/x5m1\u2019s", "s at its end", id="an apostrophe"),
        pytest.param("ark:12345/x5m1", None, id="nothing"),
        pytest.param("https://n2t.net/ark:/12345/x5m1", None, id="an address"),
        pytest.param("urn:lex:br:federal:lei:2007-05-31;11482", None, id="a semicolon with a meaning"),
    ],
)
def test_a_part_of_a_container_in_a_name_is_a_warning(identifier: str, part: str | None) -> None:
    found = [each for each in naming.warnings_about(identifier) if each.code == "name-container"]
    assert len(found) == (part is not None)
    assert all((part or "") in each.message for each in found)
