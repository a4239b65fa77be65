"""The translations of the public pages: gettext catalogues ``po/LANGUAGE.po``, which the build compiles (setup.py).
Without the file ``LANGUAGE.mo`` the page is in English.
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
    """Return the translations of the public pages into a language of :data:`~.settings.LANGUAGES`, such as "de"."""
    return load(__name__.rpartition(".")[0], language)


def load(package: str, language: str) -> NullTranslations:
    """Return the translations into a language, such as "de", from the folder ``po`` of a package. For "en", and with a
    log message for a missing or damaged catalogue, they are the messages in English.
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
    """Return ``message`` unchanged. It marks a text of a module that a template translates later."""
    return message
