"""The succession of institutions, with the grants of their accounts."""

from __future__ import annotations

import pytest

from ararat.webapp.accounts.model import AccountError, Caller
from ararat.webapp.management import prefixes as prefix_records
from ararat.webapp.management.permissions import Forbidden
from tests.webapp.management.acts import Acts

PREFIX = "ark:12345/x5"


@pytest.fixture
def administrator(management: Acts) -> Caller:
    for name, prefixes in {"old": [PREFIX, "12345/x57", "12345/y"], "new": [], "wide": ["12345"]}.items():
        management.accounts.add(name, "curator", prefixes)
    caller = Caller(account=management.accounts.add("root", "administrator"))
    prefix_records.set_record(
        management.accounts, caller, PREFIX, {"who": "Old Library", "contact": "old@example.org", "statement": "Kept."}
    )
    return caller


def grants(management: Acts) -> dict[str, tuple[str, ...]]:
    return {account.name: account.prefixes for account in management.accounts.list() if account.name != "root"}


def test_grants_and_contact_move_and_the_lineage_stays(management: Acts, administrator: Caller) -> None:
    before, history = grants(management), management.bindings.prefixes.history(PREFIX)
    dry = prefix_records.succeed(management.accounts, administrator, PREFIX, "Archive", heirs=["new"], dry_run=True)
    assert (grants(management), management.bindings.prefixes.history(PREFIX)) == (before, history)
    done = prefix_records.succeed(
        management.accounts, administrator, PREFIX, "Archive", contact="new@example.org", heirs=["NEW"]
    )
    assert (dry.granted, dry.revoked, dry.kept, dry.written) == (done.granted, done.revoked, done.kept, False)
    assert grants(management) == {"new": (PREFIX,), "old": ("ark:12345/y",), "wide": ("ark:12345/",)}
    assert [tuple(each) for each in done.kept] == [("wide", "ark:12345/")]
    record = prefix_records.get(management.bindings, PREFIX)
    assert (record.who, record.contact, record.statement) == ("Archive", "new@example.org", "Kept.")
    assert [each[:2] for each in record.predecessors] == [("Old Library", "old@example.org")]
    # A second succession continues the lineage; the first contact of an institution is never that of the next one.
    again = prefix_records.succeed(management.accounts, administrator, PREFIX, "Museum").record
    assert (again.contact, [each.who for each in again.predecessors]) == (None, ["Old Library", "Archive"])
    assert grants(management)["new"] == (PREFIX,)
    assert (
        prefix_records.succeed(management.accounts, administrator, PREFIX, "Museum").record.revision == again.revision
    )


def test_a_succession_is_all_or_nothing_and_for_administrators(management: Acts, administrator: Caller) -> None:
    before = grants(management)
    with pytest.raises(AccountError, match="absent"):
        prefix_records.succeed(management.accounts, administrator, PREFIX, "Archive", heirs=["new", "absent"])
    curator = Caller(account=management.accounts.list()[0])
    for act in (prefix_records.succeed, prefix_records.depart):
        with pytest.raises(Forbidden):
            act(management.accounts, curator, PREFIX, "https://new.example")
    assert (grants(management), prefix_records.get(management.bindings, PREFIX).who) == (before, "Old Library")
