"""The translations of the public pages: complete, with the same placeholders, and compiled."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from ararat.bindings.names.metadata import metadata
from ararat.middleware.resolution.settings import ENGLISH, LANGUAGES
from ararat.middleware.views import catalogues, messages
from tests.generate_catalogues import FOLDER, page, translated

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%")
_SCRIPTS = {
    "ar": "[\u0620-\u064a]",
    "he": "[\u05d0-\u05ea]",
    "ja": "[\u3040-\u30ff\u4e00-\u9fff]",
    "zh": "[\u4e00-\u9fff]",
}
# Marks that change the direction, and characters that are markup.
_FORBIDDEN = re.compile("[<>&\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f]")


@cache
def texts(language: str) -> dict[str, str]:
    return {str(message.id): str(message.string) for message in translated(language) if message.id}


def test_each_language_has_a_catalogue():
    assert {path.stem for path in FOLDER.glob("*.po")} == set(OTHERS)


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_exactly_the_messages_of_the_source(language):
    assert (FOLDER / f"{language}.po").read_bytes() == page(language), "run: python tests/generate_catalogues.py"


@pytest.mark.parametrize("language", OTHERS)
def test_each_message_is_translated(language):
    missing = [message.id for message in translated(language) if message.id and (not message.string or message.fuzzy)]
    assert missing == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_placeholders_of_its_message(language):
    for message, text in texts(language).items():
        assert Counter(_PLACEHOLDER.findall(text)) == Counter(_PLACEHOLDER.findall(message)), message


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_is_text_in_its_script(language):
    for message, text in texts(language).items():
        assert text == text.strip()
        assert not _FORBIDDEN.search(text), message
        assert re.search(_SCRIPTS.get(language, "[A-Za-z]"), text), message
        assert message[-1:] in ".:" or text[-1:] not in ".:", message


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalogue_has_the_translations(language):
    compiled = catalogues.translations(language)
    assert {message: compiled.gettext(message) for message in texts(language)} == texts(language), "run: make"


def test_a_missing_catalogue_is_logged_and_english(caplog):
    catalogues.translations.cache_clear()
    assert catalogues.translations("tlh").gettext("Who") == "Who"
    assert "in English instead of tlh" in caplog.text


@pytest.mark.parametrize("content", [b"", b"\xde\x12\x04\x95", bytes(40), b"not a catalogue"])
def test_a_damaged_catalogue_is_logged_and_english(content, tmp_path, monkeypatch, caplog):
    (tmp_path / "po").mkdir()
    (tmp_path / "po" / "de.mo").write_bytes(content)
    monkeypatch.setattr(catalogues, "files", lambda package: tmp_path)
    catalogues.translations.cache_clear()
    assert catalogues.translations("de").gettext("Who") == "Who"
    assert "in English instead of de" in caplog.text
    catalogues.translations.cache_clear()


def test_the_codes_of_values_have_their_meanings():
    assert dict(metadata.VALUE_CODES) == messages.VALUE_CODES
    assert set(messages.LABELS) == set(metadata.ELEMENTS)
