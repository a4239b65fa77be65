"""The resolver as a WSGI middleware: it answers the reserved paths ``/ark:…`` and ``/urn:…``, the site all the rest.

.. code-block:: python

    from ararat.middleware import ResolverMiddleware, open_bindings

    application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix="https://example.org")

A request that is not for a reserved path reaches the site as it came: the very environ, the body unread,
``start_response`` and the response untouched. What is for one never reaches the site, but for a *served* binding,
whose path the site answers under the identifier's address. Put it outside of whatever rewrites paths or redirects
(slashes added, routers), and inside of whatever decides who may see what.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ..identifiers import display
from .answers import Answer, Answers, last_resort
from .errors import BindingsUnavailable
from .negotiation import Accepted
from .own_scheme import OwnScheme
from .refusals import refusal
from .resolver import Resolution, Rules, no_rules, refuse, resolve
from .served import Handover, local_environ
from .settings import SCHEMES, TRACKING, Settings
from .target import Target, mount_path, recover, reserved_labels

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from .bindings import Bindings

_log = logging.getLogger(__name__)


class ResolverMiddleware:
    """Answers for ARKs and URNs in front of a WSGI application.

    :param app: the site.
    :param bindings: what :func:`~ararat.middleware.open_bindings` gives, or anything with its ``fetch``.
    :param on_resolve: called with the :class:`~ararat.middleware.Resolution` of each request that was resolved; what it
        raises is logged and changes no answer.
    :param inspector: where an inspector is, if there is one: a path of this site ("/" where it is the site) or an
        http(s) address. Error pages link to it.

    The other settings are those of :class:`~ararat.middleware.settings.Settings`; a wrong one raises ValueError here.
    The key
    ``ararat.ark`` of the environ holds the normal form of the identifier while and after the site answers a served one.
    """

    def __init__(
        self,
        app: WSGIApplication,
        bindings: Bindings,
        *,
        prefix: str | None = None,
        also: Iterable[str] = (),
        naans: Collection[str] | None = None,
        forward: bool = False,
        schemes: Collection[str | OwnScheme] = SCHEMES,
        max_length: int = 3500,
        ignore_trailing_slash: bool = True,
        ignored_parameters: Iterable[str] = TRACKING,
        forward_query: bool = False,
        inflections: Mapping[str, str] = {},
        cache: int = 300,
        hsts: str | None = None,
        on_resolve: Callable[[Resolution], object] | None = None,
        inspector: str | None = None,
    ) -> None:
        self.app = app
        self.bindings = bindings
        self.settings = Settings(
            prefix=prefix,
            also=also,
            naans=naans,
            forward=forward,
            schemes=schemes,
            max_length=max_length,
            ignore_trailing_slash=ignore_trailing_slash,
            ignored_parameters=ignored_parameters,
            forward_query=forward_query,
            inflections=inflections,
            cache=cache,
            hsts=hsts,
            inspector=inspector,
        )
        self._rules: Rules = getattr(bindings, "binding_by_rule", no_rules)
        self._answers = Answers(self.settings)
        self._on_resolve = on_resolve
        self._labels = reserved_labels(scheme for scheme in self.settings.schemes if isinstance(scheme, str))
        self._own = {scheme.name: scheme for scheme in self.settings.schemes if isinstance(scheme, OwnScheme)}
        # Where their colons are that the one cheap test does not see. A site without any pays nothing for them.
        self._colons = tuple({len(name) + 1 for name in self._own} - {4})
        self._unless_own: WSGIApplication = self._perhaps_own if self._colons else app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        path = environ.get("PATH_INFO", "")
        # Every reserved path has its colon here, or a server has left an address in PATH_INFO; little else is like it.
        # Slices of one character are what CPython compares fastest, and this is all that the site's own requests pay.
        if path[4:5] == ":" or path[:1] != "/":
            return self._perhaps_reserved(environ, start_response)
        return self._unless_own(environ, start_response)

    def _perhaps_own(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        for colon in self._colons:
            if path[colon : colon + 1] == ":":
                return self._perhaps_reserved(environ, start_response)
        return self.app(environ, start_response)

    def _perhaps_reserved(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        target = recover(environ)
        if target.path[:5] not in self._labels and self._own_scheme(target) is None:
            return self.app(environ, start_response)
        head = environ.get("REQUEST_METHOD") == "HEAD"
        try:
            answer = self._answer(environ, target)
        except Exception:  # noqa: BLE001 - it is logged
            # Nothing that is asked for should lead here. If it does, the site behind must not be the one to pay.
            _log.exception("no answer could be made for %s", display.escape(target.identifier[:200]))
            answer = last_resort()
        if isinstance(answer, Handover):
            return answer.to(self.app, start_response)
        return answer.start(start_response, head=head)

    def _answer(self, environ: WSGIEnvironment, target: Target) -> Answer | Handover:
        secure = environ.get("wsgi.url_scheme") == "https"
        method = environ.get("REQUEST_METHOD", "")
        if method == "OPTIONS":
            return self._answers.options(secure=secure)
        accept = environ.get("HTTP_ACCEPT")
        resolution = self._resolve(method, target, Accepted(accept, environ.get("HTTP_ACCEPT_LANGUAGE")))
        self._report(resolution)
        # 3.8: nothing of the request is in a link but where the application is mounted; a Host can be forged.
        root = self.settings.prefix or mount_path(environ)
        if resolution.outcome == "served":
            environ["ararat.ark"] = resolution.key
            local = local_environ(environ, resolution.target or "/", resolution.query)
            return Handover(local, f"{root}/{resolution.key}?info", resolution.vary)
        if resolution.outcome == "refused":
            return self._answers.refusal(resolution, root, accept, secure=secure, exact=target.exact)
        if resolution.outcome == "metadata":
            return self._answers.description(resolution, root, accept, secure=secure)
        return self._answers.redirect(resolution, root, secure=secure)

    def _own_scheme(self, target: Target) -> OwnScheme | None:
        if not self._own:
            return None
        # The path is ASCII, so that lower case makes nothing else into a label.
        label, colon, _ = target.path.partition(":")
        return self._own.get(label[1:].lower()) if colon and label[:1] == "/" else None

    def _resolve(self, method: str, target: Target, accepted: Accepted) -> Resolution:
        given = target.identifier
        # ARK-121: resolution knows two methods, and a resolver has nothing to change.
        if method not in ("GET", "HEAD"):
            return refuse(given, refusal("method-not-allowed", 0, len(given)))
        if target.dotted:
            return refuse(given, refusal("dot-segment", 0, len(given)))
        try:
            if own := self._own_scheme(target):
                return own.answer(given, self.settings)
            return resolve(given, self.bindings.fetch, self._rules, self.settings, accepted)
        except BindingsUnavailable as error:
            # 503 and not 404, which would say that nothing is bound.
            _log.warning("the bindings cannot be read: %s", display.escape(str(error)))
            return refuse(given, refusal("bindings-unavailable", 0, len(given)))

    def _report(self, resolution: Resolution) -> None:
        if self._on_resolve is None:
            return
        try:
            self._on_resolve(resolution)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("on_resolve failed")
