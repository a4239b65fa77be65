"""Keys that sign the notes of a log, and their texts. A *verifier key* is public: ``example.org/log+a1b2c3d4+AQ…``. A
*signer key* is secret, and begins with ``PRIVATE+KEY+example.org/log+``. Source: `C2SP signed-note
<https://c2sp.org/signed-note>`_, `C2SP tlog-cosignature <https://c2sp.org/tlog-cosignature>`_.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from ....identifiers.text import display
from ..errors import LogError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ed25519

MAX_NAME = 255
"""The maximum length of the name of a key in bytes. It is the limit of a cosigner in tlog-cosignature."""

KEY_BYTES = 32
"""The length of a secret and of a public key of Ed25519."""

_ID_BYTES = 4
SECRET = "PRIVATE+KEY+"  # noqa: S105 - no secret itself
"""The beginning of a signer key."""

_TIME_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A type of signatures of notes, such as Ed25519. ``code`` is the byte that identifies it, and ``title`` its name
    in messages. With ``has_time``, a signature begins with its time. ``message`` returns the bytes to sign for a text
    and a time in seconds since 1970.
    """

    code: int
    title: str
    has_time: bool
    message: Callable[[bytes, int], bytes]


ED25519 = Algorithm(code=1, title="Ed25519", has_time=False, message=lambda text, time: text)
"""The signature of a log."""

COSIGNATURE = Algorithm(
    code=4,
    title="Ed25519 cosignature",
    has_time=True,
    message=lambda text, time: b"cosignature/v1\ntime %d\n" % time + text,
)
"""The signature of a witness, with the time when the witness saw the checkpoint."""

COSIGNATURE_BYTES = _TIME_BYTES + 64
"""The length of a cosignature: the time, and a signature of Ed25519."""

ALGORITHMS = {algorithm.code: algorithm for algorithm in (ED25519, COSIGNATURE)}
"""The supported types of signatures by their code. Signatures of other types are ignored, as the format requires."""


def is_key_name(name: str) -> bool:
    """Return whether a text can be the name of a key, and so of a public log.

    >>> is_key_name("example.org/log"), is_key_name("my log"), is_key_name("a+b"), is_key_name("")
    (True, False, False, False)
    """
    is_safe = all(character > " " and character != "\x7f" and not character.isspace() for character in name)
    try:
        return bool(name) and is_safe and "+" not in name and len(name.encode()) <= MAX_NAME
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, kw_only=True)
class VerifierKey:
    """The public key of a log or witness, 32 bytes, with its name: the origin of the log, or the name of the
    witness.
    """

    name: str
    public: bytes
    algorithm: Algorithm = ED25519

    @property
    def key_id(self) -> bytes:
        """The identifier of the public key in a signature: four bytes, from its name and content."""
        named = self.name.encode() + b"\n" + bytes([self.algorithm.code]) + self.public
        return sha256(named).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{encode(bytes([self.algorithm.code]) + self.public)}"

    @classmethod
    def of_text(cls, text: str) -> VerifierKey:
        """Parse a public key, such as ``example.org/log+a1b2c3d4+AQ…``. Raises :class:`LogError` for another text."""
        name, algorithm, public, key_id = _parts(text, "verifier key")
        key = cls(name=name, public=public, algorithm=algorithm)
        if key.key_id != key_id:
            raise LogError(f"the verifier key of {display.escape(name)} has the ID of another key")
        return key

    def verify(self, text: bytes, signature: bytes) -> bool:
        """Return whether a signature of the text of a note is by this key."""
        message = self.algorithm.message(text, signature_time(self.algorithm, signature))
        return _is_signed(self.public, signature[_TIME_BYTES if self.algorithm.has_time else 0 :], message)


