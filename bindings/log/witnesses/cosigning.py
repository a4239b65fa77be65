"""Request cosignatures for the checkpoints of the own log. First, each witness is asked for the number of entries that
it has seen. If the database has recorded fewer, it is an old copy, and a signature would create a second history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ....identifiers.text import display
from ....identifiers.text.display import format_count
from ...names.errors import BindingError
from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import VerifierKey
from ..notes.notes import Signature, SignedNote
from ..tree.tree import ReadHash, consistency_proof
from ..verification.policy import Party, Policy
from .add_checkpoint import PATH, SIZE_TYPE, AddCheckpoint, read_size

Send = Callable[[str, bytes], tuple[int, str, bytes]]
"""Send a body by POST to a URL, and return status, media type and body of the answer.

Raises :class:`LogError` without an answer.
"""


@dataclass(frozen=True, kw_only=True)
class Witnessing:
    """The witnesses of a policy whose cosignatures a log requests by their URLs. With ``is_required``, a checkpoint
    without the quorum is not published.
    """

    policy: Policy
    send: Send
    is_required: bool = True

    def is_satisfied(self, content: bytes, key: VerifierKey) -> bool:
        """Return whether a signed checkpoint of the log with this key has the quorum of cosignatures."""
        try:
            cosignatures = read_checkpoint(content, key, self.policy.witness_keys)[1]
        except LogError:
            return False
        return self.policy.is_satisfied({each.key for each in cosignatures})


@dataclass(kw_only=True)
class Cosigning:
    """The requests for the cosignatures of one publication. ``note`` is that of the last published checkpoint, and
    ``recorded`` the number of entries that the database had before. ``cosigned`` names witnesses, and ``failures`` are
    the reasons of others.
    """

    witnessing: Witnessing
    note: bytes
    published: Checkpoint
    recorded: int
    cosigned: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    _sizes: dict[str, int] | None = None

    def require_newest(self) -> None:
        """Find out if the database is an old copy, from what the witnesses have seen. Raises :class:`BindingError`:
        ``log-restored`` for more entries than recorded, ``log-fork`` for another checkpoint with the same number. A
        second call does nothing.
        """
        if self._sizes is not None:
            return
        sizes: dict[str, int] = {}
        for name, witness, url in self._parties():
            try:
                sizes[name] = self._size_of(witness, url)
            except LogError as error:
                self.failures[name] = str(error)
                continue
            if sizes[name] > self.recorded:
                raise BindingError(
                    "log-restored",
                    f"the witness {display.escape(witness.key.name)} has seen "
                    f"{format_count(sizes[name], 'entry', 'entries')}, and the database has recorded "
                    f"{self.recorded:,}; if the witness is wrong, remove it from the policy",
                )
        self._sizes = sizes

    def cosign(self, note: SignedNote, size: int, read: ReadHash) -> SignedNote:
        """Return the note of a checkpoint with the cosignatures of the witnesses. ``read`` returns the hashes of the
        tree. Raises :class:`BindingError` (``log-quorum``) if the quorum is required and missing.
        """
        self.require_newest()
        signatures = dict(self._earlier(note))
        for name, witness, url in self._parties():
            if name in self.failures:
                continue
            try:
                signature = self._cosignature(note, witness, url, size, read, (self._sizes or {})[name])
            except LogError as error:
                self.failures[name] = str(error)
            else:
                signatures[witness.key] = signature
        self.cosigned = sorted(key.name for key in signatures)
        policy = self.witnessing.policy
        if self.witnessing.is_required and not policy.is_satisfied(signatures):
            reasons = "".join(f"; {display.escape(name)}: {reason}" for name, reason in self.failures.items())
            raise BindingError("log-quorum", f"the quorum {display.escape(policy.quorum)} is missing{reasons}")
        return SignedNote(text=note.text, signatures=(*note.signatures, *signatures.values()))

    def _parties(self) -> Iterator[tuple[str, Party, str]]:
        for name, witness in self.witnessing.policy.witnesses.items():
            if witness.url is not None:
                yield name, witness, witness.url.rstrip("/") + PATH

    def _size_of(self, witness: Party, url: str) -> int:
        """Return the number of entries that a witness has seen."""
        request = AddCheckpoint(old=self.published.size, proof=(), checkpoint=self.note)
        status, media_type, body = self.witnessing.send(url, bytes(request))
        if status == 200:
            return self.published.size
        if status == 409 and media_type == SIZE_TYPE:
            return read_size(body)
        if status == 409:
            where, size = display.escape(witness.key.name), format_count(self.published.size, "entry", "entries")
            raise BindingError(
                "log-fork",
                f"the witness {where} has seen another checkpoint of {size}; "
                "if the witness is wrong, remove it from the policy",
            )
        raise LogError(_refusal(status, body))

    def _cosignature(
        self, note: SignedNote, witness: Party, url: str, size: int, read: ReadHash, old: int
    ) -> Signature:
        status, media_type, body = self._add_checkpoint(note, url, size, read, old)
        if status == 409 and media_type == SIZE_TYPE:
            # Another publication was faster, or a cosignature did not arrive here.
            status, media_type, body = self._add_checkpoint(note, url, size, read, read_size(body))
        if status != 200:
            raise LogError(_refusal(status, body))
        answer = SignedNote.of_bytes(f"{note.text}\n".encode() + body)
        if answer.text != note.text:
            raise LogError("the answer is not a list of signatures")
        answer.verify([witness.key])
        return _signature_of(answer, witness.key)

    def _add_checkpoint(
        self, note: SignedNote, url: str, size: int, read: ReadHash, old: int
    ) -> tuple[int, str, bytes]:
        if old > size:
            raise LogError(f"it has seen {format_count(old, 'entry', 'entries')} already")
        proof = tuple(consistency_proof(old, size, read))
        return self.witnessing.send(url, bytes(AddCheckpoint(old=old, proof=proof, checkpoint=bytes(note))))

    def _earlier(self, note: SignedNote) -> Iterator[tuple[VerifierKey, Signature]]:
        """Yield the keys and cosignatures of the published checkpoint, if it is the same."""
        try:
            earlier = SignedNote.of_bytes(self.note)
            cosignatures = earlier.verify(self.witnessing.policy.witness_keys)
        except LogError:
            return
        if earlier.text == note.text:
            yield from ((each.key, _signature_of(earlier, each.key)) for each in cosignatures)


def _signature_of(note: SignedNote, key: VerifierKey) -> Signature:
    """Return the first signature of a key, which is the one that is verified."""
    return next(each for each in note.signatures if (each.name, each.key_id) == (key.name, key.key_id))


def _refusal(status: int, body: bytes) -> str:
    reason = display.escape(body[:200].decode("utf-8", "replace").strip())
    return f"it answers {status}" + (f": {reason}" if reason else "")
