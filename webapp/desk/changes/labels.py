"""The words of the pages for actions, outcomes, states and parameters, which the database and the API have as codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from flask import has_app_context

from ....bindings.names.errors import BindingError
from ....bindings.names.operation import kind_of_action
from ....identifiers.text.translatable import Translatable, sentence
from ....tracing.links.model import LABELS, State
from ...config import site
from ..blueprint import blueprint, moment
from ..counts import STATES

ACTIONS: Final[Mapping[str, str]] = {
    "bound": Translatable("Bound"),
    "updated": Translatable("Updated"),
    "relocated": Translatable("Relocated"),
    "withdrawn": Translatable("Withdrawn"),
    "restored": Translatable("Restored"),
    "redacted": Translatable("Texts removed"),
    "reserved": Translatable("Reserved"),
    "deleted": Translatable("Deleted"),
    "hidden": Translatable("Hidden"),
    "published": Translatable("Published"),
    "claimed": Translatable("Claimed"),
    "set": Translatable("Set"),
    "held": Translatable("On hold"),
    "released": Translatable("Released"),
    "unchanged": Translatable("Unchanged"),
}
"""The actions of events, and the outcomes of changes."""

_OUTCOMES: Final[Mapping[str, str]] = {
    "reserved": Translatable("reserved"),
    "withdrawn": Translatable("withdrawn"),
    "claimed": Translatable("claimed"),
    "set": Translatable("set"),
}

_PARAMETERS: Final[Mapping[str, str]] = {
    "below": Translatable("Below"),
    "column": Translatable("Column"),
    "element": Translatable("Element"),
    "fields": Translatable("Fields"),
    "file": Translatable("File"),
    "files": Translatable("Files"),
    "from": Translatable("Old beginning"),
    "keeps_numbers": Translatable("Keep recorded numbers"),
    "metadata": Translatable("Metadata"),
    "mint": Translatable("Shoulder"),
    "name": Translatable("Name"),
    "names": Translatable("Names"),
    "operation": Translatable("Operation"),
    "passthrough": Translatable("Passthrough"),
    "prefix": Translatable("Prefix"),
    "reason": Translatable("Reason"),
    "relocate": Translatable("Relocate"),
    "renumber": Translatable("Corrected numbers"),
    "resolver": Translatable("Resolver"),
    "resource": Translatable("Resource"),
    "revision": Translatable("Revision"),
    "shoulder": Translatable("Shoulder"),
    "successor": Translatable("Successor"),
    "to": Translatable("New beginning"),
    "until": Translatable("On hold until"),
}


_LINE = re.compile(r"(.*), line ([0-9]{1,9})")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z")


@blueprint.app_template_global()
def action_label(action: str) -> str:
    """Return the word to show for the code of an action, such as "Relocated" for "relocated"."""
    return ACTIONS.get(action) or action.capitalize()


@blueprint.app_template_global()
def outcome_label(outcome: str) -> str:
    """Return the word in the badge for the code of the outcome of a row; a code without a word is unchanged."""
    return _OUTCOMES.get(outcome, outcome)


@blueprint.app_template_global()
def target_state(state: State) -> str:
    """Return the word to show for the state of a target, such as "Dead" for "dead"."""
    return LABELS[state]


@blueprint.app_template_global()
def operation_label(number: int, action: str) -> str:
    """Return the label of an operation on many names. ``action`` is a code, such as "import".

    >>> operation_label(1200, "import")
    'Operation 1200: import'
    """
    try:
        # As a text, the number has no groups of digits: it is an identifier.
        return kind_of_action(action).label(str(number))
    except BindingError:
        return f"{number}: {action}"  # another version of Ararat declares it


@blueprint.app_template_global()
def place_in_file(source: str) -> str:
    """Return the origin of a change with a file and a line in the language of the reader. Other texts are unchanged.

    >>> place_in_file("a.csv, line 61").values["line"], place_in_file("noid")
    ('61', 'noid')
    """
    if (found := _LINE.fullmatch(source)) is None:
        return source
    return Translatable("%(file)s, line %(line)s", file=found[1], line=found[2])


@blueprint.app_template_global()
def recorded_time(text: str) -> datetime | None:
    """Return the time in a recorded value, such as the end of a hold, or None for another text. A date is not a time.

    >>> recorded_time("2027-03-04T01:19:04.919235Z").year, recorded_time("2027-03-04")
    (2027, None)
    >>> recorded_time("2027-02-30T00:00:00Z") is None
    True
    """
    try:
        return datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
    except ValueError:
        return None


@blueprint.app_template_global()
def parameter_label(name: str) -> str:
    """Return the label to show for the recorded name of a parameter of an operation."""
    if name == "resource" and has_app_context():
        return site().settings.resource_label
    return _PARAMETERS.get(name) or name.capitalize()


@blueprint.app_template_global()
def shown_value(field: str, value: object) -> str:
    """Return the recorded value of a field as pages show it: a word for a state, a time in the caller's time zone."""
    text = "" if value is None else str(value)
    if field == "status":
        return STATES.get(text, text)
    time = recorded_time(text)
    return text if time is None else moment(time)


blueprint.add_app_template_global(sentence, "sentence")
