"""The exit codes of all commands, and the error messages that end a command."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ..bindings.names.errors import TableError
    from ..identifiers import Ark, IdentifierError, Urn
    from ..middleware import Binding, BindingsUnavailable
    from .output import Sheet

DONE = 0
NO = 1
"""The answer is no: not equivalent, nothing found, not bound, or bound to something else."""
UNREADABLE = 2
"""The input is not valid, or cannot be bound."""
UNDECIDED = 3
"""It is not known whether two URNs are equivalent."""
FAILURE = 3
UNSPECIFIED = 4
USAGE = 64
NO_INPUT = 66
"""A file cannot be read."""
UNAVAILABLE = 69
"""The bindings cannot be reached, or no port is free."""
CANNOT_WRITE = 74
"""A file, or standard output, cannot be written."""
OUTCOME_UNKNOWN = 75
"""It is unknown whether a change was written, because the connection to the database broke."""


class CommandError(Exception):
    """An error that ends a command with a message and an exit code.
    ``what`` is one sentence without a full stop. ``details`` are pairs of a label and a text, such as "Expected" or
    "Fix". ``error`` adds the place in an identifier that is not valid. All texts are escaped when they are printed.
    """

    def __init__(
        self,
        what: str,
        *details: tuple[str, str],
        exit_code: int = UNREADABLE,
        error: IdentifierError | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.details = details
        self.exit_code = exit_code
        self.error = error

    def lines(self, sheet: Sheet) -> Iterator[str]:
        """Yield the lines of the error message of the command, with the width and colour of ``sheet``.

        >>> from .output import Sheet
        >>> list(CommandError("no file", ("Fix", "give a path")).lines(Sheet(80)))
        ['ararat: no file', '  Fix           give a path']
        """
        from ..identifiers.text import display

        # A line break in the name of a file must not begin a line that looks like another message.
        yield from sheet.prose(display.visible(f"ararat: {self.what}"), style="error")
        if self.error is not None:
            from .render.reports import problem_lines, suggestion_lines

            yield from problem_lines(self.error.problem, self.error.text, sheet)
            yield from suggestion_lines(self.error.text, sheet)
        for label, text in self.details:
            yield from sheet.field(label, text)


def cannot_write(place: object, error: OSError, *, fix: str = "") -> CommandError:
    """Return the error of a command that cannot write a file or stream. ``fix`` replaces the remedy of the error.

    >>> error = cannot_write("a.csv", OSError(28, "No space left on device"))
    >>> error.what, error.exit_code
    ('cannot write a.csv: No space left on device', 74)
    >>> error.details
    (('Fix', 'free space on its disk, or name a file on another disk'),)
    """
    from ..bindings.system.files import write_remedy

    what = f"cannot write {place}: {error.strerror or error}"
    return CommandError(what, ("Fix", fix or write_remedy(error)), exit_code=CANNOT_WRITE)


@contextmanager
def writing(place: str) -> Iterator[None]:
    """Convert the errors of the file system while a file is written to :class:`CommandError`."""
    try:
        yield
    except OSError as error:
        raise cannot_write(place, error) from None


def read_name(text: str) -> Ark | Urn:
    """Parse the identifier in an argument. For a URL that contains an ARK, return this ARK. Raises
    :class:`CommandError` for an invalid text, and :class:`.BindingError` for one that is too long.

    >>> str(read_name("https://n2t.net/ark:/12345/x-1"))
    'ark:12345/x1'
    """
    from ..bindings.names.naming import require_length
    from ..identifiers import EmbeddedArk, IdentifierError, parse

    require_length(text)
    try:
        identifier = parse(text)
    except IdentifierError as error:
        raise CommandError("not a valid identifier", error=error) from None
    return identifier.ark if isinstance(identifier, EmbeddedArk) else identifier


def write(lines: Iterable[str], *, to: TextIO | None = None) -> None:
    """Write lines, which have no line ends, by default to standard output."""
    stream = to or sys.stdout
    for line in lines:
        stream.write(f"{line}\n")


def _describe(binding: Binding, other: Binding, resource: str) -> str:
    """Return the kind, target and resource of a binding, and the fields that differ from those of ``other``."""
    from ..bindings.names.fields import text_of

    parts = [f"{binding.kind}, {binding.target or 'no target'}"]
    if binding.passthrough != other.passthrough:
        parts.append(f"passthrough: {text_of('passthrough', binding)}")
    if binding.scope != other.scope:
        parts.append(f"scope: {binding.scope}")
    for selector in sorted(binding.alternates.keys() | other.alternates.keys()):
        target = binding.alternates.get(selector)
        if target != other.alternates.get(selector):
            parts.append(f"alternate {selector}: {target or 'none'}")
    return "; ".join([*parts, f"resource: {resource}"])


def creation(error: BindingsUnavailable) -> str:
    """Return the sentence that states how to create missing tables, or "" for an error about something else."""
    from ..bindings.names.errors import NoTables

    cause = error if isinstance(error, NoTables) else error.__cause__
    return f"to create them, run: ararat init --database {cause.database}" if isinstance(cause, NoTables) else ""


def _table_options(error: TableError) -> Iterator[tuple[str, str]]:
    """Yield the options of ``ararat import`` that read the table as it is."""
    if error.mapping:
        name, column = error.mapping
        example = f"{name or 'NAME'}={column or 'COLUMN'}"
        quoted = f'"{example}"' if " " in example else example
        yield "Fix", f"map it with --map {quoted}, or ignore it with --ignore-unknown"
    elif error.code == "table-column-missing":
        yield "Fix", "name the column of the names with --map NAME=identifier, or that of the keys with --key NAME"
    elif error.code in ("table-not-text", "dump-syntax"):
        yield "Fix", "for the dump of another system, name the system with --from SYSTEM"
    elif error.code == "table-encoding":
        yield "Fix", "save the file as UTF-8, or select its encoding with --encoding NAME"


@contextmanager
def store_errors() -> Iterator[None]:
    """Convert the errors of a store in a ``with`` block to :class:`CommandError`, with the exit code of each."""
    from ..bindings.names.errors import OutcomeUnknown, StatementStopped, TableError
    from ..middleware import BindingConflict, BindingError, BindingsUnavailable

    try:
        yield
    except BindingConflict as error:
        existing, proposed = error.existing, error.proposed
        # The proposed binding inherits the recorded resource. With "bound-otherwise" the request had no resource.
        resource = None if error.code == "bound-otherwise" and existing.resource else proposed.resource
        raise CommandError(
            f"{error.identifier}: {error.message} ({error.code})",
            ("Recorded", _describe(existing, proposed, existing.resource or "none recorded")),
            ("Requested", _describe(proposed, existing, resource or "none given")),
            ("Expected", f"{error.expected} ({error.reference})"),
            exit_code=error.entry.exit_code,
        ) from None
    except TableError as error:
        column = "" if error.column is None else f", column {error.column}"
        what = f"{error.file}, line {error.line}{column}: {error.message} ({error.code})"
        written = "nothing"
        if error.kept:
            written = f"the first {error.kept:,} lines; correct the table and run the command again to continue"
        expected = ("Expected", f"{error.expected} ({error.reference})")
        raise CommandError(what, expected, *_table_options(error), ("Written", written)) from None
    except BindingError as error:
        subject = f"{error.identifier}: " if error.identifier else ""
        what = f"{subject}{error.message} ({error.code})"
        expected = ("Expected", f"{error.expected} ({error.reference})")
        raise CommandError(what, expected, exit_code=error.entry.exit_code) from None
    except BindingsUnavailable as error:
        # Most messages state the remedy after a semicolon, such as to restore a backup or to run a command. Those of
        # SQLite always do: a file has no address, user and password.
        advice = "check its address, user and password, or start the database, then try again"
        if isinstance(error, OutcomeUnknown):
            raise CommandError(
                f"{error}: {error.entry.title}", ("Fix", error.entry.remedy), exit_code=error.entry.exit_code
            ) from None
        advice = creation(error) or (advice if error.code == BindingsUnavailable.code else error.entry.remedy)
        # The text of a limit behind the semicolon names the setting, which is the cause.
        details = [] if "; " in str(error) and not isinstance(error, StatementStopped) else [("Fix", advice)]
        if error.operation is not None:
            number = error.operation
            details += [
                ("Written", f"{error.written:,} names, by operation {number}"),
                ("To continue", "run the same command again"),
                ("To undo", f"run: ararat operations --stop {number}, then: ararat undo {number}"),
            ]
        raise CommandError(str(error), *details, exit_code=error.entry.exit_code) from None
