"""The record of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

State = Literal["waiting", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
FINISHED: tuple[State, ...] = ("done", "failed", "cancelled")
"""The states of a job that has ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job.

    - ``account``: the number of the account that started it.
    - ``kind``: the kind of work, such as "import".
    - ``parameters``: the arguments of the work without its data.
    - ``progress``, ``total``: the parts of the work that are done, and all parts. ``total`` is None if it is unknown.
    - ``result``: the result; None until the job ends.
    - ``created``, ``changed``: times in UTC.
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

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED
