"""Eight clients at the same time in threads, and three in processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from ararat.webapp.accounts.model import Caller
from ararat.webapp.management import ChangeResult, Fields, Stale
from tests.webapp.management.acts import Acts

from ...forking import ForkedCode
from .conftest import GRANTED, audit_of

CLIENTS = 8
PROCESSES = 3
TARGET = "https://example.org/1"

# Each process mints below a shoulder with few names, and then changes one name again and again with its revision.
PROCESS = """
import json, sys
from ararat.middleware import open_bindings
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management import Fields, Stale
bindings = open_bindings(sys.argv[1])
from tests.webapp.management.acts import Acts
management = Acts(bindings)
caller = Caller(account=management.accounts.get("jane"))
print("ready", flush=True)
sys.stdin.readline()
def repeated(act):
    # On a busy machine, a writer can wait longer than the time limit of the database. Nothing is written then.
    while True:
        try:
            return act().after
        except BindingsUnavailable as error:
            assert "another writer has locked" in str(error), error
mint = lambda: management.mint(caller, "ark:12345/x5", Fields(target="/x"))
minted = [repeated(mint).identifier for _ in range(int(sys.argv[3]))]
won = []
for turn in range(int(sys.argv[3])):
    before = management.show(caller, "ark:12345/x5shared")
    fields = Fields(metadata={"who": f"{sys.argv[2]} {turn}"})
    try:
        change = lambda: management.change(caller, before.identifier, fields, revision=before.revision)
        won.append(repeated(change).revision)
    except Stale:
        pass
print(json.dumps([minted, won]))
"""


def together(act: Callable[[int], object]) -> Sequence[object]:
    barrier = Barrier(CLIENTS)

    def run(number: int) -> object:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(run, range(CLIENTS)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("database", "turns"),
    [
        pytest.param("sqlite", 5, id="sqlite"),
        *(
            pytest.param(each, 15, id=f"{each}, many turns", marks=pytest.mark.long)
            for each in ("sqlite", "postgresql")
        ),
    ],
    indirect=["database"],
)
def test_processes_never_mint_one_name_twice_and_lose_no_change(
    management: Acts, database: str, curator: Caller, turns: int
) -> None:
    management.bindings.prefixes.set(GRANTED, pattern="10^3")
    shared = management.save(curator, f"{GRANTED}shared", Fields(target=TARGET)).after
    processes = [ForkedCode(PROCESS, database, f"{number}", f"{turns}") for number in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    results = [json.loads(process.communicate(timeout=100)[0]) for process in processes]
    minted = [name for names, _ in results for name in names]
    assert len(set(minted)) == len(minted) == turns * PROCESSES
    # Each revision was made by exactly one process, and each has an event and a row of the audit.
    revisions = sorted(revision for _, won in results for revision in won)
    assert revisions == list(range(2, len(revisions) + 2))
    assert [event.revision for event in management.bindings.history(shared.identifier)] == [1, *revisions]
    rows = audit_of(management)
    assert len([row for row in rows if row[2] == "updated"]) == len(revisions)
    assert {name for operation, name, _ in rows if operation == "create"} == set(minted)


@pytest.mark.timeout(120)
def test_threads_never_mint_one_name_twice(management: Acts, curator: Caller) -> None:
    management.bindings.prefixes.set(GRANTED, pattern="10^3+check")

    def mint(number: int) -> list[str]:
        return [management.mint(curator, GRANTED, Fields(target="/x")).after.identifier for _ in range(4)]

    minted = [name for names in together(mint) if isinstance(names, list) for name in names]
    assert len(set(minted)) == len(minted) == management.bindings.count().number == 4 * CLIENTS


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(
            lambda m, c, n, r: m.save(c, f"{GRANTED}a", Fields(target=f"/{n}"), revision=r, relocate=True), id="save"
        ),
        pytest.param(lambda m, c, n, r: m.change(c, f"{GRANTED}a", Fields(redirect=307), revision=r), id="change"),
        pytest.param(lambda m, c, n, r: m.withdraw(c, f"{GRANTED}a", reason=f"{n}", revision=r), id="withdraw"),
    ],
)
def test_one_of_several_requests_with_the_same_revision_succeeds(
    management: Acts, curator: Caller, write: Callable[[Acts, Caller, int, int], ChangeResult]
) -> None:
    management.save(curator, f"{GRANTED}a", Fields())

    def act(number: int) -> str:
        try:
            return write(management, curator, number, 1).outcome
        except Stale as error:
            return error.code

    outcomes = list(together(act))
    assert outcomes.count("revision-stale") == CLIENTS - 1
    assert len(management.bindings.history(f"{GRANTED}a")) == 2
    assert [row[2] for row in audit_of(management)].count("revision-stale") == CLIENTS - 1


def test_one_of_several_creations_of_one_name_succeeds(management: Acts, curator: Caller) -> None:
    def act(number: int) -> str:
        try:
            return management.save(curator, f"{GRANTED}a", Fields(target=f"/{number}"), revision=0).outcome
        except Stale as error:
            return error.code

    outcomes = list(together(act))
    assert sorted(str(each) for each in outcomes) == ["bound", *["revision-stale"] * (CLIENTS - 1)]
    found = management.show(None, f"{GRANTED}a")
    assert (found.target, found.revision) == (f"/{outcomes.index('bound')}", 1)
