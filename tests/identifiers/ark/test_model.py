"""ARKs: grammar, structure, normal form (ARK draft, sections 3, 4 and 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import Ark, IdentifierError, equivalent, examine, parse
from ararat.identifiers.ark import model as ark
from ararat.identifiers.ark.normalization import RULES, Parts, normal

NAME_CHARS = "0123456789abzABZ=~*+@_$-.\u00e9\u0431\u202e\U0001f600"
# S-03
TRIPLETS = ["%41", "%2d", "%2D", "%2E", "%2f", "%7E", "%ff", "%C3%A9", "%25", "%00"]
names = st.lists(st.sampled_from([*NAME_CHARS, *TRIPLETS]), min_size=1, max_size=8).map("".join)
naans = st.lists(st.sampled_from([*"0123459bcxz-", "%31", "%2D", "%D0"]), min_size=1, max_size=6).map("".join)
tails = st.sampled_from(["", "?", "??", "?info", "?%69nfo", "#", "?a-b%2dc#\u0444", "#f?\u00e9"])
candidates = st.builds(
    lambda label, naan, path, tail: f"{label}{naan}/{'/'.join(path)}{tail}",
    st.sampled_from(["ark:", "ark:/", "ARK:", "aRk:/"]),
    naans,
    st.lists(names, min_size=1, max_size=4),
    tails,
)


@st.composite
def arks(draw: st.DrawFn) -> Ark:
    """Yield extended ARKs in both forms."""
    while True:
        try:
            return ark.parse(draw(candidates))
        except IdentifierError:
            continue


@pytest.mark.vectors("ark-parse")
def test_texts_are_parsed_as_the_draft_and_the_decisions_require(vector):
    report = examine(vector.input)
    codes = [problem.code for problem in report.problems]
    parts = {**report.parts, "valid": report.valid, "form": report.form, "conformance": report.conformance}
    for field, expected in vector.expect.items():
        if field == "reason":
            assert codes[0] == expected
        elif field == "diagnostics":
            assert set(expected) <= set(codes)
        else:
            assert parts[field] == expected, field


@pytest.mark.vectors("ark-normalize")
def test_only_extended_arks_have_a_normal_form(vector):
    if code := vector.expect.get("error"):
        with pytest.raises(IdentifierError) as refused:
            ark.normalize(vector.input)
        assert refused.value.problem.code == code
    else:
        assert ark.normalize(vector.input) == vector.expect["normal"]


@pytest.mark.vectors("ark-equivalent")
def test_arks_are_equivalent_when_their_normal_forms_are_equal(vector):
    assert equivalent(*vector.input) is vector.expect["equivalent"]


@pytest.mark.vectors("ark-hierarchy")
def test_the_hierarchy_ends_with_the_ark_itself(vector):
    assert list(ark.parse(vector.input).hierarchy) == vector.expect["chain"]


@pytest.mark.vectors("inflection")
def test_the_inflection_is_read_from_the_normal_form(vector):
    found = ark.parse(vector.input)
    assert (found.inflection, found.service) == (vector.expect["inflection"], vector.expect["service"])


@pytest.mark.vectors("bidi-char")
def test_a_raw_bidi_character_causes_a_warning_or_an_error(vector):
    found = ark.parse(f"ark:12345/a{vector.input}b")
    codes = {problem.code for problem in found.problems}
    assert ("bidi-formatting" in codes) is vector.expect["forbidden_by_rfc3987"]
    assert found.strict is not vector.expect["forbidden_by_rfc3987"]
    assert ("hidden-char" in codes) is vector.expect.get("warn", False)
    assert found.normal_form.isascii()


@pytest.mark.parametrize(
    "char", [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))], ids=lambda char: f"U+{ord(char):04X}"
)
def test_control_characters_are_refused(char):
    for text in (f"ark:12345/a{char}b", f"ark:12{char}345/a", f"ark:12345/a?{char}", f"ark:12345/a#{char}"):
        with pytest.raises(IdentifierError) as refused:
            parse(text)
        assert refused.value.problem.code == "control-char"
        assert text[refused.value.problem.start : refused.value.problem.end] == char


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ar\u212a:12345/x", id="kelvin sign"),
        pytest.param("\uff41\uff52\uff4b:12345/x", id="fullwidth"),
        pytest.param("\u0430rk:12345/x", id="cyrillic a"),
        pytest.param("\u0430\u0440\u043a:12345/437719", id="cyrillic"),
        pytest.param("ark\uff1a12345/x", id="fullwidth colon"),
        pytest.param("a\u200drk:12345/x", id="joiner inside"),
    ],
)
def test_a_lookalike_label_is_refused_and_the_ascii_label_suggested(text):
    report = examine(text)
    assert (report.form, report.valid) == ("none", False)
    assert report.problems[0].code == "transliterated-label"
    assert (report.suggestion or "").startswith("ark:12345/")


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        pytest.param("ark:12345/x%zz", "bad-percent", "%zz", id="bad triplet"),
        pytest.param("ark:12345/x%", "bad-percent", "%", id="cut triplet"),
        pytest.param("ark:123\u0664/x", "naan-char", "\u0664", id="arabic digit in the NAAN"),
        pytest.param("ark:/", "no-naan", "", id="nothing after the slash"),
        pytest.param("ark:///", "double-slash", "//", id="slashes alone"),
        pytest.param("ark:12345//", "empty-segment", "//", id="two slashes at the end"),
        pytest.param("ark:12345/a\ud800", "bad-char", "\ud800", id="lone surrogate"),
        pytest.param("ark:12345/x#a#b", "bad-fragment", "#", id="second number sign"),
        pytest.param("ark:12345/x\n", "control-char", "\n", id="line feed at the end"),
        pytest.param("ark:%2D/x", "empty-after-normalization", "%2D", id="NAAN of hyphens"),
    ],
)
def test_an_error_has_a_code_and_a_position(text, code, marked):
    with pytest.raises(IdentifierError) as refused:
        ark.parse(text)
    problem = refused.value.problem
    assert (problem.code, text[problem.start : problem.end]) == (code, marked)
    assert str(refused.value).replace("\n", "").isprintable()
    assert str(refused.value).isascii()


@given(arks())
def test_normalization_is_idempotent_and_returns_ascii(found):
    assert ark.normalize(found.normal_form) == found.normal_form
    assert found.normal_form.isascii()
    assert found.normal_form.isprintable()


@given(arks())
def test_all_ways_to_the_normal_form_agree(found):
    assert "".join(normal(found.written.parts)) == found.normal_form


@given(candidates)
def test_theorem_2_a_basic_ark_has_a_basic_normal_form_and_vice_versa(text):
    try:
        found = ark.parse(text)
    except IdentifierError:
        return
    again = ark.parse(found.normal_form)
    assert (found.query is None, found.fragment is None) == (again.query is None, again.fragment is None)
    assert again.strict or not found.strict
    assert len(again.components) == len(found.components)


@given(arks(), arks(), arks())
def test_theorem_1_equivalence_is_an_equivalence_relation(a, b, c):
    assert a == ark.parse(a.text)
    assert (a == b) == (b == a) == equivalent(a.text, b.text)
    assert not (a == b and b == c) or a == c
    assert a != b or hash(a) == hash(b)


@given(arks(), st.data())
def test_an_inserted_hyphen_does_not_change_the_normal_form(found, data):
    place = data.draw(st.integers(len(found.label), _body_end(found)))
    if "%" in found.text[max(0, place - 2) : place]:
        return
    hyphen = data.draw(st.sampled_from(["-", "%2D", "%2d"]))
    changed = ark.parse(found.text[:place] + hyphen + found.text[place:])
    assert changed == found
    assert changed.hierarchy == found.hierarchy
    assert len(changed.variants) == len(found.variants)


@given(arks())
def test_replaying_the_steps_gives_the_normal_form(found):
    rules = {rule.name: rule for rule in RULES}
    text = found.text
    parts = Parts(found.label, *_cut(found.text[len(found.label) :]))
    for step in found.steps:
        assert step.before == text
        parts = rules[step.rule].apply(parts)
        text = step.after
        assert "".join(parts) == text
        assert step.before != step.after
    assert text == found.normal_form


@given(arks())
def test_members_of_a_hierarchy_are_in_normal_form(found):
    assert found.hierarchy[-1] == found.basic
    for member in found.hierarchy:
        assert ark.parse(member).normal_form == member
    assert len(found.hierarchy) == 1 + len(found.components) + bool(found.variants)


@given(arks())
def test_the_segments_cover_the_text_in_order(found):
    end = 0
    for segment in found.segments:
        assert segment.start == end
        end = segment.end
    assert end == len(found.text)
    assert [found.text[s.start + 1 : s.end] for s in found.segments if s.part == "variant"] == list(found.variants)


@given(st.text())
def test_parse_raises_only_identifier_error(text):
    for read in (ark.parse, parse):
        for given_text in (text, f"ark:12345/{text}", f"ark:{text}", f"https://{text}/ark:12345/{text}"):
            try:
                read(given_text)
            except IdentifierError as error:
                told = str(error)
            else:
                continue
            assert told.isascii()
            assert told.count("\n") == 3


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ark:12345/" + ".a" * 100_000 + "!", id="dots"),
        pytest.param("ark:12345/" + "a/" * 100_000 + "!", id="slashes"),
        pytest.param("ark:12345/" + "%41" * 100_000 + "%", id="triplets"),
        pytest.param("ark:12345/" + "-" * 1_000_000, id="hyphens"),
        pytest.param("ark:" * 500_000, id="labels"),
        pytest.param("ark:12345/" + "x/" * 100_000 + "y", id="components"),
        pytest.param("http://[" + ":" * 300_000 + "]/", id="colons"),
        pytest.param("ark:12345/" + "a\u200b" * 100_000, id="invisible"),
        pytest.param("x" * 10_000_000, id="ten megabytes"),
    ],
)
@pytest.mark.timeout(30)
def test_long_texts_are_parsed_in_linear_time(text):
    report = examine(text)
    assert report.input is text
    assert len(report.hierarchy) <= 100


def _cut(rest: str) -> tuple[str, str]:
    end = min((place for mark in "?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    return rest[:end], rest[end:]


def _body_end(found: Ark) -> int:
    return len(found.label) + len(_cut(found.text[len(found.label) :])[0])


def test_a_head_of_hyphens_keeps_its_first_variant_in_the_name():
    # without hyphens, the head is not empty.
    found = parse("ark:12345/-.d.e")
    assert isinstance(found, Ark)
    assert (found.name, found.variants) == ("-.d", ("e",))
