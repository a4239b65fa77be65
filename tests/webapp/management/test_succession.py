"""The succession of institutions, with the grants of their accounts."""

from __future__ import annotations

import pytest

from ararat.webapp.accounts.model import AccountError, Caller
from ararat.webapp.management import Management
from ararat.webapp.management.permissions import Forbidden

PREFIX = "ark:12345/x5"


@pytest.fixture
def administrator(management: Management) -> Caller:
    for name, prefixes in {"old": [PREFIX, "12345/x57", "12345/y"], "new": [], "wide": ["12345"]}.items():
        management.accounts.add(name, "curator", prefixes)
    caller = Caller(account=management.accounts.add("root", "administrator"))
    management.prefixes.set(caller, PREFIX, {"who": "Old Library", "contact": "old@example.org", "statement": "Kept."})
    return caller


def grants(management: Management) -> dict[str, tuple[str, ...]]:
    return {account.name: account.prefixes for account in management.accounts.list() if account.name != "root"}


def test_grants_and_contact_move_and_the_lineage_stays(management: Management, administrator: Caller) -> None:
    before, history = grants(management), management.prefixes.history(administrator, PREFIX)
    dry = management.prefixes.succeed(administrator, PREFIX, "Archive", heirs=["new"], dry_run=True)
    assert (grants(management), management.prefixes.history(administrator, PREFIX)) == (before, history)
    done = management.prefixes.succeed(administrator, PREFIX, "Archive", contact="new@example.org", heirs=["NEW"])
    assert (dry.granted, dry.revoked, dry.kept, dry.written) == (done.granted, done.revoked, done.kept, False)
    assert grants(management) == {"new": (PREFIX,), "old": ("ark:12345/y",), "wide": ("ark:12345/",)}
    assert [tuple(each) for each in done.kept] == [("wide", "ark:12345/")]
    record = management.prefixes.get(administrator, PREFIX)
    assert (record.who, record.contact, record.statement) == ("Archive", "new@example.org", "Kept.")
    assert [each[:2] for each in record.predecessors] == [("Old Library", "old@example.org")]
    # A second succession continues the lineage; the first contact of an institution is never that of the next one.
    again = management.prefixes.succeed(administrator, PREFIX, "Museum").record
    assert (again.contact, [each.who for each in again.predecessors]) == (None, ["Old Library", "Archive"])
    assert grants(management)["new"] == (PREFIX,)
    assert management.prefixes.succeed(administrator, PREFIX, "Museum").record.revision == again.revision


def test_a_succession_is_all_or_nothing_and_for_administrators(management: Management, administrator: Caller) -> None:
    before = grants(management)
    with pytest.raises(AccountError, match="absent"):
        management.prefixes.succeed(administrator, PREFIX, "Archive", heirs=["new", "absent"])
    curator = Caller(account=management.accounts.list()[0])
    for act in (management.prefixes.succeed, management.prefixes.depart):
        with pytest.raises(Forbidden):
            act(curator, PREFIX, "https://new.example")
    assert (grants(management), management.prefixes.get(administrator, PREFIX).who) == (before, "Old Library")
