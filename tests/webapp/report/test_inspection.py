"""The identifiers in a text, and reports without bindings."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from ararat.identifiers import examine, iri_policy
from ararat.webapp.report import inspection

SENTENCE = "See ark:/12345/x-1, https://n2t.net/ark:/12345/y and urn:isbn:0451450523."


def test_each_identifier_in_a_text_is_found_and_examined():
    found = inspection.inspect(SENTENCE)
    assert [finding.report.normal_form for finding in found.findings] == [
        "ark:12345/x1",
        "ark:12345/y",
        "urn:isbn:0451450523.",
    ]
    assert [SENTENCE[finding.match.start : finding.match.end] for finding in found.findings] == [
        finding.report.input for finding in found.findings
    ]


def test_closing_punctuation_is_kept_and_a_shorter_identifier_suggested():
    *_, last = inspection.inspect(SENTENCE).findings
    assert last.match.literal == last.report.input == "urn:isbn:0451450523."
    assert last.match.suggestion == "urn:isbn:0451450523"


def test_bindings_of_all_names_and_containers_are_read_once(bound):
    bindings = bound({"ark:12345/x": "located", "ark:12345/x/p.en": "withdrawn", "urn:isbn:9780451450524": "related"})
    found = inspection.inspect("ark:12345/x/p.en\nURN:ISBN:0451450523\nark:12345/z\nark:12345", bindings=bindings)
    assert [finding.site.bound for finding in found.findings] == [
        {"ark:12345/x": "located", "ark:12345/x/p.en": "withdrawn"},
        {"urn:isbn:9780451450524": "related"},
        {},
        {},
    ]
    [asked] = bindings.asked
    assert len(asked) == len(set(asked))


def test_the_key_of_a_name_has_no_inflection(bound):
    found = inspection.inspect("ark:/12345/x?info#f", bindings=bound({"ark:12345/x": "located"}))
    assert found.findings[0].site.bound == {"ark:12345/x": "located"}


def test_the_nearest_members_of_a_long_hierarchy_are_looked_up(bound):
    bindings = bound({})
    inspection.inspect("ark:12345/x" + "/y" * 200, bindings=bindings)
    asked = bindings.asked[0]
    assert len(asked) == inspection.NEAREST
    assert max(asked, key=len) == "ark:12345/x" + "/y" * 200


def test_unavailable_bindings_do_not_prevent_a_report(bound):
    found = inspection.inspect("ark:/12345/x", bindings=bound({}, reachable=False))
    assert (found.findings[0].site.bound, found.findings[0].site.unread) == (None, True)
    assert answer_of(found)["found"][0]["bound"] is None
    assert found.findings[0].report.normal_form == "ark:12345/x"


def test_bindings_are_not_read_without_names(bound):
    bindings = bound({})
    inspection.inspect("no identifier here", bindings=bindings)
    inspection.inspect("ark:12345", bindings=bindings)
    assert bindings.asked == []


def test_the_first_thousand_identifiers_are_reported():
    text = "\n".join(f"ark:12345/x{number}" for number in range(inspection.MAX_FOUND + 5))
    found = inspection.inspect(text)
    assert found.truncated
    assert len(found.findings) == inspection.MAX_FOUND
    assert not inspection.inspect(text.partition("\n")[0]).truncated


def answer_of(found: inspection.Inspection) -> Any:
    text = "".join(found.as_json())
    assert text.isascii()
    assert text.endswith("}\n")
    return json.loads(text)


def test_the_json_has_the_fields_of_the_api(bound):
    answer = answer_of(inspection.inspect("see ark:/12345/x", bindings=bound({"ark:12345/x": "located"})))
    [found] = answer.pop("found")
    assert answer == {"input_length": 16, "truncated": False}
    report, verdict = found.pop("report"), found.pop("verdict")
    assert (verdict["code"], verdict["tag"]) == ("recorded", "valid, recorded here")
    assert report["normal_form"] == "ark:12345/x"
    assert found == {
        "start": 4,
        "end": 16,
        "literal": "ark:/12345/x",
        "suggestion": None,
        "why": [],
        "bound": {"ark:12345/x": "located"},
        "hold": None,
    }
    [row] = answer_of(inspection.inspect("ark:12345/x,Title"))["found"]
    assert row["why"] == ["followed-by: ,Title"]
    [broken] = answer_of(inspection.inspect("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ"))["found"]
    assert broken["why"] == ["outside"]


def test_null_in_json_means_unknown():
    assert answer_of(inspection.inspect("ark:12345/x"))["found"][0]["bound"] is None


MEGABYTE = 2**20
LIMITS = ("MAX_JSON", "MAX_CONTAINED", "MAX_SEGMENTS", "MAX_PROBLEMS")
COMPONENTS = "ark:12345" + "/a" * 519 + " "


@pytest.fixture
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the limits of the reports of a text."""
    for limit in LIMITS:
        monkeypatch.setattr(inspection, limit, getattr(inspection, limit) // 8)
    low = partial(inspection._Room, inspection.MAX_CONTAINED, inspection.MAX_SEGMENTS, inspection.MAX_PROBLEMS)
    monkeypatch.setattr(inspection, "_Room", low)


@pytest.mark.usefixtures("low_limits")
def test_the_json_of_many_components_is_limited() -> None:
    check_json((COMPONENTS * (MEGABYTE // 8 // len(COMPONENTS)))[: MEGABYTE // 8])


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(COMPONENTS, id="components"),
        pytest.param("ark:12345/x" + ".a" * 515 + " ", id="variants"),
        pytest.param("ark:12345" + "/a.b" * 260 + " ", id="variants-before-components"),
        pytest.param("ark:12345" + "/%41" * 259 + " ", id="triplets"),
        pytest.param("ark:12345" + "/-a" * 345 + " ", id="hyphens"),
        pytest.param("ark:12345" + "/a\U0001df00.b" * 150 + " ", id="letters-of-four-octets"),
    ],
)
def test_the_json_of_a_megabyte_is_limited(unit: str) -> None:
    check_json((unit * (MEGABYTE // len(unit.encode())))[:MEGABYTE])


def check_json(text: str) -> None:
    found = inspection.inspect(text)
    assert found.shortened
    pieces = list(found.as_json())
    longest = max(map(len, pieces))
    assert sum(map(len, pieces)) <= inspection.MAX_JSON + longest + 100
    answer = answer_of(found)
    assert answer["truncated"] == (found.shortened or len(answer["found"]) < len(found.findings))
    reports = [each.report for each in found.findings]
    contained = sum(len(member) for report in reports for member in report.hierarchy[:-1])
    assert contained <= inspection.MAX_CONTAINED
    spare = inspection.ALWAYS * len(reports)
    assert sum(len(report.segments) for report in reports) <= inspection.MAX_SEGMENTS + spare
    assert sum(len(report.problems) for report in reports) <= inspection.MAX_PROBLEMS + spare


@pytest.mark.usefixtures("low_limits")
def test_a_shortened_report_keeps_the_nearest_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "MAX_JSON", 10**9)
    text = (COMPONENTS * 63).strip()
    found = inspection.inspect(text)
    whole, last = examine(text.partition(" ")[0]), found.findings[-1].report
    assert found.shortened
    assert last.hierarchy == whole.hierarchy[-len(last.hierarchy) :] != ()
    assert len(last.segments) == inspection.ALWAYS
    assert answer_of(found)["truncated"]
    half = inspection.ALWAYS // 2
    assert last.segments == whole.segments[:half] + whole.segments[-half:]


def test_a_report_keeps_the_first_of_many_problems() -> None:
    whole, room = examine("ark:12345" + "/a.b" * (inspection.MAX_PROBLEMS + 5)), inspection._Room()
    assert len(whole.problems) > inspection.MAX_PROBLEMS
    assert room.shorten_report(whole).problems == whole.problems[: inspection.MAX_PROBLEMS]
    assert room.shorten_report(whole).problems == whole.problems[: inspection.ALWAYS]
    assert room.exceeded


def test_usual_reports_are_complete() -> None:
    text = "\n".join(f"ark:/12345/x-{number}/part/page.v{number % 9}.pdf" for number in range(inspection.MAX_FOUND))
    found = inspection.inspect(text)
    assert not found.shortened
    assert [each.report for each in found.findings[::10]] == [examine(line) for line in text.split("\n")[::10]]
    assert (len(answer_of(found)["found"]), answer_of(found)["truncated"]) == (inspection.MAX_FOUND, False)


def test_iris_of_a_policy_are_found_and_checked():
    found = inspection.inspect(
        "See https://17beta.top/en/ and ark:12345/x.", policies=[iri_policy.built_in("17beta")]
    ).findings
    assert [(each.match.literal, each.report.policy and each.report.policy["codes"]) for each in found] == [
        ("https://17beta.top/en/", ["empty-segment"]),
        ("ark:12345/x", None),
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("recorded", "shown", "is_suggested"),
    [
        pytest.param(["ark:12345/x5m1"], "ark:12345/x5m1", True, id="only the shorter one"),
        pytest.param(["ark:12345/x5m1%E3%82%92"], "ark:12345/x5m1\u3092", False, id="only the longer one"),
        pytest.param(["ark:12345/x5m1", "ark:12345/x5m1%E3%82%92"], "ark:12345/x5m1\u3092", False, id="both"),
        pytest.param([], "ark:12345/x5m1\u3092", False, id="none"),
    ],
)
def test_the_only_recorded_reading_is_taken(bound, recorded, shown, is_suggested):
    bindings = bound(dict.fromkeys(recorded, "located"))
    (found,) = inspection.inspect("\u8a73\u7d30\u306fark:12345/x5m1\u3092", bindings=bindings).findings
    assert (found.report.input, found.is_suggested) == (shown, is_suggested)
    assert found.as_dict()["report"]["input"] == shown
    assert found.site.kind == ("located" if recorded else "")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("https://n2t.net/ark:12345/x/f1.item\nhello", ("hello",), id="a line below a link"),
        pytest.param("ark:12345/x\n\n doi:10.1/2 \nurn:isbn:0451450523\nISSN 1", ("doi:10.1/2", "ISSN 1"), id="two"),
        pytest.param("ark:12345/x\nark:12345/y\n", (), id="none"),
        pytest.param("ark:12345/x", (), id="one line"),
        pytest.param("One line.\nThe map is ark:12345/x there.\nAnother line.", (), id="sentences"),
        pytest.param("nothing\nhere", (), id="no identifier"),
    ],
)
def test_lines_of_a_list_without_an_identifier_are_named(text, lines):
    assert inspection.inspect(text).lines_without == lines


@pytest.mark.one_setup
@pytest.mark.parametrize("end", ["/", "."])
def test_a_name_with_the_final_slash_or_dot_of_a_reader_is_found(bound, end):
    (found,) = inspection.inspect(f"ark:/12345/x-1{end}", bindings=bound({"ark:12345/x1": "located"})).findings
    assert (found.key, found.verdict.code) == ("ark:12345/x1", "recorded")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "pattern", "text", "code"),
    [
        pytest.param("ark:12345/k1", "29^4+check", "ark:/12345/k1-bcdf9", "mistyped", id="an ARK"),
        pytest.param("ark:12345/k1", "29^4+check", "ark:12345/k1exhibition", "not-known", id="an ARK of another kind"),
        pytest.param("urn:nbn:de:gbv:089-", "10^3+nbn", "URN:NBN:DE:gbv:089-0008", "mistyped", id="a URN"),
    ],
)
def test_the_check_character_of_names_that_are_minted_here_is_compared(bindings, prefix, pattern, text, code):
    bindings.prefixes.set(prefix, pattern=pattern)
    (found,) = inspection.inspect(text, bindings=bindings).findings
    assert found.verdict.code == code
    bindings.bind(found.key, "https://example.org/1")
    (found,) = inspection.inspect(text, bindings=bindings).findings
    assert found.site.kind == "located"
    assert found.verdict.code == "recorded"
