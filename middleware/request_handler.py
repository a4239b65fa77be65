"""Answer requests for names and for the resources of the resolver, from WSGI or ASGI. Resources are the services of RFC
2169, the feeds, the files of the log and the metrics. The site answers all other requests.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ..bindings.names.errors import BindingError, BindingsUnavailable
from ..bindings.storage.reopening import AvailabilityLog
from ..identifiers.text import display
from .http.answer import Answer, Headers, internal_server_error
from .http.answer_builder import AnswerBuilder, not_logged
from .http.direct_redirects import direct_redirect, redirect_of
from .http.handover import Handover
from .http.redirect_cache import MOST, MOST_WHOLE, RedirectCache
from .http.request import READING, Request
from .http.request_target import Target, reserved_labels
from .http.rfc2169 import parse_service_request
from .resolution.custom_scheme import OwnScheme
from .resolution.destination import answer_for
from .resolution.refusals import refuse
from .resolution.result import Resolution
from .resolution.settings import Settings
from .resolution.source import BindingSource, source_of

if TYPE_CHECKING:
    from ..bindings.collection import Bindings
    from ..bindings.names.binding import Binding
    from .log.logged_names import FirstEntry
    from .log.name_proofs import NameProofs
    from .metrics.instruments import Metrics
    from .metrics.page import MetricsPage
    from .statistics.counter import Statistics

_log = logging.getLogger(__name__)

Respond = Callable[[Request], Answer | Handover]
"""Answers a request for a resource. It raises no exception; exceptions are logged."""

Observer = Callable[[Resolution, str | None, int, float], object]
"""Receives a resolution, the method of its request, the status of its answer, and its duration in seconds."""


_KEPT = ("located", "related", "described")
"""The outcomes whose redirects are kept in memory."""


class RequestHandler:
    """The resolver of one site. It answers requests for names and for its own resources, from WSGI or ASGI. Raises
    ValueError if the settings need bindings that can be listed, and these cannot.

    ``colon_positions`` are those of the colon in reserved paths, as a quick check. ``is_announced`` is whether
    ``/.well-known/ark`` is answered if the site has no page there.
    """

    def __init__(
        self,
        settings: Settings,
        bindings: Bindings | BindingSource,
        on_resolve: Callable[[Resolution], object] | None = None,
    ) -> None:
        self._settings = settings
        self._bindings = source = source_of(bindings)
        self.metrics: Metrics | None = None
        self.is_announced = settings.well_known and "ark" in settings.schemes
        self._observers: list[Observer] = [] if on_resolve is None else [_observer(on_resolve)]
        self._labels = reserved_labels(scheme for scheme in settings.schemes if isinstance(scheme, str))
        self._own = {scheme.name: scheme for scheme in settings.schemes if isinstance(scheme, OwnScheme)}
        # It is the same position in "/ark:" and "/urn:".
        self.colon_positions = frozenset({4, *(len(name) + 1 for name in self._own)})
        self._finders: list[Callable[[str], Respond | None]] = []
        if settings.metrics is not None:
            page, self.metrics = _metrics(settings, bindings)
            self._finders.append(page.find)
            self._observers.append(self.metrics.observe)
        self.statistics = None if settings.statistics is None else _statistics(settings.statistics)
        if self.statistics is not None:
            self._observers.append(self.statistics.observe)
        # on_resolve can wait for anything, and the metrics for the records of NAANs and shoulders.
        self.can_wait = on_resolve is not None or self.metrics is not None
        on_failure = None if self.metrics is None else self.metrics.store_failed
        self._redirects = RedirectCache(source, MOST_WHOLE if self._observers else MOST)
        self._prefix = settings.prefix
        self._availability = AvailabilityLog(source.failure, on_failure=on_failure)
        self._proofs: NameProofs | None = None
        if settings.log is None or settings.log_folder is None:
            self._answers = AnswerBuilder(settings, source.branding, find=self._find)
        else:
            from ..bindings.log.folder import LogFolder
            from .log.log_pages import LogPages, no_key
            from .log.logged_names import LoggedNames, bindings_of_log
            from .log.name_proofs import NameProofs
            from .log.serving import LogFiles

            folder = LogFolder(Path(settings.log_folder))
            logged = bindings_of_log(bindings, folder)
            names = LoggedNames(folder, _first_entry(logged) if logged else not_logged, f"{settings.log}/")
            self._answers = AnswerBuilder(settings, source.branding, names.find, self._find)
            page = LogPages(settings, names, (lambda: logged.store.log_key()) if logged else no_key, self._answers)
            self._finders.append(LogFiles(settings.log, folder.path, self._answers, page.answer).find)
            if logged is not None:
                self._proofs = NameProofs(settings, folder, lambda key: logged.store.log_entries(key), self._answers)
        if settings.feeds:
            from .feeds.dispatch import Feeds

            self._finders.append(Feeds(settings, bindings, self._answers, self._availability).find)

    @property
    def has_resources(self) -> bool:
        """Whether the settings enable a service, a feed, the public log or the metrics."""
        return bool(self._finders) or self._settings.services is not None

    @property
    def constant_fields(self) -> Headers:
        """The header fields that the redirects of all names have in common."""
        return self._answers.constant_fields

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt to read the bindings failed, so that the next one can take long."""
        return self._availability.failing

    def announcement(self, request: Request) -> Answer:
        """Return the answer to ``/.well-known/ark``. Exceptions are logged and not raised."""
        try:
            if request.method == "OPTIONS":
                return self._answers.options(request)
            if request.method not in READING:
                return self._answers.refused_method(request)
            return self._answers.announcement(request, self._bindings)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The answer to /.well-known/ark failed")
            return internal_server_error()

    def is_reserved(self, target: Target) -> bool:
        """Return whether the request target is the path of a name, so that the resolver answers and not the site."""
        return target.path[:5] in self._labels or (bool(self._own) and self._own_scheme(target) is not None)

    def resource(self, path: str, recover: Callable[[], Target]) -> Respond | None:
        """Return the function that answers for a resource of the resolver at the decoded path, or None for a path of
        the site. ``recover`` returns the target, which is needed for few paths.
        """
        for find in self._finders:
            if respond := find(path):
                return respond
        services = self._settings.services
        if services is None or not path.startswith(f"{services}/N2"):
            return None
        requested = parse_service_request(recover(), services)
        return None if requested is None else lambda request: self.answer(request.for_service(requested))

    def answer(self, request: Request, failure: BindingsUnavailable | None = None) -> Answer | Handover:
        """Answer a request for a name or for a service on a name. Exceptions are logged and not raised. ``failure`` is
        the result of :meth:`fast_answer` for this request if the bindings could not be read.
        """
        began = perf_counter()
        try:
            if request.method == "OPTIONS":
                return self._answers.options(request)
            if self._proofs is not None and (proof := self._proofs.answer(request)) is not None:
                return proof
            resolution = self._resolve(request, failure)
            answer = self._answers.answer(resolution, request)
        except Exception:  # noqa: BLE001 - it is logged
            given = request.target.identifier
            _log.exception("The resolver failed for %s", display.escape(given[:200]))
            resolution = refuse(given, "internal-error")
            answer = self._answer_or_fail(resolution, request)
        if self._observers:
            self._report(resolution, request.method, answer, perf_counter() - began)
        return answer

    def cached_answer(self, path: str, mount: str, method: str, *, is_secure: bool) -> Answer | None:
        """Return the answer for a name whose redirect is in the memory of this process, or None. ``path`` and ``mount``
        are the results of ``plain_path``. The store is not read, so the call waits only for ``on_resolve``, and for the
        metrics if ``can_wait`` is True.
        """
        began = perf_counter() if self._observers else 0.0
        redirect = self._redirects.find(path)
        if redirect is None:
            return None
        answer = self._answers.redirect(redirect, self._prefix or mount, is_secure=is_secure)
        *_, resolution = redirect
        if resolution is not None:
            self._report(resolution, method, answer, perf_counter() - began)
        return answer

    def fast_answer(
        self, path: str, mount: str, method: str, *, is_secure: bool
    ) -> Answer | BindingsUnavailable | None:
        """Return the answer for a name whose redirect is in memory, or can be read with one query. The result is None
        if :meth:`answer` must decide. If the bindings cannot be read, it is the exception, to be passed to
        :meth:`answer`.
        """
        # on_resolve and the metrics need the resolution.
        if self._observers:
            return self.cached_answer(path, mount, method, is_secure=is_secure)
        redirects = self._redirects
        redirect = redirects.find(path)
        if redirect is None:
            # After a failure, answer() notices that reads succeed again.
            if path[:5] not in self._labels or self._availability.failing:
                return None
            try:
                generation = redirects.refresh()
                redirect = direct_redirect(path, self._bindings.stored_redirect, self._settings, self._bindings.holds())
            except BindingsUnavailable as failure:
                return failure
            if redirect is None:
                return None
            redirects.keep(path, redirect, generation)
        return self._answers.redirect(redirect, self._prefix or mount, is_secure=is_secure)

    def _own_scheme(self, target: Target) -> OwnScheme | None:
        if not self._own:
            return None
        # The path is ASCII, so lower() maps no other letters to those of a label.
        label, colon, _ = target.path.partition(":")
        return self._own.get(label[1:].lower()) if colon and label[:1] == "/" else None

    def _resolve(self, request: Request, failure: BindingsUnavailable | None) -> Resolution:
        given, message = request.target.identifier, None
        if request.method not in READING:
            # ARK-121: identifiers are resolved by GET and HEAD only.
            code = "method-not-allowed"
        elif request.target.dotted:
            code = "dot-segment"
        elif request.service is not None and not self.is_reserved(request.target):
            # Only a request for a service can contain an identifier of another scheme.
            code, message = "no-scheme", "it does not begin with a scheme that this resolver answers for"
        else:
            try:
                if own := self._own_scheme(request.target):
                    return own.answer(given, self._settings.max_length)
                if failure is not None:
                    raise failure
                return self._resolve_name(request)
            except BindingsUnavailable as error:
                # 503, because 404 would mean that the identifier is not bound.
                self._availability.log_failure(str(error))
                code = "bindings-unavailable"
        return refuse(given, code, message)

    def _resolve_name(self, request: Request) -> Resolution:
        """Resolve an ARK or a URN, and keep its redirect if it depends on nothing else of the request."""
        given, path, settings, bindings = request.target.identifier, request.target.path, self._settings, self._bindings
        fetch, generation = bindings.fetch, None
        if self._availability.failing:
            fetch = self._fetch_and_mark_available
        elif _is_plain(request):
            generation = self._redirects.refresh()
        resolution = answer_for(given, bindings, settings, request.accepted, fetch)
        # An answer that changes by the clock is not kept.
        is_stable = resolution.rule is None and resolution.fresh_for is None and not resolution.changes_by_clock
        if resolution.outcome in _KEPT and is_stable:
            self._redirects.keep(path, redirect_of(resolution, whole=bool(self._observers)), generation)
        return resolution

    def _find(self, key: str) -> Binding | None:
        """Return the binding of a name whose title an error page shows; None if it is not here or cannot be read."""
        if key.startswith("http"):
            return None
        try:
            return self._bindings.fetch([key]).get(key)
        except BindingsUnavailable:
            return None

    def _fetch_and_mark_available(self, keys: Iterable[str]) -> Mapping[str, Binding]:
        bindings = self._bindings.fetch(keys)
        self._availability.log_success()
        return bindings

    def _answer_or_fail(self, resolution: Resolution, request: Request) -> Answer | Handover:
        try:
            return self._answers.answer(resolution, request)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The error page could not be rendered")
            return internal_server_error()

    def _report(self, resolution: Resolution, method: str | None, answer: Answer | Handover, seconds: float) -> None:
        status = resolution.status if isinstance(answer, Handover) else answer.status
        for observe in self._observers:
            try:
                observe(resolution, method, status, seconds)
            except Exception:  # noqa: BLE001 - it is logged
                _log.exception("A resolution could not be logged or counted")


