"""Names under NAANs that nobody is registered for: noted, or refused where one is strict (ARK-015).

What is bound under a NAAN of nobody's own belongs to somebody else as soon as it is given away. A site may say which
NAANs are its own, whatever the registry, as it came with Ararat or was updated since, has of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .binding import Binding
from .bindings import Bindings
from .errors import BindingError
from .minting import is_registered


class Watched(Bindings):
    """Bindings whose changes are watched: ``unregistered`` has each NAAN, in the order of its first name, that is
    neither registered nor among ``own``.

    With ``strict`` such a change raises :class:`BindingError` with the code ``naan-unregistered``, and nothing of it is
    written. The store stays that of ``bindings``, and is closed with these. NAANs are in printable ASCII.

    >>> import tempfile
    >>> from .bindings import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = Watched(open_bindings(f"{folder.name}/bindings.sqlite"), own=["24680"])
    >>> b.bind("ark:54321/x", "/x"), b.bind("ark:24680/x", "/x"), b.bind("ark:12148/x", "/x"), b.unregistered
    ('bound', 'bound', 'bound', ['54321'])
    >>> b.close(); folder.cleanup()
    """

    def __init__(self, bindings: Bindings, own: Collection[str] = (), *, strict: bool = False) -> None:
        super().__init__(_Store(bindings.store, self._note), bindings.now, bindings.policy)  # type: ignore[arg-type]
        self.unregistered: list[str] = []
        self._known = {*own}
        self._strict = strict

    def _note(self, keys: Sequence[str]) -> None:
        for key in keys:
            naan = key[4:].partition("/")[0] if key.startswith("ark:") else ""
            if not naan or naan in self._known:
                continue
            if not is_registered(naan):
                if self._strict:
                    raise BindingError("naan-unregistered", f"NAAN {naan} is not registered", identifier=key)
                self.unregistered.append(naan)
            self._known.add(naan)


class _Store:
    """A store that says of which names a transaction asks: of all that it is about to change."""

    def __init__(self, store: Any, note: Any) -> None:
        self._store = store
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def __str__(self) -> str:
        return str(self._store)

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[Any]:
        # Every change asks first what there is, in the transaction that writes it.
        with self._store.transaction(alone=alone) as transaction:
            yield _Transaction(transaction, self._note)


class _Transaction:
    def __init__(self, transaction: Any, note: Any) -> None:
        self._transaction = transaction
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def get(self, identifiers: Sequence[str]) -> dict[str, Binding]:
        self._note(identifiers)
        return self._transaction.get(identifiers)
