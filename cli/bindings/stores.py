"""Open the store that ``--database`` names."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UNAVAILABLE, CommandError, store_errors, write
from ..options import test_naans
from ..output import Sheet
from ..streams import does_not_exist

if TYPE_CHECKING:
    from ...bindings.changes import Decide
    from ...bindings.names.naming import NameWarning
    from ...bindings.names.policy import ChangeCheck
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings
    from ...webapp.accounts.store import Accounts

_MAX_NAANS = 10
SERVED_ADVICE = "a served name needs a site behind ResolverMiddleware. For `ararat serve` alone, use the kind located."
"""The advice about names of the kind "served"."""


@contextmanager
def open_store(
    url: str, *, create: bool = False, profile: Profile | None = None, older: bool = False, reading: bool = False
) -> Iterator[Bindings]:
    """Open the database or file at a URL for a command. Its errors become :class:`~ararat.cli.errors.CommandError`.

    With ``older``, a database of the schema before is opened, too, and keeps its version. With ``reading``, the command
    writes nothing, and leaves the files of a copy as they are. A missing database is created only with ``create``. If
    nothing is written and the block raises an exception, it is deleted again. Changes must follow ``profile``.
    """
    from ...bindings.open import bindings_at, open_file, table_file

    if not create or table_file(url) is not None:
        # No command creates a text file.
        require_database(url)
    with store_errors(), ExitStack() as after:
        table = table_file(url)
        if table is None:
            # A command can read millions of names, and no reader waits for it.
            bindings = bindings_at(
                url,
                create=create,
                policy=profile,
                test_naans=test_naans(),
                read_seconds=None,
                older=older,
                reading=reading,
            )
            if create and is_new(url):
                after.push(lambda kind, *_: delete_if_empty(url) if kind else None)
            bindings.open()
        else:
            bindings = open_file(table, policy=profile, served=False, test_naans=test_naans())
        if profile is not None:
            after.callback(_warn_of_policy, bindings.check_change)
        # Without this, the garbage collector searches all loaded objects again and again: 10 % of the time of an
        # import of millions of rows.
        gc.freeze()
        try:
            yield bindings
        finally:
            gc.unfreeze()
            bindings.close()


def _warn_of_policy(check: ChangeCheck | None) -> None:
    """Print the warnings of a policy about the changes that were made."""
    from ...bindings.names.policy import PolicyCheck

    sheet = Sheet.of(sys.stderr)
    for warning in check.warnings if isinstance(check, PolicyCheck) else ():
        write(sheet.prose(f"ararat: warning: {warning}", style="warning"), to=sys.stderr)


@contextmanager
def open_accounts(url: str, *, reading: bool = False) -> Iterator[Accounts]:
    """Open the accounts of the store at ``url`` for a command. Their errors become
    :class:`~ararat.cli.errors.CommandError`. ``reading`` is that of :func:`open_store`.
    """
    from ...webapp.accounts.model import AccountError
    from ...webapp.accounts.store import Accounts

    with open_store(url, reading=reading) as bindings:
        try:
            yield Accounts(bindings)
        except AccountError as error:
            what = f"{error.message} ({error.code})"
            fix = f"{error.fix}, or use --force" if error.code == "account-last" else error.fix
            raise CommandError(what, ("Fix", fix), exit_code=error.entry.exit_code) from None


@contextmanager
def warn_of_unregistered(bindings: Bindings, naans: Collection[str], *, strict: bool) -> Iterator[None]:
    """Watch changes of names in a ``with`` block, and warn at its end of each NAAN that is not registered (ARK-015).
    ``naans`` cause no warning. With ``strict``, a name below an unregistered NAAN is refused instead.
    """
    from ...bindings.names.policy import RegisteredNaans

    bindings.check_change = watching = RegisteredNaans(bindings.check_change, naans, strict=strict)
    yield
    warnings = [f"NAAN {naan} is not registered" for naan in watching.unregistered[:_MAX_NAANS]]
    if more := len(watching.unregistered) - len(warnings):
        warnings.append(f"{more:,} more NAANs are not registered")
    sheet = Sheet.of(sys.stderr)
    for warning in warnings:
        advice = "register it with the ARK Maintenance Agency, or give it with --naans if it is yours"
        write(sheet.prose(f"ararat: warning: {warning}: {advice}", style="warning"), to=sys.stderr)


def warn_before(bindings: Bindings, identifier: str, decide: Decide) -> None:
    """Print the warnings about a name before it is changed: personal data, and probable mistakes. A recorded name has
    only those about new targets, and about values that another name has.
    """
    from ...bindings.checks import new_names
    from ...bindings.checks.plausibility import target_warnings
    from ...bindings.names import naming
    from ...bindings.names.errors import BindingError
    from ...bindings.names.metadata import personal_data

    try:
        before = bindings.lookup(identifier)
        change = decide(before, bindings.now())[-1]
    except BindingError:
        return
    after = change.after
    # The library logs the warnings about persistence statements, of all commands.
    if before is None:
        named = new_names.ComparedName.of(after, spelling=identifier)._replace(metadata={})
        spelling = naming.spelling_of(identifier)
        found = personal_data.warnings_about(spelling, after.target, after.resource, after.metadata)
    elif change.action is not None:
        named = new_names.ComparedName.of_change(before, after)
        places = dict.fromkeys((after.target, *after.alternates.values()))
        known = (before.target, *before.alternates.values())
        found = [warning for each in places if each not in known for warning in target_warnings(each)]
    else:
        return
    print_warnings(dict.fromkeys([*found, *(new_names.warnings_before(bindings, [named])[0] if named else ())]))


def print_warnings(warnings: Iterable[NameWarning]) -> None:
    """Print each warning about a name with its code to standard error."""
    sheet = Sheet.of(sys.stderr)
    for warning in warnings:
        write(sheet.prose(f"ararat: warning: {warning.message} ({warning.code})", style="warning"), to=sys.stderr)


def delete_if_empty(url: str) -> None:
    """Delete the SQLite file, or the PostgreSQL tables, of the database at ``url`` if it has no records."""
    from ...bindings.open import database_at
    from ...bindings.storage.writing import creation

    creation.delete_if_empty(database_at(url))


def require_database(url: str) -> None:
    """Raise :class:`~ararat.cli.errors.CommandError`, with how to create it, if ``url`` names a missing file."""
    if is_missing(url):
        from ...bindings.open import SNAPSHOT_SUFFIX, table_file

        if Path(url).suffix.lower() == SNAPSHOT_SUFFIX or table_file(url) is not None:
            raise CommandError(
                f"there is no file {url}", ("Fix", "give the path of an existing file"), exit_code=UNAVAILABLE
            )
        raise CommandError(
            f"there is no database at {url}",
            ("Fix", f"check the name; to create a database, run: ararat init --database {url}"),
            exit_code=UNAVAILABLE,
        )


def is_missing(url: str) -> bool:
    """Return whether ``url`` is the path or the SQLite URL of a file that does not exist.

    >>> is_missing("sqlite:////no/such/file.sqlite"), is_missing("postgresql://localhost/names")
    (True, False)
    """
    from ...bindings.open import may_have_password

    scheme, mark, path = url.rpartition("sqlite:///") if "://" in url else ("", "file", url)
    return bool(mark and not scheme and path and does_not_exist(path) and not may_have_password(url))


def is_new(url: str) -> bool:
    """Return whether ``url`` names a missing SQLite file, or a PostgreSQL database without tables."""
    return does_not_exist(url.removeprefix("sqlite:///")) and has_no_tables(url)


def has_no_tables(url: str) -> bool:
    """Return whether ``url`` names a database without tables, also one that does not exist. Raises
    :class:`~ararat.cli.errors.CommandError` for a database of another program, and for one that cannot be created.
    """
    from ...bindings.open import database_at, table_file
    from ...bindings.storage.store import has_tables

    with store_errors():
        if table_file(url) is not None or has_tables(database := database_at(url)):
            return False
        if database.exists():
            from ...bindings.storage.writing.creation import require_no_tables

            require_no_tables(database)
        # A dry run refuses what the run would refuse.
        database.require_writable(creating=True)
        return True
