"""Where the registry tables of a user or a site are kept: found, read and written.

:mod:`ararat.identifiers.registries` has tables of its own and knows of no other place. The command ``ararat`` names
this folder to it (:func:`consulted`); a site that is composed in Python names one itself, with
``registries.use(Path(...))``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..identifiers import registries
from ..identifiers.registries import tables as registry_tables
from ..identifiers.registries.tables import AnyTable, Record, Registry, Table

VARIABLE = "ARARAT_REGISTRIES"
"""The environment variable that names another folder."""


def registry_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder of the tables: the one that ``ARARAT_REGISTRIES`` names, else one in the user's data folder.

    Raises RuntimeError where there is no home folder to have one in.

    >>> registry_folder({"XDG_DATA_HOME": "/srv/data"}, "linux").as_posix()
    '/srv/data/ararat/registries'
    """
    if named := environ.get(VARIABLE):
        return Path(named)
    return _data_home(environ, platform) / "ararat" / "registries"


@contextmanager
def consulted() -> Iterator[None]:
    """A command, during which the tables of :func:`registry_folder` are looked into before those of the package.

    At its end standard error has a line for each table that could not be read, and in whose place the package's was.
    """
    # Who has no home has no tables there either.
    with suppress(RuntimeError):
        registries.use(registry_folder())
    try:
        yield
    finally:
        for error in registries.current().passed_over:
            sys.stderr.write(f"ararat: {error}; the table of the package was used in its place\n")
        registries.use()


def table_in(folder: Path, registry: Registry[Record]) -> Table[Record]:
    """The table of a registry in a folder, or the package's where there is none.

    Raises OSError and :class:`~ararat.identifiers.registries.tables.RegistryError` where one cannot be read.
    """
    path = folder / registry.file
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return registries.Registries(registries.BUNDLED).table(registry)
    except UnicodeDecodeError:
        raise registry_tables.RegistryError(
            "the table is not UTF-8; make it with `ararat registry update`", str(path)
        ) from None
    return registry_tables.read(text, registry, file=str(path))


def write_tables(folder: Path, tables: Iterable[AnyTable]) -> list[Path]:
    """Put tables into a folder, which is made where there is none. Raises OSError.

    All of them are written aside before the first takes its place, so that a full disk leaves the folder as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside: dict[Path, Path] = {}
    try:
        for table in tables:
            path = folder / table.registry.file
            aside[path] = path.with_name(f".{path.name}.{os.getpid()}")
            with aside[path].open("w", encoding="utf-8", newline="\n") as stream:
                stream.write(table.text())
                stream.flush()
                os.fsync(stream.fileno())
        for path, written in aside.items():
            written.replace(path)
    finally:
        for written in aside.values():
            written.unlink(missing_ok=True)
    return list(aside)


def _data_home(environ: Mapping[str, str], platform: str) -> Path:
    if platform == "win32" and (local := environ.get("LOCALAPPDATA")):
        return Path(local)
    # "All paths set in these environment variables must be absolute. If an implementation encounters a relative path in
    # any of these variables it should consider the path invalid and ignore it." (XDG Base Directory Specification)
    data = Path(environ.get("XDG_DATA_HOME", ""))
    if data.is_absolute():
        return data
    return Path.home() / ("Library/Application Support" if platform == "darwin" else ".local/share")
