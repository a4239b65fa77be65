"""The command ``jobs``: list the unfinished jobs of a site, what they wait for, and continue one that stopped."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, CommandError, write
from ..options import WholeNumber, database_option, json_option
from ..output import Sheet, words
from .stores import open_accounts

if TYPE_CHECKING:
    from ...webapp.jobs.model import Job


@click.command("jobs", short_help="List the unfinished jobs of the site, or continue one.")
@click.option("--resume", type=WholeNumber(1, 2**31 - 1), metavar="NUMBER", help="Continue this job, which stopped.")
@json_option
@database_option
def jobs_command(resume: int | None, as_json: bool, database: str) -> int:
    """List the jobs of the site that wait or run, and the last ones that stopped: imports, checks, changes and exports.

    The reason of a delay is printed. A job stops if its process ended three times without progress, or by a
    defect. Find the cause in the log of the server, then continue the job with --resume. A running server carries it
    out within about a minute.

    Exit code: 0 done, 1 the job cannot be continued, 2 its operation was undone, 69 no database.
    """
    from ...webapp.jobs.queue import Jobs

    with open_accounts(database, reading=resume is None) as accounts:
        jobs = Jobs(accounts)
        if resume is not None and not accounts.bindings.run_in_transaction(
            lambda transaction: jobs.resume(transaction, resume)
        ):
            raise CommandError(
                f"the job {resume} cannot be continued: it runs, has ended, or does not exist",
                ("Fix", "choose a stopped job of the list: ararat jobs"),
                exit_code=NO,
            )
        names: dict[int | None, str] = {account.number: account.name for account in accounts.list()}
        found = [*jobs.list_stopped()[::-1], *(jobs.waiting_if_silent(job) for job in jobs.list_unfinished())]
    sheet = Sheet.of(sys.stdout)
    for job in found:
        if as_json:
            streams.dump(_row(job, names))
        else:
            write(sheet.prose(_line(job, names)))
            why = job.reason or ((job.result or {}).get("problem") or {}).get("detail")
            if why:
                write(sheet.prose(words(str(why)), indent=8))
    if not found and not as_json:
        write(sheet.prose("No job waits, runs or has stopped."))
    return DONE


def _line(job: Job, names: Mapping[int | None, str]) -> str:
    state = "stopped" if job.has_stopped else job.state
    of = f" of {job.total:,}" if job.total else ""
    by = f" by {words(names[job.account])}" if job.account in names else ""
    return f"{job.number:<7} {job.kind}{by}: {state}, {job.progress:,}{of}; {job.created:%Y-%m-%d %H:%M:%S} UTC"


def _row(job: Job, names: Mapping[int | None, str]) -> dict[str, object]:
    from ...bindings.names.binding import rfc3339

    return {
        "number": job.number,
        "kind": job.kind,
        "account": names.get(job.account),
        "state": job.state,
        "progress": job.progress,
        "total": job.total,
        "created": rfc3339(job.created),
        "changed": rfc3339(job.changed),
        "waits": job.waits,
        "problem": (job.result or {}).get("problem"),
        "can_resume": job.has_stopped,
    }
