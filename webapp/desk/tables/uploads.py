"""The list of uploaded tables, the form to upload one, and the states of an upload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from flask import Response, render_template, request
from sqlalchemy import Connection
from werkzeug.wrappers import Response as AnyResponse

from ....bindings.names.errors import TableError
from ....bindings.system.concurrency import Busy
from ....bindings.system.thread_slots import slots
from ....identifiers.text.translatable import Translatable
from ....spreadsheets import sheet
from ....spreadsheets.reading import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from ...accounts.identify import accounts
from ...accounts.model import Caller
from ...body_routes import TABLE_TOO_LONG
from ...config import site, url
from ...errors import HTTPRefusal
from ...jobs.imports import current_imports
from ...jobs.model import Job
from ...jobs.queue import MAX_UNFINISHED
from ...management.permissions import require_curator
from ...request_body import BRIEF_SECONDS, RETRY_SECONDS
from ...uploads.model import MAX_UPLOADS, Upload
from ...uploads.store import LIFETIME, MAX_NUMBER, Uploads
from .. import messages
from ..blueprint import blueprint, caller, see_other
from ..forms import FieldProblem, number_of, sentence

CHANGED = Translatable("The table was changed or imported in the meantime. Check this page.")
"""The warning of a page whose request was too late."""

_PAGE = 25
_MAX_NAME = 100

_FULL = FieldProblem(
    Translatable("Your account has %(number)s tables, the maximum.", number=MAX_UPLOADS),
    Translatable("fewer tables; delete old ones"),
)
_SAME = {"updated": "changed", "claimed": "changed", "relocated": "moved"}

Look = Literal["plain", "good", "warn", "bad"]


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The state of an upload: a ``label`` with its ``look``, and whether its job still runs (``is_running``)."""

    label: str
    look: Look
    is_running: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedUpload:
    """An upload in the list. ``account`` is the name of its account. ``outcomes`` are phrases with numbers of rows.
    ``operation`` is the number of the operation that imported it, or None.
    """

    upload: Upload
    account: str
    state: State
    outcomes: Sequence[str]
    operation: int | None


@blueprint.get("/tables", endpoint="tables")
def page() -> str:
    """Return the page with the form to upload a table, and the uploads; for an administrator those of all accounts."""
    require_curator(caller())
    return _page({})


@blueprint.post("/tables", endpoint="upload_table")
def upload() -> AnyResponse:
    """Store the file in the form, and redirect to the page on which the user selects its columns."""
    who, problem = require_curator(caller()), None
    file = request.files.get("file")
    if file is None or not file.filename:
        problem = FieldProblem(
            Translatable("There is no file."), Translatable("a file in CSV, TSV, JSON Lines or .xlsx")
        )
    elif len(content := file.read(MAX_BYTES + 1)) > MAX_BYTES:
        problem = FieldProblem(TABLE_TOO_LONG)
    else:
        name = _name(file.filename)
        if sheet.is_large_workbook(content):
            return _read_as_job(who, name, content)
        try:
            with (
                site().large_slots.acquire(request.remote_addr),
                slots.acquire("uploads", request.remote_addr, brief=BRIEF_SECONDS),
            ):
                proposal = sheet.convert_upload(content, name)
        except TableError as error:
            problem = FieldProblem.of(error)
        except Busy:
            problem = FieldProblem(
                Translatable("Other files are being read at this moment."), Translatable("another try in some seconds")
            )
            busy = Response(_page({"file": problem}), HTTPStatus.SERVICE_UNAVAILABLE)
            busy.headers["Retry-After"] = str(RETRY_SECONDS)
            return busy
        else:
            store, account = uploads(), who.account.number
            proposal = store.with_remembered(proposal, account, name)
            added = accounts().run_in_transaction(
                lambda connection: store.add(connection, account, name, *proposal, original=content)
            )
            if added is not None:
                return see_other("desk.table_columns", number=added.number)
            problem = _FULL
    return Response(_page({"file": problem}), HTTPStatus.UNPROCESSABLE_ENTITY)


def _read_as_job(who: Caller, name: str, content: bytes) -> AnyResponse:
    """Store a large workbook, and show the progress of the job that reads it."""
    added: list[int] = []

    def begin(connection: Connection) -> bool:
        upload = current_imports().uploads.read(connection, who, name, content)
        added[:] = [upload.number] if upload else []
        return True

    if not start_job(begin):
        return see_other("desk.tables")
    if added:
        return see_other("desk.table", number=added[0])
    return Response(_page({"file": _FULL}), HTTPStatus.UNPROCESSABLE_ENTITY)


@blueprint.post("/tables/<int:number>/delete", endpoint="delete_table")
def delete(number: int) -> AnyResponse:
    """Delete an upload, and redirect to the list of uploads. The names and the history stay as they are."""
    known = known_upload(number)
    if state_of(known, job_of(known)).is_running:
        messages.put(
            Translatable("The table is being read, so it cannot be deleted now. Wait until the job ends."), "warn"
        )
        return see_other("desk.table", number=number)
    accounts().run_in_transaction(lambda connection: uploads().delete(connection, number))
    messages.put(Translatable("The uploaded table was deleted. No name was changed."))
    return see_other("desk.tables")


def uploads() -> Uploads:
    """Return the uploads of this site."""
    return current_imports().uploads.uploads


