"""The limits of the bodies of requests, by their routes: the size in bytes, and the number of the fields of a form.
A server applies :data:`ROUTES` before it stores a body (:mod:`ararat.cli.serving.server`), and :mod:`.request_body`
before anything reads one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..identifiers.text.translatable import Translatable
from ..spreadsheets.reading import MAX_BYTES as MAX_TABLE
from ..spreadsheets.reading import MAX_COLUMNS

if TYPE_CHECKING:
    from ..middleware.http.trusted_proxy import RemoteUser

BODY = "ararat.body"
"""The key of the WSGI environ with the :class:`.RequestBody`."""

MAX_TEXT = 2**20
"""The maximum size of an inspected text in bytes."""

MAX_FIELDS = 100
"""The maximum number of fields of a form that no route names."""

MAX_ROWS = 1016
"""The maximum number of fields of a form that selects rows: a thousand rows, and its other fields."""

FORM_OVERHEAD = 128 * MAX_ROWS
"""The bytes that such a form can have in addition to a text."""

MAX_OPEN = MAX_TEXT + 4096
"""The maximum size of a body without a credential, and of one that no route names: 1 MB, and the rest of a form."""

MAX_JSON = 4 * 2**20
"""The maximum size of a JSON body with many names."""

_URLENCODED = "application/x-www-form-urlencoded"
_COOKIES = ("ararat", "__Host-ararat")

TOO_LONG = Translatable("The text is longer than %(most)s bytes, the maximum. Paste a part of it.", most=MAX_TEXT)
_SIGN_IN = Translatable("A file or form of more than 1 MB needs a session. Sign in first.")
TABLE_TOO_LONG = Translatable(
    "The file is larger than %(megabytes)s MB, the maximum. "
    "Divide it into several files, or import it with the command ararat import.",
    megabytes=MAX_TABLE // 2**20,
)


class BodyLimit(NamedTuple):
    """The limit of the body of a request: ``size`` in bytes, and ``fields`` of a form.
    A browser that sends too much gets the ``sentence``.
    """

    size: int = MAX_OPEN
    fields: int = MAX_FIELDS
    sentence: str = TOO_LONG


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """The limits of the bodies that are sent to the paths of a regular expression.
    More than :data:`MAX_OPEN` bytes need a credential, unless the route ``is_open``. With ``is_text``, the limit is
    that of a text, whose form can be three times as long in percent-encoding.
    """

    path: re.Pattern[str]
    size: int = MAX_OPEN
    fields: int = MAX_FIELDS
    sentence: str = TOO_LONG
    is_open: bool = False
    is_text: bool = False


def _route(path: str, **limits: Any) -> Route:
    return Route(path=re.compile(path.replace("<n>", "[0-9]+") + "/?"), **limits)


# A row of the page of refused rows has a field for each column. The page shows ten rows of twenty causes.
_CELLS = 10 * 20 * MAX_COLUMNS + MAX_FIELDS

ROUTES = (
    # The form of the inspector: a text, and a checkbox for each reported identifier.
    _route("/|/list|/compare", size=MAX_TEXT, fields=MAX_ROWS, is_open=True, is_text=True),
    _route("/policy", size=MAX_TEXT, is_open=True, is_text=True),
    # Selected rows.
    _route("/desk/names/selected|/desk/names/change|/desk/links/relocate", fields=MAX_ROWS),
    # A name can have many elements.
    _route("/desk/name/metadata|/desk/new/name", fields=MAX_ROWS),
    _route("/desk/tables", size=MAX_TABLE + FORM_OVERHEAD, sentence=TABLE_TOO_LONG),
    _route("/desk/tables/<n>/columns", fields=2 * MAX_COLUMNS + MAX_FIELDS),
    _route("/desk/tables/<n>/corrections", size=MAX_JSON, fields=_CELLS),
    _route("/api/v1/imports", size=MAX_TABLE),
    _route("/api/v1/names|/api/v1/changes", size=MAX_JSON),
)
"""The routes whose bodies can be longer, or have more fields, than those of others."""


class BodyLimits:
    """The limits of one site. ``user`` is the source of the user that the web server has signed in.
    ``ezid`` is the path of the EZID API, whose form of a batch download has a field for each column.

    >>> BodyLimits().of("/x/imports", {"HTTP_AUTHORIZATION": "Bearer a"}).size == MAX_OPEN
    True
    >>> [BodyLimits().of("/api/v1/imports", each).size for each in ({}, {"HTTP_AUTHORIZATION": "Bearer a"})]
    [1052672, 104857600]
    """

    def __init__(self, user: RemoteUser | None = None, ezid: str | None = None) -> None:
        self._user = user
        self._routes = ROUTES if ezid is None else (*ROUTES, _route(f"{re.escape(ezid)}/download_request", fields=200))

    def of(self, path: str, environ: Mapping[str, Any]) -> BodyLimit:
        """Return the limit of the body of a request. ``path`` is decoded, and below the mount of the application.
        ``environ`` is the WSGI environ, or the part of it that the header fields are.
        """
        route = next((each for each in self._routes if each.path.fullmatch(path)), None)
        if route is None:
            return _DEFAULT
        size = route.size
        if route.is_text:
            is_encoded = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() == _URLENCODED
            size = size * (3 if is_encoded else 1) + FORM_OVERHEAD
        if size > MAX_OPEN and not route.is_open and not self._has_credential(environ):
            return BodyLimit(MAX_OPEN, route.fields, _SIGN_IN)
        return BodyLimit(size, route.fields, route.sentence)

    def _has_credential(self, environ: Mapping[str, Any]) -> bool:
        """Return whether a request has a credential, which is not checked."""
        return (
            "HTTP_AUTHORIZATION" in environ
            or any(each.partition("=")[0].strip() in _COOKIES for each in environ.get("HTTP_COOKIE", "").split(";"))
            or (self._user is not None and self._user.of(environ) is not None)
        )


_DEFAULT = BodyLimit()
