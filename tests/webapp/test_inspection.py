"""What a paste holds, and what is said of it when nobody can be asked."""

from __future__ import annotations

import json

from ararat.identifiers import policy
from ararat.webapp import inspection

SENTENCE = "See ark:/12345/x-1, https://n2t.net/ark:/12345/y and urn:isbn:0451450523."


def test_each_identifier_of_a_text_is_found_and_examined():
    found = inspection.inspect(SENTENCE)
    assert [finding.report.normal_form for finding in found.findings] == [
        "ark:12345/x1",
        "ark:12345/y",
        "urn:isbn:0451450523.",
    ]
    assert [SENTENCE[finding.match.start : finding.match.end] for finding in found.findings] == [
        finding.report.input for finding in found.findings
    ]


def test_what_closes_a_sentence_is_suggested_away_and_never_taken_away():
    *_, last = inspection.inspect(SENTENCE).findings
    assert last.match.literal == last.report.input == "urn:isbn:0451450523."
    assert last.match.suggestion == "urn:isbn:0451450523"


def test_the_bindings_are_asked_once_for_all_names_and_their_containers(bound):
    bindings = bound({"ark:12345/x": "located", "ark:12345/x/p.en": "withdrawn", "urn:isbn:9780451450524": "related"})
    found = inspection.inspect("ark:12345/x/p.en\nURN:ISBN:0451450523\nark:12345/z\nark:12345", bindings=bindings)
    assert [finding.bound for finding in found.findings] == [
        {"ark:12345/x": "located", "ark:12345/x/p.en": "withdrawn"},
        {"urn:isbn:9780451450524": "related"},
        {},
        {},
    ]
    [asked] = bindings.asked
    assert len(asked) == len(set(asked))


def test_the_key_of_an_inflected_name_is_that_of_the_name(bound):
    found = inspection.inspect("ark:/12345/x?info#f", bindings=bound({"ark:12345/x": "located"}))
    assert found.findings[0].bound == {"ark:12345/x": "located"}


def test_of_a_long_hierarchy_the_nearest_members_are_looked_up(bound):
    bindings = bound({})
    inspection.inspect("ark:12345/x" + "/y" * 200, bindings=bindings)
    [asked] = bindings.asked
    assert len(asked) == inspection.NEAREST
    assert max(asked, key=len) == "ark:12345/x" + "/y" * 200


def test_while_the_bindings_cannot_be_reached_the_rest_is_said_all_the_same(bound):
    found = inspection.inspect("ark:/12345/x", bindings=bound({}, reachable=False))
    assert (found.findings[0].bound, found.findings[0].unread) == (None, True)
    assert found.as_dict()["found"][0]["bound"] is None
    assert found.findings[0].report.normal_form == "ark:12345/x"


def test_nothing_is_asked_where_there_is_nothing_to_ask(bound):
    bindings = bound({})
    inspection.inspect("no identifier here", bindings=bindings)
    inspection.inspect("ark:12345", bindings=bindings)
    assert bindings.asked == []


def test_of_very_many_identifiers_the_first_thousand_are_reported():
    text = "\n".join(f"ark:12345/x{number}" for number in range(inspection.MOST_FOUND + 5))
    found = inspection.inspect(text)
    assert found.truncated
    assert len(found.findings) == inspection.MOST_FOUND
    assert not inspection.inspect(text.partition("\n")[0]).truncated


def test_as_json_it_has_the_fields_of_the_api(bound):
    answer = inspection.inspect("see ark:/12345/x", bindings=bound({"ark:12345/x": "located"})).as_dict()
    assert json.loads(json.dumps(answer)) == answer
    [found] = answer.pop("found")
    assert answer == {"input_length": 16, "truncated": False}
    report = found.pop("report")
    assert report["normal_form"] == "ark:12345/x"
    assert found == {
        "start": 4,
        "end": 16,
        "literal": "ark:/12345/x",
        "suggestion": None,
        "bound": {"ark:12345/x": "located"},
    }


def test_as_json_null_says_that_nobody_was_asked():
    assert inspection.inspect("ark:12345/x").as_dict()["found"][0]["bound"] is None


def test_iris_of_a_policys_hosts_are_found_and_judged():
    found = inspection.inspect(
        "See https://17beta.top/en/ and ark:12345/x.", policies=[policy.known("17beta")]
    ).findings
    assert [(each.match.literal, each.report.policy and each.report.policy["codes"]) for each in found] == [
        ("https://17beta.top/en/", ["empty-segment"]),
        ("ark:12345/x", None),
    ]
