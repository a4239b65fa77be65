"""The page that a browser returns to after it signs in: a path of this site."""

from __future__ import annotations

from urllib.parse import urlsplit

_MAX_PATH = 2000
"""The maximum length of the path with its query."""


def safe_path(text: str | None) -> str | None:
    r"""Return ``text`` if it is a path of this site with its query; None for another text, such as a URL.

    >>> safe_path("/desk?q=1"), safe_path("//evil.test/"), safe_path("/\\evil.test/"), safe_path("https://evil.test/")
    ('/desk?q=1', None, None, None)
    """
    if not text or len(text) > _MAX_PATH or not text.isascii() or not text.isprintable() or " " in text:
        return None
    # Browsers read a backslash as a slash, and two slashes as the beginning of a host.
    if not text.startswith("/") or text.startswith("//") or "\\" in text:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else text
