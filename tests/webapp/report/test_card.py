"""Cards: the content and order of a report, and its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ararat.webapp.report import card as cards
from ararat.webapp.report import excerpt, parts
from ararat.webapp.report.inspection import inspect


def card_of(text, bindings=None, prefix=None) -> Any:
    [finding] = inspect(text, prefix=prefix, bindings=bindings).findings
    return cards.card(finding)


def words(line, *kinds):
    return "".join(piece.text for run in line if not kinds or run.kind in kinds for piece in run.pieces)


def test_each_segment_has_a_label():
    card = card_of("ark:/12345/x6-np1/map.pdf.en?info#f")
    assert [(part.label, words(part.line)) for part in card.parts] == [
        ("label (classic)", "ark:/"),
        ("NAAN", "12345"),
        ("", "/"),
        ("Name", "x6-np1"),
        ("component", "/map"),
        ("variant", ".pdf"),
        ("variant", ".en"),
        ("inflection", "?info"),
        ("fragment", "#f"),
    ]


def test_the_first_segment_of_a_url_is_its_prefix():
    card = card_of("https://n2t.net/ark:12345/x")
    assert [(part.label, words(part.line)) for part in card.parts][:2] == [
        ("resolver prefix", "https://n2t.net/"),
        ("label", "ark:"),
    ]


# URN-001, URN-035
def test_segments_of_a_urn_use_the_terms_of_urns():
    labels = [part.label for part in card_of("urn:isbn:0451450523").parts]
    assert labels == ["label", "NID", "", "NSS"]


@pytest.mark.naughty
def test_the_segments_are_the_text_in_order(naughty):
    for finding in inspect(naughty.input[:20_000]).findings:
        card = cards.card(finding)
        shown = "".join(words(part.line) for part in card.parts) or words(card.given)
        if len(finding.report.input) <= 200:
            assert shown == finding.report.input


def test_a_segment_lists_its_problems():
    card = card_of("ark:12-345/a\u202eb")
    flagged = {part.label: part.problems for part in card.parts if part.problems}
    numbers = {fault.code: fault.number for fault in card.faults}
    assert flagged == {"NAAN": (numbers["naan-hyphen"],), "Name": (numbers["bidi-formatting"],)}


def test_an_invalid_identifier_has_a_position():
    card = card_of("ark:12345/x!y")
    # The parts are shown although the identifier is outside the specification, with the wrong character marked.
    name = next(part for part in card.parts if part.part == "name")
    assert words(name.line, "mark") == "!"
    assert name.problems == (1,)
    assert words(card_of("ark:12345").given, "mark") == ""
    [fault] = card.faults
    assert (fault.severity, fault.place, fault.code) == ("error", "Character 12.", "bad-char")
    assert words(fault.line, "mark") == "!"
    assert fault.expected
    assert fault.reference


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("ark:12345/x!", "Character 12.", id="one character"),
        pytest.param("ark:99999/x", "Characters 5 to 9.", id="several"),
        pytest.param("ark:12345", "At the end.", id="the end"),
    ],
)
def test_positions_count_from_one(text, place):
    card = card_of(text)
    assert card.faults[0].place == place


def test_errors_and_warnings_come_before_notes():
    card = card_of("ark:12345/\u0431\u202e.b.a")
    assert {fault.severity for fault in card.faults} <= {"error", "warning"}
    assert {note.severity for note in card.notes} == {"note"}
    assert [*card.faults, *card.notes] == sorted([*card.faults, *card.notes], key=lambda remark: remark.number)


def test_each_step_shows_its_change():
    card = card_of("ark:/12345/x6-np1/map\u202e.pdf.en")
    assert [(words(change.line, "del"), words(change.line, "ins")) for change in card.changes] == [
        ("/", ""),
        ("-", ""),
        ("\u202e", "%E2%80%AE"),
        (".en", ".en"),
    ]
    assert card.normal.copy == "ark:12345/x6np1/map%E2%80%AE.en.pdf"


def test_the_hierarchy_distinguishes_bound_and_implied_names(bound):
    card = card_of("ark:12345/x/p.en", bound({"ark:12345/x/p.en": "located", "ark:12345/x": "withdrawn"}))
    assert [(member.identifier, member.role, member.state, member.here) for member in card.members] == [
        ("ark:12345/x", "container", "withdrawn", False),
        ("ark:12345/x/p", "base of this variant", "implied", False),
        ("ark:12345/x/p.en", "this identifier, a variant", "recorded here", True),
    ]


def test_a_long_hierarchy_omits_and_counts_its_first_members():
    card = card_of("ark:12345/x" + "/y" * 40)
    assert len(card.members) == cards.MAX_MEMBERS
    assert card.members_left_out == 41 - cards.MAX_MEMBERS
    assert card.members[-1].here


def test_the_given_spelling_is_the_first_to_copy_and_ascii():
    card = card_of("ark:/12345/\u0431-1", prefix="https://example.org")
    assert [(spelling.label, spelling.copy) for spelling in card.spellings] == [
        ("as given, in ASCII", "ark:/12345/%D0%B1-1"),
        ("classic form", "ark:/12345/%D0%B11"),
        ("normal form", "ark:12345/%D0%B11"),
        ("at the official resolver", "https://n2t.net/ark:/12345/%D0%B1-1"),
        ("at this site", "https://example.org/ark:12345/%D0%B11"),
    ]


# URN-048
@pytest.mark.parametrize(
    ("text", "normal_form"),
    [("URN:ISBN:0-451-45052-3", "urn:isbn:0-451-45052-3"), ("urn:foo:a%c3%a9", "urn:foo:a%C3%A9")],
)
def test_the_normal_form_of_a_urn_can_be_copied(text, normal_form):
    assert normal_form in [spelling.copy for spelling in card_of(text).spellings]


def test_a_spelling_with_two_roles_has_both_labels():
    labels = [spelling.label for spelling in card_of("ark:12345/x").spellings]
    assert labels == ["as given, normal form", "classic form", "at the official resolver"]
    assert card_of("URN:FOO:a").spellings[0].label == "as given"
    assert card_of("urn:foo:a").spellings[0].label == "as given, normal form"


def test_the_verdicts_of_both_urn_specifications_are_shown():
    rows = {row.label: row.cells for row in card_of("urn:example:a/b?+r?=q#f").profiles}
    assert rows["Valid"] == ("no", "yes")
    assert rows["r-component"] == ("", excerpt.plain("r"))
    assert rows["Query"] == (excerpt.plain("+r?=q"), "")
    assert rows["Problems"][0] == excerpt.plain("nss-slash, query-not-assigned, fragment-not-opted-in")
    assert card_of("ark:12345/x").profiles == ()


def test_every_unusual_code_point_is_listed():
    card = card_of("ark:12345/\u0431\u202e")
    assert [(char.index, char.code_point) for char in card.unusual] == [(10, "U+0431"), (11, "U+202E")]
    assert not card.unusual_goes_on
    assert card_of("ark:12345/" + "\u0431" * 80).unusual_goes_on


def test_a_suggestion_has_a_reason():
    assert card_of("ark:12345/x/").suggestions[0].text == "ark:12345/x"
    [_, sentence] = inspect("See ark:12345/x and urn:foo:a,").findings
    [suggestion] = cards.card(sentence).suggestions
    assert suggestion.text == "urn:foo:a"
    assert "punctuation" in suggestion.label
    assert card_of("ark:12345/x").suggestions == ()


def test_a_name_outside_the_specification_has_two_suggestions_and_can_be_traced():
    card = card_of("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ")
    assert [each.text for each in card.suggestions] == [
        "https://www.familysearch.org/ark:/61903/1%3A1%3AMW98-MNJ",
        "https://www.familysearch.org/ark:/61903/1",
    ]
    assert card.subject == "ark:/61903/1:1:MW98-MNJ"
    assert card.verdict.tag == "outside the specification"
    assert "Family Search" in card.verdict.headline
    assert [part.label for part in card.parts] == ["resolver prefix", "label (classic)", "NAAN", "", "Name"]
    assert words(card.parts[-1].line, "mark") == "::"


def test_a_card_states_the_rest_of_a_row():
    (row,) = inspect("ark:12345/x,Title").findings
    card = cards.card(row)
    assert card.verdict.headline.startswith("A valid ARK")
    assert card.rest is not None


@pytest.mark.parametrize(
    ("text", "is_here"),
    [("x", True), ("x?info", True), ("x/y", True), ("r9", True), ("z/y", False), ("u", False)],
    ids=["a name", "an inflection", "a part of a name", "a rule", "no part without passthrough", "unknown"],
)
def test_the_link_of_a_card_leads_to_the_site_that_answers(open_store, tmp_path, text, is_here):
    bindings = open_store(tmp_path / "bindings.sqlite")
    bindings.bind("ark:12345/x", "https://museum.example/x", passthrough="normal")
    bindings.bind("ark:12345/z", "https://museum.example/z")
    bindings.rules.set("ark:12345/r", "https://museum.example/${value}")
    (found,) = inspect(f"ark:12345/{text}", bindings=bindings).findings
    drawn = cards.card(found, "https://ids.example").drawn
    assert bool(drawn and drawn.copy and drawn.copy.startswith("https://ids.example/")) == is_here


def test_a_name_below_a_rule_is_said_to_follow_it(open_store, tmp_path):
    bindings = open_store(tmp_path / "bindings.sqlite")
    bindings.rules.set("ark:12345/r", "https://museum.example/${value}")
    (found,) = inspect("ark:12345/r9", bindings=bindings).findings
    verdict = cards.card(found).verdict
    assert (verdict.code, verdict.headline) == ("part", "A valid ARK of this site")
    assert "A rule for names that begin with ark:12345/r leads to museum.example." in verdict.sentence


def test_a_card_has_no_link_while_the_names_cannot_be_read(bound):
    (found,) = inspect("ark:12345/x", bindings=bound({"ark:12345/x": "located"})).findings
    assert cards.card(found).drawn is not None
    assert cards.card(replace(found, site=replace(found.site, unread=True))).drawn is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ark:12345/" + "x" * 100_000, id="one long name"),
        pytest.param("ark:12345/x" + "/y" * 20_000, id="many components"),
        pytest.param("ark:12345/x" + ".b-" * 20_000, id="many variants"),
        pytest.param("ark:12345/x" + "\u202e" * 20_000, id="many hidden characters"),
        pytest.param("ark:12345/x" + "-\u0431" * 20_000, id="many changes"),
        pytest.param("urn:foo:" + "%c3" * 20_000, id="a long urn"),
        pytest.param("ark:12345/x!" + "y" * 100_000, id="long and wrong"),
    ],
)
def test_a_card_repeats_little_of_a_long_identifier(text):
    card = card_of(text)
    shown = [card.given, *(part.line for part in card.parts), *(change.line for change in card.changes)]
    shown += [remark.line for remark in (*card.faults, *card.notes)] + [member.line for member in card.members]
    shown += [spelling.line for spelling in (card.normal, *card.suggestions, *card.spellings) if spelling]
    # A run of one hidden character is shown as one chip.
    repeated = [sum(len(piece.chip or piece.text) for run in line for piece in run.pieces) for line in shown]
    assert max(repeated) <= 2_000
    assert sum(len(words(part.line)) for part in card.parts) <= 2_000
    assert len(card.parts) <= parts.MAX_SEGMENTS + 1
    assert all(run.left_out for line in shown for run in line if run.kind == "gap")
    copied = [spelling.copy for spelling in card.spellings if spelling.copy]
    assert all(len(text) <= cards.MAX_COPIED for text in copied)
