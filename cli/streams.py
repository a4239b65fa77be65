"""Read text from arguments, standard input and files, in pieces, and write JSON Lines. Bytes that are not UTF-8 become
lone surrogates, as in Python arguments, and are escaped in the output. They never make a command fail.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .errors import CANNOT_WRITE, NO_INPUT, CommandError, cannot_write

if TYPE_CHECKING:
    from ..identifiers import Match

MAX_LINE = 64 * 1024 * 1024
"""The maximum length of an input line in bytes."""

_SQLITE = b"SQLite format 3\0"
_CHUNK = 1024 * 1024
_SPACE = " \t\r\n"

_EXPECTED = 'expected one JSON string a line, like "ark:12345/x"'
_JSON_KINDS = {dict: "an object", list: "an array", bool: "true or false", type(None): "null"}


class InputIdentifier(NamedTuple):
    """An identifier from an argument or a line. ``place`` names it, such as "line 2 of standard input". ``fault`` is
    the reason why it cannot be read; ``text`` is then "".
    """

    place: str
    text: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class StreamMatch:
    """An identifier in a text that was read in pieces. The places in ``match`` count from the start of its piece.
    ``start`` counts code points of the whole text from 0, ``line`` and ``column`` from 1.
    """

    match: Match
    start: int
    line: int
    column: int

    @property
    def end(self) -> int:
        """The index in the whole text of the first code point after the identifier."""
        return self.start + len(self.match.literal)


def identifiers(texts: Iterable[str], form: str) -> Iterator[InputIdentifier]:
    """Yield the identifiers in the arguments of a command; "-" is standard input.
    ``form`` is "text" or "json" (strings). In text, white space around an identifier does not count, and an argument of
    several lines is a list of identifiers. Empty lines are skipped.
    """
    for number, text in enumerate(texts, 1):
        place = f"argument {number}"
        if text == "-":
            yield from _lines(standard_input(), "standard input", form)
        elif form == "text" and "\n" in text:
            yield from (InputIdentifier(place, line) for each in text.split("\n") if (line := each.strip(_SPACE)))
        else:
            yield _read(place, text, form)


def lines(file: str) -> Iterator[InputIdentifier]:
    """Yield the lines of a file or standard input ("-") that are not empty. Raises :class:`.CommandError`."""
    with open_input(file) as stream:
        yield from _lines(stream, "standard input" if file == "-" else file, "text")


def matches(file: str) -> Iterator[StreamMatch]:
    """Yield the identifiers in a text file or standard input ("-") with their places.
    More than a million characters are searched in pieces, which are cut at white space. Raises
    :class:`~ararat.cli.errors.CommandError` if the file cannot be read.
    """
    from ..identifiers.extraction import in_running_text

    start, line, column = 0, 1, 1
    with open_input(file) as stream:
        for chunk in _chunks(stream):
            seen = 0
            for match in in_running_text(chunk):
                line, column = _advance(chunk[seen : match.start], line, column)
                seen = match.start
                yield StreamMatch(match, start + match.start, line, column)
            line, column = _advance(chunk[seen:], line, column)
            start += len(chunk)


def standard_input() -> BinaryIO:
    """Return the byte stream of standard input. Raises :class:`~ararat.cli.errors.CommandError` if it is closed."""
    # sys.stdin is None if the process was started with standard input closed.
    if sys.stdin is None:
        raise CommandError("standard input is closed", exit_code=NO_INPUT)
    return sys.stdin.buffer


def dump(value: dict[str, Any]) -> None:
    r"""Print a JSON object to standard output as one line of ASCII (JSON Lines).

    >>> dump({"name": "\u00e9"})
    {"name": "\u00e9"}
    """
    sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")


def refuse_database(file: str) -> None:
    """Raise :class:`~ararat.cli.errors.CommandError` if the output file of a command is an SQLite database.
    The output would destroy the names and their history. A file that cannot be read is not refused here.
    """
    path = Path(file)
    try:
        # Opening a pipe would wait for its other end.
        if not path.is_file():
            return
        with path.open("rb") as stream:
            start = stream.read(len(_SQLITE))
    except OSError:
        return
    if start == _SQLITE:
        what = f"cannot write {file}: it is an SQLite database, which would be lost"
        raise CommandError(what, ("Fix", "give the name of another file"), exit_code=CANNOT_WRITE)


def require_writable(file: str) -> None:
    """Raise :class:`~ararat.cli.errors.CommandError` if :func:`replace_file` could not write a file. Call it before the
    work whose result the file has.
    """
    from tempfile import TemporaryFile

    refuse_database(file)
    path = Path(file)
    try:
        if path.is_dir():
            path.open("wb").close()  # the error of the system
        if path.is_file() or not path.exists():
            with TemporaryFile(dir=path.resolve().parent):
                pass
    except OSError as error:
        raise cannot_write(file, error) from None


def does_not_exist(path: str) -> bool:
    """Return whether there is no file at ``path``. If this cannot be checked, return False: opening states the reason.

    >>> does_not_exist("no-such-file"), does_not_exist("."), does_not_exist(300 * "a")
    (True, False, False)
    """
    try:
        Path(path).stat()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


@contextmanager
def replace_file(file: str) -> Iterator[BinaryIO]:
    """Yield a binary stream whose content replaces ``file``, with its permissions, when it is complete.
    After a failure the old content remains. A file that is not regular, such as a pipe, is written directly. Raises
    OSError, or :class:`~ararat.cli.errors.CommandError` if the file is an SQLite database.
    """
    path = Path(file)
    refuse_database(file)
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    from ..bindings.system.files import replaced_file

    with replaced_file(path) as place, place.open("wb") as stream:
        yield stream


def _lines(stream: BinaryIO, name: str, form: str) -> Iterator[InputIdentifier]:
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        place = f"line {number} of {name}"
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_CHUNK)
            yield InputIdentifier(place, "", f"longer than {MAX_LINE:,} bytes")
            continue
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        if text.strip(_SPACE):
            yield _read(place, text, form)


def _read(place: str, text: str, form: str) -> InputIdentifier:
    if form == "text":
        return InputIdentifier(place, text.strip(_SPACE))
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return InputIdentifier(place, "", f"not JSON: {error.msg} at column {error.colno}; {_EXPECTED}")
    except (RecursionError, ValueError):
        return InputIdentifier(place, "", f"not JSON that can be read: nested too deeply or too large; {_EXPECTED}")
    if not isinstance(value, str):
        return InputIdentifier(
            place, "", f"not a JSON string but {_JSON_KINDS.get(type(value), 'a number')}; {_EXPECTED}"
        )
    return InputIdentifier(place, value)


@contextmanager
def open_input(file: str) -> Iterator[BinaryIO]:
    """Open an input file, or standard input ("-"), as a binary stream.
    Raises :class:`~ararat.cli.errors.CommandError` if it cannot be read.
    """
    if file == "-":
        yield standard_input()
        return
    try:
        with Path(file).open("rb") as stream:
            yield stream
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(f"cannot read {file}: {why}", exit_code=NO_INPUT) from None


def _chunks(stream: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    waiting = ""
    while data := stream.read(_CHUNK):
        waiting += decoder.decode(data)
        if len(waiting) > _CHUNK:
            cut = max(waiting.rfind(space) for space in _SPACE) + 1
            cut = cut or (len(waiting) if len(waiting) > MAX_LINE else 0)
            if cut:
                yield waiting[:cut]
                waiting = waiting[cut:]
    waiting += decoder.decode(b"", final=True)
    if waiting:
        yield waiting


def _advance(text: str, line: int, column: int) -> tuple[int, int]:
    breaks = text.count("\n")
    return (line + breaks, len(text) - text.rfind("\n")) if breaks else (line, column + len(text))
