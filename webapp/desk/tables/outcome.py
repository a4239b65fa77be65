"""The page of an uploaded table: the progress of its job, the preview or the result, and the report as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.error_codes import ERROR_CODES
from ....bindings.names.errors import BindingError
from ....identifiers import PROBLEMS
from ...config import url
from ...jobs.imports import current_imports
from ...uploads.model import PARTS, Part, Upload
from .. import messages
from ..blueprint import blueprint, caller, management, see_other
from ..exports import csv_file
from ..forms import number_of, sentence
from .uploads import CHANGED, error_of, job_of, known_upload, start_job, state_of, uploads

if TYPE_CHECKING:
    from ....bindings.names.operation import Operation

_PAGE = 50
_BLOCK = 1000
_MAX_AFTER = 2**31 - 1
_FIRST: tuple[Part, ...] = ("refused", "published", "changed", "moved", "added", "warning", "unchanged")
_LABELS: Mapping[Part, str] = {
    "added": "Added",
    "published": "Published",
    "changed": "Changed",
    "moved": "Moved",
    "refused": "Refused",
    "warning": "Warnings",
    "unchanged": "Unchanged",
}
_REPORT = ("line", "outcome", "identifier", "code", "message", "fix", "column", "before", "after")
_FIXES = {
    "preview-changed": "Select \u201cPreview again\u201d, and compare the values before you import.",
    "bound-otherwise": "To move names, select \u201cNew targets lead to the same resource\u201d on the page Columns. "
    "If it is another resource, use another name.",
    "other-resource": "A spreadsheet program probably changed the number, such as 000030 to 30: set the column to "
    "Ignore, or format it as text. If it is another resource, use another name.",
    "withdrawn": "Restore the name on its page, or leave this row out.",
    "not-granted": "Ask an administrator for a grant, or leave this row out.",
    "row-only-names": "Ask an administrator to import this row.",
}
"""The ways to fix errors in the desk. The catalogue of errors names commands."""


@blueprint.get("/tables/<int:number>", endpoint="table")
def page(number: int) -> AnyResponse | str:
    """Show the progress of the job of a table, or the outcome of its rows."""
    known = known_upload(number)
    job = job_of(known)
    state = state_of(known, job)
    if job is None or known.stage == "new":
        return see_other("desk.table_columns", number=number)
    result = job.result or {}
    problem = error_of(job)
    has_rows = job.is_finished and problem is None and job.state != "cancelled"
    counts: dict[Part, int] = {
        part: sum(found.values()) for part, found in uploads().counts(number).items() if has_rows
    }
    part = _part() or _most_important(counts)
    after = _after()
    rows = uploads().rows(number, part, after, _PAGE + 1) if has_rows else []
    following = rows[_PAGE - 1][0] if len(rows) > _PAGE else None
    return render_template(
        "desk/table.html",
        upload=known,
        job=job,
        state=state,
        problem=problem,
        counts=counts,
        writes=sum(counts.get(each, 0) for each in ("added", "published", "changed", "moved")),
        part=part,
        labels=_LABELS,
        rows=[row for _, row in rows[:_PAGE]],
        fix=fix,
        sentence=sentence,
        has_moves="bound-otherwise" in {noted["code"] for noted in result.get("refused", ())},
        operation=_operation(result.get("operation") if result.get("written") else None),
        first=url("desk.table", number=number, part=part) if after else None,
        next=url("desk.table", number=number, part=part, after=following) if following else None,
    )


@blueprint.post("/tables/<int:number>/import", endpoint="import_table")
def start(number: int) -> AnyResponse:
    """Import the rows of the preview that the form shows. The field ``skip`` leaves refused rows out."""
    known, jobs, who = known_upload(number), current_imports().uploads, caller()
    job = job_of(known)
    skip = "skip" in request.form
    is_shown = job is not None and known.stage == "preview" and request.form.get("job") == str(job.number)
    if job is None or not is_shown or job.state != "done":
        messages.put(CHANGED, "warn")
        return see_other("desk.table", number=number)
    if (job.result or {}).get("refusals") and not skip:
        messages.put("Rows are refused, so nothing was imported. Correct the file, or leave these rows out.", "bad")
        return see_other("desk.table", number=number)
    start_job(lambda connection: jobs.import_rows(connection, who, known, skip_refused=skip))
    return see_other("desk.table", number=number)


@blueprint.get("/tables/<int:number>/report.csv", endpoint="table_report")
def report(number: int) -> Response:
    """Return the outcome of the rows as CSV: of one part, or of all parts."""
    known = known_upload(number)
    part = _part()
    return csv_file(f"table-{number}-{part or 'report'}", _REPORT, _lines(known, (part,) if part else PARTS))


def fix(code: str | None) -> str | None:
    """Return how to fix an error of a row in the desk, or None."""
    if code is None or code in _FIXES:
        return _FIXES.get(code or "")
    entry = ERROR_CODES.get(code) or PROBLEMS.get(code)
    return f"Expected: {entry.expected}." if entry else None


def _lines(upload: Upload, parts: tuple[Part, ...]) -> Iterator[Mapping[str, object]]:
    """Yield a line for each value that a row changes, or one line for a row without changes."""
    for part in parts:
        after = 0
        while found := uploads().rows(upload.number, part, after, _BLOCK):
            after = found[-1][0]
            for _, row in found:
                stated = (row.line, row.outcome, row.identifier, row.code, row.message, fix(row.code))
                for column, values in (row.changes or {"": ("", "")}).items():
                    yield dict(zip(_REPORT, (*stated, column, *values), strict=True))


def _most_important(counts: dict[Part, int]) -> Part:
    """Return the first part with rows. The user must see refused rows before all others."""
    for each in _FIRST:
        if counts.get(each):
            return each
    return "unchanged"


def _part() -> Part | None:
    parts: dict[str, Part] = {each: each for each in PARTS}
    return parts.get(request.args.get("part", ""))


def _after() -> int:
    return number_of(request.args.get("after", ""), _MAX_AFTER) or 0


def _operation(number: int | None) -> Operation | None:
    """Return the operation of an import with whether it is undone, or None."""
    if number is None:
        return None
    try:
        return management().operation(caller(), number)
    except BindingError:
        return None
