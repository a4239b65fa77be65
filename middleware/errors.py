"""Why a binding, a resolver prefix, a database or a table is refused: few exceptions, whose codes are many.

A caller catches by class: :class:`BindingConflict` when a name is taken, :class:`BindingsUnavailable` when the store
cannot be reached, :class:`BindingError` for everything else that is wrong with what was asked. People and programs read
the code. What is wrong with the *identifier itself* keeps its code from :data:`ararat.identifiers.PROBLEMS`. All texts
are printable ASCII: whatever came from outside stands in them escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..identifiers import PROBLEMS, IdentifierError
from ..identifiers.text import display
from .error_codes import FAULTS

if TYPE_CHECKING:
    from .bindings.model import Binding


class Refused(ValueError):
    """Something is refused for a reason that has a code: one of :data:`FAULTS` or of
    :data:`ararat.identifiers.PROBLEMS`.

    ``message`` is one sentence, ``expected`` what would do, ``reference`` the rule. Without a message the catalogue's
    title is the message.

    >>> print(Refused("redirect-status", "a name cannot be answered with 200"))
    a name cannot be answered with 200 (redirect-status)
    expected 302 or 307 (ARK draft, section 7.1.2)
    """

    def __init__(self, code: str, message: str | None = None) -> None:
        known = FAULTS.get(code) or PROBLEMS[code]
        self.code = code
        self.message = message or known.title
        self.expected = known.expected
        self.reference = known.reference
        super().__init__(code, self.message)

    def __str__(self) -> str:
        return f"{self.message} ({self.code})\nexpected {self.expected} ({self.reference})"


class BindingsUnavailable(RuntimeError):
    """The store cannot be reached at the moment, so nothing is known: not even that a name is not bound.

    Nothing was written, unless the text says that this is unknown. To try again later is safe: a binding that was made
    after all is then "unchanged".
    """


class BindingError(Refused):
    """A binding is refused; ``identifier`` is the name it was for, in ASCII, as far as one is known."""

    def __init__(self, code: str, message: str | None = None, *, identifier: str | None = None) -> None:
        super().__init__(code, message)
        self.identifier = identifier

    @classmethod
    def of(cls, error: IdentifierError, identifier: str) -> BindingError:
        """The refusal of an identifier that cannot be read, under the code of what is wrong with it."""
        return cls(error.problem.code, error.problem.message, identifier=identifier)

    def __str__(self) -> str:
        refused = super().__str__()
        if self.identifier is None:
            return refused
        cut = self.identifier if len(self.identifier) <= 100 else f"{self.identifier[:97]}..."
        return f"{cut}: {refused}"


class TableError(BindingError):
    """A table cannot be read, or cannot be a table of bindings: at ``line`` of ``file``, counted from 1.

    ``column`` is the place in the line, counted in characters from 1, or the name of a column, or None for the whole
    line. ``kept`` is how many lines before it an import in batches has written.
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


def _cut(value: str | bool | None) -> str:
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else value
    return display.escape(text[:100]) + ("..." if len(text) > 100 else "")


class UnreadableBinding(BindingError, BindingsUnavailable):
    """The row of a name, which another program has written, cannot be read: nothing is known of the name."""

    def __init__(self, key: str, reason: str) -> None:
        shown = display.escape(key[:100])
        said = f"the row of {shown} in the database cannot be read: {display.escape(reason[:100])}"
        super().__init__("binding-unreadable", said, identifier=shown)


class BindingConflict(BindingError):
    """A name is taken: ``existing`` is what it is bound to, ``proposed`` what it would be bound to."""

    def __init__(self, code: str, existing: Binding, proposed: Binding) -> None:
        super().__init__(code, _conflict(code, existing, proposed), identifier=existing.identifier)
        self.existing = existing
        self.proposed = proposed
        if code == "bound-otherwise" and existing.resource is None:
            self.expected = "the command relocate, because no resource is on record"


def _conflict(code: str, existing: Binding, proposed: Binding) -> str | None:
    """The title of a conflict with the first difference that causes it, where there is one."""
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
            named = "" if field in ("target", "resource") else f"{field} "
            return f"{FAULTS[code].title}: {named}{_cut(old)}, not {_cut(new)}"
    return None


class ReadOnlyBindings(BindingError):
    """These bindings can be read, not changed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__("read-only", message)


class Collision(Exception):
    """Another writer was faster, so what was decided has to be decided again. It never leaves the middleware."""


class PrefixError(Refused):
    """A text is no HTTP resolver prefix."""
