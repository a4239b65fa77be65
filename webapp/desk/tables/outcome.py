"""The page of an uploaded table: the progress of its job, the preview or the result, and the report as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING

from flask import Response, make_response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.checks.shared_values import NewValues
from ....bindings.names.errors import BindingError
from ....bindings.tables.columns import cells
from ....identifiers.text.translatable import Translatable, sentence
from ....spreadsheets.columns import OF_FORMS
from ...config import site, site_bindings, url
from ...jobs.imports import current_imports
from ...language import formats
from ...language.translation import translate
from ...management import reading
from ...uploads import downloads
from ...uploads.model import PARTS, Part, RowOutcome, Upload
from .. import before_public, messages
from ..blueprint import blueprint, caller, see_other
from ..changes.labels import outcome_label, shown_value
from ..exports import csv_file
from ..forms import comparable, number_of
from ..names.new import shoulders
from .refused import OTHER_OBJECTS, causes, cells_of, fix, suggests_minting, warning_causes
from .uploads import CHANGED, error_of, job_of, known_upload, start_job, state_of, uploads

if TYPE_CHECKING:
    from ....bindings.names.operation import Operation

_PAGE = 50
_BLOCK = 1000
_MAX_TRIED = 20_000
_SOME_NAME = "ark:99999/name"
_MAX_AFTER = 2**31 - 1
_FIRST: tuple[Part, ...] = ("published", "changed", "moved", "added", "unchanged", "refused", "warning")
_LABELS: Mapping[Part, str] = {
    "added": Translatable("New"),
    "changed": Translatable("Changed"),
    "moved": Translatable("Moved"),
    "published": Translatable("Published"),
    "unchanged": Translatable("As recorded"),
    "refused": Translatable("Refused"),
    "warning": Translatable("Warnings"),
}
_REPORT = (
    Translatable("line"),
    Translatable("outcome"),
    Translatable("identifier"),
    Translatable("code"),
    Translatable("message"),
    Translatable("fix"),
    Translatable("column"),
    Translatable("before"),
    Translatable("after"),
)
"""The headings of the report, which is in the language of the reader as its messages are."""


@blueprint.get("/tables/<int:number>", endpoint="table")
def page(number: int) -> AnyResponse | str:
    """Return the HTML page of an upload: the progress of its job, or the outcome of its rows.
    A table without selected columns redirects to the page for its columns.
    """
    return _page(known_upload(number))


def _page(known: Upload, asked: before_public.Question | None = None) -> AnyResponse | str:
    number, job = known.number, job_of(known)
    state = state_of(known, job)
    if job is None or (known.stage == "new" and job.state == "done"):
        return see_other("desk.table_columns", number=number)
    result = job.result or {}
    problem = error_of(job)
    has_rows = job.is_finished and problem is None and job.state != "cancelled"
    outcomes = uploads().counts(number) if has_rows else {}
    counts: dict[Part, int] = {part: sum(found.values()) for part, found in outcomes.items()}
    is_imported = known.stage == "import" and job.state == "done"
    can_correct = has_rows and known.stage == "preview"
    part = _part() or _most_important(counts)
    after, code, text = _after(), request.args.get("code") or None, comparable(request.args.get("text", "")).strip()
    columns = {**OF_FORMS, "resource": site().settings.resource_label}
    has_text = (lambda row: text.casefold() in _shown_text(row, columns)) if text else None
    rows = uploads().rows(number, part, after, _PAGE + 1, code=code, matches=has_text) if has_rows else []
    following = rows[_PAGE - 1][0] if len(rows) > _PAGE else None
    groups = causes(known) if has_rows and not is_imported else []
    shown = [row.line for group in groups for row in group.rows]
    if part == "refused":
        shown += [row.line for _, row in rows[:_PAGE]]
    filters = {name: value for name, value in (("code", code), ("text", text)) if value}
    return render_template(
        "desk/table.html",
        upload=known,
        asked=asked,
        job=job,
        state=state,
        problem=problem,
        counts=counts,
        writes=sum(counts.get(each, 0) for each in ("added", "published", "changed", "moved")),
        changes=sum(counts.get(each, 0) for each in ("changed", "moved")),
        all_rows=sum(counts.get(each, 0) for each in PARTS if each != "warning"),
        part=part,
        labels=_LABELS,
        columns=columns,
        rows=[row for _, row in rows[:_PAGE]],
        groups=groups,
        warnings=warning_causes(known) if can_correct else [],
        public=outcomes.get("added", {}).get("bound", 0) + counts.get("published", 0),
        cells=cells_of(known, shown) if can_correct else {},
        shoulders=shoulders(site_bindings(), caller()) if can_correct and suggests_minting(known, counts) else [],
        can_mint=shoulders(site_bindings(), caller()) if can_correct and "resource" in known.reading.columns else [],
        fix=fix,
        other_objects=OTHER_OBJECTS,
        code=code,
        text=text,
        operation=_operation(result.get("operation")),
        running=None if job.is_finished else current_imports().jobs.operation_of(job),
        has_names=is_imported,
        is_of_texts=(is_imported or can_correct) and _is_of_texts(known, sum(counts.values()), is_imported=is_imported),
        late=result.get("refusals", 0) if is_imported else 0,
        first=url("desk.table", number=number, part=part, **filters) if after else None,
        next=url("desk.table", number=number, part=part, after=following, **filters) if following else None,
    )


def _shown_text(row: RowOutcome, columns: Mapping[str, str]) -> str:
    """Return the texts of a row as the page shows them, without case."""
    found = [row.identifier or Translatable("new name")]
    if row.part in ("refused", "warning"):
        found += [sentence(row.message or ""), fix(row.code) or ""]
    else:
        found.append(outcome_label(row.outcome))
        for column, values in row.changes.items():
            found += [columns.get(column, column), *(shown_value(column, each) for each in values)]
    return "\n".join(translate(each) for each in found).casefold()


def _is_of_texts(known: Upload, rows: int, *, is_imported: bool) -> bool:
    """Return whether the workbook with the names is a sheet of texts and not the uploaded one.
    A cell with a formula that other cells share cannot be corrected in it. Large tables are not read to know this.
    """
    if known.reading.format != "workbook":
        return False
    if not known.name.lower().endswith(".xlsx"):
        return True
    number = known.number
    names = uploads().names(number) if is_imported else _expected_names(number)
    return rows <= _MAX_TRIED and not downloads.comes_back(
        known, uploads().data(number), names, uploads().original(number)
    )


def _expected_names(number: int) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each row of a previewed table that is not refused."""
    for part in PARTS:
        if part not in ("refused", "warning"):
            yield from ((row.line, row.identifier or _SOME_NAME) for _, row in uploads().each_row(number, part))


