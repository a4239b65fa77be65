"""The page of the columns that an account selected for tables, which are used again for the same headings."""

from __future__ import annotations

from flask import render_template, request
from werkzeug.wrappers import Response as AnyResponse

from ....identifiers.text.translatable import Translatable
from ...accounts.identify import accounts
from ...management.permissions import require_curator
from .. import messages
from ..blueprint import blueprint, caller, see_other
from .refused import column_labels
from .uploads import uploads


@blueprint.get("/tables/remembered", endpoint="remembered_columns")
def page() -> str:
    """Return the HTML page with the headings whose columns are remembered for the account of the caller."""
    who = require_curator(caller())
    return render_template(
        "desk/remembered_columns.html", entries=uploads().mappings(who.account.number), labels=column_labels()
    )


@blueprint.post("/tables/remembered", endpoint="forget_columns")
def forget() -> AnyResponse:
    """Forget which columns the caller chose for some headings, and redirect to the page with all that are remembered.
    ``headings`` (a digest) and ``prefix`` of the form name the choice.
    """
    who, form = require_curator(caller()), request.form
    headings, prefix = form.get("headings", "")[:64], form.get("prefix", "")[:400]
    is_known = (headings, prefix) in {each[:2] for each in uploads().mappings(who.account.number)}
    if is_known:
        number = who.account.number
        accounts().run_in_transaction(lambda connection: uploads().forget(connection, number, headings, prefix))
        messages.put(Translatable("The columns for these headings are forgotten. They are guessed again."))
    return see_other("desk.remembered_columns")
