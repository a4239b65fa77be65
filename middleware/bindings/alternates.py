"""Other targets of a name, chosen by what a client accepts: by media type, by language, or by both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ..errors import BindingError
from . import targets, validation
from .model import NOTHING, Kind

# RFC 9110, section 8.3.1:  media-type = type "/" subtype parameters  (left out: nobody chooses by them)
# RFC 6838, section 4.2:    type-name = restricted-name      subtype-name = restricted-name, of 127 characters at most
_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&\-^_.+]{0,126}"
# RFC 5646, section 2.1: a language tag is subtags of letters and digits with hyphens between them; the first has
# letters alone.
_LANGUAGE = r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,7}"
_SELECTOR = re.compile(rf"(?:{_RESTRICTED_NAME}/{_RESTRICTED_NAME})(?:;{_LANGUAGE})?|{_LANGUAGE}")

_MOST = 50


def check(alternates: Mapping[str, str], kind: Kind, *, deletions: bool = False) -> Mapping[str, str]:
    """Return the alternates as they are stored: selectors in lower case and in order, targets as :mod:`destination` has
    them.

    A selector is a media type ("text/html"), a language ("en") or both ("text/html;en"). With ``deletions`` an empty
    target may delete an alternate. Raises :class:`BindingError` with the codes ``alternate-selector`` and
    ``alternate-twice``, and for a target with those of :func:`destination.check`.

    >>> check({"text/HTML;en": "https://example.org/x.html"}, "located")
    mappingproxy({'text/html;en': 'https://example.org/x.html'})
    """
    if not alternates:
        return NOTHING
    if len(alternates) > _MOST:
        raise BindingError("alternate-selector", f"there are {len(alternates)} alternates, more than {_MOST}")
    checked: dict[str, str] = {}
    for selector, target in alternates.items():
        if not isinstance(selector, str) or not _SELECTOR.fullmatch(selector):
            raise BindingError("alternate-selector", f"no alternate is chosen by {validation.shown(selector)}")
        if selector.lower() in checked:
            raise BindingError("alternate-twice", f"two alternates are chosen by {selector.lower()}")
        destined = "" if deletions and target == "" else targets.check(target, kind)
        if destined is None:
            raise BindingError("target-unwanted", "a described name has no target, and so no alternates")
        checked[selector.lower()] = destined
    return MappingProxyType(dict(sorted(checked.items())))
