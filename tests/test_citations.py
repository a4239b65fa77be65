"""Compare citations of RFCs with a text, and all of this repository with the installed texts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ararat.identifiers.scheme_registration.check_codes import CURRENT, RULES, reference_in

from . import citations

RFC = """
                        An example of a document

Table of Contents

   1.  Words . . . . . . . . . . . . . . . . . . . . . . . . . . .   2
     1.1.  A list  . . . . . . . . . . . . . . . . . . . . . . . .   2

1.  Words

   The words are the rule.

1.1.  A list

   A recipient MUST read the "first" word of a
   field and MUST NOT read the last one.

   1.  If there is no word, the rest is the case-
       insensitive rule that no client reads.

Author                                                        [Page 1]
\f
RFC 100                          Example                      April 2011

   2.  Otherwise, it is read.

       word = ALPHA *( ALPHA / DIGIT )

2.  Others

   No client reads other words.

Appendix A.  Collected Rules

   word = ALPHA
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "standard").mkdir()
    (tmp_path / "standard" / "rfc100.txt.gz").write_bytes(gzip.compress(RFC.encode()))
    citations.text_of.cache_clear()
    citations.sections_of.cache_clear()
    return tmp_path


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param("# RFC 100, section 1.1: a list", [], id="section"),
        pytest.param("# RFC 100, 1.1", [], id="number alone"),
        pytest.param("(RFC 100, sections 1 to 2 and appendix A)", [], id="range and appendix"),
        pytest.param(
            "RFC 100, sections 1.1 (lists) and 2.5 (others)", ["RFC 100 has no section 2.5"], id="second section"
        ),
        pytest.param("RFC 100 (section 3)", ["RFC 100 has no section 3"], id="in brackets"),
        pytest.param("RFC 100, 1.1, 1.2 and 2", ["RFC 100 has no section 1.2"], id="list of numbers"),
        pytest.param("RFC 100, appendix B", ["RFC 100 has no section B"], id="appendix"),
        pytest.param(
            'RFC 100, section 1.1: "MUST read the "first" word of a field"', [], id="quotation in a quotation"
        ),
        pytest.param('# RFC 100: "The words are\n# the rule."', [], id="quotation of two lines"),
        pytest.param('"The words are the rule" (RFC 100, section 1).', [], id="quotation before"),
        pytest.param(
            'RFC 100, section 1.1: "no word, the rest is ... Otherwise, it is read"', [], id="omission, pages"
        ),
        pytest.param('RFC 100, section 1.1: "the case-insensitive rule"', [], id="broken at a hyphen"),
        pytest.param(
            'RFC 100, section 2: "The words are the rule."',
            ["RFC 100, 2 does not contain: The words are the rule."],
            id="another section",
        ),
        pytest.param(
            'RFC 100, for words: "The word is the rule."',
            ["RFC 100 does not contain: The word is the rule."],
            id="other words",
        ),
        pytest.param(
            '"No client should read other words" (RFC 100, section 2)',
            ["RFC 100, 2 does not contain: No client should read other words"],
            id="other words before",
        ),
        pytest.param("RFC 100, section 1.1:  word = ALPHA *( ALPHA / DIGIT )", [], id="rule"),
        pytest.param(
            "RFC 100, section 2:  word = ALPHA", ["RFC 100, 2 does not define word"], id="rule of another section"
        ),
        pytest.param("RFC 100 of 2011, RFC 100, or RFC 100. 12 others, the year 1.1", [], id="no section"),
    ],
)
def test_a_citation_is_compared_with_the_text(folder, text, messages):
    found = [message for each in citations.citations(text, "x.py") for message in citations.wrong(each, folder)]
    assert found == [f"x.py:1: {message}" for message in messages]


def test_a_citation_has_its_line():
    assert [each.place for each in citations.citations("\n\nRFC 100, section 1\n", "x.py")] == ["x.py:3"]


def test_without_the_texts_nothing_is_compared(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(citations, "TEXTS", tmp_path / "nothing")
    assert citations.main() == 0
    assert "are not compared" in capsys.readouterr().out


@pytest.mark.skipif(not citations.TEXTS.is_dir(), reason="needs the Debian packages doc-rfc")
def test_the_citations_of_this_repository_agree_with_the_rfcs(capsys):
    assert citations.main() == 0, capsys.readouterr().out
    assert "compared: 0," not in capsys.readouterr().out
    references = "; ".join(reference_in(CURRENT, rule.reference) for rule in RULES.values())
    assert [message for each in citations.citations(references, "rules") for message in citations.wrong(each)] == []
