"""The address of an identifier as a picture that a telephone reads (QR code, ISO/IEC 18004).

Drawn is the embedded form alone, an address at which the identifier resolves, and never any text that was sent: the
picture of a stranger's address must not come from here. Pure.
"""

from __future__ import annotations

import io

import segno

from ...identifiers import Report
from ...identifiers.report import OFFICIAL_PREFIX

MOST_DRAWN = 300
"""Characters of the longest address that is drawn: of a longer one the modules are too small for a print."""


def embedded(report: Report, prefix: str | None, *, bound: bool = False) -> str | None:
    """The address that is drawn: at this site, ``prefix``, of what is ``bound`` here and of URNs, else at the official.

    None where there is none, or it is longer than :data:`MOST_DRAWN`.

    >>> from ararat.identifiers import examine
    >>> embedded(examine("ark:/12345/x-1"), None)
    'https://n2t.net/ark:12345/x1'
    >>> embedded(examine("urn:foo:a"), None), embedded(examine("urn:foo:a"), "https://example.org")
    (None, 'https://example.org/urn:foo:a')
    """
    if report.normal_form is None:
        return None
    if prefix and (bound or report.form == "urn"):
        found = f"{prefix.removesuffix('/')}/{report.normal_form}"
    else:
        found = None if report.form == "urn" else f"{OFFICIAL_PREFIX}/{report.normal_form}"
    return found if found and found.isascii() and len(found) <= MOST_DRAWN else None


def drawn(text: str) -> bytes:
    """``text`` as an SVG picture, black on white in any theme, with the quiet zone that readers need.

    >>> drawn("https://n2t.net/ark:12345/x1")[:43]
    b'<svg xmlns="http://www.w3.org/2000/svg" vie'
    """
    picture = io.BytesIO()
    code = segno.make_qr(text, error="m")
    code.save(picture, kind="svg", xmldecl=False, omitsize=True, svgclass=None, lineclass=None, light="#fff", nl=False)
    return picture.getvalue()