def _is_plain(request: Request) -> bool:
    """Return whether a request can be for a name only: its answer depends on no query, service or field No-Redirect."""
    target = request.target
    is_reading = request.method in READING and not request.no_redirect
    # The decoded and the encoded path are equal without a percent sign, so that a redirect can be found by both.
    is_path = target.query is None and "%" not in target.path and not target.dotted
    return is_path and is_reading and request.service is None


def _observer(on_resolve: Callable[[Resolution], object]) -> Observer:
    def observe(resolution: Resolution, method: str | None, status: int, seconds: float) -> None:
        try:
            on_resolve(replace(resolution, status=status, seconds=seconds))
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("on_resolve raised an exception")

    return observe


def _first_entry(logged: Bindings) -> FirstEntry:
    return lambda key: logged.store.first_log_entry(key)


def _metrics(settings: Settings, bindings: Bindings | BindingSource) -> tuple[MetricsPage, Metrics]:
    try:
        from .metrics.page import MetricsPage
    except ImportError:
        raise ValueError(
            "metrics: the package prometheus-client is missing; run: pip install 'ararat[metrics]'"
        ) from None
    page = MetricsPage(settings.metrics or "", settings.metrics_token_file or "")
    # This module needs the folder of the shared metrics, which the page has checked.
    from .metrics.instruments import Metrics

    metrics = Metrics(settings, bindings)
    page.update = metrics.update
    return page, metrics


def _statistics(place: str) -> Statistics:
    from .statistics.counter import Statistics
    from .statistics.counts import CountStore

    try:
        statistics = Statistics(CountStore.at(place))
        statistics.prepare()
    except BindingError as error:
        raise ValueError(f"statistics: {error}") from None
    return statistics
