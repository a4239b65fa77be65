"""Choose the language of a public page by the field Accept-Language."""

from __future__ import annotations

from collections.abc import Sequence

# ISO 639-1 replaced this code in 1989, but Java programs still send it.
_ALIASES = {"iw": "he"}


def preferred_language(field: str | None, permitted: Sequence[str]) -> str:
    """Return the language of ``permitted`` that a client prefers by its Accept-Language field, else the first.

    ``permitted`` are codes of languages, such as "de".

    A range such as "de-AT" also selects "de". Languages of the same quality have the order of the field.

    Source: RFC 9110, section 12.5.4; RFC 4647, section 3.4.

    >>> permitted = "en", "de", "he"
    >>> fields = "de-AT, en;q=0.5", "fr, iw;q=0.8", "fr, en;q=0, *;q=0.1", "zh", None
    >>> [preferred_language(field, permitted) for field in fields]
    ['de', 'he', 'de', 'en', 'en']
    """
    if not field or len(permitted) == 1:
        return permitted[0]
    # Commands load this module for the tags only, and Werkzeug takes long to load.
    from werkzeug.datastructures import Accept
    from werkzeug.http import parse_accept_header

    ranges = [(_primary(text), quality) for text, quality in parse_accept_header(field, Accept)]
    refused = {language for language, quality in ranges if not quality}
    for requested, quality in ranges:
        match = next((each for each in permitted if requested in (each, "*") and each not in refused), None)
        if quality and match is not None:
            return match
    return permitted[0]


def _primary(text: str) -> str:
    """Return the first subtag of a language range in lower case."""
    primary = text.strip().lower().partition("-")[0]
    return _ALIASES.get(primary, primary)
