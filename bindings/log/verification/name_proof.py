"""Verify a proof that a change of a name is in a log. It needs no network and no database."""

from __future__ import annotations

from dataclasses import dataclass

from ....identifiers.text import display
from ..errors import LogError
from ..notes.keys import VerifierKey
from ..notes.notes import VerifiedSignature
from ..tree.entries import LogEntry
from ..tree.proofs import Proof
from ..tree.tree import leaf_hash, root_of_inclusion
from .policy import Policy


@dataclass(frozen=True, kw_only=True)
class ProvedEntry:
    """An entry that is proved to be in a log: its number from 0, the size of the checkpoint, and its cosignatures."""

    entry: LogEntry
    index: int
    size: int
    log: VerifierKey
    cosignatures: tuple[VerifiedSignature, ...]


def verify_name(key: str, content: bytes, policy: Policy) -> ProvedEntry:
    """Verify the proof that a change of a name is in a public log, without a network. ``content`` is a file in the
    format ``c2sp.org/tlog-proof@v1`` with the entry as extra data. ``key`` is the name in normal form, which the entry
    must be about. Raises :class:`LogError` if anything is not proved.
    """
    proof = Proof.of_bytes(content)
    if not proof.extra:
        raise LogError("the proof does not contain the entry")
    entry = LogEntry.of_bytes(proof.extra)
    accepted = policy.read(proof.checkpoint)
    size = accepted.checkpoint.size
    if root_of_inclusion(leaf_hash(proof.extra), proof.index, size, proof.hashes) != accepted.checkpoint.root:
        raise LogError(f"the entry is not entry {proof.index:,} of the log {display.escape(accepted.log.name)}")
    policy.require_quorum(accepted.cosignatures)
    if entry.key != key:
        raise LogError(f"the proof is for {display.escape(entry.key[:300])}, not for {display.escape(key[:300])}")
    return ProvedEntry(entry=entry, index=proof.index, size=size, log=accepted.log, cosignatures=accepted.cosignatures)
