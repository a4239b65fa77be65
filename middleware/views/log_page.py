"""The page about the public log: what the log proves, and how to check it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...bindings.names.binding import rfc3339
from . import templates
from .presentation import PLAIN, Presentation

_HTTP = ("http://", "https://")


@dataclass(frozen=True, kw_only=True)
class LogPage:
    """The page about the public log for visitors: its state, and the commands that check it. ``origin`` is the name of
    the log, ``size`` the number of published entries, and ``published`` the time of the checkpoint. Its ``witnesses``
    are the number of cosignatures, which are not verified here. ``path`` is that of the files.
    """

    origin: str
    key: str | None
    size: int
    published: datetime
    witnesses: int
    root: str
    path: str
    handbook: str | None = None

    @property
    def checkpoint(self) -> str:
        """The address of the published checkpoint of the log."""
        return f"{self.root}{self.path}/checkpoint"

    @property
    def _address(self) -> str:
        """The URL of the log. Without a prefix, it is the origin, which is this URL by convention."""
        return f"{self.root}{self.path}" if self.root.startswith(_HTTP) else f"https://{self.origin}"

    @property
    def monitor(self) -> str:
        """The shell command that checks all entries of the log."""
        key = shlex.quote(self.key or "KEY")
        return f"ararat monitor {shlex.quote(self._address)} --vkey {key} --state log.seen"

    @property
    def verify(self) -> str:
        """The shell command that checks the log for one identifier."""
        root = self.root if self.root.startswith(_HTTP) else "https://HOST"
        return f"ararat verify-name {shlex.quote(root)}/IDENTIFIER --vkey {shlex.quote(self.key or 'KEY')}"

    def as_dict(self) -> dict[str, Any]:
        """Return the state of the log as a JSON object. Members without a value are omitted."""
        members = {
            "origin": self.origin,
            "key": self.key,
            "entries": self.size,
            "published": rfc3339(self.published),
            "witnesses": self.witnesses,
            "checkpoint": self.checkpoint,
        }
        return {name: value for name, value in members.items() if value is not None}

    def as_html(self, site: Presentation = PLAIN) -> bytes:
        return templates.render("log.html", site, view=self)

    def as_json(self) -> bytes:
        return json.dumps(self.as_dict(), indent=1).encode() + b"\n"

    def as_text(self) -> bytes:
        """Return the state of the log as plain text: the members of the JSON object, one on each line."""
        return "".join(f"{name}: {value}\n" for name, value in self.as_dict().items()).encode(
            "ascii", "backslashreplace"
        )
