"""The description as an ERC record in ANVL: the kernel elements, the statements, and the fields of the binding. The
four elements of the kernel are always present: ``(:unav)`` is the value of one that is not recorded.

The percent sign and line ends are escaped as in EZID and N2T, so that their parsers read the record. Invisible and
direction-changing characters are written as code points. White space in a line is one space. Source: ARK draft, section
3.4; POL-033; Dublin Core Kernel Metadata, section 5; draft-kunze-anvl.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....bindings.names.metadata import metadata
from ....identifiers.text import anvl, characters
from .reference import UNKNOWN


def serialize(elements: Mapping[str, str], where: str, others: Mapping[str, str]) -> str:
    """Return the description of a name as an ERC record (Electronic Resource Citation) in ANVL.

    ``elements`` have short names, such as ``who``; those that are not in the ERC are omitted. ``where`` is the address
    of the name, for a record without it. ``others`` are further lines by labels, without those that the record has.

    >>> print(serialize({"what": "100%"}, "https://example.org/ark:12345/x", {"status": "live"}), end="")
    erc:
    who: (:unav)
    what: 100%25
    when: (:unav)
    where: https://example.org/ark:12345/x
    status: live
    """
    kernel = {"who": UNKNOWN, "what": UNKNOWN, "when": UNKNOWN, "where": where} | dict(elements)
    lines = {name: kernel[name] for name in metadata.ELEMENTS if name in kernel}
    lines |= {label: text for label, text in others.items() if label not in lines}
    return "erc:\n" + "".join(anvl.element(label, visible(text)) for label, text in lines.items())


def visible(text: str) -> str:
    r"""Return ``text`` with code points in the place of invisible and direction-changing characters, and one space for
    spaces and tabs. Line ends stay.

    >>> visible("a\u202eb\t c\n")
    'a\\u{202e}b c\n'
    """
    return characters.HIDDEN.sub(
        lambda found: "".join(char if char in "\r\n" else f"\\u{{{ord(char):x}}}" for char in found[0]),
        anvl.fold_spaces(text),
    )
