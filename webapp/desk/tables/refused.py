"""The refused rows of a previewed table: their causes, their correction in place, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from flask import Response, request
from sqlalchemy import Connection
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.error_codes import error_code
from ....bindings.names.errors import TableError
from ....bindings.names.metadata.metadata import MAX_BYTES
from ....bindings.tables.delimited import Line
from ....identifiers.text.translatable import Translatable, sentence
from ....spreadsheets import result_table, sheet
from ....spreadsheets.columns import groups
from ....spreadsheets.result_table import RowProblem
from ...admission import download
from ...config import site
from ...jobs.imports import current_imports
from ...language.translation import translate
from ...uploads import downloads
from ...uploads.model import Part, RowOutcome, Upload
from ...uploads.store import problem_columns
from .. import messages
from ..blueprint import blueprint, caller, see_other
from .uploads import CHANGED, job_of, known_upload, start_job, state_of, uploads

MAX_CORRECTIONS = 2000
"""The maximum number of corrected cells of a table."""

# A longer text is too long for each column. Its end is not needed to refuse it.
_MAX_CELL = MAX_BYTES + 1
_SHOWN_ROWS = 10
_MOST_GROUPS = 20
_BLOCK = 1000

_TITLES: Mapping[str, Callable[[int], str]] = {
    "bound-otherwise": lambda number: Translatable.counted(
        "%(number)s recorded name gets another target", "%(number)s recorded names get another target", number
    ),
    "other-resource": lambda number: Translatable.counted(
        "%(number)s row has the ARK of another object", "%(number)s rows have the ARK of another object", number
    ),
    "number-damaged": lambda number: Translatable.counted(
        "%(number)s row has a number that a spreadsheet program probably changed",
        "%(number)s rows have a number that a spreadsheet program probably changed",
        number,
    ),
    "withdrawn": lambda number: Translatable.counted(
        "%(number)s name is withdrawn", "%(number)s names are withdrawn", number
    ),
    "duplicate-line": lambda number: Translatable.counted(
        "%(number)s name is in the table twice", "%(number)s names are in the table twice", number
    ),
    "key-twice": lambda number: Translatable.counted(
        "%(number)s row has the same “%(label)s” as another row",
        "%(number)s rows have the same “%(label)s” as other rows",
        number,
        label=site().settings.resource_label,
    ),
    "key-former": lambda number: Translatable.counted(
        "%(number)s row has a former number of an object", "%(number)s rows have a former number of an object", number
    ),
    "key-unknown": lambda number: Translatable.counted(
        "%(number)s row has a number that no name has", "%(number)s rows have a number that no name has", number
    ),
    "key-missing": lambda number: Translatable.counted(
        "%(number)s row has neither a name nor a value in “%(label)s”",
        "%(number)s rows have neither a name nor a value in “%(label)s”",
        number,
        label=site().settings.resource_label,
    ),
    "not-granted": lambda number: Translatable.counted(
        "%(number)s name is outside your prefixes", "%(number)s names are outside your prefixes", number
    ),
    "preview-changed": lambda number: Translatable.counted(
        "%(number)s recorded value changed since the preview",
        "%(number)s recorded values changed since the preview",
        number,
    ),
    "cell-error": lambda number: Translatable.counted(
        "%(number)s row has a cell with an error", "%(number)s rows have a cell with an error", number
    ),
    "resource-shared": lambda number: Translatable.counted(
        "%(number)s object has a name already", "%(number)s objects have a name already", number
    ),
    "target-shared": lambda number: Translatable.counted(
        "%(number)s row has the same target as another row or name",
        "%(number)s rows have the same target as another row or name",
        number,
    ),
    "empty": lambda number: Translatable.counted("%(number)s row has no ARK", "%(number)s rows have no ARK", number),
    "no-scheme": lambda number: Translatable.counted(
        "%(number)s identifier has no ark: or urn:", "%(number)s identifiers have no ark: or urn:", number
    ),
}
_FIXES: Mapping[str, str] = {
    "preview-changed": Translatable("Select \u201cPreview again\u201d, and compare the values before you import."),
    "bound-otherwise": Translatable(
        "A recorded name must keep leading to the same thing. If the new addresses show the same things, move the "
        "names. If it is another thing, use another name."
    ),
    "other-resource": Translatable("The ARK of the row belongs to the recorded thing, and stays with it."),
    "number-damaged": Translatable("Keep the recorded number, and format the column as text in your table."),
    "empty": Translatable("Mint a name for each of these rows, or leave them out."),
    "withdrawn": Translatable("Restore the name on its page, or leave this row out."),
    "not-granted": Translatable("Ask an administrator for a grant, or leave this row out."),
    "row-only-names": Translatable("Ask an administrator to import this row."),
}
"""The ways to fix errors in the desk. The catalogue of errors names commands."""


_SAME = Translatable("They are the same objects: find their names")
OTHER_OBJECTS = Translatable("They are other objects: mint a name for each row")
"""The label of the answer that rows are about other things than the recorded ones."""
_ANSWERS: Mapping[str, Mapping[str, str]] = {
    "key-damaged": {"key-damaged": Translatable("The numbers are right: mint a name for each row")},
    "key-similar": {
        "key-same": _SAME,
        "key-similar": OTHER_OBJECTS,
    },
    "key-former": {
        "key-former": _SAME,
        "key-reused": OTHER_OBJECTS,
    },
}
"""The labels of the answers of :data:`~ararat.bindings.imports.keyed_rows.ANSWERS`, by the error of the row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """The refused rows with one error: sentences about it (``title``, ``fix``), their number, and the first ``rows``.
    A question about keys has ``answers``. ``column`` is the place of one that can be ignored.
    """

    code: str
    title: str
    fix: str | None
    number: int
    rows: Sequence[RowOutcome]
    answers: Mapping[str, str] = field(default_factory=dict)
    column: int | None = None
    heading: str = ""


