"""Policies: the logs and witnesses that a reader trusts, and the number of witnesses that a checkpoint needs.

.. code-block:: text

    log example.org/log+12364b0d+AaWIDrpYNNArMUtK/AoApeqDiblrcsSGTB1B+OYIB80t
    witness library <vkey> https://witness.library.example
    witness archive <vkey>
    group partners any library archive
    quorum partners

Source: `C2SP tlog-policy <https://c2sp.org/tlog-policy>`_.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ....identifiers.text import display
from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import COSIGNATURE, ED25519, Algorithm, VerifierKey
from ..notes.notes import MAX_SIGNATURES, SignedNote, VerifiedSignature

MAX_BYTES = 1_000_000
"""The maximum length of a policy in bytes."""

MAX_PARTIES = MAX_SIGNATURES - 1
"""The maximum number of logs, of witnesses and of groups. A note has at most one more signature, that of the log."""

NONE = "none"
"""The quorum of a policy that requires no cosignature."""

_BLANK = " \t"


@dataclass(frozen=True, kw_only=True)
class Party:
    """A log or a witness that a policy trusts: its public key, and the URL of its service or None."""

    key: VerifierKey
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group of witnesses in a policy, of which at least ``threshold`` must have cosigned a checkpoint."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class VerifiedCheckpoint:
    """A checkpoint of a trusted log, and the verified cosignatures of witnesses of the policy."""

    checkpoint: Checkpoint
    log: VerifierKey
    cosignatures: tuple[VerifiedSignature, ...]


@dataclass(kw_only=True)
class Policy:
    """The logs and witnesses that a reader trusts, by their names in the policy, and the ``quorum``: the name of a
    witness or group, or :data:`NONE`. Each of ``groups`` follows its members.
    """

    logs: list[Party] = field(default_factory=list)
    witnesses: dict[str, Party] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    quorum: str = NONE

    @classmethod
    def of_bytes(cls, content: bytes) -> Policy:
        """Parse the file of a policy. Raises :class:`LogError` with the number of a line that is not valid."""
        if len(content) > MAX_BYTES:
            raise LogError(f"the policy has {len(content):,} bytes; at most {MAX_BYTES:,} are allowed")
        if content and not content.endswith(b"\n"):
            raise LogError("the last line of the policy does not end with a line end")
        reader = _Reader()
        # A name is a sequence of bytes. This decoding keeps bytes that are not UTF-8.
        for number, line in enumerate(content.decode("utf-8", "surrogateescape").split("\n"), 1):
            try:
                reader.read(line)
            except LogError as error:
                raise LogError(f"line {number:,} of the policy: {error}") from None
        if not reader.has_quorum:
            raise LogError('the policy has no line "quorum"')
        return reader.policy

    @property
    def witness_keys(self) -> list[VerifierKey]:
        """The public keys of all witnesses in the policy."""
        return [witness.key for witness in self.witnesses.values()]

    def is_satisfied(self, keys: Collection[VerifierKey]) -> bool:
        """Return whether the witnesses with the public ``keys`` are a quorum by the policy."""
        seen = {name for name, witness in self.witnesses.items() if witness.key in keys}
        for group in self.groups:
            if sum(member in seen for member in group.members) >= group.threshold:
                seen.add(group.name)
        return self.quorum == NONE or self.quorum in seen

    def read(self, content: bytes) -> VerifiedCheckpoint:
        """Parse a checkpoint, and verify its signatures, but not the quorum. Raises :class:`LogError` for another
        content, without a signature of a log of the policy, or if a signature of a known key is wrong.
        """
        signed = {(signature.name, signature.key_id) for signature in SignedNote.of_bytes(content).signatures}
        for log in self.logs:
            if (log.key.name, log.key.key_id) in signed:
                checkpoint, cosignatures = read_checkpoint(content, log.key, self.witness_keys)
                return VerifiedCheckpoint(checkpoint=checkpoint, log=log.key, cosignatures=tuple(cosignatures))
        names = " or ".join(display.escape(log.key.name) for log in self.logs)
        raise LogError(f"the checkpoint has no signature of {names or 'a log, because the policy has none'}")

    def require_quorum(self, cosignatures: Iterable[VerifiedSignature]) -> None:
        """Raise :class:`LogError` if the witnesses of these ``cosignatures`` are not a quorum by the policy."""
        keys = {signature.key for signature in cosignatures}
        if not self.is_satisfied(keys):
            quorum = display.escape(self.quorum)
            have = ", ".join(sorted(display.escape(key.name) for key in keys)) or "no witness"
            raise LogError(f"the quorum {quorum} of the policy has not seen this checkpoint; seen by: {have}")


class _Reader:
    """Reads the lines of a policy."""

    def __init__(self) -> None:
        self.policy = Policy()
        self.has_quorum = False
        self._used: set[str] = set()
        self._statements: dict[str, Callable[[Sequence[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._quorum,
        }

    def read(self, line: str) -> None:
        if any((character < " " and character != "\t") or character == "\x7f" for character in line):
            raise LogError("a control character is not allowed")
        words = line.replace("\t", " ").strip(_BLANK).split(" ")
        first, *rest = [word for word in words if word] or [""]
        if not first or first.startswith("#"):
            return
        if first not in self._statements:
            raise LogError(f"{_excerpt(first)} is not log, witness, group or quorum")
        self._statements[first](rest)

    def _log(self, words: Sequence[str]) -> None:
        if not 1 <= len(words) <= 2:
            raise LogError("write: log VKEY [URL]")
        _require_room(len(self.policy.logs), "logs")
        self.policy.logs.append(_party(words, ED25519, self.policy.logs))

    def _witness(self, words: Sequence[str]) -> None:
        if not 2 <= len(words) <= 3:
            raise LogError("write: witness NAME VKEY [URL]")
        name = self._new(words[0])
        _require_room(len(self.policy.witnesses), "witnesses")
        self.policy.witnesses[name] = _party(words[1:], COSIGNATURE, self.policy.witnesses.values())

    def _group(self, words: Sequence[str]) -> None:
        if len(words) < 3:
            raise LogError("write: group NAME all|any|NUMBER MEMBER ...")
        name, quorum, *members = words
        self._new(name)
        _require_room(len(self.policy.groups), "groups")
        for member in members:
            self._require_defined(member)
            if member in self._used:
                raise LogError(f"{_excerpt(member)} is in a group already")
            self._used.add(member)
        thresholds = {"all": len(members), "any": 1}
        # A number is decimal and has no leading zero.
        if quorum.isascii() and quorum.isdigit() and not quorum.startswith("0") and len(quorum) < 10:
            thresholds[quorum] = int(quorum)
        threshold = thresholds.get(quorum, 0)
        if not 1 <= threshold <= len(members):
            raise LogError(f"{_excerpt(quorum)} is not all, any or a number from 1 to {len(members)}")
        self.policy.groups.append(Group(name=name, threshold=threshold, members=tuple(members)))

    def _quorum(self, words: Sequence[str]) -> None:
        if len(words) != 1:
            raise LogError("write: quorum NAME, or: quorum none")
        if self.has_quorum:
            raise LogError("the policy has a line quorum already")
        if words[0] != NONE:
            self._require_defined(words[0])
        self.policy.quorum, self.has_quorum = words[0], True

    def _new(self, name: str) -> str:
        if name == NONE or self._is_defined(name):
            raise LogError(f"the name {_excerpt(name)} is used already")
        return name

    def _require_defined(self, name: str) -> None:
        if not self._is_defined(name):
            raise LogError(f"no line before defines {_excerpt(name)}")

    def _is_defined(self, name: str) -> bool:
        return name in self.policy.witnesses or any(group.name == name for group in self.policy.groups)


def _party(words: Sequence[str], algorithm: Algorithm, others: Iterable[Party]) -> Party:
    key = VerifierKey.of_text(words[0])
    if key.algorithm != algorithm:
        raise LogError(f"the key of {_excerpt(key.name)} is of {key.algorithm.title}, not of {algorithm.title}")
    if any(key.public == other.key.public for other in others):
        raise LogError(f"the key of {_excerpt(key.name)} is in a line before")
    return Party(key=key, url=words[1] if len(words) > 1 else None)


def _require_room(number: int, what: str) -> None:
    if number >= MAX_PARTIES:
        raise LogError(f"at most {MAX_PARTIES} {what} are supported")


def _excerpt(text: str) -> str:
    return display.escape(text[:100])