def known_upload(number: int) -> Upload:
    """Return an upload of the caller, or of any account for an administrator. Raises :class:`HTTPRefusal` (404)."""
    who = require_curator(caller())
    found = uploads().get(number)
    if found is None or not (who.is_administrator or found.account == who.account.number):
        raise HTTPRefusal(
            HTTPStatus.NOT_FOUND, "upload-unknown", Translatable("This table does not exist, or it was deleted.")
        )
    return found


def start_job(begin: Callable[[Connection], bool]) -> bool:
    """Run ``begin`` in a transaction, and return whether it started a job. If not, the next page shows the reason.
    ``begin`` adds the job, or returns False if another request has changed the upload.
    """
    imports, account = current_imports(), caller().account.number

    def write(connection: Connection) -> str | None:
        if imports.jobs.is_full(connection, account):
            return Translatable(
                "%(number)s imports of your account wait or run, the maximum. Wait for one of them.",
                number=MAX_UNFINISHED,
            )
        if not begin(connection):
            raise _Changed
        return None

    try:
        warning = accounts().run_in_transaction(write)
    except _Changed:
        warning = CHANGED
    if warning is not None:
        messages.put(warning, "warn")
        return False
    imports.worker.wake()
    return True


class _Changed(Exception):
    """Another request has changed the upload. The transaction is rolled back."""


def job_of(upload: Upload) -> Job | None:
    """Return the last job of an upload with its current progress, or None before the first job."""
    return None if upload.job is None else current_imports().get(upload.job)


def state_of(upload: Upload, job: Job | None) -> State:
    """Return the state of an upload after its last job, with a label to show."""
    if upload.stage == "new" and job is not None and job.state != "done":
        label = Translatable("not readable") if job.is_finished else Translatable("workbook is read")
        return State(label=label, look="bad" if job.is_finished else "plain", is_running=not job.is_finished)
    if job is None or upload.stage == "new":
        return State(label=Translatable("columns to select"), look="plain")
    is_preview = upload.stage == "preview"
    if not job.is_finished:
        return State(
            label=Translatable("preview is prepared") if is_preview else Translatable("import runs"),
            look="plain",
            is_running=True,
        )
    if job.state == "done":
        if is_preview:
            return State(label=Translatable("preview is ready"), look="plain")
        return State(label=Translatable("imported"), look="good")
    return State(label=Translatable("not readable") if is_preview else Translatable("not imported"), look="bad")


def error_of(job: Job) -> FieldProblem | None:
    """Return the error that ended a job as a problem to show, or None if no error occurred."""
    problem = (job.result or {}).get("problem")
    if problem is None:
        return None
    line = problem.get("line")
    text = sentence(problem["detail"])
    return FieldProblem(
        Translatable("Line %(line)s: %(problem)s", line=line, problem=text) if line else text, problem.get("expected")
    )


def _page(errors: Mapping[str, FieldProblem]) -> str:
    who = caller()
    before = number_of(request.args.get("before", ""), MAX_NUMBER)
    below = MAX_NUMBER if before is None else before
    found = uploads().list(None if who.is_administrator else who.account.number, below, _PAGE + 1)
    names = {each.number: each.name for each in accounts().list()} if who.is_administrator else {}
    return render_template(
        "desk/tables.html",
        errors=errors,
        entries=[_entry(each, names.get(each.account, who.account.name)) for each in found[:_PAGE]],
        first=url("desk.tables") if below < MAX_NUMBER else None,
        next=url("desk.tables", before=found[_PAGE - 1].number) if len(found) > _PAGE else None,
        megabytes=MAX_BYTES // 2**20,
        most_rows=MAX_ROWS,
        most_columns=MAX_COLUMNS,
        days=LIFETIME.days,
    )


def _entry(upload: Upload, account: str) -> ListedUpload:
    job = job_of(upload)
    result = (job and job.result) or {}
    counts: dict[str, int] = {}
    stated: dict[str, int] = result.get("counts", {})
    for outcome, number in stated.items():
        label = _SAME.get(outcome, outcome)
        counts[label] = counts.get(label, 0) + number
    if result.get("refusals"):
        counts["refused"] = result["refusals"]
    return ListedUpload(
        upload=upload,
        account=account,
        state=state_of(upload, job),
        outcomes=[_count_text(each, number) for each, number in counts.items()],
        operation=result.get("operation") if result.get("written") else None,
    )


def _count_text(outcome: str, number: int) -> str:
    """Return the number of rows with an outcome, such as "3 added"."""
    counted = Translatable.counted
    match outcome:
        case "added":
            return counted("%(number)s added", "%(number)s added", number)
        case "published":
            return counted("%(number)s published", "%(number)s published", number)
        case "unchanged":
            return counted("%(number)s unchanged", "%(number)s unchanged", number)
        case "changed":
            return counted("%(number)s changed", "%(number)s changed", number)
        case "moved":
            return counted("%(number)s moved", "%(number)s moved", number)
        case "withdrawn":
            return counted("%(number)s withdrawn", "%(number)s withdrawn", number)
        case "reserved":
            return counted("%(number)s reserved", "%(number)s reserved", number)
        case "refused":
            return counted("%(number)s refused", "%(number)s refused", number)
        case _:  # a rule, a prefix record or a setting, which the desk imports for administrators
            return f"{number:,} {outcome}"


def _name(given: str) -> str:
    """Return the last part of the name of a file, as a text that each database can store."""
    name = given.replace("\\", "/").rpartition("/")[2].replace("\0", "\ufffd")
    return name.encode("utf-8", "replace").decode()[-_MAX_NAME:] or "table"
