"""The commands, a module for each family, and what all of them share: exit codes and refusals."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from ..identifiers import EmbeddedArk, IdentifierError, parse
from .output import Sheet
from .render.reports import problem_lines

if TYPE_CHECKING:
    from ..identifiers import Ark, Urn
    from ..middleware import Binding

DONE = 0
NO = 1
"""The answer is no: not equivalent, nothing found, not bound, or bound to something else."""
UNREADABLE = 2
"""What was given cannot be read, or cannot be bound."""
FAILURE = 3
UNSPECIFIED = 4
USAGE = 64
NO_INPUT = 66
"""A file cannot be read."""
UNAVAILABLE = 69
"""The bindings cannot be reached, or no port is free."""


class Refused(Exception):
    """Something was not done.

    ``what`` is one sentence without a full stop; ``details`` are pairs of a label and a text ("Expected", "Next");
    ``error``, where an identifier could not be read, has the place to point at. All of it is escaped when it is shown.
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
        """What is written to standard error."""
        yield from sheet.prose(f"ararat: {self.what}", style="bad")
        if self.error is not None:
            yield from problem_lines(self.error.problem, self.error.text, sheet)
        for label, text in self.details:
            yield from sheet.field(label, text)


def read_name(text: str) -> Ark | Urn:
    """The identifier that a command is about: of an address with an ARK in it the ARK.

    Raises :class:`Refused` where ``text`` cannot be read.
    """
    try:
        identifier = parse(text)
    except IdentifierError as error:
        raise Refused("this is no identifier", error=error) from None
    return identifier.ark if isinstance(identifier, EmbeddedArk) else identifier


def write(lines: Iterable[str], *, to: TextIO | None = None) -> None:
    """Write laid-out lines, to standard output unless told otherwise."""
    stream = to or sys.stdout
    for line in lines:
        stream.write(f"{line}\n")


def _place(binding: Binding, other: Binding, resource: str) -> str:
    """Where a name leads and what it names, with each further field of its place that differs from another binding."""
    parts = [f"{binding.kind}, {binding.target or 'no target'}"]
    if binding.passthrough != other.passthrough:
        parts.append(f"passthrough: {'yes' if binding.passthrough else 'no'}")
    if binding.scope != other.scope:
        parts.append(f"scope: {binding.scope}")
    for selector in sorted(binding.alternates.keys() | other.alternates.keys()):
        target = binding.alternates.get(selector)
        if target != other.alternates.get(selector):
            parts.append(f"alternate {selector}: {target or 'none'}")
    return "; ".join([*parts, f"resource: {resource}"])


@contextmanager
def store_errors() -> Iterator[None]:
    """What bindings refuse, said as a command says it."""
    from ..middleware import BindingConflict, BindingError, BindingsUnavailable
    from ..middleware.errors import TableError

    try:
        yield
    except BindingConflict as error:
        existing, proposed = error.existing, error.proposed
        # What would be on record keeps the resource; such a conflict is one because the request did not give it.
        given = None if error.code == "bound-otherwise" and existing.resource else proposed.resource
        raise Refused(
            f"{error.identifier}: {error.message} ({error.code})",
            ("On record", _place(existing, proposed, existing.resource or "none on record")),
            ("Asked for", _place(proposed, existing, given or "none given")),
            ("Expected", f"{error.expected} ({error.reference})"),
            exit_code=NO,
        ) from None
    except TableError as error:
        column = "" if error.column is None else f", column {error.column}"
        what = f"{error.file}, line {error.line}{column}: {error.message} ({error.code})"
        done = "nothing; the table is written whole or not at all"
        if error.kept:
            done = f"the first {error.kept:,} lines; run it again when the table is corrected, and it goes on"
        raise Refused(what, ("Expected", f"{error.expected} ({error.reference})"), ("Done", done)) from None
    except BindingError as error:
        named = f"{error.identifier}: " if error.identifier else ""
        what = f"{named}{error.message} ({error.code})"
        code = NO if error.code == "not-bound" else UNREADABLE
        raise Refused(what, ("Expected", f"{error.expected} ({error.reference})"), exit_code=code) from None
    except BindingsUnavailable as error:
        raise Refused(
            str(error), ("Next", "try again when the database can be reached"), exit_code=UNAVAILABLE
        ) from None
