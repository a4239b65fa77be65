"""The translations of all pages: complete, with the same placeholders and elements, and compiled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Message

from ararat.middleware.resolution.settings import ENGLISH
from ararat.middleware.views import catalogues
from tests.generate_catalogues import PAGES, PUBLIC, Catalogues

ALL = [
    pytest.param(each, language, id=f"{each.folder.partition('/')[0]}-{language}")
    for each in (PUBLIC, PAGES)
    for language in each.languages
    if language != ENGLISH
]
every_catalogue = pytest.mark.parametrize(("catalogue", "language"), ALL)
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%%?")
_NUMBER = "%(number)s"
# A translation can add no element and no attribute; a message has only harmless ones.
_TAG = re.compile(r"<[^>]*>|&\w+;")
_SCRIPTS = {
    "ar": "[\u0620-\u064a]",
    "he": "[\u05d0-\u05ea]",
    "ja": "[\u3040-\u30ff\u4e00-\u9fff]",
    "zh": "[\u4e00-\u9fff]",
}
# Marks that change the direction, and control characters.
_FORBIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f]")


def messages(catalogue: Catalogues, language: str) -> Iterator[tuple[Message, str, str]]:
    """Yield each message with a text of the source and its translation; those with a number, each of their forms."""
    for message in catalogue.translated(language):
        if not message.id:
            continue
        if isinstance(message.id, tuple):
            for number, form in enumerate(message.string or ()):
                # The first form is also for the number 1.
                is_one = number == 0 and set(_PLACEHOLDER.findall(str(form))) < set(_PLACEHOLDER.findall(message.id[1]))
                yield message, message.id[0 if is_one else 1], str(form)
        else:
            yield message, str(message.id), str(message.string)


@pytest.mark.parametrize("catalogue", [pytest.param(PUBLIC, id="public"), pytest.param(PAGES, id="pages")])
def test_each_language_has_a_catalogue(catalogue):
    files = {path.stem for path in catalogue.path("en").parent.glob("*.po")}
    assert files == set(catalogue.languages) - {ENGLISH}


@every_catalogue
def test_a_catalogue_has_exactly_the_messages_of_the_source(catalogue, language):
    found = catalogue.path(language).read_bytes()
    assert found == catalogue.page(language), "run: python tests/generate_catalogues.py"


@every_catalogue
def test_each_message_is_translated(catalogue, language):
    missing = [source for message, source, text in messages(catalogue, language) if not text or message.fuzzy]
    assert missing == []


@every_catalogue
def test_a_translation_has_the_placeholders_and_elements_of_its_message(catalogue, language):
    wrong: list[tuple[str, str]] = []
    for message, source, text in messages(catalogue, language):
        placeholders, expected = Counter(_PLACEHOLDER.findall(text)), Counter(_PLACEHOLDER.findall(source))
        if isinstance(message.id, tuple):
            # "One name" needs no figure.
            placeholders.pop(_NUMBER, None)
            expected.pop(_NUMBER, None)
        if placeholders != expected or Counter(_TAG.findall(text)) != Counter(_TAG.findall(source)):
            wrong.append((source, text))
    assert wrong == []


@every_catalogue
def test_a_translation_is_text_in_its_script(catalogue, language):
    wrong: list[tuple[str, str]] = []
    for _, source, text in messages(catalogue, language):
        is_text = text == text.strip() and re.search(_SCRIPTS.get(language, "[A-Za-z]"), text)
        ends = source[-1:] in ".:" or text[-1:] not in ".:"
        if not is_text or _FORBIDDEN.search(text) or not ends:
            wrong.append((source, text))
    assert wrong == []


@every_catalogue
def test_the_compiled_catalogue_has_the_translations(catalogue, language):
    compiled = catalogues.load(f"ararat.{catalogue.folder.removesuffix('/po').replace('/', '.')}", language)
    wrong = [
        message.id
        for message in catalogue.translated(language)
        if message.id
        and not isinstance(message.id, tuple)
        and message.string
        and (compiled.pgettext(message.context, message.id) if message.context else compiled.gettext(message.id))
        != message.string
    ]
    assert wrong == [], "run: make"
