"""Sentences that are English data are said in the language of a page, and hold what was filled into them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from markupsafe import Markup

from ararat.webapp import language, phrases, pseudo
from ararat.webapp.sentences import begun, told

CATALOGUE = r"""
msgctxt "report"
msgid "a NAAN cannot hold %(char)s"
msgstr "%(char)s kann in keiner NAAN stehen"

msgctxt "report"
msgid "%(who)s answered %(status)s at hop %(number)s, but %(why)s. %(unspecified)s"
msgstr "Bei Schritt %(number)s antwortete %(who)s mit %(status)s, aber %(why)s. %(unspecified)s"

msgctxt "report"
msgid "without a Location"
msgstr "ohne Location <b>"

msgctxt "report"
msgid "%% and two of 0-9 A-F a-f"
msgstr "%% und zwei von 0-9 A-F a-f"

#, fuzzy
msgctxt "report"
msgid "port %(port)s is not one that is asked"
msgstr "etwas anderes %(port)s"

msgctxt "report"
msgid "the Name is empty"
msgstr "der Name ist leer"
"""
GERMAN = language.of_catalogue("de", CATALOGUE)


@pytest.fixture(autouse=True)
def _german():
    with language.speaking(GERMAN):
        yield


def filled(text):
    return f'<bdi dir="ltr" translate="no">{text}</bdi>'


def test_what_was_filled_in_stands_where_the_translation_has_it():
    assert told("a NAAN cannot hold '!'") == f"{filled('&#39;!&#39;')} kann in keiner NAAN stehen"


def test_a_sentence_in_a_sentence_is_translated_and_the_rest_is_isolated():
    said = told("a.example answered 302 Found at hop 1, but without a Location. Nobody knows.")
    assert said == (
        f"Bei Schritt {filled('1')} antwortete {filled('a.example')} mit {filled('302 Found')}, "
        f"aber ohne Location &lt;b&gt;. {filled('Nobody knows')}."
    )


def test_what_is_filled_in_at_the_end_does_not_take_the_next_sentence_with_it():
    with language.speaking(language.of_name(pseudo.TAG)):
        said = told("The resource is at https://a.example/x. Two hops, 3 ms.")
    assert re.findall(r"<bdi[^>]*>(.*?)</bdi>", said) == ["https://a.example/x", "3"]


def test_words_that_frame_others_are_not_found_in_what_nobody_knows():
    with language.speaking(language.of_name(pseudo.TAG)):
        assert told("Nobody ever wrote this text for a page and nobody will ever translate it").startswith("<span")


def test_what_no_translation_is_found_for_is_marked_as_english():
    assert told("port 81 is not one that is asked") == (
        '<span lang="en" dir="ltr">port 81 is not one that is asked</span>'
    )


def test_what_is_filled_in_cannot_become_markup():
    said = told("a NAAN cannot hold <script>alert(1)</script>")
    assert isinstance(said, Markup)
    assert "<script" not in said


def test_a_percent_sign_stays_one():
    assert told("% and two of 0-9 A-F a-f") == "% und zwei von 0-9 A-F a-f"


def test_a_word_that_was_filled_in_is_not_taken_for_one_of_ours():
    assert filled("Name") in told("a NAAN cannot hold Name")


def test_the_first_letter_and_the_last_dot_belong_to_the_place():
    assert begun("the Name is empty") == "Der Name ist leer"
    assert told("The Name is empty") == "Der Name ist leer"
    assert told("the Name is empty. The Name is empty.") == "der Name ist leer. Der Name ist leer."
    assert begun("a NAAN cannot hold x").startswith("<bdi")


def test_english_is_the_text_itself():
    with language.speaking(language.ENGLISH):
        assert told("<b> the Name is empty") == "<b> the Name is empty"
        assert not isinstance(told("the Name is empty"), Markup)


@pytest.mark.parametrize(
    "text",
    ["x" * 9_999, ". " * 4_999, " at hop " * 1_200, "x answered " * 900, "a NAAN cannot hold " * 500, "x" * 100_000],
    ids=["one word", "dots", "a part of a template", "its beginning", "a template in itself", "too long"],
)
def test_no_text_takes_long(text):
    with language.speaking(language.of_name(pseudo.TAG)):
        began = time.perf_counter()
        told(text)
        assert time.perf_counter() - began < 2


def test_sentences_are_found_in_the_source_with_names_for_what_is_filled_in():
    source = '''
"""Documentation is no sentence of it."""
PATTERN = re.compile("some words, that match")
def f(self, number):
    """Nor here."""
    yield Note("key-word", f"Hop {number}, to {self.host}, had {number} {'answer' if number == 1 else 'answers'}.")
    raise HopFailed("blocked", "the address "
        f"is no {kind(self.address)} and 100% bad")
'''
    assert sorted(phrases.of_source(source)) == [
        "Hop %(number)s, to %(host)s, had %(number2)s answer.",
        "Hop %(number)s, to %(host)s, had %(number2)s answers.",
        "the address is no %(address)s and 100%% bad",
    ]


def test_every_module_that_is_named_is_there():
    root = Path(phrases.__file__).parents[1]
    assert [name for name in phrases.SILENT if not (root / name).is_file()] == []
    assert [pattern for pattern in phrases.WRITTEN if not list(root.glob(pattern))] == []
