"""What the pages say, and in which language: texts go through gettext catalogues, and English is that of the source.

A catalogue lies in ``locale/<language>/LC_MESSAGES/ararat.po``, the template of all in ``locale/ararat.pot``. It is
read when its language is first spoken, and for English none is. Who speaks another one says so with :func:`speaking`;
for a request :mod:`.negotiation` does. So the API and the command line speak English without doing anything.

The sentences of a report, a refusal or a trace are data, the same for people and programs, and English for these. A
page in another language finds them again in its catalogue (:mod:`.sentences`), under a context of their own.

One language is made up: ``ar-XB``, which mirrors the template in letters that are written from right to left
(:mod:`.pseudo`). It is there for whoever asks for it by name, to see a page as readers of Arabic or Hebrew do.

A translated text is part of the program, trusted as a template is; what is filled into it on a page is escaped.
"""

from __future__ import annotations

import gettext as catalogues
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from . import pseudo

if TYPE_CHECKING:
    from babel import Locale
    from babel.messages import Catalog

DOMAIN = "ararat"
"""The name of the catalogues."""

CONTEXT = "report"
"""The context (``msgctxt``) of the sentences that are written as data."""

FOLDER = Path(__file__).parent / "locale"
"""Where they lie: the template ``ararat.pot`` of all of them, and a folder for each language."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language by its tag (BCP 47), with its texts; ``direction`` is "ltr" or "rtl".

    ``sentences`` are those with something to fill in, as words and names in turn, those of many words first.
    """

    tag: str
    direction: str = "ltr"
    catalogue: catalogues.NullTranslations = field(default_factory=catalogues.NullTranslations, repr=False)
    sentences: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    def sentence(self, template: str | tuple[str, ...]) -> str:
        """The translation of a sentence that is written as data, its template given whole or in turn."""
        return self.catalogue.pgettext(CONTEXT, template if isinstance(template, str) else _joined(template))

    def figure(self, number: int) -> str:
        """A whole number as this language groups its digits.

        >>> ENGLISH.figure(1200), of_catalogue("de", "").figure(1200)
        ('1,200', '1.200')
        """
        if self.tag == "en":
            return f"{number:,}"
        from babel.numbers import format_decimal

        return format_decimal(number, locale=_locale(self.tag))


ENGLISH = Language("en")
"""The language of the source: it needs no catalogue, and Babel is not loaded for it."""

_FILLED = re.compile(r"%\((\w+)\)s")

Text = TypeVar("Text", bound=str)

_spoken: ContextVar[Language] = ContextVar("spoken", default=ENGLISH)


def current() -> Language:
    """The language that is spoken now."""
    return _spoken.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak ``language`` inside a ``with``, and what was spoken before after it.

    No generator may yield inside: whoever asks it for the next thing would speak it, too.

    >>> with speaking(of_name("ar-XB")):
    ...     gettext("Valid")
    'ץאכטד'
    >>> gettext("Valid")
    'Valid'
    """
    token = begin(language)
    try:
        yield
    finally:
        end(token)


def begin(language: Language) -> Token[Language]:
    """Speak ``language`` until :func:`end`, where what happens between is not the inside of a ``with``."""
    return _spoken.set(language)


def end(token: Token[Language]) -> None:
    """Speak what was spoken before :func:`begin`, which gave the ``token``."""
    _spoken.reset(token)


def gettext(message: str, /, **values: object) -> str:
    """``message`` in the language that is spoken, with ``values`` for its ``%(name)s``; a percent sign is ``%%``.

    >>> gettext("%(count)s of them valid", count="two")
    'two of them valid'
    """
    return translated(message) % values


def ngettext(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The same for a text that says how many; ``%(num)s`` is ``count`` where no other value says otherwise.

    >>> ngettext("%(num)s change", "%(num)s changes", 1200)
    '1,200 changes'
    """
    return translated_plural(singular, plural, count) % ({"num": figure(count)} | values)


