"""Batch downloads: a request returns a URL, and the URL returns a compressed file with identifiers.
The file is made while it is sent, so it is ready at once. The request is a finished job in the database. Its URL has a
random secret, of which only the hash is stored. A download expires after a week. It has the names that its account or
token can change when the file is made.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from flask import Response, request
from sqlalchemy import Connection, bindparam, delete, select

from ...bindings.holding import public_answer
from ...bindings.names.binding import rfc3339
from ...bindings.storage.tables.account_tables import jobs
from ...bindings.storage.writing.inserts import new_row_number
from .. import admission
from ..accounts.identify import of_found
from ..management.permissions import require_reader
from . import download_formats, download_request, elements
from .answers import EzidAnswer, EzidRequest, Failed
from .configuration import ezid
from .download_formats import SUFFIXES, Described
from .download_request import Download
from .sessions import require_caller

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding
    from ...bindings.names.selection import Selection
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

KIND = "ezid-download"
LIFETIME = timedelta(days=7)

_PAGE = 1000
_NAME = re.compile(r"([0-9]{1,18})-([A-Za-z0-9_-]{43})\.(?:(?:txt|csv|xml)\.gz|zip)")
_STORED = select(jobs.c.account, jobs.c.kind, jobs.c.parameters, jobs.c.created).where(jobs.c.id == bindparam("number"))
_ENDINGS = {"gzip": "application/gzip", "zip": "application/zip"}


def request_download(asked: EzidRequest) -> EzidAnswer:
    """Record the request for a download in the form (:func:`~.download_request.read`), and return the URL of its file.
    The caller needs an account with the right to read.
    """
    known = require_reader(require_caller())
    wanted = download_request.read(asked.body)
    secret = secrets.token_urlsafe(32)
    parameters = {
        "hash": _hash(secret),
        "account": known.account.name,
        "token": known.token and known.token.number,
        **wanted.as_dict(),
    }
    number = _add(ezid().accounts, known.account.number, json.dumps(parameters))
    return EzidAnswer(text=f"{ezid().base()}/download/{number}-{secret}.{_ending(wanted)}")


def _ending(wanted: Download) -> str:
    return "zip" if wanted.compression == "zip" else f"{SUFFIXES[wanted.format]}.gz"


def download(asked: EzidRequest) -> Response:
    """Return the file of a download.
    Raises :class:`~.answers.Failed` (404) if the URL is unknown or expired, or if the account is disabled.
    """
    found = _NAME.fullmatch(asked.subject)
    stored = _stored_parameters(int(found[1]), found[2]) if found else None
    known = ezid().accounts.current(stored["account"], stored["token"]) if stored else None
    if stored is None or known is None:
        raise Failed("bad request", "this download does not exist or has expired; request it again", status=404)
    wanted = Download.of_dict(stored)
    if not asked.subject.endswith(f".{_ending(wanted)}"):
        raise Failed("bad request", "this download has another format", status=404)
    # The address of the file is its only credential.
    path = f"{request.path.rpartition('/')[0]}/{asked.subject.partition('-')[0]}"
    known = of_found(ezid().accounts, known, request.remote_addr, path)
    text = download_formats.write_records(
        _records(known, wanted), wanted.format, wanted.columns, converts_times=wanted.converts_times
    )
    file = download_formats.compress(text, wanted.compression, f"ezid.{SUFFIXES[wanted.format]}")
    return admission.download(file, _ENDINGS[wanted.compression], f"ezid.{_ending(wanted)}")


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _add(accounts: Accounts, account: int, parameters: str) -> int:
    """Write a request, delete the expired ones, and return its number."""
    now = accounts.bindings.now()
    row = {
        "account": account,
        "kind": KIND,
        "state": "done",
        "parameters": parameters,
        "progress": 0,
        "created": rfc3339(now),
        "changed": rfc3339(now),
    }

    def write(connection: Connection) -> int:
        expired = jobs.c.kind == KIND, jobs.c.created < rfc3339(now - LIFETIME)
        connection.execute(delete(jobs).where(*expired))
        return new_row_number(connection, jobs, row)

    return accounts.run_in_transaction(write)


def _stored_parameters(number: int, secret: str) -> dict[str, Any] | None:
    """Return the parameters of a request that has not expired, if the secret is right."""
    accounts = ezid().accounts
    rows = accounts.read(_STORED, number=number)
    if not rows or rows[0][1] != KIND:
        return None
    _, _, text, created = rows[0]
    parameters = json.loads(text)
    # A redaction deletes all requests.
    is_right = hmac.compare_digest(parameters.get("hash", ""), _hash(secret))
    is_fresh = accounts.bindings.now() - datetime.fromisoformat(created) < LIFETIME
    return parameters if is_right and is_fresh else None


def _records(known: Caller, wanted: Download) -> Iterator[Described]:
    prefix = ezid().prefix
    bindings = ezid().accounts.bindings
    for selection in wanted.selections(download_request.prefixes_of(known)):
        for page in _pages(known, selection):
            names = [binding for binding in page if wanted.includes(binding)]
            owners = bindings.store.first_actors([binding.identifier for binding in names])
            for binding in names:
                owner = elements.owner_of(binding, owners.get(binding.identifier))
                if wanted.owners and owner not in wanted.owners:
                    continue
                answer = public_answer(binding, bindings.source.holds(), bindings.now())
                found = elements.describe_identifier(answer, prefix, owner)
                yield Described(elements.classic(binding.identifier), found)


def _pages(known: Caller, selection: Selection) -> Iterator[list[Binding]]:
    require_reader(known)
    after: str | None = None
    while True:
        page = ezid().accounts.bindings.list_names(selection, cursor=after, limit=_PAGE)
        yield page.names
        if page.next is None:
            return
        after = page.next
