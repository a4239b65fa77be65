"""A client of the JSON API for programs that manage names. Each call can be repeated: nothing is minted twice.

Install it with ``pip install 'ararat[client]'``. It needs only httpx, and loads no other part of Ararat.

.. code-block:: python

    from ararat.client import Ararat

    with Ararat("https://museum.example/api/v1", token) as site:
        name = site.mint("ark:12345/x5", resource="INV 17", target="https://museum.example/objects/17")
        site.update(name, metadata={"erc.what": "Vase"})

A change has a random ``Idempotency-Key``, so that it is sent again if the connection breaks. No redirect is followed,
because the request has the token. Errors are :class:`Problem`.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypedDict
from urllib.parse import quote

import httpx

__all__ = ["Ararat", "Delegated", "Name", "NameFields", "Numbers", "OutcomeUnknown", "Problem", "Stale", "Taken"]

Progress = Callable[[int, int | None], object]
"""A function that a job calls with the number of names or lines so far, and of all, or None if it is not known."""

_BLOCK = 1000
_MOST_SECONDS = 60.0
_ENDED = ("done", "failed", "cancelled")
_BYTES = "application/octet-stream"
# A front server that compresses an answer changes its entity tag (RFC 9110, section 8.8.3.3), and no change matches it.
_UNCHANGED = {"Accept-Encoding": "identity"}
_TABLES = {".csv": "text/csv", ".tsv": "text/tab-separated-values"}
_TABLES |= dict.fromkeys((".jsonl", ".ndjson"), "application/jsonl")


class Numbers(TypedDict, total=False):
    """The numbers of a thing, such as inventory numbers: the one that is on it, further valid ones, and former ones."""

    current: str
    further: list[str]
    former: list[str]


class NameFields(TypedDict, total=False):
    """The values of a name, as in the objects ``names`` of ``POST /names``. All keys are optional, and None deletes a
    value. The OpenAPI document explains each key.
    """

    target: str | None
    kind: Literal["located", "related", "described", "served"] | None
    state: Literal["live", "reserved"]
    metadata: Mapping[str, str | None] | None
    numbers: Numbers
    alternates: Mapping[str, str | None] | None
    passthrough: bool | Literal["no", "normal", "given"] | None
    redirect: Literal[302, 307] | None
    listed: bool | None
    scope: Literal["name", "subtree"] | None
    embargo: str | None


@dataclass(frozen=True)
class Name:
    """A recorded name. ``etag`` is its version for :meth:`Ararat.update`; None for a name from a list. ``outcome`` is
    "bound" for a name that :meth:`Ararat.mint` made, "exists" for one that it found, and else None. ``row`` has all
    members of the API. Without the right to read, a token gets the identifier and few others: ``target`` and
    ``resource`` are None then.
    """

    identifier: str
    state: str
    target: str | None
    resource: str | None
    metadata: Mapping[str, str]
    etag: str | None = None
    outcome: str | None = None
    row: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, row: Mapping[str, Any], etag: str | None = None, outcome: str | None = None) -> Name:
        """Return the name in a JSON object of the API, which has at least the member ``identifier``."""
        # A token without the right to read gets only some members.
        identifier, state, metadata = row["identifier"], row.get("state", ""), row.get("metadata") or {}
        return cls(identifier, state, row.get("target"), row.get("resource"), metadata, etag, outcome, row)

    def __str__(self) -> str:
        return self.identifier


class Problem(Exception):
    """Raised if the API refuses a request, or cannot be reached (``status`` 0). Nothing was changed, except perhaps for
    :class:`OutcomeUnknown` and for a job.

    A job that failed or was cancelled raises it with the ``status`` 0, and can have changed names before. ``code`` is
    stable, such as "not-bound", and ``detail`` is a sentence for people. ``pointer`` is the JSON Pointer of the wrong
    value in the body, and ``errors`` lists all wrong values. ``existing`` is the recorded name of a conflict.
    ``retry_after`` are seconds, or None.
    """

    def __init__(self, status: int, document: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code = str(document.get("code", "unknown"))
        self.detail = str(document.get("detail", ""))
        self.pointer: str | None = document.get("pointer")
        self.errors: list[dict[str, str]] = document.get("errors", [])
        existing = document.get("existing")
        self.existing = Name.of(existing) if existing else None
        self.minter: str | None = document.get("minter")
        self.retry_after = retry_after
        self.document = document
        super().__init__(f"{self.detail} ({self.code})")


class Stale(Problem):
    """The name was changed after the given ``etag`` was read. ``existing`` is the name as it is recorded now."""


class Taken(Problem):
    """The name or its ``resource`` is recorded with other values than those of the request. ``existing`` has them."""


class Delegated(Problem):
    """Another resolver has the names below the prefix. ``minter`` is the address that mints them, or None."""


class OutcomeUnknown(Problem):
    """An answer was lost, so the change may be written. Read the name, or repeat the call. A mint without a resource
    is safe to repeat only with the same ``key``.
    """


class Ararat:
    """The names of a site, by its JSON API.

    - ``api``: the address of the API, such as "https://museum.example/api/v1".
    - ``token``: a token of an account, or of the provider of the institution. A function returns it for each request.
    - ``retries``: how often a request is sent again if the connection breaks or the site is busy.
    - ``transport``: a transport of httpx, such as ``httpx.WSGITransport(app=app)`` in tests.
    """

    def __init__(
        self,
        api: str,
        token: str | Callable[[], str],
        *,
        retries: int = 3,
        timeout: float = 60,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._api = api.rstrip("/")
        self._token = token
        self._retries = retries
        self._sleep: Callable[[float], object] = time.sleep
        self._http = httpx.Client(follow_redirects=False, timeout=timeout, transport=transport)

    def __enter__(self) -> Ararat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def mint(self, shoulder: str, *, resource: str | None, key: str | None = None, **fields: Any) -> Name:
        """Return the name of a thing below ``shoulder`` ("exists"), and mint it if the thing has none ("bound").

        ``resource`` identifies the thing, such as an inventory number; None always mints. ``key`` is an own
        Idempotency-Key. ``fields`` are :class:`NameFields` of a new name.

            site.mint("ark:12345/x5", resource="INV 17", target="https://museum.example/17")
        """
        return self._mint([{"shoulder": shoulder, "resource": resource, **fields}], resource is not None, key)[0]

    def mint_many(
        self, shoulder: str, rows: Iterable[Mapping[str, Any]], progress: Progress | None = None
    ) -> list[Name]:
        """Return the names of many things in the order of ``rows``, as :meth:`mint`. Each row needs a ``resource``.
        They are sent in blocks of 1,000. After a break, call it again with the same rows.
        """
        waiting, names = iter(rows), list[Name]()
        while block := [{"shoulder": shoulder, **row} for row in islice(waiting, _BLOCK)]:
            names += self._mint(block, True, None)
            if progress:
                progress(len(names), None)
        return names

    def get(self, name: str | Name) -> Name | None:
        """Return a name as it is recorded now, with its ``etag``, or None if it is not recorded. Other refusals raise
        :class:`Problem`.
        """
        try:
            return self._name("GET", _path(name))
        except Problem as problem:
            if problem.code == "not-bound":
                return None
            raise

    def find(self, **conditions: str | None) -> Iterator[Name]:
        """Yield the names that meet all conditions: parameters of ``GET /names``, such as ``resource="INV 17"``,
        ``prefix="ark:12345/x5"``, ``state="live"`` or ``metadata="erc.who=Noah"``. A condition None is ignored. Further
        pages are requested while the caller iterates.
        """
        parameters = {"limit": "1000", **{name: value for name, value in conditions.items() if value is not None}}
        while True:
            page = self._send("GET", "names", params=parameters).json()
            yield from map(Name.of, page["names"])
            if page["next"] is None:
                return
            parameters["after"] = page["next"]

    def update(self, name: str | Name, **fields: Any) -> Name:
        """Change some values of a name: a merge patch of :class:`NameFields`, in which None deletes. A :class:`Name`
        with an ``etag`` must not have changed since, else :class:`Stale` is raised.

            site.update("ark:12345/x5np1", metadata={"erc.what": "Vase", "erc.when": None})
        """
        return self._name("PATCH", _path(name), fields, name, media_type="application/merge-patch+json")

    def relocate(self, name: str | Name, target: str, **fields: Any) -> Name:
        """Record another address of the same thing as the target of a name. The caller knows that the thing is the
        same.
        """
        return self._name("POST", f"{_path(name)}/relocate", {"target": target, **fields}, name)

    def publish(self, name: str | Name, target: str | None = None, **fields: Any) -> Name:
        """Make a reserved name live, at ``target`` or at its recorded one. A published name can never be deleted."""
        place = {} if target is None else {"target": target}
        return self.update(name, state="live", **place, **fields)

    def withdraw(self, name: str | Name, *, reason: str | None = None, successor: str | None = None) -> Name:
        """Withdraw a live name: it is answered with 410 and a page with the reason and the successor, a name or URL."""
        return self._name("POST", f"{_path(name)}/withdraw", {"reason": reason, "successor": successor}, name)

    def restore(self, name: str | Name, *, resource: str | None = None) -> Name:
        """Make a withdrawn name live again, for the same thing."""
        return self._name("POST", f"{_path(name)}/restore", {"resource": resource}, name)

    def history(self, name: str | Name) -> list[dict[str, Any]]:
        """Return the changes of a name, the oldest first. Each has the name ``before`` (or None) and ``after`` it, as
        in :attr:`Name.row`.
        """
        return self._send("GET", f"{_path(name)}/history").json()["events"]

    def export(
        self,
        path: str | Path,
        *,
        format: Literal["csv", "tsv", "jsonl"] = "csv",
        progress: Progress | None = None,
        **selection: str,
    ) -> int:
        """Write the names that meet the conditions ``selection`` (as in :meth:`find`) to the file ``path``. Return
        their number. The file is replaced only if all names were received. A device or pipe is written directly.
        """
        job = self._send("POST", "exports", json={"format": format, "selection": selection}).json()
        job = self._wait_for("exports", job, progress)
        place = Path(path)
        # A device or a pipe is written directly.
        part = place if place.exists() and not place.is_file() else Path(f"{path}.part")
        try:
            self._download(f"exports/{job['number']}/file", part)
            if part != place:
                part.replace(place)
        finally:
            if part != place:
                part.unlink(missing_ok=True)
        return job["names"]

    def _download(self, place: str, file: Path) -> None:
        for attempt in range(self._retries + 1):
            try:
                with (
                    self._http.stream("GET", f"{self._api}/{place}", headers=self._fields()) as answer,
                    file.open("wb") as stream,
                ):
                    if answer.status_code != httpx.codes.OK:
                        answer.read()
                        raise _problem(answer)
                    stream.writelines(answer.iter_bytes())
                return
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise _unreachable(Problem, error) from error
                self._sleep(_pause(attempt, None))

    def import_table(
        self, path: str | Path, *, progress: Progress | None = None, dry_run: bool = False, **options: Any
    ) -> dict[str, Any]:
        """Import a table or workbook, and return the result: ``operation`` (its number), ``counts`` by outcome, such as
        "added", and the lists of rows ``refused`` and ``warned``. ``options`` are parameters of ``POST /imports``, such
        as ``mint="ark:12345/x5"``, ``key="Inventarnummer"`` and ``atomic=True``. With ``dry_run`` nothing is written.
        """
        parameters = {
            name: str(int(value)) if isinstance(value, bool) else str(value) for name, value in options.items()
        }
        media_type = _TABLES.get(Path(path).suffix.lower(), _BYTES)
        answer = self._send(
            "POST",
            "imports",
            params=parameters | ({"dry_run": "1"} if dry_run else {}),
            content=Path(path).read_bytes(),
            headers={"Content-Type": media_type},
        )
        return self._wait_for("imports", answer.json(), progress)["result"]

    def operations(self) -> Iterator[dict[str, Any]]:
        """Yield the recorded operations on many names, such as imports, the newest first, as objects of ``GET
        /operations``.
        """
        parameters: dict[str, str] = {}
        while True:
            page = self._send("GET", "operations", params=parameters).json()
            yield from page["operations"]
            if page["next"] is None:
                return
            parameters["before"] = str(page["next"])

    def undo(self, operation: int, *, progress: Progress | None = None) -> dict[str, Any]:
        """Undo an operation on many names, such as an import, and return the result with its ``counts``. Names that
        were changed since are left out: the result lists them as ``refused``.
        """
        body = {"operation": {"action": "undo", "operation": operation}}
        checked = self._wait_for("changes", self._send("POST", "changes", json=body).json(), None)
        job = self._send("POST", f"changes/{checked['number']}/apply", params={"skip_refused": "1"}).json()
        return self._wait_for("changes", job, progress)["result"]

    def _mint(self, rows: list[dict[str, Any]], once: bool, key: str | None) -> list[Name]:
        body = {"names": rows, **({"unless": "resource"} if once else {})}
        answer = self._send("POST", "names", json=body, headers=_UNCHANGED | ({"Idempotency-Key": key} if key else {}))
        etag = answer.headers.get("ETag")
        return [Name.of(each["name"], etag, each["outcome"]) for each in answer.json()["names"]]

    def _name(
        self, method: str, path: str, body: Any = None, name: str | Name = "", *, media_type: str = "application/json"
    ) -> Name:
        fields = _UNCHANGED | ({"If-Match": name.etag} if isinstance(name, Name) and name.etag else {})
        if body is not None:
            fields["Content-Type"] = media_type
        answer = self._send(method, path, json=body, headers=fields)
        return Name.of(answer.json(), answer.headers["ETag"])

    def _wait_for(self, kind: str, job: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
        """Wait for the end of a job, and return it. Raise :class:`Problem` if it failed."""
        while job["state"] not in _ENDED:
            answer = self._send("GET", f"{kind}/{job['number']}")
            job = answer.json()
            if progress:
                progress(job.get("names", job.get("lines", 0)), job.get("total"))
            if (seconds := _seconds(answer)) is not None:
                self._sleep(seconds)
        if job["problem"] or job["state"] != "done":
            raise Problem(0, job["problem"] or {"code": job["state"], "detail": "The job did not end."})
        return job

    def _fields(self) -> dict[str, str]:
        token = self._token if isinstance(self._token, str) else self._token()
        return {"Authorization": f"Bearer {token}"}

    def _send(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **content: Any
    ) -> httpx.Response:
        """Send a request, again after a broken connection or if the site is busy, and return the answer of success."""
        key = {} if method == "GET" else {"Idempotency-Key": str(uuid.uuid4())}
        kind = Problem if method == "GET" else OutcomeUnknown
        is_lost = False
        for attempt in range(self._retries + 1):
            seconds: float | None = None
            try:
                answer = self._http.request(
                    method, f"{self._api}/{path}", headers={**key, **(headers or {}), **self._fields()}, **content
                )
            except httpx.TransportError as error:
                is_lost = True
                if attempt == self._retries:
                    raise _unreachable(kind, error) from error
            else:
                if answer.is_success:
                    if answer.headers.get("Content-Type", "").startswith("application/json"):
                        return answer
                    detail = (
                        f"The server answers {answer.status_code} without JSON. Look for a page to sign in before it."
                    )
                    raise kind(answer.status_code, {"code": "no-problem-document", "detail": detail})
                seconds = _seconds(answer)
                problem = _problem(answer)
                # A front server answers 502 and 504 while the site can have carried out the request.
                is_unknown = answer.status_code in (502, 504) or problem.code == "idempotency-key-busy"
                is_lost |= is_unknown
                is_final = attempt == self._retries or not (is_unknown or answer.status_code in (429, 503))
                # These are answered before the site looks for the key, so they say nothing of an earlier attempt.
                if is_final and is_lost and (is_unknown or answer.status_code in (401, 429, 503)):
                    raise kind(problem.status, problem.document, seconds)
                if is_final:
                    raise problem
            self._sleep(_pause(attempt, seconds))
        raise AssertionError("the last attempt raises an exception")


def _path(name: str | Name) -> str:
    return f"names/{quote(str(name), safe='')}"


def _seconds(answer: httpx.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdecimal() else None


def _pause(attempt: int, seconds: float | None) -> float:
    """Return the seconds before the next attempt: those of Retry-After, or twice as long each time."""
    return min(_MOST_SECONDS, random.uniform(0.5, 1) * 2**attempt / 2 if seconds is None else seconds)  # noqa: S311


def _problem(answer: httpx.Response) -> Problem:
    """Return the error of an answer without success."""
    try:
        document = answer.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {"code": "no-problem-document", "detail": f"The server answers {answer.status_code}."}
        if answer.is_redirect:
            detail = f"The server redirects to {answer.headers['Location']}. Use the address of the API."
            document = {"code": "redirect", "detail": detail}
    known = {"prefix-delegated": Delegated, "outcome-unknown": OutcomeUnknown}
    kind = known.get(str(document.get("code")))
    if kind is None:
        has_row = answer.status_code == httpx.codes.CONFLICT and document.get("existing")
        kind = Stale if answer.status_code == httpx.codes.PRECONDITION_FAILED else Taken if has_row else Problem
    return kind(answer.status_code, document, _seconds(answer))


def _unreachable(kind: type[Problem], error: Exception) -> Problem:
    return kind(0, {"code": "unreachable", "detail": f"The site cannot be reached: {type(error).__name__}."})
