"""The command ``check --url``: ask a running site for each name of a table, and compare the answers with the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple
from urllib.parse import urljoin

import click

from ...bindings.open import is_store_file
from ...identifiers.text import display
from ...middleware.http.expected_answers import FOUND, AnswerFault, ExpectedAnswer, answer_of, fault, path_of
from ...middleware.resolution.destination import answer_for
from ...middleware.resolution.source import settings_of
from ...net.hop import HopFailed
from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, NO_INPUT, CommandError, write
from ..output import Sheet, format_count, identifier
from ..progress import Progress
from .junit import JUnitCase, write_junit
from .requests import UNREACHABLE, RunningSite, unavailable

_REASONS = "application/problem+json, */*;q=0.1"
_WIDTH = 8


class NameResult(NamedTuple):
    """The result of the check of one name: its address, the status of the answer, and the fault or None."""

    name: str
    url: str
    status: int | None
    fault: AnswerFault | None


def check_names(site: RunningSite, file: str | None, database: str | None, *, as_json: bool, junit: str | None) -> int:
    """Request each name from a running site, print the results, and return the exit code of ``check --url``.
    The names are in the table or text ``file``, or else those of ``database``, which has the expected answers.
    """
    if file is None and database is None:
        raise click.UsageError("no names are given; give FILE, - or --database URL")
    cases: list[JUnitCase] = []
    wrong = total = 0
    sheet, progress = Sheet.of(sys.stdout), Progress(shown=not sys.stdout.isatty())
    with ExitStack() as open_files:
        names = expected_names(file, database, open_files)
        for result in site.each(names, lambda each: _ask(site, *each)):
            total += 1
            wrong += result.fault is not None
            if as_json:
                streams.dump(_as_dict(result))
            else:
                write(_lines(result, sheet))
            if junit is not None:
                cases.append(JUnitCase(result.name, "names", _failures(result)))
            progress.show(f"{total:,} asked")
    progress.clear()
    if junit is not None:
        write_junit(junit, f"names of {site.address}", cases)
    if not as_json:
        message = f"{format_count(total, 'name')} asked at {site.address}: "
        write(sheet.prose(message + (f"{wrong:,} wrong." if wrong else "all work." if total else "none given.")))
    return NO if wrong else DONE


def expected_names(
    file: str | None, database: str | None, open_files: ExitStack
) -> Iterator[tuple[str, ExpectedAnswer]]:
    """Yield each name of a table, or of a database, with its expected answer."""
    if file is not None and not is_store_file(file):
        for line in streams.lines(file):
            if text := line.text.strip():
                yield text, ExpectedAnswer(FOUND)
        return
    if file is not None and streams.does_not_exist(file):
        raise CommandError(f"cannot read {file}: there is no such file", exit_code=NO_INPUT)
    bindings = open_files.enter_context(open_store(file or database or "", reading=True))
    settings, source = settings_of(bindings, {}), bindings.source
    with bindings.store.snapshot() as snapshot:
        for each in snapshot.bindings():
            yield each.identifier, answer_of(answer_for(each.identifier, source, settings))


def _ask(site: RunningSite, name: str, expected: ExpectedAnswer) -> NameResult:
    target = f"{site.url.target.rstrip('/')}{path_of(name)}"
    url = f"{site.origin}{target}"
    if expected.target is not None and expected.target.startswith("/"):
        # A target on the site itself is stored as a path.
        expected = expected._replace(target=urljoin(f"{site.origin}/", expected.target))
    try:
        answer = site.get(target, accept=_REASONS if expected.statuses[0] >= 400 else "*/*")
        answer_fault = fault(f"GET {url}", url, answer, expected)
        if answer_fault is not None and answer.status >= 400 and not answer.problem:
            # The reason of a refusal is in its answer for programs.
            reasons = site.get(target, accept=_REASONS)
            answer_fault = (
                fault(f"GET {url}", url, reasons, expected) if reasons.status == answer.status else answer_fault
            )
    except HopFailed as failed:
        if failed.code in UNREACHABLE:
            raise unavailable(site, failed) from None
        request, fix = display.escape(f"GET {url}"), "See the log of the site, and run the check again."
        return NameResult(name, url, None, AnswerFault(request, f"no answer: {failed}", str(expected), fix))
    return NameResult(name, url, answer.status, answer_fault)


def _failures(result: NameResult) -> list[str]:
    """Return the fault for a report, whose first line is shown in lists."""
    answer_fault = result.fault
    return [] if answer_fault is None else [f"{answer_fault.came}, expected {answer_fault.expected}\n{answer_fault}"]


def _as_dict(result: NameResult) -> dict[str, object]:
    members = None if result.fault is None else result.fault._asdict()
    return {
        "identifier": result.name,
        "url": result.url,
        "status": result.status,
        "ok": members is None,
        "fault": members,
    }


def _lines(result: NameResult, sheet: Sheet) -> Iterator[str]:
    if result.fault is None:
        return
    yield f"{sheet.paint('wrong'.ljust(_WIDTH), 'error')}{identifier(result.name)}"
    for line in str(result.fault).splitlines():
        yield from sheet.prose(line, indent=_WIDTH)
