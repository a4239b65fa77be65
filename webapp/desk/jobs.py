"""Continue a job that its server ended: an import, a check, a change or an export."""

from __future__ import annotations

from flask import abort
from werkzeug.wrappers import Response as AnyResponse

from ...identifiers.text.translatable import Translatable
from ..jobs.bulk import is_bulk
from ..jobs.exports import KIND as EXPORT
from ..jobs.imports import current_imports
from ..management.permissions import require_reader
from . import messages
from .blueprint import blueprint, caller, see_other


@blueprint.post("/jobs/<int:number>/resume", endpoint="resume_job")
def resume(number: int) -> AnyResponse:
    """Continue a job that its server ended, and redirect to its page.
    A job of another account is answered with 404, except for an administrator.
    """
    jobs = current_imports()
    job = jobs.get_of(require_reader(caller()), number) or abort(404)
    if jobs.resume(job):
        messages.put(Translatable("The job continues."))
    else:
        messages.put(Translatable("The job cannot be resumed: it runs, has ended, or is too old."), "warn")
    if job.kind == EXPORT:
        return see_other("desk.exports")
    if is_bulk(job):
        return see_other("desk.many", number=number)
    if (upload := job.parameters.get("upload")) is not None:
        return see_other("desk.table", number=upload)
    return see_other("desk.tables")
