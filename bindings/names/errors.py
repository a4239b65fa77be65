"""The exceptions of the middleware. Catch :class:`BindingConflict` if a name is taken, :class:`BindingsUnavailable` if
the store is away, and :class:`BindingError` for all other errors. Each has a code of
:data:`~ararat.bindings.names.error_codes.ERROR_CODES` or :data:`ararat.identifiers.PROBLEMS`. Their texts are
printable: hidden characters of input are escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ...identifiers import IdentifierError
from ...identifiers.suggestions import suggestions
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from .binding import PLACE
from .error_codes import ErrorCode, error_code

if TYPE_CHECKING:
    from .binding import Binding


_MAX_SUGGESTION = 300


class CatalogueError(ValueError):
    """The base class of errors with a code of :data:`~ararat.bindings.names.error_codes.ERROR_CODES`. ``message`` is
    one sentence, by default the title of the code. ``expected`` and ``reference`` override what the code has.

    >>> print(CatalogueError("redirect-status", "the status 200 is not a redirect"))
    the status 200 is not a redirect (redirect-status)
    expected 302 or 307 (ARK draft, section 7.1.2)
    """

    def __init__(self, code: str, message: str | None = None) -> None:
        entry = error_code(code)
        self.code = code
        self.message = message or entry.title
        self.expected = entry.expected
        self.reference = entry.reference
        super().__init__(code, self.message)

    @property
    def entry(self) -> ErrorCode:
        """The description of this error in the catalogue: its HTTP status, exit code, argument and fix."""
        return error_code(self.code)

    def __str__(self) -> str:
        return f"{self.message} ({self.code})\nexpected {self.expected} ({self.reference})"


class BindingsUnavailable(RuntimeError):
    """Raised if the store cannot be reached, so it is unknown whether a name is bound. Try again later.

    Nothing was written, except for :class:`OutcomeUnknown` and an operation in blocks: ``written`` names were changed
    by the operation with the number ``operation``, which continues after them.
    """

    code = "unavailable"
    operation: int | None = None
    written: int = 0

    @property
    def entry(self) -> ErrorCode:
        """The description of this error in the catalogue: its HTTP status, exit code and fix."""
        return error_code(self.code)


class NoTables(BindingsUnavailable):
    """Raised if a database does not exist, or has no tables of Ararat yet."""

    def __init__(self, message: str, database: str) -> None:
        super().__init__(message)
        self.database = database


class BindingsLocked(BindingsUnavailable):
    """Raised if another writer has locked the bindings for some seconds. Nothing was written."""


class DatabaseFull(BindingsUnavailable):
    """Raised if the disk of the database has no space for a change. Nothing was written."""

    code = "database-full"


class StatementStopped(BindingsUnavailable):
    """Raised if the database stopped a statement at the limit of its time. The database itself works."""

    code = "statement-stopped"


class TooBroad(StatementStopped):
    """Raised if a list, search or count reads more names than its limits permit. ``counted`` is what a count found so
    far.
    """

    code = "too-broad"

    def __init__(self, message: str, counted: int = 0) -> None:
        super().__init__(message)
        self.counted = counted


class OutcomeUnknown(BindingsUnavailable):
    """Raised if the connection broke at the end of a transaction, so it is unknown whether the change was written.
    Repeat a change of a named name safely; a repeated mint can give another name.
    """

    code = "outcome-unknown"


class BindingError(CatalogueError):
    """Raised for a change of bindings, a table or a database that is not valid; ``code`` is the stable name of the
    error.

    ``message`` is a sentence for people. ``identifier`` is the name that it is about, and ``suggestion`` the one that
    is probably meant, both in ASCII. ``field`` is the wrong field, such as "target". ``item`` is the position of the
    name in a list of changes, from 0. Each of the four is None if it does not apply.
    """

    def __init__(self, code: str, message: str | None = None, *, identifier: str | None = None) -> None:
        super().__init__(code, message)
        self.identifier = identifier
        self.suggestion: str | None = None
        self.field: str | None = None
        self.item: int | None = None

    @classmethod
    def of(cls, error: IdentifierError, identifier: str) -> BindingError:
        """Convert the error of a text that is not an identifier; ``identifier`` is this text in ASCII."""
        return cls(error.problem.code, error.problem.message, identifier=identifier).with_suggestion(error.text)

    def with_suggestion(self, text: str) -> Self:
        """Return this error with the identifier that a text probably means, if there is one."""
        if corrections := suggestions(text):
            self.suggestion = display.percent(corrections[0].identifier)
        return self

    @property
    def question(self) -> str:
        """The question whether the suggested identifier is meant, to append to a message, or ""."""
        if self.suggestion is None or len(self.suggestion) > _MAX_SUGGESTION:
            return ""
        return f" Did you mean {self.suggestion}?"

    def __str__(self) -> str:
        text = super().__str__()
        if self.identifier is None:
            return text
        name = self.identifier if len(self.identifier) <= 100 else f"{self.identifier[:97]}..."
        return f"{name}: {text}"


class TableError(BindingError):
    """Raised if a file cannot be read as a table of bindings. ``line`` is counted from 1.

    - ``column``: the character in the line, counted from 1, or the name of a column; None for the whole line.
    - ``kept``: the number of earlier lines that an import in batches has written.
    - ``mapping``: the first unknown heading, or "" if it cannot be printed, and the column that it probably means.
    """

    def __init__(self, code: str, message: str, file: str, line: int, column: int | str | None = None) -> None:
        super().__init__(code, message)
        self.file = file
        self.line = line
        self.column = column
        self.kept = 0
        self.mapping: tuple[str, str | None] | None = None

    def __str__(self) -> str:
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.file}, line {self.line}{column}: {super().__str__()}"


class UnreadableBinding(BindingError, BindingsUnavailable):
    """Raised if another program wrote a row that Ararat cannot read. ``reason`` is what is wrong with the row."""

    def __init__(self, key: str, reason: str) -> None:
        name = display.escape(key[:100])
        message = f"the row of {name} in the database cannot be read: {display.escape(reason[:100])}"
        super().__init__("binding-unreadable", message, identifier=name)


class UnusableSnapshot(BindingError, BindingsUnavailable):
    """Raised for a snapshot file that is damaged or not a snapshot (codes ``snapshot-…``), or that lacks what a query
    needs, such as a history (``not-in-snapshot``). A running site answers 503 until the file is replaced.
    """


class MintedElsewhere(BindingError):
    """Raised for a name to mint below a delegated prefix. ``minter`` is the address that mints it, or None."""

    def __init__(self, message: str, minter: str | None, *, identifier: str) -> None:
        super().__init__("prefix-delegated", message, identifier=identifier)
        self.minter = minter


class BindingConflict(BindingError):
    """Raised for a change of a bound name that is not permitted. ``proposed`` is the refused binding."""

    def __init__(self, code: str, existing: Binding, proposed: Binding) -> None:
        super().__init__(code, _first_difference(code, existing, proposed), identifier=existing.identifier)
        self.existing = existing
        self.proposed = proposed
        if code == "bound-otherwise" and existing.resource is None:
            self.expected = "a relocation, because no resource is recorded"


def _first_difference(code: str, existing: Binding, proposed: Binding) -> str | None:
    """Return the first difference that causes the conflict, or None without one. Neither value is called wrong."""
    fields = {"bound-otherwise": PLACE, "other-resource": ("resource",)}
    for field in fields.get(code, ()):
        old, new = getattr(existing, field), getattr(proposed, field)
        if old != new:
            if field == "alternates":
                field = next(key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key))
                old, new, field = old.get(field), new.get(field), f"alternate {field}"
            shown = _shorten(new)
            if old is None:
                return Translatable("no %(field)s is recorded, and the new one is %(new)s", field=field, new=shown)
            return Translatable(
                "the recorded %(field)s is %(old)s, and the new one is %(new)s",
                field=field,
                old=_shorten(old),
                new=shown,
            )
    return None


def _shorten(value: str | bool | None) -> str:
    if value is None:
        return Translatable("nothing")
    text = str(value).lower() if isinstance(value, bool) else value
    return display.visible(text[:100].replace("\\", "\\\\")) + ("..." if len(text) > 100 else "")


class ReadOnlyBindings(BindingError, BindingsUnavailable):
    """Raised for a change of a table file, a snapshot or a standby server. Nothing was written. After a failover,
    writers receive it for some seconds.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__("read-only", message)


class Missing(BindingError):
    """Raised for a name, shoulder or record that does not exist: ``not-bound``, ``shoulder-unknown``,
    ``prefix-unknown`` or ``operation-unknown``.
    """


class Stale(BindingError):
    """Raised for a change that expects another revision, because another client changed the name or prefix record.
    ``existing`` is the recorded binding; None for a name without one, and for a prefix record.
    """

    def __init__(self, identifier: str, message: str, existing: Binding | None = None) -> None:
        super().__init__("revision-stale", message, identifier=identifier)
        self.existing = existing


class Collision(Exception):
    """Raised inside the middleware if another process changed the same name first. The change is then checked again."""


class PrefixError(CatalogueError):
    """Raised for a text that is not a resolver prefix, such as ``https://example.org``."""


class BackupError(Exception):
    """Raised for a backup that cannot be made, or that is damaged. ``is_file`` is true if the file itself cannot be
    written or read.
    """

    def __init__(self, what: str, fix: str, *, is_file: bool = False) -> None:
        super().__init__(what)
        self.fix = fix
        self.is_file = is_file
