"""The resolver as a WSGI middleware. It answers for the paths ``/ark:…`` and ``/urn:…``; the site answers for the rest.

.. code-block:: python

    from ararat.middleware import ResolverMiddleware, open_bindings

    application = ResolverMiddleware(application, open_bindings("bindings.sqlite"), prefix="https://example.org")

Other requests reach the site unchanged: the same environ, body and ``start_response``. Requests for reserved paths
never reach the site, except for a *served* binding: then the site answers at its own path. Put the middleware outside
of code that rewrites or redirects paths (routers, added slashes), and inside of code that checks access.

An error in the middleware never affects requests for the site. A request whose environ cannot be read goes to the site
unchanged. If the bindings cannot be opened or read, identifiers are answered with 503. An exception in the resolver, or
in an ``OwnScheme``, is logged with its traceback and answered with 500.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, Unpack

from ..identifiers import Ark, Urn
from ..identifiers.text import display
from .asgi_detection import REMEDY, is_asgi, named
from .bindings.prefixes import NO_RECORDS
from .branding.model import NO_BRANDING, Branding
from .custom_scheme import OwnScheme
from .errors import BindingsUnavailable
from .http.answer import Answer, last_resort
from .http.handover import Handover
from .http.request import Request
from .http.request_target import Target, recover, reserved_labels
from .http.responses import Answers
from .http.rfc2169 import parse_service_request
from .resolution import check_characters
from .resolution.refusals import refuse
from .resolution.resolver import resolve
from .resolution.result import Resolution
from .settings import Settings, SettingsArguments
from .storage.reopening import AvailabilityLog

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from .bindings.model import Binding
    from .bindings.prefixes import PrefixRecords
    from .resolution.rules import RuleMatch

_log = logging.getLogger(__name__)


class BindingSource(Protocol):
    """The bindings that a resolver reads. :class:`~ararat.middleware.Bindings` has these methods.

    A class of a site that inherits from this one needs only ``fetch``; it then has no rules and no prefix records.
    """

    def fetch(self, keys: Iterable[str], /) -> Mapping[str, Binding]:
        """Return the bindings of the given keys, which are normal forms of identifiers, by key.

        Keys that are not bound are omitted. Raises :class:`~ararat.middleware.BindingsUnavailable` if the bindings
        cannot be read.
        """
        ...

    def binding_by_rule(self, identifier: Ark | Urn, /) -> RuleMatch | None:
        """Return the binding that a rule creates for an identifier that is not bound itself. Return None if no rule
        applies.

        A rule creates targets for all unbound names of a NAAN or shoulder from a template.
        """
        return None

    def prefix_records(self) -> PrefixRecords:
        """Return the records of NAANs and shoulders, which describe all names that begin with them."""
        return NO_RECORDS

    def is_mistyped(self, identifier: Ark | Urn, /) -> bool:
        """Return whether the check character of an unbound identifier is wrong, so it probably has a typing error."""
        return False

    def correction(self, identifier: Ark | Urn, /) -> str | None:
        """Return the key of the only live name that an unbound identifier probably means, or None."""
        return None

    def branding(self) -> Branding:
        """Return the recorded branding of the public pages. Its values replace those of the settings."""
        return NO_BRANDING

    @property
    def failure(self) -> str | None:
        """The reason why the bindings could not be opened, or None if they are open."""
        return None


class ResolverMiddleware:
    """A WSGI application that answers for ARKs and URNs and passes other requests to ``app``.

    :param app: the site, a WSGI application.
    :param bindings: the result of :func:`~ararat.middleware.open_bindings`, or another :class:`BindingSource`.
    :param prefix: str or None (default). The public address of the resolver (``https://example.org``). Links begin with
        it. Without it, links are paths.
    :param also: iterable of str, default empty. Other prefixes of the same resolver.
    :param naans: collection of str or None (default). The NAANs that this resolver answers for. The default is all.
    :param forward: bool, default False. Redirect ARKs of other NAANs to the resolver in the registry of NAANs; needs
        ``naans`` and ``prefix``.
    :param schemes: collection of str and :class:`~ararat.middleware.OwnScheme`, default ``("ark", "urn")``. The schemes
        to answer for: "ark", "urn", and schemes of the site (``OwnScheme``).
    :param max_length: int, default 3500. The length in bytes, at least 255, above which an identifier can be refused
        with 414. Decision A-11 lists identifiers that are never refused.
    :param ignore_trailing_slash: bool, default True. Resolve ``ark:12345/x/`` as ``ark:12345/x`` (A-13).
    :param ignored_parameters: iterable of str, default the tracking parameters of large platforms. Names of query
        parameters to ignore; ``utm_*`` matches all names that begin with ``utm_``.
    :param forward_query: bool, default False. Append an unknown query to the target of a located or related binding.
        Otherwise it is answered with 404.
    :param inflections: mapping of str to str, default empty. Inflections of the site (``?cite``), each with a
        description (ARK-044). They are appended to the target of a located or related binding, and listed in every
        description.
    :param cache: int, default 300. How many seconds clients can store a redirect or a description, from 0 to a year.
    :param hsts: str or None (default). The Strict-Transport-Security field of answers to https requests. Without it,
        the field is not sent.
    :param inspector: str or None (default). The path or http(s) address of an inspector, to which error pages link; "/"
        if the site itself is the inspector. Without it, there are no such links.
    :param services: str or None (default). The path of the services of RFC 2169 (``/uri-res``); needs ``prefix``.
        Without it, they do not exist.
    :param sitemap: str or None (default). The path of a sitemap of the live names (``/sitemap-names.xml``); needs
        ``prefix``. Without it, the site answers at this path.
    :param atom: str or None (default). The path of an Atom feed of the changes of names (``/changes.atom``); needs
        ``prefix``. Without it, the site answers at this path.
    :param oai: str or None (default). The path of an OAI-PMH repository of the names (``/oai``); needs ``prefix``.
        Without it, the site answers at this path.
    :param log: str or None (default). The path below which the files of the log are served (``/log``); needs
        ``log_folder``.
    :param log_folder: str or None (default). The folder of the log, as in ``ararat log init --dir``.
    :param cors: bool or iterable of str, default True. The pages whose scripts can read the answers (CORS): True for
        the pages of every site, False for none, or a list of origins (``https://example.org``).
    :param referrer_policy: str or None, default "no-referrer". The Referrer-Policy field of all answers. With
        "no-referrer" the target does not see which page linked to the identifier; with
        "strict-origin-when-cross-origin" it sees the site of that page. With None the field is not sent, and the policy
        of that page applies.
    :param languages: iterable of str, default all. The languages of the public pages. The field Accept-Language of a
        request selects one; the first is the default. One language is fixed for all visitors.
    :param institution: str or None (default). The name of the institution, which the public pages show. A value that is
        recorded in the database replaces this one, as for the next four settings.
    :param logo: str or None (default). The logo: a path of this site (``/static/logo.svg``), or a data URL with a PNG,
        JPEG, GIF or WebP image of at most 32,768 bytes.
    :param contact: str or None (default). The contact for visitors: an e-mail address, a URL or another text.
    :param colour: str or None (default). The colour of the institution (``#0b4f6c``). Links get the nearest readable
        colour, on light and on dark pages.
    :param statement: str or None (default). A text at the end of each public page, of at most 1,000 characters.
    :param on_resolve: callable or None (default). It is called with the :class:`~ararat.middleware.Resolution` of each
        request for an identifier, before the answer is sent. ``status`` is the status of the answer (200 for any served
        name), ``seconds`` the duration. Its exceptions are logged and change no answer.
        :func:`~ararat.middleware.log_resolutions` returns such a callable for an access log.

    Raises ValueError if a setting is wrong, and TypeError if ``app`` is an ASGI application (FastAPI, Starlette, Quart,
    Django's ASGI application).

    For a served name, ``environ["ararat.ark"]`` is the normal form of the identifier.
    """

    def __init__(
        self,
        app: WSGIApplication,
        bindings: BindingSource,
        *,
        on_resolve: Callable[[Resolution], object] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        if is_asgi(app):
            raise TypeError(
                f"ResolverMiddleware needs a WSGI application, but {named(app)} is an ASGI application. {REMEDY}"
            )
        self.app = app
        self.bindings = bindings
        self.settings = Settings(**settings)
        self._availability = AvailabilityLog(bindings.failure)
        self._answers = Answers(self.settings, bindings.branding)
        self._on_resolve = on_resolve
        self._labels = reserved_labels(scheme for scheme in self.settings.schemes if isinstance(scheme, str))
        self._own = {scheme.name: scheme for scheme in self.settings.schemes if isinstance(scheme, OwnScheme)}
        # The positions of the colon in reserved paths. It is the same in "/ark:" and "/urn:".
        self._colons = frozenset({4, *(len(name) + 1 for name in self._own)})
        # Paths of services have no colon, so they need a second check. Sites without services skip it.
        self._others: WSGIApplication = app if self.settings.services is None else self._service_or_site
        if self.settings.feeds:
            from .feeds.dispatch import Feeds

            self._others = Feeds(self.settings, bindings, self._answers, self._availability, self._others)
        if self.settings.log is not None and self.settings.log_folder is not None:
            from .log.serving import LogFiles

            self._others = LogFiles(self.settings.log, Path(self.settings.log_folder), self._answers, self._others)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Reserved paths contain a colon, and few other paths do. Most requests for the site need no other check.
        try:
            has_colon = ":" in environ["PATH_INFO"]
        except Exception:  # noqa: BLE001 - the site handles malformed environs
            has_colon = False
        if has_colon and (target := self._reserved(environ)) is not None:
            return self._respond(Request(environ, target, self.settings.prefix), start_response)
        return self._others(environ, start_response)

    def _service_or_site(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            services = self.settings.services or ""
            ours = environ["PATH_INFO"].startswith(f"{services}/N2")
            requested = parse_service_request(recover(environ), services) if ours else None
        except Exception:  # noqa: BLE001 - the site handles malformed environs
            requested = None
        if requested is None:
            return self.app(environ, start_response)
        return self._respond(
            Request(environ, requested.target, self.settings.prefix, requested.service), start_response
        )

    def _reserved(self, environ: WSGIEnvironment) -> Target | None:
        """Return the request target if its path is reserved, otherwise None."""
        try:
            path = environ["PATH_INFO"]
            # Some servers leave a whole address in PATH_INFO; then the colon can be at any position.
            if path.find(":") not in self._colons and path[:1] == "/":
                return None
            target = recover(environ)
            return target if self._is_reserved(target) else None
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The request could not be read, so it is passed to the site")
            return None

    def _is_reserved(self, target: Target) -> bool:
        return target.path[:5] in self._labels or self._own_scheme(target) is not None

    def _own_scheme(self, target: Target) -> OwnScheme | None:
        if not self._own:
            return None
        # The path is ASCII, so lower() maps no other letters to those of a label.
        label, colon, _ = target.path.partition(":")
        return self._own.get(label[1:].lower()) if colon and label[:1] == "/" else None

    def _respond(self, request: Request, start_response: StartResponse) -> Iterable[bytes]:
        began = perf_counter()
        try:
            if request.method == "OPTIONS":
                return self._answers.options(request).start(start_response)
            resolution = self._resolve(request)
            answer = self._answers.answer(resolution, request)
        except Exception:  # noqa: BLE001 - it is logged
            given = request.target.identifier
            _log.exception("The resolver failed for %s", display.escape(given[:200]))
            resolution = refuse(given, "internal-error")
            answer = self._failed(resolution, request)
        self._report(resolution, answer, began)
        if isinstance(answer, Handover):
            return answer.to(self.app, start_response)
        return answer.start(start_response, head=request.method == "HEAD")

    def _resolve(self, request: Request) -> Resolution:
        given, message = request.target.identifier, None
        if request.method not in ("GET", "HEAD"):
            # ARK-121: identifiers are resolved by GET and HEAD only.
            code = "method-not-allowed"
        elif request.target.dotted:
            code = "dot-segment"
        elif request.service is not None and not self._is_reserved(request.target):
            # Only a request for a service can contain an identifier of another scheme.
            code, message = "no-scheme", "it does not begin with a scheme that this resolver answers for"
        else:
            try:
                if own := self._own_scheme(request.target):
                    return own.answer(given, self.settings.max_length)
                fetch = self._fetch_and_note if self._availability.failing else self.bindings.fetch
                rules = self.bindings.binding_by_rule
                records = self.bindings.prefix_records
                return self._with_hint(resolve(given, fetch, rules, self.settings, request.accepted, records))
            except BindingsUnavailable as error:
                # 503, because 404 would mean that the identifier is not bound.
                self._availability.failed(str(error))
                code = "bindings-unavailable"
        return refuse(given, code, message)

    def _with_hint(self, resolution: Resolution) -> Resolution:
        """Return the refusal of an unknown name with a hint at a typing error, and with the name that it means."""
        problem, identifier = resolution.problem, resolution.identifier
        if problem is None or identifier is None or problem.code != "not-bound":
            return resolution
        if self.bindings.is_mistyped(identifier):
            problem = replace(problem, message=check_characters.MESSAGE)
        return replace(resolution, problem=problem, correction=self.bindings.correction(identifier))

    def _fetch_and_note(self, keys: Iterable[str]) -> Mapping[str, Binding]:
        found = self.bindings.fetch(keys)
        self._availability.succeeded()
        return found

    def _failed(self, resolution: Resolution, request: Request) -> Answer | Handover:
        try:
            return self._answers.answer(resolution, request)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The error page could not be rendered")
            return last_resort()

    def _report(self, resolution: Resolution, answer: Answer | Handover, began: float) -> None:
        if self._on_resolve is None:
            return
        try:
            status = resolution.status if isinstance(answer, Handover) else answer.status
            self._on_resolve(replace(resolution, status=status, seconds=perf_counter() - began))
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("on_resolve raised an exception")
