r"""The description as a BibTeX entry. A value is in braces, and characters with a meaning in TeX are written as
commands. BibTeX also counts the braces of ``\{``, so this command is only for braces in pairs.
"""

from __future__ import annotations

import re

from .reference import Reference
from .resource_types import OTHER

_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\lbrace{}",
    "}": r"\rbrace{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "#$%&_"},
}
_IN_PAIRS = {"{": r"\{", "}": r"\}"}
_SPECIAL = re.compile(r"[\\{}~^#$%&_]")
# A field is one line: white space, controls and the separators of lines and paragraphs become one space.
_SPACE = re.compile("[\\s\x00-\x1f\x7f-\x9f]+")
_NOT_IN_KEY = re.compile("[^A-Za-z0-9:/._-]")


def serialize(reference: Reference) -> str:
    """Return the BibTeX entry of a name. Each creator is in braces, so that it is not split into parts.

    >>> from .reference import reference
    >>> print(serialize(reference("ark:12345/x", "https://example.org/ark:12345/x", {"erc.what": "50% {of}"})), end="")
    @misc{ark:12345/x,
      title = {{50\\% \\{of\\}}},
      url = {https://example.org/ark:12345/x}
    }
    """
    fields = {
        "author": " and ".join(f"{{{escape(name)}}}" for name in reference.creators),
        # The second braces keep the capital letters of the title.
        "title": reference.title and f"{{{escape(reference.title)}}}",
        "publisher": reference.publisher and escape(reference.publisher),
        # Styles print a text in the place of a year as it is.
        "year": escape(written) if (written := reference.written_date) else reference.year,
        "month": str(reference.issued[1]) if len(reference.issued) > 1 and not written else None,
        "language": reference.language and escape(reference.language),
        "abstract": reference.description and escape(reference.description),
        "keywords": ", ".join(map(escape, reference.subjects)),
        "note": reference.note and escape(reference.note),
        "url": reference.address,
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    kind, key = (reference.type or OTHER).bibtex, _NOT_IN_KEY.sub("_", reference.identifier)
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def escape(text: str) -> str:
    r"""Return ``text`` as the value of a BibTeX field, without its braces.

    >>> escape("R&D {new}\n line")
    'R\\&D \\{new\\} line'
    """
    commands = _COMMANDS | _IN_PAIRS if _has_pairs(text) else _COMMANDS
    return _SPECIAL.sub(lambda found: commands[found[0]], _SPACE.sub(" ", text).strip())


def _has_pairs(text: str) -> bool:
    """Return whether each brace of a text has its partner."""
    depth = 0
    for brace in re.findall("[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
