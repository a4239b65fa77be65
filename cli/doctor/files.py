"""Check the files of a database, and those with secrets: other users cannot read them, and the service can."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...bindings.system.files import can_read
from ...identifiers.text import display
from .. import exposed_files
from .finding import HealthFinding


def examine(database: str | None, user: str | None, environ: Mapping[str, str]) -> Iterator[HealthFinding]:
    """Check whether other users can read the files of a database, and the files with secrets that variables name.
    The default of ``user`` is the owner of the folder of each file. Raises ValueError for an unknown one.
    """
    files = [] if database is None else exposed_files.files_of(database)
    secrets = exposed_files.secret_files(environ)
    if database is not None and files:
        for each in _exposed_database(database):
            yield _readable_by_others(each, "database")
    for each in exposed_files.exposed_secrets(secrets):
        yield _readable_by_others(each, each.content.removeprefix("a "))
    for file in [*files[:1], *(Path(each) for each in secrets.values() if each)]:
        if finding := _unreadable(file, user):
            yield finding


def _exposed_database(database: str) -> list[exposed_files.ExposedFile]:
    from ...bindings.names.errors import BindingError, BindingsUnavailable
    from ...bindings.open import open_bindings

    try:
        with open_bindings(database) as bindings:
            return list(exposed_files.exposed_database(database, bindings))
    except (BindingError, BindingsUnavailable):
        return []  # the check of the store reports it


def _readable_by_others(exposed: exposed_files.ExposedFile, shown: str) -> HealthFinding:
    message = f"{exposed.message[:1].upper()}{exposed.message[1:]}."
    return HealthFinding("database", "readable-by-others", "warning", shown, message, f"Run: {exposed.fix}")


def _unreadable(file: Path, user: str | None) -> HealthFinding | None:
    if os.name != "posix":
        return None
    import pwd

    try:
        number = file.absolute().parent.stat().st_uid if user is None else pwd.getpwnam(user).pw_uid
    except KeyError:
        raise ValueError(f"there is no user {display.escape(user or '')} on this machine") from None
    except OSError:
        return None
    try:
        entry = pwd.getpwuid(number)
        name, groups = entry.pw_name, set(os.getgrouplist(entry.pw_name, entry.pw_gid))
    except KeyError:
        name, groups = str(number), set()
    try:
        if can_read(file, number, groups):
            return None
    except OSError:
        return None
    where = display.escape(str(file))
    shown = name if user is not None else f"{name}, the owner of its folder, who usually runs the service,"
    message = f"{shown} cannot read {where}."
    change = f"Run: chgrp GROUP {where}, with a group of {name}, and chmod g+r {where}. Each folder above needs x."
    return HealthFinding("database", "user-cannot-read", "error", "permissions", message, change)
