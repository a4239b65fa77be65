"""A resolution as HTTP: status, header fields, body.

Locations and links begin with the announced prefix, or with the path the middleware is mounted at; nothing of the
request's ``Host`` or forwarding fields is ever in them. An answer depends on the request target, the method and, where
it says so by ``Vary``, on ``Accept``; that a description is not sent (304), on the client's conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, Protocol

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from ..resolution.result import Resolution
from ..settings import Settings
from ..views import templates
from ..views.description import FORMS, describe
from ..views.refusal import explain
from . import rfc2169
from .conditional import Conditions, validators

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

Headers = list[tuple[str, str]]

METHODS = "GET, HEAD, OPTIONS"
RETRY_AFTER = "10"
"""Seconds after which a store that could not be reached may be asked for again."""

_EXPOSED = ("Access-Control-Expose-Headers", "Link, Location")

_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}

# How long a refusal may be kept: an identifier may be bound at any time; what is no identifier is asked for once.
_REFUSAL_SECONDS = {404: 60, 410: 60}

_REFUSAL_FORMS = ("text/html", "application/problem+json", "application/json", "text/plain")


class View(Protocol):
    """What is told in three forms."""

    def as_html(self) -> bytes:
        """A page."""
        ...

    def as_json(self) -> bytes:
        """A JSON object."""
        ...

    def as_text(self) -> bytes:
        """Plain text."""
        ...


class Answer(NamedTuple):
    """A whole answer. ``start`` hands it to the server; to HEAD without its body, with the same header fields."""

    status: int
    headers: Headers
    body: bytes

    def start(self, start_response: StartResponse, *, head: bool = False) -> Iterable[bytes]:
        """Begin the response and return its body."""
        start_response(_STATUS_LINES[self.status], self.headers)
        return (self.body,) if self.body and not head else ()

    def under(self, conditions: Conditions) -> Answer:
        """Return this answer of 200, or 304 in its place if the client has it."""
        if not conditions.met(dict(self.headers)):
            return self
        # RFC 9110, section 15.4.5: what a 200 would have said of caching is said; the content's own fields are not.
        return Answer(304, [field for field in self.headers if not field[0].startswith("Content-")], b"")


class Answers:
    """Makes the answers of one resolver.

    ``root`` is what links begin with, ``accept`` the request's Accept field, ``secure`` whether it came by https.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._found_for = f"max-age={settings.cache}"
        self._always = _always(settings)
        # Of a redirect only its place differs from name to name.
        self._redirected: Headers = [("Content-Length", "0"), ("Cache-Control", self._found_for)]

    def redirect(self, resolution: Resolution, root: str, *, secure: bool) -> Answer:
        """302, 303 or 307 to the target, or to the identifier's own description where there is no target.

        It has no body. RFC 9110, section 15.4.3: "The server's response content usually contains a short hypertext
        note", but who follows redirects never shows it, and servers send it in a packet of its own.
        """
        info = f"{root}/{resolution.key}?info"
        target = info if resolution.target is None else resolution.target
        # A path is one of this site.
        location = root + target if target.startswith("/") and resolution.target is not None else target
        headers = [("Location", location), *self._redirected]
        # What is known elsewhere is described elsewhere.
        if resolution.binding is not None:
            headers.append(("Link", describedby(info)))
        # ARK-107: with Vary the location is one for these fields of the request, so it is there only then.
        if resolution.vary:
            headers.append(("Vary", ", ".join(resolution.vary)))
        return Answer(resolution.status, self._with_common(headers, secure), b"")

    def description(self, resolution: Resolution, root: str, accept: str | None, *, secure: bool) -> Answer:
        """200 with what is known of the identifier."""
        if resolution.binding is None:
            raise ValueError("nothing is bound, so nothing can be described")
        view = describe(resolution.binding, root, resolution.container, self._settings.inflections, resolution.rule)
        info = f"{view.address}?info"
        media_type = preferred(accept, tuple(FORMS))
        links = [("Link", describedby(info)), ("Link", f'<{info}>; rel="canonical"')]
        # Relative, for these are at the very address that was asked for, and a long name is said often enough.
        links += [("Link", f'<?info>; rel="alternate"; type="{form}"') for form in FORMS if form != media_type]
        if view.policy is not None:
            # ARK-034. The policy is the naming authority's, of the name: no licence of what is named.
            links.append(("Link", f'<{view.policy}>; rel="terms-of-service"'))
        told = self._told(200, view, media_type, [*links, ("Cache-Control", self._found_for)], secure)
        # What a container or a rule has made can change with another one, and then its time may go back.
        known = None if resolution.container or resolution.rule else resolution.binding.changed
        told.headers.extend(validators(told.body, known))
        return told

    def places(self, resolution: Resolution, root: str, accept: str | None, *, secure: bool) -> Answer:
        """200 with every place where what was found can be had (RFC 2169, section 3.2)."""
        view = rfc2169.places(resolution, root)
        media_type = preferred(accept, tuple(rfc2169.FORMS))
        headers = [("Link", describedby(f"{root}/{resolution.key}?info"))] if resolution.binding is not None else []
        headers += [("Cache-Control", self._found_for), ("Vary", "Accept")]
        if media_type == "text/html":
            body, content_type = view.as_html(), "text/html; charset=utf-8"
            headers.append(("Content-Security-Policy", templates.content_security_policy()))
        else:
            body, content_type = view.as_list(), media_type
        headers += [("Content-Type", content_type), ("Content-Length", str(len(body)))]
        return Answer(200, self._with_common(headers, secure), body)

    def refusal(
        self, resolution: Resolution, root: str, accept: str | None, *, secure: bool, exact: bool = True
    ) -> Answer:
        """400, 404, 405, 410, 414, 500 or 503: why, and where to go from here. ``exact`` is the target's."""
        view = explain(resolution, root, self._settings.inspector, self._settings.all_inflections, exact=exact)
        headers: Headers = []
        if resolution.binding is not None:
            headers.append(("Link", describedby(f"{root}/{resolution.key}?info")))
        if resolution.status == 405:
            headers.append(("Allow", METHODS))
        if resolution.status == 503:
            headers.append(("Retry-After", RETRY_AFTER))
        seconds = _REFUSAL_SECONDS.get(resolution.status)
        headers.append(("Cache-Control", "no-store" if seconds is None else f"max-age={seconds}"))
        media_type = preferred(accept, _REFUSAL_FORMS)
        return self._told(resolution.status, view, media_type, headers, secure, resolution.vary)

    def options(self, *, secure: bool) -> Answer:
        """204 with the methods there are, also for a browser that asks before a request from another site."""
        headers = [("Allow", METHODS), ("Cache-Control", "no-store")]
        if self._settings.cors:
            headers += [("Access-Control-Allow-Methods", METHODS), ("Access-Control-Allow-Headers", "*")]
        return Answer(204, self._with_common(headers, secure), b"")

    def for_origin(self, answer: Answer, origin: str | None) -> Answer:
        """An answer for a page of ``origin``, where only the pages of some origins may read it."""
        varying = [value for name, value in answer.headers if name == "Vary"]
        headers = [field for field in answer.headers if field[0] != "Vary"]
        headers.append(("Vary", ", ".join((*varying, "Origin"))))
        if origin in self._settings.cors_origins:
            headers += [("Access-Control-Allow-Origin", origin), _EXPOSED]
        return answer._replace(headers=headers)

    def _told(
        self, status: int, view: View, media_type: str, headers: Headers, secure: bool, vary: tuple[str, ...] = ()
    ) -> Answer:
        if media_type == "text/html":
            body, content_type = view.as_html(), "text/html; charset=utf-8"
            headers.append(("Content-Security-Policy", templates.content_security_policy()))
        elif media_type == "text/plain":
            body, content_type = view.as_text(), "text/plain; charset=utf-8"
        else:
            body, content_type = view.as_json(), "application/json" if status == 200 else "application/problem+json"
        varying = ", ".join(dict.fromkeys(("Accept", *vary)))
        headers += [("Content-Type", content_type), ("Content-Length", str(len(body))), ("Vary", varying)]
        return Answer(status, self._with_common(headers, secure), body)

    def _with_common(self, headers: Headers, secure: bool) -> Headers:
        headers += self._always
        # RFC 6797, section 7.2: "An HSTS Host MUST NOT include the STS header field in HTTP responses conveyed over
        # non-secure transport."
        if secure and self._settings.hsts is not None:
            headers.append(("Strict-Transport-Security", self._settings.hsts))
        return headers


