"""The parts of an identifier with their places in its text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """``text[start:end]`` is the named part, with the mark that introduces it ("/", ".", "?", "#").

    ``part`` is one of prefix, label, naan, separator, name, component, variant, nid, nss, query, fragment.
    """

    part: str
    start: int
    end: int

    def as_dict(self) -> dict[str, str | int]:
        """The segment as the JSON of a report holds it."""
        return {"part": self.part, "start": self.start, "end": self.end}
