"""The names of EZID's elements, and the metadata elements that keep their values.

| element of EZID | metadata element |
|---|---|
| ``erc.who``, ``datacite``, ``PART.PART`` | the same |
| ``NAME`` without a dot | ``ezid.NAME`` |
| ``_profile``, ``_owner`` | ``ezid-setting.profile``, ``.owner`` |
| any other name, such as ``my name`` | ``ezid-quoted.x-my_20name``: each other byte is an underscore and two digits |

Each name has one metadata element, so that a value can be returned under the name that a client gave.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ....names.metadata import metadata

CITATION: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "_mappedCreator": {"erc": "erc.who", "dc": "dc.creator", "datacite": "datacite.creator"},
        "_mappedTitle": {"erc": "erc.what", "dc": "dc.title", "datacite": "datacite.title"},
        "_mappedPublisher": {"dc": "dc.publisher", "datacite": "datacite.publisher"},
        "_mappedDate": {"erc": "erc.when", "dc": "dc.date", "datacite": "datacite.publicationyear"},
        "_mappedType": {"dc": "dc.type", "datacite": "datacite.resourcetype"},
    }
)
"""The parts of a citation, each with the element that has it by profile."""

DEFAULT_PROFILE: Final = "erc"

PROFILE: Final = "ezid-setting.profile"
OWNER: Final = "ezid-setting.owner"

_SETTINGS = {"_profile": PROFILE, "_owner": OWNER}
_NAMES = {element: name for name, element in _SETTINGS.items()}
_DOCUMENT = "datacite"
_PLAIN = "ezid."
_QUOTED = "ezid-quoted.x-"
_OWN = (_PLAIN, "ezid-setting.", "ezid-quoted.")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_OTHER = re.compile("[^A-Za-z0-9-]")
# Controls and surrogates, as in the texts of metadata; a tab and line ends are permitted.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPES = re.compile("(?:_[0-9A-F]{2})+")


def metadata_name(name: str) -> str | None:
    """Return the metadata element that keeps the values of an EZID element, or None for a name that is too long or has
    a control character.

    >>> [metadata_name(each) for each in ("erc.who", "title", "_profile", "my name", "ezid.a")]
    ['erc.who', 'ezid.title', 'ezid-setting.profile', 'ezid-quoted.x-my_20name', 'ezid-quoted.x-ezid_2Ea']
    """
    if name in _SETTINGS:
        return _SETTINGS[name]
    if _UNWRITABLE.search(name):
        return None
    if _NAME.fullmatch(name) and name != _DOCUMENT:
        element = f"{_PLAIN}{name}"
    elif name == _DOCUMENT or ("." in name and metadata.is_name(name) and not name.startswith(_OWN)):
        element = name
    else:
        element = _QUOTED + _OTHER.sub(_quote, name)
    return element if metadata.is_name(element) else None


def element_name(element: str) -> str | None:
    """Return the EZID element whose values a metadata element keeps, or None for the document ``schema``.

    >>> [element_name(each) for each in ("erc.who", "ezid.title", "ezid-setting.profile", "ezid-quoted.x-my_20name")]
    ['erc.who', 'title', '_profile', 'my name']
    """
    if element in _NAMES:
        return _NAMES[element]
    if element.startswith(_QUOTED):
        try:
            return _ESCAPES.sub(_unquote, element[len(_QUOTED) :])
        except UnicodeDecodeError:
            return element
    if element.startswith(_PLAIN):
        return element[len(_PLAIN) :]
    return element if "." in element or element == _DOCUMENT else None


def _quote(match: re.Match[str]) -> str:
    return "".join(f"_{byte:02X}" for byte in match[0].encode())


def _unquote(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("_", "")).decode()
