"""The command ``monitor``: replay a log, and report what is wrong in it."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, NO_INPUT, CommandError, write, writing
from ..options import check_file, network_options
from ..output import Sheet, format_count, words
from ..progress import Progress
from .remote import Client, RemoteLog, is_url, read_file
from .trust import policy_file_option, read_trust_policy, vkey_option

if TYPE_CHECKING:
    from ...bindings.log.verification.monitor import LastSeen, LogSource, Monitor
    from ...net.allowed_addresses import Destinations

_MOST = 1_000
"""The number of problems that are printed."""


@click.command("monitor", short_help="Check all entries of a log, and report problems.")
@click.argument("place", metavar="URL|DIR")
@click.option(
    "--state",
    "state_file",
    metavar="FILE",
    callback=check_file,
    help="Compare with the checkpoint in FILE, and replace it if the log contains it. A missing FILE is created.",
)
@policy_file_option
@vkey_option
@network_options()
@click.option("--json", "as_json", is_flag=True, help="Print each problem as a line of JSON, then a summary.")
def monitor_command(
    place: str,
    state_file: str | None,
    policy_file: str | None,
    vkey: str | None,
    destinations: Destinations,
    as_json: bool,
) -> int:
    """Read all entries of the log at URL or in DIR, compute all hashes again, and print each problem.

    Problems are: a name with a second resource, missing or repeated changes, a wrong previous entry, a change after a
    withdrawal, files that are missing or damaged or differ from the signed checkpoint, and a missing quorum. With
    --state also: a log that lost entries, or shows another history than at the last visit.

    Run this command regularly, on another machine than that of the log. Give the log to trust with --policy or --vkey,
    or FILE of an earlier run.

    Exit code: 0 no problem, 1 problems, 2 FILE or the policy is not valid, 66 a file cannot be read, 69 no response,
    74 the file of --state cannot be written.

    \b
      ararat monitor https://example.org/log --policy trusted.policy --state example.seen
    """
    from ...bindings.log.verification.monitor import Monitor
    from ...bindings.log.verification.policy import Party, Policy

    last = _last_seen(state_file)
    policy = read_trust_policy(policy_file, vkey)
    if policy is None and last is None:
        raise click.UsageError(
            "give the trusted log with --policy or --vkey, or the file of an earlier run with --state"
        )
    policy = policy or Policy(logs=[Party(key=last.key)] if last else [])
    count = 0
    with closing(Client(destinations)) as client, Progress("entries") as progress:
        monitor = Monitor(source_of(place, client), policy, last, progress.count)
        for finding in monitor.findings():
            count += 1
            progress.clear()
            if as_json:
                streams.dump({"finding": finding.as_dict()})
            elif count <= _MOST:
                write(Sheet.of(sys.stdout).prose(f"{finding.place}: {finding.message} ({finding.code})", style="error"))
    if state_file is not None and monitor.is_consistent and monitor.seen is not None:
        with writing(words(state_file)), streams.replace_file(state_file) as stream:
            stream.write(bytes(monitor.seen))
    if as_json:
        streams.dump(_summary(monitor, count))
    else:
        _print(monitor, count)
    return NO if count else DONE


def _print(monitor: Monitor, count: int) -> None:
    sheet = Sheet.of(sys.stdout)
    if count > _MOST:
        write(sheet.prose(f"and {count - _MOST:,} more problems; --json prints all", style="error"))
    entries = format_count(monitor.entries, "entry", "entries")
    names = format_count(monitor.names, "name")
    problems = format_count(count, "problem")
    if monitor.seen is None:
        write(sheet.prose(f"{problems}. No entry was read.", style="error"))
        return
    origin = words(monitor.seen.key.name)
    if count:
        write(sheet.prose(f"{problems} in the log {origin}: read {entries} of {names}.", style="error"))
    else:
        write(sheet.prose(f"No problem in the log {origin}: read {entries} of {names}.", style="good"))


def _summary(monitor: Monitor, count: int) -> dict[str, object]:
    seen = monitor.seen
    return {
        "log": seen.key.name if seen else None,
        "entries": monitor.entries,
        "names": monitor.names,
        "problems": count,
        "consistent": monitor.is_consistent,
        "checkpoint": seen.note.decode() if seen else None,
    }


def _last_seen(state_file: str | None) -> LastSeen | None:
    from ...bindings.log.errors import LogError
    from ...bindings.log.verification.monitor import MAX_LAST_SEEN, LastSeen

    if state_file is None or streams.does_not_exist(state_file):
        return None
    try:
        return LastSeen.of_bytes(read_file(state_file, MAX_LAST_SEEN))
    except LogError as error:
        fix = "give the file that an earlier run has written; without it, the histories cannot be compared"
        raise CommandError(f"{words(state_file)}: {error}", ("Fix", fix)) from None


def source_of(place: str, client: Client) -> LogSource:
    """Return a reader for the public log at a URL or in a folder. Raises :class:`CommandError` without a log there."""
    if is_url(place):
        return RemoteLog(place, client)
    from ...bindings.log.folder import CHECKPOINT, LogFolder

    checkpoint = Path(place) / CHECKPOINT
    try:
        checkpoint.stat()  # a wrong path is not a fault of the log
    except OSError as error:
        raise CommandError(f"{words(str(checkpoint))} cannot be read: {error.strerror}", exit_code=NO_INPUT) from None
    return LogFolder(Path(place))
