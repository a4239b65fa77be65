"""Minted names."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from itertools import chain
from typing import Any, cast

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from ararat.bindings import minting
from ararat.bindings.collection import Bindings
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.bindings.storage.store import DatabaseStore
from ararat.identifiers import normalize
from ararat.identifiers.ark.check_character import check_character
from ararat.identifiers.text import characters
from tests.databases import note_statements
from tests.forking import ForkedCode

OPAQUE = "[0-9bcdfghjkmnpqrstvwxz]"


def has_check_character(text: str) -> bool:
    return check_character(text[:-1]) == text[-1]


# ARK-010, ARK-065, ARK-069
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, f"{OPAQUE}{{8}}", id="by default"),
        pytest.param({"length": 3}, f"{OPAQUE}{{3}}", id="short"),
        pytest.param({"check": "noid"}, f"{OPAQUE}{{9}}", id="with a check character"),
        pytest.param({"check": True}, f"{OPAQUE}{{9}}", id="with a check character, by the older value"),
        pytest.param({"digits": True}, "[0-9]{8}", id="of digits"),
        pytest.param({"digits": True, "check": "noid", "length": 4}, "[0-9]{5}", id="of digits, all of them"),
    ],
)
def test_minted_names_are_opaque_and_in_normal_form(bindings: Bindings, options: dict[str, Any], expected: str) -> None:
    names = mint(bindings, "12345/x5", count=50, **options)
    assert len(set(names)) == 50
    for name in names:
        assert re.fullmatch(f"ark:12345/x5{expected}", name)
        assert normalize(name) == name
        assert has_check_character(name.removeprefix("ark:")) or not options.get("check")


@pytest.mark.one_setup
@pytest.mark.parametrize("digits", [False, True])
def test_mint_adds_a_check_character_that_covers_the_name(bindings: Bindings, digits: bool) -> None:
    for name in mint(bindings, "12345/x5", count=20, check="name", digits=digits):
        assert has_check_character(name.removeprefix("ark:12345/"))
        assert not digits or name.removeprefix("ark:12345/x").isdigit()


def test_sequences_with_different_check_characters_have_their_own_counters(bindings: Bindings) -> None:
    arguments = {"length": 3, "sequential": True}
    made = [mint(bindings, "12345/x5", check=check, **arguments) for check in (None, "noid", "name", "noid")]
    assert [name[:-1] if len(name) == 16 else name for [name] in made] == [
        "ark:12345/x5000",
        "ark:12345/x5000",
        "ark:12345/x5000",
        "ark:12345/x5001",
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("namespace", "beginning"),
    [
        pytest.param("12345", "ark:12345/", id="a NAAN"),
        pytest.param("12345/", "ark:12345/", id="a NAAN and a slash"),
        pytest.param("12345/x5", "ark:12345/x5", id="a shoulder"),
        pytest.param("ark:12345/x5", "ark:12345/x5", id="as an ARK begins"),
        pytest.param("ARK:/12-345/x-5", "ark:12345/x5", id="as an old ARK begins, with hyphens"),
        pytest.param("21206/730", "ark:21206/730", id="a shoulder of 17beta's"),
        pytest.param("21206/1", "ark:21206/1", id="its shortest"),
    ],
)
def test_a_name_begins_with_its_shoulder(bindings: Bindings, namespace: str, beginning: str) -> None:
    [name] = mint(bindings, namespace)
    assert re.fullmatch(f"{beginning}{OPAQUE}{{8}}", name)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("namespace", "options", "code"),
    [
        pytest.param("", {}, "shoulder-characters", id="nothing"),
        pytest.param("12345/б", {}, "shoulder-characters", id="a letter that is not ASCII"),
        pytest.param("12345/annual", {}, "shoulder-characters", id="a word"),
        pytest.param("12345/x5/y", {}, "shoulder-characters", id="two shoulders"),
        pytest.param("12345/X5", {}, "shoulder-characters", id="a capital"),
        pytest.param("12345/x5\n", {}, "shoulder-characters", id="a line break"),
        pytest.param("ark:", {}, "shoulder-characters", id="no NAAN"),
        pytest.param("99999/x5", {}, "naan-reserved-invalid", id="the NAAN of invalid ARKs"),
        pytest.param("9-9999", {}, "naan-reserved-invalid", id="which has hyphens"),
        pytest.param("21206", {}, "shoulder-reserved", id="17beta without a shoulder"),
        pytest.param("21206/0", {}, "shoulder-reserved", id="17beta's shoulder of another scheme"),
        pytest.param("21206/b1", {}, "shoulder-reserved", id="17beta and no decimal shoulder"),
        pytest.param("21206/73", {}, "shoulder-reserved", id="17beta and half a shoulder"),
        pytest.param("12345/x5", {"length": 0}, "mint-length", id="no characters"),
        pytest.param("12345/x5", {"length": 244}, "mint-length", id="256 in all"),
        pytest.param("12345/x5", {"length": 243, "check": "noid"}, "mint-length", id="256 with the check character"),
        pytest.param("12345/x5", {"count": 0}, "mint-count", id="none"),
        pytest.param("12345/x5", {"count": 10_001}, "mint-count", id="too many"),
        pytest.param("12345/x5", {"length": 1, "count": 30}, "names-exhausted", id="more than there are"),
    ],
)
def test_an_invalid_request_is_refused(
    open_store: Callable[..., Bindings], tmp_path, namespace: str, options: dict[str, Any], code: str
) -> None:
    bindings = open_store(tmp_path / "bindings.sqlite")
    with pytest.raises(BindingError) as refused:
        mint(bindings, namespace, **options)
    assert refused.value.code == code
    assert not list(characters.hidden_runs(str(refused.value).replace("\n", " ")))


# ARK-057
def test_the_longest_name_has_255_characters_and_can_be_bound(bindings: Bindings) -> None:
    [name] = mint(bindings, "12345/x5", length=243)
    assert len(name) == 255
    assert bindings.bind(name, "/x") == "bound"


@pytest.mark.parametrize("sequential", [False, True])
def test_every_name_is_minted_once_until_none_is_left(bindings: Bindings, sequential: bool) -> None:
    made = [
        mint(bindings, "12345/x5", length=1, digits=True, sequential=sequential, count=count) for count in (3, 4, 3)
    ]
    assert sorted(chain.from_iterable(made)) == [f"ark:12345/x5{digit}" for digit in range(10)]
    with pytest.raises(BindingError) as refused:
        mint(bindings, "12345/x5", length=1, digits=True, sequential=sequential)
    assert refused.value.code == "names-exhausted"


def test_too_few_unused_names_mint_none(bindings: Bindings) -> None:
    mint(bindings, "12345/x5", length=1, digits=True, count=8)
    with pytest.raises(BindingError):
        mint(bindings, "12345/x5", length=1, digits=True, count=3)
    assert len(mint(bindings, "12345/x5", length=1, digits=True, count=2)) == 2


def test_a_used_name_is_never_minted(bindings: Bindings) -> None:
    bindings.bind("ark:12345/x5-0", "/bound")
    bindings.bind("ark:12345/x51", "/withdrawn")
    bindings.withdraw("ark:12345/x51")
    bindings.bind("ark:12345/x52/c1", "/below")
    bindings.bind("ark:12345/x53.pdf", "/variant")
    bindings.bind("ark:12345/x54b", "/not/below")
    made = mint(bindings, "12345/x5", length=1, digits=True, count=6)
    assert sorted(made) == [f"ark:12345/x5{digit}" for digit in range(4, 10)]


def test_names_of_a_rule_are_not_minted(bindings: Bindings) -> None:
    bindings.rules.set("ark:12345/x5", "https://example.org/${value}")
    for namespace in ("12345/x5", "12345/x57"):
        with pytest.raises(BindingError, match="the rule for ark:12345/x5 already answers every name") as refused:
            mint(bindings, namespace)
        assert refused.value.code == "mint-under-rule"
    assert mint(bindings, "12345/x5", under_rule=True)[0].startswith("ark:12345/x5")
    bindings.rules.set("ark:12345/x6b", "https://example.org/${value}")
    made = mint(bindings, "12345/x6", length=1, count=28)
    assert "ark:12345/x6b" not in made
    assert len(mint(bindings, "12345/x7", count=3)) == 3


def test_a_batch_needs_as_many_queries_as_one_name(
    database: str, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    bindings = open_store(database)
    bindings.bind("ark:12345/x50/below", "/x")
    statements = note_statements(bindings, monkeypatch)
    counts = []
    for count in (1, 200):
        statements.clear()
        made = mint(bindings, "12345/x5", count=count, length=3, sequential=True)
        counts.append(len(statements))
    assert len(made) == 200
    assert counts[1] <= counts[0] + 2
    assert "ark:12345/x50" not in mint(bindings, "12345/x5", count=28, length=1)


def test_overlapping_shoulders_never_mint_the_same_name(bindings: Bindings) -> None:
    made = mint(bindings, "12345/x51", length=1, digits=True, count=4)
    made += mint(bindings, "12345/x5", length=2, digits=True, count=96)
    assert len(set(made)) == 100


def test_a_duplicate_draw_is_repeated(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter([7, 7, 7, 8, 8, 9])
    monkeypatch.setattr(secrets, "randbelow", lambda _: next(numbers))
    assert mint(bindings, "12345/x5") == ["ark:12345/x500000007"]
    assert mint(bindings, "12345/x5") == ["ark:12345/x500000008"]
    assert mint(bindings, "12345/x5") == ["ark:12345/x500000009"]


def test_drawing_ends_if_no_unused_name_is_found(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbelow", lambda _: 7)
    monkeypatch.setattr(minting, "_MAX_MISSES", 10)
    mint(bindings, "12345/x5")
    with pytest.raises(BindingError) as refused:
        mint(bindings, "12345/x5")
    assert refused.value.code == "names-exhausted"


# POL-051
def test_sequential_numbers_continue_for_each_pattern(bindings: Bindings) -> None:
    assert mint(bindings, "12345/x5", length=2, sequential=True, count=2) == ["ark:12345/x500", "ark:12345/x501"]
    bindings.bind("ark:12345/x502", "/x")
    assert mint(bindings, "12345/x5", length=2, sequential=True) == ["ark:12345/x503"]
    assert mint(bindings, "12345/x6", length=2, sequential=True) == ["ark:12345/x600"]
    assert mint(bindings, "12345/x5", length=3, sequential=True) == ["ark:12345/x5000"]


def test_the_actor_of_a_minted_name_is_kept(bindings: Bindings) -> None:
    [name] = mint(bindings, "12345/x5", actor="a librarian")
    engine = cast(DatabaseStore, bindings.store)._database.engine
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT key, action, actor FROM events")).all()
    assert [tuple(row) for row in rows] == [(name, "reserved", "a librarian")]
    for statement in ("DELETE FROM events", "UPDATE events SET actor = 'me'"):
        with pytest.raises(DBAPIError, match="never"), engine.begin() as connection:
            connection.execute(text(statement))


# ARK-015
def test_an_unregistered_naan_causes_a_warning(bindings: Bindings, caplog: pytest.LogCaptureFixture) -> None:
    mint(bindings, "12148/x5")
    assert caplog.messages == []
    mint(bindings, "54321/x5")
    assert caplog.messages == ["NAAN 54321 is not registered: register with the ARK Maintenance Agency"]


def test_mint_reads_the_prefix_records_after_its_lock(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = bindings.transaction

    def begin_after_another_writer(**options: Any) -> Any:
        monkeypatch.undo()
        bindings.prefixes.set("12345/x5", pattern="10^3")
        return begin(**options)

    monkeypatch.setattr(bindings, "transaction", begin_after_another_writer)
    [name] = mint(bindings, "12345/x5")
    assert len(name) == len("ark:12345/x5") + 3


def test_a_rolled_back_mint_records_nothing(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        mint(bindings, "12345/x5")


MINTING = """
import sys
from ararat.middleware import mint, open_bindings
bindings = open_bindings(sys.argv[1], create=True)
sys.stdin.readline()
for turn in range(20):
    print(*mint(bindings, "12345/x5", length=2, count=10), sep="\\n")
"""


def test_two_processes_never_mint_the_same_name(database: str, bindings: Bindings) -> None:
    processes = [ForkedCode(MINTING, database) for _ in range(2)]
    names: list[str] = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        names += process.communicate(timeout=100)[0].split()
        assert process.returncode == 0
    assert len(names) == len(set(names)) == 400