@blueprint.post("/tables/<int:number>/import", endpoint="import_table")
def start(number: int) -> AnyResponse:
    """Import the rows of the preview ``job`` in the form, and redirect to the page of the table. The form field
    ``skip`` leaves refused rows out. If values must be confirmed first, show the question with 422.
    """
    known, jobs, who = known_upload(number), current_imports().uploads, caller()
    job = job_of(known)
    skip, atomic = "skip" in request.form, "atomic" in request.form
    is_shown = job is not None and known.stage == "preview" and request.form.get("job") == str(job.number)
    if job is None or not is_shown or job.state != "done":
        messages.put(CHANGED, "warn")
        return see_other("desk.table", number=number)
    if (job.result or {}).get("refusals") and not skip:
        messages.put(
            Translatable("Rows are refused, so nothing was imported. Correct the file, or leave these rows out."), "bad"
        )
        return see_other("desk.table", number=number)
    if asked := before_public.question(_public_values(known)):
        answer = make_response(_page(known, asked))
        answer.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return answer
    start_job(lambda connection: jobs.import_rows(connection, who, known, skip_refused=skip, atomic=atomic))
    return see_other("desk.table", number=number)


def _public_values(known: Upload) -> Iterator[NewValues | None]:
    """Yield the new values of the rows that make a name public, or change a public one."""
    for part in ("published", "added", "changed", "moved"):
        rows = uploads().each_row(known.number, part)
        while block := [row for _, row in islice(rows, _BLOCK)]:
            recorded = {} if part == "added" else site_bindings().store.fetch(row.identifier for row in block)
            for row in block:
                binding = recorded.get(row.identifier)
                before = cells(binding) if binding else {}
                after = {"identifier": row.identifier, "status": "live" if row.outcome == "bound" else "reserved"}
                after |= before | {column: new for column, (_, new) in row.changes.items()}
                if part == "published":
                    before, after["status"] = {}, "live"
                yield NewValues.of_cells(before, after, Translatable("Row %(number)s", number=formats.figure(row.line)))


@blueprint.get("/tables/<int:number>/report.csv", endpoint="table_report")
def report(number: int) -> Response:
    """Return the outcome of all rows, or of those of the parameter ``part``, such as "refused", as a CSV file."""
    known = known_upload(number)
    part = _part()
    columns = [translate(each) for each in _REPORT]
    lines = (dict(zip(columns, cells, strict=True)) for cells in _lines(known, (part,) if part else PARTS))
    return csv_file(f"table-{number}-{part or 'report'}", columns, lines)


def _lines(upload: Upload, parts: tuple[Part, ...]) -> Iterator[tuple[object, ...]]:
    """Yield a line for each value that a row changes, or one line for a row without changes."""
    for part in parts:
        after = 0
        while found := uploads().rows(upload.number, part, after, _BLOCK):
            after = found[-1][0]
            for _, row in found:
                message, suggestion = translate(row.message or ""), translate(fix(row.code) or "")
                stated = (
                    row.line,
                    row.outcome,
                    row.identifier,
                    row.code,
                    message,
                    suggestion,
                )
                for column, values in (row.changes or {"": ("", "")}).items():
                    yield (*stated, column, *values)


def _most_important(counts: dict[Part, int]) -> Part:
    """Return the first part with rows. Refused rows are shown above all parts."""
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
        return reading.operation(site_bindings(), number)
    except BindingError:
        return None