def last_resort() -> Answer:
    """500 without anything that could fail a second time: no template, no setting."""
    body = b"The resolver failed because of an error in its program (internal-error).\n"
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    ]
    return Answer(500, headers, body)


def _always(settings: Settings) -> Headers:
    """The fields of every answer."""
    headers = [("X-Content-Type-Options", "nosniff")]
    if settings.referrer_policy is not None:
        headers.append(("Referrer-Policy", settings.referrer_policy))
    if settings.cors is True:
        # The answers depend on no cookie, so every page may read them.
        headers += [("Access-Control-Allow-Origin", "*"), _EXPOSED]
    return headers


def describedby(info: str) -> str:
    """The value of the Link field that every answer for a bound name has (17beta policy, section 3.2; POL-032)."""
    return f'<{info}>; rel="describedby"'


def preferred(accept: str | None, forms: tuple[str, ...]) -> str:
    """The media type that an Accept field asks for; the first of them where it leaves the choice or none will do.

    >>> [preferred(accept, tuple(FORMS)) for accept in ("application/json;q=0.9, text/*;q=0.1", "*/*", "image/png")]
    ['application/json', 'text/html', 'text/html']
    """
    if not accept:
        return forms[0]
    return parse_accept_header(accept, MIMEAccept).best_match(forms, forms[0])
