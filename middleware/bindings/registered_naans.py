"""Find names whose NAAN is not registered, and refuse them in strict mode (ARK-015).

The NAAN Registry can assign an unregistered NAAN to another organization. Names under it then belong to that
organization.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...identifiers.ark.grammar import naan_of
from ..errors import BindingError
from .assignment import Change
from .minting import is_registered
from .model import Binding
from .policy import ChangeCheck


class RegisteredNaans:
    """A check of changes that runs before another one, such as the policy check.

    ``unregistered`` lists each NAAN once that is neither registered nor in ``own``, in printable ASCII. With ``strict``
    a change of a name under such a NAAN raises :class:`BindingError` with the code ``naan-unregistered`` instead.

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

    def __call__(self, before: Binding | None, change: Change, settings: Any) -> Change:
        """Return the change as the other check returns it; see :class:`~.policy.PolicyCheck`."""
        key = change.after.identifier
        naan = naan_of(key) if key.startswith("ark:") else ""
        if naan and naan not in self._known:
            if is_registered(naan):
                self._known.add(naan)
            elif self._strict:
                raise BindingError("naan-unregistered", f"NAAN {naan} is not registered", identifier=key)
            else:
                self._known.add(naan)
                self.unregistered.append(naan)
        return self._check_change(before, change, settings)
