"""The command ``init``: create a database for bindings."""

from __future__ import annotations

import sys

import click

from ..errors import DONE, CommandError, store_errors, write
from ..options import WholeNumber, database_option
from ..output import Sheet

MAX_PARTITIONS = 64


@click.command("init", short_help="Create a database for bindings.")
@database_option
@click.option(
    "--partitions",
    type=WholeNumber(2, MAX_PARTITIONS),
    metavar="N",
    help="Divide the names into N partitions by the hash of the name, from 2 to 64 (PostgreSQL only). Use it for more"
    " than about 50 million names: each lookup takes longer. The number cannot be changed later.",
)
def init_command(database: str, partitions: int | None) -> int:
    """Create the file of an SQLite database, or the tables in an empty PostgreSQL database.

    A database that exists is not changed. `ararat bind` and `ararat import` also create a missing database.

    Exit code: 0 the database exists, 2 it cannot be used for bindings, 69 it cannot be reached.
    """
    from ...bindings.open import database_at, table_file
    from ...bindings.storage.store import create_database

    if table_file(database) is not None:
        raise CommandError(
            f"cannot create {database}: a text file can only be read",
            ("Expected", "postgresql://HOST/NAME, sqlite:///FILE, or a file that ends in .sqlite or .db"),
        )
    with store_errors():
        place = database_at(database)
        if partitions and place.dialect_name != "postgresql":
            raise CommandError(
                f"cannot create partitions in {place}: only PostgreSQL has partitions",
                ("Expected", "postgresql://HOST/NAME, or no --partitions"),
            )
        created = create_database(place, partitions=partitions or 0)
    result = f"Created {place}. It has no names." if created else f"{place} already exists. Nothing was changed."
    write(Sheet.of(sys.stdout).prose(result))
    return DONE
