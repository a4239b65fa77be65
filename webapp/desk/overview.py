"""The first page of the desk: what waits, the last changes, and the numbers of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from flask import current_app, render_template

from ...bindings import holding
from ...bindings.digest import Recent
from ...identifiers.text.translatable import Translatable
from ...tracing.links.store import Links
from ..accounts.identify import accounts
from ..config import FACTS, site_bindings, url
from ..uploads.store import Uploads
from .blueprint import blueprint, caller, moment
from .changes.recent import recent_lines
from .counts import Counts, count
from .names.new import shoulders

_MAX_UPLOADS = 20

MAX_COUNTED = 1000
"""The maximum number of targets that are counted for a page."""

_OWN_LINES = ("links", "imports")
"""The facts of the digest that have a line of their own, with a link."""


class WaitingLine(NamedTuple):
    """A thing that waits for a person: a sentence, the URL of the page where to do it, and a way to correct it."""

    text: str
    address: str = ""
    status: Literal["bad", "warn", "plain"] = "warn"
    fix: str = ""


@blueprint.get("")
def overview() -> str:
    """Return the HTML page with the overview of the desk."""
    counts = count(site_bindings())
    changes, unreadable = recent_lines()
    return render_template(
        "desk/overview.html",
        shoulders=None if counts.total else shoulders(site_bindings(), caller()),
        counts=counts,
        changes=changes,
        unreadable=unreadable,
        waiting=[*_waiting(counts)],
    )


def _waiting(counts: Counts) -> Iterator[WaitingLine]:
    """Yield what waits for the caller, the most urgent first."""
    yield from _links()
    yield from _uploads()
    yield from _holds()
    # Others cannot act on a backup, a disk, the log or tokens.
    facts: Recent = current_app.extensions[FACTS]
    for fact in facts.facts() if caller().is_administrator else ():
        if fact.problem and fact.code not in _OWN_LINES:
            yield WaitingLine(fact.message, fix=fact.fix)
    reserved = next((each.number for each in counts.states if each.label == "reserved"), 0)
    if reserved:
        text = Translatable.counted("%(number)s name is reserved.", "%(number)s names are reserved.", reserved)
        yield WaitingLine(text, url("desk.names", state="reserved"), "plain")


def _holds() -> Iterator[WaitingLine]:
    bindings = site_bindings()
    found = holding.holds_at(bindings, bindings.now())
    if found:
        first = min(each.until for each in found)
        text = Translatable.counted(
            "%(number)s hold lasts, until %(time)s.",
            "%(number)s holds last, the first until %(time)s.",
            len(found),
            time=moment(first),
        )
        yield WaitingLine(text, url("desk.holds"), "plain")


def _links() -> Iterator[WaitingLine]:
    links, now = Links(site_bindings()), site_bindings().now()
    dead, since = links.age_of_state("dead", MAX_COUNTED + 1)
    if dead and since:
        yield WaitingLine(_dead(dead, max(0, (now - since).days)), url("desk.links", state="dead"), "bad")
    moved, _ = links.age_of_state("moved", MAX_COUNTED + 1)
    if moved:
        if moved > MAX_COUNTED:
            text = Translatable(
                "More than %(most)s targets have moved permanently: record the new addresses.", most=MAX_COUNTED
            )
        else:
            text = Translatable.counted(
                "%(number)s target has moved permanently: record the new address.",
                "%(number)s targets have moved permanently: record the new addresses.",
                moved,
            )
        yield WaitingLine(text, url("desk.links", state="moved"))


def _dead(number: int, days: int) -> Translatable:
    """Return the sentence about dead targets, the oldest of which is dead for some days."""
    if number > MAX_COUNTED:
        return Translatable("More than %(most)s targets are dead.", most=MAX_COUNTED)
    if days == 0:
        return Translatable.counted(
            "%(number)s target is dead, since today.", "%(number)s targets are dead, the oldest since today.", number
        )
    return Translatable.counted(
        "%(number)s target is dead, for %(days)s.",
        "%(number)s targets are dead, the oldest for %(days)s.",
        number,
        days=Translatable.counted("%(number)s day", "%(number)s days", days),
    )


def _uploads() -> Iterator[WaitingLine]:
    if caller().role == "reader":
        return
    own = Uploads(accounts()).list(caller().account.number, 2**62, _MAX_UPLOADS)
    for each in own:
        if each.stage != "import":
            text = Translatable("The import of %(file)s waits for your check.", file=each.name)
            yield WaitingLine(text, url("desk.table", number=each.number))
