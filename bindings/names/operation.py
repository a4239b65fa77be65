"""Operations: changes of many names at once, such as an import. Each has a number, which its events contain.
:class:`OperationKind` declares a kind once; the check of a request, its rights, API, form, command and labels follow
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ...identifiers.text.translatable import Translatable
from . import validation
from .binding import rfc3339
from .errors import BindingError

EMPTIED = "emptied"
"""The member of recorded JSON that has the time at which its texts were deleted."""


class Operation(NamedTuple):
    """One recorded change of many names. Numbers increase, and they can have gaps.

    - ``action``: such as "import", "relocate" or "undo". ``started``, ``finished``: the begin and the end in UTC; None
      for an operation that did not end.
    - ``parameters``: the file, the prefixes and other values of the operation.
    - ``names``: the number of changed names.
    - ``undoes``, ``undone_by``: the number of the operation that this one undid, and of the one that undid this. None
      if that was itself undone.
    """

    number: int
    action: str
    actor: str | None
    started: datetime
    finished: datetime | None
    parameters: Mapping[str, Any]
    names: int
    undoes: int | None
    undone_by: int | None

    @property
    def emptied(self) -> datetime | None:
        """The time at which the texts in ``parameters`` were deleted, such as the reason of a withdrawal, or None."""
        time = self.parameters.get(EMPTIED)
        return None if time is None else datetime.fromisoformat(time)

    def require_in_effect(self) -> None:
        """Raise :class:`BindingError` with the code ``operation-undone`` if the operation was undone."""
        if self.undone_by is not None:
            raise BindingError(
                "operation-undone",
                Translatable(
                    "the operation %(number)s was undone by the operation %(undo)s",
                    number=str(self.number),
                    undo=str(self.undone_by),
                ),
            )

    def require_undoable(self) -> None:
        """Raise :class:`BindingError` (``operation-undone``, ``operation-running``) if it was undone or has not
        ended.
        """
        self.require_in_effect()
        if self.finished is None:
            raise BindingError(
                "operation-running", Translatable("the operation %(number)s has not ended", number=str(self.number))
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the recorded change of many names as a JSON object. Times are RFC 3339 in UTC."""
        return self._asdict() | {
            "started": rfc3339(self.started),
            "finished": self.finished and rfc3339(self.finished),
            "parameters": dict(self.parameters),
        }


class FormField(NamedTuple):
    """A field of the form of an operation. ``choices`` is "elements" for a list of the elements of metadata, or "day"
    for a last day in the time zone of the user. ``is_code`` marks a URL or a name, which no program must correct.
    """

    name: str
    label: str
    hint: str = ""
    choices: Literal["", "elements", "day"] = ""
    is_code: bool = False


Arguments = Mapping[str, Any]
"""The arguments of a requested operation, as the body of the API has them."""


def _withdraws_new(parameters: Arguments) -> bool:
    return False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OperationKind:
    """The declaration of one kind of operation on many names.

    - ``name``, ``action``, ``audit``: the words in requests ("move"), in the history ("relocate") and in the audit.
      Several kinds can have the same action.
    - ``label``: returns the words for a recorded operation with a number. ``title``: the heading of a request; by
      default the words of the button.
    - ``plan``: checks the arguments, and returns a :class:`~ararat.bindings.operations.plan.Plan`. None for a kind that
      no user requests for selected names.
    - ``body``: the arguments by name, each with its JSON Schema, or with the names of fields for an object of fields.
      ``required``: those that a request must have. ``is_for_names`` is False if they select the names themselves.
    - ``rights``: those of which a token needs one. ``sets``: returns the fields that need further rights. A kind
      without both needs the rights of its changes.
    - ``button``: the words below a list of names, or "". ``is_final`` shows a warning with it. ``is_for_reserved``
      limits it to reserved names.
    - ``form``, ``heading``, ``read_form``, ``field_of``: the fields, the heading for a number of names (None for a long
      list), the arguments for the values, and the field that an error is about.
    - ``hides_new``: returns for recorded parameters whether an undo hides a new name instead of withdrawing it.

    >>> kind_of_action("import").label("7")
    'Operation 7: import'
    """

    name: str
    audit: str
    label: Callable[[str], str]
    title: str = ""
    action: str = ""
    plan: Callable[[Arguments], Any] | None = None
    body: Mapping[str, Mapping[str, Any] | tuple[str, ...]]
    required: tuple[str, ...] = ()
    is_for_names: bool = True
    rights: tuple[str, ...]
    sets: Callable[[Arguments], Collection[str]] = lambda arguments: ()
    button: str = ""
    is_final: bool = False
    is_for_reserved: bool = False
    form: tuple[FormField, ...] = ()
    heading: Callable[[int | None], str] | None = None
    read_form: Callable[[Mapping[str, str]], Arguments] = lambda values: values
    field_of: Callable[[BindingError, Mapping[str, str]], str] = lambda error, values: ""
    hides_new: Callable[[Arguments], bool] = _withdraws_new

    def __post_init__(self) -> None:
        if not self.action:
            object.__setattr__(self, "action", self.name)
        if not self.title:
            object.__setattr__(self, "title", self.button or self.name.capitalize())

    def make_plan(self, arguments: Arguments) -> Any:
        """Return the plan for ``arguments``. Raises :class:`BindingError` for arguments that are not valid."""
        if self.plan is None:
            raise _unknown(self.name)
        return self.plan(arguments)


KINDS: dict[str, OperationKind] = {}
"""The declared kinds of operations by name, in the order of display."""


def declare(kind: OperationKind) -> OperationKind:
    """Add ``kind`` to :data:`KINDS`, and return it."""
    KINDS[kind.name] = kind
    return kind


def kind_of(name: str) -> OperationKind:
    """Return the kind that users request for selected names. Raises :class:`BindingError` (``operation-kind``)."""
    if (found := KINDS.get(name)) is None or found.plan is None:
        raise _unknown(name)
    return found


def kind_of_action(action: str) -> OperationKind:
    """Return the first kind with this ``action``. Raises :class:`BindingError` (``operation-kind``)."""
    if (found := next((kind for kind in KINDS.values() if kind.action == action), None)) is None:
        raise _unknown(action)
    return found


def list_requestable() -> list[OperationKind]:
    """Return the kinds that a user can request for selected names."""
    return [kind for kind in KINDS.values() if kind.plan is not None]


def _unknown(name: str) -> BindingError:
    known = ", ".join(kind.name for kind in list_requestable())
    return BindingError(
        "operation-kind",
        Translatable(
            "%(name)s is not an operation on many names; the operations are %(known)s",
            name=validation.quote(name, 100),
            known=known,
        ),
    )


declare(
    OperationKind(
        name="import",
        audit="import",
        label=lambda number: Translatable("Operation %(operation)s: import", operation=number),
        body={},
        rights=(),
        hides_new=lambda parameters: "mint" in parameters,
    )
)
declare(
    OperationKind(
        name="mint",
        audit="mint",
        label=lambda number: Translatable("Operation %(operation)s: mint", operation=number),
        body={},
        rights=("mint",),
    )
)
