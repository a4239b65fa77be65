"""The first page of the desk: the numbers of names, and the last changes."""

from __future__ import annotations

from flask import current_app, render_template, request
from flask.blueprints import BlueprintSetupState
from htmx_flask import request as htmx_request

from ...bindings.digest import Recent
from ...bindings.names.event_selection import EventSelection
from ..config import FACTS
from .blueprint import blueprint, caller, management
from .changes.listing import changes_of
from .counts import FEW, CountCache
from .names.new import shoulders

_KEY = "ararat_desk_counts"
_RECENT = 8


@blueprint.record
def _add_cache(state: BlueprintSetupState) -> None:
    state.app.extensions[_KEY] = CountCache()


@blueprint.get("")
def overview() -> str:
    """Show the overview. With many names, the page comes before the counts; with ``count``, it waits for them."""
    cache: CountCache = current_app.extensions[_KEY]
    number = management().bindings.count()
    is_wanted = "count" in request.args or number.number <= FEW
    counts = cache.count(management(), caller()) if is_wanted else cache.kept()
    if htmx_request.htmx and "count" in request.args:
        return render_template("desk/_counts.html", counts=counts, number=number)
    recent = changes_of(EventSelection(), limit=_RECENT)
    facts: Recent = current_app.extensions[FACTS]
    # Others cannot act on a backup, a disk, the log or tokens.
    problems = [fact for fact in facts.facts() if fact.problem] if caller().is_administrator else []
    return render_template(
        "desk/overview.html",
        shoulders=None if number.number else shoulders(management(), caller()),
        counts=counts,
        number=number,
        recent=recent,
        problems=problems,
    )
