"""Colours of the public pages: derive readable ones from the institution's, with a contrast of at least 4.5 to 1 (WCAG
2.2, 1.4.3). A colour is mixed with black for light pages, and with white for dark pages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError

LEAST_CONTRAST = 4.5
"""The least contrast of text and its background (WCAG 2.2, success criterion 1.4.3)."""

LIGHT, DARK = "#f3f0e8", "#22272c"
"""The backgrounds with the least contrast on light and on dark pages: ``--inset`` of static/ararat.css."""

_COLOUR = re.compile("#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.ASCII)
_STEPS = 64

_Channels = tuple[int, int, int]


class Readable(NamedTuple):
    """A colour as ``#rrggbb`` in two variants: ``light`` is readable on light pages, and ``dark`` on dark pages."""

    light: str
    dark: str


def check(text: str) -> str:
    """Return a colour ``#rrggbb`` or ``#rgb`` as ``#rrggbb`` in lower case. Raises :class:`BindingError`
    (``branding-colour``).
    """
    colour = text.lower() if isinstance(text, str) else ""
    if not _COLOUR.fullmatch(colour):
        raise BindingError("branding-colour", Translatable("%(text)s is not a colour", text=validation.quote(text)))
    return colour if len(colour) == 7 else "#" + "".join(digit * 2 for digit in colour[1:])


@lru_cache(maxsize=64)
def readable(colour: str) -> Readable:
    """Return the variants of a colour ``#rrggbb`` that are readable on light and dark pages, as text and as background.

    >>> readable("#0b4f6c"), readable("#ffff00")
    (Readable(light='#0b4f6c', dark='#6a94a5'), Readable(light='#707000', dark='#ffff00'))
    """
    return Readable(_mix(colour, (0, 0, 0), LIGHT), _mix(colour, (255, 255, 255), DARK))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours ``#rrggbb``, from 1 (equal) to 21 (black and white), as in WCAG 2.2."""
    darker, lighter = sorted((_luminance(_channels(one)), _luminance(_channels(other))))
    return (lighter + 0.05) / (darker + 0.05)


def _mix(colour: str, pole: _Channels, background: str) -> str:
    """Return the colour mixed with as little of ``pole``, black or white, as makes it readable."""
    channels = _channels(colour)
    for step in range(_STEPS):
        part = step / _STEPS
        mixed = _text([round(here + (there - here) * part) for here, there in zip(channels, pole, strict=True)])
        if contrast(mixed, background) >= LEAST_CONTRAST:
            return mixed
    return _text(pole)


def _channels(colour: str) -> _Channels:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _text(channels: _Channels | list[int]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _luminance(channels: _Channels) -> float:
    """Return the relative luminance (WCAG 2.2), from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (each / 255 for each in channels)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
