"""The versions of the tables, and the messages about a database that Ararat cannot use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..names.errors import NoTables
    from .protocols import Database

VERSION = 5
"""The version of the schema. A server opens only a database of this version (:mod:`.migration.migrations`)."""

OLDEST = 4
"""The oldest version that the command ``ararat migrate`` upgrades. No release of Ararat wrote an older one."""

LACKING = {4: ("numbers",)}
"""The columns of names that the tables of an older version lack. ``ararat recover`` writes into such a database,
so that the older program can read it after a failed upgrade."""

VERSION_SQL = "SELECT value FROM ararat WHERE name = 'schema'"
"""The query for the version of the schema."""


def first_settings() -> dict[str, str]:
    """Return the settings with which the table ``ararat`` of a new database begins, by name."""
    return {"schema": str(VERSION), "rules": "0"}


def number_of(version: str | None) -> int | None:
    """Return the number in the version text of a database, or None for another text."""
    return int(version) if version and re.fullmatch("[1-9][0-9]{0,8}", version) else None


def no_database(database: Database) -> NoTables:
    """Return the error for a database that does not exist or has no tables of Ararat."""
    from ..names.errors import NoTables  # loaded here, so that `ararat --version` starts fast

    return NoTables(f"{database} does not exist or has no tables of Ararat", str(database))


def wrong_version(database: Database, version: str | None) -> str | None:
    """Return the error message for tables of another version than that of ``database``, or None."""
    return None if version == str(database.version) else _wrong(database, version)


def _wrong(database: Database, version: str | None) -> str:
    number = number_of(version)
    if number is None:
        remedy = "restore a backup"
    elif number > VERSION:
        remedy = "update Ararat"
    elif number < OLDEST:
        remedy = "export its names with the Ararat that wrote it, and import them into a new database"
    else:
        remedy = f"run: ararat migrate --database {database}"
    return f"{database} has version {version or 'none'} of the schema and this Ararat needs {VERSION}; {remedy}"


def require_version(database: Database, version: str | None) -> None:
    """Raise :class:`BindingsUnavailable` if a migration or a replaced file changed the version of an open database."""
    # The version was right when the store was opened. Since then, the database was replaced or migrated.
    if version != str(database.version):
        # `ararat --version` imports this module, so it must load quickly.
        from ..names.errors import BindingsUnavailable

        raise BindingsUnavailable(_wrong(database, version))
