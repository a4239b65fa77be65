"""The catalogues of the public pages: loading, and the texts of codes."""

from __future__ import annotations

import pytest

from ararat.bindings.names.metadata import metadata
from ararat.middleware.views import catalogues, messages


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
