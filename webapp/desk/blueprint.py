"""The blueprint of the desk. Each request needs an account: a browser without a session is sent to /sign-in."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from http import HTTPStatus

from flask import Blueprint, Response, abort, current_app, g, has_app_context, redirect, request
from htmx_flask import request as htmx_request
from werkzeug.wrappers import Response as AnyResponse

from ...bindings.names.binding import Binding, rfc3339
from ...bindings.names.metadata import folding, persistence
from ...bindings.names.naming import is_test
from ...bindings.storage.store import read_current
from ...middleware.http import request_target
from ..accounts import csrf, first_account, identify
from ..accounts.model import Caller
from ..config import url
from ..errors import HTTPRefusal
from ..jobs.imports import KEY
from ..language import formats
from ..management.permissions import require_right
from ..responses import wants_json
from ..security import OF_CALLER
from . import messages, unsent
from .navigation import MANAGE, PLACES, dead_targets, help_address, links, page_links

blueprint = Blueprint("desk", __name__, url_prefix="/desk")

_G = "ararat_desk_caller"


@blueprint.before_request
def require_session() -> AnyResponse | None:
    """Send a browser without a valid session to /sign-in. Until an account exists, show how to add it, else 404."""
    setattr(g, OF_CALLER, True)
    if request.method in ("GET", "HEAD") and request.path == "/desk" and first_account.is_missing():
        return first_account.page()
    try:
        found = identify.require_caller()
    except HTTPRefusal as error:
        if "Authorization" in request.headers or wants_json():
            raise
        if unsent.is_kept(error):
            return unsent.page(error, _target())
        if error.code != HTTPStatus.UNAUTHORIZED:
            raise
        return _to_sign_in()
    setattr(g, _G, found)
    require_right(found, "read")  # each page of the desk shows reserved names
    worker = current_app.extensions[KEY].worker
    if worker.begun != os.getpid():
        worker.begin()
    read_current(True)  # an editor must see what she has just saved
    return None


blueprint.teardown_request(lambda _: read_current(False))


@blueprint.context_processor
def _context() -> dict[str, object]:
    if not has_caller():
        return {}
    return {
        "caller": caller(),
        "desk_navigation": lambda: links(PLACES, caller()),
        "manage_menu": lambda: links(MANAGE, caller()),
        "dead_targets": dead_targets,
        "help_address": help_address,
        "taken_message": messages.take,
    }


# Macros do not see the context of a page, so these are global.
blueprint.add_app_template_global(csrf.form_token, "csrf_token")
blueprint.add_app_template_global(is_test)
blueprint.add_app_template_global(page_links)
blueprint.add_app_template_global(persistence.split, "split_statement")
blueprint.add_app_template_global(lambda: persistence.TERMS, "persistence_terms")


@blueprint.app_template_global()
def title_of(binding: Binding) -> str:
    """Return the title in the metadata of a name, or an empty text."""
    return folding.title_of(binding.metadata)


# For the HTML attribute "datetime".
blueprint.add_app_template_filter(rfc3339, "instant")


@blueprint.app_template_filter()
def moment(time: datetime) -> str:
    """Return a date and time for readers, in their language and time zone. ``time`` has a time zone."""
    return formats.moment(time.astimezone(time_zone()))


@blueprint.app_template_filter()
def day(time: datetime) -> str:
    """Return the day of a time for readers, in their language and time zone. ``time`` has a time zone."""
    return formats.day(time.astimezone(time_zone()))


blueprint.add_app_template_filter(formats.period, "period")


@blueprint.app_template_filter()
def utc(time: datetime) -> str:
    """Return a date and time in UTC, for readers who compare it with a server log. ``time`` has a time zone."""
    return formats.moment(time.astimezone(UTC))


def time_zone() -> tzinfo:
    """Return the time zone that the caller has selected; UTC without one, and if this machine does not know it."""
    return caller().account.preferences.zone if has_app_context() and has_caller() else UTC


def with_time(day: str) -> str:
    """Return a text such as "2027-07-01" as the time at which this day begins for the caller. Another text is returned
    as it is (:meth:`.Preferences.with_time`).
    """
    return caller().account.preferences.with_time(day)


@blueprint.route("/<path:rest>", methods=["GET", "POST"])
def missing(rest: str) -> Response:
    """Answer 404 with a page of the desk. ``rest`` is the path below the desk that belongs to no page."""
    abort(HTTPStatus.NOT_FOUND)


def has_caller() -> bool:
    """Return whether the current request was signed in to the desk, so that :func:`caller` returns its account."""
    return _G in g


def caller() -> Caller:
    """Return the caller of the current request. Views of the desk always have one."""
    return g.get(_G)


def read_revision() -> int:
    """Return the revision in the form of the request, for which its page was made. It is 0 if it is not a number."""
    text = request.form.get("revision", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def see_other(endpoint: str, **values: object) -> AnyResponse:
    """Return a redirect (303) to the page ``endpoint`` after a form. ``values`` are for its path or query string."""
    return redirect(url(endpoint, **values), HTTPStatus.SEE_OTHER)


def _to_sign_in() -> AnyResponse:
    # After signing in, a browser cannot repeat an upload or the request of a fragment.
    is_page = request.method in ("GET", "HEAD") and not htmx_request.htmx
    address = url("sign_in.page", next=_target() if is_page else url("desk.overview"))
    if htmx_request.htmx:
        # htmx follows a redirect, and would put /sign-in into the current page.
        return Response(status=HTTPStatus.OK, headers={"HX-Redirect": address})
    return redirect(address, HTTPStatus.SEE_OTHER)


def _target() -> str:
    """Return the path and query of the current request, percent-encoded as the browser sent them."""
    target = request_target.recover(request.environ)
    query = "" if target.query is None else f"?{target.query}"
    return f"{request_target.mount_path(request.environ)}{target.path}{query}"
