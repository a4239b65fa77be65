"""Names under NAANs that nobody is registered for: noted, or refused where one is strict (ARK-015).

What is bound under a NAAN of nobody's own belongs to somebody else as soon as it is given away. A site may say which
NAANs are its own, whatever the registry, as it came with Ararat or was updated since, has of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..errors import BindingError
from .assignment import Change
from .minting import is_registered
from .model import Binding
from .policy import ChangeCheck


class RegisteredNaans:
    """A rule on top of those that bindings are held to: ``unregistered`` has each NAAN, in the order of its first name,
    that is neither registered nor among ``own``.

    With ``strict`` such a change raises :class:`BindingError` with the code ``naan-unregistered``, and nothing of it is
    written. NAANs are in printable ASCII.

    >>> import tempfile
    >>> from .collection import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.check_change = naans = RegisteredNaans(b.check_change, own=["24680"])
    >>> b.bind("ark:54321/x", "/x"), b.bind("ark:24680/x", "/x"), b.bind("ark:12148/x", "/x"), naans.unregistered
    ('bound', 'bound', 'bound', ['54321'])
    >>> b.close(); folder.cleanup()
    """

    def __init__(self, check_change: ChangeCheck, own: Collection[str] = (), *, strict: bool = False) -> None:
        self.unregistered: list[str] = []
        self._check_change = check_change
        self._known = {*own}
        self._strict = strict

    def __call__(self, before: Binding | None, change: Change, memory: Any) -> Change:
        """The change as the other rules have it; see :class:`~.governance.PolicyCheck`."""
        key = change.after.identifier
        naan = key[4:].partition("/")[0] if key.startswith("ark:") else ""
        if naan and naan not in self._known:
            if is_registered(naan):
                self._known.add(naan)
            elif self._strict:
                raise BindingError("naan-unregistered", f"NAAN {naan} is not registered", identifier=key)
            else:
                self._known.add(naan)
                self.unregistered.append(naan)
        return self._check_change(before, change, memory)
