"""Read names and operations as a caller sees them: a reserved name is shown only to those who can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bindings.names import naming
from ...bindings.names.binding import Binding, Event
from ...bindings.names.errors import Missing
from ...bindings.names.naming import Name
from ...bindings.names.operation import Operation
from ...identifiers import IdentifierError, parse
from ...identifiers.ark import length
from ...identifiers.text.translatable import Translatable
from .permissions import known_to

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ..accounts.model import Caller

# A name that can be bound has at most 255 code points. One code point has at most 12 characters in a key.
_MAX_KEY = 12 * length.ALWAYS_ACCEPTED

_MAX_NUMBER = 2**62


def show(bindings: Bindings, caller: Caller | None, name: Name) -> Binding:
    """Return the binding of a name. Raises :class:`Missing` for an unknown name.
    A reserved name is missing, too, for a caller without the right to read.
    """
    found = bindings.lookup(name)
    if found is None or not known_to(caller, found):
        raise _missing(name)
    return found


def show_to_change(bindings: Bindings, caller: Caller | None, name: Name) -> Binding:
    """Return the binding of a name that a change is compared with. Raises :class:`Missing` as :func:`show`.
    A name below a grant is found also without the right to read. No answer can have its values then.
    """
    found = bindings.lookup(name)
    may_change = found is not None and caller is not None and caller.may_change(found.identifier)
    if found is None or not (may_change or known_to(caller, found)):
        raise _missing(name)
    return found


def show_longest(bindings: Bindings, caller: Caller | None, name: Name) -> Binding:
    """Return the binding of a name, or of the longest recorded name that it begins with.
    Raises :class:`Missing`. A prefix can end in the middle of a component, as the shoulders of ARKs do.
    """
    # A text that is longer than a name can begin with a name.
    try:
        read = parse(name) if isinstance(name, str) else name
    except IdentifierError:
        read = name
    key = naming.key_of(read)
    found = bindings.store.fetch(key[:end] for end in range(1, min(len(key), _MAX_KEY) + 1))
    shown = [binding for binding in found.values() if known_to(caller, binding)]
    if not shown:
        raise _missing(name)
    return max(shown, key=lambda binding: len(binding.identifier))


def history(bindings: Bindings, name: Name) -> list[Event]:
    """Return the changes of a name, also a deleted one, the oldest first.
    Raises :class:`Missing` for a name without any. Require the right to read first.
    """
    if not (events := bindings.history(name)):
        raise _missing(name)
    return events


def operation(bindings: Bindings, number: int) -> Operation:
    """Return an operation on many names.
    Raises :class:`Missing` (``operation-unknown``). Require the right to read first.
    """
    found = bindings.store.operations(number + 1, 1) if 0 < number < _MAX_NUMBER else []
    if not found or found[0].number != number:
        raise Missing("operation-unknown", Translatable("the operation %(number)s does not exist", number=str(number)))
    return found[0]


def _missing(name: Name) -> Missing:
    return Missing("not-bound", identifier=naming.key_of(name))
