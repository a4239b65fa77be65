"""Names: list, create, show, replace, change, delete, withdraw, restore and relocate them, and their history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from flask import Response, g, request
from werkzeug.exceptions import MethodNotAllowed

from ....bindings import changes
from ....bindings.changes import NameChange
from ....bindings.checks import near_names
from ....bindings.names.binding import NUMBER_KINDS
from ....bindings.names.errors import BindingError, Stale, TooBroad
from ....bindings.names.fields import DEFAULTS
from ....bindings.names.selection import MAX_PAGE, MAX_TOTAL, select
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...config import site_bindings, url
from ...errors import HTTPRefusal
from ...management import ChangeResult, Fields, Missing, NewName, new_names, reading
from ...management.acting import change_name
from ...responses import as_json
from ...security import MANAGED
from .. import bodies, idempotency, name_paths, parameters, preconditions, representations
from ..blueprint import blueprint, caller, read_bindings
from ..idempotency import StoredReply
from ..preconditions import Preconditions, etag

# Also methods that no name has, so that the response has the field Allow of the requested resource.
_METHODS = ("GET", "PUT", "PATCH", "DELETE", "POST", "OPTIONS")
_CONDITIONS = ("prefix", "state", "target", "resource", "resource_prefix", "metadata", "hold", "sort")
_LISTED = (*_CONDITIONS, "q", "changed_since", "after", "limit")


@blueprint.get("/names")
def list_names() -> Response:
    """Return a page of the names that meet the conditions in the query, by default 100 (``limit``), as JSON. The page
    after it has the query parameter ``after``.
    """
    given = parameters.read(*_LISTED)
    limit = parameters.number("limit", given.get("limit"), 1, MAX_PAGE, 100)
    since = parameters.time("changed_since", given.get("changed_since"))
    if given.get("target") == "":
        raise HTTPRefusal(400, "parameter", "The parameter target is empty. Remove it, or send a host, URL or path.")
    try:
        conditions: dict[str, Any] = {name: given.get(name) for name in _CONDITIONS}
        selection = select(**conditions, text=given.get("q"), changed_since=since)
        page = near_names.page(read_bindings(), selection, cursor=given.get("after"), limit=limit)
        is_near = page.note is not None and page.note.startswith(near_names.NOTES)
        total, is_all = len(page.names) + len(page.unreadable), page.searched is None
        # A first page with all names, or with those that were found in the time of a search, is counted.
        if is_near or "after" in given or (is_all and page.next is not None):
            try:
                total, is_all = read_bindings().count_names(selection, most=MAX_TOTAL + 1).get("", 0), True
            except TooBroad as error:
                total, is_all = error.counted, False
    except BindingError as error:
        raise parameters.refuse_parameter(error) from error
    names = [name.as_listed() for name in page.names]
    counted = {"total": min(total, MAX_TOTAL), "total_is_exact": is_all and total <= MAX_TOTAL}
    shown = {"names": names, "next": page.next, "searched": page.searched, "unreadable": page.unreadable}
    shown |= {"near": is_near, "note": str(page.note) if is_near else None}
    response = as_json({**shown, **counted})
    if page.next is not None:
        following = urlencode({**given, "after": page.next})
        response.headers["Link"] = f'<{url("management.list_names")}?{following}>; rel="next"'
    return response


@blueprint.post("/names")
def create_names() -> Response:
    """Mint or bind the names that the JSON body lists, and return them as JSON in the same order."""
    parameters.read()
    body = bodies.read_json("NewNames")
    wanted, unless = [_new_name(*each) for each in enumerate(body["names"])], body.get("unless")
    act = lambda by: new_names.create(accounts(), by, wanted, unless=unless)  # noqa: E731
    return idempotency.manage(accounts(), caller(), act, _creation_reply)


@blueprint.route("/names/<path:_>", methods=_METHODS, provide_automatic_options=False)
def one_name(_: str) -> Response:
    """Answer a request for the name in the path, or for an operation after it, such as ``/history``. A method that the
    operation does not have is answered with 405.
    """
    name, operation = name_paths.read_name(request.environ, f"{MANAGED}/names/")
    known = _ACTIONS[operation]
    method = "GET" if request.method == "HEAD" else request.method
    if method not in known:
        permitted = [*known, *(["HEAD"] if "GET" in known else []), "OPTIONS"]
        if method == "OPTIONS":
            return Response(headers={"Allow": ", ".join(permitted)})
        raise MethodNotAllowed(valid_methods=permitted)
    name_paths.require_assignable(name, site_bindings().naming)
    return known[method](name)


def _show(name: str) -> Response:
    binding = reading.show(site_bindings(), caller(), name)
    shown = representations.of_shown(caller(), binding, site_bindings())
    return preconditions.with_tag(as_json(shown), etag(binding))


def _replace(name: str) -> Response:
    fields = _fields(bodies.read_json("Fields"))
    request_change = partial(
        changes.save, fields=fields, rules=site_bindings().naming, revision=expected_revision(name)
    )
    saved = change_name(accounts(), caller(), "save", name, request_change)
    return _change_reply([saved], 201 if saved.is_new else 200).response()


def _change(name: str) -> Response:
    patch = bodies.read_json("Patch", bodies.MERGE_PATCH, bodies.JSON)
    expected: int | None = None
    if "target" in patch and patch["target"] is None:
        # A name without a target is described (see Kind).
        patch["kind"] = patch.get("kind") or "described"
    for elements in ("metadata", "alternates"):
        if elements in patch:
            if patch[elements] is None:
                recorded = reading.show_to_change(site_bindings(), caller(), name)
                expected = recorded.revision if expected_revision(name) is None else None
                patch[elements] = dict.fromkeys(getattr(recorded, elements))
            # An empty text deletes an element.
            patch[elements] = {element: text or "" for element, text in patch[elements].items()}
    if "numbers" in patch:
        # None deletes the numbers of a kind, and those of all kinds.
        patch["numbers"] = dict.fromkeys(NUMBER_KINDS) if patch["numbers"] is None else patch["numbers"]
    for member in DEFAULTS.keys() & patch.keys():
        patch[member] = DEFAULTS[member] if patch[member] is None else patch[member]
    fields = _fields(patch)

    request_change = partial(changes.patch, fields=fields)
    return _change_once("change", name, request_change, expected)


def _delete(name: str) -> Response:
    change_name(accounts(), caller(), "delete", name, partial(changes.delete, revision=expected_revision(name)))
    return Response(status=204)


def _history(name: str) -> Response:
    events = reading.history(read_bindings(), name)
    return as_json({"events": [representations.of_event(event) for event in events]})


def _withdraw(name: str) -> Response:
    body = bodies.read_json("Withdrawal", optional=True)
    return _change_once("withdraw", name, partial(changes.withdraw, **body))


def _restore(name: str) -> Response:
    body = bodies.read_json("Restoration", optional=True)
    return _change_once("restore", name, partial(changes.restore, is_same=True, **body))


def _relocate(name: str) -> Response:
    fields = _fields(bodies.read_json("Relocation"))
    return _change_once("relocate", name, partial(changes.relocate, fields=fields))


_ACTIONS: dict[str | None, dict[str, Callable[[str], Response]]] = {
    None: {"GET": _show, "PUT": _replace, "PATCH": _change, "DELETE": _delete},
    "history": {"GET": _history},
    "withdraw": {"POST": _withdraw},
    "restore": {"POST": _restore},
    "relocate": {"POST": _relocate},
}


def _change_once(
    operation: str, name: str, request_change: Callable[..., NameChange], expected: int | None = None
) -> Response:
    """Change a name, once for all requests with the same Idempotency-Key."""

    def act(by: Caller) -> list[ChangeResult]:
        revision = expected_revision(name) if expected is None else expected
        return [change_name(accounts(), by, operation, name, partial(request_change, revision=revision))]

    return idempotency.manage(accounts(), caller(), act, _change_reply)


def expected_revision(name: str) -> int | None:
    """Return the revision that the preconditions permit, 0 for no name, or None without them.
    Raises :class:`Stale` if they do not hold. The change checks the revision again in its transaction.
    """
    wanted = Preconditions.of_request()
    if wanted is None:
        return None
    try:
        current = reading.show_to_change(site_bindings(), caller(), name)
    except Missing:
        current = None
    if not wanted.hold(current and etag(current)):
        raise Stale(name, "the name has another entity tag than the request expects", current)
    return current.revision if current else 0


def _fields(given: dict[str, Any], item: int | None = None) -> Fields:
    if "state" in given:
        given["status"] = given.pop("state")
    if "embargo" in given:
        given["embargo"] = given["embargo"] or ""
    fields = Fields(**given)
    # A problem document lists all values that are wrong, each with the position of its name in the body.
    g.setdefault("ararat_fields", []).append((item, fields))
    return fields


def _new_name(item: int, given: dict[str, Any]) -> NewName:
    name, shoulder = given.pop("name", None), given.pop("shoulder", None)
    return NewName(_fields(given, item), name=name, shoulder=shoulder)


def _creation_reply(result: Sequence[ChangeResult]) -> StoredReply:
    by, known = caller(), site_bindings()
    value = [{"outcome": each.outcome, "name": representations.of_saved(by, each, known)} for each in result]
    status = 200 if all(each.outcome == "exists" for each in result) else 201
    if len(result) > 1:
        return StoredReply({"names": value}, status)
    name = result[0].after
    return StoredReply({"names": value}, status, url("management.one_name", _=name.identifier), etag(name))


def _change_reply(result: Sequence[ChangeResult], status: int = 200) -> StoredReply:
    name = result[0].after
    return StoredReply(representations.of_saved(caller(), result[0], site_bindings()), status, etag=etag(name))
