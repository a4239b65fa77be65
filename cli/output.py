"""Lay out text for a terminal: wrap lines, align columns, and add colour.

All text is untrusted. Control characters and invisible characters are escaped before the layout (ARK-143, ARK-144; ARK
draft, section 8.1.1). Letters beyond ASCII are printed only if the encoding of the stream is UTF-8. Identifiers and
URLs are percent-encoded, so that right-to-left letters cannot reorder them. Colour only repeats what the words state,
with the 16 colours that users configure.
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TextIO

from ..identifiers.text import display
from ..identifiers.text.display import format_count as format_count

Style = Literal["", "strong", "soft", "good", "warning", "error", "name"]

_CODES: dict[Style, str] = {"strong": "1", "soft": "2", "good": "32", "warning": "33", "error": "31", "name": "36"}
_LABELS = 14
_NARROW = 60
_WIDEST = 100
_MAX_SHOWN = 2000
# Cut a word that is too long before a delimiter, else anywhere except inside a percent triplet or an escape.
_PIECE = re.compile(r"[/?#&]?(?:%[0-9A-Fa-f]{2}|\\u\{[0-9a-f]+\}|[^/?#&])*")
_ATOM = re.compile(r"%[0-9A-Fa-f]{2}|\\u\{[0-9a-f]+\}|.")


@dataclass(frozen=True, slots=True)
class Sheet:
    """The properties of an output stream, such as its width in columns, and methods that lay out text for it.
    ``cut``: a word that is longer than a line is broken. ``letters``: letters beyond ASCII are written.
    """

    width: int = 80
    colour: bool = False
    cut: bool = False
    letters: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Sheet:
        """Return the sheet of an output stream. Without a terminal, it has 80 columns and no colour. A terminal has no
        colour if NO_COLOR is set and not empty, or if TERM is "dumb".
        """
        terminal = stream.isatty()
        permits_colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        width = shutil.get_terminal_size((80, 24)).columns if terminal else 80
        return cls(max(40, min(width, _WIDEST)), terminal and permits_colour, terminal, _takes_utf8(stream))

    def paint(self, text: str, style: Style = "") -> str:
        r"""Escape control and invisible characters, and add the colour of ``style`` if the stream has colour.

        >>> Sheet().paint("a\x1b[2J", "error")
        'a\\u{1b}[2J'
        """
        return self._colour(self._visible(text), style)

    def _colour(self, text: str, style: Style) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style and text else text

    def prose(self, text: str, *, indent: int = 0, style: Style = "") -> Iterator[str]:
        """Yield a text as indented lines that fit the terminal, wrapped at spaces. Its line breaks are kept.

        >>> list(Sheet(12).prose("one two three", indent=2))
        ['  one two', '  three']
        """
        for line in text.split("\n"):
            for wrapped in _wrap(self._visible(line), self.width - indent, self.cut) or [""]:
                yield (" " * indent + self.paint(wrapped, style)).rstrip()

    @property
    def room(self) -> int:
        """The number of columns for a text beside a label of the output.

        >>> Sheet(80).room
        64
        """
        return self.width - self._margin

    @property
    def _margin(self) -> int:
        return 4 if self.width < _NARROW else 2 + _LABELS

    def verbatim(self, text: str, *, style: Style = "") -> str:
        """Return a text as one line, escaped and indented like that of a field, but neither wrapped nor shortened.
        Use it for a line of carets and for the line above them.
        """
        text = display.visible(text, ascii_only=not self.letters)
        return (" " * self._margin + self._colour(text, style)).rstrip()

    def field(self, label: str, text: str, *, style: Style = "", level: int = 0) -> Iterator[str]:
        r"""Yield the lines of a label and its text, side by side, or stacked on a narrow terminal.
        ``level`` indents by two columns for each level of a hierarchy.

        >>> print(*Sheet(70).field("Name", "x6-np1"), sep="\n")
          Name          x6-np1
        """
        deeper = min(2 * level, max(0, self.room - 24))
        yield from self._label_lines(label, list(self.prose(text, indent=self._margin + deeper, style=style)))

    def fields(self, label: str, rows: Iterable[tuple[str, Style]]) -> Iterator[str]:
        r"""Yield the lines of several texts, with their colours, below each other, beside one label.

        >>> print(*Sheet(70).fields("Same as", [("ark:12345/x", ""), ("ark:/12345/x", "")]), sep="\n")
          Same as       ark:12345/x
                        ark:/12345/x
        """
        for text, style in rows:
            yield from self.field(label, text, style=style)
            label = ""

    def table(self, label: str, rows: Iterable[tuple[str, str]], *, style: Style = "") -> Iterator[str]:
        r"""Yield the lines of pairs of texts beside one label.
        The first texts are a column; ``style`` colours the second ones.

        >>> print(*Sheet(70).table("Parts", [("NAAN", "12345"), ("Name", "x")]), sep="\n")
          Parts         NAAN  12345
                        Name  x
        """
        rows = [(self._visible(key), text) for key, text in rows]
        column = max((display.columns(key) for key, _ in rows), default=0) + 2
        for key, text in rows:
            first, *others = self.prose(text, indent=self._margin + column, style=style)
            padded = key + " " * (column - display.columns(key))
            first = f"{' ' * self._margin}{self.paint(padded, 'soft')}{first[self._margin + column :]}"
            yield from self._label_lines(label, [first.rstrip(), *others])
            label = ""

    def _visible(self, text: str) -> str:
        # Every output passes here, some of it twice: the second time it does not change.
        return display.visible(display.restore(text)) if self.letters else display.visible(text, ascii_only=True)

    def _label_lines(self, label: str, lines: list[str]) -> Iterator[str]:
        if label and self.width >= _NARROW:
            first, *lines = lines
            yield f"  {self.paint(label.ljust(_LABELS), 'soft')}{first[self._margin :]}".rstrip()
        elif label:
            yield f"  {self.paint(label, 'soft')}"
        yield from lines


def identifier(text: str, *, most: int = _MAX_SHOWN) -> str:
    r"""Return an identifier or URL for a terminal: percent-encoded, and shortened to ``most`` characters.

    >>> identifier("ark:12345/a\u202eb"), identifier("x" * 9999, most=3)
    ('ark:12345/a%E2%80%AEb', 'xxx... (9,999 characters in total)')
    """
    if len(text) > most:
        return f"{display.percent(text[:most])}... ({len(text):,} characters in total)"
    return display.percent(text) or '""'


def words(text: str, *, most: int = _MAX_SHOWN) -> str:
    r"""Return an untrusted text for a terminal: escaped, with doubled backslashes, and at most ``most`` characters.

    >>> words("404 Not\x1b[31m Found")
    '404 Not\\u{1b}[31m Found'
    """
    return display.visible(text[:most].replace("\\", "\\\\")) + ("..." if len(text) > most else "")


def _takes_utf8(stream: TextIO) -> bool:
    try:
        encoding = codecs.lookup(stream.encoding or "").name
    except LookupError:
        return False
    # In the UTF-8 mode Python writes UTF-8 with any locale, but the terminal can expect another encoding. Since
    # Python 3.15 this mode is the default (PEP 686), so the locale is asked.
    assumed = sys.flags.utf8_mode and "PYTHONUTF8" not in os.environ and "PYTHONIOENCODING" not in os.environ
    return encoding == "utf-8" and not (assumed and os.name == "posix" and not _is_utf8_locale())


def _is_utf8_locale() -> bool:
    import locale

    return locale.nl_langinfo(locale.CODESET).replace("-", "").lower() == "utf8"


def _wrap(text: str, width: int, cut: bool) -> list[str]:
    width = max(width, 8)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        for piece, joint in _pieces(word, width) if cut and display.columns(word) > width else [(word, " ")]:
            if not line and not lines:
                line = piece
            elif display.columns(line) + len(joint) + display.columns(piece) <= width:
                line += joint + piece
            else:
                lines.append(line)
                line = piece
    return [*lines, line]


def _pieces(word: str, width: int) -> Iterator[tuple[str, str]]:
    joint = " "
    for piece in _PIECE.findall(word):
        for part in [piece] if display.columns(piece) <= width else _ATOM.findall(piece):
            if part:
                yield part, joint
                joint = ""
