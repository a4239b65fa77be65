"""The result of one check of ``ararat doctor``."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

State = Literal["ok", "warning", "error"]
"""``ok`` needs no change, ``warning`` may be intended, ``error`` must be fixed."""

Part = Literal["url", "app", "registry", "database", "log", "edge"]


class Finding(NamedTuple):
    """The result of one check.

    - ``part``: the object of the check. ``code``: names the check and never changes; ``shown`` is its label for people.
    - ``state``: "ok", "warning" or "error". ``message``: a sentence in which untrusted text is escaped.
    - ``remedy``: the change to make, with the line of the configuration if it is known. ``reference``: the broken rule.
    - ``sent``: the identifier that a probe sent. ``seen``: the identifier that the application received, or None if the
      answer does not contain it.
    """

    part: Part
    code: str
    state: State
    shown: str
    message: str
    remedy: str | None = None
    reference: str | None = None
    sent: str | None = None
    seen: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values, without ``shown`` and without the fields that are None.

        >>> Finding("url", "head", "ok", "HEAD", "The same as GET, without a body.").as_dict()["state"]
        'ok'
        """
        found = self._asdict()
        del found["shown"]
        return {name: value for name, value in found.items() if value is not None}
