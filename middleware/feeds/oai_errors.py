"""The errors of OAI-PMH 2.0 (section 3.6)."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "badArgument",
    "badResumptionToken",
    "badVerb",
    "cannotDisseminateFormat",
    "idDoesNotExist",
    "noMetadataFormats",
    "noRecordsMatch",
    "noSetHierarchy",
]


class OaiError(Exception):
    """An error that the answer reports. ``code`` is one of the specification; ``message`` is for the operator."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
