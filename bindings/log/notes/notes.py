"""Signed notes: a text and the signatures of a log and its witnesses (`C2SP signed-note
<https://c2sp.org/signed-note>`_).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....identifiers.text import display
from ..errors import LogError
from .keys import SignerKey, VerifierKey, decode, encode, is_key_name, signature_time

MAX_BYTES = 1_000_000
"""The maximum length of a note in bytes, so that a hostile note costs little time."""

MAX_SIGNATURES = 100

_DASH = "\N{EM DASH} "
_ID_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class Signature:
    """One signature of a note, which is not verified. ``key_id`` are four bytes that identify the key. The form of
    ``value`` depends on its type.
    """

    name: str
    key_id: bytes
    value: bytes

    def __str__(self) -> str:
        return f"{_DASH}{self.name} {encode(self.key_id + self.value)}"

    @classmethod
    def create(cls, text: bytes, key: SignerKey, time: int = 0) -> Signature:
        """Sign the text of a note. ``time`` is for a cosignature, in seconds since 1970."""
        return cls(name=key.name, key_id=key.verifier.key_id, value=key.sign(text, time))


@dataclass(frozen=True, kw_only=True)
class VerifiedSignature:
    """A verified signature of a note. ``time`` is that of a cosignature in seconds since 1970, or 0."""

    key: VerifierKey
    time: int


@dataclass(frozen=True, kw_only=True)
class SignedNote:
    """A text with its last line end, such as a checkpoint, and its signatures, also of unknown keys. None is
    verified.
    """

    text: str
    signatures: tuple[Signature, ...]

    def __bytes__(self) -> bytes:
        return "".join([self.text, "\n", *(f"{signature}\n" for signature in self.signatures)]).encode()

    @classmethod
    def of_bytes(cls, content: bytes) -> SignedNote:
        """Parse a signed note without verifying it. Raises :class:`LogError` for any other content."""
        if len(content) > MAX_BYTES:
            raise LogError(f"the note has {len(content):,} bytes; at most {MAX_BYTES:,} are allowed")
        try:
            whole = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise LogError(f"the note is not UTF-8 at byte {error.start:,}") from None
        for position, character in enumerate(whole):
            if character < " " and character != "\n":
                raise LogError(f"the note has a control character at position {position:,}")
        # The last empty line separates the text from the signatures.
        text, separator, last = whole.rpartition("\n\n")
        if not separator or not last.endswith("\n"):
            raise LogError("the note does not have a text, an empty line and lines with signatures")
        lines = last.removesuffix("\n").split("\n")
        if len(lines) > MAX_SIGNATURES:
            raise LogError(f"the note has {len(lines):,} signatures; at most {MAX_SIGNATURES} are allowed")
        return cls(text=f"{text}\n", signatures=tuple(map(_signature, lines)))

    def verify(self, keys: Iterable[VerifierKey]) -> list[VerifiedSignature]:
        """Return the signatures by these keys, verified, in the order of the note. Others are ignored. Raises
        :class:`LogError` if a signature of a known key is wrong, or if all are missing.
        """
        known = {(key.name, key.key_id): key for key in keys}
        text = self.text.encode()
        verified: dict[VerifierKey, VerifiedSignature] = {}
        for signature in self.signatures:
            key = known.get((signature.name, signature.key_id))
            if key is None or key in verified:
                continue
            if not key.verify(text, signature.value):
                raise LogError(f"the signature of {display.escape(key.name)} is wrong")
            verified[key] = VerifiedSignature(key=key, time=signature_time(key.algorithm, signature.value))
        if not verified:
            names = " or ".join(sorted({display.escape(name) for name, _ in known}))
            raise LogError(f"the note has no signature of {names or 'a known key'}")
        return list(verified.values())


def sign_note(text: str, keys: Iterable[SignerKey], time: int = 0) -> SignedNote:
    r"""Return a text as a note that is signed with all secret ``keys``. ``time`` is in seconds since 1970, for
    cosignatures.

    >>> key = SignerKey(name="example.org/log", secret=bytes(32))
    >>> note = sign_note("hello\n", [key])
    >>> SignedNote.of_bytes(bytes(note)).verify([key.verifier])[0].key.name
    'example.org/log'
    """
    content = text.encode()
    return SignedNote(text=text, signatures=tuple(Signature.create(content, key, time) for key in keys))


def _signature(line: str) -> Signature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    try:
        content = decode(encoded)
    except ValueError:
        content = b""
    if not line.startswith(_DASH) or not space or not is_key_name(name) or len(content) <= _ID_BYTES:
        raise LogError(f"the line {display.escape(line[:60])} of the note is not a signature")
    return Signature(name=name, key_id=content[:_ID_BYTES], value=content[_ID_BYTES:])
