"""The parts of an identifier, with their steps and problems."""

from __future__ import annotations

import pytest

from ararat.identifiers import examine
from ararat.webapp.report import parts


def told(text):
    report = examine(text)
    steps = zip(report.steps, parts.follow_steps(report), strict=True)
    texts = [text[segment.start : segment.end] for segment in report.segments]
    return {step.rule: [texts[number - 1] for number in touched] for step, touched in steps}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ark:/12345/x-1", {"classic-slash": ["ark:/"], "hyphens": ["x-1"]}, id="label and Name"),
        pytest.param("ark:12345/x/a-b.c-d", {"hyphens": ["/a-b", ".c-d"]}, id="one step, two parts"),
        pytest.param("https://n2t.net/ARK:12345/x", {"scheme-case": ["ARK:"]}, id="inside an address"),
        pytest.param("ark:12345/x.b.a?q", {"variants": [".b", ".a"]}, id="variants that change places"),
        pytest.param(
            "ark:12345/x.a.a.b?%41",
            {"variants": [".a"], "query-and-fragment": ["?%41"]},
            id="a variant that goes, and what comes after it",
        ),
        pytest.param("URN:ISBN:0451450523", {"scheme-case": ["URN:"], "nid-case": ["ISBN"]}, id="a URN"),
        pytest.param("ark:12345/x", {}, id="nothing changes"),
    ],
)
def test_each_step_lists_the_parts_that_it_changed(text, expected):
    assert told(text) == expected


def test_problems_and_steps_have_the_numbers_of_the_card():
    report = examine("ark:12-345/a\u202eb")
    shown = {part.label: (part.problems, part.steps) for part in parts.show_parts(report, report.problems)}
    assert shown["NAAN"][0]
    assert shown["NAAN"][1] == (1,)
    assert [parts.touching(problem, report) for problem in report.problems if problem.code == "bidi-formatting"] == [
        (4,)
    ]


def test_omitted_segments_keep_their_numbers():
    shown = list(parts.show_parts(examine("ark:12345/x" + "/y" * 40), ()))
    assert [part.number for part in shown] == [*range(1, 13), 0, *range(33, 45)]
    assert shown[12].left_out == 20


def test_very_long_identifiers_are_not_followed():
    report = examine("ark:/12345/x-" + "y" * parts.MAX_FOLLOWED)
    assert parts.follow_steps(report) == [()] * len(report.steps) != []


@pytest.mark.naughty
def test_every_number_belongs_to_a_segment(naughty):
    report = examine(naughty.input[:5_000])
    changes = parts.follow_steps(report)
    assert len(changes) == len(report.steps)
    assert {number for touched in changes for number in touched} <= set(range(1, len(report.segments) + 1))
