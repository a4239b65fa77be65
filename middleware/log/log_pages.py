"""Answer requests for the page about the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from ...bindings.names.errors import BindingsUnavailable
from ..http.answer import Answer
from ..http.answer_builder import AnswerBuilder
from ..http.request import Request
from ..resolution.settings import Settings
from ..views.log_page import LogPage
from .logged_names import LoggedNames

_logger = logging.getLogger(__name__)

_CACHE_SECONDS = 60


def no_key() -> None:
    """Return None, for bindings that do not know the key of the public log."""


class LogPages:
    """The pages about the public log. ``names`` reads the published checkpoint, and ``key`` returns the public key that
    the database has recorded, or None.
    """

    def __init__(
        self, settings: Settings, names: LoggedNames, key: Callable[[], str | None], answers: AnswerBuilder
    ) -> None:
        self._settings = settings
        self._names = names
        self._key = key
        self._answers = answers

    def answer(self, request: Request) -> Answer:
        """Return the page about the public log in a form that the client accepts. Raises FileNotFoundError without a
        checkpoint, and OSError or :class:`.errors.LogError` if it cannot be read.
        """
        published = self._names.checkpoint()
        inspector = self._settings.inspector
        base = inspector if inspector is None or inspector.startswith("http") else request.root + inspector
        page = LogPage(
            origin=published.origin,
            key=self._read_key(),
            size=published.size,
            published=datetime.fromtimestamp(published.version[2] // 10**9, UTC),
            witnesses=published.witnesses,
            root=request.root,
            path=self._settings.log or "",
            handbook=None if base is None else f"{base}/docs/log",
        )
        return self._answers.page(page, _CACHE_SECONDS, request)

    def _read_key(self) -> str | None:
        try:
            return self._key()
        except BindingsUnavailable as error:
            _logger.warning("The page about the log has no public key: %s", error)
            return None
