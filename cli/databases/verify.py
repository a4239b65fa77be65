"""The command ``verify``: compare bindings with their history."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store, require_database
from ..errors import DONE, NO, CommandError, store_errors, write
from ..log.monitor import source_of
from ..log.remote import Client, is_url
from ..log.trust import policy_file_option, read_trust_policy, vkey_option
from ..options import database_option, json_option, network_options
from ..output import Sheet, identifier, words
from ..progress import Progress

if TYPE_CHECKING:
    from ...bindings.backups.recovery import Newer
    from ...bindings.checks.verification import StoreFinding
    from ...net.allowed_addresses import Destinations

_WIDTH = 18


@click.command("verify", short_help="Compare bindings with their history.")
@click.option(
    "--against",
    metavar="FILE|EXPORT|LOG",
    help="Also compare the database with newer data: a store, an export or history, or the published log.",
)
@policy_file_option
@vkey_option
@network_options()
@json_option
@database_option
def verify_command(
    against: str | None,
    policy_file: str | None,
    vkey: str | None,
    destinations: Destinations,
    as_json: bool,
    database: str,
) -> int:
    """Compare all bindings with their history, and check the rules, counters, triggers and search of a database.

    The command reports bindings that differ from their last event, revisions with gaps, and rows that cannot be read.
    It reports events that give a name to another resource. It also reports events of unknown operations, counters below
    minted names, and missing or disabled triggers. Rules and prefix records that differ from their history are
    reported, too.

    --against finds an old backup: names, rules, counters and accounts that have later changes in the newer data, that
    are missing here, or whose history differs. Names and changes that only this database has are not reported. A table
    has no history: missing names, other resources and later times are reported, or other targets if it has no times. A
    log has names, withdrawals and redactions. `ararat recover --from` lists the same differences.

    Exit code: 0 everything is right, 1 there are findings, 2 not a database of Ararat, 69 no database.
    """
    from ...bindings.checks.verification import verify

    sheet, unknown = Sheet.of(sys.stdout), []
    with open_store(database, reading=True) as bindings:
        count = sum(_print(finding, sheet, as_json=as_json) for finding in verify(bindings))
        if against is not None:
            with open_newer(against, policy_file, vkey, destinations) as newer:
                count += sum(_print(finding, sheet, as_json=as_json) for finding in newer.compare(bindings))
                unknown = [*newer.unknown]
    if not as_json:
        write(sheet.prose(f"{count:,} found." if count else "Everything is right."))
        print_unknown(unknown, sheet)
    return NO if count else DONE


def print_unknown(unknown: Iterable[str], sheet: Sheet) -> None:
    """Print a line for each thing that the newer data of :func:`open_newer` cannot know of a database."""
    for each in unknown:
        write(sheet.prose(f"The source does not know: {each}."))


@contextmanager
def open_newer(place: str, policy_file: str | None, vkey: str | None, destinations: Destinations) -> Iterator[Newer]:
    """Open the newer data with which a database is compared: a store, possibly of the schema before, a table, the copy
    of a served file, or a history. It can also be the folder or URL of a log, for which the other parameters are.
    """
    from ...bindings.backups.recovery import of_store
    from ...bindings.imports.history import import_history, is_history
    from ...bindings.open import open_bindings, open_file

    if is_url(place) or Path(place).is_dir():
        yield _of_log(place, policy_file, vkey, destinations)
    elif place.endswith(".served"):
        require_database(place)
        with store_errors(), open_file(Path(place), served=False) as bindings:
            yield of_store(bindings)
    elif is_history(place):
        with (
            store_errors(),
            TemporaryDirectory(prefix="ararat-") as folder,
            open_bindings(f"{folder}/history.sqlite", create=True) as bindings,
        ):
            import_history(bindings, place)
            yield of_store(bindings, is_history=True)
    else:
        with open_store(_backup(place), older=True, reading=True) as bindings:
            yield of_store(bindings)


def _backup(place: str) -> str:
    """Return the URL of a file of SQLite with any name, and refuse a dump of PostgreSQL. Other places stay."""
    try:
        with Path(place).open("rb") as stream:
            beginning = stream.read(16)
    except OSError:
        return place
    if beginning.startswith(b"PGDMP"):
        remedy = "restore it into an empty database with pg_restore, and name this database"
        raise CommandError(f"{words(place)} is a dump of PostgreSQL", ("Fix", remedy))
    return f"sqlite:///{Path(place).absolute()}" if beginning == b"SQLite format 3\0" else place


def _of_log(place: str, policy_file: str | None, vkey: str | None, destinations: Destinations) -> Newer:
    from ...bindings.backups.recovery import of_log
    from ...bindings.log.errors import LogError
    from ...bindings.log.notes.checkpoints import Checkpoint
    from ...bindings.log.notes.notes import SignedNote

    policy = read_trust_policy(policy_file, vkey)
    if policy is None and is_url(place):
        raise click.UsageError("give the key of the log at this URL with --vkey or --policy")
    with closing(Client(destinations)) as client, Progress("entries") as progress:
        source = source_of(place, client)
        try:
            content = source.checkpoint()
            if content is None:
                raise LogError("the log has no checkpoint")
            if policy is None:
                checkpoint = Checkpoint.of_text(SignedNote.of_bytes(content).text)
            else:
                checkpoint = policy.read(content).checkpoint
            return of_log(source, checkpoint, progress.count)
        except LogError as error:
            what = f"the log {words(place)} cannot be used: {error}"
            raise CommandError(what, ("Fix", "give another copy of the log")) from None


def _print(finding: StoreFinding, sheet: Sheet, *, as_json: bool) -> int:
    if as_json:
        streams.dump(finding._asdict())
    else:
        word = sheet.paint(finding.code.ljust(_WIDTH), "error")
        sys.stdout.write(f"{word} {identifier(finding.identifier)}".rstrip() + "\n")
        write(sheet.prose(f"{finding.message}\nFix: {finding.remedy}", indent=_WIDTH + 1))
    return 1
