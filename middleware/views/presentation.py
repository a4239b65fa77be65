"""The presentation of a public page: its language and the branding of the institution."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ...bindings.names.branding import colours
from ...bindings.names.branding.model import NO_BRANDING, Branding, contact_address
from ..resolution.settings import ENGLISH, LANGUAGES, Direction


@dataclass(frozen=True, kw_only=True, slots=True)
class Presentation:
    """The language and the branding of a public page.

    - ``language``: one of :data:`~.settings.LANGUAGES`.
    - ``root``: the beginning of links: the resolver prefix, or SCRIPT_NAME.
    """

    language: str = ENGLISH
    branding: Branding = NO_BRANDING
    root: str = ""

    @property
    def direction(self) -> Direction:
        return LANGUAGES[self.language]

    @property
    def logo(self) -> str | None:
        """The address of the logo, or None.

        >>> Presentation(branding=Branding(logo="/logo.svg"), root="https://example.org").logo
        'https://example.org/logo.svg'
        """
        logo = self.branding.logo
        return f"{self.root}{logo}" if logo is not None and logo.startswith("/") else logo

    @property
    def contact(self) -> str | None:
        """The address of a link to the contact. It is None without a contact, and for a contact that is a text."""
        return self.branding.contact and contact_address(self.branding.contact)

    @property
    def image_source(self) -> str | None:
        """The source expression of Content-Security-Policy that permits the logo, or None without a logo.

        >>> Presentation(branding=Branding(logo="/logo.svg"), root="https://example.org/app").image_source
        'https://example.org'
        """
        if self.logo is None:
            return None
        parts = urlsplit(self.logo)
        if parts.scheme == "data":
            return "data:"
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self'"

    @property
    def style(self) -> str:
        """The rules of the institution's colour for light and dark pages; "" without a colour."""
        return _style(self.branding.colour) if self.branding.colour else ""


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
