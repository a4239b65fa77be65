"""Terminal output: wrapped, aligned, and without control characters."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.cli import output
from ararat.cli.output import Sheet, identifier, words
from ararat.cli.render import reports, traces
from ararat.identifiers import Match, examine
from ararat.middleware import open_bindings
from ararat.tracing.events import End, Hop, Note, Start
from ararat.webapp.report.comparison import compare
from ararat.webapp.report.inspection import verdicts

PRINTABLE = re.compile(r"[\x20-\x7e]*")
HOSTILE = "a\u202eb\x1b[2J\x9b31m\u200b\ud800\nc\u2066%E2%80%AE\\"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_is_not_wider_than_the_sheet() -> None:
    text = "one two three four five six seven eight nine ten"
    lines = list(Sheet(20).prose(text, indent=2))
    assert max(map(len, lines)) <= 20
    assert " ".join(line.strip() for line in lines) == text


@pytest.mark.parametrize("width", [20, 33, 40, 80, 100])
def test_a_long_word_is_split_without_loss_on_a_terminal(width: int) -> None:
    text = "https://example.org/" + "%E2%80%AE" * 40 + "/x.y?z#" + "w" * 300
    lines = list(Sheet(width, cut=True).prose(text))
    assert max(map(len, lines)) <= width
    assert "".join(lines) == text
    assert not any(re.search("%[0-9A-F]?$", line) for line in lines), "a triplet was cut in two"


def test_a_long_word_is_not_split_in_a_pipe() -> None:
    text = "ark:12345/" + "x" * 300
    assert list(Sheet(80, cut=False).prose(text)) == [text]


def test_a_label_is_beside_its_text_or_above_it_on_a_narrow_terminal() -> None:
    assert list(Sheet(80).field("Name", "x6")) == ["  Name          x6"]
    assert list(Sheet(40).field("Name", "x6")) == ["  Name", "    x6"]


def test_the_second_column_of_a_table_is_indented() -> None:
    assert list(Sheet(60).table("Parts", [("NAAN", "12345"), ("component", "one two " * 6)])) == [
        "  Parts         NAAN       12345",
        "                component  one two one two one two one two",
        "                           one two one two",
    ]


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [
        pytest.param({}, True, id="a terminal"),
        pytest.param({"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param({"NO_COLOR": ""}, True, id="an empty NO_COLOR"),
        pytest.param({"TERM": "dumb"}, False, id="a dumb terminal"),
    ],
)
def test_colour_is_used_only_on_terminals_that_permit_it(
    environ: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in Sheet.of(Screen()).paint("x", "error")) == coloured
    assert Sheet.of(io.StringIO()).paint("x", "error") == "x"


def test_colour_carries_no_extra_information() -> None:
    report = examine("ark:/12345/x6-np1/map\u202e.pdf.en?info")
    coloured = "\n".join(reports.report_lines(report, Sheet(80, colour=True)))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == "\n".join(reports.report_lines(report, Sheet(80)))


@pytest.mark.parametrize("show", [identifier, words, Sheet().paint], ids=["identifier", "words", "paint"])
def test_output_is_printable_ascii(show: Callable[[str], str]) -> None:
    assert PRINTABLE.fullmatch(show(HOSTILE))


@given(st.text())
def test_identifiers_are_never_printed_raw(text: str) -> None:
    for line in [*reports.report_lines(examine(text), Sheet(40, cut=True)), *reports.row(examine(text), Sheet())]:
        assert PRINTABLE.fullmatch(line), line


@given(st.text(), st.text())
def test_comparisons_are_never_printed_raw(a: str, b: str) -> None:
    compared = compare(f"ark:12345/{a}", f"ark:12345/{b}")
    said = verdicts((compared.a, compared.b), None)
    for line in reports.comparison_lines(compared, Sheet(40, cut=True), said):
        assert PRINTABLE.fullmatch(line), line


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_report_fits_the_width(width: int) -> None:
    report = examine("https://n2t.net/ark:/12-345/" + "x/" * 30 + "\u202e" * 20 + ".b.a?" + "q" * 200)
    assert max(map(len, reports.report_lines(report, Sheet(width, cut=True)))) <= width


def test_the_caret_is_below_the_position() -> None:
    lines = list(reports.report_lines(examine("ark:12345/a\u202eb!c"), Sheet(80)))
    shown = next(line for line in lines if "\\u{202e}b!c" in line)
    carets = lines[lines.index(shown) + 1]
    assert carets.strip() == "^"
    assert shown[carets.index("^")] == "!"


def test_a_report_has_the_verdict_and_the_steps_to_the_normal_form() -> None:
    said = "\n".join(reports.report_lines(examine("ark:/12345/x6-np1.pdf.en"), Sheet(80)))
    for part in (
        "A valid ARK for examples.",
        "ark:12345/x6np1.en.pdf",
        "Remove hyphens",
        "section 6, step 3.2",
        "variant",
        "12345",
    ):
        assert part in said


def test_an_identifier_of_another_scheme_is_named_once() -> None:
    lines = list(reports.report_lines(examine("10.1000/182"), Sheet(80)))
    assert lines[1:4] == ["A DOI, which is not an ARK or a URN.", "DOI.", "Its resolver is doi.org."]


def test_a_report_of_a_huge_identifier_is_short() -> None:
    lines = list(reports.report_lines(examine("ark:12345/" + "x/" * 100_000 + "y"), Sheet(80)))
    assert sum(map(len, lines)) < 20_000
    assert "200,011 characters in total" in "".join(lines)


def test_a_row_has_a_verdict_of_one_word() -> None:
    assert list(reports.row(examine("ark:/12345/x-1"), Sheet())) == ["strict   ark:12345/x1"]
    assert next(reports.row(examine("ark:12345"), Sheet())) == "invalid  ark:12345"


def test_a_row_has_the_headline_of_the_page_if_something_is_wrong() -> None:
    assert "Probably mistyped: the last digit should be 0" in "".join(
        reports.row(examine("urn:isbn:9783161484101"), Sheet(80))
    )
    said = " ".join("".join(reports.row(examine("ark:/61903/1:1:MW98-MNJ"), Sheet(80))).split())
    assert "An ARK of Family Search, with colons that the specification does not allow" in said


def test_a_comparison_shows_the_first_difference() -> None:
    compared = compare("ark:12345/x6a", "ark:/12345/x-7a")
    said = verdicts((compared.a, compared.b), None)
    *_, first, second, carets = reports.comparison_lines(compared, Sheet(80), said)
    assert (first.split()[-1], second.strip()) == ("ark:12345/x6a", "ark:12345/x7a")
    assert (first[carets.index("^")], second[carets.index("^")]) == ("6", "7")


def test_a_match_is_printed_with_its_position() -> None:
    assert (
        reports.match_line(Match(4, 20, "ark:/12345/x-1", None), 3, 5, "ark:12345/x1", Sheet())
        == "3:5      ark:/12345/x-1 = ark:12345/x1"
    )


def hop(**changed: Any) -> Hop:
    usual = Hop(
        number=1,
        method="GET",
        url="https://n2t.net/ark:12345/x",
        where="elsewhere",
        status=303,
        reason=HOSTILE,
        headers=(("Server", HOSTILE),),
        location="/about",
        target="https://n2t.net/about",
        state="related",
        redirects_left=9,
        failure=None,
        notes=(Note("n", "A remark.", "https://n2t.net/a"),),
        at=1.25,
        seconds=0.182,
    )
    return replace(usual, **changed)


def test_a_hop_is_printed_with_status_state_and_target() -> None:
    assert list(traces.event_lines(hop(), Sheet(80))) == [
        "  1   GET https://n2t.net/ark:12345/x",
        "      at 1,250 ms: 303 See Other in 182 ms, related -> https://n2t.net/about",
        "      Location as received: /about",
        "      A remark. https://n2t.net/a",
    ]


def test_a_terminal_shows_a_bar_for_the_duration_of_a_hop() -> None:
    bars = [list(traces.event_lines(hop(seconds=seconds), Sheet(80, cut=True)))[2] for seconds in (0.002, 0.2, 20)]
    assert [set(bar.strip()) for bar in bars] == [{"="}] * 3
    assert len(bars[0]) < len(bars[1]) < len(bars[2]) <= 46


def test_a_hop_without_an_answer_has_a_reason() -> None:
    lines = list(traces.event_lines(hop(status=None, failure=Note("blocked", "the address is not allowed")), Sheet(80)))
    assert lines[1] == "      at 1,250 ms: no answer after 182 ms: the address is not allowed"


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(Start(HOSTILE, HOSTILE, "GET", 10, None, "direct"), id="start"),
        pytest.param(hop(location=HOSTILE, target=HOSTILE, url=HOSTILE), id="hop"),
        pytest.param(End("failure", "direct", HOSTILE, HOSTILE, 1, 0.1, "blocked", HOSTILE), id="end"),
    ],
)
def test_texts_of_a_server_are_never_printed_raw(event: Start | Hop | End) -> None:
    for line in traces.event_lines(event, Sheet(40, cut=True)):
        assert PRINTABLE.fullmatch(line), line


LETTERS = Sheet(width=40, letters=True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("M\u00fcller, \u674e, \u05d0\u05d1", "M\u00fcller, \u674e, \u05d0\u05d1", id="letters"),
        pytest.param("a\u202eb", "a\\u{202e}b", id="override"),
        pytest.param("a\u2067b", "a\\u{2067}b", id="isolate"),
        pytest.param("a\u200b\u00adb", "a\\u{200b}\\u{ad}b", id="zero width"),
        pytest.param("a\x1b[2J\x9b", "a\\u{1b}[2J\\u{9b}", id="control"),
        pytest.param("\ue000\ud800\u0378", "\\u{e000}\\u{d800}\\u{378}", id="private, surrogate, unassigned"),
        pytest.param("e\u0301", "e\u0301", id="combining mark"),
        pytest.param("\u0301e", "\\u{301}e", id="combining mark without a base"),
        pytest.param("a \u0301e", "a \\u{301}e", id="combining mark after a space"),
        pytest.param("a\u202e\u0301", "a\\u{202e}\\u{301}", id="combining mark after an escape"),
        pytest.param("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "\\u{301}" * 2, id="many combining marks"),
    ],
)
def test_letters_are_printed_and_hidden_characters_escaped(text, shown):
    assert LETTERS.paint(text) == shown
    assert LETTERS.paint(words(text)) == shown
    assert LETTERS.paint(LETTERS.paint(text)) == shown
    assert Sheet().paint(text).isascii()


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        pytest.param("ark:/12345/M\u00fcller 7", ["ark:/12345/M\u00fcller 7", " " * 17 + "^"], id="letters"),
        pytest.param("ark:/12345/\u674e 7", ["ark:/12345/\u674e 7", " " * 13 + "^"], id="wide"),
        pytest.param("ark:/12345/\u00fc\u202e 7", ["ark:/12345/\u00fc\\u{202e} 7", " " * 20 + "^"], id="override"),
        pytest.param("ark:/12345/\u05d0 7", ["ark:/12345/\\u{5d0} 7", " " * 18 + "^"], id="right to left"),
    ],
)
def test_a_caret_is_under_the_character_among_letters(text, excerpt):
    (problem,) = (found for found in examine(text).problems if found.severity == "error")
    lines = [line.strip("\n") for line in reports.problem_lines(problem, text, Sheet(letters=True))]
    assert [line[16:] for line in lines[1:3]] == excerpt
    assert all(line.isascii() for line in reports.problem_lines(problem, text, Sheet()))


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        pytest.param(r"N\u{b0} de M\u{fc}ller \u{1f600}", "N\u00b0 de M\u00fcller \U0001f600", id="letters"),
        pytest.param(r"a\u{202e}b\u{1b}\u{d800}", None, id="hidden"),
        pytest.param(r"e\u{301}", None, id="mark"),
        pytest.param(r"\u{5d0}\u{628}", None, id="right to left"),
        pytest.param(r"\\u{fc}", None, id="text like an escape"),
        pytest.param(r"\u{fffffff}\u{110000}\u{x}\u{41}", None, id="no character"),
    ],
)
def test_a_terminal_with_letters_shows_them_in_messages(message, shown):
    for line in (LETTERS.paint(message), *LETTERS.prose(message)):
        assert line == (shown or message)
        assert LETTERS.paint(line) == line
    assert Sheet().paint(message) == message
    assert LETTERS.verbatim(message).strip() == message


def test_backslashes_are_doubled_so_that_escapes_are_unambiguous():
    assert Sheet().paint(words("\\u{fc}\u00fc")) == "\\\\u{fc}\\u{fc}"
    assert LETTERS.paint(words("\\u{fc}\u00fc")) == "\\\\u{fc}\u00fc"


def test_wide_characters_count_as_two_columns():
    assert list(Sheet(width=12, letters=True).prose("\u674e\u674e\u674e \u674e\u674e\u674e")) == [
        "\u674e\u674e\u674e",
        "\u674e\u674e\u674e",
    ]
    first, second = Sheet(width=70, letters=True).table("", [("\u674e", "a"), ("who", "b")])
    assert first.index("a") + 1 == second.index("b")


@pytest.mark.parametrize(
    ("codeset", "variables", "takes"),
    [
        pytest.param("UTF-8", {}, True, id="UTF-8"),
        pytest.param("utf8", {}, True, id="other spelling"),
        pytest.param("ANSI_X3.4-1968", {}, False, id="locale C"),
        pytest.param("ANSI_X3.4-1968", {"PYTHONUTF8": "1"}, True, id="mode that the user chose"),
    ],
)
def test_the_locale_decides_in_the_utf8_mode(
    codeset: str, variables: dict[str, str], takes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Since Python 3.15 the mode is the default (PEP 686).
    class Flags:
        utf8_mode = 1

    monkeypatch.setattr(output.sys, "flags", Flags)
    monkeypatch.setattr("locale.nl_langinfo", lambda item: codeset)
    for name in ("PYTHONUTF8", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert output._takes_utf8(io.TextIOWrapper(io.BytesIO(), "utf-8")) is takes


def test_other_encodings_take_no_letters_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.nl_langinfo", lambda item: "UTF-8")
    for encoding in ("ascii", "latin-1"):
        assert not output._takes_utf8(io.TextIOWrapper(io.BytesIO(), encoding))


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are of POSIX")
@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        pytest.param({"LC_ALL": "C.UTF-8"}, "M\u00fcller", id="UTF-8"),
        pytest.param({"LC_ALL": "C"}, "M\\u{fc}ller", id="C"),
        pytest.param(
            {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "ascii"}, "M\\u{fc}ller", id="ASCII", marks=pytest.mark.long
        ),
        pytest.param(
            {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"}, "M\\u{fc}ller", id="Latin-1", marks=pytest.mark.long
        ),
    ],
)
def test_non_ascii_letters_are_printed_only_in_a_utf8_locale(environ, shown, tmp_path):
    database = f"sqlite:///{tmp_path}/bindings.sqlite"
    bindings = open_bindings(database, create=True)
    bindings.bind("ark:12345/x", "https://example.org/", metadata={"who": "M\u00fcller\u202e"})
    bindings.close()
    here, there = os.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("LANG", "LC_ALL", "PYTHONUTF8")}
    command = [sys.executable, "-m", "ararat", "show", "--database", database, "ark:12345/x"]
    with subprocess.Popen(command, stdout=there, stderr=there, env=kept | {"TERM": "dumb"} | environ) as process:
        os.close(there)
        output = b""
        with suppress(OSError):  # Linux reports the end of a terminal by an error.
            while octets := os.read(here, 65536):
                output += octets
        assert process.wait(30) == 0
    os.close(here)
    assert f"{shown}\\u{{202e}}" in output.decode()
