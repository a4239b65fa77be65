"""Keep the redirects of the names that are requested most, in two generations: a full new one replaces the old one.
Each request moves its redirect to the new one, so that names without requests are forgotten. A redirect is kept under
the path as received, if it depends on nothing else of the request.

All are forgotten after a change of a binding, which :meth:`.BindingSource.data_version` detects. It does so at most
:data:`LOCAL_SECONDS` later for a file, and :data:`SERVER_SECONDS` later for a server. This process sees its own changes
at once. The version is read before a binding is, so that an old redirect is never kept for a new version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from ...bindings.names.prefixes.holds import NO_HOLDS, Holds
from ..resolution.source import BindingSource
from .direct_redirects import Redirect

LOCAL_SECONDS = 0.01
"""The time for which the version of a local file is used."""

SERVER_SECONDS = 0.5
"""The time for which the version of a database on a server is used."""

MOST = 60_000
"""The number of redirects in one generation. The two generations of a process need about 40 MB."""

MOST_WHOLE = 5_000
"""The number of redirects in one generation if each contains its resolution, for ``on_resolve`` and the metrics."""

MAX_CHARACTERS = 500
"""The maximum length of path, target and links together, and of the metadata. Longer redirects are not kept."""

Generation = dict[str, Redirect]


class RedirectCache:
    """A cache of the redirects that are requested most, by path, in the memory of this process: at most twice ``most``.
    ``clock`` returns seconds. All threads can use one object.
    """

    def __init__(self, bindings: BindingSource, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._bindings = bindings
        self._most = most
        self._clock = clock
        self._seconds = LOCAL_SECONDS if bindings.is_local else SERVER_SECONDS
        self._valid_until = float("-inf")
        self._version: Hashable = None
        self._holds: Holds = NO_HOLDS
        self._own_changes = bindings.own_changes
        # Both are replaced by one assignment. A thread that has read an old redirect adds it to a dropped generation.
        self._generations: tuple[Generation, Generation] = ({}, {})

    def find(self, path: str) -> Redirect | None:
        """Return the cached redirect of a path, or None. None also means that :meth:`refresh` must be called."""
        if self._clock() >= self._valid_until or self._bindings.own_changes != self._own_changes:
            return None
        recent, older = self._generations
        redirect = recent.get(path)
        if redirect is None:
            redirect = older.get(path)
            if redirect is not None:
                self.keep(path, redirect, recent)
        return redirect

    def refresh(self) -> Generation | None:
        """Empty the cache if a binding or a hold has changed. Return the generation for redirects that are read from
        now on, or None if the source cannot detect changes. Raises :class:`BindingsUnavailable` if it cannot be read.
        """
        began, own = self._clock(), self._bindings.own_changes
        if began >= self._valid_until or own != self._own_changes:
            version, holds = self._bindings.data_version(), self._bindings.holds()
            if version is None or (version, own) != self._version or holds is not self._holds:
                self._generations = {}, {}
                self._version, self._own_changes, self._holds = (version, own), own, holds
            if version is None:
                return None
            self._valid_until = began + self._seconds
        return self._generations[0]

    def keep(self, path: str, redirect: Redirect, generation: Generation | None) -> None:
        """Add a redirect to the cache, unless it depends on other things than the path. ``generation`` is the result of
        :meth:`refresh` before the redirect was read. None adds nothing.
        """
        _, target, name, links, container, vary, resolution = redirect
        if generation is None or vary or container is not None:
            return
        # A hold that has ended lasts again if a clock that was ahead is corrected.
        if self._holds is not NO_HOLDS and name is not None and self._holds.may_cover(name[1:]):
            return
        length = len(path) + len(target or "") + len(links)
        if resolution is not None and resolution.binding is not None:
            length += sum(map(len, resolution.binding.metadata.values()))
        if length > MAX_CHARACTERS:
            return
        generation[path] = redirect
        if len(generation) >= self._most and generation is self._generations[0]:
            self._generations = {}, generation
