"""The name of a holder in the language of a page."""

from __future__ import annotations

import pytest

from ararat.identifiers.registries.holder_names import HolderName


@pytest.mark.parametrize(
    ("native", "where", "language"),
    [
        ("Bibliothèque nationale de France", "https://ark.bnf.fr", "fr"),
        ("Bibliothèque nationale du Luxembourg", "https://persist.lu", "fr"),
        ("Service des archives régionales de Wallonie", "http://www.wallonie.be", "fr"),
        ("Stad Brugge", "https://zoeken.erfgoedbrugge.be/", "nl"),
        ("Schweizerisches Bundesarchiv", "https://ark.bar.admin.ch", "de"),
        ("Jüdisches Museum Berlin", "http://www.jmberlin.de", "de"),
        ("Revista de Estudios Latinoamericanos", "http://revistareder.com", "es"),
        ("Università degli Studi di Torino", None, "it"),
        ("Library and Archives Canada", "http://collectionscanada.ca", ""),
        ("Sárospataki Füzetek", "https://acad.hu", ""),
        ("歐噴資料庫", "https://data.openfun.tw", ""),
        ("Museum", "http://[broken", ""),
    ],
)
def test_the_language_of_a_native_name_is_found(native: str, where: str | None, language: str) -> None:
    name = HolderName("Library of X", native, where)
    assert name.native_language == language
    assert name.in_language("pl") == "Library of X"
    assert name == name.in_language("en") == "the Library of X"
    if language:
        assert name.in_language(language) == name.alone(language) == native


def test_hidden_characters_of_both_names_are_visible() -> None:
    name = HolderName("Archive\u202e of X", "Archives\u200b de X", "https://x.fr")
    assert (name.alone("en"), name.alone("fr")) == ("Archive\\u{202e} of X", "Archives\\u{200b} de X")
