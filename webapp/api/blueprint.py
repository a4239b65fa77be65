"""The blueprint of the API: the caller of the current request, the management of names, and the imports."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, current_app, request

from ...bindings.storage.store import read_current
from .. import security
from ..accounts.identify import require_caller as caller
from ..config import Site, site_bindings
from ..jobs import imports as import_jobs
from ..jobs.imports import Imports
from ..management.permissions import require_reader
from . import problems

if TYPE_CHECKING:
    from ...middleware import Bindings

blueprint = Blueprint("management", __name__, url_prefix=security.MANAGED)
problems.init_blueprint(blueprint)
# A program that follows Location must find the name that it has just created.
blueprint.before_request(partial(read_current, True))
blueprint.teardown_request(lambda _: read_current(False))


def init_app(app: Flask, site: Site) -> None:
    """Add the jobs of the API, and require an account for each URL of the API. A site without accounts gets nothing."""
    if site.bindings is not None and site.accounts is not None:
        import_jobs.init_app(app, Imports(site.accounts))
        app.before_request(admit)  # after the check of the host


def admit() -> None:
    """Require an account for each URL of the API, and start the worker of jobs in this process. An unknown URL needs
    an account too, so that it reveals nothing.
    """
    if request.path.startswith(security.MANAGED) and security.is_account_api(request.path):
        caller()
        worker = current_app.extensions[import_jobs.KEY].worker
        if worker.begun != os.getpid():
            worker.begin()


def read_bindings() -> Bindings:
    """Return the bindings for a request that reads reserved names or their history. Raises :class:`Forbidden` for a
    caller without the right to read.
    """
    require_reader(caller())
    return site_bindings()
