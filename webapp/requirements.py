"""The table of conformance as a page: each requirement of the four documents, and the tests that show it, or why none.

It is the table that ships with the package, so a site shows what the version that it runs was held to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from flask import Blueprint, Response, request

from ..identifiers.conformance import COUNTS, REASONS, Requirement, requirements
from .errors import Refused
from .language import gettext as _
from .language import marked
from .representation import represented

blueprint = Blueprint("requirements", __name__)

DOCUMENTS = {
    "ARK": marked("ARK draft"),
    "URN": marked("URN draft"),
    "POL": marked("17beta policy"),
    "SCH": marked("Scheme registration"),
}
"""The documents, by the letters with which the numbers of their requirements begin."""

STATES = {"tests": "shown by tests"} | REASONS
"""What a requirement can be, in words; all but the first are reasons why no test shows it."""


@blueprint.get("/conformance")
@blueprint.get("/api/conformance", endpoint="as_data")
def page() -> Response:
    """The requirements, all or those of a ``document`` or in a ``state``, and how many there are of each."""
    document, state = _choice("document", DOCUMENTS), _choice("state", STATES)
    found = [
        each
        for each in requirements()
        if (not document or each.id.startswith(f"{document}-")) and (not state or _state(each) == state)
    ]
    shown = {
        "total": len(requirements()),
        "counts": {letters: _counted(letters) for letters in DOCUMENTS},
        "found": [_said(each) for each in found],
    }
    words = {
        "tests": _("shown by tests"),
        "not-applicable": _("not applicable"),
        "prose": _("about words"),
        "later": _("left"),
    }
    return represented(
        shown,
        "reference/conformance.html",
        documents=DOCUMENTS,
        states=STATES,
        words=words,
        document=document,
        state=state,
        of_all={name: sum(counts[name] for counts in shown["counts"].values()) for name in STATES},
    )


def _said(row: Requirement) -> dict[str, object]:
    return {
        "id": row.id,
        "document": row.id[:3],
        "title": row.title,
        "state": _state(row),
        "tests": list(row.tests),
        "why": row.why,
    }


def _state(row: Requirement) -> str:
    return row.reason or "tests"


def _counted(letters: str) -> dict[str, int]:
    counted = Counter(_state(each) for each in requirements() if each.id.startswith(f"{letters}-"))
    return {"total": COUNTS[letters]} | {name: counted[name] for name in STATES}


def _choice(name: str, known: Collection[str]) -> str:
    """The value of a parameter that narrows the table, or "" where it is left out."""
    asked = request.args.get(name, "")
    if asked and asked not in known:
        raise Refused(400, "parameter", f"There is no such {name}; expected one of {', '.join(known)}.")
    return asked
