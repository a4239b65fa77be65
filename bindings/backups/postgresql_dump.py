"""Dump a PostgreSQL database with ``pg_dump``, and read such a dump to its end with ``pg_restore``. It has the custom
format, which is compressed, and which can be restored in part. The password is in the environment of the program.
Source: https://www.postgresql.org/docs/current/app-pgdump.html
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from ..names.errors import BackupError

if TYPE_CHECKING:
    from ..storage.databases.postgresql import PostgreSQL

_FOLDERS = (("/usr/lib/postgresql", "*/bin"), ("/usr", "pgsql-*/bin"), ("/opt/homebrew/opt", "postgresql@*/bin"))
"""The folders of the programs of each version: Debian, Red Hat, Homebrew."""

_LOCK_MILLISECONDS = 60_000
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_COPY = re.compile(rb"COPY (?:\S+\.)?(bindings|events)(?:_\d+)? \(")
_END = b"\\.\n"


def dump(database: PostgreSQL, copy: Path, program: str | None = None) -> None:
    """Write a PostgreSQL database to the file ``copy`` with pg_dump, whose path is ``program`` or found. Of several
    servers it is the primary: a standby can lack changes. Only the schema of Ararat is dumped if it is not ``public``.
    Raises :class:`BackupError` and :class:`BindingsUnavailable`.
    """
    with closing(database.connect_for_snapshot()) as connection:
        version = connection.info.server_version // 10_000
        (schema,) = connection.execute("SELECT current_schema()").fetchone() or (None,)
    arguments = ["--format=custom", "--no-password", f"--lock-wait-timeout={_LOCK_MILLISECONDS}", f"--file={copy}"]
    if schema not in (None, "public"):
        arguments.append(f"--schema={_schema_pattern(schema)}")
    place, environ = database.for_programs()
    _run([program or _program("pg_dump", version), *arguments, f"--dbname={place}"], environ)


def names_of(file: Path) -> int:
    """Read a dump of PostgreSQL to its end, and return the number of names in it. Raises :class:`BackupError` if it is
    damaged.
    """
    counts = {b"bindings": 0, b"events": 0}
    table = None
    for line in _script(file):
        if table is not None:
            if line == _END:
                table = None
            else:
                counts[table] += 1
        elif match := _COPY.match(line):
            table = match[1]
    if table is not None or counts[b"events"] < counts[b"bindings"]:
        raise BackupError(f"{file} lacks the history of names", "use another backup")
    return counts[b"bindings"]


def _script(file: Path) -> Iterator[bytes]:
    """Yield the lines of the data of a dump."""
    command = [_program("pg_restore", 0), "--data-only", "--file=-", str(file)]
    with (
        TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process,  # noqa: S603 - without a shell
    ):
        yield from process.stdout or ()
        if process.wait():
            errors.seek(0)
            fault = _first_line(errors.read())
            raise BackupError(f"{file} is damaged: {fault}", "use another backup, and check the disk")


def _run(command: list[str], environ: dict[str, str]) -> None:
    try:
        # A limit of the size of a file must be an error with a message, not the end of pg_dump by the signal SIGXFSZ.
        ran = subprocess.run(  # noqa: S603 - without a shell
            command, env=os.environ | environ, capture_output=True, check=False, restore_signals=False
        )
    except OSError as error:
        raise BackupError(f"cannot run {command[0]}: {error.strerror}", "give the path of pg_dump") from error
    if ran.returncode:
        for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            if os.strerror(number).encode() in ran.stderr:
                raise OSError(number, os.strerror(number))
        raise BackupError(f"pg_dump failed: {_first_line(ran.stderr)}", "correct this, and run the command again")


def _first_line(error: bytes) -> str:
    lines = error.decode("utf-8", "replace").strip().splitlines() or ["no message"]
    return re.sub(r"\A(?:pg_\w+: )?(?:error: )?", "", lines[0])


def _program(name: str, version: int) -> str:
    """Return the path of the oldest program that can read a server or a dump of this version, or of any version
    for 0.
    """
    folders = [folder for root, pattern in _FOLDERS for folder in Path(root).glob(pattern)]
    candidates = dict.fromkeys(filter(None, [shutil.which(name), *(shutil.which(name, path=each) for each in folders)]))
    programs: dict[int, str] = {}
    for path in candidates:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
        if match := _VERSION.search(ran.stdout):
            programs.setdefault(int(match[1]), path)
    fitting = [each for each in sorted(programs) if each >= version]
    if not fitting:
        have = f"only version {max(programs)} of it is installed" if programs else "it is not installed"
        need = (
            f"the client programs of PostgreSQL {version} or newer" if version else "the client programs of PostgreSQL"
        )
        raise BackupError(f"{name} cannot be used: {have}", f"install {need}, or name the program (pg_dump)")
    # The newest reads the dumps of all versions.
    return programs[fitting[0] if version else fitting[-1]]


def _schema_pattern(schema: Any) -> str:
    """Return the pattern of pg_dump for exactly this schema."""
    return '"' + str(schema).replace('"', '""') + '"'
