"""A process that is killed loses no change that it acknowledged, and no row of the audit."""

from __future__ import annotations

import json
import random
import time

import pytest

from ararat.bindings.checks.verification import verify
from ararat.webapp.accounts.model import Caller
from tests.webapp.management.acts import Acts

from ...forking import ForkedCode
from .conftest import audit_of

# The process changes names in many ways. It prints each result after the method returns.
PROCESS = """
import json, sys
from ararat.middleware import open_bindings
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management import Fields, NewName
bindings = open_bindings(sys.argv[1])
from tests.webapp.management.acts import Acts
management = Acts(bindings)
caller = Caller(account=management.accounts.get("jane"))
def acknowledge(*saved):
    print(json.dumps([[each.after.identifier, each.after.revision, each.outcome] for each in saved]), flush=True)
while True:
    saved = management.mint(caller, "ark:12345/x5", Fields(target="/x"))
    acknowledge(saved)
    name = saved.after.identifier
    acknowledge(management.change(caller, name, Fields(metadata={"who": "A"}), revision=1))
    acknowledge(management.withdraw(caller, name, revision=2))
    made = management.create(caller, [NewName(Fields(status="reserved"), shoulder="ark:12345/x5")] * 20)
    acknowledge(*made)
    acknowledge(management.delete(caller, made[0].after.identifier))
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("rounds", [pytest.param(2, id="few"), pytest.param(50, id="many", marks=pytest.mark.long)])
def test_a_kill_loses_no_acknowledged_change(management: Acts, database: str, curator: Caller, rounds: int) -> None:
    acknowledged: list[tuple[str, int, str]] = []
    for _ in range(rounds):
        with ForkedCode(PROCESS, database) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            time.sleep(random.uniform(0, 0.2))  # noqa: S311 - any time will do
            process.kill()
            lines += process.stdout.readlines()
        # The last line can be cut off.
        acknowledged += [
            (name, revision, outcome)
            for line in lines
            if line.endswith("]\n")
            for name, revision, outcome in json.loads(line)
        ]
    assert len(acknowledged) >= rounds
    bindings = management.bindings
    rows = audit_of(management)
    for name, revision, outcome in acknowledged:
        events = bindings.history(name)
        assert len(events) >= revision
        assert (name, outcome) in {(row[1], row[2]) for row in rows}
        assert (bindings.lookup(name) is None) == (events[-1].action == "deleted")
    # Each event has one row of the audit, also those of requests without an answer.
    with bindings.store.snapshot() as snapshot:
        keys = {event.identifier for event in snapshot.last_events()}
    assert sum(len(bindings.history(key)) for key in keys) == len(rows)
    # Of the names that one request creates, all exist or none.
    created = [row for row in rows if row[0] == "create" and row[2] == "reserved"]
    assert len(created) % 20 == 0
    assert list(verify(bindings)) == []
