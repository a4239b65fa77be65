"""The branding of the public pages, and the checks of its values. Each value in the store replaces that of the
settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Final, Literal

from ....identifiers.text.translatable import Translatable
from .. import targets, validation
from ..errors import BindingError
from . import colours, logos

Field = Literal["institution", "logo", "contact", "colour", "statement"]
FIELDS: tuple[Field, ...] = ("institution", "logo", "contact", "colour", "statement")
"""The fields of a branding, in the order of display."""

LABELS: Final[Mapping[Field, str]] = MappingProxyType(
    {
        "institution": Translatable("Institution"),
        "logo": Translatable("Logo"),
        "contact": Translatable("Contact"),
        "colour": Translatable("Colour"),
        "statement": Translatable("Statement"),
    }
)
"""The fields with their labels, with which messages begin."""

MAX_CHARACTERS: Mapping[str, int] = MappingProxyType({"institution": 200, "contact": 400, "statement": 1000})
"""The maximum number of characters of each text."""

_MAIL = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Branding:
    """The institution that the public pages show. ``statement`` is a text at the end of each page. ``logo`` is a path
    of this site or a data URL, and ``colour`` that of links and lines as ``#rrggbb``. ``contact`` is an e-mail address,
    a URL or another text.
    """

    institution: str | None = None
    logo: str | None = None
    contact: str | None = None
    colour: str | None = None
    statement: str | None = None

    def with_defaults(self, default: Branding) -> Branding:
        """Return this branding with the values of ``default`` for the fields that have no value."""
        own = {field: getattr(self, field) for field in FIELDS}
        return Branding(**{name: getattr(default, name) if text is None else text for name, text in own.items()})

    def as_dict(self) -> dict[str, str | None]:
        """Return the values of the branding by the names of their fields, in the order of :data:`FIELDS`."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """A text of 16 hexadecimal digits that differs between different brandings, for the entity tags of pages."""
        from hashlib import sha256  # it loads OpenSSL, and most commands do not need it

        return sha256(json.dumps(self.as_dict()).encode()).hexdigest()[:16]


NO_BRANDING = Branding()


def check(values: Mapping[Field, str | None]) -> Branding:
    """Return the branding with these texts in stored form. An empty text becomes None. Raises :class:`BindingError`
    with the code ``branding-text``, ``branding-logo`` or ``branding-colour``.

    >>> check({"institution": " The Library ", "colour": "#07A", "logo": ""})
    Branding(institution='The Library', logo=None, contact=None, colour='#0077aa', statement=None)
    """
    checked = {field: check_field(field, text) for field, text in values.items()}
    return Branding(**checked)


def check_field(field: Field, text: str | None) -> str | None:
    """Return the text of a field of a branding in stored form, or None if it is empty."""
    if text is None or (isinstance(text, str) and not (text := text.strip())):
        return None
    if field == "logo":
        return logos.check(text)
    if field == "colour":
        return colours.check(text)
    return validation.check(text, "branding-text", LABELS[field], MAX_CHARACTERS[field])


def contact_address(contact: str) -> str | None:
    """Return a contact as a URL or a ``mailto:`` address for a link, or None for another text, such as a telephone
    number.

    >>> contact_address("maps@example.org"), contact_address("javascript:alert(1)")
    ('mailto:maps@example.org', None)
    """
    if _MAIL.fullmatch(contact):
        return f"mailto:{contact}"
    try:
        return targets.location(contact, "")
    except BindingError:
        return None
