"""Passwords: their form, and their hashes by Argon2id (RFC 9106). A hash takes 64 MiB and about 50 ms, so at most
:data:`MAX_HASHES` run at the same time in a process. A password that was right is remembered for :data:`KEPT_SECONDS`
as a keyed hash, until the stored hash changes.
"""

from __future__ import annotations

import hmac
import secrets
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore

import argon2
from argon2.exceptions import InvalidHashError, VerificationError

from ...bindings.system.fork_safety import AtFork, ForkSafeLock
from ...identifiers.text.translatable import Translatable
from .model import AccountError

MIN_CHARACTERS = 12
MAX_CHARACTERS = 1024
"""The length of a password in characters."""

DIFFERENT = 4
"""The minimum number of different characters of a password."""

MIN_GUESSES = 10**8
"""The number of guesses from which a password is accepted: the score 3 of zxcvbn, "safely unguessable"."""

_ESTIMATED = 72
"""The number of characters that the estimate reads. Its time grows faster than the length."""

TOKEN_BEGINS = "ararat_"  # noqa: S105 - not a secret
"""The beginning of each token. A password cannot begin with it, so that Basic credentials have one meaning."""

MAX_HASHES = 2
WAIT_SECONDS = 5.0
"""The maximum time that a request waits until it can hash a password."""

KEPT_SECONDS = 300.0
_KEPT = 1000

_HASHER = argon2.PasswordHasher.from_parameters(argon2.profiles.RFC_9106_LOW_MEMORY)


class PasswordsBusy(Exception):
    """Raised if no password can be checked within :data:`WAIT_SECONDS`, because too many others are."""


class _State:
    """The free places for hashes, and the passwords that were right. A forked process gets its own."""

    def __init__(self) -> None:
        self.slots = BoundedSemaphore(MAX_HASHES)
        self.kept: OrderedDict[tuple[str, bytes], float] = OrderedDict()
        self.lock = ForkSafeLock()
        _at_fork.add(self)


_at_fork = AtFork(after_in_child=_State.__init__)
_state = _State()
_key = secrets.token_bytes(32)


def read_password(text: str, account: str = "") -> str:
    """Return a password in the form that is hashed: Unicode normalization form C, as in RFC 8265, section 4.2. The name
    of the account must not be its main part, and it must not be common (NIST SP 800-63B, 5.1.1.2). Raises AccountError
    (``password-short``, ``password-long``, ``password-text``, ``password-common``), never with a part of the password.
    """
    if len(text) > MAX_CHARACTERS:
        raise AccountError(
            "password-long", Translatable("the password has more than %(most)s characters", most=MAX_CHARACTERS)
        )
    password = normal(text)
    if len(password) < MIN_CHARACTERS:
        message = Translatable.counted(
            "the password has %(number)s character", "the password has %(number)s characters", len(password)
        )
        raise AccountError("password-short", message)
    if not password.isprintable():
        raise AccountError(
            "password-text", Translatable("the password has a control character or another invisible character")
        )
    if len(set(password)) < DIFFERENT:
        raise AccountError(
            "password-text", Translatable("the password has fewer than %(least)s different characters", least=DIFFERENT)
        )
    if password.startswith(TOKEN_BEGINS):
        raise AccountError(
            "password-text",
            Translatable("the password begins with %(beginning)s, as tokens do", beginning=TOKEN_BEGINS),
        )
    if _is_common(password, account):
        raise AccountError("password-common", Translatable("the password is common, or easy to guess"))
    return password


def _is_common(password: str, account: str) -> bool:
    """Return whether a program needs few guesses for a password: it is known, or is a pattern of keys."""
    # Loading its dictionaries takes a tenth of a second, which only a new password needs.
    from zxcvbn import zxcvbn

    estimated = zxcvbn(password[:_ESTIMATED], user_inputs=[account, "ararat"], max_length=_ESTIMATED)
    return estimated["guesses"] < MIN_GUESSES


def hash_password(password: str) -> str:
    """Return the hash for the database of a result of :func:`read_password`. Raises :class:`PasswordsBusy`."""
    with _slot():
        return _HASHER.hash(password)


def needs_rehash(stored: str) -> bool:
    """Return whether a stored hash has other parameters than a new one would, so that it must be replaced."""
    return _HASHER.check_needs_rehash(stored)


def is_remembered(stored: str, text: str) -> bool:
    """Return whether :func:`verify` accepted this password for this hash within :data:`KEPT_SECONDS`."""
    key = stored, _digest(text)
    with _state.lock:
        return _state.kept.get(key, 0.0) > time.monotonic()


def verify(stored: str | None, text: str) -> bool:
    """Return whether a typed password is right. Without a stored hash, it returns False after the time of a hash.
    Raises :class:`PasswordsBusy` if too many hashes are computed at this moment.
    """
    is_possible = stored is not None and len(text) <= MAX_CHARACTERS
    decoy = _decoy()
    with _slot():
        try:
            _HASHER.verify(
                stored if stored is not None and is_possible else decoy,
                normal(text[:MAX_CHARACTERS]).encode("utf-8", "surrogatepass"),
            )
        except (VerificationError, InvalidHashError):
            return False
    if stored is None or not is_possible:
        return False
    with _state.lock:
        _state.kept[stored, _digest(text)] = time.monotonic() + KEPT_SECONDS
        while len(_state.kept) > _KEPT:
            _state.kept.popitem(last=False)
    return True


@cache
def _decoy() -> str:
    """Return the hash of a password that does not exist. It makes an unknown account take the time of a known one."""
    with _slot():
        return _HASHER.hash(secrets.token_bytes(32))


def normal(text: str) -> str:
    r"""Return a typed password in the form that is hashed: spaces become U+0020, then form NFC. It is not checked.

    >>> normal("caf\u0065\u0301") == normal("caf\u00e9")
    True
    """
    # RFC 8265, section 4.2.2: "Additional Mapping Rule: any instances of non-ASCII space MUST be mapped to SPACE".
    spaced = "".join(" " if unicodedata.category(char) == "Zs" else char for char in text)
    return unicodedata.normalize("NFC", spaced)


def _digest(text: str) -> bytes:
    return hmac.digest(_key, text.encode("utf-8", "surrogatepass"), "sha256")


@contextmanager
def _slot() -> Iterator[None]:
    slots = _state.slots
    if not slots.acquire(timeout=WAIT_SECONDS):
        raise PasswordsBusy
    try:
        yield
    finally:
        slots.release()
