"""Minting unless the thing has a name: at every door, from many writers, in both databases."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.creation import MintedChange, create, mint_one
from ararat.bindings.names import assignment
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.fields import Fields
from tests.forking import ForkedCode

SHOULDER = "12345/x5"
KEY = "INV 1901/17"
CLIENTS = 20


def get_or_mint(bindings: Bindings, key: str = KEY, shoulder: str = SHOULDER, **fields: Any) -> tuple[str, str]:
    made = mint_one(bindings, shoulder, Fields(resource=key, **fields), unless="resource")
    return made.outcome, made.after.identifier


def wanted(key: str, shoulder: str = SHOULDER) -> MintedChange:
    def change(name: str) -> Any:
        from ararat.bindings.changes import NameChange

        fields = Fields(status="reserved", resource=key).for_name(name)
        return NameChange(name, lambda _, now: [assignment.create(fields, now)])

    return MintedChange(shoulder, change, key)


def test_a_thing_gets_one_name_with_any_other_values(bindings: Bindings) -> None:
    outcome, name = get_or_mint(bindings, target="https://example.org/17", metadata={"what": "A vase"})
    before = bindings.lookup(name)
    assert outcome == "bound"
    assert get_or_mint(bindings, target="https://example.org/new", metadata={"what": "A jug"}) == ("exists", name)
    assert bindings.lookup(name) == before
    assert len(bindings.history(name)) == 1


def test_a_name_without_a_target_is_reserved_and_found(bindings: Bindings) -> None:
    outcome, name = get_or_mint(bindings)
    assert (outcome, get_or_mint(bindings)) == ("reserved", ("exists", name))


@pytest.mark.parametrize(
    ("recorded", "outcome"),
    [
        pytest.param("ark:12345/x5a", "exists", id="below the shoulder"),
        pytest.param("ark:12345/x6a", "reserved", id="below another shoulder"),
        pytest.param("ark:12345/x", "reserved", id="above the shoulder"),
    ],
)
def test_only_names_below_the_shoulder_count(bindings: Bindings, recorded: str, outcome: str) -> None:
    bindings.bind(recorded, "/17", resource=KEY)
    assert get_or_mint(bindings)[0] == outcome


def test_a_withdrawn_name_is_no_match(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5a", "/17", resource=KEY)
    bindings.withdraw("ark:12345/x5a")
    outcome, name = get_or_mint(bindings)
    assert (outcome, get_or_mint(bindings)) == ("reserved", ("exists", name))


def test_a_former_number_of_another_thing_is_refused(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5a", "/17", resource="R 7", numbers={"current": "A 2", "former": [KEY]})
    with pytest.raises(BindingError) as caught:
        create(bindings, [wanted("new"), wanted(KEY)])
    assert (caught.value.code, caught.value.item, caught.value.field) == ("key-former", 1, "resource")
    assert "x5a" not in str(caught.value)
    assert bindings.count().number == 1
    bindings.withdraw("ark:12345/x5a")
    assert get_or_mint(bindings)[0] == "reserved"


def test_a_composed_and_a_decomposed_key_are_one(bindings: Bindings) -> None:
    key = "Gemälde 7"
    _, name = get_or_mint(bindings, unicodedata.normalize("NFD", key))
    assert get_or_mint(bindings, unicodedata.normalize("NFC", key)) == ("exists", name)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("key", "code"),
    [
        pytest.param("two names", "key-ambiguous", id="two names"),
        pytest.param("x" * 401, "resource-text", id="longer than the index"),
        pytest.param("a\nb", "resource-text", id="control character"),
        pytest.param(" ", "resource-text", id="blank"),
    ],
)
def test_a_key_without_one_answer_is_refused_with_its_place(bindings: Bindings, key: str, code: str) -> None:
    for name in ("ark:12345/x5a", "ark:12345/x5b"):
        bindings.bind(name, f"/{name[-1]}", resource="two names")
    with pytest.raises(BindingError) as caught:
        create(bindings, [wanted("new"), wanted(key)])
    assert (caught.value.code, caught.value.item, caught.value.field) == (code, 1, "resource")
    assert "x5a" not in caught.value.message
    assert bindings.count().number == 2


def test_requests_of_one_call_for_one_thing_get_one_name(bindings: Bindings) -> None:
    _, known = get_or_mint(bindings, "known")
    made = create(bindings, [wanted("a"), wanted("known"), wanted("b"), wanted("a"), wanted("a", "12345/x")])
    names = [each.after.identifier for each in made]
    assert [each.outcome for each in made] == ["reserved", "exists", "reserved", "exists", "exists"]
    assert names[1] == known
    assert names[0] == names[3] == names[4] != names[2]
    assert bindings.list_operations()[0].names == 2


def test_a_longer_shoulder_of_one_call_gets_its_own_name(bindings: Bindings) -> None:
    first, second = create(bindings, [wanted("a", "12345/x5"), wanted("a", "12345/x5zz")])
    assert (first.outcome, second.outcome) == ("reserved", "reserved")


def test_many_keys_and_names_without_a_condition_are_created_together(bindings: Bindings) -> None:
    first = create(bindings, [wanted(f"{number}") for number in range(50)])
    again = create(bindings, [*[wanted(f"{number}") for number in range(60)], wanted("x")._replace(unless=None)])
    assert [each.after.identifier for each in again[:50]] == [each.after.identifier for each in first]
    assert [each.outcome for each in again] == ["exists"] * 50 + ["reserved"] * 11


@pytest.mark.timeout(120)
def test_parallel_writers_give_a_thing_one_name(bindings: Bindings) -> None:
    barrier = Barrier(CLIENTS)

    def run(number: int) -> set[str]:
        barrier.wait()
        return {get_or_mint(bindings, target=f"https://example.org/{number}")[1] for _ in range(3)}

    with ThreadPoolExecutor(CLIENTS) as pool:
        names = set().union(*pool.map(run, range(CLIENTS)))
    assert len(names) == bindings.count().number == 1


WORKER = """
import sys
from ararat.bindings.names.fields import Fields
from ararat.middleware import mint_one, open_bindings
bindings = open_bindings(sys.argv[1])
sys.stdin.readline()
for number in range(10):
    made = mint_one(bindings, "12345/x5", Fields(resource=f"item {number}"), unless="resource")
    print(number, made.after.identifier)
"""


def test_a_second_worker_gets_the_same_names(database: str, bindings: Bindings) -> None:
    workers = [ForkedCode(WORKER, database) for _ in range(2)]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    answers = [worker.communicate(timeout=100)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert answers[0] == answers[1]
    assert bindings.count().number == 10


def test_another_writer_does_not_wait_for_the_lock_of_a_key(
    database: str, bindings: Bindings, open_store: Callable[..., Bindings]
) -> None:
    if not database.startswith("postgresql"):
        pytest.skip("SQLite has one writer at a time")
    get_or_mint(bindings)
    with bindings.transaction() as transaction:
        transaction.lock_texts([f"ark:{SHOULDER} {KEY}"])
        assert bindings.bind("ark:12345/other", "/1") == "bound"
        assert get_or_mint(bindings, "other")[0] == "reserved"