@dataclass(frozen=True, kw_only=True)
class SignerKey:
    """The secret key of a log or witness, 32 bytes, with its name. ``repr()`` does not contain the secret."""

    name: str
    secret: bytes = field(repr=False)
    algorithm: Algorithm = ED25519

    @classmethod
    def create(cls, name: str, algorithm: Algorithm = ED25519) -> SignerKey:
        """Create a random secret key. Raises :class:`LogError` if the name cannot be that of a key."""
        if not is_key_name(name):
            raise LogError(f"{display.escape(name[:100])} cannot be the name of a key")
        return cls(name=name, secret=secrets.token_bytes(KEY_BYTES), algorithm=algorithm)

    @property
    def verifier(self) -> VerifierKey:
        """The public key that belongs to this secret key."""
        public = _private_key(self.secret).public_key().public_bytes_raw()
        return VerifierKey(name=self.name, public=public, algorithm=self.algorithm)

    @property
    def secret_text(self) -> str:
        """The text of the secret key, for a file that only its owner can read."""
        code = bytes([self.algorithm.code])
        return f"{SECRET}{self.name}+{self.verifier.key_id.hex()}+{encode(code + self.secret)}"

    @classmethod
    def of_text(cls, text: str) -> SignerKey:
        """Parse a secret key, such as ``PRIVATE+KEY+example.org/log+…``. Raises :class:`LogError`, which does not
        contain the secret.
        """
        if not text.startswith(SECRET):
            raise LogError(f"this is not a signer key; a signer key begins with {SECRET}")
        name, algorithm, secret, key_id = _parts(text.removeprefix(SECRET), "signer key")
        key = cls(name=name, secret=secret, algorithm=algorithm)
        if key.verifier.key_id != key_id:
            raise LogError(f"the signer key of {display.escape(name)} has the ID of another key")
        return key

    def sign(self, text: bytes, time: int = 0) -> bytes:
        """Return the signature of the text of a note. ``time`` is for a cosignature, in seconds since 1970."""
        prefix = time.to_bytes(_TIME_BYTES, "big") if self.algorithm.has_time else b""
        return prefix + _private_key(self.secret).sign(self.algorithm.message(text, time))


def signature_time(algorithm: Algorithm, signature: bytes) -> int:
    """Return the time in a signature in seconds since 1970, or 0 for an algorithm without one."""
    return int.from_bytes(signature[:_TIME_BYTES], "big") if algorithm.has_time else 0


def encode(content: bytes) -> str:
    """Return bytes as Base 64 (RFC 4648, section 4)."""
    return base64.b64encode(content).decode()


def decode(text: str) -> bytes:
    """Return the bytes of a Base 64 text. Raises ValueError for any text that :func:`encode` does not return, such as
    ``aGl=``.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("not Base 64") from None
    # Python ignores unused bits and, in some versions, characters after the end.
    if encode(content) != text:
        raise ValueError("not Base 64")
    return content


def _parts(text: str, kind: str) -> tuple[str, Algorithm, bytes, bytes]:
    """Return the name, the algorithm, the key and the ID in the text of a key."""
    name, _, rest = text.partition("+")
    identity, _, encoded = rest.partition("+")
    try:
        content = decode(encoded)
        key_id = bytes.fromhex(identity)
    except ValueError:
        content = key_id = b""
    if not is_key_name(name) or not content or key_id.hex() != identity or len(key_id) != _ID_BYTES:
        raise LogError(f"the {kind} is not a name, an ID of 8 hexadecimal digits and a key in Base 64, joined by +")
    algorithm = ALGORITHMS.get(content[0])
    if algorithm is None or len(content) != 1 + KEY_BYTES:
        algorithms = " or ".join(algorithms.title for algorithms in ALGORITHMS.values())
        raise LogError(f"the {kind} of {display.escape(name)} is not a key of {algorithms}")
    return name, algorithm, content[1:], key_id


# The library is loaded in functions, because only the log needs it.
_MISSING = "signatures need the package cryptography; run: pip install 'ararat[log]'"


def require_signatures() -> None:
    """Raise :class:`LogError` if the package for signatures is not installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise LogError(_MISSING) from None


def _private_key(secret: bytes) -> ed25519.Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise LogError(_MISSING) from None
    return ed25519.Ed25519PrivateKey.from_private_bytes(secret)


def _is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise LogError(_MISSING) from None
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
