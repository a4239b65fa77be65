"""The pages of the records of NAANs and shoulders: the list, and one record with its history."""

from __future__ import annotations

import json
from typing import Any

from flask import Response, render_template, request

from ....bindings.names.metadata import persistence
from ....bindings.names.prefixes import prefixes
from ....bindings.names.prefixes.prefixes import PrefixRecord, PrefixRecords
from ....bindings.names.prefixes.rules import Rule
from ....bindings.names.prefixes.texts import INHERITED, RECORDED
from ....identifiers.text.translatable import Translatable
from ...config import site, site_bindings
from ...management import Missing, prefix_etag
from .. import exports
from ..blueprint import blueprint
from .prefix_history import LABELS, STATES, changes_of

_COLUMNS = ("prefix", *RECORDED, "rule", "redirect", "changed", "actor", "revision")


@blueprint.get("/prefixes", endpoint="prefixes")
def page() -> str:
    """Return the HTML page with the records of all NAANs and shoulders, and the rules of prefixes without a record."""
    records, rules = _records_and_other_rules()
    addresses = exports.addresses("desk.export_prefixes")
    return render_template("desk/prefixes.html", records=records, rules=rules, states=STATES, exports=addresses)


@blueprint.get("/prefixes.<any(csv, jsonl):form>")
def export_prefixes(form: str) -> Response:
    """Return the prefix records, and the rules of prefixes without a record, as a file to save ("csv" or "jsonl")."""
    records, rules = _records_and_other_rules()
    rows = [record.as_dict() for record in records]
    rows += [{"prefix": rule.prefix, "rule": {"template": rule.template, "redirect": rule.redirect}} for rule in rules]
    if form == "csv":
        return exports.csv_file("prefixes", _COLUMNS, map(_flat, rows))
    return exports.json_lines_file("prefixes", rows)


@blueprint.get("/prefixes/record", endpoint="prefix")
def record() -> str:
    """Return the HTML page of the record of the query parameter ``prefix``, with its inherited texts and its history.
    Raises :class:`Missing` for a prefix that never had a record.
    """
    bindings = site_bindings()
    key = prefixes.check_prefix(request.args.get("prefix", "").strip(), bindings.naming)
    events, rule_events = bindings.prefixes.history(key), bindings.rules.history(key)
    if not events and not rule_events:
        raise Missing("prefix-unknown", Translatable("%(prefix)s has no record", prefix=key), identifier=key)
    records = PrefixRecords(bindings.prefixes.list())
    found = records.get(key)
    inherited = {
        field: records.inherited_text(key, field) for field in INHERITED if not (found and field in found.texts)
    }
    return render_template(
        "desk/prefix.html",
        prefix=key,
        record=found,
        is_held=found is not None and found.hold is not None and found.hold.until > bindings.now(),
        rule=next((rule for rule in bindings.rules.list() if rule.prefix == key), None),
        labels=LABELS,
        states=STATES,
        definitions=persistence.definitions(found.texts if found else {}),
        inherited={field: each for field, each in inherited.items() if each},
        changes=changes_of(events, rule_events),
        address=f"{site().settings.prefix or ''}/{key}",
        etag=found and prefix_etag(found),
    )


def _records_and_other_rules() -> tuple[list[PrefixRecord], list[Rule]]:
    """Return all records, and the rules of prefixes without a record."""
    bindings = site_bindings()
    records = bindings.prefixes.list()
    known = {record.prefix for record in records}
    return records, [rule for rule in bindings.rules.list() if rule.prefix not in known]


def _flat(row: dict[str, Any]) -> exports.Row:
    rule = row["rule"] or {"template": None, "redirect": None}
    lineage = json.dumps(row["lineage"], ensure_ascii=False) if row.get("lineage") else None
    return row | {"lineage": lineage, "rule": rule["template"], "redirect": rule["redirect"]}
