"""Change the names of a selection: the operations that the desk and the API have, for programs and the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..collection import Bindings
from ..names.actor import Actor
from ..names.operation import OperationKind, kind_of, list_requestable
from ..names.selection import MAX_PAGE, Selection
from ..storage.tables.keys import index_key
from .plan import BulkResult
from .plan_names import carry_out


def kinds_for_names() -> list[OperationKind]:
    """Return the kinds of operations on selected names, which :func:`change_selected` carries out."""
    return [kind for kind in list_requestable() if kind.is_for_names]


def change_selected(
    bindings: Bindings,
    kind: str,
    arguments: Mapping[str, Any],
    selection: Selection,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Carry out an operation on all names that meet the conditions ``selection``.

    ``kind`` is the name of a kind of operations on names (:mod:`~ararat.bindings.operations.kinds`), such as "publish",
    and ``arguments`` are the members of its request in the API. The other arguments and the errors are those of
    :func:`~ararat.bindings.operations.plan_names.carry_out`.

    >>> import tempfile
    >>> from ararat.bindings.names.selection import select
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> [b.reserve(name, target="/1") for name in ("ark:12345/x1", "ark:12345/x2", "ark:12345/y1")]
    ['reserved', 'reserved', 'reserved']
    >>> change_selected(b, "publish", {}, select(prefix="ark:12345/x")).counts["bound"]
    2
    >>> b.close(); folder.cleanup()
    """
    plan = kind_of(kind).make_plan(arguments)

    def find(_: object) -> Iterator[str]:
        after: str | None = None
        while True:
            page = bindings.list_names(selection, cursor=after, limit=MAX_PAGE)
            yield from (index_key(each.identifier) for each in page.names)
            if (after := page.next) is None:
                return

    chosen = plan._replace(find=find, subject=repr(selection))
    return carry_out(bindings, chosen, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)
