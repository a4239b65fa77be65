"""The page on which a user states how an uploaded table is read, and which column is which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice

from flask import Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import TableError
from ....bindings.tables.columns import Columns
from ...jobs.imports import current_imports
from ...uploads import columns, sheet
from ...uploads.columns import CHOICES, GROUPS, OTHER
from ...uploads.model import Reading, Upload
from ..blueprint import blueprint, caller, management, see_other
from ..forms import FieldProblem, sentence
from .uploads import job_of, known_upload, start_job, state_of, uploads

_SAMPLE_ROWS = 20
_SHOWN_ROWS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class FileColumn:
    """A column of the file: its heading, some of its values, and what the user selected for it.

    ``other`` is the name of an element that is not among the choices.
    """

    heading: str
    samples: Sequence[str]
    choice: str
    other: str


@blueprint.get("/tables/<int:number>/columns", endpoint="table_columns")
def page(number: int) -> AnyResponse | str:
    """Show the columns of an uploaded table."""
    known = known_upload(number)
    if not _can_change(known):
        return see_other("desk.table", number=number)
    return _page(known, known.reading, None, {})


@blueprint.post("/tables/<int:number>/columns", endpoint="select_columns")
def send(number: int) -> AnyResponse:
    """Read the table again in another encoding, or start the preview."""
    known, form = known_upload(number), request.form
    if not _can_change(known):
        return see_other("desk.table", number=number)
    reading = replace(
        known.reading,
        encoding=_one_of(form.get("encoding", ""), sheet.ENCODINGS, known.reading.encoding),
        separator=_one_of(form.get("separator", ""), sheet.SEPARATORS, known.reading.separator),
        relocate="relocate" in form,
    )
    if "read" in form or reading.encoding != known.reading.encoding:
        reading = replace(reading, detected=False)
    if "read" in form or (reading.encoding, reading.separator) != (known.reading.encoding, known.reading.separator):
        reading = replace(reading, columns=())
        management().accounts.write(lambda connection: uploads().begin(connection, known, "new", None, reading))
        return see_other("desk.table_columns", number=number)
    headings, _, problem = _sample(known, reading)
    selected = [_selected(place) for place in range(len(headings))]
    errors = columns.check(selected, headings)
    reading = replace(reading, columns=selected)
    if problem or errors:
        return Response(_page(known, reading, selected, errors), HTTPStatus.UNPROCESSABLE_ENTITY)
    jobs, who = current_imports().uploads, caller()
    is_started = start_job(lambda connection: jobs.preview(connection, who, known, reading))
    return see_other("desk.table" if is_started else "desk.table_columns", number=number)


def _can_change(upload: Upload) -> bool:
    """Return whether no job of an upload runs, and it is not imported."""
    job = job_of(upload)
    return not state_of(upload, job).is_running and not (upload.stage == "import" and job and job.state == "done")


def _page(upload: Upload, reading: Reading, selected: Sequence[str] | None, errors: Mapping[int, str]) -> str:
    headings, rows, problem = _sample(upload, reading)
    if selected is None:
        known = reading.columns
        selected = known if len(known) == len(headings) else columns.guess(headings, rows)
    shown = [
        FileColumn(
            heading=heading,
            samples=list(islice(dict.fromkeys(row[place] for row in rows if row[place]), 3)),
            choice=choice if choice in CHOICES or not choice else OTHER,
            other="" if choice in CHOICES else choice,
        )
        for place, (heading, choice) in enumerate(zip(headings, selected, strict=True))
    ]
    problems = {f"column-{place}": FieldProblem(text) for place, text in errors.items() if place >= 0}
    if -1 in errors:
        problems["columns"] = FieldProblem(errors[-1])
    return render_template(
        "desk/table_columns.html",
        upload=upload,
        reading=reading,
        encodings=sheet.ENCODINGS.items(),
        separators=sheet.SEPARATORS.items(),
        groups=GROUPS,
        columns=shown,
        headings=headings,
        rows=rows[:_SHOWN_ROWS],
        problem=problem,
        errors=problems,
        labels={"columns": "Columns", **{f"column-{place}": heading for place, heading in enumerate(headings)}},
        has_guesses=not reading.columns and any(selected),
    )


def _sample(upload: Upload, reading: Reading) -> tuple[Sequence[str], list[Sequence[str]], FieldProblem | None]:
    """Return the headings, the first rows, and the error that ended the reading."""
    read: list[Sequence[str]] = []
    problem = None
    try:
        found = sheet.lines(uploads().data(upload.number), reading, upload.name)
        # The lines before an error stay in the list.
        read.extend(line.fields for line in islice(found, _SAMPLE_ROWS + 1))
    except TableError as error:
        problem = FieldProblem(f"Line {error.line}: {sentence(error.message)}", error.expected)
    return (read[0], read[1:], problem) if read else ((), [], problem)


def _selected(place: int) -> str:
    """Return the column that the form selects for a column of the file, or ""."""
    choice = request.form.get(f"column-{place}", "")
    if choice == OTHER:
        text = request.form.get(f"other-{place}", "").strip()
        return Columns().find(text) or text
    return _one_of(choice, CHOICES, "")


def _one_of(given: str, known: Mapping[str, str] | set[str], default: str) -> str:
    return given if given in known else default
