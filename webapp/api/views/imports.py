"""Imports of tables: start one as a job, read its progress and result, and undo it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flask import Response, request
from sqlalchemy import Connection
from werkzeug.exceptions import NotFound

from ....bindings.imports.keyed_rows import QUESTIONS
from ....bindings.names.errors import TableError
from ....bindings.system.concurrency import Busy
from ....bindings.system.thread_slots import slots
from ....bindings.tables.columns import Columns
from ....identifiers.text import display
from ....spreadsheets import sheet
from ....spreadsheets.options import Options
from ....spreadsheets.reading import MAX_BYTES
from ...accounts.identify import accounts
from ...config import site
from ...errors import HTTPRefusal
from ...jobs.imports import KIND, Format, current_imports
from ...jobs.model import Job
from ...jobs.uploads import IMPORT, PREVIEW
from ...management.bulk import undo as undo_operation
from ...management.permissions import require_curator
from ...request_body import BRIEF_SECONDS, RETRY_SECONDS
from ...uploads import downloads
from ...uploads.model import MAX_UPLOADS
from .. import bodies, parameters, representations
from ..blueprint import blueprint, caller
from ..job_requests import RETRY_SECONDS as JOB_SECONDS
from ..job_requests import resumed, shown_job, start_job
from . import bulk

_FORMATS: dict[str, Format] = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
}

_WORKBOOKS = {
    downloads.XLSX: "xlsx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
}
_OF_USER_TABLES = (
    *("mint", "find", "confirm", "key", "state", "sheet", "heading_row", "separator", "columns", "omit_hidden"),
    *("omit_struck", "fill_merged"),
)
"""The parameters of tables with headings of a user."""

_FLAGS = {each: each for each in ("dry_run", "relocate", "renumber", "atomic")} | {"keep_numbers": "keeps_numbers"}
"""The parameters that are "0" or "1", with the names of their arguments."""

_ENCODINGS = ("utf-8", "utf-16", "windows-1252", "iso-8859-1")


@blueprint.post("/imports")
def start_import() -> Response:
    """Start a job that imports the table in the request body, and return the job as JSON."""
    given = parameters.read(*_FLAGS, *_OF_USER_TABLES)
    options = {argument: parameters.flag(name, given.get(name)) for name, argument in _FLAGS.items()}
    media_type = bodies.require_media_type({**_FORMATS, **_WORKBOOKS, bodies.OCTETS: ""})
    if media_type == bodies.OCTETS:
        media_type = _media_type_of(bodies.read_bytes(MAX_BYTES))
    if media_type in _WORKBOOKS or any(name in given for name in _OF_USER_TABLES):
        return _start_of_user_table(given, media_type, **options)
    format = _FORMATS[media_type]
    encoding = _encoding(format)
    content = bodies.read_bytes(MAX_BYTES)
    who, known = require_curator(caller()), current_imports()

    return _start(lambda connection: known.add(connection, who, content, format=format, encoding=encoding, **options))


def _media_type_of(content: bytes) -> str:
    """Return the media type of a table that a program sends as bytes, by its content."""
    if content.startswith(sheet.WORKBOOKS):
        return downloads.XLSX  # the content selects the kind of workbook
    return "application/jsonl" if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else "text/csv"


def _start(add: Callable[[Connection], Job]) -> Response:
    return start_job(add, representations.of_import, "management.show_import")


def _start_of_user_table(
    given: Mapping[str, str], media_type: str, *, dry_run: bool, atomic: bool, **reading_options: bool
) -> Response:
    """Start the import of a table with headings of a user, or of a workbook. What is not given is proposed."""
    who, known = require_curator(caller()), current_imports()
    content = bodies.read_bytes(MAX_BYTES)
    if given.get("state", "reserved") not in ("reserved", "live"):
        raise HTTPRefusal(400, "parameter", "The parameter state must be reserved or live.")
    if "mint" in given and "find" in given:
        raise HTTPRefusal(400, "parameter", "The parameters mint and find exclude each other.")
    trusts = [each for each in given.get("confirm", "").split(",") if each]
    if unknown := set(trusts) - QUESTIONS.keys():
        shown = display.escape(min(unknown)[:100])
        sentence = f"The parameter confirm has {shown}. Write some of {', '.join(QUESTIONS)}."
        raise HTTPRefusal(400, "parameter", sentence)
    name = f"table.{_WORKBOOKS.get(media_type) or _FORMATS[media_type]}"
    charset = request.mimetype_params.get("charset")
    options = Options(
        encoding=_encoding("csv") if charset and media_type in _FORMATS else None,
        separator={"tab": "\t"}.get(given.get("separator", ""), given.get("separator")),
        sheet=given.get("sheet"),
        heading_row=parameters.number("heading_row", given.get("heading_row"), 1, 2**20, 0) or None,
        columns=_columns(given.get("columns", "")),
        key=given.get("key"),
        mint=given.get("mint") or given.get("find", ""),
        state="live" if given.get("state") == "live" else "reserved",
        finds="find" in given,
        trusts=trusts,
        **reading_options,
        omit_hidden=parameters.flag("omit_hidden", given.get("omit_hidden")),
        omit_struck=parameters.flag("omit_struck", given.get("omit_struck")),
        fill_merged=parameters.flag("fill_merged", given.get("fill_merged")),
    )
    try:
        with (
            site().large_slots.acquire(request.remote_addr),
            slots.acquire("uploads", request.remote_addr, brief=BRIEF_SECONDS),
        ):
            proposal = sheet.convert_upload(content, name)
            reading = options.reading(proposal.content, proposal.reading, name)
    except Busy:
        sentence = "Other files are being read at this moment. Try again in some seconds."
        raise HTTPRefusal(503, "busy", sentence, retry_after=RETRY_SECONDS) from None
    except TableError as error:
        raise HTTPRefusal(422, error.code, f"Line {error.line}: {error.message}. Expected {error.expected}.") from None

    def add(connection: Connection) -> Job:
        stored = proposal._replace(reading=reading)
        job = known.uploads.add(connection, who, name, stored, original=content, dry_run=dry_run, atomic=atomic)
        if job is None:
            sentence = f"The account has {MAX_UPLOADS} tables, the maximum. Delete old ones in the desk."
            raise HTTPRefusal(429, "too-many-imports", sentence, retry_after=JOB_SECONDS)
        return job

    return _start(add)


def _columns(text: str) -> dict[str, str]:
    """Return the columns by heading of a parameter such as ``Titel=what,Vermerk=dc.description``."""
    columns: dict[str, str] = {}
    for pair in filter(None, text.split(",")):
        heading, equals, column = pair.rpartition("=")
        if not equals or Columns().find(column) is None:
            shown = display.escape(pair[:100])
            sentence = f"The parameter columns has {shown}. Write HEADING=COLUMN, such as Titel=what."
            raise HTTPRefusal(400, "parameter", sentence)
        columns[heading] = column
    return columns


@blueprint.get("/imports/<int:number>/table")
def show_table(number: int) -> Response:
    """Return the imported table with the names of its rows in its own format, or as a workbook (``format=xlsx``)."""
    given = parameters.read("format")
    if given.get("format") not in (None, "xlsx"):
        sentence = "The parameter format must be xlsx. Without it, the table is as it was sent."
        raise HTTPRefusal(400, "parameter", sentence)
    job = _get_job(number)
    store = current_imports().uploads.uploads
    upload = store.get(job.parameters["upload"]) if job.kind == IMPORT else None
    if upload is None or upload.job != job.number:
        raise NotFound
    if job.state != "done":
        raise HTTPRefusal(409, "import-unfinished", "The import is not done, so that its rows have no names.")
    content, names = store.data(upload.number), store.names(upload.number)
    original = store.original(upload.number)
    return downloads.table_with_names(upload, content, names, given.get("format", "text"), original)


@blueprint.get("/imports/<int:number>")
def show_import(number: int) -> Response:
    """Return the state of a job that imports a table as JSON."""
    parameters.read()
    return shown_job(_get_job(number), representations.of_import)


@blueprint.post("/imports/<int:number>/resume")
def resume_import(number: int) -> Response:
    """Continue an import that its server ended, and return its job as JSON."""
    return resumed(_get_job(number), representations.of_import)


@blueprint.post("/imports/<int:number>/undo")
def undo_import(number: int) -> Response:
    """Undo the changes of an import, and return the counts as JSON. Answers 409 before its end, and without changes."""
    dry_run, atomic = bulk.read_options()
    bodies.require_empty()
    job = _get_job(number)
    # While rows are written, the undo is refused with a reason.
    operation = current_imports().jobs.operation_of(job)
    if operation is None and not job.is_finished:
        # It is checked, or written in one transaction.
        raise HTTPRefusal(409, "import-unfinished", "The import has not ended, so that it cannot be undone.")
    if operation is None:
        raise HTTPRefusal(409, "nothing-to-undo", "The import has changed no names, so that it cannot be undone.")
    return bulk.operate(
        lambda by: undo_operation(accounts(), by, operation, atomic=atomic, dry_run=dry_run),
        dry_run=dry_run,
        instead={"operation": {"action": "undo", "operation": operation}},
    )


def _encoding(format: Format) -> str:
    """Return the charset of Content-Type, by default UTF-8.
    Raises :class:`HTTPRefusal`. A guess could be wrong and record other names, and names are permanent.
    """
    encoding = request.mimetype_params.get("charset", "utf-8").lower()
    accepted = _ENCODINGS[:1] if format == "jsonl" else _ENCODINGS
    if encoding not in accepted:
        shown = display.escape(encoding[:100])
        raise HTTPRefusal(415, "media-type", f"The charset is {shown}. Send {' or '.join(accepted)}.")
    return encoding


def _get_job(number: int) -> Job:
    """Return an import of the caller; an administrator sees all imports. Raises NotFound."""
    job = current_imports().get_of(caller(), number)
    if job is None or job.kind not in (KIND, PREVIEW, IMPORT):
        raise NotFound
    return job
