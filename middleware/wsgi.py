"""The resolver as a WSGI middleware: it answers the reserved paths ``/ark:…`` and ``/urn:…``, the site all the rest.

.. code-block:: python

    from ararat.middleware import ResolverMiddleware, open_bindings

    application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix="https://example.org")

A request that is not for a reserved path reaches the site as it came: the very environ, the body unread,
``start_response`` and the response untouched. What is for one never reaches the site, but for a *served* binding,
whose path the site answers under the identifier's address. Put it outside of whatever rewrites paths or redirects
(slashes added, routers), and inside of whatever decides who may see what.

No error here affects a request for the site itself. An environ that cannot be read goes on to the site as it came.
While the bindings cannot be opened or read, identifiers are answered with 503. An error in the resolver, or in a scheme
of the site's own, is answered with 500, and the log has its traceback.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING

from ..identifiers.text import display
from .asgi_detection import REMEDY, is_asgi, named
from .custom_scheme import OwnScheme
from .errors import BindingsUnavailable
from .http.conditional import Conditions
from .http.handover import Handover, local_environ
from .http.negotiation import Accepted
from .http.request_target import Target, mount_path, recover, reserved_labels
from .http.responses import Answer, Answers, last_resort
from .http.rfc2169 import Service, leading
from .http.rfc2169 import asked as services_asked
from .resolution.refusals import refuse
from .resolution.resolver import Rules, no_rules, resolve
from .resolution.result import Resolution
from .settings import SCHEMES, TRACKING, Settings
from .storage.opening import AvailabilityLog

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from .bindings.collection import Bindings
    from .bindings.model import Binding

_log = logging.getLogger(__name__)


class ResolverMiddleware:
    """Answers for ARKs and URNs in front of a WSGI application.

    :param app: the site.
    :param bindings: what :func:`~ararat.middleware.open_bindings` gives, or anything with its ``fetch``.
    :param on_resolve: called with the :class:`~ararat.middleware.Resolution` of each request for an identifier, once
        its answer is made and before it is sent: ``status`` is that of the answer (of a served name 200, whatever the
        site says), ``seconds`` what it took. What it raises is logged and changes no answer.
        :func:`~ararat.middleware.log_resolutions` makes one that writes an access log.
    :param inspector: where an inspector is, if there is one: a path of this site ("/" where it is the site) or an
        http(s) address. Error pages link to it.

    :param services: the path of the services of RFC 2169, ``/uri-res``, where they are wanted
        (:mod:`~ararat.middleware.http.rfc2169`).

    The other settings are those of :class:`~ararat.middleware.settings.Settings`; a wrong one raises ValueError here.
    An ``app`` that is an ASGI application (FastAPI, Starlette, Quart, Django's) raises TypeError.
    The key ``ararat.ark`` of the environ holds the normal form of the identifier while and after the site answers a
    served one.
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
        services: str | None = None,
        cors: bool | Iterable[str] = True,
        referrer_policy: str | None = "no-referrer",
    ) -> None:
        if is_asgi(app):
            raise TypeError(f"ResolverMiddleware is for WSGI, and {named(app)} is an ASGI application. {REMEDY}")
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
            services=services,
            cors=cors,
            referrer_policy=referrer_policy,
        )
        self._availability = AvailabilityLog(getattr(bindings, "failure", None))
        self._rules: Rules = getattr(bindings, "binding_by_rule", no_rules)
        self._answers = Answers(self.settings)
        self._on_resolve = on_resolve
        self._labels = reserved_labels(scheme for scheme in self.settings.schemes if isinstance(scheme, str))
        self._own = {scheme.name: scheme for scheme in self.settings.schemes if isinstance(scheme, OwnScheme)}
        # Where the colon stands in a reserved path. "/ark:" and "/urn:" have it at the same place.
        self._colons = frozenset({4, *(len(name) + 1 for name in self._own)})
        # A path of a service has no colon. Who has none of them does not pay for the second look.
        self._others: WSGIApplication = app if self.settings.services is None else self._perhaps_service

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        # Every reserved path has a colon in it and few others do: a look for one is all that the site's requests pay.
        try:
            perhaps = ":" in environ["PATH_INFO"]
        except Exception:  # noqa: BLE001 - a path that is none is not for us, and the site's to judge
            perhaps = False
        if perhaps and (target := self._reserved(environ)) is not None:
            return self._answered(environ, start_response, target)
        return self._others(environ, start_response)

    def _perhaps_service(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            services = self.settings.services or ""
            ours = environ["PATH_INFO"].startswith(f"{services}/N2")
            asked = services_asked(recover(environ), services) if ours else None
        except Exception:  # noqa: BLE001 - a path that is none is not for us, and the site's to judge
            asked = None
        if asked is None:
            return self.app(environ, start_response)
        return self._answered(environ, start_response, asked.target, asked.service)

    def _reserved(self, environ: WSGIEnvironment) -> Target | None:
        """The target of a request for a reserved path, or None where it is the site's."""
        try:
            path = environ["PATH_INFO"]
            # A server may have left an address in PATH_INFO; then the colon is anywhere.
            if path.find(":") not in self._colons and path[:1] == "/":
                return None
            target = recover(environ)
            return target if self._is_reserved(target) else None
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("a request could not be read, and is left to the site")
            return None

    def _is_reserved(self, target: Target) -> bool:
        return target.path[:5] in self._labels or self._own_scheme(target) is not None

    def _answered(
        self,
        environ: WSGIEnvironment,
        start_response: StartResponse,
        target: Target,
        service: Service | None = None,
    ) -> Iterable[bytes]:
        began = perf_counter()
        head = environ.get("REQUEST_METHOD") == "HEAD"
        resolution: Resolution | None = None
        try:
            if environ.get("REQUEST_METHOD") == "OPTIONS":
                answer = self._answers.options(secure=_is_secure(environ))
                return self._for_origin(answer, environ).start(start_response)
            resolution = self._resolve(environ, target)
            answer = self._answer(environ, target, resolution, service)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("the resolver failed for %s", display.escape(target.identifier[:200]))
            given = target.identifier
            resolution = refuse(given, "internal-error")
            answer = self._failed(environ, target, resolution)
        self._report(target, resolution, answer, began)
        if isinstance(answer, Handover):
            return answer.to(self.app, start_response)
        return self._for_origin(answer, environ).start(start_response, head=head)

    def _for_origin(self, answer: Answer, environ: WSGIEnvironment) -> Answer:
        if not self.settings.cors_origins:
            return answer
        return self._answers.for_origin(answer, environ.get("HTTP_ORIGIN"))

    def _failed(self, environ: WSGIEnvironment, target: Target, resolution: Resolution) -> Answer | Handover:
        try:
            return self._answer(environ, target, resolution, None)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("the page about the error cannot be made")
            return last_resort()

    def _answer(
        self, environ: WSGIEnvironment, target: Target, resolution: Resolution, service: Service | None
    ) -> Answer | Handover:
        secure, accept = _is_secure(environ), environ.get("HTTP_ACCEPT")
        # 3.8: nothing of the request is in a link but where the application is mounted; a Host can be forged.
        root = self.settings.prefix or mount_path(environ)
        if service == "N2Ls" and resolution.outcome not in ("refused", "metadata"):
            return self._answers.places(resolution, root, accept, secure=secure)
        if service is not None:
            resolution = leading(resolution)
        if resolution.outcome == "served":
            environ["ararat.ark"] = resolution.key
            local = local_environ(environ, resolution.target or "/", resolution.query)
            return Handover(local, f"{root}/{resolution.key}?info", resolution.vary)
        if resolution.outcome == "refused":
            return self._answers.refusal(resolution, root, accept, secure=secure, exact=target.exact)
        if resolution.outcome == "metadata":
            described = self._answers.description(resolution, root, accept, secure=secure)
            return described.under(Conditions.of(environ))
        return self._answers.redirect(resolution, root, secure=secure)

    def _own_scheme(self, target: Target) -> OwnScheme | None:
        if not self._own:
            return None
        # The path is ASCII, so that lower case makes nothing else into a label.
        label, colon, _ = target.path.partition(":")
        return self._own.get(label[1:].lower()) if colon and label[:1] == "/" else None

    def _resolve(self, environ: WSGIEnvironment, target: Target) -> Resolution:
        given = target.identifier
        # ARK-121: resolution knows two methods, and a resolver has nothing to change.
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return refuse(given, "method-not-allowed")
        if target.dotted:
            return refuse(given, "dot-segment")
        if not self._is_reserved(target):
            # Only a service can be handed what does not begin with a scheme that is reserved here.
            return refuse(given, "no-scheme", message="it does not begin with a scheme that this resolver answers for")
        accepted = Accepted(environ.get("HTTP_ACCEPT"), environ.get("HTTP_ACCEPT_LANGUAGE"))
        try:
            if own := self._own_scheme(target):
                return own.answer(given, self.settings.max_length)
            fetch = self._fetch_and_note if self._availability.failing else self.bindings.fetch
            return resolve(given, fetch, self._rules, self.settings, accepted)
        except BindingsUnavailable as error:
            # 503 and not 404, which would say that nothing is bound.
            self._availability.failed(str(error))
            return refuse(given, "bindings-unavailable")

    def _fetch_and_note(self, keys: Iterable[str]) -> dict[str, Binding]:
        found = self.bindings.fetch(keys)
        self._availability.succeeded()
        return found

    def _report(self, target: Target, resolution: Resolution | None, answer: Answer | Handover, began: float) -> None:
        if self._on_resolve is None:
            return
        try:
            if resolution is None:
                return
            status = resolution.status if isinstance(answer, Handover) else answer.status
            self._on_resolve(resolution._replace(status=status, seconds=perf_counter() - began))
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("on_resolve failed")


def _is_secure(environ: WSGIEnvironment) -> bool:
    return environ.get("wsgi.url_scheme") == "https"
