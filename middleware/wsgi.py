"""The resolver as a WSGI middleware. It answers for the paths ``/ark:…`` and ``/urn:…``; the site answers for the rest.

.. code-block:: python

    from ararat.middleware import ResolverMiddleware, open_bindings

    application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix="https://example.org")

Other requests reach the site unchanged. For a *served* binding, the site answers at its own path. Put the middleware
outside of code that rewrites or redirects paths (routers, added slashes), and inside of code that checks access.

An error in the middleware never affects requests for the site. If the bindings cannot be opened or read, identifiers
are answered with 503. An exception in the resolver, or in an ``OwnScheme``, is logged and answered with 500.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Unpack

from .asgi_detection import REMEDY, describe_application, is_asgi
from .http.answer import Answer
from .http.handover import Handover
from .http.request import Request
from .http.request_target import recover
from .http.well_known import PATH as WELL_KNOWN
from .http.well_known import ask_site
from .http.wsgi import pass_on, plain_path, request_for_name, request_for_resource, send
from .request_handler import RequestHandler
from .resolution.declared_settings import parameters
from .resolution.result import Resolution
from .resolution.settings import Settings, SettingsArguments
from .resolution.source import BindingSource, settings_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ..bindings.collection import Bindings

_log = logging.getLogger(__name__)


class ResolverMiddleware:
    """A WSGI application that answers for ARKs and URNs and passes other requests to ``app``.

    .. code-block:: python

        application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix="https://example.org")

    :param app: the site, a WSGI application.
    :param bindings: the result of :func:`~ararat.middleware.open_bindings`, or another :class:`BindingSource`.
    {settings}
    :param on_resolve: callable or None (default). It is called with the :class:`~ararat.middleware.Resolution` of each
        request for an identifier, before the answer is sent. ``status`` is the status of the answer (200 for any served
        name), ``seconds`` the duration. Its exceptions are logged and change no answer.
        :func:`~ararat.middleware.log_resolutions` returns such a callable for an access log.

    Raises ValueError if a setting is wrong, and TypeError if ``app`` is an ASGI application (FastAPI, Starlette, Quart,
    Django's).

    For a served name, ``environ["ararat.ark"]`` is the normal form of the identifier.
    """

    def __init__(
        self,
        app: WSGIApplication,
        bindings: Bindings | BindingSource,
        *,
        on_resolve: Callable[[Resolution], object] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        if is_asgi(app):
            raise TypeError(
                f"ResolverMiddleware needs a WSGI application, but {describe_application(app)} is an ASGI "
                f"application. {REMEDY}"
            )
        self.app = app
        self.bindings = bindings
        self.settings = settings_of(bindings, settings)
        self._handler = RequestHandler(self.settings, bindings, on_resolve)
        self.metrics = self._handler.metrics
        self._colon_positions = self._handler.colon_positions
        # Paths of resources have no colon, so they need a second check. Sites without resources skip it.
        self._others: WSGIApplication = self._resource_or_site if self._handler.has_resources else app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Reserved paths contain a colon, and few other paths do. Most requests for the site need no other check.
        target, has_colon, path = None, False, ""
        try:
            path = environ["PATH_INFO"]
            has_colon = ":" in path
            if has_colon and (plain := plain_path(environ)) is not None:
                is_secure = environ.get("wsgi.url_scheme") == "https"
                target = self._handler.fast_answer(*plain, environ["REQUEST_METHOD"], is_secure=is_secure)
        except Exception:  # noqa: BLE001 - _request() logs it, and the site handles malformed environs
            target = None
        if has_colon:
            if isinstance(target, Answer):
                return send(target, start_response)
            if (request := self._request(environ)) is not None:
                return self._send(self._handler.answer(request, target), request, environ, start_response)
        elif path == WELL_KNOWN and self._handler.is_announced:
            return self._announce(environ, start_response)
        return self._others(environ, start_response)

    def _announce(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Return the answer of the site, or the path of the resolver if the site has no page."""
        body = ask_site(self._others, environ, start_response)
        if body is not None:
            return body
        request = request_for_resource(environ, self.settings.prefix)
        return send(self._handler.announcement(request), start_response, head=request.method == "HEAD")

    def _request(self, environ: WSGIEnvironment) -> Request | None:
        """Return the request if its path is reserved, otherwise None."""
        try:
            path = environ["PATH_INFO"]
            # Some servers leave a whole address in PATH_INFO; then the colon can be at any position.
            if path.find(":") not in self._colon_positions and path[:1] == "/":
                return None
            target = recover(environ)
            if not self._handler.is_reserved(target):
                return None
            return request_for_name(environ, target, self.settings.prefix)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The request could not be read, so it is passed to the site")
            return None

    def _resource_or_site(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            respond = self._handler.resource(environ["PATH_INFO"], partial(recover, environ))
            request = request_for_resource(environ, self.settings.prefix) if respond else None
        except Exception:  # noqa: BLE001 - the site handles malformed environs
            respond = request = None
        if respond is None or request is None:
            return self.app(environ, start_response)
        return self._send(respond(request), request, environ, start_response)

    def _send(
        self, answer: Answer | Handover, request: Request, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        if isinstance(answer, Handover):
            return pass_on(answer, self.app, environ, start_response)
        return send(answer, start_response, head=request.method == "HEAD")


# The texts of the settings are written once, where the settings are declared. Python can omit docstrings (-OO).
ResolverMiddleware.__doc__ = ResolverMiddleware.__doc__ and ResolverMiddleware.__doc__.replace(
    "{settings}", parameters(Settings)
)
