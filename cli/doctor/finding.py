"""The result of one check of ``ararat doctor``."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

State = Literal["ok", "warning", "error"]
"""``ok`` needs no change, ``warning`` may be intended, ``error`` must be fixed."""

Part = Literal["url", "app", "registry", "database"]


class Finding(NamedTuple):
    """One check and its result.

    ``part`` is the object of the check. ``code`` names the check and never changes its meaning; ``shown`` is its label
    for people. ``message`` is a sentence in which untrusted text is escaped. ``remedy`` is the change to make, with the
    line of the configuration if it is known. ``reference`` is the rule. ``sent`` is the identifier that a probe sent.
    ``seen`` is the one that the application received, or None if the answer does not contain it.
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
        """Return the finding as a JSON object, without the fields that are None.

        >>> Finding("url", "head", "ok", "HEAD", "The same as GET, without a body.").as_dict()["state"]
        'ok'
        """
        found = self._asdict()
        del found["shown"]
        return {name: value for name, value in found.items() if value is not None}