def causes(upload: Upload) -> list[Cause]:
    """Return the causes for which rows of an uploaded table are refused, the most frequent first."""
    store, reading = uploads(), upload.reading
    named: Sequence[str] = ()
    with suppress(TableError):
        named = next(sheet.lines(store.data(upload.number), reading, upload.name)).fields
    found: list[Cause] = []
    for code, number in store.causes(upload.number)[:_MOST_GROUPS]:
        rows = [row for _, row in store.rows(upload.number, "refused", 0, _SHOWN_ROWS, code=code)]
        title = _title(code, number)
        column = {"state": "status"}.get(about := error_code(code).about or "", about)
        # Without them a row has no name.
        is_needed = column == "identifier" or (column == "resource" and bool(reading.mint))
        is_used = column and column in reading.columns
        place = reading.columns.index(column) if is_used and not is_needed else None
        heading = named[place] if place is not None and place < len(named) else ""
        found.append(
            Cause(
                code=code,
                title=title,
                fix=fix(code),
                number=number,
                rows=rows,
                answers=_ANSWERS.get(code, {}),
                column=place,
                heading=heading,
            )
        )
    return found


def warning_causes(upload: Upload) -> list[Cause]:
    """Return the causes of the warnings about an uploaded table, the most frequent first."""
    return [
        Cause(code=code, title=_title(code, number), fix=fix(code), number=number, rows=())
        for code, number in uploads().causes(upload.number, "warning")[:_MOST_GROUPS]
    ]


def _title(code: str, number: int) -> str:
    """Return the heading of the rows with an error."""
    if title := _TITLES.get(code):
        return title(number)
    reason = error_code(code).title
    return Translatable.counted("%(number)s row: %(reason)s", "%(number)s rows: %(reason)s", number, reason=reason)


def fix(code: str | None) -> str | None:
    """Return a sentence about how a user of the desk fixes the error ``code`` of a row, or None."""
    if code is None or code in _FIXES:
        return _FIXES.get(code or "")
    entry = error_code(code)
    return sentence(entry.fix) if entry.fix else Translatable("Expected: %(expected)s.", expected=entry.expected)


def column_labels() -> Mapping[str, str]:
    """Return the labels of the columns of bindings, by the names of the columns."""
    found = groups(site().settings.resource_label).values()
    return {column: label for choices in found for column, label in choices.items()}


def suggests_minting(upload: Upload, counts: Mapping[Part, int]) -> bool:
    """Return whether most texts in the column of the names are not identifiers, so that names must be minted."""
    if upload.reading.mint:
        return False
    refused = dict(uploads().causes(upload.number)).get("no-scheme", 0)
    return 2 * refused > sum(number for part, number in counts.items() if part != "warning")


def cells_of(upload: Upload, lines: Collection[int]) -> dict[int, list[tuple[int, str, str, str]]]:
    """Return the cells of rows by the numbers of their lines. A cell is its place from 0, its label, its text,
    corrected if it was, and its heading. Those of ignored columns are omitted.
    """
    reading = upload.reading
    wanted, labels = {*lines}, column_labels()
    if not wanted:
        return {}
    found: dict[int, list[tuple[int, str, str, str]]] = {}
    try:
        read = sheet.lines(uploads().data(upload.number), reading, upload.name)
        headings = next(read).fields
        for row in read:
            if row.number in wanted:
                corrected = reading.corrections.get(str(row.number), {})
                found[row.number] = [
                    (
                        place,
                        labels.get(column, column),
                        corrected.get(str(place), _encodable(row.fields[place])),
                        headings[place],
                    )
                    for place, column in enumerate(reading.columns)
                    if column
                ]
                if len(found) == len(wanted):
                    break
    except TableError:
        pass  # the job has shown the error
    return found


