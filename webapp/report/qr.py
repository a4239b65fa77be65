"""Draw the URL of an identifier as a QR code (ISO/IEC 18004).
Callers draw no other texts, so that this site does not produce QR codes of foreign URLs.
"""

from __future__ import annotations

import io

from ...identifiers import Report
from ...identifiers.report import OFFICIAL_PREFIX

MAX_DRAWN = 300
"""Maximum length of the URL in characters. Longer URLs make modules too small for print."""


def qr_address(report: Report, prefix: str | None, *, bound: bool = False) -> str | None:
    """Return the URL of an identifier for a QR code, or None without a URL of at most :data:`MAX_DRAWN` characters.
    A URN or a name that is bound here has the resolver prefix of this site. Others have the official resolver.

    >>> from ararat.identifiers import examine
    >>> qr_address(examine("ark:/12345/x-1"), None)
    'https://n2t.net/ark:/12345/x-1'
    >>> qr_address(examine("urn:foo:a"), None), qr_address(examine("urn:foo:a"), "https://example.org")
    (None, 'https://example.org/urn:foo:a')
    """
    if report.normal_form is None:
        return None
    if prefix and (bound or report.form == "urn"):
        found = f"{prefix.removesuffix('/')}/{report.normal_form}"
    else:
        # Many resolvers know only the spelling that they publish.
        found = next((each for each in report.equivalents if each.startswith(f"{OFFICIAL_PREFIX}/")), None)
    return found if found and found.isascii() and len(found) <= MAX_DRAWN else None


def draw_svg(text: str) -> bytes:
    """Return a QR code of a text as SVG, black on white, with a quiet zone."""
    import segno  # it takes long to load, and few requests draw a code

    picture = io.BytesIO()
    code = segno.make_qr(text, error="m")
    code.save(picture, kind="svg", xmldecl=False, omitsize=True, svgclass=None, lineclass=None, light="#fff", nl=False)
    return picture.getvalue()
