"""Check the log of a database: its folder, its checkpoint, the changes that are not published, and its key file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from ...bindings.log.errors import LogError
from ...bindings.log.folder import LogFolder
from ...bindings.log.notes.checkpoints import read_checkpoint
from ...bindings.log.notes.keys import SECRET, VerifierKey
from ...bindings.log.notes.notes import SignedNote
from ...bindings.log.status import LogStatus, log_status
from ...bindings.log.verification.policy import Policy
from ...bindings.names.errors import BindingError, BindingsUnavailable
from ...bindings.open import bindings_at, table_file
from ...bindings.storage.store import DatabaseStore
from ...identifiers.text import display
from ..output import format_count
from .finding import HealthFinding
from .stores import sentence

MAX_WAIT = timedelta(days=1)
"""The time after which a change that is not published is a warning."""

# The tiles are in one folder. More files beside it are those of another program.
_MAX_FILES = 1_000

_RECOVER = "run: ararat log recover --database URL --dir DIR"
_REMEDIES = {
    "log-missing": "Name the database of the log with --database, or create a log: ararat log init.",
    "log-restored": f"Restore the newest backup of the database. If it is lost, {_RECOVER}",
    "log-folder": "Check that --log-folder is the folder of this log, and that this user can read it. Restore its "
    f"newest copy. If it is lost, {_RECOVER}",
    "log-fork": "Restore the database and the folder of one log. ararat log recover changes nothing here. If they are "
    "lost, create a new log with another origin.",
}


def read_status(database: str, folder: Path) -> LogStatus | HealthFinding:
    """Return the status of the public log of a database, or the finding that states why it cannot be read.
    For a table of names in a file, the published versions are in a database next to the folder.
    """
    place = database if table_file(database) is None else str(folder.with_name(f"{folder.name}.sqlite"))
    try:
        with bindings_at(place, read_seconds=None) as bindings:
            store = bindings.open().store
            if not isinstance(store, DatabaseStore):
                raise BindingError("log-missing")
            return log_status(store, LogFolder(folder))
    except BindingError as error:
        change = _REMEDIES.get(error.code, f"Use {error.expected}.")
        return HealthFinding("log", error.code, "error", "log", sentence(error.message), change)
    except BindingsUnavailable as error:
        change = (
            "Start the database server, or name the database of the log with --database. For a file of bindings, "
            "create its log: ararat log init."
        )
        return HealthFinding("log", "unavailable", "error", "log", sentence(display.escape(str(error))), change)


def examine(status: LogStatus, folder: Path, key_path: Path, policy: Policy | None = None) -> Iterator[HealthFinding]:
    """Check a public log by the result of :func:`read_status`, and yield the findings.
    The secret key is in ``key_path``. Only with a ``policy``, the cosignatures of its witnesses are verified.
    """
    where, origin = display.escape(str(LogFolder(folder))), display.escape(status.key.name)
    if status.fault is not None:
        code = status.code or "log-folder"
        yield HealthFinding("log", code, "error", "log", sentence(status.fault), _REMEDIES.get(code))
    else:
        message = (
            f"{where} has {format_count(status.published or 0, 'entry', 'entries')} of {origin}, signed by its key."
        )
        yield HealthFinding("log", "log-folder", "ok", "log", message)
        yield _find_unpublished(status, folder)
        yield _witnesses(folder, status.key, policy)
    yield from _key(folder, key_path)


def _find_unpublished(status: LogStatus, folder: Path) -> HealthFinding:
    code, shown = "log-unpublished", "publication"
    try:
        written = datetime.fromtimestamp((LogFolder(folder).path / "checkpoint").stat().st_mtime, UTC)
        last = f"The checkpoint was written at {written:%Y-%m-%d %H:%M} UTC."
    except OSError:
        last = "The time of the checkpoint cannot be read."
    waiting = status.new + status.recorded - (status.published or 0)
    if not waiting:
        return HealthFinding("log", code, "ok", shown, f"All changes are published. {last}")
    since = None if status.since is None else datetime.fromisoformat(status.since)
    first = "" if since is None else f", the first of {since:%Y-%m-%d %H:%M} UTC"
    message = f"{format_count(waiting, 'change is', 'changes are')} not published{first}. {last}"
    if since is None or datetime.now(UTC) - since <= MAX_WAIT:
        return HealthFinding("log", code, "ok", shown, message)
    change = (
        "Run ararat log publish regularly, for example each minute from cron or a systemd timer. If it runs already, "
        "read its messages: it states why it does not publish."
    )
    return HealthFinding("log", code, "warning", shown, message, change)


def _witnesses(folder: Path, key: VerifierKey, policy: Policy | None) -> HealthFinding:
    code, shown = "log-witnesses", "witnesses"
    try:
        content = LogFolder(folder).checkpoint() or b""
        if policy is None:
            number = sum(signature.name != key.name for signature in SignedNote.of_bytes(content).signatures)
            unverified = " They are not verified: pass the policy with --policy." if number else ""
            message = f"The checkpoint has {format_count(number, 'cosignature', 'cosignatures')}.{unverified}"
            return HealthFinding("log", code, "ok", shown, message)
        cosigned = {cosignature.key for cosignature in read_checkpoint(content, key, policy.witness_keys)[1]}
    except (LogError, OSError) as error:
        change = "Publish again: ararat log publish with the same policy."
        return HealthFinding("log", code, "error", shown, sentence(display.escape(str(error))), change)
    message = (
        f"{len(cosigned)} of {format_count(len(policy.witnesses), 'witness', 'witnesses')} cosigned the checkpoint."
    )
    if policy.is_satisfied(cosigned):
        return HealthFinding("log", code, "ok", shown, message)
    change = "Run ararat log publish with this policy. It prints why a witness does not cosign."
    return HealthFinding(
        "log", code, "warning", shown, f"{message} The quorum is missing, so readers refuse it.", change
    )


def _key(folder: Path, key_path: Path) -> Iterator[HealthFinding]:
    shown, where = "key file", display.escape(str(key_path))
    public = {path.resolve() for path in islice(_files(folder), _MAX_FILES) if _is_secret(path)}
    # The key can be in a folder that is closed to this user.
    with suppress(OSError):
        if key_path.exists() and key_path.resolve().is_relative_to(folder.resolve()):
            public.add(key_path.resolve())
    for path in sorted(public):
        message = f"The secret key {display.escape(str(path))} is in the public folder, so any client can download it."
        change = (
            "Move the file to a private folder, and give its path with --key. If a web server served it, create a new "
            "log with another origin: other people can sign for this one."
        )
        yield HealthFinding("log", "log-key-public", "error", shown, message, change)
    try:
        mode = key_path.stat().st_mode
    except OSError as error:
        change = "Give its path with --log-key. If the log is published from another machine, check the file there."
        message = f"{where} cannot be checked: {error.strerror or error}."
        yield HealthFinding("log", "log-key", "warning", shown, message, change)
        return
    if os.name != "posix" or not mode & 0o077:
        yield HealthFinding("log", "log-key", "ok", shown, f"Only the owner can use {where}.")
        return
    who = "All users" if mode & 0o007 else "The users of its group"
    message = f"{who} can use {where} ({stat.filemode(mode)}). Any of them can sign a second history."
    state = "error" if mode & 0o007 else "warning"
    yield HealthFinding("log", "log-key", state, shown, message, f"Run: chmod 600 {where}")


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if path.is_file())
    except OSError:
        return


def _is_secret(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(SECRET)) == SECRET.encode()
    except OSError:
        return False
