"""The folder of the registry tables that a user has installed with ``ararat registry update``.
The command ``ararat`` adds it with :func:`use_user_tables`. By default, :mod:`ararat.identifiers.registries` uses only
its built-in tables. A WSGI application can add a folder with ``registries.use(Path(...))``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...identifiers.registries.tables import AnyTable, Record, Registry, Table

VARIABLE = "ARARAT_REGISTRIES"
"""The environment variable for another folder."""


def registry_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return the folder of updated registries: ``ARARAT_REGISTRIES``, or one in the data folder of the user.
    ``platform`` is as in ``sys.platform``. Raises RuntimeError if there is no home folder.

    >>> registry_folder({"XDG_DATA_HOME": "/srv/data"}, "linux").as_posix()
    '/srv/data/ararat/registries'
    """
    if named := environ.get(VARIABLE):
        return Path(named)
    return _data_home(environ, platform) / "ararat" / "registries"


@contextmanager
def use_user_tables() -> Iterator[None]:
    """Use the tables of the user (:func:`registry_folder`) before the built-in ones, until the ``with`` block ends.
    Then print an error for each table that could not be read.
    """
    folder: Path | None = None
    # Without a home folder there are no installed tables.
    with suppress(RuntimeError):
        folder = registry_folder()
    # The home folder may be closed to this process, for example by ProtectHome of systemd.
    if folder is None or not os.path.exists(folder):  # noqa: PTH110 - before Python 3.14 Path.exists() can raise
        # Most commands need no registry, so the modules of the registries are not loaded.
        yield
        return
    from ...identifiers import registries

    registries.use(folder)
    try:
        yield
    finally:
        for error in registries.current().passed_over:
            sys.stderr.write(f"ararat: {error}; the built-in table was used instead\n")
        registries.use()


def table_in(folder: Path, registry: Registry[Record]) -> Table[Record]:
    """Return the table of a registry in a folder, or the built-in table without one.
    Raises OSError and :class:`~ararat.identifiers.registries.tables.RegistryError` if it cannot be read.
    """
    from ...identifiers import registries
    from ...identifiers.registries import tables as registry_tables

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
    """Write tables to a folder, which is created if it is missing, and return the files. Raises OSError.
    All tables are written to temporary files before the first one is replaced. A full disk changes nothing.
    """
    from tempfile import TemporaryDirectory  # most commands write no table

    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".", dir=folder) as aside:
        written: list[Path] = []
        for table in tables:
            path = Path(aside) / table.registry.file
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                stream.write(table.text())
                stream.flush()
                os.fsync(stream.fileno())
            written.append(path)
        return [path.replace(folder / path.name) for path in written]


def _data_home(environ: Mapping[str, str], platform: str) -> Path:
    if platform == "win32" and (local := environ.get("LOCALAPPDATA")):
        return Path(local)
    # "All paths set in these environment variables must be absolute. If an implementation encounters a relative path in
    # any of these variables it should consider the path invalid and ignore it." (XDG Base Directory Specification)
    data = Path(environ.get("XDG_DATA_HOME", ""))
    if data.is_absolute():
        return data
    return Path.home() / ("Library/Application Support" if platform == "darwin" else ".local/share")
