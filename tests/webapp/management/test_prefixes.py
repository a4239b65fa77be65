"""Prefix records and rules, which change together."""

from __future__ import annotations

import pytest

from ararat.bindings.names.errors import BindingError
from ararat.webapp.accounts.model import Caller
from ararat.webapp.management import NO_RECORD, Missing, Stale, prefix_etag
from ararat.webapp.management import prefixes as prefix_records
from tests.webapp.management.acts import Acts

from .conftest import audit_of

PREFIX, RULE = "ark:12345/x5", "https://rule.example/${value}"


@pytest.fixture
def administrator(management: Acts) -> Caller:
    return Caller(account=management.accounts.add("root", "administrator"))


def test_a_record_and_its_rule_change_in_one_transaction(management: Acts, administrator: Caller) -> None:
    record = prefix_records.set_record(
        management.accounts, administrator, "12345/x5", {"who": "Library"}, rule=RULE, etag=NO_RECORD
    )
    assert (record.who, record.rule and record.rule.template, record.actor) == ("Library", RULE, "root")
    assert record == prefix_records.get(management.bindings, PREFIX)
    refused: list[tuple[dict[str, str | None], str]] = [
        ({"pattern": "nonsense"}, RULE),
        ({"what": "Maps"}, "javascript:${value}"),
        ({"who": ""}, ""),
    ]
    for texts, rule in refused:
        with pytest.raises(BindingError):
            prefix_records.set_record(management.accounts, administrator, PREFIX, texts, rule=rule)
        assert prefix_records.get(management.bindings, PREFIX) == record
    changed = prefix_records.set_record(management.accounts, administrator, PREFIX, {"what": "Maps"}, rule="")
    assert (changed.who, changed.what, changed.rule) == ("Library", "Maps", None)
    assert prefix_records.set_record(management.accounts, administrator, PREFIX, {"what": "Maps"}, rule="") == changed
    assert [event.record.what for event in management.bindings.prefixes.history(PREFIX)] == [None, "Maps"]
    rows = [row for row in audit_of(management) if row[2] == "set"]
    assert rows == [("prefix.set", PREFIX, "set"), ("prefix.set", PREFIX, "set")]


def test_a_record_is_changed_only_with_its_entity_tag(management: Acts, administrator: Caller) -> None:
    first = prefix_etag(prefix_records.set_record(management.accounts, administrator, PREFIX, {"who": "Library"}))
    management.bindings.rules.set(PREFIX, RULE)
    # The rule is part of the record, so that its change is a change of the record.
    second = prefix_etag(prefix_records.get(management.bindings, PREFIX))
    assert first != second
    for wrong in (first, NO_RECORD, '"7"'):
        with pytest.raises(Stale):
            prefix_records.set_record(management.accounts, administrator, PREFIX, {"who": "Archive"}, etag=wrong)
        with pytest.raises(Stale):
            prefix_records.remove_record(management.accounts, administrator, PREFIX, etag=wrong)
    third = prefix_etag(
        prefix_records.set_record(management.accounts, administrator, PREFIX, {"who": "Archive"}, etag=second)
    )
    prefix_records.remove_record(management.accounts, administrator, PREFIX, etag=third)
    assert (management.bindings.prefixes.list(), management.bindings.rules.list()) == ([], [])
    with pytest.raises(Missing) as caught:
        prefix_records.get(management.bindings, PREFIX)
    assert caught.value.code == "prefix-unknown"
    with pytest.raises(Missing):
        prefix_records.remove_record(management.accounts, administrator, PREFIX)
    with pytest.raises(Stale):
        prefix_records.set_record(management.accounts, administrator, PREFIX, {"who": "Archive"}, etag=third)
    again = prefix_records.set_record(management.accounts, administrator, PREFIX, {"who": "Archive"}, etag=NO_RECORD)
    assert (again.revision, prefix_etag(again) != third) == (4, True)
