"""The page on which a user states how an uploaded table is read, and which column is which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice

from flask import Response, render_template, request
from sqlalchemy import Connection
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import TableError
from ....bindings.tables.columns import Columns
from ....bindings.tables.several_values import is_own_table, values_in
from ....identifiers.text.translatable import Translatable
from ....spreadsheets import columns, sheet
from ....spreadsheets.columns import CHOICES, OTHER
from ....spreadsheets.columns import groups as columns_of_groups
from ....spreadsheets.guesses import GuessedColumn
from ....spreadsheets.reading import Reading
from ...accounts.identify import accounts
from ...config import site, site_bindings
from ...jobs.imports import current_imports
from ...uploads.model import Upload
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem, number_of, sentence
from ..names.new import shoulders
from .uploads import job_of, known_upload, start_job, state_of, uploads

MAX_ROW = 1_048_576
"""The largest number of a row that a spreadsheet program has."""

_SELECTED = Translatable("You selected it.")
_REMEMBERED = Translatable("You selected it for a table with these headings before.")
_SAMPLE_ROWS = 20
_SHOWN_ROWS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class FileColumn:
    """A column of an uploaded file. ``place`` is from 0; ``samples`` are some of its values. ``choice`` is the column
    of bindings that the user selected, or ""; ``other`` an element that is not among them. ``why`` is the reason of the
    guess; ``question`` asks if another column fits as well. ``is_divided``: cells have several values.
    """

    place: int
    heading: str
    samples: Sequence[str]
    choice: str
    other: str
    why: str = ""
    question: str = ""
    is_divided: bool = False


@blueprint.get("/tables/<int:number>/columns", endpoint="table_columns")
def page(number: int) -> AnyResponse | str:
    """Return the HTML page on which the user selects the columns of an upload.
    A table that cannot be changed any more redirects to its own page.
    """
    known = known_upload(number)
    if not _can_change(known):
        return see_other("desk.table", number=number)
    return _page(known, known.reading, None, {})


@blueprint.post("/tables/<int:number>/columns", endpoint="select_columns")
def send(number: int) -> AnyResponse:
    """Read an upload again with the sheet, separator or columns in the form, and redirect to this page again. Or start
    the preview of its import, and redirect to the page of the table. Show the form with its errors (422).
    """
    known, form = known_upload(number), request.form
    if not _can_change(known):
        return see_other("desk.table", number=number)
    before = known.reading
    reading = _read_as(known)
    if "read" in form or _place(reading) != _place(before):
        if _place(reading)[:3] != _place(before)[:3]:
            is_stated = reading.heading_row != before.heading_row
            content = uploads().data(number)
            reading = (
                sheet.proposed_at(content, reading, known.name).reading
                if is_stated
                else sheet.propose_reading(content, reading, known.name)
            )
        named, _, _ = _sample(known, reading)
        reading = _with_remembered(replace(reading, columns=[each.column for each in _guesses(known, reading)]), named)
        accounts().run_in_transaction(lambda connection: uploads().begin(connection, known, "new", None, reading))
        return see_other("desk.table_columns", number=number)
    named, _, problem = _sample(known, reading)
    selected = [_selected_column(place) for place in range(len(named))]
    label = site().settings.resource_label
    errors = columns.check(selected, named, mints=bool(reading.mint), number_label=label)
    reading = replace(reading, columns=selected, corrections={}, trusts=(), renumber=False, keeps_numbers=False)
    if problem or errors:
        return Response(_page(known, reading, selected, errors), HTTPStatus.UNPROCESSABLE_ENTITY)
    jobs, who = current_imports().uploads, caller()

    def start(connection: Connection) -> bool:
        uploads().remember(connection, who.account.number, named, reading)
        return jobs.preview(connection, who, known, reading)

    is_started = start_job(start)
    return see_other("desk.table" if is_started else "desk.table_columns", number=number)


def _read_as(known: Upload) -> Reading:
    """Return how the form states that the file is read."""
    form, before = request.form, known.reading
    reading = replace(
        before,
        encoding=_one_of(form.get("encoding", ""), sheet.ENCODINGS, before.encoding),
        separator=_one_of(form.get("separator", ""), sheet.SEPARATORS, before.separator),
        relocate="relocate" in form,
        omit_hidden=form.get("hidden") == "omit",
        omit_struck=form.get("struck") == "omit",
        fill_merged=form.get("merged") == "fill",
        state="live" if form.get("state") == "live" else "reserved",
        mint=_one_of(form.get("shoulder", ""), dict(_shoulders()), "") if form.get("names") in ("mint", "find") else "",
        finds=form.get("names") == "find",
    )
    if before.format == "workbook" and "sheet" in form:
        names = {each.name for each in sheet.sheets(uploads().data(known.number))}
        reading = replace(reading, sheet=_one_of(form["sheet"], names, before.sheet))
    if before.format != "jsonl" and "heading_row" in form:
        row = number_of(form["heading_row"].strip(), MAX_ROW) or before.heading_row
        reading = replace(reading, heading_row=row, last_row=number_of(form.get("last_row", "").strip(), MAX_ROW) or 0)
    if "read" in form or reading.encoding != before.encoding:
        reading = replace(reading, detected=reading.detected and reading.encoding == before.encoding == "utf-16")
    return reading


def _place(reading: Reading) -> tuple[object, ...]:
    """Return the values after whose change the headings can be others."""
    return reading.encoding, reading.separator, reading.sheet, reading.heading_row, reading.last_row


def _with_remembered(reading: Reading, named: Sequence[str]) -> Reading:
    return uploads().apply_last_columns(caller().account.number, named, reading)


def _shoulders() -> list[tuple[str, str]]:
    return shoulders(site_bindings(), caller())


def _can_change(upload: Upload) -> bool:
    """Return whether no job of an upload runs, and it is not imported."""
    job = job_of(upload)
    if job and (upload.stage == "new" or upload.stage == "import"):
        return (job.state == "done") == (upload.stage == "new") and job.is_finished
    return not state_of(upload, job).is_running


def _page(upload: Upload, reading: Reading, selected: Sequence[str] | None, errors: Mapping[int, str]) -> str:
    named, rows, problem = _sample(upload, reading)
    guessed = _guesses(upload, reading) or [GuessedColumn("")] * len(named)
    if selected is None:
        known = reading.columns
        selected = known if len(known) == len(named) else [each.column for each in guessed]
    known_shoulders = _shoulders()
    is_first = upload.stage == "new" and request.method == "GET"
    mint = reading.mint
    place = selected.index("identifier") if "identifier" in selected else None
    lacks_names = place is None or ("resource" in selected and not all(row[place] for row in rows))
    if is_first and not mint and known_shoulders and lacks_names:
        mint = known_shoulders[0][0]
    content = uploads().data(upload.number) if reading.format == "workbook" else b""
    current = sheet.sheet_of(content, reading) if content else None
    is_own = is_own_table(named)
    shown = [
        FileColumn(
            place=place,
            heading=heading,
            samples=list(islice(dict.fromkeys(row[place] for row in rows if row[place]), 3)),
            choice=choice if choice in CHOICES or not choice else OTHER,
            other="" if choice in CHOICES else choice,
            why=guess.why if choice == guess.column else _SELECTED if errors or not is_first else _REMEMBERED,
            question=guess.question if choice == guess.column else "",
            is_divided=not is_own and any(len(values_in(choice, row[place])) > 1 for row in rows),
        )
        for place, (heading, choice, guess) in enumerate(zip(named, selected, guessed, strict=True))
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
        groups=columns_of_groups(site().settings.resource_label),
        columns=shown,
        headings=named,
        sheets=[
            (
                each.name,
                Translatable.counted(
                    "%(sheet)s (%(number)s row)", "%(sheet)s (%(number)s rows)", each.rows, sheet=each.name
                ),
            )
            for each in sheet.sheets(content)
        ]
        if content
        else [],
        sheet=current,
        shoulders=known_shoulders,
        mint=mint,
        rows=rows[:_SHOWN_ROWS],
        problem=problem,
        errors=problems,
        labels={
            "columns": Translatable("Columns"),
            **{f"column-{place}": heading for place, heading in enumerate(named)},
        },
        has_guesses=upload.stage == "new" and any(selected),
        is_remembered=is_first and uploads().is_remembered(caller().account.number, named),
    )


def _guesses(upload: Upload, reading: Reading) -> list[GuessedColumn]:
    """Return the guess for each column, or nothing for a file that cannot be read."""
    try:
        return sheet.guess_columns(uploads().data(upload.number), reading, upload.name)
    except TableError:
        return []


def _sample(upload: Upload, reading: Reading) -> tuple[Sequence[str], list[Sequence[str]], FieldProblem | None]:
    """Return the headings, the first rows, and the error that ended the reading."""
    read: list[sheet.Line] = []
    problem = None
    try:
        found = sheet.lines(uploads().data(upload.number), reading, upload.name)
        # The lines before an error stay in the list.
        read.extend(islice(found, _SAMPLE_ROWS + 1))
    except TableError as error:
        problem = FieldProblem(
            Translatable("Line %(line)s: %(problem)s", line=error.line, problem=sentence(error.message)), error.expected
        )
    if not read:
        return (), [], problem
    named = read[0].fields
    return named, [*sheet.with_links(named, read[1:])], problem


def _selected_column(place: int) -> str:
    """Return the column that the form selects for a column of the file, or ""."""
    choice = request.form.get(f"column-{place}", "")
    if choice == OTHER:
        text = request.form.get(f"other-{place}", "").strip()
        return Columns().find(text) or text
    return _one_of(choice, CHOICES, "")


def _one_of(given: str, known: Mapping[str, str] | set[str], default: str) -> str:
    return given if given in known else default
