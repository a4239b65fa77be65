"""The file of the secret key of a log or witness, and its lock for one process at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ....identifiers.text import display
from ...names.errors import BindingError
from ..errors import LogError, write_error
from .keys import ED25519, Algorithm, SignerKey

_MAX_BYTES = 4096


def create_key(path: Path, name: str, algorithm: Algorithm = ED25519) -> SignerKey:
    """Create a random secret key, and write it to a new file, which only the owner can read. Raises
    :class:`BindingError`: ``log-key`` if the file exists or the package for signatures is missing, ``log-write`` if the
    file cannot be written, ``log-origin`` if ``name`` cannot be that of a log.
    """
    try:
        key = SignerKey.create(name, algorithm)
    except LogError as error:
        raise BindingError("log-origin", str(error)) from None
    try:
        content = f"{key.secret_text}\n".encode()
    except LogError as error:
        # The package for signatures is not installed.
        raise BindingError("log-key", str(error)) from None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
    except FileExistsError as error:
        raise _unusable(path, error) from None
    except OSError as error:
        raise write_error(path, error) from None
    return key


@contextmanager
def locked_key(path: Path) -> Iterator[SignerKey]:
    """Read a secret key, and lock its file until the ``with`` block ends. Raises :class:`BindingError`: ``log-key`` if
    it cannot be used, ``log-busy`` if another process has locked it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise _unusable(path, error) from None
    try:
        mode = os.fstat(descriptor).st_mode
        if os.name == "posix" and mode & 0o007:
            where, rights = display.escape(str(path)), stat.filemode(mode)
            raise BindingError("log-key", f"all users can use the key file {where} ({rights}); run: chmod 600 {where}")
        _lock(descriptor)
        try:
            yield SignerKey.of_text(os.read(descriptor, _MAX_BYTES).decode("utf-8", "replace").removesuffix("\n"))
        except LogError as error:
            raise BindingError("log-key", f"the key file {display.escape(str(path))}: {error}") from None
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        return  # Windows: the check of the recorded size in the database is enough
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BindingError("log-busy") from None


def _unusable(path: Path, error: OSError) -> BindingError:
    where = display.escape(str(path))
    return BindingError("log-key", f"the key file {where} cannot be used: {error.strerror or error}")