@blueprint.post("/tables/<int:number>/corrections", endpoint="correct_table")
def correct(number: int) -> AnyResponse:
    """Record the corrected cells in the form, and start the preview again. Redirect to the page of the table."""
    known, form = known_upload(number), request.form
    job = job_of(known)
    is_shown = job is not None and known.stage == "preview" and form.get("job") == str(job.number)
    if not is_shown or state_of(known, job).is_running:
        messages.put(CHANGED, "warn")
        return see_other("desk.table", number=number)
    reading = known.reading
    given = dict(_cells_of_form(len(reading.columns)))
    corrections = {line: dict(cells) for line, cells in reading.corrections.items()}
    for line, cells in cells_of(known, given).items():
        changed = {
            str(place): given[line][place]
            for place, _, text, _ in cells
            if place in given[line] and given[line][place] != _sent(text)
        }
        if changed:
            corrections[str(line)] = {**corrections.get(str(line), {}), **changed}
    if sum(map(len, corrections.values())) > MAX_CORRECTIONS:
        messages.put(
            Translatable(
                "More than %(number)s cells are corrected. Correct the file, and upload it again.",
                number=MAX_CORRECTIONS,
            ),
            "bad",
        )
        return see_other("desk.table", number=number)
    columns = [*reading.columns]
    ignored = form.get("ignore", "")
    if _is_number(ignored) and int(ignored) < len(columns):
        columns[int(ignored)] = ""
    if "number-damaged" in form:
        reading = replace(reading, keeps_numbers=form["number-damaged"] == "yes")
    answers = [answer for code, known in _ANSWERS.items() for answer in known if form.get(code) == answer]
    if "renumber" in form:
        reading = replace(reading, renumber=form["renumber"] == "yes")
        if form["renumber"] == "mint":
            answers.append("other-thing")
            if not reading.mint:
                # The other rows without a name get one only by a decision of their own.
                reading = replace(reading, mint=form.get("shoulder-of-others", ""), finds=True)
    reading = replace(reading, trusts=[*dict.fromkeys((*reading.trusts, *answers))])
    relocate = form.get("moves") == "move" if "moves" in form else reading.relocate
    reading = replace(reading, corrections=corrections, relocate=relocate)
    if form.get("empty") == "mint":
        reading = replace(reading, mint=form.get("shoulder", ""), finds=False)
    elif form.get("names") == "mint":
        columns = ["resource" if each == "identifier" else "" if each == "resource" else each for each in columns]
        reading = replace(reading, mint=form.get("shoulder", ""))
    jobs, who, reading = current_imports().uploads, caller(), replace(reading, columns=columns)
    named = next(sheet.lines(uploads().data(number), reading, known.name)).fields

    def start(connection: Connection) -> bool:
        if columns != [*known.reading.columns]:
            uploads().remember(connection, who.account.number, named, reading)
        return jobs.preview(connection, who, known, reading)

    start_job(start)
    return see_other("desk.table", number=number)


def _cells_of_form(columns: int) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield the cells of the form, by row: the fields have names such as ``cell-12-3``."""
    by_row: dict[int, dict[int, str]] = {}
    for name, text in request.form.items():
        kind, _, place = name.partition("-")
        row, _, column = place.partition("-")
        if kind == "cell" and _is_number(row) and _is_number(column) and int(column) < columns:
            by_row.setdefault(int(row), {})[int(column)] = _sent(text)
    yield from by_row.items()


def _sent(text: str) -> str:
    """Return the text of a field as it is compared and stored. A browser sends line breaks as CR LF."""
    return text[:_MAX_CELL].replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").strip()


def _encodable(text: str) -> str:
    """Return the text of a cell for a page: a text of JSON can have half of a surrogate pair, which UTF-8 has not."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 8


@blueprint.get("/tables/<int:number>/refused.<kind>", endpoint="refused_rows")
def refused(number: int, kind: str) -> Response:
    """Return the refused rows with their problems as a file with the ending ``kind``, to correct and upload again."""
    known = known_upload(number)
    problems = {
        row.line: RowProblem(translate(row.message or ""), translate(fix(row.code) or ""))
        for row in _rows(known, "refused")
    }
    content = uploads().data(number)
    rows = result_table.refused_rows(content, known.reading, known.name, problems, problem_columns())
    name = f"table-{number}-refused"
    if kind == "xlsx":
        lines = (Line(at, list(row)) for at, row in enumerate(rows, 1))
        return downloads.workbook(name, lambda to: result_table.write_workbook(lines, to, known.reading.sheet))
    return download(result_table.text_lines(rows, known.reading, content), downloads.media_type(known), f"{name}.csv")


@blueprint.get("/tables/<int:number>/names.<kind>", endpoint="table_with_names")
def with_names(number: int, kind: str) -> Response:
    """Return an imported table with the names of its rows. ``kind`` is "xlsx" for a workbook; else the file has the
    uploaded kind. A table that is not imported redirects to its page.
    """
    known = known_upload(number)
    job = job_of(known)
    if known.stage != "import" or job is None or job.state != "done":
        messages.put(Translatable("The table is not imported, so that its rows have no names yet."), "warn")
        return see_other("desk.table", number=number)  # type: ignore[return-value]
    return downloads.table_with_names(
        known, uploads().data(number), uploads().names(number), kind, uploads().original(number)
    )


def _rows(upload: Upload, part: Part) -> Iterator[RowOutcome]:
    after = 0
    while found := uploads().rows(upload.number, part, after, _BLOCK):
        after = found[-1][0]
        yield from (row for _, row in found)
