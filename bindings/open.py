"""Open the bindings at a URL or path: find out if it is a database or a table file, and choose the store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .collection import Bindings, utc_now
from .names import validation
from .names.errors import BindingError
from .names.naming import NamingRules, naans_for_tests
from .names.policy import PolicyCheck
from .storage.protocols import READ_SECONDS
from .storage.reopening import Opening

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from .storage.databases.sqlite import SQLite
    from .storage.protocols import Database
    from .stores import Store

DATABASE_SUFFIXES = (".sqlite", ".sqlite3", ".db")
SNAPSHOT_SUFFIX = ".snapshot"
_DRIVE = re.compile(r"\A[A-Za-z]:[/\\]")  # of Windows
_SCHEME = re.compile(r"[\w+.-]+")
# The start of a URL or of a connection string of libpq after sqlite:///. One letter before a colon is a drive.
_CONNECTION = re.compile(r"/*(\w[\w+.-]+:|\w+=)")


def open_bindings(
    url_or_path: str | Path,
    *,
    create: bool = False,
    clock: Callable[[], datetime] = utc_now,
    policy: Profile | None = None,
    state: str | Path | None = None,
    test_naans: Iterable[str] = (),
    read_seconds: float | None = READ_SECONDS,
    search_seconds: float | None = None,
    search_names: int | None = None,
    missing_ok: bool = False,
) -> Bindings:
    """Open the bindings in a database, a table file or a snapshot. The last two can only be read.

    - ``url_or_path``: a ``postgresql://`` URL in any form that libpq accepts, or ``sqlite:///bindings.sqlite`` (four
      slashes before an absolute path). A path ends in .sqlite, .sqlite3 or .db for a database, in .csv, .tsv, .jsonl
      or .ndjson for a table, or in .snapshot for a file of ``ararat snapshot``.
    - ``create``: whether to create a missing SQLite file and missing tables.
    - ``clock``: a function that returns the time in UTC.
    - ``policy``: an IRI policy that every change must follow (:mod:`ararat.identifiers.iri_policy`).
    - ``state``: the folder for the copy of a served table file; the default is the folder of the file.
    - ``test_naans``: the NAANs below which names can be bound for tests: none, or 99999 (decision X-06). A resolver of
      these bindings answers for them.
    - ``read_seconds``: the time after which PostgreSQL stops a statement of a reader. None permits any time, as for the
      commands. SQLite has no limit.
    - ``search_seconds``: the time after which a list or search returns what it has found, 0.1 by default.
    - ``search_names``: the number of names that a list sorts, 20,000 by default. One query of a list compares 5,000, or
      this number if it is less.
    - ``missing_ok``: whether a site starts without a file that does not exist yet. The ready applications do.

    Raises ValueError for another NAAN in ``test_naans``. Raises :class:`BindingError` with the code
    ``database-missing`` for a file, or with ``create`` a folder, that does not exist. Other codes are ``database-url``,
    ``database-in-memory`` and ``driver-missing``. A store that exists and cannot be opened raises nothing here, so that
    a site starts without it. The reason is logged, every method raises :class:`BindingsUnavailable`, and opening is
    tried again. :meth:`Bindings.open` raises the reason.

    >>> open_bindings("bindings")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ararat.bindings.names.errors.BindingError: bindings is not the name of a database (database-url)
    expected sqlite:///FILE, postgresql://HOST/NAME, or a FILE.sqlite, ... (Ararat)
    """
    bindings = bindings_at(
        url_or_path,
        create=create,
        clock=clock,
        policy=policy,
        state=state,
        test_naans=test_naans,
        read_seconds=read_seconds,
        search=(search_seconds, search_names),
    )
    if not missing_ok and (file := _file(url_or_path)) is not None:
        # A database can be created in a folder, and neither a table nor a folder.
        missing = file.parent if create and bindings.kind == "database" else file
        if not missing.exists():
            raise BindingError("database-missing", f"{validation.quote(str(missing), 200)} does not exist")
    bindings._opening.try_to_open()
    return bindings


def _file(url_or_path: str | Path) -> Path | None:
    """Return the file of an SQLite database, a table or a snapshot; None for PostgreSQL."""
    if (table := table_file(url_or_path)) is not None:
        return table
    from .storage.databases.sqlite import SQLite

    database = database_at(url_or_path)
    return database.path if isinstance(database, SQLite) else None


def open_file(
    path: Path,
    *,
    policy: Profile | None = None,
    state: str | Path | None = None,
    served: bool = True,
    test_naans: Iterable[str] = (),
) -> Bindings:
    """Open the bindings in a table file, which can only be read. An unknown extension means CSV. ``state`` is the
    folder for the copy of a served file, by default that of the file. Without ``served``, it is read once, without a
    copy. Then :class:`TableError` or :class:`BindingsUnavailable` is raised for a wrong file, or one that cannot be
    read.
    """
    bindings = _file_at(path, utc_now, policy, state, test_naans, served=served)
    if not served:
        return bindings.open()
    bindings._opening.try_to_open()
    return bindings


def bindings_at(
    url_or_path: str | Path,
    *,
    create: bool = False,
    clock: Callable[[], datetime] = utc_now,
    policy: Profile | None = None,
    state: str | Path | None = None,
    test_naans: Iterable[str] = (),
    read_seconds: float | None = READ_SECONDS,
    search: tuple[float | None, int | None] = (None, None),
    older: bool = False,
    reading: bool = False,
) -> Bindings:
    """Return the bindings at a URL or path, whose store is opened when it is first used. The arguments are those of
    :func:`open_bindings`. ``search`` are the limits of lists in seconds and names. With ``older``, a database of the
    schema before is opened, too (:data:`.versions.LACKING`). With ``reading``, an SQLite file and its log that no
    program uses stay as they are (:mod:`.databases.resting`).
    """
    if (table := table_file(url_or_path)) is not None:
        return _file_at(table, clock, policy, state, test_naans)
    # SQLAlchemy takes longer to load than all of Ararat, so it is loaded only for a database.
    from .storage.databases.snapshot_file import SnapshotFile
    from .storage.databases.sqlite import SQLite
    from .storage.listing import SearchLimits
    from .storage.store import open_store

    database = database_at(url_or_path, read_seconds)
    if reading and isinstance(database, SQLite):
        from .storage.databases.resting import at_rest

        database = at_rest(database)
    opening: Opening[Store] = Opening(
        str(database),
        lambda: open_store(database, create=create, older=older, clock=clock, limits=SearchLimits(*search)),
    )
    return Bindings(
        opening,
        clock,
        policy,
        kind="snapshot" if isinstance(database, SnapshotFile) else "database",
        is_local=isinstance(database, SQLite),
        test_naans=naans_for_tests(test_naans),
    )


def _file_at(
    path: Path,
    clock: Callable[[], datetime],
    policy: Profile | None,
    state: str | Path | None,
    test_naans: Iterable[str],
    *,
    served: bool = True,
) -> Bindings:
    from .served_file.store import FileStore

    _refuse_password(path)
    check_change = PolicyCheck(policy) if policy else None
    tests = naans_for_tests(test_naans)
    folder = None if state is None else Path(state)
    rules = NamingRules(policy, tests)
    store = lambda: FileStore(path, check_change, served=served, state=folder, rules=rules, clock=clock)  # noqa: E731
    where = validation.quote(str(path.absolute()), 200)
    return Bindings(Opening(where, store), clock, policy, kind="file", is_local=True, test_naans=tests)


def table_file(url_or_path: str | Path) -> Path | None:
    """Return the path of a table file (.csv, .tsv, .jsonl or .ndjson), or None if the text is that of a database.

    >>> table_file("names.csv"), table_file("sqlite:///names.csv"), table_file("names.sqlite")
    (PosixPath('names.csv'), None, None)
    """
    if isinstance(url_or_path, str) and "://" in url_or_path:
        return None
    suffix = Path(url_or_path).suffix.lower()
    if suffix in DATABASE_SUFFIXES or may_have_password(url_or_path):
        return None
    from .tables.text_tables import SUFFIXES

    return Path(url_or_path) if suffix in SUFFIXES else None


def is_store_file(path: str | Path) -> bool:
    """Return whether the name of a file ends as that of a database, a table file or a snapshot.

    >>> is_store_file("names.NDJSON"), is_store_file("names.sqlite3"), is_store_file("names.txt")
    (True, True, False)
    """
    from .tables.text_tables import SUFFIXES

    return Path(path).suffix.lower() in (*DATABASE_SUFFIXES, SNAPSHOT_SUFFIX, *SUFFIXES)


def may_have_password(url_or_path: str | Path) -> bool:
    """Return whether a text looks like a mistyped database URL with a password, so that messages must not repeat it.

    >>> may_have_password("postgresql:/user:secret@host/names"), may_have_password("names.csv")
    (True, False)
    """
    place = str(url_or_path)
    text = place.removeprefix("sqlite:///")
    if text != place:
        suspicious = bool(_CONNECTION.match(text)) and ("@" in text or "password=" in text)
    else:
        before_host = _DRIVE.sub("", text).rpartition("@")[0]
        suspicious = "://" not in text and (":" in before_host or "password=" in text)
    return suspicious and not os.path.exists(text)  # noqa: PTH110 - before Python 3.14 Path.exists() can raise


def _refuse_password(url_or_path: str | Path) -> None:
    """Raise :class:`BindingError` for a mistyped URL with a password, because messages name files."""
    if may_have_password(url_or_path):
        message = "the address may contain a password, so it is not shown; write a URL that begins with postgresql://"
        raise BindingError("database-url", message)


def database_at(url_or_path: str | Path, read_seconds: float | None = READ_SECONDS) -> Database:
    """Return the description of the SQLite or PostgreSQL database at a URL or path, without opening it.
    ``read_seconds`` is the limit of a statement of a reader; None permits any time. Raises :class:`BindingError` like
    :func:`open_bindings`.
    """
    place = str(url_or_path)
    _refuse_password(place)
    scheme, separator, rest = place.partition("://")
    if isinstance(url_or_path, Path) or not separator:
        if place == ":memory:":
            raise BindingError("database-in-memory")
        return _file_of(_database_file(place))
    # SQLAlchemy uses "postgresql+psycopg", and some hosting providers use "postgres".
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        from .storage.databases.postgresql import PostgreSQL

        return PostgreSQL(f"postgresql://{rest}", read_seconds)
    if scheme != "sqlite":
        kind = f"the kind {validation.quote(scheme)}" if _SCHEME.fullmatch(scheme) else "this kind"
        raise BindingError("database-url", f"databases of {kind} are not supported")
    if rest in ("", "/", "/:memory:"):
        raise BindingError("database-in-memory")
    if not rest.startswith("/"):
        message = "sqlite: needs three slashes before a relative path, and four before an absolute path"
        raise BindingError("database-url", message)
    if "?" in rest:
        raise BindingError("database-url", "the URL of an SQLite file cannot contain options; remove the part from ?")
    return _file_of(Path(rest[1:]))


def _file_of(path: Path) -> SQLite:
    """Return the database in a file: a snapshot by its suffix, otherwise an SQLite file."""
    from .storage.databases.snapshot_file import SnapshotFile
    from .storage.databases.sqlite import SQLite

    return SnapshotFile(path) if path.suffix.lower() == SNAPSHOT_SUFFIX else SQLite(path)


def _database_file(place: str) -> Path:
    suffix = Path(place).suffix.lower()
    if suffix not in (*DATABASE_SUFFIXES, SNAPSHOT_SUFFIX):
        message = (
            f"{validation.quote(place)} is not the name of a database" if place else "the name of the database is empty"
        )
        raise BindingError("database-url", message)
    return Path(place)
