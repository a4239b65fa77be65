"""A request to the EZID API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class EzidRequest:
    """A request: the identifier or shoulder in its path, the parameters in its query, and its body."""

    subject: str
    parameters: Mapping[str, str]
    body: bytes

    def is_set(self, parameter: str) -> bool:
        """Return whether a parameter has the value ``yes``."""
        return self.parameters.get(parameter) == "yes"
