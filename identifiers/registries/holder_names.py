"""The name of the holder of a NAAN in the language of a page: the registry has the English name and the native one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Self
from urllib.parse import urlsplit

from ..text import display

_OF_DOMAIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("fr",), "fr"),
    **dict.fromkeys(("de", "at"), "de"),
    **dict.fromkeys(("es", "ar", "cl", "co", "mx", "pe"), "es"),
    **dict.fromkeys(("pt", "br"), "pt"),
    **{domain: domain for domain in ("it", "nl", "pl")},
}
"""The language of the institutions of a country, by the last part of their hosts."""

# Words that only one of the languages has, for the hosts of countries with several languages and of none.
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "fr": "archives bibliothèque des du et facultés institut musée office service université",
        "de": "archiv bibliothek bundesarchiv für museum nationalbibliothek und universität zu",
        "es": "archivo centro del estudios fundación museo revista universidad y",
        "it": "archivio biblioteca degli della di museo studi università",
        "pt": "arquivo biblioteca centro da do dos em museu universidade",
        "nl": "archief bibliotheek gemeente het museum stad universiteit van",
        "pl": "archiwum biblioteka fundacja i muzeum uniwersytet w",
    }.items()
}


class HolderName(str):
    """The name of a holder for an English sentence, with its article. ``plain`` is without an article. ``native`` is
    the native name, and ``native_language`` its language, or "" if that is not known.

    >>> name = HolderName("National Library of France", "Bibliothèque nationale de France", "https://ark.bnf.fr")
    >>> name, name.in_language("fr"), name.in_language("de")
    ('the National Library of France', 'Bibliothèque nationale de France', 'National Library of France')
    """

    __slots__ = ("native", "native_language", "plain")

    plain: str
    native: str
    native_language: str

    def __new__(cls, name: str, native: str | None = None, where: str | None = None) -> Self:
        plain = display.visible(" ".join(name.split()))
        has_article = " of " in plain and not plain.lower().startswith("the ")
        self = super().__new__(cls, f"the {plain}" if has_article else plain)
        self.plain, self.native = plain, display.visible(" ".join((native or "").split()))
        self.native_language = _language(self.native, where) if self.native else ""
        return self

    def in_language(self, language: str) -> str:
        """Return the name for a sentence in a language. ``language`` is its code, such as "fr"."""
        return str(self) if language == "en" else self.alone(language)

    def alone(self, language: str) -> str:
        """Return the name without an article for a page in a language. ``language`` is its code, such as "fr"."""
        return self.native if language == self.native_language else self.plain


def _language(name: str, where: str | None) -> str:
    """Return the code of the language of a native name, or ""."""
    words = set(re.findall(r"[^\W\d_]+", name.lower()))
    counts = {language: len(words & known) for language, known in _WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    try:
        domain = (urlsplit(where or "").hostname or "").rpartition(".")[2]
    except ValueError:
        domain = ""
    if {"and", "library", "of"} & words:
        return ""  # some records have the English name in the place of the native one
    return _OF_DOMAIN.get(domain) or (best if list(counts.values()).count(counts[best]) == 1 else "")
