"""Exceptions of the middleware.

Catch by class: :class:`BindingConflict` if a name is taken, :class:`BindingsUnavailable` if the store cannot be
reached, :class:`BindingError` for all other errors of a binding, a table or a database. Each error has a code from
:data:`~ararat.middleware.error_codes.ERROR_CODES`, or from :data:`ararat.identifiers.PROBLEMS` if the identifier
itself is wrong. All texts are printable ASCII; input in them is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..identifiers import PROBLEMS, IdentifierError
from ..identifiers.text import display
from .error_codes import ERROR_CODES

if TYPE_CHECKING:
    from .bindings.model import Binding


class Refused(ValueError):
    """An error with a code.

    ``message`` states what is wrong in one sentence; the default is the title of the code. ``expected`` states what is
    accepted, ``reference`` names the rule.

    >>> print(Refused("redirect-status", "the status 200 is not a redirect"))
    the status 200 is not a redirect (redirect-status)
    expected 302 or 307 (ARK draft, section 7.1.2)
    """

    def __init__(self, code: str, message: str | None = None) -> None:
        entry = ERROR_CODES.get(code) or PROBLEMS[code]
        self.code = code
        self.message = message or entry.title
        self.expected = entry.expected
        self.reference = entry.reference
        super().__init__(code, self.message)

    def __str__(self) -> str:
        return f"{self.message} ({self.code})\nexpected {self.expected} ({self.reference})"


class BindingsUnavailable(RuntimeError):
    """The store cannot be reached at the moment. Whether a name is bound is unknown.

    Nothing was written, unless the text states that this is unknown. Try again later: if the binding was written after
    all, the result is "unchanged".
    """


class BindingError(Refused):
    """A binding is refused. ``identifier`` is its name in ASCII, or None if the name is unknown."""

    def __init__(self, code: str, message: str | None = None, *, identifier: str | None = None) -> None:
        super().__init__(code, message)
        self.identifier = identifier

    @classmethod
    def of(cls, error: IdentifierError, identifier: str) -> BindingError:
        """Return the error for an identifier that cannot be parsed, with the code of its problem."""
        return cls(error.problem.code, error.problem.message, identifier=identifier)

    def __str__(self) -> str:
        text = super().__str__()
        if self.identifier is None:
            return text
        name = self.identifier if len(self.identifier) <= 100 else f"{self.identifier[:97]}..."
        return f"{name}: {text}"


class TableError(BindingError):
    """A file cannot be read as a table of bindings.

    ``line`` is the line of ``file``, counted from 1. ``column`` is the character in the line, counted from 1, or the
    name of a column, or None for the whole line. ``kept`` is the number of earlier lines that an import in batches has
    written.
    """

    def __init__(self, code: str, message: str, file: str, line: int, column: int | str | None = None) -> None:
        super().__init__(code, message)
        self.file = file
        self.line = line
        self.column = column
        self.kept = 0

    def __str__(self) -> str:
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.file}, line {self.line}{column}: {super().__str__()}"


class UnreadableBinding(BindingError, BindingsUnavailable):
    """The row of a name cannot be read, because another program wrote it. The binding of the name is unknown."""

    def __init__(self, key: str, reason: str) -> None:
        name = display.escape(key[:100])
        message = f"the row of {name} in the database cannot be read: {display.escape(reason[:100])}"
        super().__init__("binding-unreadable", message, identifier=name)


class BindingConflict(BindingError):
    """A name is taken. ``existing`` is the recorded binding, ``proposed`` the refused one."""

    def __init__(self, code: str, existing: Binding, proposed: Binding) -> None:
        super().__init__(code, _first_difference(code, existing, proposed), identifier=existing.identifier)
        self.existing = existing
        self.proposed = proposed
        if code == "bound-otherwise" and existing.resource is None:
            self.expected = "the command relocate, because no resource is recorded"


def _first_difference(code: str, existing: Binding, proposed: Binding) -> str | None:
    """Return the title of the code with the first difference that causes the conflict, or None without one."""
    fields = {
        "bound-otherwise": ("target", "kind", "passthrough", "scope", "alternates"),
        "other-resource": ("resource",),
    }
    for field in fields.get(code, ()):
        old, new = getattr(existing, field), getattr(proposed, field)
        if old != new:
            if field == "alternates":
                field = next(key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
                old, new, field = old.get(field), new.get(field), f"alternate {field}"
            label = "" if field in ("target", "resource") else f"{field} "
            return f"{ERROR_CODES[code].title}: {label}{_shorten(old)}, not {_shorten(new)}"
    return None


def _shorten(value: str | bool | None) -> str:
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else value
    return display.escape(text[:100]) + ("..." if len(text) > 100 else "")


class ReadOnlyBindings(BindingError):
    """Raised by a change of bindings that can only be read."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__("read-only", message)


class Collision(Exception):
    """Another writer was faster, so the change must be checked again. The middleware never raises it to callers."""


class PrefixError(Refused):
    """Raised for a text that is not a resolver prefix."""
