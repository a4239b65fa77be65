"""The pages of the records of NAANs and shoulders: the list, and one record with its history."""

from __future__ import annotations

from flask import render_template, request

from ....middleware.bindings import prefixes
from ....middleware.bindings.prefixes import Field, PrefixRecords
from ...config import site
from ...management import Missing, prefix_etag
from ..blueprint import blueprint, caller, management
from .prefix_history import LABELS, changes_of

INHERITED: tuple[Field, ...] = ("statement", "pattern", "characters")
"""The texts that names below a shoulder inherit from the record of the NAAN, if the shoulder has none."""


@blueprint.get("/prefixes", endpoint="prefixes")
def page() -> str:
    """Show the records of all NAANs and shoulders, and the rules of others."""
    operations = management()
    records = operations.prefixes(caller())
    known = {record.prefix for record in records}
    others = [rule for rule in operations.bindings.rules() if rule.prefix not in known]
    return render_template("desk/prefixes.html", records=records, rules=others)


@blueprint.get("/prefixes/record", endpoint="prefix")
def record() -> str:
    """Show the record in the parameter ``prefix`` with inherited texts and its history; also a removed record."""
    operations, key = management(), prefixes.check_prefix(request.args.get("prefix", "").strip())
    events, rule_events = operations.bindings.prefix_history(key), operations.bindings.rule_history(key)
    if not events and not rule_events:
        raise Missing("prefix-unknown", f"{key} has no record", identifier=key)
    records = PrefixRecords(operations.prefixes(caller()))
    found = records.get(key)
    inherited = {field: records.inherited(key, field) for field in INHERITED if not (found and field in found.texts)}
    return render_template(
        "desk/prefix.html",
        prefix=key,
        record=found,
        rule=next((rule for rule in operations.bindings.rules() if rule.prefix == key), None),
        labels=LABELS,
        inherited={field: each for field, each in inherited.items() if each},
        changes=changes_of(events, rule_events),
        address=f"{site().prefix or ''}/{key}",
        etag=found and prefix_etag(found),
    )
