"""The presentation of a public page: its language and the branding of the institution."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from ...bindings.names.branding import colours
from ...bindings.names.branding.model import NO_BRANDING, Branding, contact_address
from ...identifiers.text import display
from ..resolution.settings import ENGLISH, LANGUAGES, Direction


@dataclass(frozen=True, kw_only=True, slots=True)
class Presentation:
    """The language of a public page, one of :data:`~.settings.LANGUAGES`, and the branding of the institution on it:
    name, logo, contact and colour. ``root`` is the beginning of links: the resolver prefix, or SCRIPT_NAME.
    """

    language: str = ENGLISH
    branding: Branding = NO_BRANDING
    root: str = ""

    @property
    def direction(self) -> Direction:
        return LANGUAGES[self.language]

    @property
    def logo(self) -> str | None:
        """The address of the logo of the institution, or None."""
        logo = self.branding.logo
        return f"{self.root}{logo}" if logo is not None and logo.startswith("/") else logo

    @property
    def institution(self) -> str:
        """The name of the institution for the title of a document: one line without hidden characters, or ""."""
        return display.visible(" ".join((self.branding.institution or "").split()))

    @property
    def icon(self) -> str | None:
        """The address of the logo if it is square, for the icon of the page, or None. The size is read from an image in
        a data URL. A path is taken if its name contains "icon" or "square".
        """
        logo = self.branding.logo or ""
        if logo.startswith("data:"):
            return logo if is_square(logo) else None
        return self.logo if _ICON.search(logo.rpartition("/")[2].lower()) else None

    @property
    def contact(self) -> str | None:
        """The address of the contact link, or None if the contact is neither a URL nor an e-mail address."""
        return self.branding.contact and contact_address(self.branding.contact)

    @property
    def image_source(self) -> str | None:
        """The source of Content-Security-Policy that permits the logo, such as "https://example.org", or None."""
        if self.logo is None:
            return None
        parts = urlsplit(self.logo)
        if parts.scheme == "data":
            return "data:"
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self'"

    @property
    def style(self) -> str:
        """The CSS rules with the institution's colour for light and dark pages; "" without a colour."""
        return _style(self.branding.colour) if self.branding.colour else ""


_ICON = re.compile("icon|square")


@lru_cache(16)
def is_square(logo: str) -> bool:
    """Return whether the image in a data URL is a PNG or GIF that is as wide as high."""
    media_type, _, content = logo.removeprefix("data:").partition(";base64,")
    image = b64decode(content[:64])
    if media_type == "image/png":
        return image[16:20] == image[20:24]
    return media_type == "image/gif" and image[6:8] == image[8:10]


PLAIN = Presentation()
"""A page in English without a branding."""


def _style(colour: str) -> str:
    light, dark = colours.readable(colour)
    rule = ":root {{ --brand: {colour}; --accent: {accent}; }}\n"
    return (
        rule.format(colour=colour, accent=light)
        + "@media screen and (prefers-color-scheme: dark) { "
        + rule.format(colour=colour, accent=dark).rstrip()
        + " }\n"
    )
