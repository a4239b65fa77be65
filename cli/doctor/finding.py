"""What the doctor found: well, doubtful or bad, and where it is bad what to change."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

State = Literal["well", "doubtful", "bad"]
"""``bad`` is something to change; ``doubtful`` is something to know, which may be meant."""

Part = Literal["url", "app", "registry", "database"]


class Finding(NamedTuple):
    """One thing that was looked at.

    ``part`` says where, ``code`` what was looked at, in a word that never changes its meaning, ``shown`` the same for
    people. ``message`` is a sentence; what strangers wrote stands in it escaped. ``remedy`` is what to change, naming
    the line of the configuration where that is known; ``reference`` is the rule. ``sent`` and ``seen`` are, of a probe,
    the identifier as it was sent and as the application received it (None where it did not tell).
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
        """The finding as a JSON object; what there is none of is left out.

        >>> Finding("url", "head", "well", "HEAD", "The same as GET, without a body.").as_dict()["state"]
        'well'
        """
        found = self._asdict()
        del found["shown"]
        return {name: value for name, value in found.items() if value is not None}
