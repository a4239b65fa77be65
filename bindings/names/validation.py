"""Check texts that users enter and other users read, and quote such texts in messages."""

from __future__ import annotations

import re

from ...identifiers.text import display
from .errors import BindingError

# C0, DEL and C1 controls, line and paragraph separators, and surrogates, which have no UTF-8 encoding.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_CONTROL_IN_LINE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check(text: object, code: str, what: str, most: int, *, lines: bool = False) -> str:
    """Check a text that a user entered: 1 to ``most`` code points without control characters. Return it unchanged.

    With ``lines`` tabs and line ends are permitted. Raises :class:`BindingError` with ``code``; its message calls the
    text ``what``.

    >>> check("Arks and rainbows", "metadata-text", "title", 4000)
    'Arks and rainbows'
    >>> try:
    ...     check("a\\nb", "metadata-text", "title", 4000)
    ... except BindingError as error:
    ...     print(error.message)
    the title has the control character U+000A at position 2
    """
    if not isinstance(text, str):
        raise BindingError(code, f"the {what} has the type {type(text).__name__}; it must be a text")
    if not text.strip():
        raise BindingError(code, f"the {what} is empty")
    if len(text) > most:
        raise BindingError(code, f"the {what} has {len(text):,} characters; at most {most:,} are allowed")
    # All of these characters are unprintable. The search takes longer.
    if not text.isprintable() and (control := (_CONTROL_IN_LINE if lines else _CONTROL).search(text)):
        where = f"U+{ord(control[0]):04X} at position {control.start() + 1}"
        raise BindingError(code, f"the {what} has the control character {where}")
    return text


def shown(text: object, most: int = 60) -> str:
    """Quote input in a message: letters stay, hidden characters are escaped, and it is cut after ``most`` characters.

    >>> print(shown("Slg. Wei\u00df\u202e 6"))
    Slg. Weiß\\u{202e} 6
    """
    given = text if isinstance(text, str) else repr(text)
    return display.visible(given[:most].replace("\\", "\\\\")) + ("..." if len(given) > most else "")
