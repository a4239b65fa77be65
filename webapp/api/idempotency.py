"""Carry out a POST with ``Idempotency-Key`` once, and repeat its response for the same request.
The response is written in the transaction of the change: after a crash, either both exist or neither. A request with
the same key that arrives meanwhile waits for that transaction. A failed request leaves its key unused. Keys belong to
an account and are kept for a day (draft-ietf-httpapi-idempotency-key-header).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from flask import Response, request
from sqlalchemy import Connection, bindparam, delete, select

from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import BindingError
from ...bindings.storage.tables.account_tables import idempotency as table
from ...bindings.storage.tables.retention import REPLIES_KEPT
from ...middleware.http import request_target
from ..errors import HTTPRefusal
from .problems import OperationRefused

if TYPE_CHECKING:
    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

T = TypeVar("T")

JOB_SECONDS = 1
"""The seconds after which a client asks again for the state of a job."""

KEPT = REPLIES_KEPT
"""The time for which a key is known."""

_KEY = re.compile(r"[!-~]{1,255}")
_FOUND = select(table.c.request, table.c.status, table.c.response).where(
    table.c.account == bindparam("account"), table.c.key == bindparam("key"), table.c.created >= bindparam("since")
)


@dataclass(frozen=True, slots=True)
class StoredReply:
    """The reply to an API request, as it is stored for a repetition. ``value`` is its JSON, ``location`` a header
    field, and ``etag`` has its quotation marks.
    """

    value: Any
    status: int = 200
    location: str | None = None
    etag: str | None = None

    def response(self, *, is_repeated: bool = False) -> Response:
        """Return the stored reply as an HTTP response. ``is_repeated`` adds the field ``Idempotency-Replayed``."""
        response = Response(json.dumps(self.value) + "\n", self.status, content_type="application/json")
        if self.status == 202:
            response.headers["Retry-After"] = str(JOB_SECONDS)
        if self.location:
            response.headers["Location"] = self.location
        if self.etag:
            response.headers["ETag"] = self.etag
        if is_repeated:
            response.headers["Idempotency-Replayed"] = "true"
        return response


class KeyUsed(Exception):
    """Another request with the same key was carried out in the meantime. This one must not be written."""


@dataclass(slots=True)
class OneRequest:
    """An API request with an idempotency key, whose reply is stored for repeated requests. ``account`` is a number,
    and ``request`` the hash of method, URL and body, which a repetition must have too. ``is_stored``: :meth:`store`
    was called.
    """

    accounts: Accounts
    account: int
    key: str
    request: str
    is_stored: bool = False

    def earlier_reply(self) -> StoredReply | None:
        """Return the stored reply to an earlier request with the key, or None. Raises :class:`HTTPRefusal` with 422 if
        that was another request, and with 409 if a redaction has deleted the reply.
        """
        found = self.accounts.read(_FOUND, account=self.account, key=self.key, since=self._since())
        if not found:
            return None
        known, status, stored = found[0]
        if known != self.request:
            sentence = "This Idempotency-Key was used for another request. Use a new key for each request."
            raise HTTPRefusal(422, "idempotency-key-used", sentence)
        if stored is None:
            sentence = (
                "This request was carried out. Its reply was deleted when a name was redacted. Look for the change."
            )
            raise HTTPRefusal(409, "idempotency-reply-deleted", sentence)
        return StoredReply(status=status, **json.loads(stored))

    def store(self, connection: Connection, reply: StoredReply) -> None:
        """Store the reply in the transaction of the change. Raises :class:`KeyUsed` if another request was faster."""
        self.is_stored = True
        now = self.accounts.bindings.now()
        old = table.c.account == self.account, table.c.created < self._since()
        connection.execute(delete(table).where(*old))
        row = {
            "account": self.account,
            "key": self.key,
            "request": self.request,
            "status": reply.status,
            "response": json.dumps({"value": reply.value, "location": reply.location, "etag": reply.etag}),
            "created": rfc3339(now),
        }
        # PostgreSQL waits here for another transaction with the same key. SQLite has one writer at a time.
        # The dialects take long to load, and a site has one of them.
        dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
        added = dialect.insert(table).values(row).on_conflict_do_nothing()
        if connection.execute(added).rowcount == 0:
            raise KeyUsed

    def store_result(self, transaction: Transaction, represent: Callable[[Any], StoredReply]) -> None:
        """Store the reply for the result of a transaction, at its end. Raises :class:`KeyUsed` as :meth:`store`."""
        self.store(transaction.connection, represent(transaction.result))

    def _since(self) -> str:
        return rfc3339(self.accounts.bindings.now() - KEPT)


def of_request(accounts: Accounts, caller: Caller) -> OneRequest | None:
    """Return the current request with its key, or None without the field Idempotency-Key.
    Raises :class:`HTTPRefusal` for a malformed key.
    """
    given = request.headers.getlist("Idempotency-Key")
    if not given:
        return None
    if len(given) > 1 or not _KEY.fullmatch(given[0]):
        sentence = "The Idempotency-Key must be one text of 1 to 255 printable ASCII characters without spaces."
        raise HTTPRefusal(400, "idempotency-key", sentence)
    # The decoded path is the same for ark:12345/a%2Fb and ark:12345/a/b, which are two names.
    target = request_target.recover(request.environ).identifier
    parts = [request.method.encode(), target.encode(), request.mimetype.encode(), request.get_data()]
    if caller.token is not None and not caller.may("read"):
        # The reply to another token can have values that this one does not see.
        parts.append(str(caller.token.number).encode())
    digest = sha256(b"".join(len(part).to_bytes(8) + part for part in parts)).hexdigest()
    return OneRequest(accounts, caller.account.number, given[0], digest)


def answer(accounts: Accounts, caller: Caller, act: Callable[[OneRequest | None], StoredReply]) -> Response:
    """Return the reply to the current request, or the stored reply to an earlier request with the same key.
    ``act`` carries the request out, and stores its reply with :meth:`OneRequest.store`. It gets None without a key.
    """
    one = of_request(accounts, caller)
    if one is None:
        return act(None).response()
    reply, is_repeated = reply_to(one, lambda: act(one))
    return reply.response(is_repeated=is_repeated)


def reply_to(one: OneRequest, act: Callable[[], StoredReply]) -> tuple[StoredReply, bool]:
    """Return the reply and whether it is a stored one: that of ``act``, or that to an earlier request with the key.
    Raises :class:`HTTPRefusal` (409, ``idempotency-key-busy``) if the earlier request still runs.
    """
    if (earlier := one.earlier_reply()) is None:
        # The same request can be carried out at this moment. Then this one fails, or changes nothing.
        try:
            reply = act()
        except KeyUsed:
            earlier = one.earlier_reply()
        except (BindingError, OperationRefused, HTTPRefusal):
            if (earlier := one.earlier_reply()) is None:
                raise
        else:
            if one.is_stored or (earlier := one.earlier_reply()) is None:
                return reply, False
    if earlier is None:
        raise HTTPRefusal(
            409, "idempotency-key-busy", "Another request with this Idempotency-Key is running. Try again."
        )
    return earlier, True


def manage(
    accounts: Accounts, caller: Caller, act: Callable[[Caller], T], represent: Callable[[Any], StoredReply]
) -> Response:
    """Return the response to a request that changes names, or that to an earlier request with the same key. ``act``
    makes the change as the caller that it gets. ``represent`` returns the reply for its result, which is also
    :attr:`Transaction.result`.
    """

    def once(one: OneRequest | None) -> StoredReply:
        if one is None:
            return represent(act(caller))
        return represent(act(caller.with_end(lambda transaction: one.store_result(transaction, represent))))

    return answer(accounts, caller, once)
