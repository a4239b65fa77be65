"""The record of a job: its state, its caller in its parameters, and the result of an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...bindings.names.operation import EMPTIED
from ...identifiers.text.translatable import Translatable
from ..management import Forbidden

if TYPE_CHECKING:
    from ...bindings.imports.summary import Summary
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

State = Literal["waiting", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
STOPPED = ("attempts", "internal-error")
"""The codes of the problems of a job that its worker did not end itself."""

Wait = Literal["database-locked", "database-full", "unavailable"]
WAITS: Mapping[Wait, Translatable] = {
    "database-locked": Translatable("Another program writes to the database. The job continues when it ends."),
    "database-full": Translatable("The disk of the database is full. Free space on it, and the job continues."),
    "unavailable": Translatable(
        "The database cannot be written, or the process of the job ended. The job continues when it is back."
    ),
}
"""The reasons for which a job waits, by their codes."""

FINISHED: tuple[State, ...] = ("done", "failed", "cancelled")
"""The states of a job that has ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job: the number of the account that started it, the ``kind`` of work, such as "import", and its ``parameters``.
    ``progress`` is the number of parts that are done, of ``total``, if that is known. ``result`` is None until the end.
    ``waits`` is why the job cannot go on now (:data:`WAITS`).
    """

    number: int
    account: int | None
    kind: str
    state: State
    parameters: Mapping[str, Any]
    progress: int
    total: int | None
    result: Mapping[str, Any] | None
    created: datetime
    changed: datetime
    waits: Wait | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the job has ended: done, failed or cancelled."""
        return self.state in FINISHED

    @property
    def emptied(self) -> str | None:
        """The time at which the values, refused rows and effects of the job were deleted, in RFC 3339; None before."""
        return self.parameters.get(EMPTIED)

    @property
    def reason(self) -> Translatable | None:
        """The sentence about what the job waits for, or None."""
        return None if self.waits is None else WAITS[self.waits]

    @property
    def has_stopped(self) -> bool:
        """Whether the job failed because its worker ended several times, or by a defect, so that it can be resumed."""
        problem = (self.result or {}).get("problem") or {}
        return self.state == "failed" and problem.get("code") in STOPPED and not self.emptied


def stored_caller(caller: Caller) -> list[str | int | None]:
    """Return the name of the account, the number of the token and the address, to be read by :func:`caller_of`."""
    return [caller.account.name, caller.token and caller.token.number, caller.address]


def caller_of(accounts: Accounts, stored: Sequence[Any]) -> Caller:
    """Return the caller of :func:`stored_caller`, as its account and token are now.
    Raises :class:`Forbidden` if one of them is not valid any more.
    """
    name, token, address = stored
    found = accounts.current(name, token)
    if found is None:
        raise Forbidden(
            "role-missing", Translatable("the account was disabled, or its token was revoked or has expired")
        )
    return replace(found, address=address)


COUNTS = (
    *("added", "published", "unchanged", "updated", "claimed", "relocated", "withdrawn", "reserved"),
    *("rules", "prefixes", "settings"),
)
"""The numbers of lines by outcome."""


def result_of(summary: Summary) -> dict[str, Any]:
    """Return the JSON of the result of an import: ``operation``, ``written``, ``counts`` above 0, ``refusals``,
    ``refused``, ``warnings`` and ``warned``. The lists have only the first rows.
    """
    return {
        "operation": summary.operation,
        "written": summary.written,
        "counts": {name: number for name in COUNTS if (number := getattr(summary, name))},
        "refusals": summary.refusals,
        "refused": [noted._asdict() for noted in summary.refused],
        "warnings": summary.warnings,
        "warned": [noted._asdict() for noted in summary.warned],
    }
