"""Versions of the branding in the store, as JSON in the table of settings. The current one has the name "branding".
Each change keeps the version before it as "branding" and its number.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ....identifiers.text import display
from ..binding import rfc3339
from ..errors import BindingError
from .model import FIELDS, Branding, check

NAME = "branding"
"""The name of the row in the table of settings."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class BrandingVersion:
    """A recorded version of the branding, with its time and author. ``revision`` counts from 1."""

    branding: Branding
    revision: int
    changed: datetime
    actor: str | None

    @property
    def text(self) -> str:
        """The version of the branding as JSON, as the store keeps it."""
        members = {"revision": self.revision, "changed": rfc3339(self.changed), "actor": self.actor}
        return json.dumps(self.branding.as_dict() | members, ensure_ascii=False)


def history_of(texts: Iterable[str]) -> list[BrandingVersion]:
    """Return the versions of the branding from their JSON texts, the newest first. Invalid texts are left out."""
    versions = [version for text in texts if (version := version_of(text)) is not None]
    return sorted(versions, key=lambda version: version.revision, reverse=True)


def version_of(text: str | None) -> BrandingVersion | None:
    """Return the version of the branding in a recorded JSON text. An invalid text is logged and ignored (None), so that
    pages are still shown.
    """
    if text is None:
        return None
    try:
        read = json.loads(text)
        branding, changed = check({field: read.get(field) for field in FIELDS}), datetime.fromisoformat(read["changed"])
        match read:
            case {"revision": int(revision), "actor": str() | None as actor} if changed.tzinfo:
                return BrandingVersion(branding=branding, revision=revision, changed=changed, actor=actor)
            case _:
                raise ValueError("the revision, the time or the account is wrong")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, BindingError) as error:
        _log.warning("The branding in the database is not valid, so it is ignored: %s", display.escape(str(error)))
        return None
