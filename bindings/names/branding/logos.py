"""The logo of the public pages: a path of this site, or a PNG, JPEG, GIF or WebP image in a data URL. An SVG image can
have scripts, so it needs a path: browsers run no scripts of an image that the element ``img`` loads.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode

from ....identifiers.text.translatable import Translatable
from .. import targets, validation
from ..errors import BindingError

MAX_BYTES = 32 * 1024
"""The maximum size of an image in a data URL, because each public page contains it."""

_DATA = re.compile(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/]+={0,2})")

# The first bytes of each format; WebP has its size between them.
_FORMATS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}


def check(text: str) -> str:
    """Return a logo, a path of this site or a data URL, in stored form. Raises :class:`BindingError`
    (``branding-logo``).
    """
    if isinstance(text, str) and text[:5].lower() == "data:":
        return _check_data(text)
    try:
        path = targets.check(text, "located") or ""
    except BindingError as error:
        raise BindingError(
            "branding-logo", Translatable("the logo is not usable: %(message)s", message=error.message)
        ) from None
    if not path.startswith("/") or targets.is_reserved(path):
        raise BindingError(
            "branding-logo", Translatable("%(text)s is not a file of this site", text=validation.quote(text))
        )
    return path


def data_url(image: bytes) -> str:
    """Return the content of a PNG, JPEG, GIF or WebP file as a data URL. Raises :class:`BindingError`
    (``branding-logo``).
    """
    if len(image) > MAX_BYTES:
        raise BindingError(
            "branding-logo", Translatable("the image is larger than %(max_bytes)s bytes", max_bytes=MAX_BYTES)
        )
    media_type = next((name for name, beginning in _FORMATS.items() if beginning.match(image)), None)
    if media_type is None:
        raise BindingError("branding-logo", Translatable("the file is not an image in one of these formats"))
    return f"data:{media_type};base64,{b64encode(image).decode()}"


def _check_data(text: str) -> str:
    match = _DATA.fullmatch(text) if len(text) <= 2 * MAX_BYTES else None
    try:
        image = b64decode(match[2], validate=True) if match else b""
    except binascii.Error:
        image = b""
    if match is None or not image:
        raise BindingError(
            "branding-logo",
            Translatable("%(text)s is not an image in base64 of this size", text=validation.quote(text)),
        )
    checked = data_url(image)
    if not checked.startswith(f"data:{match[1]};"):
        raise BindingError(
            "branding-logo", Translatable("the image does not have the format %(found)s", found=match[1])
        )
    return checked
