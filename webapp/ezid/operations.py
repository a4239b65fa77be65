"""The operations on identifiers: view, create, update, delete and mint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from werkzeug.http import quote_header_value

from ...bindings import changes
from ...bindings.changes import ChangeResult, NameChange
from ...bindings.holding import public_answer
from ...bindings.imports.sources.ezid.element_names import OWNER
from ...bindings.names import naming, validation
from ...bindings.names.errors import BindingConflict
from ...bindings.names.metadata import personal_data
from ...bindings.names.naming import Name
from ..accounts.model import AccountError
from ..management import Missing, NewName, Stale, new_names, reading
from ..management.acting import change_name
from ..management.permissions import require_reader, shown_to
from . import anvl_body, elements
from .answers import EzidAnswer, EzidRequest, Failed, bad_request
from .configuration import ezid
from .sessions import caller, require_caller

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding
    from ..accounts.model import Caller
    from .elements import Statement

_MOST_WARNINGS = 5


def view(asked: EzidRequest) -> EzidAnswer:
    """Return the elements of an identifier, or with ``prefix_match=yes`` of the longest recorded prefix."""
    known = caller()
    identifier = asked.subject
    if asked.is_set("prefix_match"):
        found = reading.show_longest(ezid().accounts.bindings, known, identifier)
    else:
        found = reading.show(ezid().accounts.bindings, known, identifier)
    name = elements.classic(found.identifier)
    wanted = elements.classic(naming.key_of(identifier))
    text = name if name == wanted else f"{name} in_lieu_of {wanted}"
    bindings = ezid().accounts.bindings
    answer = public_answer(found, bindings.source.holds(), bindings.now())
    # A token without the right to read sees a name as clients without an account do.
    reader = known if known is not None and known.may("read") else None
    owner = None if reader is None else _owner(reader, found)
    described = elements.describe_identifier(answer, ezid().prefix, owner, is_public=reader is None)
    return EzidAnswer(text=text, elements=described)


def create(asked: EzidRequest) -> EzidAnswer:
    """Create an identifier with the elements in the body, and return its name.
    The query parameter ``update_if_exists=yes`` permits an update of an existing one.
    """
    known = require_caller()
    statement = elements.read_statement(anvl_body.read(asked.body))
    key = naming.assignable(asked.subject, ezid().accounts.bindings.naming)
    if asked.is_set("update_if_exists") and _is_recorded(known, key):
        return _update(known, asked.subject, statement)
    fields = _as_new(known, statement).fields(key, ezid().prefix, passthrough=ezid().passthrough)
    try:
        request = partial(changes.save, fields=fields, rules=ezid().accounts.bindings.naming, revision=0)
        saved = _change(known, "change", asked.subject, request)
    except Stale:
        if asked.is_set("update_if_exists"):
            # Another request has created the identifier since then.
            return _update(known, asked.subject, statement)
        raise bad_request("identifier already exists, cannot create") from None
    return _saved(known, saved, 201)


def update(asked: EzidRequest) -> EzidAnswer:
    """Set the elements in the body, and return the name. Elements that it omits stay; an empty one is deleted."""
    known = require_caller()
    return _update(known, asked.subject, elements.read_statement(anvl_body.read(asked.body)))


def delete(asked: EzidRequest) -> EzidAnswer:
    """Delete a reserved identifier, and return its name. A name that was public cannot be deleted."""
    known = require_caller()
    try:
        saved = _change(known, "delete", asked.subject, changes.delete)
    except BindingConflict as error:
        if error.code != "delete-public":
            raise
        raise bad_request("identifier status does not support deletion") from None
    return _saved(known, saved)


def mint(asked: EzidRequest) -> EzidAnswer:
    """Mint an identifier below a shoulder with the elements in the body, and return its name.
    It replaces the text ``${identifier}`` in the target.
    """
    known = require_caller()
    statement = _as_new(known, elements.read_statement(anvl_body.read(asked.body)))
    prefix = ezid().prefix
    try:
        new = NewName(lambda key: statement.fields(key, prefix, passthrough=ezid().passthrough), shoulder=asked.subject)
        [saved] = new_names.create(ezid().accounts, known, [new])
    except Missing as error:
        if error.code != "shoulder-unknown":
            raise
        raise bad_request("no such shoulder") from None
    return _saved(known, saved, 201)


def _update(known: Caller, identifier: str, statement: Statement) -> EzidAnswer:
    bindings, key = ezid().accounts.bindings, naming.key_of(identifier)
    passthrough = None
    if statement.owner is not None or statement.target:
        current = reading.show_to_change(bindings, known, identifier)
        if statement.owner is not None:
            statement = _with_owner(known, statement, _owner(known, current))
        # A name often gets its target after it was minted.
        passthrough = ezid().passthrough if current.target is None else None
    fields = statement.fields(key, ezid().prefix, passthrough=passthrough)
    request = partial(changes.patch, fields=fields, relocate=True)
    saved = _change(known, "change", identifier, request)
    return _saved(known, saved)


def _change(known: Caller, operation: str, name: str, request: Callable[[Name], NameChange]) -> ChangeResult:
    return change_name(ezid().accounts, known, operation, name, request)


def _saved(known: Caller, saved: ChangeResult, status: int = 200) -> EzidAnswer:
    """Return the answer with a changed identifier. Clients take all of its line as the identifier, so that warnings are
    in the header field Warning.
    """
    is_shown = saved.is_new or shown_to(known, saved.after, ezid().accounts.bindings)
    found = [*personal_data.of_binding(saved.after), *saved.warnings] if is_shown else []
    texts = (f"{each.message} ({each.code})" for each in found[:_MOST_WARNINGS])
    # A warning can quote a text of the client, and servers refuse a field with characters outside Latin-1.
    encoded = (text.encode("ascii", "backslashreplace").decode("ascii") for text in texts)
    fields = ", ".join(f"299 - {quote_header_value(text, allow_token=False)}" for text in encoded)
    answer = elements.classic(saved.after.identifier)
    return EzidAnswer(text=answer, status=status, fields={"Warning": fields} if fields else {})


def _as_new(known: Caller, statement: Statement) -> Statement:
    """Return the statement for a new identifier. Raises :class:`~.answers.Failed` if it cannot be new."""
    if statement.state == "withdrawn":
        raise bad_request("a new identifier cannot be unavailable; create it as public, then update its status")
    return statement if statement.owner is None else _with_owner(known, statement, known.actor)


def _with_owner(known: Caller, statement: Statement, current: str | None) -> Statement:
    """Return a statement with its owner as metadata. Only an administrator can change the owner."""
    if statement.owner == current or not statement.owner:
        return statement
    if not known.is_administrator:
        raise Failed("forbidden", "only an administrator can change the owner of an identifier")
    try:
        account = ezid().accounts.get(statement.owner)
    except AccountError:
        account = None
    if account is None:
        raise bad_request(f"there is no account {validation.quote(statement.owner)}")
    return replace(statement, metadata={**statement.metadata, OWNER: account.name})


def _is_recorded(known: Caller, key: str) -> bool:
    try:
        reading.show_to_change(ezid().accounts.bindings, known, key)
    except Missing:
        return False
    return True


def _owner(known: Caller, binding: Binding) -> str | None:
    """Return the owner for a caller with the right to read. Other clients do not see the names of accounts."""
    require_reader(known)
    owners = ezid().accounts.bindings.store.first_actors([binding.identifier])
    return elements.owner_of(binding, owners.get(binding.identifier))
