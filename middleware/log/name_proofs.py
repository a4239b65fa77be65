"""Answer ``ark:12345/x5?proof`` with the proof that the last change of a name is in the log. It can be kept in a file,
and verified without a network (:mod:`proofs`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...bindings.log.errors import LogError
from ...bindings.log.folder import LogFolder
from ...bindings.log.notes.checkpoints import Checkpoint
from ...bindings.log.notes.notes import SignedNote
from ...bindings.log.tree.proofs import MEDIA_TYPE, Proof
from ...bindings.log.tree.tiles import ENTRIES, WIDTH, entries_of, hash_reader, tile_at
from ...bindings.log.tree.tree import inclusion_proof
from ...bindings.names.errors import BindingsUnavailable
from ..http.answer import Answer, Headers
from ..http.answer_builder import RETRY_AFTER, AnswerBuilder
from ..http.conditional import validators
from ..resolution.request import parse_request

if TYPE_CHECKING:
    from ...identifiers import Problem
    from ..http.request import Request
    from ..resolution.request import ResolutionRequest
    from ..resolution.settings import Settings

INFLECTION = "?proof"

LogEntries = Callable[[str], Sequence[int]]
"""A function that returns the numbers of the entries of a name, by its key, in their order."""

_logger = logging.getLogger(__name__)


def prove(folder: LogFolder, numbers: Sequence[int]) -> Proof | None:
    """Return the proof that the last of several entries (numbers from 0) that the published checkpoint contains is in
    the public log. The entry is the extra data of the proof. Return None if it contains none of them. Raises
    :class:`LogError` if a file is missing or damaged.
    """
    content = folder.checkpoint()
    if content is None:
        raise LogError(f"{folder} has no checkpoint")
    size = Checkpoint.of_text(SignedNote.of_bytes(content).text).size
    published = [number for number in numbers if number < size]
    if not published:
        return None
    index = published[-1]
    tile = tile_at(ENTRIES, index // WIDTH, size)
    entry = entries_of(tile, folder.read(tile))[index % WIDTH]
    hashes = tuple(inclusion_proof(index, size, hash_reader(size, folder.read)))
    return Proof(index=index, hashes=hashes, checkpoint=content, extra=entry)


class NameProofs:
    """The answers to requests such as ``ark:12345/x5?proof``. ``entries`` returns the numbers of the log entries of a
    name by its key.
    """

    def __init__(self, settings: Settings, folder: LogFolder, entries: LogEntries, answers: AnswerBuilder) -> None:
        self._settings = settings
        self._folder = folder
        self._entries = entries
        self._answers = answers

    def answer(self, request: Request) -> Answer | None:
        """Return the answer to a request for the proof of a name: 200 with the proof, 404 without an entry, or 503.
        Return None for any other request.
        """
        if request.method not in ("GET", "HEAD") or request.target.query is None:
            return None
        if request.target.dotted or request.service is not None:
            return None
        parsed: ResolutionRequest | Problem = parse_request(request.target.identifier, self._settings)
        if not isinstance(parsed, tuple) or parsed.inflection != INFLECTION:
            return None
        try:
            proof = prove(self._folder, self._entries(parsed.key))
        except (BindingsUnavailable, LogError) as error:
            _logger.error("The proof of %s cannot be created: %s", parsed.key, error)
            message = "The proof cannot be created now. Try again later.\n"
            return self._text(
                503, message.encode(), [("Cache-Control", "no-store"), ("Retry-After", RETRY_AFTER)], request
            )
        if proof is None:
            message = "The log has no entry of this name. A new name is in the log after the next publication.\n"
            return self._text(404, message.encode(), [("Cache-Control", "no-store")], request)
        content = bytes(proof)
        fields = [("Cache-Control", "max-age=60"), *validators(content, None)]
        return self._text(200, content, fields, request).apply_conditions(request.conditions)

    def _text(self, status: int, content: bytes, fields: Headers, request: Request) -> Answer:
        headers = [("Content-Type", MEDIA_TYPE), ("Content-Length", str(len(content))), *fields]
        return self._answers.with_common_fields(status, headers, content, request)
