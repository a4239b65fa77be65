"""Answer each request below the path of the EZID API, without routes.
Every path and every method gets a first line that clients of EZID can read, also errors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from flask import Response, request
from werkzeug.exceptions import HTTPException

from ... import __version__
from ...bindings.names import validation
from ...bindings.names.errors import BindingError, BindingsUnavailable, OutcomeUnknown
from ...bindings.storage.store import read_current
from ...bindings.system.concurrency import Busy, ConcurrencyLimit
from ...identifiers.text import display
from ..application import Application
from ..errors import HTTPRefusal, drain
from ..management import Missing
from ..request_body import BodyTooLong, TooManyFields
from . import anvl_body, downloads, operations, sessions
from .answers import EzidAnswer, EzidRequest, Failed, bad_request, response
from .configuration import KEY, Ezid, check_path, ezid
from .download_request import FORM_TYPE

if TYPE_CHECKING:
    from ..accounts.store import Accounts

REQUESTS = 32
REQUESTS_EACH = 16
"""The maximum number of concurrent requests in this process, and of one client."""

_SUBSYSTEM = "names"
"""The part of the service that a status reports: the database of the names."""

_log = logging.getLogger(__name__)


class EzidOperation(NamedTuple):
    """The effect of a method at a path: the function, the permitted query parameters, and the type of the body.
    The values of ``parameters`` are yes or no. Those of ``texts`` are any text.
    """

    answer: Callable[[EzidRequest], EzidAnswer | Response]
    parameters: tuple[str, ...] = ()
    content_type: str = "text/plain"
    needs_accounts: bool = True
    texts: tuple[str, ...] = ()


def status(asked: EzidRequest) -> EzidAnswer:
    """Report that the API works, and "up" or "unrecognized" for each in the query parameter ``subsystems``.
    Raises BindingsUnavailable if the names cannot be read.
    """
    ezid().accounts.bindings.store.fetch(["ark:"])
    wanted = [name.strip() for name in asked.parameters.get("subsystems", "").split(",") if name.strip()]
    found = {name if name != "*" else _SUBSYSTEM: name in ("*", _SUBSYSTEM) for name in wanted if len(name) <= 100}
    return EzidAnswer(
        text="EZID is up", elements={name: "up" if known else "unrecognized" for name, known in found.items()}
    )


def version(asked: EzidRequest) -> EzidAnswer:
    """Return the version of Ararat as the text of an answer of the EZID API."""
    return EzidAnswer(text=f"Ararat {__version__}")


_PAGES: Mapping[str, Mapping[str, EzidOperation]] = {
    "status": {"GET": EzidOperation(status, needs_accounts=False, texts=("subsystems", "detailed"))},
    "version": {"GET": EzidOperation(version, needs_accounts=False)},
    "login": {"GET": EzidOperation(sessions.login)},
    "logout": {"GET": EzidOperation(sessions.logout)},
    "download_request": {"POST": EzidOperation(downloads.request_download, content_type=FORM_TYPE)},
}
_FOLDERS: Mapping[str, Mapping[str, EzidOperation]] = {
    "id/": {
        "GET": EzidOperation(operations.view, ("prefix_match",)),
        "PUT": EzidOperation(operations.create, ("update_if_exists",)),
        "POST": EzidOperation(operations.update),
        "DELETE": EzidOperation(operations.delete),
    },
    "shoulder/": {"POST": EzidOperation(operations.mint)},
    "download/": {"GET": EzidOperation(downloads.download)},
}


def init_app(app: Application, path: str, *, prefix: str, accounts: Accounts, passthrough: str = "given") -> None:
    """Register the views of the EZID API in the application below a path, such as ``/ezid``.
    The resolver prefix has no slash at its end. ``passthrough`` is that of new names: "no", "normal" or "given". Raises
    ValueError for a wrong path or passthrough.
    """
    if passthrough not in ("no", "normal", "given"):
        raise ValueError(f"ezid_passthrough: {passthrough!r} is not one of no, normal and given")
    app.extensions[KEY] = Ezid(
        path=check_path(path, app.first_segments()),
        prefix=prefix,
        accounts=accounts,
        slots=ConcurrencyLimit(REQUESTS, REQUESTS_EACH),
        passthrough=passthrough,
    )
    app.before_request(_answer)


def _answer() -> Response | None:
    """Return the answer to a request below the path of the API, or None for another path."""
    path = request.environ.get("PATH_INFO", "").encode("latin-1", "replace")
    base = ezid().path.encode()
    if path != base and not path.startswith(base + b"/"):
        return None
    try:
        slot = ezid().slots.acquire(request.remote_addr)
    except Busy:
        detail = f"at most {REQUESTS_EACH} requests of a client can run at the same time; send fewer at once"
        made = response(Failed("concurrency limit exceeded", detail, fields={"Retry-After": "1"}))
    else:
        # A client must read what it has just written.
        read_current(True)
        try:
            made = _make_answer(path[len(base) + 1 :])
        finally:
            read_current(False)
        if made.is_streamed:
            made.call_on_close(slot.release)
        else:
            slot.release()
    return _private(made)


def _private(made: Response) -> Response:
    made.headers["Cache-Control"] = "no-store"
    made.vary.update(["Accept", "Authorization", "Cookie"])
    return made


def _make_answer(path: bytes) -> Response:
    """Return the answer for a path below that of the API. Every error becomes an answer."""
    try:
        found = _carried_out(path)
        return response(found) if isinstance(found, EzidAnswer) else found
    except Failed as failed:
        return response(failed)
    except (BindingError, BindingsUnavailable) as error:
        return response(_refusal(error))
    except HTTPRefusal as refused:
        return _of_refusal(refused)
    except HTTPException:
        return response(bad_request("the request is not valid HTTP"))
    except Exception:  # noqa: BLE001 - a client of EZID reads the first line of every answer
        _log.exception("the EZID API failed")
        return response(Failed("internal server error", "the error was logged"))


def refusal(refused: HTTPRefusal) -> Response:
    """Return the answer to a request that ``refused`` refuses before it is read: its body is too long, or too many
    others are being answered.
    """
    return _private(_of_refusal(refused))


def _of_refusal(refused: HTTPRefusal) -> Response:
    if isinstance(refused, TooManyFields):
        return response(bad_request(f"the form has more than {refused.limit.fields} fields, or a field is too long"))
    if isinstance(refused, BodyTooLong):
        drain()
        return response(bad_request(f"the body is too long; at most {anvl_body.MAX_BYTES:,} bytes are allowed"))
    if refused.code == HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
        return response(bad_request("the body is compressed; send it without Content-Encoding"))
    detail = "too many requests are being received; try again in some seconds"
    return response(Failed("concurrency limit exceeded", detail, fields={"Retry-After": str(refused.retry_after)}))


def _refusal(error: BindingError | BindingsUnavailable) -> Failed:
    """Return the answer to an error of the bindings, as the error table states it. The API of EZID has few statuses."""
    entry = error.entry
    if isinstance(error, BindingsUnavailable):
        message = error.message if isinstance(error, BindingError) else str(error)
        _log.warning("the EZID API cannot answer: %s", display.escape(message))
        if isinstance(error, OutcomeUnknown):
            # Clients of EZID repeat a request by themselves after "concurrency limit exceeded".
            detail = f"{entry.title}; read the identifier, or list those of the shoulder, before you repeat the request"
            return Failed("internal server error", detail)
        fields = {} if entry.retry_after is None else {"Retry-After": str(entry.retry_after)}
        return Failed("concurrency limit exceeded", f"{entry.title}; {entry.remedy}", fields=fields)
    if entry.status == HTTPStatus.FORBIDDEN:
        return Failed("forbidden", error.message)
    if isinstance(error, Missing) and error.code == "not-bound":
        return bad_request("no such identifier")
    if error.code in ("prefix-delegated", "prefix-retired"):
        return Failed("bad request", error.message, status=entry.status)
    question = f".{error.question}" if error.question else ""
    return bad_request(f"{error.message}; expected {error.expected} ({error.code}){question}")


def _carried_out(path: bytes) -> EzidAnswer | Response:
    try:
        text = path.decode()
    except UnicodeDecodeError:
        raise bad_request("the path is not UTF-8") from None
    methods, subject = _operations(text)
    # HEAD is a GET without a body, which the server leaves out.
    operation = methods.get("GET" if request.method == "HEAD" else request.method)
    if operation is None:
        allowed = [*methods, "HEAD"] if "GET" in methods else methods
        raise Failed("method not allowed", fields={"Allow": ", ".join(sorted(allowed))})
    body = b""
    if request.method not in ("GET", "HEAD"):
        # Read before anything is refused: a server that does not read the body can reset the connection.
        body = _body()
        _require_type(operation.content_type)
    if operation.needs_accounts and not ezid().accounts.exist():
        detail = "this API is disabled until an account exists; the command ararat account add adds one"
        raise Failed("bad request", detail, status=404)
    return operation.answer(EzidRequest(subject=subject, parameters=_parameters(operation), body=body))


def _operations(path: str) -> tuple[Mapping[str, EzidOperation], str]:
    """Return the operations of a path by method, and the identifier or shoulder in it."""
    if path in _PAGES:
        return _PAGES[path], ""
    folder, slash, subject = path.partition("/")
    if subject and folder + slash in _FOLDERS:
        return _FOLDERS[folder + slash], subject
    raise bad_request("unrecognized path; expected id, shoulder, login, logout, status, version or download_request")


def _parameters(operation: EzidOperation) -> dict[str, str]:
    try:
        given = parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise bad_request("the URL has too many query parameters") from None
    for name, value in given:
        if name not in operation.parameters + operation.texts:
            raise bad_request(f"unrecognized URL query parameter '{validation.quote(name)}'")
        if name in operation.parameters and value.lower() not in ("yes", "no"):
            raise bad_request(f"the URL query parameter {name} must be yes or no")
    if len(given) > len(dict(given)):
        raise bad_request("a URL query parameter is given twice")
    return dict(given)


def _body() -> bytes:
    try:
        return request.get_data(cache=False)
    except HTTPException:
        raise
    except Exception:  # noqa: BLE001 - each server has its own errors for a wrong transfer encoding
        raise bad_request("the body cannot be read; check its length and transfer encoding") from None


def _require_type(expected: str) -> None:
    """Raise :class:`~.answers.Failed` for a body of another type or character encoding. The type can be missing."""
    if not request.content_type:
        return
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype != expected or charset != "utf-8":
        raise bad_request(f"the content type must be {expected}; charset=UTF-8")
