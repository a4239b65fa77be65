"""The translations of the public pages: gettext catalogues in the folder ``po``. The source of a catalogue is
``po/LANGUAGE.po``. The build compiles it to ``LANGUAGE.mo`` in the same folder (setup.py). Without this file the page
is in English.
"""

from __future__ import annotations

import logging
import struct
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from ..resolution.settings import ENGLISH

_log = logging.getLogger(__name__)


@cache
def translations(language: str) -> NullTranslations:
    """Return the translations of the public pages from English into a language of :data:`~.settings.LANGUAGES`.
    ``language`` is its code, such as "de".
    """
    return load(__name__.rpartition(".")[0], language)


def load(package: str, language: str) -> NullTranslations:
    """Return the translations into a language from the folder ``po`` of a package. ``package`` is the name of the
    Python package. ``language`` is the code of the language, such as "de". A missing or damaged catalogue is logged,
    and has the messages in English.
    """
    if language == ENGLISH:
        return NullTranslations()
    try:
        with (files(package) / "po" / f"{language}.mo").open("rb") as file:
            return GNUTranslations(file)
    except (OSError, ValueError, struct.error) as error:
        _log.warning("Pages are in English instead of %s, because the catalogue is missing: %s", language, error)
        return NullTranslations()


def translatable(message: str) -> str:
    """Return ``message`` unchanged. It marks a text of a module that a template translates later.

    >>> translatable("Who")
    'Who'
    """
    return message
