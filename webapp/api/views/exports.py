"""Exports of many names as jobs: start one, read its progress, and download its file."""

from __future__ import annotations

from flask import Response
from werkzeug.exceptions import NotFound

from ...admission import download
from ...errors import HTTPRefusal
from ...jobs.bulk import selection_of
from ...jobs.exports import KIND, FileFormat
from ...jobs.imports import current_imports
from ...jobs.model import Job
from ...management.permissions import require_reader
from .. import bodies, parameters, representations
from ..blueprint import blueprint, caller
from ..job_requests import conditions, resumed, shown_job, start_job


@blueprint.post("/exports")
def start_export() -> Response:
    """Start a job that exports names, and answer 202 with it as JSON. The body has the ``format`` of the file, and in
    ``selection`` the conditions for the names.
    """
    parameters.read()
    body = bodies.read_json("Export")
    chain = [selection_of(conditions(body.get("selection", {})))]
    file = FileFormat(body["format"], body.get("separator", "comma"), body.get("bom", False))
    known, who = current_imports().exports, require_reader(caller())
    return start_job(
        lambda connection: known.add(connection, who, chain, file),
        representations.of_export,
        "management.show_export",
        require_reader,
    )


@blueprint.get("/exports/<int:number>")
def show_export(number: int) -> Response:
    """Return the state of a job that exports names as JSON: its progress or its result."""
    parameters.read()
    return shown_job(_get_job(number), representations.of_export)


@blueprint.post("/exports/<int:number>/resume")
def resume_export(number: int) -> Response:
    """Continue an export that its server ended, and return its job as JSON."""
    return resumed(_get_job(number), representations.of_export)


@blueprint.get("/exports/<int:number>/file")
def show_exported_file(number: int) -> Response:
    """Return the file that an export has written.
    Raises :class:`HTTPRefusal`: 409 before the end of the job, 404 if the file was deleted.
    """
    parameters.read()
    job, known = _get_job(number), current_imports().exports
    if job.state != "done":
        sentence = "The export has failed." if job.is_finished else "The export has not ended. Try again later."
        raise HTTPRefusal(409, "export-unfinished", sentence)
    if not known.has_file(job):
        raise HTTPRefusal(404, "export-deleted", "The file of this export was deleted. Start the export again.")
    file = FileFormat(**job.parameters["file"])
    return download(known.content(job), file.content_type, f"names-{number}.{file.format}")


def _get_job(number: int) -> Job:
    """Return an export of the caller; an administrator sees all. Raises NotFound."""
    job = current_imports().get_of(require_reader(caller()), number)
    if job is None or job.kind != KIND:
        raise NotFound
    return job
