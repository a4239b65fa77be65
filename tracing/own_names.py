"""Resolve the names of a database in process, for traces of its targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..identifiers import IdentifierError
from ..identifiers.text.translatable import Translatable
from ..middleware import Bindings, ResolverMiddleware, resolve
from ..middleware.resolution.settings import SCHEMES
from ..net.hop import Fetch, HopFailed, HopResponse
from .in_process import local_fetch
from .target import prepare

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_NO_ADDRESS = "https://this-site.invalid"
_UNKNOWN = Translatable("the target is a path of this site; set the address of the site")


class OwnNames:
    """A resolver for the names of ``bindings`` that needs no network and no running server. ``prefix`` is the address
    of the site in its stored form. Without it, paths as targets and names that the site serves cannot be traced: the
    hop fails with "not-asked".
    """

    def __init__(self, bindings: Bindings, prefix: str | None) -> None:
        self.prefix = prefix or _NO_ADDRESS
        self._bindings = bindings
        self._here = local_fetch({self.prefix: ResolverMiddleware(_site, bindings, prefix=self.prefix)}, None, None)

    def knows(self, text: str) -> bool:
        """Return whether the database has an answer for an identifier, such as a target, a description or a tombstone.
        It is False for a text that is not an identifier. Raises :class:`~ararat.middleware.BindingsUnavailable` if the
        database cannot be read.
        """
        try:
            asked = prepare(text, normalize=False, test_naans=self._bindings.naming.test_naans).request_path
        except IdentifierError:
            return False
        found = resolve(self._bindings, asked)
        return found.problem is None or found.problem.code != "not-bound"

    def asking(self, elsewhere: Fetch) -> Fetch:
        """Return a :data:`~.hop.Fetch` that answers names at ``prefix`` from the database. It passes other URLs, and
        names that the site serves, to ``elsewhere``.
        """

        def fetch(method: str, url: str, deadline: float) -> HopResponse:
            path = url.removeprefix(f"{self.prefix}/")
            if path != url and path.partition(":")[0].lower() in SCHEMES:
                try:
                    return self._here(method, url, deadline)
                except HopFailed as failed:
                    if failed.code != "not-asked":
                        raise
            if path != url and self.prefix == _NO_ADDRESS:
                raise HopFailed("not-asked", _UNKNOWN, where="here")
            return elsewhere(method, url, deadline)

        return fetch


def _site(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Fail, because the site behind the resolver is not in this process. Served names need --prefix."""
    raise HopFailed("not-asked")
