"""Convert a resolution to an HTTP response. Locations and links begin with the setting ``prefix`` or with SCRIPT_NAME,
and never contain ``Host`` or forwarding fields. A response depends on the request target, the method and its ``Vary``
fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, assert_never
from urllib.parse import urlsplit

from ...bindings.names.branding.model import NO_BRANDING, Branding
from ...bindings.names.prefixes.holds import MAX_SECONDS
from ..resolution.description_formats import BY_INFLECTION, FORMATS, Format
from ..resolution.forwarding import holder_elsewhere
from ..resolution.negotiation import choose_media_type
from ..resolution.refusals import refuse
from ..resolution.result import Resolution
from ..resolution.settings import Settings
from ..views import templates
from ..views.description import describe, successor_address
from ..views.error_page import explain
from ..views.formatted import Formatted
from ..views.languages import preferred_language
from ..views.no_redirect import Redirection
from ..views.prefix import describe_prefix
from ..views.presentation import Presentation
from ..views.signposting import describedby, links_of_name, links_of_resolution
from . import rfc2169, well_known
from .answer import MAX_HEADER, Answer, Headers, size_of, within_limit
from .conditional import validators
from .direct_redirects import Redirect, redirect_of
from .handover import Handover, hand_over
from .request import Request

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding, LoggedName
    from ..resolution.source import BindingSource

METHODS = "GET, HEAD, OPTIONS"
RETRY_AFTER = "10"
"""Retry-After in seconds of a response of 503."""

_EXPOSED = ("Access-Control-Expose-Headers", "Link, Location")

# The fields of a redirect that do not describe the answer that shows it.
# RFC 9110, section 12.5.5: a client that sends No-Redirect gets another answer, so a cache must not reuse a redirect.
_VARY = ("Vary", "No-Redirect")
_OF_REDIRECT = frozenset({"Location", "Content-Length", "Content-Type", "Cache-Control", "Vary"})

# A recorded document can contain a script, which a browser that shows the document must not run.
_PASSIVE = ("Content-Security-Policy", f"{templates.UNSTYLED}; sandbox")

_NOT_INDEXED = ("X-Robots-Tag", "noindex")

# How many seconds clients can cache a refusal. It is short, because an identifier can be bound at any time.
_REFUSAL_SECONDS = {404: 60, 410: 60}

# RFC 5861, X-14: a cache can return an old redirect while the resolver fails. With the setting 0, which permits no
# copy, it is not sent. Otherwise no cache uses a redirect longer than the setting, so that a hold begins in time.
_STALE = ", stale-if-error=86400"

_PAGE_FORMS = ("text/html", "application/json", "text/plain")
_REFUSAL_FORMS = ("text/html", "application/problem+json", "application/json", "text/plain")


class VisitorPage(Protocol):
    """The interface of a text for visitors. ``as_html`` returns the whole HTML page in UTF-8."""

    def as_html(self, site: Presentation, /) -> bytes: ...


class View(VisitorPage, Protocol):
    """The interface of a text for users in three representations: ``as_html`` (page), ``as_json`` and ``as_text``, each
    in UTF-8.
    """

    def as_json(self) -> bytes: ...

    def as_text(self) -> bytes: ...


def no_branding() -> Branding:
    """Return an empty branding, for a resolver whose bindings have none."""
    return NO_BRANDING


def not_logged(key: str) -> None:
    """Return None, for a resolver without a public log. ``key`` is the key of a name, and is ignored."""


def not_bound(key: str) -> None:
    """Return None, for a resolver whose bindings are not at hand. ``key`` is the key of a name, and is ignored."""


class AnswerBuilder:
    """A builder of the HTTP responses of a resolver. The values of ``branding``, from the store, replace those of the
    settings. By its key, ``find_logged`` returns the place of a name in the public log, and ``find`` its binding, or
    None.
    """

    def __init__(
        self,
        settings: Settings,
        branding: Callable[[], Branding] = no_branding,
        find_logged: Callable[[str], LoggedName | None] = not_logged,
        find: Callable[[str], Binding | None] = not_bound,
    ) -> None:
        self._settings = settings
        self._branding = branding
        self._find_logged = find_logged
        self._find = find
        self._languages = tuple(settings.languages)
        self._found_for = f"max-age={settings.cache}"
        # RFC 6797, section 7.2: "An HSTS Host MUST NOT include the STS header field in HTTP responses conveyed over
        # non-secure transport."
        always = _always(settings)
        hsts = [] if settings.hsts is None else [("Strict-Transport-Security", settings.hsts)]
        self._always = (always, [*always, *hsts])
        self._by_origin = settings.cors_origins
        # Redirects of different names differ only in their location and their links.
        stale = _STALE if settings.cache else ""
        # PEP 3333 requires no Content-Type, but wsgiref.validate does for each answer that can have a body.
        self._redirected: Headers = [
            ("Content-Length", "0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Cache-Control", self._found_for + stale),
        ]
        # The fields Location, Link and Vary are longer than a hundred bytes only with long values.
        self._long = MAX_HEADER - size_of([*self._redirected, *self._always[True]]) - 200

    @property
    def constant_fields(self) -> Headers:
        """The header fields that the redirects of all names have in common."""
        return [*self._redirected, _VARY, *self._always[True]]

    def answer(self, resolution: Resolution, request: Request) -> Answer | Handover:
        """Return the HTTP response for a resolution, or for a served name the request that the site must answer."""
        if request.service is not None:
            if request.service == "N2Ls" and resolution.outcome not in ("refused", "metadata", "prefix"):
                return self._places(resolution, request)
            resolution = rfc2169.as_redirect(resolution)
        match resolution.outcome:
            case "refused":
                return self._refusal(resolution, request)
            case "metadata":
                return self._description(resolution, request).apply_conditions(request.conditions)
            case "prefix":
                return self._prefix(resolution, request).apply_conditions(request.conditions)
            case "served":
                return hand_over(resolution, request, self._seconds(resolution))
            case "located" | "related" | "described" | "forwarded" | "held":
                redirect = redirect_of(resolution)
                answer = self.redirect(redirect, request.root, is_secure=request.is_secure, origin=request.origin)
                if resolution.fresh_for is not None:
                    answer = Answer(answer.status, self._until_end(answer.headers, resolution), answer.body)
                return self._shown(answer, resolution, request) if request.no_redirect else answer
            case _:
                assert_never(resolution.outcome)

    def _until_end(self, headers: Headers, resolution: Resolution) -> Headers:
        """Return the header fields of an answer that changes by the clock. No cache keeps it for longer."""
        seconds = ("Cache-Control", f"max-age={self._seconds(resolution)}")
        return [seconds if name == "Cache-Control" else (name, value) for name, value in headers]

    def _seconds(self, resolution: Resolution) -> int:
        """Return how long a cache can keep an answer for a bound name."""
        most = self._settings.cache
        return most if resolution.fresh_for is None else min(most, resolution.fresh_for)

    def options(self, request: Request, methods: str = METHODS) -> Answer:
        """Return the response 204 to OPTIONS, also for a CORS preflight request, with the ``methods`` of Allow."""
        headers = [("Allow", methods), ("Cache-Control", "no-store")]
        if self._settings.cors:
            headers += [("Access-Control-Allow-Methods", methods), ("Access-Control-Allow-Headers", "*")]
        return self._with_common(204, headers, b"", request)

    def refused_method(self, request: Request) -> Answer:
        """Return the response 405 of a resource that can only be read, with its methods in Allow."""
        body = f"This resource answers {METHODS}. Send one of these methods.\n".encode()
        headers = [("Allow", METHODS), ("Cache-Control", "no-store"), ("Content-Length", str(len(body)))]
        return self._with_common(405, [*headers, ("Content-Type", "text/plain; charset=utf-8")], body, request)

    def with_common_fields(
        self, status: int, headers: Headers, body: bytes | Iterable[bytes], request: Request
    ) -> Answer:
        """Return a response with these values, and with the header fields that every response of the resolver has."""
        return self._with_common(status, headers, body, request)

    def page(self, view: View, seconds: int, request: Request) -> Answer:
        """Return 200 with ``view`` as HTML, JSON or plain text, by the field Accept. Caches can keep it for
        ``seconds``.
        """
        media_type = choose_media_type(request.accepted.media_types, _PAGE_FORMS)
        return self._negotiate(200, view, media_type, [("Cache-Control", f"max-age={seconds}")], request)

    def announcement(self, request: Request, source: BindingSource) -> Answer:
        """Return 200 with the path of the resolver on its host, as text or JSON (:mod:`.well_known`)."""
        path = f"{urlsplit(request.root).path}/"
        media_type = choose_media_type(request.accepted.media_types, ("text/plain", "application/json"))
        freshness = self._found_for
        if media_type == "application/json":
            document = well_known.build_document(source, request.root, path, self._settings.prefix)
            body, content_type = json.dumps(document.document).encode() + b"\n", media_type
            if document.seconds is not None:
                freshness = f"max-age={min(self._settings.cache, MAX_SECONDS, max(0, int(document.seconds)))}"
        else:
            body, content_type = f"{path}\n".encode(), "text/plain; charset=utf-8"
        headers = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
        headers += [("Cache-Control", freshness), ("Vary", "Accept")]
        answer = self._with_common(200, headers, body, request)
        answer.headers.extend(validators(body, None))
        return answer.apply_conditions(request.conditions)

    def redirect(self, redirect: Redirect, root: str, *, is_secure: bool, origin: str | None = None) -> Answer:
        """Return the redirect 302, 303 or 307 to the target of a name, or to its description without a target. ``root``
        is the beginning of links, and ``origin`` the field Origin or None.

        It has no body. Clients that follow redirects never show the "short hypertext note" of RFC 9110, section 15.4.3,
        and servers send it in a separate packet.
        """
        status, target, path, links, container, vary, _ = redirect
        location = f"{root}{path}?info" if target is None else root + target if target[:1] == "/" else target
        headers, is_long = [("Location", location), *self._redirected], False
        # A forwarded identifier is described by the other resolver.
        if path is not None:
            description, others = links_of_name(root + path, links, container and f"{root}/{container}")
            headers += (("Link", description), ("Link", others))
            is_long = len(location) + len(description) + len(others) > self._long
        headers.append(("Vary", ", ".join((*vary, "No-Redirect"))) if vary else _VARY)
        headers += self._always[is_secure]
        if self._by_origin:
            headers = self._for_origin(headers, origin)
        return Answer(status, within_limit(headers) if is_long else headers, b"")

    def _description(self, resolution: Resolution, request: Request) -> Answer:
        """Return 200 with the description of the identifier."""
        if resolution.binding is None:
            raise ValueError("the resolution has no binding, so there is no description")
        view = describe(
            resolution.binding,
            request.root,
            resolution.container,
            self._settings.inflections,
            resolution.rule,
            resolution.inherited,
            self._place_in_log(resolution),
            resolution.hold,
            has_numbers=self._settings.public_numbers,
        )
        further: Headers = [] if resolution.binding.is_live and resolution.binding.listed else [_NOT_INDEXED]
        if view.successor is not None:
            further.append(("Link", f'<{view.successor}>; rel="successor-version"'))
        if view.policy is not None:
            # ARK-034: this is the policy of the naming authority for the name, not a licence of the resource.
            further.append(("Link", f'<{view.policy}>; rel="terms-of-service"'))
        return self._in_requested_format(view, f"{view.address}?info", further, resolution, request)

    def _prefix(self, resolution: Resolution, request: Request) -> Answer:
        """Return 200 with the record of a NAAN or shoulder."""
        if resolution.record is None:
            raise ValueError("the resolution has no record of a prefix")
        view = describe_prefix(resolution.record, request.root, resolution.inherited, resolution.hold)
        further: Headers = [("Link", f'<{view.policy}>; rel="terms-of-service"')] if view.policy else []
        return self._in_requested_format(view, f"{view.address}?info", further, resolution, request)

    def _in_requested_format(
        self, view: Formatted, info: str, further: Headers, resolution: Resolution, request: Request
    ) -> Answer:
        """Return 200 with a description in the format of the requested URL, or else in one that the client accepts."""
        named = BY_INFLECTION.get(resolution.inflection)
        form = named or _accepted_format(request, view.formats)
        if form not in view.formats:
            message = f"the recorded metadata is not enough for a description as {form.title}"
            return self._refusal(refuse(resolution.given, "unknown-inflection", message), request, view.formats)
        headers: Headers = [("Link", describedby(info)), ("Link", f'<{info}>; rel="canonical"')]
        headers += [("Link", view.signposts.field(form)), *further]
        headers.append(("Cache-Control", f"max-age={self._seconds(resolution)}"))
        if form.media_type == "text/html":
            body = self._page(view, headers, request)
        else:
            body = view.in_format(form)
            headers.append(_PASSIVE)
        headers += [("Content-Type", form.content_type), ("Content-Length", str(len(body)))]
        varying = [field for field in self._varying(form.media_type) if named is None or field != "Accept"]
        if varying:
            headers.append(("Vary", ", ".join(varying)))
        answer = self._with_common(200, headers, body, request)
        # The date of the last change is not sent: it does not change with the settings, which a page depends on.
        answer.headers.extend(validators(body, None))
        return answer

    def _place_in_log(self, resolution: Resolution) -> LoggedName | None:
        """Return the place of a live or withdrawn name in the log, or None. A name without a record has no place."""
        binding = resolution.binding
        if binding is None or binding.status == "reserved" or resolution.container or resolution.rule:
            return None
        return self._find_logged(binding.identifier)

    def _shown(self, redirect: Answer, resolution: Resolution, request: Request) -> Answer:
        """Return 200 with a redirect as JSON or text, for a client that sends ``No-Redirect: true``."""
        view = Redirection(resolution.given, redirect.status, tuple(redirect.headers))
        json_types = ("text/plain", "application/json")
        media_type = choose_media_type(request.accepted.media_types, json_types)
        body = view.as_json() if media_type == "application/json" else view.as_text()
        kept = [field for field in redirect.headers if field[0] not in _OF_REDIRECT]
        varying = ", ".join(value for name, value in redirect.headers if name == "Vary").split(", ")
        vary = dict.fromkeys((*(field for field in varying if field != "No-Redirect"), "Accept", "No-Redirect"))
        kept += [("Cache-Control", "no-store"), ("Vary", ", ".join(vary))]
        content_type = "application/json" if media_type == "application/json" else "text/plain; charset=utf-8"
        return Answer(200, [*kept, ("Content-Type", content_type), ("Content-Length", str(len(body)))], body)

    def _places(self, resolution: Resolution, request: Request) -> Answer:
        """Return 200 with all locations of the resource (RFC 2169, section 3.2)."""
        view = rfc2169.places(resolution, request.root)
        media_type = choose_media_type(request.accepted.media_types, rfc2169.FORMS)
        info = f"{request.root}/{resolution.key}?info"
        headers = [("Link", describedby(info))] if resolution.binding is not None else []
        headers.append(("Cache-Control", f"max-age={self._seconds(resolution)}"))
        if media_type == "text/html":
            body, content_type = self._page(view, headers, request), "text/html; charset=utf-8"
        else:
            body, content_type = view.as_list(), media_type
        varying = ", ".join(self._varying(media_type))
        headers += [("Content-Type", content_type), ("Content-Length", str(len(body))), ("Vary", varying)]
        return self._with_common(200, headers, body, request)

    def _refusal(self, resolution: Resolution, request: Request, formats: Sequence[Format] = FORMATS) -> Answer:
        """Return 400, 404, 405, 410, 414, 500 or 503 with the reason and links."""
        settings, root, exact = self._settings, request.root, request.target.exact
        logged = self._place_in_log(resolution)
        inspector, inflections = settings.inspector, settings.all_inflections
        key = resolution.successor or resolution.correction
        other = self._find(key) if key else None
        view = explain(
            resolution,
            root,
            inspector,
            inflections,
            formats=formats,
            exact=exact,
            hides_empty_query=request.hides_empty_query,
            logged=logged,
            other=other,
            holder=holder_elsewhere(resolution, settings),
        )
        headers: Headers = []
        if resolution.binding is not None:
            headers.append(("Link", describedby(f"{root}/{resolution.key}?info")))
        if view.tombstone is not None:
            # Relative links need the address of the name as request target. That of a service is another address.
            is_relative = request.service is None
            links = view.tombstone.signposts.field() if is_relative else links_of_resolution(resolution, root)[1]
            headers.append(("Link", links))
        if resolution.successor is not None:
            address = successor_address(resolution.successor, root)
            headers.append(("Link", f'<{address}>; rel="successor-version"'))
        if resolution.status == 405:
            headers.append(("Allow", METHODS))
        if resolution.status == 503:
            headers.append(("Retry-After", RETRY_AFTER))
        seconds = _REFUSAL_SECONDS.get(resolution.status)
        if seconds is not None and resolution.fresh_for is not None:
            seconds = min(seconds, resolution.fresh_for)
        # A search engine must not list a name that has no page.
        headers.append(_NOT_INDEXED)
        headers.append(("Cache-Control", "no-store" if seconds is None else f"max-age={seconds}"))
        media_type = choose_media_type(request.accepted.media_types, _REFUSAL_FORMS)
        return self._negotiate(resolution.status, view, media_type, headers, request, resolution.vary)

    def _negotiate(
        self, status: int, view: View, media_type: str, headers: Headers, request: Request, vary: tuple[str, ...] = ()
    ) -> Answer:
        if media_type == "text/html":
            body, content_type = self._page(view, headers, request), "text/html; charset=utf-8"
        elif media_type == "text/plain":
            body, content_type = view.as_text(), "text/plain; charset=utf-8"
        else:
            body, content_type = view.as_json(), "application/json" if status == 200 else "application/problem+json"
        varying = ", ".join(dict.fromkeys((*self._varying(media_type), *vary)))
        headers += [("Content-Type", content_type), ("Content-Length", str(len(body))), ("Vary", varying)]
        return self._with_common(status, headers, body, request)

    def _varying(self, media_type: str) -> tuple[str, ...]:
        """Return the request fields that a representation with this media type depends on."""
        has_languages = media_type == "text/html" and len(self._languages) > 1
        return ("Accept", "Accept-Language") if has_languages else ("Accept",)

    def _page(self, view: VisitorPage, headers: Headers, request: Request) -> bytes:
        """Return a public page in the language of the visitor, and add its fields to the header."""
        language = preferred_language(request.accepted.languages, self._languages)
        branding = self._branding().with_defaults(self._settings.branding)
        site = Presentation(language=language, branding=branding, root=request.root)
        headers.append(("Content-Language", language))
        headers.append(("Content-Security-Policy", templates.content_security_policy(site)))
        return view.as_html(site)

    def _with_common(self, status: int, headers: Headers, body: bytes | Iterable[bytes], request: Request) -> Answer:
        headers += self._always[request.is_secure]
        if self._by_origin:
            headers = self._for_origin(headers, request.origin)
        return Answer(status, within_limit(headers), body)

    def _for_origin(self, headers: Headers, origin: str | None) -> Headers:
        """Return the header fields for a request with this field Origin, if only some origins can read responses."""
        varying = [value for name, value in headers if name == "Vary"]
        headers = [field for field in headers if field[0] != "Vary"]
        headers.append(("Vary", ", ".join((*varying, "Origin"))))
        if origin is not None and origin in self._by_origin:
            headers += [("Access-Control-Allow-Origin", origin), _EXPOSED]
        return headers


def _accepted_format(request: Request, formats: tuple[Format, ...]) -> Format:
    names = {name: form for form in formats for name in (form.media_type, *form.others)}
    # The media types before the other ones, so that a wildcard selects the first format.
    ordered = [form.media_type for form in formats] + [name for form in formats for name in form.others]
    return names[choose_media_type(request.accepted.media_types, tuple(ordered))]


def _always(settings: Settings) -> Headers:
    """Return the header fields of every response."""
    headers = [("X-Content-Type-Options", "nosniff")]
    if settings.referrer_policy is not None:
        headers.append(("Referrer-Policy", settings.referrer_policy))
    if settings.cors is True:
        # Responses do not depend on cookies, so every page can read them.
        headers += [("Access-Control-Allow-Origin", "*"), _EXPOSED]
    return headers