def marked(message: Text) -> Text:
    """``message`` itself: the mark of a text in a table, which is translated where it is shown."""
    return message


def marked_plural(singular: Text, plural: Text) -> tuple[Text, Text]:
    """The same for a text that says how many, for one and for more."""
    return singular, plural


def figure(number: int) -> str:
    """A whole number in the language that is spoken."""
    return current().figure(number)


@cache
def of_name(tag: str) -> Language:
    """The language of a catalogue that ships, or the mirrored one. Raises LookupError for any other."""
    if tag == pseudo.TAG:
        mirrored = pseudo.mirrored(template())
        return Language(tag, "rtl", _compiled(mirrored), _sentences(mirrored))
    if tag not in shipped():
        raise LookupError(f"there is no catalogue for {tag!r}")
    return of_catalogue(tag, (FOLDER / _folder(tag) / "LC_MESSAGES" / f"{DOMAIN}.po").read_text("utf-8"))


def of_catalogue(tag: str, text: str) -> Language:
    """The language ``tag`` with the catalogue ``text``, in the format of .po files.

    Raises :class:`ValueError` for a tag that Babel does not know and for a text that is no catalogue.

    >>> of_catalogue("he", "").direction
    'rtl'
    """
    from babel import UnknownLocaleError
    from babel.messages.pofile import PoFileError, read_po

    try:
        catalogue = read_po(io.StringIO(text), locale=_folder(tag), domain=DOMAIN, abort_invalid=True)
        return Language(tag, _locale(tag).text_direction, _compiled(catalogue), _sentences(catalogue))
    except (UnknownLocaleError, PoFileError) as error:
        raise ValueError(f"{tag}: {error}") from error


@cache
def shipped() -> tuple[str, ...]:
    """The tags of the languages for which there is a catalogue, English left out."""
    return tuple(sorted(path.parts[-3].replace("_", "-") for path in FOLDER.glob(f"*/LC_MESSAGES/{DOMAIN}.po")))


def template() -> Catalog:
    """The template of all catalogues: every text there is to translate."""
    from babel.messages.pofile import read_po

    with (FOLDER / f"{DOMAIN}.pot").open("rb") as file:
        return read_po(file, domain=DOMAIN)


def translated(message: str) -> str:
    """``message`` in the language that is spoken, for whoever fills in what is to be filled in (templates do)."""
    return current().catalogue.gettext(message)


def translated_plural(singular: str, plural: str, count: int) -> str:
    """The same for a text that says how many."""
    return current().catalogue.ngettext(singular, plural, count)


def _compiled(catalogue: Catalog) -> catalogues.NullTranslations:
    from babel.messages.mofile import write_mo

    file = io.BytesIO()
    write_mo(file, catalogue)
    file.seek(0)
    return catalogues.GNUTranslations(file)


def _sentences(catalogue: Catalog) -> tuple[tuple[str, ...], ...]:
    """Those of a catalogue with something to fill in that are translated."""
    found = [
        each.id
        for each in catalogue
        if each.context == CONTEXT and isinstance(each.id, str) and each.string and not each.fuzzy
    ]
    pieces = [
        tuple(piece if place % 2 else piece.replace("%%", "%") for place, piece in enumerate(_FILLED.split(each)))
        for each in found
    ]
    filled = [each for each in pieces if len(each) > 1]
    return tuple(sorted(filled, key=lambda each: -sum(map(len, each[::2]))))


def _joined(template: tuple[str, ...]) -> str:
    return "".join(f"%({piece})s" if place % 2 else piece.replace("%", "%%") for place, piece in enumerate(template))


def _locale(tag: str) -> Locale:
    from babel import Locale

    # No locale data knows a made-up language; what it has in common with a real one is that one's.
    return Locale.parse(pseudo.LIKE if tag == pseudo.TAG else _folder(tag))


def _folder(tag: str) -> str:
    return tag.replace("-", "_")
